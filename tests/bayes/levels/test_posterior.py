"""The posterior of a member of a family: golden values, a plain grid, and its views."""

import json
import math
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp import tradeoff
from bayes_dp.bayes.families.choice import family_of
from tests.bayes.families.test_families import LOGISTIC, OWN_GAUSSIAN, gaussian, laplace, pure
from tests.bayes.levels.test_counts import log_likelihood

STRONG = bdp.ErrorCounts(
    [100, 200, 110, 120, 200, 50, 60, 40, 200, 100],
    [1000] * 10,
    [100, 80, 100, 100, 60, 200, 150, 250, 70, 120],
    [1000] * 10,
)
THREE = bdp.ErrorCounts([5, 20, 40], [100] * 3, [60, 30, 45], [100] * 3)
ONE = bdp.ErrorCounts(10, 50, 12, 60)
# counts, strength -> 5, 50 and 95% of μ, its tolerance, log evidence, its tolerance
GOLDEN = [
    (STRONG, "free", (2.4637, 2.573, 2.7524), 3e-3, -114.9809, 3e-3),
    (STRONG, "tight", (2.4045, 2.4444, 2.4845), 1e-3, -114.1673, 1e-3),
    (THREE, "free", (1.3041, 2.0389, 4.92), 2e-3, -29.0822, 2e-3),
    (ONE, 0.5, (1.5879, 2.5496, 3.7476), 2e-3, -7.9231, 2e-3),
]
PROBABILITY = (0.05, 0.5, 0.95)


@pytest.mark.parametrize(("counts", "strength", "wanted", "tolerance", "evidence", "of_evidence"), GOLDEN)
def test_golden(counts, strength, wanted, tolerance, evidence, of_evidence):
    post = bdp.estimate(counts, family="gaussian", strength=strength)
    assert post.parameter == "mu"
    assert post.quantile(PROBABILITY) == pytest.approx(wanted, abs=tolerance)
    assert post.log_evidence == pytest.approx(evidence, abs=of_evidence)


def test_the_golden_values_are_those_of_the_file():
    folder = os.environ.get("BAYES_DP_GOLDEN")
    if not folder:
        pytest.skip("BAYES_DP_GOLDEN is not set")
    rows = [row for row in json.loads((Path(folder) / "fdp.json").read_text()) if row["kind"] == "posterior"]
    found = [
        (row["strength"], tuple(row["mu"]), row["atol"], row["log_evidence"], row["atol_evidence"]) for row in rows
    ]
    assert found == [row[1:] for row in GOLDEN]


def slow_posterior(family, counts, strength):
    """Quantiles of θ and the log evidence from a plain grid in x, the ε of equal advantage, and s."""
    x = (np.arange(200) + 0.5) / 200 * 14
    s = (np.arange(60) + 0.5) / 60 if strength == "free" else np.array([strength])
    theta = family.by_epsilon(x)
    value = np.array([[log_likelihood(family, counts, float(t), float(v)) for v in s] for t in theta])
    value += (-(x**2) / 20 + np.log(np.sqrt(2 / (10 * np.pi))))[:, None]
    top = value.max()
    mass = np.exp(value - top).mean(axis=1)
    cumulative = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    return np.interp(PROBABILITY, cumulative, theta), top + np.log(mass.sum() * 14 / 200)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
def test_against_a_plain_grid(name):
    family = family_of(name)
    wanted, evidence = slow_posterior(family, ONE, "free")
    post = bdp.estimate(ONE, family=name)
    assert post.quantile(PROBABILITY) == pytest.approx(wanted, abs=0.02)
    assert post.log_evidence == pytest.approx(evidence, abs=2e-3)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
def test_against_a_plain_grid_with_a_known_strength(name):
    family = family_of(name)
    wanted, evidence = slow_posterior(family, ONE, 0.5)
    post = bdp.estimate(ONE, family=name, strength=0.5)
    assert post.quantile(PROBABILITY) == pytest.approx(wanted, abs=5e-3)
    assert post.log_evidence == pytest.approx(evidence, abs=1e-4)


def test_a_family_of_the_own_is_as_the_closed_one():
    own, closed = (bdp.estimate(THREE, 1e-3, family=family) for family in (OWN_GAUSSIAN, "gaussian"))
    assert own.quantile(PROBABILITY) == pytest.approx(closed.quantile(PROBABILITY), rel=1e-6)
    assert own.log_evidence == pytest.approx(closed.log_evidence, abs=1e-7)
    assert bdp.estimate(THREE, 1e-3, family=LOGISTIC).interval()[1] < closed.interval()[1]


