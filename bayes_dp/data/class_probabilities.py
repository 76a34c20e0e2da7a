"""Probabilities of the classes of each example, and the classes themselves: checked where a user gives them, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_dp.checks import InputError, numbers, show
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["classes", "drawn", "probabilities"]

_OFF = 1e-6  # that probabilities may sum to beside 1


def probabilities(name: str, given: Any) -> Floats:
    """Probabilities of classes for each example, (n, k) with k of at least 2, whose rows sum to 1."""
    found = numbers(name, given, 0.0, 1.0)
    if found.ndim != 2 or found.shape[1] < 2 or not len(found):
        raise InputError(
            f"{name} must be an array of the probabilities of two or more classes for each example,"
            f" not of the shape {found.shape}"
        )
    total = found.sum(axis=1)
    if (bad := np.abs(total - 1.0) > _OFF).any():
        row = int(np.argmax(bad))
        raise InputError(f"the probabilities of {name}[{row}] must sum to 1, not to {total[row]:g}")
    return found


def classes(given: Any, shape: tuple[int, ...]) -> Ints:
    """Labels as whole numbers from 0 to k − 1, (n,)."""
    n, k = shape
    found = np.asarray(given)
    odd = -1  # the first that is no class, in a column of objects, as pandas has them
    if found.dtype == object:
        cells, kinds = found.ravel().tolist(), (int, float, np.number, np.bool_)
        odd = next((i for i, each in enumerate(cells) if not (isinstance(each, kinds) and each in range(k))), -1)
        found = found if odd >= 0 else np.array(cells, dtype=np.float64).reshape(found.shape)
    if found.shape != (n,):
        raise InputError(f"labels must be a class for each of the {n} examples, not of the shape {found.shape}")
    if found.dtype.kind not in "iufb" or (bad := ~np.isin(found, np.arange(k))).any():
        row = max(odd, 0) if found.dtype.kind not in "iufb" else int(np.argmax(bad))
        raise InputError(f"labels[{row}] must be a whole number from 0 to {k - 1}, not {show(found[row])}")
    return found.astype(np.int64)


def drawn(law: Floats, rng: np.random.Generator) -> Ints:
    """A class for each row of probabilities, (n, k) -> (n,); never one of probability 0."""
    n, k = law.shape
    where = rng.random(n)
    found, below = np.zeros(n, dtype=np.int64), np.zeros(n)
    for label in range(k - 1):
        below += law[:, label]
        found += where >= below
    # rounding may leave a sum of probabilities below 1 without a class of its own
    return np.minimum(found, k - 1 - np.argmax(law[:, ::-1] > 0, axis=1))
