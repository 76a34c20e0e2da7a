"""What many challenges of the same bases lead to: the posterior of ε given the error rates of the bases themselves.

However many challenges there are, the counts tell no more than the rates (α_i, β_i), i = 1, …, n. Given these,

    p(ε, s) ∝ p(ε) p(s) |R_s(ε, δ)|^{−n}    for ε ≥ E and s ≤ S(ε),

where E is the largest level of the bases, and S(ε) the smallest of their strengths under ε (`region.strength_level`).
So this law is what more and more challenges of the same bases lead to, and its interval is what they cannot shorten.

The integrals are sums over nodes that are spaced evenly in log(ε − E) and log(S(ε) − s), because for many bases the
law is gathered within about 1/n of E and S(E).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import special

from bayes_dp.bayes import priors
from bayes_dp.region import level, log_layer_area, strength_level
from bayes_dp.support.arrays import Floats

__all__ = ["limit_width"]


_NEAREST, _FARTHEST = 1e-9, 1e6
_NODES = (700, 260)  # in ε and in s


def limit_width(
    alpha: Floats, beta: Floats, delta: float, prior: Mapping[str, Any], strength: float | str, prob: float
) -> float:
    """Width of the equal-tailed interval of ε given the error rates, each (n,); 0 where no ε allows them.

    `prior` has that of "epsilon" and, if the strength is "free" and no number, that of "strength". If the rates cannot
    be under these, the posteriors gather at a single ε, which is the reason for the 0.
    """
    low, high = priors.support("epsilon", prior["epsilon"])
    first = max(low, float(level(alpha, beta, delta).max()))
    last = min(high, first + _FARTHEST)
    if strength != "free":
        last = min(last, _largest_epsilon(alpha, beta, delta, float(strength), first, last))
    if not first < last:
        return 0.0
    distance = np.geomspace(_NEAREST * min(1.0, last - first), last - first, _NODES[0])
    epsilon = first + distance
    log_density = np.log(distance) + priors.log_density(prior["epsilon"])(epsilon)
    if strength == "free":
        log_density += _log_strength_integral(alpha, beta, epsilon, delta, prior["strength"])
    else:
        log_density -= len(alpha) * log_layer_area(epsilon, delta, float(strength))
    if not log_density.max() > -np.inf:
        return 0.0
    density = np.exp(log_density - log_density.max())  # in log(ε − E), whose nodes are evenly spaced
    cumulative = np.concatenate([[0.0], np.cumsum(density[1:] + density[:-1])])
    tails = np.array([(1 - prob) / 2, (1 + prob) / 2]) * cumulative[-1]
    ends = np.exp(np.interp(tails, cumulative, np.log(distance)))
    return float(ends[1] - ends[0])


def _largest_epsilon(alpha: Floats, beta: Floats, delta: float, strength: float, low: float, high: float) -> float:
    """The largest ε in [low, high] under which all bases have at least this strength; `low` if there is none."""
    for _ in range(100):  # the strengths fall with ε
        if not low < (middle := (low + high) / 2) < high:
            break
        if strength_level(alpha, beta, middle, delta).min() >= strength:
            low = middle
        else:
            high = middle
    return low


def _log_strength_integral(alpha: Floats, beta: Floats, epsilon: Floats, delta: float, prior: Any) -> Floats:
    """log ∫ p(s) |R_s(ε, δ)|^{−n} ds up to S(ε), for ε of shape (m,)."""
    low, high = priors.support("strength", prior)
    top = np.minimum(high, strength_level(alpha, beta, epsilon[:, None], delta).min(axis=1))
    room = np.maximum(top - low, 0.0)
    share = np.geomspace(_NEAREST, 1.0, _NODES[1])  # of the way from the top down
    s = np.clip(top[:, None] - room[:, None] * share, 0.0, 1.0 - _NEAREST)
    log_prior = priors.log_density(prior)(s.ravel()).reshape(s.shape)
    value = log_prior - len(alpha) * log_layer_area(epsilon[:, None], delta, s) + np.log(share)
    value[:, -1] -= np.log(2)  # the trapezoidal rule; at the other end there is nothing
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(room) + special.logsumexp(value, axis=1))
