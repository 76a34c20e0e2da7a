"""Hooks of MkDocs: what the documentation site has and the folder docs/ has not.

- The pages README.md (as overview.md), CONTRIBUTING.md and CHANGELOG.md from the top of the repository, with links that
  lead to the same places, and the files that they link to.
- A page for each notebook, and the notebook itself to download. With outputs if the environment variable
  BAYES_DP_NOTEBOOKS is set, as `make docs` does.
- The pages of the reference, from the signatures and docstrings of the public names and the verbs.
- Formulas as MathML, so that a page needs no script and no network to show them.
"""

from __future__ import annotations

import html
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import command_page
import notebook_pages
import reference_pages
from latex2mathml.converter import convert
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]

_PAGES = {"README.md": "overview.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_OUTSIDE = re.compile(r"\]\((?:\.\./)+(" + "|".join(map(re.escape, _PAGES)) + r")")
_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
_STAR = re.compile(r"```.*?```|`[^`\n]*`|\$[^$]*\$|(?<!\*)(α|\bm|ρm)\*(?!\*)", re.DOTALL)  # or what is left as it is
_CELL = re.compile(r"<td.*?</td>", re.DOTALL)
_CODE = re.compile(r"<code>.*?</code>", re.DOTALL)  # in a table, Markdown wants its | as \|


def on_config(config: Any) -> Any:
    titles = {place: text.partition("\n")[0].removeprefix("# ") for place, text in _reference().items()}
    titles |= {"reference/figures.md": "Figures", "reference/saved.md": "Saved results"}
    section = [{title: place} for place, title in titles.items()]
    config.nav = [{"Reference": section} if entry == {"Reference": "reference/"} else entry for entry in config.nav]
    return config


def on_files(files: Any, config: Any) -> Any:
    for name, uri in _PAGES.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        for other, place in _PAGES.items():
            text = text.replace(f"]({other}", f"]({place}")
        files.append(File.generated(config, uri, content=_to_pages(text.replace("](docs/", "]("))))
    paths = sorted((ROOT / "notebooks").glob("*.ipynb"))
    run = bool(os.environ.get("BAYES_DP_NOTEBOOKS"))
    with ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(lambda path: notebook_pages.page(path, run), paths))
    for path, (text, pictures) in zip(paths, shown, strict=True):
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    for path in [ROOT / "LICENSE", *paths]:
        files.append(File.generated(config, path.relative_to(ROOT).as_posix(), abs_src_path=str(path)))
    for place, text in _reference().items():
        files.append(File.generated(config, place, content=text))
    return files


def _reference() -> dict[str, str]:
    return reference_pages.pages() | {"reference/command_line.md": command_page.page()}


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    up = "../" * page.file.src_uri.count("/")
    # On code hosts the star of α* opens no emphasis, and here it would.
    starred = _STAR.sub(lambda match: match[0] if match[1] is None else f"{match[1]}\\*", markdown)
    return _OUTSIDE.sub(lambda match: f"]({up}{_PAGES[match[1]]}", starred)


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