@pytest.mark.parametrize(("f", "name", "error"), [(laplace, "laplace", 1e-4), (pure, "pure", 1e-3)])
def test_a_family_of_the_own_whose_kinks_are_not_told(f, name, error):
    own, closed = (bdp.estimate(THREE, family=family) for family in (bdp.Family("own", f), name))
    assert own.quantile(PROBABILITY) == pytest.approx(closed.quantile(PROBABILITY), rel=1e-4)
    assert own.log_evidence == pytest.approx(closed.log_evidence, abs=error)


@pytest.mark.parametrize("unit", [1e-3, 1e3, 1e6])
def test_a_family_of_the_own_counts_its_parameter_in_any_unit(unit):
    own = bdp.estimate(THREE, family=bdp.Family("own", lambda a, theta: gaussian(a, theta / unit)))
    closed = bdp.estimate(THREE, family="gaussian")
    assert own.quantile(PROBABILITY) == pytest.approx(closed.quantile(PROBABILITY) * unit, rel=1e-6)
    assert own.log_evidence == pytest.approx(closed.log_evidence, abs=1e-6)


def test_a_family_that_ends_is_asked_for_no_larger_member():
    def ending(alpha, theta):
        if np.max(theta) > 2.0:
            raise ValueError("too large")
        return gaussian(alpha, theta)

    family = bdp.Family("ending", ending, most=2.0)
    for given in ({"prior": "Uniform(0, 2)"}, {"prior_epsilon": "Uniform(0, 1)"}):
        own, closed = (bdp.estimate(THREE, 1e-3, family=each, **given) for each in (family, "gaussian"))
        assert own.log_evidence == pytest.approx(closed.log_evidence, abs=1e-6)
        assert own.quantile(PROBABILITY) == pytest.approx(closed.quantile(PROBABILITY), rel=1e-6)
    with pytest.raises(bdp.InputError, match=r"cannot have an advantage above 0\.6827: give prior="):
        bdp.estimate(THREE, 1e-3, family=family)
    with pytest.raises(bdp.InputError, match=r"the prior of theta must live within \[0, 2\]"):
        bdp.estimate(THREE, 1e-3, family=family, prior="HalfNormal(1)")


@pytest.mark.parametrize("prior", ["HalfNormal(1e-3)", "Gamma(0.1, 0.01)", "HalfCauchy(5)", "Uniform(0, 1e6)"])
@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
def test_priors_that_reach_far_or_hardly(name, prior):
    post = bdp.estimate(bdp.ErrorCounts(0, 1, 0, 1), 1e-3, family=name, prior=prior, strength=0.5)
    low, high = post.interval(parameter=post.family.parameter)
    assert 0 < low < high < np.inf
    assert all(np.isfinite(row["mean"]) for row in post.table())
    # Without an error the likelihood is between that of chance, 1/6, and 1.
    assert np.log(1 / 6) < post.log_evidence < 0


def test_pure_is_approx_at_delta_0():
    family, approx = bdp.estimate(THREE, 0.0, family="pure"), bdp.estimate(THREE, 0.0)
    assert family.quantile(PROBABILITY) == pytest.approx(approx.quantile(PROBABILITY), abs=1e-5)
    assert family.log_evidence == pytest.approx(approx.log_evidence, abs=1e-6)
    assert family.quantile(0.5, "strength") == pytest.approx(approx.quantile(0.5, "strength"), abs=1e-5)


def test_quantiles_of_epsilon_are_those_of_the_parameter_mapped():
    post = bdp.estimate(THREE, 1e-3, family="gaussian")
    for delta in (1e-9, 1e-3, 0.3):
        there = post.epsilon_at(delta)
        wanted = tradeoff.epsilon_from_mu(post.quantile(PROBABILITY, "mu"), delta)
        assert there.quantile(PROBABILITY) == pytest.approx(wanted, rel=1e-9)
        assert there.prob_above(float(wanted[1])) == pytest.approx(0.5, abs=1e-9)
    assert [one.median for one in post.epsilon_at([0.01, 0.1])] == [post.epsilon_at(d).median for d in (0.01, 0.1)]
    down = post.delta_at(1.0)
    assert down.parameter == "delta"
    assert down.quantile(PROBABILITY) == pytest.approx(tradeoff.delta_from_mu(post.quantile(PROBABILITY, "mu"), 1.0))


