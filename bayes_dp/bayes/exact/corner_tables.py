"""Tables of the corner probabilities of `marginal.py`, for posteriors that need them at thousands of points.

The normal score z = Φ⁻¹(P[K(e,d)]) is a smooth function of e, on the scale of the two levels at which the corner's
edges pass the base, and of d. It is known at Chebyshev points in Σ arcsinh((e - level)/width), whose number is doubled
until the last coefficients of their polynomial are negligible, and at Chebyshev points in d in [0,δ], doubled until the
new ones were predicted. The log odds of P, from z on a finer uniform grid with its first and second derivatives, are
then quintic pieces for each of the points in d. Bases whose corner is too sharp for that, with millions of challenges
and a large δ, are left to `marginal.py`.

A corner of a base is a row, with the number corner · bases + base.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from bayes_dp.bayes.exact.beta_tables import quintics
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["CornerTable"]


_POINTS = 33  # in e to begin with, doubled for rows that need it
_MOST_POINTS = 513
_MOST_IN_D = 129
_CELLS = 160  # of the pieces in e to begin with, doubled for rows that need it
_MOST_CELLS = 2560
_SPREAD = 4.0  # widths of an edge around which the points in e are dense: z bends on no shorter scale
_SMALL = 30_000  # cells in all up to which rows are tabulated alike
_PART = 500  # rows tabulated at once, to bound memory
_SAMPLE = 2  # every which point in e is used to judge the points in d
_SMALLEST = 1e-100  # no smaller δ makes a difference to the corners of counts that can be
_EXACT = 1e-8  # error of log odds between the points in d that needs no more of them
_PREDICTED = 1e-4  # largest error of log odds predicted from half the points in d: all of them then do far better
_BETWEEN = 1e-6  # largest error of log odds between the points in e; that of the pieces is a tenth of it
_RELEVANT = 40.0  # the errors allowed grow with the distance of the log odds beyond this
_AROUND = np.array([-6.0, -3.0, -1.0, 0.0, 1.0, 3.0, 6.0])  # widths from an edge at which the points in d are judged
_NOTHING = -200.0  # a corner whose log odds never exceed this is left out


@dataclass
class _Open:
    """Rows at work with the same points: log odds (rows, points in e, points in d)."""

    rows: Ints
    d: Floats
    odds: Floats

    @property
    def points(self) -> int:
        return self.odds.shape[1]

    def take(self, which: Bools) -> _Open:
        return _Open(self.rows[which], self.d, self.odds[which])


@dataclass
class _Group:
    """Rows tabulated alike: points d, and the pieces on a uniform grid of cells."""

    rows: Ints
    d: Floats
    cells: int
    pieces: Floats  # (6, points in d, rows · cells)


class CornerTable:
    """The function `likelihood.corners` for d in [0,δ] and e in [0, largest], by interpolation."""

    @underflow_is_zero
    def __init__(self, likelihood: MarginalLikelihood, delta: float, largest: float = 600.0) -> None:
        self._likelihood, self.largest = likelihood, largest
        self._delta = delta if delta > _SMALLEST else 0.0
        level, width = likelihood.levels()
        self._bases = level.shape[2]
        self._level, self._width = level.reshape(2, -1), _SPREAD * width.reshape(2, -1)
        rows = np.arange(2 * self._bases)
        ends = np.broadcast_to([0.0, largest], (len(rows), 2))
        self._first, self._last = self._warp(ends, rows).T
        self._groups: list[_Group] = []
        self._sharp: list[int] = []  # rows of which there is no table
        rows = rows[~likelihood.vanishing(*self._corner_of(rows), _NOTHING)]
        for part in np.array_split(rows, -(-len(rows) // _PART)):
            self._tabulate(part)
        self._groups = _alike(self._groups)
        for group in self._groups:
            self._sharp.extend(group.rows[self._off_between_points(group) > _PREDICTED].tolist())
        self.tabulated = np.ones(self._bases, bool)
        self.tabulated[np.array(self._sharp, np.int64) % self._bases] = False

    def __call__(self, epsilon: Floats, delta: Floats) -> Floats:
        """See `MarginalLikelihood.corners`: (…) -> (2, u, …)."""
        odds = np.full((2 * self._bases, *epsilon.shape), -np.inf)
        for group in self._groups:
            odds[group.rows] = self._interpolate(group, epsilon[None], delta[None])
        if self._sharp:
            sharp = np.array(self._sharp)
            odds[sharp] = self._log_odds([(sharp, epsilon[None], delta[None])])[0]
        return odds.reshape(2, self._bases, *epsilon.shape)

    def part(self, likelihood: MarginalLikelihood, which: Ints) -> CornerTable:
        """The table of some of the unique bases, of which this is the likelihood."""
        found, rows = copy(self), np.concatenate([which, self._bases + which])
        found._likelihood, found._bases, found.tabulated = likelihood, len(which), self.tabulated[which]
        found._level, found._width = self._level[:, rows], self._width[:, rows]
        found._first, found._last = self._first[rows], self._last[rows]
        place = np.full(2 * self._bases, -1)
        place[rows] = np.arange(len(rows))
        found._sharp = [int(row) for row in place[np.array(self._sharp, int)] if row >= 0]
        found._groups = []
        for group in self._groups:
            mine = place[group.rows]
            kept = np.flatnonzero(mine >= 0)
            if len(kept):
                pieces = group.pieces.reshape(6, len(group.d), len(mine), group.cells)[:, :, kept]
                pieces = pieces.reshape(6, len(group.d), -1)
                found._groups.append(_Group(mine[kept], group.d, group.cells, pieces))
        found._groups = _alike(found._groups)
        return found

    def slopes(self, epsilon: Floats, delta: Floats, along_epsilon: Floats, along_delta: Floats) -> Floats:
        """See `Corners.slopes`; of bases that are tabulated."""
        slopes = np.zeros((2 * self._bases, *epsilon.shape))
        for group in self._groups:
            cell, within = self._place(group, epsilon[None])
            weights = _weights(group.d, delta)
            tilts = weights @ _derivative(group.d) * along_delta[:, None]
            # How many cells a unit of ε is, summed over the two edges.
            level, width = self._level[:, group.rows, None], self._width[:, group.rows, None]
            rate = group.cells * (1.0 / np.hypot(epsilon - level, width)).sum(axis=0) * along_epsilon
            rate /= (self._last - self._first)[group.rows, None]
            for k in range(len(group.d)):
                pieces = [power.take(cell) for power in group.pieces[:, k]]
                value, slope = pieces[5], 5.0 * pieces[5]
                for power in (4, 3, 2, 1, 0):
                    value = value * within + pieces[power]
                    if power:
                        slope = slope * within + power * pieces[power]
                slopes[group.rows] += weights[:, k] * rate * slope + tilts[:, k] * value
        return slopes.reshape(2, self._bases, -1)

    def _corner_of(self, rows: Ints) -> tuple[Ints, Ints]:
        return rows // self._bases, rows % self._bases

    def _log_odds(self, asked: Sequence[tuple[Ints, Floats, Floats]]) -> list[Floats]:
        """log P/(1-P) of rows at e and d that broadcast to (rows, …), for each of those asked for, in one batch."""
        shapes = [(len(rows), *np.broadcast_shapes(e.shape[1:], d.shape[1:])) for rows, e, d in asked]
        flat = [
            [np.broadcast_to(v, shape).ravel() for v in (rows.reshape(-1, *[1] * (len(shape) - 1)), e, d)]
            for (rows, e, d), shape in zip(asked, shapes, strict=True)
        ]
        rows, e, d = (np.concatenate(parts) for parts in zip(*flat, strict=True))
        odds = self._likelihood.corner_odds(*self._corner_of(rows), e, d)
        ends = np.cumsum([len(parts[0]) for parts in flat])
        return [part.reshape(shape) for part, shape in zip(np.split(odds, ends[:-1]), shapes, strict=True)]

    def _tabulate(self, rows: Ints) -> None:
        """Add groups for these rows."""
        open_ = self._settle_d(rows)
        while open_:
            finer, asked = [], []
            for group in open_:
                bad = _off_in_e(group.odds) > _BETWEEN
                self._add(group.take(~bad))
                if group.points >= _MOST_POINTS:
                    self._sharp.extend(group.rows[bad].tolist())
                elif bad.any():
                    group = group.take(bad)
                    e = self._points(group.rows, 2 * group.points - 1)[:, 1::2]
                    finer.append(group)
                    asked.append((group.rows, e[..., None], group.d[None, None]))
            new = self._log_odds(asked) if asked else []
            open_ = [
                _Open(group.rows, group.d, _merged(group.odds, odds, 1)) for group, odds in zip(finer, new, strict=True)
            ]

    def _settle_d(self, rows: Ints) -> list[_Open]:
        """Log odds at the first points in e, with as many points in d as they need."""
        e = self._points(rows, _POINTS)[..., None]
        if self._delta == 0:
            d = np.zeros(1)
            return [_Open(rows, d, self._log_odds([(rows, e, d[None, None])])[0])]
        # A sample of the points in e tells whether the points in d suffice, or will when they are doubled.
        d = _chebyshev(3, self._delta)
        odds, between = self._log_odds([(rows, e, d[None, None]), (rows, e[:, ::_SAMPLE], _finer(d)[None, None])])
        group, settled = _Open(rows, d, odds), []
        while True:
            sample = group.odds[:, ::_SAMPLE]
            off = np.abs(sample @ _weights(d, _finer(d)).T - between) / _allowance(between)
            off = np.maximum(off.max(axis=(1, 2)), self._off_at_edges(group.rows, e[:, ::_SAMPLE], d, sample))
            settled.append(group.take(off < _EXACT))
            e, group, off = e[off >= _EXACT], group.take(off >= _EXACT), off[off >= _EXACT]
            if not len(group.rows):
                return settled
            new = self._log_odds([(group.rows, e, _finer(d)[None, None])])[0]
            d = _chebyshev(2 * len(d) - 1, self._delta)
            group = _Open(group.rows, d, _merged(group.odds, new, 2))
            settled.append(group.take(off < _PREDICTED))
            e, group = e[off >= _PREDICTED], group.take(off >= _PREDICTED)
            if not len(group.rows):
                return settled
            if len(d) >= _MOST_IN_D:
                self._sharp.extend(group.rows.tolist())
                return settled
            between = self._log_odds([(group.rows, e[:, ::_SAMPLE], _finer(d)[None, None])])[0]

    def _off_at_edges(self, rows: Ints, e: Floats, d: Floats, odds: Floats) -> Floats:
        """The largest error of the log odds around the edges, unseen by points in d that are farther apart; (rows,).

        At e (rows, nodes, 1), where the log odds at the points d are `odds` (rows, nodes, points).
        """
        off = np.zeros(len(rows))
        sharp, at = self._edges(rows, e)
        if len(sharp):
            found = np.einsum("bnpk,bnk->bnp", _weights(d, at), odds[sharp])
            off[sharp] = self._off(rows[sharp], e[sharp], at, found)
        return off

    def _off_between_points(self, group: _Group) -> Floats:
        """The same between points in e, where points in d far from an edge can spoil all others; (rows,)."""
        e = self._unwarp(group.rows, (np.arange(0, group.cells, 4) + 0.5) / group.cells)[..., None]
        off = np.zeros(len(group.rows))
        sharp, at = self._edges(group.rows, e)
        if len(sharp):
            d = np.zeros((len(off), *at.shape[1:]))
            d[sharp] = at
            off[sharp] = self._off(group.rows[sharp], e[sharp], at, self._interpolate(group, e, d)[sharp])
        return off

    def _edges(self, rows: Ints, e: Floats) -> tuple[Ints, Floats]:
        """Which rows have edges that are narrow beside δ, and places around these edges: (rows, nodes, places)."""
        level, width = self._likelihood.levels_in_delta(e, *self._corner_of(rows))
        at = level[..., None] + width[..., None] * _AROUND
        near = (width < self._delta) & (at[..., -1] > 0) & (at[..., 0] < self._delta)
        sharp = np.flatnonzero(near.any(axis=(1, 2)))
        at = at[:, :, near.any(axis=(0, 1))]
        return sharp, np.clip(at.reshape(*at.shape[:2], -1)[sharp], 0.0, self._delta)

    def _off(self, rows: Ints, e: Floats, d: Floats, found: Floats) -> Floats:
        exact = self._log_odds([(rows, e, d)])[0]
        return np.asarray((np.abs(found - exact) / _allowance(exact)).max(axis=(1, 2)))

    def _add(self, group: _Open) -> None:
        """Make the pieces of these rows."""
        scores, cells = _scores(group.odds), _CELLS
        while len(group.rows):
            values, middle = _refined(scores, cells)
            pieces = quintics(*(np.moveaxis(v, 1, -1) for v in values))  # (6, rows, d, cells)
            found = np.tensordot(0.5 ** np.arange(6), pieces, axes=1)
            middle = np.moveaxis(middle, 1, -1)
            off = (np.abs(found - middle) / _allowance(middle)).max(axis=(1, 2))
            good = (off < 0.1 * _BETWEEN) | (2 * cells > _MOST_CELLS)
            if good.any():
                kept = np.ascontiguousarray(np.moveaxis(pieces[:, good], 2, 1)).reshape(6, len(group.d), -1)
                self._groups.append(_Group(group.rows[good], group.d, cells, kept))
            group, scores, cells = group.take(~good), scores[~good], 2 * cells

    def _interpolate(self, group: _Group, e: Floats, d: Floats) -> Floats:
        """The log odds of a group's rows, for e and d of shape (1, …) or (rows, …)."""
        cell, within = self._place(group, e)
        weights = np.moveaxis(_weights(group.d, d), -1, 0)
        total = np.zeros(np.broadcast_shapes(within.shape, d.shape))
        for k, weight in enumerate(weights):
            pieces = group.pieces[:, k]
            value = pieces[5].take(cell)
            for power in (4, 3, 2, 1, 0):
                value *= within
                value += pieces[power].take(cell)
            total += value * weight
        return total

    def _place(self, group: _Group, e: Floats) -> tuple[Ints, Floats]:
        """The cell among those of all rows of a group, and the place within it in [0,1]; e is (1, …) or (rows, …)."""
        spread = (-1, *(1,) * (e.ndim - 1))
        first, last = self._first[group.rows].reshape(spread), self._last[group.rows].reshape(spread)
        position = self._warp(e, group.rows)
        position -= first
        position *= group.cells / (last - first)
        np.clip(position, 0.0, group.cells - 1e-9, out=position)
        cell = position.astype(np.int64)
        position -= cell
        cell += np.arange(len(group.rows)).reshape(spread) * group.cells
        return cell, position

    def _points(self, rows: Ints, points: int) -> Floats:
        """The points in e, (rows, points)."""
        return self._unwarp(rows, _chebyshev(points, 1.0))

    def _warp(self, e: Floats, rows: Ints) -> Floats:
        """Σ arcsinh((e - level)/width) over the two edges, for e (rows or 1, …)."""
        spread = (2, -1, *(1,) * (e.ndim - 1))
        level, width = self._level[:, rows].reshape(spread), self._width[:, rows].reshape(spread)
        total = np.arcsinh((e - level[0]) / width[0])
        total += np.arcsinh((e - level[1]) / width[1])
        return np.asarray(total)

    def _unwarp(self, rows: Ints, place: Floats) -> Floats:
        """The e at places (p,) in [0,1] between the first and the last, by bisection: (rows, p)."""
        first, last = self._first[rows, None], self._last[rows, None]
        target = first + (last - first) * place
        low, high = np.zeros_like(target), np.full_like(target, self.largest)
        for _ in range(60):
            e = 0.5 * (low + high)
            below = self._warp(e, rows) < target
            low, high = np.where(below, e, low), np.where(below, high, e)
        return np.asarray(0.5 * (low + high))


