"""The layer R_s(ε, δ) of `bayes_dp.region` in JAX, for samplers: inside, log area, and coordinates that follow (ε, s).

Points (α, β) are folded as there: `low` is the least of α, β, 1−α, 1−β, and `gap` is one minus the greatest. Along a
line of constant width w = |α − β| the layer is one interval of `low`,

    outer ≤ low < outer + length,   outer = max(0, 1−δ−w) q(ε),   outer + length = (1−sδ−w) q(sε),   q(t) = 1/(1+e^t),

and a share u ∈ [0, 1] of it is a place that moves with (ε, s). Nothing overflows, and small differences are taken from
q(sε) − q(ε) = q(sε) (1 − q(ε)) (1 − e^{−(1−s)ε}). Arguments broadcast.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

__all__ = ["edges", "fold", "in_layer", "log_layer_area"]


def fold(alpha: jax.Array, beta: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`low` and `gap` of points."""
    low, high = jnp.minimum(alpha, beta), jnp.maximum(alpha, beta)
    above = alpha + beta > 1
    return jnp.where(above, 1 - high, low), jnp.where(above, low, 1 - high)


def in_layer(low: jax.Array, gap: jax.Array, epsilon: jax.Array, delta: jax.Array, strength: jax.Array) -> jax.Array:
    """Whether folded points lie in R(ε, δ) and not in R(sε, sδ).

    Of the four inequalities that define R(ε, δ) only 1 − δ − β ≤ e^ε α can fail for a folded point.
    """
    return (jnp.exp(-epsilon) * (gap - delta) <= low) & (jnp.exp(-strength * epsilon) * (gap - strength * delta) > low)


def log_layer_area(epsilon: jax.Array, delta: jax.Array, strength: jax.Array) -> jax.Array:
    """log |R_s| = log 2{δ(1−s)(2−δ−sδ) q(sε) + (1−δ)² [q(sε) − q(ε)]}."""
    rest = 1 - strength
    rate = delta * rest * (2 - delta - strength * delta) + (1 - delta) ** 2 * _drop(epsilon, strength)
    return jnp.log(2 * rate) - strength * epsilon - jnp.log1p(jnp.exp(-strength * epsilon))


def edges(width: jax.Array, epsilon: jax.Array, delta: jax.Array, strength: jax.Array) -> tuple[jax.Array, jax.Array]:
    """`outer` and `length` at widths w; the length is negative where w > 1 − sδ, which no point of the layer has."""
    reach = jnp.maximum(0.0, 1 - delta - width)
    beyond = jnp.minimum((1 - strength) * delta, 1 - strength * delta - width)
    return reach * _q(epsilon), (reach * _drop(epsilon, strength) + beyond) * _q(strength * epsilon)


def _q(t: jax.Array) -> jax.Array:
    return jnp.exp(-t) / (1 + jnp.exp(-t))


def _drop(epsilon: jax.Array, strength: jax.Array) -> jax.Array:
    """(q(sε) − q(ε)) / q(sε)."""
    return -jnp.expm1(-(1 - strength) * epsilon) / (1 + jnp.exp(-epsilon))
