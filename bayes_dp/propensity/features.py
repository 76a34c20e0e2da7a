"""Features of examples: numbers in the columns of a matrix, and texts that become one column of 0 and 1 for each value.

They come as an array, a DataFrame, or a file: .npy (never pickled), .csv, .tsv, .txt, .parquet. What cannot be used is
refused by column and row: missing values, infinities, dates, texts of so many values that they must be names, and
texts that are numbers or look like numbers, such as 1,5 or a 5o among numbers. Where these are meant, their column has
to be named among the `categories`. So has a column of numbers that are no amounts, such as codes.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError, show, text_of
from bayes_dp.data.layout import MEMBER_CELLS, is_number
from bayes_dp.data.parquet import parquet_frame
from bayes_dp.data.table import is_one_line
from bayes_dp.propensity.feature_files import MAX_COLUMNS, Place, array_file, text_file
from bayes_dp.support.arrays import Bools, Floats, Indices

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Columns", "Features", "as_features", "memberships", "open_columns", "read_columns", "unit_codes"]

MAX_TEXTS = 50  # different texts of one column
MAX_LETTERS = 200  # of a text or a heading

_LIKE_A_NUMBER = re.compile(r"[+-]?[€$£]?\d[\d.,_'’ \u00a0\u202f]*([eE][+-]?\d+)?[%€$£]?")


@dataclass(frozen=True, eq=False)
class Features:
    """The features of n examples: `numbers` (n, p) under their `names`, and for each name in `texts` n texts."""

    names: tuple[str, ...]
    numbers: Floats
    texts: Mapping[str, NDArray[np.str_]]

    def __len__(self) -> int:
        return len(self.numbers)

    def matrix(self) -> tuple[tuple[str, ...], Floats]:
        """Names and values (n, d) of all columns; of a text with k values there are k, or one if k is 2."""
        names, columns = list(self.names), [self.numbers]
        for name, column in self.texts.items():
            values = np.unique(column)
            for value in values[1:] if len(values) <= 2 else values:
                names.append(f"{name}={value}")
                columns.append((column == value)[:, None].astype(np.float64))
        return tuple(names), np.ascontiguousarray(np.hstack(columns))

    def above(self, other: Features) -> Features:
        """These examples, and below them the `other` ones, which must have the same columns."""
        if self.names != other.names or self.texts.keys() != other.texts.keys():
            mine, others = [*self.names, *self.texts], [*other.names, *other.texts]
            if mixed := (set(self.names) & set(other.texts)) | (set(self.texts) & set(other.names)):
                raise InputError(f"the column {show(min(mixed))} holds numbers on one side, and texts on the other")
            raise InputError(f"both sets of features must have the same columns, not {show(mine)} and {show(others)}")
        texts = {name: np.concatenate([column, other.texts[name]]) for name, column in self.texts.items()}
        return Features(self.names, np.vstack([self.numbers, other.numbers]), texts)

    def digest(self) -> str:
        """SHA-256 of everything in it, in hexadecimal."""
        content = hashlib.sha256(f"{self.names} {self.numbers.shape}\n".encode())
        content.update(np.ascontiguousarray(self.numbers, dtype="<f8").data)
        for name, column in self.texts.items():
            content.update(f"{name} {column.tolist()}\n".encode())
        return content.hexdigest()


def as_features(given: Any, categories: Sequence[str] = ()) -> Features:
    """Features from an array (n, d), a DataFrame or the path of a file; `categories` names columns that hold no
    amounts, but one of some values each."""
    if isinstance(given, Features):
        return given
    listed = isinstance(categories, list | tuple)
    if not listed or not all(isinstance(column, str) for column in categories):
        raise InputError(f"categories must be a list of columns, not {show(categories)}")
    if isinstance(given, str | os.PathLike):
        return read_columns(given, categories=categories)[0]
    import pandas as pd

    if isinstance(given, pd.DataFrame):
        return _from_frame(given, lambda i: f"features, row {i}", "features", categories)
    if categories:
        raise InputError(f"features have no column {show(categories[0])}: an array has no column names")
    return _from_array(given, "features")


def read_columns(
    path: str | os.PathLike[str], apart: Sequence[str] = (), categories: Sequence[str] = ()
) -> tuple[Features, dict[str, Any], Place]:
    """The features in a file, the columns named in `apart`, which are none, as arrays of shape (n,), and what a message
    calls a row."""
    table = open_columns(path)
    taken = {column: table.column(column) for column in apart}
    left = [column for column in table.headings if column not in taken]
    return table.features(left, categories), taken, table.place


@dataclass(frozen=True, eq=False)
class Columns:
    """What a file of features holds, before it is said which of its columns are features: a frame with headings, or the
    `array` of an .npy file, which has none."""

    name: str
    frame: pd.DataFrame | None
    array: NDArray[Any] | None
    place: Place

    @property
    def headings(self) -> list[str]:
        """The headings; an .npy file has none."""
        return [] if self.frame is None else list(map(str, self.frame.columns))

    def __len__(self) -> int:
        return len(self.frame if self.array is None else self.array)  # type: ignore[arg-type]

    def column(self, heading: str) -> NDArray[Any]:
        """The cells under a heading, (n,)."""
        self._check([heading])
        assert self.frame is not None
        return self.frame.iloc[:, self.headings.index(heading)].to_numpy()

    def rows(self, chosen: Indices) -> Columns:
        """The chosen rows in this order."""
        frame = None if self.frame is None else self.frame.iloc[chosen]
        array = None if self.array is None else self.array[chosen]
        return Columns(self.name, frame, array, lambda i: self.place(int(chosen[i])))

    def features(self, headings: Sequence[str], categories: Sequence[str] = (), missing: bool = False) -> Features:
        """The columns of these headings, or all of an .npy file, as features; where some may be `missing` these are
        NaN, and the empty text."""
        self._check([*headings, *categories])
        if self.frame is None:
            return _from_array(self.array, self.name, missing)
        if not headings:
            raise InputError(f"{self.name} has no column that is a feature, only {show(self.headings)}")
        if outside := [column for column in categories if column not in headings]:
            raise InputError(f"{self.name}: the column {show(outside[0])} is named as categories, but is no feature")
        places = [self.headings.index(heading) for heading in headings]
        return _from_frame(self.frame.iloc[:, places], self.place, self.name, categories, missing)

    def _check(self, headings: Sequence[str]) -> None:
        for heading in headings:
            if self.frame is None:
                raise InputError(f"{self.name} has no column {show(heading)}: an .npy file has no column names")
            if heading not in self.headings:
                raise InputError(f"{self.name} has no column {show(heading)}, only {show(self.headings)}")


def open_columns(path: str | os.PathLike[str], texts: Sequence[str] = ()) -> Columns:
    """The columns in a file; those of a text file that are named in `texts`, in small letters, are not
    turned into numbers."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix == ".npy":
        return Columns(name, None, _two_dimensions(array_file(name), name), lambda i: f"{name}, row {i}")
    if suffix in (".csv", ".tsv", ".txt"):
        frame, place = text_file(name, texts)
        return Columns(name, frame, None, place)
    if suffix in (".parquet", ".pq"):
        return Columns(name, parquet_frame(name), None, lambda i: f"{name}, row {i}")
    raise InputError(f"{show(name)} must end in .npy, .csv, .tsv, .txt or .parquet, not {show(suffix)}")


