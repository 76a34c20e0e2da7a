"""Files of pairs of runs, one row for each pair in its order: whether the run without the example was judged wrongly,
and whether that with it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from bayes_dp.data.layout import CellKind, Layout, real_number
from bayes_dp.data.parsing import CsvReader, file_table
from bayes_dp.data.table import Table, real_numbers
from bayes_dp.support.arrays import Floats

__all__ = ["Pairs", "pairs_of_lines", "read_pairs"]

Pairs = tuple[Floats, Floats]  # errors without the example and with it, (n,) each

_WANTED = "1 or 0, true or false, or a share between them"
_TRUTHS = {"true": 1.0, "false": 0.0}


def _error(text: str) -> float | None:
    value = _TRUTHS.get(text.lower(), real_number(text))
    return value if value is not None and 0 <= value <= 1 else None


_LAYOUT = Layout(
    headings={"without": ("without",), "with": ("with",)},
    cells=dict.fromkeys(("without", "with"), CellKind("d", _error, _WANTED)),
    needed=(("without",), ("with",)),
    optional=(),
    accepted="without, with",
    example="without,with",
    content="errors",
)


def read_pairs(path: str) -> Pairs:
    """All pairs of a file, by its suffix: .csv, .tsv, .txt or .json."""
    return _pairs(file_table(path, _LAYOUT))


def pairs_of_lines(name: str, lines: Iterable[str], sizes: Iterable[int]) -> Iterator[Pairs]:
    """The pairs of the lines of a CSV file as they come, so many at a time as `sizes` say."""
    reader = CsvReader(name, lines, _LAYOUT)
    for size in sizes:
        table = reader.rows(size)
        if table is None:
            return
        yield _pairs(table)


def _pairs(table: Table) -> Pairs:
    x, y = (
        real_numbers(table, column, _WANTED, lambda values: (values >= 0) & (values <= 1), truths=True).reshape(-1)
        for column in ("without", "with")
    )
    return x, y
