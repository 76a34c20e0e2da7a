"""The compositional zero-run bound: its limit without shift, slow twins, and validity under a known shift."""

import math

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.audits.compositional import (
    _failing,
    charged_lower_bounds,
    compositional,
    gaussian_lower_bounds,
    shift_mu,
)
from bayes_dp.audits.f_dp import GAUSSIAN, trace
from bayes_dp.audits.f_dp import lower_bounds as f_dp_bounds
from bayes_dp.audits.one_run import lower_bounds
from bayes_dp.data.guesses import Guesses
from bayes_dp.tradeoff import Gaussian

# m, r, v, p, δ, η, δ_DS -> bound
COMPOSITIONAL = [
    ((1000, 200, 190, 0.05, 1e-5, 0.3, 1e-4), 1.5003025983778964),
    ((1000, 200, 110, 0.05, 0.0, 0.3, 0.0), 0.0),
    ((10000, 1000, 990, 0.05, 1e-6, 0.2, 1e-6), 2.6689442584761904),
]


@pytest.mark.parametrize(("given", "expected"), COMPOSITIONAL)
def test_figures(given, expected):
    m, r, v, p, delta, eta, shift_delta = given
    found = compositional(Guesses(m, r, v), delta, overlap=eta, shift_delta=shift_delta, confidence=1 - p)
    assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_without_shift_it_is_the_one_run_bound():
    guesses = Guesses(1000, 300, 250)
    for delta in (0.0, 1e-5):
        assert compositional(guesses, delta, overlap=0.5).value == lower_bounds(1000, 300, 250, delta, 1 - 0.95)
    assert compositional(guesses, 0.0, overlap=0.3).value < compositional(guesses, 0.0, overlap=0.4).value


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_it_holds_where_features_tell_members(epsilon):
    """Propensities 0.3 or 0.7, randomized response, and guesses only where both say the same."""
    rng, m, repetitions = np.random.default_rng(4), 300, 20_000
    propensity = np.where(rng.random((repetitions, m)) < 0.5, 0.3, 0.7)
    member = rng.random((repetitions, m)) < propensity
    told = np.where(rng.random((repetitions, m)) < special.expit(epsilon), member, ~member)
    agree = told == (propensity > 0.5)
    made, correct = agree.sum(axis=1), (agree & (told == member)).sum(axis=1)
    bound = lower_bounds(np.full(repetitions, m), made, correct, 0.0, 0.05)
    rejected = np.mean(bound - special.logit(0.7) > epsilon)
    assert 0 < rejected < 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)
    assert np.mean(bound > epsilon) > 0.5  # without the allowance for the shift it does not hold


def test_bad_input():
    for settings, message in (
        ({"overlap": 0.0}, r"overlap must lie in \(0, 0.5\]"),
        ({"overlap": 0.6}, "overlap must lie"),
        ({"overlap": 0.3, "shift_delta": 1.0}, "shift_delta must lie"),
        ({"overlap": 0.3, "confidence": 1.0}, "confidence must lie"),
        ({"overlap": 0.3, "family": "laplace"}, 'family must be "approx" or "gaussian", not \'laplace\''),
    ):
        with pytest.raises(bdp.InputError, match=message):
            compositional(Guesses(10, 5, 3), 0.0, **settings)
    with pytest.raises(bdp.InputError, match="must be a GuessTable, Guesses"):
        compositional(3, 0.0, overlap=0.3)
    with pytest.raises(bdp.InputError, match='delta must be given for the family "approx"'):
        compositional(Guesses(10, 5, 3), overlap=0.3)


def test_it_can_be_asked_at_another_delta():
    found = compositional(Guesses(1000, 300, 290), 0.0, overlap=0.3)
    again = found.epsilon_at(1e-4)
    assert again.value < found.value
    assert again.provenance.known == {"delta": 1e-4}
    assert found.details["shift_epsilon"] == pytest.approx(np.log(7 / 3))


# Gaussian DP ----------------------------------------------------------------------------------------------------------


def test_the_trade_off_function_with_failures():
    """G_μ ⊗ f_{0,δ}: equation 5, its inverse by definition, and its profile."""
    mixed, plain, failure = _failing(0.05).member(0.8), Gaussian(0.8), 0.05
    alpha = np.linspace(0, 1, 201)
    expected = np.where(alpha <= 0.95, 0.95 * plain(np.minimum(alpha / 0.95, 1)), 0.0)
    np.testing.assert_allclose(mixed(alpha), expected, atol=1e-15)
    x = np.linspace(0, 1, 200_001)
    for y in (0.01, 0.05, 0.2, 0.7, 0.99):
        least = x[np.argmax(1 - mixed(x) >= y)]
        assert mixed.inverse(y) == pytest.approx(least, abs=1e-5)
        assert _failing(failure).inverse(np.array(0.8), np.array(y)) == pytest.approx(mixed.inverse(y), abs=1e-15)
    epsilon = np.linspace(0, 3, 7)
    by_hand = [np.max(1 - mixed(x) - math.exp(e) * x) for e in epsilon]
    np.testing.assert_allclose(mixed.delta_at(epsilon), by_hand, atol=1e-6)
    np.testing.assert_allclose(mixed.epsilon_at(mixed.delta_at(epsilon)), epsilon, atol=1e-9)
    assert mixed.epsilon_at(0.04) == np.inf


