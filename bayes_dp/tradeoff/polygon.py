"""A symmetric trade-off function that is known at its corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff.arguments import LARGEST_EXPONENT, fraction, nonnegative, scalar
from bayes_dp.tradeoff.functions import TradeOffFunction

__all__ = ["Polygon", "polygon_of_profile"]


@dataclass(frozen=True, eq=False, repr=False)
class Polygon(TradeOffFunction):
    """The convex polygon that is its own mirror image, from its steep half: corners with slopes of at most −1.

    `alpha` and `power` are of shape (n,): false positive rates, each larger than the last, from 0 on, and true positive
    rates 1 − f(alpha) there. What lies beyond the last corner is its mirror image, with a line of slope −1 between the
    two. As both rates are given, small ones keep their digits.
    """

    alpha: Floats
    power: Floats

    def __post_init__(self) -> None:
        # False positive and false negative rates from left to right, and the true negative rates in their own order.
        at = np.concatenate([self.alpha, (1 - self.power)[::-1]])
        rest = np.concatenate([self.power, (1 - self.alpha)[::-1]])
        beta = np.concatenate([1 - self.power, self.alpha[::-1]])
        object.__setattr__(self, "_corners", (at, rest, beta, beta[::-1].copy()))

    def __call__(self, alpha: ArrayLike) -> Floats:
        at, _, beta, _ = self._corners  # type: ignore[attr-defined]
        return scalar(np.asarray(np.interp(fraction("alpha", alpha), at, beta)))

    def inverse(self, y: ArrayLike) -> Floats:
        _, rest, _, beta = self._corners  # type: ignore[attr-defined]
        return scalar(np.asarray(np.interp(fraction("y", y), rest, beta)))

    def delta_at(self, epsilon: ArrayLike) -> Floats:
        """The largest power − e^ε α of a corner."""
        ratio = np.exp(np.minimum(nonnegative("epsilon", epsilon), LARGEST_EXPONENT))
        found = [float((self.power - each * self.alpha).max()) for each in ratio.ravel()]
        return scalar(np.maximum(0.0, np.reshape(found, ratio.shape)))

    def epsilon_at(self, delta: ArrayLike) -> Floats:
        """The least ε of which no corner has a larger δ: the largest log((power − δ)/α) of a corner."""
        delta = fraction("delta", delta)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = [
                float(np.where(self.power > each, (self.power - each) / self.alpha, 0.0).max())
                for each in delta.ravel()
            ]
            return scalar(np.maximum(0.0, np.log(np.reshape(found, delta.shape))))


def polygon_of_profile(epsilon: Floats, delta: Floats) -> Polygon:
    """From δ at some ε, (n,), from 0 on: by the chords of δ as a function of e^ε, which is convex."""
    ratio = np.exp(epsilon)
    alpha = np.append(-np.diff(delta) / np.diff(ratio), 0.0)
    power = delta + ratio * alpha
    keep = np.append(np.diff(np.minimum.accumulate(alpha)) < 0, True)
    return Polygon(alpha[keep][::-1], power[keep][::-1])
