"""The verb audit zero-run: its answers are those of the function, and its faults are one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import Bonferroni, Fixed, Split, Uncorrected
from bayes_dp.audits import zero_run
from tests.cli.test_lower_bounds import answer, fault, run


def table() -> bdp.GuessTable:
    rng = np.random.default_rng(0)
    logit = rng.normal(size=800)
    propensity = np.round(1 / (1 + np.exp(-logit)), 3)
    member = rng.random(800) < propensity
    score = np.round(np.where(member, 1.0, -1.0) + logit / 2 + 0.7 * rng.normal(size=800), 3)
    return bdp.GuessTable(score, member, propensity)


@pytest.fixture
def scores(tmp_path: Path) -> str:
    table().to_csv(tmp_path / "scores.csv")
    return str(tmp_path / "scores.csv")


CASES = {
    "": {},
    "--propensity exact": {"propensity": "exact"},
    "--delta 1e-5 --guesses 100": {"delta": 1e-5, "choice": Fixed(100)},
    "--family gaussian --guesses 50,100": {"family": "gaussian", "choice": Bonferroni([50, 100])},
    "--family gaussian --delta 1e-5": {"family": "gaussian", "delta": 1e-5},
    "--form tampered --derandomised": {"form": "tampered", "derandomised": True},
    "--form compositional --overlap 0.4 --shift-delta 1e-6": {
        "form": "compositional",
        "overlap": 0.4,
        "shift_delta": 1e-6,
    },
    "--no-directional --ranking score --sides members": {"directional": False, "aware": False, "sides": "members"},
    "--choice split --seed 4 --confidence 0.9": {"choice": Split(seed=4), "seed": 4, "confidence": 0.9},
    "--choice uncorrected --guesses 50,100": {"choice": Uncorrected([50, 100])},
}


@pytest.mark.parametrize("options", CASES)
def test_answers(capsys, scores, options):
    found = answer(capsys, "audit", "zero-run", scores, *options.split())
    expected = zero_run(table(), **{"choice": Bonferroni(), **CASES[options]})
    assert found == {"base": "all", **expected.to_dict()}
    assert found["value"] > 0


def test_it_says_what_it_assumes(capsys, scores):
    code, out, err = run(capsys, "audit", "zero-run", scores, "--delta", "1e-5")
    assert (code, err) == (0, "")
    assert out == zero_run(table(), 1e-5).summary() + "\n"
    assert "tampered form" in out


def test_known_propensities_are_asked_for(capsys, scores):
    cautious = answer(capsys, "audit", "zero-run", scores)
    known = answer(capsys, "audit", "zero-run", scores, "--propensity", "exact")
    assert known["value"] > cautious["value"]
    assert not any("exact" in sentence for sentence in cautious["assumptions"])


def test_bases_share_the_error_probability(capsys, tmp_path):
    one = table()
    both = bdp.GuessTable(one.score, one.member, one.propensity, ["a"] * 400 + ["b"] * 400)
    both.to_csv(tmp_path / "two.csv")
    found = answer(capsys, "audit", "zero-run", str(tmp_path / "two.csv"))
    assert [part["base"] for part in found] == ["a", "b"]
    for part, examples in zip(found, both.by_base().values(), strict=True):
        assert part["value"] == zero_run(examples, confidence=0.975).value
    code, out, _ = run(capsys, "audit", "zero-run", str(tmp_path / "two.csv"))
    assert code == 0
    assert "All of these bounds hold together with confidence 95%." in out


def test_a_check(capsys, scores):
    value = zero_run(table()).value
    code, out, _ = run(capsys, "audit", "zero-run", scores, "--fail-above", str(value + 0.01))
    assert (code, "Check passed" in out) == (0, True)
    code, out, _ = run(capsys, "audit", "zero-run", scores, "--fail-above", str(value - 0.01))
    assert (code, "Check FAILED" in out) == (1, True)


def test_faults(capsys, scores, tmp_path):
    plain = tmp_path / "plain.csv"
    plain.write_text("score,member\n1,1\n0,0\n")
    assert "plain.csv must have a column propensity" in fault(capsys, "audit", "zero-run", str(plain))
    certain = tmp_path / "certain.csv"
    certain.write_text("score,member,propensity\n1,1,0.5\n0,0,1\n")
    message = fault(capsys, "audit", "zero-run", str(certain))
    assert "propensity" in message
    assert "a probability above 0 and below 1, not '1'" in message
    assert "line 3" in message
    for options, message in (
        ("--form untampered --delta 0.1", "the untampered form is for epsilon at delta = 0 only"),
        ("--overlap 0.3", 'overlap and shift_delta are for the form "compositional"'),
        ("--derandomised", "derandomised is for the tampered form"),
        ("--guesses 900", "n must be at most the 800 examples, not 900"),
        ("--delta x", "'x' is not a number"),
        ("--form mixed", "mixed"),
        ("--confidence 1", "confidence must lie in (0, 1)"),
    ):
        assert message in fault(capsys, "audit", "zero-run", scores, *options.split())


def test_help(capsys):
    code, out, _ = run(capsys, "audit", "zero-run", "--help")
    assert code == 0
    for word in ("--propensity ", "score,member,propensity", "--derandomised"):
        assert word in out
