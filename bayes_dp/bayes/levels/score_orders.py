"""The order of scores: what is left of them when only their ranks count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, seed_of, show
from bayes_dp.data.loss_table import LossTable
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["ScoreOrders"]

_MOST = 5000  # scores of a base
_SIDES = ("without the example", "with it")


@dataclass(frozen=True)
class ScoreOrders:
    """For each of n bases the labels (N,) of its scores in increasing order: 0 for a run without z, 1 for one with it.

    `tied` is the share of each base's scores that equal one of the other kind, (n,): their order was drawn.
    """

    labels: tuple[Ints, ...]
    tied: Floats

    @classmethod
    def from_losses(cls, losses: LossTable, seed: int = 0) -> ScoreOrders:
        """The lower the loss, the higher the score."""
        names = losses.base if losses.base is not None else range(len(losses))
        return cls.from_scores(-losses.without, -losses.with_, [str(name) for name in names], seed)

    @classmethod
    def from_scores(
        cls,
        without: Sequence[ArrayLike] | Floats,
        with_: Sequence[ArrayLike] | Floats,
        base: Sequence[str] | None = None,
        seed: int = 0,
    ) -> ScoreOrders:
        """Of the scores of each base; the higher, the more like a member. They may be infinite."""
        if len(without) != len(with_) or not len(without):
            raise InputError(
                f"scores must be of as many bases with as without the example, and of one at least, not of {len(with_)}"
                f" and {len(without)}"
            )
        names = base if base is not None else [str(i) for i in range(len(without))]
        rng = np.random.default_rng(seed_of(seed))
        labels, tied = [], np.empty(len(without))
        for i, sides in enumerate(zip(without, with_, strict=True)):
            given = [_scores(values, names[i], side) for values, side in zip(sides, _SIDES, strict=True)]
            scores = np.concatenate(given)
            label = np.repeat([0, 1], [len(values) for values in given])
            labels.append(label[np.lexsort((rng.random(len(scores)), scores))])
            _, place = np.unique(scores, return_inverse=True)
            both = np.intersect1d(place[label == 0], place[label == 1])
            tied[i] = np.isin(place, both).mean()
        return cls(tuple(labels), tied)

    @classmethod
    def from_some(
        cls, without: Sequence[Any], with_: Sequence[Any], base: Sequence[str] | None, seed: int
    ) -> tuple[ScoreOrders, int]:
        """Of at most 5000 scores of each base, drawn in proportion; and of how many bases scores were left out."""
        rng, left_out = np.random.default_rng([seed, 7]), 0
        some: list[list[Any]] = [[], []]
        for sides in zip(without, with_, strict=False):
            size = sum(np.size(side) for side in sides)
            left_out += size > _MOST
            for kept, side in zip(some, sides, strict=True):
                number = max(1, int(np.size(side) * _MOST / size)) if size > _MOST else np.size(side)
                kept.append(side if size <= _MOST else rng.choice(np.ravel(side), number, replace=False))
        if len(without) != len(with_):
            some = [list(without), list(with_)]
        return cls.from_scores(some[0], some[1], base, seed), left_out


def _scores(values: ArrayLike, name: str, side: str) -> Floats:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or not scores.size:
        raise InputError(f"base {show(name)} must have a score for each run {side}, at least one, not {show(values)}")
    if np.isnan(scores).any():
        run = int(np.argmax(np.isnan(scores)))
        raise InputError(f"the score of base {show(name)} in run {run} {side} must be a number, not nan")
    return scores
