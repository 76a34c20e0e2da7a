"""Objects by name, one file each, which are imported when they are first asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

__all__ = ["Registry"]

Entry = TypeVar("Entry")


class Registry(Mapping[str, Entry]):
    """The objects `NAME` of the modules `name` of a package, in the order of the names."""

    def __init__(self, title: str, package: str, names: Sequence[str]) -> None:
        self._title, self._package, self._names = title, package, names

    def __getitem__(self, name: str) -> Entry:
        if name not in self._names:
            raise KeyError(name)
        found: Entry = getattr(importlib.import_module(f"{self._package}.{name}"), name.upper())
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"{self._title}({', '.join(self._names)})"