def memberships(values: Any, n: int, name: str = "member", place: Place | None = None) -> Bools:
    """Who is a member, shape (n,), from truth values, 1 and 0, or texts such as true, yes, in."""
    cells = np.asarray(values)
    if cells.shape != (n,):
        raise InputError(f"{name} must hold one value for each of the {n} examples, not the shape {cells.shape}")
    if cells.dtype == np.bool_:
        return cells.copy()
    read = [MEMBER_CELLS.read((text_of(cell) or "").strip()) for cell in cells.tolist()]
    if None in read:
        i = read.index(None)
        cell = f"{name}[{i}]" if place is None else f"{place(i)}: {name}"
        raise InputError(f"{cell} must be {MEMBER_CELLS.wanted}, not {show(cells[i])}")
    return np.array(read, dtype=np.bool_)


def unit_codes(groups: Any, n: int) -> Indices:
    """A whole number from 0 for each group, shape (n,); without groups every example is one."""
    if groups is None:
        return np.arange(n)
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(f"groups must hold one label for each of the {n} examples, not the shape {labels.shape}")
    read = [text_of(label) for label in labels.tolist()]
    if None in read:
        i = read.index(None)
        raise InputError(f"groups[{i}] must be a label of some letters, not {show(labels[i])}")
    cells = [text for text in read if text is not None]
    if long := [i for i, cell in enumerate(cells) if len(cell) > MAX_LETTERS]:
        raise InputError(f"groups[{long[0]}] must have at most {MAX_LETTERS} letters, not {len(cells[long[0]])}")
    texts = np.array(cells)
    if (missing := np.isin(texts, ("", "nan", "None", "NaT", "<NA>"))).any():
        raise InputError(f"groups[{int(np.argmax(missing))}] is missing")
    return np.unique(texts, return_inverse=True)[1]


# Where they come from -------------------------------------------------------------------------------------------------


def _from_array(given: Any, name: str, missing: bool = False) -> Features:
    try:
        array = np.asarray(given)
    except Exception:  # the value may be of any class, and so raise anything
        array = np.array(None)
    _two_dimensions(array, name)
    names = tuple(f"{j}" for j in range(array.shape[1]))
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float64)
    return _checked(names, numbers, {}, lambda i: f"{name}, row {i}", name, missing)


