"""Nothing heavy is imported before it is needed, so that the command line starts at once."""

from __future__ import annotations

import subprocess
import sys

import pytest
import typer

from bayes_dp import datasets
from bayes_dp.cli import main
from bayes_dp.cli.program import app

SLOW = {"jax", "numpyro", "arviz", "pandas", "xarray", "scipy.stats", "scipy.interpolate", "scipy.optimize", "joblib"}
HEAVY = ("numpy", "scipy", "matplotlib", *sorted(SLOW))
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


@pytest.mark.parametrize(
    ("verb", "needed"),
    [
        (("estimate", "--check"), {"numpy", "scipy"}),
        (("estimate", "--family", "average", "--prior-epsilon", "Gamma(2, 1)"), {"numpy", "scipy"}),
        (("compare", "--prior-strength", "Beta(2, 1)"), {"numpy", "scipy"}),
        (("compare", "--fail-above", "4", "--claim-epsilon", "3"), {"numpy", "scipy"}),
        (("report", "--prior-epsilon", "Exponential(1)"), {"numpy", "scipy", "matplotlib"}),
    ],
)
def test_exact_answers_load_no_more_than_they_need(verb: tuple[str, ...], needed: set[str]):
    """Neither a compiler nor a sampler, nor diagnostics of one: each takes longer to import than such an answer."""
    assert loaded(MAIN, verb[0], str(datasets.demo_csv()), "--delta", "1e-3", *verb[1:]) == needed


def test_a_sampled_answer_needs_no_arviz():
    options = ["--method", "mhaar", "--draws", "20", "--warmup", "20", "--chains", "2"]
    found = loaded(MAIN, "estimate", str(datasets.demo_csv()), "--delta", "1e-3", *options)
    assert "jax" in found
    assert not found & {"matplotlib", "arviz", "pandas", "xarray"}


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
