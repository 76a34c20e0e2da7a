"""What a saved comparison has to be: the fields of its JSON, each with what it may hold, under a version."""

from __future__ import annotations

import math
import re
from typing import Any

from bayes_dp.checks import InputError, show
from bayes_dp.comparison.verdict import CODES
from bayes_dp.data.counts import DESIGNS
from bayes_dp.data.json_text import Wanted, checked_object, is_finite, is_line

__all__ = ["SCHEMA", "checked_comparison"]

SCHEMA = "bayes-dp comparison 1"

_VERDICTS = ("passed", "failed", "inconclusive")
_KINDS = ("posterior", "lower_bound", "estimate", "refused")
_DIGEST = re.compile("[0-9a-f]{64}")


def _or_none(value: Any, low: float, high: float = math.inf) -> bool:
    return value is None or is_finite(value, low, high)


_A_LINE: Wanted = (is_line, "a text of one line")
_SENTENCES: Wanted = (lambda value: isinstance(value, list) and all(map(is_line, value)), "a list of sentences")
_A_NUMBER: Wanted = (lambda value: _or_none(value, 0.0), "a finite number, at least 0, or null")
_FIELDS: dict[str, Wanted] = {
    "schema": (lambda value: value == SCHEMA, f'"{SCHEMA}"'),
    "rows": (lambda value: isinstance(value, list), "a list of rows"),
    "delta": (lambda value: is_finite(value, 0.0) and value < 1, "a number from 0 to below 1"),
    "confidence": (lambda value: is_finite(value) and 0.5 < value < 1, "a number above 0.5 and below 1"),
    "design": (lambda value: value in DESIGNS, f"one of {', '.join(DESIGNS)}"),
    "digest": (lambda value: is_line(value) and _DIGEST.fullmatch(value) is not None, "64 hexadecimal digits"),
    "version": _A_LINE,
    "gate": (lambda value: value is None or isinstance(value, dict), "a verdict, or null"),
}
_GATE: dict[str, Wanted] = {
    "epsilon": (lambda value: is_finite(value, 0.0), "a finite number, at least 0"),
    "upper": _A_NUMBER,
    "prob": (lambda value: is_finite(value) and 0 < value < 1, "a number above 0 and below 1"),
    "prob_above": (lambda value: is_finite(value, 0.0, 1.0), "a number from 0 to 1"),
    "passed": (lambda value: isinstance(value, bool), "true or false"),
    "verdict": (lambda value: isinstance(value, str) and value in _VERDICTS, f"one of {', '.join(_VERDICTS)}"),
    "reason": _A_LINE,
    "reasons": (lambda value: isinstance(value, list) and bool(value), "a list of reasons"),
    "notes": _SENTENCES,
}
_REASON: dict[str, Wanted] = {
    "code": (lambda value: isinstance(value, str) and value in CODES, f"one of {', '.join(CODES)}"),
    "sentence": _A_LINE,
}
_ROW: dict[str, Wanted] = {
    "method": _A_LINE,
    "base": _A_LINE,
    "kind": (lambda value: isinstance(value, str) and value in _KINDS, f"one of {', '.join(_KINDS)}"),
    "parameter": _A_LINE,
    "value": _A_NUMBER,
    "lower": _A_NUMBER,
    "upper": _A_NUMBER,
    "level": (lambda value: _or_none(value, 0.0, 1.0), "a number from 0 to 1, or null"),
    "valid": (lambda value: isinstance(value, bool), "true or false"),
    "reason": _A_LINE,
    "assumptions": _SENTENCES,
    "notes": _SENTENCES,
}


def checked_comparison(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that a comparison says, and nothing else."""
    try:
        found = checked_object(name, content, _FIELDS)
        for i, row in enumerate(found["rows"]):
            _check_row(f"{name}: rows[{i}]", row)
        if found["gate"] is not None:
            _check_gate(f"{name}: gate", found["gate"])
    except InputError as error:
        raise InputError(f"{error}; this is not a comparison as to_json and to_dict give it") from None
    return found


def _check_gate(place: str, content: Any) -> None:
    gate = checked_object(place, content, _GATE)
    for i, reason in enumerate(gate["reasons"]):
        checked_object(f"{place}: reasons[{i}]", reason, _REASON)
    if gate["passed"] != (gate["verdict"] == "passed"):
        raise InputError(f"{place}: passed is {show(gate['passed'])}, but the verdict is {show(gate['verdict'])}")


def _check_row(place: str, content: Any) -> None:
    """Each field by itself, then whether they agree with each other."""
    row = checked_object(place, content, _ROW)
    ends = [row[name] for name in ("lower", "value", "upper") if row[name] is not None]
    problem = ""
    if row["kind"] == "refused" and (ends or row["level"] is not None or row["valid"]):
        problem = "a method that does not apply has no number"
    elif ends != sorted(ends):
        problem = f"lower, value and upper must ascend, not {show(ends)}"
    elif row["kind"] == "estimate" and row["valid"]:
        problem = "an estimate is no valid bound"
    elif not row["valid"] and not row["reason"]:
        problem = "a row that is not valid needs a reason"
    if problem:
        raise InputError(f"{place}: {problem}")
