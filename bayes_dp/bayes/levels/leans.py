"""The likelihood of guesses on one model at one level of leak, at a cost that does not depend on how many they are.

The lean of a guess, x = T·logit π, is what its features tell for it. If the attack got e out of the model, and a share
d of the guesses is revealed outright, a guess of lean x is right with the chance

    d + (1 − d) σ(e + x) = (1 + d e^{−e−x})/(1 + e^{−e−x}),

and wrong with (1 − d)/(1 + e^{e+x}). So the log likelihood of the guesses is

    A(e) + R(log d − e) + #wrong log(1 − d),    A(e) = −R(−e) − W(e),

    R(z) = Σ_right log(1 + e^{z−x}),    W(z) = Σ_wrong log(1 + e^{z+x}).

As functions of x and of z the terms are analytic up to a distance of π from the real axis. On a panel of half-width h
the interpolant in n Chebyshev nodes is off by about ρ^{−n}, ρ = π/h + √(1 + (π/h)²). So the sum over guesses becomes
one over nodes x_j with the weights Σ_i l_j(x_i), for each of K draws of the leans, and A and R are interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bayes_dp.support.arrays import Bools, Floats, Indices

__all__ = ["GroupOfGuesses"]


_HALF = 2.0  # half-width of a panel
_NODES = 26  # of a panel: e^{−32}
_FAR = 40.0  # log(1 + e^y) is 0 at −FAR, and y at FAR
_BLOCK = 1_000_000  # numbers at a time
_ANGLES = np.pi * (np.arange(_NODES) + 0.5) / _NODES
_PLACES = np.cos(_ANGLES)  # Chebyshev nodes
# Values at the nodes -> Chebyshev coefficients, (n, n): T_k at node j, times 2/n, or 1/n for k = 0.
_TO_COEFFICIENTS = np.cos(np.outer(np.arange(_NODES), _ANGLES)) * 2 / _NODES
_TO_COEFFICIENTS[0] /= 2


class GroupOfGuesses:
    """Guesses that got the same e out of a model: their leans (K, r) in K draws, and which are `right` (r,)."""

    def __init__(self, leans: Floats, right: Bools) -> None:
        self.draws, self.right, self.wrong = len(leans), int(right.sum()), int((~right).sum())
        self._revealed = _SoftplusSum(-leans[:, right])
        wrong = _SoftplusSum(leans[:, ~right])
        end = _FAR + max(0.0, -float(leans.min()))
        self._plain = _Chebyshev(0.0, end, lambda e: np.asarray(-self._revealed(-e) - wrong(e)))
        self._beyond = -leans[:, ~right].sum(axis=1)

    def log_likelihood(self, level: Floats, revealed: Floats) -> Floats:
        """log ℓ(e, d) of each draw for e = `level` ≥ 0 and d = `revealed` in [0, 1], (m,) each: an array (K, m)."""
        found = self._plain(level)
        if (far := level > self._plain.high).any():
            found[:, far] = self._beyond[:, None] - self.wrong * level[far]
        if revealed.any():
            with np.errstate(divide="ignore"):
                found += self._revealed(np.log(revealed) - level)
                found += self.wrong * np.log1p(-revealed) if self.wrong else 0.0
        return found


class _SoftplusSum:
    """Σ_i log(1 + e^{z + x_ki}) of each of K draws as a function of z ≤ max(0, −min x + FAR), from the x (K, r)."""

    def __init__(self, x: Floats) -> None:
        self._size, self._sum = x.shape[1], x.sum(axis=1)
        if self._size:
            places, weights = _compressed(x)
            step = max(1, _BLOCK // len(places))

            def at(z: Floats) -> Floats:
                parts = (z[i : i + step] for i in range(0, len(z), step))
                return np.concatenate([weights @ np.logaddexp(0.0, p + places[:, None]) for p in parts], axis=1)

            self._table = _Chebyshev(-float(x.max()) - _FAR, -float(x.min()) + _FAR, at)

    def __call__(self, z: Floats) -> Floats:
        """For z (m,), which may be −∞: an array (K, m)."""
        if not self._size:
            return np.zeros((len(self._sum), len(z)))
        found = self._table(z)
        if (far := z > self._table.high).any():
            found[:, far] = self._size * z[far] + self._sum[:, None]
        return found


class _Chebyshev:
    """K functions on [low, high] by series on panels; 0 outside. `at` gives their values (K, m) at places (m,)."""

    def __init__(self, low: float, high: float, at: Callable[[Floats], Floats]) -> None:
        panels = max(1, math.ceil((high - low) / (2 * _HALF)))
        places = low + _HALF * (2 * np.arange(panels)[:, None] + 1 + _PLACES)
        self.low, self.high = low, low + 2 * _HALF * panels
        self._coefficients = at(np.ravel(places)).reshape(-1, panels, _NODES) @ _TO_COEFFICIENTS.T

    def __call__(self, z: Floats) -> Floats:
        order = np.argsort(z, kind="stable")
        place = (z[order] - self.low) / (2 * _HALF)
        draws, panels, _ = self._coefficients.shape
        ends = np.searchsorted(place, np.arange(panels + 1))
        ends[-1] = np.searchsorted(place, panels, side="right")  # the last panel has both its ends
        found = np.zeros((draws, len(z)))
        for p in np.flatnonzero(np.diff(ends)):
            part = slice(ends[p], ends[p + 1])
            found[:, order[part]] = self._coefficients[:, p] @ _polynomials(2.0 * (place[part] - p) - 1.0)
        return found


def _compressed(x: Floats) -> tuple[Floats, Floats]:
    """Places (J,) and weights (K, J) with Σ_i f(x_ki) = Σ_j w_kj f(x_j); few different x are their own places."""
    owner, flat = np.repeat(np.arange(len(x)), x.shape[1]), x.ravel()
    distinct, of_distinct = np.unique(flat, return_inverse=True)
    places, weights = [], []
    first = 0
    while first < len(distinct):
        last = int(np.searchsorted(distinct, distinct[first] + 2 * _HALF, side="right"))
        here = (of_distinct >= first) & (of_distinct < last)
        if last - first <= _NODES:
            at, index = distinct[first:last], owner[here] * (last - first) + of_distinct[here] - first
            weight = np.bincount(index, minlength=len(x) * (last - first)).reshape(len(x), -1).astype(np.float64)
        else:
            at = distinct[first] + _HALF * (1 + _PLACES)
            weight = _moments((flat[here] - distinct[first]) / _HALF - 1.0, owner[here], len(x)) @ _TO_COEFFICIENTS
        places.append(at)
        weights.append(weight)
        first = last
    return np.concatenate(places), np.concatenate(weights, axis=1)


def _moments(x: Floats, owner: Indices, owners: int) -> Floats:
    """Σ T_k(x_i) over the points of each owner, (owners, n); with `_TO_COEFFICIENTS` these give Σ_i l_j(x_i)."""
    return np.stack([np.bincount(owner, values, owners) for values in _polynomials(x)], axis=1)


def _polynomials(x: Floats) -> Floats:
    """T_0 to T_{n−1} at x (m,), an array (n, m)."""
    found = np.empty((_NODES, len(x)))
    found[0], found[1] = 1.0, x
    for k in range(2, _NODES):
        np.multiply(2.0 * x, found[k - 1], out=found[k])
        found[k] -= found[k - 2]
    return found
