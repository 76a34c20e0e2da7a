"""Slow, obvious versions of fast routines, to test and to time them against."""

import numpy as np
from scipy.special import logsumexp, xlog1py, xlogy
from scipy.stats import binom

from bayes_dp import region


def inside(alpha, beta, epsilon, delta):
    """Whether (α, β) lies in R(ε, δ), by its four inequalities."""
    grown, c = np.exp(epsilon), 1 - delta
    return (
        (grown * alpha + beta >= c)
        & (alpha + grown * beta >= c)
        & (grown * (1 - alpha) + 1 - beta >= c)
        & (1 - alpha + grown * (1 - beta) >= c)
    )


def log_layer(alpha, beta, epsilon, delta, s):
    """The log density of the uniform law on R_s(ε, δ)."""
    layer = inside(alpha, beta, epsilon, delta) & ~inside(alpha, beta, s * epsilon, s * delta)
    area = 2 * ((1 - s * delta) ** 2 / (1 + np.exp(s * epsilon)) - (1 - delta) ** 2 / (1 + np.exp(epsilon)))
    return np.where(layer, -np.log(area), -np.inf)


def mcmc_dp_est(counts, delta, *, iterations, n_auxiliaries, sds, start, seed):
    """Algorithm 1 of MCMC-DP-Est in NumPy, vectorised over bases and auxiliary pairs: draws of ε and s, (iterations,).

    ε ~ HalfNormal(variance 10), s ~ Uniform(0, 1); `sds` are those of the proposals of log ε and s.
    """
    rng = np.random.default_rng(seed)
    x, n0, y, n1 = (
        column[:, None].astype(float)
        for column in (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    )
    n, bases = len(x), np.arange(len(x))

    def log_weights(log_g, alpha, beta, epsilon, s):
        return log_g + log_layer(alpha, beta, epsilon, delta, s)

    epsilon, s = start
    alpha, beta = np.empty((2, n, n_auxiliaries))
    alpha[:, 0], beta[:, 0] = region.sample(epsilon, delta, s, n, rng).T
    draws = np.empty((2, iterations))
    for i in range(iterations):
        new_epsilon, new_s = epsilon * np.exp(sds[0] * rng.standard_normal()), s + sds[1] * rng.standard_normal()
        alpha[:, 1:], beta[:, 1:] = rng.random((2, n, n_auxiliaries - 1))
        log_g = xlogy(x, alpha) + xlog1py(n0 - x, -alpha) + xlogy(y, beta) + xlog1py(n1 - y, -beta)
        weights = log_weights(log_g, alpha, beta, epsilon, s)
        if 0 < new_s < 1:
            new_weights = log_weights(log_g, alpha, beta, new_epsilon, new_s)
            log_ratio = np.sum(logsumexp(new_weights, axis=1) - logsumexp(weights, axis=1))
            log_ratio += np.log(new_epsilon / epsilon) - (new_epsilon**2 - epsilon**2) / 20
            if np.log(rng.random()) < log_ratio:
                epsilon, s, weights = new_epsilon, new_s, new_weights
        cumulated = np.cumsum(np.exp(weights - weights.max(axis=1, keepdims=True)), axis=1)
        pick = np.sum(cumulated < rng.random((n, 1)) * cumulated[:, -1:], axis=1)
        alpha[:, 0], beta[:, 0] = alpha[bases, pick], beta[bases, pick]
        draws[:, i] = epsilon, s
    return draws


def mcmc_dp_est_correlated(counts, delta, *, iterations, n_auxiliaries, sds, start, rates, seed):
    """Algorithm 6 of MCMC-DP-Est in NumPy, τ' drawn around τ: draws of ε, s, τ and ρ, (4, iterations).

    Counts of equal numbers of runs N; `start` is (ε, s, τ, ρ), `rates` the pairs (n, 2) to start from, `sds` those of
    the proposals of log ε, s, τ and ρ. Priors as there: ε ~ HalfNormal(variance 10), s ~ Uniform(0, 1),
    τ ~ Normal(0, 1e-4) and ρ given τ uniform where they make a covariance.
    """
    rng = np.random.default_rng(seed)
    x, y = (v[:, None].astype(float) for v in (counts.false_positives, counts.false_negatives))
    runs, n, bases = float(counts.negatives[0]), len(x), np.arange(len(x))

    def log_weights(alpha, beta, epsilon, s, tau, rho):
        grow = 1 + (runs - 1) * tau
        r = rho * runs / grow
        var0, var1 = (rate * (1 - rate) * runs * grow for rate in (alpha, beta))
        z0, z1 = (x - runs * alpha) / np.sqrt(var0), (y - runs * beta) / np.sqrt(var1)
        quadratic = (z0**2 - 2 * r * z0 * z1 + z1**2) / (1 - r**2)
        log_g = -0.5 * (np.log(var0 * var1 * (1 - r**2)) + quadratic)
        return log_g + log_layer(alpha, beta, epsilon, delta, s)

    def log_prior(epsilon, s, tau, rho):
        limit = (1 + (runs - 1) * tau) / runs
        if not (0 < s < 1 and -1 / (runs - 1) < tau < 1 and abs(rho) < limit):
            return -np.inf
        return -(epsilon**2) / 20 - tau**2 / 2e-4 - np.log(limit)

    theta = np.array(start, float)
    alpha, beta = np.empty((2, n, n_auxiliaries))
    alpha[:, 0], beta[:, 0] = np.asarray(rates).T
    draws = np.empty((4, iterations))
    for i in range(iterations):
        step = np.asarray(sds) * rng.standard_normal(4)
        new = np.array([theta[0] * np.exp(step[0]), *(theta[1:] + step[1:])])
        alpha[:, 1:], beta[:, 1:] = rng.random((2, n, n_auxiliaries - 1))
        weights = log_weights(alpha, beta, *theta)
        log_ratio = log_prior(*new) - log_prior(*theta) + step[0]
        if log_ratio > -np.inf:
            new_weights = log_weights(alpha, beta, *new)
            log_ratio += np.sum(logsumexp(new_weights, axis=1) - logsumexp(weights, axis=1))
            if np.log(rng.random()) < log_ratio:
                theta, weights = new, new_weights
        cumulated = np.cumsum(np.exp(weights - weights.max(axis=1, keepdims=True)), axis=1)
        pick = np.sum(cumulated < rng.random((n, 1)) * cumulated[:, -1:], axis=1)
        alpha[:, 0], beta[:, 0] = alpha[bases, pick], beta[bases, pick]
        draws[:, i] = theta
    return draws


def averaged_move(state, noise, counts, delta, factor, log_prior, log_q):
    """One iteration of Algorithm 1 with T proposals and given random numbers, pair by pair.

    `log_prior` is a function of (ε, s), −∞ outside the support, and `log_q` of (base, α, β). Returns the state and
    which proposals were accepted.
    """
    epsilon, s, alpha, beta = state
    x, n0, y, n1 = counts
    pairs = [[(alpha[j], beta[j]), *zip(noise.alpha[j, 1:], noise.beta[j, 1:], strict=True)] for j in range(len(alpha))]

    def log_weight(j, a, b, epsilon, s):
        if not region.in_layer(a, b, epsilon, delta, s):
            return -np.inf
        log_g = binom.logpmf(x[j], n0[j], a) + binom.logpmf(y[j], n1[j], b)
        return log_g - log_q(j, a, b) - np.log(region.layer_area(epsilon, delta, s))

    def log_target(epsilon, s):
        sums = [logsumexp([log_weight(j, a, b, epsilon, s) for a, b in pairs[j]]) for j in range(len(pairs))]
        return log_prior(epsilon, s) + np.log(epsilon) + sum(sums)  # the density of log ε, so times ε

    accepted = []
    for normal, log_chance in zip(noise.step[:-1], noise.log_chance[:-1], strict=True):
        move = factor @ normal
        new_epsilon, new_s = epsilon * np.exp(move[0]), s + move[1]
        legal = 0 <= new_s < 1 and np.isfinite(log_prior(new_epsilon, new_s))
        accepted.append(bool(legal and log_chance < log_target(new_epsilon, new_s) - log_target(epsilon, s)))
        if accepted[-1]:
            epsilon, s = new_epsilon, new_s
    for j, candidates in enumerate(pairs):
        weights = np.exp([log_weight(j, a, b, epsilon, s) for a, b in candidates])
        times = [time / weight if weight > 0 else np.inf for time, weight in zip(noise.race[j], weights, strict=True)]
        alpha[j], beta[j] = candidates[int(np.argmin(times))]
    return (epsilon, s, alpha, beta), accepted
