"""Messages show what the user gave by `checks.show`, which is short, in one line, and fails for no value."""

from __future__ import annotations

import ast
from pathlib import Path

import bayes_dp

PACKAGE = Path(bayes_dp.__file__).parent


def raw_values(source: str) -> list[str]:
    """What an `InputError` is told by repr."""
    errors = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "InputError"
    ]
    parts = [part for error in errors for part in ast.walk(error)]
    formatted = [ast.unparse(p.value) for p in parts if isinstance(p, ast.FormattedValue) and p.conversion == ord("r")]
    called = [ast.unparse(p) for p in parts if isinstance(p, ast.Call) and getattr(p.func, "id", "") == "repr"]
    return formatted + called


def test_what_counts_as_raw():
    assert raw_values("raise InputError(f'x is {x!r:.80}, {y}, {show(z)}, {repr(w)}')") == ["x", "repr(w)"]


def test_no_message_has_a_raw_value():
    found = {str(path.relative_to(PACKAGE)): raw_values(path.read_text()) for path in PACKAGE.rglob("*.py")}
    assert {name: values for name, values in found.items() if values} == {}
