"""Coordinates for gradient samplers: numbers z ∈ R² for each base, of which its error rates are a smooth function.

Where a base has many runs, its counts pin its rates down, whatever (ε, s) are; where it has few, or contradicts (ε, s),
the layer R_s(ε, δ) does. Coordinates that suit both follow the law of the rates given (ε, s) and the counts, or what is
close to it and has closed forms. The interval from A to A + D, in units of the scale of a logistic law centred at 0,
has a point at each share t. Its coordinate z is the logit of its quantile under that law, cut to the interval:

    t = [σ₊(ζ + D) − σ₊(ζ)]/D,   ζ = z − σ₊(A + D) + σ₊(A),   σ₊(x) = log(1 + e^x).

If D is small, t = 1/(1 + e^{−z}) is a share of the interval; if the interval holds the law, A + t D = z is a place that
does not move with the interval; and if the law is far outside, t is close to the nearer end, at the law's scale.

A base's folded rates are found by two such shares: v, along the layer, centred where the counts have |α − β|; and, on
the segment that crosses the layer there, t, centred where the counts are the most likely.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpyro
import numpyro.distributions as dist
from jax.nn import sigmoid, softplus
from numpyro.distributions import constraints

from bayes_dp.bayes.layer import crossing, fold, log_density
from bayes_dp.bayes.likelihoods.counts import Array, Counts

__all__ = ["LOGISTIC", "Guess", "alpha_is_low", "growth", "locate", "place_between", "share"]

LOGISTIC = 1.702  # scale of the logistic law that is closest to the standard normal one, inverse (Haley 1952)
_MOST = 1 - 1e-9  # correlation


class Guess(NamedTuple):
    """Where the counts alone put the folded rates of each base: means, standard deviations, correlation; each (n,)."""

    low: jax.Array
    high: jax.Array
    low_sd: jax.Array
    high_sd: jax.Array
    together: jax.Array

    @classmethod
    def of(cls, counts: Counts, tau: Array | float = 0.0, rho: Array | float = 0.0) -> Guess:
        """Beta(X+1, N0−X+1) and Beta(Y+1, N1−Y+1), with the variances and covariance that decisions correlated by τ
        within and by ρ between the counts have under the bivariate normal law."""
        x, n0, y, n1 = (jnp.asarray(column) for column in counts)
        grow0, grow1 = growth(n0, tau), growth(n1, tau)
        alpha, beta = (x + 1) / (n0 + 2), (y + 1) / (n1 + 2)
        alpha_sd = jnp.sqrt(alpha * (1 - alpha) / (n0 + 3) * grow0)
        beta_sd = jnp.sqrt(beta * (1 - beta) / (n1 + 3) * grow1)
        low, gap = fold(alpha, beta)
        first = alpha_is_low(alpha, beta)
        sds = jnp.where(first, alpha_sd, beta_sd), jnp.where(first, beta_sd, alpha_sd)
        together = rho * jnp.sqrt(n0 * n1 / (grow0 * grow1))
        return cls(low, 1 - gap, *sds, jnp.clip(together, -_MOST, _MOST))


def alpha_is_low(alpha: jax.Array, beta: jax.Array) -> jax.Array:
    """Whether it is α, or 1 − α, that is folded to `low`, and not β or 1 − β."""
    return (alpha < beta) == (alpha + beta < 1)


def growth(n: jax.Array, tau: Array | float) -> jax.Array:
    """By how much τ multiplies the variance of a count of n."""
    return jnp.maximum(1 + (n - 1) * tau, 1e-12)


def locate(
    z: jax.Array, guess: Guess, epsilon: Array | float, delta: Array | float, strength: Array | float
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Folded rates (low, high) of each base at coordinates z (n, 2), and the log density of z, each (n,).

    The density is that of a uniform point of one quadrilateral times ¼, as in `layer.log_density`. ε, δ and s are
    numbers or of shape (n,).
    """
    epsilon, delta, strength = (jnp.asarray(value) for value in (epsilon, delta, strength))
    rest, r = 1 - strength, guess.together
    # high − low is about (1 − v)(1 − δ(1+s)/2).
    spread = (guess.low_sd - guess.high_sd) ** 2 + 2 * (1 - r) * guess.low_sd * guess.high_sd
    steps = LOGISTIC / jnp.sqrt(spread)
    width = (guess.high - guess.low) / (1 - delta * (1 + strength) / 2)
    v, log_slope_v = share(z[:, 0], jnp.minimum(width, 1.0) * steps - steps, steps)
    low, high, low_rate, high_rate = crossing(v, epsilon, delta, strength)
    # The squared distance of (low, high) + t (1−s) (low_rate, high_rate) from the guess is a parabola in t.
    a, b = low_rate / guess.low_sd, high_rate / guess.high_sd
    speed = jnp.sqrt(((a - b) ** 2 + 2 * (1 - r) * a * b) / (1 - r**2))
    c, d = (guess.low - low) / guess.low_sd, (guess.high - high) / guess.high_sd
    ahead = (a * (c - r * d) + b * (d - r * c)) / ((1 - r**2) * speed)
    t, log_slope_t = share(z[:, 1], -LOGISTIC * ahead, LOGISTIC * speed * rest)
    log_weight = log_density(t, v, epsilon, delta, strength) + log_slope_v + log_slope_t
    return low + t * rest * low_rate, high + t * rest * high_rate, log_weight


def share(z: jax.Array, start: jax.Array, length: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The share t ∈ (0, 1) and log dt/dz: see the top, with A = `start` and D = `length` ≥ 0."""
    zeta = z - _rise(start, length)
    tiny = length < 1e-8
    safe = jnp.where(tiny, 1.0, length)
    t = jnp.where(tiny, sigmoid(zeta), _rise(zeta, safe) / safe)
    log_mean = jnp.where(tiny, -length / 2, jnp.log(-jnp.expm1(-safe) / safe))
    return t, log_mean - softplus(-zeta - length) - softplus(zeta)


def place_between(
    name: str, low: jax.Array, high: jax.Array, centre: jax.Array | float, scale: jax.Array | float
) -> tuple[jax.Array, jax.Array]:
    """A number on (low, high) at a NumPyro site for its coordinate, which is linear around `centre` at this scale, and
    its log slope."""
    z = numpyro.sample(f"{name}_place", dist.ImproperUniform(constraints.real, (), ()))
    t, log_slope = share(z, (low - centre) / scale, (high - low) / scale)
    return low + (high - low) * t, log_slope + jnp.log(high - low)


def _rise(x: jax.Array, length: jax.Array) -> jax.Array:
    """log(1 + e^{x + length}) − log(1 + e^x), to full relative precision for small lengths."""
    short = length < 1
    safe = jnp.where(short, length, 1.0)
    return jnp.where(short, jnp.log1p(jnp.expm1(safe) * sigmoid(x)), softplus(x + length) - softplus(x))
