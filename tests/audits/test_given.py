"""What audits are given: tables, which are guessed first, and guesses; and what speaks against these."""

from functools import partial

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks.scores import Bonferroni, Fixed, Split, guess
from bayes_dp.audits.compositional import compositional
from bayes_dp.audits.f_dp import f_dp
from bayes_dp.audits.one_run import one_run
from bayes_dp.checks import InputError
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses

AUDITS = {
    "one_run": partial(one_run, delta=1e-5),
    "f_dp": f_dp,
    "compositional": partial(compositional, delta=1e-5, overlap=0.3),
}
member = np.random.default_rng(0).random(400) < 0.5
TABLE = GuessTable(np.round(member + np.random.default_rng(1).normal(size=400), 1), member)  # with equal scores


@pytest.mark.parametrize("audit", AUDITS.values(), ids=AUDITS)
@pytest.mark.parametrize(
    ("choice", "sides", "seed"),
    [(None, "both", 0), (60, "both", 0), (Fixed(60), "members", 3), (Split(fraction=0.4, seed=5), "both", 0)],
)
def test_a_table_of_scores_is_guessed_first(audit, choice, sides, seed):
    given = {"choice": choice, "sides": sides, "seed": seed}
    found = audit(TABLE, **given)
    plain = audit(guess(TABLE, Bonferroni() if choice is None else choice, sides, seed))
    assert found.value == plain.value
    assert found.provenance.digest == plain.provenance.digest
    assert found.assumptions == plain.assumptions
    settings = found.provenance.settings
    assert (settings["sides"], settings["seed"]) == (sides, seed)
    assert found.epsilon_at(1e-3).value == audit(TABLE, **given | {"delta": 1e-3}).value
    assert found.epsilon_at(1e-3).provenance.settings == settings


@pytest.mark.parametrize("audit", AUDITS.values(), ids=AUDITS)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"choice": 10}, "choice is for a table of scores; these guesses are made already"),
        ({"sides": "members"}, "sides and seed are for a table of scores"),
        ({"sides": "all"}, "sides and seed are for a table of scores"),
        ({"seed": 1}, "sides and seed are for a table of scores"),
        ({"seed": "1"}, "seed must be a whole number"),
    ],
)
def test_made_guesses_are_not_made_again(audit, given, message):
    with pytest.raises(InputError, match=message):
        audit(Guesses(100, 50, 40), **given)


@pytest.mark.parametrize("audit", AUDITS.values(), ids=AUDITS)
@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"choice": 401}, "n must be at most the 400 examples, not 401"),
        ({"choice": 0}, "n must be a whole number from 1"),
        ({"choice": "many"}, "choice must be Fixed, Bonferroni, Split, MultiSplit, Uncorrected or a whole number"),
        ({"sides": "all"}, 'sides must be "both" or "members"'),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_a_table_is_guessed_as_is_possible(audit, given, message):
    with pytest.raises(InputError, match=message):
        audit(TABLE, **given)


def test_propensities_of_a_table():
    """Fair coins for the audits of one run; within the overlap for the compositional one."""
    tilted = GuessTable(TABLE.score, TABLE.member, np.where(np.arange(400) == 7, 0.31, 0.5))
    for audit in (AUDITS["one_run"], AUDITS["f_dp"]):
        with pytest.raises(InputError, match=r"propensity\[7\] must be 0.5 \(a fair coin\) for guesses, not 0.31"):
            audit(tilted)
    assert compositional(tilted, 0.0, overlap=0.31).value == compositional(TABLE, 0.0, overlap=0.31).value
    with pytest.raises(InputError, match=r"propensity\[7\] must lie in \[0.32, 0.68\], as the overlap says, not 0.31"):
        compositional(tilted, 0.0, overlap=0.32)
    assert compositional(tilted, 0.0, overlap=0.32, shift_delta=1e-3).value >= 0


# What speaks against the scores ---------------------------------------------------------------------------------------

WRONG_WAY = {
    "one_run": lambda t: bdp.audits.one_run(t, 1e-5),
    "one_run, split": lambda t: bdp.audits.one_run(t, 1e-5, choice=bdp.attacks.Split()),
    "f_dp": lambda t: bdp.audits.f_dp(t),
    "compositional": lambda t: bdp.audits.compositional(t, 1e-5, overlap=0.4),
    "zero_run": lambda t: bdp.audits.zero_run(bdp.GuessTable(t.score, t.member, 0.5)),
    "zero_run, by the scores": lambda t: bdp.audits.zero_run(bdp.GuessTable(t.score, t.member, 0.5), 1e-5, aware=False),
    "zero_run, compositional": lambda t: bdp.audits.zero_run(
        bdp.GuessTable(t.score, t.member, 0.5), form="compositional", overlap=0.4
    ),
    "panoramia": lambda t: bdp.audits.panoramia(t),
    "panoramia, baseline": lambda t: bdp.audits.panoramia(t, t),
}


@pytest.mark.parametrize("audit", WRONG_WAY)
def test_every_audit_says_that_members_score_lower(audit):
    rng = np.random.default_rng(6)
    member = np.arange(400) % 2 == 0
    score = rng.normal(size=400) + 0.7 * member
    found = WRONG_WAY[audit](bdp.GuessTable(-score, member))
    assert "members score lower (AUC 0.3" in found.warnings[0]
    assert "Warning: By these scores members score lower" in found.summary()
    right = WRONG_WAY[audit](bdp.GuessTable.from_losses(-score, member))
    assert not any("score lower" in sentence for sentence in right.warnings)


def test_fewer_right_guesses_than_coins_give():
    for given in (
        bdp.Guesses(1000, 100, 20),
        bdp.Guesses(1000, [10, 100], [5, 20], "bonferroni"),
        bdp.ErrorCounts(80, 100, 80, 100, design="one_run", examples=200),
    ):
        for bound in (bdp.audits.one_run(given, 1e-5), bdp.audits.f_dp(given)):
            (sentence,) = bound.warnings
            assert "worse than chance: the opposite guesses leak" in sentence
            assert bound.valid
    assert bdp.audits.one_run(bdp.Guesses(1000, 100, 40), 1e-5).warnings == ()
    row = bdp.compare(bdp.ErrorCounts(80, 100, 80, 100, design="one_run", examples=200), 1e-5, names="one-run").rows[0]
    assert (row.valid, "worse than chance" in row.reason) == (True, True)
