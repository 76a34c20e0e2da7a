"""Where the mass of a density on the unit square lies, found by zooming a coarse grid and by climbing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayes_dp.bayes.grid.panels import DROP, RIM
from bayes_dp.support.arrays import Floats

__all__ = ["LogDensity", "Ridge", "bend", "locate"]

_ZOOM = 14  # points an axis of the zooming grid

LogDensity = Callable[[Floats, Floats], Floats]  # u (r,), v (r, c) -> log density (r, c)
Ridge = Callable[[float, float, Floats], Floats]  # u0, v0, u -> v


def locate(log_density: LogDensity, two: bool, ridge: Ridge | None) -> tuple[Floats, float]:
    """A box [axis, end] outside of which the density is negligible, and the largest log density found.

    A coarse grid and a climb find the peak. Then grids in u and w, the height of v above the ridge through the peak,
    shrink to the points within DROP of it: a ridge that is thin and long in (u,v) is neither in (u,w).
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
        bends = sum(bend(values, axis) for axis in range(values.ndim) if values.shape[axis] > 1)
        keep = values + np.minimum(0.5 * bends, 1.5 * DROP) > top - DROP
        place_of_peak = np.clip(((np.array([at[0], 0.0]) - box[:, 0]) / lengths * _ZOOM).astype(int), 0, _ZOOM - 1)
        keep[place_of_peak[0], place_of_peak[1] if two else 0] = True
        if two:  # a ridge thinner than a step shows between the rows only
            keep[evaluate(u, np.zeros(1))[:, 0] > top - DROP, place_of_peak[1]] = True
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
        held = along[log_density(along, np.full((len(along), 1), at[1]))[:, 0] > top - DROP]
        if len(held) and (held[0] < box[0, 0] or held[-1] > box[0, 1]):
            plain, _ = locate(log_density, True, None)
            box = np.stack([np.minimum(box[:, 0], plain[:, 0]), np.maximum(box[:, 1], plain[:, 1])], axis=1)
    return box, top


def _climb(
    log_density: LogDensity, at: Floats, value: float, steps: Floats, ridge: Ridge | None, two: bool
) -> tuple[Floats, float]:
    """Uphill from a grid point by grids of several sizes at once, since a peak far narrower than a step shows on none.

    The grids follow `ridge`. Where the smallest finds most, still smaller ones take over, and when these gain nothing
    the search starts again with large steps, until they gain nothing either.
    """
    offsets = np.linspace(-1.2, 1.2, 9)
    shrink = 0.35 ** np.arange(6)[:, None]
    scale = 1.0
    for _ in range(400):
        u = np.clip(at[0] + scale * steps[0] * shrink * offsets, RIM, 1.0 - RIM).ravel()
        v = np.zeros((len(u), 1))
        if two:
            middle = ridge(at[0], at[1], u) if ridge else np.full(len(u), at[1])
            across = np.repeat(scale * steps[1] * shrink * offsets, len(offsets), axis=0)
            v = np.clip(middle[:, None] + across, RIM, 1.0 - RIM)
        values = log_density(u, v)
        i, j = np.unravel_index(int(np.argmax(values)), values.shape)
        gain = float(values[i, j]) - value
        if gain > 0:
            at, value = np.array([u[i], v[i, j]]), float(values[i, j])
        if gain < 0.1:
            if scale == 1.0:
                break
            scale = 1.0
        elif i >= len(u) - len(offsets) and scale * steps.max() > 1e-9:
            scale *= float(shrink[-1, 0])
    return at, value


def bend(values: Floats, axis: int) -> Floats:
    """The size of the second difference along an axis; at the ends, that of the neighbour."""
    bend = np.abs(np.diff(np.maximum(values, -1e9), n=2, axis=axis))
    pad = [(0, 0)] * values.ndim
    pad[axis] = (1, 1)
    return np.pad(bend, pad, mode="edge")
