"""What a claim says, and what evidence of each kind makes of it."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.audits import clopper_pearson, f_dp, joint_beta, katz, one_run
from bayes_dp.audits.f_dp import p_value
from bayes_dp.audits.one_run import exact_p_value
from bayes_dp.audits.rate_tests import joint_p
from bayes_dp.claims.testing import _worse_than_chance

COUNTS = bdp.ErrorCounts(10, 100, 20, 100)
GUESSES = bdp.Guesses(examples=1000, made=200, correct=170)


def test_what_claims_say():
    assert bdp.Claim(1.0, 1e-5).epsilon == 1.0
    assert bdp.Claim(1.0, 1e-5).epsilon_at(1e-6) == math.inf
    assert bdp.Claim.gaussian(1.0).epsilon is None
    assert bdp.Claim.gaussian(1.0, 1e-5).epsilon == pytest.approx(4.377, abs=1e-3)
    assert repr(bdp.Claim.gaussian(1.0)) == "<Claim: Gaussian DP with μ = 1>"
    full = bdp.Claim.dp_sgd(2.0, 1.0, 16)  # all of the data in each step
    assert full.epsilon_at(1e-5) == bdp.Claim.gaussian(2.0).epsilon_at(1e-5)
    sampled = bdp.Claim.dp_sgd(1.1, 0.01, 1000, 1e-5)
    assert sampled.epsilon == pytest.approx(1.51536, abs=1e-4)
    assert sampled.epsilon_at(1e-3) < sampled.epsilon


def test_the_test_that_decides_is_chosen_by_the_evidence():
    claim, gaussian = bdp.Claim(1.0, 1e-5), bdp.Claim.gaussian(1.0)
    by_counts = claim.test(COUNTS)
    assert by_counts.method == "joint"
    assert by_counts.p_value == joint_p(claim.below, 10, 100, 20, 100)
    by_guesses = claim.test(GUESSES)
    assert by_guesses.method == "one-run-exact"
    assert by_guesses.p_value == pytest.approx(float(exact_p_value(1000, 200, 170, 1.0, 1e-5)))
    assert gaussian.test(GUESSES).p_value == pytest.approx(float(p_value(gaussian.below, 1000, 200, 170)))
    many = bdp.ErrorCounts(10, 30_000, 20, 100)
    assert claim.test(many).method == "clopper-pearson"


def test_refuted_where_the_bound_is_above_the_claim():
    """The bounds on ε and the tests of a claim say the same, by the same method."""
    bound = clopper_pearson(COUNTS, 1e-5).value
    for epsilon in (0.98 * bound, 1.02 * bound):
        claim = bdp.Claim(epsilon, 1e-5)
        row = next(row for row in claim.test(COUNTS).rows if row.method == "clopper-pearson")
        assert row.refutes == (epsilon < bound) == claim.test(clopper_pearson(COUNTS, 1e-5)).refuted
    low = one_run(GUESSES, 1e-5, method="exact").value
    assert bdp.Claim(0.99 * low, 1e-5).test(GUESSES).refuted
    assert not bdp.Claim(1.01 * low, 1e-5).test(GUESSES).refuted
    mu = f_dp(GUESSES).value
    assert bdp.Claim.gaussian(0.99 * mu).test(GUESSES).refuted
    assert not bdp.Claim.gaussian(1.01 * mu).test(GUESSES).refuted


def test_several_bases_and_several_numbers_of_guesses_cost():
    claim = bdp.Claim(1.0, 1e-5)
    two = bdp.ErrorCounts([10, 50], [100, 100], [20, 50], [100, 100])
    assert claim.test(two).p_value == pytest.approx(2 * claim.test(COUNTS).p_value)
    rng = np.random.default_rng(0)
    member = np.arange(400) % 2 == 0
    table = bdp.GuessTable(member + rng.normal(size=400), member)
    one = claim.test(table, choice=100).p_value
    assert claim.test(table, choice=bdp.attacks.Bonferroni([100, 100 + 1])).p_value >= one
    assert claim.test(table, choice=bdp.attacks.Bonferroni([100, 101])).p_value <= 2 * one + 1e-12


@pytest.mark.parametrize("epsilon", [1.0, 40.0, 1000.0])
@pytest.mark.parametrize("runs", [10**5, 10**11, 2**53])
def test_claims_and_counts_of_any_size(epsilon: float, runs: int):
    """None of them takes memory or time by the number of runs, or leaves the range of numbers."""
    for errors in (0, runs // 1000):
        test = bdp.Claim(epsilon, 1e-9).test(bdp.ErrorCounts(errors, runs, errors, runs))
        assert test.refuted == (epsilon == 1.0)
        assert test.detectable is None or (runs == 10**5 and 1.0 < test.detectable < 1.05)


def test_of_bases_with_as_many_runs_one_is_enough():
    claim = bdp.Claim.gaussian(1.0)
    bases = [(10, 50, 30, 60), (2, 50, 40, 60), (4, 50, 20, 60), (0, 30, 12, 30)]
    test = claim.test(bdp.ErrorCounts(*(list(column) for column in zip(*bases, strict=True))))
    assert test.p_value == min(1.0, 4 * min(joint_p(claim.below, *base) for base in bases))


def test_bounds_of_other_families_refute_nothing():
    laplace = f_dp(GUESSES, 1e-5, family="laplace")
    for bound in (f_dp(GUESSES, 1e-5), laplace, f_dp(GUESSES), f_dp(GUESSES, family="laplace")):
        test = bdp.Claim(0.01, 1e-5).test(bound)
        assert (test.outcome, test.exit_code) == ("not tested", 3)
        assert test.rows[0].reason in test.answer
    assert bdp.Claim.gaussian(0.1).test(f_dp(GUESSES)).refuted
    assert bdp.Claim.gaussian(0.1).test(f_dp(GUESSES, 1e-5)).refuted
    assert bdp.Claim.gaussian(0.1).test(laplace).outcome == "not tested"


def test_what_is_not_valid_tests_nothing():
    cross_fed = bdp.ErrorCounts([1, 2], [100, 100], [2, 1], [100, 100], design="cross_fed")
    test = bdp.Claim(0.1, 1e-5).test(cross_fed)
    assert (test.outcome, test.refuted, test.noise_multiplier) == ("not tested", False, None)
    assert bdp.Claim(0.1, 1e-5).test(katz(COUNTS, 1e-5)).outcome == "not tested"
    best = bdp.Guesses(1000, [100, 200], [95, 180], rule="uncorrected")
    assert bdp.Claim(0.1, 1e-5).test(best).outcome == "not tested"


def test_a_posterior_refutes_nothing():
    post = bdp.estimate(COUNTS, 1e-3)
    test = bdp.Claim(2.0, 1e-3).test(post)
    assert test.prob_above == pytest.approx(post.prob_above(2.0))
    assert (test.outcome, test.p_value) == ("not refuted", None)
    assert "is wrong with probability" in test.answer
    assert bdp.Claim(2.0, 1e-5).test(post.epsilon_at(1e-5)).epsilon == 2.0
    assert bdp.Claim(2.0, 1e-2).test(post).prob_above == 0.0  # at a smaller δ that claim allows every ε
    with pytest.raises(bdp.InputError, match="give the posterior"):
        bdp.Claim(2.0, 1e-3).test(joint_beta(COUNTS, 1e-3))
    with pytest.raises(bdp.InputError, match="not one of epsilon"):
        bdp.Claim(2.0, 1e-3).test(bdp.estimate(COUNTS, family="gaussian"))


def test_the_empirical_noise_multiplier():
    claim = bdp.Claim.dp_sgd(1.0, 0.05, 50)
    test = claim.test(bdp.Guesses(1000, 200, 160))
    assert test.noise_multiplier is not None
    at, beside = (bdp.Claim.dp_sgd(s, 0.05, 50).below for s in (test.noise_multiplier, 0.99 * test.noise_multiplier))
    assert p_value(at, 1000, 200, 160) < 0.05 < p_value(beside, 1000, 200, 160)
    assert test.refuted == (test.noise_multiplier <= 1.0)
    assert "Empirical noise multiplier" in str(test)
    assert claim.test(bdp.ErrorCounts(50, 100, 50, 100)).noise_multiplier is None


def test_an_answer_is_never_that_a_claim_is_verified():
    for evidence in (COUNTS, GUESSES, bdp.ErrorCounts(50, 100, 50, 100)):
        text = str(bdp.Claim(8.0, 1e-5).test(evidence))
        assert "verified" not in text
        assert "verifies nothing" in text


def test_a_file_that_contradicts_itself():
    test = bdp.Claim(1.0, 1e-5).test(COUNTS)
    content = test.to_dict()
    rows = [content["rows"][0] | {"valid": False}]
    with pytest.raises(bdp.InputError, match="what is valid has no reason"):
        bdp.ClaimTest.from_dict(content | {"rows": rows})
    with pytest.raises(bdp.InputError, match="rows must not be empty"):
        bdp.ClaimTest.from_dict(content | {"rows": []})
    assert replace(test, p_value=None).p_value is None


def test_epsilon_at_several_deltas():
    claim = bdp.Claim.gaussian(1.0)
    deltas = [1e-6, 1e-3, 0.5]
    found = claim.epsilon_at(deltas)
    assert found.tolist() == [claim.epsilon_at(delta) for delta in deltas]
    assert isinstance(claim.epsilon_at(1e-3), float)
    with pytest.raises(bdp.InputError, match=r"delta\[1\]"):
        claim.epsilon_at([0.1, 1.5])


@pytest.mark.parametrize(
    "evidence",
    [
        bdp.ErrorCounts(90, 100, 85, 100),
        bdp.ErrorCounts([40, 90], 100, [50, 85], 100),
        bdp.Guesses(1000, 200, 50),
        bdp.GuessTable(-np.arange(400.0), np.arange(400) >= 200),
    ],
)
def test_worse_than_chance_is_said_in_the_first_line(evidence):
    """A claim that bad decisions do not refute, though their opposites would."""
    found = bdp.Claim(1.0, 1e-5).test(evidence)
    assert not found.refuted
    (said,) = found.warnings
    assert "worse than chance" in said or "members score lower" in said
    assert said in found.answer
    assert str(found).splitlines()[0] == found.answer
    assert bdp.ClaimTest.from_dict(found.to_dict()) == found


@pytest.mark.parametrize("evidence", [bdp.ErrorCounts(55, 100, 52, 100), bdp.Guesses(1000, 200, 95)])
def test_guessing_is_not_worse_than_chance(evidence):
    found = bdp.Claim(1.0, 1e-5).test(evidence)
    assert found.warnings == ()
    assert "warnings" not in found.to_dict()


def test_many_bases_that_guess_are_not_said_to_be_worse_than_chance():
    rng = np.random.default_rng(0)
    given = (bdp.ErrorCounts(rng.binomial(50, 0.5, 20), 50, rng.binomial(50, 0.5, 20), 50) for _ in range(300))
    assert sum(bool(_worse_than_chance(counts)) for counts in given) <= 3
