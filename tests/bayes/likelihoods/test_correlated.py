"""The likelihoods of correlated counts: their laws, their limits, and golden marginal likelihoods."""

import json
import os
from pathlib import Path

import jax
import mpmath
import numpy as np
import pytest
from scipy import integrate, special, stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.likelihoods.beta_binomial import BETA_BINOMIAL, beta_binomial
from bayes_dp.bayes.likelihoods.binomial import BINOMIAL
from bayes_dp.bayes.likelihoods.bivariate_normal import BIVARIATE_NORMAL
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.likelihoods.gamma_ratios import log_rise
from bayes_dp.bayes.likelihoods.kupper_haseman import KUPPER_HASEMAN
from tests.cubature import log_marginal

LIKELIHOODS = {one.name: one for one in (BIVARIATE_NORMAL, BETA_BINOMIAL, KUPPER_HASEMAN)}

# ε, s, δ, X, N0, Y, N1, likelihood, shared -> log marginal likelihood
GOLDEN = [
    ((3.0, 0.5, 0.001, 10, 100, 20, 100, "bivariate_normal", (0.01, 0.005)), -8.060452070513447),
    ((3.0, 0.5, 0.001, 10, 100, 20, 100, "beta_binomial", (0.03,)), -8.248808882200603),
    ((6.0, 0.3, 0.001, 10, 100, 0, 100, "bivariate_normal", (0.0, 0.0)), -8.406456844306932),
    ((1.5, 0.05, 0.001, 79, 100, 12, 100, "bivariate_normal", (0.02, -0.015)), -8.816974031291),
    ((4.0, 0.2, 0.001, 0, 100, 50, 100, "bivariate_normal", (0.02, -0.015)), -9.312925965840952),
    ((2.0, 0.6, 0.01, 30, 200, 45, 150, "beta_binomial", (0.0,)), -8.857979686312916),
    ((8.0, 0.1, 0.001, 3, 100, 1, 100, "bivariate_normal", (0.0, 0.0)), -8.75062960482515),
]


def one(*base):
    return Counts(*(np.array([float(v)]) for v in base))


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(("given", "expected"), GOLDEN)
def test_golden_marginals(given, expected):
    epsilon, s, delta, *base, name, shared = given
    found = log_marginal(LIKELIHOODS[name], one(*base), epsilon, delta, s, shared)
    assert found == pytest.approx([expected], abs=1e-5)


def test_a_tolerance_that_is_not_reached_is_told(monkeypatch):
    monkeypatch.setattr("tests.cubature.MOST_PANELS", 16)
    with pytest.raises(bdp.InputError, match="base 0: the marginal likelihood was not found to 1e-14 with 16 panels"):
        log_marginal(BINOMIAL, one(20, 100, 55, 100), 1.5, 1e-3, 0.4, tolerance=1e-14)


def test_the_normal_law_has_no_bound_where_there_are_no_errors():
    """Its density is α^{−1/2} at X = 0 as α → 0, and the layer closes in on α = 0 as ε grows."""
    found = {
        law.name: [float(log_marginal(law, one(0, 50, 3, 50), e, 1e-3, 0.99, shared)[0]) for e in (8, 16, 32, 64)]
        for law, shared in ((BIVARIATE_NORMAL, (0.0, 0.0)), (BETA_BINOMIAL, (0.0,)))
    }
    np.testing.assert_allclose(np.diff(found["bivariate_normal"]), 0.99 / 2 * np.array([8, 16, 32]), atol=0.2)
    np.testing.assert_allclose(np.diff(found["beta_binomial"]), 0, atol=0.2)


def test_all_golden_marginals():
    folder = os.environ.get("BAYES_DP_GOLDEN")
    if folder is None:
        pytest.skip("BAYES_DP_GOLDEN is not set")
    for case in json.loads((Path(folder) / "correlated_loglik.json").read_text()):
        shared = (case["tau"], case["rho"]) if case["likelihood"] == "bivariate_normal" else (case["tau"],)
        counts = one(*(case[k] for k in ("X", "N0", "Y", "N1")))
        found = log_marginal(LIKELIHOODS[case["likelihood"]], counts, case["epsilon"], case["delta"], case["s"], shared)
        assert found == pytest.approx([case["loglik"]], abs=1e-5), case