def test_moments_and_density():
    post = bdp.estimate(STRONG, 1e-3, family="gaussian")
    draws = post.draws(40_000, seed=1)
    for name, values in draws.items():
        row = next(row for row in post.table() if row["parameter"] == name)
        assert row["mean"] == pytest.approx(values.mean(), abs=5 * values.std() / 200)
        assert row["sd"] == pytest.approx(values.std(), rel=0.1)
    inside = np.linspace(*post.interval(0.99), 4001)
    density = post.pdf(inside)
    assert np.trapezoid(density, inside) == pytest.approx(0.99, abs=1e-4)


def test_an_epsilon_of_zero_has_mass_of_its_own():
    """At a large δ small members are (0, δ)-DP."""
    post = bdp.estimate(bdp.ErrorCounts(50, 100, 50, 100), 0.3, family="gaussian")
    assert 0.05 < post.prob_above(0.0) < 0.95
    assert post.prob_above(0.0) == pytest.approx(
        post.prob_above(float(tradeoff.mu_from_epsilon(0.0, 0.3)), "mu"), abs=1e-6
    )
    assert post.interval()[0] == 0.0


@pytest.mark.parametrize("family", ["gaussian", OWN_GAUSSIAN, "average"], ids=["gaussian", "own", "average"])
def test_a_posterior_can_be_pickled(family):
    post = bdp.estimate(THREE, 1e-3, family=family)
    again = pickle.loads(pickle.dumps(post))
    assert again.interval() == post.interval()
    assert str(again) == str(post)
    assert again.epsilon_at(0.1).interval() == post.epsilon_at(0.1).interval()


def test_no_mean_is_below_zero():
    """At this δ nearly every member has ε = 0."""
    assert bdp.estimate(THREE, 1 - 1e-9, family="pure").mean >= 0


@pytest.mark.parametrize("name", ["laplace", "pure"])
def test_the_gaussian_family_beside_another_without_delta(name):
    assert bdp.estimate(THREE, family=name).gaussian() == bdp.estimate(THREE, family="gaussian").interval()


def test_the_band_holds_at_all_rates():
    post = bdp.estimate(STRONG, 1e-3, family="gaussian")
    alpha = np.linspace(0.001, 0.999, 50)
    low, high = post.band(alpha, 0.9)
    mu = post.draws(20_000)["mu"]
    curves = special.ndtr(-special.ndtri(alpha) - mu[:, None])
    inside = ((curves >= low - 1e-12) & (curves <= high + 1e-12)).all(axis=1)
    assert inside.mean() == pytest.approx(0.9, abs=0.01)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
def test_levels_and_rates_belong_to_the_draws(name):
    post = bdp.estimate(THREE, 1e-3, family=name)
    draws, levels, (alpha, beta) = post.draws(500), post.levels(500), post.rates(500)
    theta = draws[post.family.parameter][:, None]
    assert levels.shape == alpha.shape == (500, 3)
    assert (levels <= theta * (1 + 1e-9)).all()
    assert (levels >= theta * draws["strength"][:, None] * (1 - 1e-9)).all()
    near = np.where(alpha + beta < 1, beta, 1 - beta), np.where(alpha + beta < 1, alpha, 1 - alpha)
    np.testing.assert_allclose(post.family(near[1], levels), near[0], atol=1e-8)
    assert alpha.mean(axis=0) == pytest.approx(THREE.false_positives / 100, abs=0.06)


def test_bases_with_the_same_counts_have_draws_of_their_own():
    post = bdp.estimate(bdp.ErrorCounts([10] * 3, [100] * 3, [30] * 3, [100] * 3), 1e-3, family="gaussian")
    levels = post.levels(50)
    assert (levels[:, 0] != levels[:, 1]).all()
    assert (levels[:, 1] != levels[:, 2]).all()


@pytest.mark.parametrize(
    "counts", [(0, 1, 0, 1), (1, 1, 1, 1), (0, 1000, 0, 1000), (500, 1000, 500, 1000), (0, 5, 5, 5)]
)
@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
def test_extreme_counts(name, counts):
    post = bdp.estimate(bdp.ErrorCounts(*counts), 1e-3, family=name)
    low, high = post.interval()
    assert 0 <= low < high < np.inf
    assert post.diagnostics["relative_error"] < 1e-4


def test_many_runs():
    counts = bdp.ErrorCounts([10**6, 2 * 10**6], [10**7] * 2, [4 * 10**6, 3 * 10**6], [10**7] * 2)
    post = bdp.estimate(counts, family="gaussian")
    largest = float(special.ndtri(0.9) + special.ndtri(0.6))
    assert largest - 2e-3 < post.interval()[0] < largest + 0.05


