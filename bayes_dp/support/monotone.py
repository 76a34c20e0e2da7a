"""Interpolation without overshoot: `scipy.interpolate` has it too, but takes a tenth of a second to import."""

from __future__ import annotations

import numpy as np

from bayes_dp.support.arrays import Floats, Ints

__all__ = ["Monotone"]


class Monotone:
    """Cubics between values (m, ...) at increasing places (m,), monotone wherever the values are.

    The slope at a place is the weighted harmonic mean of those beside it, and 0 where they differ in sign; at an end it
    is that of the parabola through three values, as far as it does not overshoot (Fritsch and Butland 1984). Beyond the
    ends the outermost cubics go on.
    """

    def __init__(self, places: Floats, values: Floats) -> None:
        self._x, self._y = np.asarray(places, float), np.asarray(values, float)
        self._h = np.diff(self._x).reshape(-1, *(1,) * (self._y.ndim - 1))
        self._rise = np.diff(self._y, axis=0) / self._h
        self._slope = self._slopes()

    def __call__(self, at: Floats) -> Floats:
        """The values at places (k, ...)."""
        t, i = self._within(at)
        a, b, rise = self._slope[i], self._slope[i + 1], self._rise[i]
        return np.asarray(self._y[i] + self._h[i] * t * (a + t * (3 * rise - 2 * a - b + t * (a + b - 2 * rise))))

    def slope(self, at: Floats) -> Floats:
        """The derivative at places (k, ...)."""
        t, i = self._within(at)
        a, b, rise = self._slope[i], self._slope[i + 1], self._rise[i]
        return np.asarray(a + t * (2 * (3 * rise - 2 * a - b) + 3 * t * (a + b - 2 * rise)))

    def _within(self, at: Floats) -> tuple[Floats, Ints]:
        """Shares of intervals, and which."""
        at = np.asarray(at, float)
        i = np.clip(np.searchsorted(self._x, at, side="right") - 1, 0, len(self._x) - 2)
        t = (at - self._x[i]) / np.diff(self._x)[i]
        return t.reshape(*t.shape, *(1,) * (self._y.ndim - 1)), i

    def _slopes(self) -> Floats:
        h, rise = self._h, self._rise
        if len(rise) == 1:
            return np.concatenate([rise, rise])
        before, after = rise[:-1], rise[1:]
        first, second = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            inner = (first + second) / (first / before + second / after)
        inner = np.where(np.sign(before) * np.sign(after) > 0, inner, 0.0)
        ends = (_end(h[0], h[1], rise[0], rise[1]), _end(h[-1], h[-2], rise[-1], rise[-2]))
        return np.concatenate([ends[0][None], inner, ends[1][None]])


def _end(h: Floats, next_h: Floats, rise: Floats, next_rise: Floats) -> Floats:
    found = ((2 * h + next_h) * rise - h * next_rise) / (h + next_h)
    steep = (np.sign(rise) != np.sign(next_rise)) & (np.abs(found) > 3 * np.abs(rise))
    return np.where(np.sign(found) != np.sign(rise), 0.0, np.where(steep, 3 * rise, found))
