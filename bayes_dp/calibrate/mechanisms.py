"""Mechanisms whose leakage is known, as curves: all that audits of guesses need of the scores.

The audits need of the scores only how many of the highest and the lowest ones are members. Put in order, the scores are
at levels, their places in the law of all scores, which are uniform. A mechanism is the curve

    G(u) = P[member, level ≤ u]  with  g = G', the chance of a member at level u.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import special, stats

from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff import (
    ApproxDP,
    Gaussian,
    Laplace,
    advantage_from_epsilon,
    laplace_from_advantage,
    mu_from_advantage,
)

__all__ = ["FEW", "MECHANISMS", "RESPONSES", "SIZES", "Mechanism", "NoisyScore", "RandomizedResponse", "mechanisms_for"]


SIZES = (200, 2000, 20_000)  # numbers of examples


class Mechanism(Protocol):
    """Scores of members and non-members, by the curve G above, and the true leakage."""

    @property
    def name(self) -> str: ...

    def curve(self, u: Floats) -> tuple[Floats, Floats]:
        """G(u) and g(u), of the shape of u."""
        ...

    def truth(self, parameter: str, delta: float) -> float:
        """The least ε at δ, or μ of Gaussian DP, or μ of the Laplace mechanism; infinite if there is none."""
        ...


@dataclass(frozen=True)
class RandomizedResponse:
    """The score is the membership, flipped with chance 1/(1 + e^ε). ε = 0 is no leak at all.

    `shift` is what the features tell beside it: another such response with the parameter `shift` (0 for nothing), so
    that an example's propensity is 1/(1 + e^{±shift}); scores are then ordered by what both say together.
    """

    epsilon: float
    shift: float = 0.0

    @property
    def name(self) -> str:
        what = f"randomized response, ε = {self.epsilon:g}" if self.epsilon else "no leak"
        return what + (f", features ε = {self.shift:.3g}" if self.shift else "")

    def curve(self, u: Floats) -> tuple[Floats, Floats]:
        signs = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])  # of the response and of the features
        odds = signs @ np.array([self.epsilon, self.shift])
        order = np.argsort(odds, kind="stable")
        chance = special.expit(odds[order])
        agree = signs[order, 0] == signs[order, 1]
        right = special.expit(self.epsilon), special.expit(self.shift)
        same = right[0] * right[1] + (1 - right[0]) * (1 - right[1])
        edges = np.concatenate([[0.0], np.cumsum(np.where(agree, same, 1 - same) / 2)])
        edges[-1] = 1.0
        below = np.concatenate([[0.0], np.cumsum(chance * np.diff(edges))])
        atom = np.clip(np.searchsorted(edges, u, side="left") - 1, 0, len(chance) - 1)
        return np.interp(u, edges, below), chance[atom]

    def truth(self, parameter: str, delta: float) -> float:
        """Convex curves with the corner of f_ε on them are below it, so these are the parameters of equal advantage."""
        if parameter == "epsilon":
            return float(ApproxDP(self.epsilon).epsilon_at(delta))
        advantage = advantage_from_epsilon(self.epsilon, 0.0)
        return float((mu_from_advantage if parameter == "mu" else laplace_from_advantage)(advantage))


@dataclass(frozen=True)
class NoisyScore:
    """The score is noise, plus μ for members."""

    law: Gaussian | Laplace

    @property
    def name(self) -> str:
        return f"{type(self.law).__name__} mechanism, μ = {self.law.mu:g}"

    def curve(self, u: Floats) -> tuple[Floats, Floats]:
        """The score x at level u solves F(x)/2 + F(x − μ)/2 = u, and lies within [F⁻¹(u), F⁻¹(u) + μ]."""
        noise, mu = (stats.norm if isinstance(self.law, Gaussian) else stats.laplace), self.law.mu
        cdf = special.ndtr if isinstance(self.law, Gaussian) else _laplace_cdf
        low = noise.ppf(u)
        high = low + mu
        for _ in range(45):
            middle = (low + high) / 2
            under = cdf(middle) + cdf(middle - mu) < 2 * u
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        x = np.clip(high, -1e300, 1e300)
        odds = mu * x - mu**2 / 2 if isinstance(self.law, Gaussian) else np.abs(x) - np.abs(x - mu)
        return cdf(x - mu) / 2, special.expit(odds)

    def truth(self, parameter: str, delta: float) -> float:
        if parameter == "epsilon":
            return float(self.law.epsilon_at(delta))
        same = isinstance(self.law, Gaussian) == (parameter == "mu")
        return self.law.mu if same else math.inf


def _laplace_cdf(x: Floats) -> Floats:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


RESPONSES = tuple(RandomizedResponse(epsilon) for epsilon in (0.0, 0.5, 1.0, 3.0))
MECHANISMS: tuple[Mechanism, ...] = (
    *RESPONSES,
    *(NoisyScore(Gaussian(mu)) for mu in (0.5, 1.0, 2.0)),
    *(NoisyScore(Laplace(mu)) for mu in (0.5, 1.0, 3.0)),
)
FEW = (RandomizedResponse(0.0), RandomizedResponse(1.0), NoisyScore(Gaussian(1.0)), NoisyScore(Laplace(1.0)))


def mechanisms_for(examples: int) -> tuple[Mechanism, ...]:
    """All of them, or a few where the bounds take long."""
    return MECHANISMS if examples <= 2000 else FEW
