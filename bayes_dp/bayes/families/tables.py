"""Integrals of densities of levels over layers, [a, θ] with a = sθ, for many bases and layers at once.

For each row (a base, or one of several parts that its likelihood is the sum of) the density h(t), t ≥ 0, is known by
its logarithm. With its peak at p and its width w, let t = p ± w sinh y: one half to the left and one to the right, on
which y grows away from the peak. There log h is a Chebyshev series on panels, and what is kept is the tail

    T(y) = log [c + ∫ h over what lies farther from the peak than y],

as a polynomial of degree 5 on short steps of y, through its values and first two derivatives, which are known:
T′ = −e^{ψ−T} and T″ = T′ (ψ′ − T′), with ψ = log(h dt/dy). The constant c > 0 stands for what is beyond the end of the
range, so that T has an end; it cancels. A layer on one side of the peak is a difference of two tails, of which the
smaller is far from the peak: nothing cancels unless the layer is thin, and then its own width times the mean of
h = e^T |T′| dy/dt is taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.polynomial import chebyshev, legendre
from scipy import special

from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["LevelLaw", "LevelTables"]

_ORDER = 16  # nodes of a panel
_PANEL = 1.6  # its length in y, at most
_STEPS = 64  # of a panel
_X = -np.cos(np.pi * (np.arange(_ORDER) + 0.5) / _ORDER)
_TO_SERIES = (2.0 / _ORDER) * np.cos(np.arange(_ORDER)[:, None] * np.arccos(_X))
_TO_SERIES[0] /= 2.0
_SMOOTH = chebyshev.chebvander(_X, 2) @ _TO_SERIES[:3]
_KNOTS = np.linspace(-1.0, 1.0, _STEPS + 1)
_AT_KNOTS = chebyshev.chebvander(_KNOTS, _ORDER - 1) @ _TO_SERIES
_SLOPES_AT_KNOTS, _BENDS_AT_KNOTS = (
    np.stack([chebyshev.chebval(_KNOTS, chebyshev.chebder(row, m)) for row in np.eye(_ORDER)], axis=1) @ _TO_SERIES
    for m in (1, 2)
)
_FEW, _FEW_WEIGHTS = legendre.leggauss(8)  # on a step along which log h changes little
_BETWEEN = (_KNOTS[:-1, None] + (_FEW + 1.0) / _STEPS).ravel()
_AT_BETWEEN = chebyshev.chebvander(_BETWEEN, _ORDER - 1) @ _TO_SERIES
_MANY, _MANY_WEIGHTS = legendre.leggauss(20)  # on one along which it changes much
_LITTLE = 4.0  # nats
_ACCURACY = 3e-9, 1e-10  # of a panel's series, in nats, and in shares of its depth below the row's top
_FINEST = 64  # parts of a panel
_STEEP = 30.0  # nats, on a step
_DROP = 30.0  # nats after which an integrand is left out
_THIN = 0.02  # nats of T, and of y, below which a layer is thin
_MIDDLES = 0.5 + 0.5 * legendre.leggauss(2)[0]
_HALVINGS = 40  # of an interval, to draw a level from it
_CHUNK = 60_000  # (row, layer) pairs done at once, so that temporaries stay in the cache


class LevelLaw(Protocol):
    """What the data of some bases say of their levels: log h of each row, and where to look."""

    owner: Ints  # (rows,) the base of each row, in order; the likelihood of a base is the sum of its rows
    times: Ints  # (bases,) how many bases have these data
    peak: Floats  # (rows,) where log h is largest on [0, ∞), roughly
    width: Floats  # (rows,) on which scale log h changes there

    def log_density(self, rows: Ints, t: Floats) -> Floats:
        """log h of the rows (m,) at levels t (m, k) ≥ 0."""
        ...


@dataclass(frozen=True)
class _Half:
    """One side of every row; arrays (rows,) but for the coefficients."""

    sign: float
    start: Ints  # of a row's cells among all cells
    last: Ints  # the last of them
    length: Floats  # of a cell in y
    panel: Ints  # (all cells,) the panel that a cell is part of
    first: Ints  # (panels,) the first cell of a panel, counted in its row
    cells: Ints  # (panels,) how many there are in it
    top: Floats  # T(0), −∞ where the side is empty
    coefficients: Floats  # (panels · _STEPS, 6), of powers of the share of a step


class LevelTables:
    """The tables of a law for levels up to `reach`; beyond it there is nothing."""

    @underflow_is_zero
    def __init__(self, law: LevelLaw, reach: float) -> None:
        self._law, self._reach = law, reach
        self._width = np.asarray(law.width, float)
        self._peak = np.where(law.peak > 1e-6 * self._width, np.minimum(law.peak, reach), 0.0)
        self._left = self._half(-1.0, np.arcsinh(self._peak / self._width))
        self._right = self._half(1.0, np.arcsinh((reach - self._peak) / self._width))
        self._first = np.flatnonzero(np.diff(law.owner, prepend=-1))  # row of each base

    def __len__(self) -> int:
        """How many bases."""
        return int(self._law.times.sum())

    # -- making ---------------------------------------------------------------------------------------------------

    def _half(self, sign: float, end: Floats) -> _Half:
        """The side up to y = end (rows,)."""
        count = np.ceil(end / _PANEL - 1e-9).astype(int)  # panels of a row before some are halved
        row, cell, depth, psi = self._panels(sign, end, count)
        # Cells are the shortest panels that there may be, _FINEST in a panel.
        starts = np.cumsum(count * _FINEST) - count * _FINEST
        length = end / np.maximum(count * _FINEST, 1)
        half = 0.5 * length[row] * (_FINEST >> depth)
        panel_of = np.repeat(np.arange(len(row)), _FINEST >> depth)
        panels = np.bincount(row, minlength=len(end))
        which = np.arange(len(row)) - (np.cumsum(panels) - panels)[row]
        at, slope = psi @ _AT_KNOTS.T, psi @ _SLOPES_AT_KNOTS.T / half[:, None]  # (panels, _STEPS + 1)
        bend = psi @ _BENDS_AT_KNOTS.T / half[:, None] ** 2
        log_steps = self._log_integrals(psi, at, slope, bend, half)
        # Tails: from the far end of each row inwards, with rows padded to one length.
        most = int(panels.max(initial=0)) * _STEPS
        padded = np.full((len(end), most + 1), -np.inf)
        place = (row * (most + 1) + which * _STEPS)[:, None] + np.arange(_STEPS)
        padded.flat[place] = log_steps
        some = panels > 0
        last = np.cumsum(panels)[some] - 1
        beyond = at[last, -1] + _log_tail(slope[last, -1], bend[last, -1])
        padded[some, panels[some] * _STEPS] = beyond
        tails = np.logaddexp.accumulate(padded[:, ::-1], axis=1)[:, ::-1]
        top = np.where(some, tails[:, 0], -np.inf)
        below = tails.flat[place]  # T at the near end of each step
        above = np.concatenate([below[:, 1:], tails.flat[place[:, -1:] + 1]], axis=1)
        step = 2.0 * half[:, None] / _STEPS
        coefficients = _quintic(
            (below, *_derivatives(below, at[:, :-1], slope[:, :-1], bend[:, :-1], step)),
            (above, *_derivatives(above, at[:, 1:], slope[:, 1:], bend[:, 1:], step)),
        )
        last_cell = starts + count * _FINEST - 1
        return _Half(
            sign, starts, last_cell, length, panel_of, cell, _FINEST >> depth, top, coefficients.reshape(-1, 6)
        )

    def _panels(self, sign: float, end: Floats, count: Ints) -> tuple[Ints, Ints, Ints, Floats]:
        """Of each panel, in order, the row, the first cell, how often it was halved, and ψ at its nodes.

        A panel is halved until its series has decayed.
        """
        row = np.repeat(np.arange(len(end)), count)
        cell = _FINEST * (np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count))
        depth = np.zeros(len(row), int)
        length = end / np.maximum(count * _FINEST, 1)
        done: list[tuple[Ints, Ints, Ints, Floats]] = []
        top = np.full(len(end), -np.inf)
        while len(row):
            half = 0.5 * length[row] * (_FINEST >> depth)
            y = (cell * length[row] + half)[:, None] + half[:, None] * _X
            t = np.clip(self._peak[row, None] + sign * self._width[row, None] * np.sinh(y), 0.0, self._reach)
            psi = self._law.log_density(row, t) + np.log(self._width[row, None] * np.cosh(y))
            highest = psi.max(axis=1)
            np.maximum.at(top, row, highest)
            off = np.abs(psi @ _TO_SERIES[-2:].T).sum(axis=1)
            coarse = off > _ACCURACY[0] + _ACCURACY[1] * (top[row] - highest)
            finest = coarse & (_FINEST >> depth == 1)
            # What is finer still lies deep in a tail, where a rough value will do as long as it does not swing.
            psi[finest] = psi[finest] @ _SMOOTH.T
            coarse &= ~finest
            done.append((row[~coarse], cell[~coarse], depth[~coarse], psi[~coarse]))
            row, depth = np.repeat(row[coarse], 2), np.repeat(depth[coarse] + 1, 2)
            cell = np.repeat(cell[coarse], 2)
            cell[1::2] += _FINEST >> depth[1::2]
        rows, cells, depths, values = (
            (np.concatenate(parts) for parts in zip(*done, strict=True))
            if done
            else (row, cell, depth, np.empty((0, _ORDER)))
        )
        order = np.lexsort((cells, rows))
        return rows[order], cells[order], depths[order], values[order]

    @staticmethod
    def _log_integrals(psi: Floats, at: Floats, slope: Floats, bend: Floats, half: Floats) -> Floats:
        """log ∫ e^ψ over each step, (panels, _STEPS)."""
        step = 2.0 * half[:, None] / _STEPS
        top = np.maximum(at[:, :-1], at[:, 1:])
        between = (psi @ _AT_BETWEEN.T).reshape(*top.shape, len(_FEW))
        top = np.maximum(top, between.max(axis=-1))
        with np.errstate(divide="ignore"):  # on steep steps, which follow
            found = top + np.log(np.exp(between - top[..., None]) @ (0.5 * _FEW_WEIGHTS)) + np.log(step)
        steep = np.maximum(np.abs(slope[:, :-1]), np.abs(slope[:, 1:])) * step > _LITTLE
        panel, which = np.nonzero(steep)
        if len(panel):
            # From the end where the integrand is larger, as far as it matters.
            forward = at[panel, which] >= at[panel, which + 1]
            steepest = np.where(forward, -slope[panel, which], slope[panel, which + 1])
            share = np.minimum(1.0, _DROP / np.maximum(steepest * step[panel, 0], 1e-300))
            away = share[:, None] * (0.5 + 0.5 * _MANY)
            at_share = np.where(forward[:, None], away, 1.0 - away)
            ends = [
                (at[panel, j], slope[panel, j] * step[panel, 0], bend[panel, j] * step[panel, 0] ** 2)
                for j in (which, which + 1)
            ]
            values = _polynomial(_quintic(*ends), at_share.T).T
            highest = values.max(axis=1)
            total = np.exp(values - highest[:, None]) @ (0.5 * _MANY_WEIGHTS)
            found[panel, which] = highest + np.log(total) + np.log(share * step[panel, 0])
        return found

    # -- asking ---------------------------------------------------------------------------------------------------

    @underflow_is_zero
    def log_masses(self, outer: Floats, strength: Floats) -> Floats:
        """log of the integral over the layer [sθ, θ], summed over bases; θ (r,), s (r, c) -> (r, c)."""
        return self._total(outer, strength)

    @underflow_is_zero
    def log_masses_by_base(self, outer: Floats, strength: Floats) -> Floats:
        """The same of each distinct base, (bases, r, c)."""
        shape = strength.shape
        outer = np.broadcast_to(outer[:, None], shape).ravel()
        found = self._by_row(np.arange(len(self._peak)), outer, strength.ravel())
        return np.asarray(np.logaddexp.reduceat(found, self._first, axis=0)).reshape(-1, *shape)

    @underflow_is_zero
    def log_between(self, inner: Floats, gap: Floats) -> Floats:
        """log of the integral from inner to inner + gap of the first row, all (m,)."""
        return self._masses(np.zeros(len(inner), int), inner, gap, np.minimum(inner + gap, self._reach))

    @underflow_is_zero
    def log_densities(self, t: Floats) -> Floats:
        """log h of each distinct base at t (m,): (bases, m)."""
        rows = np.arange(len(self._peak))
        found = self._log_h(np.repeat(rows, len(t)), np.tile(t, len(rows))).reshape(len(rows), -1)
        return np.asarray(np.logaddexp.reduceat(found, self._first, axis=0))

    @property
    def times(self) -> Ints:
        """How many bases each distinct one stands for."""
        return self._law.times

    @underflow_is_zero
    def draw(self, theta: Floats, strength: Floats, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """A level of each distinct base, h restricted to [sθ, θ], and the row it comes from; θ, s (m,) -> (m, bases).

        The row by its share, the level by halving the interval in which its distribution function is a random number.
        """
        every = np.arange(len(self._peak))
        log_mass = self._by_row(every, theta, strength)  # (rows, m)
        race = log_mass + rng.gumbel(size=log_mass.shape)
        starts = np.append(self._first, len(every))
        row = np.stack([i + race[i:j].argmax(axis=0) for i, j in pairwise(starts)], axis=1)  # (m, bases)
        m, bases = row.shape
        at = row.ravel()
        outer, s = np.repeat(theta, bases), np.repeat(strength, bases)
        low, high = outer * s, outer.copy()
        with np.errstate(divide="ignore"):
            goal = log_mass[at, np.repeat(np.arange(m), bases)] + np.log(rng.random(m * bases))
        inner = low.copy()
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            above = self._masses(at, inner, middle - inner, middle) > goal
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return (0.5 * (low + high)).reshape(m, bases), row

    def _total(self, outer: Floats, strength: Floats) -> Floats:
        shape = strength.shape
        theta, s = np.broadcast_to(outer[:, None], shape).ravel(), strength.ravel()
        total = np.zeros(len(theta))
        bases = max(1, _CHUNK // max(1, len(theta)))
        ends = np.append(self._first, len(self._peak))
        for i in range(0, len(self._first), bases):
            j = min(i + bases, len(self._first))
            found = self._by_row(np.arange(ends[i], ends[j]), theta, s)
            by_base = np.logaddexp.reduceat(found, self._first[i:j] - ends[i], axis=0)
            total += self._law.times[i:j] @ by_base
        return total.reshape(shape)

    def _by_row(self, rows: Ints, theta: Floats, s: Floats) -> Floats:
        """log of the mass of the layer of each row; θ (m,), s (m,) -> (rows, m)."""
        inner, outer = np.minimum(theta * s, self._reach), np.minimum(theta, self._reach)
        gap = np.where(outer < theta, outer - inner, theta * (1.0 - s))
        count = len(rows)
        inner, gap, outer = (np.tile(v, count) for v in (inner, gap, outer))
        return self._masses(np.repeat(rows, len(theta)), inner, gap, outer).reshape(count, -1)

    def _masses(self, row: Ints, inner: Floats, gap: Floats, outer: Floats) -> Floats:
        """log ∫ h from inner to outer = inner + gap, of a row each, all (m,)."""
        peak, width = self._peak[row], self._width[row]
        high, low = (outer - peak) / width, (inner - peak) / width
        found = np.full(len(row), -np.inf)
        thin = gap < _THIN * width * np.hypot(1.0, np.minimum(np.abs(low), np.abs(high)))
        for half in (self._left, self._right):
            left = half.sign < 0
            here = np.flatnonzero(low < 0 if left else high > 0)
            if not len(here):
                continue
            near, far = (np.minimum(high[here], 0.0), low[here]) if left else (np.maximum(low[here], 0.0), high[here])
            tails = [self._tail(half, row[here], np.arcsinh(np.abs(x))) for x in (near, far)]
            thin[here] &= tails[0] - tails[1] < _THIN
            found[here] = np.logaddexp(found[here], _difference(*tails))
        if thin.any():
            at = inner[thin] + gap[thin] * _MIDDLES[:, None]
            h = np.logaddexp.reduce([self._log_h(row[thin], t) for t in at], axis=0) - np.log(2.0)
            with np.errstate(divide="ignore"):
                found[thin] = h + np.log(gap[thin])
        return found

    def _log_h(self, row: Ints, t: Floats) -> Floats:
        """log h = T + log|T′| − log(dt/dy) of a row at t, both (m,)."""
        x = (np.minimum(t, self._reach) - self._peak[row]) / self._width[row]
        found = np.empty(len(row))
        right = (x >= 0) & (self._right.top[row] > -np.inf)  # of which there is none where the peak is at the reach
        for half, here in ((self._left, ~right), (self._right, right)):
            if here.any():
                step, share, length = self._place(half, row[here], np.arcsinh(np.abs(x[here])))
                c = half.coefficients[step]
                tail, slope = _polynomial(c, share), _polynomial(c[:, 1:] * np.arange(1.0, 6.0), share)
                with np.errstate(divide="ignore"):
                    rate = np.log(np.maximum(-slope / length, 0.0))
                found[here] = tail + rate
        return np.asarray(found - np.log(self._width[row] * np.hypot(1.0, x)))

    def _tail(self, half: _Half, row: Ints, y: Floats) -> Floats:
        """T at y ≥ 0 of rows whose half is not empty, all (m,)."""
        step, share, _ = self._place(half, row, y)
        return _polynomial(half.coefficients[step], share)

    def _place(self, half: _Half, row: Ints, y: Floats) -> tuple[Ints, Floats, Floats]:
        """The step that y falls on, its share of it, and the step's length in y."""
        cell = y / half.length[row]
        start = half.start[row]
        panel = half.panel[np.minimum(start + cell.astype(int), half.last[row])]
        cells = half.cells[panel]
        at = (cell - half.first[panel]) * (_STEPS / cells)
        step = np.minimum(at.astype(int), _STEPS - 1)
        return panel * _STEPS + step, np.minimum(at - step, 1.0), half.length[row] * cells / _STEPS


