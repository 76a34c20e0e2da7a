"""PANORAMIA's measurement: golden values, its relation to one-run audits, and what it says of itself."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp.audits.one_run import lower_bounds
from bayes_dp.audits.panoramia import panoramia
from bayes_dp.beta import clopper_pearson_lower, clopper_pearson_upper
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.games.played import SHARES


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


def played(attack=0.8, baseline=None, control=None, generated=True, games=1, m=2000, seed=0):
    """Scores of which those that say "member" are right with these chances."""
    baseline = (0.7 if generated else 0.5) if baseline is None else baseline
    rng = np.random.default_rng(seed)
    member = rng.random((games, m)) < 0.5
    said = [
        None if each is None else np.where(rng.random((games, m)) < each, member, ~member).astype(float)
        for each in (baseline, attack, control)
    ]
    return bdp.games.Played(member, *said, generated=generated)


def test_games_are_measured_as_their_tables():
    game = played(control=0.72)
    found = panoramia(game)
    attack, baseline, control = game.tables()
    by_hand = panoramia(attack, baseline, thresholds=game.thresholds)
    assert found.value == by_hand.value > 0.2
    assert found.details["control"] == panoramia(control, baseline, thresholds=game.thresholds).value
    assert found.details["excess"] == found.value - found.details["control"]
    real = panoramia(played(generated=False))
    assert (real.kind, real.valid) == ("lower_bound", True)
    assert real.value == panoramia(played(generated=False).tables()[0], thresholds=game.thresholds).value
    assert any("replacement" in sentence for sentence in real.assumptions)


def test_several_games_count_by_their_median():
    games = played(games=4, generated=False)
    each = [panoramia(games[k], confidence=0.975).value for k in range(4)]
    found = panoramia(games)
    assert found.value == sorted(each)[1]
    assert (found.details["mean"], found.details["sd"]) == pytest.approx((np.mean(each), np.std(each)))
    assert found.confidence == 0.95
    assert found.epsilon_at(1e-3).value < found.value


@pytest.mark.parametrize(
    ("attack", "control", "evidence"),
    [(0.85, 0.72, ""), (0.75, 0.85, "not above that of the control"), (0.85, None, "no control")],
)
def test_an_estimate_is_evidence_only_above_the_control(attack, control, evidence):
    found = panoramia(played(attack, control=control))
    assert found.kind == "estimate"
    assert found.valid == (not evidence)
    assert evidence in found.invalid
    told = any("only what is above it is evidence" in sentence for sentence in found.warnings)
    assert told == (control is not None and found.details["control"] > 0)


def test_generated_examples_that_anybody_recognises():
    found = panoramia(played(attack=0.99, baseline=0.98, control=0.5))
    assert any("Take a better generator" in sentence for sentence in found.warnings)
    assert not any("better generator" in sentence for sentence in panoramia(played(control=0.5)).warnings)
    largest = panoramia(played(attack=1.0, baseline=0.5, control=0.5))
    assert largest.details["c_plus_epsilon_lower_bound"] == largest.details["largest_possible"]


def test_real_non_members_of_another_law_are_seen_by_a_control():
    found = panoramia(played(generated=False, control=0.7))
    assert any("not drawn as the members were" in sentence for sentence in found.warnings)


@pytest.mark.parametrize("baseline", [0.6, 0.4])
def test_real_non_members_of_another_law_are_seen_by_the_baseline(baseline):
    """Also where it is the other way round, as with examples that are on both sides."""
    for games in (1, 3):
        found = panoramia(played(baseline=baseline, generated=False, games=games))
        assert not found.valid
        told = re.search(r"tells them apart \(AUC ([.0-9]+), p = ", found.invalid)
        assert float(told[1]) == pytest.approx(baseline, abs=0.05)
    assert panoramia(played(baseline=baseline, generated=True, control=0.5)).valid
    table = bdp.compare(played(baseline=baseline, generated=False), 1e-3, names=["panoramia", "one-run", "zero-run"])
    assert not any(row.valid for row in table.rows)
    assert bdp.compare(played(generated=False), 1e-3, names=["panoramia", "one-run"]).rows[1].valid


@pytest.mark.parametrize(("side", "kind"), [(1, "members"), (0, "none")])
def test_a_few_that_are_known_for_certain_are_seen(side, kind):
    """30 of about 1000 on one side bear a mark: an AUC of 0.515, and a bound that would be 1.2 without any leak."""
    rng = np.random.default_rng(0)
    member = rng.random((1, 2000)) < 0.5
    marked = np.zeros(member.shape, bool)
    marked[0, np.flatnonzero(member[0] == bool(side))[:30]] = True
    blind = np.where(marked, 0.9 if side else 0.1, rng.uniform(0.2, 0.8, member.shape))
    found = panoramia(bdp.games.Played(member, blind, blind, generated=False))
    told = re.search(rf"tells them apart \((\d+) of the (\d+) that it is surest of are {kind}, p = ", found.invalid)
    assert int(told[1]) > 0.8 * int(told[2]) <= 40
    assert any("has a bound of" in sentence for sentence in found.warnings) == bool(side)
    assert panoramia(bdp.games.Played(member, rng.random(member.shape), blind, generated=False)).valid


def test_few_pairs_are_said_to_be_few():
    for generated, kind in ((True, "estimate"), (False, "bound")):
        found = panoramia(played(m=20, generated=generated))
        assert any(f"With so few pairs no {kind} above" in sentence for sentence in found.warnings)
        assert not any("better generator" in sentence for sentence in found.warnings)
        assert not any("few pairs" in sentence for sentence in panoramia(played(generated=generated)).warnings)


def test_attacks_that_are_the_wrong_way_round():
    """Not losses, as a table of scores would be told, but examples on both sides, or few."""
    told = panoramia(played(attack=0.2, control=0.5)).warnings
    assert any("take members for the others" in sentence for sentence in told)
    assert not any("loss" in sentence for sentence in told)


def test_non_members_of_the_same_law_are_rarely_taken_for_others():
    """At 1e-4, with few pairs and with ties: fewer than 1 of 1000."""
    for score in (lambda rng: rng.random((1, 20)), lambda rng: rng.integers(0, 3, (1, 60)) / 3):
        found = []
        for seed in range(1000):
            rng = np.random.default_rng(seed)
            member, blind = rng.random(score(rng).shape) < 0.5, score(rng)
            found.append(bdp.games.Played(member, blind, blind, generated=False).told_apart())
        assert sum(map(bool, found)) <= 1
    assert not bdp.games.Played(member, 0 * blind, blind, generated=False).told_apart()
    assert not bdp.games.Played(member | True, blind, blind, generated=False).told_apart()


def exact_games(log_odds, games, m, rng):
    """How many of those that are taken for members are, (games, shares), in the worst case that a log odds allows."""
    taken = np.array([round(share * m) for share in SHARES])
    steps = rng.binomial(np.diff(taken, prepend=0), special.expit(log_odds), size=(games, len(taken)))
    return taken, steps.cumsum(axis=1)


def best(taken, right, m, p):
    """The best lower bound of each game, each share judged at p."""
    found = np.empty(right.shape)
    for k, r in enumerate(taken):
        values, places = np.unique(right[:, k], return_inverse=True)
        found[:, k] = lower_bounds(m, r, values, 0.0, p)[places]
    return found.max(axis=1)


@pytest.mark.parametrize("c", [0.0, 0.5, 2.0])
def test_both_bounds_hold_with_a_generator_of_known_closeness(c):
    """20 000 games of 1000 pairs; the target leaks nothing, so that c is the truth of both bounds."""
    rng, games, m, p = np.random.default_rng(int(10 * c)), 20_000, 1000, 0.05
    taken, blind = exact_games(c, games, m, rng)
    _, attack = exact_games(c, games, m, rng)
    of_baseline, of_attack = (best(taken, right, m, p / 2 / len(SHARES)) for right in (blind, attack))
    error = 3 * np.sqrt(p / 2 / games)
    for found in (of_baseline, of_attack):
        assert 0.002 < (found > c).mean() <= p / 2 + error
    assert ((of_baseline > c) | (of_attack > c)).mean() <= p + error
    # the best share without the union bound
    assert (best(taken, attack, m, p / 2) > c).mean() > 1.5 * p / 2
    # as `panoramia` has them
    coins = np.zeros((1, m), bool)
    places = np.concatenate([np.full(n, k) for k, n in enumerate(np.diff(taken, prepend=0))])
    for k in range(len(taken)):
        inside = np.flatnonzero(places == k)
        coins[0, inside[: int(np.diff(attack[0], prepend=0)[k])]] = True
    score = np.linspace(1, 0, m)[None]
    rest = np.arange(len(places), m)
    coins[0, rest[: max(0, m // 2 - int(coins.sum()))]] = True
    found = panoramia(bdp.games.Played(coins, score, score, control=0 * score))
    assert found.details["c_plus_epsilon_lower_bound"] == pytest.approx(of_attack[0])


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_bound_with_real_non_members_holds_for_a_known_epsilon(epsilon):
    rng, games, m, p = np.random.default_rng(7), 20_000, 2000, 0.05
    found = best(*exact_games(epsilon, games, m, rng), m, p / len(SHARES))
    assert 0.002 < (found > epsilon).mean() <= p + 3 * np.sqrt(p / games)
    assert found.mean() > 0.8 * epsilon - 0.15  # it is not far below


def test_coins_that_fall_after_training_bound_replacement():
    """Release x_i + Laplace(1/ε) of each member, x_i = ±1: ε-DP if it is added or removed, 2ε-DP if it is replaced.

    Where +1 is rare, an example +1 that is shown and high is hardly another member's.
    """
    rng, epsilon, m = np.random.default_rng(0), 1.0, 40_000
    members, others = (np.where(rng.random(m) < 0.05, 1.0, -1.0) for _ in range(2))
    released = members + rng.laplace(0, 1 / epsilon, m)
    coins = rng.random(m) < 0.5
    shown = np.where(coins, members, others)
    score = np.where(shown > 0, special.expit(released), 0.0)[None]
    found = panoramia(bdp.games.Played(coins[None], 0 * score, score, generated=False))
    assert epsilon < 1.2 < found.value <= 2 * epsilon


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda t: panoramia(played(), t), "baseline must be None, as games have their own"),
        (lambda t: panoramia(played(), thresholds=[1.0]), "thresholds must be None, as games have their own"),
        (lambda t: panoramia(played(generated=False), gamma=0.1), "gamma is for generated non-members"),
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
