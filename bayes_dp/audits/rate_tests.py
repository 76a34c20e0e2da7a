"""Tests of a trade-off function f by the error counts of one base: x of n0 and y of n1 runs, independent of each other.

Under f every rule has rates in R = {f(α) ≤ β ≤ 1 − f(1 − α)}. Three tests that hold for any symmetric f:

    joint            G(x, y) = max log-likelihood − max over R of the same; p is the largest P[G ≥ G(x, y)] under f. G
                     falls in x and in y, so that the largest is on the curve β = f(α): it is computed there, exactly
    clopper-pearson  the least p at which the exact upper bounds of both rates, at p/2 each, are below f
    mixture          E = B(x+½, n0−x+½) B(y+½, n1−y+½) / (B(½, ½)² max over R of the likelihood): an e-value, whose mean
                     is at most 1 under f, also if the number of runs was chosen while they were counted (Wald's mixture
                     of likelihood ratios; p = 1/E)

The first two take the decisions as they are: where they are worse than chance, p is 1. For (ε, δ)-DP the joint test is
that of `exact_test.py`, which judges many values of ε at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import special

from bayes_dp.audits.exact_test import mixed_log_ratio
from bayes_dp.beta import clopper_pearson_upper
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.tradeoff import TradeOffFunction, least

__all__ = ["MOST_RUNS", "clopper_pearson_p", "joint_p", "largest_gap", "mixture_log_e"]

MOST_RUNS = 20_000  # with or without the example, up to which `joint_p` takes seconds
_GOLDEN = (math.sqrt(5) - 1) / 2
_SECTIONS = 45  # of a golden-section search: the width falls to 4e-10
_POINTS = 48  # on each half of the curve
_TIE = 1e-9  # by which two values of G may differ and be the same


def joint_p(f: TradeOffFunction, x: int, n0: int, y: int, n1: int) -> float:
    """The p-value of the joint test, exact but for a relative error of about 1e-6."""
    observed = float(_excess(f, np.array([float(x)]), n0, np.array([float(y)]), n1)[0])
    if observed <= 0:
        return 1.0
    counts = np.arange(n0 + 1.0)
    below = np.full(n0 + 1, -1.0)  # the largest y of each x with a G that is as large
    above = np.ceil(n1 * (1 - counts / n0)) + 1
    while (open_ := above - below > 1).any():
        middle = np.floor((below + above) / 2)
        large = np.zeros(n0 + 1, dtype=bool)
        large[open_] = _excess(f, counts[open_], n0, middle[open_], n1) >= observed - _TIE
        below, above = np.where(open_ & large, middle, below), np.where(open_ & ~large, middle, above)
    some = below >= 0
    counts, below = counts[some], below[some]
    log_choose = special.gammaln(n0 + 1) - special.gammaln(counts + 1) - special.gammaln(n0 - counts + 1)
    kink = float(least(lambda a: np.asarray(f(a)) <= a, 0.0, 1.0))

    def chance(angle: Floats, mirrored: bool) -> Floats:
        """P[G ≥ observed] at the points of one half of the curve."""
        small = kink * np.sin(angle) ** 2
        alpha, beta = (f(small), small) if mirrored else (small, f(small))
        alpha, beta = np.asarray(alpha)[:, None], np.asarray(beta)[:, None]
        log_pmf = log_choose + special.xlogy(counts, alpha) + special.xlog1py(n0 - counts, -alpha)
        cdf = np.where(below >= n1, 1.0, special.betaincc(below + 1, np.maximum(n1 - below, 1e-9), beta))
        return np.asarray((np.exp(log_pmf) * cdf).sum(axis=1))

    angles = np.linspace(0.0, math.pi / 2, _POINTS + 1)
    largest = max(_largest(partial(chance, mirrored=mirrored), angles) for mirrored in (False, True))
    return min(1.0, largest * (1 + 1e-6))


def largest_gap(f: TradeOffFunction, bases: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Of all bases with the same numbers of runs the one with the largest G, which has the smallest p-value of them."""
    found: dict[tuple[int, int], tuple[float, tuple[int, int, int, int]]] = {}
    for x, n0, y, n1 in bases:
        gap = float(_excess(f, np.array([float(x)]), n0, np.array([float(y)]), n1)[0])
        if (n0, n1) not in found or gap > found[n0, n1][0]:
            found[n0, n1] = gap, (x, n0, y, n1)
    return [base for _, base in found.values()]


def _largest(chance: Callable[[Floats], Floats], angles: Floats) -> float:
    """The largest value of a smooth function, between the neighbours of the best of the angles."""
    found = chance(angles)
    best = int(np.argmax(found))
    low, high = angles[max(best - 1, 0)], angles[min(best + 1, len(angles) - 1)]
    top = float(found[best])
    for _ in range(4):
        inner = np.linspace(low, high, 13)
        values = chance(inner)
        i = int(np.argmax(values))
        top, low, high = max(top, float(values[i])), inner[max(i - 1, 0)], inner[min(i + 1, 12)]
    return top


def clopper_pearson_p(f: TradeOffFunction, x: int, n0: int, y: int, n1: int) -> float:
    """The p-value by exact bounds of both rates."""

    def refuted(p: Floats) -> Bools:
        share = np.maximum(p / 2, 1e-300)
        return np.asarray(clopper_pearson_upper(y, n1, share) < f(clopper_pearson_upper(x, n0, share)))

    return float(least(refuted, 0.0, 1.0))


def mixture_log_e(f: TradeOffFunction, x: int, n0: int, y: int, n1: int) -> float:
    """log E of the mixture; 0 where one of the two kinds of runs is missing."""
    if n0 == 0 or n1 == 0:
        return 0.0
    if x / n0 + y / n1 > 1:
        x, y = n0 - x, n1 - y
    excess = _excess(f, np.array([float(x)]), n0, np.array([float(y)]), n1)[0]
    return float(mixed_log_ratio(x, n0, y, n1) + excess)


def _excess(f: TradeOffFunction, x: Floats, n0: int, y: Floats, n1: int) -> Floats:
    """G, (n,): the log-likelihood is concave and R convex, so that on the curve there is one maximum, between the
    points straight above and to the right of the observed rates."""
    alpha, beta = x / n0, y / n1
    low, high = alpha.copy(), np.maximum(np.asarray(f.inverse(1 - beta)), alpha)
    inner = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    left, right = inner
    at_left, at_right = (_log_likelihood(x, n0, y, n1, a, np.asarray(f(a))) for a in inner)
    for _ in range(_SECTIONS):
        rises = at_left < at_right
        low, high = np.where(rises, left, low), np.where(rises, high, right)
        new = np.where(rises, low + _GOLDEN * (high - low), high - _GOLDEN * (high - low))
        at_new = _log_likelihood(x, n0, y, n1, new, np.asarray(f(new)))
        left, right = np.where(rises, right, new), np.where(rises, new, left)
        at_left, at_right = np.where(rises, at_right, at_new), np.where(rises, at_new, at_left)
    free = _log_likelihood(x, n0, y, n1, alpha, beta)
    inside = (beta >= f(alpha)) | (alpha + beta >= 1)
    return np.where(inside, 0.0, np.maximum(0.0, free - np.maximum(at_left, at_right)))


def _log_likelihood(x: Floats, n0: int, y: Floats, n1: int, alpha: Floats, beta: Floats) -> Floats:
    return np.asarray(
        special.xlogy(x, alpha)
        + special.xlog1py(n0 - x, -alpha)
        + special.xlogy(y, beta)
        + special.xlog1py(n1 - y, -beta)
    )
