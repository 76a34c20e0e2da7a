r"""The exact test of (ε, δ)-DP from one base's error counts X of N0 and Y of N1, ordered by their likelihood ratio.

    G(x, y) = max over all (α, β) of log L − max over R(ε, δ) of log L
            = min over R(ε, δ) of N0 kl(x/N0, α) + N1 kl(y/N1, β),  and 0 where x/N0 + y/N1 ≥ 1,
    p(ε)    = max over R(ε, δ) of P[G(X, Y) ≥ G(x, y)],

where kl is the divergence of two Bernoulli laws and R is the region of `region.py`. Where it is not 0, G falls in x and
in y. So {G ≥ g} holds all counts below each of its own, and its probability is largest on the lower boundary of R: the
edge e^ε α + β = 1 − δ from (0, 1 − δ) to the corner (x*, x*), x* = (1 − δ)/(1 + e^ε), and its mirror image. Unlike
intervals, which bound either rate at half of the error probability, the test spends all of it on the pair.

The maximum is looked for at points of both edges, and then closer and closer to the best of each. p need not fall as ε
falls, so that a bound is the last value of a fixed grid before the first one that is not rejected, and never the
largest one that is.

Up to the first value that needs a closer look, a value is rejected at once. Each of N0 kl(X/N0, α) and N1 kl(Y/N1, β)
exceeds t with a probability of at most 2 e^−t (Chernoff), so that with t = g − 2 log 2 ≥ 0

    P[G ≥ g] ≤ P[N0 kl(X/N0, α) + N1 kl(Y/N1, β) ≥ g] ≤ e^−t (1 + t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["GRID", "Questions", "gap", "mixed_log_ratio", "p_of_gap", "p_values", "tail_bound"]

GRID = np.arange(5001) / 100  # the values of ε that are judged, 0 to 50, fixed before any data
_TIES = 1e-9  # by which G may be off for counts whose likelihood ratios are the same
_POINTS = 48  # of an edge, to begin with
_CLOSER, _ROUNDS = 9, 6  # points between the neighbours of the best one, and how often
_CELLS = 2_000_000  # of tables of probabilities held at once


def tail_bound(g: Floats) -> Floats:
    """A bound on P[G ≥ g] that holds whatever the rates in R and the numbers of runs."""
    t = np.maximum(g - 2 * math.log(2), 0.0)
    return np.exp(-t) * (1 + t)


def gap(x: ArrayLike, n0: ArrayLike, y: ArrayLike, n1: ArrayLike, epsilon: ArrayLike, delta: float) -> Floats:
    """G(x, y), the log likelihood that (ε, δ)-DP costs, of counts that need not be whole; arrays broadcast."""
    x, n0, y, n1, epsilon = np.broadcast_arrays(*(np.asarray(each, float) for each in (x, n0, y, n1, epsilon)))
    return Questions(n0, n1, epsilon, delta).gap(x / n0, y / n1)[0]


@dataclass(frozen=True, eq=False)
class Questions:
    """Numbers of runs and values of ε, arrays of one shape, with one δ."""

    n0: Floats
    n1: Floats
    epsilon: Floats
    delta: float

    def __getitem__(self, some: Any) -> Questions:
        return Questions(self.n0[some], self.n1[some], self.epsilon[some], self.delta)

    @property
    def ratio(self) -> Floats:
        return np.exp(self.epsilon)

    @property
    def corner(self) -> Floats:
        return (1 - self.delta) / (1 + np.exp(self.epsilon))

    def gap(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """G, and the false negative rate of the nearest point of R, for the rates (a, b), of the same shape."""
        alpha, beta, outside = self.nearest(a, b)
        g = np.where(outside, self.n0 * _divergence(a, alpha) + self.n1 * _divergence(b, beta), 0.0)
        return g, beta

    def nearest(self, a: Floats, b: Floats) -> tuple[Floats, Floats, Bools]:
        """The point of R that minimises N0 kl(a, α) + N1 kl(b, β), and whether it is another than (a, b)."""
        ratio, corner, rest = self.ratio, self.corner, 1 - self.delta
        outside = (a + b < 1) & ((ratio * a + b < rest) | (a + ratio * b < rest))
        # On either side of the corner the slope of the sum of divergences tells where the nearest point is.
        at = _slope(corner, a, self.n0), _slope(corner, b, self.n1)
        first = outside & (at[0] > ratio * at[1])
        second = outside & (at[1] > ratio * at[0])
        alpha, beta = np.where(outside, corner, a), np.where(outside, corner, b)
        for there, (near, far), swapped in ((first, (a, b), False), (second, (b, a), True)):
            if not there.any():
                continue
            runs = (self.n1, self.n0) if swapped else (self.n0, self.n1)
            found = _on_edge(near[there], runs[0][there], far[there], runs[1][there], ratio[there], corner[there], rest)
            alpha[there], beta[there] = found[::-1] if swapped else found
        return alpha, beta, outside


def _divergence(a: Floats, t: Floats) -> Floats:
    """kl(a, t), of Bernoulli laws."""
    return special.rel_entr(a, t) + special.rel_entr(1 - a, 1 - t)


def _slope(t: Floats, a: Floats, n: Floats) -> Floats:
    """n (t − a)/(t (1 − t)), the derivative of n kl(a, t) in t; n/(1 − t) for a = 0, whatever t."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a > 0, n * (t - a) / (t * (1 - t)), n / (1 - t))


