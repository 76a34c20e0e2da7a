"""Which columns a kind of table has: their headings, and how the cells of a text file are read.

The layout of error counts is here; those of scores and losses are with their tables.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from functools import cached_property

from bayes_dp.checks import InputError, show

__all__ = [
    "COUNTS",
    "LOWEST",
    "MAX_COUNT",
    "MEMBER_CELLS",
    "MEMBER_HEADINGS",
    "CellKind",
    "Layout",
    "columns_of",
    "grouped_by",
    "is_number",
    "plain",
    "real_number",
    "whole_of",
]

MAX_COLUMNS = 1_000
_LONGEST_MISSPELT = 40  # letters of a heading that may be meant as one that is known
MAX_COUNT = 2**53  # whole numbers up to here are exact in float64
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_RATE = re.compile(r"^[tf][pn]rs?(@.*)?$|rates?(\(.*\))?$|^(alpha|beta|α|β)$|percent|%")  # of a plain heading
_INFINITIES = {sign + name: float(sign + name) for sign in ("", "+", "-") for name in ("inf", "infinity")}


@dataclass(frozen=True)
class CellKind:
    """The cells of a column of numbers, as they stand in a text file."""

    typecode: str  # of the `array.array` that holds the column
    read: Callable[[str], float | None]  # from the text of a cell to its value; None where it holds none
    wanted: str  # what a cell must hold, in a message


@dataclass(frozen=True)
class Layout:
    """The columns that a kind of table may have, under short names, and what messages say about it."""

    headings: Mapping[str, tuple[str, ...]]  # what a column may be called: in small letters, without spaces, "-", "_"
    cells: Mapping[str, CellKind]  # of the columns of numbers; the others hold labels
    needed: tuple[tuple[str, ...], ...]  # at least one column of each tuple must be there
    optional: tuple[str, ...]  # columns that may be null in JSON
    accepted: str  # the headings, in a message
    example: str  # a heading line
    content: str  # what a row holds, in the plural
    settings: tuple[str, ...] = ()  # what a JSON object may state beside its columns
    format: str = ""  # of the JSON files that this package writes, see `formats.py`; none where it writes none

    @cached_property
    def column(self) -> dict[str, str]:
        """Accepted heading -> column."""
        return {heading: column for column, headings in self.headings.items() for heading in headings}

    def is_known(self, heading: str) -> bool:
        """Whether a heading is one of those that are read."""
        return plain(heading) in self.column


_TRUTHS = {"true": 1, "yes": 1, "in": 1, "1": 1, "false": 0, "no": 0, "out": 0, "0": 0}


def _truth(text: str) -> int | None:
    """1 or 0 for a word, or for a number that is one of them, such as 1.0 or 1e+00; None for others."""
    known = _TRUTHS.get(text.lower())
    if known is None and (number := whole_of(text)) in (0, 1):
        return number
    return known


MEMBER_HEADINGS = ("member", "ismember", "label", "membership")
MEMBER_CELLS = CellKind("b", _truth, "true or false (or 1 or 0, yes or no, in or out)")


def real_number(text: str) -> float | None:
    """The number that a text holds, infinities too; None where it holds none, or a finite one beyond float64."""
    if not _NUMBER.fullmatch(text):
        return _INFINITIES.get(text.lower())
    value = float(text)
    return value if math.isfinite(value) else None


def is_number(text: str) -> bool:
    """Whether a text is a number in decimal notation, however large."""
    return _NUMBER.fullmatch(text) is not None


def whole_of(text: str) -> int | None:
    """The whole number that a text holds; None where it holds none, or one beyond MAX_COUNT."""
    if len(text) <= 15 and text.isascii() and text.isdigit():
        return int(text)
    if not _NUMBER.fullmatch(text):
        return None
    try:
        number = Decimal(text)  # exact, where float would round 0.99999999999999999 to 1
    except InvalidOperation:  # an exponent beyond all bounds
        return None
    return int(number) if -MAX_COUNT <= number <= MAX_COUNT and number == number.to_integral_value() else None


def _count_from(text: str, low: int) -> int | None:
    number = whole_of(text)
    return number if number is not None and number >= low else None


def _count(low: int) -> CellKind:
    return CellKind("q", lambda text: _count_from(text, low), f"a whole number from {low} to 2**53")


LOWEST = {"fp": 0, "n0": 1, "fn": 0, "n1": 1, "tp": 0, "tn": 0}
COUNTS = Layout(
    headings={
        "fp": ("fp", "falsepositives", "x"),
        "n0": ("n0", "negatives"),
        "fn": ("fn", "falsenegatives", "y"),
        "n1": ("n1", "positives"),
        "tp": ("tp", "truepositives"),
        "tn": ("tn", "truenegatives"),
        "base": ("base",),
        "group": ("group",),
    },
    cells={column: _count(low) for column, low in LOWEST.items()},
    needed=(("fp",), ("n0", "tn"), ("fn",), ("n1", "tp")),
    optional=("base", "group"),
    accepted="fp, n0, fn, n1 (or false_positives, negatives, false_negatives, positives; or x, n0, y, n1; "
    "or tp, fp, tn, fn)",
    example="fp,n0,fn,n1",
    content="counts",
    settings=("design", "examples"),
    format="bayes-dp/counts/1",
)


def grouped_by(heading: str | None) -> Layout:
    """The layout of counts where the column of this heading, which must be there, holds the groups' labels."""
    if heading is None:
        return COUNTS
    if not isinstance(heading, str) or not plain(heading):
        raise InputError(f"group must be the heading of a column, not {show(heading)}")
    name = plain(heading)
    if (meant := COUNTS.column.get(name)) in COUNTS.cells:
        raise InputError(f"group must be the heading of a column of labels, not {show(heading)}, a column of counts")
    headings = {column: known for column, known in COUNTS.headings.items() if column not in ("group", meant)}
    return replace(
        COUNTS,
        headings=headings | {"group": (name,)},
        needed=(*COUNTS.needed, ("group",)),
        accepted=f"{COUNTS.accepted}, and {show(heading)} for the groups",
    )


