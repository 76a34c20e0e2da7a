"""The levels of records whose law is not given: it is found from all of them.

The rates of a record are uniform over a layer of its own, what the member θ_j allows and θ_i does not, with two edges
of a list 0 = θ_0 < … < θ_K. The shares w of the layers (i, j) in the population have a Dirichlet prior, of which every
outer edge has as much as the others and every layer with that edge too: a flexible law in which most records may show
nothing and a few much (a mixture of uniform laws, as in Stephens 2017, Biostatistics 18, 275-294). With M_r(i, j), the
probability of the data of record r in a layer, and the draws of w,

    P(layer of r | all data) = E[w_ij M_r(i, j) / Σ w M_r],

and the level of r has the density h_r on that layer. The draws of w given all data are those of Diebolt and Robert
(1994, Journal of the Royal Statistical Society B 56, 363-375): a layer for every record given w, and w given the
layers. Records with the same data get the same answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_dp.bayes.families.tables import LevelLaw
from bayes_dp.bayes.levels.fit import Fit
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["Population", "above_alone"]

_EDGES = 24
_FINEST = 16.0  # the least edge is so many times smaller than what is looked at
_BEYOND = 2.0  # the last edge is so many times larger than the largest level, and than the limit
_CONCENTRATION = 1.0  # of the prior of w: that of one record
_DRAWS, _FEWEST, _WORK = 1000, 200, 200_000  # draws of w; fewer for more distinct records than _WORK / _DRAWS
_WARM_UP = 100  # draws before those
_SEED = 11  # the same data get the same answer
_LEAST = 1e-300
_CELLS = 128
_DROP = 25.0  # nats below the heaviest cell at which one is left out
_ZOOMS = 12
_FAR = 1e9  # a level beyond all


@dataclass(frozen=True)
class Population:
    """The posterior of the level of every distinct record, n of them."""

    law: LevelLaw
    edges: Floats  # (K + 1,) of the layers, from 0
    mass: Floats  # (n, K) ∝ ∫ h between neighbouring edges
    rate: Floats  # (n, K): the density of a level is rate · h, up to a factor for each record

    @classmethod
    @underflow_is_zero
    def of(cls, fit: Fit, law: LevelLaw, limit: float) -> Population:
        """That of the records of a law; `limit` becomes an edge."""
        edges = _edges(law.peak, limit, fit.family.farthest)
        inner, outer = edges[:-1], edges[1:]
        log_mass = fit.tables.log_masses_by_base(outer, (inner / outer)[:, None])[..., 0]
        mass = np.exp(log_mass - log_mass.max(axis=1, keepdims=True))
        area = np.exp(fit.family.log_layer(inner, outer - inner))
        first, last = np.triu_indices(len(area))  # of the cells of a layer
        covers = (first[:, None] <= np.arange(len(area))) & (np.arange(len(area)) <= last[:, None])  # (layers, K)
        prior = 1.0 / (last + 1.0) / len(area)
        density = mass @ covers.T / (covers @ area)  # of the data, ∝ M (n, layers)
        share = _shares(density, law.times, _CONCENTRATION * prior)
        return cls(law, edges, mass, share / np.maximum(mass @ covers.T, _LEAST) @ covers)

    def above(self, limit: float) -> Floats:
        """P(t > limit), (n,), where the limit is an edge."""
        weight = self.mass * self.rate
        return 1.0 - weight[:, self.edges[:-1] < limit].sum(axis=1) / weight.sum(axis=1)

    @underflow_is_zero
    def quantile(self, probability: float) -> Floats:
        """(n,): the cell by its mass, and the place in it from smaller cells, zoomed to where h is."""
        every = np.arange(len(self.mass))
        first = np.flatnonzero(np.diff(self.law.owner, prepend=-1))
        rows = np.arange(len(self.law.owner))
        below = np.cumsum(self.mass * self.rate, axis=1)
        goal = probability * below[:, -1]
        cell = np.minimum((below <= goal[:, None]).sum(axis=1), len(self.edges) - 2)
        share = (goal - np.where(cell > 0, below[every, cell - 1], 0.0)) / (self.mass * self.rate)[every, cell]
        low, high = self.edges[cell], self.edges[cell + 1]
        for _ in range(_ZOOMS):
            edges = low[:, None] + (high - low)[:, None] * np.linspace(0.0, 1.0, _CELLS + 1)
            middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
            log_h = np.logaddexp.reduceat(self.law.log_density(rows, middle[self.law.owner]), first, axis=0)
            log_h -= log_h.max(axis=1, keepdims=True)
            keep = log_h > -_DROP
            start = np.maximum(keep.argmax(axis=1) - 1, 0)
            stop = np.minimum(_CELLS + 1 - keep[:, ::-1].argmax(axis=1), _CELLS)
            if (stop - start > 0.5 * _CELLS).all():
                break
            low, high = edges[every, start], edges[every, stop]
        inside = np.concatenate([np.zeros((len(every), 1)), np.cumsum(np.exp(log_h), axis=1)], axis=1)
        inside /= inside[:, -1:]
        return np.array([np.interp(part, *row) for part, *row in zip(share, inside, edges, strict=True)])


def _edges(peak: Floats, limit: float, farthest: float) -> Floats:
    """0, the limit, and others between them in equal steps of their logarithm."""
    looked_at = [level for level in (limit, float(np.median(peak))) if level > 0.0]
    least = min([*looked_at, 1.0]) / _FINEST
    most = min(_BEYOND * max(float(peak.max()), limit, 1.0), farthest)
    return np.unique([0.0, *np.geomspace(least, most, _EDGES), *([limit] if limit > 0 else [])])


def _shares(density: Floats, times: Ints, prior: Floats) -> Floats:
    """P(layer | all data) of every distinct record, (n, layers), of which there are `times` (n,)."""
    n, layers = density.shape
    density = density / density.max(axis=1, keepdims=True)
    rng = np.random.default_rng(_SEED)
    draws = int(np.clip(_WORK // n, _FEWEST, _DRAWS))
    w, total = prior / prior.sum(), np.zeros((n, layers))
    for draw in range(-_WARM_UP, draws):
        share = density * w
        share /= share.sum(axis=1, keepdims=True)
        if draw >= 0:
            total += share
        number = rng.multinomial(times, share).sum(axis=0)
        w = np.maximum(rng.standard_gamma(prior + number), _LEAST)
        w /= w.sum()
    return total / draws


@underflow_is_zero
def above_alone(fit: Fit, level: float) -> Floats:
    """P(t > level) given the data of a record alone, (distinct records,), if all pairs of rates are equally likely.

    The share of h beyond the level: no other record has a part in it.
    """
    log_mass = fit.tables.log_masses_by_base(np.array([_FAR]), np.array([[level / _FAR, 0.0]]))[:, 0]
    return np.minimum(np.exp(log_mass[:, 0] - log_mass[:, 1]), 1.0)
