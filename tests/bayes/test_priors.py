"""Priors: reading, support, density."""

import functools
import math

import jax
import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.bayes import laws, priors
from bayes_dp.bayes.laws import LAWS, Law


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


def test_closed_forms_agree_with_numpyro():
    x = np.linspace(0.01, 0.99, 50)
    laws = dist.HalfNormal(1.7), dist.Beta(0.5, 2.5), dist.Beta(1.0, 1.0), dist.Uniform(), dist.Gamma(0.3, 4.0)
    for prior in (*laws, dist.Exponential(3.0)):
        assert isinstance(priors.prior_of("epsilon", prior), Law)
        with jax.enable_x64(True):
            expected = np.asarray(prior.log_prob(x))
        np.testing.assert_allclose(priors.log_density(prior)(x), expected, atol=1e-6)


def test_defaults():
    prior = priors.prior_of("epsilon")
    assert prior.scale**2 == pytest.approx(10)
    assert float(priors.numpyro_law(prior).variance) == pytest.approx(10 * (1 - 2 / math.pi), rel=1e-5)
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
        ("Uniform(0.1, 2)", stats.uniform(0.1, 1.9)),
        ("Uniform", stats.uniform(0, 1)),
        ("Gamma(0.5)", stats.gamma(0.5)),
        ("Gamma(3, rate=0.25)", stats.gamma(3, scale=4)),
        ("Exponential(4)", stats.expon(scale=0.25)),
    ],
)
def test_the_laws_are_those_of_scipy(prior, law):
    x = np.array([-1.0, 0.0, 1e-9, 0.2, 0.9, 1.0, 3.0, 60.0])
    found = priors.prior_of("epsilon", prior if "(" in prior else f"{prior}()")
    q = np.array([1e-12, 0.01, 0.3, 0.5, 0.99, 1 - 1e-9])
    np.testing.assert_allclose(found.below(x), law.cdf(x), rtol=1e-12)
    np.testing.assert_allclose(found.above(x), law.sf(x), rtol=1e-12)
    np.testing.assert_allclose(found.quantile(q), law.ppf(q), rtol=1e-9)
    inside = x[(x > law.support()[0]) & (x < law.support()[1])]
    np.testing.assert_allclose(found.log_density(inside), law.logpdf(inside), rtol=1e-12)
    drawn = found.draw(5, np.random.default_rng(1))
    np.testing.assert_allclose(drawn, law.rvs(5, random_state=np.random.default_rng(1)), rtol=1e-15)
    assert priors.parse(priors.describe(found)).support(drawn).all()
    assert priors.exact_words(found) == priors.exact_words(priors.numpyro_law(found))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Uniform(3, 1)", "low must be below high, not 3 and 1"),
        ("Uniform(1)", "low must be below high, not 1 and 1"),
        ("LogUniform(3, 1)", "low must be below high, not 3 and 1"),
        ("HalfNormal(0)", "scale must be a finite number above 0, not 0;"),
        ("Gamma(1, rate=-2)", "rate must be a finite number above 0, not -2;"),
        ("LogNormal(0, 0)", "scale must be above 0, not 0;"),
        ("HalfCauchy(-1)", "scale must be above 0, not -1;"),
        ("InverseGamma(1, 0)", "rate must be above 0, not 0;"),
        ("Weibull(0, 1)", "scale must be above 0, not 0;"),
    ],
)
def test_what_is_wrong_with_the_numbers_of_a_text(text: str, message: str):
    for read in (priors.read, priors.parse, functools.partial(priors.prior_of, "epsilon")):
        if text.startswith("LogUniform") and not isinstance(read, functools.partial):
            continue  # whose ends are looked at with those of the parameter
        with pytest.raises(bdp.InputError, match=message) as caught:
            read(text)
        assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (dist.Uniform(3.0, 1.0), r"Uniform\(low=3, high=1\): low must be below high, not 3 and 1$"),
        (dist.Uniform(1.0, 1.0), "low must be below high, not 1 and 1$"),
        (dist.Uniform(0.0, math.nan), "high must be a finite number, not nan$"),
        (dist.Uniform(0.0, math.inf), "high must be a finite number, not inf$"),
        (dist.LogUniform(3.0, 1.0), "low must be below high, not 3 and 1$"),
        (dist.LogUniform(1.0, math.inf), "high must be a finite number, not inf$"),
        (dist.TruncatedNormal(1.0, 1.0, low=3.0, high=1.0), "low must be below high, not 3 and 1$"),
        (dist.TruncatedNormal(1.0, 1.0, low=0.0, high=math.nan), "high must be a finite number, not nan$"),
        (dist.TruncatedNormal(1.0, math.inf, low=0.0), "scale must be a finite number, not inf$"),
        (dist.TruncatedCauchy(0.0, 1.0, low=3.0, high=1.0), "low must be below high, not 3 and 1$"),
        (dist.HalfNormal(math.inf), "scale must be a finite number, not inf$"),
        (dist.Gamma(-1.0, 1.0, validate_args=False), "concentration must be above 0, not -1$"),
        (dist.Exponential(0.0, validate_args=False), "rate must be above 0, not 0$"),
        (laws.Uniform(3, 1), "low must be below high, not 3 and 1$"),
        (laws.Uniform(0, math.inf), "high must be a finite number, not inf$"),
        (laws.HalfNormal(-1), "scale must be a finite number above 0, not -1$"),
        (laws.HalfNormal(math.nan), "scale must be a finite number above 0, not nan$"),
        (laws.Beta(1, "a"), "concentration0 must be a finite number above 0, not 'a'$"),
    ],
)
def test_what_is_wrong_with_the_numbers_of_a_prior(prior, message: str):
    with pytest.raises(bdp.InputError, match=f"the prior of epsilon cannot be .*{message}") as caught:
        priors.prior_of("epsilon", prior)
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize("high", [2.0, math.inf])
def test_a_truncated_law_may_have_no_end(high: float):
    assert priors.support("epsilon", dist.TruncatedNormal(1.0, 1.0, low=0.5, high=high)) == (0.5, high)


@pytest.mark.parametrize("family", sorted(LAWS))
def test_words_of_a_law_are_refused_as_numpyro_does(family):
    """Whatever the numbers: a law takes what NumPyro takes, and says what it says."""
    rng, values = np.random.default_rng(3), ["-1", "0", "1e-60", "0.5", "2", "1e200", "-0.0", "True", "1e999", "'a'"]
    names = ["", "", "scale=", "rate=", "low=", "high=", "concentration=", "validate_args="]
    for _ in range(150):
        arguments = [rng.choice(names) + rng.choice(values) for _ in range(rng.integers(4))]
        text = f"{family}({', '.join(arguments)})"
        try:
            expected = priors.describe(priors.parse(text))
        except bdp.InputError as error:
            expected = str(error)
        try:
            found = priors.describe(priors.read(text))
        except bdp.InputError as error:
            found = str(error)
        assert found == expected
