"""The file of a sequential audit under way: what it holds, and what cannot have been written.

A file that was changed by hand would let somebody choose δ, the grid or the claim after the runs were seen, so that it
ends with a digest of all that stands before. Nothing is taken from a file in which anything does not fit.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from bayes_dp.audits.capital import LEVELS
from bayes_dp.checks import InputError, numbers
from bayes_dp.data.files import Source
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_COUNT,
    A_LINE,
    A_NUMBER,
    A_SHARE,
    AN_OBJECT,
    Wanted,
    checked_object,
    is_finite,
    json_of,
    one_of,
    read_json,
)

__all__ = ["FAMILIES", "METHODS", "TRADE_OFF", "check_fits", "digest", "read_state", "state_text"]

METHODS = ("betting", "mixture", "one_run")
FAMILIES = ("approx", "gaussian", "laplace")
TRADE_OFF = "trade-off"  # the family of an audit of one trade-off function

_NUMBERS: Wanted = (
    lambda value: isinstance(value, list) and all(each is None or is_finite(each) for each in value),
    "a list of numbers",
)
_ROWS: Wanted = (
    lambda value: (
        isinstance(value, list) and all(isinstance(row, list) and all(is_finite(each) for each in row) for row in value)
    ),
    "a list of lists of numbers",
)
_PAIRS: Wanted = (
    lambda value: _ROWS[0](value) and all(len(row) == 2 for row in value),
    "a list of pairs of numbers",
)
_COUNTS: Wanted = (
    lambda value: (
        isinstance(value, list)
        and all(isinstance(row, list) and all(type(each) is int and each >= 0 for each in row) for row in value)
    ),
    "a list of lists of whole numbers, at least 0",
)
_FORMAT = "bayes-dp/sequential/1"
_FIELDS: dict[str, Wanted] = {
    "delta": A_SHARE,
    "confidence": A_SHARE,
    "method": one_of(*METHODS),
    "family": one_of(*FAMILIES, TRADE_OFF),
    "lines": _PAIRS,
    "pairs": one_of("independent", "dependent"),
    "block": (
        lambda value: isinstance(value, list) and len(value) == 2 and all(type(n) is int and n > 0 for n in value),
        "two whole numbers, at least 1",
    ),
    "grid": _NUMBERS,
    "claim": A_NUMBER,
    "seed": A_COUNT,
    "best": _NUMBERS,
    "looks": A_COUNT,
    "steps": _PAIRS,
    "claimed": _PAIRS,
    "rule": A_LINE,
    "waiting": _ROWS,
    "left_out": (lambda value: _COUNTS[0]([value]) and len(value) == 2, "two whole numbers, at least 0"),
    "capital": AN_OBJECT,
    "stretches": _COUNTS,
    "models": _ROWS,
    "invalid": A_LINE,
    "number": A_COUNT,
    "updates": A_COUNT,
    "highest": (lambda value: is_finite(value, 0.0), "a finite number, at least 0"),
    "sha256": A_LINE,
}
_CAPITAL: dict[str, Wanted] = {
    "pairs": A_COUNT,
    "until": A_COUNT,
    "sums": _NUMBERS,
    "past_pairs": A_COUNT,
    "past_sums": _NUMBERS,
    "start": _NUMBERS,
    "counts": _COUNTS,
    "scores": _PAIRS,
}


def digest(content: dict[str, Any]) -> str:
    """Of a file's content but for the digest itself, so that no setting is changed halfway."""
    text = json.dumps({key: value for key, value in content.items() if key != "sha256"}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def state_text(content: dict[str, Any]) -> str:
    """The text of the file."""
    content = {"format": _FORMAT} | content
    return json_of(content | {"sha256": digest(content)})


def read_state(source: Source) -> tuple[str, dict[str, Any]]:
    """The name of a file that `state_text` wrote, and its content."""
    name, content = read_json(source)
    found = checked_object(name, without_format(name, content, _FORMAT), _FIELDS)
    if found["sha256"] != digest(content):
        raise InputError(f"{name} was changed after it was written, or is damaged")
    if found["family"] == TRADE_OFF:
        lines = found["lines"]
        if not lines or found["grid"] != [0.0] or any(epsilon < 0 or not 0 <= delta <= 1 for epsilon, delta in lines):
            raise InputError(f"{name}: lines must be of values of epsilon, at least 0, and of delta from 0 to 1")
    return name, found


def check_fits(name: str, found: dict[str, Any], size: int, terms: int) -> None:
    """Refuse a content that cannot be of a grid of this size, with e-values of so many terms."""
    if len(found["best"]) != size or len(found["waiting"]) != 2 or not found["steps"]:
        raise InputError(f"{name}: best, waiting and steps do not fit the grid")
    if bool(found["claimed"]) != (found["claim"] is not None and found["looks"] > 0):
        raise InputError(f"{name}: claimed must have the looks, if there is a claim")
    for each in found["waiting"]:
        numbers(f"{name}: waiting", each, 0.0, 1.0)
    models = found["models"]
    if found["method"] == "one_run" and (len(models) != size or any(len(row) != terms for row in models)):
        raise InputError(f"{name}: models must have {size} rows of {terms} numbers")
    if found["method"] == "betting":
        _check_capital(f"{name}: capital", found["capital"], size, found["block"])
    for i, row in enumerate(found["stretches"]):
        if len(row) != 4 or row[0] > row[1] or row[2] > row[3]:
            raise InputError(f"{name}: stretches[{i}] must be errors, runs, errors, runs")


def _check_capital(place: str, content: Any, size: int, block: list[int]) -> None:
    """Refuse what cannot be the state of a bettor against claims (size,)."""
    found = checked_object(place, content, _CAPITAL)
    lengths = len(found["sums"]), len(found["past_sums"]), len(found["start"]), len(found["counts"])
    widths = {len(row) for row in found["counts"]}
    if lengths != (4, 4, size, 4) or len(widths) != 1 or widths > {1, len(LEVELS)}:
        raise InputError(f"{place}: sums, start and counts do not fit the grid")
    pairs, past = found["pairs"], found["past_pairs"]
    most = [n * runs for runs in (pairs, past) for n in 2 * block]  # of sums of X, Y, X², Y²
    if (
        None in found["start"]
        or not past <= pairs <= found["until"]
        or any(
            each is None or not 0 <= each <= limit
            for each, limit in zip(found["sums"] + found["past_sums"], most, strict=True)
        )
        or any(sum(column) > sum(block) * (pairs - past) for column in zip(*found["counts"], strict=True))
        or len(found["scores"]) not in (0, pairs)
    ):
        raise InputError(f"{place}: pairs and sums cannot have been written")
