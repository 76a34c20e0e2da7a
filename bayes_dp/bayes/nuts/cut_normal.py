"""The norm Z of the normal law cut to R(ε, δ), of rates around their group's centre (Appendix C of MCMC-DP-Est).

It is the normal probability of R(ε, δ): an integral over one rate of the difference of two normal distribution
functions of the other.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.stats import norm

from bayes_dp.bayes.likelihoods.counts import Array

__all__ = ["log_normal_mass"]

_ORDER = 32  # Gauss-Legendre nodes a panel
_REACH = 8.5  # standard deviations beyond which the normal law is left out


def boundary(rate: Array, epsilon: Array, delta: Array | float) -> jax.Array:
    """f(α) = max(0, 1 − δ − e^ε α, e^{−ε}(1 − δ − α)), the lower boundary of R(ε, δ)."""
    rest = 1 - delta
    return jnp.maximum(0.0, jnp.maximum(rest - jnp.exp(epsilon) * rate, jnp.exp(-epsilon) * (rest - rate)))


def log_normal_mass(low: Array, high: Array, spread: Array, epsilon: Array, delta: Array | float) -> jax.Array:
    """log Z: of the probability of R(ε, δ) under Normal((low, high), κ² I), for low and high of shape (G,).

    ∫ φ((b − high)/κ)/κ [Φ((1 − f(1−b) − low)/κ) − Φ((f(b) − low)/κ)] db over [0, 1], by Gauss-Legendre panels between
    the kinks of f within reach of the normal law.
    """
    x, w = np.polynomial.legendre.leggauss(_ORDER)
    corner = (1 - delta) * jnp.exp(-epsilon) / (1 + jnp.exp(-epsilon))
    inner = jnp.stack([jnp.asarray(value) for value in (0.0, delta, corner)])
    kinks = jnp.sort(jnp.concatenate([inner, jnp.array([0.5]), 1 - inner]))
    low, high = jnp.asarray(low)[:, None, None], jnp.asarray(high)[:, None, None]
    ends = jnp.clip(kinks[None, :, None], high - _REACH * spread, high + _REACH * spread)
    start, length = ends[:, :-1], jnp.diff(ends, axis=1)
    b = start + length * (x + 1) / 2
    density = norm.pdf(b, high, spread)
    inside = norm.cdf((1 - boundary(1 - b, epsilon, delta) - low) / spread) - norm.cdf(
        (boundary(b, epsilon, delta) - low) / spread
    )
    return jnp.log(jnp.sum(density * inside * length * (w / 2), axis=(1, 2)))
