"""Adaptive integration of a density known by its logarithm, over the unit interval or the unit square.

First the region that holds the mass is found by zooming a coarse grid; then it is cut into cells, each with a tensor
grid of Gauss-Legendre nodes, and a cell is halved along an axis as long as its Legendre coefficients have not decayed
there. The result is a piecewise polynomial: integrals, distribution functions and quantiles come from it without
further evaluations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray

__all__ = ["ORDER", "Cells", "Piecewise", "integrate"]

Floats = NDArray[np.float64]

ORDER = 10  # nodes of a cell along an axis
_X, _W = legendre.leggauss(ORDER)
_NODES, _WEIGHTS = 0.5 + 0.5 * _X, 0.5 * _W
# Values at the nodes -> Legendre coefficients.
_TO_COEFFICIENTS = (legendre.legvander(_X, ORDER - 1) * _W[:, None]).T * (np.arange(ORDER)[:, None] + 0.5)
_ZOOM = 14  # points an axis of the zooming grid
_DROP = 22.0  # nats below the largest value at which the density is left out
_INTERPOLANT = 3e-4  # share of the total by which a cell's interpolant may be off
_MAX_CELLS = 3000

LogDensity = Callable[[Floats, Floats], Floats]  # u (r,), v (r, c) -> log density (r, c)


@dataclass
class Cells:
    """Cells [u0,u1] × [v0,v1], edges (k, 2, 2) as [axis, end]; log density at the nodes (k, ORDER, ORDER or 1)."""

    edges: Floats
    log_density: Floats
    log_total: float
    error: float  # estimate of the relative error of the total

    def nodes(self) -> tuple[Floats, Floats, Floats]:
        """u, v and probability weight of every node, each flat."""
        u, v = _place(self.edges, self.log_density.shape[2])
        weight = np.exp(self.log_density - self.log_total) * _cell_weights(self.edges, self.log_density.shape[2])
        shape = self.log_density.shape
        return np.broadcast_to(u[:, :, None], shape).ravel(), np.broadcast_to(v[:, None, :], shape).ravel(), weight.ravel()

    def density(self) -> Floats:
        """The normalised density at the nodes, (k, ORDER, ORDER or 1)."""
        return np.exp(self.log_density - self.log_total)

    def marginal(self, axis: int) -> Piecewise:
        """The marginal density along an axis as a piecewise polynomial."""
        other = 1 - axis
        length = self.edges[:, other, 1] - self.edges[:, other, 0]
        density = np.moveaxis(self.density(), 1 + axis, 1)
        weights = _WEIGHTS if density.shape[2] == ORDER else np.ones(1)
        values = density @ weights * length[:, None]
        return Piecewise.overlay(self.edges[:, axis, :], values @ _TO_COEFFICIENTS.T)

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Independent draws (u, v): a cell, then u and v | u by the inverse of their piecewise linear CDFs."""
        density = self.density()
        masses = (density * _cell_weights(self.edges, density.shape[2])).sum(axis=(1, 2))
        cell = rng.choice(len(masses), size=size, p=masses / masses.sum())
        two = density.shape[2] == ORDER
        along_u = np.maximum(density @ (_WEIGHTS if two else np.ones(1)) @ _TO_FINE.T, 0.0)
        u = _invert(along_u[cell], rng.random(size))
        v = np.zeros(size)
        if two:
            at_u = legendre.legvander(2 * u - 1, ORDER - 1) @ _TO_COEFFICIENTS
            conditional = np.einsum("mi,mij->mj", at_u, density[cell]) @ _TO_FINE.T
            v = _invert(np.maximum(conditional, 0.0), rng.random(size))
        edges = self.edges[cell]
        return (
            edges[:, 0, 0] + (edges[:, 0, 1] - edges[:, 0, 0]) * u,
            edges[:, 1, 0] + (edges[:, 1, 1] - edges[:, 1, 0]) * v,
        )


