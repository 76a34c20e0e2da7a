"""What a report is made of, as plain data: text that is not escaped yet, tables of text, figures.

Whoever writes a document out (`html`, `markdown`) escapes all of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Code", "Document", "Figure", "Items", "Paragraph", "Piece", "ReportTable", "Section", "shown"]

# What no line of text should hold: control characters, line ends, marks that turn the direction of the text, and halves
# of characters, which UTF-8 cannot write.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Paragraph:
    """A few sentences; the lead says the main thing, a warning stands out."""

    text: str
    tone: Literal["plain", "lead", "warning"] = "plain"


@dataclass(frozen=True)
class Items:
    """A list of sentences, numbered where the text refers to them."""

    entries: tuple[str, ...]
    numbered: bool = False


@dataclass(frozen=True)
class ReportTable:
    """A table; the first cell of a row is its heading."""

    name: str  # unique in the document
    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Figure:
    """A picture, which is drawn when it is needed, and what it shows for those who do not see it."""

    name: str  # unique in the document
    caption: str
    description: str
    svg: Callable[[], str]


@dataclass(frozen=True)
class Code:
    """Lines to be run."""

    name: str  # unique in the document
    caption: str
    text: str


Piece = Paragraph | Items | ReportTable | Figure | Code


@dataclass(frozen=True)
class Section:
    """A heading and what is below it."""

    name: str  # unique in the document
    heading: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True)
class Document:
    """A report as it is read, from top to bottom."""

    title: str
    sections: tuple[Section, ...]


def shown(text: str) -> str:
    """A text from the user as one visible line: what cannot or should not be seen becomes the sign �."""
    return _UNSEEN.sub("\ufffd", text)
