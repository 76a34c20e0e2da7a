"""Conversions between ε, δ, μ and advantage.

The functions are named `<what>_from_<which>`; "epsilon" stands for (ε, δ)-DP, "mu" for Gaussian DP and "laplace" for
the Laplace mechanism. Array arguments broadcast; scalars give scalars. ε and μ are finite and ≥ 0.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff.arguments import arrays, fraction, least, nonnegative, scalar

__all__ = [
    "advantage_from_epsilon",
    "advantage_from_laplace",
    "advantage_from_mu",
    "delta_from_laplace",
    "delta_from_mu",
    "epsilon_from_advantage",
    "epsilon_from_laplace",
    "epsilon_from_mu",
    "laplace_from_advantage",
    "laplace_from_epsilon",
    "log_delta_from_mu",
    "mu_from_advantage",
    "mu_from_epsilon",
]

_SLOPE_NODES, _SLOPE_WEIGHTS = np.polynomial.legendre.leggauss(8)
_SLOPE_NODES, _SLOPE_WEIGHTS = (_SLOPE_NODES + 1) / 2, _SLOPE_WEIGHTS / 2
_STEPS, _NEAR = 12, 4e-15  # of Newton's at most, and how near they come, in shares of ε
_SLOPE_SERIES = np.cumprod([1.0, *(-(2.0 * n + 1.0) for n in range(1, 9))])  # (−1)^n (2n + 1)!!


# Gaussian -------------------------------------------------------------------------------------------------------------


def log_delta_from_mu(mu: ArrayLike, epsilon: ArrayLike) -> Floats:
    """log of `delta_from_mu`, also where δ itself is below the smallest float.

    >>> round(float(bdp.tradeoff.log_delta_from_mu(1.0, 50.0)), 2)
    -1233.87
    """
    return _log_delta_from_mu(*arrays(mu=mu, epsilon=epsilon))


def delta_from_mu(mu: ArrayLike, epsilon: ArrayLike) -> Floats:
    """δ(ε) = Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2), the privacy profile of μ-GDP ([BW] Theorem 8; [DRS] Corollary 2.13).

    >>> print(bdp.tradeoff.delta_from_mu(1.0, [0.0, 1.0, 2.0, 4.0]).round(5))
    [3.8292e-01 1.2694e-01 2.0920e-02 5.0000e-05]
    >>> round(float(bdp.tradeoff.epsilon_from_mu(1.0, bdp.tradeoff.delta_from_mu(1.0, 2.0))), 9)
    2.0
    """
    with np.errstate(under="ignore"):
        return np.exp(log_delta_from_mu(mu, epsilon))


def epsilon_from_mu(mu: ArrayLike, delta: ArrayLike) -> Floats:
    """Least ε ≥ 0 for which μ-GDP implies (ε, δ)-DP: the inverse in ε of `delta_from_mu`; infinite at δ = 0 < μ.

    >>> print(bdp.tradeoff.epsilon_from_mu(1.0, [1e-2, 1e-5, 0.0]).round(3))
    [2.318 4.377   inf]
    """
    mu, delta = np.broadcast_arrays(*arrays(mu=mu, delta=delta))
    with np.errstate(divide="ignore", over="ignore"):
        goal = np.log(delta)
        ends = _around(mu, goal)
        epsilon = least(lambda e: _log_delta_from_mu(mu, e) <= goal, *ends)
    return scalar(np.where((delta == 0) & (mu > 0), np.inf, epsilon))


def mu_from_epsilon(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """The μ whose GDP curve passes through (ε, δ), the inverse in μ of `delta_from_mu`; infinite at δ = 1.

    >>> round(float(bdp.tradeoff.mu_from_epsilon(1.0, 1e-5)), 4)
    0.2681
    >>> round(float(bdp.tradeoff.epsilon_from_mu(bdp.tradeoff.mu_from_epsilon(1.0, 1e-5), 1e-5)), 9)
    1.0
    """
    epsilon, delta = np.broadcast_arrays(*arrays(epsilon=epsilon, delta=delta))
    with np.errstate(divide="ignore"):
        goal = np.log(delta)
    highest = 40 + np.sqrt(1600 + 2 * epsilon)  # there −ε/μ + μ/2 = 40, and δ rounds to 1
    mu = least(lambda m: _log_delta_from_mu(m, epsilon) >= goal, 0.0, highest)
    return scalar(np.where(delta == 1, np.inf, mu))


def advantage_from_mu(mu: ArrayLike) -> Floats:
    """2Φ(μ/2) − 1, the largest TPR − FPR under μ-GDP (`delta_from_mu` at ε = 0).

    >>> print(bdp.tradeoff.advantage_from_mu([0.0, 1.0, 4.0]).round(4))
    [0.     0.3829 0.9545]
    """
    return scalar(special.erf(nonnegative("mu", mu) / math.sqrt(8)))


def mu_from_advantage(advantage: ArrayLike) -> Floats:
    """2Φ^{-1}((1 + advantage)/2), the inverse of `advantage_from_mu`; infinite at 1.

    >>> bdp.tradeoff.mu_from_advantage([0.0, 1.0])
    array([ 0., inf])
    >>> round(float(bdp.tradeoff.advantage_from_mu(bdp.tradeoff.mu_from_advantage(0.3))), 9)
    0.3
    """
    return scalar(math.sqrt(8) * special.erfinv(fraction("advantage", advantage)))


def _around(mu: Floats, goal: Floats) -> tuple[Floats, Floats]:
    """Ends between which log δ(ε) falls to `goal`.

    δ(ε) ≤ Φ(μ/2 − ε/μ), which underflows to 0 at Φ(−40). Where that is the goal, Newton's steps begin; since log δ is
    concave in ε, they lead down to the place from above.
    """
    low, high = np.zeros_like(mu), mu * (mu / 2 + 40)
    with np.errstate(all="ignore"):
        epsilon = np.clip(mu * (mu / 2 - special.ndtri_exp(goal)), low, high)
        for _ in range(_STEPS):
            log_delta = _log_delta_from_mu(mu, epsilon)
            slope = np.exp(epsilon + special.log_ndtr(-epsilon / mu - mu / 2) - log_delta)
            last, epsilon = epsilon, np.clip(epsilon + (log_delta - goal) / slope, low, high)
            if (np.abs(last - epsilon) <= _NEAR / 2 * epsilon).all():
                break
        below, above = epsilon * (1 - _NEAR), epsilon * (1 + _NEAR)
        found = (_log_delta_from_mu(mu, below) > goal) & (_log_delta_from_mu(mu, above) <= goal)
    return np.where(found, below, low), np.where(found, above, high)


def _log_delta_from_mu(mu: Floats, epsilon: Floats) -> Floats:
    """With a = ε/μ − μ/2 and b = a + μ, e^ε φ(b) = φ(a), so δ = φ(a) (M(a) − M(b)) for Mills' ratio M = Φ(−x)/φ(x).

    For small μ the difference is the integral of −M' over [a, b], free of cancellation; for a < 0 the complement
    1 − δ = Φ(a) + φ(a) M(b) is used.
    """
    positive = np.where(mu > 0, mu, 1.0)
    with np.errstate(over="ignore", divide="ignore", under="ignore"):  # a = ∞ and log 0 = −∞ are meant
        a = np.asarray(epsilon / positive - positive / 2)
        b = epsilon / positive + positive / 2
        log_density = -(a**2) / 2 - math.log(2 * math.pi) / 2
        width = np.broadcast_to(positive, a.shape)
        narrow = width < 0.5
        mills_b = _mills(b)
        log_difference = np.asarray(np.log(np.where(narrow, 1.0, _mills(np.maximum(a, 0.0)) - mills_b)))
        if narrow.any():
            at = np.maximum(a[narrow], -0.25)[..., None] + width[narrow][..., None] * _SLOPE_NODES
            log_difference[narrow] = np.log(width[narrow]) + np.log(_mills_slope(at) @ _SLOPE_WEIGHTS)
        log_delta = log_density + log_difference
        if (inside := (a < 0) & ~narrow).any():
            complement = special.ndtr(a) + np.exp(log_density) * mills_b
            log_delta = np.where(inside, np.log1p(-np.where(inside, complement, 0.0)), log_delta)
    return scalar(np.where(mu > 0, log_delta, -np.inf))


def _mills(x: Floats) -> Floats:
    """Φ(−x)/φ(x)."""
    return np.asarray(math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2)))


def _mills_slope(x: Floats) -> Floats:
    """−M'(x) = 1 − x M(x), which is 1/x² − 3/x⁴ + 15/x⁶ − … for large x."""
    near = np.minimum(x, 25.0)
    slope = np.asarray(1 - near * _mills(near))
    if (x >= 25).any():
        far = 1 / np.maximum(x, 25.0) ** 2
        slope = np.where(x < 25, slope, far * np.polynomial.polynomial.polyval(far, _SLOPE_SERIES))
    return slope


