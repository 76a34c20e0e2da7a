"""An audit of labels beside the figure that PrivacyGuard gives for the same table (facebookresearch, 2025).

By its public code (`LIAAnalysisNode`, two classes): in each of G games the scores M(x)[y] − q(x)[y] of the labels that
are shown are divided into those of the training and those drawn, and both are resampled with replacement B times to the
size of the smaller. Of each resample's ROC curve (FPR, TPR) it takes

    ε = log(TPR − δ) − log FPR, at most log of the number of scores,

at the last point with FPR ≤ t and at the first with TPR ≥ t, and the larger one, for t = 1%, 2%, …, 100%. `eps` is the
largest over t of the 97.5% quantile over games and resamples, `eps_lb` the 2.5% quantile at the same t. Neither is a
bound with a confidence: the quantiles are of games that share the labels, the point is chosen where the upper one is
largest, and a rate of 0 counts as the cap. The table has randomized response of known ε, also of none.

    python -m models.label_side_by_side
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from bayes_dp.audits.labels import labels as audit
from bayes_dp.data.class_probabilities import drawn
from bayes_dp.games import LabelGame
from bayes_dp.support.arrays import Floats, Ints
from models.label_dp import randomized_response

__all__ = ["main", "privacyguard"]


def privacyguard(
    labels: Ints, proxy: Floats, model: Floats, delta: float, games: int = 100, resamples: int = 10, seed: int = 0
) -> tuple[float, float]:
    """`eps` and `eps_lb` of its label audit, with the settings that it has if nothing is said."""
    game = LabelGame(labels, proxy, model - proxy)
    rng = np.random.default_rng(seed)
    found = []
    for number in range(games):
        table = game.play(number)
        sides = table.score[table.member], table.score[~table.member]
        size = min(map(len, sides))
        found += [at_thresholds(*(rng.choice(side, size) for side in sides), delta) for _ in range(resamples)]
    each = np.sort(found, axis=0)
    low, high = each[max(int(0.025 * len(each)) - 1, 0)], each[int(0.975 * len(each))]
    return float(high.max()), float(low[np.argmax(high)])


def at_thresholds(training: Floats, others: Floats, delta: float) -> Floats:
    """Its ε at the hundred error rates, of one resample."""
    from sklearn.metrics import roc_curve

    member = np.repeat([1, 0], [len(training), len(others)])
    fpr, tpr, _ = roc_curve(member, np.concatenate([training, others]))
    with np.errstate(divide="ignore", invalid="ignore"):
        epsilon = np.minimum(np.log(tpr - delta) - np.log(fpr), np.log(len(training)))
    rates = np.linspace(0.01, 1, 100)
    last = np.maximum(np.searchsorted(fpr, rates, side="right") - 1, 0)
    first = np.minimum(np.searchsorted(tpr, rates, side="left"), len(tpr) - 1)
    return np.fmax(epsilon[last], epsilon[first])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m models.label_side_by_side", description=__doc__.split("\n\n")[0])
    parser.add_argument("--n", type=int, default=10_000, help="examples (default 10000)")
    parser.add_argument("--games", type=int, default=100, help="(default 100)")
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0, 0.5, 1, 2, 4])
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    print("| ε of the mechanism | bound at 95% | PrivacyGuard's eps | its eps_lb |\n|---:|---:|---:|---:|")
    rng = np.random.default_rng(given.seed)
    q = rng.dirichlet([1, 1], given.n)
    y = drawn(q, rng)
    for epsilon in given.epsilon:
        _, chance = randomized_response(y, np.full_like(q, 0.5), epsilon, given.seed + 1)
        model = q * chance / (q * chance).sum(axis=1, keepdims=True)
        if epsilon == 0:  # the model of a training that saw no labels: another estimate of the same law
            model = np.clip(q + 0.01 * rng.normal(size=(given.n, 1)) * [1, -1], 0, 1)
        ours = audit(y, q, model, 1e-5, exact=True, games=21, seed=given.seed).value
        eps, least = privacyguard(y, q, model, 1e-5, given.games, seed=given.seed)
        print(f"| {epsilon:g} | {ours:.2f} | {eps:.2f} | {least:.2f} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
