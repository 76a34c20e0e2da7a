"""The region of a logistic regression: its shape against an optimiser, and how often it holds the truth."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chi2

from bayes_dp.propensity.cross_fitting import standardised
from bayes_dp.propensity.logistic import log_likelihood
from bayes_dp.propensity.region import regression


def drawn(n, slopes, seed, law="normal"):
    """Columns as in a fit, log-odds and memberships."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, len(slopes)))
    if law == "categories":
        x = np.eye(len(slopes))[rng.choice(len(slopes), size=n, p=1 / np.arange(1, 21) / (1 / np.arange(1, 21)).sum())]
    odds = x @ slopes
    return standardised(x), odds, rng.random(n) < expit(odds)


def truth(x, odds):
    """The coefficients that give these log-odds."""
    return np.linalg.lstsq(x, odds, rcond=None)[0]


def test_the_ratio_is_that_of_the_likelihoods():
    x, odds, member = drawn(100, np.array([1.0, -0.5]), 0)
    found, theta = regression(x, member), truth(x, odds)
    assert found.ratio(found.best) == 0
    assert found.ratio(theta) == pytest.approx(
        2 * (log_likelihood(x, member, found.best) - log_likelihood(x, member, theta)), rel=1e-12
    )
    assert all(found.ratio(found.best + step) > 0 for step in np.random.default_rng(1).normal(size=(20, 3)))


@pytest.mark.parametrize("separated", [False, True])
@pytest.mark.parametrize("radius", [0.5, 12.0])
def test_the_farthest_point_against_an_optimiser(separated, radius):
    x, _, member = drawn(60, np.array([1.0, -0.5]), 2)
    found = regression(x, x[:, 0] > 0 if separated else member)
    for direction in np.random.default_rng(3).normal(size=(4, 3)):
        theta = found.farthest(direction, radius)
        assert found.ratio(theta) == pytest.approx(radius, rel=5e-3)
        peer = minimize(
            lambda t, a=direction: -a @ t, found.best, method="SLSQP", options={"maxiter": 1000},
            constraints={"type": "ineq", "fun": lambda t: radius - found.ratio(t)},
        )  # fmt: skip
        if peer.success and found.ratio(peer.x) <= radius * (1 + 1e-6):
            assert direction @ theta >= direction @ peer.x - 5e-3 * (1 + abs(direction @ peer.x))
    assert (found.farthest(np.zeros(3), radius) == found.best).all()


def test_draws_are_of_the_same_law_as_the_ratio_at_the_truth():
    """χ² with d degrees of freedom for many examples."""
    x, odds, _ = drawn(3000, np.array([1.0, 0.0, 0.0, -1.0]), 4)
    found = regression(x, np.random.default_rng(5).random(3000) < expit(odds))
    ratios = np.array([found.redrawn(np.random.default_rng([6, k])) for k in range(300)])
    for q in (0.25, 0.5, 0.75, 0.95):
        share = np.mean(ratios <= chi2.ppf(q, 5))
        assert abs(share - q) < 4 * math.sqrt(q * (1 - q) / 300)


def missed(n, slopes, law, runs, replicates=39, tail=0.1):
    """How often the region does not hold the truth."""
    beyond = 0
    for seed in range(runs):
        x, odds, member = drawn(n, slopes, [7, seed], law)
        found = regression(x, member)
        ratios = [found.redrawn(np.random.default_rng([8, seed, k])) for k in range(replicates)]
        radius = np.sort(ratios)[math.ceil((1 - tail) * (replicates + 1)) - 1]
        beyond += found.ratio(truth(x, odds)) > radius
    return beyond / runs


REGIONS = {
    "few features": (200, np.array([1.0, 0.0]), "normal"),
    "many features": (300, np.full(40, 0.3), "normal"),
    "nearly separated": (200, np.array([5.0, 0.0]), "normal"),
    "rare categories": (600, 1.5 * (-1.0) ** np.arange(20), "categories"),
}


def test_the_region_holds_the_truth():
    assert missed(*REGIONS["few features"], runs=60) <= 0.1 + 3 * math.sqrt(0.09 / 60)


@pytest.mark.slow
@pytest.mark.parametrize("name", REGIONS)
def test_the_region_holds_the_truth_at_length(name):
    rate = missed(*REGIONS[name], runs=400)
    print(f"{name}: {rate:.4f}")
    assert rate <= 0.1 + 3 * math.sqrt(0.09 / 400)
