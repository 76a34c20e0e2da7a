"""The guesses that all methods judge: one number, chosen on no example that is judged, and the counts of its errors."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import Bonferroni, Fixed, MultiSplit, Split, call_members, guess
from bayes_dp.audits.judged import judged
from bayes_dp.audits.one_run import best_lower_bounds

RNG = np.random.default_rng(0)
MEMBER = RNG.random(400) < 0.5
TABLE = bdp.GuessTable(MEMBER + RNG.normal(size=400), MEMBER)
PROPENSITY = RNG.uniform(0.2, 0.8, 400)
SHIFTED = bdp.GuessTable(TABLE.score, MEMBER, PROPENSITY)


def test_a_number_decided_before_is_that_of_guess():
    found = judged(TABLE, 1e-5, 60)
    expected = guess(TABLE, 60)
    assert found.counts.examples == 400
    rows, called = expected.guessed(0)
    member = MEMBER[rows]
    assert found.counts == bdp.ErrorCounts(
        int((called & ~member).sum()), int((~member).sum()), int((~called & member).sum()), int(member.sum()),
        design="one_run", examples=400,
    )  # fmt: skip
    assert found.fair
    assert found.tried == ()
    assert len(found.kept) == 400
    assert judged(expected, 1e-5).counts == judged(TABLE, 1e-5, Fixed(60)).counts == found.counts


def test_a_split_chooses_on_the_pilot_only():
    """Whoever the others are, and whatever their scores, the number of guesses stays."""
    split = Split(seed=3)
    found = judged(TABLE, 1e-5, split)
    guesses = guess(TABLE, split)
    pilot = guesses.pilot
    bounds = best_lower_bounds(pilot.examples, pilot.made, pilot.correct, 1e-5, 0.05)
    row = int(np.argmax(bounds))
    assert [(one.made, one.correct) for one in found.tried] == list(zip(pilot.made, pilot.correct, strict=True))
    assert [one.bound for one in found.tried] == pytest.approx(bounds)
    assert (found.guesses.made, found.guesses.pilot.made) == (guesses.made[row], pilot.made[row])
    assert found.counts.examples == len(found.kept) == 200
    assert found.counts.negatives + found.counts.positives == found.guesses.made
    np.testing.assert_array_equal(found.kept.member, MEMBER[guesses.rows])
    others = guesses.rows
    member = MEMBER.copy()
    member[others] = ~member[others]
    assert judged(bdp.GuessTable(TABLE.score, member), 1e-5, split).guesses.made == found.guesses.made


def test_of_bounds_that_are_all_zero_the_one_counts_that_is_nearest_to_one():
    rng = np.random.default_rng(4)
    found = judged(bdp.GuessTable(rng.normal(size=600), rng.random(600) < 0.5), 1e-5)
    assert {one.bound for one in found.tried} == {0.0}
    assert found.guesses.made > 20  # and not the fewest, as if the first were best


def test_propensities_that_are_no_fair_coins():
    found = judged(SHIFTED, 1e-3, 50)
    assert not found.fair
    rows, called = call_members(SHIFTED, 50).guessed(0)
    assert found.counts.false_positives == (called & ~MEMBER[rows]).sum()
    chosen = judged(SHIFTED, 1e-3)
    best = max(chosen.tried, key=lambda one: (one.bound, one.made))
    assert chosen.guesses.pilot.made == best.made


def test_guesses_of_a_table_without_propensities_get_fair_coins():
    found = judged(guess(TABLE, Split([20, 80])), 1e-5)
    assert (found.table.propensity == 0.5).all()
    assert found.guesses.rule == "split"
    assert bdp.audits.zero_run(found.guesses, 0.0).value > 0


@pytest.mark.parametrize(
    ("given", "choice", "message"),
    [
        (TABLE, Bonferroni(), "choice must be Fixed, Split or a whole number"),
        (TABLE, MultiSplit(), "choice must be Fixed, Split or a whole number"),
        (TABLE, True, "choice must be Fixed, Split or a whole number"),
        (TABLE, 401, "n must be at most the 400 examples"),
        (guess(TABLE, Bonferroni([10, 20])), None, "and not the best of 2"),
        (guess(TABLE, 20), 20, "choice is for a table of scores"),
        (guess(TABLE, 20, "members"), None, r'guesses must be of members and of non-members \(sides="both"\)'),
        (TABLE[:3], None, "at least 2 guesses are needed, one of either kind, and there are 1"),
        (TABLE, 1, "at least 2 guesses are needed, one of either kind, and there are 1"),
        (bdp.Guesses(100, 20, 15), None, "these are numbers, which do not tell false positives"),
    ],
)
def test_what_gives_no_single_number(given, choice, message):
    for ask in (lambda: judged(given, 1e-5, choice), lambda: bdp.compare(given, 1e-5, choice=choice)):
        with pytest.raises(bdp.InputError, match=message):
            ask()


def test_examples_of_one_kind():
    with pytest.raises(bdp.InputError, match="counts need members and non-members among the guessed examples"):
        bdp.compare(bdp.GuessTable(np.arange(50.0), np.ones(50, bool)), 1e-5, choice=10)
    with pytest.raises(bdp.InputError, match="but all 2 are non-members: more guesses are needed"):
        bdp.compare(bdp.GuessTable(np.arange(50.0), np.arange(50) == 25), 1e-5, choice=2)


def test_a_posterior_of_scores_is_that_of_their_counts():
    counts = judged(TABLE, 1e-3, 80).counts
    assert bdp.estimate(TABLE, 1e-3, choice=80).interval() == bdp.estimate(counts, 1e-3).interval()
    shifted = bdp.estimate(SHIFTED, 1e-3, choice=80)
    assert shifted.interval() == bdp.estimate_shifted(call_members(SHIFTED, 80), 1e-3).interval()
    for options in ({"family": "gaussian"}, {"likelihood": "beta_binomial"}, {"method": "nuts"}, {"chains": 2}):
        with pytest.raises(bdp.InputError, match="members differ from non-members by their propensities"):
            bdp.estimate(SHIFTED, 1e-3, **options)
    with pytest.raises(bdp.InputError, match="delta is missing"):
        bdp.estimate(SHIFTED)
    with pytest.raises(bdp.InputError, match="choice is for a table of scores"):
        bdp.estimate(counts, 1e-3, choice=80)
    assert bdp.estimate(TABLE, family="gaussian", choice=80).parameter == "mu"


def test_a_comparison_of_scores_is_that_of_their_counts_and_knows_all_memberships():
    names = ("posterior", "one-run", "one-run-exact", "f-dp-gaussian", "panoramia")
    found = bdp.compare(TABLE, 1e-3, choice=80, names=(*names, "zero-run", "posterior-shifted"))
    counts = judged(TABLE, 1e-3, 80).counts
    by_counts = bdp.compare(counts, 1e-3, names=names)
    assert found.digest == by_counts.digest
    for name in names:
        ours, theirs = found.select(name)[0], by_counts.select(name)[0]
        assert (ours.lower, ours.upper, ours.valid) == (theirs.lower, theirs.upper, theirs.valid)
    guesses = guess(bdp.GuessTable(TABLE.score, MEMBER, 0.5), 80)
    assert found.select("zero-run")[0].lower == bdp.audits.zero_run(guesses, 1e-3).value
    shifted = found.select("posterior-shifted")[-1]
    assert (shifted.lower, shifted.upper) == bdp.estimate_shifted(guesses, 1e-3).interval(0.9)
    # A fifth are members: among few guesses that cannot be seen, among all examples it can.
    few = TABLE[MEMBER & (np.arange(400) % 4 == 0) | ~MEMBER]
    bounds = ("one-run", "one-run-exact", "f-dp-gaussian", "f-dp-laplace", "zero-run", "panoramia")
    rows = bdp.compare(few, 1e-3, choice=20, names=bounds).rows
    assert len(rows) == len(bounds)
    for row in rows:
        assert not row.valid
        assert "members" in row.reason
    alone = bdp.compare(judged(few, 1e-3, 20).counts, 1e-3, names=["one-run"])
    assert alone.rows[0].valid  # who sees the counts alone cannot know
    tested = bdp.compare(few, 1e-3, choice=20, claim=bdp.Claim(0.1, 1e-3), names=["one-run"]).claim
    assert tested.outcome == "not tested"
    with pytest.raises(bdp.InputError, match="scores are for error counts"):
        bdp.compare(TABLE, 1e-3, scores=SHIFTED)
    with pytest.raises(bdp.InputError, match="choice is for a table of scores"):
        bdp.compare(counts, 1e-3, choice=80)


def test_a_comparison_of_scores_with_propensities():
    found = bdp.compare(SHIFTED, 1e-3, choice=80, overlap=0.2)
    valid = {row.method for row in found.rows if row.kind != "refused"}
    assert valid == {"posterior-shifted", "zero-run", "zero-run-gaussian", "zero-run-compositional"}
    calls = call_members(SHIFTED, 80)
    assert found.select("zero-run")[0].lower == bdp.audits.zero_run(calls, 1e-3).value
    tested = bdp.compare(SHIFTED, 1e-3, choice=80, claim=bdp.Claim(9.0, 1e-3), names=["zero-run"]).claim
    assert tested.outcome == "not refuted"


def test_one_example_is_not_enough():
    with pytest.raises(bdp.InputError, match="at least 2 examples are needed"):
        judged(bdp.GuessTable([1.0], [True]), 1e-3)