def _alike(groups: list[_Group]) -> list[_Group]:
    """Groups in one, the same polynomials on the cells of the finest, if the whole then is small: numpy takes a time
    for each operation, however short its arrays.
    """
    if not groups:
        return groups
    rows = np.concatenate([group.rows for group in groups])
    d, cells = max((group.d for group in groups), key=len), max(group.cells for group in groups)
    if len(rows) * len(d) * cells > _SMALL:
        return groups
    pieces = []
    for group in groups:
        times = cells // group.cells
        at = np.arange(times)[:, None, None] / times
        # Σ_k c_k (at + x/times)^k, by powers of x.
        powers = np.arange(6)
        shift = special.binom(powers[:, None], powers) * at ** np.maximum(powers[:, None] - powers, 0)
        shift = shift / float(times) ** powers * (powers[:, None] >= powers)
        by_d = _weights(group.d, d)
        own = group.pieces.reshape(6, len(group.d), len(group.rows), group.cells)
        finer = np.einsum("kdrc,tkp,ed->perct", own, shift, by_d, optimize=True)
        pieces.append(finer.reshape(6, len(d), len(group.rows), cells))
    return [_Group(rows, d, cells, np.concatenate(pieces, axis=2).reshape(6, len(d), -1))]


def _allowance(odds: Floats) -> Floats:
    return np.asarray(1.0 + 0.1 * np.maximum(np.abs(odds) - _RELEVANT, 0.0) ** 2)


