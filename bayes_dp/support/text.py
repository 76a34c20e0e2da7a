"""Text for people: lines, tables and lists of sentences, each told once and shown as lines of text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

__all__ = ["SHOWN", "Line", "Lines", "Part", "Rows", "Sentences", "columns", "digits", "in_brief", "rest"]

SHOWN = 20  # rows of data at most


@dataclass(frozen=True)
class Line:
    """A line that stands alone. An empty one parts in text what stands above it from what stands below."""

    text: str = ""

    def lines(self) -> list[str]:
        return [self.text]

    def html(self) -> str:
        return f"<p>{escape(self.text)}</p>" if self.text else ""


@dataclass(frozen=True)
class Rows:
    """Rows of cells under their headings, if there are any; `sides`, `gap` as for `columns`.

    `words` are the lines that stand for the caption and the table in text, where that says it in other words.
    """

    rows: Sequence[Sequence[str]]
    headings: Sequence[str] = ()
    caption: str = ""
    sides: str = ""
    gap: str = "  "
    indent: str = ""
    words: tuple[str, ...] | None = None

    def lines(self) -> list[str]:
        if self.words is not None:
            return list(self.words)
        cells = [*([self.headings] if self.headings else []), *self.rows]
        lines = [self.indent + line for line in columns(cells, self.sides, self.gap)]
        return [self.caption, *lines] if self.caption else lines

    def html(self) -> str:
        caption = f"<caption>{escape(self.caption)}</caption>\n" if self.caption else ""
        head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in self.headings)
        body = "\n".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows)
        head = f"<thead><tr>{head}</tr></thead>\n" if head else ""
        return f"<table>\n{caption}{head}<tbody>\n{body}\n</tbody>\n</table>"


@dataclass(frozen=True)
class Sentences:
    """Sentences under a title: a list of them, each with the title before it, or numbered from 1."""

    title: str
    entries: Sequence[str]
    form: Literal["list", "each", "numbered"] = "list"

    def lines(self) -> list[str]:
        if self.form == "each":
            return [f"{self.title}: {entry}" for entry in self.entries]
        if self.form == "numbered":
            return [self.title, *(f"{k:>3}  {entry}" for k, entry in enumerate(self.entries, 1))]
        return [*([f"{self.title}:"] if self.title else []), *(f"  - {entry}" for entry in self.entries)]

    def html(self) -> str:
        if not self.entries:
            return ""
        tag = "ol" if self.form == "numbered" else "ul"
        title = f"<p>{escape(self.title)}</p>\n" if self.title else ""
        items = "\n".join(f"<li>{escape(entry)}</li>" for entry in self.entries)
        return f"{title}<{tag}>\n{items}\n</{tag}>"


Part = Line | Rows | Sentences


class Lines(str):
    """Lines of text: a string that a notebook shows as the tables and lists that it was made from."""

    html: str

    def __new__(cls, text: str, html: str) -> Lines:
        made = super().__new__(cls, text)
        made.html = html
        return made

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Lines:
        """What parts say, one below the other."""
        given = list(parts)
        text = "\n".join(line for part in given for line in part.lines())
        return cls(text, "\n".join(filter(None, (part.html() for part in given))))

    def __reduce__(self) -> tuple[type[Lines], tuple[str, str]]:
        return Lines, (str(self), self.html)

    def _repr_html_(self) -> str:
        return self.html

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


def digits(value: float) -> str:
    """A number with four significant digits."""
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.3e}"


def rest(number: int, of: str) -> list[Line]:
    """What stands below the first rows of data that has more of them."""
    return [Line(f"and {number - SHOWN} more {of}")] if number > SHOWN else []


def in_brief(parts: Iterable[Part]) -> list[Part]:
    """The parts with lists of sentences counted; what is said each by itself, such as a warning, stays."""
    return [
        Line(f"{part.title}: {len(part.entries)}, not shown in brief")
        if isinstance(part, Sentences) and part.form != "each" and part.entries
        else part
        for part in parts
    ]
