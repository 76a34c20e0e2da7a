"""`bayes-dp estimate` of dependent attacks, and its check of the model."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import bayes_dp as bdp
from bayes_dp.bayes.estimate import estimate
from tests.cli.conftest import running

run = running("estimate")

estimates = importlib.import_module("bayes_dp.bayes.estimate")

ROWS = "base,z,fp,n0,fn,n1\na,one,12,100,55,100\nb,one,15,100,49,100\nc,two,40,100,22,100\nd,,37,100,25,100\n"


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "counts.csv"
    path.write_text(ROWS)
    return str(path)


# Enough for what is printed of them.
SHORT = ("--chains", "2", "--draws", "300", "--warmup", "300")


@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_groups_by_their_sums(capsys, file):
    arguments = (file, "--delta", "1e-3", "--groups", "z", "--group-form", "aggregate", "--check", "--json")
    code, out, _ = run(capsys, *arguments, *SHORT)
    found = json.loads(out)
    assert code == 0
    assert set(found["estimates"]) == {"epsilon", "strength", "spread"}
    assert [row["base"] for row in found["check"]["bases"]] == ["one", "two", ""]
    assert found["check"]["likelihood"] == "aggregate"


@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_groups_by_the_whole_model(capsys, file):
    code, out, _ = run(capsys, file, "--delta", "1e-3", "--groups", "z", *SHORT)
    assert code == 0
    assert "nuts, hierarchical" in out
    assert "The centres of the groups" in out


@pytest.mark.parametrize(
    ("options", "form"),
    [
        ((), "hierarchical"),
        (("--method", "nuts"), "hierarchical"),
        (("--method", "mhaar"), "aggregate"),
        (("--group-form", "hierarchical"), "hierarchical"),
        (("--group-form", "aggregate"), "aggregate"),
        (("--group-form", "hierarchical", "--method", "nuts"), "hierarchical"),
        (("--group-form", "aggregate", "--method", "mhaar"), "aggregate"),
    ],
)
def test_the_method_chooses_the_form(capsys, file, monkeypatch, options, form):
    asked = []

    def infer(counts, delta, **settings):
        asked.append(settings["groups"])
        return estimate(counts, delta)

    monkeypatch.setattr(estimates, "estimate", infer)
    code, _, err = run(capsys, file, "--delta", "1e-3", "--groups", "z", *options)
    assert (code, err) == (0, "")
    assert asked == [form]


@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_groups_by_mhaar(capsys, file):
    code, out, _ = run(
        capsys, file, "--delta", "1e-3", "--groups", "z", "--method", "mhaar", "--json", *SHORT, "--spread", "0.05"
    )
    found = json.loads(out)
    assert code == 0
    assert found["provenance"]["method"] == "mhaar"
    settings = found["provenance"]["settings"]
    assert settings["likelihood"] == "aggregate"
    assert [settings[name] for name in ("chains", "draws", "warmup")] == [2, 300, 300]
    assert set(found["estimates"]) == {"epsilon", "strength"}


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
        (("--groups", "z", "--strength", "tight"), "groups are not defined for strength='tight'"),
        (("--groups", "z", "--strength", "tight", "--method", "mhaar"), "groups are not defined for strength='tight'"),
        (
            ("--groups", "z", "--group-form", "hierarchical", "--method", "mhaar"),
            "--group-form hierarchical is sampled by --method nuts, not by --method mhaar; leave one of the two out",
        ),
        (
            ("--groups", "z", "--group-form", "aggregate", "--method", "nuts"),
            "--group-form aggregate is sampled by --method mhaar, not by --method nuts; leave one of the two out",
        ),
        (("--groups", "z", "--method", "exact"), "--groups is sampled, by --method nuts or mhaar, and --method exact"),
        (("--group-form", "aggregate"), "--group-form needs --groups COLUMN"),
        (("--group-form", "hierarchical", "--method", "nuts"), "--group-form needs --groups COLUMN"),
        (("--groups", "z", "--likelihood", "beta_binomial"), "binomial counts only"),
    ],
)
def test_what_is_refused(capsys, file, arguments, words):
    code, out, err = run(capsys, file, "--delta", "1e-3", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
