"""MHAAR experiment version"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.scipy.special import logsumexp
from bayes_dp.bayes.likelihoods import *
from bayes_dp.bayes import priors
from bayes_dp import region

Floats = NDArray = Any
TARGET = 0.28
LOCAL = False


class State(NamedTuple):
    epsilon: Any
    strength: Any
    alpha: Any
    beta: Any


class Noise(NamedTuple):
    move: Any  # (2,)
    log_uniform: Any
    alpha: Any  # (n, K)
    beta: Any
    race: Any  # (n, K)
    rw: Any # (n,2)
    rwu: Any # n


class Target(NamedTuple):
    counts: Counts
    delta: Any
    prior_epsilon: Any
    prior_strength: Any  # None: fixed
    bounds: Any  # (2, 2)
    proposal: Any  # None: constant weights


class Info(NamedTuple):
    acceptance: Any
    accepted: Any


def log_layer_area(epsilon, delta, s):
    rate = delta * (1 - s) * (2 - delta - s * delta) - (1 - delta) ** 2 * jnp.expm1(-(1 - s) * epsilon) / (1 + jnp.exp(-epsilon))
    return jnp.log(2 * rate) - s * epsilon - jnp.log1p(jnp.exp(-s * epsilon))


def fold(a, b):
    lo, hi = jnp.minimum(a, b), jnp.maximum(a, b)
    above = a + b > 1
    return jnp.where(above, 1 - hi, lo), jnp.where(above, lo, 1 - hi)


def in_layer(lowest, gap, epsilon, delta, s):
    return (jnp.exp(-epsilon) * (gap - delta) <= lowest) & (jnp.exp(-s * epsilon) * (gap - s * delta) > lowest)


def log_sum(inside, log_weight):
    if log_weight is None:
        return jnp.log(jnp.sum(inside, -1))
    return logsumexp(jnp.where(inside, log_weight, -jnp.inf), -1)


def log_prior(target, epsilon, strength):
    value = target.prior_epsilon.log_prob(epsilon)
    return value if target.prior_strength is None else value + target.prior_strength.log_prob(strength)


def kernel(state, noise, target, step, likelihood, local):
    n, k = noise.alpha.shape
    move = step @ noise.move
    epsilon, strength = state.epsilon * jnp.exp(move[0]), state.strength + move[1]
    theta = jnp.stack([epsilon, strength])
    allowed = jnp.all((target.bounds[:, 0] <= theta) & (theta <= target.bounds[:, 1])) & (epsilon > 0) & (strength < 1)
    epsilon, strength = jnp.where(allowed, epsilon, state.epsilon), jnp.where(allowed, strength, state.strength)

    first = jnp.arange(k) == 0
    alpha = jnp.where(first, state.alpha[:, None], noise.alpha)
    beta = jnp.where(first, state.beta[:, None], noise.beta)
    log_weight = None
    if target.proposal is not None:
        log_weight = likelihood.log_density(target.counts, alpha, beta) - target.proposal.log_density(alpha, beta)
    lowest, gap = fold(alpha, beta)
    inside = in_layer(lowest, gap, state.epsilon, target.delta, state.strength) | first
    inside_new = in_layer(lowest, gap, epsilon, target.delta, strength)
    log_ratio = (
        jnp.sum(log_sum(inside_new, log_weight) - log_sum(inside, log_weight))
        - n * (log_layer_area(epsilon, target.delta, strength) - log_layer_area(state.epsilon, target.delta, state.strength))
        + log_prior(target, epsilon, strength) - log_prior(target, state.epsilon, state.strength)
        + move[0]
    )
    log_ratio = jnp.where(allowed & ~jnp.isnan(log_ratio), log_ratio, -jnp.inf)
    accepted = noise.log_uniform < log_ratio
    inside = jnp.where(accepted, inside_new, inside)
    time = noise.race if log_weight is None else jnp.log(noise.race) - log_weight
    pick = jnp.argmin(jnp.where(inside, time, jnp.inf), -1)[:, None]
    alpha, beta = (jnp.take_along_axis(v, pick, -1)[:, 0] for v in (alpha, beta))
    epsilon, strength = jnp.where(accepted, epsilon, state.epsilon), jnp.where(accepted, strength, state.strength)
    if local:
        sd0 = jnp.sqrt((target.counts.x + 1) * (target.counts.n0 - target.counts.x + 1) / (target.counts.n0 + 2) ** 3)
        sd1 = jnp.sqrt((target.counts.y + 1) * (target.counts.n1 - target.counts.y + 1) / (target.counts.n1 + 2) ** 3)
        a2, b2 = alpha + sd0 * noise.rw[:, 0], beta + sd1 * noise.rw[:, 1]
        ok = (a2 > 0) & (a2 < 1) & (b2 > 0) & (b2 < 1)
        a2, b2 = jnp.where(ok, a2, alpha), jnp.where(ok, b2, beta)
        g2 = likelihood.log_density(target.counts, a2[:, None], b2[:, None])[:, 0]
        g1 = likelihood.log_density(target.counts, alpha[:, None], beta[:, None])[:, 0]
        acc = ok & in_layer(*fold(a2, b2), epsilon, target.delta, strength) & (noise.rwu < g2 - g1)
        alpha, beta = jnp.where(acc, a2, alpha), jnp.where(acc, b2, beta)
    return State(epsilon, strength, alpha, beta), Info(jnp.exp(jnp.minimum(log_ratio, 0)), accepted)


@partial(jax.jit, static_argnames=("likelihood", "local"))
def run(states, log_scale, noise, target, factor, gain, count, likelihood, local):
    size = noise.log_uniform.shape[0]
    trace = (states, Info(log_scale, log_scale > 0))
    trace = jax.tree.map(lambda v: jnp.zeros((size, *v.shape), v.dtype), trace)

    def iterate(i, carry):
        states, log_scale, trace = carry
        now = jax.tree.map(lambda v: lax.dynamic_index_in_dim(v, i, keepdims=False), noise)
        step = jnp.exp(log_scale)[:, None, None] * factor
        states, info = jax.vmap(kernel, in_axes=(0, 0, None, 0, None, None))(states, now, target, step, likelihood, local)
        log_scale = log_scale + gain[i] * (info.acceptance - TARGET)
        trace = jax.tree.map(lambda t, v: lax.dynamic_update_index_in_dim(t, v, i, 0), trace, (states, info))
        return states, log_scale, trace

    return lax.fori_loop(0, count, iterate, (states, log_scale, trace))


def slide(alpha, beta, epsilon, delta, s, rng):
    above = alpha + beta > 1
    a, b = np.where(above, 1 - alpha, alpha), np.where(above, 1 - beta, beta)
    swap = a > b
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    width = np.minimum(b - a, 1 - delta * (1 + s) / 2)
    low = np.maximum(0, (1 - delta - width) / (1 + np.exp(epsilon)))
    high = (1 - s * delta - width) / (1 + np.exp(s * epsilon))
    a = low + rng.random(a.shape) * (high - low)
    b = a + width
    a, b = np.where(swap, b, a), np.where(swap, a, b)
    return np.where(above, 1 - a, a), np.where(above, 1 - b, b)


def start(rng, proposal, delta, bounds):
    (elo, ehi), (slo, shi) = bounds
    a, b = (v[0, :, 0] for v in proposal.draw(rng, 1, 1))
    lo = max(elo, float(np.max(region.level(a, b, delta))))
    if not lo < ehi:
        lo = elo
    eps = lo + rng.random() * min(ehi - lo, 2.0)
    hi = min(shi, float(np.min(region.strength_level(a, b, eps, delta))))
    s = slo + rng.random() * ((hi if hi > slo else shi) - slo) if shi > slo else slo
    c, d = slide(a, b, eps, delta, s, rng)
    inside = region.in_layer(a, b, eps, delta, s)
    a, b = np.where(inside, a, c), np.where(inside, b, d)
    inside = region.in_layer(a, b, eps, delta, s)
    if (~inside).any():
        print('uniform fallback', (~inside).sum())
        p = region.sample(eps, delta, s, len(a), rng)
        a, b = np.where(inside, a, p[:, 0]), np.where(inside, b, p[:, 1])
    return State(np.float64(eps), np.float64(s), a, b)


def noise_source(rngs, proposal, k, size, local):
    pool = ThreadPoolExecutor(min(len(rngs), os.cpu_count() or 1))
    n = len(proposal.a0)

    def fill(buffer, rng, c, count):
        buffer.move[:count, c] = rng.standard_normal((count, 2))
        buffer.log_uniform[:count, c] = -rng.standard_exponential(count)
        buffer.alpha[:count, c], buffer.beta[:count, c] = proposal.draw(rng, count, k)
        buffer.race[:count, c] = rng.standard_exponential((count, n, k))
        if local:
            u = np.exp(rng.uniform(np.log(.03), np.log(3), (count, n, 1)))
            buffer.rw[:count, c] = rng.standard_normal((count, n, 2)) * u
            buffer.rwu[:count, c] = -rng.standard_exponential((count, n))

    def begin(count):
        C = len(rngs)
        buffer = Noise(*(np.empty((size, C, *shape)) for shape in ((2,), (), (n, k), (n, k), (n, k), (n, 2), (n,))))
        return buffer, [pool.submit(fill, buffer, rng, c, count) for c, rng in enumerate(rngs)]

    def finish(p):
        for f in p[1]:
            f.result()
        return p[0]

    return begin, finish, pool


def sample(counts, delta, prior_e=None, prior_s=None, strength="free", aux="posterior", K=16, chains=4, draws=2000, warmup=1000, seed=0, local=LOCAL, likelihood=BINOMIAL):
    pe = priors.prior_of("epsilon", prior_e)
    ps = priors.prior_of("strength", prior_s)
    be = priors.support("epsilon", pe)
    bs = priors.support("strength", ps) if strength == "free" else (strength, strength)
    bounds = np.array([be, bs])
    cts = Counts.of(counts)
    prop, const = likelihood.proposal(cts, aux)
    leaves = lambda p: jax.tree.map(lambda v: np.asarray(v, float), p)
    target = Target(cts, float(delta), leaves(pe), leaves(ps) if strength == "free" else None, bounds, None if const else prop)
    rngs = [np.random.Generator(np.random.SFC64(q)) for q in np.random.SeedSequence(seed).spawn(chains)]
    post, _ = likelihood.proposal(cts, "posterior")
    states = [start(r, post, delta, bounds) for r in rngs]
    states = jax.tree.map(lambda *v: np.stack(v), *states)
    n = len(counts)
    size = int(np.clip(2.6e6 / (chains * n * K), 1, 250))
    begin, finish, pool = noise_source(rngs, prop, K, size, local)
    edges = np.unique(np.rint(np.array([.05, .1, .2, .4, .7, 1]) * warmup).astype(int))
    plan = []
    for a, b in zip([0, *edges], edges):
        starts = range(a, b, size)
        plan += [(min(size, b - i), i - a, i + size >= b) for i in starts]
    plan += [(min(size, draws - i), None, False) for i in range(0, draws, size)]
    d = 2 if strength == "free" else 1
    cov = np.diag([.25, .04 if d == 2 else 0.])
    base_scale = 2.38 / np.sqrt(d)
    log_scale = np.full(chains, np.log(base_scale))
    factor = np.linalg.cholesky(cov + 1e-300 * np.eye(2)) if d == 2 else np.sqrt(cov)
    out, window, info = [], [], []
    with jax.enable_x64(True), pool:
        pending = begin(plan[0][0])
        for q, (count, offset, last) in enumerate(plan):
            noise = finish(pending)
            if q + 1 < len(plan):
                pending = begin(plan[q + 1][0])
            gain = np.zeros(size)
            if offset is not None:
                gain[:count] = 1 / (1 + offset + np.arange(count)) ** .6
            states, log_scale, trace = run(states, log_scale, noise, target, factor, gain, count, likelihood, local)
            tr, inf = jax.tree.map(lambda v: np.asarray(v)[:count], trace)
            if offset is None:
                out.append(tr); info.append(inf)
            else:
                window.append((np.stack([np.log(tr.epsilon), tr.strength], -1), inf.accepted))
                if last:
                    th = np.concatenate([w[0] for w in window]); acc = sum(w[1].sum() for w in window)
                    window = []
                    S = np.einsum('ici,icj->ij' if 0 else 'ica,icb->ab', th - th.mean(0), th - th.mean(0)) / (th.shape[0] * chains)
                    sc = np.exp(np.mean(log_scale)) / base_scale
                    prev = factor @ factor.T * sc**2
                    cov = (acc * S + 10 * prev) / (acc + 10)
                    factor = np.linalg.cholesky(cov) if d == 2 else np.sqrt(cov * [[1, 0], [0, 0]])
                    log_scale = np.full(chains, np.log(base_scale))
                    if q + 1 < len(plan) and plan[q + 1][1] is None:
                        pass
        
    cat = lambda parts: jax.tree.map(lambda *v: np.swapaxes(np.concatenate(v), 0, 1), *parts)
    return cat(out), cat(info), factor
