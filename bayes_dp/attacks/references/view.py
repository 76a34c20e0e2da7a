"""What an attack on one model sees of a matrix of scores, and running sums over its reference models.

A reference counts for an example by whether it was trained with it ("in") or without ("out"); where neither is known,
it does not count. Sums run over the references one by one, so that they need memory for a few rows, whatever their
number: first those of x, for the means, then those of (x − mean)².

Where all references of an example are on one side, the mean of the other side is that of the side that there is, moved
by the difference of both sides: its mean over the examples that have both, or where none has, that of all runs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["Columns", "Means", "Moments", "Side", "View", "both_sides", "or_mean", "pooled_variance"]

Side = Literal["in", "out", "any"]

_LOWEST = -1e300  # below every score


@dataclass(frozen=True, eq=False)
class Moments:
    """Number, mean (0 where there are none) and sum of squares about the mean of each example's references, (n,)."""

    count: Ints
    mean: Floats
    squares: Floats


@dataclass(frozen=True, eq=False)
class Means:
    """A mean for every example on both sides, (n,)."""

    out: Floats
    in_: Floats


@dataclass(frozen=True, eq=False)
class Columns:
    """Some of the m columns of an array (M, m), a row at a time: all of them together would be a second array."""

    array: NDArray[Any]
    chosen: Bools  # (m,)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.array), int(np.count_nonzero(self.chosen))

    def __getitem__(self, row: int) -> NDArray[Any]:
        return np.asarray(self.array[row][self.chosen])


Matrix = NDArray[Any] | Columns


@dataclass(frozen=True, eq=False)
class View:
    """One of M models and its n examples: row `target` is attacked, the rows `references` are what the attack knows.

    `statistic` and `log_likelihood` have the shape (M, n), as `member`, which is 1 (trained with the example), 0
    (without) or −1 (not known). Those of z population examples, which no model was trained on, have the shape (M, z).
    `features` (n, d) and `population_features` (z, d) describe the examples, `gradient_norm` is (M, n).
    """

    statistic: Matrix
    log_likelihood: Matrix
    is_probability: bool  # that of which `log_likelihood` is the logarithm
    member: Matrix
    target: int
    references: tuple[int, ...]
    population: Floats | None = None
    population_log_likelihood: Floats | None = None
    features: Floats | None = None
    population_features: Floats | None = None
    gradient_norm: Matrix | None = None

    def on_a_reference(self) -> View:
        """The same with the first reference in the place of the target: an attack may be tuned on it."""
        first, *others = self.references
        return replace(self, target=first, references=tuple(others))

    def has(self, side: Side) -> bool:
        """Whether any example has a reference on a side."""
        return any(bool(self.counted(r, side).any()) for r in self.references)

    def require(self, attack: str, *sides: Side) -> None:
        """Refuse to go on if no example has a reference on one of these sides."""
        words = {"in": " trained with the example", "out": " trained without the example", "any": ""}
        for side in sides:
            if not self.has(side):
                raise InputError(
                    f'attack "{attack}" needs a reference{words[side]}, but for model {self.target} no example has one'
                )

    def moments(self, side: Side) -> Moments:
        """Of the statistic, of the references on one side."""
        count, mean = self._mean(self.statistic, side)
        squares = np.zeros(len(count))
        for r in self.references:
            deviation = (self._row(self.statistic, r) - mean) * self.counted(r, side)
            squares += deviation * deviation
        return Moments(count, mean, squares)

    def mean_log_likelihood(self, side: Side) -> tuple[Ints, Floats]:
        """How many references there are on a side, and the mean of their log p, 0 where there are none; (n,)."""
        return self._mean(self.log_likelihood, side)

    def log_mean_likelihoods(self, *sides: Side) -> list[tuple[Ints, Floats]]:
        """Of sides without a common reference: how many references, and the log of the mean of their p, 0 where there
        are none; (n,) each."""
        n = self.member.shape[1]
        counts = [np.zeros(n, dtype=np.int64) for _ in sides]
        highest, totals = ([np.full(n, start) for _ in sides] for start in (_LOWEST, 0.0))
        for r in self.references:
            row = self._row(self.log_likelihood, r)
            for side, count, high in zip(sides, counts, highest, strict=True):
                here = self.counted(r, side)
                count += here
                np.maximum(high, row * here + _LOWEST * ~here, out=high)
        for r in self.references:
            masks = [self.counted(r, side) for side in sides]
            shift = sum(high * here for high, here in zip(highest, masks, strict=True))
            p = np.exp((self._row(self.log_likelihood, r) - shift) * np.logical_or.reduce(masks))
            for here, total in zip(masks, totals, strict=True):
                total += p * here
        return [
            (count, np.where(count > 0, high + np.log(total / np.maximum(count, 1)), 0.0))
            for count, high, total in zip(counts, highest, totals, strict=True)
        ]

    def population_log_mean_likelihood(self) -> Floats | None:
        """The log of the mean of p over all references for the population, (z,)."""
        if self.population_log_likelihood is None:
            return None
        p = self.population_log_likelihood
        everybody = np.zeros(p.shape, dtype=np.int8)
        return replace(self, log_likelihood=p, member=everybody).log_mean_likelihoods("out")[0][1]

    def _mean(self, values: Matrix, side: Side) -> tuple[Ints, Floats]:
        n = self.member.shape[1]
        count, total = np.zeros(n, dtype=np.int64), np.zeros(n)
        for r in self.references:
            here = self.counted(r, side)
            count += here
            total += self._row(values, r) * here
        return count, total / np.maximum(count, 1)

    def _row(self, values: Matrix, reference: int) -> Floats:
        """The values of a reference, (n,), and 0 where they are missing: a product with 0 is many times as fast as a
        choice by a mask."""
        known = self.member[reference] >= 0
        return values[reference] if known.all() else np.where(known, values[reference], 0.0)

    def counted(self, reference: int, side: Side) -> Bools:
        """For which examples a reference counts on a side, (n,)."""
        member = self.member[reference]
        return member >= 0 if side == "any" else member == (side == "in")


def both_sides(out: tuple[Ints, Floats], in_: tuple[Ints, Floats]) -> Means:
    """A mean on both sides for each example, from numbers and means of which one may be missing."""
    (n_out, out_mean), (n_in, in_mean) = out, in_
    both = (n_out > 0) & (n_in > 0)
    if both.any():
        difference = float((in_mean - out_mean)[both].mean())
    elif n_out.any() and n_in.any():
        difference = float(np.average(in_mean, weights=n_in) - np.average(out_mean, weights=n_out))
    else:
        difference = 0.0
    anything = (n_out > 0) | (n_in > 0)
    out_mean = np.where(n_out > 0, out_mean, in_mean - difference)
    in_mean = np.where(n_in > 0, in_mean, out_mean + difference)
    return Means(or_mean(anything, out_mean), or_mean(anything, in_mean))


def pooled_variance(side: Moments, other: Moments) -> float:
    """S²/Σ(n − 1) of a side over all examples.

    That of both sides stands for it where no example has two references on this side or none of them differ, and 1
    where that is so on both.
    """
    for sides in ((side,), (side, other)):
        freedom = sum(int(np.maximum(each.count - 1, 0).sum()) for each in sides)
        total = sum(float(each.squares.sum()) for each in sides)
        if freedom and total > 0:
            return total / freedom
    return 1.0


def or_mean(there: Ints | Bools, values: Floats) -> Floats:
    """The values that are there, and in the place of the others their mean."""
    there = there > 0
    return values if there.all() or not there.any() else np.where(there, values, values[there].mean())
