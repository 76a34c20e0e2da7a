"""A bet against the claim that an attack's rates lie in R(f), pair by pair, that a true claim loses on average.

X says whether a run without the example was judged wrongly, Y whether one with it was, both in [0, 1], independent
given the past, judged by one rule that was fixed before either was seen. α = E X, β = E Y,
R = {f(α) ≤ β ≤ 1 − f(1 − α)}.

From the t earlier pairs take ã = (ΣX + ½)/(t + 1) and b̃ = (ΣY + ½)/(t + 1); where ã + b̃ > 1, they and the errors are
taken from 1. Where b̃ ≥ f(ã) nothing is bet. Otherwise let (τ, c) be the point of the curve c = f(τ) that minimises
kl(ã, τ) + kl(b̃, c), and −s a slope of f there. A pair multiplies the capital by

    (1 + l0 (τ − X)) (1 + l1 (c − Y)),   g0 = (τ − ã)/(τ (1 − τ)),  l1 = g1 = (c − b̃)/(c (1 − c)),  l0 = s g1,

where s is g0/g1, moved into the range of the slopes at τ. Both l are made smaller by one factor where l0 (1 − τ) or
l1 (1 − c) would reach 1.

Under the claim, u = l0 (α − τ) and v = l1 (β − c) have u + v ≥ 0, as R lies above its tangents. So the mean of the
factor is (1 − u)(1 − v) ≤ (1 − (u + v)/2)² ≤ 1, and the capital is a supermartingale: it ever reaches 1/p with
probability at most p (Ville 1939). The factor is the likelihood ratio of (ã, b̃) to (τ, c), the reverse projection of
(ã, b̃) on R, so that no other bet on (ã, b̃) grows faster. Any point with one of its slopes is valid: an inexact one
costs power only.

If X and Y of a pair may depend on each other, the product fails, and a sum is bet on: for s in {e^ε, 1, e^−ε},

    1 + λ (h − s X − Y),   h = min over R of s α + β = (1 + s) x*,   x* = (1 − δ)/(1 + e^ε),

with m = h − s ã − b̃ > 0, V = s² v_X + v_Y, λ = min(m/(V + m²), .9/(s + 1 − h)), v = (¼ + Σ(· − mean)²)/(t + 1), and the
s of the largest m²/V (Waudby-Smith and Ramdas 2024, aGRAPA).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special

from bayes_dp.audits.exact_test import Questions
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.tradeoff.functions import gaussian_inverse, laplace_inverse

__all__ = [
    "ApproxClaims",
    "Bet",
    "Claims",
    "ProductBet",
    "SmoothClaims",
    "SumBet",
    "bet_on_product",
    "bet_on_sum",
    "gaussian_claims",
    "laplace_claims",
    "next_refresh",
]

_SLACK = 1 - 1e-9  # of 1, what a bet may lose


class Claims(Protocol):
    """Trade-off functions, k of them, such as those of a family at the values of a grid."""

    def touching(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats, Bools]:
        """For rates (a, b), a + b ≤ 1: τ, c, the least and the largest s, and whether (a, b) is below: (k,) all."""
        ...


@dataclass(frozen=True, eq=False)
class ApproxClaims:
    """(ε, δ)-DP at each ε, (k,)."""

    epsilon: Floats
    delta: float

    def touching(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats, Bools]:
        one = np.ones(len(self.epsilon))
        asked = Questions(one, one, self.epsilon, self.delta)
        tau, c, outside = asked.nearest(a, b)
        low = np.where(tau < asked.corner, asked.ratio, 1 / asked.ratio)
        high = np.where(tau > asked.corner, 1 / asked.ratio, asked.ratio)
        return tau, c, low, high, outside

    def sums(self) -> tuple[Floats, Floats]:
        """Slopes s, (3, k), and the least s α + β in R."""
        ratio, corner = np.exp(self.epsilon), (1 - self.delta) / (1 + np.exp(self.epsilon))
        s = np.stack([ratio, np.ones(len(ratio)), 1 / ratio])
        return s, (1 + s) * corner


@dataclass(frozen=True, eq=False)
class SmoothClaims:
    """A family with a derivative: `value` is f and `steepness` −f′ at (α, parameter), for parameters (k,)."""

    parameter: Floats
    value: Callable[[Floats, Floats], Floats]
    steepness: Callable[[Floats, Floats], Floats]

    def touching(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats, Bools]:
        theta = self.parameter
        outside = self.value(a, theta) > b
        low, high = a, 1.0 - b  # where f ≤ b
        for _ in range(60):
            tau = (low + high) / 2
            c = self.value(tau, theta)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                slope = (tau - a) / (tau * (1 - tau)) - self.steepness(tau, theta) * (c - b) / (c * (1 - c))
            beyond = (slope > 0) | (c <= b)
            low, high = np.where(beyond, low, tau), np.where(beyond, tau, high)
        tau = (low + high) / 2
        s = self.steepness(tau, theta)
        return tau, self.value(tau, theta), s, s, outside


def gaussian_claims(mu: Floats) -> SmoothClaims:
    """μ-GDP: f(α) = Φ(Φ⁻¹(1 − α) − μ)."""

    def steepness(alpha: Floats, mu: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.exp(-mu * special.ndtri(alpha) - mu**2 / 2))

    return SmoothClaims(mu, lambda alpha, mu: gaussian_inverse(mu, 1 - alpha), steepness)


def laplace_claims(mu: Floats) -> SmoothClaims:
    """The Laplace mechanism, whose trade-off function is e^μ, e^−μ/(4 α²) or e^−μ steep."""

    def steepness(alpha: Floats, mu: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(np.clip(np.exp(-mu) / (4 * alpha**2), np.exp(-mu), np.exp(mu)))

    return SmoothClaims(mu, lambda alpha, mu: laplace_inverse(mu, 1 - alpha), steepness)


class Bet(Protocol):
    """What a pair multiplies the capital by, for each claim."""

    def log_factors(self, x: Floats, y: Floats) -> Floats:
        """For pairs (m,): (m, k)."""
        ...


@dataclass(frozen=True, eq=False)
class ProductBet:
    """(1 + l0 (τ − X)) (1 + l1 (c − Y)), (k,) each; of 1 − X and 1 − Y where `mirrored`."""

    tau: Floats
    c: Floats
    l0: Floats
    l1: Floats
    mirrored: Bools

    def log_factors(self, x: Floats, y: Floats) -> Floats:
        x, y = (np.where(self.mirrored, 1 - each[:, None], each[:, None]) for each in (x, y))
        return np.asarray(np.log1p(self.l0 * (self.tau - x)) + np.log1p(self.l1 * (self.c - y)))


@dataclass(frozen=True, eq=False)
class SumBet:
    """1 + λ (h − s X − Y), (k,) each; of 1 − X and 1 − Y where `mirrored`."""

    size: Floats
    h: Floats
    s: Floats
    mirrored: Bools

    def log_factors(self, x: Floats, y: Floats) -> Floats:
        x, y = (np.where(self.mirrored, 1 - each[:, None], each[:, None]) for each in (x, y))
        return np.asarray(np.log1p(self.size * (self.h - self.s * x - y)))


def bet_on_product(claims: Claims, a: Floats, b: Floats) -> ProductBet:
    """The bet of somebody who believes in the rates (a, b), (k,)."""
    mirrored = a + b > 1
    a, b = np.where(mirrored, 1 - a, a), np.where(mirrored, 1 - b, b)
    tau, c, low, high, outside = claims.touching(a, b)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        g0, g1 = (tau - a) / (tau * (1 - tau)), (c - b) / (c * (1 - c))
        l0, l1 = np.clip(g0 / g1, low, high) * g1, g1
        shrink = np.minimum(1.0, _SLACK / np.maximum(l0 * (1 - tau), l1 * (1 - c)))
        l0, l1 = l0 * shrink, l1 * shrink
    fair = outside & np.isfinite(l0) & np.isfinite(l1)
    l0, l1 = np.where(fair, l0, 0.0), np.where(fair, l1, 0.0)
    return ProductBet(tau, c, l0, l1, mirrored)


def bet_on_sum(claims: ApproxClaims, a: Floats, b: Floats, variances: tuple[Floats, Floats]) -> SumBet:
    """The bet of somebody who believes in the rates (a, b), (k,), and that errors vary so much, (k,) each."""
    mirrored = a + b > 1
    a, b = np.where(mirrored, 1 - a, a), np.where(mirrored, 1 - b, b)
    s, h = claims.sums()
    gain = np.maximum(h - s * a - b, 0.0)
    spread = s**2 * variances[0] + variances[1]
    best = np.argmax(gain**2 / spread, axis=0), np.arange(s.shape[1])
    s, h, gain, spread = s[best], h[best], gain[best], spread[best]
    return SumBet(np.minimum(gain / (spread + gain**2), 0.9 / (s + 1 - h)), h, s, mirrored)


def next_refresh(t: int) -> int:
    """The number of pairs at which the bet made after t of them is made again: 2% more, at least one."""
    return t + 1 if t < 64 else max(t + 1, math.ceil(1.02 * t))
