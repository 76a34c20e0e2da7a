"""The zero-run audit as a whole: which form it takes, what it says, and that it agrees with the functions below it."""

import re

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.scores import Bonferroni, Fixed, Split, Uncorrected
from bayes_dp.audits import compositional, f_dp, one_run, zero_run
from bayes_dp.audits.propensity_bounds import bounds_for_propensities, expected_bound, median_bound, untampered_p_value
from bayes_dp.audits.tampering import lean
from bayes_dp.audits.zero_run import uniforms
from bayes_dp.tradeoff import Gaussian


def table(n=2000, seed=0, spread=0.5, noise=0.5):
    rng = np.random.default_rng(seed)
    logit = spread * rng.normal(size=n)
    member = rng.random(n) < special.expit(logit)
    score = np.where(member, 1.0, -1.0) + logit / 2 + noise * rng.normal(size=n)
    return bdp.GuessTable(score, member, special.expit(logit))


TABLE = table()
QUESTIONS = (
    {},
    {"propensity": "exact"},
    {"delta": 1e-5},
    {"family": "gaussian"},
    {"form": "tampered"},
    {"directional": False},
    {"delta": 1e-5, "directional": False},
)


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("choice", [Fixed(200), Bonferroni([50, 100, 200]), Uncorrected([100, 200])])
def test_it_is_the_best_of_the_bounds_of_the_guesses(question, choice):
    found = zero_run(TABLE, choice=choice, seed=4, **question)
    directional = question.get("directional", True)
    calls = call_members(TABLE, choice, directional=directional, seed=4)
    level = 0.05 / 3 if isinstance(choice, Bonferroni) else 0.05
    bounds = []
    for i in range(len(calls)):
        rows, called = calls.guessed(i)
        settings = {name: value for name, value in question.items() if name not in ("family", "propensity")}
        settings["cautious"] = question.get("propensity") != "exact"
        settings["parameter"] = "mu" if question.get("family") else "epsilon"
        right = TABLE.member[rows] == called
        given = (TABLE.propensity[rows], called, right, uniforms(calls, 4)[rows])
        bounds.append(bounds_for_propensities(*given, examples=2000, p=level, **settings)[0])
    assert found.value == pytest.approx(max(bounds), rel=1e-9)
    assert found.value > 0
    assert found.details["level"] == pytest.approx(level)
    assert found.valid != isinstance(choice, Uncorrected)
    same = zero_run(calls, seed=4, **question)
    assert same.value == found.value
    assert same.provenance.to_dict() == found.provenance.to_dict()


@pytest.mark.parametrize("question", [{}, {"delta": 1e-5}, {"family": "gaussian"}])
def test_splitting_chooses_on_one_part_and_judges_on_the_other(question):
    choice = Split([20, 100, 400, 1000], seed=2)
    found = zero_run(TABLE, choice=choice, seed=1, **question)
    calls = call_members(TABLE, choice, seed=1)

    def bound(part, i):
        rows, called = part.guessed(i)
        coins = uniforms(calls, 1)[rows]
        settings = {"delta": question.get("delta", 0.0), "parameter": "mu" if question.get("family") else "epsilon"}
        settings["cautious"] = True
        right = part.table.member[rows] == called
        given = (part.table.propensity[rows], called, right, coins)
        return bounds_for_propensities(*given, examples=part.examples, p=0.05, **settings)[0]

    best = int(np.argmax([bound(calls.pilot, i) for i in range(4)]))
    assert found.value == pytest.approx(bound(calls, best), rel=1e-9)
    assert found.details["examples"] == 1000


@pytest.mark.parametrize(
    ("question", "form", "words"),
    [
        ({}, "untampered", "The directional untampered form was taken: on average no other form is tighter at δ = 0"),
        ({"delta": 1e-5}, "tampered", "tampered form was taken, with coins drawn by the seed: for δ > 0 there is no"),
        ({"family": "gaussian"}, "tampered", "for Gaussian DP there is no untampered one"),
        (
            {"form": "tampered"},
            "tampered",
            "was asked for, with coins drawn by the seed: although the untampered",
        ),
        ({"delta": 1e-5, "derandomised": True}, "tampered", "without coins"),
        (
            {"directional": False},
            "untampered",
            "The untampered form was taken: on average no other form is tighter at δ = 0.",
        ),
    ],
)
def test_it_says_which_form_it_took_and_why(question, form, words):
    found = zero_run(TABLE, choice=Fixed(100), **question)
    assert found.details["form"] == form
    assert words in found.summary()
    assert found.provenance.settings["form"] == form
    exact = zero_run(TABLE, choice=Fixed(100), propensity="exact", **question)
    depends = form == "untampered" and question.get("directional", True)
    for each, said in ((found, False), (exact, depends)):
        assert said == ("The propensities are exact" in each.summary())
        assert said != ("further away, on its side of 1/2, does no harm" in each.summary())


