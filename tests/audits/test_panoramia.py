"""PANORAMIA's measurement: golden values, its relation to one-run audits, and what it says of itself."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp.audits.one_run import lower_bounds
from bayes_dp.audits.panoramia import panoramia
from bayes_dp.beta import clopper_pearson_lower, clopper_pearson_upper
from bayes_dp.data.guess_table import GuessTable


def golden():
    folder = os.environ.get("BAYES_DP_GOLDEN")
    if folder is None:
        pytest.skip("BAYES_DP_GOLDEN is not set")
    return json.loads((Path(folder) / "audits_panoramia.json").read_text())


def evaluate(function, given):
    if function in ("cp_lower", "cp_upper"):
        bound = clopper_pearson_lower if function == "cp_lower" else clopper_pearson_upper
        return bound(given["k"], given["n"], given["a"])
    if function == "precision_log_odds_lb":
        m = given.get("m", max(given["r"], 1))
        return lower_bounds(m, given["r"], given["tp"], given.get("slack", 0.0) / (2 * m), given["a"])
    bits = np.array(given["bits"], bool)
    attack, baseline = (GuessTable(given[name], bits) for name in ("mia_scores", "base_scores"))
    found = panoramia(
        attack,
        baseline,
        delta=given.get("delta", 0.0),
        gamma=given.get("gamma", 0.0),
        confidence=1 - given["beta"],
        thresholds=given.get("thresholds"),
    )
    return {
        "c_lb": found.details["c_lower_bound"],
        "ceps_lb": found.details["c_plus_epsilon_lower_bound"],
        "eps_tilde": found.value,
        "t_baseline": found.details["baseline_threshold"],
        "t_mia": found.details["threshold"],
    }


def test_golden_values():
    seen = 0
    for case in golden():
        given = dict(case["inputs"])
        if "n_union" in given:  # more shares than thresholds: as many thresholds, some twice
            tables = (GuessTable(given[name], np.array(given["bits"], bool)) for name in ("mia_scores", "base_scores"))
            bounds = []
            for table in tables:
                distinct = np.unique(table.score)
                cuts = np.append(distinct, np.full(given["n_union"] - len(distinct), distinct[0]))
                bounds.append(panoramia(table, thresholds=cuts, confidence=1 - given["beta"] / 2).value)
            expected = case["expected"]
            assert bounds == pytest.approx([expected["ceps_lb"], expected["c_lb"]], rel=1e-9)
            seen += 1
            continue
        found, expected = evaluate(given["function"], given), case["expected"]
        rel, least = case["tolerance"]["rel"], case["tolerance"]["abs"]
        pairs = [(found, expected)] if not isinstance(expected, dict) else [(found[k], expected[k]) for k in expected]
        for one, other in pairs:
            assert one == (None if other is None else pytest.approx(other, rel=rel, abs=least)), case["name"]
        seen += 1
    assert seen == len(golden())


def test_figures_by_hand():
    """80 of 100 are members: the log odds of the Clopper-Pearson bound at 0.025 and 0.05."""
    attack = bdp.ErrorCounts([20], 100, [20], 100, design="one_run", examples=200)
    alone = panoramia(attack, confidence=0.95)
    assert alone.value == pytest.approx(special.logit(stats.beta.ppf(0.05, 80, 21)), rel=1e-9)
    assert (alone.kind, alone.valid) == ("lower_bound", True)
    baseline = bdp.ErrorCounts([30], 100, [30], 100, design="one_run", examples=200)
    both = panoramia(attack, baseline)
    assert both.details["c_plus_epsilon_lower_bound"] == pytest.approx(0.8864513384657862, rel=1e-9)
    assert both.details["c_lower_bound"] == pytest.approx(special.logit(stats.beta.ppf(0.025, 70, 31)), rel=1e-9)
    assert both.kind == "estimate"
    assert "not a lower bound" in both.statement()
    assert panoramia(baseline, attack).value == 0


def test_rows_in_another_order_and_thresholds_given():
    rng = np.random.default_rng(1)
    member = rng.random(300) < 0.5
    score = np.round(rng.normal(member * 1.0), 1)
    order = rng.permutation(300)
    one, other = panoramia(GuessTable(score, member)), panoramia(GuessTable(score[order], member[order]))
    assert (one.value, one.details) == (other.value, other.details)
    few = panoramia(GuessTable(score, member), thresholds=[0.5, 1.5])
    taken = score >= few.details["threshold"]
    best = special.logit(stats.beta.ppf(0.025, member[taken].sum(), (~member[taken]).sum() + 1))
    assert few.value == pytest.approx(best)
    assert few.epsilon_at(1e-3).value < few.value


def test_a_lower_bound_with_real_non_members_holds():
    """Randomized response of known ε, guesses at three thresholds chosen in advance."""
    rng, epsilon, m, repetitions = np.random.default_rng(2), 1.0, 200, 4000
    member = rng.random((repetitions, m)) < 0.5
    told = np.where(rng.random((repetitions, m)) < special.expit(epsilon), member, ~member)
    wrong = 0
    for truth, answer in zip(member, told, strict=True):
        wrong += panoramia(GuessTable(answer.astype(float), truth), thresholds=[0.0, 1.0]).value > epsilon
    assert wrong / repetitions < 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)
    assert wrong > 0


def test_a_bad_baseline_makes_the_estimate_too_large():
    """No leak at all, non-members from another law, and a baseline that does not notice: an estimate, and no bound."""
    rng = np.random.default_rng(3)
    member = rng.random(2000) < 0.5
    shifted = rng.normal(member * 2.0)
    found = panoramia(GuessTable(shifted, member), GuessTable(rng.normal(size=2000), member), thresholds=[1.5])
    assert found.value > 0.5
    assert any("too large" in sentence for sentence in found.assumptions)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: panoramia([1, 2]), "attack must be a GuessTable or ErrorCounts, .*not list"),
        (lambda t: panoramia(t, 3), "baseline must be a GuessTable"),
        (lambda t: panoramia(bdp.ErrorCounts([1], 2, [1], 2)), 'attack: counts of the design "repeated"'),
        (lambda t: panoramia(GuessTable([1, 2], [1, 0], propensity=0.3)), "fair coin, and the propensities"),
        (lambda t: panoramia(t, GuessTable([1, 2], [1, 0], base=["a", "b"])), "baseline holds 2 bases"),
        (lambda t: panoramia(t, gamma=0.1), "gamma is for generated non-members"),
        (lambda t: panoramia(t, thresholds=[np.nan]), r"thresholds\[0\] must lie"),
        (lambda t: panoramia(t, confidence=1.0), r"confidence must lie in \(0, 1\)"),
        (lambda t: panoramia(t, delta=1.0), r"delta must lie in \[0, 1\)"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(bdp.InputError, match=message):
        call(GuessTable([0.1, 0.2], [True, False]))
