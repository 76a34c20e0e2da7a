"""NumPyro sites of the parameters τ and ρ that all bases share, in coordinates without bounds.

The range of ρ depends on τ. The range of Kupper and Haseman's τ depends on the rates: outside of it some number of
errors would have a negative probability. With a = α or β and N the runs, for all k = 0..N,

    1 + τ h(k)/(2a(1−a)) ≥ 0,   h(k) = k(k−1) − 2k(N−1)a + N(N−1)a²,

where h is greatest at k = 0 or N and least at the whole number nearest to (N−1)a + ½. So the rates come first there,
and τ is a share of what they leave. As functions of the rates its bounds are continuous, with kinks.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from numpyro.distributions import constraints

from bayes_dp.bayes.coordinates import share
from bayes_dp.bayes.correlated import BIVARIATE_NORMAL, KUPPER_HASEMAN
from bayes_dp.bayes.likelihoods import Array, Counts

__all__ = ["TAU_SCALE", "correlations", "possible_tau"]

TAU_SCALE = 0.005  # of the logistic law close to the prior of τ, of standard deviation 0.01


def correlations(likelihood: Any, counts: Counts) -> tuple[jax.Array, ...]:
    """Sites for τ and, of the bivariate normal law, ρ, with their prior."""
    low = _lowest(counts) if likelihood is BIVARIATE_NORMAL else jnp.zeros(())
    tau = _between("tau", low, jnp.ones(()), TAU_SCALE)
    if likelihood is not BIVARIATE_NORMAL:
        numpyro.factor("shared", likelihood.log_prior(counts, tau))
        return (tau,)
    limit = BIVARIATE_NORMAL.rho_limit(counts, tau)
    rho = _between("rho", -limit, limit, limit)
    numpyro.factor("shared", BIVARIATE_NORMAL.log_prior(counts, tau, rho))
    return tau, rho


def possible_tau(counts: Counts, alpha: jax.Array, beta: jax.Array) -> jax.Array:
    """A site for Kupper and Haseman's τ, with its prior, given the images (n, 4) of each base's rates.

    τ has to be possible for at least one image of each base; the others then have density zero.
    """
    low0, high0 = _limits(jnp.asarray(counts.n0)[:, None], alpha)
    low1, high1 = _limits(jnp.asarray(counts.n1)[:, None], beta)
    low = jnp.max(jnp.min(jnp.maximum(low0, low1), axis=-1))
    high = jnp.min(jnp.max(jnp.minimum(high0, high1), axis=-1))
    tau = _between("tau", jnp.maximum(low, _lowest(counts)), jnp.minimum(high, 1.0), TAU_SCALE)
    numpyro.factor("shared", KUPPER_HASEMAN.log_prior(counts, tau))
    return tau


def _between(name: str, low: jax.Array, high: jax.Array, scale: jax.Array | float) -> jax.Array:
    """A parameter on (low, high), with the density 1 on it: a coordinate that is linear around 0 at this scale."""
    z = numpyro.sample(f"{name}_place", dist.ImproperUniform(constraints.real, (), ()))
    t, log_slope = share(z, low / scale, (high - low) / scale)
    numpyro.factor(f"{name}_slope", log_slope + jnp.log(high - low))
    return jnp.asarray(numpyro.deterministic(name, low + (high - low) * t))


def _lowest(counts: Counts) -> jax.Array:
    """−1/(max N − 1), or −1 where no base has more than two runs: below it a variance would be negative."""
    most = jnp.maximum(jnp.max(jnp.asarray(counts.n0)), jnp.max(jnp.asarray(counts.n1)))
    return -1.0 / jnp.maximum(most - 1.0, 1.0)


def _limits(n: jax.Array, rate: Array) -> tuple[jax.Array, jax.Array]:
    """The least and the greatest τ at which no number of errors has a negative probability; infinite if all will do."""
    spread = 2 * rate * (1 - rate)

    def h(k: jax.Array) -> jax.Array:
        return jnp.asarray(k * (k - 1) - 2 * k * (n - 1) * rate + n * (n - 1) * rate**2)

    most = n * (n - 1) * jnp.maximum(rate, 1 - rate) ** 2
    least = h(jnp.clip(jnp.round((n - 1) * rate + 0.5), 0.0, n))
    low = jnp.where(most > 0, -spread / jnp.where(most > 0, most, 1.0), -jnp.inf)
    return low, jnp.where(least < 0, spread / jnp.where(least < 0, -least, 1.0), jnp.inf)
