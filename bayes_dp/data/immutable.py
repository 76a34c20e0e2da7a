"""Data that never change once they are checked: read-only arrays, and a digest that is computed once."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from bayes_dp.support.completion import PublicNames
from bayes_dp.support.text import Lines

__all__ = ["Immutable"]


class Immutable(PublicNames):
    """The base of frozen dataclasses whose constructor checks its arguments and takes them in the order of the fields.

    They define `digest`, by which they are hashed, and `summary`, which a notebook shows.
    """

    @classmethod
    def _new(cls, fields: dict[str, Any]) -> Self:
        """From fields that need no more checks, whose arrays are nobody else's."""
        made = object.__new__(cls)
        made._set(fields)
        return made

    def _set(self, fields: dict[str, Any]) -> None:
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                value = np.ascontiguousarray(value)
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    def digest(self) -> str:
        raise NotImplementedError

    def summary(self) -> Lines:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return self.summary().html

    def __hash__(self) -> int:
        return hash(self.digest())

    def __reduce__(self) -> tuple[Any, ...]:  # through the constructor, because unpickled arrays are writable
        return type(self), tuple(getattr(self, name) for name in self.__dataclass_fields__)  # type: ignore[attr-defined]
