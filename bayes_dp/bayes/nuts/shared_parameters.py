"""NumPyro sites of the parameters s, κ, τ and ρ that all bases share, in coordinates without bounds.

The levels m of the bases, log gap/low of their folded rates, exceed sε, about. So the density falls within the error of
the counts where sε comes to the least level, but towards s = 0 nothing holds it. In logit s that is a long tail beside
a steep wall, and trajectories that come out of the tail run far into the wall and diverge. The coordinate is therefore
linear in log(1 + sε/m): in sε up to the least level, in log sε beyond it, and logarithmic near the ends of the range.

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
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.distributions import constraints

from bayes_dp.bayes.likelihoods.binomial import Array, Counts
from bayes_dp.bayes.likelihoods.correlated import BIVARIATE_NORMAL, KUPPER_HASEMAN
from bayes_dp.bayes.nuts.coordinates import Guess, share

__all__ = ["TAU_SCALE", "correlations", "possible_tau", "spread_with", "strength_with"]

TAU_SCALE = 0.005  # of the logistic law close to the prior of τ, of standard deviation 0.01
_SPREAD_SCALE = 0.02  # of κ below which its coordinate is logarithmic
_STRENGTH_SCALE = 0.1  # of the logistic law whose tail is that of log(1 + sε/m) at s = 0


def strength_with(prior: Any, counts: Counts, epsilon: Array | float) -> jax.Array:
    """A site for s, with its prior, in the coordinate that suits the counts."""
    low, high = (jnp.asarray(getattr(prior.support, f"{end}_bound", k)) for k, end in enumerate(("lower", "upper")))
    unit = _least_level(counts) / epsilon
    bottom, top = jnp.log1p(low / unit), jnp.log1p(high / unit)
    y, log_slope = _placed("strength", bottom, top, bottom, _STRENGTH_SCALE)
    length, number = high - low, np.finfo(np.float64)
    s = jnp.clip(unit * jnp.expm1(y), low + length * number.tiny, high - length * number.eps)  # against rounding
    numpyro.factor("strength_prior", prior.log_prob(s) + log_slope + y + jnp.log(unit))
    return jnp.asarray(numpyro.deterministic("strength", s))


def spread_with(prior: Any) -> jax.Array:
    """A site for κ, with its prior, in a coordinate that is linear above a small scale and logarithmic near 0.

    In log κ alone the density falls like exp(−e^{2z}) beyond the spread of the counts, which is a wall.
    """
    low, high = (getattr(prior.support, f"{end}_bound", None) for end in ("lower", "upper"))
    low = jnp.asarray(0.0 if low is None else low)
    if high is None:
        z = numpyro.sample("spread_place", dist.ImproperUniform(constraints.real, (), ()))
        spread, log_slope = low + _SPREAD_SCALE * jax.nn.softplus(z), jax.nn.log_sigmoid(z) + jnp.log(_SPREAD_SCALE)
    else:
        spread, log_slope = _placed("spread", low, jnp.asarray(high), low, _SPREAD_SCALE)
    spread = jnp.maximum(spread, np.finfo(np.float64).tiny)  # against rounding
    numpyro.factor("spread_prior", prior.log_prob(spread) + log_slope)
    return jnp.asarray(numpyro.deterministic("spread", spread))


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
    value, log_slope = _placed(name, low, high, 0.0, scale)
    numpyro.factor(f"{name}_slope", log_slope)
    return jnp.asarray(numpyro.deterministic(name, value))


def _placed(
    name: str, low: jax.Array, high: jax.Array, centre: jax.Array | float, scale: jax.Array | float
) -> tuple[jax.Array, jax.Array]:
    """A number on (low, high), by a coordinate that is linear around `centre` at this scale, and its log slope."""
    z = numpyro.sample(f"{name}_place", dist.ImproperUniform(constraints.real, (), ()))
    t, log_slope = share(z, (low - centre) / scale, (high - low) / scale)
    return low + (high - low) * t, log_slope + jnp.log(high - low)


def _least_level(counts: Counts) -> jax.Array:
    """The least of the bases' levels by their counts, none of which counts for less than its standard error."""
    x, n0, y, n1 = (jnp.asarray(column) for column in counts)
    # Laws that draw numbers of errors that are not counts may give some beyond the runs.
    guess = Guess.of(Counts(jnp.clip(x, 0.0, n0), n0, jnp.clip(y, 0.0, n1), n1))
    gap = 1 - guess.high
    error = jnp.hypot(guess.low_sd / guess.low, guess.high_sd / gap)
    return jnp.min(jnp.maximum(jnp.log(gap / guess.low), error))


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