def _log_tail(slope: Floats, bend: Floats) -> Floats:
    """log of what e^ψ would have beyond the end if ψ went on as a parabola there, as far as that falls."""
    fall, bow = np.maximum(-slope, 1.0), np.maximum(-bend, 1e-3)
    scale = np.sqrt(2.0 * bow)
    return np.asarray(np.log(0.5 * np.sqrt(np.pi) * special.erfcx(fall / scale)) + np.log(2.0 / scale))


def _derivatives(tail: Floats, psi: Floats, slope: Floats, bend: Floats, step: Floats) -> tuple[Floats, Floats]:
    """T′ and T″, times the step and its square. Where ψ falls steeply T″ is that of ψ, as ψ′ − T′ has no digits."""
    steepest = 10.0 * (np.abs(slope) + 1.0 / step)  # beyond what a smooth tail can have
    first = -np.exp(np.minimum(psi - tail, np.log(steepest)))
    second = np.where(-first * step > _STEEP, bend, first * (slope - first))
    return first * step, second * step**2


def _quintic(near: tuple[Floats, Floats, Floats], far: tuple[Floats, Floats, Floats]) -> Floats:
    """Coefficients (..., 6) on [0, 1] through value, slope and curvature at both ends."""
    f0, d0, c0 = near
    f1, d1, c1 = far
    rise = f1 - f0 - d0 - 0.5 * c0
    tilt = d1 - d0 - c0
    bend = c1 - c0
    return np.stack(
        [
            f0,
            d0,
            0.5 * c0,
            10 * rise - 4 * tilt + 0.5 * bend,
            -15 * rise + 7 * tilt - bend,
            6 * rise - 3 * tilt + 0.5 * bend,
        ],
        axis=-1,
    )


def _polynomial(coefficients: Floats, x: Floats) -> Floats:
    """The values at x (..., m) of polynomials with the coefficients (m, k) of powers."""
    found = coefficients[:, -1]
    for k in range(coefficients.shape[1] - 2, -1, -1):
        found = found * x + coefficients[:, k]
    return np.asarray(found)


def _difference(near: Floats, far: Floats) -> Floats:
    """log(e^near − e^far), near ≥ far."""
    with np.errstate(divide="ignore"):
        return np.asarray(near + np.log(-np.expm1(np.minimum(far - near, 0.0))))
