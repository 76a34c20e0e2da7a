"""Weighted logistic regression and Platt's calibration against scikit-learn, and from any start."""

import numpy as np
import pytest
from sklearn.calibration import _SigmoidCalibration
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayes_dp.propensity.logistic import fit, platt


def data(n, d, seed, strength=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + rng.normal(size=d)
    f = (x - x.mean(0)) / x.std(0) @ rng.normal(size=d) * strength / np.sqrt(d)
    member = rng.random(n) < 1 / (1 + np.exp(-f))
    return x, np.column_stack([x, np.ones(n)]), member, np.bincount(rng.integers(n, size=n), minlength=n).astype(float)


@pytest.mark.parametrize(("n", "d", "strength"), [(200, 2, 1.0), (500, 30, 1.0), (300, 5, 50.0), (60, 80, 1.0)])
def test_agrees_with_scikit_learn(n, d, strength):
    x, x1, member, weights = data(n, d, 0, strength)
    rows = np.repeat(np.arange(n), weights.astype(int))
    peer = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-12, max_iter=100_000))
    peer.fit(x[rows], member[rows])
    np.testing.assert_allclose(x1 @ fit(x1, member, weights), peer.decision_function(x), atol=2e-5)


@pytest.mark.parametrize("strength", [0.0, 1.0, 50.0])
def test_the_gradient_is_zero_from_any_start(strength):
    _, x, member, weights = data(400, 6, 1, strength)
    rng = np.random.default_rng(2)
    expected = fit(x, member, weights)
    spread = np.sqrt(np.average(x**2, axis=0, weights=weights) - np.average(x, axis=0, weights=weights) ** 2)
    chance = 1 / (1 + np.exp(-x @ expected))
    np.testing.assert_allclose(x.T @ (weights * (chance - member)) + spread**2 * expected, 0, atol=1e-6)
    for start in (np.zeros(7), rng.normal(size=7), 30 * rng.normal(size=7)):
        np.testing.assert_allclose(fit(x, member, weights, start), expected, atol=1e-7)


def test_constant_and_repeated_features_do_no_harm():
    x, _, member, weights = data(300, 2, 3)
    plain = fit(np.column_stack([x, np.ones(300)]), member, weights)
    constant = fit(np.column_stack([x, np.full(300, 2.5), np.ones(300)]), member, weights)
    np.testing.assert_allclose(constant[:2], plain[:2], atol=1e-6)
    twice = np.column_stack([x, x[:, :1], np.ones(300)])
    np.testing.assert_allclose(*fit(twice, member, weights)[[0, 2], None], atol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_platt_agrees_with_scikit_learn(scale):
    rng = np.random.default_rng(4)
    f = rng.normal(size=500)
    member = rng.random(500) < 1 / (1 + np.exp(-2 * f + 0.5))
    weights = rng.integers(0, 4, 500).astype(float)
    peer = _SigmoidCalibration().fit(scale * f, member.astype(int), sample_weight=weights)
    slope, intercept = platt(scale * f, member, weights)
    chances = 1 / (1 + np.exp(-slope * scale * f - intercept))
    np.testing.assert_allclose(chances, peer.predict(scale * f), atol=1e-5)


def test_platt_is_finite_where_the_decision_values_tell_all():
    f = np.concatenate([np.full(50, -1.0), np.full(50, 1.0)])
    slope, intercept = platt(f, f > 0, np.ones(100))
    np.testing.assert_allclose(1 / (1 + np.exp(-slope - intercept)), 51 / 52, rtol=1e-9)
    assert platt(np.zeros(100), f > 0, np.ones(100))[1] == pytest.approx(0, abs=1e-12)
