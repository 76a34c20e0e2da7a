"""The counts of the bases as columns of numbers, for densities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Floats

__all__ = ["Array", "Counts", "at_an_end"]

if TYPE_CHECKING:
    import jax

    Array = jax.Array | Floats
else:
    Array = Any


class Counts(NamedTuple):
    """X of N0 false positives and Y of N1 false negatives; each of shape (n,)."""

    x: Array
    n0: Array
    y: Array
    n1: Array

    @classmethod
    def of(cls, counts: ErrorCounts) -> Counts:
        columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
        return cls(*(column.astype(np.float64) for column in columns))


def at_an_end(counts: ErrorCounts) -> int:
    """How many counts are 0 or all of their runs, where normal densities have no bound as the rate nears 0 or 1."""
    pairs = (counts.false_positives, counts.negatives), (counts.false_negatives, counts.positives)
    return int(sum(np.sum((errors == 0) | (errors == runs)) for errors, runs in pairs))
