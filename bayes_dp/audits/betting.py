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

A block of n0 runs without the example and n1 with it, numbers that are fixed before, is played like a pair: the bet has
a factor for each of its runs, ã and b̃ are those of single runs, the divergences are n0 kl and n1 kl, g0 and g1 are n0
and n1 times as large, and l0 = s g1/n0, l1 = g1/n1. As (1 − u/n0)^n0 (1 − v/n1)^n1 ≤ e^−(u + v), it is fair too.

Any f is the largest of the lines 1 − δ(ε) − e^ε α below it and of their mirror images. Whatever lies above such a line
is bet against as above, and the bet is on that line, of many, from which (ã, b̃) is farthest: for all of them this is
the point of f itself.

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
from bayes_dp.tradeoff.functions import TradeOffFunction, gaussian_inverse, laplace_inverse

__all__ = [
    "ApproxClaims",
    "Bet",
    "Claims",
    "LinesClaim",
    "ProductBet",
    "SmoothClaims",
    "SumBet",
    "bet_on_product",
    "bet_on_sum",
    "divergence",
    "gaussian_claims",
    "laplace_claims",
    "lines_below",
    "next_refresh",
]

_SLACK = 1 - 1e-9  # of 1, what a bet may lose
_LINES, _STEEPEST, _NEGLIGIBLE = 501, 50.0, 1e-9  # below a trade-off function: how many, up to which ε, δ left out


class Claims(Protocol):
    """Trade-off functions, k of them, such as those of a family at the values of a grid; and the runs of a block."""

    @property
    def block(self) -> tuple[int, int]: ...

    def touching(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats, Bools]:
        """For rates (a, b), a + b ≤ 1: τ, c, the least and the largest s, and whether (a, b) is below: (…, k) all."""
        ...


@dataclass(frozen=True, eq=False)
class ApproxClaims:
    """(ε, δ)-DP at each ε, (k,)."""

    epsilon: Floats
    delta: float
    block: tuple[int, int] = (1, 1)

    def touching(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats, Bools]:
        one, epsilon = np.ones(a.shape), np.broadcast_to(self.epsilon, a.shape)
        asked = Questions(self.block[0] * one, self.block[1] * one, epsilon, self.delta)
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
    block: tuple[int, int] = (1, 1)

    def touching(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats, Bools]:
        theta, (n0, n1) = self.parameter, self.block
        outside = self.value(a, theta) > b
        low, high = a, 1.0 - b  # where f ≤ b
        for _ in range(60):
            tau = (low + high) / 2
            c = self.value(tau, theta)
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                slope = n0 * (tau - a) / (tau * (1 - tau)) - self.steepness(tau, theta) * n1 * (c - b) / (c * (1 - c))
            beyond = (slope > 0) | (c <= b)
            low, high = np.where(beyond, low, tau), np.where(beyond, tau, high)
        tau = (low + high) / 2
        s = self.steepness(tau, theta)
        return tau, self.value(tau, theta), s, s, outside


@dataclass(frozen=True, eq=False)
class LinesClaim:
    """One trade-off function, by its δ at values of ε, (j,) both: the lines 1 − δ − e^ε α and their mirror images."""

    epsilon: Floats
    delta: Floats
    block: tuple[int, int] = (1, 1)

    def touching(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Floats, Floats, Bools]:
        ratio = np.exp(self.epsilon)
        slope, height = np.r_[ratio, 1 / ratio], np.r_[1 - self.delta, (1 - self.delta) / ratio]
        lines = SmoothClaims(slope, lambda alpha, s: np.maximum(height - s * alpha, 0.0), lambda _, s: s, self.block)
        tau, c, _, _, outside = lines.touching(*np.broadcast_arrays(a, b, slope)[:2])
        best = divergence(self, (a, b), (tau, c), outside).argmax(axis=-1)[..., None]
        tau, c = (np.take_along_axis(each, best, axis=-1) for each in (tau, c))
        return tau, c, slope[best], slope[best], np.take_along_axis(outside, best, axis=-1)


def lines_below(f: TradeOffFunction) -> tuple[Floats, Floats]:
    """ε and δ(ε) of lines that make up all of f but what costs less than 1e-9."""
    last = float(f.epsilon_at(min(1.0, float(f.delta_at(_STEEPEST)) + _NEGLIGIBLE)))
    epsilon = np.linspace(0.0, min(last, _STEEPEST), _LINES)
    return epsilon, np.asarray(f.delta_at(epsilon))