def _two_dimensions(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be an array of numbers of the shape (examples, features), not {_kind(array)}")
    if not array.size:
        raise InputError(f"{name} must hold at least one example and one feature, not {array.shape}")
    if array.shape[1] > MAX_COLUMNS:
        raise InputError(f"{name} must hold at most {MAX_COLUMNS} features, not {array.shape[1]}")
    return array


def _from_frame(
    frame: pd.DataFrame, place: Place, what: str, categories: Sequence[str], missing: bool = False
) -> Features:
    import pandas as pd

    headings = list(map(str, frame.columns))
    if len(headings) > MAX_COLUMNS:
        raise InputError(f"{what} must hold at most {MAX_COLUMNS} columns, not {len(headings)}")
    if unknown := [column for column in categories if column not in headings]:
        raise InputError(f"{what}: there is no column {show(unknown[0])}, which is named as categories")
    numbers: dict[str, Floats] = {}
    texts: dict[str, NDArray[np.str_]] = {}
    for k, heading in enumerate(headings):
        if not is_one_line(heading) or len(heading) > MAX_LETTERS:
            wanted = f"one line of at most {MAX_LETTERS} letters"
            raise InputError(f"{what}: the heading of column {k + 1} must be {wanted}, not {show(heading)}")
        if heading in numbers or heading in texts:
            raise InputError(f"features: there are two columns {show(heading)}")
        column = frame.iloc[:, k]
        kind = getattr(column.dtype, "kind", "O")
        if kind in "biuf" and heading not in categories:
            numbers[heading] = column.to_numpy(np.float64, na_value=np.nan)
        elif kind in "mM":
            raise InputError(f"features: the column {show(heading)} holds dates, which must be made numbers first")
        else:
            cells = column.astype(object)
            meant = heading in categories
            if missing:
                cells = cells.where(cells.notna(), "")
            column_texts = _texts(cells.to_numpy(), cells.isna().to_numpy(bool), heading, place, meant)
            if not meant and not isinstance(column.dtype, pd.CategoricalDtype):
                _no_spoilt_numbers(column_texts, heading, place)
            texts[heading] = _few(column_texts, heading)
    matrix = np.column_stack(list(numbers.values())) if numbers else np.empty((len(frame), 0))
    return _checked(tuple(numbers), matrix, texts, place, "features", missing)


def _texts(cells: NDArray[Any], missing: Bools, heading: str, place: Place, meant: bool) -> NDArray[np.str_]:
    """The texts of a column; whole numbers and truth values may be among them, as pandas has categories of any kind,
    and other numbers where categories are `meant`."""
    kinds = (str, bool, np.bool_, int, np.integer, *((float, np.floating) if meant else ()))
    if missing.any():
        raise InputError(f"{place(int(np.argmax(missing)))}: {heading} is missing")
    for i, cell in enumerate(cells):
        if not isinstance(cell, kinds):
            raise InputError(f"{place(i)}: {heading} must be a number or a text, not {show(cell)}")
        if isinstance(cell, str) and len(cell) > MAX_LETTERS:  # all would take as much memory as the longest
            raise InputError(f"{place(i)}: {heading} must have at most {MAX_LETTERS} letters, not {len(cell)}")
    return np.array([str(cell) for cell in cells], dtype=np.str_)


def _few(column: NDArray[np.str_], heading: str) -> NDArray[np.str_]:
    """The texts of a column, of which there are not too many different ones."""
    values = np.unique(column)
    if len(values) > MAX_TEXTS:
        raise InputError(
            f"features: the column {show(heading)} holds {len(values)} different texts, such as {show(str(values[0]))},"
            f" and at most {MAX_TEXTS} can be used: leave it out, or make it numbers"
        )
    return column


def _no_spoilt_numbers(texts: NDArray[np.str_], heading: str, place: Place) -> None:
    """An error where texts are numbers, or look like numbers in another notation."""
    if not len(texts):
        return
    values, at = np.unique(texts, return_inverse=True)
    numbers = np.array([is_number(text.strip()) for text in values.tolist()])[at]
    alike = numbers | np.array([_LIKE_A_NUMBER.fullmatch(text.strip()) is not None for text in values.tolist()])[at]
    if not alike.any():
        return
    if alike.mean() < 0.5:
        odd, wanted = alike, "a text, as most of the column is"
    elif numbers.all():
        odd, wanted = numbers, "a number and no text"
    else:
        odd, wanted = ~numbers, "a number, with a point for the decimals and without other marks"
    i = int(np.argmax(odd))
    raise InputError(
        f"{place(i)}: {heading} must be {wanted}, not {show(str(texts[i]))}; if the column holds categories, name it"
        " among the categories"
    )


def _checked(
    names: tuple[str, ...],
    numbers: Floats,
    texts: dict[str, NDArray[np.str_]],
    place: Place,
    what: str,
    missing: bool = False,
) -> Features:
    if not len(numbers) or not (names or texts):
        raise InputError(f"{what} must hold at least one example and one feature, not {numbers.shape}")
    if (bad := ~(np.isfinite(numbers) | (missing & np.isnan(numbers)))).any():
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(bad)), bad.shape))
        column = f"column {j}" if names[j] == f"{j}" else names[j]
        wanted = "a finite number, or missing" if missing else "a finite number"
        raise InputError(f"{place(i)}: {column} must be {wanted}, not {show(numbers[i, j])}")
    return Features(names, numbers, texts)


def _kind(array: NDArray[Any]) -> str:
    return f"{array.dtype} of the shape {array.shape}" if array.dtype.kind != "O" else "objects"
