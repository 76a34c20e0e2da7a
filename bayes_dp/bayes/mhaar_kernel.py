"""One iteration of MHAAR for the latent error rates: three moves, each of which leaves the joint posterior as it is.

1. `averaged_move`: Algorithm 1 of MCMC-DP-Est. Propose (ε', s'), judge it by likelihoods averaged over K pairs (α, β) per
   base, of which the first is the current one, then redraw the current pair among the K.
2. `local_move`: a random walk of each base's pair within the layer. Where no auxiliary pair ever falls into the layer,
   because the layer is thin or the counts contradict it, this is what moves the pairs.
3. `shift_move`: propose (ε', s') and carry each pair along to the same place in the new layer (`layer.edges`). Where the
   pairs pin (ε, s) down, this is what moves (ε, s).

1 treats the pairs as given, 3 treats their places in the layer as given; each is good where the other is slow (Yu & Meng
2011, "To center or not to center"). All randomness comes in as `Noise`, so that an iteration is a pure function.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import logsumexp
from numpy.typing import NDArray

from bayes_dp import region
from bayes_dp.bayes.layer import edges, fold, in_layer, log_layer_area
from bayes_dp.bayes.likelihoods import Array, BetaPair, Binomial, Counts
from bayes_dp.checks import InputError

__all__ = ["Info", "Noise", "State", "Target", "advance", "draw_noise", "init", "kernel", "log_prior"]

Floats = NDArray[np.float64]

_ACCEPTANCE = 0.28  # that the warm-up aims at; 0.35 is best for a Gaussian in two dimensions, and less with noise
_MIRROR = 0.1  # share of the local moves that also try the image (1−α, 1−β)
_LOCAL_SCALES = np.log(0.03), np.log(3.0)  # of the local moves, in standard errors of the counts; log-uniform between


class State(NamedTuple):
    epsilon: Array  # ()
    strength: Array  # ()
    alpha: Array  # (n,)
    beta: Array  # (n,)


class Noise(NamedTuple):
    """The random numbers of an iteration."""

    step: Array  # (2, 2) normal: for the averaged and for the shift move
    log_chance: Array  # (2,) logarithm of uniform: for the same
    alpha: Array  # (n, K) auxiliary pairs; column 0 is not used
    beta: Array  # (n, K)
    race: Array  # (n, K) exponential
    walk: Array  # (2, n) normal times the scale
    mirror: Array  # (n,) uniform
    log_chance_local: Array  # (n,) logarithm of uniform


class Target(NamedTuple):
    """The posterior. `prior_strength` is None where s is fixed, `proposal` where the weights g/q are constant."""

    counts: Counts
    delta: Array
    prior_epsilon: Any
    prior_strength: Any
    bounds: Array  # (2, 2): ends of the supports of ε and s
    proposal: BetaPair | None


class Info(NamedTuple):
    averaged: Array  # () acceptance probability of the averaged move
    shift: Array  # () acceptance probability of the shift move


def kernel(
    state: State, noise: Noise, target: Target, steps: Array, likelihood: Binomial
) -> tuple[State, Info]:
    """One iteration. `steps` (2, 2, 2) are the factors of the covariance of the two proposals of (log ε, s)."""
    state, averaged = averaged_move(state, noise, target, steps[0], likelihood)
    state, log_g = local_move(state, noise, target, likelihood)
    state, shift = shift_move(state, log_g, noise, target, steps[1], likelihood)
    return state, Info(averaged, shift)


def averaged_move(
    state: State, noise: Noise, target: Target, factor: Array, likelihood: Binomial
) -> tuple[State, jax.Array]:
    """Algorithm 1: A = (ε'/ε) p(ε',s')/p(ε,s) Π_j Σ_k w'_jk/Σ_k w_jk, where w_jk = 1[(α,β)_jk ∈ R_s] (g/q)_jk/|R_s|."""
    epsilon, strength, log_ratio = _propose(state, factor @ noise.step[0], target)
    first = jnp.arange(noise.alpha.shape[-1]) == 0
    alpha = jnp.where(first, jnp.asarray(state.alpha)[:, None], noise.alpha)
    beta = jnp.where(first, jnp.asarray(state.beta)[:, None], noise.beta)
    log_weight = None
    if target.proposal is not None:
        log_weight = likelihood.log_density(target.counts, alpha, beta) - target.proposal.log_density(alpha, beta)
    folded = fold(alpha, beta)
    # The current pair is in the current layer; only rounding could say otherwise.
    now = in_layer(*folded, jnp.asarray(state.epsilon), target.delta, jnp.asarray(state.strength)) | first
    then = in_layer(*folded, epsilon, target.delta, strength)
    log_ratio += jnp.sum(_log_sum(then, log_weight) - _log_sum(now, log_weight))
    accept = noise.log_chance[0] < log_ratio
    # Exponential times divided by the weights: the first to arrive is k with probability ∝ w_k.
    time = noise.race if log_weight is None else jnp.log(noise.race) - log_weight
    pick = jnp.argmin(jnp.where(jnp.where(accept, then, now), time, jnp.inf), axis=-1)[:, None]
    alpha, beta = (jnp.take_along_axis(pairs, pick, axis=-1)[:, 0] for pairs in (alpha, beta))
    moved = State(jnp.where(accept, epsilon, state.epsilon), jnp.where(accept, strength, state.strength), alpha, beta)
    return moved, jnp.exp(jnp.minimum(log_ratio, 0.0))


def local_move(state: State, noise: Noise, target: Target, likelihood: Binomial) -> tuple[State, jax.Array]:
    """A random walk of each pair in the signed width β − α and the share u; also returns log g of the pairs, (n,)."""
    epsilon, delta, strength, alpha, beta = state.epsilon, target.delta, state.strength, state.alpha, state.beta
    x, n0, y, n1 = target.counts
    spread = jnp.sqrt((x + 1) * (n0 - x + 1) / (n0 + 2) ** 3 + (y + 1) * (n1 - y + 1) / (n1 + 2) ** 3)
    across = jnp.minimum(1.0, spread / edges(jnp.zeros(()), epsilon, delta, strength)[1])
    width, share, length, above = _place(state, target)
    width = width + spread * noise.walk[0]
    share = share + across * noise.walk[1]
    share = jnp.abs(share - 2 * jnp.round(share / 2))  # reflected at 0 and 1
    outer, new_length = edges(jnp.abs(width), epsilon, delta, strength)
    low, above = outer + share * new_length, above ^ (noise.mirror < _MIRROR)
    to_left, to_right = jnp.maximum(-width, 0.0), jnp.maximum(width, 0.0)
    new_alpha = jnp.where(above, 1 - low - to_right, low + to_left)
    new_beta = jnp.where(above, 1 - low - to_left, low + to_right)
    legal = (new_length > 0) & (new_alpha >= 0) & (new_alpha <= 1) & (new_beta >= 0) & (new_beta <= 1)
    new_alpha, new_beta = jnp.where(legal, new_alpha, alpha), jnp.where(legal, new_beta, beta)
    log_g, new_log_g = (_log_density(likelihood, target, *pair) for pair in ((alpha, beta), (new_alpha, new_beta)))
    log_ratio = new_log_g - log_g + jnp.log(jnp.where(legal, new_length, length) / length)
    accept = legal & (noise.log_chance_local < log_ratio)
    new = State(epsilon, strength, jnp.where(accept, new_alpha, alpha), jnp.where(accept, new_beta, beta))
    return new, jnp.where(accept, new_log_g, log_g)


def shift_move(
    state: State, log_g: jax.Array, noise: Noise, target: Target, factor: Array, likelihood: Binomial
) -> tuple[State, jax.Array]:
    """Propose (ε', s') and move every pair along its line of constant width to the same share of the new layer.

    A = (ε'/ε) p(ε',s')/p(ε,s) Π_j g'_j/g_j · (length'_j/|R_s'|) / (length_j/|R_s|), the lengths being the Jacobian.
    """
    step = factor @ noise.step[1]
    epsilon, strength, log_ratio = _propose(state, step.at[1].set(state.strength * jnp.expm1(step[1])), target)
    log_ratio += step[1]
    width, share, length, above = _place(state, target)
    outer, new_length = edges(jnp.abs(width), epsilon, target.delta, strength)
    legal = jnp.all(new_length > 0)
    shift = outer + share * new_length - fold(jnp.asarray(state.alpha), jnp.asarray(state.beta))[0]
    shift = jnp.where(above, -shift, shift)
    alpha, beta = (jnp.clip(rate + shift, 0.0, 1.0) for rate in (state.alpha, state.beta))
    log_ratio += jnp.sum(_log_density(likelihood, target, alpha, beta) - log_g + jnp.log(new_length / length))
    log_ratio = jnp.where(legal, log_ratio, -jnp.inf)
    accept = noise.log_chance[1] < log_ratio
    moved = State(epsilon, strength, alpha, beta)
    chosen = State(*(jnp.where(accept, new, old) for new, old in zip(moved, state, strict=True)))
    return chosen, jnp.exp(jnp.minimum(log_ratio, 0.0))


def _propose(state: State, step: jax.Array, target: Target) -> tuple[jax.Array, jax.Array, jax.Array]:
    """ε', s' and the part of the log ratio that needs no pairs; −∞, with (ε, s) itself, outside the supports."""
    epsilon, strength = state.epsilon * jnp.exp(step[0]), state.strength + step[1]
    low, high = jnp.asarray(target.bounds).T
    theta = jnp.stack([epsilon, strength])
    legal = jnp.all((low <= theta) & (theta <= high)) & (epsilon > 0) & (strength < 1)
    epsilon, strength = jnp.where(legal, epsilon, state.epsilon), jnp.where(legal, strength, state.strength)
    area = log_layer_area(epsilon, target.delta, strength)
    area -= log_layer_area(jnp.asarray(state.epsilon), target.delta, jnp.asarray(state.strength))
    prior = log_prior(target, epsilon, strength) - log_prior(target, state.epsilon, state.strength)
    log_ratio = step[0] + prior - len(target.counts.x) * area
    return epsilon, strength, jnp.where(legal & ~jnp.isnan(log_ratio), log_ratio, -jnp.inf)


def log_prior(target: Target, epsilon: Array, strength: Array) -> Any:
    value = target.prior_epsilon.log_prob(epsilon)
    return value if target.prior_strength is None else value + target.prior_strength.log_prob(strength)


def _log_sum(inside: jax.Array, log_weight: jax.Array | None) -> jax.Array:
    if log_weight is None:
        return jnp.log(jnp.sum(inside, axis=-1))
    return logsumexp(jnp.where(inside, log_weight, -jnp.inf), axis=-1)


def _place(state: State, target: Target) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """β − α, the share u, the length of the interval it is a share of, and whether α + β > 1; each (n,)."""
    alpha, beta = jnp.asarray(state.alpha), jnp.asarray(state.beta)
    width = beta - alpha
    outer, length = edges(jnp.abs(width), jnp.asarray(state.epsilon), target.delta, jnp.asarray(state.strength))
    share = jnp.clip((fold(alpha, beta)[0] - outer) / length, 0.0, 1.0)
    return width, share, length, alpha + beta > 1


def _log_density(likelihood: Binomial, target: Target, alpha: Array, beta: Array) -> jax.Array:
    """log g of one pair a base, (n,)."""
    return likelihood.log_density(target.counts, alpha[:, None], beta[:, None])[:, 0]


@partial(jax.jit, static_argnames=("likelihood",))
def advance(
    states: State,
    log_scales: Array,
    noise: Noise,
    target: Target,
    factor: Array,
    gain: Array,
    count: Array,
    likelihood: Binomial,
) -> tuple[State, jax.Array, State, Info]:
    """`count` iterations of all chains: the last states and scales, and the states and infos of every iteration.

    Chains are the leading axis of the states and of `log_scales` (chains, 2). Iterations, then chains, lead in the noise
    and in what is returned of every iteration: there they are B ≥ count, the ones beyond `count` being idle, so that one
    compiled program serves blocks of any length. The proposals have the covariance factor `factor` (2, 2) times the scale of the
    chain, which follows its acceptance by Robbins and Monro's rule with the gains (B,), zero once the warm-up is over.
    """
    size = noise.mirror.shape[0]

    def iterate(i: jax.Array, carry: Any) -> Any:
        states, log_scales, trace = carry
        now = jax.tree.map(lambda v: lax.dynamic_index_in_dim(v, i, keepdims=False), noise)
        steps = jnp.exp(log_scales)[:, :, None, None] * factor
        states, info = jax.vmap(kernel, in_axes=(0, 0, None, 0, None))(states, now, target, steps, likelihood)
        log_scales += gain[i] * (jnp.stack(info, axis=-1) - _ACCEPTANCE)
        trace = jax.tree.map(lambda t, v: lax.dynamic_update_index_in_dim(t, v, i, 0), trace, (states, info))
        return states, log_scales, trace

    info = Info(jnp.zeros(len(states.epsilon)), jnp.zeros(len(states.epsilon)))
    trace = jax.tree.map(lambda v: jnp.zeros((size, *v.shape)), (states, info))
    states, log_scales, (passed, infos) = lax.fori_loop(0, count, iterate, (states, log_scales, trace))
    return states, log_scales, passed, infos


def draw_noise(rng: np.random.Generator, proposal: BetaPair, count: int, n_auxiliaries: int) -> Noise:
    """The random numbers of one chain for `count` iterations, (count, ...).

    They come from NumPy because it draws Beta variates ten times as fast as JAX, and most of the running time is that.
    """
    n = len(proposal.a0)
    step, log_chance = rng.standard_normal((count, 2, 2)), -rng.standard_exponential((count, 2))
    alpha, beta = proposal.draw(rng, count, n_auxiliaries)
    race = rng.standard_exponential((count, n, n_auxiliaries))
    walk = rng.standard_normal((count, 2, n)) * np.exp(rng.uniform(*_LOCAL_SCALES, (count, 1, n)))
    return Noise(
        step, log_chance, alpha, beta, race, walk, rng.random((count, n)), -rng.standard_exponential((count, n))
    )


def init(rng: np.random.Generator, target: Target, posterior: BetaPair) -> State:
    """An over-dispersed start of positive density: pairs from their law given the counts alone, `posterior`, an ε above
    most of their levels and an s below all their strengths, as far as the supports allow; then pairs that are not in
    the layer are moved into it along the line of constant width.
    """
    delta, (epsilon_ends, strength_ends) = float(target.delta), np.asarray(target.bounds)
    for _ in range(100):
        alpha, beta = (pairs[0, :, 0] for pairs in posterior.draw(rng, 1, 1))
        level = np.quantile(np.minimum(region.level(alpha, beta, delta), 50.0), rng.uniform(0.5, 1.0))
        epsilon = _within(rng, (level + 0.1) * np.exp(rng.uniform(0.0, 0.7)), *epsilon_ends)
        level = np.min(region.strength_level(alpha, beta, epsilon, delta))
        strength = _within(rng, rng.uniform(0.0, 1.0) * level, *strength_ends)
        if np.isfinite(float(log_prior(target, epsilon, strength))):
            break
    else:
        raise InputError(f"the priors have no density at epsilon = {epsilon:g} and strength = {strength:g}, a possible start")
    place = _into_layer(rng, alpha, beta, epsilon, delta, strength)
    inside = region.in_layer(alpha, beta, epsilon, delta, strength)
    alpha, beta = (np.where(inside, old, new) for old, new in zip((alpha, beta), place, strict=True))
    return State(np.float64(epsilon), np.float64(strength), alpha, beta)


def _within(rng: np.random.Generator, value: float, low: float, high: float) -> float:
    """`value` if it is inside (low, high), otherwise a point near the end that it is beyond."""
    if low < value < high or low == high:
        return min(max(value, low), high)
    room = min(high - low, 1.0) * rng.uniform(0.0, 0.5)
    return low + room if value <= low else high - room


def _into_layer(
    rng: np.random.Generator, alpha: Floats, beta: Floats, epsilon: float, delta: float, strength: float
) -> tuple[Floats, Floats]:
    """Points of R_s(ε, δ) of about the same widths as (α, β)."""
    width = np.minimum(np.abs(alpha - beta), 1 - 0.5 * (1 + strength) * delta)
    width = np.minimum(width, 1 - 1e-12)  # at δ = 0 the layer has no points of width 1
    outer = np.maximum(0.0, 1 - delta - width) * region.corner(epsilon, 0.0)
    inner = (1 - strength * delta - width) * region.corner(strength * epsilon, 0.0)
    low = outer + rng.uniform(0.05, 0.95, len(width)) * (inner - outer)
    less, more, above = low, low + width, alpha + beta > 1
    less, more = np.where(above, 1 - more, less), np.where(above, 1 - less, more)
    return np.where(alpha <= beta, less, more), np.where(alpha <= beta, more, less)
