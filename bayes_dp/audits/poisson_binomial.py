"""The Poisson binomial law: how many of r independent events happen, each of which has a chance of its own.

`tail` gives P[S ≥ v], `window` the probabilities of all values of S that matter. Both tilt the law first: if all
log-odds grow by a, then

    P_a[S = n] = P[S = n] e^{an} Π (1 − p_i)/(1 − p_i(a)),  p_i(a) = sigmoid(logit p_i + a).

With a such that Σ p_i(a) = v − ½, the value v is in the middle of the tilted law, where a discrete Fourier transform
gives probabilities to rounding, and

    P[S ≥ v] = e^{−av} Π (1 − p_i)/(1 − p_i(a)) Σ_{j ≥ 0} e^{−aj} P_a[S = v + j]

is a sum of positive terms, with a factor in front that is known by its logarithm. So small tails have as many digits as
large ones, P[S ≥ v] = 10⁻³⁰⁰ too.

The transform needs no r nodes. With variance σ² the law lives on some 18σ values, so N ≈ 18σ nodes tell all of it
(Bernstein's inequality says which N). And |E e^{itS}| ≤ exp(−2σ² sin²(t/2)) is nothing but at some 25 of them. That
makes 25 r multiplications in all.

`Tails` keeps the transform for K laws at once and answers at any common shift of their log-odds, which costs r
logarithms each: a lower bound on ε is looked for along such a shift.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.checks import InputError, numbers, show
from bayes_dp.support.arrays import Bools, Floats, Indices

__all__ = ["Tails", "tail", "window"]


_NEGLIGIBLE = 40.0  # probabilities below e^{−40} are left out
_BLOCK = 2_000_000  # complex numbers at a time


def tail(probability: ArrayLike, least: ArrayLike) -> Floats:
    """P[S ≥ least] for chances of shape (…, r) and whole numbers `least` that broadcast with their leading axes."""
    chance = numbers("probability", probability, 0.0, 1.0)
    if chance.ndim == 0:
        raise InputError(f"probability must be an array of at least one dimension, not {show(float(chance))}")
    v = numbers("least", least)
    if (bad := v != np.floor(v)).any():
        raise InputError(f"least must be whole numbers, not {show(float(v[bad].flat[0]))}")
    shape = np.broadcast_shapes(chance.shape[:-1], v.shape)
    chance = np.broadcast_to(chance, (*shape, chance.shape[-1])).reshape(math.prod(shape), chance.shape[-1])
    tails = Tails(special.logit(chance), np.broadcast_to(v, shape).ravel())
    return np.exp(tails.log_at(np.zeros(len(chance)))).reshape(shape)[()]


def window(probability: ArrayLike) -> tuple[int, Floats]:
    """The least value that matters and the probabilities from there on, to an absolute error of about 1e-16."""
    chance = numbers("probability", probability, 0.0, 1.0)
    if chance.ndim != 1:
        raise InputError(f"probability must have one dimension, not the shape {chance.shape}")
    mean, variance = float(chance.sum()), float((chance * (1 - chance)).sum())
    reach = _reach(variance)
    low, high = max(0, math.floor(mean - reach)), min(len(chance), math.ceil(mean + reach))
    size = high - low + 1
    return low, np.roll(_probabilities(chance[None], size, variance)[0], -(low % size))


class Tails:
    """P[S ≥ least] of K laws as functions of a shift of their log-odds.

    `log_odds` has the shape (K, r) and may hold infinities, `least` the shape (K,).
    """

    def __init__(self, log_odds: Floats, least: ArrayLike) -> None:
        sure = np.isposinf(log_odds)
        self._log_odds = np.where(sure, -np.inf, log_odds)
        self._least: Floats = np.asarray(least, dtype=np.float64) - sure.sum(axis=1)
        possible = np.isfinite(self._log_odds).sum(axis=1)
        self._open: Bools = (self._least > 0) & (self._least <= possible)
        self._centre = np.zeros(len(log_odds))  # the a of the module's docstring
        if self._open.any():
            self._centre[self._open] = _centres(self._log_odds[self._open], self._least[self._open] - 0.5)
        self._above, self._below = self._tilted()
        self._weight = _weight(self._log_odds, self._centre)

    @property
    def size(self) -> int:
        return len(self._centre)

    def log_at(self, shift: Floats, rows: Indices | None = None) -> Floats:
        """log P[S ≥ least] of the laws `rows` (of all by default) with log-odds grown by `shift`, (≤ K,) each."""
        rows = np.arange(self.size) if rows is None else rows
        result = np.where(self._least[rows] > 0, -np.inf, 0.0)
        inner = np.flatnonzero(self._open[rows])
        if len(inner) == 0:
            return result
        rows, shift = rows[inner], shift[inner]
        steps = self._centre[rows] - shift
        front = self._weight[rows] - _weight(self._log_odds[rows], shift) - steps * self._least[rows]
        up = steps >= 0
        j = np.arange(self._above.shape[1])
        weights = np.exp(-np.abs(steps)[:, None] * (j + ~up[:, None]))
        near = np.sum(np.where(up[:, None], self._above[rows], self._below[rows]) * weights, axis=1)
        with np.errstate(divide="ignore"):
            part = front + np.log(near)
            result[inner] = np.where(up, np.minimum(part, 0.0), np.log1p(-np.exp(np.minimum(part, 0.0))))
        return result

    def _tilted(self) -> tuple[Floats, Floats]:
        """P_a[S = v + j] and P_a[S = v − 1 − j] for j = 0, 1, …, both of shape (K, J)."""
        rows = np.flatnonzero(self._open)
        if len(rows) == 0:
            return np.zeros((self.size, 1)), np.zeros((self.size, 1))
        chance = special.expit(self._log_odds[rows] + self._centre[rows, None])
        variance = np.sum(chance * (1 - chance), axis=1)
        r, half = chance.shape[1], math.ceil(_reach(float(variance.max())) + 1)
        size = min(2 * half + 1, r + 1)
        law = _probabilities(chance, size, float(variance.min()))
        above, below = np.zeros((2, self.size, min(half, r) + 1))
        j, v = np.arange(above.shape[1]), self._least[rows, None].astype(np.int64)
        for part, places in ((above, v + j), (below, v - 1 - j)):
            inside = (places >= 0) & (places <= r)
            part[rows] = np.where(inside, np.take_along_axis(law, places % size, axis=1), 0.0)
        return above, below


def _weight(log_odds: Floats, shift: Floats) -> Floats:
    """−log Π (1 − p_i) of the log-odds grown by `shift`, (k,)."""
    x = log_odds + shift[:, None]
    weight = np.maximum(x, 0.0)
    np.negative(np.abs(x, out=x), out=x)
    weight += np.log1p(np.exp(x, out=x), out=x)
    return weight.sum(axis=1)


def _reach(variance: float) -> float:
    """How far from its mean the law is negligible, by Bernstein's inequality."""
    third = _NEGLIGIBLE / 3
    return third + math.sqrt(third**2 + 2 * _NEGLIGIBLE * variance)


