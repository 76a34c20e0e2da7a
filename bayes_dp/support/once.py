"""What is asked of an object that never changes is computed once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["once"]

Answer = TypeVar("Answer")


def once(method: Callable[[Any], Answer]) -> Callable[[Any], Answer]:
    """A method without arguments whose answer stays in the object, which is immutable and has a `__dict__`."""
    place = f"_{method.__name__}"

    @functools.wraps(method)
    def kept(self: Any) -> Answer:
        if place not in vars(self):
            vars(self)[place] = method(self)
        return vars(self)[place]

    return kept
