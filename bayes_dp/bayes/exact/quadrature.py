"""Adaptive integration of a density known by its logarithm, over the unit interval or the unit square.

First the region that holds the mass is found by zooming a coarse grid; then it is cut into cells, each with a tensor
grid of Gauss-Lobatto nodes, and a cell is halved along an axis as long as its Legendre coefficients have not decayed
there. The result is a piecewise polynomial: integrals, distribution functions and quantiles come from it without
further evaluations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre

from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["ORDER", "RIM", "Cells", "Panels", "Piecewise", "integrate", "resolve"]


ORDER = 10  # nodes of a cell along an axis
# Gauss-Lobatto nodes: the ends are among them, so that a cliff next to an end cannot hide between the nodes.
_X = np.concatenate([[-1.0], legendre.Legendre.basis(ORDER - 1).deriv().roots().real, [1.0]])
_W = 2.0 / (ORDER * (ORDER - 1) * legendre.legval(_X, np.eye(ORDER)[-1]) ** 2)
_NODES, _WEIGHTS = 0.5 + 0.5 * _X, 0.5 * _W
# Values at the nodes -> Legendre coefficients of the interpolant.
_NORMS = np.append(np.arange(ORDER - 1) + 0.5, 0.5 * (ORDER - 1))
_TO_COEFFICIENTS = (legendre.legvander(_X, ORDER - 1) * _W[:, None]).T * _NORMS[:, None]
_ZOOM = 14  # points an axis of the zooming grid
_DROP = 30.0  # nats below the largest value at which the density is left out
_INTERPOLANT = 3e-4  # share of the total by which a cell's interpolant may be off
_MAX_CELLS = 8000
RIM = 1e-6  # the density is not asked for nearer to the rim of the unit square

LogDensity = Callable[[Floats, Floats], Floats]  # u (r,), v (r, c) -> log density (r, c)
Ridge = Callable[[float, float, Floats], Floats]  # u0, v0, u -> v


@dataclass(frozen=True)
class Modes:
    """What is known of narrow modes along an axis: where they are, and where cells have to begin to resolve them."""

    places: Sequence[float] = ()
    cuts: Sequence[float] = ()


@dataclass
class Cells:
    """Cells [u0,u1] × [v0,v1], edges (k, 2, 2) as [axis, end]; log density at the nodes (k, ORDER, ORDER or 1)."""

    edges: Floats
    log_density: Floats
    log_total: float
    error: float  # estimate of the relative error of the total

    def nodes(self) -> tuple[Floats, Floats, Floats]:
        """u, v and probability weight of every node, each flat: the places where the density was asked for."""
        u, v = (x.clip(RIM, 1.0 - RIM) for x in _place(self.edges, self.log_density.shape[2]))
        weight = np.exp(self.log_density - self.log_total) * _cell_weights(self.edges, self.log_density.shape[2])
        shape = self.log_density.shape
        return (
            np.broadcast_to(u[:, :, None], shape).ravel(),
            np.broadcast_to(v[:, None, :], shape).ravel(),
            weight.ravel(),
        )

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

    def _below(self, panel: Ints, x: Floats) -> Floats:
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


def integrate(
    log_density: LogDensity,
    two: bool,
    ridge: Ridge | None = None,
    tolerance: float = 1e-5,
    modes: Sequence[Modes] = (),
) -> Cells:
    """Cells of a log density on the unit square (`two`) or, in u alone with v = 0, the unit interval.

    `ridge` gives v(u) on a curve through (u0, v0) along which the density is expected to vary little; `modes`, for u
    and v, where the zooming grid may overlook something.
    """
    box, top = _locate(log_density, two, ridge)
    if any(axis.places for axis in modes):
        u, v = _cuts(log_density, two, box, top, modes)
    else:
        u = np.linspace(box[0, 0], box[0, 1], 3)
        v = np.linspace(box[1, 0], box[1, 1], 3) if two else np.array([0.0, 1.0])
    new = np.array([[[a, b], [c, d]] for a, b in pairwise(u) for c, d in pairwise(v)])
    edges, values = np.empty((0, 2, 2)), np.empty((0, ORDER, ORDER if two else 1))
    while True:
        edges = np.concatenate([edges, new])
        values = np.concatenate([values, _evaluate(log_density, new, two)])
        log_total, errors, split = _judge(edges, values, tolerance)
        halve = split.any(axis=1)
        if not halve.any() or len(edges) > _MAX_CELLS:
            return Cells(edges, values, log_total, float(errors.sum()))
        new = _halve(edges[halve], split[halve])
        edges, values = edges[~halve], values[~halve]


def _cuts(log_density: LogDensity, two: bool, box: Floats, top: float, modes: Sequence[Modes]) -> tuple[Floats, Floats]:
    """Where cells of the whole square begin, along u and along v.

    At the cuts of the modes, around the box of the peak, and around what is found along the line through each mode.
    """
    found = [[*axis.cuts, *ends, ends.mean()] for axis, ends in zip(modes, box, strict=False)]
    for axis in (0, 1) if two else ():
        for place in modes[axis].places:
            at = np.clip(np.array([place]), RIM, 1.0 - RIM)

            def along(x: Floats, _: Floats, axis: int = axis, at: Floats = at) -> Floats:
                """Along v at a mode of u, and along u at a mode of v."""
                return log_density(at, x[None, :]).T if axis == 0 else log_density(x, np.tile(at, (len(x), 1)))

            ends, height = _locate(along, False, None)
            if height > top - 2 * _DROP:
                found[1 - axis] += [*ends[0], ends[0].mean()]
    places = [np.unique(np.clip([0.0, *cuts, 1.0], 0.0, 1.0)) for cuts in found]
    places = [cuts[np.diff(cuts, prepend=-1.0) > 1e-9] for cuts in places]
    return places[0], places[1] if two else np.array([0.0, 1.0])


def _locate(log_density: LogDensity, two: bool, ridge: Ridge | None) -> tuple[Floats, float]:
    """A box [axis, end] outside of which the density is negligible, and the largest log density found.

    A coarse grid and a climb find the peak. Then grids in u and w, the height of v above the ridge through the peak,
    shrink to the points within _DROP of it: a ridge that is thin and long in (u,v) is neither in (u,w).
    """
    middle = (np.arange(_ZOOM) + 0.5) / _ZOOM
    at, top = np.array([0.5, 0.5]), -np.inf
    box = np.array([[0.0, 1.0], [-1.0, 1.0]])

    def place(u: Floats, w: Floats) -> Floats:
        """v (r, c) at u (r,) and heights w (c,)."""
        if not two:
            return np.zeros((len(u), 1))
        curve = ridge(at[0], at[1], u) if ridge and top > -np.inf else np.full(len(u), at[1])
        return curve[:, None] + w

    def evaluate(u: Floats, w: Floats) -> Floats:
        v = place(u, w)
        inside = (v > 0) & (v < 1) if two else np.ones(v.shape, bool)
        return np.where(inside, log_density(u, np.where(inside, v, 0.5)), -np.inf)

    for _ in range(60):
        lengths = np.diff(box, axis=1)[:, 0]
        u, w = (box[axis, 0] + lengths[axis] * middle for axis in (0, 1))
        values = evaluate(u, w)
        if values.max() > top + 0.1:
            # A higher place than known: climb from it and begin again along its ridge.
            i, j = np.unravel_index(int(np.argmax(values)), values.shape)
            start = np.array([u[i], place(u, w)[i, j]])
            at, top = _climb(log_density, start, float(values[i, j]), lengths / _ZOOM, ridge, two)
            box = np.array([[0.0, 1.0], [-1.0, 1.0]])
            continue
        # Between two points the density can rise above both by a share of its second difference; far narrower peaks
        # are left to the climb.
        bends = sum(_bend(values, axis) for axis in range(values.ndim) if values.shape[axis] > 1)
        keep = values + np.minimum(0.5 * bends, 1.5 * _DROP) > top - _DROP
        place_of_peak = np.clip(((np.array([at[0], 0.0]) - box[:, 0]) / lengths * _ZOOM).astype(int), 0, _ZOOM - 1)
        keep[place_of_peak[0], place_of_peak[1] if two else 0] = True
        if two:  # a ridge thinner than a step shows between the rows only
            keep[evaluate(u, np.zeros(1))[:, 0] > top - _DROP, place_of_peak[1]] = True
        shrunk = box.copy()
        for axis in (0, 1) if two else (0,):
            kept = np.nonzero(keep.any(axis=1 - axis))[0]
            low, step = box[axis, 0], lengths[axis] / _ZOOM
            shrunk[axis] = max(low, low + (kept[0] - 1) * step), min(box[axis, 1], low + (kept[-1] + 2) * step)
        shrink = np.prod(np.diff(shrunk)) / np.prod(lengths)
        box = shrunk
        if shrink > 0.85:
            break
    heights = place(np.linspace(box[0, 0], box[0, 1], 50), box[1])
    box = np.stack([box[0], [heights.min(), heights.max()]]).clip(0.0, 1.0)
    box[box < RIM] = 0.0
    box[box > 1.0 - RIM] = 1.0
    if two and ridge is not None:
        # Where v decides alone, the mass leaves the ridge for the line of constant v.
        along = (np.arange(4 * _ZOOM) + 0.5) / (4 * _ZOOM)
        held = along[log_density(along, np.full((len(along), 1), at[1]))[:, 0] > top - _DROP]
        if len(held) and (held[0] < box[0, 0] or held[-1] > box[0, 1]):
            plain, _ = _locate(log_density, True, None)
            box = np.stack([np.minimum(box[:, 0], plain[:, 0]), np.maximum(box[:, 1], plain[:, 1])], axis=1)
    return box, top


def _climb(
    log_density: LogDensity, at: Floats, value: float, steps: Floats, ridge: Ridge | None, two: bool
) -> tuple[Floats, float]:
    """Uphill from a grid point by ever smaller grids, since a peak far narrower than a step shows on no grid.

    The grids follow `ridge`, and the search starts again with large steps until that gains nothing.
    """
    offsets = np.linspace(-1.2, 1.2, 9)
    for _ in range(20):
        before, step = value, steps
        for _ in range(40):
            u = np.clip(at[0] + step[0] * offsets, RIM, 1.0 - RIM)
            v = np.zeros((9, 1))
            if two:
                middle = ridge(at[0], at[1], u) if ridge else np.full(9, at[1])
                v = np.clip(middle[:, None] + step[1] * offsets, RIM, 1.0 - RIM)
            values = log_density(u, v)
            i, j = np.unravel_index(int(np.argmax(values)), values.shape)
            gain = float(values[i, j]) - value
            if gain > 0:
                at, value = np.array([u[i], v[i, j]]), float(values[i, j])
            at_rim = i in (0, 8) or (two and j in (0, 8))
            if gain < 0.1 or not at_rim:
                step = 0.35 * step
            if step.max() < 1e-10 or (gain < 0.1 and step.max() < 0.01 * steps.max() and value - before < 0.1):
                break
        if value - before < 0.1:
            break
    return at, value


def _bend(values: Floats, axis: int) -> Floats:
    """The size of the second difference along an axis; at the ends, that of the neighbour."""
    bend = np.abs(np.diff(np.maximum(values, -1e9), n=2, axis=axis))
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
    u, v = (x.clip(RIM, 1.0 - RIM) for x in _place(edges, ORDER if two else 1))
    rows = np.repeat(v, ORDER, axis=0) if two else np.zeros((u.size, 1))
    return log_density(u.ravel(), rows).reshape(len(edges), ORDER, -1)


def _judge(edges: Floats, values: Floats, tolerance: float) -> tuple[float, Floats, Bools]:
    """log of the integral, each cell's error relative to it, and along which axes (k, 2) a cell is to be halved.

    A Lobatto rule with ORDER nodes is exact to degree 2·ORDER - 3, so that with Legendre coefficients c_j that fall
    steadily its error is about (c_{ORDER-1}/c_0)² of the integral where they fall geometrically, and less where they
    fall as those of a smooth peak do; the power 3 was found to stay above the true error. The interpolant's error is
    c_{ORDER-1}/c_0 of the integral.
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
    errors = np.minimum(share, level[:, None] * (share / level[:, None]) ** 3).sum(axis=1)
    # A cell may hide a peak that its nodes only begin to see.
    slack = sum(_spread(values, axis) for axis in (1, 2) if values.shape[axis] > 1)
    bound = values.max(axis=(1, 2)) + np.minimum(0.5 * slack, 700.0) - top + np.log(area / total)
    unseen = (bound > np.log(tolerance)) & (slack > 12.0)
    split = (share > _INTERPOLANT) | (
        (errors > tolerance / max(20, len(edges)))[:, None] & (tails >= 0.1 * tails.max(axis=1)[:, None])
    )
    split |= unseen[:, None] & (tails >= 0.1 * tails.max(axis=1)[:, None])
    split &= edges[:, :, 1] - edges[:, :, 0] > 1e-10
    if values.shape[2] == 1:
        split[:, 1] = False
    return float(top + np.log(total)), errors, split


