"""Checks of what the caller gives: each failure is one sentence with the name, the place and the value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["InputError", "numbers", "one_number", "seed_of"]


class InputError(ValueError):
    """Input that cannot be used; the message is one sentence fit to be shown to the user as it is."""


def numbers(
    name: str,
    value: ArrayLike,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    low_open: bool = False,
    high_open: bool = False,
) -> NDArray[np.float64]:
    """`value` as a float64 array with every element in [low, high] (an open end excludes the bound itself).

    NaN is always refused; infinities are refused unless the interval contains them.
    """
    try:
        given = np.asarray(value)
    except (TypeError, ValueError):  # a ragged list
        given = np.array(None)
    if given.dtype.kind not in "iuf":
        raise InputError(f"{name} must be numeric, not {value!r:.80}")
    array = given.astype(np.float64)
    bad = np.isnan(array)
    bad |= (array <= low) if low_open else (array < low)
    bad |= (array >= high) if high_open else (array > high)
    if bad.any():
        place = np.unravel_index(int(np.argmax(bad)), array.shape)
        index = f"[{', '.join(str(int(i)) for i in place)}]" if array.ndim else ""
        interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
        raise InputError(f"{name}{index} must lie in {interval}, not {float(array[place])!r}")
    return array


def one_number(name: str, value: Any, low: float = -math.inf, high: float = math.inf, **ends: bool) -> float:
    """Like `numbers`, for a single number."""
    array = numbers(name, value, low, high, **ends)
    if array.ndim:
        raise InputError(f"{name} must be a single number, not an array of shape {array.shape}")
    return float(array)


def seed_of(value: Any) -> int:
    """A seed: a whole number from 0 to 2**63 - 1 (same seed, same draws)."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= int(value) < 2**63:
        raise InputError(f"seed must be a whole number from 0 to 2**63 - 1, not {value!r:.80}")
    return int(value)
