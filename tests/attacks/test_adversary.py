"""Guesses of members with propensities: plain guesses where nothing shifts, and what the aware adversary does else."""

import re

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import scores
from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.scores import Bonferroni, Fixed, Split, Uncorrected, guess
from bayes_dp.data.guess_table import GuessTable


def table(n=101, seed=0, fair=False, digits=None):
    rng = np.random.default_rng(seed)
    propensity = np.full(n, 0.5) if fair else rng.uniform(0.05, 0.95, n)
    member = rng.random(n) < propensity
    score = rng.normal(size=n) + member
    return GuessTable(score if digits is None else np.round(score, digits), member, propensity)


@pytest.mark.parametrize("aware", [True, False])
@pytest.mark.parametrize("sides", ["both", "members"])
@pytest.mark.parametrize("choice", [Fixed(31), Bonferroni(), Uncorrected([10, 101]), Split([8, 30]), 7])
def test_without_shift_they_are_the_plain_guesses(choice, sides, aware):
    given = table(fair=True)
    found, expected = call_members(given, choice, sides, aware=aware, seed=3), guess(given, choice, sides, seed=3)
    assert found.digest() == expected.digest() == found.counted().digest()
    for part, other in ((found, expected), (found.pilot, expected.pilot)):
        if part is not None:
            np.testing.assert_array_equal(part.order, other.order)
            np.testing.assert_array_equal(part.lowest, other.lowest)


def test_guessed_rows_are_the_extreme_ones():
    given = table()
    found = call_members(given, 5, aware=False)
    rows, called = found.guessed(0)
    ranks = np.argsort(np.argsort(given.score))
    assert set(ranks[rows[called]]) == {98, 99, 100}
    assert set(ranks[rows[~called]]) == {0, 1}
    assert found.correct[0] == np.sum(given.member[rows] == called)
    rows, called = call_members(given, 4, "members", aware=False).guessed(0)
    assert called.all()
    assert set(ranks[rows]) == {97, 98, 99, 100}


@pytest.mark.parametrize("directional", [True, False])
def test_the_aware_adversary_ranks_by_what_the_guess_is_worth(directional):
    given = table()
    distance = given.score - np.median(given.score)
    odds = given.propensity / (1 - given.propensity)
    worth = []
    for d, o in zip(distance, odds, strict=True):
        against = 1 / o if d > 0 else o
        worth.append(d * min(1.0, against, *([] if directional else [1 / against])))
    found = call_members(given, 20, directional=directional)
    rows, called = found.guessed(0)
    order = np.argsort(worth)
    assert set(rows[~called]) == set(order[:10])
    assert set(rows[called]) == set(order[-10:])


def test_it_leaves_out_what_the_features_tell():
    given = table(n=2000)
    unaware, aware = (call_members(given, 100, aware=choice).guessed(0)[0] for choice in (False, True))
    far = np.abs(given.propensity - 0.5)
    assert far[aware].mean() < far[unaware].mean() - 0.05


def test_it_does_not_look_at_who_is_a_member():
    given = table()
    turned = GuessTable(given.score, ~given.member, given.propensity)
    for choice in (Bonferroni(), Split([10, 20])):
        one, other = call_members(given, choice), call_members(turned, choice)
        np.testing.assert_array_equal(one.order, other.order)
        np.testing.assert_array_equal(one.highest, other.highest)


def test_a_seed_decides_between_equal_scores():
    given = table(n=500, digits=0, fair=True)
    orders = [call_members(given, 10, seed=seed).order for seed in (1, 1, 2)]
    np.testing.assert_array_equal(orders[0], orders[1])
    assert (orders[0] != orders[2]).any()


@pytest.mark.parametrize(("choice", "sorts"), [(10, 1), (Split([10]), 2)])
def test_each_part_is_sorted_once(monkeypatch, choice, sorts):
    seen, sort = [], scores._ranked
    monkeypatch.setattr(scores, "_ranked", lambda *arguments: seen.append(1) or sort(*arguments))
    assert call_members(table(), choice).correct[0] >= 0
    assert len(seen) == sorts


def test_infinite_scores_stay_extreme():
    given = GuessTable([-np.inf, -1.0, 0.0, 1.0, np.inf], [False, False, True, True, True], [0.5] * 5)
    rows, called = call_members(given, 2).guessed(0)
    assert list(rows) == [0, 4]
    assert list(called) == [False, True]
    nothing = GuessTable([np.inf, -np.inf], [True, False], [0.5] * 2)
    assert call_members(nothing, 2).correct[0] == 2
    huge = GuessTable([1e308, -1e308, 0.0], [True, False, True], [0.9, 0.1, 0.5])
    assert call_members(huge, 2).correct[0] == 2


def test_parts_of_a_split_have_their_own_propensities():
    found = call_members(table(), Split([10, 40], fraction=0.3))
    assert found.pilot is not None
    assert (found.examples, found.pilot.examples) == (71, 30)
    assert (len(found.propensity), len(found.pilot.propensity)) == (71, 30)
    assert sorted([*found.rows, *found.pilot.rows]) == list(range(101))
    kept = table().split(0.3)[1]
    np.testing.assert_array_equal(found.propensity, kept.propensity)
    assert found.rule == "split"


def test_the_digest_tells_guesses_apart():
    given = table()
    digests = {
        call_members(given, 10).digest_of_examples(),
        call_members(given, 12).digest_of_examples(),
        call_members(given, 10, aware=False).digest_of_examples(),
        call_members(given, 10, "members").digest_of_examples(),
        call_members(given, Split([10])).digest_of_examples(),
        call_members(table(seed=1), 10).digest_of_examples(),
    }
    assert len(digests) == 6
    assert call_members(given, 10).digest_of_examples() in digests


@pytest.mark.parametrize(
    ("given", "choice", "message"),
    [
        (3, 5, "table must be a GuessTable, not int"),
        (GuessTable([1.0, 2.0], [True, False]), 1, "propensity must be given"),
        (GuessTable([1.0, 2.0], [True, False], 0.4), 3, "n must be at most the 2 examples, not 3"),
        (GuessTable([1.0, 2.0], [True, False], 0.4), "all", "choice must be Fixed, Bonferroni, Split, MultiSplit"),
    ],
)
def test_bad_input(given, choice, message):
    with pytest.raises(bdp.InputError, match=re.escape(message)):
        call_members(given, choice)


def test_wrong_sides_and_seeds():
    with pytest.raises(bdp.InputError, match='sides must be "both" or "members"'):
        call_members(table(), 3, "left")
    with pytest.raises(bdp.InputError, match="seed must be a whole number"):
        call_members(table(), 3, seed=-1)
