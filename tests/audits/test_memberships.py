"""Whether memberships contradict what is assumed of them: level, power, and that every audit of guesses asks."""

import itertools
import json

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.attacks import Bonferroni, Fixed, Split, guess
from bayes_dp.audits import compositional, f_dp, one_run, panoramia, zero_run
from bayes_dp.audits.memberships import LEVEL, under_coins, under_independence, under_overlap, under_propensities


def guesses(examples, members, pilot=None):
    rule = "fixed" if pilot is None else "split"
    return bdp.Guesses(examples, examples, examples // 2, rule, pilot, members)


def table(n, members, propensity=None, seed=0):
    """Random scores, and the first `members` of n examples are members."""
    score = np.random.default_rng(seed).normal(size=n)
    return bdp.GuessTable(score, np.arange(n) < members, propensity)


def p_of(outcome):
    return outcome.details["memberships_p_value"]


# The tests themselves -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("examples", [2, 15, 16, 17, 100, 1001])
def test_fair_coins_by_the_binomial_law(examples):
    members = np.arange(1, examples)
    law = stats.binom(examples, 0.5)
    two_sided = np.minimum(1, 2 * np.minimum(law.cdf(members), law.sf(members - 1)))
    found = [under_coins(guesses(examples, int(k))) for k in members]
    np.testing.assert_allclose([p_of(each) for each in found], two_sided, rtol=1e-9)
    rejected = np.array([bool(each.invalid) for each in found])
    assert rejected.tolist() == (two_sided <= LEVEL).tolist()
    assert law.pmf(members[rejected]).sum() <= LEVEL
    assert not under_coins(guesses(examples, examples // 2)).invalid


@pytest.mark.parametrize("overlap", [0.5, 0.4, 0.1, 1e-3])
@pytest.mark.parametrize("examples", [20, 500])
def test_an_overlap_is_judged_by_its_worst_laws(examples, overlap):
    rejected = [k for k in range(1, examples) if under_overlap(guesses(examples, k), overlap).invalid]
    for chance in (overlap, 0.5, 1 - overlap):
        assert stats.binom(examples, chance).pmf(rejected).sum() <= LEVEL
    if examples == 500 and overlap >= 0.1:
        assert {1, 499} <= set(rejected)


@pytest.mark.parametrize("pilot", [2, 5])
@pytest.mark.parametrize(
    "chances", [[0.5] * 10, [0.999] * 10, np.linspace(0.001, 0.999, 10), [0.01, 0.99] * 5, [0.5] * 5 + [0.9995] * 5]
)
def test_true_propensities_are_seldom_rejected(chances, pilot):
    """Over all memberships of ten examples, each with its chance."""
    chances, total = np.array(chances), 0.0
    sets = np.array(list(itertools.product([False, True], repeat=10)))
    for member in sets[sets.any(axis=1) & ~sets.all(axis=1)]:
        if under_propensities(member, chances, 10 - pilot).invalid:
            total += np.prod(np.where(member, chances, 1 - chances))
    assert total <= LEVEL


def test_propensities_by_the_law_written_out():
    rng = np.random.default_rng(3)
    chance = rng.uniform(0.05, 0.95, 200)

    def law(chances):
        found = np.ones(1)
        for p in chances:
            found = np.convolve(found, [1 - p, p])
        return found

    for share in (0.3, 0.5, 0.8):
        member = rng.random(200) < share
        m, a = int(member.sum()), int(np.sum((chance > 0.5) == member))
        of_members, of_likelier = law(chance), law(np.maximum(chance, 1 - chance))
        fair = stats.binom(200, 0.5)
        tails = [of_members[m:].sum(), of_members[: m + 1].sum()], [of_likelier[a:].sum(), fair.cdf(a)]
        want = min(1.0, 2 * min(2 * min(each) for each in tails))
        assert p_of(under_propensities(member, chance, 200)) == pytest.approx(want, rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("propensity", "members", "found"),
    [
        ([0.5] * 1000, lambda u, p: u < 0.6, "where 500 were expected"),
        ([0.2, 0.8] * 500, lambda u, p: u < 1 - p, "is likelier, where 800 were expected"),  # those of non-members
        ([0.4, 0.6] * 500, lambda u, p: u < (p > 0.5), "is likelier, where 600 were expected"),  # far too timid
        ([0.9] * 1000, lambda u, p: u < 0.5, "where 900 were expected"),
    ],
)
def test_wrong_propensities_are_rejected(propensity, members, found):
    chance = np.array(propensity)
    member = members(np.random.default_rng(1).random(1000), chance)
    outcome = under_propensities(member, chance, 1000)
    assert "The memberships contradict the propensities" in outcome.invalid
    assert found in outcome.invalid


def test_members_against_their_propensities_by_hand():
    """As many members as expected, but 84 of 200 examples are what is likelier: fewer than fair coins would be."""
    chance = np.tile([0.2, 0.8], 100)
    member = np.where(chance > 0.5, np.arange(200) // 2 < 42, np.arange(200) // 2 >= 42)
    p = p_of(under_propensities(member, chance, 200))
    assert p == pytest.approx(4 * stats.binom.cdf(84, 200, 0.5), rel=1e-9)


def test_bold_propensities_on_the_right_side_are_not_what_this_rejects():
    chance = np.tile([0.02, 0.98], 500)
    member = np.tile([0, 1, 0, 1, 1, 0], 167)[:1000].astype(bool)  # two thirds, and as many members as expected
    assert not under_propensities(member, chance, 1000).invalid


def test_independence_within_groups():
    """Pairs by hand; the law of how many agree against draws; and groups that are chosen together."""
    rng = np.random.default_rng(3)
    group, chance = np.array([7, 2, 7, 5, 7, 2, 7, 7]), np.linspace(0.1, 0.9, 8)
    pairs = [(1, 5), (0, 2), (4, 6)]  # the fifth of its group has no other, and neither has the one by itself
    member = np.array([1, 1, 1, 0, 0, 1, 0, 1], dtype=bool)
    drawn = rng.random((20_000, 8)) < chance
    agree = sum(drawn[:, i] == drawn[:, j] for i, j in pairs)
    p_value = under_independence(member, chance, group).details["groups_p_value"]
    assert p_value == pytest.approx(np.mean(agree >= 3), abs=0.015)
    assert under_independence(member, chance, np.arange(8)).details == {}
    group = np.arange(300) // 5
    p_values = [
        under_independence(rng.random(300) < odds, odds, group).details["groups_p_value"]
        for odds in rng.uniform(0.05, 0.95, (400, 300))
    ]
    for level in (0.05, 0.5):
        assert np.mean(np.array(p_values) <= level) <= level + 3 * np.sqrt(level * (1 - level) / 400)
    together = under_independence(np.repeat(rng.random(60) < 0.5, 5), np.full(300, 0.5), group)
    assert together.invalid.startswith("The memberships contradict their independence")
    assert "Of 120 pairs 120 agree, where 60 were expected" in together.invalid


@pytest.mark.parametrize(
    ("members", "invalid"), [((300, 900), False), ((560, 900), False), ((580, 900), True), ((0, 420), True)]
)
def test_limits_are_judged_by_the_number_that_speaks_least_against_coins(members, invalid):
    assert bool(under_coins(guesses(1000, members)).invalid) is invalid


def test_a_pilot_is_judged_along():
    halves = bdp.Guesses(500, 100, 50, members=290), bdp.Guesses(500, 100, 50, members=250)
    whole = guesses(500, 290, bdp.Guesses(500, 100, 50, members=290))
    assert under_coins(whole).invalid.startswith("The memberships contradict fair coins: 580 of 1000")
    assert not under_coins(halves[0]).invalid
    # The part that is kept is judged by itself too: the pilot cannot make up for it.
    assert under_coins(guesses(500, 450, bdp.Guesses(500, 100, 50, members=50))).invalid.count("450 of 500") == 1
    assert not under_coins(guesses(500, 250, bdp.Guesses(500, 100, 50, members=250))).invalid
    law, two = stats.binom(500, 0.5), stats.binom(1000, 0.5)
    both = under_coins(guesses(500, 270, bdp.Guesses(500, 100, 50, members=265)))
    assert p_of(both) == pytest.approx(2 * 2 * min(law.sf(269), two.sf(534)))


def test_what_is_not_known_is_said():
    blind = one_run(bdp.Guesses(1000, 100, 90), 1e-5)
    assert blind.valid
    assert "How many of the examples were members is not known here, so fair coins could not be tested." in (
        blind.assumptions
    )
    assert not any("not known here" in sentence for sentence in one_run(guesses(100, 50), 1e-5).assumptions)
    counts = bdp.ErrorCounts(10, 50, 10, 50, design="one_run", examples=100)
    assert bdp.Guesses.from_counts(counts).members == (50, 50)
    some = bdp.ErrorCounts(10, 50, 10, 60, design="one_run", examples=1000)
    assert bdp.Guesses.from_counts(some).members == (60, 950)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (11, "members must be at most examples, 10, and in order"),
        ((5, 4), "in order"),
        ((1, 2, 3), "a number or the least and the most"),
        (-1, "must be a whole number from 0"),
        (True, "must be a whole number from 0"),
        (2.5, "must be a whole number from 0"),
    ],
)
def test_members_are_checked(members, message):
    with pytest.raises(bdp.InputError, match=message):
        bdp.Guesses(10, 5, 3, members=members)


# Every audit asks -----------------------------------------------------------------------------------------------------

AUDITS = {
    "one_run": lambda t: one_run(guess(t, Fixed(len(t)), sides="members"), 1e-5),
    "one_run, both sides": lambda t: one_run(guess(t, Bonferroni()), 1e-5),
    "one_run, split": lambda t: one_run(guess(t, Split()), 1e-5, method="exact"),
    "f_dp": lambda t: f_dp(guess(t, Fixed(len(t) // 2), sides="members")),
    "f_dp, at delta": lambda t: f_dp(guess(t, Split()), delta=1e-5, family="laplace"),
    "untampered": lambda t: zero_run(even(t)),
    "tampered": lambda t: zero_run(even(t), 1e-5, sides="members"),
    "derandomised": lambda t: zero_run(even(t), 1e-5, choice=10, derandomised=True),
    "gaussian": lambda t: zero_run(even(t), family="gaussian", choice=Split()),
    "compositional": lambda t: compositional(guess(t, Bonferroni()), 1e-5, overlap=0.48),
    "compositional, of a table": lambda t: zero_run(even(t), form="compositional"),
    "panoramia": lambda t: panoramia(t, thresholds=[0.0]),
    "panoramia, baseline": lambda t: panoramia(t, t, thresholds=[0.0]),
}


def even(t):
    return bdp.GuessTable(t.score, t.member, 0.5)


@pytest.mark.parametrize("audit", AUDITS)
def test_every_audit_of_guesses_asks(audit):
    for share in (0.75, 0.9, 0.25):
        found = AUDITS[audit](table(400, round(400 * share)))
        assert not found.valid
        assert "The memberships contradict" in found.invalid
        assert found.details["memberships_p_value"] < 1e-10
        assert "NOT VALID: The memberships contradict" in found.summary()
        assert json.loads(json.dumps(found.to_dict()))["valid"] is False
    fixed = AUDITS[audit](table(400, 200))
    assert fixed.valid
    assert fixed.details["memberships_p_value"] == 1.0
    for only in (0, 400):
        with pytest.raises(bdp.InputError, match="needs members and non-members"):
            AUDITS[audit](table(400, only))


def test_it_holds_at_another_delta_and_beside_other_reasons():
    bound = one_run(guess(table(400, 350), bdp.attacks.Uncorrected([10, 20])), 1e-5)
    assert "The memberships contradict" in bound.invalid
    assert "numbers of guesses was taken" in bound.invalid
    assert not bound.epsilon_at(1e-6).valid


def test_few_examples_cannot_contradict():
    assert one_run(guess(table(10, 9), 5), 1e-5).valid


def test_counts_of_one_run_in_a_comparison():
    counts = bdp.ErrorCounts(100, 200, 400, 800, design="one_run", examples=1000)
    rows = {row.method: row for row in bdp.compare(counts, 1e-5).rows}
    for name in ("one-run", "one-run-exact", "f-dp-gaussian", "f-dp-laplace", "panoramia"):
        assert rows[name].kind == "lower_bound"
        assert not rows[name].valid
        assert "800 of 1000 examples are members" in rows[name].reason
    generated = bdp.compare(counts, 1e-5, baseline=counts, names="panoramia").rows[0]
    assert generated.kind == "estimate"
    assert "The memberships contradict fair coins" in generated.reason
    fair = bdp.ErrorCounts(100, 500, 400, 500, design="one_run", examples=1000)
    assert all(row.valid for row in bdp.compare(fair, 1e-5, names=["one-run", "f-dp-laplace", "panoramia"]).rows)
