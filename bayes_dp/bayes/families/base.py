"""What a family of trade-off functions is, for everything that asks one.

A family has one parameter t ≥ 0 and a trade-off function f_t for each t, with f_0 = 1 − α and f_t(α) falling in t. So
the regions R(t) = {f_t(α) ≤ β ≤ 1 − f_t(1 − α)} grow from a line to, at most, the whole square. R(t) has the area
G(t) = 1 − 2 ∫ f_t, and g = G′ is the density of the level of a uniform point, the least t with the point in R(t).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff import scalar

__all__ = ["TradeOffFamily"]


class TradeOffFamily(ABC):
    """A family of trade-off functions; arrays broadcast, and all logarithms keep their digits."""

    name: str
    parameter: str  # what it is called: "mu"
    most: float = math.inf  # the largest t
    farthest: float  # the t beyond which no counts tell members apart
    largest_epsilon: float = math.inf  # at which `by_epsilon` ends, where the largest member's advantage is not 1
    usual: float = 1.0  # a t of the order of those whose region is half the square
    ratio_error: float = 5e-9  # to which integrals of `log_ratio` can be had, in nats

    @abstractmethod
    def curve(self, log_alpha: Floats, log_rest: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        """log β, log(1 − β) and log(−∂f_t(α)/∂t) at β = f_t(α), from log α and log(1 − α)."""

    @abstractmethod
    def log_ratio(self, z: Floats, t: Floats) -> Floats:
        """log(−f_t′(α)) at α = Φ(−z): the log density of a score z "with" over its density "without"."""

    def kinks(self, t: Floats) -> Floats:
        """The places α, in order, where f_t′ jumps: the shape of t and an axis more."""
        return np.empty((*np.shape(t), 0))

    @abstractmethod
    def log_density(self, t: Floats) -> Floats:
        """log g(t)."""

    @abstractmethod
    def log_layer(self, inner: Floats, gap: Floats) -> Floats:
        """log [G(inner + gap) − G(inner)], where gap may be far smaller than inner."""

    @abstractmethod
    def by_epsilon(self, epsilon: Floats) -> Floats:
        """The t whose best attack has the advantage of that against (ε, 0)-DP, tanh(ε/2)."""

    @abstractmethod
    def _epsilon_at(self, t: Floats, delta: Floats) -> Floats:
        """`epsilon_at` of arrays of one shape."""

    @abstractmethod
    def _delta_at(self, t: Floats, epsilon: Floats) -> Floats:
        """`delta_at` of arrays of one shape."""

    # -- what users ask -------------------------------------------------------------------------------------------

    def __call__(self, alpha: ArrayLike, t: ArrayLike) -> Floats:
        """f_t(α)."""
        alpha, t = self._broadcast("alpha", numbers("alpha", alpha, 0.0, 1.0), t)
        with np.errstate(divide="ignore"):
            return scalar(np.exp(self.curve(np.log(alpha), np.log1p(-alpha), t)[0]))

    def epsilon_at(self, t: ArrayLike, delta: ArrayLike) -> Floats:
        """The least ε ≥ 0 for which f_t implies (ε, δ)-DP."""
        delta, t = self._broadcast("delta", numbers("delta", delta, 0.0, 1.0), t)
        return scalar(np.asarray(self._epsilon_at(t, delta)))

    def delta_at(self, t: ArrayLike, epsilon: ArrayLike) -> Floats:
        """The least δ for which f_t implies (ε, δ)-DP."""
        epsilon, t = self._broadcast("epsilon", numbers("epsilon", epsilon, 0.0, high_open=True), t)
        return scalar(np.asarray(self._delta_at(t, epsilon)))

    def _broadcast(self, name: str, value: Floats, t: ArrayLike) -> tuple[Floats, Floats]:
        """The value and t in one shape, t checked."""
        t = numbers("t", t, 0.0, self.most, high_open=self.most == math.inf)
        try:
            both = np.broadcast_arrays(value, t)
        except ValueError:
            raise InputError(f"{name} and t must have shapes that fit, not {value.shape} and {t.shape}") from None
        return both[0], both[1]