def _centres(log_odds: Floats, mean: Floats) -> Floats:
    """The shift that gives about this mean, which need not be exact, (k,): Newton's method within a bracket."""
    finite = np.isfinite(log_odds)
    share = special.logit(mean / finite.sum(axis=1))
    low = share - np.max(np.where(finite, log_odds, -np.inf), axis=1)
    high = share - np.min(np.where(finite, log_odds, np.inf), axis=1)
    a = (low + high) / 2
    for _ in range(100):
        chance = special.expit(log_odds + a[:, None])
        off, slope = chance.sum(axis=1) - mean, np.sum(chance * (1 - chance), axis=1)
        if (np.abs(off) <= 0.1 * np.minimum(np.sqrt(slope) + 1e-3, 1.0)).all():
            break
        low, high = np.where(off < 0, a, low), np.where(off < 0, high, a)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = a - off / slope
        a = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
    return a


def _probabilities(chance: Floats, size: int, variance: float) -> Floats:
    """Probabilities of the values modulo `size`, of K laws with at least this variance, (K, size)."""
    t = 2 * math.pi / size * np.arange(size // 2 + 1)
    turn = np.exp(1j * t[2 * variance * np.sin(t / 2) ** 2 <= _NEGLIGIBLE]) - 1
    transform = np.zeros((len(chance), size // 2 + 1), dtype=np.complex128)
    step = max(1, _BLOCK // max(1, chance.shape[1]))  # laws times nodes at a time
    for k in range(len(chance)):
        for i in range(0, len(turn), step):
            factors = turn[i : i + step, None] * chance[k] + 1
            transform[k, i : i + len(factors)] = np.multiply.reduce(factors, axis=1)
    return np.maximum(np.fft.irfft(transform.conj(), n=size, axis=1), 0.0)
