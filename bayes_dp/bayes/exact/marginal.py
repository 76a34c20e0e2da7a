"""The likelihood of (ε, δ, s) given one base's counts, with the error rates integrated out exactly.

For binomial counts and (α,β) ~ Unif(R_s(ε,δ)) the integral over the rates is

    L(ε,s) = P[(a,b) ∈ R_s(ε,δ)] / ( (N0+1)(N1+1) |R_s(ε,δ)| ),  a ~ Beta(X+1, N0-X+1), b ~ Beta(Y+1, N1-Y+1),

and the probability is that of two corners of the unit square: R_s = R(ε,δ) \\ R(sε,sδ), and the complement of R(e,d) is
K(e,d) = {b < f_{e,d}(a)} and its image under (a,b) → (1-a,1-b). With P(e,d) = P[(a,b) ∈ K(e,d)], each corner gives
P(sε,sδ) - P(ε,δ). Where P exceeds one half, its complement is computed instead: whichever is small is known to full
relative precision, and with it the log odds of P, so that a base far outside R(ε,δ), or far inside R(sε,sδ), still has
an accurate likelihood.
"""

from __future__ import annotations

from copy import copy
from typing import Protocol

import numpy as np
from scipy import special

from bayes_dp.bayes.exact.beta_integrals import Slices, WeightedDensities, log_slices, upper_bound
from bayes_dp.bayes.exact.beta_tables import BetaTails, log_norm
from bayes_dp.beta import log_peak
from bayes_dp.region import log_boundary_area, log_layer_area
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["Corners", "MarginalLikelihood"]


class Corners(Protocol):
    """What stands in for `MarginalLikelihood.corners` where many points are asked for."""

    tabulated: Bools  # (u,), the bases of which `slopes` are known
    largest: float  # the ε beyond which a posterior has nothing to lose

    def __call__(self, epsilon: Floats, delta: Floats) -> Floats: ...

    def slopes(self, epsilon: Floats, delta: Floats, along_epsilon: Floats, along_delta: Floats) -> Floats:
        """The derivative of the log odds in a direction, all (m,): (2, u, m)."""
        ...


_NEGLIGIBLE = 36.0  # nats below the largest part at which another is left out
_THIN = 0.01  # change of the log odds across the layer below which its mass is integrated directly
_SHORT = 1e-6  # the same, below which the change is taken from the slope of a table
_TINY = 1e-280
_LARGEST = 600.0  # beyond this ε R(ε,δ) no longer grows, for exp(-ε) to keep its digits
_CLOSE_TO_ONE = 1.0 - 1e-12  # likewise for δ and s
_PAIRS = 200_000  # pairs of base and point worked on at once, to bound memory


