"""A module that is called like the function of its name.

`bayes_dp.audits.one_run` is a module, and users call it: `bdp.audits.one_run(guesses, delta)`. So the name means one
thing, whether it is imported, reached into or called.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["call_module_as"]


def call_module_as(function: Callable[..., Any]) -> None:
    """Let the module of a function be called as the function, with its signature and its docstring."""
    module = sys.modules[function.__module__]

    class CallableModule(ModuleType):
        __call__ = staticmethod(function)
        __wrapped__ = staticmethod(function)  # whose signature `inspect` shows

        def __dir__(self) -> list[str]:
            return list(self.__all__)

        def __reduce__(self) -> tuple[Any, ...]:  # as other modules cannot be pickled
            return importlib.import_module, (self.__name__,)

    module.__class__ = CallableModule
