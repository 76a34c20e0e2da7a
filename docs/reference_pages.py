"""The pages of the reference: all public names, with their signatures and docstrings.

One page for `bayes_dp` itself and one for each public module, an index of all names with their first sentences.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from types import ModuleType
from typing import Any

import bayes_dp

_EXAMPLE = re.compile(r"^>>> (?:.+\n?)+", re.MULTILINE)  # as far as the next empty line
_ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)$")


def pages() -> dict[str, str]:
    """The place of each page in the documentation -> its text; the index first."""
    named = {"bayes_dp": (bayes_dp, [name for name in bayes_dp.__all__ if name not in ("__version__", *_modules())])}
    for name, module in _modules().items():
        named[f"bayes_dp.{name}"] = (module, list(module.__all__))
    index = ["# All names\n\nThose of `bayes_dp` itself come first, then the modules.\n"]
    found = {"reference/index.md": ""}
    for title, (module, names) in named.items():
        place = f"{title.removeprefix('bayes_dp.')}.md"
        values = {name: inspect.unwrap(getattr(module, name)) for name in names}
        index.append(f"## {title}\n\n" + _table(values, place))
        found[f"reference/{place}"] = "\n".join(
            [f"# {title}\n\n{_text(module)}\n", *(part for each in values.items() for part in _described(*each))]
        )
    found["reference/index.md"] = "\n".join(index)
    return found


def _modules() -> dict[str, ModuleType]:
    public = {name: getattr(bayes_dp, name) for name in bayes_dp.__all__}
    return {name: value for name, value in public.items() if isinstance(value, ModuleType)}


def _table(values: dict[str, Any], place: str) -> str:
    rows = (f"| [`{name}`]({place}#{name.lower()}) | {_first(value)} |" for name, value in values.items())
    return "| Name | |\n|---|---|\n" + "\n".join(rows) + "\n"


def _first(value: Any) -> str:
    """The first sentence of the docstring, as a cell of a table."""
    text = inspect.getdoc(value) if callable(value) else ""
    return re.split(r"(?<=[.?!])(?<!al\.)\s", (text or "").split("\n\n")[0].replace("\n", " "))[0].replace("|", r"\|")


def _described(name: str, value: Any) -> Iterator[str]:
    yield f"## {name}\n"
    if not callable(value):
        return
    yield f"{_signature(name, value)}\n{_text(value)}\n"
    if inspect.isclass(value):
        for inner, member in _members(value):
            yield f"### {name}.{inner}\n"
            if isinstance(member, property | cached_property):
                yield f"*Property.* {_text(member)}\n"
            else:
                yield f"{_signature(inner, member)}\n{_text(member)}\n"


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """What is documented of a class: methods and properties that are defined in this package."""
    own = {name for each in value.__mro__ if each.__module__.startswith("bayes_dp") for name in vars(each)}
    for name in sorted(own):
        member = inspect.getattr_static(value, name)
        if isinstance(member, classmethod | staticmethod):
            member = getattr(value, name)
        shown = callable(member) or isinstance(member, property | cached_property)
        if shown and not name.startswith("_") and member.__doc__:
            yield name, member


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return ""
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    arguments = [str(p) for p in parameters]
    kinds = [p.kind for p in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        arguments.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    # Annotations are text in modules with postponed evaluation: their quotes are not the reader's concern.
    arguments = [re.sub(r"^(\*{0,2}\w+: )(['\"])(.*?)\2(?= = |$)", r"\1\3", argument) for argument in arguments]
    line = f"{name}({', '.join(arguments)})"
    if len(line) > 80:
        line = f"{name}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"
    return f"```text\n{line}\n```\n"


def _text(value: Any) -> str:
    """A docstring as Markdown, its parameters as a list and its examples as code."""
    text = _EXAMPLE.sub(lambda match: f"```pycon\n{match[0].rstrip()}\n```\n", inspect.getdoc(value) or "")
    lines, found, entries = text.split("\n"), [], False
    for i, line in enumerate(lines):
        rule = re.fullmatch(r"-{3,}", line)
        if i + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[i + 1]):
            found.append(f"*{line}*\n")
        elif rule:
            entries = True
        elif entries and (match := _ENTRY.match(line)):
            found.append(f"- `{match[1]}`: {match[2]}")
        else:
            found.append(line)
    return "\n".join(found)
