"""Guesses of a table know which examples were guessed, and their numbers follow; numbers alone do not say."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import re

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import Bonferroni, MultiSplit, Split, call_members, guess

RANDOM = np.random.default_rng(0)
MEMBER = RANDOM.random(60) < 0.5
TABLE = bdp.GuessTable(np.round(MEMBER + RANDOM.normal(size=60), 1), MEMBER)
SHIFTED = bdp.GuessTable(TABLE.score, MEMBER, RANDOM.uniform(0.1, 0.9, 60))
MADE = {
    "guess": lambda: guess(TABLE, Bonferroni([7, 20, 60])),
    "members only": lambda: guess(TABLE, Bonferroni([7, 60]), "members"),
    "split": lambda: guess(TABLE, Split([10, 30], seed=1)),
    "multisplit": lambda: guess(TABLE, MultiSplit([10, 30], splits=3)),
    "call_members": lambda: call_members(SHIFTED, Bonferroni([8, 21])),
    "call_members, split": lambda: call_members(SHIFTED, Split([9, 22], fraction=0.3)),
}


@pytest.mark.parametrize("way", MADE)
def test_numbers_follow_from_the_examples(way):
    guesses = MADE[way]()
    for part in (guesses, guesses.pilot, *guesses.splits):
        if part is None:
            continue
        assert part.knows_examples
        assert part.members == (MEMBER[part.rows].sum(),) * 2
        assert part.examples == len(part.order) == len(part.rows)
        for i in range(len(part)):
            rows, called = part.guessed(i)
            assert set(rows) <= set(part.rows)
            assert len(set(rows)) == part.made[i] == part.highest[i] + part.lowest[i]
            assert called.sum() == part.highest[i]
            assert (part.table.member[rows] == called).sum() == part.correct[i]
        alone = part.only(1)
        assert (alone.made, alone.correct, alone.rule, alone.pilot) == (part.made[1], part.correct[1], "fixed", None)
        np.testing.assert_array_equal(alone.guessed(0), part.guessed(1))


@pytest.mark.parametrize("way", MADE)
def test_numbers_alone_give_the_same_audits(way):
    guesses = MADE[way]()
    counted = guesses.counted()
    assert not counted.knows_examples
    assert counted.digest() == guesses.digest()
    assert bdp.audits.one_run(counted, 1e-5).value >= 0
    if "call" in way:
        for audit in (lambda: bdp.audits.one_run(guesses, 1e-5), lambda: bdp.audits.f_dp(guesses)):
            with pytest.raises(bdp.InputError, match=r"propensity\[0\] must be 0.5 \(a fair coin\) for guesses"):
                audit()
        with pytest.raises(bdp.InputError, match=re.escape("must lie in [0.4, 0.6], as the overlap says")):
            bdp.audits.compositional(guesses, 1e-5, overlap=0.4)
        assert bdp.audits.compositional(guesses, 1e-5, overlap=0.05).valid
        zero = bdp.audits.zero_run(guesses, 1e-5)
        assert zero.provenance.digest == guesses.digest_of_examples() != guesses.digest()
    else:
        one, other = (bdp.audits.one_run(given, 1e-5).to_dict() for given in (guesses, counted))
        assert one == other
        with pytest.raises(bdp.InputError, match="propensity must be given"):
            bdp.audits.zero_run(guesses)


def test_fair_propensities_serve_both_kinds_of_audits():
    fair = dataclasses.replace(TABLE, propensity=0.5)
    guesses = guess(fair, 20)
    assert bdp.audits.zero_run(guesses).value == pytest.approx(bdp.audits.one_run(guesses, 0.0).value, rel=1e-9)


@pytest.mark.parametrize("name", ["table", "order", "lowest", "highest", "rows", "propensity"])
def test_numbers_do_not_say_what_was_guessed(name):
    for given in (bdp.Guesses(10, 5, 3), guess(TABLE, 5).counted(), dataclasses.replace(guess(TABLE, 5), rule="fixed")):
        with pytest.raises(bdp.InputError, match="these are numbers, which do not say what examples were guessed"):
            getattr(given, name)
    with pytest.raises(bdp.InputError, match="these are numbers"):
        bdp.Guesses(10, 5, 3).guessed(0)


def test_copies_are_equal():
    for way in MADE.values():
        for twin in (pickle.loads(pickle.dumps(way())), copy.deepcopy(way())):
            assert twin.digest() == way().digest()
            assert twin.digest_of_examples() == way().digest_of_examples()
            assert not any(array.flags.writeable for array in (twin.made, twin.correct, twin.order, twin.lowest))
    given = bdp.Guesses(10, [3, 5], [2, 3], "split", bdp.Guesses(8, [2, 4], [1, 3], "uncorrected"), (3, 6), ("Bad.",))
    twin = pickle.loads(pickle.dumps(given))
    assert (twin.digest(), twin.members, twin.warnings) == (given.digest(), (3, 6), ("Bad.",))
    assert not twin.knows_examples


def test_arrays_cannot_be_changed():
    guesses = guess(TABLE, 5)
    for array in (guesses.made, guesses.correct, guesses.order, guesses.lowest):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_counts_of_dependent_rows_are_no_guesses_on_coins():
    rows = ([3, 2], [20, 20], [4, 3], [20, 20])
    grouped = bdp.ErrorCounts(*rows, group=["x", "x"], design="one_run", examples=100)
    with pytest.raises(bdp.InputError, match="with the group label 'x' depend on each other"):
        bdp.Guesses.from_counts(grouped)
    for ask in (lambda: bdp.audits.one_run(grouped, 1e-5), lambda: bdp.compare(grouped, 1e-5, claim=bdp.Claim(9.0))):
        with pytest.raises(bdp.InputError, match="keep one row of each group"):
            ask()
    table = bdp.compare(grouped, 1e-5, names=["one-run", "f-dp-gaussian", "panoramia"])
    assert {row.kind for row in table.rows} == {"refused"}
    assert all("depend on each other" in row.reason for row in table.rows)
    apart = bdp.ErrorCounts(*rows, group=["x", "y"], design="one_run", examples=100)
    alone = bdp.ErrorCounts(*rows, design="one_run", examples=100)
    assert bdp.audits.one_run(apart, 1e-5).value == bdp.audits.one_run(alone, 1e-5).value
    assert bdp.audits.one_run(grouped[0], 1e-5).value >= 0


def test_a_notebook_shows_the_numbers():
    shown = bdp.Guesses(100, [10, 0], [7, 0], rule="uncorrected", warnings=("<b>",))._repr_html_()
    assert "<td>10</td><td>7</td><td>0.7</td>" in shown
    assert "<td>0</td><td>0</td><td></td>" in shown
    assert "&lt;b&gt;" in shown
