"""The binomial likelihood against SciPy, and the laws of its auxiliary pairs."""

import jax
import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.bayes.likelihoods.binomial import BINOMIAL, Binomial
from bayes_dp.bayes.likelihoods.candidates import BetaPair
from bayes_dp.bayes.likelihoods.counts import Counts

COUNTS = bdp.ErrorCounts([0, 3, 20, 7], [5, 10, 20, 1000], [2, 0, 7, 500], [4, 9, 7, 1000])


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def rates(seed=0, m=50):
    return np.random.default_rng(seed).random((2, len(COUNTS), m))


def test_counts():
    counts = Counts.of(COUNTS)
    np.testing.assert_array_equal(counts.x, [0, 3, 20, 7])
    np.testing.assert_array_equal(counts.n1, [4, 9, 7, 1000])
    assert all(column.dtype == np.float64 for column in counts)


def test_log_density_is_binomial_up_to_a_constant():
    x, n0, y, n1 = (column[:, None] for column in Counts.of(COUNTS))
    alpha, beta = rates()
    expected = stats.binom.logpmf(x, n0, alpha) + stats.binom.logpmf(y, n1, beta)
    difference = np.asarray(BINOMIAL.log_density(Counts.of(COUNTS), alpha, beta)) - expected
    np.testing.assert_allclose(difference, np.repeat(difference[:, :1], alpha.shape[1], axis=1), atol=1e-9)


def test_log_density_at_the_ends():
    counts = Counts(*(np.array([float(v)] * 2) for v in (0, 5, 5, 5)))
    value = np.asarray(BINOMIAL.log_density(counts, np.array([[0.0], [1.0]]), np.array([[1.0], [1.0]])))
    np.testing.assert_array_equal(value, [[0.0], [-np.inf]])


def test_posterior_auxiliaries_are_proportional_to_the_likelihood():
    counts = Counts.of(COUNTS)
    proposal, constant = BINOMIAL.proposal(counts, "posterior")
    assert constant
    alpha, beta = rates(1)
    ratio = BINOMIAL.log_density(counts, alpha, beta) - proposal.log_density(alpha, beta)
    np.testing.assert_allclose(ratio, 0.0, atol=1e-9)


def test_uniform_auxiliaries():
    proposal, constant = BINOMIAL.proposal(Counts.of(COUNTS), "uniform")
    assert not constant
    np.testing.assert_array_equal(proposal.log_density(*rates(2)), 0.0)


@pytest.mark.parametrize("auxiliaries", ["posterior", "uniform"])
def test_draws_follow_the_density(auxiliaries):
    proposal, _ = BINOMIAL.proposal(Counts.of(COUNTS), auxiliaries)
    draws = proposal.draw(np.random.default_rng(0), 40, 100)
    for values, a, b in zip(draws, (proposal.a0, proposal.a1), (proposal.b0, proposal.b1), strict=True):
        assert values.shape == (40, len(COUNTS), 100)
        for j in range(len(COUNTS)):
            assert stats.kstest(values[:, j].ravel(), stats.beta(a[j], b[j]).cdf).pvalue > 1e-3
    again = proposal.draw(np.random.default_rng(0), 40, 100)
    np.testing.assert_array_equal(draws, again)


def test_log_density_of_a_beta_pair():
    pair = BetaPair(*(np.array([v]) for v in (2.0, 3.5, 1.0, 4.0)))
    alpha, beta = np.random.default_rng(4).random((2, 1, 20))
    expected = stats.beta.logpdf(alpha, 2.0, 3.5) + stats.beta.logpdf(beta, 1.0, 4.0)
    difference = np.asarray(pair.log_density(alpha, beta)) - expected
    np.testing.assert_allclose(difference, difference[0, 0], atol=1e-12)


def test_a_likelihood_is_a_value():
    assert Binomial() == BINOMIAL
    assert hash(Binomial()) == hash(BINOMIAL)
    with pytest.raises(AttributeError):
        BINOMIAL.name = "other"
