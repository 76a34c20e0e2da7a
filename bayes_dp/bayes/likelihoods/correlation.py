"""The prior of τ, the correlation of decisions within a base (eq. 10, Appendix B.3 of MCMC-DP-Est).

τ ~ Normal(0, 1e-4), cut at 1 and at its lower end: −1/(max N − 1), below which a variance would be negative, or 0 for
laws without negative correlation.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
from jax.scipy.stats import norm
from scipy import stats

from bayes_dp.bayes.coordinates import place_between
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.support.arrays import Floats

__all__ = ["TAU_SCALE", "TAU_SD", "draw_tau", "least_tau", "log_prior_of_tau", "site_between"]

TAU_SD = 0.01
TAU_SCALE = 0.005  # of the logistic law close to the prior of τ


def log_prior_of_tau(tau: Array, low: float | jax.Array) -> jax.Array:
    """The log density of Normal(0, 1e-4) cut to (low, 1), at τ in it."""
    mass = norm.cdf(1.0 / TAU_SD) - norm.cdf(low / TAU_SD)
    return jnp.asarray(norm.logpdf(jnp.asarray(tau) / TAU_SD) - math.log(TAU_SD) - jnp.log(mass))


def draw_tau(rng: np.random.Generator, low: float, size: int) -> Floats:
    """Draws of that law, (size,)."""
    return np.asarray(stats.truncnorm(low / TAU_SD, 1.0 / TAU_SD, scale=TAU_SD).rvs(size, random_state=rng))


def least_tau(counts: Counts) -> jax.Array:
    """−1/(max N − 1), or −1 where no base has more than two runs: below it a variance would be negative."""
    most = jnp.maximum(jnp.max(jnp.asarray(counts.n0)), jnp.max(jnp.asarray(counts.n1)))
    return -1.0 / jnp.maximum(most - 1.0, 1.0)


def site_between(name: str, low: jax.Array, high: jax.Array, scale: jax.Array | float) -> jax.Array:
    """A NumPyro site on (low, high), with the density 1 on it: a coordinate that is linear around 0 at this scale."""
    value, log_slope = place_between(name, low, high, 0.0, scale)
    numpyro.factor(f"{name}_slope", log_slope)
    return jnp.asarray(numpyro.deterministic(name, value))
