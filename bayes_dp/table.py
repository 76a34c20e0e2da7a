"""A table of counts as it was given: its headings, the checks of its cells, and what a message calls each of them."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError

__all__ = [
    "ACCEPTED",
    "LOWEST",
    "MAX_COUNT",
    "IntArray",
    "Table",
    "columns_of",
    "count_arrays",
    "is_known",
    "labels",
    "not_whole",
    "show",
    "whole_numbers",
]

IntArray = NDArray[np.int64]

MAX_COLUMNS = 1_000
MAX_COUNT = 2**53  # whole numbers up to here are exact in float64
LOWEST = {"fp": 0, "n0": 1, "fn": 0, "n1": 1, "tp": 0, "tn": 0}
ACCEPTED = (
    "fp, n0, fn, n1 (or false_positives, negatives, false_negatives, positives; or x, n0, y, n1; or tp, fp, tn, fn)"
)

# Column -> its accepted headings, compared without case, spaces, "-" and "_".
_HEADINGS = {
    "fp": ("fp", "falsepositives", "x"),
    "n0": ("n0", "negatives"),
    "fn": ("fn", "falsenegatives", "y"),
    "n1": ("n1", "positives"),
    "tp": ("tp", "truepositives"),
    "tn": ("tn", "truenegatives"),
    "base": ("base",),
    "group": ("group",),
}
_COLUMN = {heading: column for column, headings in _HEADINGS.items() for heading in headings}
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]")

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


@dataclass(frozen=True)
class Table:
    """Columns under their short names ("fp", "n0", ...), the headings they had, and how a message names a cell.

    `place(heading, row)` gives for example "counts.csv, line 5: fp"; row None means the column as a whole.
    """

    columns: Mapping[str, Any]
    headings: Mapping[str, str]
    place: Callable[[str, int | None], str] = lambda heading, row: heading if row is None else f"{heading}[{row}]"
    settings: Mapping[str, Any] = field(default_factory=dict)  # "design" and "examples", where a file states them


def columns_of(headings: Sequence[str], where: str) -> dict[str, int]:
    """Column -> its place among `headings`; an error for headings that are repeated or missing begins with `where`."""
    if len(headings) > MAX_COLUMNS:
        raise InputError(f"{where}: {len(headings)} columns are more than the {MAX_COLUMNS} that are read")
    found: dict[str, int] = {}
    for k, heading in enumerate(headings):
        column = _COLUMN.get(_plain(heading), heading)
        if column in found and _plain(heading):
            first = found[column]
            raise InputError(
                f"{where}: the headings {show(headings[first])} (column {first + 1}) and {show(heading)} "
                f"(column {k + 1}) name the same column"
            )
        found[column] = k
    needed: tuple[tuple[str, ...], ...] = (("fp",), ("n0", "tn"), ("fn",), ("n1", "tp"))
    missing = [choice for choice in needed if not found.keys() & set(choice)]
    if missing:
        raise InputError(
            f"{where}: no column for {', '.join(' or '.join(choice) for choice in missing)}{_hint(missing, headings)}; "
            f"accepted headings are {ACCEPTED}, found {show(list(headings))}"
        )
    return {column: k for column, k in found.items() if column in _HEADINGS}


def is_known(heading: str) -> bool:
    """Whether a heading is one of those that are read."""
    return _plain(heading) in _COLUMN


def count_arrays(table: Table) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """False positives, negatives, false negatives and positives, each a read-only copy of shape (n,).

    Negatives are fp + tn and positives fn + tp where the table has those columns instead (or too).
    """
    place, headings = table.place, table.headings
    arrays = {c: whole_numbers(v, LOWEST[c], _namer(table, c)) for c, v in table.columns.items() if c in LOWEST}
    n = arrays["fp"].size
    for column, values in arrays.items():
        if values.ndim == 0 and column in ("n0", "n1"):
            arrays[column] = np.full(n, values)
        elif values.size == n:
            arrays[column] = values.reshape(n)
        else:
            raise InputError(
                f"{place(headings[column], None)} must hold as many counts as {headings['fp']}, {n}, not {values.size}"
            )
    for errors, right, total in (("fp", "tn", "n0"), ("fn", "tp", "n1")):
        if right in arrays:
            both = arrays[errors] + arrays[right]
            name = f"({headings[errors]} + {headings[right]})"
            if (bad := (both < 1) | (both > MAX_COUNT)).any():
                i = int(np.argmax(bad))
                raise not_whole(place(name, i), 1, both[i])
            if total in arrays and (bad := both != arrays[total]).any():
                i = int(np.argmax(bad))
                raise InputError(f"{place(headings[total], i)} must be {name} = {both[i]}, not {arrays[total][i]}")
            arrays[total] = both
        elif (bad := arrays[errors] > arrays[total]).any():
            i = int(np.argmax(bad))
            most = f"{headings[total]} = {arrays[total][i]}"
            raise InputError(
                f"{place(headings[errors], i)} must be a whole number from 0 to {most}, not {arrays[errors][i]}"
            )
    for values in arrays.values():
        values.flags.writeable = False
    return arrays["fp"], arrays["n0"], arrays["fn"], arrays["n1"]


def whole_numbers(value: Any, low: int, name: Callable[[int | None], str]) -> IntArray:
    """A copy of `value` as int64, shape () or (n,), each from `low` to 2**53; `name(row)` names an element in messages.

    Whole floats such as 3.0 are accepted, truth values and text are not.
    """
    if isinstance(value, np.ma.MaskedArray):
        value = value.tolist()  # masked elements become None, which is refused below
    shape: tuple[int, ...]
    if isinstance(value, list | tuple):  # one by one, because NumPy would turn True into 1 and mixtures into text
        cells, shape = list(value), (len(value),)
    else:
        try:
            array = np.asarray(value)
        except Exception:  # the value may be of any class, and so raise anything
            raise InputError(f"{name(None)} must be an array of whole numbers, not {show(value)}") from None
        if array.ndim > 1:
            raise InputError(f"{name(None)} must have one dimension, one count per base, not the shape {array.shape}")
        if array.size and array.dtype.kind in "iuf":
            return _whole_array(array, low, name)
        cells, shape = array.reshape(-1).tolist(), array.shape
    if not cells:
        raise InputError(f"{name(None)} must hold at least one count, not none")
    for i, cell in enumerate(cells):
        if getattr(cell, "shape", None) == ():
            cells[i] = cell = cell.item()
        number = isinstance(cell, Real) and not isinstance(cell, bool)
        if not number or not low <= cell <= MAX_COUNT or cell != int(cell):
            raise not_whole(name(i if shape else None), low, cell)
    return np.array([int(cell) for cell in cells], dtype=np.int64).reshape(shape)


def labels(table: Table, column: str, n: int) -> tuple[str, ...] | None:
    """The labels of a column as n strings of one line each, without the spaces around them; None if there are none."""
    if column not in table.columns:
        return None
    heading = table.headings[column]
    values = np.asarray(table.columns[column], dtype=object)
    if values.shape != (n,):
        found = f"{values.size}" if values.ndim == 1 else show(table.columns[column])
        raise InputError(f"{table.place(heading, None)} must hold {n} labels, one per base, not {found}")
    texts = []
    for i, label in enumerate(values.tolist()):
        text = label if type(label) is str else str(label) if isinstance(label, str | int | np.integer) else "\0"
        if isinstance(label, bool) or _CONTROL.search(text):
            raise InputError(
                f"{table.place(heading, i)} must be a label (one line of text, or a whole number), not {show(label)}"
            )
        texts.append(text.strip())
    return tuple(texts)


def not_whole(place: str, low: int, value: object) -> InputError:
    """The error for a cell that does not hold a count."""
    return InputError(f"{place} must be a whole number from {low} to 2**53, not {show(value)}")


def show(value: object) -> str:
    """A value as a short piece of a one-line message."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # np.float64(3.5) -> 3.5
    try:
        return " ".join(_REPR.repr(value).split())
    except ValueError:  # Python refuses to print integers of very many digits
        return "a number of thousands of digits"


