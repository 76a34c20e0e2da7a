"""What the functions of this room share: checks of their arguments, and the search for a threshold."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["LARGEST_EXPONENT", "arrays", "fraction", "least", "nonnegative", "scalar"]

LARGEST_EXPONENT = 709.0  # exp of anything above 709.78 overflows


def least(condition: Callable[[Floats], Bools], low: ArrayLike, high: ArrayLike) -> Floats:
    """Least float64 x in [low, high] with `condition(x)`, elementwise, or `high` when it holds nowhere below `high`.

    `condition` turns from false to true once as x grows; 0 ≤ low ≤ high. Non-negative floats are ordered like their bit
    patterns, so halving the patterns reaches the last bit, whatever the scale, in at most 64 steps.
    """
    bottom, top = np.broadcast_arrays(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))
    below, reached = bottom.view(np.int64) - 1, top.view(np.int64)
    while np.any(reached - below > 1):
        middle = np.where(reached - below > 1, below + (reached - below) // 2, reached)
        holds = condition(middle.view(np.float64))
        below, reached = np.where(holds, below, middle), np.where(holds, middle, reached)
    return reached.view(np.float64)


def nonnegative(name: str, value: ArrayLike) -> Floats:
    return numbers(name, value, 0.0, math.inf, high_open=True)


def fraction(name: str, value: ArrayLike) -> Floats:
    return numbers(name, value, 0.0, 1.0)


def arrays(**values: ArrayLike) -> tuple[Floats, ...]:
    """Each in the range that its name says, and all of shapes that broadcast."""
    found = tuple(
        nonnegative(name, value)
        if name in ("epsilon", "mu", "total_epsilon")
        else numbers(name, value, 0.0, 1.0, high_open=name == "strength")
        for name, value in values.items()
    )
    shapes = [array.shape for array in found]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise InputError(f"{_listed(values)} must have shapes that broadcast, not {_listed(shapes)}") from None
    return found


def _listed(items: Iterable[Any]) -> str:
    *most, last = map(str, items)
    return f"{', '.join(most)} and {last}"


def scalar(value: Any) -> Floats:
    """The array itself; a zero-dimensional one as a NumPy scalar, as NumPy's own functions return it."""
    plain: Floats = value[()]
    return plain
