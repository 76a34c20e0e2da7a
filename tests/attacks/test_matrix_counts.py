"""Counts of a matrix of scores: of each example by its own runs, and of each model by guesses."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import measure_fast
from bayes_dp.attacks.score_matrix import ScoreMatrix
from tests.data.test_counts import refusal


def matrix(seed: int = 0, models: int = 14, examples: int = 30, leak: float = 1.5) -> ScoreMatrix:
    """Numbers of runs that differ, with some pairs that are not known."""
    rng = np.random.default_rng(seed)
    member = np.where(rng.random((models, examples)) < 0.1, -1, rng.random((models, examples)) < 0.5)
    phi = rng.normal(0, 2, examples) + leak * (member == 1) + rng.normal(size=member.shape)
    phi[member < 0] = np.nan
    names = [f"x{i}" for i in range(examples)]
    return ScoreMatrix(member, log_odds=phi, example=names, model=[f"m{r}" for r in range(models)])


def test_examples_one_by_one():
    """The counts of each example are those of a table of its own runs."""
    given = matrix()
    counts = given.example_counts(0.2)
    expected = []
    for i in range(given.member.shape[1]):
        without, with_ = ([-given.statistic[r, i] for r in range(14) if given.member[r, i] == side] for side in (0, 1))
        if min(len(without), len(with_)) >= 3:
            one = measure_fast(bdp.LossTable([without], [with_]), 0.2)
            numbers = (one.false_positives, one.negatives, one.false_negatives, one.positives)
            expected.append((f"x{i}", *(int(each[0]) for each in numbers)))
    columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    found = zip(counts.base, *(column.tolist() for column in columns), strict=True)
    assert list(found) == expected
    assert counts.design == "cross_fed"
    assert len(set(counts.positives.tolist())) > 3
    assert 20 < len(counts) < 30  # some have too few runs


def test_the_tables_hold_every_example_once():
    given = matrix()
    tables = given.loss_tables()
    assert sorted(name for table in tables for name in table.base) == sorted(given.example_counts().base)
    sizes = [(table.without.shape[1], table.with_.shape[1]) for table in tables]
    assert sizes == sorted(set(sizes))


def test_a_posterior_from_shadow_models_in_one_call():
    post = bdp.estimate(matrix(1, 40, 4).example_counts(), 1e-3)
    assert post.interval(0.9)[1] > 0.3


def test_counts_of_one_model_are_those_of_its_guesses():
    given = matrix(2)
    counts = given.model_counts(10, "lira", targets=[3])
    guesses = bdp.attacks.guess(given.attack("lira", 3), 10)
    assert (counts.design, counts.base, counts.group, counts.examples) == ("one_run", ("m3",), None, guesses.examples)
    pooled = bdp.Guesses.from_counts(counts)
    assert (pooled.made, pooled.correct) == (guesses.made, guesses.correct)
    table, (rows, called) = guesses.table, guesses.guessed(0)
    assert counts.false_positives[0] == sum(c and not m for c, m in zip(called, table.member[rows], strict=True))


def test_several_models_are_rows_of_one_group():
    given = matrix(3)
    counts = given.model_counts(8, targets=[0, 2, 5], variance="pooled", name="lira")
    single = [given.model_counts(8, "lira", [t]) for t in (0, 2, 5)]
    assert counts.base == ("m0", "m2", "m5")
    assert len(set(counts.group)) == 1
    assert (counts.design, counts.examples) == ("cross_fed", None)
    assert counts.false_negatives.tolist() == [each.false_negatives[0] for each in single]
    assert len(given.model_counts(8)) == len(given)
    table = bdp.compare(counts, 1e-3)
    assert not any(row.valid for row in table.rows)
    assert 'that is the design "one_run"' in refusal(bdp.audits.one_run, counts, 1e-5)


def test_refused():
    few = matrix(4, models=5)
    message = "member must have an example with at least 3 models trained with it and 3 without, but none of the 30 is"
    assert refusal(few.example_counts) == refusal(few.loss_tables) == message
    given = matrix(5)
    assert "guesses must be so many that members and non-members are among them" in refusal(given.model_counts, 1)
    assert refusal(given.model_counts, 10, None, []) == "targets must be at least one model, not none"
    assert (
        refusal(given.model_counts, 10, None, [99]) == "targets[0] must be the number of a model, from 0 to 13, not 99"
    )
    assert "guesses must be at most the" in refusal(given.model_counts, 1000)
    for wrong in (0, -1, 1.5, True):
        assert refusal(given.model_counts, wrong).startswith("guesses must be a whole number")
    assert refusal(given.example_counts, 1.5).startswith("target_fpr must lie in (0, 1)")


@pytest.mark.parametrize("side", [0, 1])
def test_losses_may_not_be_needed_on_the_whole(side: int):
    """Examples with all runs on one side are left out, whatever the others are."""
    given = matrix(6)
    member = np.array(given.member)
    member[:, 0] = np.where(member[:, 0] >= 0, side, -1)
    counts = ScoreMatrix(member, log_odds=given.statistic).example_counts()
    assert "0" not in counts.base