def test_priors():
    by_advantage = bdp.estimate(THREE, family="gaussian", prior_epsilon="HalfNormal(0.5)")
    wide, narrow = (
        bdp.estimate(THREE, family="gaussian"),
        bdp.estimate(THREE, family="gaussian", prior="HalfNormal(0.3)"),
    )
    assert narrow.median < by_advantage.median < wide.median
    assert "HalfNormal(scale=0.3)" in narrow.provenance.priors["mu"]
    assert "tanh" in wide.provenance.priors["mu"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"family": "gaussian", "delta": 0.0}, "delta must be above 0 for the gaussian family"),
        ({"family": "normal", "delta": 0.1}, "family must be"),
        ({"family": "gaussian", "likelihood": "beta_binomial"}, "is for the binomial likelihood only"),
        ({"family": "gaussian", "method": "nuts"}, "computed by method='exact'"),
        ({"family": "gaussian", "groups": "aggregate"}, "groups and spread are for"),
        ({"family": "gaussian", "chains": 4}, "chains: settings of a sampler"),
        ({"family": "gaussian", "prior": "Normal(0, 1)"}, "the prior of mu must live within"),
        ({"family": "gaussian", "prior": "HalfNormal(1)", "prior_epsilon": "HalfNormal(1)"}, "not both"),
        ({"delta": 0.1, "prior": "HalfNormal(1)"}, "prior is for the parameter of a family"),
        ({}, "delta is missing"),
        ({"family": bdp.subsampled_gaussian(0.3), "delta": 0.1}, "has no prior by default"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(bdp.InputError, match=message):
        bdp.estimate(THREE, **arguments)


def test_subsampled_noise_by_its_own_family():
    rng, q, mu = np.random.default_rng(0), 0.3, 3.0
    alpha = np.full(10, 0.1)
    t = mu * rng.uniform(0.5, 1.0, 10)
    beta = (1 - q) * 0.9 + q * special.ndtr(-special.ndtri(alpha) - t)
    counts = bdp.ErrorCounts(rng.binomial(1000, alpha), [1000] * 10, rng.binomial(1000, beta), [1000] * 10)
    family = bdp.subsampled_gaussian(q)
    low, high = bdp.estimate(counts, 0.01, family=family, prior="HalfNormal(3)").interval()
    assert low < float(family.epsilon_at(np.array(mu), np.array(0.01))) < high
    assert bdp.estimate(counts, 0.01).interval()[1] < 2.0  # what (ε, δ) makes of the same counts


def test_where_epsilon_may_be_infinite_its_mean_is():
    """f = max(0, e^-θ − α) is (ε, δ)-DP for no ε once e^-θ < 1 − δ; the mean was 2e149."""
    family = bdp.Family("total variation", lambda a, theta: np.maximum(0, np.exp(-theta) - a))
    post = bdp.estimate(bdp.ErrorCounts([10, 12], 100, [20, 30], 100), 0.9, family=family)
    share = post.prob_above(1e6)
    assert 0.1 < share < 0.5
    assert share == 1 - post.marginals["theta"].cdf(-math.log(0.1))
    assert post.median == 0
    assert post.mean == math.inf
    assert math.isnan(post.sd)


@pytest.mark.parametrize("family", ["gaussian", "laplace", "pure", "average"])
def test_many_deltas_at_once_are_what_each_alone_is(family):
    post = bdp.estimate(THREE, delta=1e-3, family=family)
    deltas = [1e-6, 1e-3, 0.05]
    for delta, found in zip(deltas, post.epsilon_at(deltas), strict=True):
        alone = post.epsilon_at(delta)
        assert found.provenance == alone.provenance
        assert found.interval() == alone.interval()
        assert (found.mean, found.sd) == pytest.approx((alone.mean, alone.sd), rel=1e-12)


def test_many_deltas_ask_the_family_at_once(monkeypatch):
    """What makes ε at many δ cheap: θ is mapped to ε for all of them together, whatever their number."""
    post = bdp.estimate(THREE, delta=1e-3, family="gaussian")
    calls = []
    plain = type(post.family)._epsilon_at
    monkeypatch.setattr(
        type(post.family), "_epsilon_at", lambda self, t, d: (calls.append(t.size), plain(self, t, d))[1]
    )
    post.epsilon_at(np.geomspace(1e-6, 0.1, 20))
    assert len(calls) == 2  # whether there is a finite ε, and what it is
