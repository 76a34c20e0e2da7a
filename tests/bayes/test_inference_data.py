"""The groups that ArviZ is given, and what it makes of them."""

from __future__ import annotations

import math
from functools import cache

import arviz as az
import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.bayes.checks.model_check import new_counts, rates_given
from bayes_dp.bayes.exact.posterior import exact_delta
from tests.bayes.arviz_contract import works

COUNTS = bdp.ErrorCounts([10, 30, 4], 100, [20, 5, 40], 100, base=["a", "b", "c"])
SCALE = math.sqrt(10)


@cache
def posterior() -> bdp.Posterior:
    return bdp.estimate(COUNTS, 1e-3)


ASKED: tuple[dict[str, object], ...] = (
    {},
    {"strength": "tight"},
    {"strength": 0.3},
    {"family": "gaussian"},
    {"family": "pure", "prior": "HalfNormal(2)", "strength": "tight"},
    {"family": "average"},
    {"family": "average", "strength": "tight"},
)


@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_arviz_works(asked: dict[str, object]):
    works(bdp.estimate(COUNTS, 1e-3, **asked), size=200)


def test_of_delta():
    data = exact_delta(COUNTS, 1.0).to_arviz(size=100)
    assert set(data["prior"].data_vars) == {"delta", "strength"}
    assert data["log_likelihood"]["counts"].shape == (1, 100, 3)


def test_the_score_is_that_of_the_check():
    found = az.loo(posterior().to_arviz(size=2000))
    score = found.elpd_loo if hasattr(found, "elpd_loo") else found.elpd
    assert score == pytest.approx(bdp.check(posterior(), size=2000).elpd, abs=0.01)


def test_the_prior_scaled_by_a_power_is_another_prior():
    """HalfNormal(σ) to the power of a is HalfNormal(σ/√a): weights p(ε)^(a−1) turn one posterior into the other."""
    data, power = posterior().to_arviz(size=20_000, seed=1), 1.5
    weight = np.exp((power - 1) * data["log_prior"]["epsilon"].values.ravel())
    mean = np.average(data["posterior"]["epsilon"].values.ravel(), weights=weight)
    other = bdp.estimate(COUNTS, 1e-3, prior_epsilon=f"HalfNormal({SCALE / math.sqrt(power)!r})")
    assert mean == pytest.approx(other.mean, abs=5 * other.sd / math.sqrt(20_000))
    assert abs(mean - posterior().mean) > 10 * other.sd / math.sqrt(20_000)


def test_the_densities():
    data = posterior().to_arviz(size=50)
    epsilon, strength = (data["posterior"][name].values for name in ("epsilon", "strength"))
    expected = stats.halfnorm(scale=SCALE).logpdf(epsilon)
    np.testing.assert_allclose(data["log_prior"]["epsilon"].values, expected, rtol=1e-6)
    np.testing.assert_allclose(data["log_prior"]["strength"].values, np.zeros_like(strength), atol=1e-12)
    total = expected + data["log_likelihood"]["counts"].values.sum(axis=-1)
    np.testing.assert_allclose(data["sample_stats"]["lp"].values, total, rtol=1e-6)


def test_the_prior_of_a_family():
    """ε at δ and μ are of one member, and have the prior that the posterior says."""
    post = bdp.estimate(COUNTS, 1e-3, family="gaussian")
    data = post.to_arviz(size=2000)
    mu, epsilon = (data["prior"][name].values.ravel() for name in ("mu", "epsilon"))
    np.testing.assert_allclose(bdp.tradeoff.epsilon_from_mu(mu[:50], 1e-3), epsilon[:50], rtol=1e-3)
    assert np.mean(mu < post.prior_quantile(0.3, "mu")) == pytest.approx(0.3, abs=4 * math.sqrt(0.21 / 2000))
    # The prior is stated of the advantage; its density there is that of a half-normal ε with the same advantage.
    level = bdp.tradeoff.epsilon_from_advantage(bdp.tradeoff.advantage_from_mu(data["posterior"]["mu"].values), 0.0)
    np.testing.assert_allclose(data["log_prior"]["mu"].values, stats.halfnorm(scale=SCALE).logpdf(level), rtol=1e-4)


def test_predicted_counts_are_those_of_the_check():
    data = posterior().to_arviz(size=4000)
    for name, other in zip(("false_positives", "false_negatives"), new_counts(posterior(), 4000, seed=5), strict=True):
        found = data["posterior_predictive"][name].values[0]
        error = np.sqrt((found.var(axis=0) + other.var(axis=0)) / 4000)
        assert (abs(found.mean(axis=0) - other.mean(axis=0)) < 4.5 * error).all()
    assert data["posterior_predictive"]["false_positives"].coords["base"].values.tolist() == ["a", "b", "c"]
    assert data["constant_data"]["negatives"].values.tolist() == [100, 100, 100]


