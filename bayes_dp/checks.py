"""Checks of what the caller gives: each failure is one sentence with the name, the place and the value."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "InputError",
    "interval_probability",
    "is_one_of",
    "is_whole",
    "numbers",
    "one_number",
    "seed_of",
    "show",
    "text_of",
    "truth",
    "whole_number",
]


class InputError(ValueError):
    """Input that cannot be used; the message is one sentence fit to be shown to the user as it is.

    >>> bdp.ErrorCounts(11, 10, 0, 10)
    Traceback (most recent call last):
        ...
    bayes_dp.checks.InputError: false_positives[0] must be a whole number from 0 to negatives = 10, not 11
    """


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
    except Exception:  # a ragged list, or a value of any class, which may raise anything
        given = np.array(None)
    if given.dtype.kind not in "iuf":
        raise InputError(f"{name} must be numeric, not {show(value)}")
    with np.errstate(all="ignore"):  # an extended float beyond the range of float64 becomes inf
        array = given.astype(np.float64)
    bad = np.isnan(array)
    bad |= (array <= low) if low_open else (array < low)
    bad |= (array >= high) if high_open else (array > high)
    if bad.any():
        place = np.unravel_index(int(np.argmax(bad)), array.shape)
        index = f"[{', '.join(str(int(i)) for i in place)}]" if array.ndim else ""
        interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
        raise InputError(f"{name}{index} must lie in {interval}, not {show(array[place])}")
    return array


def one_number(name: str, value: Any, low: float = -math.inf, high: float = math.inf, **ends: bool) -> float:
    """Like `numbers`, for a single number."""
    array = numbers(name, value, low, high, **ends)
    if array.ndim:
        raise InputError(f"{name} must be a single number, not an array of shape {array.shape}")
    return float(array)


def interval_probability(prob: Any) -> float:
    """`prob` of an interval beside which one-sided bounds stand, of the confidence (1 + prob)/2: above 1/2, below 1."""
    checked = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    if not 0.5 < (1 + checked) / 2 < 1:
        raise InputError(f"prob must not be so near to 0 or 1 that (1 + prob)/2 is 0.5 or 1, as {show(prob)} is")
    return checked


def is_whole(value: Any) -> bool:
    """Whether `value` is an integer, which truth values, floats and spans of time are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def whole_number(name: str, value: Any, least: int, most: int | None = None) -> int:
    """`value` as an int, if it is a whole number of at least `least`, and at most `most` or of a size that NumPy can
    count with."""
    if most is not None and (not is_whole(value) or not least <= value <= most):
        raise InputError(f"{name} must be a whole number from {least} to {most}, not {show(value)}")
    if not is_whole(value) or value < least:
        raise InputError(f"{name} must be a whole number, at least {least}, not {show(value)}")
    if value >= 2**63:
        raise InputError(f"{name} must be a whole number below 2**63, not {show(value)}")
    return int(value)


def truth(name: str, value: Any) -> bool:
    """`value` as a bool, if it is True or False: whatever else there is counts as one or the other in Python."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {show(value)}")
    return bool(value)


def is_one_of(value: Any, names: Sequence[str]) -> bool:
    """Whether `value` is one of the names, which an array that holds one is not."""
    return isinstance(value, str) and value in names


def seed_of(value: Any) -> int:
    """A seed: a whole number from 0 to 2**63 - 1 (same seed, same draws)."""
    if not is_whole(value) or not 0 <= value < 2**63:
        raise InputError(f"seed must be a whole number from 0 to 2**63 - 1, not {show(value)}")
    return int(value)


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


def show(value: object) -> str:
    """A value as a short piece of a one-line message."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # np.float64(3.5) -> 3.5
    try:
        return " ".join(_REPR.repr(value).split())
    except ValueError:  # Python refuses to print integers of very many digits
        return "a number of thousands of digits"


def text_of(value: object) -> str | None:
    """`str(value)`; None for an integer of more digits than Python prints."""
    try:
        return str(value)
    except ValueError:
        return None
