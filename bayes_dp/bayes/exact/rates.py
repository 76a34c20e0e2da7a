"""Draws of the latent error rates of every base given the counts and draws of (ε, δ, s).

Given (ε,δ,s), (α,β) follows Beta(X+1, N0-X+1) × Beta(Y+1, N1-Y+1) restricted to the layer R_s(ε,δ). Rejection settles
almost all of them, from proposals of two kinds in turn: from the law itself, of which a thick layer holds much; and,
for a thin one, α from its law with a β uniform over the layer above it, which is kept with the probability

    D(α) p(β) / (max D · max p),    D(α) the length of the layer above α, p the density of Beta(Y+1, N1-Y+1).

Where both are in vain, as the law is far from the layer, the density is put on a grid over the four quadrilaterals of
the layer that is zoomed to where the mass is.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayes_dp.beta import log_density, log_peak
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.region import in_layer, layer_map
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.tradeoff import approx_dp

__all__ = ["draw_rates"]


_TRIES = 12  # rounds of rejection, the k-th with 2^k proposals of each kind for a pair
_TAIL = 1e-13  # of the law of α on either side, in which D may exceed its bound
_GRID = 32


def draw_rates(
    counts: ErrorCounts, epsilon: Floats, delta: Floats, strength: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """α and β, each (size, n), for ε, δ and s of shape (size,)."""
    shape = (len(epsilon), len(counts))
    columns = counts.false_positives, counts.negatives, counts.false_negatives, counts.positives
    data = np.array([np.broadcast_to(column, shape).ravel() for column in columns])
    layer = np.array([np.repeat(value, shape[1]) for value in (epsilon, delta, strength)])
    x, n0 = data[:2, : shape[1]]
    ends = np.tile(special.betaincinv(x + 1.0, n0 - x + 1.0, [[_TAIL], [1.0 - _TAIL]]), shape[0])
    rates = np.empty((2, data.shape[1]))
    open_ = np.arange(data.shape[1])
    for proposals in (2**k for k in range(_TRIES)):
        for propose in (_from_the_law, _over_the_layer):
            if not len(open_):
                break
            for part in np.array_split(open_, max(1, len(open_) * proposals // 1_000_000)):
                points, kept = propose(proposals, data[:, part], layer[:, part], ends[:, part], rng)
                settled = np.nonzero(kept.any(axis=0))[0]
                rates[:, part[settled]] = points[:, kept.argmax(axis=0)[settled], settled]
                open_ = np.setdiff1d(open_, part[settled], assume_unique=True)
    for i in open_:
        rates[:, i] = _draw_from_grid(*map(float, (*data[:, i], *layer[:, i])), rng=rng)
    alpha, beta = rates.reshape(2, *shape)
    return alpha, beta


def _from_the_law(size: int, data: Floats, layer: Floats, _: Floats, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Points (2, size, m) from the two Beta laws, and which of them are in the layer."""
    x, n0, y, n1 = data
    shape = (size, len(x))
    points = np.stack([rng.beta(x + 1.0, n0 - x + 1.0, shape), rng.beta(y + 1.0, n1 - y + 1.0, shape)])
    return points, in_layer(*points, *layer)


def _over_the_layer(
    size: int, data: Floats, layer: Floats, ends: Floats, rng: np.random.Generator
) -> tuple[Floats, Bools]:
    """Points (2, size, m) of the layer, α from its Beta law with these ends (2, m), and which of them are kept."""
    x, n0, y, n1 = data
    epsilon, delta, s = layer
    alpha = rng.beta(x + 1.0, n0 - x + 1.0, (size, len(x)))
    outer, inner = (epsilon, delta), (s * epsilon, s * delta)

    def lengths(a: Floats) -> tuple[Floats, Floats]:
        """Of the layer's lower and of its upper part."""
        below, above = (approx_dp(side, *inner) - approx_dp(side, *outer) for side in (a, 1.0 - a))
        return below, above

    kinks = np.stack([k for e, d in (outer, inner) for k in ((1 - d) * special.expit(-e), 1 - d)])
    corners = np.clip(np.concatenate([ends, kinks, 1 - kinks]), *ends)  # D is linear between these
    longest = np.add(*lengths(corners)).max(axis=0)
    below, above = lengths(alpha)
    at = rng.random(alpha.shape) * (below + above)
    beta = np.where(at < below, approx_dp(alpha, *outer) + at, 1.0 - approx_dp(1.0 - alpha, *outer) - (at - below))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_kept = np.log((below + above) / longest) + log_density(y, n1, np.zeros(()), beta, 1.0 - beta)
        kept = np.log(rng.random(alpha.shape)) < log_kept
    points = np.stack([alpha, beta])
    return points, kept & in_layer(*points, *layer)


def _draw_from_grid(
    x: float,
    n0: float,
    y: float,
    n1: float,
    epsilon: float,
    delta: float,
    strength: float,
    *,
    rng: np.random.Generator,
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
