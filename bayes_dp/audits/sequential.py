"""Audits that may be looked at after every pair of runs, and stopped when the evidence suffices.

For each ε of a grid that is fixed at the start a capital is kept (`betting.py`, or the e-values below) which a training
with this ε multiplies by more than 1/p with probability at most p, whenever it is looked at (Ville 1939). ε is rejected
once the capital has been 1/p at a look, and stays so. The bound is the last value before the first that is not rejected.
It holds for as many looks as one likes, and whatever made one stop.

    betting   pairs of runs, one without the example and one with it; the rule may change from pair to pair if it is fixed
              before the pair is seen. Of unequal numbers of runs, those that have no partner wait.
    mixture   as long as the rule stays the same, the runs in any order and any numbers: log E of `combine.mixture` of all of
              them; a new rule starts a new stretch, and the logarithms add up. It holds at any ε and δ.
    one_run   guesses on one model after another, each with fresh coins. With T_k = P[at least k of r right] of the exact
              one-run audit, E g(V) ≤ g(0) + Σ_k (g(k) − g(k−1)) T_k for g ≥ 0 that increases, so that g(v) over this is an
              e-value. g = min(L, cap), L the likelihood ratio of Binomial(r, σ(ε + d)) and Binomial(r, σ(ε)), d in .1,
              .2, .4, .8, 1.6, 3.2, cap in 10², 10⁴, 10⁸; the capital is the mean of the 18 products over models.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.audits.betting import (
    ApproxClaims,
    Bet,
    Claims,
    bet_on_product,
    bet_on_sum,
    gaussian_claims,
    laplace_claims,
    next_refresh,
)
from bayes_dp.audits.combine import mixture
from bayes_dp.audits.one_run import exact_p_value
from bayes_dp.checks import InputError, is_one_of, numbers, one_number, show, whole_number
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.bound import LowerBound
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["Sequential", "one_run_log_e", "sequential"]

_GRID = np.arange(1201) / 100
_STEPS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2)
_CAPS = (1e2, 1e4, 1e8)
_LEVELS = np.r_[0.002, 0.005, 0.01, 0.02, (np.arange(32) + 0.5) / 32, 0.98, 0.99, 0.995, 0.998]
METHODS = ("betting", "mixture", "one_run")
FAMILIES = ("approx", "gaussian", "laplace")

Method = Literal["betting", "mixture", "one_run"]


def one_run_log_e(examples: int, made: int, correct: int, epsilon: Floats, delta: float) -> Floats:
    """log e-values of one model's guesses, (k, 18) for ε (k,), a column for each step and cap."""
    v = np.arange(made + 1)
    tails = np.ones((len(epsilon), made + 1))
    tails[:, 1:] = exact_p_value(examples, made, v[1:], epsilon[:, None], delta)
    found = np.empty((len(epsilon), len(_STEPS) * len(_CAPS)))
    for i, (step, cap) in enumerate((step, cap) for step in _STEPS for cap in _CAPS):
        up, base = epsilon[:, None] + step, epsilon[:, None]
        log_ratio = v * (special.log_expit(up) - special.log_expit(base))
        log_ratio = log_ratio + (made - v) * (special.log_expit(-up) - special.log_expit(-base))
        g = np.exp(np.minimum(log_ratio, math.log(cap)))
        most = g[:, 0] + (np.diff(g, axis=1) * tails[:, 1:]).sum(axis=1)
        found[:, i] = np.log(g[:, correct]) - np.log(most)
    return found