@pytest.mark.parametrize("failure", [0.0, 1e-4, 0.003])
def test_bounds_on_mu_by_the_plain_recursion(failure):
    """The bound separates rejected from not rejected μ in the recursion of the paper's Algorithm 7."""
    m, made, correct, p, overlap = 500, 100, 97, 0.05, 0.45

    def rejected(mu):
        total = math.hypot(mu, shift_mu(overlap))
        r, h = trace(_failing(failure).member(total), m, made, correct, p)
        return r[0] + h[0] > made / m

    bound = float(gaussian_lower_bounds(m, made, correct, p, overlap=overlap, shift_delta=failure))
    assert bound > 0.5
    assert rejected(bound * (1 - 1e-9))
    assert not rejected(bound * (1 + 1e-9))


def test_the_charge_is_for_all_examples():
    m, made, correct, overlap, failure = 500, 100, 97, 0.45, 2e-5
    left = 0.05 - (1 - (1 - failure) ** m)
    total = float(f_dp_bounds(GAUSSIAN, m, made, correct, left))
    expected = math.sqrt(total**2 - shift_mu(overlap) ** 2)
    settings = {"overlap": overlap, "shift_delta": failure}
    assert charged_lower_bounds(m, made, correct, 0.05, **settings) == pytest.approx(expected, rel=1e-9)
    assert charged_lower_bounds(10 * m, made, correct, 0.05, **settings) == 0.0  # nothing is left of p
    better = max(expected, float(gaussian_lower_bounds(m, made, correct, 0.05, **settings)))
    found = compositional(Guesses(m, made, correct), family="gaussian", **settings)
    assert found.value == pytest.approx(better, rel=1e-9)
    assert found.parameter == "mu"
    assert found.details["shift_mu"] == shift_mu(overlap)


def test_without_shift_the_bound_on_mu_is_that_of_f_dp():
    guesses = Guesses(1000, 300, 280)
    assert compositional(guesses, family="gaussian", overlap=0.5).value == bdp.audits.f_dp(guesses).value
    at = compositional(guesses, 1e-5, family="gaussian", overlap=0.4)
    assert at.parameter == "epsilon"
    assert at.details["mu"] > 0
    assert at.value == Gaussian(at.details["mu"]).epsilon_at(1e-5)
    assert at.epsilon_at(1e-3).value < at.value


def revealed(m, failure, size, rng, made):
    """Right guesses where each example's features tell its membership with chance `failure`, and else nothing.

    The guesser takes the revealed examples first and tosses coins for the rest.
    """
    known = np.minimum(rng.binomial(m, failure, size), made)
    return known + rng.binomial(made - known, 0.5)


def test_a_failure_of_each_example_is_not_one_of_the_audit():
    """Proposition 6 claims p + δ_DS for the test of G_0 alone, but rejects where nothing leaks nearly always.

    With the charge, and with Algorithm 7, that does not happen.
    """
    m, made, failure, p, size = 2000, 5, 0.005, 0.05, 20_000
    right = revealed(m, failure, size, np.random.default_rng(0), made)
    bounds = {
        "paper": f_dp_bounds(GAUSSIAN, m, made, np.arange(6), p),
        "charged": charged_lower_bounds(m, made, np.arange(6), p, overlap=0.5, shift_delta=failure),
        "right": gaussian_lower_bounds(m, made, np.arange(6), p, overlap=0.5, shift_delta=failure),
    }
    rates = {name: np.mean(bound[right] > 0) for name, bound in bounds.items()}
    assert rates["paper"] == pytest.approx(0.980, abs=0.005)
    assert rates["charged"] == rates["right"] == 0


@pytest.mark.parametrize(
    ("m", "made", "failure"), [(200, 200, 1e-4), (1000, 100, 1e-5), (1000, 100, 3e-5), (50, 10, 1e-3)]
)
def test_both_bounds_on_mu_hold_where_features_fail(m, made, failure):
    p, size = 0.05, 40_000
    right = revealed(m, failure, size, np.random.default_rng(1), made)
    limit = p + 3 * math.sqrt(p * (1 - p) / size)
    for bounds in (charged_lower_bounds, gaussian_lower_bounds):
        table = bounds(m, made, np.arange(made + 1), p, overlap=0.5, shift_delta=failure)
        assert np.mean(table[right] > 0) <= limit