def test_cubature_of_the_binomial_is_the_closed_form():
    for base, epsilon, delta, s in (
        ((3, 20, 4, 25), 1.5, 0.01, 0.3),
        ((0, 50, 50, 60), 4.0, 0.0, 0.7),
        ((200, 5000, 900, 4000), 3.0, 1e-3, 0.5),
    ):
        counts = one(*base)
        exact = MarginalLikelihood(*(np.array([v]) for v in base)).total(
            np.array([epsilon]), np.array([delta]), np.array([[s]])
        )[0, 0]
        coefficients = stats.binom.logpmf(base[0], base[1], 0.5) - base[1] * np.log(0.5)
        coefficients += stats.binom.logpmf(base[2], base[3], 0.5) - base[3] * np.log(0.5)
        found = log_marginal(BINOMIAL, counts, epsilon, delta, s)[0] + coefficients
        assert found == pytest.approx(exact, abs=1e-5)


def law(likelihood, n, rate, tau):
    """Probabilities of 0, …, n errors, the other count's factor divided out."""
    x = np.arange(n + 1.0)
    counts = Counts(x, np.full(n + 1, float(n)), np.zeros(n + 1), np.ones(n + 1))
    value = likelihood.log_density(counts, np.full((n + 1, 1), rate), np.full((n + 1, 1), 0.25), tau)[:, 0]
    return np.exp(np.asarray(value)) / 0.75


@pytest.mark.parametrize("likelihood", [BETA_BINOMIAL, KUPPER_HASEMAN])
@pytest.mark.parametrize("rate", [0.1, 0.4, 0.75])
@pytest.mark.parametrize("tau", [0.0, 1e-9, 0.004, 0.02])
def test_moments(likelihood, rate, tau):
    """Total one, mean Nα, variance α(1−α) N (1+(N−1)τ)."""
    n = 20
    p, x = law(likelihood, n, rate, tau), np.arange(n + 1)
    assert p.sum() == pytest.approx(1, abs=1e-9)
    mean = p @ x
    assert mean == pytest.approx(n * rate, rel=1e-9)
    assert p @ (x - mean) ** 2 == pytest.approx(n * rate * (1 - rate) * (1 + (n - 1) * tau), rel=1e-7)


@pytest.mark.parametrize("tau", [1e-8, 1e-5, 0.01, 0.3, 0.9])
def test_beta_binomial_against_scipy(tau):
    for rate in (0.02, 0.5, 0.9):
        odds = (1 - tau) / tau
        expected = stats.betabinom(30, rate * odds, (1 - rate) * odds).pmf(np.arange(31))
        np.testing.assert_allclose(law(BETA_BINOMIAL, 30, rate, tau), expected, rtol=2e-5, atol=1e-12)


@pytest.mark.parametrize("likelihood", [BETA_BINOMIAL, KUPPER_HASEMAN])
def test_no_correlation_is_the_binomial(likelihood):
    np.testing.assert_allclose(law(likelihood, 25, 0.3, 0.0), stats.binom.pmf(np.arange(26), 25, 0.3), rtol=1e-10)


def test_kupper_haseman_has_bounds():
    """Kupper & Haseman (1978): −2/(N(N−1)) min(α/(1−α), (1−α)/α) ≤ τ ≤ 2α(1−α)/((N−1)α(1−α) + 1/4 − γ0)."""
    n, rate = 20, 0.3
    low = -2 / (n * (n - 1)) * min(rate / (1 - rate), (1 - rate) / rate)
    gamma = np.min((np.arange(n + 1) - (n - 1) * rate - 0.5) ** 2)
    high = 2 * rate * (1 - rate) / ((n - 1) * rate * (1 - rate) + 0.25 - gamma)
    for bound in (low, high):
        assert law(KUPPER_HASEMAN, n, rate, bound * 0.999).sum() == pytest.approx(1)
        assert law(KUPPER_HASEMAN, n, rate, bound * 1.01).sum() == 0