_FINE = 64
_TO_FINE = legendre.legvander(2 * (np.arange(_FINE) + 0.5) / _FINE - 1, ORDER - 1) @ _TO_COEFFICIENTS


def _invert(bins: Floats, probability: Floats) -> Floats:
    """Inverse CDFs of densities that are constant on each of _FINE equal bins; (m, _FINE), (m,) -> (m,)."""
    cumulative = np.cumsum(bins, axis=1)
    target = probability * cumulative[:, -1]
    index = np.minimum((cumulative < target[:, None]).sum(axis=1), _FINE - 1)
    rows = np.arange(len(bins))
    mass = np.maximum(bins[rows, index], 1e-300)
    return np.asarray((index + np.clip(1.0 - (cumulative[rows, index] - target) / mass, 0.0, 1.0)) / _FINE)


@dataclass
class Piecewise:
    """A density on panels of the unit interval, each a Legendre series on [-1,1]; panels are ordered and disjoint."""

    edges: Floats  # (p + 1,)
    coefficients: Floats  # (p, ORDER)
    cumulative: Floats  # (p + 1,), the probability below each edge

    @classmethod
    def overlay(cls, intervals: Floats, coefficients: Floats) -> Piecewise:
        """The sum of series given on possibly overlapping intervals (k, 2) with coefficients (k, ORDER)."""
        edges = np.unique(intervals)
        total = np.zeros((len(edges) - 1, ORDER))
        first = np.searchsorted(edges, intervals[:, 0])
        last = np.searchsorted(edges, intervals[:, 1])
        for (low, high), series, i, j in zip(intervals, coefficients, first, last, strict=True):
            points = edges[i:j, None] + np.diff(edges[i : j + 1])[:, None] * _NODES
            total[i:j] += legendre.legval(2 * (points - low) / (high - low) - 1, series) @ _TO_COEFFICIENTS.T
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

    def _below(self, panel: NDArray[np.int64], x: Floats) -> Floats:
        """∫ of the panel's series from -1 to x, in units of the panel's length."""
        vander = legendre.legvander(x, ORDER).reshape(*np.shape(x), ORDER + 1)
        n = np.arange(1, ORDER)
        higher = (vander[..., 2:] - vander[..., :-2]) / (2 * n + 1)  # ∫ P_n = (P_{n+1} - P_{n-1}) / (2n+1)
        series = self.coefficients[panel]
        return np.asarray(0.5 * (series[..., 0] * (x + 1) + (series[..., 1:] * higher).sum(axis=-1)))

    def quantile(self, probability: Floats) -> Floats:
        """Inverse of `cdf` by bisection in the panel that holds the probability."""
        p = np.asarray(probability, float)
        panel = np.clip(np.searchsorted(self.cumulative, p, side="right") - 1, 0, len(self.coefficients) - 1)
        low, high = -np.ones_like(p), np.ones_like(p)
        length = self.edges[panel + 1] - self.edges[panel]
        for _ in range(50):
            x = 0.5 * (low + high)
            short = self.cumulative[panel] + self._below(panel, x) * length < p
            low, high = np.where(short, x, low), np.where(short, high, x)
        return np.asarray(self.edges[panel] + length * 0.5 * (low + 1.0))

    def nodes(self) -> tuple[Floats, Floats]:
        """Points and probability weights for expectations of smooth functions, flat."""
        length = np.diff(self.edges)[:, None]
        values = self.coefficients @ legendre.legvander(_X, ORDER - 1).T
        return (self.edges[:-1, None] + length * _NODES).ravel(), (values * _WEIGHTS * length).ravel()

    def density(self, u: Floats) -> Floats:
        panel = np.clip(np.searchsorted(self.edges, u, side="right") - 1, 0, len(self.coefficients) - 1)
        low, high = self.edges[panel], self.edges[panel + 1]
        inside = (u >= self.edges[0]) & (u <= self.edges[-1])
        x = 2 * (u - low) / (high - low) - 1
        vander = legendre.legvander(x, ORDER - 1).reshape(*np.shape(x), ORDER)
        return np.where(inside, (self.coefficients[panel] * vander).sum(axis=-1), 0.0)