class _Capital:
    """The capital of a bettor for each claim, and the pairs that it was made from."""

    def __init__(self, claims: Claims, size: int, dependent: bool) -> None:
        self.claims, self.size, self.dependent = claims, size, dependent
        self.pairs, self.until = 0, 0
        self.sums = np.zeros(4)  # of X, Y, X², Y²
        self.scores = np.empty((0, 2))  # of an adaptive threshold: without and with the example
        self.start = np.zeros(size)  # log capital when the bet was made
        self.bet: Bet | None = None
        self.thresholds, self.rule = np.zeros(1), np.zeros(size, int)  # and which of them each claim is judged by
        self.counts = np.zeros((4, 1))  # pairs since then with (X, Y) = (0, 0), (0, 1), (1, 0), (1, 1), by threshold

    @property
    def log(self) -> Floats:
        """log capital, (k,)."""
        if self.bet is None:
            return self.start
        x, y = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])
        return np.asarray(self.start + (self.counts[:, self.rule] * self.bet.log_factors(x, y)).sum(axis=0))

    def add(self, x: Floats, y: Floats) -> Iterator[None]:
        """Play pairs of errors; whoever takes an item may look at the capital."""
        binary = bool(np.isin(x, (0, 1)).all() and np.isin(y, (0, 1)).all())
        for part in self._epochs(len(x)):
            some = x[part], y[part]
            if binary:
                self.counts[:, 0] += np.bincount((2 * some[0] + some[1]).astype(int), minlength=4)
            elif self.bet is not None:
                self.start = np.cumsum(np.vstack([self.start[None], self.bet.log_factors(*some)]), axis=0)[-1]
            columns = np.stack([*some, some[0] ** 2, some[1] ** 2])
            self.sums = np.cumsum(np.column_stack([self.sums, columns]), axis=1)[:, -1]  # one by one, in any batches
            yield

    def add_scores(self, without: Floats, with_: Floats) -> Iterator[None]:
        """Play pairs of scores, each claim by the threshold that told most against it so far."""
        for part in self._epochs(len(without)):
            x = (without[part, None] > self.thresholds).astype(int)
            y = (with_[part, None] <= self.thresholds).astype(int)
            self.counts += np.stack([(2 * x + y == value).sum(axis=0) for value in range(4)])
            self.scores = np.vstack([self.scores, np.stack([without[part], with_[part]], axis=1)])
            yield

    def _epochs(self, size: int) -> Iterator[slice]:
        """Slices of so many pairs between which the bet is made anew."""
        done = 0
        while done < size:
            if self.pairs >= self.until:
                self.start = self.log
                self._refresh()
                self.until = next_refresh(self.pairs)
            step = min(size - done, self.until - self.pairs)
            self.pairs += step
            done += step
            yield slice(done - step, done)

    def _refresh(self) -> None:
        t, rates = self.pairs, (self.sums[:2] + 0.5) / (self.pairs + 1)
        self.counts = np.zeros((4, 1))
        if len(self.scores):
            self._choose()
        elif self.dependent:
            assert isinstance(self.claims, ApproxClaims)
            spread = self.sums[2:] - 2 * rates * self.sums[:2] + t * rates**2
            variances = (0.25 + np.maximum(spread, 0.0)) / (t + 1)
            self.bet = bet_on_sum(self.claims, float(rates[0]), float(rates[1]), (variances[0], variances[1]))
        else:
            self.bet = bet_on_product(self.claims, np.full(self.size, rates[0]), np.full(self.size, rates[1]))

    def _choose(self) -> None:
        """For each claim the threshold whose past rates lie farthest outside of it."""
        t, low, high = len(self.scores), np.sort(self.scores[:, 0]), np.sort(self.scores[:, 1])
        self.thresholds = np.quantile(self.scores.ravel(), _LEVELS, method="inverted_cdf")
        x = t - np.searchsorted(low, self.thresholds, side="right")
        y = np.searchsorted(high, self.thresholds, side="right")
        a, b = (x + 0.5) / (t + 1), (y + 0.5) / (t + 1)
        mirrored = a + b > 1
        far = np.empty((len(a), self.size))
        for j, (p, q) in enumerate(zip(np.where(mirrored, 1 - a, a), np.where(mirrored, 1 - b, b), strict=True)):
            tau, c, _, _, outside = self.claims.touching(np.full(self.size, p), np.full(self.size, q))
            kl = special.rel_entr(p, tau) + special.rel_entr(1 - p, 1 - tau)
            kl = kl + special.rel_entr(q, c) + special.rel_entr(1 - q, 1 - c)
            far[j] = np.where(outside, kl, 0.0)
        self.rule = far.argmax(axis=0)
        self.counts = np.zeros((4, len(a)))
        self.bet = bet_on_product(self.claims, a[self.rule], b[self.rule])


class Sequential:
    """An audit under way: `update` it as runs arrive, and look at `bound` as often as you like.

    >>> rng = np.random.default_rng(0)
    >>> audit = bdp.audits.sequential(1e-5)
    >>> for _ in range(10):
    ...     _ = audit.update(rng.random(50) < 0.1, rng.random(50) < 0.2)
    >>> round(audit.bound().value, 2), round(audit.e_value(0.5)) > 20
    (1.63, True)
    """
