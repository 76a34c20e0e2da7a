"""A table as it was given: its columns, the checks of their cells, and what a message calls each of them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError, show, text_of, truth
from bayes_dp.data.layout import LOWEST, MAX_COUNT
from bayes_dp.support.arrays import Bools, Floats, Indices, Ints

__all__ = [
    "Table",
    "chosen_rows",
    "count_arrays",
    "csv_text",
    "is_one_line",
    "labels",
    "one_whole_number",
    "real_numbers",
    "safe_cell",
    "whole_numbers",
]

_FORMULA = ("=", "+", "-", "@")  # what one begins with in spreadsheets
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True)
class Table:
    """Columns under their short names ("fp", "n0", ...), the headings they had, and how a message names a cell.

    `place(heading, row)` gives for example "counts.csv, line 5: fp"; row None means the column as a whole.
    """

    columns: Mapping[str, Any]
    headings: Mapping[str, str]
    place: Callable[[str, int | None], str] = lambda heading, row: heading if row is None else f"{heading}[{row}]"
    settings: Mapping[str, Any] = field(default_factory=dict)  # "design" and "examples", where a file states them

    def namer(self, column: str) -> Callable[[int | None], str]:
        """What a message calls the cells of a column, by their rows."""
        return lambda row: self.place(self.headings[column], row)


def chosen_rows(index: Any, n: int, row: str) -> Indices:
    """The rows that an index chooses out of n: a number, a slice, an array of numbers or of booleans of shape (n,).

    `row` says what a row is, in the message when none is chosen.
    """
    chosen = index if isinstance(index, slice) else np.asarray(index)
    if isinstance(chosen, np.ndarray) and not chosen.size:
        chosen = slice(0)  # NumPy takes [] for an array of floats
    rows = np.atleast_1d(np.arange(n)[chosen])
    if rows.ndim > 1 or not rows.size:
        raise InputError(f"the index must choose at least one {row}, from 0 to {n - 1}, not {show(index)}")
    return rows


def count_arrays(table: Table) -> tuple[Ints, Ints, Ints, Ints]:
    """False positives, negatives, false negatives and positives, each a read-only copy of shape (n,).

    Negatives are fp + tn and positives fn + tp where the table has those columns instead (or too).
    """
    place, headings = table.place, table.headings
    arrays = {c: whole_numbers(v, LOWEST[c], table.namer(c)) for c, v in table.columns.items() if c in LOWEST}
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
                raise _not_whole(place(name, i), 1, both[i])
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


def whole_numbers(value: Any, low: int, name: Callable[[int | None], str]) -> Ints:
    """A copy of `value` as int64, shape () or (n,), each from `low` to 2**53; `name(row)` names an element in messages.

    Whole floats such as 3.0 are accepted, truth values and text are not.
    """
    cells, shape = _cells_of(value, name, "whole numbers", ("count", "base"))
    if isinstance(cells, np.ndarray):
        if cells.dtype.kind in "iuf":
            return _whole_array(cells.reshape(shape), low, name)
        cells = cells.tolist()
    for i, cell in enumerate(cells):
        if getattr(cell, "shape", None) == ():
            cells[i] = cell = cell.item()
        number = isinstance(cell, Real) and not isinstance(cell, bool)
        if not number or not low <= cell <= MAX_COUNT or cell != int(cell):
            raise _not_whole(name(i if shape else None), low, cell)
    return np.array([int(cell) for cell in cells], dtype=np.int64).reshape(shape)


def real_numbers(
    table: Table,
    column: str,
    wanted: str,
    good: Callable[[Floats], Bools],
    truths: bool = False,
) -> Floats:
    """A copy of a column as float64, shape () or (n,), of which all elements are `good`, and none is NaN.

    Text is not accepted, and truth values only with `truths`.
    """
    value, name = table.columns[column], table.namer(column)
    cells, shape = _cells_of(value, name, "numbers", ("row", "example"))
    if isinstance(cells, np.ndarray) and cells.dtype.kind in ("biuf" if truths else "iuf"):
        with np.errstate(over="ignore"):
            values = cells.astype(np.float64)
    else:
        values = np.array([_number(cell, truths) for cell in cells])
    if (bad := ~good(values)).any():
        i = int(np.argmax(bad))
        raise InputError(f"{name(i if shape else None)} must be {wanted}, not {show(cells[i])}")
    return values.reshape(shape)


def one_whole_number(name: str, value: Any, low: int) -> int:
    """Like `whole_numbers`, for a single number."""
    number = whole_numbers(value, low, lambda row: name)
    if number.ndim:
        raise InputError(f"{name} must be one whole number, not {show(value)}")
    return int(number)


def _cells_of(
    value: Any, name: Callable[[int | None], str], numbers: str, row: tuple[str, str]
) -> tuple[list[Any] | NDArray[Any], tuple[int, ...]]:
    """The elements of a column, in a list or an array, and its shape, () or (n,); at least one.

    `numbers` says what they are, `row` what each is called and what it stands for, in messages.
    """
    if isinstance(value, np.ma.MaskedArray):
        value = value.tolist()  # masked elements become None, which no column holds
    cells: list[Any] | NDArray[Any]
    shape: tuple[int, ...]
    if isinstance(value, list | tuple):  # one by one, because NumPy would turn True into 1 and mixtures into text
        cells, shape = list(value), (len(value),)
    else:
        try:
            array = np.asarray(value)
        except Exception:  # the value may be of any class, and so raise anything
            raise InputError(f"{name(None)} must be an array of {numbers}, not {show(value)}") from None
        if array.ndim > 1:
            raise InputError(
                f"{name(None)} must have one dimension, one {' per '.join(row)}, not the shape {array.shape}"
            )
        cells, shape = array.reshape(-1), array.shape
    if not len(cells):
        raise InputError(f"{name(None)} must hold at least one {row[0]}, not none")
    return cells, shape


def labels(table: Table, column: str, n: int, row: str = "base") -> tuple[str, ...] | None:
    """The labels of a column as n strings of one line each, without the spaces around them; None if there are none.

    `row` says what a row of the table is, in messages.
    """
    if column not in table.columns:
        return None
    heading = table.headings[column]
    values = np.asarray(table.columns[column], dtype=object)
    if values.shape != (n,):
        found = f"{values.size}" if values.ndim == 1 else show(table.columns[column])
        raise InputError(f"{table.place(heading, None)} must hold {n} labels, one per {row}, not {found}")
    texts = []
    for i, label in enumerate(values.tolist()):
        text = label if type(label) is str else text_of(label) if isinstance(label, str | int | np.integer) else None
        if text is None or isinstance(label, bool) or not is_one_line(text):
            raise InputError(
                f"{table.place(heading, i)} must be a label (one line of text, or a whole number), not {show(label)}"
            )
        texts.append(text.strip())
    return tuple(texts)


def is_one_line(text: str) -> bool:
    """Whether a text has no line ends, no other control characters and no halves of characters."""
    return _CONTROL.search(text) is None


def csv_text(columns: Mapping[str, Sequence[Any]], safe_cells: bool = False) -> str:
    """A CSV table of columns of one length, under their names; with `safe_cells` each text is a `safe_cell`."""
    safe_cells = truth("safe_cells", safe_cells)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    rows = zip(*columns.values(), strict=True)
    writer.writerows((map(safe_cell, row) for row in rows) if safe_cells else rows)
    return text.getvalue()


def safe_cell(value: Any) -> Any:
    """A text with an apostrophe before it where a spreadsheet would take it for a formula; anything else as it is."""
    return f"'{value}" if isinstance(value, str) and value.lstrip()[:1] in _FORMULA else value


def _whole_array(array: NDArray[Any], low: int, name: Callable[[int | None], str]) -> Ints:
    wide = array.astype(np.float64) if array.dtype.kind == "f" else array  # 2**53 does not fit into float16
    good = (wide >= low) & (wide <= MAX_COUNT) & (wide == np.floor(wide))  # False for NaN
    if not good.all():
        i = int(np.argmin(good))
        raise _not_whole(name(i if array.ndim else None), low, array.reshape(-1)[i])
    return array.astype(np.int64)


def _not_whole(place: str, low: int, value: object) -> InputError:
    return InputError(f"{place} must be a whole number from {low} to 2**53, not {show(value)}")


def _number(cell: Any, truths: bool) -> float:
    """The number in a cell of any class; NaN where it holds none."""
    if getattr(cell, "shape", None) == ():
        cell = cell.item()
    if (isinstance(cell, bool) and not truths) or not isinstance(cell, Real):
        return np.nan
    try:
        return float(cell)
    except OverflowError:
        return np.nan