# (ε, δ) and Laplace ---------------------------------------------------------------------------------------------------


def advantage_from_epsilon(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """(e^ε − 1 + 2δ)/(e^ε + 1) = δ + (1 − δ) tanh(ε/2), the largest TPR − FPR under (ε, δ)-DP ([KOV] Theorem 2.1).

    >>> round(float(bdp.tradeoff.advantage_from_epsilon(1.0, 0.0)), 4)
    0.4621
    >>> bdp.tradeoff.advantage_from_epsilon(0.0, [0.0, 0.1])  # at ε = 0 it is δ
    array([0. , 0.1])
    """
    epsilon, delta = arrays(epsilon=epsilon, delta=delta)
    return delta + (1 - delta) * np.tanh(epsilon / 2)


def epsilon_from_advantage(advantage: ArrayLike, delta: ArrayLike) -> Floats:
    """Least ε ≥ 0 whose (ε, δ)-DP allows this advantage: log((1 + advantage − 2δ)/(1 − advantage)), 0 below δ.

    >>> round(float(bdp.tradeoff.epsilon_from_advantage(0.5, 0.0)), 4)  # log 3
    1.0986
    >>> float(bdp.tradeoff.epsilon_from_advantage(0.1, 0.2))  # δ alone allows it
    0.0
    """
    advantage, delta = np.broadcast_arrays(*arrays(advantage=advantage, delta=delta))
    excess = np.maximum(advantage - delta, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):  # advantage 1: infinite, or 0/0 when δ = 1 too
        epsilon = np.log1p(2 * excess / (1 - advantage))
    return scalar(np.where(excess > 0, epsilon, 0.0))


def delta_from_laplace(mu: ArrayLike, epsilon: ArrayLike) -> Floats:
    """max(0, 1 − e^{(ε − μ)/2}), the profile of the Laplace mechanism, μ = sensitivity/scale ([BBG] Theorem 3).

    >>> print(bdp.tradeoff.delta_from_laplace(1.0, [0.0, 0.5, 2.0]).round(4))  # 0 from ε = μ on
    [ 0.3935  0.2212 -0.    ]
    """
    mu, epsilon = arrays(mu=mu, epsilon=epsilon)
    return np.maximum(0.0, -np.expm1(np.minimum(epsilon - mu, 0.0) / 2))


def epsilon_from_laplace(mu: ArrayLike, delta: ArrayLike) -> Floats:
    """max(0, μ + 2 log(1 − δ)), the inverse in ε of `delta_from_laplace`.

    >>> print(bdp.tradeoff.epsilon_from_laplace(1.0, [0.0, 0.1, 0.5]).round(4))
    [1.     0.7893 0.    ]
    """
    mu, delta = arrays(mu=mu, delta=delta)
    with np.errstate(divide="ignore"):
        return scalar(np.maximum(0.0, mu + 2 * np.log1p(-delta)))


def laplace_from_epsilon(epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """ε − 2 log(1 − δ), the largest Laplace μ that is (ε, δ)-DP; infinite at δ = 1.

    >>> float(bdp.tradeoff.laplace_from_epsilon(1.0, 0.0))
    1.0
    >>> round(float(bdp.tradeoff.laplace_from_epsilon(1.0, 0.1)), 4)  # a δ leaves room for more
    1.2107
    """
    epsilon, delta = arrays(epsilon=epsilon, delta=delta)
    with np.errstate(divide="ignore"):
        return scalar(epsilon - 2 * np.log1p(-delta))


def advantage_from_laplace(mu: ArrayLike) -> Floats:
    """1 − e^{−μ/2}, the largest TPR − FPR against the Laplace mechanism.

    >>> round(float(bdp.tradeoff.advantage_from_laplace(1.0)), 4)
    0.3935
    >>> round(float(bdp.tradeoff.advantage_from_epsilon(1.0, 0.0)), 4)  # what (1, 0)-DP would allow
    0.4621
    """
    return -np.expm1(-nonnegative("mu", mu) / 2)


def laplace_from_advantage(advantage: ArrayLike) -> Floats:
    """−2 log(1 − advantage), the inverse of `advantage_from_laplace`; infinite at 1.

    >>> bdp.tradeoff.laplace_from_advantage([0.0, 1.0])
    array([ 0., inf])
    >>> round(float(bdp.tradeoff.advantage_from_laplace(bdp.tradeoff.laplace_from_advantage(0.3))), 9)
    0.3
    """
    with np.errstate(divide="ignore"):
        return -2 * np.log1p(-fraction("advantage", advantage))
