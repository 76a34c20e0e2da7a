"""Tables read from CSV files, JSON files and DataFrames."""

from __future__ import annotations

import csv
import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bayes_dp.checks import InputError, show
from bayes_dp.data.files import Source, read_text
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import read_json
from bayes_dp.data.layout import COUNTS, Layout, columns_of, is_number, plain
from bayes_dp.data.table import Table

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "MAX_LINE",
    "MAX_ROWS",
    "CsvReader",
    "csv_table",
    "file_table",
    "frame_table",
    "headings_of",
    "json_table",
]

MAX_ROWS = 1_000_000
MAX_LINE = 1_000_000  # characters
_MOST_KINDS_OF_ROWS = 1_000  # by their keys

_SPACE_AFTER_QUOTE = re.compile(r'" +(?=[,;\t]|$)')


def file_table(path: str | os.PathLike[str], layout: Layout = COUNTS) -> Table:
    """A file, by its suffix: .json, or .csv, .tsv, .txt."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"path must be a path, not {type(path).__name__}")
    suffix = os.path.splitext(os.fspath(path))[1].lower()
    if suffix == ".json":
        return json_table(path, layout)
    if suffix in (".csv", ".tsv", ".txt"):
        return csv_table(path, layout)
    raise InputError(f"{show(os.fspath(path))} must end in .csv, .tsv, .txt or .json, not {show(suffix)}")


def csv_table(source: Source, layout: Layout = COUNTS) -> Table:
    """A CSV file (or one separated by semicolons or tabs) with headings; lines that start with "#" are comments."""
    name, text = read_text(source)
    if text.count("\n") > 2 * MAX_ROWS:  # seen before any memory goes into lines and cells
        raise _too_many_rows(name)
    reader = CsvReader(name, text.split("\n"), layout)
    table = reader.rows(MAX_ROWS)
    if table is None:
        raise InputError(f"{name} has column headings (line {reader.top}) but no rows of {layout.content}")
    if reader.rows(1) is not None:
        raise _too_many_rows(name)
    return table


class CsvReader:
    """The rows of a CSV table, some at a time, from its lines as they come."""

    def __init__(self, name: str, lines: Iterable[str], layout: Layout) -> None:
        self._name, self._layout, self._lines = name, layout, _lines(name, lines)
        self.top, header = next(self._lines, (0, ""))  # the number of the line with the headings
        if not self.top:
            raise InputError(
                f"{name} is empty: column headings such as {layout.example} and rows of {layout.content} are needed"
            )
        self._delimiter, self._headings = _header(header, f"{name}, line {self.top}", layout)
        self._places = columns_of(self._headings, f"{name}, line {self.top}", layout)
        self._shown = {column: _one_line(self._headings[k]) for column, k in self._places.items()}
        self._stated = _Stated(layout, self._headings)

    def rows(self, most: int) -> Table | None:
        """The next rows, as many as there are up to `most`; None where there is none."""
        name, kinds, shown, headings, places = self._name, self._layout.cells, self._shown, self._headings, self._places
        columns: dict[str, Any] = {c: array(kinds[c].typecode) if c in kinds else [] for c in places}
        numbers = [(places[c], c, kinds[c].read, values.append) for c, values in columns.items() if c in kinds]
        labels = [(places[c], values.append) for c, values in columns.items() if c not in kinds]
        line_of_row = array("q")
        for number, line in self._lines:
            try:
                cells = _cells(line, self._delimiter)
            except csv.Error as error:
                raise _not_csv(f"{name}, line {number}", line, error) from error
            if not any(cells):  # what spreadsheets leave below a table: separators only
                continue
            if len(cells) != len(headings):
                hint = " (a thousands separator or decimal comma?)" if len(cells) > len(headings) else ""
                raise InputError(
                    f"{name}, line {number}: {len(cells)} fields under the {len(headings)} headings of line"
                    f" {self.top}{hint}"
                )
            for k, column, read, append in numbers:
                value = read(cells[k])
                if value is None:
                    raise InputError(
                        f"{name}, line {number}: {shown[column]} must be {kinds[column].wanted}, not {show(cells[k])}"
                    )
                append(value)
            for k, append in labels:
                append(cells[k])
            if self._stated.places:
                self._stated.add(cells, lambda heading, number=number: f"{name}, line {number}: {heading}")  # type: ignore[misc]
            line_of_row.append(number)
            if len(line_of_row) == most:
                break
        if not line_of_row:
            return None
        return Table(
            {column: memoryview(values) if column in kinds else values for column, values in columns.items()},
            shown,
            lambda heading, row: f"{name}{'' if row is None else f', line {line_of_row[row]}'}: {heading}",
            settings=self._stated.values,
        )


def headings_of(source: Source) -> list[str]:
    """The headings of a CSV file, separated by what gives most of them; none where there is no line of them."""
    name, text = read_text(source)
    _, header = next(_lines(name, text.split("\n")), (0, ""))
    found = []
    for delimiter in ",;\t":
        with suppress(csv.Error):
            found.append(_cells(header, delimiter))
    return max(found, key=len, default=[])


def frame_table(frame: pd.DataFrame, layout: Layout = COUNTS) -> Table:
    """A pandas DataFrame with the columns of a CSV file; its index is ignored."""
    import pandas as pd

    if not isinstance(frame, pd.DataFrame):
        raise InputError(f"frame must be a pandas DataFrame, not {type(frame).__name__}")
    headings = [str(heading) for heading in frame.columns]
    places = columns_of(headings, "frame", layout)
    columns = {column: frame.iloc[:, k].to_numpy() for column, k in places.items()}
    stated = _Stated(layout, headings)
    if stated.places:
        for i, row in enumerate(frame.iloc[:, list(stated.places.values())].to_numpy(dtype=object)):
            cells = dict(zip(stated.places.values(), map(_cell_text, row), strict=True))
            stated.add(cells, lambda heading, i=i: f"{heading}[{i}]")  # type: ignore[misc]
    return Table(columns, {column: headings[k] for column, k in places.items()}, settings=stated.values)


def _cell_text(cell: Any) -> str:
    """What a cell of a DataFrame would be in a text file."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None or cell != cell else str(cell)


