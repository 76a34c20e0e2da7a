"""Observational games beside their interventional twins, on networks that learn Fashion-MNIST.

    labels       `LabelGame`: nothing is changed in the training; the proxy draws the other label
    canaries     `LabelCanaries`: m examples get one of two random labels, by a coin before the training
    shown        `shown_members`: an example of the training or a fresh one, by a coin after the training
    coins        `MembershipCoins`: each of m examples is trained on or not, by a coin before the training

Labels are scored by log M(x)[y] − log q(x)[y] and by the difference of the two labels' log M; memberships by log M less
log q of the true label, q being a network that never saw the examples. The bound is that of m examples with 10%
guessed, at δ = 10⁻⁵ and 95%, mean ± sd over trainings.

    BAYES_DP_DATASETS=datasets python -m models.label_twins
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from bayes_dp import GuessTable
from bayes_dp.attacks.label_scores import LEAST, log_ratio
from bayes_dp.attacks.scores import guess_extremes
from bayes_dp.audits.observational import Sides, lower_of
from bayes_dp.checks import InputError
from bayes_dp.games import LabelCanaries, LabelGame, MembershipCoins, shown_members
from bayes_dp.support.arrays import Floats, Ints
from models.fashion_mlp import images
from models.label_training import Learner, Predict, one_hot
from models.net import learner

__all__ = ["main", "tables"]

_DELTA, _SHARE = 1e-5, 0.1


def tables(
    x: Floats, y: Ints, m: int, by_heart: Learner, early: Learner, seed: int
) -> Iterator[tuple[str, GuessTable]]:
    """The tables of one training of each kind, of m examples each; the last third of x trains the proxy."""
    k, third = int(y.max()) + 1, len(y) // 3
    proxy = early(x[-third:], one_hot(y[-third:], k))
    own, fresh = np.arange(third), np.arange(third, 2 * third)

    def learned(rows: Ints, labels: Ints) -> Predict:
        return by_heart(x[rows], one_hot(labels, k))

    def score(model: Predict, rows: Ints) -> Floats:
        """log M − log q of all labels, (n, k)."""
        return log_ratio(_whole(model(x[rows])), _whole(proxy(x[rows])))

    def of_own(model: Predict, rows: Ints) -> Floats:
        return np.take_along_axis(score(model, rows), y[rows][:, None], 1)[:, 0]

    model = learned(own, y[own])
    yield "labels", LabelGame(y[own[:m]], _whole(proxy(x[own[:m]])), score(model, own[:m])).play(seed)
    yield "shown", shown_members(of_own(model, own[:m]), of_own(model, fresh[:m]), seed)
    canaries = LabelCanaries(m, k, seed)
    model = learned(own, np.concatenate([canaries.labels, y[own[m:]]]))
    yield "canaries", canaries.table(np.log(np.maximum(model(x[own[:m]]), LEAST)))
    coins = MembershipCoins(m, seed)
    rows = np.concatenate([own[:m][coins.member], own[m:]])
    yield "coins", coins.table(of_own(learned(rows, y[rows]), own[:m]))


def _whole(p: Floats) -> Floats:
    """Rows that sum to 1 in double precision."""
    return p / p.sum(axis=1, keepdims=True)


def _bound(name: str, table: GuessTable, seed: int) -> float:
    sides: Sides = "both" if name in ("shown", "coins") else "largest"
    guesses = guess_extremes(table, max(2, round(_SHARE * len(table))), sides, seed, ())
    given = (np.array([float(value)]) for value in (guesses.examples, guesses.made[0], guesses.correct[0]))
    return float(lower_of("approx", _DELTA, 0.0)(*given, 0.05)[0])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.label_twins", description=__doc__.split("\n\n")[0])
    parser.add_argument("--part", type=int, default=8000, help="examples of each training (default 8000)")
    parser.add_argument("--canaries", type=int, default=2000, help="m (default 2000)")
    parser.add_argument("--runs", type=int, default=5, help="trainings (default 5)")
    given = parser.parse_args(arguments)
    found: dict[str, list[float]] = {}
    try:
        for seed in range(given.runs):
            x, y = images(3 * given.part, 4000, seed)
            learners = learner(40, seed=seed), learner(5, seed=seed)
            for name, table in tables(x[: 3 * given.part], y[: 3 * given.part], given.canaries, *learners, seed):
                found.setdefault(name, []).append(_bound(name, table, seed))
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("| game | bound |\n|---|---:|")
    for name, values in found.items():
        print(f"| {name} | {np.mean(values):.2f} ± {np.std(values):.2f} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
