"""Do the scores of all bases look as a family of trade-off functions says? A check of the posterior from their order.

A score with z has the placement of the share of scores without z above it. In draws from the posterior these are
counted in cells, and compared with what f_t of the base's level says:

    D = Σ_bases Σ_cells (observed − expected)² / (expected + ½),   p = P[D of scores drawn again ≥ D of the scores].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["placement_check", "placements"]

_CELLS = np.array([0.0, 0.05, 0.2, 0.5, 1.0])
_GRID = special.expit(np.linspace(-45.0, 34.0, 400))  # α at which f is inverted


def placement_check(
    labels: Sequence[Ints], family: TradeOffFamily, levels: Floats, flipped: Bools, rng: np.random.Generator
) -> float:
    """p from draws of the level of each base and of whether its scores are upside down, (m, n) each."""
    found, again = np.zeros((2, len(levels)))
    for i, order in enumerate(labels):
        t, n0, n1 = levels[:, i], int((order == 0).sum()), int((order == 1).sum())
        expected = -n1 * np.diff(family(_CELLS, t[:, None]), axis=1)
        both = np.stack([_counts(placements(order)), _counts(placements(order[::-1]))])
        found += _discrepancy(both[flipped[:, i].astype(int)], expected)
        # A score with z lies where the share of them above it, 1 − f(α), is a random number.
        above = 1.0 - family(_GRID, t[:, None])
        drawn = np.stack([np.interp(rng.random(n1), share, _GRID) for share in above])
        without = np.sort(rng.random((len(t), n0)), axis=1)
        shares = [np.searchsorted(one, other) / n0 for one, other in zip(without, drawn, strict=True)]
        again += _discrepancy(np.stack([_counts(share) for share in shares]), expected)
    return float(np.mean(again >= found))


def placements(order: Ints) -> Floats:
    """The share of scores without z above each score with it."""
    without = order == 0
    above = without.sum() - np.cumsum(without)
    return np.asarray(above[~without] / without.sum())


def _counts(share: Floats) -> Floats:
    """How many placements are in each cell, its upper end with it, and 0 in the first."""
    return np.bincount(np.searchsorted(_CELLS[1:-1], share), minlength=len(_CELLS) - 1).astype(float)


def _discrepancy(observed: Floats, expected: Floats) -> Floats:
    return np.asarray(((observed - expected) ** 2 / (expected + 0.5)).sum(axis=1))
