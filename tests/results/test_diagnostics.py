"""Diagnostics of chains and smoothed weights: what they should say, and that they are those of ArviZ."""

import warnings

import numpy as np
import pytest

from bayes_dp.results.diagnostics import ess, psis, rhat


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


def arviz():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return pytest.importorskip("arviz")


@pytest.mark.parametrize("kind", ["plain", "tied", "heavy", "apart", "one still"])
def test_the_twins_of_arviz(kind):
    az, rng = arviz(), np.random.default_rng(5)
    for shape in [(2, 4), (3, 11), (4, 30), (2, 61), (5, 200), (4, 901)]:
        values = autoregressive(rng.uniform(-0.95, 0.99), shape, int(rng.integers(1000)))
        values = {
            "plain": values,
            "tied": np.round(values),
            "heavy": np.exp(10 * values),
            "apart": values + rng.normal(size=(shape[0], 1)),
            "one still": np.where(np.arange(shape[0])[:, None] == 0, values[0, 0], values),
        }[kind]
        with np.errstate(divide="ignore", invalid="ignore"):
            twins = az.rhat(values), az.ess(values, method="bulk"), az.ess(values, method="tail", prob=(0.05, 0.95))
        np.testing.assert_allclose([rhat(values), ess(values), ess(values, "tail")], np.array(twins, float), rtol=1e-10)


def test_the_weights_of_arviz():
    """Of its version 1: those before it fit without the prior of k."""
    array_stats, rng = pytest.importorskip("arviz_stats.base").array_stats, np.random.default_rng(6)
    for size in (25, 100, 225, 226, 1000, 4000):
        for weights in (rng.normal(size=size), 30 * rng.normal(size=size), -0.6 * np.log(rng.random(size))):
            found, k = psis(weights[None])
            smooth, twin = array_stats.psislw(-weights)
            np.testing.assert_allclose(found[0], smooth, atol=1e-9)
            np.testing.assert_allclose(k[0], np.inf if np.isnan(twin) else float(twin), rtol=1e-9)
