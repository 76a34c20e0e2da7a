"""Independent binomial counts, eq. 1 of MCMC-DP-Est: the law that has a closed form, in `exact/marginal.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.candidates import Auxiliaries, BetaPair, uniform_pairs
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.support.arrays import Floats, Ints

if TYPE_CHECKING:
    import jax

__all__ = ["BINOMIAL", "Binomial"]


@dataclass(frozen=True)
class Binomial(BaseLikelihood):
    """X ~ Binomial(N0, α) and Y ~ Binomial(N1, β), independent."""

    name: str = "binomial"
    assumption: str = "Given its rates, a base's errors are independent binomial counts."
    closed_form: bool = True

    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        """log g(X, Y | α, β) without the binomial coefficients, at α and β of shape (n, m)."""
        import jax.numpy as jnp
        from jax.scipy.special import xlog1py, xlogy

        x, n0, y, n1 = (jnp.asarray(column)[:, None] for column in counts)
        return xlogy(x, alpha) + xlog1py(n0 - x, -alpha) + xlogy(y, beta) + xlog1py(n1 - y, -beta)

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, *shared: Floats
    ) -> tuple[Floats, Floats]:
        """New counts X and Y at rates (size, n), each (size, n)."""
        return _numbers(rng.binomial(_whole(counts.n0), alpha)), _numbers(rng.binomial(_whole(counts.n1), beta))

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """Shared parameters to start from, (0,): there are none."""
        return np.zeros(0)

    def proposal(self, counts: Counts, auxiliaries: Auxiliaries) -> tuple[BetaPair, bool]:
        """See `BaseLikelihood.proposal`; "posterior" is Beta(X+1, N0−X+1) × Beta(Y+1, N1−Y+1), proportional to g."""
        if auxiliaries == "uniform":
            return uniform_pairs(len(counts.x)), False
        x, n0, y, n1 = counts
        return BetaPair(x + 1, n0 - x + 1, y + 1, n1 - y + 1), True


def _whole(trials: Array) -> Ints:
    return np.asarray(trials).astype(np.int64)


def _numbers(counts: Ints) -> Floats:
    return counts.astype(np.float64)


BINOMIAL = Binomial()
