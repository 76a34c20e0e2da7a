"""A document as one HTML page: no network, no scripts, and a policy in its head that forbids both."""

from __future__ import annotations

import re
from functools import singledispatch
from html import escape
from importlib import resources

from bayes_dp import __version__
from bayes_dp.reporting.document import Code, Document, Figure, Items, Paragraph, ReportTable, Section

__all__ = ["page", "style"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

_NUMBER = re.compile(r"(?:(?:at least|about|p =|>=) )?-?[\d.]+(?:e[-+]?\d+)?%?(?: to (?:[\d.]+(?:e[-+]?\d+)?%?|inf))?")
_SHORT = 15  # rows of a table that is kept on one page of paper


def page(document: Document) -> str:
    """The whole page."""
    title = escape(document.title)
    contents = "\n".join(f'<li><a href="#{s.name}">{escape(s.heading)}</a></li>' for s in document.sections)
    sections = "\n".join(_section(section) for section in document.sections)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="bayes-dp {__version__}">
<link rel="icon" href="data:,">
<title>{title}</title>
<style>
{style()}</style>
</head>
<body>
<a class="skip" href="#short">Skip to the report</a>
<header><h1>{title}</h1></header>
<nav aria-label="Contents">
<ul>
{contents}
</ul>
</nav>
<main>
{sections}
</main>
<footer>Made with bayes-dp {__version__}.</footer>
</body>
</html>
"""


def style() -> str:
    """The style sheet of the page."""
    return (resources.files("bayes_dp.reporting") / "style.css").read_text(encoding="utf-8")


def _section(section: Section) -> str:
    pieces = "\n".join(_written(piece) for piece in section.pieces)
    heading = f"{section.name}-heading"
    return (
        f'<section id="{section.name}" aria-labelledby="{heading}">\n'
        f'<h2 id="{heading}">{escape(section.heading)}</h2>\n{pieces}\n</section>'
    )


@singledispatch
def _written(piece: object) -> str:
    raise TypeError(f"a document has no pieces of type {type(piece).__name__}")


@_written.register
def _(piece: Paragraph) -> str:
    if piece.tone == "warning":
        return f'<p class="warning"><strong>Warning.</strong> {escape(piece.text)}</p>'
    return f'<p class="lead">{escape(piece.text)}</p>' if piece.tone == "lead" else f"<p>{escape(piece.text)}</p>"


@_written.register
def _(piece: Items) -> str:
    tag = "ol" if piece.numbered else "ul"
    return f"<{tag}>\n" + "\n".join(f"<li>{escape(entry)}</li>" for entry in piece.entries) + f"\n</{tag}>"


@_written.register
def _(piece: ReportTable) -> str:
    head = "".join(f'<th scope="col">{escape(heading)}</th>' for heading in piece.headings)
    rows = "\n".join(
        f'<tr><th scope="row">{escape(first)}</th>' + "".join(map(_cell, rest)) + "</tr>" for first, *rest in piece.rows
    )
    kind = "wide short" if len(piece.rows) <= _SHORT else "wide"
    # What can be scrolled must be reachable by the keyboard.
    return (
        f'<div class="{kind}" role="region" tabindex="0" aria-labelledby="{piece.name}-caption">\n<table>\n'
        f'<caption id="{piece.name}-caption">{escape(piece.caption)}</caption>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{rows}\n</tbody>\n</table>\n</div>"
    )


def _cell(text: str) -> str:
    """A cell; a number, a share and an interval stay on one line."""
    kind = ' class="number"' if _NUMBER.fullmatch(text) else ""
    return f"<td{kind}>{escape(text)}</td>"


@_written.register
def _(piece: Figure) -> str:
    return f"<figure>\n{piece.svg()}\n<figcaption>{escape(piece.caption)}</figcaption>\n</figure>"


@_written.register
def _(piece: Code) -> str:
    return f"<p>{escape(piece.caption)}</p>\n<pre><code>{escape(piece.text)}</code></pre>"
