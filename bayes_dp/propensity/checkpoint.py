"""Finished draws of a bootstrap, kept in a file: one number for each, by its place.

    {
        "format": "bayes-dp/checkpoint/1", "schema": "bayes-dp checkpoint 1",
        "inputs": "3f0c…", "bounds": {"0": 1.25, "3": 0.5}, "sum": "b61e…"
    }

`bounds` has the numbers that a bound is made of. `inputs` is the digest of all that they depend on, `sum` that of the
file's content. A file of another form, of another version of it, with a changed number, or of other inputs is refused.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from typing import Any

from bayes_dp.checks import InputError, show
from bayes_dp.data.files import write_text_atomically
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import Wanted, checked_object, is_finite, is_line, read_json

__all__ = ["Checkpoint"]

_FORMAT = "bayes-dp/checkpoint/1"
_SCHEMA = "bayes-dp checkpoint 1"  # of the same, from before there were formats
_MOST = 10**9  # replicates


class Checkpoint:
    """A file for the replicates of one bootstrap, whose inputs have the digest `inputs`; no file if path is None.

    `done` is what the file holds at first. It is written at once, so that a folder where nothing can be written is
    found before the work. A later failure to write loses no work: `problem` says what went wrong, and is empty else.
    """

    def __init__(self, path: str | os.PathLike[str] | None, inputs: str) -> None:
        self._path, self._inputs = path, inputs
        self.done: dict[int, float] = {}
        self.problem = ""
        if path is not None:
            if not isinstance(path, str | os.PathLike):
                raise InputError(f"checkpoint must be a path, not {type(path).__name__}")
            if os.path.exists(path):
                self.done = _read(path, inputs)
            self._write(self.done)

    def save(self, done: Mapping[int, float]) -> None:
        """Keep these replicates, in the place of all that were there; a bound that is no finite number is left out."""
        try:
            self._write(done)
        except InputError as error:
            self.problem = f"What is done could not be kept: {error}"
        else:
            self.problem = ""

    def _write(self, done: Mapping[int, float]) -> None:
        if self._path is None:
            return
        values = {str(k): float(done[k]) for k in sorted(done) if is_finite(float(done[k]), 0.0)}
        known = {"format": _FORMAT, "schema": _SCHEMA, "inputs": self._inputs}
        content = known | {"bounds": values, "sum": _sum(self._inputs, values)}
        write_text_atomically(self._path, json.dumps(content, allow_nan=False) + "\n")


def _read(path: str | os.PathLike[str], inputs: str) -> dict[int, float]:
    fields: dict[str, Wanted] = {
        "schema": (lambda value: value == _SCHEMA, f'"{_SCHEMA}"'),
        "inputs": (is_line, "a text of one line"),
        "bounds": (lambda value: isinstance(value, dict), "an object of numbers"),
        "sum": (lambda value: isinstance(value, str), "a text"),
    }
    try:
        name, content = read_json(path)
        found = checked_object(name, without_format(name, content, _FORMAT), fields)
        values = {_place(name, key): _value(name, key, value) for key, value in found["bounds"].items()}
        if found["sum"] != _sum(found["inputs"], {str(k): value for k, value in values.items()}):
            raise InputError(f"{name}: the sum is not that of the bounds, so something was changed")
    except InputError as error:
        raise InputError(f"{error}; this is no checkpoint of a bootstrap, so give the name of another file") from None
    if found["inputs"] != inputs:
        raise InputError(f"{name} is the checkpoint of another bootstrap; delete it, or give the name of another file")
    return values


def _sum(inputs: str, values: Mapping[str, float]) -> str:
    return hashlib.sha256(f"{inputs} {json.dumps(values)}".encode()).hexdigest()


def _place(name: str, key: str) -> int:
    if not (key.isascii() and key.isdigit() and str(int(key[:10])) == key and int(key) < _MOST):
        raise InputError(f"{name}: the places of bounds must be whole numbers below {_MOST}, not {show(key)}")
    return int(key)


def _value(name: str, key: str, value: Any) -> float:
    if not is_finite(value, 0.0):
        raise InputError(f"{name}: bound {key} must be a finite number, at least 0, not {show(value)}")
    return float(value)
