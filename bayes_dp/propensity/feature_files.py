"""Files of features: arrays in .npy files, which are never unpickled, and tables of text with headings."""

from __future__ import annotations

import csv
import io
import os
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError, show
from bayes_dp.data.files import read_text
from bayes_dp.data.layout import is_number, plain
from bayes_dp.data.npy import npy_header

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MAX_COLUMNS", "Place", "array_file", "text_file"]

MAX_COLUMNS = 10_000  # a fit takes their square in memory

Place = Callable[[int], str]  # what a message calls a row


def array_file(name: str | os.PathLike[str]) -> NDArray[Any]:
    """The array of numbers or truth values in an .npy file; the header is judged before anything else is read."""
    wanted = "it must be an .npy file of numbers"
    try:
        with open(name, "rb") as file, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of NumPy, about headers by Python 2
            shape, in_columns, kind, size = npy_header(file)
            if kind.hasobject or kind.kind not in "biuf":
                raise InputError(f"{name} cannot be read: {wanted}, not of {kind!s:.40}")
            left = os.fstat(file.fileno()).st_size - file.tell()
            if size != left:
                raise InputError(f"{name} cannot be read: it holds {left} bytes of data, and its header says {size}")
            array = np.frombuffer(file.read(size), kind).reshape(shape, order="F" if in_columns else "C")
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or wanted}") from error
    except MemoryError as error:
        raise InputError(f"{name} cannot be read: it does not fit into memory") from error
    except Exception as error:  # a damaged header can raise anything
        raise InputError(f"{name} cannot be read: {wanted}") from error
    if array.dtype == np.bool_ and array.size and array.view(np.uint8).max() > 1:
        raise InputError(f"{name} cannot be read: its truth values must be bytes of 0 and 1")
    return array


def text_file(name: str, texts: Sequence[str]) -> tuple[pd.DataFrame, Place]:
    """A CSV file with headings, and where its rows are; lines that start with "#" are comments."""
    import pandas as pd

    _, text = read_text(name)
    lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.lstrip()[:1] not in ("", "#")]
    if len(lines) < 2:
        raise InputError(f"{name} must hold column headings and rows of features")
    top, header = lines[0]
    separator = max(",;\t", key=header.count)
    headings = [cell.strip() for cell in _cells(header, separator, f"{name}, line {top}")]
    if len(headings) > MAX_COLUMNS:
        raise InputError(f"{name} must hold at most {MAX_COLUMNS} columns, not {len(headings)}")
    seen: set[str] = set()
    for k, heading in enumerate(headings):
        if not heading or heading in seen:
            raise InputError(f"{name}, line {top}: column {k + 1} must have a heading of its own, not {show(heading)}")
        seen.add(heading)
    if all(is_number(heading) for heading in headings):
        raise InputError(
            f"{name}, line {top}: column headings are needed, not the numbers {show(header)} (a line that starts with #"
            " is a comment)"
        )
    content = io.StringIO("\n".join(line for _, line in lines[1:]))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # more cells in a line than headings
            frame = pd.read_csv(
                content, sep=separator, header=None, names=headings, index_col=False, skipinitialspace=True,
                quotechar='"', low_memory=False,
                dtype={heading: str for heading in headings if plain(heading) in texts},
            )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.ParserWarning, ValueError) as error:
        raise InputError(f"{name} cannot be read: {_fault(name, lines, separator, len(headings))}") from error
    if len(frame) != len(lines) - 1:
        raise InputError(f"{name} cannot be read: {_fault(name, lines, separator, len(headings))}")
    return frame, lambda i: f"{name}, line {lines[i + 1][0]}"


def _fault(name: str, lines: list[tuple[int, str]], separator: str, width: int) -> str:
    """Which line has another number of fields than there are headings."""
    for number, line in lines[1:]:
        cells = _cells(line, separator, f"{name}, line {number}")
        if len(cells) != width:
            return f"line {number} has {len(cells)} fields under {width} headings"
        if line.count('"') % 2:
            return f"line {number} has a quotation mark without its other half"
    return "it is no table of comma-separated values"


def _cells(line: str, separator: str, where: str) -> list[str]:
    try:
        return next(csv.reader([line], delimiter=separator, skipinitialspace=True))
    except csv.Error as error:
        raise InputError(f"{where}: not a line of CSV ({error})") from error
