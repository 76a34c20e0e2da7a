"""Tables of the corner probabilities of `marginal.py`, for posteriors that need them at thousands of points.

The log odds of P[K(e,d)] are a smooth function of e, on the scale of the two levels at which the corner's edges pass
the base, and of d. A table holds them as quintic splines on a grid that is uniform in Σ arcsinh((e - level)/width), at
Chebyshev points in d in [0,δ]; the number of these is doubled until the new ones were predicted. Bases whose corner is
too sharp for that, with millions of challenges and a large δ, are left to `marginal.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import interpolate

from bayes_dp.bayes.exact.beta_tables import quintics
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["CornerTable"]


_NODES = 112  # in e to begin with, doubled for bases that need it
_MOST_NODES = 16 * _NODES
_MOST_POINTS = 129  # in d
_PART = 250  # bases tabulated at once, to bound memory
_SAMPLE = 4  # every which node in e is used to judge the points in d
_SMALLEST = 1e-100  # no smaller δ makes a difference to the corners of counts that can be
_EXACT = 1e-8  # error of log odds between the points in d that needs no more of them
_PREDICTED = 1e-4  # largest error of log odds predicted from half the points in d: all of them then do far better
_BETWEEN = 1e-6  # largest error of log odds between the nodes in e
_RELEVANT = 40.0  # the errors allowed grow with the distance of the log odds beyond this
_AROUND = np.array([-6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0])  # widths from an edge at which the points in d are judged
_NOTHING = -200.0  # a corner whose log odds never exceed this is left out


@dataclass
class _Group:
    """Some bases of one corner, tabulated alike: nodes first + step·j in the warped e, points d, and the pieces."""

    bases: Ints
    first: Floats
    step: Floats
    d: Floats
    pieces: Floats  # (6, points, bases · cells)
    cells: int


class CornerTable:
    """The function `likelihood.corners` for d in [0,δ] and e in [0, largest], by interpolation."""

    def __init__(self, likelihood: MarginalLikelihood, delta: float, largest: float = 600.0) -> None:
        self._likelihood, self._largest = likelihood, largest
        self._delta = delta if delta > _SMALLEST else 0.0
        self._level, self._width = likelihood.levels()
        self._groups: tuple[list[_Group], list[_Group]] = ([], [])
        self._sharp: tuple[list[int], list[int]] = ([], [])  # bases of which there is no table
        bases = np.arange(self._level.shape[2])
        parts = np.array_split(bases, -(-len(bases) // _PART))
        for corner, part in ((corner, part) for corner in (0, 1) for part in parts):
            # P falls with e and d, so that it is largest at (0, 0).
            matter = self._log_odds(corner, part, np.zeros((len(part), 1, 1)), np.zeros(1))[:, 0, 0] > _NOTHING
            open_, nodes = part[matter], _NODES
            while len(open_):
                open_ = self._tabulate(corner, open_, nodes)
                nodes *= 2
        for corner in (0, 1):
            for group in self._groups[corner]:
                self._sharp[corner].extend(group.bases[self._off_between_nodes(corner, group) > _PREDICTED].tolist())

    def _log_odds(self, corner: int, bases: Ints, e: Floats, d: Floats) -> Floats:
        """log P/(1-P) for e and d that broadcast to (bases or 1, …): (bases, …)."""
        e, d = np.broadcast_arrays(e, d)
        small, complement = self._likelihood.corners(e, d, (corner,), bases)
        odds = small[0] - np.log(-np.expm1(np.minimum(small[0], -1e-300)))
        return np.where(complement[0], -odds, odds)

    def _tabulate(self, corner: int, bases: Ints, nodes: int) -> Ints:
        """Add groups for the bases for which this number of nodes is enough; return the others."""
        level, width = self._level[:, corner, bases], self._width[:, corner, bases]
        ends = np.broadcast_to([0.0, self._largest], (len(bases), 2))
        first, last = _warp(ends, level, width).T
        step = (last - first) / (nodes - 1)
        # Nodes at even places, the points between them, where the table is checked, at odd places.
        places = np.arange(2 * nodes - 1) / 2
        e = _unwarp(first[:, None] + step[:, None] * places, level, width, self._largest)[..., None]
        d = _chebyshev(1 if self._delta == 0 else 3, self._delta)
        at_nodes = self._log_odds(corner, bases, e[:, ::2], d)
        between = self._log_odds(corner, bases, e[:, 1::2], d[-1:])[..., 0]
        spline = interpolate.make_interp_spline(np.arange(nodes), at_nodes[..., -1], k=5, axis=1)
        off = np.abs(spline(places[1::2]) - between) / _allowance(between)
        good = off.max(axis=1) < _BETWEEN
        rest = bases[~good]
        if 2 * nodes > _MOST_NODES:
            self._sharp[corner].extend(rest.tolist())
            rest = rest[:0]
        keep, values = np.nonzero(good)[0], at_nodes[good]
        while len(keep):
            done = np.ones(len(keep), bool)
            if self._delta > 0:
                # A sample of the nodes tells whether the points in d suffice, or will when they are doubled.
                finer = _chebyshev(2 * len(d) - 1, self._delta)
                between = _weights(d, finer[1::2]).T
                new = self._log_odds(corner, bases[keep], e[keep, :: 2 * _SAMPLE], finer[1::2])
                off = (np.abs(values[:, ::_SAMPLE] @ between - new) / _allowance(new)).max(axis=(1, 2))
                at_edges = self._off_at_edges(corner, bases[keep], e[keep, :: 2 * _SAMPLE], d, values[:, ::_SAMPLE])
                off = np.maximum(off, at_edges)
                self._add(corner, bases[keep], first[keep], step[keep], d, values, off < _EXACT)
                keep, values, off = keep[off >= _EXACT], values[off >= _EXACT], off[off >= _EXACT]
                if not len(keep):
                    break
                new = self._log_odds(corner, bases[keep], e[keep, ::2], finer[1::2])
                merged = np.empty((*values.shape[:-1], len(finer)))
                merged[..., ::2], merged[..., 1::2] = values, new
                d, values = finer, merged
                done = off < _PREDICTED
                if len(d) >= _MOST_POINTS:
                    self._sharp[corner].extend(bases[keep[~done]].tolist())
                    keep, values, done = keep[done], values[done], done[done]
            self._add(corner, bases[keep], first[keep], step[keep], d, values, done)
            keep, values = keep[~done], values[~done]
        return rest

    def _off_at_edges(self, corner: int, bases: Ints, e: Floats, d: Floats, values: Floats) -> Floats:
        """The largest error of the log odds around the edges, unseen by points in d that are farther apart; (bases,).

        At e (bases, nodes, 1), of which `values` (bases, nodes, points) has the log odds at the points d.
        """
        off = np.zeros(len(bases))
        sharp, at = self._edges(corner, bases, e)
        if len(sharp):
            between = np.einsum("bnpk,bnk->bnp", _weights(d, at), values[sharp])
            off[sharp] = self._off(corner, bases[sharp], e[sharp], at, between)
        return off

    def _off_between_nodes(self, corner: int, group: _Group) -> Floats:
        """The same between the nodes in e, where points in d far from an edge can spoil all others; (bases,)."""
        level, width = self._level[:, corner, group.bases], self._width[:, corner, group.bases]
        places = group.first[:, None] + group.step[:, None] * (np.arange(0, group.cells, _SAMPLE) + 0.5)
        e = _unwarp(places, level, width, self._largest)[..., None]
        off = np.zeros(len(group.bases))
        sharp, at = self._edges(corner, group.bases, e)
        if len(sharp):
            d = np.zeros((len(off), *at.shape[1:]))
            d[sharp] = at
            found = self._interpolate(corner, group, e, d)
            off[sharp] = self._off(corner, group.bases[sharp], e[sharp], at, found[sharp])
        return off

    def _edges(self, corner: int, bases: Ints, e: Floats) -> tuple[Ints, Floats]:
        """Which bases have edges that are narrow beside δ, and places around these edges: (bases, nodes, places)."""
        level, width = self._likelihood.levels_in_delta(e, corner, bases)
        at = level[..., None] + width[..., None] * _AROUND
        near = (width < self._delta) & (at[..., -1] > 0) & (at[..., 0] < self._delta)
        sharp = np.flatnonzero(near.any(axis=(1, 2)))
        at = at[:, :, near.any(axis=(0, 1))]
        return sharp, np.clip(at.reshape(*at.shape[:2], -1)[sharp], 0.0, self._delta)

    def _off(self, corner: int, bases: Ints, e: Floats, d: Floats, found: Floats) -> Floats:
        exact = self._log_odds(corner, bases, e, d)
        return np.asarray((np.abs(found - exact) / _allowance(exact)).max(axis=(1, 2)))

    def _add(
        self, corner: int, bases: Ints, first: Floats, step: Floats, d: Floats, values: Floats, done: Bools
    ) -> None:
        if done.any():
            pieces = _splines(values[done])
            group = _Group(bases[done], first[done], step[done], d, pieces, values.shape[1] - 1)
            self._groups[corner].append(group)

    def __call__(self, epsilon: Floats, delta: Floats) -> tuple[Floats, Bools]:
        """See `MarginalLikelihood.corners`: (1, …) -> (2, u, …)."""
        odds = np.full((2, self._level.shape[2], *epsilon.shape[1:]), 2 * _NOTHING)
        for corner in (0, 1):
            for group in self._groups[corner]:
                odds[corner, group.bases] = self._interpolate(corner, group, epsilon, delta)
            if self._sharp[corner]:
                sharp = np.array(self._sharp[corner])
                odds[corner, sharp] = self._log_odds(corner, sharp, epsilon, delta)
        size = np.abs(odds)
        return -size - np.log1p(np.exp(-size)), odds > 0

    def _interpolate(self, corner: int, group: _Group, e: Floats, d: Floats) -> Floats:
        """The log odds of a group's bases, for e and d of shape (1, …) or (bases, …)."""
        spread = (-1, *(1,) * (e.ndim - 1))
        position = _warp(e, self._level[:, corner, group.bases], self._width[:, corner, group.bases])
        position -= group.first.reshape(spread)
        position /= group.step.reshape(spread)
        np.clip(position, 0.0, group.cells - 1e-9, out=position)
        cell = position.astype(np.int64)
        position -= cell
        cell += np.arange(len(group.bases)).reshape(spread) * group.cells
        weights = np.moveaxis(_weights(group.d, d), -1, 0) if len(group.d) > 1 else np.ones(1)
        total = np.zeros(np.broadcast_shapes(position.shape, d.shape))
        for k, weight in enumerate(weights):
            pieces = group.pieces[:, k]
            value = pieces[5].take(cell)
            for power in (4, 3, 2, 1, 0):
                value *= position
                value += pieces[power].take(cell)
            total += value * weight
        return total


