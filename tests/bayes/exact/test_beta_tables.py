"""log F and log p of Beta laws against mpmath, which is slow and exact."""

import mpmath
import numpy as np
import pytest
from scipy import special

from bayes_dp.bayes.exact import beta_tables as beta_tails
from bayes_dp.bayes.exact.beta_tables import BetaTails, log_norm
from bayes_dp.beta import log_density, log_peak

PAIRS = [(0, 1), (1, 1), (0, 20), (20, 20), (7, 20), (0, 1000), (3, 1000), (500, 1000), (1000, 1000), (37, 5000)]


def exact_log_cdf(k, n, z):
    with mpmath.workdps(40):
        return float(mpmath.log(mpmath.betainc(k + 1, n - k + 1, 0, mpmath.mpf(z), regularized=True)))


@pytest.mark.parametrize(("k", "n"), PAIRS)
def test_log_cdf_agrees_with_mpmath_far_into_the_left_tail(k, n):
    tails = BetaTails(np.array([k]), np.array([n]))
    mean = (k + 1) / (n + 2)
    spread = np.sqrt(special.polygamma(1, k + 1) + special.polygamma(1, n - k + 1))
    z = special.expit(special.logit(mean) + spread * np.array([-60.0, -20, -8, -3, -1, -0.1, 0.3, 1, 2, 4]))
    found = tails.log_tail(np.zeros(len(z), dtype=int), z, 1 - z)
    expected = np.array([exact_log_cdf(k, n, v) for v in z])
    near = expected > -40
    np.testing.assert_allclose(found[near], expected[near], rtol=0, atol=3e-10)
    np.testing.assert_allclose(found[~near], expected[~near], rtol=2e-10)


def test_log_cdf_of_ten_million_trials_agrees_with_betainc():
    k, n = np.array([0, 5_000_000, 10_000_000, 123]), np.full(4, 10**7)
    tails = BetaTails(k, n)
    mean = (k + 1) / (n + 2)
    for shift in (-5.0, -1.0, 0.0, 2.0):
        z = np.clip(mean + shift * np.sqrt(mean * (1 - mean) / (n + 3)), 1e-9, 1 - 1e-9)
        found = tails.log_tail(np.arange(4), z, 1 - z)
        np.testing.assert_allclose(np.exp(found), special.betainc(k + 1, n - k + 1, z), rtol=1e-8, atol=1e-300)


def test_log_cdf_is_linear_in_the_logit_far_left_and_zero_far_right():
    tails = BetaTails(np.array([3]), np.array([50]))
    zero = np.zeros(3, dtype=int)
    z = np.array([1e-200, 1e-100, 1e-50])
    steps = np.diff(tails.log_tail(zero, z, 1 - z)) / np.diff(np.log(z))
    np.testing.assert_allclose(steps, 4.0, rtol=1e-12)
    assert tails.log_tail(zero[:1], np.array([1 - 1e-16]), np.array([1e-16]))[0] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize(("k", "n"), [*PAIRS, (5_000_000, 10_000_000), (1, 10**7)])
def test_log_density_keeps_its_digits(k, n):
    k_, n_ = np.array(float(k)), np.array(float(n))
    for y in (0.3, 0.5, (k + 1) / (n + 2)):
        with mpmath.workdps(40):
            exact = mpmath.log(mpmath.beta(k + 1, n - k + 1))
            value = mpmath.mpf(float(y))
            exact = float(k * mpmath.log(value) + (n - k) * mpmath.log(1 - value) - exact)
        found = log_density(k_, n_, log_peak(k_, n_), np.array(y), np.array(1 - y))
        # 1 - y is itself rounded: what that does to the density is the floor.
        assert float(found) == pytest.approx(exact, rel=1e-14, abs=1e-11 + 2e-16 * n)


def test_the_plain_normaliser_agrees_with_betaln():
    k, n = np.array([0.0, 3, 500, 1000]), np.array([10.0, 20, 1000, 1000])
    np.testing.assert_allclose(log_norm(k, n, log_peak(k, n)), -special.betaln(k + 1, n - k + 1), rtol=1e-12)


@pytest.mark.parametrize(("k", "n"), [(0, 30), (4, 30), (30, 30), (400, 1000)])
def test_derivatives_agree_with_differences(k, n):
    tails = BetaTails(np.array([k]), np.array([n]))
    table = np.zeros(1, dtype=int)
    run, h = np.array([0.7]), 1e-4
    for z0 in (0.05, 0.2, 0.6, 0.9):
        z = np.array([z0])
        _, first, second = tails.derivatives(table, z, 1 - z, run)
        values = [tails.log_tail(table, z - run * t, 1 - z + run * t)[0] for t in (-h, 0.0, h)]
        assert first[0] == pytest.approx((values[2] - values[0]) / (2 * h), rel=1e-4, abs=1e-6)
        assert second[0] == pytest.approx((values[2] - 2 * values[1] + values[0]) / h**2, rel=2e-2, abs=1e-3)


def test_tables_made_in_parts_are_the_same(monkeypatch):
    k, n = np.arange(30), np.full(30, 40)
    whole = BetaTails(k, n)
    monkeypatch.setattr(beta_tails, "_PART", 7)
    parts = BetaTails(k, n)
    z = np.linspace(0.01, 0.99, 30)
    np.testing.assert_array_equal(parts.log_tail(k, z, 1 - z), whole.log_tail(k, z, 1 - z))
