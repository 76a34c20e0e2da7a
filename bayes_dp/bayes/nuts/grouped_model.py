"""The hierarchical model of dependent attacks (Appendix C of MCMC-DP-Est): rates around a centre of their group, cut.

Attacks in a group share a challenge point, or are several decision rules on one base, and reach similar rates.
With κ the spread within groups,

    c_g ~ Unif(R_s(ε, δ)),   (α_gj, β_gj) ~ Normal(c_g, κ² I) cut to R(ε, δ),   κ ~ HalfNormal(0.1) or known.

The cut law has a norm Z(c_g, κ, ε, δ) (`cut_normal.py`). As κ → 0 a group is one base with the sums of its counts; as
κ → 0 in groups of one the model is the ungrouped one.

The four images of a layer's quadrilateral are images of a whole group: the centre is folded, the members with it, and
the group's density is the sum over the four. A member's coordinates are centred where its counts and its group's centre
agree that it is (`coordinates.share`): first the difference of its rates, and then its place on the line of that
difference. The ends of that line move at most half as fast as the difference, where those of one rate given the other
move up to e^ε times as fast, which makes walls at which trajectories diverge.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax.scipy.special import logsumexp
from jax.scipy.stats import norm
from numpyro.distributions import constraints

from bayes_dp.bayes.coordinates import LOGISTIC, Guess, locate, place_between, share
from bayes_dp.bayes.groups import Members
from bayes_dp.bayes.layer import images
from bayes_dp.bayes.likelihoods.binomial import BINOMIAL
from bayes_dp.bayes.likelihoods.counts import Array, Counts
from bayes_dp.bayes.nuts.cut_normal import log_normal_mass
from bayes_dp.bayes.nuts.strength import strength_with

__all__ = ["grouped_model", "spread_with"]

_SPREAD_SCALE = 0.02  # of κ below which its coordinate is logarithmic


def grouped_model(members: Members, delta: Array, prior_epsilon: Any, strength: Any, spread: Any, g: int) -> None:
    """The hierarchical model in NumPyro of `g` groups; strength and spread are numbers or priors.

    Sites: "epsilon"; "strength" and "spread", where they have a prior; "alpha" and "beta" (n,), of the members.
    """
    epsilon = numpyro.sample("epsilon", prior_epsilon)
    spread = spread_with(spread) if isinstance(spread, dist.Distribution) else jnp.asarray(spread)
    counts, group = members.counts, jnp.asarray(members.group)
    n = len(counts.x)
    total = Counts(*(jax.ops.segment_sum(jnp.asarray(column), group, g) for column in counts))
    if isinstance(strength, dist.Distribution):
        strength = strength_with(strength, total, epsilon)
    pairs = jax.ops.segment_sum(jnp.asarray(counts.n0) ** 2, group, g) / total.n0
    rate = (total.x + 1) / (total.n0 + 2)
    # The centre scatters around the pooled rates by κ²/J more than binomially.
    correlation = spread**2 * pairs / (total.n0 * rate * (1 - rate))
    centre_at = numpyro.sample("centres", dist.ImproperUniform(constraints.real, (), (g, 2)))
    low, high, log_weight = locate(centre_at, Guess.of(total, correlation), epsilon, delta, strength)
    log_cut = log_normal_mass(low, high, spread, epsilon, delta)

    guess_low, guess_high, low_sd, high_sd = _folded_with(total, group, counts)
    at = numpyro.sample("places", dist.ImproperUniform(constraints.real, (), (n, 2)))
    centre_low, centre_high = low[group], high[group]
    laws = _agreed(centre_low, spread, guess_low, low_sd), _agreed(centre_high, spread, guess_high, high_sd)
    a, b, log_slope = _inside(at, *laws, epsilon, delta)
    log_member = norm.logpdf(a, centre_low, spread) + norm.logpdf(b, centre_high, spread) - log_cut[group]
    numpyro.factor("members", jnp.sum(log_member + log_slope) + jnp.sum(log_weight))

    alpha, beta = images(a, b)
    log_g = jax.ops.segment_sum(BINOMIAL.log_density(counts, alpha, beta), group, g)
    numpyro.factor("errors", jnp.sum(logsumexp(log_g, axis=-1)))
    numpyro.deterministic("folded_low", a)
    numpyro.deterministic("folded_high", b)
    numpyro.deterministic("log_image", log_g - logsumexp(log_g, axis=-1, keepdims=True))


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
        spread, log_slope = place_between("spread", low, jnp.asarray(high), low, _SPREAD_SCALE)
    spread = jnp.maximum(spread, np.finfo(np.float64).tiny)  # against rounding
    numpyro.factor("spread_prior", prior.log_prob(spread) + log_slope)
    return jnp.asarray(numpyro.deterministic("spread", spread))


def _folded_with(total: Counts, group: jax.Array, counts: Counts) -> tuple[jax.Array, ...]:
    """Where each member's counts put it, and how surely, in the image that folds its group: low, high, sd of each."""
    centre = [(value + 1) / (trials + 2) for value, trials in ((total.x, total.n0), (total.y, total.n1))]
    folded = Guess.of(total)
    distance = [jnp.abs(a - folded.low) + jnp.abs(b - folded.high) for a, b in zip(*_images(*centre), strict=True)]
    which = jnp.argmin(jnp.stack(distance, axis=-1), axis=-1)[group][:, None]
    own = [(jnp.asarray(v) + 1) / (jnp.asarray(n) + 2) for v, n in ((counts.x, counts.n0), (counts.y, counts.n1))]
    sds = [
        jnp.sqrt(rate * (1 - rate) / (jnp.asarray(n) + 3)) for rate, n in zip(own, (counts.n0, counts.n1), strict=True)
    ]
    low, high = (jnp.take_along_axis(jnp.stack(one, axis=-1), which, axis=-1)[:, 0] for one in _images(*own))
    swapped = which[:, 0] % 2 == 1
    return low, high, jnp.where(swapped, sds[1], sds[0]), jnp.where(swapped, sds[0], sds[1])


