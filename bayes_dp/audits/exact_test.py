r"""The exact test of (ε, δ)-DP from one base's error counts X of N0 and Y of N1, ordered by their likelihood ratio.

    G(x, y) = max over all (α, β) of log L − max over R(ε, δ) of log L
            = min over R(ε, δ) of N0 kl(x/N0, α) + N1 kl(y/N1, β),  and 0 where x/N0 + y/N1 ≥ 1,
    p(ε)    = max over R(ε, δ) of P[G(X, Y) ≥ G(x, y)],

where kl is the divergence of two Bernoulli laws and R is the region of `region.py`. Where it is not 0, G falls in x and
in y. So {G ≥ g} holds all counts below each of its own, and its probability is largest on the lower boundary of R: the
edge e^ε α + β = 1 − δ from (0, 1 − δ) to the corner (x*, x*), x* = (1 − δ)/(1 + e^ε), and its mirror image. Unlike
intervals, which bound either rate at half of the error probability, the test spends all of it on the pair.

The maximum is looked for at points of both edges, and then closer and closer to the best of them. p need not fall as ε
falls, so that a bound is the last value of a fixed grid before the first one that is not rejected, and never the
largest one that is.

Up to the first value that needs a closer look, a value is rejected at once. Each of N0 kl(X/N0, α) and N1 kl(Y/N1, β)
exceeds t with a probability of at most 2 e^−t (Chernoff), so that with t = g − 2 log 2 ≥ 0

    P[G ≥ g] ≤ P[N0 kl(X/N0, α) + N1 kl(Y/N1, β) ≥ g] ≤ e^−t (1 + t).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy import special

from bayes_dp.support.arrays import Floats

__all__ = ["GRID", "gap", "p_value", "tail_bound"]

GRID = np.arange(5001) / 100  # the values of ε that are judged, 0 to 50, fixed before any data
_TIES = 1e-9  # by which G may be off for counts whose likelihood ratios are the same
_POINTS = 48  # of an edge, to begin with
_CLOSER, _ROUNDS = 9, 6  # points between the neighbours of the best one, and how often
_CELLS = 2_000_000  # of tables of probabilities held at once


def tail_bound(g: Floats) -> Floats:
    """A bound on P[G ≥ g] that holds whatever the rates in R and the numbers of runs."""
    t = np.maximum(g - 2 * math.log(2), 0.0)
    return np.exp(-t) * (1 + t)


def gap(x: Floats, n0: float, y: Floats, n1: float, epsilon: float, delta: float) -> Floats:
    """G(x, y) for arrays of counts, which need not be whole: the log likelihood that (ε, δ)-DP costs."""
    x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
    return _gap(x / n0, n0, y / n1, n1, epsilon, delta)[0]


def _gap(a: Floats, n0: float, b: Floats, n1: float, epsilon: float, delta: float) -> tuple[Floats, Floats]:
    """G, and the false negative rate of the point of R that is nearest, for the rates (a, b), arrays of one shape."""
    ratio, corner = math.exp(epsilon), (1 - delta) / (1 + math.exp(epsilon))
    outside = (a + b < 1) & ((ratio * a + b < 1 - delta) | (a + ratio * b < 1 - delta))
    # On either side of the corner the slope of the sum of divergences tells where the nearest point is.
    at = _slope(np.full_like(a, corner), a, n0), _slope(np.full_like(b, corner), b, n1)
    first = outside & (at[0] > ratio * at[1])
    second = outside & (at[1] > ratio * at[0])
    alpha, beta = np.where(outside, corner, a), np.where(outside, corner, b)
    alpha[first], beta[first] = _on_edge(a[first], n0, b[first], n1, ratio, delta, corner)
    beta[second], alpha[second] = _on_edge(b[second], n1, a[second], n0, ratio, delta, corner)
    return np.where(outside, n0 * _divergence(a, alpha) + n1 * _divergence(b, beta), 0.0), beta


def _divergence(a: Floats, t: Floats) -> Floats:
    """kl(a, t), of Bernoulli laws."""
    return special.rel_entr(a, t) + special.rel_entr(1 - a, 1 - t)


def _slope(t: Floats, a: Floats, n: float) -> Floats:
    """n (t − a)/(t (1 − t)), the derivative of n kl(a, t) in t; n/(1 − t) for a = 0, whatever t."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a > 0, n * (t - a) / (t * (1 - t)), n / (1 - t))


def _on_edge(
    a: Floats, m: float, b: Floats, n: float, ratio: float, delta: float, corner: float
) -> tuple[Floats, Floats]:
    """The point (τ, c), c = 1 − δ − ratio τ, 0 ≤ τ ≤ corner, that minimises m kl(a, τ) + n kl(b, c).

    It lies between τ = a and c = b. Bracketed Newton finds where the derivative changes its sign, which is that of the
    polynomial m (τ − a) c (1 − c) − ratio n (c − b) τ (1 − τ).
    """
    low, high = a, np.minimum(corner, (1 - delta - b) / ratio)
    start, end = (_slope(t, a, m) - ratio * _slope(1 - delta - ratio * t, b, n) for t in (low, high))
    low, high = np.where(end <= 0, high, low), np.where(start >= 0, low, high)  # the ends, where a or b is 0
    tau = (low + high) / 2
    for _ in range(100):
        c = 1 - delta - ratio * tau
        value = m * (tau - a) * c * (1 - c) - ratio * n * (c - b) * tau * (1 - tau)
        bend = m * (c * (1 - c) - ratio * (tau - a) * (1 - 2 * c))
        bend += ratio * n * (ratio * tau * (1 - tau) - (c - b) * (1 - 2 * tau))
        high, low = np.where(value > 0, tau, high), np.where(value > 0, low, tau)
        with np.errstate(divide="ignore", invalid="ignore"):
            following = tau - value / bend
        inside = (following >= low) & (following <= high)
        following = np.where(inside, following, (low + high) / 2)
        change, tau = np.abs(following - tau), following
        if np.all(change <= 1e-9 * np.minimum(tau, c / ratio)):
            break
    return tau, np.maximum(1 - delta - ratio * tau, 0.0)


