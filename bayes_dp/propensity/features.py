"""Features of examples: numbers in the columns of a matrix, and texts that become one column of 0 and 1 for each value.

They come as an array, a DataFrame, or a file: .npy (never pickled), .csv, .tsv, .txt, .parquet. What cannot be used is
refused by column and row: missing values, infinities, dates, and texts of so many values that they must be names.
"""

from __future__ import annotations

import csv
import hashlib
import importlib.util
import io
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError
from bayes_dp.files import read_text
from bayes_dp.table import MEMBER_CELLS, show

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Features", "array_file", "as_features", "memberships", "read_columns", "unit_codes"]

MAX_TEXTS = 50  # different texts of one column

Place = Callable[[int], str]  # what a message calls a row


@dataclass(frozen=True, eq=False)
class Features:
    """The features of n examples: `numbers` (n, p) under their `names`, and for each name in `texts` n texts."""

    names: tuple[str, ...]
    numbers: NDArray[np.float64]
    texts: Mapping[str, NDArray[np.str_]]

    def __len__(self) -> int:
        return len(self.numbers)

    def matrix(self) -> tuple[tuple[str, ...], NDArray[np.float64]]:
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
            raise InputError(f"both sets of features must have the same columns, not {show(mine)} and {show(others)}")
        texts = {name: np.concatenate([column, other.texts[name]]) for name, column in self.texts.items()}
        return Features(self.names, np.vstack([self.numbers, other.numbers]), texts)

    def digest(self) -> str:
        """SHA-256 of everything in it, in hexadecimal."""
        content = hashlib.sha256(f"{self.names} {self.numbers.shape}\n".encode())
        content.update(self.numbers.astype("<f8").tobytes())
        for name, column in self.texts.items():
            content.update(f"{name} {column.tolist()}\n".encode())
        return content.hexdigest()


def as_features(given: Any) -> Features:
    """Features from an array (n, d), a DataFrame or the path of a file."""
    if isinstance(given, Features):
        return given
    if isinstance(given, str | os.PathLike):
        return read_columns(given)[0]
    import pandas as pd

    if isinstance(given, pd.DataFrame):
        return _from_frame(given, lambda i: f"features, row {i}")
    return _from_array(given, "features")


def read_columns(
    path: str | os.PathLike[str], apart: Sequence[str] = (), maybe: Sequence[str] = ()
) -> tuple[Features, dict[str, Any], Place]:
    """The features in a file, the columns named in `apart`, which are none, as arrays of shape (n,), and what a message
    calls a row. Those named in `maybe` are taken apart too, if they are there."""
    name = os.fspath(path)
    suffix = os.path.splitext(name)[1].lower()
    if suffix == ".npy":
        if apart:
            raise InputError(f"{name} has no column {show(apart[0])}: an .npy file has no column names")
        return _from_array(array_file(name), name), {}, lambda i: f"{name}, row {i}"
    if suffix in (".csv", ".tsv", ".txt"):
        frame, place = _csv(name)
    elif suffix in (".parquet", ".pq"):
        frame, place = _parquet(name), lambda i: f"{name}, row {i}"
    else:
        raise InputError(f"{show(name)} must end in .npy, .csv, .tsv, .txt or .parquet, not {show(suffix)}")
    for column in apart:
        if column not in frame.columns:
            raise InputError(f"{name} has no column {show(column)}, only {show(list(frame.columns))}")
    apart = [*apart, *(column for column in maybe if column in frame.columns and column not in apart)]
    taken = {column: frame[column].to_numpy() for column in apart}
    return _from_frame(frame.drop(columns=apart), place), taken, place


def memberships(values: Any, n: int, name: str = "member", place: Place | None = None) -> NDArray[np.bool_]:
    """Who is a member, shape (n,), from truth values, 1 and 0, or texts such as true, yes, in."""
    cells = np.asarray(values)
    if cells.shape != (n,):
        raise InputError(f"{name} must hold one value for each of the {n} examples, not the shape {cells.shape}")
    if cells.dtype == np.bool_:
        return cells.copy()
    read = [MEMBER_CELLS.read(str(cell).strip()) for cell in cells.tolist()]
    if None in read:
        i = read.index(None)
        cell = f"{name}[{i}]" if place is None else f"{place(i)}: {name}"
        raise InputError(f"{cell} must be {MEMBER_CELLS.wanted}, not {show(cells[i])}")
    return np.array(read, dtype=np.bool_)


def unit_codes(groups: Any, n: int) -> NDArray[np.intp]:
    """A whole number from 0 for each group, shape (n,); without groups every example is one."""
    if groups is None:
        return np.arange(n)
    labels = np.asarray(groups)
    if labels.shape != (n,):
        raise InputError(f"groups must hold one label for each of the {n} examples, not the shape {labels.shape}")
    texts = np.array([str(label) for label in labels.tolist()])
    if (missing := np.isin(texts, ("", "nan", "None", "NaT", "<NA>"))).any():
        raise InputError(f"groups[{int(np.argmax(missing))}] is missing")
    return np.unique(texts, return_inverse=True)[1]


# Where they come from -------------------------------------------------------------------------------------------------


def _from_array(given: Any, name: str) -> Features:
    try:
        array = np.asarray(given)
    except Exception:  # the value may be of any class, and so raise anything
        array = np.array(None)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be an array of numbers of the shape (examples, features), not {_kind(array)}")
    names = tuple(f"{j}" for j in range(array.shape[1]))
    with np.errstate(over="ignore"):
        numbers = array.astype(np.float64)
    return _checked(names, numbers, {}, lambda i: f"{name}, row {i}", name)


