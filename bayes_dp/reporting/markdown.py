"""A document as Markdown, with tables as GitHub has them. Figures are told in words, as many readers of Markdown refuse
pictures that are part of it.
"""

from __future__ import annotations

import re
from functools import singledispatch

from bayes_dp import __version__
from bayes_dp.reporting.document import Code, Document, Figure, Items, Paragraph, ReportTable, Section

__all__ = ["markdown", "markdown_section"]

# What has a meaning in Markdown wherever it is, and what has one at the beginning of a line.
_SPECIAL = re.compile(r"[\\`*_{}\[\]|~#$!]")
_FIRST = re.compile(r"^([-+=]|\d+(?=[.)](?:\s|$)))")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "&#64;", "://": "&#58;//", "www.": "www&#46;"}
_ENTITY = re.compile("|".join(map(re.escape, _ENTITIES)))


def markdown(document: Document) -> str:
    """The whole text."""
    parts = [f"# {_text(document.title)}"]
    parts += map(markdown_section, document.sections)
    return "\n\n".join([*parts, f"Made with bayes-dp {__version__}."]) + "\n"


def markdown_section(section: Section) -> str:
    """One section."""
    return "\n\n".join([f"## {_text(section.heading)}", *map(_written, section.pieces)])


def _text(text: str) -> str:
    """Text that means itself, on one line."""
    line = " ".join(text.split())
    escaped = _SPECIAL.sub(lambda match: "\\" + match[0], line)
    escaped = _FIRST.sub(lambda m: f"{m[1]}\\" if m[1].isdigit() else f"\\{m[1]}", escaped)
    return _ENTITY.sub(lambda match: _ENTITIES[match[0]], escaped)


@singledispatch
def _written(piece: object) -> str:
    raise TypeError(f"a document has no pieces of type {type(piece).__name__}")


@_written.register
def _(piece: Paragraph) -> str:
    if piece.tone == "warning":
        return f"> **Warning.** {_text(piece.text)}"
    return f"**{_text(piece.text)}**" if piece.tone == "lead" else _text(piece.text)


@_written.register
def _(piece: Items) -> str:
    return "\n".join(f"{f'{k}.' if piece.numbered else '-'} {_text(entry)}" for k, entry in enumerate(piece.entries, 1))


@_written.register
def _(piece: ReportTable) -> str:
    lines = [piece.headings, ("---",) * len(piece.headings), *(tuple(map(_text, row)) for row in piece.rows)]
    return f"{_text(piece.caption)}\n\n" + "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


@_written.register
def _(piece: Figure) -> str:
    return f"*Figure: {_text(piece.description)}*"


@_written.register
def _(piece: Code) -> str:
    longest = max((len(run) for run in re.findall("`+", piece.text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{_text(piece.caption)}\n\n{fence}text\n{piece.text}\n{fence}"
