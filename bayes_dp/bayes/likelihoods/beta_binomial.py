"""Beta-binomial counts: binomial ones that are over-dispersed by an intra-class correlation τ in [0, 1)."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import numpyro

from bayes_dp.bayes.coordinates import Guess, locate
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.correlation import TAU_SCALE, TAU_SD, draw_tau, log_prior_of_tau, site_between
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.bayes.likelihoods.gamma_ratios import log_choose, log_rise, log_rises
from bayes_dp.bayes.likelihoods.independent import of_both
from bayes_dp.support.arrays import Floats

__all__ = ["BETA_BINOMIAL", "BetaBinomial", "beta_binomial", "draw_beta_binomial"]

_LEAST = 1e-30  # τ that stands for 0: smaller ones make no difference to log g
_FAINT = 1e-150  # for rates of 0 and 1


@dataclass(frozen=True)
class BetaBinomial(BaseLikelihood):
    """X ~ BetaBinomial(N0, mean α, intra-class correlation τ) and Y alike, independent given the rates.

    With a = α(1−τ)/τ and b = (1−α)(1−τ)/τ, P[X] = C(N0, X) B(X+a, N0−X+b)/B(a, b); at τ = 0 it is the binomial.
    """

    name: str = "beta_binomial"
    assumption: str = "Given its rates, a base's errors are beta-binomial counts of intra-class correlation τ."
    correlated: bool = True

    @property
    def shared(self) -> tuple[str, ...]:
        return ("tau",)

    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        """log g, (n, m)."""
        return of_both(beta_binomial, counts, alpha, beta, *shared)

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, *shared: Floats
    ) -> tuple[Floats, Floats]:
        """New counts at rates (size, n) and τ (size,), each (size, n)."""
        tau = shared[0][:, None]
        return draw_beta_binomial(rng, counts.n0, alpha, tau), draw_beta_binomial(rng, counts.n1, beta, tau)

    def log_prior(self, counts: Counts, *shared: Array) -> jax.Array:
        """τ ~ Normal(0, 1e-4) on [0, 1)."""
        (tau,) = shared
        return jnp.where((tau >= 0) & (tau < 1), log_prior_of_tau(tau, 0.0), -jnp.inf)

    def draw_shared(self, rng: np.random.Generator, counts: Counts, size: int) -> dict[str, Floats]:
        """τ, (size,)."""
        return {"tau": draw_tau(rng, 0.0, size)}

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """τ to start from, (1,)."""
        return np.array([rng.uniform(0.0, 2 * TAU_SD)])

    def sites(self, counts: Counts) -> tuple[jax.Array, ...]:
        """τ."""
        tau = site_between("tau", jnp.zeros(()), jnp.ones(()), TAU_SCALE)
        numpyro.factor("shared", self.log_prior(counts, tau))
        return (tau,)

    def locate(
        self,
        z: jax.Array,
        counts: Counts,
        shared: tuple[jax.Array, ...],
        epsilon: Array | float,
        delta: Array | float,
        strength: Array | float,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """The counts pin the rates down the less, the larger τ is."""
        return locate(z, Guess.of(counts, *shared), epsilon, delta, strength)


def beta_binomial(x: Array, n: Array, rate: Array, tau: Array) -> jax.Array:
    """log P of x of n errors at a rate with intra-class correlation τ; arrays broadcast."""
    odds = (1 - tau) / jnp.maximum(tau, _LEAST)
    a, b = jnp.maximum(rate * odds, _FAINT), jnp.maximum((1 - rate) * odds, _FAINT)
    found = log_choose(n, x) + log_rises(a, x, b, n - x) - log_rise(odds, n)
    return jnp.where(((rate > 0) | (x == 0)) & ((rate < 1) | (x == n)), found, -jnp.inf)


def draw_beta_binomial(rng: np.random.Generator, trials: Array, rate: Floats, tau: Floats) -> Floats:
    """Numbers of errors at rates (size, n) and τ that broadcasts to them, (size, n)."""
    odds = (1 - tau) / np.maximum(tau, _LEAST)
    spread = rng.beta(np.maximum(rate * odds, 1e-300), np.maximum((1 - rate) * odds, 1e-300))
    drawn = rng.binomial(np.asarray(trials).astype(np.int64), np.where(tau < _LEAST, rate, spread))
    return drawn.astype(np.float64)


BETA_BINOMIAL = BetaBinomial()