class MarginalLikelihood:
    """log L of n bases with the given counts, each of shape (n,); equal bases are evaluated once."""

    @underflow_is_zero
    def __init__(self, false_positives: Ints, negatives: Ints, false_negatives: Ints, positives: Ints) -> None:
        rows = np.stack([false_positives, negatives, false_negatives, positives])
        unique, inverse, self._times = np.unique(rows, axis=1, return_inverse=True, return_counts=True)
        self._unique_of = inverse.reshape(-1)  # which unique base each of the n bases is
        x, n0, y, n1 = unique.astype(float)
        self._x, self._n0, self._y, self._n1 = x, n0, y, n1
        self._peak = log_peak(x, n0)
        self._norm = log_norm(x, n0, self._peak)
        self._peak_b = log_peak(y, n1)
        pairs, tables = np.unique(np.stack([np.append(y, n1 - y), np.append(n1, n1)]), axis=1, return_inverse=True)
        self._tails = BetaTails(pairs[0], pairs[1])
        self._table = tables.reshape(2, -1)
        self._log_pairs = np.log(n0 + 1.0) + np.log(n1 + 1.0)

    def part(self, bases: Ints) -> tuple[MarginalLikelihood, Ints]:
        """That of some of the n bases, with the same tables, and which of the unique bases these are."""
        which, inverse, times = np.unique(self._unique_of[bases], return_inverse=True, return_counts=True)
        found = copy(self)
        found._unique_of, found._times = inverse.reshape(-1), times
        for name in ("_x", "_n0", "_y", "_n1", "_peak", "_norm", "_peak_b", "_log_pairs"):
            setattr(found, name, getattr(self, name)[which])
        found._table = self._table[:, which]
        return found, which

    def levels(self) -> tuple[Floats, Floats]:
        """Where in ε the two edges of each corner pass the base, and over what width; both (2 edges, 2 corners, u).

        log((1-β)/α) and log((1-α)/β) at the posterior means, with their standard deviations by the delta method;
        negative on the far side of α + β = 1.
        """
        alpha, beta = (self._x + 1) / (self._n0 + 2), (self._y + 1) / (self._n1 + 2)
        alpha, beta = np.stack([alpha, 1 - alpha]), np.stack([beta, 1 - beta])
        m0, m1 = self._n0 + 3, self._n1 + 3
        first = np.sqrt((1 - alpha) / (alpha * m0) + beta / ((1 - beta) * m1))
        second = np.sqrt((1 - beta) / (beta * m1) + alpha / ((1 - alpha) * m0))
        return np.log(np.stack([(1 - beta) / alpha, (1 - alpha) / beta])), np.stack([first, second])

    def levels_in_delta(self, epsilon: Floats, corner: Ints, bases: Ints) -> tuple[Floats, Floats]:
        """Where in δ the edges of corners pass their bases, and over what width; both (m, nodes, 3) from ε
        (m, nodes, 1) and corners and bases (m,).

        It passes the posterior means at max(1 - α e^ε - β, 1 - α - β e^ε). Where one of the rates is known far better
        than the other, it passes the better known one at 1 - β, or 1 - α, and the other then lies in its end.
        """
        x, n0, y, n1 = (v[bases].reshape(-1, 1, 1) for v in (self._x, self._n0, self._y, self._n1))
        alpha, beta = (x + 1) / (n0 + 2), (y + 1) / (n1 + 2)
        variance0, variance1 = alpha * (1 - alpha) / (n0 + 3), beta * (1 - beta) / (n1 + 3)
        upper = (corner == 1).reshape(-1, 1, 1)
        alpha, beta = np.where(upper, 1 - alpha, alpha), np.where(upper, 1 - beta, beta)
        growth = np.exp(np.minimum(epsilon, 300.0))  # beyond, the edge is far on the other side
        first, second = 1 - alpha * growth - beta, 1 - alpha - beta * growth
        variance = np.where(first > second, growth**2 * variance0 + variance1, variance0 + growth**2 * variance1)
        level = np.concatenate(np.broadcast_arrays(np.maximum(first, second), 1 - beta, 1 - alpha), axis=-1)
        width = np.concatenate(np.broadcast_arrays(variance, variance1, variance0), axis=-1)
        return level, np.sqrt(width)

    @underflow_is_zero
    def total(self, epsilon: Floats, delta: Floats, strength: Floats, corners: Corners | None = None) -> Floats:
        """Σ_i log L_i(ε,s) for ε and δ of shape (r,) and s of shape (r, c): an array (r, c).

        `corners` stands in for `self.corners`: a CornerTable, where many points are asked for.
        """
        delta, strength = np.minimum(delta, _CLOSE_TO_ONE), np.minimum(strength, _CLOSE_TO_ONE)
        step = max(1, _PAIRS // (len(self._x) * strength.shape[1]))
        parts = [slice(i, i + step) for i in range(0, len(epsilon), step)]
        totals = [
            np.tensordot(
                self._times,
                self._log_likelihood(epsilon[p], delta[p], strength[p], corners),
                axes=1,
            )
            for p in parts
        ]
        return np.concatenate(totals)

    @underflow_is_zero
    def total_tight(self, epsilon: Floats, delta: Floats) -> Floats:
        """Σ_i log L_i(ε, s→1) for ε and δ of shape (r,): an array (r,)."""
        return np.asarray(
            self._times @ self._log_tight(np.minimum(epsilon, _LARGEST), np.minimum(delta, _CLOSE_TO_ONE))
        )

    @underflow_is_zero
    def each(self, epsilon: Floats, delta: Floats, strength: Floats | None, corners: Corners | None = None) -> Floats:
        """log L of every base at ε, δ and s of shape (r,): an array (r, n); the limit s → 1 where s is None."""
        delta = np.minimum(delta, _CLOSE_TO_ONE)
        step = max(1, _PAIRS // len(self._x))
        parts = []
        for p in (slice(i, i + step) for i in range(0, len(epsilon), step)):
            if strength is None:
                parts.append(self._log_tight(np.minimum(epsilon[p], _LARGEST), delta[p]))
            else:
                s = np.minimum(strength[p, None], _CLOSE_TO_ONE)
                parts.append(self._log_likelihood(epsilon[p], delta[p], s, corners)[..., 0])
        return np.concatenate(parts, axis=1)[self._unique_of].T

    def depths(self, epsilon: Floats, delta: Floats, strength: Floats | None, corners: Corners | None = None) -> Floats:
        """-log P[(a,b) ∈ R_s(ε,δ)] of every base at one point, ε, δ and s (1,): an array (n,).

        Where s is None, per unit of s at s = 1.
        """
        delta = np.minimum(delta, _CLOSE_TO_ONE)
        if strength is None:
            area = log_boundary_area(np.minimum(epsilon, _LARGEST), delta)
        else:
            farthest = _LARGEST if corners is None else corners.largest
            area = _inner_edge(epsilon, delta, np.minimum(strength[:, None], _CLOSE_TO_ONE), farthest)[1][0]
        found = self.each(epsilon, delta, strength, corners)[0]
        return np.asarray(np.maximum(-found - area - self._log_pairs[self._unique_of], 0.0))

    def _log_likelihood(
        self, epsilon: Floats, delta: Floats, strength: Floats, corners: Corners | None = None
    ) -> Floats:
        """log L of each unique base: (u, r, c) from ε, δ (r,) and s (r, c)."""
        farthest = _LARGEST if corners is None else corners.largest
        edge, area = _inner_edge(epsilon, delta, strength, farthest)
        nearest = np.minimum(epsilon, farthest)
        # The outer edges and the inner ones in one batch, as small ones take no less time than large ones.
        at = np.concatenate([nearest[:, None], edge], axis=1), delta[:, None] * np.insert(strength, 0, 1.0, axis=1)
        odds = self.corners(*at) if corners is None else corners(*at)
        inner, outer = odds[..., 1:], odds[..., :1]
        with np.errstate(invalid="ignore"):
            change = np.maximum(np.where(inner > -np.inf, inner - outer, 0.0), 0.0)
        followed: Bools | np.bool_ = np.False_
        if corners is not None:
            followed = corners.tabulated[:, None, None]
            short = (change < _SHORT) & (inner > -np.inf) & followed
            if short.any():
                row, column = np.nonzero(short.any(axis=(0, 1)))
                rest = 1.0 - strength[row, column]
                middle = 1.0 - 0.5 * rest
                slopes = corners.slopes(middle * nearest[row], middle * delta[row], nearest[row], delta[row])
                change[:, :, row, column] = np.where(
                    short[:, :, row, column], np.maximum(-rest * slopes, 0.0), change[:, :, row, column]
                )
        log_mass, thin = _layer_mass(inner, outer, change)
        # Where the layer is so thin that the difference cancels, integrate its density over s' in (s, 1) instead.
        thin &= ~followed
        if thin.any():
            base, row, column = np.nonzero(thin)
            log_mass[thin] = self._log_thin(base, nearest[row], delta[row], strength[row, column])
        return np.asarray(log_mass - area - self._log_pairs[:, None, None])

    def _log_thin(self, base: Ints, epsilon: Floats, delta: Floats, strength: Floats) -> Floats:
        """log ∫_s^1 -dP/ds' ds' by three-point Gauss-Legendre quadrature, shape (m,)."""
        nodes, weights = np.polynomial.legendre.leggauss(3)
        at = strength + (1.0 - strength) * (0.5 + 0.5 * nodes[:, None])
        density = self._log_edge(np.tile(base, 3), np.tile(epsilon, 3), np.tile(delta, 3), at.ravel()).reshape(at.shape)
        return np.log1p(-strength) + special.logsumexp(density, axis=0, b=0.5 * weights[:, None])

    def _log_tight(self, epsilon: Floats, delta: Floats) -> Floats:
        """lim_{s→1} log L of each unique base: the mass on the boundary per unit of s over that of area; (u, r)."""
        u, r = len(self._x), len(epsilon)
        base = np.repeat(np.arange(u), r)
        edge = self._log_edge(base, np.tile(epsilon, u), np.tile(delta, u), np.ones(u * r)).reshape(u, r)
        return np.asarray(edge - log_boundary_area(epsilon, delta) - self._log_pairs[:, None])

    @underflow_is_zero
    def corners(self, epsilon: Floats, delta: Floats) -> Floats:
        """The log odds of P[K(ε,δ)] for the lower (0) and the upper (1) corner of each base: (…) -> (2, u, …)."""
        shape = (2, len(self._x), *epsilon.shape)
        places = np.indices(shape[:2]).reshape(2, *shape[:2], *[1] * epsilon.ndim)
        return self.corner_odds(*(np.broadcast_to(v, shape).ravel() for v in (*places, epsilon, delta))).reshape(shape)

    @underflow_is_zero
    def corner_odds(self, corner: Ints, base: Ints, epsilon: Floats, delta: Floats) -> Floats:
        """log P/(1-P) with P = P[K(ε,δ)] of a corner of a base, all of shape (m,); both tails to full precision."""
        m = len(base)
        slices, complement = self._slices(corner, base, epsilon, delta)
        # Three slices for each of the m points: evaluate the largest, then those that matter beside it.
        bound = upper_bound(self._tails, slices).reshape(-1, m)
        value = np.full(bound.shape, -np.inf)
        index = np.argmax(bound, axis=0) * m + np.arange(m)
        value.flat[index] = log_slices(self._tails, slices.take(index))
        rest = bound > value.flat[index] - _NEGLIGIBLE
        rest.flat[index] = False
        index = np.flatnonzero(rest)
        if len(index):
            value.flat[index] = log_slices(self._tails, slices.take(index))
        small = np.logaddexp.reduce(value, axis=0)
        odds = small - np.log(-np.expm1(np.minimum(small, -1e-300)))
        return np.where(complement, -odds, odds)

    def vanishing(self, corner: Ints, base: Ints, log_odds: float) -> Bools:
        """Where the log odds of P are surely smaller than this, far below zero, at ε = δ = 0 and so everywhere."""
        zero = np.zeros(len(base))
        slices, complement = self._slices(corner, base, zero, zero)
        bound = upper_bound(self._tails, slices).reshape(3, -1).max(axis=0) + np.log(3.0)
        return (bound < log_odds) & ~complement

    def _log_edge(self, base: Ints, epsilon: Floats, delta: Floats, at: Floats) -> Floats:
        """log of -d/ds P[K(sε,sδ)], both corners together, at s = `at`; all of shape (m,).

        On b = c - e^{sε} a (c = 1-sδ, a < x*) the boundary moves down by δ + ε(c-b) per unit of s, and on
        b = (c-a) e^{-sε} (a > x*) by ε b + δ e^{-sε}.
        """
        growth, c = np.exp(at * epsilon), 1.0 - at * delta
        x_star, zero = c / (1.0 + growth), np.zeros_like(at)
        c_bar = -np.expm1(np.log1p(-at * delta) - at * epsilon)
        # The weights in units of the larger of ε and δ, as both may be nearly as small as floats go.
        unit = np.maximum(np.maximum(epsilon, delta), np.finfo(np.float64).tiny)
        by_epsilon, by_delta = epsilon / unit, delta / unit
        slices, weights = [], []
        for corner in (0, 1):
            n0, n1 = self._n0[base], self._n1[base]
            x = self._x[base] if corner == 0 else n0 - self._x[base]
            y = self._y[base] if corner == 0 else n1 - self._y[base]
            shared = (x, n0, self._peak[base], self._norm[base], base)
            slices.append(Slices(*shared, zero, x_star, 1.0 - x_star, c, at * delta, growth))
            weights.append((y, n1, self._peak_b[base], by_delta + by_epsilon * c, -by_epsilon))
            slices.append(Slices(*shared, x_star, c - x_star, at * delta, c / growth, c_bar, 1.0 / growth))
            weights.append((y, n1, self._peak_b[base], by_delta / growth, by_epsilon))
        everything = Slices.concatenate(slices)
        everything.table = np.arange(len(everything))
        densities = WeightedDensities(*(np.concatenate(parts) for parts in zip(*weights, strict=True)))
        return np.log(unit) + np.logaddexp.reduce(log_slices(densities, everything).reshape(4, -1), axis=0)

    def _slices(self, corner: Ints, base: Ints, epsilon: Floats, delta: Floats) -> tuple[Slices, Bools]:
        """The three slices of a corner, a < x*, x* < a < 1-δ, and a > 1-δ (for the complement only), and whether they
        are of the complement.
        """
        n0, n1, lower = self._n0[base], self._n1[base], corner == 0
        x = np.where(lower, self._x[base], n0 - self._x[base])
        below, above = (self._table[corner, base], self._table[1 - corner, base])  # F and 1-F of b (or of 1-b)
        mean_a = (x + 1.0) / (n0 + 2.0)
        mean_b = (self._y[base] + 1.0) / (n1 + 2.0)
        mean_b = np.where(lower, mean_b, 1.0 - mean_b)
        growth, c = np.exp(epsilon), 1.0 - delta
        x_star = c / (1.0 + growth)
        complement = mean_b < np.maximum(c - growth * mean_a, (c - mean_a) / growth)
        table = np.where(complement, above, below)
        zero = np.zeros_like(epsilon)
        shared = (x, n0, self._peak[base], self._norm[base], table)

        def piece(low: Floats, length: Floats, rest: Floats, c: Floats, c_bar: Floats, slope: Floats) -> Slices:
            z, z_bar = np.where(complement, c_bar, c), np.where(complement, c, c_bar)
            return Slices(*shared, low, length, rest, z, z_bar, np.where(complement, -slope, slope))

        pieces = [
            piece(zero, x_star, 1.0 - x_star, c, delta, growth),
            piece(x_star, c - x_star, delta, c / growth, -np.expm1(np.log1p(-delta) - epsilon), 1.0 / growth),
            # T = 1: y (almost) 0 for the complement; an empty interval otherwise.
            piece(c, np.where(complement, delta, 0.0), zero, zero + 1e-300, zero + 1.0, zero),
        ]
        return Slices.concatenate(pieces), complement


def _inner_edge(epsilon: Floats, delta: Floats, strength: Floats, farthest: float = _LARGEST) -> tuple[Floats, Floats]:
    """sε, the inner edge of the layer, and log |R_s(ε,δ)|; both (r, c) from ε, δ (r,) and s (r, c).

    Where ε > `farthest`, the outer edge stays there. The inner one is its own within half of that, as R(ε,δ) is then
    the whole square to every digit that counts; beyond, the likelihood has reached its limit, which is taken at
    s·farthest.
    """
    epsilon, delta = epsilon[:, None], delta[:, None]
    nearest = np.minimum(epsilon, farthest)
    area = log_layer_area(nearest, delta, strength)
    if not (epsilon > farthest).any():
        return np.asarray(epsilon * strength), area
    edge = np.minimum(epsilon * strength, np.maximum(0.5 * farthest, nearest * strength))
    alone = (epsilon > farthest) & (strength < 0.5)
    whole = np.log(2.0) + 2.0 * np.log1p(-strength * delta) - edge - np.log1p(np.exp(-edge))
    return np.where(epsilon > farthest, edge, epsilon * strength), np.where(alone, whole, area)


def _layer_mass(inner: Floats, outer: Floats, change: Floats) -> tuple[Floats, Bools]:
    """log [P(sε,sδ) - P(ε,δ)], both corners together, from the log odds (2, …) of the two and their difference; and
    whether it is lost to cancellation in each corner that matters.

    With the logistic function σ, σ(a) - σ(b) = σ(a) σ(-b) (1 - e^{b-a}).
    """
    with np.errstate(over="ignore", divide="ignore"):
        mass = -np.expm1(-change) / ((1.0 + np.exp(-inner)) * (1.0 + np.exp(outer)))
        total = mass[0] + mass[1]
        log_mass = np.log(total)
        lost = ~(total > _TINY)
        if lost.any():
            a, b = inner[:, lost], np.broadcast_to(outer, inner.shape)[:, lost]
            logs = np.log(-np.expm1(-change[:, lost])) - np.logaddexp(0.0, -a) - np.logaddexp(0.0, b)
            log_mass[lost] = _log_add(logs[0], logs[1])
            mass[:, lost] = np.exp(logs - np.maximum(logs.max(axis=0), -1e300))
            total[lost] = mass[:, lost].sum(axis=0)
    return log_mass, np.where(mass >= 0.3 * total, change, 0.0).max(axis=0) < _THIN


def _log_add(a: Floats, b: Floats) -> Floats:
    """log(e^a + e^b), several times as fast as np.logaddexp; -inf where both are."""
    with np.errstate(invalid="ignore"):
        return np.asarray(np.maximum(a, b) + np.log1p(np.exp(np.fmax(-np.abs(a - b), -750.0))))
