"""A table as it was given: its headings, the checks of its cells, and what a message calls each of them.

A `Layout` says which columns a kind of table has. That of error counts is here, with the checks of counts.
"""

from __future__ import annotations

import csv
import difflib
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError, show, text_of, truth
from bayes_dp.support.arrays import Indices, Ints

__all__ = [
    "COUNTS",
    "MAX_COUNT",
    "MEMBER_CELLS",
    "MEMBER_HEADINGS",
    "CellKind",
    "Layout",
    "Table",
    "cells_of",
    "chosen_rows",
    "columns_of",
    "count_arrays",
    "csv_text",
    "grouped_by",
    "is_number",
    "is_one_line",
    "labels",
    "one_whole_number",
    "plain",
    "real_number",
    "safe_cell",
    "whole_numbers",
]


MAX_COLUMNS = 1_000
_FORMULA = ("=", "+", "-", "@")  # what one begins with in spreadsheets
_LONGEST_MISSPELT = 40  # letters of a heading that may be meant as one that is known
MAX_COUNT = 2**53  # whole numbers up to here are exact in float64

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_RATE = re.compile(r"^[tf][pn]rs?(@.*)?$|rates?(\(.*\))?$|^(alpha|beta|α|β)$|percent|%")  # of a plain heading
_INFINITIES = {sign + name: float(sign + name) for sign in ("", "+", "-") for name in ("inf", "infinity")}


@dataclass(frozen=True)
class CellKind:
    """The cells of a column of numbers, as they stand in a text file."""

    typecode: str  # of the `array.array` that holds the column
    read: Callable[[str], float | None]  # from the text of a cell to its value; None where it holds none
    wanted: str  # what a cell must hold, in a message


@dataclass(frozen=True)
class Layout:
    """The columns that a kind of table may have, under short names, and what messages say about it."""

    headings: Mapping[str, tuple[str, ...]]  # what a column may be called: in small letters, without spaces, "-", "_"
    cells: Mapping[str, CellKind]  # of the columns of numbers; the others hold labels
    needed: tuple[tuple[str, ...], ...]  # at least one column of each tuple must be there
    optional: tuple[str, ...]  # columns that may be null in JSON
    accepted: str  # the headings, in a message
    example: str  # a heading line
    content: str  # what a row holds, in the plural
    settings: tuple[str, ...] = ()  # what a JSON object may state beside its columns

    @cached_property
    def column(self) -> dict[str, str]:
        """Accepted heading -> column."""
        return {heading: column for column, headings in self.headings.items() for heading in headings}

    def is_known(self, heading: str) -> bool:
        """Whether a heading is one of those that are read."""
        return plain(heading) in self.column


_TRUTHS = {"true": 1, "yes": 1, "in": 1, "1": 1, "1.0": 1, "false": 0, "no": 0, "out": 0, "0": 0, "0.0": 0}
MEMBER_HEADINGS = ("member", "ismember", "label", "membership")
MEMBER_CELLS = CellKind("b", lambda text: _TRUTHS.get(text.lower()), "true or false (or 1 or 0, yes or no, in or out)")


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


def real_number(text: str) -> float | None:
    """The number that a text holds, infinities too; None where it holds none, or a finite one beyond float64."""
    if not _NUMBER.fullmatch(text):
        return _INFINITIES.get(text.lower())
    value = float(text)
    return value if math.isfinite(value) else None


def is_number(text: str) -> bool:
    """Whether a text is a number in decimal notation, however large."""
    return _NUMBER.fullmatch(text) is not None


def _whole_number(text: str) -> int | None:
    """The whole number that a text holds; None where it holds none, or one beyond MAX_COUNT."""
    if len(text) <= 15 and text.isascii() and text.isdigit():
        return int(text)
    if not _NUMBER.fullmatch(text):
        return None
    try:
        number = Decimal(text)  # exact, where float would round 0.99999999999999999 to 1
    except InvalidOperation:  # an exponent beyond all bounds
        return None
    return int(number) if -MAX_COUNT <= number <= MAX_COUNT and number == number.to_integral_value() else None


def _count_from(text: str, low: int) -> int | None:
    number = _whole_number(text)
    return number if number is not None and number >= low else None


def _count(low: int) -> CellKind:
    return CellKind("q", lambda text: _count_from(text, low), f"a whole number from {low} to 2**53")


