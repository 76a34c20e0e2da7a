"""The posterior of what an attack got out of one model, e = tε, in each group of guesses.

Given (ε,s) and a draw k of the propensities, the level t of a group has the density ∝ ℓ_k(tε, d) q′(t) on [s, 1], and
the draws have weights ∝ Π_g L_gk. So the chance of an e above x is a mean over the nodes of the posterior of (ε,s),

    P(e > x) = Σ_j w_j Σ_k ω_jk I_k(ε_j, max(s_j, x/ε_j)) / I_k(ε_j, s_j),    I_k(ε, a) = ∫_a^1 ℓ_k q′ dt.

It is computed at places around draws of e, and is interpolated between them by a cubic that rises everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import special

from bayes_dp.bayes.grid.axis import Coordinate
from bayes_dp.bayes.grid.grid import GridMarginal
from bayes_dp.bayes.grid.panels import NODES, TO_COEFFICIENTS, Piecewise
from bayes_dp.bayes.levels.shift import ShiftLikelihood
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Indices
from bayes_dp.support.monotone import Monotone

__all__ = ["draw_leaks", "draw_rows", "leak_marginals", "nodes_by_weight"]


_LEFT_OUT = 1e-7  # of the posterior, by the nodes that are left out
_ROUGH = 500  # draws of e that say where it lives
_PLACES = 80  # around these
_STEPS, _ZOOMS = 64, 4  # of the grid on which a level is drawn
_DEPTH = 30.0  # nats below the top, at which a density ends
_NUMBERS = 4_000_000  # at a time


def nodes_by_weight(weight: Floats, number: int) -> Indices:
    """So many nodes, each as often as its weight says, evenly spread, (number,)."""
    cumulative = np.cumsum(weight)
    return np.searchsorted(cumulative, cumulative[-1] * (np.arange(number) + 0.5) / number)


@underflow_is_zero
def leak_marginals(
    likelihood: ShiftLikelihood, epsilon: Floats, strength: Floats, weight: Floats
) -> list[GridMarginal]:
    """The posterior of e in each group, from nodes of that of ε and s < 1 and their weights, (m,) each."""
    order = np.argsort(-weight)
    kept = order[: int(np.searchsorted(np.cumsum(weight[order]), (1.0 - _LEFT_OUT) * weight.sum())) + 1]
    epsilon, strength, weight = (
        epsilon[kept],
        np.minimum(strength[kept], likelihood.last),
        weight[kept] / weight[kept].sum(),
    )
    rough = nodes_by_weight(weight, _ROUGH)
    draws = draw_leaks(likelihood, epsilon[rough], strength[rough], np.random.default_rng(0))
    high = float(epsilon.max())
    places = np.stack([_places(values, high) for values in draws.T])
    above = np.zeros(places.shape)
    for part in _by_epsilon(epsilon, places.shape[1] * likelihood.rows):
        above += _above(likelihood, epsilon[part], strength[part], weight[part], places)
    return [_marginal(x, 1.0 - values, high) for x, values in zip(places, above, strict=True)]


@underflow_is_zero
def draw_leaks(likelihood: ShiftLikelihood, epsilon: Floats, strength: Floats, rng: np.random.Generator) -> Floats:
    """e of each group for draws of ε and s, (m,) each: an array (m, groups)."""
    low = np.minimum(strength, likelihood.last)
    row = draw_rows(likelihood, epsilon, low, rng)[0] if likelihood.rows > 1 else np.zeros(len(epsilon), np.intp)
    found = np.empty((len(epsilon), len(likelihood.groups)))
    for g in range(found.shape[1]):
        for part in (slice(i, i + 1000) for i in range(0, len(epsilon), 1000)):
            uniform = rng.random(len(epsilon[part]))
            found[part, g] = _draw(likelihood, g, epsilon[part], low[part], row[part], uniform)
    return found


@underflow_is_zero
def draw_rows(
    likelihood: ShiftLikelihood, epsilon: Floats, strength: Floats, rng: np.random.Generator
) -> tuple[Indices, Floats]:
    """A draw of the propensities for each ε and s, (m,), and log L of each group with it, (m, groups).

    Of one group there is one row, the mean over the draws.
    """
    size, groups = len(epsilon), len(likelihood.groups)
    row, found = np.zeros(size, np.intp), np.empty((size, groups))
    uniform = rng.random(size) if likelihood.rows > 1 else np.zeros(size)
    step = max(1, _NUMBERS // (groups * likelihood.rows))
    for part in (slice(i, i + step) for i in range(0, size, step)):
        of_groups = likelihood.of_groups(epsilon[part], strength[part])
        share = np.cumsum(_softmax(of_groups.sum(axis=0)), axis=0)
        row[part] = (share < uniform[part]).sum(axis=0).clip(0, likelihood.rows - 1)
        found[part] = of_groups[:, row[part], np.arange(len(row[part]))].T
    return row, found


def _draw(
    likelihood: ShiftLikelihood, group: int, epsilon: Floats, low: Floats, row: Indices, uniform: Floats
) -> Floats:
    """tε with the level t ≥ low drawn by its density on a grid that closes in on where it is."""
    high, number = np.ones(len(low)), np.arange(len(low))
    for _ in range(_ZOOMS):
        t = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _STEPS)
        density = likelihood.log_density(group, np.repeat(epsilon, _STEPS), t.ravel())
        density = density.reshape(-1, *t.shape)[row, number]
        density -= density.max(axis=1, keepdims=True)
        held = density > -_DEPTH
        first, last = held.argmax(axis=1), _STEPS - 1 - held[:, ::-1].argmax(axis=1)
        low, high = t[number, np.maximum(first - 1, 0)], t[number, np.minimum(last + 1, _STEPS - 1)]
    mean = np.exp(density)
    mass = np.cumsum(0.5 * (mean[:, 1:] + mean[:, :-1]) * np.diff(t, axis=1), axis=1)
    target = uniform * mass[:, -1]
    bin_ = np.minimum((mass < target[:, None]).sum(axis=1), _STEPS - 2)
    before = np.where(bin_ > 0, mass[number, bin_ - 1], 0.0)
    share = (target - before) / np.maximum(mass[number, bin_] - before, 1e-300)
    return np.asarray((t[number, bin_] + share * (t[number, bin_ + 1] - t[number, bin_])) * epsilon)


def _places(draws: Floats, high: float) -> Floats:
    """Where the distribution function is computed: from 0 to `high`, mostly around the draws."""
    first, last = float(draws.min()), float(draws.max())
    reach = 0.5 * max(last - first, 1e-6 * high)
    first, last = max(0.0, first - reach), min(high, last + reach)
    below, above = np.linspace(0.0, first, 9)[:-1], np.linspace(last, high, 9)[1:]
    return np.concatenate([below, np.linspace(first, last, _PLACES), above])


def _by_epsilon(epsilon: Floats, numbers: int) -> Iterator[Indices]:
    """Nodes in parts that hold each ε wholly, with so many numbers a node."""
    order = np.argsort(epsilon, kind="stable")
    starts = np.flatnonzero(np.diff(epsilon[order], prepend=-1.0))
    ends, begin = np.append(starts[1:], len(order)), 0
    for end, after in zip(ends, np.append(ends[1:], len(order)), strict=True):
        if (after - begin) * numbers > _NUMBERS or end == len(order):
            yield order[begin:end]
            begin = int(end)


def _above(likelihood: ShiftLikelihood, epsilon: Floats, strength: Floats, weight: Floats, places: Floats) -> Floats:
    """The part of P(e > x) of some nodes (m,) at places x (groups, j): an array (groups, j)."""
    rays, ray = np.unique(epsilon, return_inverse=True)
    of_nodes = np.stack([likelihood.log_above(g, epsilon, strength) for g in range(len(places))], axis=1)
    share = _softmax(of_nodes.sum(axis=1))  # of the draws
    found = np.empty(places.shape)
    for g, x in enumerate(places):
        low = np.minimum(x / rays[:, None], 1.0 - 1e-12)
        of_places = likelihood.log_above(g, np.repeat(rays, len(x)), low.ravel()).reshape(-1, *low.shape)
        ratio = np.exp(np.minimum(of_places[:, ray] - of_nodes[:, g, :, None], 0.0))
        found[g] = np.einsum("km,m,kmj->j", share, weight, ratio * (x < epsilon[:, None]))
    return found


def _marginal(x: Floats, cdf: Floats, high: float) -> GridMarginal:
    """From values of the distribution function at rising places, from 0 to `high`."""
    coordinate = Coordinate(0.0, high)
    u = coordinate.inverse(x)
    u[0], u[-1] = 0.0, 1.0
    cdf = np.maximum.accumulate(np.clip(cdf, 0.0, 1.0))
    cdf[0], cdf[-1] = 0.0, 1.0
    apart = np.append(True, np.diff(u) > 1e-13)
    u, cdf = u[apart], cdf[apart]
    slope = Monotone(u, cdf).slope
    nodes = u[:-1, None] + np.diff(u)[:, None] * NODES
    density = Piecewise(u, np.maximum(slope(nodes), 0.0) @ TO_COEFFICIENTS.T, cdf)
    at, mass = density.nodes()
    value = coordinate.value(at)
    mean = float(mass @ value)
    return GridMarginal(coordinate, density, mean, math.sqrt(float(mass @ (value - mean) ** 2)))


def _softmax(values: Floats) -> Floats:
    """Shares that sum to one over the first axis."""
    return np.exp(values - special.logsumexp(values, axis=0))
