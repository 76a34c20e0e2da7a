"""The counts of the bases as columns of numbers, for densities."""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np

from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Floats

__all__ = ["Array", "Counts"]

Array = jax.Array | Floats


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
