"""The counts of the bases as columns of numbers, for densities."""

from __future__ import annotations

from typing import NamedTuple

import jax
import numpy as np
from numpy.typing import NDArray

from bayes_dp.data.counts import ErrorCounts

__all__ = ["Array", "Counts"]

Array = jax.Array | NDArray[np.float64]


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
