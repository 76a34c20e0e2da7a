"""Every public function and class shows an example in its docstring (`>>>`), and the examples are true.

They know `bdp` and `np`. Methods need none of their own: the example of their class uses the main ones. Nor do classes
that a user is given and cannot name: the example of the function that returns one shows it. What is random is seeded or
shown to the digits that do not depend on it; `...` stands for what may differ.
"""

from __future__ import annotations

import doctest
import inspect
import sys
from collections.abc import Iterator
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayes_dp as bdp

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


def examples(name: str, value: Any) -> Iterator[doctest.DocTest]:
    """The examples in the docstrings of a function, or of a class and of its methods."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    module = sys.modules[value.__module__]
    return (test for test in finder.find(value, name, module, globs=dict(NAMES)) if test.examples)


SHOWN = shown()


def test_every_public_function_and_class_has_an_example():
    assert [name for name, value in SHOWN.items() if ">>> " not in (inspect.getdoc(value) or "")] == []


@pytest.mark.parametrize("name", SHOWN)
def test_the_examples_are_true(name: str):
    runner = doctest.DocTestRunner(optionflags=FLAGS, verbose=False)
    said: list[str] = []
    for test in examples(name, SHOWN[name]):
        runner.run(test, out=said.append)
    plt.close("all")
    assert not said, "".join(said)
