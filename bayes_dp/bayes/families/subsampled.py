"""Gaussian noise on a random part of the data: the mixture (1−q) N(0, 1) + q N(t, 1) against N(0, 1).

f_t(α) = (1−q)(1−α) + q Φ(z − t) with α = Φ(−z) is the trade-off function of "without z" against "with z", and not its
own inverse. Its region never fills the square: G(t) = q erf(t/2). The largest advantage, q (2Φ(t/2) − 1), stays below
q, so that t has no prior by default.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.checks import InputError, one_number
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff import least

__all__ = ["SubsampledGaussian", "subsampled_gaussian"]


class SubsampledGaussian(TradeOffFamily):
    """See `subsampled_gaussian`."""

    parameter = "mu"
    farthest = GAUSSIAN.farthest

    def __init__(self, q: float) -> None:
        self.q = one_number("q", q, 0.0, 1.0, low_open=True)
        self.name = f"subsampled_gaussian({self.q:g})"

    def curve(self, log_alpha: Floats, log_rest: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        z = np.where(log_alpha < log_rest, -special.ndtri_exp(log_alpha), special.ndtri_exp(log_rest))
        q, rest = self.q, 1.0 - self.q
        with np.errstate(divide="ignore"):
            log_q, log_p = math.log(q), np.log(rest)
        log_beta = np.logaddexp(log_p + log_rest, log_q + special.log_ndtr(z - t))
        log_other = np.logaddexp(log_p + log_alpha, log_q + special.log_ndtr(t - z))
        return log_beta, log_other, log_q - 0.5 * (z - t) ** 2 - 0.5 * math.log(2 * math.pi)

    def log_ratio(self, z: Floats, t: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.logaddexp(np.log1p(-self.q), math.log(self.q) + t * z - 0.5 * t**2)

    def log_density(self, t: Floats) -> Floats:
        return math.log(self.q) + GAUSSIAN.log_density(t)

    def log_layer(self, inner: Floats, gap: Floats) -> Floats:
        return math.log(self.q) + GAUSSIAN.log_layer(inner, gap)

    def by_epsilon(self, epsilon: Floats) -> Floats:
        raise InputError(
            f"{self.name} has no prior by default, as its best attack cannot have an advantage above q:"
            " give prior=, a distribution of mu such as 'HalfNormal(3)'"
        )

    def _delta_at(self, t: Floats, epsilon: Floats) -> Floats:
        """The larger δ of the two orders: with r_t(z) = 1 − q + q e^{tz − t²/2} the best threshold is where r_t = e^ε,
        or e^{−ε} for "with z" against "without z", if 1 − q < e^{−ε}."""
        t, epsilon = np.broadcast_arrays(np.asarray(t, float), np.asarray(epsilon, float))
        q, found = self.q, []
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for sign in (1.0, -1.0):
                share = (np.expm1(sign * epsilon) + q) / q  # of r_t that the shifted part has to be
                z = np.where(share > 0, (np.log(share) + 0.5 * t**2) / t, -np.inf)
                with_z = (1 - q) * special.ndtr(-z) + q * special.ndtr(t - z)
                without = special.ndtr(-z)
                if sign > 0:
                    found.append(with_z - np.exp(epsilon) * without)
                else:
                    found.append(
                        special.ndtr(z) - np.exp(epsilon) * ((1 - q) * special.ndtr(z) + q * special.ndtr(z - t))
                    )
        return np.where(t > 0, np.maximum(0.0, np.fmax(*found)), 0.0)

    def _epsilon_at(self, t: Floats, delta: Floats) -> Floats:
        t, delta = np.broadcast_arrays(np.asarray(t, float), np.asarray(delta, float))
        top = t * (t / 2 + 40.0) + 1.0
        found = least(lambda e: self._delta_at(t, e) <= delta, np.zeros(t.shape), top)
        return np.where((delta == 0) & (t > 0), np.inf, found)


def subsampled_gaussian(q: float) -> SubsampledGaussian:
    """The family of Gaussian mechanisms whose noise is seen with a known probability q only.

    >>> family = bdp.subsampled_gaussian(0.3)
    >>> round(float(family.epsilon_at(3.0, 0.01)), 2)
    8.03
    """
    return SubsampledGaussian(q)
