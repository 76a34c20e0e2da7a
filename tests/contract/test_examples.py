"""Every public function and class shows an example in its docstring (`>>>`), and the examples are true.

They know `bdp` and `np`. Methods need none of their own: the example of their class uses the main ones. Nor do
classes that a user is given and cannot name, where the example of the function that returns one shows it. What is
random is seeded or shown to the digits that do not depend on it; `...` stands for what may differ.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
from types import ModuleType
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayes_dp as bdp
from tests.contract.test_imports import MODULES as PATHS

MODULES = (bdp, *(getattr(bdp, name) for name in bdp.__all__ if inspect.ismodule(getattr(bdp, name))))
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NAMES = {"bdp": bdp, "np": np}


def shown() -> dict[str, Any]:
    """The public functions and classes by name, each once, where it is defined."""
    found = {}
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.ismodule(value) and callable(value):  # an audit, which is called by the name of its module
                value = vars(value)[name]
            if (inspect.isfunction(value) or inspect.isclass(value)) and value not in found.values():
                found[f"{module.__name__}.{name}"] = value
    return found


def examples(module: ModuleType) -> list[doctest.DocTest]:
    """All examples in the docstrings of a module, of what it defines and of methods."""
    found = doctest.DocTestFinder().find(module, globs=dict(NAMES))
    return sorted(test for test in found if test.examples)


SHOWN = shown()
SHOWING = sorted(name for name, path in PATHS.items() if ">>> " in path.read_text(encoding="utf-8"))


def test_every_public_function_and_class_has_an_example():
    assert [name for name, value in SHOWN.items() if ">>> " not in (inspect.getdoc(value) or "")] == []


def test_no_example_is_left_out():
    """None of a public name, and none that is written anywhere else."""
    tests = {name: examples(importlib.import_module(name)) for name in SHOWING}
    run = {test.docstring for found in tests.values() for test in found}
    assert [name for name, value in SHOWN.items() if value.__doc__ not in run] == []
    for name, found in tests.items():
        assert sum(len(test.examples) for test in found) == PATHS[name].read_text(encoding="utf-8").count(">>> "), name


@pytest.mark.parametrize("name", SHOWING)
def test_the_examples_are_true(name: str):
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    said: list[str] = []
    for test in examples(importlib.import_module(name)):
        runner.run(test, out=said.append)
        plt.close("all")
    assert not said, "".join(said)
