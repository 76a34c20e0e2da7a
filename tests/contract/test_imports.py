"""Imports lead downwards: from floors above to floors below, and never in a circle."""

from __future__ import annotations

import ast
import functools
import graphlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayes_dp

PACKAGE = Path(bayes_dp.__file__).parent

# The floors, from the bottom to the top. A room is a folder, or a module that stands alone.
FLOORS = (
    ("support", "checks"),  # of which `support` imports `checks`
    ("beta", "tradeoff"),
    ("region",),
    ("data",),
    ("datasets", "results"),
    ("attacks",),
    ("games",),
    ("audits",),
    ("claims", "propensity", "trackers"),
    ("bayes", "leakage"),
    ("comparison",),
    ("calibrate", "planning", "testing"),
    ("plots",),
    ("reporting",),
    ("cli",),
    ("__main__",),
)
# Those of bayes/: what the methods are made of; the methods; what knows several of them; what asks them.
BAYES_FLOORS = (
    (
        "compiling",
        "convergence",
        "coordinates",
        "groups",
        "laws",
        "layer",
        "likelihoods",
        "precision",
        "priors",
        "question",
        "white_box",
    ),
    ("families", "grid"),
    ("levels",),
    ("sampled",),
    ("exact", "mhaar", "nuts"),
    ("compare_families", "grouped"),
    ("estimate",),
    ("checks", "saved"),
    ("inference_data",),
)


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def imports(tree: ast.AST, known: set[str]) -> Iterator[str]:
    """The dotted names that are imported, in functions too, but not under `if TYPE_CHECKING`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for other in node.orelse:
                yield from imports(ast.Module([other], []), known)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports are not used here"
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in known else node.module or ""
        else:
            yield from imports(node, known)


def ours(source: str, known: set[str] | None = None) -> list[str]:
    names = imports(ast.parse(source), set(MODULES) if known is None else known)
    return [name for name in names if name.split(".")[0] == "bayes_dp"]


@functools.cache
def graph() -> dict[str, list[str]]:
    """What each module imports. Not made where tests are only collected: each worker does that."""
    return {module: [name for name in ours(path.read_text()) if name in MODULES] for module, path in MODULES.items()}


def room(module: str, within: str) -> str:
    """The part of a dotted name that follows `within`; empty for `within` itself and what is outside of it."""
    return module.removeprefix(f"{within}.").split(".")[0] if module.startswith(f"{within}.") else ""


def between(within: str, floors: tuple[tuple[str, ...], ...]) -> list[str]:
    """Imports from one room into another that is not on a lower floor; `support` may use `checks`."""
    height = {one: floor for floor, rooms in enumerate(floors) for one in rooms}
    wrong = []
    for module, imported in graph().items():
        here = room(module, within)
        for name in imported:
            there = room(name, within)
            if (
                here
                and there
                and here != there
                and (here, there) != ("support", "checks")
                and height[here] <= height[there]
            ):
                wrong.append(f"{module} imports {name}")
    return wrong


@pytest.mark.parametrize(("within", "floors"), [("bayes_dp", FLOORS), ("bayes_dp.bayes", BAYES_FLOORS)])
def test_every_room_has_a_floor(within: str, floors: tuple[tuple[str, ...], ...]):
    assert {room(module, within) for module in MODULES} - {""} == {one for rooms in floors for one in rooms}


@pytest.mark.parametrize(("within", "floors"), [("bayes_dp", FLOORS), ("bayes_dp.bayes", BAYES_FLOORS)])
def test_imports_lead_downwards(within: str, floors: tuple[tuple[str, ...], ...]):
    # Rooms of the lowest floor of bayes/ are parts of one thing; the next test sees circles among them.
    allowed = set(BAYES_FLOORS[0]) if within == "bayes_dp.bayes" else set()
    wrong = [
        sentence
        for sentence in between(within, floors)
        if not {room(name, within) for name in sentence.split(" imports ")} <= allowed
    ]
    assert not wrong, "; ".join(wrong)


def test_no_imports_in_a_circle():
    tuple(graphlib.TopologicalSorter(graph()).static_order())


@pytest.mark.parametrize("module", MODULES)
def test_the_package_needs_neither_models_nor_tests(module: str):
    tops = {name.split(".")[0] for name in imports(ast.parse(MODULES[module].read_text()), set(MODULES))}
    assert not tops & {"models", "tests", "notebooks"}


def test_imports_are_found_wherever_they_hide():
    source = """
import os, bayes_dp.cli
from bayes_dp import region, __version__
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from bayes_dp.results.posterior import Posterior
else:
    import bayes_dp.data.files
def f():
    with open("x"):
        from bayes_dp.bayes.exact.posterior import exact
class A:
    async def g(self):
        import bayes_dp.plots as p
"""
    assert ours(source, {"bayes_dp", "bayes_dp.region", "bayes_dp.bayes.exact.posterior"}) == [
        "bayes_dp.cli",
        "bayes_dp.region",
        "bayes_dp",
        "bayes_dp.data.files",
        "bayes_dp.bayes.exact.posterior",
        "bayes_dp.plots",
    ]
