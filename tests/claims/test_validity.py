"""A true claim is refuted with a chance of at most p, and a false one is refuted."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.audits.rate_tests import clopper_pearson_p, joint_p

N0, N1 = 12, 9
PAIRS = list(itertools.product(range(N0 + 1), range(N1 + 1)))
CLAIMS = {
    "0-DP": bdp.Claim(0.0),
    "approx": bdp.Claim(1.0, 0.05),
    "gaussian": bdp.Claim.gaussian(1.0),
    "one step": bdp.Claim.dp_sgd(0.8, 0.2, 1),
    "dp-sgd": bdp.Claim.dp_sgd(1.0, 0.1, 30),
}


def chance(table: np.ndarray, alpha: float, beta: float) -> float:
    """P[p-value ≤ 0.05] at these rates, exactly."""
    law = np.outer(stats.binom.pmf(range(N0 + 1), N0, alpha), stats.binom.pmf(range(N1 + 1), N1, beta))
    return float(law.ravel()[table <= 0.05].sum())


@pytest.mark.parametrize("name", CLAIMS)
def test_true_claims_by_counts_of_repeated_runs(name: str):
    """At all rates of the boundary, extreme ones among them."""
    f = CLAIMS[name].above  # the true mechanism may be that private, and no more
    below = CLAIMS[name].below
    joint, exact = (np.array([test(below, x, N0, y, N1) for x, y in PAIRS]) for test in (joint_p, clopper_pearson_p))
    rates = np.concatenate([np.geomspace(1e-6, 0.1, 30), np.linspace(0.1, 1.0, 60)])
    sizes = [chance(joint, a, float(f(a))) for a in rates]
    assert 0.01 < max(sizes) <= 0.05
    assert max(chance(exact, a, float(f(a))) for a in rates) <= 0.05
    powers = [chance(table, 0.02, 0.1) for table in (joint, exact)]
    assert powers[0] >= powers[1]  # the test that decides is the better one


SIGMA, RATE, STEPS = 1.0, 0.2, 10
EXAMPLES = 200


def game(rng: np.random.Generator, ties: bool) -> bdp.GuessTable:
    """One training: each example is a coordinate of its own, and is scored by the likelihood ratio of all steps."""
    member = rng.random(EXAMPLES) < 0.5
    taken = member[:, None] & (rng.random((EXAMPLES, STEPS)) < RATE)
    seen = taken + SIGMA * rng.normal(size=(EXAMPLES, STEPS))
    score = np.log(1 - RATE + RATE * np.exp((seen - 0.5) / SIGMA**2)).sum(axis=1)
    return bdp.GuessTable(np.round(score) if ties else score, member)


def refuted(claim: bdp.Claim, choice, games: int, ties: bool) -> float:
    rng = np.random.default_rng(1)
    return float(np.mean([claim.test(game(rng, ties), choice=choice, seed=i).refuted for i in range(games)]))


def without_noise(claim: bdp.Claim) -> bdp.Claim:
    """The claim, without the search for the noise multiplier, which takes most of the time."""
    claim.training = None
    return claim


@pytest.mark.parametrize(
    ("choice", "ties"),
    [(40, False), (40, True), (4, False), (200, True), (bdp.attacks.Bonferroni([10, 50]), False)],
    ids=["40", "ties", "few", "all", "several"],
)
def test_true_claims_by_guesses_on_one_model(choice, ties: bool):
    games = 100
    claim = without_noise(bdp.Claim.dp_sgd(SIGMA, RATE, STEPS))
    assert refuted(claim, choice, games, ties) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / games)


@pytest.mark.slow
def test_true_claims_by_many_games():
    games = 3000
    claim = without_noise(bdp.Claim.dp_sgd(SIGMA, RATE, STEPS))
    for ties in (False, True):
        assert refuted(claim, 40, games, ties) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / games)


def test_false_claims_are_refuted():
    """Beside the above: a claim of much more noise than there was."""
    claim = without_noise(bdp.Claim.dp_sgd(8 * SIGMA, RATE, STEPS))
    assert refuted(claim, 40, 30, False) > 0.5
    f = CLAIMS["dp-sgd"].above
    alpha = 0.1
    n = 400
    rng = np.random.default_rng(0)
    errors, misses = rng.binomial(n, alpha, 40), rng.binomial(n, float(f(alpha)), 40)
    weaker = without_noise(bdp.Claim.dp_sgd(3.0, 0.1, 30))
    found = [weaker.test(bdp.ErrorCounts(x, n, y, n)).refuted for x, y in zip(errors, misses, strict=True)]
    assert np.mean(found) > 0.5


def test_the_empirical_noise_multiplier_is_no_smaller_than_the_true_one():
    """It would be, with a chance of 5%; here in none of three games."""
    claim = bdp.Claim.dp_sgd(SIGMA, RATE, STEPS)
    rng = np.random.default_rng(3)
    found = [claim.test(game(rng, False), choice=40).noise_multiplier for _ in range(3)]
    assert all(value is None or value >= SIGMA for value in found)
