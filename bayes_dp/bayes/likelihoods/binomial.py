"""Likelihoods g(X, Y | α, β) of the error counts of a base given its error rates, and where to look for those rates.

A likelihood has a name, the names of its `shared` parameters (those that all bases have in common), the assumption it
makes in words, `log_density`, `draw` and, of the shared parameters, `log_prior` and `start`; and `proposal`, the law
from which a sampler draws candidates for a base's rates. Arrays over bases have shape (n,), those over candidates
(n, m), those over draws of the parameters (size, n).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import xlog1py, xlogy
from numpy.typing import NDArray

from bayes_dp.data.counts import ErrorCounts

__all__ = ["AUXILIARIES", "BINOMIAL", "Array", "Auxiliaries", "BetaPair", "Binomial", "Counts", "uniform_pairs"]

Auxiliaries = Literal["posterior", "uniform"]
AUXILIARIES: tuple[Auxiliaries, ...] = ("posterior", "uniform")

Floats = NDArray[np.float64]
Array = jax.Array | Floats


class Counts(NamedTuple):
    """X of N0 false positives and Y of N1 false negatives; each of shape (n,)."""

    x: Array
    n0: Array
    y: Array
    n1: Array

    @classmethod
    def of(cls, counts: ErrorCounts) -> Counts:
        columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
        return cls(*(column.astype(np.float64) for column in columns))


class BetaPair(NamedTuple):
    """α ~ Beta(a0, b0) and β ~ Beta(a1, b1), independent: one such pair of laws for each base, each field (n,)."""

    a0: Array
    b0: Array
    a1: Array
    b1: Array

    def draw(self, rng: np.random.Generator, rows: int, m: int) -> tuple[Floats, Floats]:
        """α and β, each (rows, n, m)."""
        alpha, beta = np.empty((2, rows, len(self.a0), m))
        for j, (a0, b0, a1, b1) in enumerate(zip(*self, strict=True)):  # NumPy is fastest with scalar parameters
            alpha[:, j], beta[:, j] = _draw(rng, a0, b0, (rows, m)), _draw(rng, a1, b1, (rows, m))
        return alpha, beta

    def log_density(self, alpha: Array, beta: Array) -> jax.Array:
        """log q(α, β) up to a constant, at α and β of shape (n, m)."""
        a0, b0, a1, b1 = (jnp.asarray(parameter)[:, None] - 1 for parameter in self)
        return xlogy(a0, alpha) + xlog1py(b0, -alpha) + xlogy(a1, beta) + xlog1py(b1, -beta)


def _draw(rng: np.random.Generator, a: float, b: float, size: tuple[int, int]) -> Floats:
    return rng.random(size) if a == b == 1 else rng.beta(a, b, size)  # Beta(1, 1) takes NumPy 40 times as long


@dataclass(frozen=True)
class Binomial:
    """X ~ Binomial(N0, α) and Y ~ Binomial(N1, β), independent (eq. 1 of MCMC-DP-Est)."""

    name: str = "binomial"
    shared: tuple[str, ...] = ()
    assumption: str = "Given its rates, a base's errors are independent binomial counts."

    def log_density(self, counts: Counts, alpha: Array, beta: Array) -> jax.Array:
        """log g(X, Y | α, β) without the binomial coefficients, at α and β of shape (n, m)."""
        x, n0, y, n1 = (jnp.asarray(column)[:, None] for column in counts)
        return xlogy(x, alpha) + xlog1py(n0 - x, -alpha) + xlogy(y, beta) + xlog1py(n1 - y, -beta)

    def draw(self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats) -> tuple[Floats, Floats]:
        """New counts X and Y at rates (size, n), each (size, n)."""
        return _numbers(rng.binomial(_whole(counts.n0), alpha)), _numbers(rng.binomial(_whole(counts.n1), beta))

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """Shared parameters to start from, (q,): there are none."""
        return np.zeros(0)

    def proposal(self, counts: Counts, auxiliaries: Auxiliaries) -> tuple[BetaPair, bool]:
        """The law q of the auxiliary pairs, and whether g/q is constant in (α, β).

        "uniform" is Unif(0,1)², "posterior" is Beta(X+1, N0−X+1) × Beta(Y+1, N1−Y+1), which is proportional to g.
        """
        if auxiliaries == "uniform":
            return uniform_pairs(len(counts.x)), False
        x, n0, y, n1 = counts
        return BetaPair(x + 1, n0 - x + 1, y + 1, n1 - y + 1), True


def _whole(trials: Array) -> NDArray[np.int64]:
    return np.asarray(trials).astype(np.int64)


def _numbers(counts: NDArray[np.int64]) -> Floats:
    return counts.astype(np.float64)


def uniform_pairs(n: int) -> BetaPair:
    """α and β uniform on [0, 1], for n bases."""
    one = np.ones(n)
    return BetaPair(one, one, one, one)


BINOMIAL = Binomial()