def _merged(old: Floats, new: Floats, axis: int) -> Floats:
    """Values at Chebyshev points and those at the points between them, in order along the axis."""
    shape = list(old.shape)
    shape[axis] += new.shape[axis]
    both = np.empty(shape)
    np.moveaxis(both, axis, 0)[::2], np.moveaxis(both, axis, 0)[1::2] = (np.moveaxis(v, axis, 0) for v in (old, new))
    return both


def _scores(odds: Floats) -> Floats:
    """z with log Φ(z)/Φ(-z) = odds."""
    size = np.abs(odds)
    return np.asarray(-np.sign(odds) * special.ndtri_exp(-size - np.log1p(np.exp(-size))))


def _odds(z: Floats) -> tuple[Floats, Floats, Floats]:
    """log Φ(z)/Φ(-z) and its first two derivatives."""
    size = np.abs(z)
    log_tail = special.log_ndtr(-size)
    log_rest = np.log1p(-np.exp(log_tail))
    odds = log_rest - log_tail
    slope = np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_tail - log_rest)
    bend = np.sign(z) * slope * (np.tanh(0.5 * odds) * slope - size)
    return np.sign(z) * odds, slope, bend


def _off_in_e(odds: Floats) -> Floats:
    """The error of log odds between Chebyshev points in e, by the last coefficients of z; (rows, e, d) -> (rows,)."""
    z = _scores(odds)
    last = np.abs(np.moveaxis(_last_coefficients(odds.shape[1]) @ z, 1, 0)).sum(axis=0).max(axis=1)
    return np.asarray(last * (_odds(z)[1] / _allowance(odds)).max(axis=(1, 2)))


