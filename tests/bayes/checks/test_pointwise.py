"""The log likelihood of a base with its rates integrated out, against cubature and the exact likelihood."""

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.checks.pointwise import log_likelihood
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.question import ask
from tests.cubature import log_marginal

COUNTS = bdp.ErrorCounts([10, 40, 2], [100, 80, 30], [60, 20, 25], [100, 90, 40])
DRAWS = {
    "epsilon": np.array([2.0, 4.0, 1.2]),
    "strength": np.array([0.1, 0.3, 0.6]),
    "tau": np.array([0.005, 0.02, 0.01]),
    "rho": np.array([0.0, 0.01, -0.004]),
}


@pytest.mark.parametrize("likelihood", ["bivariate_normal", "beta_binomial", "kupper_haseman"])
def test_importance_sampling_agrees_with_cubature(likelihood):
    question = ask(COUNTS, "epsilon", 1e-3, likelihood=likelihood)
    found = log_likelihood(question, DRAWS)
    for row in range(3):
        shared = tuple(float(DRAWS[name][row]) for name in question.likelihood.shared)
        at = float(DRAWS["epsilon"][row]), 1e-3, float(DRAWS["strength"][row])
        wanted = log_marginal(question.likelihood, Counts.of(COUNTS), *at, shared, 1e-2)
        possible = np.isfinite(wanted)
        assert (np.isfinite(found[row]) == possible).all()
        # Where a base is far from the layer few pairs count: the error grows with the distance.
        likely = possible & (wanted > wanted.max() - 3)
        np.testing.assert_allclose(found[row][likely], wanted[likely], atol=0.08)


def test_binomial_is_exact():
    question = ask(COUNTS, "epsilon", 1e-3)
    columns = (COUNTS.false_positives, COUNTS.negatives, COUNTS.false_negatives, COUNTS.positives)
    whole = MarginalLikelihood(*columns)
    found = log_likelihood(question, DRAWS)
    total = whole.total(DRAWS["epsilon"], np.full(3, 1e-3), DRAWS["strength"][:, None])[:, 0]
    np.testing.assert_allclose(found.sum(axis=1), total, rtol=1e-12)
    tight = log_likelihood(ask(COUNTS, "epsilon", 1e-3, strength="tight"), {"epsilon": DRAWS["epsilon"]})
    np.testing.assert_allclose(tight.sum(axis=1), whole.total_tight(DRAWS["epsilon"], np.full(3, 1e-3)), rtol=1e-12)


def test_binomial_rows_follow_the_bases_whatever_their_order():
    counts = bdp.ErrorCounts([5, 1, 5, 9], 20, [10, 15, 10, 3], 20)
    draws = {"epsilon": np.array([1.0, 2.0]), "strength": np.array([0.2, 0.5])}
    found = log_likelihood(ask(counts, "epsilon", 0.0), draws)
    for i in range(4):
        alone = bdp.ErrorCounts(counts.false_positives[i : i + 1], 20, counts.false_negatives[i : i + 1], 20)
        np.testing.assert_allclose(found[:, i], log_likelihood(ask(alone, "epsilon", 0.0), draws)[:, 0], rtol=1e-12)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_new_counts_have_the_moments_of_the_density(name):
    """Mean and variance of the draws against sums over the whole range of counts (for the normal: its parameters)."""
    likelihood = LIKELIHOODS[name]
    n0, n1, alpha, beta, tau, rho = 12, 20, 0.3, 0.55, 0.02, 0.01
    shared = {"tau": tau, "rho": rho}
    values = [shared[key] for key in likelihood.shared]
    size = 40_000
    base = Counts(*(np.array([float(v)]) for v in (0, n0, 0, n1)))
    rng = np.random.default_rng(1)
    x, y = likelihood.draw(
        rng, base, np.full((size, 1), alpha), np.full((size, 1), beta), *(np.full(size, v) for v in values)
    )
    if name == "bivariate_normal":
        wanted = [(n * p, n * p * (1 - p) * (1 + (n - 1) * tau)) for n, p in ((n0, alpha), (n1, beta))]
        covariance = n0 * n1 * rho * np.sqrt(alpha * (1 - alpha) * beta * (1 - beta))
        spread = np.sqrt(wanted[0][1] * wanted[1][1] / size)
        assert abs(np.cov(x[:, 0], y[:, 0])[0, 1] - covariance) < 5 * spread
    else:
        grid = np.stack(np.meshgrid(np.arange(n0 + 1.0), np.arange(n1 + 1.0), indexing="ij")).reshape(2, -1)
        every = Counts(grid[0], np.full(len(grid[0]), float(n0)), grid[1], np.full(len(grid[0]), float(n1)))
        rates = np.full((len(grid[0]), 1), alpha), np.full((len(grid[0]), 1), beta)
        mass = np.exp(np.asarray(likelihood.log_density(every, *rates, *values)))[:, 0]
        mass /= mass.sum()  # the binomial's density goes without its coefficients
        if name == "binomial":
            wanted = [(n * p, n * p * (1 - p)) for n, p in ((n0, alpha), (n1, beta))]
        else:
            wanted = [(mass @ values, mass @ (values - mass @ values) ** 2) for values in grid]
    for drawn, (mean, variance) in zip((x[:, 0], y[:, 0]), wanted, strict=True):
        assert abs(drawn.mean() - mean) < 5 * np.sqrt(variance / size)
        assert abs(drawn.var() / variance - 1) < 0.05
