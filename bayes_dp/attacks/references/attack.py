"""What an attack is to the matrix of scores: a name, a function to scores, and what it can be set to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bayes_dp.support.arrays import Floats

__all__ = ["Attack"]


@dataclass(frozen=True)
class Attack:
    """`score(view, **settings)` gives the n examples of a `View` scores, (n,), that are higher for members.

    What it is set to by the caller, it checks itself. It raises InputError where the view has not what it needs.
    """

    name: str
    score: Callable[..., Floats]
    settings: tuple[str, ...] = ()
