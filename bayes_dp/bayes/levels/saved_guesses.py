"""Guesses on one model as a part of a JSON file: their table as CSV, the order of its rows, how many are guessed."""

from __future__ import annotations

import io
from dataclasses import asdict
from typing import Any

import numpy as np

from bayes_dp.checks import InputError, show
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses, guesses_from_ranking
from bayes_dp.data.json_text import A_COUNT, SENTENCES, Wanted, checked_object, finite, is_line, one_of
from bayes_dp.data.propensity_source import NAMES, PropensitySource
from bayes_dp.data.table import csv_text
from bayes_dp.support.arrays import Indices

__all__ = ["dict_of_guesses", "read_guesses"]

_FIELDS: dict[str, Wanted] = {
    "table": (lambda value: isinstance(value, str), "a CSV table in one text"),
    "source": (lambda value: isinstance(value, dict), "an object"),
    "order": (lambda value: isinstance(value, str), "numbers of rows in one text"),
    "made": A_COUNT,
    "lowest": A_COUNT,
    "rule": one_of("fixed", "bonferroni", "uncorrected"),
    "warnings": SENTENCES,
}
_SOURCE: dict[str, Wanted] = {
    "name": one_of(*NAMES),
    "assumptions": SENTENCES,
    "warnings": SENTENCES,
    "objection": (lambda value: value == "" or is_line(value), "a sentence, or empty"),
    "test": (lambda value: value is None or isinstance(value, dict), "an object, or null"),
}


def dict_of_guesses(guesses: Guesses) -> dict[str, Any] | None:
    """Guesses of one number, fit for JSON; None where other guesses or the counts of others chose that number."""
    if guesses.pilot is not None or guesses.splits or not guesses.knows_examples:
        return None
    table = guesses.table
    columns = {"score": table.score.tolist(), "member": table.member.astype(int).tolist()}
    columns |= {"propensity": table.needed_propensity().tolist()}
    columns |= {} if table.base is None else {"base": list(table.base)}
    return {
        "table": csv_text(columns),
        "source": finite(asdict(table.source)),
        "order": " ".join(map(str, guesses.order.tolist())),
        "made": int(guesses.made[0]),
        "lowest": int(guesses.lowest[0]),
        "rule": guesses.rule,
        "warnings": list(guesses.warnings),
    }


def read_guesses(place: str, content: Any) -> Guesses:
    """The inverse of `dict_of_guesses`; anything else is refused, by messages that begin with `place`."""
    found = checked_object(place, content, _FIELDS)
    source = checked_object(f"{place}: source", found["source"], _SOURCE)
    try:
        table = GuessTable.from_csv(io.StringIO(found["table"]))
    except InputError as error:
        raise InputError(f"{place}: table: {error}") from None
    known = PropensitySource(
        source["name"], tuple(source["assumptions"]), tuple(source["warnings"]), source["objection"], source["test"]
    )
    table = GuessTable(table.score, table.member, table.needed_propensity(), table.base, known)
    order = _order(place, found["order"], len(table))
    made, lowest = found["made"], found["lowest"]
    if not lowest <= made <= len(order):
        raise InputError(
            f"{place}: lowest must be at most made, and made at most the {len(order)} rows in order, not {lowest} and"
            f" {made}"
        )
    return guesses_from_ranking(
        table, order, np.array([made]), np.array([lowest]), found["rule"], warnings=tuple(found["warnings"])
    )


def _order(place: str, text: str, rows: int) -> Indices:
    """The rows that a text names, each at most once."""
    words = text.split()
    wrong = [word for word in words if not (word.isascii() and word.isdigit() and len(word) < 10 and int(word) < rows)]
    if wrong or not words:
        raise InputError(f"{place}: order must hold rows from 0 to {rows - 1}, not {show(wrong[0] if wrong else text)}")
    order = np.array([int(word) for word in words], dtype=np.intp)
    if len(np.unique(order)) < len(order):
        raise InputError(f"{place}: order must hold a row at most once")
    return order
