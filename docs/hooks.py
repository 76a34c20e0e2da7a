"""Hooks of MkDocs: what the documentation site has and the folder docs/ has not.

- The pages README.md (as overview.md), CONTRIBUTING.md and CHANGELOG.md from the top of the repository, with links that
  lead to the same places, and the files that they link to.
- A page for each notebook, with its text and code, and the notebook itself to download.
- The page api.md, from the signatures and docstrings of the public names.
- Formulas as MathML, so that a page needs no script and no network to show them.
"""

from __future__ import annotations

import html
import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from latex2mathml.converter import convert
from mkdocs.structure.files import File

import bayes_dp

ROOT = Path(__file__).parents[1]

_PAGES = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_OUTSIDE = re.compile(r"\]\((?:\.\./)+(" + "|".join(map(re.escape, _PAGES)) + r")")
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
_CELL = re.compile(r"<td.*?</td>", re.DOTALL)
_CODE = re.compile(r"<code>.*?</code>", re.DOTALL)  # in a table, Markdown wants its | as \|
_EXAMPLE = re.compile(r"^>>> (?:.+\n?)+", re.MULTILINE)  # as far as the next empty line
_ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)$")


def on_files(files: Any, config: Any) -> Any:
    for name, uri in _PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for other, place in _PAGES.items():
            text = text.replace(f"]({other}", f"]({place}")
        files.append(File.generated(config, uri, content=_to_pages(text.replace("](docs/", "]("))))
    notebooks = sorted((ROOT / "notebooks").glob("*.ipynb"))
    for path in notebooks:
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=notebook(path)))
    for path in [ROOT / "LICENSE", *notebooks]:
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    files.append(File.generated(config, "api.md", content=api()))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    up = "../" * page.file.src_uri.count("/")
    return _OUTSIDE.sub(lambda match: f"]({up}{_PAGES[match[1]]}", markdown)


def notebook(path: Path) -> str:
    """The page of a notebook, which is saved without outputs."""
    parts = []
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(
            text.replace("](../docs/", "](../") if cell["cell_type"] == "markdown" else f"```python\n{text}\n```"
        )
    title, rest = parts[0].split("\n", 1)
    where = f"This page is the [notebook]({path.name}), without its outputs: run it to see them."
    return "\n\n".join([title, where, rest.strip(), *parts[1:]]) + "\n"


def _to_pages(text: str) -> str:
    return re.sub(r"(\]\(notebooks/\w+)\.ipynb", r"\1.md", text)


def on_page_content(content: str, **_: Any) -> str:
    def drawn(match: re.Match[str]) -> str:
        # The sign that the converter takes for \setminus is in few fonts, and of \Big\{ it keeps the backslash.
        formula = re.sub(r"\\setminus(?![a-zA-Z])", r"\\smallsetminus", html.unescape(match[3]))
        return re.sub(r">\\([{}])<", r">\1<", convert(formula, display="inline" if match[2] == "(" else "block"))

    def cell(match: re.Match[str]) -> str:
        return _CODE.sub(lambda code: code[0].replace("\\|", "|"), match[0])

    return _CELL.sub(cell, _FORMULA.sub(drawn, content))


def api() -> str:
    """The page: a section for `bayes_dp` and one for each module that is public."""
    parts = ["# Reference\n\nAll public names, with what their docstrings say.\n", "## bayes_dp\n"]
    public = {name: getattr(bayes_dp, name) for name in bayes_dp.__all__ if name != "__version__"}
    for name, value in public.items():
        if not isinstance(value, ModuleType):
            parts.extend(_described(f"bayes_dp.{name}", value))
    for name, module in public.items():
        if isinstance(module, ModuleType):
            parts.append(f"## bayes_dp.{name}\n\n{_text(module)}\n")
            for inner in module.__all__:
                parts.extend(_described(f"bayes_dp.{name}.{inner}", inspect.unwrap(getattr(module, inner))))
    return "\n".join(parts)


def _described(name: str, value: Any) -> Iterator[str]:
    yield f"### `{name}`\n"
    if not callable(value):
        return
    yield f"{_signature(name.rpartition('.')[2], value)}\n{_text(value)}\n"
    if inspect.isclass(value):
        for method, function in inspect.getmembers(value, callable):
            if not method.startswith("_") and function.__doc__ and method in _own_names(value):
                yield f"**`{method}`**\n\n{_signature(method, function)}\n{_text(function)}\n"


def _own_names(value: type) -> set[str]:
    """Names that are defined in this package, and not inherited from elsewhere."""
    return {name for each in value.__mro__ if each.__module__.startswith("bayes_dp") for name in vars(each)}


def _signature(name: str, value: Any) -> str:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return ""
    arguments = [str(p) for p in signature.parameters.values() if p.name != "self"]
    first = [p.kind for p in signature.parameters.values() if p.name != "self"]
    if inspect.Parameter.KEYWORD_ONLY in first and inspect.Parameter.VAR_POSITIONAL not in first:
        arguments.insert(first.index(inspect.Parameter.KEYWORD_ONLY), "*")
    # Annotations are text in modules with postponed evaluation: their quotes are not the reader's concern.
    arguments = [re.sub(r"^(\*{0,2}\w+: )(['\"])(.*?)\2(?= = |$)", r"\1\3", argument) for argument in arguments]
    line = f"{name}({', '.join(arguments)})"
    if len(line) > 90:
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
