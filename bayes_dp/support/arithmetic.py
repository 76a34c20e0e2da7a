"""What is asked of NumPy's arithmetic here, whatever the caller has told it with `numpy.seterr`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

__all__ = ["underflow_is_zero"]

P = ParamSpec("P")
R = TypeVar("R")


def underflow_is_zero(function: Callable[P, R]) -> Callable[P, R]:
    """The function, in which a number too small for a float is zero without a word: exp(-1000) is a legal density."""

    @wraps(function)
    def calm(*args: P.args, **kwargs: P.kwargs) -> R:
        with np.errstate(under="ignore"):
            return function(*args, **kwargs)

    return calm
