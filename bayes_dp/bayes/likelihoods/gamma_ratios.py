"""Logarithms of binomial coefficients, of binomial probabilities and of ratios of gamma functions, in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln, xlog1py, xlogy

from bayes_dp.bayes.likelihoods.counts import Array
from bayes_dp.beta import stirling_series

__all__ = ["log_binomial", "log_choose", "log_rise"]


def log_choose(n: Array, k: Array) -> jax.Array:
    """log C(n, k)."""
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def log_binomial(x: Array, n: Array, rate: Array) -> jax.Array:
    """log P of x of n errors at a rate, independent."""
    return log_choose(n, x) + xlogy(x, rate) + xlog1py(n - x, -rate)


def log_rise(a: Array, k: Array) -> jax.Array:
    """log Γ(a + k)/Γ(a) for a > 0 and k ≥ 0, several times as fast as with gammaln.

    Stirling's series at a + 8, which it takes to 2e-13, and a(a+1)…(a+7) for the step back.
    """
    high = a + 8
    top = high + k
    series = (high - 0.5) * jnp.log1p(k / high) + k * (jnp.log(top) - 1) + stirling_series(top) - stirling_series(high)
    return jnp.asarray(series - jnp.log(_eight(a + k)) + jnp.log(_eight(a)))


def _eight(a: Array) -> jax.Array:
    """a(a+1)…(a+7): with u = a(a+7), the other pairs of opposite factors are u + 6, u + 10 and u + 12."""
    u = a * (a + 7)
    return jnp.asarray(u * (u + 6) * ((u + 10) * (u + 12)))