def _last_rejected(g: float, n0: int, n1: int, epsilon: float, delta: float) -> Floats:
    """The largest y of G(x, y) ≥ g for x = 0, 1, … as long as there is one: it falls in x.

    G is convex and falls in y, so that Newton's steps from y = 0 never pass the place where it is g. Its derivative is
    the difference of the log odds of y/N1 and of the nearest β.
    """
    size, more = 0, n0 + 1  # how many x there are: G(x, 0) falls
    while more - size > 1:
        x = (size + more) // 2
        enough = gap(np.array(float(x)), n0, np.zeros(()), n1, epsilon, delta) >= g
        size, more = (x, more) if enough else (size, x)
    size += 1  # G(0, 0) is not below g
    a, b = np.arange(size) / n0, np.full(size, 1e-3 / n1)  # where the log odds are finite
    value, beta = _gap(a, n0, b, n1, epsilon, delta)
    for _ in range(100):
        with np.errstate(divide="ignore", invalid="ignore"):
            step = (value - g) / (n1 * (special.logit(beta) - special.logit(b)))
        step = np.where(np.isfinite(step) & (value > g), step, 0.0)
        b = b + step
        if np.all(step * n1 < 1e-4):
            break
        value, beta = _gap(a, n0, b, n1, epsilon, delta)
    y = np.floor(b * n1 + 1e-3)
    while True:  # a step too far or short by rounding
        far = (y > 0) & (_gap(a, n0, y / n1, n1, epsilon, delta)[0] < g)
        near = ~far & (y < n1) & (_gap(a, n0, np.minimum(y + 1, n1) / n1, n1, epsilon, delta)[0] >= g)
        if not (far | near).any():
            break
        y = y - far + near
    return y


def p_value(x: int, n0: int, y: int, n1: int, epsilon: float, delta: float) -> float:
    """p(ε) of the counts; 1 where (x/N0, y/N1) lies in R(ε, δ).

    >>> round(p_value(3, 20, 5, 20, 0.5, 0.01), 7)
    0.0146456
    """
    g = float(gap(np.array(float(x)), n0, np.array(float(y)), n1, epsilon, delta)) - _TIES
    if g <= 0:
        return 1.0
    last = _last_rejected(g, n0, n1, epsilon, delta)
    ratio, corner = math.exp(epsilon), (1 - delta) / (1 + math.exp(epsilon))

    def chances(angle: Floats, second: bool) -> Floats:
        """P[G ≥ g] at the points u = x* sin²(angle) of an edge."""
        near = corner * np.sin(angle) ** 2
        far = 1 - delta - ratio * near
        return _chances(last, n0, n1, *((far, near) if second else (near, far)))

    angles = np.linspace(0, math.pi / 2, _POINTS)
    edges = [chances(angles, second) for second in (False, True)]
    second = bool(edges[1].max() > edges[0].max())
    found = edges[second]
    best = found.max()
    for _ in range(_ROUNDS):
        i = int(found.argmax())
        angles = np.linspace(angles[max(i - 1, 0)], angles[min(i + 1, len(angles) - 1)], _CLOSER)
        found = chances(angles, second)
        best = max(best, found.max())
    return min(float(best), 1.0)


def _chances(last: Floats, n0: int, n1: int, alpha: Floats, beta: Floats) -> Floats:
    """Σ_x P[X = x] P[Y ≤ last(x)] at the rates (alpha, beta), (points,)."""
    places, size = last.astype(int), max(1, _CELLS // int(len(last) + last[0] + 1))
    found = []
    for start in range(0, len(alpha), size):
        some = slice(start, start + size)
        x = _binomial(n0, len(last), alpha[some])
        y = np.cumsum(_binomial(n1, int(last[0]) + 1, beta[some]), axis=1)
        found.append((x * y[:, places]).sum(axis=1))
    return np.concatenate(found)


def _binomial(n: int, size: int, rate: Floats) -> Floats:
    """P[0], …, P[size − 1] of Binomial(n, rate): shape (len(rate), size)."""
    k = np.arange(size)
    with np.errstate(divide="ignore"):
        return np.exp(_log_choose(n)[:size] + special.xlogy(k, rate[:, None]) + special.xlog1py(n - k, -rate[:, None]))


@lru_cache(maxsize=8)
def _log_choose(n: int) -> Floats:
    """log of n over k for k = 0 … n."""
    k = np.arange(n + 1.0)
    return np.asarray(-special.betaln(n - k + 1, k + 1) - math.log1p(n))
