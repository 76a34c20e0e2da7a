"""The capital of somebody who bets on every pair against many claims at once (`betting.py`).

The bet is made again after every pair up to the 64th and then whenever 2% more have been played. In between its factors
stay the same, so that errors of 0 and 1 need only be counted: 10⁶ pairs are 536 bets. Whatever the batches in which
pairs come, the same sums are made in the same order. A pair may also be a block of several runs of either kind.

With an adaptive threshold each claim is bet against by the rule "score > t" whose past rates lie farthest outside of
it (by kl), of t at 40 quantiles of past scores. A rule that depends on earlier pairs only is as good as a fixed one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from bayes_dp.audits.betting import (
    ApproxClaims,
    Bet,
    Claims,
    bet_on_product,
    bet_on_sum,
    divergence,
    next_refresh,
)
from bayes_dp.support.arrays import Floats

__all__ = ["LEVELS", "Capital"]

LEVELS = np.r_[0.002, 0.005, 0.01, 0.02, (np.arange(32) + 0.5) / 32, 0.98, 0.99, 0.995, 0.998]  # of past scores
_AT_ONCE = 1000  # runs whose factors are held at once


class Capital:
    """The capital of a bettor for each claim, and the pairs that it was made from."""

    def __init__(self, claims: Claims, size: int, dependent: bool) -> None:
        self.claims, self.size, self.dependent = claims, size, dependent
        self.pairs, self.until = 0, 0
        self.sums = np.zeros(4)  # of X, Y, X², Y²
        self.scores = np.empty((0, 2))  # of an adaptive threshold: without and with the example
        self.start = np.zeros(size)  # log capital when the bet was made
        self.thresholds, self.rule = np.zeros(1), np.zeros(size, int)  # and which of them each claim is judged by
        self.past = 0, self.sums  # pairs and sums when the bet was made
        self.counts = np.zeros((4, 1))  # of the cells of the bet since then, by threshold
        self._bet: Bet
        self._make_bet()

    @property
    def log(self) -> Floats:
        """log capital, (k,)."""
        return np.asarray(self.start + (self.counts[:, self.rule] * self._bet.cells()).sum(axis=0))

    def add(self, x: Floats, y: Floats) -> Iterator[None]:
        """Play pairs of errors, (m,) each, or as many blocks; whoever takes an item may look at the capital."""
        x, y = (each.reshape(-1, n) for each, n in zip((x, y), self.claims.block, strict=True))
        step = max(1, _AT_ONCE // sum(self.claims.block))
        for part in self._epochs(len(x)):
            a, b = x[part], y[part]
            counted = np.isin(a, (0, 1)).all(axis=1) & np.isin(b, (0, 1)).all(axis=1)
            self.counts[:, 0] += self._bet.counted(a[counted], b[counted])
            others = np.flatnonzero(~counted)
            for begin in range(0, len(others), step):
                pairs = others[begin : begin + step]
                factors = self._bet.log_factors(a[pairs], b[pairs])
                self.start = np.cumsum(np.vstack([self.start[None], factors]), axis=0)[-1]
            columns = np.stack([(each**power).sum(axis=1) for power in (1, 2) for each in (a, b)])
            self.sums = np.cumsum(np.column_stack([self.sums, columns]), axis=1)[:, -1]  # one by one, in any batches
            yield

    def add_scores(self, without: Floats, with_: Floats) -> Iterator[None]:
        """Play pairs of scores, each claim by the threshold that told most against it so far."""
        for part in self._epochs(len(without)):
            x = (without[part, None] > self.thresholds).sum(axis=0)
            y = (with_[part, None] <= self.thresholds).sum(axis=0)
            m = part.stop - part.start
            self.counts = self.counts + np.stack([m - x, x, m - y, y])
            self.scores = np.vstack([self.scores, np.stack([without[part], with_[part]], axis=1)])
            yield

    def _epochs(self, size: int) -> Iterator[slice]:
        """Slices of so many pairs between which the bet is made again."""
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
        self.past = self.pairs, self.sums
        self.counts = np.zeros((4, 1))
        self._make_bet()

    def _make_bet(self) -> None:
        t, sums = self.past
        rates = (sums[:2] + 0.5) / (t * np.array(self.claims.block) + 1)
        if t and len(self.scores):
            self._choose(self.scores[:t])
            return
        a, b = (np.full(self.size, rate) for rate in rates)
        if self.dependent:
            assert isinstance(self.claims, ApproxClaims)
            spread = sums[2:] - 2 * rates * sums[:2] + t * rates**2
            v = [np.full(self.size, each) for each in (0.25 + np.maximum(spread, 0.0)) / (t + 1)]
            self._bet = bet_on_sum(self.claims, a, b, (v[0], v[1]))
        else:
            self._bet = bet_on_product(self.claims, a, b)

    def _choose(self, scores: Floats) -> None:
        """For each claim the threshold whose past rates lie farthest outside of it."""
        t, low, high = len(scores), np.sort(scores[:, 0]), np.sort(scores[:, 1])
        self.thresholds = np.asarray(np.quantile(scores.ravel(), LEVELS, method="inverted_cdf"))
        x = t - np.searchsorted(low, self.thresholds, side="right")
        y = np.searchsorted(high, self.thresholds, side="right")
        a, b = (x + 0.5) / (t + 1), (y + 0.5) / (t + 1)
        mirrored = a + b > 1
        one = np.ones((1, self.size))
        p, q = (np.where(mirrored, 1 - each, each)[:, None] * one for each in (a, b))
        tau, c, _, _, outside = self.claims.touching(p, q)
        self.rule = divergence(self.claims, (p, q), (tau, c), outside).argmax(axis=0)
        if self.counts.shape[1] != len(a):
            self.counts = np.zeros((4, len(a)))
        self._bet = bet_on_product(self.claims, a[self.rule], b[self.rule])

    def state(self) -> dict[str, Any]:
        """All that `restore` needs, fit for JSON."""
        return {
            "pairs": self.pairs,
            "until": self.until,
            "sums": self.sums.tolist(),
            "past_pairs": self.past[0],
            "past_sums": self.past[1].tolist(),
            "start": self.start.tolist(),
            "counts": self.counts.astype(int).tolist(),
            "scores": self.scores.tolist(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from there, with the same bits."""
        self.pairs, self.until = state["pairs"], state["until"]
        self.sums, self.start = np.array(state["sums"], float), np.array(state["start"], float)
        self.past = state["past_pairs"], np.array(state["past_sums"], float)
        self.scores = np.array(state["scores"], float).reshape(-1, 2)
        self.counts = np.array(state["counts"], float)
        self._make_bet()
