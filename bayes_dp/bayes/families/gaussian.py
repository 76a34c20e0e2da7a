"""Gaussian differential privacy: f_μ(α) = Φ(Φ^{-1}(1 − α) − μ) (Dong, Roth and Su 2022, 2.2).

With D = z(1−α) + z(1−β), z = Φ^{-1}, a point lies in R(μ) if |D| ≤ μ. For a uniform point D ~ N(0, 2), so that
G(μ) = erf(μ/2) and g(μ) = e^{−μ²/4}/√π.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff import delta_from_mu, epsilon_from_mu

__all__ = ["GAUSSIAN"]


class _Gaussian(TradeOffFamily):
    name = "gaussian"
    parameter = "mu"
    farthest = 75.0  # d′ of rates of 1e-307

    def curve(self, log_alpha: Floats, log_rest: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        z = np.where(log_alpha < log_rest, -special.ndtri_exp(log_alpha), special.ndtri_exp(log_rest)) - t
        return special.log_ndtr(z), special.log_ndtr(-z), -0.5 * z**2 - 0.5 * math.log(2 * math.pi)

    def log_ratio(self, z: Floats, t: Floats) -> Floats:
        return np.asarray(t * z - 0.5 * t**2)

    def log_density(self, t: Floats) -> Floats:
        return np.asarray(-0.25 * t**2 - 0.5 * math.log(math.pi))

    def log_layer(self, inner: Floats, gap: Floats) -> Floats:
        """erfc(a/2) − erfc(b/2) with the factor e^{−a²/4} taken out; a short layer by a series about its middle."""
        low, high = inner / 2, (inner + gap) / 2
        difference = special.erfcx(low) - np.exp(-gap / 2 * (low + high)) * special.erfcx(high)
        short = gap * (1.0 + inner) < 0.05
        with np.errstate(divide="ignore"):
            plain = np.log(np.maximum(difference, 0.0)) - low**2
            middle, half = inner + gap / 2, np.minimum(gap / 2, 0.03)
            series = (middle**2 / 8 - 0.25) * half**2 / 3 + (middle**4 / 384 - middle**2 / 32 + 1 / 32) * half**4 / 5
            thin = np.log(gap) - middle**2 / 4 - 0.5 * math.log(math.pi) + np.log1p(series)
        return np.where(short, thin, plain)

    def by_epsilon(self, epsilon: Floats) -> Floats:
        """2Φ(μ/2) − 1 = tanh(ε/2) where logit Φ(μ/2) = ε."""
        return np.asarray(-2.0 * special.ndtri_exp(-np.logaddexp(0.0, epsilon)))

    def _epsilon_at(self, t: Floats, delta: Floats) -> Floats:
        return epsilon_from_mu(t, delta)

    def _delta_at(self, t: Floats, epsilon: Floats) -> Floats:
        return delta_from_mu(t, epsilon)


GAUSSIAN = _Gaussian()