_LOWEST = {"fp": 0, "n0": 1, "fn": 0, "n1": 1, "tp": 0, "tn": 0}
COUNTS = Layout(
    headings={
        "fp": ("fp", "falsepositives", "x"),
        "n0": ("n0", "negatives"),
        "fn": ("fn", "falsenegatives", "y"),
        "n1": ("n1", "positives"),
        "tp": ("tp", "truepositives"),
        "tn": ("tn", "truenegatives"),
        "base": ("base",),
        "group": ("group",),
    },
    cells={column: _count(low) for column, low in _LOWEST.items()},
    needed=(("fp",), ("n0", "tn"), ("fn",), ("n1", "tp")),
    optional=("base", "group"),
    accepted="fp, n0, fn, n1 (or false_positives, negatives, false_negatives, positives; or x, n0, y, n1; "
    "or tp, fp, tn, fn)",
    example="fp,n0,fn,n1",
    content="counts",
    settings=("design", "examples"),
)


def grouped_by(heading: str | None) -> Layout:
    """The layout of counts where the column of this heading, which must be there, holds the groups' labels."""
    if heading is None:
        return COUNTS
    if not isinstance(heading, str) or not plain(heading):
        raise InputError(f"group must be the heading of a column, not {show(heading)}")
    name = plain(heading)
    if (meant := COUNTS.column.get(name)) in COUNTS.cells:
        raise InputError(f"group must be the heading of a column of labels, not {show(heading)}, a column of counts")
    headings = {column: known for column, known in COUNTS.headings.items() if column not in ("group", meant)}
    return replace(
        COUNTS,
        headings=headings | {"group": (name,)},
        needed=(*COUNTS.needed, ("group",)),
        accepted=f"{COUNTS.accepted}, and {show(heading)} for the groups",
    )


def columns_of(headings: Sequence[str], where: str, layout: Layout = COUNTS) -> dict[str, int]:
    """Column -> its place among `headings`; an error for headings that are repeated or missing begins with `where`."""
    if len(headings) > MAX_COLUMNS:
        raise InputError(f"{where}: {len(headings)} columns are more than the {MAX_COLUMNS} that are read")
    found: dict[str, int] = {}
    for k, heading in enumerate(headings):
        column = layout.column.get(plain(heading), heading)
        if column in found and column in layout.headings:
            first = found[column]
            raise InputError(
                f"{where}: the headings {show(headings[first])} (column {first + 1}) and {show(heading)} "
                f"(column {k + 1}) name the same column"
            )
        found[column] = k
    missing = [choice for choice in layout.needed if not found.keys() & set(choice)]
    if missing:
        names = ", ".join(" or ".join(choice) for choice in missing)
        raise InputError(
            f"{where}: no column for {names}{_hint(missing, headings, layout)}; "
            f"accepted headings are {layout.accepted}, found {show(list(headings))}"
        )
    return {column: k for column, k in found.items() if column in layout.headings}


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
    arrays = {c: whole_numbers(v, _LOWEST[c], table.namer(c)) for c, v in table.columns.items() if c in _LOWEST}
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
    cells, shape = cells_of(value, name, "whole numbers", ("count", "base"))
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


def cells_of(
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


def one_whole_number(name: str, value: Any, low: int) -> int:
    """Like `whole_numbers`, for a single number."""
    number = whole_numbers(value, low, lambda row: name)
    if number.ndim:
        raise InputError(f"{name} must be one whole number, not {show(value)}")
    return int(number)


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


def plain(heading: str) -> str:
    """A heading in small letters, without spaces, "-" and "_"."""
    return re.sub(r"[\s_-]+", "", heading).lower()


def _hint(missing: Sequence[Sequence[str]], headings: Sequence[str], layout: Layout) -> str:
    """Which of the unknown headings may be a misspelling of a missing one; a rate is none of a count."""
    unknown = {plain(heading): heading for heading in headings if not layout.is_known(heading)}
    unknown = {short: heading for short, heading in unknown.items() if len(short) <= _LONGEST_MISSPELT}
    rates = {plain: unknown.pop(plain) for plain in list(unknown) if "fp" in layout.cells and _RATE.search(plain)}
    if rates and {("fp",), ("fn",)} & set(missing):
        rate = next(iter(rates.values()))
        return (
            f" ({show(rate)} looks like a rate, which is no count: ErrorCounts.from_rates makes counts of rates and the"
            " numbers of challenges)"
        )
    wanted = [alias for choice in missing for column in choice for alias in layout.headings[column]]
    pairs = [(alias, near) for alias in wanted for near in difflib.get_close_matches(alias, unknown, 1, 0.5)]
    if not pairs:
        return ""
    alias, near = max(pairs, key=lambda pair: difflib.SequenceMatcher(None, *pair).ratio())
    return f" (is {show(unknown[near])} meant as {alias}?)"