def test_propensities_are_taken_cautiously_unless_they_are_exact():
    calls = call_members(TABLE, 1000, aware=False)
    exact, cautious, plain = (
        zero_run(calls, propensity=propensity, directional=directional).value
        for propensity, directional in (("exact", True), ("cautious", True), ("cautious", False))
    )
    assert exact > cautious > plain > 0
    rows, called = calls.guessed(0)
    leans = np.maximum(lean(TABLE.propensity[rows], called), 0.0)
    tail = untampered_p_value(leans, int(np.sum(TABLE.member[rows] == called)), cautious)
    assert tail == pytest.approx(0.05, rel=1e-8)
    for question in ({"delta": 1e-5}, {"family": "gaussian"}):
        assert zero_run(calls, propensity="exact", **question).value == zero_run(calls, **question).value
    found = zero_run(calls)
    assert found.value == cautious
    assert "does no harm" in found.summary()
    assert found.epsilon_at(0.0).value == found.value


def test_fair_coins_give_the_one_run_bounds():
    fair = bdp.GuessTable(TABLE.score, TABLE.member, 0.5)
    guesses = bdp.attacks.guess(fair, Bonferroni(), seed=0)
    assert zero_run(fair).value == pytest.approx(one_run(guesses, 0.0).value, rel=1e-9)
    assert zero_run(fair, family="gaussian").value == pytest.approx(f_dp(guesses).value, rel=1e-9)
    for form in ("tampered", "compositional"):
        assert zero_run(fair, form=form).value == pytest.approx(one_run(guesses, 0.0).value, rel=1e-9)
    composed = zero_run(fair, 1e-5, form="compositional").value
    assert composed == pytest.approx(one_run(guesses, 1e-5, method="binomial").value, rel=1e-9)


def test_the_compositional_form_takes_the_overlap_of_the_table():
    eta = float(np.minimum(TABLE.propensity, 1 - TABLE.propensity).min())
    guesses = call_members(TABLE, Bonferroni()).counted()
    found = zero_run(TABLE, 1e-5, form="compositional")
    assert found.value == compositional(guesses, 1e-5, overlap=eta).value
    assert "No example could have had a propensity further from 1/2 than the 2000 here." in found.assumptions
    wider = zero_run(TABLE, 1e-5, form="compositional", overlap=0.4, shift_delta=1e-4)
    assert wider.value == compositional(guesses, 1e-5, overlap=0.4, shift_delta=1e-4).value
    assert not any("further from 1/2" in sentence for sentence in wider.assumptions)
    gaussian = zero_run(TABLE, form="compositional", overlap=0.4, family="gaussian")
    assert gaussian.value == compositional(guesses, overlap=0.4, family="gaussian").value
    assert wider.epsilon_at(1e-3).value == compositional(guesses, 1e-3, overlap=0.4, shift_delta=1e-4).value


def test_without_coins():
    calls = call_members(TABLE, 200)
    rows, called = calls.guessed(0)
    leans = lean(TABLE.propensity[rows], called)[TABLE.member[rows] == called]
    found = zero_run(calls, 1e-5, derandomised=True)
    assert found.value == pytest.approx(expected_bound(2000, 200, leans, 1e-5, 0.05), rel=1e-6)
    assert found.value == zero_run(calls, 1e-5, derandomised=True, seed=5).value
    mu = zero_run(calls, family="gaussian", derandomised=True)
    assert mu.value == pytest.approx(median_bound(2000, 200, leans, 0.05), rel=1e-9)
    coins = {zero_run(calls, 1e-5, seed=seed).value for seed in range(20)}
    assert len(coins) > 1
    assert found.value < max(coins)


def test_the_coins_are_one_for_each_example():
    few, many, split = (call_members(TABLE, choice) for choice in (5, 900, Split([10], fraction=0.3)))
    np.testing.assert_array_equal(uniforms(few, 3), uniforms(many, 3))
    assert (uniforms(few, 3) != uniforms(few, 4)).all()
    assert uniforms(few, 3).shape == uniforms(split, 3).shape == (2000,)
    coins = uniforms(split, 3)
    assert len(np.unique(coins)) == 2000
    np.testing.assert_array_equal(coins[split.rows], uniforms(few, 3)[:1400])
    assert (uniforms(split.only(0), 3)[split.pilot.rows] == 0).all()


