"""Nothing heavy is imported before it is needed, so that the command line starts at once."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest
import typer

from bayes_dp import datasets
from bayes_dp.cli import main
from bayes_dp.cli.program import app

HEAVY = ("numpy", "scipy", "jax", "numpyro", "matplotlib", "arviz", "pandas", "xarray")
MAIN = "from bayes_dp.cli import main; code = main(sys.argv[1:])"


def loaded(code: str, *arguments: str) -> set[str]:
    """Which of the heavy packages a new process has loaded after running `code`."""
    program = f"import sys\n{code}\nprint(*set({HEAVY!r}) & set(sys.modules), file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    return set(result.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("code", ["import bayes_dp", "import bayes_dp; dir(bayes_dp)", "import bayes_dp.cli"])
def test_imports_are_light(code: str):
    assert loaded(code) == set()


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("estimate", "--help"), ("estimate", "--gamma")])
def test_help_is_light(arguments: tuple[str, ...]):
    assert loaded(MAIN, *arguments) == set()


def test_an_estimate_loads_no_more_than_it_needs():
    found = loaded(MAIN, "estimate", str(datasets.demo_csv()), "--delta", "1e-3")
    assert not found & {"matplotlib", "arviz", "pandas", "xarray"}


def seconds(*arguments: str) -> float:
    """The processor time of a command line, as the tests may share the machine; alone on it the clock shows no more."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", f"import sys; {MAIN}", *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


@pytest.mark.parametrize("asked", [[], ["audit"], ["estimate"], ["audit", "one-run"], ["calibrate"], ["panoramia"]])
def test_help_is_that_of_all_options(asked: list[str], capsys: pytest.CaptureFixture[str]):
    """Only the options of verbs that are named are put together."""
    assert main([*asked, "--help"]) == 0
    found = capsys.readouterr().out
    typer.main.get_command(app).main([*asked, "--help"], prog_name="bayes-dp", standalone_mode=False)
    assert capsys.readouterr().out == found


def test_a_value_may_be_the_name_of_a_verb(capsys: pytest.CaptureFixture[str]):
    assert main(["estimate", "plan", "--delta", "1e-3"]) == 2
    assert "plan" in capsys.readouterr().err
    assert main(["estimat"]) == 2
    assert "Did you mean 'estimate'" in capsys.readouterr().err


def test_help_takes_less_than_half_a_second():
    assert min(seconds("--help") for _ in range(5)) < 0.5


def test_an_estimate_takes_less_than_four_seconds():
    assert seconds("estimate", str(datasets.demo_csv()), "--delta", "1e-3") < 4
