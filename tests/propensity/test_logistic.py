"""Logistic regression and Platt's calibration against scikit-learn; the likelihood, and Firth's, against SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.calibration import _SigmoidCalibration
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bayes_dp.propensity import logistic
from bayes_dp.propensity.logistic import (
    firth,
    fit,
    information,
    log_likelihood,
    most_likely,
    most_likely_near,
    platt,
)


def data(n, d, seed, strength=1.0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)) + rng.normal(size=d)
    f = (x - x.mean(0)) / x.std(0) @ rng.normal(size=d) * strength / np.sqrt(d)
    member = rng.random(n) < 1 / (1 + np.exp(-f))
    return x, np.column_stack([x, np.ones(n)]), member


@pytest.mark.parametrize(("n", "d", "strength"), [(200, 2, 1.0), (500, 30, 1.0), (300, 5, 50.0), (60, 80, 1.0)])
def test_agrees_with_scikit_learn(n, d, strength):
    x, x1, member = data(n, d, 0, strength)
    peer = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-12, max_iter=100_000)).fit(x, member)
    np.testing.assert_allclose(x1 @ fit(x1, member), peer.decision_function(x), atol=2e-5)


@pytest.mark.parametrize("strength", [0.0, 1.0, 50.0])
def test_the_gradient_is_zero_from_any_start(strength):
    _, x, member = data(400, 6, 1, strength)
    rng = np.random.default_rng(2)
    expected = fit(x, member)
    chance = 1 / (1 + np.exp(-x @ expected))
    np.testing.assert_allclose(x.T @ (chance - member) + x.std(0) ** 2 * expected, 0, atol=1e-6)
    for start in (np.zeros(7), rng.normal(size=7), 30 * rng.normal(size=7)):
        np.testing.assert_allclose(fit(x, member, start), expected, atol=1e-7)


def test_constant_and_repeated_features_do_no_harm():
    x, _, member = data(300, 2, 3)
    plain = fit(np.column_stack([x, np.ones(300)]), member)
    constant = fit(np.column_stack([x, np.full(300, 2.5), np.ones(300)]), member)
    np.testing.assert_allclose(constant[:2], plain[:2], atol=1e-6)
    twice = np.column_stack([x, x[:, :1], np.ones(300)])
    np.testing.assert_allclose(*fit(twice, member)[[0, 2], None], atol=1e-6)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_platt_agrees_with_scikit_learn(scale):
    rng = np.random.default_rng(4)
    f = rng.normal(size=500)
    member = rng.random(500) < 1 / (1 + np.exp(-2 * f + 0.5))
    peer = _SigmoidCalibration().fit(scale * f, member.astype(int))
    slope, intercept = platt(scale * f, member)
    chances = 1 / (1 + np.exp(-slope * scale * f - intercept))
    np.testing.assert_allclose(chances, peer.predict(scale * f), atol=1e-5)


def test_platt_is_finite_where_the_decision_values_tell_all():
    f = np.concatenate([np.full(50, -1.0), np.full(50, 1.0)])
    slope, intercept = platt(f, f > 0)
    np.testing.assert_allclose(1 / (1 + np.exp(-slope - intercept)), 51 / 52, rtol=1e-9)
    assert platt(np.zeros(100), f > 0)[1] == pytest.approx(0, abs=1e-12)


# The likelihood -------------------------------------------------------------------------------------------------------


def by_hand(x, member, beta):
    chance = expit(x @ beta)
    return np.sum(np.log(np.where(member, chance, 1 - chance))) - 0.5e-6 * np.sum(beta**2)


def penalised(x, member, beta):
    chance = expit(x @ beta)
    information = (x * (chance * (1 - chance))[:, None]).T @ x + 1e-6 * np.eye(x.shape[1])
    return by_hand(x, member, beta) + 0.5 * np.linalg.slogdet(information)[1]


def test_the_maximum_of_the_likelihood_with_and_without_a_tilt():
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=(80, 2)), np.ones(80)])
    member = rng.random(80) < expit(x[:, 0])
    assert log_likelihood(x, member, np.array([0.5, -1.0, 0.2])) == pytest.approx(
        by_hand(x, member, np.array([0.5, -1.0, 0.2])), rel=1e-12
    )
    for tilt in (np.zeros(3), np.array([3.0, -5.0, 1.0])):
        peer = minimize(lambda beta, a=tilt: -by_hand(x, member, beta) - a @ beta, np.zeros(3), tol=1e-10).x
        np.testing.assert_allclose(most_likely(x, member, np.zeros(3), tilt), peer, atol=1e-4)
        np.testing.assert_allclose(most_likely(x, member, np.ones(3), tilt), peer, atol=1e-4)


@pytest.mark.parametrize(("n", "d"), [(2000, 20), (300, 30), (40, 12), (25, 15)])
def test_steps_from_one_start_lead_to_the_maximum(n, d):
    """Also of memberships that features separate, where Newton's steps take over."""
    rng = np.random.default_rng(6)
    x = np.column_stack([rng.normal(size=(n, d)), np.ones(n)])
    start = rng.normal(size=d + 1) / np.sqrt(d)
    chance = expit(x @ start)
    np.testing.assert_allclose(information(x, start), (x.T * chance * (1 - chance)) @ x, rtol=1e-5, atol=1e-5)
    inverse = np.linalg.inv(information(x, start))
    for _ in range(10):
        member = rng.random(n) < chance
        there = most_likely_near(x, member, start, inverse)
        expected = log_likelihood(x, member, most_likely(x, member, start))
        assert log_likelihood(x, member, there) == pytest.approx(expected, abs=1e-9)


def test_a_start_that_is_near_takes_no_step_of_newtons(monkeypatch):
    rng = np.random.default_rng(7)
    x = np.column_stack([rng.normal(size=(3000, 10)), np.ones(3000)])
    start = rng.normal(size=11) / 4
    inverse = np.linalg.inv(information(x, start))
    member = rng.random(3000) < expit(x @ start)
    expected = most_likely(x, member, start)
    monkeypatch.setattr(logistic, "most_likely", None)
    np.testing.assert_allclose(most_likely_near(x, member, start, inverse), expected, atol=1e-6)


@pytest.mark.parametrize("separated", [False, True])
def test_firth_maximises_the_penalised_likelihood(separated):
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.normal(size=(40, 2)), np.ones(40)])
    member = x[:, 0] > 0 if separated else rng.random(40) < expit(x[:, 0])
    peer = minimize(lambda beta: -penalised(x, member, beta), np.zeros(3), tol=1e-10).x
    np.testing.assert_allclose(firth(x, member), peer, atol=2e-2 * np.abs(peer).max())
    assert np.abs(peer).max() < 20


def test_firth_of_a_rate_adds_half_a_member_and_half_a_non_member():
    assert expit(firth(np.ones((7, 1)), np.ones(7, dtype=bool)))[0] == pytest.approx(7.5 / 8, abs=1e-3)
