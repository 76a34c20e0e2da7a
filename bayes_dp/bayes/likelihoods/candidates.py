"""Where to look for the error rates of a base: laws from which samplers draw candidates (α, β) given its counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    import jax

__all__ = ["AUXILIARIES", "Auxiliaries", "BetaPair", "uniform_pairs", "wide_pairs"]

Auxiliaries = Literal["posterior", "uniform"]
AUXILIARIES: tuple[Auxiliaries, ...] = ("posterior", "uniform")

_TYPICAL = 0.01  # correlation for which the candidates of the rates are spread out


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
        import jax.numpy as jnp
        from jax.scipy.special import xlog1py, xlogy

        a0, b0, a1, b1 = (jnp.asarray(parameter)[:, None] - 1 for parameter in self)
        return xlogy(a0, alpha) + xlog1py(b0, -alpha) + xlogy(a1, beta) + xlog1py(b1, -beta)


def _draw(rng: np.random.Generator, a: float, b: float, size: tuple[int, int]) -> Floats:
    return rng.random(size) if a == b == 1 else rng.beta(a, b, size)  # Beta(1, 1) takes NumPy 40 times as long


def uniform_pairs(n: int) -> BetaPair:
    """α and β uniform on [0, 1], for n bases."""
    one = np.ones(n)
    return BetaPair(one, one, one, one)


def wide_pairs(counts: Counts) -> BetaPair:
    """Beta laws as wide as those of over-dispersed counts, and as singular at the ends as a normal law with X = 0."""
    x, n0, y, n1 = (np.asarray(column) for column in counts)
    x, y = np.clip(x, 0, n0), np.clip(y, 0, n1)  # a normal law's own draws go beyond
    shrink0, shrink1 = 1 + (n0 - 1) * _TYPICAL, 1 + (n1 - 1) * _TYPICAL
    return BetaPair(x / shrink0 + 0.5, (n0 - x) / shrink0 + 0.5, y / shrink1 + 0.5, (n1 - y) / shrink1 + 0.5)
