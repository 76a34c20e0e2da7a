"""A likelihood that the user defines gives what the built-in one of the same law gives."""

import jax.numpy as jnp
import numpy as np
import numpyro.distributions as dist
import pytest
from jax.scipy.special import gammaln, xlog1py, xlogy

import bayes_dp as bdp
from bayes_dp.bayes.checks.pointwise import log_likelihood
from bayes_dp.bayes.likelihoods.counts import Counts

COUNTS = bdp.ErrorCounts([2, 5, 1], [12, 15, 20], [3, 5, 9], [14, 15, 20])


def log_choose(n, k):
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def binomial(counts, alpha, beta):
    x, n0, y, n1 = counts
    return (
        log_choose(n0, x) + xlogy(x, alpha) + xlog1py(n0 - x, -alpha)
        + log_choose(n1, y) + xlogy(y, beta) + xlog1py(n1 - y, -beta)
    )  # fmt: skip


def draw_binomial(rng, counts, alpha, beta):
    return rng.binomial(counts.n0.astype(int), alpha), rng.binomial(counts.n1.astype(int), beta)


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
    own = bdp.Likelihood("mine", binomial, sampler=draw_binomial)
    post = bdp.estimate(COUNTS, 0.01, likelihood=own, progress=False, seed=1)
    exact = bdp.estimate(COUNTS, 0.01)
    compared(post, exact, ["epsilon", "strength"])
    assert "follow the law mine" in post.summary()
    # At the same draws, as leave-one-out scores of three bases differ by a tenth from draws to draws.
    found, wanted = (log_likelihood(one.question, exact.draws(500)) for one in (post, exact))
    np.testing.assert_allclose(found, wanted, atol=0.25)
    assert abs(np.mean(found - wanted)) < 0.01
    rows = np.arange(3)
    alone = [bdp.estimate(COUNTS[rows != row], 0.01).log_evidence for row in rows]
    assert bdp.check(post, size=500).elpd == pytest.approx(3 * exact.log_evidence - sum(alone), abs=0.3)


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


def test_a_prior_need_not_have_a_mean():
    log_normal = dist.TransformedDistribution(dist.Normal(0.0, 1.0), dist.transforms.ExpTransform())
    own, columns = bdp.Likelihood("mine", scattered, {"tau": log_normal}), Counts.of(COUNTS)
    expected = float(dist.LogNormal(0, 1).log_prob(2.0))
    assert float(own.log_prior(columns, jnp.array(2.0))) == pytest.approx(expected, abs=1e-5)
    assert own.log_prior(columns, jnp.array(-1.0)) == -jnp.inf


@pytest.mark.parametrize(
    ("log_g", "words"),
    [
        (lambda counts, a, b: jnp.sum(binomial(counts, a, b)), r"shape \(3, 4\) .* numbers of shape \(\)$"),
        (lambda counts, a, b: jnp.sum(binomial(counts, a, b), axis=0), r"shape \(3, 4\) .* numbers of shape \(4,\)$"),
        (lambda counts, a, b: jnp.sum(binomial(counts, a, b), axis=1), r"shape \(3, 4\) .* numbers of shape \(3,\)$"),
        (lambda counts, a, b: binomial(counts, a, b) + 0j, "real numbers of .* complex"),
        (lambda counts, a, b: None, "must give real numbers of .* not None"),
        (lambda counts, a, b: 0.0, "must give real numbers of .* not 0.0"),
        (lambda counts, a, b: np.log(a), "fails with TracerArrayConversionError: "),
        (lambda counts, a, b: counts.z, "fails with AttributeError: .* 'z'"),
    ],
)
@pytest.mark.parametrize("method", ["mhaar", "nuts"])
def test_a_function_that_is_wrong_is_refused_before_sampling(log_g, words, method):
    own = bdp.Likelihood("mine", log_g)
    with pytest.raises(bdp.InputError, match="^log_g of the likelihood mine .*" + words) as refused:
        bdp.estimate(COUNTS, 0.01, likelihood=own, method=method)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("worth", [-jnp.inf, jnp.inf, jnp.nan])
def test_no_chain_starts_where_counts_are_impossible(worth):
    own = bdp.Likelihood("mine", lambda counts, a, b: jnp.where(counts.x == 5, worth, binomial(counts, a, b)))
    with pytest.raises(bdp.InputError, match=r"no chain may start: .* the likelihood mine gives counts\[1\]"):
        bdp.estimate(COUNTS, 0.01, likelihood=own, progress=False)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_chains_start_where_counts_are_possible():
    """Far from the counts, and at parameters that their prior rarely gives."""

    def upper(counts, alpha, beta, share):
        return jnp.where((alpha + beta > 1) & (share < 0.1), binomial(counts, alpha, beta), -jnp.inf)

    own = bdp.Likelihood("mine", upper, {"share": "Uniform(0, 1)"})
    post = bdp.estimate(COUNTS, 0.01, likelihood=own, progress=False, draws=100, warmup=50)
    alpha, beta = post.rates(400)
    assert np.all(alpha + beta > 1)
    assert post.samples["share"].max() < 0.1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: bdp.Likelihood("a", binomial, {"tau": "HalfNormal(1)"}), "log_g must take counts, alpha, beta and 1"),
        (lambda: bdp.Likelihood("a", scattered), r"and 0 parameters \(none\)"),
        (lambda: bdp.Likelihood("a", scattered, {"epsilon": "HalfNormal(1)"}), "cannot be called 'epsilon'"),
        (lambda: bdp.Likelihood("a", scattered, {"places": "HalfNormal(1)"}), "cannot be called 'places'"),
        (lambda: bdp.Likelihood("a", scattered, {"errors": "HalfNormal(1)"}), "cannot be called 'errors'"),
        (lambda: bdp.Likelihood("a", scattered, {3: "HalfNormal(1)"}), "cannot be called 3"),
        (lambda: bdp.Likelihood("a", scattered, ["HalfNormal(1)"]), "priors must be a dict"),
        (lambda: bdp.Likelihood("", scattered), "the name of a likelihood must be text, not ''"),
        (lambda: bdp.Likelihood(3, scattered), "the name of a likelihood must be text, not 3"),
        (lambda: bdp.Likelihood("a", scattered, {"tau": 3}), "must be a NumPyro distribution"),
        (lambda: bdp.Likelihood("a", scattered, {"tau": dist.Normal(jnp.zeros(2), 1)}), r"of one number.* \(2,\)$"),
        (lambda: bdp.Likelihood("a", scattered, {"tau": dist.Dirichlet(jnp.ones(3))}), r"of one number.* \(3,\)$"),
        (lambda: bdp.Likelihood("a", scattered, {"tau": dist.Poisson(2.0)}), r"continuous .* not Poisson\(rate=2\)"),
        (lambda: bdp.Likelihood("a", scattered, {"tau": "Poisson(2)"}), r"continuous .* not Poisson\(rate=2\)"),
        (lambda: bdp.Likelihood("a", scattered, {"tau": dist.Delta(0.1)}), r"continuous .* not Delta"),
        (
            lambda: bdp.Likelihood("a", scattered, {"tau": dist.ImproperUniform(dist.constraints.positive, (), ())}),
            "proper, .* not ImproperUniform",
        ),
        (lambda: bdp.estimate(COUNTS, 0.01, likelihood=3), "or a bayes_dp.Likelihood, not 3"),
        (lambda: bdp.estimate(COUNTS, 0.01, likelihood=bdp.Likelihood("a", binomial), method="exact"), "not 'a'"),
    ],
)
def test_what_is_refused(make, words):
    with pytest.raises(bdp.InputError, match=words):
        make()
