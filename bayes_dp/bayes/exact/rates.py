"""Draws of the latent error rates of every base given the counts and draws of (ε, δ, s).

Given (ε,δ,s), (α,β) follows Beta(X+1, N0-X+1) × Beta(Y+1, N1-Y+1) restricted to the layer R_s(ε,δ). Plain rejection
settles almost all of them; where the layer holds too little of the law, the density is put on a grid over the
four quadrilaterals of the layer that is zoomed to where the mass is.
"""

from __future__ import annotations

import numpy as np

from bayes_dp.beta import log_density, log_peak
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.region import in_layer, layer_map
from bayes_dp.support.arrays import Floats

__all__ = ["draw_rates"]


_TRIES = 12  # rounds of rejection, the k-th with 2^k proposals a pair
_GRID = 32


def draw_rates(
    counts: ErrorCounts, epsilon: Floats, delta: Floats, strength: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """α and β, each (size, n), for ε, δ and s of shape (size,)."""
    shape = (len(epsilon), len(counts))
    x, n0 = (np.broadcast_to(v, shape).ravel() for v in (counts.false_positives, counts.negatives))
    y, n1 = (np.broadcast_to(v, shape).ravel() for v in (counts.false_negatives, counts.positives))
    eps, dlt, s = (np.repeat(v, shape[1]) for v in (epsilon, delta, strength))
    alpha, beta = np.empty(len(x)), np.empty(len(x))
    open_ = np.arange(len(x))
    for proposals in (2**k for k in range(_TRIES)):
        if not len(open_):
            break
        for part in np.array_split(open_, max(1, len(open_) * proposals // 1_000_000)):
            size = (proposals, len(part))
            a = rng.beta(x[part] + 1.0, n0[part] - x[part] + 1.0, size)
            b = rng.beta(y[part] + 1.0, n1[part] - y[part] + 1.0, size)
            inside = in_layer(a, b, eps[part], dlt[part], s[part])
            first = inside.argmax(axis=0)
            columns = np.nonzero(inside.any(axis=0))[0]
            alpha[part[columns]], beta[part[columns]] = a[first[columns], columns], b[first[columns], columns]
            open_ = np.setdiff1d(open_, part[columns], assume_unique=True)
    for i in open_:
        alpha[i], beta[i] = _draw_from_grid(x[i], n0[i], y[i], n1[i], eps[i], dlt[i], s[i], rng)
    return alpha.reshape(shape), beta.reshape(shape)


def _draw_from_grid(
    x: float, n0: float, y: float, n1: float, epsilon: float, delta: float, strength: float, rng: np.random.Generator
) -> tuple[float, float]:
    """One draw by a grid over (u,v) ∈ [0,1]² of each image of the quadrilateral, zoomed to where the density lives."""
    peaks = log_peak(np.array(float(x)), np.array(float(n0))), log_peak(np.array(float(y)), np.array(float(n1)))
    boxes = np.tile([[0.0, 1.0], [0.0, 1.0]], (4, 1, 1))
    centres = (np.arange(_GRID) + 0.5) / _GRID

    def place(image: int, u: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
        """α, β and the log Jacobian at positions in the image's box."""
        (u0, u1), (v0, v1) = boxes[image]
        a, b, log_jacobian = layer_map(u0 + (u1 - u0) * u, v0 + (v1 - v0) * v, epsilon, delta, strength)
        a, b = (a, b) if image % 2 == 0 else (b, a)
        a, b = (a, b) if image < 2 else (1.0 - a, 1.0 - b)
        return a, b, log_jacobian + np.log((u1 - u0) * (v1 - v0))

    def log_masses(image: int) -> Floats:
        a, b, log_jacobian = place(image, *np.meshgrid(centres, centres, indexing="ij"))
        density = log_density(np.array(x), np.array(n0), peaks[0], a, 1.0 - a)
        density = density + log_density(np.array(y), np.array(n1), peaks[1], b, 1.0 - b)
        return np.asarray(density + log_jacobian)

    for _ in range(40):
        before = boxes.copy()
        for image in range(4):
            value = log_masses(image)
            keep = value > value.max() - 20.0
            for axis in (0, 1):
                kept = np.nonzero(keep.any(axis=1 - axis))[0]
                low, step = before[image, axis, 0], (before[image, axis, 1] - before[image, axis, 0]) / _GRID
                boxes[image, axis] = (
                    max(before[image, axis, 0], low + (kept[0] - 1) * step),
                    min(before[image, axis, 1], low + (kept[-1] + 2) * step),
                )
        if (np.prod(np.diff(boxes), axis=1) > 0.5 * np.prod(np.diff(before), axis=1)).all():
            break
    log_mass = np.stack([log_masses(image) for image in range(4)])
    mass = np.exp(log_mass - log_mass.max()).ravel()
    image, cell = divmod(int(rng.choice(mass.size, p=mass / mass.sum())), _GRID * _GRID)
    u, v = (np.array(divmod(cell, _GRID)) + rng.random(2)) / _GRID
    a, b, _ = place(image, u, v)
    return float(a), float(b)