def _on_edge(
    a: Floats, m: Floats, b: Floats, n: Floats, ratio: Floats, corner: Floats, rest: float
) -> tuple[Floats, Floats]:
    """The point (τ, c), c = rest − ratio τ, 0 ≤ τ ≤ corner, that minimises m kl(a, τ) + n kl(b, c).

    It lies between τ = a and c = b. Bracketed Newton finds where the derivative changes its sign, which is that of the
    polynomial m (τ − a) c (1 − c) − ratio n (c − b) τ (1 − τ).
    """
    low, high = a, np.minimum(corner, (rest - b) / ratio)
    start, end = (_slope(t, a, m) - ratio * _slope(rest - ratio * t, b, n) for t in (low, high))
    low, high = np.where(end <= 0, high, low), np.where(start >= 0, low, high)  # the ends, where a or b is 0
    tau = (low + high) / 2
    for _ in range(100):
        c = rest - ratio * tau
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
    return tau, np.maximum(rest - ratio * tau, 0.0)


def _last_rejected(g: Floats, asked: Questions) -> list[Ints]:
    """For each question, (k,), the largest y of G(x, y) ≥ g for x = 0, 1, … as long as there is one: it falls in x.

    G is convex and falls in y, so that Newton's steps from y = 0 never pass the place where it is g. Its derivative is
    the difference of the log odds of y/N1 and of the nearest β.
    """
    sizes, more = np.ones(len(g), int), asked.n0.astype(int) + 1  # how many x there are: G(x, 0) falls in x
    while np.any(sizes < more):
        x = (sizes + more) // 2
        enough = asked.gap(np.minimum(x / asked.n0, 1.0), np.zeros(len(g)))[0] >= g
        sizes, more = np.where((sizes < more) & enough, x + 1, sizes), np.where(enough, more, x)
    each = np.repeat(np.arange(len(g)), sizes)
    asked, g = asked[each], g[each]
    a = np.concatenate([np.arange(size) for size in sizes]) / asked.n0
    b = 1e-3 / asked.n1  # where the log odds are finite
    open_ = np.arange(len(a))
    value, beta = asked.gap(a, b)
    for _ in range(100):
        with np.errstate(divide="ignore", invalid="ignore"):
            step = (value - g[open_]) / (asked.n1[open_] * (special.logit(beta) - special.logit(b[open_])))
        step = np.where(np.isfinite(step) & (value > g[open_]), step, 0.0)
        b[open_] += step
        open_ = open_[step * asked.n1[open_] >= 1e-4]
        if not len(open_):
            break
        value, beta = asked[open_].gap(a[open_], b[open_])
    y = np.floor(b * asked.n1 + 1e-3)
    while True:  # a step too far or short by rounding
        far = (y > 0) & (asked.gap(a, y / asked.n1)[0] < g)
        near = ~far & (y < asked.n1) & (asked.gap(a, np.minimum(y + 1, asked.n1) / asked.n1)[0] >= g)
        if not (far | near).any():
            break
        y = y - far + near
    return np.split(y.astype(int), np.cumsum(sizes)[:-1])