def integrate(log_density: LogDensity, two: bool, tolerance: float = 1e-4) -> Cells:
    """Cells of a log density on the unit square (`two`) or, in u alone with v = 0, the unit interval."""
    box = _locate(log_density, two)
    cuts = 2
    u = np.linspace(*box[0], cuts + 1)
    v = np.linspace(*box[1], cuts + 1) if two else np.array([0.0, 1.0])
    new = np.array([[[a, b], [c, d]] for a, b in zip(u, u[1:], strict=False) for c, d in zip(v, v[1:], strict=False)])
    edges, values = np.empty((0, 2, 2)), np.empty((0, ORDER, ORDER if two else 1))
    done = np.empty(0, bool)
    while True:
        edges = np.concatenate([edges, new])
        values = np.concatenate([values, _evaluate(log_density, new, two)])
        done = np.append(done, np.zeros(len(new), bool))
        log_total, errors, split = _judge(edges, values, tolerance)
        # The two halves of a done cell are not looked at again.
        split &= ~done[:, None]
        halve = split.any(axis=1)
        done = ~halve
        if not halve.any() or len(edges) > _MAX_CELLS:
            return Cells(edges, values, log_total, float(errors.sum()))
        new = _halve(edges[halve], split[halve])
        edges, values, done = edges[~halve], values[~halve], done[~halve]


def _locate(log_density: LogDensity, two: bool) -> Floats:
    """A box [axis, end] outside of which the density is negligible."""
    box = np.array([[0.0, 1.0], [0.0, 1.0]])
    axes = (0, 1) if two else (0,)
    for _ in range(60):
        grid = [box[a, 0] + (box[a, 1] - box[a, 0]) * (np.arange(_ZOOM) + 0.5) / _ZOOM for a in (0, 1)]
        v = np.broadcast_to(grid[1], (_ZOOM, _ZOOM)) if two else np.zeros((_ZOOM, 1))
        values = log_density(grid[0], v)
        # Between two points the density can rise above both by a share of its second difference.
        slack = 0.5 * sum(_bend(values, axis) for axis in axes)
        keep = values + slack > values.max() - _DROP
        shrunk = box.copy()
        for axis in axes:
            kept = np.nonzero(keep.any(axis=1 - axis))[0]
            step = (box[axis, 1] - box[axis, 0]) / _ZOOM
            shrunk[axis, 0] = max(box[axis, 0], box[axis, 0] + (kept[0] - 1) * step)
            shrunk[axis, 1] = min(box[axis, 1], box[axis, 0] + (kept[-1] + 2) * step)
        shrink = np.prod(np.diff(shrunk)) / np.prod(np.diff(box))
        box = shrunk
        if shrink > 0.85:
            break
    box[np.abs(box) < 1e-9] = 0.0
    box[box > 1.0 - 1e-9] = 1.0
    return box


def _bend(values: Floats, axis: int) -> Floats:
    """The size of the second difference along an axis; at the ends, that of the neighbour."""
    bend = np.abs(np.diff(np.maximum(values, -1e100), n=2, axis=axis))
    pad = [(0, 0)] * values.ndim
    pad[axis] = (1, 1)
    return np.pad(bend, pad, mode="edge")


def _place(edges: Floats, columns: int) -> tuple[Floats, Floats]:
    """u (k, ORDER) and v (k, ORDER or 1) of the nodes."""
    u = edges[:, 0, :1] + (edges[:, 0, 1:] - edges[:, 0, :1]) * _NODES
    if columns == 1:
        return u, np.zeros((len(edges), 1))
    return u, edges[:, 1, :1] + (edges[:, 1, 1:] - edges[:, 1, :1]) * _NODES


