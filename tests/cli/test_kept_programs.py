"""Compiled samplers are kept in the user's cache folder by the command line, and by it alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bayes_dp import datasets

NAME = "JAX_COMPILATION_CACHE_DIR"
MAIN = "import sys; from bayes_dp.cli import main; raise SystemExit(main())"


def told(code: str, **environment: str) -> str:
    """What JAX would be told by a process, in an environment without what these tests tell it."""
    program = f"{code}\nimport os; print(os.environ.get({NAME!r}))"
    return run(program, **environment).stdout.splitlines()[-1]


def run(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    known = {name: value for name, value in os.environ.items() if not name.startswith("JAX_")}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env=known | environment, capture_output=True, text=True, check=True, timeout=300,
    )  # fmt: skip


def keep(*arguments: str) -> str:
    return f"from bayes_dp.cli import main; main({list(arguments)})"


def test_in_the_users_cache(tmp_path: Path):
    assert told(keep("--no-cache"), XDG_CACHE_HOME=str(tmp_path)) == "None"
    assert not any(tmp_path.iterdir())
    assert told(keep(), XDG_CACHE_HOME=str(tmp_path)) == str(tmp_path / "bayes-dp" / "programs")


def test_where_the_user_says(tmp_path: Path):
    assert told(keep(), XDG_CACHE_HOME=str(tmp_path), **{NAME: "/elsewhere"}) == "/elsewhere"
    assert not any(tmp_path.iterdir())


def test_nowhere_if_there_is_no_place(tmp_path: Path):
    (tmp_path / "file").write_text("")
    assert told(keep(), XDG_CACHE_HOME=str(tmp_path / "file")) == "None"


def test_not_by_an_import(tmp_path: Path):
    assert told("import bayes_dp, bayes_dp.cli", XDG_CACHE_HOME=str(tmp_path)) == "None"


@pytest.mark.slow
def test_another_process_finds_them(tmp_path: Path):
    options = ["--delta", "1e-3", "--likelihood", "bivariate_normal", "--draws", "50", "--warmup", "20"]
    answers, kept = set(), []
    for seed in ("1", "2"):
        answers.add(
            run(
                MAIN, "estimate", str(datasets.demo_csv()), *options, XDG_CACHE_HOME=str(tmp_path), PYTHONHASHSEED=seed
            ).stdout
        )
        kept.append({path.name for path in tmp_path.rglob("jit__advance*-cache")})
    assert len(answers) == 1
    assert kept[0] == kept[1]
    assert kept[0]