class _Stated:
    """What columns state of the table as a whole, such as the design: one value, the same in all rows."""

    def __init__(self, layout: Layout, headings: Sequence[str]) -> None:
        names = {plain(heading): k for k, heading in reversed(list(enumerate(headings)))}
        self.places = {key: names[key] for key in layout.settings if key in names and key not in layout.column}
        self.values: dict[str, Any] = {}
        self._first: dict[str, str] | None = None

    def add(self, cells: Any, place: Callable[[str], str]) -> None:
        """The cells of one more row, which `place` names."""
        row = {key: cells[k] for key, k in self.places.items()}
        if self._first is None:
            self._first = row
            whole = {key: value.isascii() and value.isdigit() and len(value) < 19 for key, value in row.items()}
            self.values = {key: int(value) if whole[key] else value for key, value in row.items() if value}
        for key, value in row.items():
            if value != self._first[key]:
                raise InputError(
                    f"{place(key)} must be {show(self._first[key])} as in the first row, not {show(value)}"
                )


def json_table(source: Source, layout: Layout = COUNTS) -> Table:
    """A JSON object of columns, {"fp": [...], "n0": 100, ...}, or a list of row objects."""
    name, content = read_json(source)
    if isinstance(content, dict):
        return _json_columns(name, content, layout)
    if isinstance(content, list):
        return _json_rows(name, content, layout)
    raise InputError(f"{name} must hold an object of columns or a list of row objects, not {show(content)}")


def _json_columns(name: str, content: dict[str, Any], layout: Layout) -> Table:
    stated = content.get("format")  # a column of this name, or another program's format, is nothing to this one
    if layout.format and isinstance(stated, str) and stated.lower().startswith("bayes-dp/"):
        content = without_format(name, content, layout.format)
    keys = list(content)
    places = {
        column: k
        for column, k in columns_of(keys, name, layout).items()
        if column not in layout.optional or content[keys[k]] is not None
    }
    columns = {column: content[keys[k]] for column, k in places.items()}
    if any(isinstance(values, list) and len(values) > MAX_ROWS for values in columns.values()):
        raise _too_many_rows(name)
    return Table(
        columns,
        {column: _one_line(keys[k]) for column, k in places.items()},
        lambda heading, row: f"{name}: {heading}{'' if row is None else f'[{row}]'}",
        settings={key: content[key] for key in layout.settings if content.get(key) is not None},
    )


