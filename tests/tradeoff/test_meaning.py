"""What trade-off functions mean, against values of 30 digits and minima over a grid."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayes_dp.checks import InputError
from bayes_dp.tradeoff import (
    ApproxDP,
    Gaussian,
    Laplace,
    TradeOff,
    TradeOffFunction,
    bayes_risk,
    largest_tpr,
    reconstruction,
)
from bayes_dp.tradeoff.dp_sgd import dp_sgd

CURVES = [ApproxDP(0.0), ApproxDP(2.0, 1e-5), Gaussian(1.0), Laplace(1.0), dp_sgd(1.0, 0.1, 20)[0]]


def test_golden_values():
    """By mpmath: 1 − Φ(Φ⁻¹(1−α) − 1), and (1−π) Φ(−t) + π Φ(t−1) with t = log((1−π)/π) + ½; by hand for (ε, δ)."""
    tpr = [0.0182984684056566, 0.0923622480736939, 0.389143691645361]
    np.testing.assert_allclose(largest_tpr(Gaussian(1.0), [0.001, 0.01, 0.1]), tpr, rtol=1e-13)
    risk = [0.308537538725987, 0.0986636939005312, 0.0099999615427211, 0.0986636939005312]
    np.testing.assert_allclose(bayes_risk(Gaussian(1.0), [0.5, 0.1, 0.01, 0.9]), risk, rtol=1e-12)
    f = ApproxDP(2.0, 1e-5)
    np.testing.assert_allclose(
        largest_tpr(f, [0.001, 0.01, 0.5]), [0.00739905609893065, 0.0739005609893065, 0.932333711734526], rtol=1e-13
    )
    np.testing.assert_allclose(
        bayes_risk(f, [0.5, 0.2, 0.05]), [0.119201729992897, 0.119201729992897, 0.0499995], rtol=1e-12
    )
    np.testing.assert_array_equal(reconstruction(f, [0.01, 0.5]), largest_tpr(f, [0.01, 0.5]))


@pytest.mark.parametrize("f", CURVES, ids=lambda f: type(f).__name__)
def test_the_bayes_risk_is_a_minimum(f: TradeOffFunction):
    alpha = np.concatenate([np.linspace(0, 1, 200_001), np.geomspace(1e-12, 1e-4, 2000)])
    for prior in (0.5, 0.3, 0.02, 0.9, 0.999):
        slow = np.min((1 - prior) * alpha + prior * f(alpha))
        assert bayes_risk(f, prior) == pytest.approx(slow, rel=1e-4)  # of a grid that may miss a corner
    assert bayes_risk(f) == pytest.approx((1 - f.advantage()) / 2, rel=1e-12)


def test_without_leakage_only_guessing_is_left():
    f = ApproxDP(0.0)
    assert largest_tpr(f, 0.01) == pytest.approx(0.01)
    assert reconstruction(f, 0.1) == pytest.approx(0.1)
    assert bayes_risk(f, 0.1) == pytest.approx(0.1)


def test_what_is_refused():
    lopsided = TradeOff(lambda a: np.maximum(0, 1 - 2 * a))
    for function in (largest_tpr, bayes_risk, reconstruction):
        with pytest.raises(InputError, match="symmetric"):
            function(lopsided, 0.1)
        for wrong in (-0.1, 1.1, math.nan, "a"):
            with pytest.raises(InputError):
                function(Gaussian(1.0), wrong)
