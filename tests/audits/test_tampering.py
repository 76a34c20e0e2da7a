"""Keep probabilities, the p-value of Theorem 5.1.1 and its mean over the coins, against plain sums and enumeration."""

import itertools
import math
import re

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp.audits.one_run import exact_p_value
from bayes_dp.audits.one_run import lower_bounds as one_run_bounds
from bayes_dp.audits.one_run import p_value as one_run_p_value
from bayes_dp.audits.tampering import (
    expected_p_value,
    keep_for_epsilon,
    keep_for_f,
    lean,
    lower_bounds,
    p_value,
    slack,
    switched_on,
)


def plain_slack(r, v, epsilon):
    law = stats.binom.pmf(np.arange(r + 1), r, special.expit(epsilon))
    return sum(law[v - i] / i for i in range(1, v + 1))


def plain_p_value(m, r, v, epsilon, delta):
    tail = stats.binom.sf(v - 1, r, special.expit(epsilon))
    return min(1.0, tail + m * delta * (1 + math.exp(-epsilon)) * plain_slack(r, v, epsilon))


# Keeping --------------------------------------------------------------------------------------------------------------


def test_the_lean_goes_with_the_propensity():
    np.testing.assert_allclose(lean([0.8, 0.8, 0.2, 0.5], [True, False, True, True]), np.log([4, 0.25, 0.25, 1]))
    np.testing.assert_allclose(lean([0.8, 0.8, 0.2], [True, False, True], directional=False), np.log([4, 4, 4]))
    assert lean(0.0, True) == -np.inf
    assert lean(1.0, True) == np.inf
    with pytest.raises(bdp.InputError, match=re.escape("propensity[1] must lie in [0, 1], not 1.1")):
        lean([0.5, 1.1], True)


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0, 40.0, 700.0])
def test_a_kept_guess_is_right_as_with_a_fair_coin(epsilon):
    """b times the largest chance of a right guess is sigmoid(ε) where the guess goes with its propensity, else less."""
    leans = np.linspace(-30, 30, 121)
    right = keep_for_epsilon(leans, epsilon) * special.expit(epsilon + leans)
    fair = special.expit(epsilon)
    np.testing.assert_allclose(right[leans >= 0], fair, rtol=1e-14)
    assert (right[leans < 0] < fair * (1 + 1e-15)).all()
    for more in (0.1, 1.0, 10.0):  # and so for all larger privacy losses, which the proof needs for δ > 0
        larger = keep_for_epsilon(leans, epsilon) * special.expit(epsilon + more + leans)
        assert (larger <= special.expit(epsilon + more) * (1 + 1e-14)).all()


def test_keeping_for_f_is_the_least_of_keeping_for_epsilon():
    leans = np.linspace(-5, 5, 21)
    np.testing.assert_allclose(keep_for_f(leans), np.minimum(1, np.exp(-leans)))
    assert (keep_for_f(leans) <= keep_for_epsilon(leans, 0.0)).all()
    assert keep_for_f(np.inf) == 0
    assert keep_for_epsilon(np.inf, 0.0) == 0.5
    np.testing.assert_allclose(keep_for_epsilon(leans, 800.0), 1.0)  # and so tends to 1, not to e^{−lean}


def test_when_a_guess_is_switched_on():
    rng = np.random.default_rng(0)
    leans, uniform = rng.normal(0, 3, 2000), rng.random(2000)
    start = switched_on(leans, uniform)
    assert (start >= 0).all()
    assert (start[leans <= 0] == 0).all()
    assert (start > 0).any()
    for epsilon in (0.0, 0.2, 1.0, 5.0):
        np.testing.assert_array_equal(start <= epsilon, uniform < keep_for_epsilon(leans, epsilon))


# The p-value ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("r", [1, 4, 50, 700])
def test_the_slack_is_the_plain_sum(r):
    for epsilon in (0.0, 0.7, 3.0, 12.0):
        for v in {0, 1, r // 2, math.ceil(0.9 * r), r}:
            assert slack(r, v, epsilon) == pytest.approx(plain_slack(r, v, epsilon), rel=1e-11, abs=1e-16)


def test_the_slack_of_many_at_once():
    rng = np.random.default_rng(1)
    r = rng.integers(1, 3000, 40)
    v, epsilon = rng.integers(0, r + 1), rng.exponential(1.0, 40)
    together = slack(r, v, epsilon)
    for i in range(40):
        assert together[i] == pytest.approx(plain_slack(r[i], v[i], epsilon[i]), rel=1e-10, abs=1e-15)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.2])
def test_p_value(delta):
    for m, r, v, epsilon in itertools.product([100, 5000], [10, 100], [0, 1, 7, 10], [0.0, 1.0, 4.0]):
        found = p_value(m, r, v, epsilon, delta)
        assert found == pytest.approx(plain_p_value(m, r, v, epsilon, delta), rel=1e-11)
    assert p_value(10, 0, 0, 1.0, delta) == 1


def test_without_delta_it_is_the_binomial_tail():
    for v in range(0, 31, 5):
        assert p_value(50, 30, v, 0.8, 0.0) == one_run_p_value(50, 30, v, 0.8, 0.0)


