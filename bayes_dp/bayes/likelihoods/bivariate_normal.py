"""The bivariate normal law of correlated counts (eq. 7 and 9 of MCMC-DP-Est), and the priors of τ and ρ (eq. 10)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import numpyro

from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.correlation import (
    TAU_SCALE,
    TAU_SD,
    draw_tau,
    least_tau,
    log_prior_of_tau,
    site_between,
)
from bayes_dp.bayes.likelihoods.counts import Array, Counts, at_an_end
from bayes_dp.bayes.likelihoods.normal_coordinates import locate_normal
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Floats

__all__ = ["BIVARIATE_NORMAL", "BivariateNormal"]


@dataclass(frozen=True)
class BivariateNormal(BaseLikelihood):
    """(X, Y) ~ Normal, with means (N0 α, N1 β), variances α(1−α) N0 (1+(N0−1)τ) and β(1−β) N1 (1+(N1−1)τ) and
    covariance N0 N1 ρ sqrt(α(1−α)β(1−β)): decisions have the correlation τ within either count, ρ across."""

    name: str = "bivariate_normal"
    assumption: str = (
        "Given its rates, a base's errors are normal; decisions are correlated by τ within and by ρ between its counts."
    )
    correlated: bool = True
    target_accept: float = 0.97  # the posterior is narrow where |ρ| is near its limit

    @property
    def shared(self) -> tuple[str, ...]:
        return ("tau", "rho")

    def log_density(self, counts: Counts, alpha: Array, beta: Array, *shared: Array) -> jax.Array:
        """log g, (n, m)."""
        tau, rho = shared
        x, n0, y, n1 = (jnp.asarray(column)[:, None] for column in counts)
        grow0, grow1 = 1 + (n0 - 1) * tau, 1 + (n1 - 1) * tau
        r = rho * jnp.sqrt(n0 * n1 / (grow0 * grow1))
        var0, var1 = alpha * (1 - alpha) * n0 * grow0, beta * (1 - beta) * n1 * grow1
        z0, z1 = (x - n0 * alpha) / jnp.sqrt(var0), (y - n1 * beta) / jnp.sqrt(var1)
        rest = 1 - r**2
        quadratic = (z0**2 - 2 * r * z0 * z1 + z1**2) / rest
        found = -math.log(2 * math.pi) - 0.5 * (jnp.log(var0) + jnp.log(var1) + jnp.log(rest) + quadratic)
        # At the rates 0 and 1 the law is degenerate; they have no area, and count as impossible.
        return jnp.where((var0 > 0) & (var1 > 0) & (rest > 0), found, -jnp.inf)

    def draw(
        self, rng: np.random.Generator, counts: Counts, alpha: Floats, beta: Floats, *shared: Floats
    ) -> tuple[Floats, Floats]:
        """New counts at rates (size, n) and shared parameters (size,): real numbers, each (size, n)."""
        tau, rho = (value[:, None] for value in shared)
        n0, n1 = np.asarray(counts.n0), np.asarray(counts.n1)
        grow0, grow1 = 1 + (n0 - 1) * tau, 1 + (n1 - 1) * tau
        r = rho * np.sqrt(n0 * n1 / (grow0 * grow1))
        z0, z1 = rng.normal(size=(2, *alpha.shape))
        z1 = r * z0 + np.sqrt(1 - r**2) * z1
        sd0, sd1 = np.sqrt(alpha * (1 - alpha) * n0 * grow0), np.sqrt(beta * (1 - beta) * n1 * grow1)
        return n0 * alpha + sd0 * z0, n1 * beta + sd1 * z1

    def log_prior(self, counts: Counts, *shared: Array) -> jax.Array:
        """τ ~ Normal(0, 1e-4) on −1/(max N − 1) < τ < 1; ρ given τ uniform on its support (eq. 10)."""
        tau, rho = shared
        low = least_tau(counts)
        width = self.rho_limit(counts, tau)
        inside = (tau > low) & (tau < 1) & (jnp.abs(rho) < width)
        return jnp.where(inside, log_prior_of_tau(tau, low) - jnp.log(2 * jnp.where(inside, width, 1.0)), -jnp.inf)

    def rho_limit(self, counts: Counts, tau: Array) -> jax.Array:
        """min over bases of sqrt((1+(N0−1)τ)(1+(N1−1)τ)/(N0 N1)), below which |ρ| is."""
        n0, n1 = jnp.asarray(counts.n0), jnp.asarray(counts.n1)
        return jnp.sqrt(jnp.min(jnp.maximum((1 + (n0 - 1) * tau) * (1 + (n1 - 1) * tau), 0.0) / (n0 * n1)))

    def caution(self, counts: ErrorCounts) -> str:
        """The density has no bound where a count is 0 or all of its runs."""
        extreme = at_an_end(counts)
        return (
            f"{extreme} of the {2 * len(counts)} counts are 0 or all of their runs, where a normal density has no"
            " bound as the rate nears 0 or 1: that pulls ε up, by little or by very much; compare"
            " likelihood='beta_binomial'."
            if extreme
            else ""
        )

    def draw_shared(self, rng: np.random.Generator, counts: Counts, size: int) -> dict[str, Floats]:
        """τ, and ρ given it, (size,) each."""
        tau = draw_tau(rng, float(least_tau(counts)), size)
        with jax.enable_x64(True):
            limit = np.array(jax.vmap(lambda value: self.rho_limit(counts, value))(tau))
        return {"tau": tau, "rho": rng.uniform(-limit, limit)}

    def start(self, rng: np.random.Generator, counts: Counts) -> Floats:
        """τ and ρ to start from, (2,)."""
        tau = rng.uniform(0.0, TAU_SD)
        n0, n1 = np.asarray(counts.n0), np.asarray(counts.n1)  # JAX would compile each step of `rho_limit`
        limit = np.sqrt(np.min((1 + (n0 - 1) * tau) * (1 + (n1 - 1) * tau) / (n0 * n1)))
        return np.array([tau, rng.uniform(-0.5, 0.5) * limit])

    def sites(self, counts: Counts) -> tuple[jax.Array, ...]:
        """τ, and ρ, whose range depends on τ."""
        tau = site_between("tau", least_tau(counts), jnp.ones(()), TAU_SCALE)
        limit = self.rho_limit(counts, tau)
        rho = site_between("rho", -limit, limit, limit)
        numpyro.factor("shared", self.log_prior(counts, tau, rho))
        return tau, rho

    def locate(
        self,
        z: jax.Array,
        counts: Counts,
        shared: tuple[jax.Array, ...],
        epsilon: Array | float,
        delta: Array | float,
        strength: Array | float,
    ) -> tuple[jax.Array, jax.Array, jax.Array]:
        """In coordinates that follow the ridge of the law."""
        tau, rho = shared
        return locate_normal(z, counts, tau, rho, epsilon, delta, strength)


BIVARIATE_NORMAL = BivariateNormal()
