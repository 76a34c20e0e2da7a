"""Panels of the unit interval on which a density is a Legendre series.

A panel has Gauss-Lobatto nodes and is halved as long as its coefficients have not decayed. Integrals, distribution
functions and quantiles come from the series without further evaluations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from bayes_dp.support.arrays import Floats, Ints

__all__ = [
    "DROP",
    "INTERPOLANT",
    "MAX_CELLS",
    "NODES",
    "ORDER",
    "RIM",
    "TO_COEFFICIENTS",
    "WEIGHTS",
    "Panels",
    "Piecewise",
    "resolve",
]

ORDER = 10  # nodes of a panel
# Gauss-Lobatto nodes: the ends are among them, so that a cliff next to an end cannot hide between the nodes.
_X = np.concatenate([[-1.0], legendre.Legendre.basis(ORDER - 1).deriv().roots().real, [1.0]])
_W = 2.0 / (ORDER * (ORDER - 1) * legendre.legval(_X, np.eye(ORDER)[-1]) ** 2)
NODES, WEIGHTS = 0.5 + 0.5 * _X, 0.5 * _W
# Values at the nodes -> Legendre coefficients of the interpolant.
_NORMS = np.append(np.arange(ORDER - 1) + 0.5, 0.5 * (ORDER - 1))
TO_COEFFICIENTS = (legendre.legvander(_X, ORDER - 1) * _W[:, None]).T * _NORMS[:, None]
_INTEGRAL = 1.0 / (2 * np.arange(1, ORDER) + 1)
_NEWTON = 12  # steps after which a bracket is only halved
DROP = 30.0  # nats below the largest value at which the density is left out
INTERPOLANT = 3e-4  # share of the total by which an interpolant may be off
MAX_CELLS = 8000
_PAIRS = 20_000  # of a series and a panel put together at once, to bound memory
RIM = 1e-6  # the density is not asked for nearer to the rim of the unit interval


@dataclass
class Piecewise:
    """A density on panels of the unit interval, each a Legendre series on [-1,1]; panels are ordered and disjoint."""

    edges: Floats  # (p + 1,)
    coefficients: Floats  # (p, ORDER)
    cumulative: Floats  # (p + 1,), the probability below each edge

    @classmethod
    def overlay(cls, intervals: Floats, coefficients: Floats) -> Piecewise:
        """The sum of series given on possibly overlapping intervals (k, 2) with coefficients (k, ORDER)."""
        intervals, same = np.unique(intervals, axis=0, return_inverse=True)
        series = np.zeros((len(intervals), ORDER))
        np.add.at(series, same.reshape(-1), coefficients)
        edges = np.unique(intervals)
        total = np.zeros((len(edges) - 1, ORDER))
        first, last = np.searchsorted(edges, intervals).T
        covered = last - first  # panels of each interval
        which = np.repeat(np.arange(len(intervals)), covered)
        panel = np.arange(len(which)) - np.repeat(np.cumsum(covered) - covered - first, covered)
        for part in np.array_split(np.arange(len(which)), -(-len(which) // _PAIRS)):
            low, high = intervals[which[part], :, None].swapaxes(0, 1)
            points = edges[panel[part], None] + np.diff(edges)[panel[part], None] * NODES
            vander = legendre.legvander(2 * (points - low) / (high - low) - 1, ORDER - 1)
            values = np.einsum("mpo,mo->mp", vander, series[which[part]])
            np.add.at(total, panel[part], values @ TO_COEFFICIENTS.T)
        masses = total[:, 0] * np.diff(edges)
        cumulative = np.append(0.0, np.cumsum(masses))
        return cls(edges, total / cumulative[-1], cumulative / cumulative[-1])

    def cdf(self, u: Floats) -> Floats:
        """Probability below u, any shape."""
        u = np.clip(u, self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, u, side="right") - 1, 0, len(self.coefficients) - 1)
        low, high = self.edges[panel], self.edges[panel + 1]
        x = 2 * (u - low) / (high - low) - 1
        return np.clip(self.cumulative[panel] + self._below(panel, x) * (high - low), 0.0, 1.0)

    def _below(self, panel: Ints, x: Floats) -> Floats:
        """∫ of the panel's series from -1 to x, in units of the panel's length."""
        return self._below_and_density(panel, x)[0]

    def _below_and_density(self, panel: Ints, x: Floats) -> tuple[Floats, Floats]:
        """`_below` and the series itself."""
        vander = legendre.legvander(x, ORDER).reshape(*np.shape(x), ORDER + 1)
        series = self.coefficients[panel]
        integrals = (vander[..., 2:] - vander[..., :-2]) * _INTEGRAL  # ∫ P_n = (P_{n+1} - P_{n-1}) / (2n+1)
        below = 0.5 * (series[..., 0] * (x + 1) + (series[..., 1:] * integrals).sum(axis=-1))
        return below, (series * vander[..., :-1]).sum(axis=-1)

    def quantile(self, probability: Floats) -> Floats:
        """Inverse of `cdf` in the panel that holds the probability: by Newton's method within a bracket.

        Where its steps lead out of the bracket, or do not arrive, the bracket is halved.
        """
        p = np.asarray(probability, float)
        panel = np.clip(np.searchsorted(self.cumulative, p, side="right") - 1, 0, len(self.coefficients) - 1)
        first, length = self.cumulative[panel], self.edges[panel + 1] - self.edges[panel]
        mass = self.cumulative[panel + 1] - first
        low, high = np.where(p < first + mass, -1.0, 1.0), np.where(p > first, 1.0, -1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.where(low < high, np.clip(2 * (p - first) / mass - 1, low, high), low)
            for step in range(_NEWTON + 50):
                below, density = self._below_and_density(panel, x)
                excess = first + below * length - p
                low, high = np.where(excess < 0, x, low), np.where(excess < 0, high, x)
                there = (high - low < 1e-15) | (np.abs(excess) < 4e-16 * np.maximum(p, mass))
                if there.all():
                    break
                middle, newton = 0.5 * (low + high), x - 2 * excess / (density * length)
                inside = (newton > low) & (newton < high) & (step < _NEWTON)
                x = np.where(there, x, np.where(inside, newton, middle))
        return np.asarray(self.edges[panel] + length * 0.5 * (x + 1.0))

    def nodes(self) -> tuple[Floats, Floats]:
        """Points and probability weights for expectations of smooth functions, flat."""
        length = np.diff(self.edges)[:, None]
        values = self.coefficients @ legendre.legvander(_X, ORDER - 1).T
        return (self.edges[:-1, None] + length * NODES).ravel(), (values * WEIGHTS * length).ravel()

    def density(self, u: Floats) -> Floats:
        panel = np.clip(np.searchsorted(self.edges, u, side="right") - 1, 0, len(self.coefficients) - 1)
        low, high = self.edges[panel], self.edges[panel + 1]
        inside = (u >= self.edges[0]) & (u <= self.edges[-1])
        x = 2 * (u - low) / (high - low) - 1
        vander = legendre.legvander(x, ORDER - 1).reshape(*np.shape(x), ORDER)
        return np.where(inside, (self.coefficients[panel] * vander).sum(axis=-1), 0.0)


@dataclass(frozen=True)
class Panels:
    """Panels of the unit interval on which a density is a polynomial, its mass, and where it becomes negligible."""

    edges: Floats
    mass: float
    top: float


def resolve(log_density: Callable[[Floats], Floats], witnesses: Floats, tolerance: float = 1e-8) -> Panels:
    """Halve panels of [0,1] until a density is resolved on each, and right at the witnesses, places (m,) in order.

    `log_density` is that of a probability density; its mass says what was missed.
    """
    new = np.stack([np.linspace(0.0, 1.0, 9)[:-1], np.linspace(0.0, 1.0, 9)[1:]], axis=1)
    seen = np.exp(np.minimum(log_density(witnesses), 700.0))
    edges, values = np.empty((0, 2)), np.empty((0, ORDER))
    for _ in range(60):
        nodes = (new[:, :1] + np.diff(new) * NODES).clip(RIM, 1.0 - RIM)
        found = np.exp(np.minimum(log_density(nodes.ravel()), 700.0)).reshape(nodes.shape)
        edges, values = np.concatenate([edges, new]), np.concatenate([values, found])
        order = np.argsort(edges[:, 0])
        edges, values = edges[order], values[order]
        width = edges[:, 1] - edges[:, 0]
        mass = values @ WEIGHTS * width
        series = values @ TO_COEFFICIENTS.T
        tail = np.sqrt((series[:, -2:] ** 2).sum(axis=1)) * width
        error = np.minimum(tail, np.maximum(mass, 1e-300) * (tail / np.maximum(mass, 1e-300)) ** 3)
        panel = np.clip(np.searchsorted(edges[:, 0], witnesses, side="right") - 1, 0, len(edges) - 1)
        at = 2 * (witnesses - edges[panel, 0]) / width[panel] - 1
        interpolated = (legendre.legvander(at, ORDER - 1) * series[panel]).sum(axis=1)
        wrong = np.abs(seen - interpolated) * width[panel] > INTERPOLANT
        split = (tail > INTERPOLANT) | (error > tolerance / 20)
        split[panel[wrong]] = True
        split &= width > 1e-13
        if not split.any() or len(edges) > MAX_CELLS:
            break
        middle = edges[split].mean(axis=1)
        new = np.concatenate([np.stack([edges[split, 0], middle], 1), np.stack([middle, edges[split, 1]], 1)])
        edges, values = edges[~split], values[~split]
    large = values.max(axis=1) > values.max() * np.exp(-DROP)
    return Panels(np.append(edges[:, 0], edges[-1, 1]), float(mass.sum()), float(edges[large, 1].max()))
