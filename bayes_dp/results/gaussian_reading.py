"""What the same error counts would mean if the noise of the training were Gaussian.

The layer R_s(ε, δ) has attacks come near the corner of R(ε, δ). Gaussian noise has no such corner: the rates that
attacks reach then say little of ε at a small δ, which lies in the tails. So this is the posterior of the parameter μ of
Gaussian differential privacy (Dong, Roth and Su 2022) in place of that of ε, under the same kind of model:

- An attack with rates (α, β) has the separation D = z(1−α) + z(1−β), z = Φ^{-1}, and μ-GDP allows |D| ≤ μ.
- The rates of the bases are uniform over the layer sμ ≤ |D| ≤ μ, which has the area erf(μ/2) − erf(sμ/2).
- s is uniform, and the largest advantage 2Φ(μ/2) − 1 has the prior that it has under (ε, 0) with ε ~ HalfNormal of
  variance 10, so that logit Φ(μ/2) is that ε.
- Under flat priors of its rates a base has α ~ Beta(X+1, N0−X+1) and β ~ Beta(Y+1, N1−Y+1). D is then taken to be
  normal with its mean and variance, so that the marginal likelihood is, up to a factor,
  P[sμ ≤ |D| ≤ μ] / (erf(μ/2) − erf(sμ/2)).

It is quick and not exact: the only use of its numbers is beside a posterior of (ε, δ).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["gaussian_mu", "separations"]


_QUANTILES = (np.arange(64) + 0.5) / 64  # at which a rate is known
_CELLS = 48  # of the grid, along μ and along sμ
_PASSES = 4  # of the grid, each on the part that had the probability before
_LEFT_OUT = 1e-4  # probability that may be on either side of that part
_FAR = 14.0  # μ, beyond which the prior leaves nothing


@underflow_is_zero
def gaussian_mu(counts: ErrorCounts, probability: ArrayLike) -> Floats:
    """Quantiles of the posterior of μ, of the shape of `probability`."""
    edges, cumulated = _posterior(counts)
    return np.asarray(np.interp(np.asarray(probability, dtype=np.float64), cumulated, edges))


@underflow_is_zero
def separations(counts: ErrorCounts) -> tuple[Floats, Floats]:
    """Mean and standard deviation of D of every base under flat priors of its rates, (n,) each.

    They are finite for all counts.
    """
    mean, variance = np.zeros((2, len(counts)))
    pairs = (counts.false_positives, counts.negatives), (counts.false_negatives, counts.positives)
    for errors, trials in pairs:
        z = -special.ndtri(special.betaincinv(errors[:, None] + 1.0, (trials - errors)[:, None] + 1.0, _QUANTILES))
        mean, variance = mean + z.mean(axis=1), variance + z.var(axis=1)
    return mean, np.sqrt(variance)


@dataclass(frozen=True)
class _Axis:
    """The cells of one axis of the grid."""

    edges: Floats  # (_CELLS + 1,)

    @property
    def middle(self) -> Floats:
        return (self.edges[1:] + self.edges[:-1]) / 2

    @property
    def width(self) -> Floats:
        return np.diff(self.edges)

    def kept(self, probability: Floats) -> _Axis:
        """The part that holds the probability, cut into as many cells."""
        inside = np.flatnonzero(np.minimum(np.cumsum(probability), np.cumsum(probability[::-1])[::-1]) > _LEFT_OUT)
        low, high = self.edges[max(inside[0] - 1, 0)], self.edges[min(inside[-1] + 2, _CELLS)]
        return _Axis(np.linspace(low, high, _CELLS + 1))


@lru_cache(maxsize=16)
def _posterior(counts: ErrorCounts) -> tuple[Floats, Floats]:
    """Edges of cells of μ, and the posterior probability below each."""
    mean, sd = separations(counts)
    reach = max(_FAR, 1.5 * float((np.abs(mean) + sd).max()))
    outer = inner = _Axis(reach * np.linspace(0, 1, _CELLS + 1) ** 3)
    for step in range(_PASSES):
        log_density = _log_density(outer.middle, inner.middle, np.abs(mean), sd)
        weight = np.exp(log_density - log_density.max()) * outer.width[:, None] * inner.width
        weight /= weight.sum()
        if step < _PASSES - 1:
            outer, inner = outer.kept(weight.sum(axis=1)), inner.kept(weight.sum(axis=0))
    return outer.edges, np.concatenate([[0.0], np.cumsum(weight.sum(axis=1))])


def _log_density(mu: Floats, inner: Floats, mean: Floats, sd: Floats) -> Floats:
    """The log posterior density of (μ, sμ), (μ, sμ) up to a constant; −∞ where sμ ≥ μ."""
    row, column = np.nonzero(inner < mu[:, None])
    area = special.erfc(inner / 2)[column] - special.erfc(mu / 2)[row]
    total = _log_prior(mu)[row] - len(mean) * np.log(area)
    for m, d in zip(mean, sd, strict=True):
        found = _log_between((mu - m) / d, (inner - m) / d, row, column)
        if m < 8 * d:
            found = np.logaddexp(found, _log_between((mu + m) / d, (inner + m) / d, row, column))
        total += found
    density = np.full((len(mu), len(inner)), -np.inf)
    density[row, column] = total
    return density


def _log_between(high: Floats, low: Floats, row: Ints, column: Ints) -> Floats:
    """log(Φ(high) − Φ(low)) for the chosen pairs, from the tail where both are small."""
    above = low[column] > 0
    big = np.where(above, special.log_ndtr(-low)[column], special.log_ndtr(high)[row])
    small = np.where(above, special.log_ndtr(-high)[row], special.log_ndtr(low)[column])
    with np.errstate(divide="ignore"):  # a layer too thin for floats
        return np.asarray(big + np.log(-np.expm1(small - big)))


def _log_prior(mu: Floats) -> Floats:
    """The log density of (μ, sμ), up to a constant."""
    above, below = special.log_ndtr(mu / 2), special.log_ndtr(-mu / 2)
    epsilon = above - below
    return np.asarray(-(epsilon**2) / 20 - mu**2 / 8 - above - below - np.log(mu))
