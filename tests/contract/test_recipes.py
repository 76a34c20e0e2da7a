"""The recipes of CONTRIBUTING.md for a figure, attacks and a target model, followed word by word in a copy.

Each is one file and one line, and everything that lists such things then has the new one.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bayes_dp as bdp

ROOT = Path(__file__).parents[2]

PUBLIC = """
import doctest, sys
import numpy as np
import bayes_dp as bdp
from bayes_dp import {room}
from tests.contract.test_examples import FLAGS, shown

assert bdp.__file__.startswith(sys.argv[1])
assert "{name}" in {room}.__all__ and {room}.{name} is shown()["bayes_dp.{room}.{name}"]
doctest.run_docstring_examples({room}.{name}, dict(bdp=bdp, np=np), optionflags=FLAGS)
try:
    {room}.{name}({wrong})
except bdp.InputError as error:
    print(error)
"""


def recipe(kind: str) -> tuple[str, str]:
    """The file and the line of a recipe."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    found = re.search(rf"^## How to add {kind}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found is not None
    module, line = re.findall(r"^```(?:python|text)\n(.*?)^```$", found[1], re.MULTILINE | re.DOTALL)
    assert line.count("\n") == 1
    return module, line


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for folder in ("bayes_dp", "models"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "docs" / "evidence" / "models.md", tmp_path)
    return tmp_path


def add_line(path: Path, line: str, after: str) -> None:
    """Put a line behind the last one that begins so."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    place = max(i for i, each in enumerate(lines) if each.startswith(after))
    path.write_text("".join([*lines[: place + 1], line, *lines[place + 1 :]]), encoding="utf-8")


def python(copy: Path, *arguments: str) -> str:
    """What a new interpreter prints that imports the copy."""
    found = subprocess.run(
        [sys.executable, *arguments],
        cwd=copy,
        env=os.environ
        | {"PYTHONPATH": f"{copy}{os.pathsep}{ROOT}", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    return found.stdout


@pytest.mark.parametrize(
    ("kind", "room", "file", "name", "wrong", "refused"),
    [
        ("a figure", "plots", "hits.py", "right_guesses", "3", "guesses must be Guesses, not int"),
        ("an attack", "attacks", "threshold.py", "below", "bdp.LossTable([1.0], [1.0]), 'low'", "threshold must be"),
    ],
)
def test_a_file_and_a_line_make_it_public(
    copy: Path, kind: str, room: str, file: str, name: str, wrong: str, refused: str
):
    module, line = recipe(kind)
    (copy / "bayes_dp" / room / file).write_text(module, encoding="utf-8")
    add_line(copy / "bayes_dp" / room / "__init__.py", line, "from ")
    said = python(copy, "-c", PUBLIC.format(room=room, name=name, wrong=wrong), str(copy))
    assert said.startswith(refused), said  # and nothing about the example, which is true
    assert said.count("\n") == 1


def test_a_file_and_a_line_make_an_attack_on_a_matrix(copy: Path):
    module, line = recipe("an attack on a matrix of scores")
    folder = copy / "bayes_dp" / "attacks" / "references"
    (folder / "median.py").write_text(module, encoding="utf-8")
    add_line(folder / "registry.py", line, '    "base"')
    code = (
        "import numpy as np; import bayes_dp as bdp; rng = np.random.default_rng(0)\n"
        "member = rng.random((9, 500)) < 0.5\n"
        "phi = rng.normal(0, 2, 500) + 2 * member + rng.normal(size=member.shape)\n"
        "print(bdp.ScoreMatrix(member, log_odds=phi).attack('median').auc().value > 0.7)"
    )
    assert python(copy, "-c", code) == "True\n"


def test_a_file_and_a_line_make_a_target_model(copy: Path):
    module, line = recipe("a target model")
    (copy / "models" / "noisy_count.py").write_text(module, encoding="utf-8")
    assert listed(copy / "models.md") == runnable(copy / "models") - {"noisy_count"}
    add_line(copy / "models.md", line, "| `python -m models.")
    assert listed(copy / "models.md") == runnable(copy / "models")
    said = [python(copy, "-m", "models.noisy_count", "--sigma", "0.5", "--seed", seed) for seed in ("1", "1", "2")]
    assert said[0] == said[1] != said[2]
    bound = bdp.audits.clopper_pearson(bdp.ErrorCounts.from_csv(io.StringIO(said[0])), 1e-3)
    assert 1 < bound.value < bdp.tradeoff.Gaussian(2.0).epsilon_at(1e-3)
    assert bound.valid


def runnable(folder: Path) -> set[str]:
    return {path.stem for path in folder.glob("*.py") if "def main(" in path.read_text(encoding="utf-8")}


def listed(page: Path) -> set[str]:
    return set(re.findall(r"^\| `python -m models\.(\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE))


def test_every_model_that_runs_is_listed():
    assert listed(ROOT / "docs" / "evidence" / "models.md") == runnable(ROOT / "models")
