"""The code in README.md and docs/ runs, file by file and block by block, in an empty folder with a counts.csv.

A block after the line `<!-- not run -->` is left out.
"""

from __future__ import annotations

import contextlib
import io
import operator
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import bayes_dp as bdp
from bayes_dp import datasets
from bayes_dp.cli.program import _command, app
from tests.contract.command_server import shim

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


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of a process in which command lines run."""
    with tempfile.TemporaryDirectory() as short:  # the address of a socket may have a hundred characters
        address = Path(short) / "socket"
        command = [sys.executable, "-m", "tests.contract.command_server", str(address)]
        search = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
        server = subprocess.Popen(command, env={**os.environ, "MPLBACKEND": "agg", "PYTHONPATH": search})
        try:
            for _ in range(600):
                if address.exists():
                    break
                time.sleep(0.1)
            yield str(address)
        finally:
            server.kill()
            server.wait()


@pytest.fixture(scope="module")
def programs(server: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a bayes-dp of which each verb has a process of its own once, in this worker or another one."""
    own = tmp_path_factory.getbasetemp()
    seen = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "verbs"
    seen.mkdir(exist_ok=True)
    return shim(tmp_path_factory.mktemp("program"), server, seen)


def in_shell(code: str, programs: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PATH": os.pathsep.join([str(programs), os.environ["PATH"]])}
    command = ["bash", "-c", _SHELL + code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


@pytest.mark.parametrize("path", having("sh", "bayes-dp "), ids=lambda path: path.name)
@pytest.mark.usefixtures("folder")
def test_command_lines(path: Path, programs: Path):
    for line, code in blocks(path, "sh"):
        if "bayes-dp " in code:
            done = in_shell(code, programs)
            assert done.returncode in (0, 1), f"{path.name}, line {line}: {done.stderr}"


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("code", "returned"),
    [
        ("bayes-dp measure nothing.csv --target-fpr 0.1", 2),
        ("printf 'fp,n0,fn,n1\\n1,100,5,100\\n' | bayes-dp audit intervals - --delta 1e-3 --fail-above 1", 1),
        ("mkdir -p new; cd new; bayes-dp audit one-run --help > help.txt; cat help.txt | wc -l", 0),
    ],
)
def test_both_ways_to_run_a_command_line_are_one(server: str, tmp_path: Path, code: str, returned: int):
    seen = tmp_path / "verbs"
    seen.mkdir()
    programs = shim(tmp_path / "program", server, seen)
    own, shared = in_shell(code, programs), in_shell(code, programs)
    assert (own.stdout, own.stderr, own.returncode) == (shared.stdout, shared.stderr, shared.returncode)
    assert own.returncode == returned
    assert own.stdout + own.stderr
    assert len(list(seen.iterdir())) == 1


WAYS = re.search(r"## What do you have\?\n\n.*?\n\n", FILES[0].read_text(encoding="utf-8"), re.DOTALL)[0]


@pytest.mark.parametrize("line", re.findall(r"`bayes-dp (.*?)`", WAYS))
@pytest.mark.usefixtures("folder")
def test_the_commands_of_the_ways_in_are_taken(line: str):
    """As far as their arguments."""
    command, arguments = _command(app), line.split()
    while hasattr(command, "commands"):
        command = command.commands[arguments.pop(0)]
    command.make_context("bayes-dp", arguments)


@pytest.mark.parametrize("name", re.findall(r"bdp((?:\.\w+)+)", WAYS))
def test_the_calls_of_the_ways_in_exist(name: str):
    assert callable(operator.attrgetter(name[1:])(bdp))


def test_readme_and_guide_are_short():
    assert FILES[0].read_text(encoding="utf-8").count("\n") <= 120
    assert sum(len(path.read_text(encoding="utf-8").split()) for path in FILES if path.parent.name == "guide") <= 12_000


def test_blocks_are_found(tmp_path: Path):
    path = tmp_path / "text.md"
    path.write_text(
        "```python\na = 1\n```\n\n<!-- not run -->\n```python\nb\n```\n- x\n  ```sh\n  ls\n  ```\n```text\nc\n```\n"
    )
    assert blocks(path, "python") == [(2, "a = 1\n")]
    assert blocks(path, "sh") == [(11, "ls\n")]