def test_it_is_below_the_largest_chance_only_where_it_is_large():
    """With fair coins `exact_p_value` is attained; the sum of the theorem is smaller for some v below the mode."""
    low = []
    for r, epsilon, delta in itertools.product([1, 2, 5, 30, 200], [0.0, 0.5, 2.0, 6.0], [1e-6, 1e-3, 0.1]):
        v = np.arange(1, r + 1)
        found, largest = p_value(r, r, v, epsilon, delta), exact_p_value(r, r, v, epsilon, delta)
        low += found[found < largest * (1 - 1e-9)].tolist()
    assert low
    assert min(low) > 6 / 7


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-2])
@pytest.mark.parametrize("p", [0.3, 0.05, 1e-6])
def test_the_bound_is_where_the_p_value_is_p(delta, p):
    v = np.arange(0, 101)
    bounds = lower_bounds(500, 100, v, delta, p)
    assert (np.diff(bounds) >= 0).all()
    assert bounds[0] == 0
    for right, bound in zip(v, bounds, strict=True):
        if bound > 0:
            assert p_value(500, 100, right, bound, delta) == pytest.approx(p, rel=1e-8)
            assert (p_value(500, 100, right, bound * np.linspace(0, 0.999, 30), delta) < p).all()
            assert (p_value(500, 100, right, bound * np.linspace(1.001, 2, 30), delta) > p).all()
        else:
            assert p_value(500, 100, right, 0.0, delta) >= p
    if delta == 0:
        np.testing.assert_array_equal(bounds, one_run_bounds(500, 100, v, 0.0, p))


def test_the_bound_falls_with_delta():
    bounds = [lower_bounds(1000, 200, 190, delta, 0.05) for delta in (0.0, 1e-8, 1e-5, 1e-4, 1e-3, 1e-2)]
    assert (np.diff(bounds) < 0).all()


# The mean over the coins ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_the_mean_p_value_by_enumeration(delta):
    rng = np.random.default_rng(2)
    keep, epsilon = rng.random(8), 0.6
    expected = 0.0
    for coins in itertools.product((0, 1), repeat=8):
        chance = np.prod(np.where(coins, keep, 1 - keep))
        tail = stats.binom.sf(sum(coins) - 1, 12, special.expit(epsilon))
        charge = 40 * delta * (1 + math.exp(-epsilon)) * plain_slack(12, sum(coins), epsilon)
        expected += chance * (tail + charge)
    assert expected_p_value(40, 12, keep, epsilon, delta) == pytest.approx(expected, rel=1e-11)


def test_the_mean_p_value_by_simulation():
    rng = np.random.default_rng(3)
    keep = rng.uniform(0.6, 1, 180)
    kept = (rng.random((20_000, 180)) < keep).sum(axis=1)
    values = p_value(1000, 200, kept, 0.9, 1e-5)
    found = expected_p_value(1000, 200, keep, 0.9, 1e-5)
    assert found == pytest.approx(values.mean(), abs=4 * values.std() / math.sqrt(20_000))


def test_the_mean_p_value_without_tampering_is_the_p_value():
    assert expected_p_value(1000, 100, np.ones(80), 1.0, 1e-5) == pytest.approx(p_value(1000, 100, 80, 1.0, 1e-5))
    assert expected_p_value(1000, 100, np.ones(0), 1.0, 0.1) == 1.0


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-3])
def test_the_mean_p_value_grows_with_epsilon(delta):
    """Which the search for the bound relies on; wherever it is below 1/2."""
    rng = np.random.default_rng(4)
    for _ in range(60):
        made = int(rng.integers(1, 200))
        right = int(rng.integers(math.ceil(0.6 * made), made + 1))
        leans = rng.normal(rng.uniform(-1, 3), rng.uniform(0, 3), right)
        values = np.array(
            [expected_p_value(1000, made, keep_for_epsilon(leans, e), e, delta) for e in np.linspace(0, 6, 25)]
        )
        values = values[: 1 + np.argmax(values > 0.5)] if (values > 0.5).any() else values
        assert (np.diff(values) > -1e-12).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: p_value(10, 5, 6, 1.0, 0.0), "correct must be at most made, 5, not 6"),
        (lambda: p_value(10, 5, 3, -1.0, 0.1), "epsilon must lie in [0, inf), not -1.0"),
        (lambda: p_value(10, 5, 3, 1.0, 1.5), "delta must lie in [0, 1], not 1.5"),
        (lambda: slack(5, 3, math.nan), "epsilon must lie in [0, inf), not nan"),
        (lambda: lower_bounds(10, 5, 3, 0.0, 1.0), "p must lie in (0, 1), not 1.0"),
        (lambda: expected_p_value(10, 5, [0.5, 2.0], 1.0), "keep[1] must lie in [0, 1], not 2.0"),
        (lambda: expected_p_value(10, 1, [0.5, 0.5], 1.0), "correct must be at most made, 1, not 2"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(bdp.InputError, match=re.escape(message)):
        call()


def test_what_was_checked_is_not_checked_again_at_every_step(monkeypatch):
    from bayes_dp import checks
    from bayes_dp.audits import rejected, tampering

    seen = []
    for module in (rejected, tampering):
        monkeypatch.setattr(
            module, "numbers", lambda *given, **ends: seen.append(given[0]) or checks.numbers(*given, **ends)
        )
    steps = []
    search = rejected.largest_rejected

    def counted(margin, *given):
        return search(lambda *at: steps.append(at) or margin(*at), *given)

    monkeypatch.setattr(tampering, "largest_rejected", counted)
    assert tampering.lower_bounds(200, 100, [70, 80, 90], 1e-3, 0.05).shape == (3,)
    assert len(steps) > 8
    assert len(seen) < 8
