"""The posterior of the level of every base.

Given (θ, s) the level of base i has a density in proportion to h_i on [sθ, θ], so that the data of all bases give it

    p_i(t) = h_i(t) Σ_k w_k 1[s_k θ_k ≤ t ≤ θ_k] / M_i(θ_k, s_k),   M_i = ∫ h_i over the layer,

with the nodes (θ_k, s_k) of the posterior's quadrature and their weights w_k. There are no draws: bases with the same
data get the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_dp.bayes.families.tables import LevelLaw
from bayes_dp.bayes.levels.fit import Fit
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats

__all__ = ["LevelMarginals", "above_alone", "all_above"]

_LEFT_OUT = 1e-9  # of the posterior, in nodes that weigh least
_SHARE = 0.01  # of the posterior that a cell of nodes may hold where s is known, as layers may be thin there
_CELLS = 128
_DROP = 25.0  # nats below the heaviest cell at which one is left out
_ZOOMS = 12
_FAR = 1e9  # a level beyond all


@dataclass(frozen=True)
class LevelMarginals:
    """Distribution functions of the levels of n bases: P(t_i ≤ edge), (n, cells + 1), at edges of the same shape."""

    edges: Floats
    below: Floats

    @classmethod
    @underflow_is_zero
    def of(cls, fit: Fit, law: LevelLaw) -> LevelMarginals:
        """Those of the distinct bases of a law, from midpoints of cells that are zoomed to where the density is."""
        theta, strength, weight = _heaviest(fit)
        log_mass = fit.tables.log_masses_by_base(theta, strength[:, None])[..., 0]
        n = len(log_mass)
        with np.errstate(divide="ignore"):
            log_rate = np.where(log_mass > -np.inf, np.log(weight) - log_mass, -np.inf)
        rate = np.exp(log_rate - log_rate.max(axis=1, keepdims=True))
        inner, first = theta * strength, np.flatnonzero(np.diff(law.owner, prepend=-1))
        rows = np.arange(len(law.owner))
        low, high = np.full(n, inner.min()), np.full(n, theta.max())
        for _ in range(_ZOOMS):
            edges = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _CELLS + 1)
            middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
            log_h = np.logaddexp.reduceat(law.log_density(rows, middle[law.owner]), first, axis=0)
            with np.errstate(divide="ignore"):
                log_share = np.log([_covered(rate[i], inner, theta, edges[i]) for i in range(n)])
            found = log_share + log_h
            found -= found.max(axis=1, keepdims=True)
            keep = found > -_DROP
            start = np.maximum(keep.argmax(axis=1) - 1, 0)
            stop = np.minimum(_CELLS + 1 - keep[:, ::-1].argmax(axis=1), _CELLS)
            if (stop - start > 0.5 * _CELLS).all():
                break
            every = np.arange(n)
            low, high = edges[every, start], edges[every, stop]
        below = np.concatenate([np.zeros((n, 1)), np.cumsum(np.exp(found), axis=1)], axis=1)
        return cls(edges, below / below[:, -1:])

    def quantile(self, probability: float) -> Floats:
        """(n,)."""
        return np.array([np.interp(probability, *row) for row in zip(self.below, self.edges, strict=True)])

    def above(self, level: float) -> Floats:
        """P(t_i > level), (n,)."""
        return 1.0 - np.array([np.interp(level, *row) for row in zip(self.edges, self.below, strict=True)])


@underflow_is_zero
def above_alone(fit: Fit, level: float) -> Floats:
    """P(t_i > level) given the data of base i alone, (distinct bases,), if all pairs of rates are equally likely.

    The share of h_i beyond the level: no other base, no θ and no s have a part in it.
    """
    log_mass = fit.tables.log_masses_by_base(np.array([_FAR]), np.array([[level / _FAR, 0.0]]))[:, 0]
    return np.minimum(np.exp(log_mass[:, 0] - log_mass[:, 1]), 1.0)


def all_above(fit: Fit, level: float) -> float:
    """P(sθ > level): that the weakest level that the model allows is above this one, whatever the data of a base."""
    theta, strength, weight = _heaviest(fit)
    return float(weight[theta * strength > level].sum() / weight.sum())


def _heaviest(fit: Fit) -> tuple[Floats, Floats, Floats]:
    """θ, s and the weight of the nodes that make up nearly all of the posterior."""
    if fit.strength == "free":
        theta, strength, weight = fit.nodes
    else:
        values, weight = fit.grid.finer(_SHARE)
        (at,) = values.values()
        theta, strength = fit.theta(at), np.full(len(at), float(fit.strength))
    order = np.argsort(-weight)
    whole = np.cumsum(weight[order])
    kept = order[: np.searchsorted(whole, (1.0 - _LEFT_OUT) * whole[-1]) + 1]
    return theta[kept], strength[kept], weight[kept] / whole[-1]


def _covered(rate: Floats, inner: Floats, outer: Floats, edges: Floats) -> Floats:
    """The integral of Σ_k rate_k 1[inner_k ≤ t ≤ outer_k] over each cell between edges, (cells,).

    The rates differ by orders of magnitude, so that sums of them are never subtracted.
    """
    cells = len(edges) - 1
    here = (outer > edges[0]) & (inner < edges[-1])
    rate, inner, outer = rate[here], np.maximum(inner[here], edges[0]), np.minimum(outer[here], edges[-1])
    first = np.clip(np.searchsorted(edges, inner, side="right") - 1, 0, cells - 1)
    last = np.clip(np.searchsorted(edges, outer, side="left") - 1, first, cells - 1)
    total = np.zeros(cells)
    total += np.bincount(first, rate * (np.minimum(outer, edges[first + 1]) - inner), cells)
    total += np.bincount(last, np.where(last > first, rate * (outer - edges[last]), 0.0), cells)
    # Cells inside of a layer: j with first < j < last.
    by_ends = np.bincount(first * cells + last, rate, cells**2).reshape(cells, cells)
    started = np.cumsum(by_ends, axis=0)
    whole = np.cumsum(started[:, ::-1], axis=1)[:, ::-1]
    total[1:-1] += np.diagonal(whole, 2) * np.diff(edges)[1:-1]
    return np.asarray(total)
