"""The ROC curve of scores of members and non-members, its area, and its points.

Who scores from a threshold on is called a member; the false positive rate (FPR) is the share of the non-members so
called, the true positive rate (TPR) that of the members. The intervals are of the rates that the same model and attack
have on further examples, where the n1 members and n0 non-members are drawn independently of each other. Each holds at
every sample size, by itself and not together with others:

    rates at a threshold that was fixed beforehand: Clopper and Pearson (1934)
    TPR at a given FPR: who scores above the (j+1)-th largest score of the non-members is called, j = ⌊FPR·n0⌋. Given
        the non-members, the calls of members are independent, so that Clopper and Pearson's interval holds, of the TPR
        *of this threshold*. The true FPR of this threshold need not be the one that was asked for. By the laws of the
        order statistics j and j + 1 its interval is that of j calls among n0; where the two are tied, it begins at 0
    area (AUC): the share of pairs in which the member scores higher, ties counting half. It is a mean over ways to form
        n = min(n0, n1) disjoint pairs, so P[AUC ≥ x] ≤ exp(−n KL(x, a)) for the true area a < x, and alike below
        (Hoeffding 1963, 5b and Theorem 1)

The interval of the area by the method "delong" is narrower, and approximate. With A the area at hand, it holds all a
with

    |a − A| ≤ t √(r v(a)),   v(a) = a (1 − a) [1 + (N − 1) ((1 − a)/(2 − a) + a/(1 + a))]/(n0 n1),   N = (n0 + n1)/2

where v is the variance of the area if scores are exponential (Hanley, McNeil 1982, in the score interval of Newcombe
2006), r = max(1, w/v(A)) scales it up to the variance w = S1/n1 + S0/n0 of DeLong, DeLong and Clarke-Pearson (1988)
where that is larger, and t is the quantile of Student's law with Satterthwaite's degrees of freedom for w, at most
twice the normal one. Unlike Wald's or a logit interval it does not shrink to a point where the area is 1.

At 95% it held the true area in 93% to 100% of 400 draws in each of 49 cases: normal scores with true areas of 0.5,
0.76, 0.95, 0.99 and 0.999; two values; 2% exposed members; members spread 3 and 30 times as wide, or at two ends;
with 10 + 10, 30 + 30, 20 + 500, 500 + 20 and 500 + 500 members and non-members. In the 50th it held in 85%: of 10
members at two ends all are at the upper one in a tenth of all draws. Of such few examples take the exact one. The
logit interval fell to 63% (two values, rarely the higher one) and 83% (area 0.99, 20 members).

That members score lower is tested by the rank sum of Mann and Whitney, with the normal approximation for ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from scipy import special

from bayes_dp.beta import clopper_pearson_lower, clopper_pearson_upper
from bayes_dp.checks import InputError, is_one_of, one_number, show
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["Interval", "Rate", "RateAt", "RocCurve"]

Interval = Literal["exact", "delong"]


@dataclass(frozen=True)
class Rate:
    """A share or an area, and the ends of its interval of the given confidence.

    >>> area = bdp.GuessTable([0.1, 0.4, 0.8, 0.9], [False, True, False, True]).auc(confidence=0.9)
    >>> float(area), area.low < 0.75 < area.high
    (0.75, True)
    """

    value: float
    low: float
    high: float
    confidence: float

    def interval(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return f"{self.value:.4g} ({100 * self.confidence:g}% interval {self.low:.4g} to {self.high:.4g})"


@dataclass(frozen=True)
class RateAt(Rate):
    """The TPR of calling members who score above `above`, and the FPR of that.

    >>> found = bdp.GuessTable(np.arange(100), np.arange(100) % 2 == 0).tpr_at(0.1)
    >>> found.value, found.fpr.value, found.above
    (0.1, 0.1, 89.0)
    """

    above: float
    fpr: Rate


@dataclass(frozen=True, eq=False)
class RocCurve:
    """The ROC curve through k + 1 points, from nobody called a member to all.

    At the i-th point those are called who score at least `threshold[i]`: infinite for i = 0 (where nobody is called,
    whatever the scores), and then every score that occurs, falling. All arrays have the shape (k + 1,).

    >>> curve = bdp.GuessTable([0.1, 0.4, 0.8, 0.9], [False, True, False, True]).roc()
    >>> curve.fpr, curve.tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """

    threshold: Floats
    false_positives: Ints
    true_positives: Ints
    confidence: float

    @classmethod
    def of(cls, score: Floats, member: Bools, confidence: float = 0.95) -> RocCurve:
        """Of scores and memberships of shape (n,), with both kinds of examples among them."""
        confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
        if member.all() or not member.any():
            kind = "members" if member.any() else "non-members"
            raise InputError(f"all {len(member)} examples are {kind}: a curve needs both")
        order = np.argsort(-score, kind="stable")
        falling = score[order]
        last = np.append(np.flatnonzero(falling[1:] != falling[:-1]), len(score) - 1)  # of equal scores
        called, members = last + 1, np.cumsum(member[order])[last]
        first = np.zeros(1, dtype=np.int64)
        return cls(
            np.append(np.inf, falling[last]),
            np.append(first, called - members),
            np.append(first, members),
            confidence,
        )

    def __len__(self) -> int:
        return len(self.threshold)

    @property
    def negatives(self) -> int:
        """How many non-members there are."""
        return int(self.false_positives[-1])

    @property
    def positives(self) -> int:
        """How many members there are."""
        return int(self.true_positives[-1])

    @property
    def fpr(self) -> Floats:
        return self.false_positives / self.negatives

    @property
    def tpr(self) -> Floats:
        return self.true_positives / self.positives

    @cached_property
    def fpr_interval(self) -> tuple[Floats, Floats]:
        """Both ends at every point, for a threshold that was fixed beforehand."""
        return _exact(self.false_positives, self.negatives, self.confidence)

    @cached_property
    def tpr_interval(self) -> tuple[Floats, Floats]:
        """Both ends at every point, for a threshold that was fixed beforehand."""
        return _exact(self.true_positives, self.positives, self.confidence)

    def area(self) -> float:
        """P[a member scores higher than a non-member] + ½ P[they score the same], over the examples at hand."""
        steps = np.diff(self.false_positives) * (self.true_positives[1:] + self.true_positives[:-1])
        return float(np.sum(steps, dtype=np.float64) / (2.0 * self.negatives * self.positives))

    def auc(self, method: Interval = "exact") -> Rate:
        """The area with its interval: "exact", which holds at every sample size, or "delong", see above."""
        if not is_one_of(method, get_args(Interval)):
            raise InputError(f'method must be "exact" or "delong", not {show(method)}')
        return self._exact_auc() if method == "exact" else self._delong()

    def _delong(self) -> Rate:
        area, n0, n1 = self.area(), self.negatives, self.positives
        found, called = np.diff(self.true_positives), np.diff(self.false_positives)
        of_members = 1 - (self.false_positives[1:] + self.false_positives[:-1]) / (2 * n0)  # who score lower than each
        of_others = (self.true_positives[1:] + self.true_positives[:-1]) / (2 * n1)
        s1, s0 = _variance(of_members, found) / n1, _variance(of_others, called) / n0
        normal = float(special.ndtri((1 + self.confidence) / 2))
        scale, t = 1.0, normal
        if s1 + s0 > 0:
            scale = max(1.0, (s1 + s0) / self._spread(area))
            degrees = (s1 + s0) ** 2 / (s1**2 / max(n1 - 1, 1) + s0**2 / max(n0 - 1, 1))
            t = min(float(special.stdtrit(degrees, (1 + self.confidence) / 2)), 2 * normal)

        def end(limit: float) -> float:
            inside = area
            for _ in range(60):
                middle = (inside + limit) / 2
                held = abs(middle - area) <= t * math.sqrt(scale * self._spread(middle))
                inside, limit = (middle, limit) if held else (inside, middle)
            return inside if held else limit

        return Rate(area, end(0.0), end(1.0), self.confidence)

    def _spread(self, area: float) -> float:
        """v(a), the variance of an area if scores are exponential."""
        n0, n1 = self.negatives, self.positives
        pairs = 1 + ((n0 + n1) / 2 - 1) * ((1 - area) / (2 - area) + area / (1 + area))
        return area * (1 - area) * pairs / (n0 * n1)

    def _exact_auc(self) -> Rate:
        area, pairs = self.area(), min(self.negatives, self.positives)
        most = math.log(2 / (1 - self.confidence)) / pairs
        return Rate(area, 1 - _farthest(1 - area, most), _farthest(area, most), self.confidence)

    def tpr_at(self, fpr: float) -> RateAt:
        """The TPR of the lowest threshold at which at most this share of the non-members at hand is called a member."""
        fpr = one_number("fpr", fpr, 0.0, 1.0)
        n0 = self.negatives
        allowed = min(n0, math.floor(fpr * n0 + 1e-9))  # as 0.29 · 100 is a little less than 29
        point = int(np.searchsorted(self.false_positives, allowed, side="right")) - 1
        low, high = (float(end) for end in _exact(self.true_positives[point], self.positives, self.confidence))
        tpr = float(self.tpr[point])
        if allowed == n0:
            return RateAt(tpr, low, high, self.confidence, -math.inf, Rate(1.0, 1.0, 1.0, self.confidence))
        least, most = _exact(np.array(allowed), n0, self.confidence)
        tied = self.false_positives[point] < allowed
        share = Rate(float(self.fpr[point]), 0.0 if tied else float(least), float(most), self.confidence)
        return RateAt(tpr, low, high, self.confidence, float(self.threshold[point + 1]), share)

    def p_lower(self) -> float:
        """The p-value of members scoring as high as non-members, against lower (normal approximation, ties)."""
        n0, n1 = self.negatives, self.positives
        n = n0 + n1
        together = np.diff(self.false_positives + self.true_positives).astype(np.float64)
        variance = n0 * n1 / 12 * (n + 1 - float(np.sum(together**3 - together)) / (n * (n - 1)))
        if variance <= 0:
            return 1.0
        return float(special.ndtr(((self.area() - 0.5) * n0 * n1 + 0.5) / math.sqrt(variance)))


def _variance(values: Floats, counts: Ints) -> float:
    """Of values that occur so many times each, with n − 1; 0 for one."""
    n = int(counts.sum())
    mean = float(np.sum(counts * values)) / n
    return float(np.sum(counts * (values - mean) ** 2)) / max(n - 1, 1)


def _exact(successes: Ints, trials: int, confidence: float) -> tuple[Floats, Floats]:
    tail = (1 - confidence) / 2
    return clopper_pearson_lower(successes, trials, tail), clopper_pearson_upper(successes, trials, tail)


def _farthest(share: float, most: float) -> float:
    """The largest a ≥ share with KL(share, a) ≤ most, KL that of two coins, by halving."""
    low, high = share, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        distance = special.rel_entr(share, middle) + special.rel_entr(1 - share, 1 - middle)
        low, high = (middle, high) if distance <= most else (low, middle)
    return high