def test_bivariate_normal_against_scipy():
    counts, tau, rho = one(30, 200, 45, 150), 0.01, 0.004
    for alpha, beta in ((0.2, 0.3), (0.1, 0.35), (0.9, 0.01)):
        var = alpha * (1 - alpha) * 200 * (1 + 199 * tau), beta * (1 - beta) * 150 * (1 + 149 * tau)
        cov = 200 * 150 * rho * np.sqrt(alpha * (1 - alpha) * beta * (1 - beta))
        law_ = stats.multivariate_normal([200 * alpha, 150 * beta], [[var[0], cov], [cov, var[1]]])
        found = BIVARIATE_NORMAL.log_density(counts, np.array([[alpha]]), np.array([[beta]]), tau, rho)
        assert float(found[0, 0]) == pytest.approx(law_.logpdf([30, 45]), rel=1e-10)
    for alpha in (0.0, 1.0):
        assert BIVARIATE_NORMAL.log_density(counts, np.array([[alpha]]), np.array([[0.5]]), tau, rho)[0, 0] == -np.inf


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_priors_are_normalised_on_their_support(name):
    likelihood, counts = LIKELIHOODS[name], Counts(*(np.array(v, float) for v in ([1, 2], [30, 10], [3, 4], [20, 10])))

    def density(*shared):
        return float(np.exp(likelihood.log_prior(counts, *shared)))

    if "rho" in likelihood.shared:
        low = -1 / 29
        assert density(low - 1e-9, 0.0) == density(1.0, 0.0) == 0
        limit = float(likelihood.rho_limit(counts, 0.01))
        assert limit == pytest.approx(min(np.sqrt((1 + 0.29) * (1 + 0.19) / 600), 1.09 / 10))
        assert density(0.01, limit * 1.001) == 0
        assert density(0.01, limit * 0.999) > 0
        total = integrate.quad(lambda t: density(t, 0.0) * 2 * float(likelihood.rho_limit(counts, t)), low, 0.1)[0]
    else:
        total = integrate.quad(density, -1 / 29 if name == "kupper_haseman" else 0.0, 0.1)[0]
        assert density(-1.0) == density(1.0) == 0
    assert total == pytest.approx(1, abs=1e-6)


def test_simulated_rates_give_back_their_parameters():
    """The density of correlated counts that are drawn from the model is, on average, highest at the truth."""
    rng = np.random.default_rng(0)
    rates = region.sample(2.0, 0.01, 0.5, 400, rng)
    tau = 0.05
    odds = (1 - tau) / tau
    x, y = (rng.binomial(100, rng.beta(r * odds, (1 - r) * odds)) for r in rates.T)
    counts = Counts(*(np.asarray(v, float) for v in (x, np.full(400, 100), y, np.full(400, 100))))
    for likelihood, extra in ((BETA_BINOMIAL, ()), (BIVARIATE_NORMAL, (0.0,))):
        totals = [
            float(np.sum(likelihood.log_density(counts, rates[:, :1], rates[:, 1:], t, *extra)))
            for t in (0.02, tau, 0.12)
        ]
        assert np.argmax(totals) == 1


@pytest.mark.parametrize("a", [1e-300, 1e-8, 0.3, 1.0, 5.0, 99.0, 1e4, 1e7])
@pytest.mark.parametrize("k", [0, 1, 7, 100, 10_000, 1_000_000])
def test_rising_factorial(a, k):
    """log Γ(a + k)/Γ(a) against 50 digits."""
    with mpmath.workdps(50):
        wanted = float(mpmath.loggamma(mpmath.mpf(a) + k) - mpmath.loggamma(mpmath.mpf(a)))
    with jax.enable_x64(True):
        np.testing.assert_allclose(log_rise(a, k), wanted, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("tau", [0.0, 1e-40, 1e-14, 9e-8, 1.1e-7, 1e-4, 0.02, 0.9])
def test_beta_binomial_at_every_correlation(tau):
    """Σ log(α + iτ′) + Σ log(1 − α + iτ′) − Σ log(1 + iτ′), τ′ = τ/(1−τ), which has no differences of large numbers."""
    rng, ratio = np.random.default_rng(4), tau / (1 - tau)
    for n in (1, 7, 100, 5000):
        for rate in (1e-9, 1e-5, 0.003, 0.4, 1 - 1e-6):
            x = int(rng.choice([0, n, rng.binomial(n, rate), rng.binomial(n, 0.01)]))
            parts = (rate, x), (1 - rate, n - x), (1.0, n)
            first, second, whole = (np.log(start + ratio * np.arange(k)).sum() for start, k in parts)
            choose = special.gammaln(n + 1) - special.gammaln(x + 1) - special.gammaln(n - x + 1)
            with jax.enable_x64(True):
                found = beta_binomial(*(np.array([[float(value)]]) for value in (x, n, rate)), tau)
            assert float(found[0, 0]) == pytest.approx(choose + first + second - whole, rel=1e-9, abs=1e-8)


def test_beta_binomial_at_impossible_rates():
    with jax.enable_x64(True):
        found = beta_binomial(np.array([[0.0], [1.0], [3.0], [2.0]]), 3.0, np.array([[0.0], [0.0], [1.0], [1.0]]), 0.01)
    np.testing.assert_allclose(found[:, 0], [0.0, -np.inf, 0.0, -np.inf], atol=1e-12)
