"""Values of arguments: what is accepted at and inside the edges of a range, and what is refused outside of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

TEXT, NOTHING, THING = "text", None, object()


@dataclass(frozen=True)
class Values:
    """What an argument takes, and what it refuses with an `InputError` that has one of `names` in its message."""

    good: tuple[Any, ...]
    bad: tuple[Any, ...]
    names: tuple[str, ...] = ()  # besides the argument's own name


def number(low: float, high: float, ends: str = "[]", inside: float | None = None, *, optional: bool = False) -> Values:
    """One number between two ends, each of which belongs to the range if its bracket is square."""
    middle = (low + high) / 2 if inside is None else inside
    good: list[Any] = [middle, np.float64(middle), np.array(middle)]
    bad: list[Any] = [math.nan, TEXT, "", True, np.True_, THING, 1j, [middle], np.array([middle]), {}]
    bad += [pd.Series([middle]), [middle, "a"], [[middle], [middle, middle]], np.datetime64("2020-01-01"), f"{middle}"]
    for end, away, bracket in ((low, -math.inf, ends[0]), (high, math.inf, ends[1])):
        if bracket in "[]":
            good.append(end)
            bad += [np.nextafter(end, away), away] if math.isfinite(end) else []
        else:
            good += [np.nextafter(end, middle)] if math.isfinite(end) else []
            bad += [end, away]
    return _optional(good, bad, optional)


def numbers(low: float, high: float, ends: str = "[]", inside: float | None = None) -> Values:
    """A number or an array of any shape, of numbers in a range."""
    one = number(low, high, ends, inside)
    middle = one.good[0]
    arrays = ([middle], (middle, middle), np.full((2, 1), middle), pd.Series([middle]), np.array([]))
    refused = [v for v in one.bad if not isinstance(v, list | np.ndarray | pd.Series)]
    refused += [[middle, math.nan], [[middle], [middle, middle]], [middle, "a"], [None], pd.Series([TEXT]), [True]]
    return Values(one.good + arrays, tuple(refused))


def whole(low: int, high: int | None = None, *, optional: bool = False, floats: bool = False) -> Values:
    """One whole number; with `floats`, one like 3.0 will do."""
    good: list[Any] = [low, low + 1, np.int64(low), np.uint8(min(low + 1, 255))]
    bad: list[Any] = [low - 1, low + 0.5, math.nan, math.inf, -math.inf, TEXT, "", str(low), True, np.True_, THING]
    bad += [[low, low], {}, 1j, pd.Series([low, low])]
    (good if floats else bad).append(float(low))
    if high is not None:
        good.append(high)
        bad.append(high + 1)
    return _optional(good, bad, optional)


def flag() -> Values:
    return Values((True, False, np.True_), (NOTHING, "yes", "", 0, 1, 2.0, math.nan, [True], np.array([True]), THING))


def one_of(*names: str, optional: bool = False) -> Values:
    """One of some names."""
    bad = ["", TEXT, names[0].upper(), names[0] + " ", 0, math.nan, True, [names[0]], np.array([names[0]]), THING, {}]
    return _optional(names, bad, optional)


def thing(*good: Any, wrong: Sequence[Any] = (), optional: bool = False) -> Values:
    """An object of a certain type."""
    bad = [3, math.nan, True, TEXT, [1.0, 2.0], np.array([1.0]), {}, THING, pd.Series([1.0]), *wrong]
    return _optional(good, bad, optional)


def text(*good: str, optional: bool = False) -> Values:
    return _optional(good, [3, math.nan, True, ["a"], b"a", np.array(["a"]), {}, THING], optional)


def besides(values: Values, *good: Any, bad: Sequence[Any] = (), names: Sequence[str] = ()) -> Values:
    """The values, and further ones."""

    def same(one: Any, other: Any) -> bool:
        return type(one) is type(other) and not isinstance(one, np.ndarray | pd.Series) and one == other

    refused = tuple(v for v in values.bad if not any(same(v, other) for other in good)) + tuple(bad)
    accepted = tuple(v for v in values.good if not any(same(v, other) for other in bad)) + good
    return Values(accepted, refused, (*values.names, *names))


def free(*good: Any) -> Values:
    """Whatever the function makes of it; nothing is refused."""
    return Values(good, ())


def _optional(good: Sequence[Any], bad: Sequence[Any], optional: bool) -> Values:
    return Values((*good, None), tuple(bad)) if optional else Values(tuple(good), (*bad, None))


SEED = whole(0, 2**63 - 1)
CONFIDENCE = number(0, 1, "()", 0.9)
