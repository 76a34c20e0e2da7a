"""Command lines that run in the process of the tests, and what the ones that are refused print."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bayes_dp import cli

COUNTS = "base,fp,n0,fn,n1\na,10,50,20,40\nb,4,50,25,40\n"


def running(*command: str) -> Callable[..., tuple[int, str, str]]:
    """A function from `capsys` and the other arguments of a command to its exit code, output and errors."""

    def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
        code = cli.main((*command, *arguments))
        return code, *capsys.readouterr()

    return run


def refusing(*command: str) -> Callable[..., str]:
    """A function from `capsys` and the other arguments of a command that is refused to the message."""
    run = running(*command)
    return lambda capsys, *arguments: refused(run(capsys, *arguments))


def refused(found: tuple[int, str, str]) -> str:
    """The message, after checking that it is the only line and the exit code is 2."""
    code, out, err = found
    assert (code, out) == (2, "")
    assert err.startswith("bayes-dp: error: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err.removeprefix("bayes-dp: error: ").rstrip()


@pytest.fixture
def counts(tmp_path: Path) -> str:
    """A file of counts of two bases."""
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return str(path)
