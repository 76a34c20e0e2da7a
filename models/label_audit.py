"""What models remember of labels that a mechanism keeps private: by labels and by memberships, on real data.

The audited model learns by heart: on Adult 200 trees of 63 leaves without a stop, with the income as the label; on
Fashion-MNIST a network of two layers, 40 epochs, on 50 principal components. The proxy and the control learn from other
people or images, and stop early. The proxy is the prior of the mechanisms that have one. The rest are fresh examples
for the game of membership, and 1000 public ones on which the teachers of PATE vote.

Columns: the accuracy on fresh examples; what the paper reports, the best of 100 shares of guesses without a correction,
and 1% guessed, both by its score, as mean ± sd of the games; here `bdp.audits.labels`, with its control; and the same
model audited by membership, calibrated by the proxy and by RMIA with the proxy as its reference, 1% guessed.

    BAYES_DP_DATASETS=datasets python -m models.label_audit --data adult
    BAYES_DP_DATASETS=datasets python -m models.label_audit --data adult --part 5000 --epsilon inf 2 --mechanisms LP-1ST
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bayes_dp import GuessTable, ScoreMatrix
from bayes_dp.attacks.label_scores import difference
from bayes_dp.attacks.scores import NumberOfGuesses, Uncorrected
from bayes_dp.audits.labels import labels as audit
from bayes_dp.audits.observational import Game, Sides, lower_of, played
from bayes_dp.checks import InputError
from bayes_dp.games import LabelGame, shown_members
from bayes_dp.results.bound import LowerBound
from bayes_dp.support.arrays import Floats, Ints
from models.data import adult
from models.fashion_mlp import images
from models.label_training import MECHANISMS, Learner, Predict, Task, by_scikit_learn, one_hot
from models.net import learner

__all__ = ["DATA", "Data", "Row", "audited", "main"]

_EPSILONS = (math.inf, 8.0, 4.0, 2.0, 1.0)
_DELTA = 1e-5
_QUERIES, _POPULATION = 1000, 2000  # public examples; those that RMIA compares with


@dataclass(frozen=True)
class Data:
    """Features (N, d), classes (N,), how many examples each of three models gets, and who learns."""

    x: Floats
    y: Ints
    part: int
    by_heart: Learner
    early: Learner
    teacher: Learner


class Row(NamedTuple):
    """What was found of one training; pairs are mean and sd over games."""

    mechanism: str
    epsilon: float
    accuracy: float
    best: tuple[float, float]
    fixed: tuple[float, float]
    bound: LowerBound
    membership: dict[str, tuple[float, float]]


@dataclass(frozen=True)
class _Shown:
    """The observational game of membership as one that can be played again."""

    training: Floats
    fresh: Floats

    def play(self, seed: int = 0) -> GuessTable:
        return shown_members(self.training, self.fresh, seed)


def _adult(part: int, seed: int) -> Data:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x, kinds, y = adult()

    def trees(leaves: int, stop: bool) -> Learner:
        return by_scikit_learn(
            lambda: HistGradientBoostingClassifier(
                max_iter=200, max_leaf_nodes=leaves, early_stopping=stop, categorical_features=kinds, random_state=seed
            )
        )

    def logistic() -> Any:
        return make_pipeline(SimpleImputer(keep_empty_features=True), StandardScaler(), LogisticRegression())

    return Data(x, y, part, trees(63, False), trees(31, True), by_scikit_learn(logistic))


def _fashion(part: int, seed: int) -> Data:
    x, y = images(56_000, 4000, seed)
    return Data(x, y, part, *(learner(epochs, seed=seed) for epochs in (40, 5, 40)))


DATA = {"adult": _adult, "fashion": _fashion}


def audited(
    data: Data,
    epsilons: Sequence[float],
    mechanisms: Sequence[str],
    games: int = 21,
    seed: int = 0,
    tau: float = 0.0,
) -> Iterator[Row]:
    """A row for each mechanism and ε, of the shape that `Row` says."""
    order = np.random.default_rng(seed).permutation(len(data.y))
    own, others, third = (order[i * data.part : (i + 1) * data.part] for i in range(3))
    public, fresh = np.split(order[3 * data.part :], [_QUERIES])
    k = int(data.y.max()) + 1
    x, y = data.x[own], data.y[own]
    reference, other = (data.early(data.x[rows], one_hot(data.y[rows], k)) for rows in (others, third))
    q, control = reference(x), other(x)
    task = Task(x, y, q, data.x[public], data.by_heart, data.teacher)
    for name in mechanisms:
        for epsilon in epsilons:
            model = MECHANISMS[name](task, epsilon, seed)
            p = model(x)
            game = LabelGame(y, q, difference(p, q))
            shares = np.unique(np.maximum(1, np.arange(1, 101) * len(y) // 100))
            yield Row(
                name,
                epsilon,
                float((model(data.x[fresh]).argmax(axis=1) == data.y[fresh]).mean()),
                _of_games(game, Uncorrected(shares), games, seed),
                _of_games(game, max(1, len(y) // 100), games, seed),
                audit(y, q, p, _DELTA, control=control, tau=tau, games=games, seed=seed),
                _memberships(data, model, reference, own, fresh, games, seed),
            )


def _of_games(
    game: Game, made: NumberOfGuesses | int, games: int, seed: int, sides: Sides = "largest"
) -> tuple[float, float]:
    """Mean and sd of what single games bound at 95%."""
    p = 0.05 if games == 1 else 0.1  # of which each of several games gets half
    found = played({"": game}, made, lower_of("approx", _DELTA, 0.0), p, games, seed, sides)
    return found["mean"], found["sd"]


def _memberships(
    data: Data, model: Predict, reference: Predict, own: Ints, fresh: Ints, games: int, seed: int
) -> dict[str, tuple[float, float]]:
    """The bounds from memberships, of as many examples of the training as there are fresh ones."""
    population, fresh = np.split(fresh, [_POPULATION])
    m = min(len(own), len(fresh))
    rows = np.concatenate([own[:m], fresh[:m]])

    def said(at: Ints) -> Floats:
        found = np.stack([each(data.x[at]) for each in (model, reference)])
        return np.clip(np.take_along_axis(found, data.y[at][None, :, None], 2)[..., 0], 1e-6, 1 - 1e-6)

    member = np.array([np.arange(2 * m) < m, np.zeros(2 * m, dtype=bool)])
    matrix = ScoreMatrix(member, probabilities=said(rows), population=said(population))
    found = {}
    for name in ("calibration", "rmia-offline"):
        score = matrix.attack(name, 0, [1]).score
        found[name] = _of_games(_Shown(score[:m], score[m:]), max(2, m // 100), games, seed, "both")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.label_audit", description=__doc__.split("\n\n")[0])
    parser.add_argument("--data", choices=tuple(DATA), default="adult", help="(default adult)")
    parser.add_argument(
        "--part", type=int, help="examples of each model (default 15000 on Adult, 10000 on Fashion-MNIST)"
    )
    parser.add_argument("--epsilon", type=float, nargs="+", default=_EPSILONS, help="of the mechanisms")
    parser.add_argument("--mechanisms", nargs="+", choices=tuple(MECHANISMS), default=tuple(MECHANISMS))
    parser.add_argument("--games", type=int, default=100, help="(default 100)")
    parser.add_argument("--tau", type=float, default=0.0, help="that the proxy may be off by (default 0)")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    part = given.part or {"adult": 14_000, "fashion": 10_000}[given.data]
    try:
        data = DATA[given.data](part, given.seed)
        if len(data.y) - 3 * part < _QUERIES + 2 * _POPULATION:
            raise InputError(f"--part must leave {_QUERIES + 2 * _POPULATION} of the {len(data.y)} examples")
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("| mechanism | ε | accuracy | best of 100 | 1% | here | control | calibrated | RMIA |")
    print("|---|" + "---:|" * 8)
    for row in audited(data, given.epsilon, given.mechanisms, given.games, given.seed, given.tau):
        pairs = [row.best, row.fixed, *row.membership.values()]
        best, fixed, calibrated, rmia = (f"{mean:.2f} ± {sd:.2f}" for mean, sd in pairs)
        here = f"{row.bound.value:.2f} | {row.bound.details['control']:.2f}"
        name = f"{row.mechanism} | {row.epsilon:g} | {row.accuracy:.3f}"
        print(f"| {name} | {best} | {fixed} | {here} | {calibrated} | {rmia} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
