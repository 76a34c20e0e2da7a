"""New orders of scores under a posterior from the old ones, told by how many scores with z the attack misses.

The attack on a base has the threshold at which at most a share α of its scores without z is above it. It misses the
scores with z below. As a false positive rate, the threshold of N0 scores without z is the ⌊αN0⌋ + 1 smallest of N0
random numbers, and a score with z lies beyond u with the chance f_t(u), t the level of the base. A new base has a
level of its own in the layer, and its scores are upside down where a draw of the posterior says so of the old one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_dp.bayes.checks.new_bases import drawn_levels, strength_of
from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.levels.curve_posterior import CurvePosterior
from bayes_dp.bayes.levels.placements import placements
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["FALSE_POSITIVE_RATES", "missed", "new_orders"]

FALSE_POSITIVE_RATES = np.array([0.01, 0.05, 0.1, 0.2, 0.5])


def missed(labels: Sequence[Ints]) -> Ints:
    """How many scores with z of each base are below the threshold of each rate, (n, rates)."""
    return np.array([[np.sum(placements(order) > rate) for rate in FALSE_POSITIVE_RATES] for order in labels])


@underflow_is_zero
def new_orders(post: CurvePosterior, size: int, seed: int) -> Ints:
    """The same of new bases, for the draws of `post.draws(size, seed)`: (size, n, rates)."""
    drawn, question, rng = post.draws(size, seed), post.question, np.random.default_rng([seed, 6])
    theta = drawn[question.family.parameter][:, None]
    flipped = rng.random((size, len(post.bases))) < post._law.backwards(post.levels(size, seed))
    strength, levels = strength_of(question, drawn), np.broadcast_to(theta, flipped.shape)
    if strength is not None:
        levels = theta * drawn_levels(question.family, theta, strength[:, None], flipped.shape, rng)
    labels = question.orders.labels
    every = [
        _missed(order, question.family, t, up, rng) for order, t, up in zip(labels, levels.T, flipped.T, strict=True)
    ]
    return np.stack(every, axis=1)


def _missed(order: Ints, family: TradeOffFamily, t: Floats, flipped: Bools, rng: np.random.Generator) -> Ints:
    """For one base at levels (m,): (m, rates)."""
    n0, n1 = int((order == 0).sum()), int((order == 1).sum())
    place = np.floor(FALSE_POSITIVE_RATES * n0 + 1e-9).astype(int) + 1
    # Of n0 + 1 spacings between 0, n0 random numbers in order and 1, those up to each threshold: a Dirichlet law.
    spacings = np.diff(np.append(0, np.append(place, n0 + 1)))
    shares = rng.gamma(np.maximum(spacings, 1e-300), size=(len(t), len(spacings))) * (spacings > 0)
    threshold = np.cumsum(shares[:, :-1], axis=1) / shares.sum(axis=1, keepdims=True)
    threshold = np.minimum(threshold, 1.0)
    side = flipped[:, None]
    chance = np.where(side, 1.0 - family(1.0 - threshold, t[:, None]), family(threshold, t[:, None]))
    found, left, before = np.empty(threshold.shape, int), np.full(len(t), n1), np.ones(len(t))
    for i, now in enumerate(chance.T):
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(before > 0, now / before, 0.0)
        left = rng.binomial(left, np.clip(ratio, 0.0, 1.0))
        found[:, i], before = left, now
    return found
