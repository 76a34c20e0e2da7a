"""Ranks, as `scipy.stats` has them, which takes half a second to import."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.support.arrays import Floats

__all__ = ["ranks"]


def ranks(values: ArrayLike) -> Floats:
    """Ranks along the last axis, from 1 on; equal values have the mean of theirs."""
    given = np.asarray(values)
    order = np.argsort(given, axis=-1)
    ordered = np.take_along_axis(given, order, axis=-1)
    at, size = np.arange(given.shape[-1]), given.shape[-1]
    new = np.ones(given.shape, dtype=bool)
    new[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    first = np.maximum.accumulate(np.where(new, at, 0), axis=-1)
    ends = np.roll(new, -1, axis=-1)  # where a run of equal values ends
    last = np.minimum.accumulate(np.where(ends, at, size)[..., ::-1], axis=-1)[..., ::-1]
    found = np.empty(given.shape)
    np.put_along_axis(found, order, 0.5 * (first + last) + 1.0, axis=-1)
    return found
