"""The log likelihood of every base at draws of the parameters, by importance sampling of its error rates.

It is an average over 2K pairs of rates: K from the proposal law q of the base's counts, the same for all draws and
evenly spread (a Sobol sequence), and K uniform over the layer R_s(ε, δ) of the draw. Each pair weighs
g / (q/2 + 1/(2|R_s|)) if it lies in the layer (the balance heuristic of Veach and Guibas 1995), which is bounded both
where g is narrow and where the layer is thin.
"""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import logsumexp
from scipy import special
from scipy.stats import qmc

from bayes_dp import region
from bayes_dp.bayes.layer import fold, in_layer, log_layer_area
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.candidates import BetaPair
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.support.arrays import Floats
from bayes_dp.support.workers import jax_must_run

__all__ = ["by_importance"]


_PAIRS = 2048  # K, a power of two as Sobol sequences want it
_DRAWS = 64  # draws worked on at once, to bound memory


def by_importance(
    likelihood: BaseLikelihood,
    counts: Counts,
    epsilon: Floats,
    delta: Floats,
    strength: Floats,
    shared: Floats,
    seed: int,
) -> Floats:
    """log p(X_i, Y_i | draw) at draws (size,) and shared parameters (q, size): an array (size, n)."""
    jax_must_run()
    pair = likelihood.proposal(counts, "posterior")[0]
    u, v = qmc.Sobol(2, rng=np.random.default_rng([seed, 0])).random(_PAIRS).T
    law = [np.asarray(parameter)[:, None] for parameter in pair]
    spread = special.betaincinv(law[0], law[1], u), special.betaincinv(law[2], law[3], v)  # each (n, K)
    log_norm = jnp.asarray((special.betaln(law[0], law[1]) + special.betaln(law[2], law[3]))[:, 0])
    rng = np.random.default_rng([seed, 1])
    parts = []
    with jax.enable_x64(True):
        for p in (slice(at, at + _DRAWS) for at in range(0, len(epsilon), _DRAWS)):
            e, d, s = epsilon[p], delta[p], strength[p]
            inside = region.sample(e[:, None], d[:, None], s[:, None], (len(e), _PAIRS), rng)
            found = _averages(likelihood, counts, pair, log_norm, spread, e, d, s, shared[:, p].T, inside)
            parts.append(np.asarray(found))
    return np.concatenate(parts)


@partial(jax.jit, static_argnames="likelihood")
def _averages(
    likelihood: BaseLikelihood,
    counts: Counts,
    pair: BetaPair,
    log_norm: jax.Array,
    spread: tuple[jax.Array, jax.Array],
    epsilon: jax.Array,
    delta: jax.Array,
    strength: jax.Array,
    shared: jax.Array,
    inside: jax.Array,
) -> jax.Array:
    """The log averages, (size, n)."""

    def one(draw: tuple[jax.Array, ...]) -> jax.Array:
        e, d, s, values, points = draw
        n = len(log_norm)
        alpha, beta = (
            jnp.concatenate([drawn, jnp.broadcast_to(points[:, i], (n, len(points)))], axis=1)
            for i, drawn in enumerate(spread)
        )
        log_area = log_layer_area(e, d, s)
        log_q = pair.log_density(alpha, beta) - log_norm[:, None]
        log_mixture = jnp.logaddexp(log_q, -log_area) - jnp.log(2.0)
        log_g = likelihood.log_density(counts, alpha, beta, *values)
        legal = in_layer(*fold(alpha, beta), e, d, s).at[:, spread[0].shape[1] :].set(True)
        log_weight = jnp.where(legal, log_g - log_area - log_mixture, -jnp.inf)
        return logsumexp(log_weight, axis=1) - jnp.log(alpha.shape[1])

    return jax.lax.map(one, (epsilon, delta, strength, shared, inside))