def _json_rows(name: str, rows: list[Any], layout: Layout) -> Table:
    if not rows:
        raise InputError(f"{name} has no rows of {layout.content}")
    if len(rows) > MAX_ROWS:
        raise _too_many_rows(name)
    columns: dict[str, list[Any]] = {}
    known: dict[tuple[str, ...], dict[str, int]] = {}
    for i, row in enumerate(rows):
        if not isinstance(row, dict):
            raise InputError(f"{name}: [{i}] must be a row object, not {show(row)}")
        if stated := [key for key in layout.settings if key in row]:
            raise InputError(
                f"{name}: [{i}] states {show(stated[0])}, which holds for all rows: write an object of columns, or give"
                " it at the call"
            )
        keys = tuple(row)
        if keys not in known:
            if len(known) == _MOST_KINDS_OF_ROWS:
                raise InputError(f"{name}: [{i}] has other keys than the rows before, which differ in theirs too often")
            known[keys] = columns_of(keys, f"{name}: [{i}]", layout)
        columns = columns or {column: [] for column in known[keys]}
        if known[keys].keys() != columns.keys():
            raise InputError(
                f"{name}: [{i}] must have the columns of [0], {show(sorted(columns))}, not {show(sorted(known[keys]))}"
            )
        for column, k in known[keys].items():
            columns[column].append(row[keys[k]])
    first = tuple(rows[0])
    return Table(
        columns,
        {column: _one_line(first[k]) for column, k in known[first].items()},
        lambda heading, row: f"{name}: {'' if row is None else f'[{row}].'}{heading}",
    )


def _lines(name: str, lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines, with their numbers from 1, that are neither blank nor comments."""
    for number, line in enumerate(lines, 1):
        start = line.lstrip()[:1]
        if start and start != "#":
            if len(line) > MAX_LINE:
                raise InputError(
                    f"{name}, line {number}: {len(line)} characters are more than a line may have, {MAX_LINE}"
                )
            yield number, line


def _header(line: str, where: str, layout: Layout) -> tuple[str, list[str]]:
    """The separator and the headings: the separator is the one that gives most of the known headings."""
    found: list[tuple[int, int, str, list[str]]] = []
    for delimiter in ",;\t":
        try:
            cells = _cells(line, delimiter)
        except csv.Error as error:
            problem = error
        else:
            found.append((sum(map(layout.is_known, cells)), len(cells), delimiter, cells))
    if not found:
        raise _not_csv(where, line, problem)
    _, _, delimiter, headings = max(found, key=lambda each: each[:2])
    if any(headings) and all(is_number(cell) for cell in headings if cell):
        raise InputError(
            f"{where}: column headings are needed, not the numbers {show(line)} (a line that starts with # is a"
            f" comment); accepted are {layout.accepted}"
        )
    return delimiter, headings


def _cells(line: str, delimiter: str) -> list[str]:
    """The fields of one line; a quoted field cannot run over the end of its line."""
    if '"' not in line:  # nothing that needs the csv module, whose readers cost more to make than to use
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error:
        line = _SPACE_AFTER_QUOTE.sub('"', line)
        cells = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True, strict=True))
    return [cell.strip() for cell in cells]


def _not_csv(where: str, line: str, error: csv.Error) -> InputError:
    reason = str(error).replace("\t", "tab")
    return InputError(f"{where}: not a line of CSV ({reason}): {show(line)}")


def _one_line(heading: str) -> str:
    return " ".join(heading.split())[:40]


def _too_many_rows(name: str) -> InputError:
    return InputError(f"{name} has more than {MAX_ROWS} rows, the most that is read")
