"""Priors: reading, support, density."""

import math
import subprocess
import sys

import jax
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.bayes import priors


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("HalfNormal(2)", stats.halfnorm(scale=2)),
        ("Gamma(2, rate=0.5)", stats.gamma(2, scale=2)),
        (" LogNormal(loc=-1, scale=+0.5) ", stats.lognorm(0.5, scale=math.exp(-1))),
        ("Uniform(0, 3)", stats.uniform(0, 3)),
        ("Exponential(1e-1)", stats.expon(scale=10)),
    ],
)
def test_parsed_priors_have_the_density_of_their_scipy_twins(text, twin):
    x = np.linspace(0.1, 2.9, 1500)  # more than one block
    np.testing.assert_allclose(priors.log_density(priors.prior_of("epsilon", text))(x), twin.logpdf(x), rtol=1e-10)


def test_closed_forms_of_the_defaults_agree_with_numpyro():
    x = np.linspace(0.01, 0.99, 50)
    for prior in (dist.HalfNormal(1.7), dist.Beta(0.5, 2.5), dist.Beta(1.0, 1.0)):
        with jax.enable_x64(True):
            expected = np.asarray(prior.log_prob(x))
        np.testing.assert_allclose(priors.log_density(prior)(x), expected, atol=1e-6)


def test_defaults():
    prior = priors.prior_of("epsilon")
    assert float(prior.variance) == pytest.approx(10 * (1 - 2 / math.pi), rel=1e-5)
    assert priors.support("epsilon", prior) == (0, math.inf)
    assert priors.support("strength", priors.prior_of("strength")) == (0, 1)
    assert priors.support("delta", priors.prior_of("delta")) == (0, 1)


@pytest.mark.parametrize(
    "text",
    ["", "HalfNormal", "HalfNormal(", "Nothing(1)", "HalfNormal('x')", "HalfNormal(open('f'))", "HalfNormal(-1)"]
    + ["__import__('os').system('true')", "HalfNormal(1, 2, 3)", "Distribution(1)", "HalfNormal(x=1)", "(" * 500],
)
def test_bad_text_is_refused_in_one_sentence(text):
    with pytest.raises(bdp.InputError, match="prior") as caught:
        priors.prior_of("epsilon", text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("HalfNormal(**{'scale': 5})", r"has arguments after \*\*, which are not read"),
        ("HalfNormal(1, **{})", r"has arguments after \*\*"),
        ("HalfNormal(*[5])", "which is not a number"),
        ("HalfNormal(scale=1, scale=2)", "gives 'scale' twice"),
        ("Gamma(2, rate=1, rate=1)", "gives 'rate' twice"),
        (f"HalfNormal(1{'0' * 400})", "is not finite"),
        (f"HalfNormal(0x{'f' * 5000})", "is not finite"),
        (f"HalfNormal({'9' * 5000})", "cannot be read"),
    ],
)
def test_arguments_that_would_be_lost_are_refused(text, message):
    with pytest.raises(bdp.InputError, match=message) as caught:
        priors.prior_of("epsilon", text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "prior",
    [
        dist.Normal(0.0, 1.0),
        dist.Poisson(2.0),
        dist.HalfNormal(np.ones(2)),
        dist.MultivariateNormal(np.zeros(2), np.eye(2)),
        3,
    ],
)
def test_priors_off_the_support_are_refused(prior):
    with pytest.raises(bdp.InputError, match="the prior of epsilon must"):
        priors.prior_of("epsilon", prior)


def test_describe():
    assert priors.describe(dist.Gamma(2.0, 0.5)) == "Gamma(concentration=2, rate=0.5)"


class Shifted(dist.Distribution):
    """An exponential law above 1, with an attribute that JAX does not know of."""

    support = dist.constraints.greater_than(1.0)

    def __init__(self) -> None:
        self._start = 1.0
        super().__init__()

    def log_prob(self, value):
        return self._start - value


class Drawn(Shifted):
    def sample(self, key, sample_shape=()):
        return self._start + jax.random.exponential(key, sample_shape)


def test_distributions_of_the_users_own():
    counts = bdp.ErrorCounts([5], 50, [20], 50)
    found = bdp.estimate(counts, 0.01, prior_epsilon=Drawn())
    assert found.interval(0.9)[0] > 1
    with pytest.raises(bdp.InputError, match="has no draws, by which its modes are found"):
        bdp.estimate(counts, 0.01, prior_epsilon=Shifted())


@pytest.mark.parametrize(
    "text",
    ["HalfNormal(3)", "Beta(1, 20)", "Uniform(2, 3)", "Normal(-5, 0.1)", "LogNormal(0, 1)", "Exponential(2)"],
)
def test_a_value_inside_of_the_support_and_draws(text):
    prior = priors.parse(text)
    assert bool(prior.support(priors.inside(prior)))
    rng = np.random.default_rng(0)
    drawn = priors.draw(prior, 400, rng)
    assert len(np.unique(drawn)) > 300
    below = np.asarray(prior.cdf(drawn))
    assert stats.kstest(below, "uniform").pvalue > 1e-4


@pytest.mark.parametrize(
    ("prior", "law"),
    [
        ("HalfNormal(2.5)", stats.halfnorm(scale=2.5)),
        ("Beta(1, 1)", stats.beta(1, 1)),
        ("Beta(0.25, 7)", stats.beta(0.25, 7)),
    ],
)
def test_the_laws_of_the_defaults_are_those_of_scipy(prior, law):
    found, x = priors._scipy(priors.parse(prior)), np.array([-1.0, 0.0, 1e-9, 0.2, 0.9, 1.0, 3.0])
    q = np.array([1e-12, 0.01, 0.3, 0.5, 0.99, 1 - 1e-9])
    np.testing.assert_allclose(found.cdf(x), law.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(found.sf(x), law.sf(x), rtol=1e-12)
    np.testing.assert_allclose(found.ppf(q), law.ppf(q), rtol=1e-9)
    drawn = found.rvs(5, random_state=np.random.default_rng(1))
    np.testing.assert_array_equal(drawn, law.rvs(5, random_state=np.random.default_rng(1)))


def test_a_usual_posterior_needs_no_scipy_stats():
    """Its import takes longer than such a posterior."""
    code = "import bayes_dp as bdp; bdp.estimate(bdp.ErrorCounts(1, 10, 2, 10), 0.1)"
    code += "; import sys; assert 'scipy.stats' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
