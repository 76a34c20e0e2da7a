"""The correlated binomial of Kupper and Haseman (Biometrics 34, 1978), for X and for Y, independent.

It is the binomial with a second-order correction for the correlation τ. That may be negative, within bounds that depend
on the rates: outside of them some number of errors would have a negative probability. With a = α or β and N the runs,
for all k = 0..N,

    1 + τ h(k)/(2a(1−a)) ≥ 0,   h(k) = k(k−1) − 2k(N−1)a + N(N−1)a²,

where h is greatest at k = 0 or N and least at the whole number nearest to (N−1)a + ½. For NUTS the rates come first,
therefore, and τ is a share of what they leave. As functions of the rates its bounds are continuous, with kinks.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import numpyro

from bayes_dp.bayes.coordinates import Guess, locate
from bayes_dp.bayes.layer import images
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.correlation import TAU_SCALE, draw_tau, least_tau, log_prior_of_tau, site_between
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.bayes.likelihoods.gamma_ratios import log_binomial
from bayes_dp.bayes.likelihoods.independent import of_both
from bayes_dp.support.arrays import Floats

__all__ = ["KUPPER_HASEMAN", "KupperHaseman"]

_TABLE = 1 << 22  # probabilities tabulated at once


@dataclass(frozen=True)
class KupperHaseman(BaseLikelihood):
    """P[X] = C(N, X) α^X (1−α)^{N−X} {1 + τ/(2α(1−α)) [(X−Nα)² + X(2α−1) − Nα²]}, and Y alike, independent.

    Where τ is so far from 0 that some count would have a negative probability at these rates, the density is zero.
    """

    name: str = "kupper_haseman"
    assumption: str = "Given its rates, a base's errors follow the correlated binomial of Kupper and Haseman."
    correlated: bool = True

    @property
    def shared(self) -> tuple[str, ...]:
        return ("tau",)

    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        """log g, (n, m)."""
        return of_both(_log_mass, counts, alpha, beta, *shared)

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, *shared: Floats
    ) -> tuple[Floats, Floats]:
        """New counts at rates (size, n) and τ (size,), each (size, n): the law is tabulated and inverted."""
        (tau,) = shared

        def one(trials: Array, rates: Floats) -> Floats:
            found = np.empty(rates.shape)
            for i, n in enumerate(np.asarray(trials)):
                step = max(1, _TABLE // (int(n) + 1))
                for rows in (slice(at, at + step) for at in range(0, len(rates), step)):
                    with jax.enable_x64(True):
                        log_mass = _log_mass(np.arange(n + 1), n, rates[rows, i, None], tau[rows, None])
                    below = np.cumsum(np.exp(np.asarray(log_mass)), axis=1)
                    found[rows, i] = np.sum(below < rng.random((len(below), 1)) * below[:, -1:], axis=1)
            return found

        return one(counts.n0, alpha), one(counts.n1, beta)

    def log_prior(self, counts: Counts, *shared: Array) -> jax.Array:
        """τ ~ Normal(0, 1e-4) on −1/(max N − 1) < τ < 1."""
        (tau,) = shared
        low = least_tau(counts)
        return jnp.where((tau > low) & (tau < 1), log_prior_of_tau(tau, low), -jnp.inf)

    def draw_shared(self, rng: np.random.Generator, counts: Counts, size: int) -> dict[str, Floats]:
        """τ, (size,)."""
        return {"tau": draw_tau(rng, float(least_tau(counts)), size)}

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """τ = 0, (1,): at another, some rates may be impossible."""
        return np.zeros(1)

    def rates(
        self, z: jax.Array, counts: Counts, epsilon: Array | float, delta: Array | float, strength: Array | float
    ) -> tuple[jax.Array, jax.Array, jax.Array, tuple[jax.Array, ...]]:
        """The images (n, 4) of each base's rates first, and then τ.

        τ has to be possible for at least one image of each base; the others then have density zero.
        """
        low, high, log_weight = locate(z, Guess.of(counts, TAU_SCALE), epsilon, delta, strength)
        alpha, beta = images(low, high)
        low0, high0 = _limits(jnp.asarray(counts.n0)[:, None], alpha)
        low1, high1 = _limits(jnp.asarray(counts.n1)[:, None], beta)
        least = jnp.max(jnp.min(jnp.maximum(low0, low1), axis=-1))
        most = jnp.min(jnp.max(jnp.minimum(high0, high1), axis=-1))
        tau = site_between("tau", jnp.maximum(least, least_tau(counts)), jnp.minimum(most, 1.0), TAU_SCALE)
        numpyro.factor("shared", self.log_prior(counts, tau))
        return alpha, beta, log_weight, (tau,)


def _log_mass(x: Array, n: Array, rate: Array, tau: Array) -> jax.Array:
    """log P of x of n errors; −∞ where the law does not exist."""
    spread = jnp.maximum(rate * (1 - rate), 1e-300)

    def factor(k: Array) -> jax.Array:
        return jnp.asarray(1 + tau / (2 * spread) * ((k - n * rate) ** 2 + k * (2 * rate - 1) - n * rate**2))

    # The bracket is a parabola in the count: least at the whole number nearest its vertex, greatest at an end.
    vertex = jnp.clip(jnp.round((n - 1) * rate + 0.5), 0.0, n)
    least = jnp.minimum(factor(vertex), jnp.minimum(factor(jnp.zeros_like(n * rate)), factor(n + 0.0 * rate)))
    value = factor(x)
    legal = (least >= 0) & (value > 0)
    return jnp.where(legal, log_binomial(x, n, rate) + jnp.log(jnp.where(legal, value, 1.0)), -jnp.inf)


def _limits(n: jax.Array, rate: Array) -> tuple[jax.Array, jax.Array]:
    """The least and the greatest τ at which no number of errors has a negative probability; infinite if all will do."""
    spread = 2 * rate * (1 - rate)

    def h(k: jax.Array) -> jax.Array:
        return jnp.asarray(k * (k - 1) - 2 * k * (n - 1) * rate + n * (n - 1) * rate**2)

    most = n * (n - 1) * jnp.maximum(rate, 1 - rate) ** 2
    least = h(jnp.clip(jnp.round((n - 1) * rate + 0.5), 0.0, n))
    low = jnp.where(most > 0, -spread / jnp.where(most > 0, most, 1.0), -jnp.inf)
    return low, jnp.where(least < 0, spread / jnp.where(least < 0, -least, 1.0), jnp.inf)


KUPPER_HASEMAN = KupperHaseman()
