"""What every result can do. It says once what is in it, by parts; text, HTML and `repr` come from these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from os import PathLike
from typing import Any, ClassVar, Self

from bayes_dp.data.files import Source, write_text_atomically
from bayes_dp.data.json_text import json_of, read_json
from bayes_dp.support.completion import PublicNames
from bayes_dp.support.text import Lines, Part, in_brief

__all__ = ["Result", "Saved"]


class Result(PublicNames, ABC):
    """Something that was found, with what it rests on."""

    format: ClassVar[str]  # of its JSON, see `data/formats.py`

    @abstractmethod
    def _parts(self) -> Iterable[Part]:
        """What it says, from top to bottom."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything a report needs, in full precision, fit for JSON (what is not finite is None)."""

    def summary(self) -> Lines:
        """What was found and what it rests on, some lines of text; a notebook shows them as tables and lists."""
        return Lines.of(self._parts())

    def brief(self) -> Lines:
        """The summary with what it rests on counted and not listed."""
        return Lines.of(in_brief(self._parts()))

    def to_json(self, path: str | PathLike[str]) -> None:
        """Save `to_dict` as a JSON file, atomically."""
        write_text_atomically(path, json_of(self.to_dict()))

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.summary().splitlines()[0]}>"

    def _repr_html_(self) -> str:
        return self.summary().html


class Saved(Result):
    """A result that a file holds all of, so that it can be read back."""

    @classmethod
    @abstractmethod
    def _read(cls, name: str, content: Any) -> Self:
        """The result that the content of a file says; `name` stands for the file in messages."""

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """The inverse of `to_dict`; anything that `to_dict` cannot have given is refused."""
        return cls._read(f"the {cls.format.split('/')[1]}", content)

    @classmethod
    def from_json(cls, source: Source) -> Self:
        """From a file (path or open file) that `to_json` wrote; anything else is refused."""
        return cls._read(*read_json(source))
