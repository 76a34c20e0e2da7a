"""Where the coefficients of a logistic regression may be: a confidence region by likelihood ratios.

Memberships of N examples with features x_i, (d,) with a 1 for the intercept, are taken to be independent coins with
log-odds x_i·θ. With the log-likelihood ℓ of `logistic.most_likely`, and its maximum θ̂, the region is

    { θ : Λ(θ) ≤ c },   Λ(θ) = 2 (ℓ(θ̂) − ℓ(θ)),

which is convex. By theory Λ(θ) at the true θ has a law near χ² with d degrees of freedom if N is large. Here c comes
from draws, so that N need not be: memberships are drawn K times with Firth's estimate θ° in the place of the truth,
θ̂ is found again, and Λ_k is that of θ°. Then c is the ⌈(1 − p')(K + 1)⌉-th smallest of Λ_1 … Λ_K, and the region holds
the truth with probability 1 − p', as far as the law of Λ does not change from θ to θ°. It changes little, since Firth's
estimate has hardly any bias. The most likely θ̂ would not do: with a rare category of members only it gives memberships
that cannot be otherwise, and Λ_k that are too small.

A linear function a·θ is largest in the region at some maximum of ℓ(θ) + t a·θ, where t > 0 is such that Λ = c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from bayes_dp.propensity import logistic
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["Regression", "regression"]


_NEAR = 1e-3  # relative error of the root of Λ
_STEPS = 60


@dataclass(frozen=True, eq=False)
class Regression:
    """A logistic regression of memberships (N,) on features (N, d) of unit size, of which the last is 1."""

    x: Floats
    member: Bools
    best: Floats  # θ̂, (d,)
    highest: float  # ℓ(θ̂)
    centre: Floats  # θ°, (d,)

    def ratio(self, theta: Floats) -> float:
        """Λ(θ)."""
        return 2 * (self.highest - logistic.log_likelihood(self.x, self.member, theta))

    def redrawn(self, rng: np.random.Generator) -> float:
        """Λ(θ°) for memberships that are drawn with θ°."""
        member = rng.random(len(self.x)) < self._chances
        best = logistic.most_likely_near(self.x, member, self.centre, self._inverse)
        high, low = (logistic.log_likelihood(self.x, member, theta) for theta in (best, self.centre))
        return max(0.0, 2 * (high - low))

    @cached_property
    def _chances(self) -> Floats:
        return np.asarray(special.expit(self.x @ self.centre))

    @cached_property
    def _inverse(self) -> Floats:
        return np.asarray(np.linalg.inv(logistic.information(self.x, self.centre)), dtype=np.float64)

    def farthest(self, direction: Floats, radius: float) -> Floats:
        """The θ with Λ(θ) ≤ c = `radius` that has the largest product with the direction a, both (d,)."""
        theta, root = self.best, math.sqrt(radius)
        size = math.sqrt(max(0.0, float(direction @ np.linalg.solve(self._information(), direction))))
        if size == 0 or root == 0:
            return theta
        low, high, t = (0.0, 0.0), (math.inf, math.inf), root / size
        for _ in range(_STEPS):  # the root of Λ grows with t, in proportion if ℓ is a parabola
            theta = logistic.most_likely(self.x, self.member, theta, t * direction)
            found = math.sqrt(max(0.0, self.ratio(theta)))
            if abs(found - root) <= _NEAR * root:
                break
            low, high = ((t, found), high) if found < root else (low, (t, found))
            if math.isinf(high[0]):
                t *= min(root / max(found, 1e-9), 4.0) * 1.001
            else:
                share = (root - low[1]) / (high[1] - low[1])
                t = low[0] + min(max(share, 0.05), 0.95) * (high[0] - low[0])
        return theta

    def _information(self) -> Floats:
        chance = special.expit(self.x @ self.best)
        scaled = self.x * np.sqrt(chance * (1 - chance))[:, None]
        return np.asarray(scaled.T @ scaled + 1e-9 * np.eye(self.x.shape[1]))


def regression(x: Floats, member: Bools) -> Regression:
    """The estimates θ̂ and θ°."""
    centre = logistic.firth(x, member)
    best = logistic.most_likely(x, member, centre)
    return Regression(x, member, best, logistic.log_likelihood(x, member, best), centre)
