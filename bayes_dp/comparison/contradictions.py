"""Rows of a comparison that cannot all be right.

- A posterior's interval that lies below a valid lower bound: the bound needs no model of the attacks, so that the
  posterior is marked as not valid.
- Two intervals without a common value: their models differ, and neither is known to be the wrong one.
- An interval of e, what an attack got out by some guesses on one model, that lies below a valid bound: other guesses
  got more out, though every one is taken to have got the same.

Only rows on the same bases are held against each other. A bound for one of several bases, chosen because it is large,
would not hold its confidence.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from bayes_dp.comparison.table import ComparisonRow
from bayes_dp.support.text import digits

__all__ = ["reconciled"]


def reconciled(rows: Sequence[ComparisonRow]) -> tuple[ComparisonRow, ...]:
    """The rows, with a note where one contradicts another."""
    return tuple(_noted(row, [other for other in rows if other.base == row.base and other is not row]) for row in rows)


def _noted(row: ComparisonRow, others: Sequence[ComparisonRow]) -> ComparisonRow:
    """The row, beside all others on the same bases."""
    if row.parameter == "e":
        higher = [other for other in others if _is_bound(other) and _end(other.lower) > _end(row.upper)]
        return replace(row, notes=(*row.notes, *map(_more_than_e, higher)))
    if row.parameter != "epsilon":
        return row
    leaks = [other for other in others if other.parameter == "e"]
    others = [other for other in others if other.parameter == "epsilon"]
    if _is_bound(row):
        below = [other.method for other in others if other.kind == "posterior" and _end(other.upper) < _end(row.lower)]
        below += [f"e of {other.method}" for other in leaks if _end(other.upper) < _end(row.lower)]
        return replace(row, notes=(*row.notes, *(f"The interval of {name} lies below this bound." for name in below)))
    if row.kind != "posterior":
        return row
    apart = [
        f"All of the interval of {other.method} is {side} this one: the two cannot both be right."
        for other in others
        if other.kind == "posterior" and (side := _side(other, row))
    ]
    row = replace(row, notes=(*row.notes, *apart))
    above = [other for other in others if _is_bound(other) and _end(other.lower) > _end(row.upper)]
    if not above:
        return row
    highest = max(above, key=lambda other: _end(other.lower))
    at_least = "infinity" if highest.lower is None else digits(highest.lower)
    sentence = (
        f"All of the interval is below a valid lower bound, {at_least} by {highest.method}: the two cannot both be"
        " right, and the posterior, which assumes more, is the first to be doubted."
    )
    return replace(row, valid=False, reason=" ".join(filter(None, (sentence, row.reason))))


def _is_bound(row: ComparisonRow) -> bool:
    return row.kind == "lower_bound" and row.valid


def _more_than_e(bound: ComparisonRow) -> str:
    at_least = "infinity" if bound.lower is None else digits(bound.lower)
    return (
        f"All of the interval of e is below a valid lower bound, {at_least} by {bound.method}: some guesses got more"
        " out than these, so that e and the bound cannot both be right if every guess got the same e."
    )


def _end(value: float | None) -> float:
    """An end of an interval; one that is missing is infinite."""
    return math.inf if value is None else value


def _side(other: ComparisonRow, row: ComparisonRow) -> str:
    """Where the whole other interval lies, or nothing if they have a value in common."""
    if _end(other.upper) < _end(row.lower):
        return "below"
    return "above" if _end(other.lower) > _end(row.upper) else ""