def _images(alpha: Array, beta: Array) -> tuple[list[Array], list[Array]]:
    """The four images, each of which is its own inverse."""
    return [alpha, beta, 1 - alpha, 1 - beta], [beta, alpha, 1 - beta, 1 - alpha]


def _agreed(centre: jax.Array, spread: jax.Array, guess: jax.Array, sd: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Mean and standard deviation of the product of the normal laws of the group and of the counts."""
    weight = spread**2 / (spread**2 + sd**2)
    return centre + weight * (guess - centre), sd * jnp.sqrt(weight)


def _inside(
    z: jax.Array,
    low: tuple[jax.Array, jax.Array],
    high: tuple[jax.Array, jax.Array],
    epsilon: Array,
    delta: Array | float,
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Rates (a, b) in R(ε, δ) at coordinates z (n, 2), and log |d(a, b)/dz|; each (n,).

    `low` and `high` are means and standard deviations of normal laws of a and b. Given b − a, both are normal still.
    """
    (low_mean, low_sd), (high_mean, high_sd) = low, high
    both = jnp.hypot(low_sd, high_sd)
    difference = high_mean - low_mean
    width, log_slope_width = _between(z[:, 0], -jnp.ones(()), jnp.ones(()), difference, both)
    least = jnp.maximum(0.0, 1 - delta - jnp.abs(width)) * jax.nn.sigmoid(-epsilon)  # of a and b
    bottom, top = least + jnp.maximum(0.0, -width), 1 - least - jnp.maximum(0.0, width)
    mean = low_mean - (low_sd / both) ** 2 * (width - difference)
    a, log_slope_a = _between(z[:, 1], bottom, top, mean, low_sd * high_sd / both)
    a, b = (jnp.clip(rate, 0.0, 1.0) for rate in (a, a + width))  # against rounding
    return a, b, log_slope_width + log_slope_a


def _between(
    z: jax.Array, low: jax.Array, high: jax.Array, centre: jax.Array, scale: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """A place between the ends at coordinate z, and log d place/dz."""
    unit = LOGISTIC / scale
    length = high - low
    t, log_slope = share(z, (low - centre) * unit, length * unit)
    return low + length * t, log_slope + jnp.log(length)
