"""The likelihood of (ε, s) given guesses on one model, some of which are right because of a shift and not of a leak.

Given the features, guess i of a group is right with the chance d + (1 − d) σ(tε + ℓ_i), ℓ_i its lean (`leans.py`). The
group's level t lies in [s, 1], uniformly in area: with q(t) = 1 − (1 − tδ)/(1 + e^{tε}), the accuracy that (tε, tδ)
allows where there is no shift, its density is q′(t)/[q(1) − q(s)]. What δ reveals is among the guesses, so that
d = min(1, tδ m/r) for r guesses of m examples. The groups are independent, and all know the same propensities: if
these are given as K draws, so are the leans, and

    L(ε,s) = (1/K) Σ_k Π_g L_gk,    L_gk = ∫_s^1 ℓ_gk(tε, d) q′(t) dt / [q(1) − q(s)].

The integrals are sums of positive terms, from 1 downwards: the s of one ε cut [0, 1] into segments, each is integrated
by Gauss-Legendre panels that are halved until they add nothing more to the whole above their s, and log Σ is
accumulated from the top. Nothing is subtracted, so the logarithm is as exact far from the peak as near to it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.polynomial import legendre
from scipy import special

from bayes_dp.bayes.levels.leans import GroupOfGuesses
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Indices

__all__ = ["ShiftLikelihood"]


_TIGHT = 1.0 - 1e-12  # a strength beyond is the limit s → 1
_ORDER = 10
_X, _W = legendre.leggauss(_ORDER)
_SHARES, _WEIGHTS = 0.5 + 0.5 * _X, 0.5 * _W
# Values at the nodes -> the last two Legendre coefficients of the interpolant, (_ORDER, 2).
_LAST = (legendre.legvander(_X, _ORDER - 1) * _W[:, None])[:, -2:] * (np.arange(_ORDER - 2, _ORDER) + 0.5)
_RESOLVED = np.log(1e-5)  # share of the whole by which an interpolant may be off; the integral is off by its square
_DEEPEST = 200  # halvings
_FARTHEST = 1e10  # ε, beyond which sε has no digits left
_BLOCK = 1_000_000  # integrals at a time
_NEAR = 200_000  # numbers that stay in the processor's cache


class ShiftLikelihood:
    """L of guesses in groups that were made on so many examples; all groups have leans of the same K draws."""

    def __init__(self, groups: Sequence[GroupOfGuesses], delta: float, examples: int) -> None:
        self.groups, self.delta, self.draws = tuple(groups), delta, groups[0].draws
        made = sum(group.right + group.wrong for group in groups)
        self.rate = delta * examples / made  # d = min(1, t rate)
        self.rows = 1 if len(groups) == 1 else self.draws  # of one group the integral of the mean over the draws is all

    @property
    def last(self) -> float:
        """The greatest strength that leaves a layer whose likelihood is above 0."""
        revealed = self.rate > 1.0 and any(group.wrong for group in self.groups)
        return _TIGHT / self.rate if revealed else _TIGHT

    @underflow_is_zero
    def total(self, epsilon: Floats, strength: Floats) -> Floats:
        """log L for ε (r,) and s (r, c), where s → 1 beyond 1 − 1e-12: an array (r, c)."""
        return _log_mean(self._products(np.minimum(epsilon, _FARTHEST), strength, self.rows))

    @underflow_is_zero
    def weights(self, epsilon: Floats, strength: Floats) -> Floats:
        """The share of each draw in L for ε (r,) and s (r, c): an array (K, r, c)."""
        by_draw = self._products(epsilon, strength, self.draws)
        return np.exp(by_draw - special.logsumexp(by_draw, axis=0))

    @underflow_is_zero
    def of_groups(self, epsilon: Floats, strength: Floats) -> Floats:
        """log L_gk for ε and s of shape (m,), where s → 1 beyond 1 − 1e-12: an array (groups, rows, m)."""
        found = np.empty((len(self.groups), self.rows, len(epsilon)))
        tight = strength > _TIGHT
        for g, group in enumerate(self.groups):
            if tight.any():
                found[g][:, tight] = self._log_level(group, epsilon[tight], np.ones(int(tight.sum())), self.rows)
            if not tight.all():
                e, s = epsilon[~tight], strength[~tight]
                found[g][:, ~tight] = self._integrals(group, e, s, self.rows) - log_area(e, self.delta, s)
        return found

    def log_null(self) -> float:
        """log ℓ of no leak, e = 0 in every group."""
        zero = np.zeros(1)
        return float(_log_mean(np.sum([group.log_likelihood(zero, zero) for group in self.groups], axis=0))[0])

    @underflow_is_zero
    def log_above(self, group: int, epsilon: Floats, low: Floats) -> Floats:
        """log ∫_low^1 ℓ q′ dt of a group for ε and low < 1 of shape (m,): an array (rows, m).

        A row is a draw; of one group there is one row, the mean over the draws.
        """
        return self._integrals(self.groups[group], epsilon, low, self.rows)

    def log_density(self, group: int, epsilon: Floats, t: Floats) -> Floats:
        """log ℓ q′ of a group at levels t of ε, (m,) each: an array (rows, m)."""
        return self._log_level(self.groups[group], epsilon, t, self.rows) + log_area_rate(epsilon, self.delta, t)

    def _products(self, epsilon: Floats, strength: Floats, rows: int) -> Floats:
        """log Π_g L_gk, (rows, r, c), for every draw or, of one group, their mean."""
        found = np.empty((rows, *strength.shape))
        tight = strength > _TIGHT
        if tight.any():
            at = epsilon[np.nonzero(tight)[0]]
            found[:, tight] = sum(self._log_level(group, at, np.ones(len(at)), rows) for group in self.groups)
        row, column = np.nonzero(~tight)
        step = max(1, _BLOCK // rows)
        for part in (slice(i, i + step) for i in range(0, len(row), step)):
            e, s = epsilon[row[part]], strength[row[part], column[part]]
            found[:, row[part], column[part]] = -len(self.groups) * log_area(e, self.delta, s)
            for group in self.groups:
                found[:, row[part], column[part]] += self._integrals(group, e, s, rows)
        return found

    def _integrals(self, group: GroupOfGuesses, epsilon: Floats, low: Floats, rows: int) -> Floats:
        """log ∫_low^1 ℓ_gk q′ dt, (rows, m)."""
        rays, ray = np.unique(epsilon, return_inverse=True)
        kinks = np.full(len(rays) if self.rate > 1.0 else 0, 1.0 / max(self.rate, 1.0))  # where d reaches 1
        at, ray = np.concatenate([low, kinks]), np.concatenate([ray, np.arange(len(kinks))])
        order = np.lexsort((at, ray))
        ray, start = ray[order], at[order]
        end = np.where(np.append(ray[1:] != ray[:-1], True), 1.0, np.append(start[1:], 1.0))
        place = np.arange(len(ray)) - np.searchsorted(ray, ray)  # of each segment among those of its ray

        def log_density(segment: Indices, t: Floats) -> Floats:
            epsilon = rays[ray[segment]]
            return self._log_level(group, epsilon, t, rows) + log_area_rate(epsilon, self.delta, t)

        found = np.empty((rows, len(at)))
        found[:, order] = _upwards(log_density, ray, place, start, end - start)
        return found[:, : len(low)]

    def _log_level(self, group: GroupOfGuesses, epsilon: Floats, t: Floats, rows: int) -> Floats:
        """log ℓ_gk at levels t, (rows, m), for every draw or, as one row, their mean."""
        found, step = np.empty((rows, len(t))), max(1, _NEAR // self.draws)
        for part in (slice(i, i + step) for i in range(0, len(t), step)):
            level = group.log_likelihood(t[part] * epsilon[part], np.minimum(1.0, t[part] * self.rate))
            found[:, part] = level if rows == self.draws else _log_mean(level)
        return found


def _upwards(
    log_density: Callable[[Indices, Floats], Floats], ray: Indices, place: Indices, low: Floats, width: Floats
) -> Floats:
    """log ∫ from the start of each segment to the end of the last one of its ray, (rows, m).

    The segments (m,) of a ray are in order, touch, and know their place among them. `log_density` takes segments and
    points in them, (j,) each, and gives (rows, j).
    """
    segment, closed = np.arange(len(ray)), None  # what is resolved of each segment
    for depth in range(_DEEPEST):
        t = low[:, None] + width[:, None] * _SHARES
        with np.errstate(divide="ignore"):  # equal points have a segment of no width
            log_width = np.log(width)[:, None]
        density = log_density(np.repeat(segment, _ORDER), t.ravel()).reshape(-1, *t.shape) + log_width
        top = np.maximum(density.max(axis=2), -1e300)  # which keeps the difference from NaN where there is nothing
        share = np.exp(density - top[..., None])
        with np.errstate(divide="ignore"):
            part = top + np.log(share @ _WEIGHTS)
            tail = top + np.log(np.abs(share @ _LAST).max(axis=2))
        closed = np.full((len(part), len(ray)), -np.inf) if closed is None else closed
        whole = _from_above(_add_at(closed, segment, part), ray, place)
        open_ = (tail > whole[:, segment] + _RESOLVED).any(axis=0) & (depth < _DEEPEST - 1)
        closed = _add_at(closed, segment[~open_], part[:, ~open_])
        if not open_.any():
            break
        segment, low, width = np.tile(segment[open_], 2), low[open_], np.tile(0.5 * width[open_], 2)
        low = np.concatenate([low, low + width[: len(low)]])
    assert closed is not None
    return _from_above(closed, ray, place)


def log_area_rate(epsilon: Floats, delta: float, t: Floats) -> Floats:
    """log q′(t) = log σ(−e) [δ + (1 − tδ) ε σ(e)], e = tε."""
    e = t * epsilon
    with np.errstate(divide="ignore"):
        return np.asarray(special.log_expit(-e) + np.log(delta + (1.0 - t * delta) * epsilon * special.expit(e)))


def log_area(epsilon: Floats, delta: float, strength: Floats) -> Floats:
    """log [q(1) − q(s)] = log σ(−sε) [(1 − δ) (1 − e^{−(1−s)ε}) σ(ε) + δ(1 − s)]."""
    rest = 1.0 - strength
    drop = -np.expm1(-rest * epsilon) * special.expit(epsilon)
    with np.errstate(divide="ignore"):
        return np.asarray(special.log_expit(-strength * epsilon) + np.log((1.0 - delta) * drop + delta * rest))


def _log_mean(values: Floats) -> Floats:
    """log of the mean of exp over the first axis."""
    if len(values) == 1:
        return values[0]
    top = np.maximum(values.max(axis=0), -1e300)
    with np.errstate(divide="ignore"):
        return np.asarray(top + np.log(np.exp(values - top).mean(axis=0)))


def _add_at(total: Floats, index: Indices, part: Floats) -> Floats:
    """log(e^total + Σ e^part) with the parts (K, j) added at the columns `index` (j,), which may repeat."""
    if not len(index):
        return total
    order = np.argsort(index, kind="stable")
    first = np.flatnonzero(np.diff(index[order], prepend=-1))
    found, columns = total.copy(), index[order[first]]
    sums = np.logaddexp.reduceat(part[:, order], first, axis=1)
    found[:, columns] = np.logaddexp(total[:, columns], sums)
    return found


def _from_above(parts: Floats, ray: Indices, place: Indices) -> Floats:
    """log Σ of the parts of a ray from each on upwards, (K, m)."""
    padded = np.full((len(parts), int(ray[-1]) + 1, int(place.max()) + 1), -np.inf)
    padded[:, ray, place] = parts
    return np.asarray(np.logaddexp.accumulate(padded[..., ::-1], axis=2)[..., ::-1][:, ray, place])