def mixed_log_ratio(x: ArrayLike, n0: ArrayLike, y: ArrayLike, n1: ArrayLike) -> Floats:
    """log of the chance of the errors, in their order, under independent Beta(½, ½) rates, less the largest log L."""
    parts = [
        special.betaln(k + 0.5, n - k + 0.5)
        - special.betaln(0.5, 0.5)
        - special.xlogy(k, k / n)
        - special.xlogy(n - k, 1 - k / n)
        for k, n in ((np.asarray(x), np.asarray(n0)), (np.asarray(y), np.asarray(n1)))
    ]
    return np.asarray(parts[0] + parts[1])


def p_values(x: ArrayLike, n0: ArrayLike, y: ArrayLike, n1: ArrayLike, epsilon: ArrayLike, delta: float) -> Floats:
    """p(ε) of whole counts, 1 where (x/N0, y/N1) lies in R(ε, δ); arrays broadcast.

    >>> bdp.audits.exact_test.p_values(3, 20, 5, 20, [0.5, 2.5], 0.01).round(7)
    array([0.0146456, 1.       ])
    """
    given = np.broadcast_arrays(*(np.asarray(each, float) for each in (x, n0, y, n1, epsilon)))
    x, n0, y, n1, epsilon = (each.ravel() for each in given)
    g = gap(x, n0, y, n1, epsilon, delta) - _TIES
    some = np.flatnonzero(g > 0)
    found = np.ones(len(g))
    if len(some):
        asked = Questions(n0, n1, epsilon, delta)[some]
        rows = zip(_last_rejected(g[some], asked), asked.n0, asked.n1, asked.epsilon, strict=True)
        found[some] = [_largest(last, int(m), int(n), float(e), delta) for last, m, n, e in rows]
    return found.reshape(given[0].shape)


def p_of_gap(g: float, asked: Questions) -> tuple[float, Ints]:
    """The largest P[G ≥ g] in R(ε, δ) for one question, and the largest y with G ≥ g for x = 0, 1, …"""
    (last,) = _last_rejected(np.array([g]), asked)
    n0, n1, epsilon = (each.item() for each in (asked.n0, asked.n1, asked.epsilon))
    return _largest(last, int(n0), int(n1), epsilon, asked.delta), last


def _largest(last: Ints, n0: int, n1: int, epsilon: float, delta: float) -> float:
    """The largest Σ_x P[X = x] P[Y ≤ last(x)] on the lower boundary of R(ε, δ)."""
    ratio, corner = math.exp(epsilon), (1 - delta) / (1 + math.exp(epsilon))

    # Where few errors, or few right decisions, are expected, the chance may change within one more of them.
    halvings = corner * 0.5 ** np.arange(4 + math.log2(max(n0, ratio * n1, n1, ratio * n0)))
    start = np.unique(np.append(corner * np.sin(np.linspace(0, math.pi / 2, _POINTS)) ** 2, halvings))
    best = 0.0
    for second in (False, True):
        near = start
        for _ in range(1 + _ROUNDS):
            far = 1 - delta - ratio * near
            found = _chances(last, n0, n1, *((far, near) if second else (near, far)))
            i = int(found.argmax())
            best = max(best, float(found[i]))
            near = np.linspace(near[max(i - 1, 0)], near[min(i + 1, len(near) - 1)], _CLOSER)
    return min(best, 1.0)


def _chances(last: Ints, n0: int, n1: int, alpha: Floats, beta: Floats) -> Floats:
    """Σ_x P[X = x] P[Y ≤ last(x)] at the rates (alpha, beta), (points,)."""
    most = int(last[0]) + 1
    size = max(1, _CELLS // (len(last) + most))
    found = []
    for start in range(0, len(alpha), size):
        some = slice(start, start + size)
        x = _binomial(n0, len(last), alpha[some])
        y = np.cumsum(_binomial(n1, most, beta[some]), axis=1)
        found.append((x * y[:, last]).sum(axis=1))
    return np.concatenate(found)


def _binomial(n: int, size: int, rate: Floats) -> Floats:
    """P[0], …, P[size − 1] of Binomial(n, rate): shape (len(rate), size)."""
    k = np.arange(size)
    return np.exp(_log_choose(n)[:size] + special.xlogy(k, rate[:, None]) + special.xlog1py(n - k, -rate[:, None]))


@lru_cache(maxsize=8)
def _log_choose(n: int) -> Floats:
    """log of n over k for k = 0 … n."""
    k = np.arange(n + 1.0)
    return np.asarray(-special.betaln(n - k + 1, k + 1) - math.log1p(n))