def _from_frame(frame: pd.DataFrame, place: Place) -> Features:
    numbers: dict[str, NDArray[np.float64]] = {}
    texts: dict[str, NDArray[np.str_]] = {}
    for k, heading in enumerate(map(str, frame.columns)):
        if heading in numbers or heading in texts:
            raise InputError(f"features: there are two columns {show(heading)}")
        column = frame.iloc[:, k]
        kind = getattr(column.dtype, "kind", "O")
        if kind in "biuf":
            numbers[heading] = column.to_numpy(np.float64, na_value=np.nan)
        elif kind in "mM":
            raise InputError(f"features: the column {show(heading)} holds dates, which must be made numbers first")
        else:
            cells = column.astype(object)
            texts[heading] = _texts(cells.to_numpy(), cells.isna().to_numpy(bool), heading, place)
    matrix = np.column_stack(list(numbers.values())) if numbers else np.empty((len(frame), 0))
    return _checked(tuple(numbers), matrix, texts, place, "features")


def _texts(cells: NDArray[Any], missing: NDArray[np.bool_], heading: str, place: Place) -> NDArray[np.str_]:
    """The texts of a column; whole numbers and truth values may be among them, as pandas has categories of any kind."""
    if missing.any():
        raise InputError(f"{place(int(np.argmax(missing)))}: {heading} is missing")
    for i, cell in enumerate(cells):
        if not isinstance(cell, str | bool | np.bool_ | int | np.integer):
            raise InputError(f"{place(i)}: {heading} must be a number or a text, not {show(cell)}")
    column = np.array([str(cell) for cell in cells], dtype=np.str_)
    values = np.unique(column)
    if len(values) > MAX_TEXTS:
        raise InputError(
            f"features: the column {show(heading)} holds {len(values)} different texts, such as {show(str(values[0]))},"
            f" and at most {MAX_TEXTS} can be used: leave it out, or make it numbers"
        )
    return column


def _checked(
    names: tuple[str, ...], numbers: NDArray[np.float64], texts: dict[str, NDArray[np.str_]], place: Place, what: str
) -> Features:
    if not len(numbers) or not (names or texts):
        raise InputError(f"{what} must hold at least one example and one feature, not {numbers.shape}")
    if (bad := ~np.isfinite(numbers)).any():
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(bad)), bad.shape))
        column = f"column {j}" if names[j] == f"{j}" else names[j]
        raise InputError(f"{place(i)}: {column} must be a finite number, not {show(numbers[i, j])}")
    return Features(names, numbers, texts)


def array_file(name: str | os.PathLike[str]) -> Any:
    """The array in an .npy file."""
    try:
        return np.load(name, allow_pickle=False)
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or 'it is no .npy file'}") from error
    except (ValueError, EOFError) as error:
        raise InputError(f"{name} cannot be read: it must be an .npy file of numbers") from error


def _parquet(name: str) -> pd.DataFrame:
    import pandas as pd

    if importlib.util.find_spec("pyarrow") is None:
        raise InputError(f'{name} cannot be read without pyarrow: pip install "bayes-dp[parquet]"')
    try:
        with open(name, "rb") as file:
            return pd.read_parquet(file, engine="pyarrow")
    except Exception as error:  # pyarrow has errors of many classes
        reason = getattr(error, "strerror", None) or "it is no Parquet file"
        raise InputError(f"{name} cannot be read: {reason}") from error


def _csv(name: str) -> tuple[pd.DataFrame, Place]:
    """A CSV file with headings, and where its rows are; lines that start with "#" are comments."""
    import pandas as pd

    _, text = read_text(name)
    lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.lstrip()[:1] not in ("", "#")]
    if len(lines) < 2:
        raise InputError(f"{name} must hold column headings and rows of features")
    top, header = lines[0]
    separator = max(",;\t", key=header.count)
    headings = [cell.strip() for cell in next(csv.reader([header], delimiter=separator, skipinitialspace=True))]
    for k, heading in enumerate(headings):
        if not heading or heading in headings[:k]:
            raise InputError(f"{name}, line {top}: column {k + 1} must have a heading of its own, not {show(heading)}")
    if all(_is_number(heading) for heading in headings):
        raise InputError(f"{name}, line {top}: column headings are needed, not the numbers {show(header)}")
    content = io.StringIO("\n".join(line for _, line in lines[1:]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # more cells in a line than headings
            frame = pd.read_csv(
                content, sep=separator, header=None, names=headings, index_col=False, skipinitialspace=True,
                quotechar='"', low_memory=False,
            )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise InputError(f"{name} cannot be read: {_fault(lines, separator, len(headings))}") from error
    if len(frame) != len(lines) - 1:
        raise InputError(f"{name} cannot be read: {_fault(lines, separator, len(headings))}")
    return frame, lambda i: f"{name}, line {lines[i + 1][0]}"


def _fault(lines: list[tuple[int, str]], separator: str, width: int) -> str:
    """Which line has another number of fields than there are headings."""
    for number, line in lines[1:]:
        cells = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
        if len(cells) != width:
            return f"line {number} has {len(cells)} fields under {width} headings"
        if line.count('"') % 2:
            return f"line {number} has a quotation mark without its other half"
    return "it is no table of comma-separated values"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _kind(array: NDArray[Any]) -> str:
    return f"{array.dtype} of the shape {array.shape}" if array.dtype.kind != "O" else "objects"