def columns_of(headings: Sequence[str], where: str, layout: Layout = COUNTS) -> dict[str, int]:
    """Column -> its place among `headings`; an error for headings that are repeated or missing begins with `where`."""
    if len(headings) > MAX_COLUMNS:
        raise InputError(f"{where}: {len(headings)} columns are more than the {MAX_COLUMNS} that are read")
    found: dict[str, int] = {}
    for k, heading in enumerate(headings):
        column = layout.column.get(plain(heading), heading)
        if column in found and column in layout.headings:
            first = found[column]
            raise InputError(
                f"{where}: the headings {show(headings[first])} (column {first + 1}) and {show(heading)} "
                f"(column {k + 1}) name the same column"
            )
        found[column] = k
    missing = [choice for choice in layout.needed if not found.keys() & set(choice)]
    if missing:
        names = ", ".join(" or ".join(choice) for choice in missing)
        raise InputError(
            f"{where}: no column for {names}{_hint(missing, headings, layout)}; "
            f"accepted headings are {layout.accepted}, found {show(list(headings))}"
        )
    return {column: k for column, k in found.items() if column in layout.headings}


def plain(heading: str) -> str:
    """A heading in small letters, without spaces, "-" and "_"."""
    return re.sub(r"[\s_-]+", "", heading).lower()


def _hint(missing: Sequence[Sequence[str]], headings: Sequence[str], layout: Layout) -> str:
    """Which of the unknown headings may be a misspelling of a missing one; a rate is none of a count."""
    unknown = {plain(heading): heading for heading in headings if not layout.is_known(heading)}
    unknown = {short: heading for short, heading in unknown.items() if len(short) <= _LONGEST_MISSPELT}
    rates = {plain: unknown.pop(plain) for plain in list(unknown) if "fp" in layout.cells and _RATE.search(plain)}
    if rates and {("fp",), ("fn",)} & set(missing):
        rate = next(iter(rates.values()))
        return (
            f" ({show(rate)} looks like a rate, which is no count: ErrorCounts.from_rates makes counts of rates and the"
            " numbers of challenges)"
        )
    wanted = [alias for choice in missing for column in choice for alias in layout.headings[column]]
    pairs = [(alias, near) for alias in wanted for near in difflib.get_close_matches(alias, unknown, 1, 0.5)]
    if not pairs:
        return ""
    alias, near = max(pairs, key=lambda pair: difflib.SequenceMatcher(None, *pair).ratio())
    return f" (is {show(unknown[near])} meant as {alias}?)"
