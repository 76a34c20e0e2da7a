"""Adaptive integration of a density known by its logarithm, over the unit interval or the unit square.

First the region that holds the mass is found (`locating.py`); then it is cut into cells, each with a tensor grid of
Gauss-Lobatto nodes, and a cell is halved along an axis as long as its Legendre coefficients have not decayed there. The
result is a piecewise polynomial, whose marginals are those of `panels.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial import legendre

from bayes_dp.bayes.grid.locating import LogDensity, Ridge, bend, locate
from bayes_dp.bayes.grid.panels import (
    DROP,
    INTERPOLANT,
    MAX_CELLS,
    NODES,
    ORDER,
    RIM,
    TO_COEFFICIENTS,
    WEIGHTS,
    Piecewise,
)
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["Cells", "Modes", "integrate"]

_FINE = 64
_TO_FINE = legendre.legvander(2 * (np.arange(_FINE) + 0.5) / _FINE - 1, ORDER - 1) @ TO_COEFFICIENTS


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
        weights = WEIGHTS if density.shape[2] == ORDER else np.ones(1)
        values = density @ weights * length[:, None]
        return Piecewise.overlay(self.edges[:, axis, :], values @ TO_COEFFICIENTS.T)

    def finer(self, share: float) -> Cells:
        """The same polynomials on smaller cells, none of which holds more than this share of the mass.

        For the mean of what has kinks, which the nodes of large cells step over.
        """
        edges, density = self.edges, self.density()
        two = density.shape[2] == ORDER
        halves = np.stack([legendre.legvander(NODES - 1 + i, ORDER - 1) @ TO_COEFFICIENTS for i in (0, 1)])
        while (split := (density * _cell_weights(edges, density.shape[2])).sum(axis=(1, 2)) > share).any():
            axes = np.tile([True, two], (int(split.sum()), 1))
            parts = [np.maximum(half @ density[split], 0.0) for half in halves]
            if two:
                parts = [np.maximum(part @ half.T, 0.0) for half in halves for part in parts]
            edges = np.concatenate([edges[~split], _halve(edges[split], axes)])
            density = np.concatenate([density[~split], *parts])
        with np.errstate(divide="ignore"):
            return Cells(edges, np.log(density) + self.log_total, self.log_total, self.error)

    def sample(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Independent draws (u, v): a cell, then u and v | u by the inverse of their piecewise linear CDFs."""
        density = self.density()
        masses = (density * _cell_weights(self.edges, density.shape[2])).sum(axis=(1, 2))
        cell = rng.choice(len(masses), size=size, p=masses / masses.sum())
        two = density.shape[2] == ORDER
        along_u = np.maximum(density @ (WEIGHTS if two else np.ones(1)) @ _TO_FINE.T, 0.0)
        u = _invert(along_u[cell], rng.random(size))
        v = np.zeros(size)
        if two:
            at_u = legendre.legvander(2 * u - 1, ORDER - 1) @ TO_COEFFICIENTS
            conditional = np.einsum("mi,mij->mj", at_u, density[cell]) @ _TO_FINE.T
            v = _invert(np.maximum(conditional, 0.0), rng.random(size))
        edges = self.edges[cell]
        return (
            edges[:, 0, 0] + (edges[:, 0, 1] - edges[:, 0, 0]) * u,
            edges[:, 1, 0] + (edges[:, 1, 1] - edges[:, 1, 0]) * v,
        )


def _invert(bins: Floats, probability: Floats) -> Floats:
    """Inverse CDFs of densities that are constant on each of _FINE equal bins; (m, _FINE), (m,) -> (m,)."""
    cumulative = np.cumsum(bins, axis=1)
    target = probability * cumulative[:, -1]
    index = np.minimum((cumulative < target[:, None]).sum(axis=1), _FINE - 1)
    rows = np.arange(len(bins))
    mass = np.maximum(bins[rows, index], 1e-300)
    return np.asarray((index + np.clip(1.0 - (cumulative[rows, index] - target) / mass, 0.0, 1.0)) / _FINE)


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
    box, top = locate(log_density, two, ridge)
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
        if not halve.any() or len(edges) > MAX_CELLS:
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

            ends, height = locate(along, False, None)
            if height > top - 2 * DROP:
                found[1 - axis] += [*ends[0], ends[0].mean()]
    places = [np.unique(np.clip([0.0, *cuts, 1.0], 0.0, 1.0)) for cuts in found]
    places = [cuts[np.diff(cuts, prepend=-1.0) > 1e-9] for cuts in places]
    return places[0], places[1] if two else np.array([0.0, 1.0])


def _place(edges: Floats, columns: int) -> tuple[Floats, Floats]:
    """u (k, ORDER) and v (k, ORDER or 1) of the nodes."""
    u = edges[:, 0, :1] + (edges[:, 0, 1:] - edges[:, 0, :1]) * NODES
    if columns == 1:
        return u, np.zeros((len(edges), 1))
    return u, edges[:, 1, :1] + (edges[:, 1, 1:] - edges[:, 1, :1]) * NODES


def _cell_weights(edges: Floats, columns: int) -> Floats:
    """Quadrature weights (k, ORDER, ORDER or 1)."""
    area = np.prod(edges[:, :, 1] - edges[:, :, 0], axis=1)[:, None, None]
    return area * WEIGHTS[:, None] * (WEIGHTS if columns == ORDER else np.ones(1))


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
    across = WEIGHTS if values.shape[2] == ORDER else np.ones(1)
    tails[:, 0] = np.sqrt(((TO_COEFFICIENTS[-2:] @ density) ** 2 @ across).max(axis=1))
    if values.shape[2] == ORDER:
        tails[:, 1] = np.sqrt((WEIGHTS @ (density @ TO_COEFFICIENTS[-2:].T) ** 2).max(axis=1))
    share = tails * area[:, None] / total
    level = np.maximum(masses, 1e-300) / total
    errors = np.minimum(share, level[:, None] * (share / level[:, None]) ** 3).sum(axis=1)
    # A cell may hide a peak that its nodes only begin to see.
    slack = sum(_spread(values, axis) for axis in (1, 2) if values.shape[axis] > 1)
    bound = values.max(axis=(1, 2)) + np.minimum(0.5 * slack, 700.0) - top + np.log(area / total)
    unseen = (bound > np.log(tolerance)) & (slack > 12.0)
    split = (share > INTERPOLANT) | (
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
    return np.asarray(bend(values, axis).reshape(len(values), -1)[rows, best])


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
