"""The house in numbers: a table in Markdown. Nothing here is a limit.

    python -m tests.contract.house

Another state of the package is measured where its folder is found first:

    git archive COMMIT bayes_dp models | tar x -C before
    PYTHONPATH=before:. python -P -m tests.contract.house

Lines of code are those that are neither empty, nor a comment, nor in a docstring. A docstring has a formula, or
shapes, if it has them itself or the docstring of its module, which is its manual page; formulas are asked of what
computes, shapes of what takes or gives arrays.
"""

from __future__ import annotations

import ast
import graphlib
import inspect
import io
import re
import statistics
import sys
import tokenize
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.contract.test_examples import shown
from tests.contract.test_imports import MODULES, PACKAGE, graph

LONG = 100  # lines of a function
FORMULA = re.compile(r"[=≤≥≈∈→∝√Σ∫·−]|\b\w/\w\b|\w\(.*\|.*\)")
SHAPE = re.compile(r"\bshapes?\b|\([a-zN0-9]+,(?: ?[a-zN0-9]+)?\)|\bbroadcast|\bscalars\b|\(\.\.\.,")
ARRAY = re.compile(r"ArrayLike|NDArray|Floats|Bools|Ints\b|Indices|Array\b")
NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER,
}  # fmt: skip


@cache
def code(path: Path) -> tuple[str, ...]:
    """The lines of code."""
    source = path.read_text(encoding="utf-8")
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    kept = {line for token in tokens if token.type not in NOT_CODE for line in range(token.start[0], token.end[0] + 1)}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            kept -= set(range(node.lineno, (node.end_lineno or 0) + 1))
    lines = source.splitlines()
    return tuple(lines[i - 1] for i in sorted(kept))


def naming(words: str) -> int:
    """The modules whose code has this."""
    return sum(re.search(words, "\n".join(code(path)), re.IGNORECASE) is not None for path in MODULES.values())


def long_functions() -> int:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for path in MODULES.values() for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    return sum(isinstance(node, functions) and (node.end_lineno or 0) - node.lineno >= LONG for node in nodes)


def rooms() -> set[tuple[str, str]]:
    """The pairs of parts of the package of which the first imports the second."""
    pairs = {(a.split(".")[1], b.split(".")[1]) for a, names in graph().items() for b in names if "." in a and "." in b}
    return {pair for pair in pairs if pair[0] != pair[1]}


def longest_chain() -> int:
    """The modules in the longest chain of imports."""
    length: dict[str, int] = {}
    for module in graphlib.TopologicalSorter(graph()).static_order():
        length[module] = 1 + max((length[name] for name in graph()[module]), default=0)
    return max(length.values())


def has_example(value: Any) -> bool:
    return ">>> " in (inspect.getdoc(value) or "")


def has_formula(value: Any) -> bool:
    return FORMULA.search(re.sub(r"(?m)^ *(>>>|\.\.\.) .*", "", said_of(value))) is not None


def has_shapes(value: Any) -> bool:
    return SHAPE.search(said_of(value)) is not None


def said_of(value: Any) -> str:
    """Its docstring, and that of its module."""
    return f"{inspect.getdoc(value) or ''}\n{sys.modules[value.__module__].__doc__ or ''}"


def computes(value: Any) -> bool:
    """Whether it is of a room where numbers arise, and not a figure, a table or a page."""
    return value.__module__.split(".")[1] in (
        "region",
        "tradeoff",
        "audits",
        "attacks",
        "bayes",
        "games",
        "leakage",
        "propensity",
    )


def has_arrays(value: Any) -> bool:
    try:
        return ARRAY.search(str(inspect.signature(value))) is not None
    except ValueError:
        return False


# What a public docstring should have -> of whom it is asked, and whether it is there.
DOCSTRINGS: dict[str, tuple[Callable[[Any], bool], Callable[[Any], bool]]] = {
    "a formula": (computes, has_formula),
    "shapes": (has_arrays, has_shapes),
    "an example": (lambda value: True, has_example),
}


def lacking(what: str) -> tuple[int, list[str]]:
    """How many public functions and classes are asked, and those of them that have it not."""
    asks, has = DOCSTRINGS[what]
    asked = {name: value for name, value in shown().items() if asks(value)}
    return len(asked), [name for name, value in asked.items() if not has(value)]


def rows() -> Iterator[tuple[str, str]]:
    """The lines of the table: what, and how much."""
    sizes = {name: len(code(path)) for name, path in MODULES.items()}
    largest = max(sizes, key=lambda name: sizes[name])
    yield "modules", str(len(MODULES))
    yield "of these, at the top of the package", str(sum(path.parent == PACKAGE for path in MODULES.values()))
    yield "lines of code of a module: median", f"{statistics.median(sizes.values()):g}"
    yield "and of the largest", f"{sizes[largest]}, `{largest.removeprefix('bayes_dp.')}`"
    yield f"functions of more than {LONG} lines", str(long_functions())
    yield "modules that name the likelihood of Kupper and Haseman", str(naming(r"kupper.?haseman"))
    yield "imports between modules, none in a circle", str(sum(len(set(names)) for names in graph().values()))
    yield "modules in the longest chain of imports", str(longest_chain())
    yield (
        "rooms, single modules at the top among them",
        str(len({name.split(".")[1] for name in MODULES if "." in name})),
    )
    yield "imports between rooms", str(len(rooms()))
    for what in DOCSTRINGS:
        asked, missing = lacking(what)
        yield f"public docstrings with {what}", f"{asked - len(missing)} of {asked}"


def main() -> None:
    print("| | |\n|---|---|")
    for what, number in rows():
        print(f"| {what} | {number} |")
    for what in DOCSTRINGS:
        if missing := lacking(what)[1]:
            print(f"without {what}: {', '.join(missing)}", file=sys.stderr)


if __name__ == "__main__":
    main()
