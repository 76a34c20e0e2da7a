"""What trees remember of labels that a mechanism keeps private: `bdp.audits.labels` on Adult, at several ε.

Of the 48 842 people 15 000 each are for the audited model, the proxy and the control. The audited model is 200 trees of
63 leaves without a stop, which learn labels by heart; proxy and control are stopped early. The mechanisms are those of
`models.label_dp`; the prior of those that have one is the proxy, which never saw these labels. In two stages (LP-2ST of
Ghazi et al. 2021) a model of the responses to one half is the prior for the other half, and each label is used once.

    BAYES_DP_DATASETS=datasets python -m models.label_audit
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bayes_dp.audits.labels import labels as audit
from bayes_dp.checks import InputError
from bayes_dp.results.bound import LowerBound
from bayes_dp.support.arrays import Bools, Floats, Ints
from models.data import adult
from models.label_dp import alibi, randomized_response

__all__ = ["MECHANISMS", "audited", "main"]

_PART = 15_000
_EPSILONS = (math.inf, 8.0, 4.0, 2.0, 1.0)
_GAMES = 21

Fit = Callable[..., Callable[[Floats], Floats]]


def trees(kinds: Bools, by_heart: bool, seed: int) -> Fit:
    """What fits gradient boosting to features, labels and weights, and gives the probabilities of two classes."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    def fit(x: Floats, y: Ints, weight: Floats | None = None) -> Callable[[Floats], Floats]:
        model = HistGradientBoostingClassifier(
            max_iter=200,
            max_leaf_nodes=63 if by_heart else 31,
            early_stopping=not by_heart,
            categorical_features=kinds,
            random_state=seed,
        )
        return model.fit(x, y, sample_weight=weight).predict_proba

    return fit


def _plain(x: Floats, y: Ints, prior: Floats, epsilon: float, fit: Fit, seed: int) -> Floats:
    return fit(x, randomized_response(y, np.full_like(prior, 0.5), epsilon, seed)[0])(x)


def _with_prior(x: Floats, y: Ints, prior: Floats, epsilon: float, fit: Fit, seed: int) -> Floats:
    return fit(x, randomized_response(y, prior, epsilon, seed)[0])(x)


def _two_stages(x: Floats, y: Ints, prior: Floats, epsilon: float, fit: Fit, seed: int) -> Floats:
    half = len(y) // 2
    first, _ = randomized_response(y[:half], np.full_like(prior[:half], 0.5), epsilon, seed)
    second, _ = randomized_response(y[half:], fit(x[:half], first)(x[half:]), epsilon, seed + 1)
    return fit(x, np.concatenate([first, second]))(x)


def _alibi(x: Floats, y: Ints, prior: Floats, epsilon: float, fit: Fit, seed: int) -> Floats:
    soft = alibi(y, prior, epsilon, seed)
    rows = np.tile(np.arange(len(y)), 2)
    return fit(x[rows], np.repeat([0, 1], len(y)), soft.T.ravel())(x)


MECHANISMS = {
    "randomized response": _plain,
    "with a prior": _with_prior,
    "two stages": _two_stages,
    "ALIBI": _alibi,
}


def audited(
    x: Floats, y: Ints, kinds: Bools, part: int, epsilons: Sequence[float], seed: int = 0, share: float = 0.05
) -> Iterator[tuple[str, float, LowerBound]]:
    """For each mechanism and ε the bound at δ = 10⁻⁵, from a share of guesses."""
    order = np.random.default_rng(seed).permutation(len(y))
    own, others, third = (order[i * part : (i + 1) * part] for i in range(3))
    proxy = trees(kinds, False, seed)(x[others], y[others])(x[own])
    control = trees(kinds, False, seed + 1)(x[third], y[third])(x[own])
    for name, mechanism in MECHANISMS.items():
        for epsilon in epsilons:
            model = mechanism(x[own], y[own], proxy, epsilon, trees(kinds, True, seed + 2), seed)
            bound = audit(
                y[own], proxy, model, 1e-5, control=control, choice=round(share * part), games=_GAMES, seed=seed
            )
            yield name, epsilon, bound


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.label_audit", description=__doc__.split("\n")[0])
    parser.add_argument("--part", type=int, default=_PART, help="people for each of the three models")
    parser.add_argument("--epsilon", type=float, nargs="+", default=_EPSILONS, help="of the mechanisms")
    chosen = parser.parse_args(arguments)
    try:
        x, kinds, y = adult()
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("| mechanism | ε | bound | mean ± sd of the games | control |\n|---|---:|---:|---:|---:|")
    for name, epsilon, bound in audited(x, y, kinds, chosen.part, chosen.epsilon):
        games = f"{bound.details['mean']:.2f} ± {bound.details['sd']:.2f}"
        print(f"| {name} | {epsilon:g} | {bound.value:.2f} | {games} | {bound.details['control']:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