def test_epsilon_at_another_delta():
    found = zero_run(TABLE, choice=Fixed(200))
    at = found.epsilon_at(1e-4)
    assert at.value == zero_run(TABLE, 1e-4, choice=Fixed(200)).value
    assert at.details["form"] == "tampered"
    mu = zero_run(TABLE, family="gaussian", choice=Fixed(200))
    assert mu.parameter == "mu"
    at = mu.epsilon_at(1e-5)
    assert at.parameter == "epsilon"
    assert at.value == Gaussian(mu.value).epsilon_at(1e-5)
    assert at.details["mu"] == mu.value


def test_little_overlap_is_named():
    far = TABLE.propensity.copy()
    far[:7] = 0.995
    found = zero_run(bdp.GuessTable(TABLE.score, TABLE.member, far), choice=Fixed(100), family="gaussian")
    assert found.warnings[0].startswith("7 of 2000 examples have a propensity below 0.01 or above 0.99")
    assert found.details["far"] == 7
    strong = np.where(TABLE.propensity > 0.5, 0.97, 0.03)
    vacuous = zero_run(
        bdp.GuessTable(TABLE.score, strong > 0.5, strong), choice=Fixed(2000), family="gaussian", directional=False
    )
    assert vacuous.value == 0
    assert "kept with chance 0.0309 on average" in vacuous.warnings[0]
    assert not zero_run(TABLE).warnings


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_attack_that_follows_the_features_shows_nothing(question):
    rng = np.random.default_rng(3)
    logit = 2 * rng.normal(size=3000)
    member = rng.random(3000) < special.expit(logit)
    blind = bdp.GuessTable(logit, member, special.expit(logit))
    assert zero_run(blind, aware=False, **question).value < 0.2
    guesses = bdp.attacks.guess(bdp.GuessTable(logit, member), Bonferroni())
    assert one_run(guesses, 0.0).value > 1.5  # which calls the difference a leak


def test_a_table_of_one_kind_is_refused():
    lone = bdp.GuessTable([1.0, 2.0, 3.0], [True, True, True], 0.5)
    with pytest.raises(bdp.InputError, match="all 3 examples are members"):
        zero_run(lone, choice=Fixed(3))


@pytest.mark.parametrize(
    ("given", "settings", "message"),
    [
        (bdp.Guesses(10, 5, 3), {}, "guesses must be made from a GuessTable by bdp.attacks: these are numbers"),
        (3, {}, "guesses must be a GuessTable, or Guesses as attacks.call_members gives them, not int"),
        (bdp.attacks.guess(bdp.GuessTable([1.0, 2.0], [True, False]), 1), {}, "propensity must be given"),
        (bdp.GuessTable([1.0, 2.0], [True, False]), {}, "propensity must be given"),
        (TABLE, {"family": "laplace"}, 'family must be "approx" or "gaussian", not \'laplace\''),
        (TABLE, {"form": "mixed"}, 'form must be "untampered", "tampered" or "compositional", not \'mixed\''),
        (TABLE, {"form": "untampered", "delta": 0.1}, "the untampered form is for epsilon at delta = 0 only"),
        (TABLE, {"derandomised": True}, "derandomised is for the tampered form"),
        (TABLE, {"derandomised": True, "form": "compositional"}, "derandomised is for the tampered form"),
        (TABLE, {"overlap": 0.3}, 'overlap and shift_delta are for the form "compositional"'),
        (TABLE, {"shift_delta": 0.3}, 'overlap and shift_delta are for the form "compositional"'),
        (TABLE, {"propensity": "known"}, 'propensity must be "cautious" or "exact", not \'known\''),
        (TABLE, {"propensity": True}, 'propensity must be "cautious" or "exact", not True'),
        (TABLE, {"delta": 1.0}, "delta must lie in [0, 1), not 1.0"),
        (TABLE, {"confidence": 1.0}, "confidence must lie in (0, 1), not 1.0"),
        (TABLE, {"seed": 0.5}, "seed must be a whole number"),
        (TABLE, {"choice": 3000}, "n must be at most the 2000 examples, not 3000"),
        (call_members(TABLE, 5), {"choice": 3}, "choice is for a table of scores; these guesses are made already"),
    ],
)
def test_bad_input(given, settings, message):
    with pytest.raises(bdp.InputError, match=re.escape(message)):
        zero_run(given, **settings)
