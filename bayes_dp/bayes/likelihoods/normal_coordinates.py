"""Coordinates of error rates for gradient samplers, under the bivariate normal law of counts.

With c = X/N and u = (1 + (N−1)τ)/N, a rate a has the residual

    p(a) = (a − c)/sqrt(u a(1−a)),

which rises from 0 to 1; by Wilson's formula a = [c + p²u/2 + p sqrt(u(c(1−c) + p²u/4))]/(1 + p²u). As a function of the
residuals of both rates the law is a normal density with variances 1 and correlation r, times what varies slowly. Near
|r| = 1 it is a narrow ridge: a straight one here, a curved one in the plane of the rates. The layer cuts it off.

The folded rates are found one after the other. `low`, given `high`, has the normal law of its residual, with mean
r p(high) and variance 1 − r², cut to what the layer leaves it. `high` has Normal(0, 1), cut to the layer's range, times
the probability Z(p) of that cut of the other law: this is the ridge with its ends. Normal laws are replaced by logistic
ones, and Z by straight lines between knots. A coordinate is the logit of a quantile under its law. The laws follow all
parameters, so the coordinates hardly depend on them, or on each other.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.nn import sigmoid, softplus
from scipy.special import expit

from bayes_dp.bayes.coordinates import LOGISTIC, alpha_is_low, growth
from bayes_dp.bayes.layer import fold, log_layer_area
from bayes_dp.bayes.likelihoods.counts import Array, Counts

__all__ = ["locate_normal"]

_LEAST = 1e-14  # a rate
_MOST = 1 - 1e-12  # |r|
_FLOOR = 1e-6  # of Z, relative to its greatest value
_KNOTS = np.linspace(-8.0, 8.0, 33)  # logits of shares
_SHARE, _REST = np.append(0.0, expit(_KNOTS)), np.append(1.0, expit(-_KNOTS))  # below each cell's start, and above it
_CELL = np.concatenate([_SHARE[1:2], np.diff(_SHARE[1:17]), -np.diff(_REST[16:]), _REST[-1:]])
_BELOW = np.tri(len(_CELL), k=-1)


def locate_normal(
    z: jax.Array,
    counts: Counts,
    tau: Array | float,
    rho: Array | float,
    epsilon: Array | float,
    delta: Array | float,
    strength: Array | float,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Folded rates (low, high) of each base at coordinates z (n, 2), and the log density of z, each (n,).

    As `coordinates.locate`: the density is that of a uniform point of one quadrilateral times ¼.
    """
    epsilon, delta, strength = (jnp.asarray(value)[..., None] for value in (epsilon, delta, strength))
    low_law, high_law, r = _laws(counts, tau, rho)
    sd = jnp.sqrt(1 - r**2)

    def bounds(high: jax.Array, p: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The ends of `low` at `high`, as places of the logistic law around r p."""
        least = jnp.maximum(jnp.exp(-epsilon) * (1 - delta - high), _LEAST)
        most = jnp.minimum(jnp.exp(-strength * epsilon) * (1 - strength * delta - high), high)
        unit = LOGISTIC / sd
        return (low_law.residual(least) - r * p) * unit, (low_law.residual(jnp.maximum(most, least)) - r * p) * unit

    corner = jnp.maximum((1 - delta) * sigmoid(-epsilon), _LEAST)
    top = jnp.minimum(1 - strength * delta, 1 - _LEAST)
    ends = (high_law.residual(corner) * LOGISTIC, high_law.residual(top) * LOGISTIC)
    p = _cut(*ends, _SHARE[1:], _REST[1:])[0] / LOGISTIC
    log_z = _log_between(*bounds(high_law.rate(p)[0], p))
    height = jnp.exp(log_z - jnp.max(log_z, axis=-1, keepdims=True)) + _FLOOR
    share, rest, log_slope = _quantile(z[:, :1], height)
    place, log_slope_p = _cut(*ends, share, rest)
    p = place / LOGISTIC
    high, log_rate = high_law.rate(p)
    log_high = log_slope + log_slope_p + log_rate

    place, log_slope = _cut(*bounds(high, p), sigmoid(z[:, 1:]), sigmoid(-z[:, 1:]))
    low, log_rate = low_law.rate(r * p + place * (sd / LOGISTIC))
    log_low = log_slope + _log_logistic(z[:, 1:]) + jnp.log(sd) + log_rate
    weight = log_high + log_low - 2 * np.log(LOGISTIC) - log_layer_area(epsilon, delta, strength)
    return low[:, 0], high[:, 0], weight[:, 0]


class _Law(NamedTuple):
    """The residual of a rate: c and u, each (n, 1)."""

    centre: jax.Array
    unit: jax.Array

    def residual(self, rate: jax.Array) -> jax.Array:
        return (rate - self.centre) / jnp.sqrt(self.unit * rate * (1 - rate))

    def rate(self, p: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The rate with residual p, and log d rate/dp."""
        c, size = self.centre, p**2 * self.unit
        root = jnp.abs(p) * jnp.sqrt(self.unit * (c * (1 - c) + size / 4))
        # (a − c)² = p² u a(1−a) has two solutions; the one nearer to an end is found without cancellation.
        a, b = c + size / 2 + root, 1 - c + size / 2 + root
        a, b = jnp.where(p < 0, c**2 / a, a / (1 + size)), jnp.where(p > 0, (1 - c) ** 2 / b, b / (1 + size))
        a, b = jnp.maximum(a, _LEAST), jnp.maximum(b, _LEAST)
        return a, 0.5 * jnp.log(self.unit) + 1.5 * jnp.log(a * b) + jnp.log(2 / (a * (1 - c) + b * c))


def _laws(counts: Counts, tau: Array | float, rho: Array | float) -> tuple[_Law, _Law, jax.Array]:
    """Of the rates that are folded to `low` and `high`, and r (n, 1)."""
    x, n0, y, n1 = (jnp.asarray(column)[:, None] for column in counts)
    grow0, grow1 = growth(n0, tau), growth(n1, tau)
    alpha, beta = jnp.clip(x / n0, 0.0, 1.0), jnp.clip(y / n1, 0.0, 1.0)  # the law's own draws go beyond
    low, gap = fold(alpha, beta)
    first = alpha_is_low(alpha, beta)
    units = grow0 / n0, grow1 / n1
    r = jnp.clip(rho * jnp.sqrt(n0 * n1 / (grow0 * grow1)), -_MOST, _MOST)
    return _Law(low, jnp.where(first, *units)), _Law(1 - gap, jnp.where(first, *units[::-1])), r


def _cut(start: jax.Array, end: jax.Array, share: Array, rest: Array) -> tuple[jax.Array, jax.Array]:
    """The quantile of a share of the logistic law cut to [start, end], and its log slope; `rest` is 1 − share."""
    below = jnp.log(sigmoid(start) * rest + sigmoid(end) * share)
    above = jnp.log(sigmoid(-start) * rest + sigmoid(-end) * share)
    return below - above, _log_between(start, end) - below - above


def _log_between(start: jax.Array, end: jax.Array) -> jax.Array:
    """log of the probability of [start, end] under the logistic law."""
    return jnp.log(jnp.maximum(-jnp.expm1(start - end), 1e-300)) - softplus(start) - softplus(-end)


def _log_logistic(z: jax.Array) -> jax.Array:
    return -softplus(z) - softplus(-z)


def _quantile(z: jax.Array, height: jax.Array) -> tuple[jax.Array, jax.Array, jax.Array]:
    """The share whose quantile has the logit z (n, 1), its rest and its log slope in z.

    The density of shares goes straight between `height` (n, knots) at the knots, and is constant outside of them.
    """
    height = jnp.concatenate([height[:, :1], height, height[:, -1:]], axis=-1)
    mass = (height[:, 1:] + height[:, :-1]) / 2 * _CELL
    below = mass @ _BELOW.T
    total = below[:, -1:] + mass[:, -1:]
    target = sigmoid(z) * total
    cell = jnp.arange(len(_CELL)) == jnp.sum(below[:, 1:] <= target, axis=-1, keepdims=True)

    def of_cell(values: Array) -> jax.Array:
        return jnp.sum(jnp.where(cell, values, 0.0), axis=-1, keepdims=True)

    first, rise, width = of_cell(height[:, :-1]), of_cell(jnp.diff(height, axis=-1)), of_cell(_CELL)
    part = jnp.maximum(target - of_cell(below), 0.0)
    density = jnp.sqrt(jnp.maximum(first**2 + 2 * rise / width * part, (_FLOOR / 2) ** 2))
    step = jnp.minimum(2 * part / (first + density), width)
    log_slope = jnp.log(total) + _log_logistic(z) - jnp.log(density)
    return of_cell(_SHARE) + step, of_cell(_REST) - step, log_slope