def _cell_weights(edges: Floats, columns: int) -> Floats:
    """Quadrature weights (k, ORDER, ORDER or 1)."""
    area = np.prod(edges[:, :, 1] - edges[:, :, 0], axis=1)[:, None, None]
    return area * _WEIGHTS[:, None] * (_WEIGHTS if columns == ORDER else np.ones(1))


def _evaluate(log_density: LogDensity, edges: Floats, two: bool) -> Floats:
    u, v = _place(edges, ORDER if two else 1)
    rows = np.repeat(v, ORDER, axis=0)
    return log_density(u.ravel(), rows).reshape(len(edges), ORDER, -1)


def _judge(edges: Floats, values: Floats, tolerance: float) -> tuple[float, Floats, NDArray[np.bool_]]:
    """log of the integral, each cell's error relative to it, and along which axes (k, 2) a cell is to be halved.

    A Gauss rule with ORDER nodes is exact to degree 2·ORDER - 1, so that with Legendre coefficients c_j that fall
    steadily its error is well below (c_{ORDER-1}/c_0)² of the integral, for which 2.5 is taken; the interpolant's is
    c_{ORDER-1}/c_0 of it.
    """
    top = values.max()
    density = np.exp(values - top)
    weights = _cell_weights(edges, values.shape[2])
    masses = (density * weights).sum(axis=(1, 2))
    total = masses.sum()
    area = np.prod(edges[:, :, 1] - edges[:, :, 0], axis=1)
    tails = np.zeros((len(edges), 2))
    across = _WEIGHTS if values.shape[2] == ORDER else np.ones(1)
    tails[:, 0] = np.sqrt(((_TO_COEFFICIENTS[-2:] @ density) ** 2 @ across).max(axis=1))
    if values.shape[2] == ORDER:
        tails[:, 1] = np.sqrt((_WEIGHTS @ (density @ _TO_COEFFICIENTS[-2:].T) ** 2).max(axis=1))
    share = tails * area[:, None] / total
    level = np.maximum(masses, 1e-300) / total
    errors = np.minimum(share, level[:, None] * (share / level[:, None]) ** 2.5).sum(axis=1)
    # A cell may hide a peak that its nodes only begin to see.
    slack = sum(_spread(values, axis) for axis in (1, 2) if values.shape[axis] > 1)
    bound = values.max(axis=(1, 2)) + np.minimum(0.5 * slack, 700.0) - top + np.log(area / total)
    unseen = (bound > np.log(tolerance)) & (slack > 12.0)
    split = (share > _INTERPOLANT) | ((errors > tolerance / 20)[:, None] & (tails >= 0.1 * tails.max(axis=1)[:, None]))
    split |= unseen[:, None] & (tails >= 0.1 * tails.max(axis=1)[:, None])
    split &= edges[:, :, 1] - edges[:, :, 0] > 1e-10
    if values.shape[2] == 1:
        split[:, 1] = False
    return float(top + np.log(total)), errors, split


def _spread(values: Floats, axis: int) -> Floats:
    """The second difference along an axis at the node where the density is largest; (k,)."""
    rows, best = np.arange(len(values)), values.reshape(len(values), -1).argmax(axis=1)
    return np.asarray(_bend(values, axis).reshape(len(values), -1)[rows, best])


def _halve(edges: Floats, split: NDArray[np.bool_]) -> Floats:
    """Halve each cell along the axes marked in `split` (k, 2)."""
    for axis in (0, 1):
        cut = split[:, axis]
        low, high = edges[cut].copy(), edges[cut].copy()
        middle = edges[cut, axis].mean(axis=1)
        low[:, axis, 1], high[:, axis, 0] = middle, middle
        edges = np.concatenate([edges[~cut], low, high])
        split = np.concatenate([split[~cut], split[cut], split[cut]])
    return edges
