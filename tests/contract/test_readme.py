"""The code in README.md and docs/ runs, file by file and block by block, in an empty folder with a counts.csv.

A block after the line `<!-- not run -->` is left out.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bayes_dp import datasets

ROOT = Path(__file__).parents[2]
FILES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

_BLOCK = re.compile(r"^( *)```(python|sh)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)

# Of the exit codes, 1 is a check that failed and 3 a gate that is inconclusive, which a text may well show.
_SHELL = "set -u -o pipefail; trap 'code=$?; [ $code -le 1 ] || [ $code -eq 3 ] || exit $code' ERR\n"


def blocks(path: Path, language: str) -> list[tuple[int, str]]:
    """The line and the code of each block that is to be run."""
    text = path.read_text(encoding="utf-8")
    found = []
    for match in _BLOCK.finditer(text):
        before = text[: match.start()]
        if match[2] == language and not before.rstrip().endswith("<!-- not run -->"):
            found.append((before.count("\n") + 2, re.sub(f"^{match[1]}", "", match[3], flags=re.MULTILINE)))
    return found


def having(language: str, words: str = "") -> list[Path]:
    return [path for path in FILES if any(words in code for _, code in blocks(path, language))]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(datasets.demo_csv(), tmp_path / "counts.csv")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    return tmp_path


@pytest.mark.parametrize("path", having("python"), ids=lambda path: path.name)
@pytest.mark.usefixtures("folder")
def test_python(path: Path):
    names: dict[str, object] = {"__name__": "__main__"}
    for line, code in blocks(path, "python"):
        compiled = compile("\n" * (line - 1) + code, str(path), "exec")  # so that a traceback shows the file's lines
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compiled, names)
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.mark.parametrize("path", having("sh", "bayes-dp "), ids=lambda path: path.name)
@pytest.mark.usefixtures("folder")
def test_command_lines(path: Path):
    for line, code in blocks(path, "sh"):
        if "bayes-dp " in code:
            done = subprocess.run(["bash", "-c", _SHELL + code], capture_output=True, text=True)
            assert done.returncode in (0, 1), f"{path.name}, line {line}: {done.stderr}"


def test_blocks_are_found(tmp_path: Path):
    path = tmp_path / "text.md"
    path.write_text(
        "```python\na = 1\n```\n\n<!-- not run -->\n```python\nb\n```\n- x\n  ```sh\n  ls\n  ```\n```text\nc\n```\n"
    )
    assert blocks(path, "python") == [(2, "a = 1\n")]
    assert blocks(path, "sh") == [(11, "ls\n")]
