"""Positive controls that are scores, beside scores: the same rule, the bound of their design, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import Fixed, Split
from bayes_dp.audits.judged import judged
from bayes_dp.checks import InputError
from bayes_dp.comparison.control import as_control, shows_too_little

DELTA = 1e-3


def scores(seed, leak, n=400, propensity=None):
    rng = np.random.default_rng(seed)
    member = rng.random(n) < (0.5 if propensity is None else propensity)
    return bdp.GuessTable(rng.normal(size=n) + leak * member, member, propensity)


QUIET, LOUD = scores(0, 0.0), scores(1, 6.0)


def reasons(verdict):
    return {reason.code for reason in verdict.reasons}


def doubts(quiet, loud, choice, limit):
    evidence = judged(quiet, DELTA, choice)
    control = as_control(loud, evidence.counts, evidence, DELTA, choice)
    return shows_too_little(control, evidence.counts, DELTA, limit, 0.9, [])


@pytest.mark.parametrize("choice", [None, 60, Fixed(80), Split([40, 80])])
def test_a_control_is_guessed_by_the_rule_of_the_evidence(choice):
    bound = bdp.audits.one_run(judged(LOUD, DELTA, choice).guesses, DELTA).value
    assert bound > 2
    assert doubts(QUIET, LOUD, choice, bound - 0.01) == []
    assert "is not above the limit" in doubts(QUIET, LOUD, choice, bound + 0.01)[0]


def test_a_verdict_on_scores_by_a_control():
    table = bdp.compare(QUIET, DELTA, limit=3.0, control=LOUD, choice=150, names=["one-run"])
    verdict = bdp.gate(QUIET, DELTA, 3.0, control=LOUD, choice=150)
    assert (verdict.verdict, reasons(verdict)) == (table.gate.verdict, reasons(table.gate))
    assert any("this attack sees a leak that exceeds the limit" in note for note in verdict.notes)


def test_a_report_tells_what_its_control_was():
    report = bdp.report(QUIET, DELTA, limit=2.0, control=LOUD, choice=60)
    assert f"control = ...  # the bdp.GuessTable whose digest() is {LOUD.digest()!r}" in report.text("markdown")
    assert "control" not in reasons(report.findings.verdict)


def test_a_control_with_propensities_has_the_zero_run_bound():
    propensity = np.linspace(0.2, 0.8, 400)
    quiet, loud = scores(2, 0.0, propensity=propensity), scores(3, 6.0, propensity=propensity)
    bound = bdp.audits.zero_run(judged(loud, DELTA, 60).guesses, DELTA, confidence=0.95).value
    assert bound > 1
    assert doubts(quiet, loud, 60, bound - 0.01) == []
    assert "(zero-run)" in doubts(quiet, loud, 60, bound + 0.01)[0]


def test_guesses_and_counts_are_controls_of_scores_too():
    for control in (bdp.attacks.guess(LOUD, 60), judged(LOUD, DELTA, 60).counts):
        assert doubts(QUIET, control, 60, 2.0) == []


def test_controls_that_are_none():
    counts = bdp.ErrorCounts(10, 100, 20, 100)
    with pytest.raises(InputError, match="the very scores that are judged"):
        bdp.compare(QUIET, DELTA, limit=1.0, control=QUIET)
    with pytest.raises(InputError, match='scores of one model, and the counts are of the design "repeated"'):
        bdp.gate(counts, DELTA, 1.0, control=LOUD)
    with pytest.raises(InputError, match='its design is "repeated"'):
        bdp.gate(QUIET, DELTA, 1.0, control=counts)
    with pytest.raises(InputError, match="the scores or the guesses of the same attack"):
        bdp.gate(QUIET, DELTA, 1.0, control=3)
    with pytest.raises(InputError, match="control is for a verdict"):
        bdp.compare(QUIET, DELTA, control=LOUD)
    with pytest.raises(InputError, match="choice is for a table of scores"):
        bdp.gate(counts, DELTA, 1.0, choice=10)
    wrong = bdp.GuessTable(LOUD.score, np.arange(400) < 390)  # no fair coins
    assert "No lower bound is valid for the control" in doubts(QUIET, wrong, 60, 1.0)[0]
