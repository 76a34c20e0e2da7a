"""Bounds on the error of a proxy: below the truth as often as they say, and above 0 where the proxy errs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import bayes_dp as bdp
from bayes_dp.checks import InputError
from bayes_dp.data.class_probabilities import drawn

ERROR = bdp.audits.proxy_error


def example(n, k, moved, rng):
    """Features, labels, and a proxy that is off by `moved` in one direction for half of the examples, and in the other
    for the other half, so that no class comes too often."""
    x = rng.normal(size=(n, 2))
    q = np.full((n, k), 1 / k)
    law = q.copy()
    side = np.where(x[:, 0] > 0, 1, -1)
    law[:, 0] += moved * side
    law[:, 1] -= moved * side
    return x, drawn(law, rng), q


@pytest.mark.parametrize("features", [False, True])
def test_it_is_above_the_truth_as_rarely_as_said(features):
    """At 80%, with a proxy that is off by 0.05; and with none."""
    for moved in (0.0, 0.05):
        wrong = 0
        for seed in range(60):
            rng = np.random.default_rng([3, seed])
            x, y, q = example(300, 3, moved, rng)
            given = {"features": x, "estimator": LogisticRegression()} if features else {}
            wrong += ERROR(y, q, 0.8, **given, seed=seed) > moved
        assert wrong <= 0.2 * 60 + 3 * np.sqrt(60 * 0.16)


def test_features_find_what_the_classes_do_not():
    rng = np.random.default_rng(4)
    x, y, q = example(4000, 2, 0.2, rng)
    assert ERROR(y, q) < 0.02
    assert 0.1 < ERROR(y, q, features=x) <= 0.2
    assert ERROR(y, q, features=x, seed=1) != ERROR(y, q, features=x)


def test_a_slow_twin_of_the_fixed_properties():
    from scipy import stats

    rng = np.random.default_rng(5)
    q = rng.dirichlet([1, 2, 0.02], 200)
    y = rng.integers(0, 3, 200)
    most = q.argmax(axis=1)
    shares = [(y == most, q.max(axis=1)), (q[np.arange(200), y] < 0.01, (q * (q < 0.01)).sum(axis=1))]
    shares += [(q[np.arange(200), y] == 0, np.zeros(200))]
    shares += [(y == c, q[:, c]) for c in range(3)]
    least = 0.0
    for found, expected in shares:
        ends = stats.binomtest(int(found.sum()), 200).proportion_ci(1 - 0.05 / 6)
        least = max(least, ends.low - expected.mean(), expected.mean() - ends.high)
    assert np.isclose(ERROR(y, q), least)


def test_what_the_proxy_says_cannot_be():
    """Among many labels that are improbable, a few that are impossible would not be seen by their number."""
    rng = np.random.default_rng(6)
    q = np.full((5000, 200), 1 / 200)
    y = rng.integers(0, 200, 5000)
    assert ERROR(y, q, 1 - 1e-4) == 0
    rows = np.arange(3)
    q[rows, y[:3]], q[rows, (y[:3] + 1) % 200] = 0.0, 2 / 200
    assert 0 < ERROR(y, q, 1 - 1e-4) < 3 / 5000
    chance = np.where(np.eye(200)[y] == 1, 0.5, 0.5 / 199)
    found = bdp.audits.labels(y, q, None, 0, likelihood=chance, exact=True, games=1, choice=50)
    assert "not as the proxy says" in found.invalid


def test_few_examples():
    assert ERROR([0, 1], [[0.5, 0.5]] * 2, features=[[0.0], [1.0]]) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": np.zeros((3, 1))}, r"features must be of the shape \(4, features\)"),
        ({"features": np.full((4, 1), np.nan)}, "features"),
        ({"estimator": LogisticRegression()}, "needs features"),
        ({"features": np.zeros((4, 1)), "estimator": LogisticRegression}, "fit and predict_proba"),
        ({"features": np.zeros((4, 1)), "estimator": 3}, "fit and predict_proba"),
    ],
)
def test_refused(change, message):
    with pytest.raises(InputError, match=message):
        ERROR(**{"labels": [0, 1, 0, 1], "proxy": [[0.5, 0.5]] * 4} | change)
