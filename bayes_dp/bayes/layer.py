"""The layer R_s(ε, δ) of `bayes_dp.region` in JAX, for samplers: inside, log area, and coordinates that follow (ε, s).

Points (α, β) are folded as there: `low` is the least of α, β, 1−α, 1−β, and `gap` is one minus the greatest. Along a
line of constant width w = |α − β| the layer is one interval of `low`,

    outer ≤ low < outer + length,   outer = max(0, 1−δ−w) q(ε),   outer + length = (1−sδ−w) q(sε),   q(t) = 1/(1+e^t),

and a share u ∈ [0, 1] of it is a place that moves with (ε, s). Nothing overflows, and small differences are taken from
q(sε) − q(ε) = q(sε) (1 − q(ε)) (1 − e^{−(1−s)ε}). Arguments broadcast.

`crossing` and `log_density` are the bilinear map of `region.layer_map` in two parts, for gradients: at a given v it is
a segment that crosses the layer, along which a point moves linearly. All is smooth in (ε, s, v), up to s → 1.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

__all__ = ["Crossing", "crossing", "edges", "fold", "images", "in_layer", "log_density", "log_layer_area"]


class Crossing(NamedTuple):
    """The folded points (low, high) + t (1−s) (low_rate, high_rate), from the outer boundary, t = 0, to the inner one.

    In the terms of `region.layer_map`, t = 1 − u.
    """

    low: jax.Array
    high: jax.Array
    low_rate: jax.Array
    high_rate: jax.Array


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


def crossing(v: jax.Array, epsilon: jax.Array, delta: jax.Array, strength: jax.Array) -> Crossing:
    """The segment of constant v, which runs from the β axis (v = 0) to the diagonal (v = 1)."""
    _, outer, drop = _corners(epsilon, delta, strength)
    low, low_rate = v * _q(strength * epsilon) * outer, v * _q(strength * epsilon) * drop
    return Crossing(low, low + (1 - v) * (1 - delta), low_rate, low_rate + (1 - v) * delta)


def log_density(t: jax.Array, v: jax.Array, epsilon: jax.Array, delta: jax.Array, strength: jax.Array) -> jax.Array:
    """log of the density of (t, v) for a uniform point of one quadrilateral times its share ¼ of the layer.

    It is log J/|R_s|, with J the Jacobian of the map; the factor (1 − s) q(sε) that both have is left out of both.
    """
    inner, outer, drop = _corners(epsilon, delta, strength)
    width = v * drop * (1 - delta + delta * (1 - strength) * t) + (1 - v) * delta * (t * inner + (1 - t) * outer)
    return jnp.log(width) - jnp.log(2 * ((1 - delta) * drop + delta * inner))


def images(low: jax.Array, high: jax.Array) -> tuple[jax.Array, jax.Array]:
    """α and β of the four points that are folded onto (low, high), each (..., 4)."""
    return (
        jnp.stack([low, high, 1 - low, 1 - high], axis=-1),
        jnp.stack([high, low, 1 - high, 1 - low], axis=-1),
    )


def _corners(epsilon: jax.Array, delta: jax.Array, strength: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """x_s/q(sε), x/q(sε) and (x_s − x)/((1 − s) q(sε)), where x and x_s are the corners on the diagonal."""
    rest = 1 - strength
    decay = rest * epsilon
    tiny = decay < 1e-5  # where the quotient is expanded, as its derivative would cancel
    safe = jnp.where(tiny, 1.0, decay)
    mean = jnp.where(tiny, 1 - decay / 2 + decay**2 / 6, -jnp.expm1(-safe) / safe)
    odds = 1 + jnp.exp(-epsilon)
    inner = 1 - strength * delta
    outer = (1 - delta) * jnp.exp(-decay) * (1 + jnp.exp(-strength * epsilon)) / odds
    return inner, outer, delta + (1 - delta) * epsilon * mean / odds


def _q(t: jax.Array) -> jax.Array:
    return jnp.exp(-t) / (1 + jnp.exp(-t))


def _drop(epsilon: jax.Array, strength: jax.Array) -> jax.Array:
    """(q(sε) − q(ε)) / q(sε)."""
    return -jnp.expm1(-(1 - strength) * epsilon) / (1 + jnp.exp(-epsilon))