def _warp(e: Floats, level: Floats, width: Floats) -> Floats:
    """Σ arcsinh((e - level)/width) over the two edges, for e (u or 1, …) and level and width (2, u)."""
    level, width = (v.reshape(*v.shape, *[1] * (e.ndim - 1)) for v in (level, width))
    total = np.arcsinh((e - level[0]) / width[0])
    total += np.arcsinh((e - level[1]) / width[1])
    return np.asarray(total)


def _unwarp(target: Floats, level: Floats, width: Floats, largest: float) -> Floats:
    """The inverse of `_warp` on [0, largest] by bisection."""
    low, high = np.zeros_like(target), np.full_like(target, largest)
    for _ in range(60):
        e = 0.5 * (low + high)
        below = _warp(e, level, width) < target
        low, high = np.where(below, e, low), np.where(below, high, e)
    return np.asarray(0.5 * (low + high))


def _allowance(odds: Floats) -> Floats:
    return np.asarray(1.0 + 0.1 * np.maximum(np.abs(odds) - _RELEVANT, 0.0) ** 2)


def _splines(values: Floats) -> Floats:
    """Log odds (bases, nodes, d) as quintic pieces: (6, d, bases · cells)."""
    at = np.arange(values.shape[1])
    spline = interpolate.make_interp_spline(at, values, k=5, axis=1)
    pieces = quintics(*(np.moveaxis(spline(at, order), 1, -1) for order in (0, 1, 2)))
    return np.ascontiguousarray(np.moveaxis(pieces, 2, 1)).reshape(6, values.shape[2], -1)


def _chebyshev(count: int, delta: float) -> Floats:
    """Chebyshev points of the second kind on [0,δ], ascending; every second one of 2·count-1 is one of count."""
    return 0.5 * delta * (1.0 - np.cos(np.pi * np.arange(count) / max(count - 1, 1)))


def _weights(nodes: Floats, d: Floats) -> Floats:
    """Barycentric weights (…, nodes) that interpolate from Chebyshev points to d."""
    signs = (-1.0) ** np.arange(len(nodes))
    signs[[0, -1]] *= 0.5
    gap = d[..., None] - nodes
    hit = np.abs(gap) < 1e-15 * nodes[-1]
    terms = signs / np.where(hit, 1.0, gap)
    terms = np.where(hit.any(axis=-1, keepdims=True), hit, terms)
    return np.asarray(terms / terms.sum(axis=-1, keepdims=True))
