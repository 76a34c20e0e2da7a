"""What a saved comparison and a saved verdict have to be: the fields of their JSON, each with what it may hold."""

from __future__ import annotations

import re
from typing import Any

from bayes_dp.checks import InputError, show
from bayes_dp.data.counts import DESIGNS
from bayes_dp.data.json_text import (
    A_LINE,
    A_NUMBER,
    A_SHARE,
    SENTENCES,
    TRUTH,
    Wanted,
    a_list,
    checked_object,
    is_finite,
    is_line,
    one_of,
)

__all__ = ["CODES", "SCHEMA", "checked_comparison", "checked_verdict"]

SCHEMA = "bayes-dp comparison 1"

CODES = (
    "interval",
    "design",
    "computation",
    "model",
    "bound",
    "gaussian",
    "family",
    "guessing",
    "control",
)  # of reasons
_VERDICTS = ("passed", "failed", "inconclusive")
_KINDS = ("posterior", "lower_bound", "estimate", "refused")
_DIGEST = re.compile("[0-9a-f]{64}")


_FIELDS: dict[str, Wanted] = {
    "schema": (lambda value: value == SCHEMA, f'"{SCHEMA}"'),
    "rows": a_list("rows"),
    "delta": (lambda value: is_finite(value, 0.0) and value < 1, "a number from 0 to below 1"),
    "confidence": (lambda value: is_finite(value) and 0.5 < value < 1, "a number above 0.5 and below 1"),
    "design": one_of(*DESIGNS),
    "digest": (lambda value: is_line(value) and _DIGEST.fullmatch(value) is not None, "64 hexadecimal digits"),
    "version": A_LINE,
    "gate": (lambda value: value is None or isinstance(value, dict), "a verdict, or null"),
}
_GATE: dict[str, Wanted] = {
    "epsilon": (lambda value: is_finite(value, 0.0), "a finite number, at least 0"),
    "upper": A_NUMBER,
    "prob": (lambda value: is_finite(value) and 0 < value < 1, "a number above 0 and below 1"),
    "prob_above": A_SHARE,
    "passed": TRUTH,
    "verdict": one_of(*_VERDICTS),
    "reason": A_LINE,
    "reasons": (lambda value: isinstance(value, list) and bool(value), "a list of reasons"),
    "notes": SENTENCES,
}
_REASON: dict[str, Wanted] = {
    "code": one_of(*CODES),
    "sentence": A_LINE,
}
_ROW: dict[str, Wanted] = {
    "method": A_LINE,
    "base": A_LINE,
    "kind": one_of(*_KINDS),
    "parameter": A_LINE,
    "value": A_NUMBER,
    "lower": A_NUMBER,
    "upper": A_NUMBER,
    "level": (lambda value: value is None or is_finite(value, 0.0, 1.0), "a number from 0 to 1, or null"),
    "valid": TRUTH,
    "reason": A_LINE,
    "assumptions": SENTENCES,
    "notes": SENTENCES,
}


def checked_comparison(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that a comparison says, and nothing else."""
    try:
        found = checked_object(name, content, _FIELDS)
        for i, row in enumerate(found["rows"]):
            _check_row(f"{name}: rows[{i}]", row)
    except InputError as error:
        raise InputError(f"{error}; this is not a comparison as to_json and to_dict give it") from None
    return found


def checked_verdict(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that a verdict says, and nothing else."""
    try:
        found = checked_object(name, content, _GATE)
        for i, reason in enumerate(found["reasons"]):
            checked_object(f"{name}: reasons[{i}]", reason, _REASON)
        if found["passed"] != (found["verdict"] == "passed"):
            raise InputError(f"{name}: passed is {show(found['passed'])}, but the verdict is {show(found['verdict'])}")
    except InputError as error:
        raise InputError(f"{error}; this is not a verdict as to_json and to_dict give it") from None
    return found


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
