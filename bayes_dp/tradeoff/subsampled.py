"""The trade-off function of Gaussian noise that a datum meets with a known probability only.

"Without z" is N(0, 1). "With z" is the mixture (1 − q) N(0, 1) + q N(μ, 1): the datum is in with probability q. Tests
by a threshold have the power (1 − q) α + q Φ(Φ^{-1}(α) + μ) at the false positive rate α, at most (1 − q) α + q.
In the other order the inverse holds, and in both orders the largest convex function below the two ([DRS] section 4.2):

    f(α) = (1 − q)(1 − α) + q Φ(Φ^{-1}(1 − α) − μ)    for α ≤ a = Φ(−μ/2), where its slope is −1
    f(α) = a + b − α                                  for a ≤ α ≤ b, with b its value at a
    f(α) = the mirror image of the first line         for α ≥ b

So δ(ε) is q δ_μ(ε') with ε' = log(1 + (e^ε − 1)/q) and δ_μ the profile of μ-GDP. It is the larger δ of both orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.checks import one_number
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff.arguments import fraction, least, nonnegative, scalar
from bayes_dp.tradeoff.conversions import delta_from_mu, epsilon_from_mu
from bayes_dp.tradeoff.functions import TradeOffFunction

__all__ = ["SubsampledGaussian", "inner_epsilon", "outer_epsilon"]


@dataclass(frozen=True)
class SubsampledGaussian(TradeOffFunction):
    """μ-Gaussian differential privacy of a mechanism that each datum is part of with probability `rate`, else not.

    f(α) = (1 − q)(1 − α) + q Φ(Φ^{-1}(1 − α) − μ) for small α, and its mirror image for large ones.

    >>> f = bdp.tradeoff.SubsampledGaussian(9.4, 0.1)
    >>> print(f([0.001, 0.05, 0.9]).round(4))
    [0.899 0.85  0.   ]
    >>> round(float(f.advantage()), 4)
    0.1
    """

    mu: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", one_number("mu", self.mu, 0.0, math.inf, high_open=True))
        object.__setattr__(self, "rate", one_number("rate", self.rate, 0.0, 1.0, low_open=True))

    def __call__(self, alpha: ArrayLike) -> Floats:
        alpha = fraction("alpha", alpha)
        return scalar(self._value(alpha, 1 - alpha))

    def inverse(self, y: ArrayLike) -> Floats:
        y = fraction("y", y)
        return scalar(self._value(1 - y, y))

    def delta_at(self, epsilon: ArrayLike) -> Floats:
        return self.rate * delta_from_mu(self.mu, inner_epsilon(nonnegative("epsilon", epsilon), self.rate))

    def epsilon_at(self, delta: ArrayLike) -> Floats:
        with np.errstate(under="ignore", over="ignore"):
            inner = epsilon_from_mu(self.mu, np.minimum(1.0, fraction("delta", delta) / self.rate))
        return scalar(outer_epsilon(inner, self.rate))

    def _value(self, alpha: Floats, rest: Floats) -> Floats:
        """f(α) with rest = 1 − α, given apart to keep a small one exact."""
        end = np.asarray(special.ndtr(-self.mu / 2))
        with np.errstate(under="ignore"):
            steep = (1 - self.rate) * rest + self.rate * special.ndtr(-special.ndtri(alpha) - self.mu)
            at_end = 1 - float(self._power(end))
            found = np.where(alpha <= end, steep, end + at_end - alpha)
            flat = (alpha > end) & (alpha >= at_end)
            if flat.any():  # a search of many steps, for those alone
                wanted = np.minimum(rest[flat], 1 - at_end)
                found[flat] = least(lambda x: self._power(x) >= wanted, np.zeros_like(wanted), end)
        return found

    def _power(self, alpha: Floats) -> Floats:
        return (1 - self.rate) * alpha + self.rate * special.ndtr(special.ndtri(alpha) + self.mu)


def inner_epsilon(epsilon: Floats, rate: ArrayLike) -> Floats:
    """log(1 + (e^ε − 1)/q), without overflow."""
    with np.errstate(under="ignore", divide="ignore"):
        near = np.log(np.expm1(np.minimum(epsilon, 1.0)))
        far = epsilon + np.log1p(-np.exp(-np.maximum(epsilon, 1.0)))
        return np.logaddexp(0.0, np.where(epsilon < 1, near, far) - np.log(rate))


def outer_epsilon(epsilon: Floats, rate: ArrayLike) -> Floats:
    """log(1 + q (e^ε − 1)), the inverse of `inner_epsilon`; infinite where ε is."""
    rate = np.asarray(rate, dtype=np.float64)
    with np.errstate(under="ignore", over="ignore"):
        near = np.log1p(rate * np.expm1(np.minimum(epsilon, 1.0)))
        far = epsilon + np.log(rate + (1 - rate) * np.exp(-epsilon))
    return np.where(epsilon < 1, near, far)
