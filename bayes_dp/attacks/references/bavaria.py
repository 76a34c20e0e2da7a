"""BaVarIA: variances between an example's own and the pooled one, by a conjugate prior (Brännvall 2026, arXiv
2603.11799).

Of each example and side, in and out, the φ of the references are normal with a mean and a variance of their own. They
come from a normal-inverse-gamma law, so that the next φ has a Student law: with n references of mean φ̄ and sum of
squares S about it,

    σ² ~ IG(a, b),   μ | σ² ~ N(m, σ²/k)
    φ ~ t of 2a' degrees of freedom, centre m' and squared scale b'(k' + 1)/(a' k'),   k' = k + n,   a' = a + n/2,
    m' = (k m + n φ̄)/k',   b' = b + S/2 + k n (φ̄ − m)²/(2k')

    score = log t(φ | in) − log t(φ | out)

The prior is fitted to the references by moments, and these are our choices. V is the pooled variance, v = S/(n − 1)
that of an example with n ≥ 2, and E a mean over such examples:

    b = V (a − 1),   1/(a − 2) = (E[(n − 1)(v² − V²)] − 2 V²)/(V² (E[n] + 1)),   a between 2.5 and 1000

An example is about as hard on both sides. So m is the mean of the other side moved by the mean difference of both, and
V/k says how far the own mean is from there: by the variance B of that difference over examples, beyond what the
variances V of both sides make, and by the error of the other side's mean. With o for the other side,

    V/k = max(B, 0) + V_o/n_o,   B = Var(φ̄_in − φ̄_out) − E[V_in/n_in + V_out/n_out]

Without a reference on the other side the prior says next to nothing, k = 10⁻⁶.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import Moments, View, both_sides, pooled_variance
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]

_LEAST_K = 1e-6
_LEAST_A, _MOST_A = 2.5, 1000.0


@dataclass(frozen=True)
class _Prior:
    m: Floats  # (n,)
    k: Floats  # (n,)
    a: float
    b: float


def bavaria(view: View) -> Floats:
    """The scores, (n,)."""
    view.require("bavaria", "out", "in")
    out, in_ = view.moments("out"), view.moments("in")
    means = both_sides((out.count, out.mean), (in_.count, in_.mean))
    difference = float((means.in_ - means.out).mean())
    variance_out, variance_in = pooled_variance(out, in_), pooled_variance(in_, out)
    spread = _spread(out, in_, variance_out, variance_in)
    phi = view.statistic[view.target]
    inside = _fitted(means.out + difference, in_, out, variance_in, variance_out, spread)
    outside = _fitted(means.in_ - difference, out, in_, variance_out, variance_in, spread)
    return _log_student(phi, in_, inside) - _log_student(phi, out, outside)


def _spread(out: Moments, in_: Moments, variance_out: float, variance_in: float) -> float:
    """B, at least 0; 0 where fewer than two examples have both sides."""
    both = (out.count > 0) & (in_.count > 0)
    if np.count_nonzero(both) < 2:
        return 0.0
    error = variance_in / in_.count[both] + variance_out / out.count[both]
    return max(float((in_.mean - out.mean)[both].var() - error.mean()), 0.0)


def _fitted(
    centre: Floats, side: Moments, other: Moments, variance: float, variance_other: float, spread: float
) -> _Prior:
    """The prior of one side."""
    k = np.where(other.count > 0, variance / (spread + variance_other / np.maximum(other.count, 1)), _LEAST_K)
    a = _shape(side if (side.count > 1).any() else other, variance)
    return _Prior(centre, k, a, variance * (a - 1))


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
