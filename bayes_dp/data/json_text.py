"""JSON as it comes from outside: bounded before it is parsed, no key twice, and objects checked field by field."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from bayes_dp.checks import InputError, show
from bayes_dp.data.files import Source, read_text
from bayes_dp.data.table import is_one_line

__all__ = [
    "AN_OBJECT",
    "A_COUNT",
    "A_LINE",
    "A_NUMBER",
    "A_SHARE",
    "MAX_BRACKETS",
    "MAX_COMMAS",
    "SENTENCES",
    "TRUTH",
    "Wanted",
    "a_list",
    "checked_object",
    "finite",
    "is_finite",
    "is_line",
    "json_of",
    "one_of",
    "read_json",
]

# Lists and objects take some fifty times the memory of the text "[],", other values ten times that of "1,".
MAX_BRACKETS = 4_000_000
MAX_COMMAS = 10_000_000

Wanted = tuple[Callable[[Any], bool], str]  # whether a value is as wanted, and what is wanted, in a message


def read_json(source: Source) -> tuple[str, Any]:
    """The name of a file (for messages) and what the JSON in it holds.

    A number that float64 cannot hold stays a text, as written, so that whoever checks it can show it.
    """
    name, text = read_text(source)
    if text.count("[") + text.count("{") > MAX_BRACKETS or text.count(",") > MAX_COMMAS:
        raise InputError(
            f"{name} is too large: JSON of at most {MAX_BRACKETS} opening brackets and {MAX_COMMAS} commas is read"
        )

    def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        content = dict(pairs)
        if len(content) < len(pairs):
            key = Counter(key for key, _ in pairs).most_common(1)[0][0]
            raise InputError(f"{name}: the key {show(key)} appears twice in one object")
        return content

    try:
        return name, json.loads(text, object_pairs_hook=without_repeats, parse_int=_number, parse_float=_number)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}, line {error.lineno}, column {error.colno}: not JSON ({error.msg})") from error
    except RecursionError:
        raise InputError(f"{name}: JSON nested too deeply to be read") from None


def checked_object(place: str, content: Any, fields: Mapping[str, Wanted]) -> dict[str, Any]:
    """An object with exactly these fields, each as wanted; `place` says where it stands, in messages."""
    if not isinstance(content, dict):
        raise InputError(f"{place} must be an object, not {show(content)}")
    for key in fields:
        if key not in content:
            raise InputError(f"{place} has no {show(key)}")
    for key, value in content.items():
        if key not in fields:
            raise InputError(f"{place} has {show(key)}, which is not known")
        good, words = fields[key]
        if not good(value):
            raise InputError(f"{place}: {key} must be {words}, not {show(value)}")
    return content


def is_finite(value: Any, low: float = -math.inf, high: float = math.inf) -> bool:
    """Whether a JSON value is a finite number from `low` to `high`; true and false are none."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max and low <= value <= high


def is_line(value: Any) -> bool:
    """Whether a JSON value is a text of one line."""
    return isinstance(value, str) and is_one_line(value)


def one_of(*values: str) -> Wanted:
    """One of some texts."""
    return lambda value: isinstance(value, str) and value in values, f"one of {', '.join(values)}"


def a_list(of: str) -> Wanted:
    """A list; what is in it has to be looked at by itself."""
    return lambda value: isinstance(value, list), f"a list of {of}"


A_LINE: Wanted = (is_line, "a text of one line")
SENTENCES: Wanted = (lambda value: isinstance(value, list) and all(map(is_line, value)), "a list of sentences")
TRUTH: Wanted = (lambda value: isinstance(value, bool), "true or false")
A_NUMBER: Wanted = (lambda value: value is None or is_finite(value, 0.0), "a finite number, at least 0, or null")
A_SHARE: Wanted = (lambda value: is_finite(value, 0.0, 1.0), "a number from 0 to 1")
A_COUNT: Wanted = (lambda value: type(value) is int and value >= 0, "a whole number, at least 0")
AN_OBJECT: Wanted = (lambda value: isinstance(value, dict), "an object")


def json_of(content: Mapping[str, Any]) -> str:
    """The text of a JSON file."""
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def finite(value: Any) -> Any:
    """The value with NaN and infinities, which JSON does not know, as None."""
    if isinstance(value, Mapping):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(text: str) -> int | float | str:
    value = float(text)
    if not math.isfinite(value):
        return text
    return int(text) if text.lstrip("-").isdigit() else value
