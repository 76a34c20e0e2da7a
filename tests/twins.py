"""Slow, obvious versions of fast routines, to test and to time them against."""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp, xlog1py, xlogy

from bayes_dp import region


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

    def inside(alpha, beta, epsilon, delta):
        grown, c = np.exp(epsilon), 1 - delta
        return (
            (grown * alpha + beta >= c)
            & (alpha + grown * beta >= c)
            & (grown * (1 - alpha) + 1 - beta >= c)
            & (1 - alpha + grown * (1 - beta) >= c)
        )

    def log_weights(log_g, alpha, beta, epsilon, s):
        layer = inside(alpha, beta, epsilon, delta) & ~inside(alpha, beta, s * epsilon, s * delta)
        area = 2 * ((1 - s * delta) ** 2 / (1 + np.exp(s * epsilon)) - (1 - delta) ** 2 / (1 + np.exp(epsilon)))
        return np.where(layer, log_g - np.log(area), -np.inf)

    epsilon, s = start
    rates = region.sample(epsilon, delta, s, n, rng)
    alpha, beta = np.empty((2, n, n_auxiliaries))
    alpha[:, 0], beta[:, 0] = rates.T
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
