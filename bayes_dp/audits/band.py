"""A confidence band of a distribution function, from n independent draws: all upper bounds hold at once.

With k of n draws at or below t, the band bounds P[draw ≤ t] by u_k, u_n = 1:

    equal   the Clopper-Pearson bound of k errors of n at one local error probability η for every k, the largest with
            P[U₍ⱼ₎ ≤ u_{j−1} for j = 1 … n] ≥ 1 − p for the order statistics of n uniform numbers. If the band fails at
            some t, it fails where the distribution function has passed u_{j−1} with fewer than j draws below.
    dkw     k/n + √(log(1/p)/(2n)) (Massart 1990, one side, p ≤ ½): wider near both ends of the unit interval.

That probability is one of a walk: the number of draws below u_0, u_1, … has to be at least 1, 2, …. With a Poisson
number of draws instead of n its steps are independent Poisson numbers, and the chance that it keeps to this and ends
with n draws is divided by the chance of n draws. Beyond 20 000 draws η = p/n, which is Bonferroni's.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy import special

from bayes_dp.beta import clopper_pearson_upper
from bayes_dp.support.arrays import Floats

__all__ = ["BANDS", "Band", "local_level", "never_above", "upper_band"]

Band = Literal["equal", "dkw"]
BANDS = ("equal", "dkw")
_MOST = 20_000  # draws for which the local level is solved for
_DROPPED = 1e-30  # chances of single states of the walk


def upper_band(n: int, p: float, band: Band) -> Floats:
    """u_0 … u_n, (n + 1,): bounds that hold at once with probability 1 − p.

    >>> bdp.audits.band.upper_band(4, 0.05, "equal").round(3)
    array([0.648, 0.836, 0.948, 0.996, 1.   ])
    """
    k = np.arange(n + 1)
    if band == "dkw":
        found = np.minimum(1.0, k / n + math.sqrt(math.log(1 / min(p, 0.5)) / (2 * n)))
    else:
        found = clopper_pearson_upper(k, n, local_level(n, p))
    found[n] = 1.0
    return np.asarray(found)


@lru_cache(maxsize=64)
def local_level(n: int, p: float) -> float:
    """η: the error probability of each of n Clopper-Pearson bounds that hold at once with probability 1 − p.

    >>> round(bdp.audits.band.local_level(20, 0.025), 9)
    0.002378209
    """
    if n > _MOST:
        return p / n
    if n == 1:
        return p

    from scipy.optimize import brentq  # a tenth of a second to import

    def excess(log_level: float) -> float:
        return never_above(clopper_pearson_upper(np.arange(n), n, math.exp(log_level))) - (1 - p)

    low, high = math.log(p / n), math.log(p)  # Bonferroni, and one bound alone
    return math.exp(float(brentq(excess, low - 1e-9, high + 1e-9, xtol=1e-10)))


def never_above(u: Floats) -> float:
    """P[U₍ⱼ₎ ≤ u_{j−1} for j = 1 … n] for the order statistics of n uniform numbers and increasing u, (n,).

    >>> round(bdp.audits.band.never_above(np.array([0.3, 0.5, 0.8])), 9)
    0.306
    """
    n = len(u)
    steps = np.diff(u, prepend=0.0) * n
    state, first = np.ones(1), 0  # chances of first, first + 1, … draws so far
    for j, mean in enumerate(steps, start=1):
        size = int(mean + 12 * math.sqrt(mean) + 40)
        k = np.arange(size)
        state = np.convolve(state, np.exp(special.xlogy(k, mean) - mean - special.gammaln(k + 1)))
        if first < j:
            state, first = state[j - first :], j
        kept = np.flatnonzero(state[: max(n - first + 1, 0)] > _DROPPED)
        if not len(kept):
            return 0.0
        state, first = state[kept[0] : kept[-1] + 1], first + int(kept[0])
    if first > n or first + len(state) <= n:
        return 0.0
    last = state[n - first] * math.exp(-n * (1 - u[-1]))  # no further draw above the last one
    return float(last / math.exp(n * math.log(n) - n - special.gammaln(n + 1)))