def _refined(z: Floats, cells: int) -> tuple[tuple[Floats, Floats, Floats], Floats]:
    """Log odds at the nodes of a uniform grid with their first two derivatives, per cell, and in the middle of cells,
    from z at Chebyshev points; (rows, points, d).
    """
    at_nodes, slope, bend, between = _to_uniform(z.shape[1], cells)
    z1, z2 = slope @ z, bend @ z
    odds, first, second = _odds(at_nodes @ z)
    return (odds, first * z1, second * z1**2 + first * z2), _odds(between @ z)[0]


@lru_cache(maxsize=64)
def _to_uniform(points: int, cells: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Matrices from values at Chebyshev points to those at the nodes of a uniform grid, to the first two derivatives
    there in units of a cell, and to values in the middle of the cells.
    """
    x = _chebyshev(points, 1.0)
    tilt = _derivative(x) / cells
    at_nodes, between = (_weights(x, (np.arange(cells + i) + (0.0, 0.5)[1 - i]) / cells) for i in (1, 0))
    return at_nodes, at_nodes @ tilt, at_nodes @ tilt @ tilt, between


@lru_cache(maxsize=16)
def _last_coefficients(points: int) -> Floats:
    """The matrix from values at Chebyshev points to the last four coefficients of their polynomial, (4, points)."""
    n = points - 1
    matrix = np.cos(np.pi / n * np.arange(n - 3, n + 1)[:, None] * np.arange(points)) * 2.0 / n
    matrix[:, [0, -1]] *= 0.5
    matrix[-1] *= 0.5
    return np.asarray(matrix)


def _chebyshev(count: int, length: float) -> Floats:
    """Chebyshev points of the second kind on [0, length], ascending; every second one of 2·count-1 is one of count."""
    return 0.5 * length * (1.0 - np.cos(np.pi * np.arange(count) / max(count - 1, 1)))


def _finer(d: Floats) -> Floats:
    """The points between these Chebyshev points that double them."""
    return _chebyshev(2 * len(d) - 1, d[-1])[1::2]


def _signs(count: int) -> Floats:
    """Barycentric weights of Chebyshev points."""
    signs = (-1.0) ** np.arange(count)
    signs[[0, -1]] *= 0.5
    return np.asarray(signs)


def _weights(nodes: Floats, d: Floats) -> Floats:
    """Weights (…, nodes) that interpolate from Chebyshev points to d."""
    if len(nodes) == 1:
        return np.ones((*d.shape, 1))
    gap = d[..., None] - nodes
    hit = np.abs(gap) < 1e-15 * nodes[-1]
    terms = _signs(len(nodes)) / np.where(hit, 1.0, gap)
    terms = np.where(hit.any(axis=-1, keepdims=True), hit, terms)
    return np.asarray(terms / terms.sum(axis=-1, keepdims=True))


def _derivative(nodes: Floats) -> Floats:
    """The matrix from values at Chebyshev points to the derivatives of their polynomial there."""
    if len(nodes) == 1:
        return np.zeros((1, 1))
    gap, signs = nodes[:, None] - nodes, _signs(len(nodes))
    np.fill_diagonal(gap, 1.0)
    matrix = signs / signs[:, None] / gap
    np.fill_diagonal(matrix, 0.0)
    np.fill_diagonal(matrix, -matrix.sum(axis=1))
    return np.asarray(matrix)
