"""Logarithms of binomial coefficients, of binomial probabilities and of ratios of gamma functions, in JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax.scipy.special import gammaln, xlog1py, xlogy

from bayes_dp.bayes.likelihoods.counts import Array
from bayes_dp.beta import stirling_series

__all__ = ["log_binomial", "log_choose", "log_rise", "log_rises"]


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
    return jnp.asarray(_series(a, k) - jnp.log(_eight(a + k)) + jnp.log(_eight(a)))


def log_rises(a: Array, j: Array, b: Array, k: Array) -> jax.Array:
    """log_rise(a, j) + log_rise(b, k) of a and b from 1e-150 on, with one logarithm for the steps back."""
    steps = (_eight(a + j) / _eight(a)) * (_eight(b + k) / _eight(b))
    return jnp.asarray(_series(a, j) + _series(b, k) - jnp.log(steps))


def _series(a: Array, k: Array) -> jax.Array:
    """log_rise of a + 8."""
    high = a + 8
    top = high + k
    slope = (high - 0.5) * jnp.log1p(k / high) + k * (jnp.log(top) - 1)
    return jnp.asarray(slope + stirling_series(top) - stirling_series(high))


def _eight(a: Array) -> jax.Array:
    """a(a+1)…(a+7): with u = a(a+7), the other pairs of opposite factors are u + 6, u + 10 and u + 12."""
    u = a * (a + 7)
    return jnp.asarray(u * (u + 6) * ((u + 10) * (u + 12)))
