"""Text for people: tables whose columns are as wide as what is in them, and lines that a notebook shows as they are."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

__all__ = ["Lines", "columns"]


class Lines(str):
    """Lines of text: a string that a notebook shows as lines and not in quotes."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self))


def columns(rows: Sequence[Sequence[str]], sides: str = "", gap: str = "  ") -> list[str]:
    """A line for each row of cells, (k,) each: every column as wide as its widest cell, with a gap between two.

    `sides` has a letter for each column, "r" where it is aligned to the right and "l" where to the left; by default all
    are to the left.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        gap.join(
            cell.rjust(width) if side == "r" else cell.ljust(width)
            for cell, width, side in zip(row, widths, sides or "l" * len(row), strict=True)
        ).rstrip()
        for row in rows
    ]