def divergence(claims: Claims, rates: tuple[Floats, Floats], point: tuple[Floats, Floats], outside: Bools) -> Floats:
    """n0 kl(a, τ) + n1 kl(b, c) of rates and points that `touching` gives, 0 where the rates are allowed."""
    found = 0.0
    for n, a, t in zip(claims.block, rates, point, strict=True):
        found = found + n * (special.rel_entr(a, t) + special.rel_entr(1 - a, 1 - t))
    return np.where(outside, found, 0.0)


def gaussian_claims(mu: Floats, block: tuple[int, int] = (1, 1)) -> SmoothClaims:
    """μ-GDP: f(α) = Φ(Φ⁻¹(1 − α) − μ)."""

    def steepness(alpha: Floats, mu: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(np.exp(-mu * special.ndtri(alpha) - mu**2 / 2))

    return SmoothClaims(mu, lambda alpha, mu: gaussian_inverse(mu, 1 - alpha), steepness, block)


def laplace_claims(mu: Floats, block: tuple[int, int] = (1, 1)) -> SmoothClaims:
    """The Laplace mechanism, whose trade-off function is e^μ, e^−μ/(4 α²) or e^−μ steep."""

    def steepness(alpha: Floats, mu: Floats) -> Floats:
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(np.clip(np.exp(-mu) / (4 * alpha**2), np.exp(-mu), np.exp(mu)))

    return SmoothClaims(mu, lambda alpha, mu: laplace_inverse(mu, 1 - alpha), steepness, block)


class Bet(Protocol):
    """What a pair, or a block, multiplies the capital by, for each claim."""

    def log_factors(self, x: Floats, y: Floats) -> Floats:
        """For pairs (m,), or blocks (m, n0) and (m, n1): (m, k)."""
        ...

    def counted(self, x: Floats, y: Floats) -> Floats:
        """How often there is each of the four cells, (4,), in errors of 0 and 1 of blocks (m, n0) and (m, n1)."""
        ...

    def cells(self) -> Floats:
        """What each of them adds to the logarithm of the capital, (4, k)."""
        ...


@dataclass(frozen=True, eq=False)
class ProductBet:
    """(1 + l0 (τ − X)) (1 + l1 (c − Y)), (k,) each; of 1 − X and 1 − Y where `mirrored`. Cells: X = 0, 1, Y = 0, 1."""

    tau: Floats
    c: Floats
    l0: Floats
    l1: Floats
    mirrored: Bools

    def log_factors(self, x: Floats, y: Floats) -> Floats:
        return self._of(self.tau, self.l0, x) + self._of(self.c, self.l1, y)

    def counted(self, x: Floats, y: Floats) -> Floats:
        return np.array([x.size - x.sum(), x.sum(), y.size - y.sum(), y.sum()])

    def cells(self) -> Floats:
        kinds = np.array([0.0, 1.0])
        return np.vstack([self._of(self.tau, self.l0, kinds), self._of(self.c, self.l1, kinds)])

    def _of(self, at: Floats, size: Floats, errors: Floats) -> Floats:
        errors = errors.reshape(len(errors), -1, 1)
        errors = np.where(self.mirrored, 1 - errors, errors)
        return np.asarray(np.log1p(size * (at - errors)).sum(axis=1))


@dataclass(frozen=True, eq=False)
class SumBet:
    """1 + λ (h − s X − Y), (k,) each; of 1 − X and 1 − Y where `mirrored`. Cells: (X, Y) = (0, 0), (0, 1), (1, 0),
    (1, 1)."""

    size: Floats
    h: Floats
    s: Floats
    mirrored: Bools

    def log_factors(self, x: Floats, y: Floats) -> Floats:
        x, y = (each.reshape(-1, 1) for each in (x, y))
        x, y = (np.where(self.mirrored, 1 - each, each) for each in (x, y))
        return np.asarray(np.log1p(self.size * (self.h - self.s * x - y)))

    def counted(self, x: Floats, y: Floats) -> Floats:
        return np.bincount((2 * x + y).ravel().astype(int), minlength=4).astype(float)

    def cells(self) -> Floats:
        return self.log_factors(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0]))


def bet_on_product(claims: Claims, a: Floats, b: Floats) -> ProductBet:
    """The bet of somebody who believes in the rates (a, b), (k,)."""
    mirrored = a + b > 1
    a, b = np.where(mirrored, 1 - a, a), np.where(mirrored, 1 - b, b)
    tau, c, low, high, outside = claims.touching(a, b)
    n0, n1 = claims.block
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        g0, g1 = n0 * (tau - a) / (tau * (1 - tau)), n1 * (c - b) / (c * (1 - c))
        l0, l1 = np.clip(g0 / g1, low, high) * g1 / n0, g1 / n1
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
