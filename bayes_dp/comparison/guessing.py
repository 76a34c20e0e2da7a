"""Is an attack distinguishable from guessing? Fisher's exact test of α + β = 1 for every base.

A guess that does not depend on membership says "member" as often with z as without. Given how often it was said in all,
the false positives X are then hypergeometric, whatever the rates: the test is exact (Fisher 1935). It has two sides,
since decisions that are worse than chance leak as well: the opposite ones are better. The p-value of a base is twice
the smaller tail.

For guesses on one model the memberships are fair coins, and the law given the totals is the same.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["guessing"]


def guessing(counts: ErrorCounts) -> tuple[Floats, Bools]:
    """The p-value of every base that its attack guesses, and whether it was more often wrong than right, (n,) each."""
    columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    rows = [tuple(int(value) for value in row) for row in zip(*columns, strict=True)]
    worse = np.array([x * n1 > (n1 - y) * n0 for x, n0, y, n1 in rows])
    return np.array([_p_value(x, n0, n1 - y, n1) for x, n0, y, n1 in rows]), worse


def _p_value(x: int, n0: int, found: int, n1: int) -> float:
    """Twice the probability of X ≤ x or of X ≥ x, whichever side x is on, at most 1."""
    said, runs = x + found, n0 + n1
    mean = n0 * said / runs
    sd = math.sqrt(mean * (n1 / runs) * ((runs - said) / max(runs - 1, 1)))
    reach = math.ceil(15 * sd) + 50  # the law is log-concave: what lies beyond is nothing beside the rest
    low, high = max(0, said - n1), min(n0, said)
    k = np.arange(max(low, x - reach), x + 1) if x <= mean else np.arange(x, min(high, x + reach) + 1)
    log_weight = _log_choose(n0, k) + _log_choose(n1, said - k) - _log_choose(runs, np.asarray(said))
    return min(1.0, 2.0 * float(np.exp(log_weight).sum()))


def _log_choose(n: int, k: Ints) -> Floats:
    return np.asarray(special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1))