def _spread(values: Floats, axis: int) -> Floats:
    """The second difference along an axis at the node where the density is largest; (k,)."""
    rows, best = np.arange(len(values)), values.reshape(len(values), -1).argmax(axis=1)
    return np.asarray(_bend(values, axis).reshape(len(values), -1)[rows, best])


def _halve(edges: Floats, split: Bools) -> Floats:
    """Halve each cell along the axes marked in `split` (k, 2)."""
    for axis in (0, 1):
        cut = split[:, axis]
        low, high = edges[cut].copy(), edges[cut].copy()
        middle = edges[cut, axis].mean(axis=1)
        low[:, axis, 1], high[:, axis, 0] = middle, middle
        edges = np.concatenate([edges[~cut], low, high])
        split = np.concatenate([split[~cut], split[cut], split[cut]])
    return edges


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
        nodes = (new[:, :1] + np.diff(new) * _NODES).clip(RIM, 1.0 - RIM)
        found = np.exp(np.minimum(log_density(nodes.ravel()), 700.0)).reshape(nodes.shape)
        edges, values = np.concatenate([edges, new]), np.concatenate([values, found])
        order = np.argsort(edges[:, 0])
        edges, values = edges[order], values[order]
        width = edges[:, 1] - edges[:, 0]
        mass = values @ _WEIGHTS * width
        series = values @ _TO_COEFFICIENTS.T
        tail = np.sqrt((series[:, -2:] ** 2).sum(axis=1)) * width
        error = np.minimum(tail, np.maximum(mass, 1e-300) * (tail / np.maximum(mass, 1e-300)) ** 3)
        panel = np.clip(np.searchsorted(edges[:, 0], witnesses, side="right") - 1, 0, len(edges) - 1)
        at = 2 * (witnesses - edges[panel, 0]) / width[panel] - 1
        interpolated = (legendre.legvander(at, ORDER - 1) * series[panel]).sum(axis=1)
        wrong = np.abs(seen - interpolated) * width[panel] > _INTERPOLANT
        split = (tail > _INTERPOLANT) | (error > tolerance / 20)
        split[panel[wrong]] = True
        split &= width > 1e-13
        if not split.any() or len(edges) > _MAX_CELLS:
            break
        middle = edges[split].mean(axis=1)
        new = np.concatenate([np.stack([edges[split, 0], middle], 1), np.stack([middle, edges[split, 1]], 1)])
        edges, values = edges[~split], values[~split]
    large = values.max(axis=1) > values.max() * np.exp(-_DROP)
    return Panels(np.append(edges[:, 0], edges[-1, 1]), float(mass.sum()), float(edges[large, 1].max()))
