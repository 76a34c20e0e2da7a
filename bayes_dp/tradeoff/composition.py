"""The privacy of several mechanisms together: k of them, with parameters (k,), or one of them k times."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.checks import whole_number
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff.arguments import arrays, nonnegative, scalar

__all__ = ["compose_basic", "compose_gaussian", "compose_optimal"]


def compose_gaussian(mu: ArrayLike) -> float:
    """√(Σ μ²): the composition of μ_1-, …, μ_k-GDP mechanisms is exactly GDP with this parameter ([DRS] 3).

    >>> bdp.tradeoff.compose_gaussian([3.0, 4.0])
    5.0
    """
    return math.hypot(*nonnegative("mu", mu).ravel())


def compose_basic(epsilon: ArrayLike, delta: ArrayLike) -> tuple[float, float]:
    """(Σ ε, min(1, Σ δ)) over the given mechanisms: always valid, seldom tight.

    >>> bdp.tradeoff.compose_basic([0.5] * 4, [0.25] * 4)
    (2.0, 1.0)
    """
    epsilon, delta = np.broadcast_arrays(*arrays(epsilon=epsilon, delta=delta))
    return float(epsilon.sum()), min(1.0, float(delta.sum()))


def compose_optimal(epsilon: ArrayLike, delta: ArrayLike, k: int, total_epsilon: ArrayLike) -> Floats:
    """Least δ_total such that every k-fold adaptive composition of (ε, δ)-DP is (total_epsilon, δ_total)-DP.

    1 − δ_total = (1 − δ)^k (1 − Σ_l C(k, l) max(0, e^{(k−l)ε} − e^{total + lε}) / (1 + e^ε)^k): [KOV] Theorem 3.3,
    whose points are total = (k − 2i) ε; between them this is the profile of the same worst-case pair. k is one number.

    >>> print(bdp.tradeoff.compose_optimal(0.1, 0.0, 100, [10.0, 5.0, 3.0]).round(5))  # `compose_basic` gives ε = 10
    [0.      0.      0.00136]
    """
    k = whole_number("k", k, 1)
    wrong = np.arange(k + 1.0)
    epsilon, delta, total = arrays(epsilon=epsilon, delta=delta, total_epsilon=total_epsilon)
    one, total = epsilon[..., None], total[..., None]
    log_choose = special.gammaln(k + 1.0) - special.gammaln(wrong + 1) - special.gammaln(k - wrong + 1)
    log_weight = log_choose - wrong * one - k * np.log1p(np.exp(-one))
    loss = np.maximum((k - 2 * wrong) * one - total, 0.0)
    pure = np.sum(np.exp(log_weight) * -np.expm1(-loss), axis=-1)
    with np.errstate(divide="ignore"):
        return scalar(-np.expm1(k * np.log1p(-delta) + np.log1p(-np.minimum(pure, 1.0))))
