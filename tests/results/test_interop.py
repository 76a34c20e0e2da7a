"""The ArviZ adapter: what is in the objects, and that its diagnostics say what they should."""

import json
import subprocess
import sys

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.results.interop import ess, psis, rhat, to_arviz
from bayes_dp.results.posterior import Provenance

CHAINS, DRAWS = 3, 20


def exported(base=None, stats=True):
    rng = np.random.default_rng(0)
    counts = bdp.ErrorCounts([1, 2], [10, 20], [3, 4], [30, 40], base=base)
    posterior = {"epsilon": rng.random((CHAINS, DRAWS)), "alpha": rng.random((CHAINS, DRAWS, 2))}
    sample_stats = {"lp": rng.random((CHAINS, DRAWS))} if stats else {}
    provenance = Provenance("mhaar", counts.digest(), {"delta": 0.01}, {"epsilon": "HalfNormal"}, {"seed": 3})
    attrs = {"chains": CHAINS, "free": True}
    return posterior, sample_stats, to_arviz(posterior, sample_stats, counts, provenance, attrs)


def test_groups_and_values():
    posterior, stats, found = exported()
    for name, values in posterior.items():
        np.testing.assert_array_equal(found["posterior"][name].values, values)
    np.testing.assert_array_equal(found["sample_stats"]["lp"].values, stats["lp"])
    np.testing.assert_array_equal(found["observed_data"]["false_positives"].values, [1, 2])
    np.testing.assert_array_equal(found["constant_data"]["positives"].values, [30, 40])
    assert found["posterior"]["epsilon"].dims == ("chain", "draw")
    assert found["posterior"]["alpha"].dims == ("chain", "draw", "base")
    assert found["observed_data"]["false_negatives"].dims == ("base",)


def test_bases_are_labelled():
    assert exported(base=["a", "b"])[2]["posterior"]["alpha"].coords["base"].values.tolist() == ["a", "b"]
    assert exported()[2]["posterior"]["alpha"].coords["base"].values.tolist() == [0, 1]


def test_without_sample_stats():
    found = exported(stats=False)[2]
    names = found.groups() if callable(found.groups) else [group.strip("/") for group in found.groups]
    assert "posterior" in names
    assert "sample_stats" not in names


def test_attributes_can_be_written_to_netcdf():
    attrs = exported()[2].attrs
    assert attrs["method"] == "mhaar"
    assert attrs["delta"] == 0.01
    assert attrs["chains"] == CHAINS
    assert json.loads(attrs["free"]) is True
    assert json.loads(attrs["settings"]) == {"seed": 3}
    assert json.loads(attrs["priors"]) == {"epsilon": "HalfNormal"}
    assert len(attrs["digest"]) == 64
    assert attrs["version"] == bdp.__version__


def autoregressive(rho, shape=(4, 4000), seed=0):
    noise = np.random.default_rng(seed).standard_normal(shape)
    values = np.empty(shape)
    values[:, 0] = noise[:, 0]
    for t in range(1, shape[1]):
        values[:, t] = rho * values[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return values


@pytest.mark.parametrize("kind", ["bulk", "tail"])
def test_ess_of_independent_draws(kind):
    assert ess(autoregressive(0.0), kind) == pytest.approx(16_000, rel=0.15)


def test_ess_of_an_autoregression():
    assert ess(autoregressive(0.9)) == pytest.approx(16_000 * 0.1 / 1.9, rel=0.2)


def test_rhat_sees_chains_apart():
    values = autoregressive(0.0)
    assert rhat(values) < 1.005
    assert rhat(values + np.arange(4)[:, None]) > 1.5


def test_one_chain_is_split():
    values = autoregressive(0.0)[:1]
    assert rhat(values) < 1.01
    assert ess(values) == pytest.approx(4000, rel=0.2)
    assert rhat(values + np.linspace(0, 3, values.shape[1])) > 1.1  # a trend


@pytest.mark.parametrize("shape", [(4, 3), (1, 7), (1, 1)])
def test_too_few_draws_have_no_diagnostics(shape):
    assert np.isnan(rhat(np.zeros(shape)))
    assert np.isnan(ess(np.zeros(shape)))


def test_constant_draws():
    assert np.isnan(rhat(np.ones((4, 100))))


def test_arviz_is_imported_late_and_quietly():
    code = """
import sys
import bayes_dp.results.interop
assert "arviz" not in sys.modules
assert bayes_dp.results.interop.rhat([[1.0, 2.0, 1.5, 3.0] * 5] * 2) > 0
"""
    subprocess.run([sys.executable, "-W", "error::FutureWarning:bayes_dp", "-c", code], check=True)


def test_smoothed_weights_and_their_tail():
    """Draws of N(0, 1) weighted to N(μ, 1): their mean is μ. Pareto weights (1 − u)^−k have k for the tail's index."""
    rng = np.random.default_rng(2)
    draws, mu = rng.standard_normal(20_000), np.array([0.5, -1.0])
    log_weights, k = psis(mu[:, None] * draws)
    np.testing.assert_allclose(np.exp(log_weights).sum(axis=1), 1.0)
    np.testing.assert_allclose(np.exp(log_weights) @ draws, mu, atol=0.05)
    assert (k < 0.5).all()
    order = np.argsort(draws)
    assert (np.diff(log_weights[0, order]) >= 0).all()
    wanted = np.array([0.3, 0.9])
    np.testing.assert_allclose(psis(-wanted[:, None] * np.log(rng.random(20_000)))[1], wanted, atol=0.15)


@pytest.mark.parametrize("weights", [[0.0] * 60, [*range(-40, 0), *[1.0] * 20], [0.3, 0.1, -2.0, 1.0]])
def test_weights_without_a_tail_are_left_as_they_are(weights):
    log_weights, k = psis([weights, weights])
    np.testing.assert_allclose(log_weights, np.tile(weights - np.logaddexp.reduce(weights), (2, 1)))
    assert (k == np.inf).all()
