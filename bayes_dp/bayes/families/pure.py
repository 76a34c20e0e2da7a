"""Pure differential privacy: f_ε(α) = max(1 − e^ε α, e^{−ε}(1 − α)), which randomized response reaches.

G(ε) = tanh(ε/2) and g(ε) = 1/(2 cosh²(ε/2)).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.support.arrays import Floats

__all__ = ["PURE"]


class _Pure(TradeOffFamily):
    name = "pure"
    parameter = "theta"
    farthest = 700.0  # f is at most e^-700

    def curve(self, log_alpha: Floats, log_rest: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        log_alpha, log_rest, t = np.broadcast_arrays(log_alpha, log_rest, t)
        steep = log_alpha < -np.logaddexp(0.0, t)
        small = np.where(steep, log_alpha + t, log_rest - t)
        large = np.log1p(-np.exp(np.minimum(small, 0.0)))
        return np.where(steep, large, small), np.where(steep, small, large), small

    def log_ratio(self, z: Floats, t: Floats) -> Floats:
        return np.asarray(np.where(special.log_ndtr(-z) < -np.logaddexp(0.0, t), t, -t))

    def kinks(self, t: Floats) -> Floats:
        return np.asarray(special.expit(-np.asarray(t)))[..., None]

    def log_density(self, t: Floats) -> Floats:
        return np.asarray(-t - 2.0 * np.log1p(np.exp(-t)) + math.log(2))

    def log_layer(self, inner: Floats, gap: Floats) -> Floats:
        """2 [q(a) − q(b)] with q(t) = 1/(1 + e^t) is 2 q(a) (1 − q(b)) (1 − e^{−gap})."""
        with np.errstate(divide="ignore"):
            log_gap = np.log(-np.expm1(-gap))
        return np.asarray(math.log(2) - inner - np.log1p(np.exp(-inner)) - np.log1p(np.exp(-inner - gap)) + log_gap)

    def by_epsilon(self, epsilon: Floats) -> Floats:
        return np.asarray(epsilon)

    def _epsilon_at(self, t: Floats, delta: Floats) -> Floats:
        """δ(ε) = 1 − e^{ε−t} over 1 + e^{−t}, solved for ε."""
        with np.errstate(divide="ignore"):
            return np.maximum(0.0, t + np.log1p(-np.minimum(np.asarray(delta) * (1.0 + np.exp(-np.asarray(t))), 1.0)))

    def _delta_at(self, t: Floats, epsilon: Floats) -> Floats:
        shortfall = -np.expm1(np.minimum(np.asarray(epsilon) - t, 0.0))
        return np.asarray(shortfall / (1.0 + np.exp(-np.asarray(t))))


PURE = _Pure()
