"""The NumPyro site of the attack strength s, in a coordinate without bounds.

The levels m of the bases, log gap/low of their folded rates, exceed sε, about. So the density falls within the error of
the counts where sε comes to the least level, but towards s = 0 nothing holds it. In logit s that is a long tail beside
a steep wall, and trajectories that come out of the tail run far into the wall and diverge. The coordinate is therefore
linear in log(1 + sε/m): in sε up to the least level, in log sε beyond it, and logarithmic near the ends of the range.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro

from bayes_dp.bayes.coordinates import Guess, place_between
from bayes_dp.bayes.likelihoods.counts import Array, Counts

__all__ = ["strength_with"]

_SCALE = 0.1  # of the logistic law whose tail is that of log(1 + sε/m) at s = 0


def strength_with(prior: Any, counts: Counts, epsilon: Array | float) -> jax.Array:
    """A site for s, with its prior, in the coordinate that suits the counts."""
    low, high = (jnp.asarray(getattr(prior.support, f"{end}_bound", k)) for k, end in enumerate(("lower", "upper")))
    unit = _least_level(counts) / epsilon
    bottom, top = jnp.log1p(low / unit), jnp.log1p(high / unit)
    y, log_slope = place_between("strength", bottom, top, bottom, _SCALE)
    length, number = high - low, np.finfo(np.float64)
    s = jnp.clip(unit * jnp.expm1(y), low + length * number.tiny, high - length * number.eps)  # against rounding
    numpyro.factor("strength_prior", prior.log_prob(s) + log_slope + y + jnp.log(unit))
    return jnp.asarray(numpyro.deterministic("strength", s))


def _least_level(counts: Counts) -> jax.Array:
    """The least of the bases' levels by their counts, none of which counts for less than its standard error."""
    x, n0, y, n1 = (jnp.asarray(column) for column in counts)
    # Laws that draw numbers of errors that are not counts may give some beyond the runs.
    guess = Guess.of(Counts(jnp.clip(x, 0.0, n0), n0, jnp.clip(y, 0.0, n1), n1))
    gap = 1 - guess.high
    error = jnp.hypot(guess.low_sd / guess.low, guess.high_sd / gap)
    return jnp.min(jnp.maximum(jnp.log(gap / guess.low), error))
