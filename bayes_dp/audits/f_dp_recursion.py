"""The recursion of an f-DP audit of one run, for many questions at once or for one; see `f_dp`.

Of r and h, which start at the observed counts and grow towards k = 0, only the last sum decides, so that the recursion
is left as soon as it is sure on which side of n/m that ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.support.arrays import Floats, Indices
from bayes_dp.tradeoff import TradeOffFunction, float_inverse

if TYPE_CHECKING:
    from bayes_dp.audits.f_dp import Family

__all__ = ["FEW", "margins", "rest", "scalar_inverse"]

FEW = 24  # up to so many pairs, Python's floats are faster than arrays
_BLOCK = 24  # steps of the recursion after which it is asked whether it comes to rest


def margins(
    family: Family,
    tau: float,
    parameter: Floats,
    m: Floats,
    n: Floats,
    c: Floats,
    p: Floats,
) -> Floats:
    """r[0] + h[0] − n/m, positive where the parameter is rejected; all arrays of shape (k,).

    Once r ≥ 1 the rejection is sure and the recursion is left. It goes on beyond n/m, to be continuous up to there for
    the sake of interpolation. Where it is sure to come to rest below, it is left as well.
    """
    m = np.maximum(m, 1.0)
    r, h, end = p * c / m, p * (n - c) / m, n / m
    total, k, made, step = np.empty_like(r), c, np.maximum(n, 1.0), np.zeros_like(r)
    left: Indices = np.arange(len(r))
    while family.inverse is not None and len(left) > FEW:
        at, before = parameter[left], step
        ahead = np.maximum(k - np.arange(1.0, _BLOCK + 1)[:, None], 0.0)
        for factor in ahead / (made - ahead):  # at rest, and at k = 0, nothing changes
            step = np.maximum(family.inverse(at, np.minimum(r, 1.0)) - (h + tau), 0.0)
            r, h = r + factor * step, h + step
        total[left], k = r + h, ahead[-1]
        going = (step > 0) & (r < 1) & (k > 0)
        slower = np.flatnonzero(going & (step < before))
        decay = np.log(before[slower] / step[slower])
        x, most = _beyond(r[slower], h[slower], factor[slower], step[slower], decay)
        grown = family.inverse(at[slower], np.minimum(x, 1.0)) - tau
        going[slower] = (x >= 1) | (grown > most) | (x + most > end[left[slower]])
        left, (k, made, r, h, step) = left[going], (values[going] for values in (k, made, r, h, step))
    for i, j in enumerate(left):
        inverse = scalar_inverse(family.member(float(parameter[j])), tau)
        total[j] = rest(inverse, float(r[i]), float(h[i]), float(k[i]), float(made[i]), float(end[j]))
    return total - end


def rest(inverse: Callable[[float], float], r: float, h: float, k: float, made: float, end: float) -> float:
    """r[0] + h[0] from r[k] and h[k]; where it is sure not to get above `end`, some of the sums on the way there."""
    step = 0.0
    if not 0 < r < 1:
        return r + h
    for first in range(int(k) - 1, -1, -_BLOCK):
        before, last = step, h
        for j in range(first, max(first - _BLOCK, -1), -1):
            grown = inverse(r)
            if grown <= h:
                return r + h
            last = h
            r += j / (made - j) * (grown - h)
            h = grown
            if r >= 1:
                return r + h
        step = h - last
        if 0 < step < before and j > 0:
            x, most = _beyond(r, h, j / (made - j), step, math.log(before / step))
            if x < 1 and inverse(x) <= most and x + most <= end:
                return r + h
    return r + h


def _beyond(r: Any, h: Any, factor: Any, step: Any, decay: Any) -> tuple[Any, Any]:
    """A point x, and the most that f̄⁻¹(x) may be for the recursion to come to rest before r is there.

    As k/(made − k) decreases, r grows by at most `factor` times what h grows by, so that it does not pass an x with
    f̄⁻¹(x) ≤ h + (x − r)/factor. The x is twice as far as r goes if steps become shorter by e^{−decay} in each block.
    """
    x = r + 2 * factor * step * _BLOCK / decay
    return x, h + (x - r) / factor


def scalar_inverse(trade_off: TradeOffFunction, tau: float) -> Callable[[float], float]:
    """f̄_τ⁻¹ for one Python float in (0, 1)."""
    plain = float_inverse(trade_off)
    return plain if tau == 0 else lambda y: max(0.0, plain(y) - tau)
