"""BaVarIA: variances between an example's own and the pooled one, by a conjugate prior (Brännvall 2026, arXiv
2603.11799).

Of each example and side, in and out, the φ of the references are normal with a mean and a variance of their own. They
come from a normal-inverse-gamma law, so that the next φ has a Student law: with n references of mean φ̄ and sum of
squares S about it,

    σ² ~ IG(a, b),   μ | σ² ~ N(m, σ²/k)
    φ ~ t of 2a' degrees of freedom, centre m' and squared scale b'(k' + 1)/(a' k'),   k' = k + n,   a' = a + n/2,
    m' = (k m + n φ̄)/k',   b' = b + S/2 + k n (φ̄ − m)²/(2k')

    score = log t(φ | in) − log t(φ | out)

The prior is fitted to the references by moments. V is the pooled variance and v = S/(n − 1) that of an example, of
those with n ≥ 2; m and D are the mean and the variance of φ̄ over the examples with n ≥ 1, and h the mean of their 1/n:

    b = V (a − 1),   k = V/(D − h V),   1/(a − 2) = (E[(n − 1)(v² − V²)] − 2 V²)/(V² (E[n] + 1))

k is at least 10⁻⁶, and at most 10⁶, also where D ≤ h V; a is between 2.5 and 1000. These are our choices, as is that
the prior of a side that no example has twice takes V and a from the other one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import Moments, View, pooled_variance
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]

_LEAST_K, _MOST_K = 1e-6, 1e6
_LEAST_A, _MOST_A = 2.5, 1000.0


@dataclass(frozen=True)
class _Prior:
    m: float
    k: float
    a: float
    b: float


def bavaria(view: View) -> Floats:
    """The scores, (n,)."""
    view.require("bavaria", "out", "in")
    out, in_ = view.moments("out"), view.moments("in")
    phi = view.statistic[view.target]
    return _log_student(phi, in_, _fitted(in_, out)) - _log_student(phi, out, _fitted(out, in_))


def _fitted(side: Moments, other: Moments) -> _Prior:
    """The prior of one side."""
    there = side.count > 0
    pooled = pooled_variance(side, other)
    mean, spread = float(side.mean[there].mean()), float(side.mean[there].var())
    between = spread - pooled * float((1 / side.count[there]).mean())
    k = min(max(pooled / between, _LEAST_K), _MOST_K) if between > 0 else _MOST_K
    a = _shape(side if (side.count > 1).any() else other, pooled)
    return _Prior(mean, k, a, pooled * (a - 1))


def _shape(side: Moments, pooled: float) -> float:
    """a, from how much the variances of examples differ beyond chance."""
    twice = side.count > 1
    if not twice.any():
        return _MOST_A
    freedom = side.count[twice] - 1.0
    ratio = side.squares[twice] / freedom / pooled
    excess = (float((freedom * (ratio**2 - 1)).mean()) - 2) / (float(freedom.mean()) + 2)
    return min(max(2 + 1 / excess, _LEAST_A), _MOST_A) if excess > 0 else _MOST_A


def _log_student(phi: Floats, side: Moments, prior: _Prior) -> Floats:
    """The log density of the next φ, (n,)."""
    n = side.count
    k, a = prior.k + n, prior.a + n / 2
    centre = (prior.k * prior.m + n * side.mean) / k
    b = prior.b + side.squares / 2 + prior.k * n * (side.mean - prior.m) ** 2 / (2 * k)
    square = b * (k + 1) / (a * k)
    constant = special.gammaln(a + 0.5) - special.gammaln(a) - np.log(2 * np.pi * a * square) / 2
    return constant - (a + 0.5) * np.log1p((phi - centre) ** 2 / (2 * a * square))


ATTACKS = (Attack("bavaria", bavaria),)
