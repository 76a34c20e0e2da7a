"""A likelihood of one's own gives what the built-in one of the same law gives."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from jax.scipy.special import gammaln, xlog1py, xlogy

import bayes_dp as bdp
from bayes_dp.bayes.likelihoods import Counts

COUNTS = bdp.ErrorCounts([2, 5, 1], [12, 15, 20], [3, 5, 9], [14, 15, 20])


def log_choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def binomial(counts, alpha, beta):
    x, n0, y, n1 = counts
    return (
        log_choose(n0, x) + xlogy(x, alpha) + xlog1py(n0 - x, -alpha)
        + log_choose(n1, y) + xlogy(y, beta) + xlog1py(n1 - y, -beta)
    )  # fmt: skip


def scattered(counts, alpha, beta, tau):
    """The beta-binomial law by its gamma functions."""
    odds = (1 - tau) / tau

    def one(x, n, rate):
        a, b = rate * odds, (1 - rate) * odds
        found = gammaln(x + a) + gammaln(n - x + b) - gammaln(n + odds) - gammaln(a) - gammaln(b) + gammaln(odds)
        return log_choose(n, x) + found

    return one(counts.x, counts.n0, alpha) + one(counts.y, counts.n1, beta)


def compared(first, second, parameters):
    for name in parameters:
        shares = np.array([first.marginals[name].cdf(q) for q in second.quantile([0.1, 0.5, 0.9], name)])
        np.testing.assert_allclose(shares, [0.1, 0.5, 0.9], atol=0.035)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_own_binomial():
    own = bdp.Likelihood("mine", binomial, sampler=lambda rng, counts, a, b: (
        rng.binomial(counts.n0.astype(int), a), rng.binomial(counts.n1.astype(int), b)))  # fmt: skip
    post = bdp.estimate(COUNTS, 0.01, likelihood=own, progress=False, seed=1)
    exact = bdp.estimate(COUNTS, 0.01)
    compared(post, exact, ["epsilon", "strength"])
    assert "follow the law mine" in post.summary()
    found, wanted = (bdp.check(one, size=500) for one in (post, exact))
    assert found.elpd == pytest.approx(wanted.elpd, abs=0.15)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_own_law_with_a_parameter():
    own = bdp.Likelihood("mine", scattered, {"tau": "HalfNormal(0.01)"}, assumption="They scatter.")
    settings = {"progress": False, "seed": 2, "draws": 6000}
    post = bdp.estimate(COUNTS, 0.01, likelihood=own, **settings)
    compared(post, bdp.estimate(COUNTS, 0.01, likelihood="beta_binomial", **settings), ["epsilon", "strength", "tau"])
    assert "They scatter." in post.assumptions
    assert post.provenance.priors["tau"] == "HalfNormal(scale=0.01)"
    with pytest.raises(bdp.InputError, match="has no sampler"):
        bdp.check(post, size=50)


def test_outside_of_a_prior_the_density_is_zero():
    own = bdp.Likelihood("mine", scattered, {"tau": dist.Uniform(0.1, 0.2)})
    columns = Counts.of(COUNTS)
    assert own.log_prior(columns, jnp.array(0.3)) == -jnp.inf
    assert float(own.log_prior(columns, jnp.array(0.15))) == pytest.approx(np.log(10), abs=1e-5)
    assert 0.1 < own.start(np.random.default_rng(0), columns)[0] < 0.2


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bdp.Likelihood("a", binomial, {"tau": "HalfNormal(1)"}), "log_g must take counts, alpha, beta and 1"),
        (lambda: bdp.Likelihood("a", scattered), r"and 0 parameters \(none\)"),
        (lambda: bdp.Likelihood("a", scattered, {"epsilon": "HalfNormal(1)"}), "cannot be called 'epsilon'"),
        (lambda: bdp.Likelihood("a", scattered, {"tau": 3}), "must be a NumPyro distribution"),
        (lambda: bdp.estimate(COUNTS, 0.01, likelihood=3), "or a bayes_dp.Likelihood, not 3"),
        (lambda: bdp.estimate(COUNTS, 0.01, likelihood=bdp.Likelihood("a", binomial), method="exact"), "not 'a'"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(bdp.InputError, match=words):
        make()