def _whole_array(array: NDArray[Any], low: int, name: Callable[[int | None], str]) -> IntArray:
    wide = array.astype(np.float64) if array.dtype.kind == "f" else array  # 2**53 does not fit into float16
    good = (wide >= low) & (wide <= MAX_COUNT) & (wide == np.floor(wide))  # False for NaN
    if not good.all():
        i = int(np.argmin(good))
        raise not_whole(name(i if array.ndim else None), low, array.reshape(-1)[i])
    return array.astype(np.int64)


def _namer(table: Table, column: str) -> Callable[[int | None], str]:
    return lambda row: table.place(table.headings[column], row)


def _plain(heading: str) -> str:
    return re.sub(r"[\s_-]+", "", heading).lower()


def _hint(missing: Sequence[Sequence[str]], headings: Sequence[str]) -> str:
    """Which of the unknown headings may be a misspelling of a missing one."""
    unknown = {_plain(heading): heading for heading in headings if not is_known(heading)}
    wanted = [alias for choice in missing for column in choice for alias in _HEADINGS[column]]
    pairs = [(alias, near) for alias in wanted for near in difflib.get_close_matches(alias, unknown, 1, 0.5)]
    if not pairs:
        return ""
    alias, near = max(pairs, key=lambda pair: difflib.SequenceMatcher(None, *pair).ratio())
    return f" (is {show(unknown[near])} meant as {alias}?)"