@pytest.mark.filterwarnings("ignore::bayes_dp.ConvergenceWarning")
def test_draws_of_a_sampler_are_thinned_evenly():
    post = bdp.estimate(COUNTS, 1e-3, method="mhaar", draws=150, warmup=50, chains=2, progress=False)
    data = works(post, size=100)
    np.testing.assert_array_equal(data["posterior"]["epsilon"].values, post.samples["epsilon"][:, ::3])
    assert data["sample_stats"]["acceptance_rate"].shape == (2, 50)
    heading, row, *_ = post.summary().splitlines()[1:]
    assert heading.endswith("R-hat  ESS")
    rhat, ess = row.split()[-2:]
    assert float(rhat) == pytest.approx(post.diagnostics["rhat"]["epsilon"], abs=6e-4)
    assert float(ess) == pytest.approx(
        min(post.diagnostics["ess_bulk"]["epsilon"], post.diagnostics["ess_tail"]["epsilon"]), abs=0.6
    )
    assert "R-hat" not in posterior().summary()


def test_rates_on_the_boundary_of_many_draws():
    """Those of a tight attack are drawn on the boundary in proportion to the likelihood, and quickly."""
    counts = bdp.ErrorCounts([10, 30], 100, [20, 5], 100)
    post = bdp.estimate(counts, 1e-3, strength="tight")
    rng = np.random.default_rng(0)
    alpha, beta = rates_given(post, {"epsilon": np.repeat([1.0, 3.0], [1, 3000])}, rng)
    np.testing.assert_allclose(bdp.region.level(alpha, beta, 1e-3), [[1.0] * 2] + [[3.0] * 2] * 3000, rtol=1e-6)
    points = bdp.region.sample_boundary(3.0, 1e-3, 200_000, rng)
    for base in range(2):
        x, y = counts.false_positives[base], counts.false_negatives[base]
        weight = stats.binom.pmf(x, 100, points[:, 0]) * stats.binom.pmf(y, 100, points[:, 1])
        for found, place in ((alpha, points[:, 0]), (beta, points[:, 1])):
            mean = np.average(place, weights=weight)
            sd = math.sqrt(np.average((place - mean) ** 2, weights=weight))
            assert found[1:, base].mean() == pytest.approx(mean, abs=5 * sd / math.sqrt(3000) + 0.02 * mean)
            assert found[1:, base].std() == pytest.approx(sd, rel=0.1)


def test_an_average_has_the_numbers_of_each_draw_s_family():
    post = bdp.estimate(COUNTS, 1e-3, family="average")
    data = post.to_arviz(size=300, seed=2)
    which = data["sample_stats"]["family"].values[0]
    np.testing.assert_array_equal(data["posterior"]["epsilon"].values[0], post.draws(300, 2)["epsilon"])
    np.testing.assert_array_equal(data["posterior"]["alpha"].values[0], post.rates(300, 2)[0])
    assert np.bincount(which) / 300 == pytest.approx(list(post.weights.values()), abs=0.12)
    for i, one in enumerate(post.posteriors.values()):
        own = one.to_arviz(size=300, seed=2)
        mine = which == i
        assert mine.any()
        for group, name in (("log_likelihood", "counts"), ("posterior", "epsilon"), ("sample_stats", "lp")):
            np.testing.assert_array_equal(data[group][name].values[0, mine], own[group][name].values[0, mine])
        total = sum(values.values[0] for values in own["log_prior"].data_vars.values())
        np.testing.assert_allclose(data["log_prior"]["parameters"].values[0, mine], total[mine])
    before = data["prior"]["epsilon"].values.ravel()
    parts = [one.to_arviz(size=4000)["prior"]["epsilon"].values for one in post.posteriors.values()]
    wanted = np.mean(np.concatenate(parts) < 2.0)
    assert np.mean(before < 2.0) == pytest.approx(wanted, abs=4 * 0.5 / math.sqrt(300))


@pytest.mark.filterwarnings("ignore::UserWarning")  # few draws make Pareto k large
def test_orders_of_scores_have_a_likelihood_of_every_base():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(4, 30)), rng.normal(1.0, 1.0, (4, 30))
    post = bdp.estimate_curves(scores, 0.1, family="gaussian")
    data = post.to_arviz(size=200)
    assert data["log_likelihood"]["scores"].shape == (1, 200, 4)
    found = az.loo(data)
    assert np.isfinite(found.elpd_loo if hasattr(found, "elpd_loo") else found.elpd)
    draws = post.draws(200)
    again = post._fit.pointwise(draws["mu"], draws["strength"]).sum(axis=1)
    prior = sum(values.values[0] for values in data["log_prior"].data_vars.values())
    np.testing.assert_allclose(data["sample_stats"]["lp"].values[0], again + prior)
    assert set(data["prior"].data_vars) == set(data["posterior"].data_vars)
