"""One iteration of MHAAR, with its acceptance ratios: three moves, each of which leaves the joint posterior as it is.

1. `averaged_move`: Algorithm 1 of MCMC-DP-Est, or 6 where the likelihood has shared parameters. Propose θ' = (ε', s',
   shared'), judge it by likelihoods averaged over K pairs (α, β) per base, of which the first is the current one; do so
   T times, then redraw the current pair among the K.
2. `local_move`: a random walk of each base's pair within the layer. Where no auxiliary pair ever falls into the layer,
   because the layer is thin or the counts contradict it, this is what moves the pairs.
3. `shift_move`: propose θ' and carry each pair along to the same place in the new layer (`layer.edges`). Where the
   pairs pin (ε, s) down, this is what moves them.

Move 1 averages over the pairs, move 3 holds their places in the layer; each is good where the other is slow (Yu & Meng
2011, "To center or not to center"). All randomness comes in as `Noise`, so that an iteration is a pure function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import logsumexp

from bayes_dp.bayes.compiling import compiler_options, uses_earlier_emitters
from bayes_dp.bayes.layer import edges, fold, in_layer, log_layer_area
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.candidates import BetaPair
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.mhaar.noise import Noise
from bayes_dp.support.arrays import Floats

__all__ = ["Info", "State", "Target", "advance", "kernel", "log_g_of", "program"]


_ACCEPTANCE = 0.28  # that the warm-up aims at: 0.35 is best for a Gaussian in two dimensions, less with noise
_MIRROR = 0.1  # share of the local moves that also try the image (1−α, 1−β)


class State(NamedTuple):
    epsilon: jax.Array  # ()
    strength: jax.Array  # ()
    alpha: jax.Array  # (n,)
    beta: jax.Array  # (n,)
    shared: Any = np.zeros(0)  # (q,) parameters of the likelihood


class Target(NamedTuple):
    """The posterior. `prior_strength` is None where s is fixed, `proposal` where the weights g/q are constant."""

    counts: Counts
    delta: jax.Array
    prior_epsilon: Any
    prior_strength: Any
    bounds: jax.Array  # (2, 2): ends of the supports of ε and s
    proposal: BetaPair | None

    def log_prior(self, epsilon: Any, strength: Any) -> jax.Array:
        value: jax.Array = self.prior_epsilon.log_prob(epsilon)
        return value if self.prior_strength is None else value + self.prior_strength.log_prob(strength)


class Info(NamedTuple):
    averaged: jax.Array  # () mean acceptance probability of the averaged move's proposals
    shift: jax.Array  # () acceptance probability of the shift move


def kernel(
    state: State, noise: Noise, target: Target, factors: jax.Array, likelihood: BaseLikelihood
) -> tuple[State, Info]:
    """One iteration. `factors` (2, 2 + q, 2 + q): the square roots of the covariances of the two proposals of θ."""
    state, averaged = averaged_move(state, noise, target, factors[0], likelihood)
    state, log_g = local_move(state, noise, target, likelihood)
    state, shift = shift_move(state, log_g, noise, target, factors[1], likelihood)
    return state, Info(averaged, shift)


def averaged_move(
    state: State, noise: Noise, target: Target, factor: jax.Array, likelihood: BaseLikelihood
) -> tuple[State, jax.Array]:
    """Algorithm 1: A = (ε'/ε) p(ε',s')/p(ε,s) Π_j Σ_k w'_jk/Σ_k w_jk, where w_jk = 1[(α,β)_jk ∈ R_s] (g/q)_jk/|R_s|.

    One set of pairs serves T proposals, which is as valid as one: given the pairs, each step leaves p(ε,s) Π_j Σ_k w_jk
    as it is. Drawing the pairs costs far more than a proposal. T = 1 is the algorithm as printed.
    """
    first = jnp.arange(noise.alpha.shape[-1]) == 0
    alpha = jnp.where(first, state.alpha[:, None], noise.alpha)
    beta = jnp.where(first, state.beta[:, None], noise.beta)
    log_q = None if target.proposal is None else target.proposal.log_density(alpha, beta)

    def log_weights(shared: jax.Array) -> jax.Array | None:
        return None if log_q is None else likelihood.log_density(target.counts, alpha, beta, *shared) - log_q

    folded = fold(alpha, beta)
    # The current pair is in the current layer; only rounding could say otherwise.
    inside = in_layer(*folded, state.epsilon, target.delta, state.strength) | first

    def propose(carry: Any, random: Any) -> Any:
        (state, log_weight, _, total), (normal, log_chance) = carry, random
        step = factor @ normal
        epsilon, strength, shared, log_ratio = _propose(state, step, step[1], target, likelihood)
        new_weight = log_weights(shared) if likelihood.shared else log_weight
        new_inside = in_layer(*folded, epsilon, target.delta, strength)
        new_total = _log_sums(new_inside, new_weight)
        log_ratio += jnp.sum(new_total - total)
        new = State(epsilon, strength, state.alpha, state.beta, shared), new_weight, new_inside, new_total
        return _choose(log_chance < log_ratio, new, carry), jnp.exp(jnp.minimum(log_ratio, 0.0))

    log_weight = log_weights(state.shared)
    start = state, log_weight, inside, _log_sums(inside, log_weight)
    (state, log_weight, inside, _), chances = lax.scan(propose, start, (noise.step[:-1], noise.log_chance[:-1]))
    # Exponential times divided by the weights: the first to arrive is k with probability ∝ w_k.
    time = noise.race if log_weight is None else jnp.log(noise.race) - log_weight
    pick = jnp.argmin(jnp.where(inside, time, jnp.inf), axis=-1)[:, None]
    alpha, beta = (jnp.take_along_axis(pairs, pick, axis=-1)[:, 0] for pairs in (alpha, beta))
    return state._replace(alpha=alpha, beta=beta), jnp.mean(chances)


def local_move(state: State, noise: Noise, target: Target, likelihood: BaseLikelihood) -> tuple[State, jax.Array]:
    """A random walk of each pair in the signed width β − α and the share u; also returns log g of the pairs, (n,)."""
    epsilon, strength, alpha, beta, shared = state
    x, n0, y, n1 = target.counts
    spread = jnp.sqrt((x + 1) * (n0 - x + 1) / (n0 + 2) ** 3 + (y + 1) * (n1 - y + 1) / (n1 + 2) ** 3)
    across = jnp.minimum(1.0, spread / edges(jnp.zeros(()), epsilon, target.delta, strength)[1])
    width, share, length, above = _place(state, target)
    width = width + spread * noise.walk[0]
    share = share + across * noise.walk[1]
    share = jnp.abs(share - 2 * jnp.round(share / 2))  # reflected at 0 and 1
    outer, new_length = edges(jnp.abs(width), epsilon, target.delta, strength)
    low, above = outer + share * new_length, above ^ (noise.mirror < _MIRROR)
    alpha_more, beta_more = jnp.maximum(-width, 0.0), jnp.maximum(width, 0.0)
    new_alpha = jnp.where(above, 1 - low - beta_more, low + alpha_more)
    new_beta = jnp.where(above, 1 - low - alpha_more, low + beta_more)
    legal = (new_length > 0) & (new_alpha >= 0) & (new_alpha <= 1) & (new_beta >= 0) & (new_beta <= 1)
    new_alpha, new_beta = jnp.where(legal, new_alpha, alpha), jnp.where(legal, new_beta, beta)
    pairs = (alpha, beta), (new_alpha, new_beta)
    log_g, new_log_g = (log_g_of(likelihood, target, *pair, shared) for pair in pairs)
    log_ratio = new_log_g - log_g + jnp.log(jnp.where(legal, new_length, length) / length)
    accept = legal & (noise.log_chance_local < log_ratio)
    moved = state._replace(alpha=jnp.where(accept, new_alpha, alpha), beta=jnp.where(accept, new_beta, beta))
    return moved, jnp.where(accept, new_log_g, log_g)


def shift_move(
    state: State, log_g: jax.Array, noise: Noise, target: Target, factor: jax.Array, likelihood: BaseLikelihood
) -> tuple[State, jax.Array]:
    """Propose log ε', log s' and shared', and carry every pair along its line of constant width to its share there.

    A = (ε's'/εs) p(ε',s')/p(ε,s) Π_j (g'_j/g_j) (length'_j/|R_s'|)/(length_j/|R_s|), the lengths being the Jacobian.
    Where the counts pin sε down, log ε and log s lie on a line, but log ε and s on a curve.
    """
    step = factor @ noise.step[-1]
    growth = state.strength * jnp.expm1(step[1])
    epsilon, strength, shared, log_ratio = _propose(state, step, growth, target, likelihood)
    width, share, length, above = _place(state, target)
    outer, new_length = edges(jnp.abs(width), epsilon, target.delta, strength)
    shift = outer + share * new_length - fold(state.alpha, state.beta)[0]
    shift = jnp.where(above, -shift, shift)
    alpha, beta = (jnp.clip(rate + shift, 0.0, 1.0) for rate in (state.alpha, state.beta))
    new_log_g = log_g_of(likelihood, target, alpha, beta, shared)
    log_ratio += step[1] + jnp.sum(new_log_g - log_g + jnp.log(new_length / length))
    log_ratio = jnp.where(jnp.all(new_length > 0), log_ratio, -jnp.inf)
    state = _choose(noise.log_chance[-1] < log_ratio, State(epsilon, strength, alpha, beta, shared), state)
    return state, jnp.exp(jnp.minimum(log_ratio, 0.0))


def _propose(
    state: State, step: jax.Array, increase: jax.Array, target: Target, likelihood: BaseLikelihood
) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """ε', s', the shared parameters', and the part of the log ratio that needs no pairs.

    `step` holds the changes of log ε, of s in the move's own scale (`increase` is that of s itself) and of the shared
    parameters. Outside the supports the ratio is −∞, and the parameters are those of the state.
    """
    log_growth, shared = step[0], state.shared + step[2:]
    epsilon, strength = state.epsilon * jnp.exp(log_growth), state.strength + increase
    theta = jnp.stack([epsilon, strength])
    legal = jnp.all((target.bounds[:, 0] <= theta) & (theta <= target.bounds[:, 1])) & (epsilon > 0) & (strength < 1)
    change = jnp.zeros(())
    if likelihood.shared:
        before, after = (likelihood.log_prior(target.counts, *value) for value in (state.shared, shared))
        legal &= after > -jnp.inf
        change = jnp.where(legal, after - before, 0.0)
        shared = jnp.where(legal, shared, state.shared)
    epsilon, strength = jnp.where(legal, epsilon, state.epsilon), jnp.where(legal, strength, state.strength)
    area = log_layer_area(epsilon, target.delta, strength) - log_layer_area(state.epsilon, target.delta, state.strength)
    prior = target.log_prior(epsilon, strength) - target.log_prior(state.epsilon, state.strength)
    log_ratio = log_growth + prior + change - len(target.counts.x) * area
    return epsilon, strength, shared, jnp.where(legal & ~jnp.isnan(log_ratio), log_ratio, -jnp.inf)


def _choose(accept: jax.Array, new: Any, old: Any) -> Any:
    return jax.tree.map(lambda one, other: jnp.where(accept, one, other), new, old)


def _log_sums(inside: jax.Array, log_weight: jax.Array | None) -> jax.Array:
    """log Σ_k w_jk up to a constant, (n,)."""
    if log_weight is None:
        return jnp.log(jnp.sum(inside, axis=-1))
    return logsumexp(jnp.where(inside, log_weight, -jnp.inf), axis=-1)


def _place(state: State, target: Target) -> tuple[jax.Array, jax.Array, jax.Array, jax.Array]:
    """β − α, the share u, the length of the interval it is a share of, and whether α + β > 1; each (n,)."""
    width = state.beta - state.alpha
    outer, length = edges(jnp.abs(width), state.epsilon, target.delta, state.strength)
    share = jnp.clip((fold(state.alpha, state.beta)[0] - outer) / length, 0.0, 1.0)
    return width, share, length, state.alpha + state.beta > 1


def log_g_of(
    likelihood: BaseLikelihood, target: Target, alpha: jax.Array, beta: jax.Array, shared: jax.Array
) -> jax.Array:
    """log g of one pair a base, (n,)."""
    value: jax.Array = likelihood.log_density(target.counts, alpha[:, None], beta[:, None], *shared)[:, 0]
    return value


def advance(
    states: State,
    log_scales: jax.Array,
    noise: Noise,
    target: Target,
    factors: Floats,
    gain: Floats,
    iterations: int,
    likelihood: BaseLikelihood,
) -> Any:
    """Some iterations of all chains: the last states and scales, and the states and infos of every iteration.

    Chains are the leading axis of the states and of `log_scales` (chains, 2). Iterations, then chains, lead in the
    noise and in what is returned of every iteration; there they are B ≥ `iterations`, of which the last are idle, so
    that one compiled program serves blocks of any length. Each of the two proposals has its covariance, given by
    `factors` (2, 2 + q, 2 + q), times a scale of the chain's own, which follows the acceptance by Robbins and
    Monro's rule with the gains (B,), zero once the warm-up is over.
    """
    small = uses_earlier_emitters(noise.alpha.shape[-2] * noise.alpha.shape[-1])
    return program(small)(states, log_scales, noise, target, factors, gain, iterations, likelihood)


@lru_cache
def program(small: bool) -> Callable[..., Any]:
    """`advance` as JAX compiles it for a small number of auxiliary pairs, or a large one."""
    return jax.jit(_advance, static_argnames="likelihood", compiler_options=compiler_options(3, small))


def _advance(
    states: State,
    log_scales: jax.Array,
    noise: Noise,
    target: Target,
    factors: jax.Array,
    gain: jax.Array,
    iterations: int,
    likelihood: BaseLikelihood,
) -> tuple[State, jax.Array, State, Info]:
    def iterate(i: jax.Array, carry: Any) -> Any:
        states, log_scales, trace = carry
        now = jax.tree.map(lambda v: lax.dynamic_index_in_dim(v, i, keepdims=False), noise)
        scaled = jnp.exp(log_scales)[:, :, None, None] * factors
        states, info = jax.vmap(kernel, in_axes=(0, 0, None, 0, None))(states, now, target, scaled, likelihood)
        log_scales += gain[i] * (jnp.stack(info, axis=-1) - _ACCEPTANCE)
        trace = jax.tree.map(lambda t, v: lax.dynamic_update_index_in_dim(t, v, i, 0), trace, (states, info))
        return states, log_scales, trace

    nothing = states, Info(states.epsilon, states.epsilon)
    trace = jax.tree.map(lambda v: jnp.zeros((len(gain), *v.shape)), nothing)
    states, log_scales, (passed, infos) = lax.fori_loop(0, iterations, iterate, (states, log_scales, trace))
    return states, log_scales, passed, infos
