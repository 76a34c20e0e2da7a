"""`bayes-dp estimate` of dependent attacks, and its check of the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bayes_dp as bdp
from bayes_dp import cli

ROWS = "base,z,fp,n0,fn,n1\na,one,12,100,55,100\nb,one,15,100,49,100\nc,two,40,100,22,100\nd,,37,100,25,100\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "counts.csv"
    path.write_text(ROWS)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = cli.main(("estimate", *arguments))
    return code, *capsys.readouterr()


def test_groups_by_their_sums(capsys, file):
    arguments = (file, "--delta", "1e-3", "--groups", "z", "--group-form", "aggregate", "--check", "--json")
    code, out, _ = run(capsys, *arguments)
    found = json.loads(out)
    assert code == 0
    assert set(found["estimates"]) == {"epsilon", "strength", "spread"}
    assert [row["base"] for row in found["check"]["bases"]] == ["one", "two", ""]
    assert found["check"]["likelihood"] == "aggregate"


def test_groups_by_the_whole_model(capsys, file):
    code, out, _ = run(capsys, file, "--delta", "1e-3", "--groups", "z")
    assert code == 0
    assert "nuts, hierarchical" in out
    assert "The centres of the groups" in out


def test_check(capsys, file):
    code, out, _ = run(capsys, file, "--delta", "1e-3", "--check")
    found = bdp.check(bdp.estimate(bdp.ErrorCounts.from_csv(file), 1e-3))
    assert code == 0
    assert found.summary() in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--groups", "rule"), "and 'rule' for the groups"),
        (("--groups", "fp"), "a column of counts"),
        (("--groups", "z", "--check"), "take --group-form aggregate"),
        (("--groups", "z", "--strength", "tight"), "not defined for strength='tight'"),
        (("--groups", "z", "--likelihood", "beta_binomial"), "binomial counts only"),
    ],
)
def test_what_is_refused(capsys, file, arguments, words):
    code, out, err = run(capsys, file, "--delta", "1e-3", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
