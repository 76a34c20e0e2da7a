"""The Laplace mechanism: the most powerful test of Lap(0, 1) against Lap(μ, 1), where μ is its pure ε.

f_μ(α) = 1 − e^μ α for α < e^{−μ}/2, e^{−μ}/(4α) up to α = 1/2, e^{−μ}(1 − α) above; G(μ) = 1 − e^{−μ}(1 + μ/2) and
g(μ) = e^{−μ}(1 + μ)/2. The level of a uniform point has the tail 1 − G of a mixture of an exponential and a Gamma law.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff import delta_from_laplace, epsilon_from_laplace

__all__ = ["LAPLACE"]


class _Laplace(TradeOffFamily):
    name = "laplace"
    parameter = "mu"
    farthest = 700.0  # f is at most e^-700

    def curve(self, log_alpha: Floats, log_rest: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        log_alpha, log_rest, t = np.broadcast_arrays(log_alpha, log_rest, t)
        steep = log_alpha < -t - math.log(2)
        log_beta = np.where(log_alpha < -math.log(2), -t - math.log(4) - log_alpha, log_rest - t)
        # Of β and 1 − β the smaller comes first: 1 − β = e^μ α on the steep piece, β on the others.
        small = np.where(steep, log_alpha + t, log_beta)
        large = np.log1p(-np.exp(small))
        return np.where(steep, large, small), np.where(steep, small, large), small

    def log_ratio(self, z: Floats, t: Floats) -> Floats:
        log_alpha, _ = special.log_ndtr(-z), 0
        middle = -t - math.log(4) - 2.0 * log_alpha
        return np.asarray(np.clip(middle, -t, t))

    def kinks(self, t: Floats) -> Floats:
        return np.stack([0.5 * np.exp(-t), np.full(np.shape(t), 0.5)], axis=-1)

    def log_density(self, t: Floats) -> Floats:
        return np.asarray(-t + np.log1p(t) - math.log(2))

    def log_layer(self, inner: Floats, gap: Floats) -> Floats:
        """e^{−a} [(1 − e^{−gap})(1 + a/2) − e^{−gap} gap/2], of which both terms are of the order of gap."""
        rise = -np.expm1(-gap)
        # (1 − e^{−x}) − x e^{−x}/2 = x/2 + (1 − e^{−x} − x/2 − x e^{−x}/2) has no cancellation beyond a half.
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(rise * (1.0 + 0.5 * inner) - 0.5 * gap * (1.0 - rise)) - inner)

    def by_epsilon(self, epsilon: Floats) -> Floats:
        """1 − e^{−μ/2} = tanh(ε/2) where ε = log(2e^{μ/2} − 1)."""
        return np.asarray(2.0 * (np.logaddexp(0.0, epsilon) - math.log(2)))

    def _epsilon_at(self, t: Floats, delta: Floats) -> Floats:
        return epsilon_from_laplace(t, delta)

    def _delta_at(self, t: Floats, epsilon: Floats) -> Floats:
        return delta_from_laplace(t, epsilon)


LAPLACE = _Laplace()
