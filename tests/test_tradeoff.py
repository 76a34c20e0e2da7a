"""Trade-off functions and conversions: every fast formula against a slow obvious one."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from bayes_dp import tradeoff
from bayes_dp.checks import InputError
from bayes_dp.tradeoff import ApproxDP, Gaussian, Laplace, TradeOff, TradeOffFunction, require_symmetric

PROPERTY = settings(deadline=None, database=None, derandomize=True, max_examples=100)


def hinge(alpha: np.ndarray) -> np.ndarray:
    """Symmetric, convex, piecewise linear: (1, 0)-DP and (0, 0.2)-DP at once."""
    return np.maximum(tradeoff.approx_dp(alpha, 0.0, 0.2), tradeoff.approx_dp(alpha, 1.0, 0.0))


CURVES: list[TradeOffFunction] = [
    ApproxDP(0.0),
    ApproxDP(1.0, 1e-3),
    ApproxDP(3.0, 0.1),
    ApproxDP(0.0, 0.3),
    ApproxDP(700.0, 1e-300),
    ApproxDP(1.0, 1.0),
    Gaussian(0.0),
    Gaussian(1e-6),
    Gaussian(1.0),
    Gaussian(40.0),
    Laplace(0.0),
    Laplace(1.0),
    Laplace(6.0),
    Laplace(700.0),
    TradeOff(Gaussian(1.0)),
    TradeOff(ApproxDP(1.0, 0.01)),
    TradeOff(hinge),
]
# the address in a function's repr would name the test differently in every process
EACH = pytest.mark.parametrize("curve", CURVES, ids=lambda curve: str(curve).split(" at 0x")[0])
GRID = np.unique(np.concatenate((np.linspace(0, 1, 2001), np.logspace(-300, -3, 600), 1 - np.logspace(-15, -3, 100))))


def printed_delta(mu: float, epsilon: float) -> tuple[float, float]:
    """Φ(−ε/μ + μ/2) − e^ε Φ(−ε/μ − μ/2) and its logarithm, computed with 200 digits."""
    with mpmath.workdps(200):
        m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
        first, second = (mpmath.erfc((e / m + sign * m / 2) / mpmath.sqrt(2)) / 2 for sign in (-1, 1))
        delta = first - mpmath.exp(e) * second
        return float(delta), float(mpmath.log(delta))


# Trade-off functions


@EACH
def test_curve_is_a_trade_off_function(curve: TradeOffFunction) -> None:
    beta = curve(GRID)
    assert np.all((beta >= 0) & (beta <= 1 - GRID + 1e-15))
    assert np.all(np.diff(beta) <= 1e-15)
    share = (GRID[2:] - GRID[1:-1]) / (GRID[2:] - GRID[:-2])
    assert np.all(beta[1:-1] <= share * beta[:-2] + (1 - share) * beta[2:] + 1e-14)


@EACH
def test_inverse_is_the_least_rate(curve: TradeOffFunction) -> None:
    y = np.concatenate((np.linspace(0, 1, 201), np.logspace(-12, -3, 10)))
    x = curve.inverse(y)
    assert np.all((x >= 0) & (x <= 1))
    np.testing.assert_allclose(x, curve(1 - y), rtol=1e-9, atol=1e-15)  # all are symmetric
    # it meets the definition, and nothing 1e-9 smaller does; slopes up to e^700 forbid a check from above there
    assert np.all(1 - curve(np.minimum(1, x * (1 + 1e-9) + 1e-12)) >= y - 1e-12)
    smaller = x * (1 - 1e-9) - 1e-12
    assert np.all((1 - curve(np.maximum(smaller, 0)) <= y) | (smaller < 0))


@pytest.mark.parametrize("curve", CURVES)
def test_the_inverse_of_one_float_is_that_of_arrays(curve: TradeOffFunction) -> None:
    y = np.concatenate([np.linspace(0.001, 0.999, 400), [1e-12, 1e-5, 0.5, 1 - 1e-5]])
    single = tradeoff.float_inverse(curve)
    np.testing.assert_allclose([single(float(each)) for each in y], curve.inverse(y), rtol=1e-9, atol=1e-15)


def test_inverses_by_many_parameters() -> None:
    y, parameters = np.linspace(0, 1, 101), np.array([0.0, 0.3, 2.0, 40.0])
    for curve, inverse in (
        (Gaussian, tradeoff.gaussian_inverse),
        (Laplace, tradeoff.laplace_inverse),
        (lambda epsilon: ApproxDP(epsilon, 0.01), lambda epsilon, y: tradeoff.approx_dp_inverse(0.01, epsilon, y)),
    ):
        each = np.stack([curve(parameter).inverse(y) for parameter in parameters])
        np.testing.assert_array_equal(inverse(parameters[:, None], y), each)


@EACH
def test_profile_is_the_supremum_over_a_grid(curve: TradeOffFunction) -> None:
    t = np.concatenate(([0.0], np.linspace(0, 1, 20_001), np.logspace(-300, -3, 3000)))
    for epsilon in (0.0, 1e-6, 0.3, 1.0, 2.5, 10.0, 700.0):
        slow = max(0.0, float(np.max(1 - curve(math.exp(-epsilon) * t) - t)))
        fast = float(curve.delta_at(epsilon))
        assert slow - 1e-15 <= fast <= slow + 1e-4
        if epsilon == 0 or slow > 1e-3:
            np.testing.assert_allclose(fast, slow, rtol=1e-3, atol=1e-15)


@EACH
def test_profile_there_and_back(curve: TradeOffFunction) -> None:
    delta = np.array([1e-3, 0.01, 0.05, 0.2, 0.9])
    epsilon = curve.epsilon_at(delta)
    reached = np.isfinite(epsilon) & (epsilon > 0)
    np.testing.assert_allclose(curve.delta_at(epsilon[reached]), delta[reached], rtol=1e-11)
    assert np.all(curve.delta_at(0.0) <= delta[epsilon == 0] + 1e-15)
    assert np.all(curve.delta_at(700.0) > delta[np.isinf(epsilon)])
    assert curve.epsilon_at(1.0) == 0
    assert np.all(np.diff(epsilon[np.isfinite(epsilon)]) <= 0)


@EACH
def test_advantage_is_the_largest_gap(curve: TradeOffFunction) -> None:
    np.testing.assert_allclose(curve.advantage(), np.max(1 - GRID - curve(GRID)), rtol=1e-3, atol=1e-15)
    np.testing.assert_allclose(curve.advantage(), float(curve.delta_at(0.0)), rtol=1e-15)
    assert isinstance(curve.advantage(), float)


def test_approx_dp_profile() -> None:
    curve = ApproxDP(2.0, 1e-5)
    assert curve.delta_at(2.0) == curve.delta_at(50.0) == 1e-5
    assert curve.epsilon_at(1e-5) == 2.0
    assert curve.epsilon_at(0.9e-5) == math.inf
    assert ApproxDP(1e-300).epsilon_at(0.0) == 1e-300
    assert ApproxDP(700.0, 1e-300).delta_at(700.0) == 1e-300


def test_gaussian_keeps_small_rates() -> None:
    z = [-36.0, -20.0, -5.0, 0.0, 3.0]
    with mpmath.workdps(60):
        y, moved = ([float(mpmath.ncdf(x - mu)) for x in z] for mu in (0, 1))
    np.testing.assert_allclose(Gaussian(1.0).inverse(y), moved, rtol=1e-11)
    np.testing.assert_allclose(Gaussian(1.0)(y), Gaussian(1.0).inverse(1 - np.array(y)), rtol=1e-9, atol=1e-15)


def test_laplace_is_the_most_powerful_test() -> None:
    cut = np.linspace(-8, 8, 101)
    for mu in (0.2, 1.0, 5.0):
        alpha, beta = stats.laplace.sf(cut), stats.laplace.cdf(cut, loc=mu)
        np.testing.assert_allclose(Laplace(mu)(alpha), beta, rtol=1e-12)


def test_laplace_where_floats_end() -> None:
    np.testing.assert_allclose(Laplace(710.0)(1e-300), math.exp(-710 - math.log(4e-300)), rtol=1e-12)
    np.testing.assert_array_equal(Laplace(5000.0)([0.0, 0.5, 1.0]), [1.0, 0.0, 0.0])


def test_own_function_agrees_with_the_closed_form() -> None:
    y, epsilon, delta = np.linspace(0, 1, 51), np.array([0.0, 0.5, 1.0, 4.0]), np.array([1e-6, 1e-3, 0.1])
    for closed in (Gaussian(1.5), Laplace(2.0), ApproxDP(1.0, 0.02)):
        own = TradeOff(closed)
        np.testing.assert_allclose(own.inverse(y), closed.inverse(y), rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(own.delta_at(epsilon), closed.delta_at(epsilon), rtol=0, atol=1e-15)
        np.testing.assert_allclose(own.epsilon_at(delta), closed.epsilon_at(delta), rtol=1e-8)
        np.testing.assert_allclose(own.advantage(), closed.advantage(), rtol=1e-14)


def test_own_function_with_a_very_steep_start() -> None:
    np.testing.assert_allclose(TradeOff(ApproxDP(700.0)).delta_at([0.0, 5.0, 660.0]), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda alpha: 1.1 - alpha, "must lie in"),
        (lambda alpha: -0.1 * alpha, "must lie in"),
        (lambda alpha: np.minimum(0.1 * alpha, 1 - alpha), "must not increase"),
        (lambda alpha: 0.3 - 0.3 * alpha**3, "must be convex"),
        (lambda alpha: 0.1 * (alpha < 0.5), "must be convex"),
        (lambda alpha: np.full_like(alpha, np.nan), "nan"),
        (lambda alpha: 0.0, "must be vectorised"),
    ],
)
def test_own_function_that_is_none_is_refused(function, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        TradeOff(function)


# Conversions


@pytest.mark.parametrize("mu", [1e-6, 1e-3, 0.1, 0.4999, 0.5, 1.0, 5.0, 20.0, 40.0])
def test_gaussian_profile_against_many_digits(mu: float) -> None:
    position = np.concatenate(([-mu / 2], np.linspace(-mu / 2, 0, 5), np.logspace(-9, 0, 7), np.linspace(1, 37, 40)))
    epsilon = np.array([*np.maximum(0.0, mu * (position + mu / 2)), 1e-300, 1e-9])
    epsilon = epsilon[epsilon < 1500]
    delta, log_delta = np.array([printed_delta(mu, e) for e in epsilon]).T
    np.testing.assert_allclose(tradeoff.delta_from_mu(mu, epsilon), delta, rtol=1e-12)
    np.testing.assert_allclose(tradeoff.log_delta_from_mu(mu, epsilon), log_delta, rtol=2e-14)


def test_gaussian_profile_at_the_ends() -> None:
    assert np.all(tradeoff.delta_from_mu(0.0, [0.0, 1.0, 700.0]) == 0)
    np.testing.assert_array_equal(tradeoff.delta_from_mu([1e-310, 1e-6, 1e300], 700.0), [0.0, 0.0, 1.0])
    np.testing.assert_allclose(tradeoff.delta_from_mu(1e-300, 0.0), 1e-300 / math.sqrt(2 * math.pi), rtol=1e-13)
    np.testing.assert_allclose(tradeoff.log_delta_from_mu(1.0, 700.0), printed_delta(1.0, 700.0)[1], rtol=1e-14)


@PROPERTY
@given(st.floats(-6, 1.6), st.floats(-300, -0.5))
def test_epsilon_from_mu_inverts_the_profile(log_mu: float, log_delta: float) -> None:
    mu, delta = 10**log_mu, 10**log_delta
    epsilon = float(tradeoff.epsilon_from_mu(mu, delta))
    if epsilon == 0:
        assert delta >= tradeoff.advantage_from_mu(mu) * (1 - 1e-12)
    else:
        np.testing.assert_allclose(printed_delta(mu, epsilon)[0], delta, rtol=1e-11)


@PROPERTY
@given(st.floats(-300, 2.85), st.floats(-300, -1e-6))
def test_mu_from_epsilon_inverts_the_profile(log_epsilon: float, log_delta: float) -> None:
    epsilon, delta = 10**log_epsilon, 10**log_delta
    mu = float(tradeoff.mu_from_epsilon(epsilon, delta))
    np.testing.assert_allclose(tradeoff.log_delta_from_mu(mu, epsilon), math.log(delta), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(tradeoff.delta_from_mu(mu, epsilon), delta, rtol=1e-11)


def test_gaussian_inverses_at_the_ends() -> None:
    np.testing.assert_array_equal(
        tradeoff.epsilon_from_mu([0.0, 1.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.5]), [0, np.inf, 0, 0]
    )
    np.testing.assert_array_equal(tradeoff.mu_from_epsilon([1.0, 1.0, 0.0], [0.0, 1.0, 0.0]), [0, np.inf, 0])
    assert tradeoff.epsilon_from_mu([[1.0], [2.0]], [1e-5, 1e-3, 0.1]).shape == (2, 3)
    assert tradeoff.mu_from_advantage(1.0) == math.inf
    np.testing.assert_allclose(tradeoff.mu_from_epsilon(0.0, 1e-300), 1e-300 * math.sqrt(2 * math.pi), rtol=1e-14)


@PROPERTY
@given(st.floats(0, 30), st.floats(0, 0.99))
def test_advantage_of_approx_dp(epsilon: float, delta: float) -> None:
    advantage = tradeoff.advantage_from_epsilon(epsilon, delta)
    printed = (math.exp(epsilon) - 1 + 2 * delta) / (math.exp(epsilon) + 1)
    np.testing.assert_allclose(advantage, printed, rtol=1e-13, atol=1e-15)
    back = tradeoff.epsilon_from_advantage(advantage, delta)
    # 1 − advantage has lost e^ε of its digits, advantage − δ those of δ/ε
    np.testing.assert_allclose(back, epsilon, rtol=0, atol=1e-15 * math.exp(epsilon) / (1 - delta) + 1e-14)


def test_advantages_at_the_ends() -> None:
    assert tradeoff.advantage_from_epsilon(700.0, 0.0) == 1
    assert tradeoff.advantage_from_epsilon(1e-300, 0.0) == 5e-301
    np.testing.assert_array_equal(
        tradeoff.epsilon_from_advantage([0.0, 0.1, 1.0, 1.0, 1e-300], [0.0, 0.2, 0.5, 1.0, 0.0]),
        [0, 0, np.inf, 0, 2e-300],
    )
    assert tradeoff.laplace_from_advantage(1.0) == tradeoff.laplace_from_epsilon(1.0, 1.0) == math.inf
    assert tradeoff.epsilon_from_laplace(3.0, 1.0) == 0


@PROPERTY
@given(st.floats(0, 12), st.floats(0, 0.999))
def test_advantage_of_gaussian_and_laplace(mu: float, advantage: float) -> None:
    np.testing.assert_allclose(tradeoff.advantage_from_mu(mu), 2 * stats.norm.cdf(mu / 2) - 1, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(
        tradeoff.advantage_from_mu(tradeoff.mu_from_advantage(advantage)), advantage, rtol=1e-13, atol=1e-320
    )
    np.testing.assert_allclose(tradeoff.advantage_from_laplace(mu), 1 - math.exp(-mu / 2), rtol=1e-12, atol=1e-15)
    back = tradeoff.advantage_from_laplace(tradeoff.laplace_from_advantage(advantage))
    np.testing.assert_allclose(back, advantage, rtol=1e-13, atol=1e-320)


@PROPERTY
@given(st.floats(0, 700), st.floats(0, 700), st.floats(0, 0.999))
def test_laplace_profile(mu: float, epsilon: float, delta: float) -> None:
    printed = max(0.0, 1 - math.exp(min(0.0, (epsilon - mu) / 2)))
    np.testing.assert_allclose(tradeoff.delta_from_laplace(mu, epsilon), printed, rtol=1e-12, atol=1e-15)
    assert tradeoff.delta_from_laplace(mu, tradeoff.epsilon_from_laplace(mu, delta)) <= delta + 1e-12
    matched = tradeoff.laplace_from_epsilon(epsilon, delta)
    np.testing.assert_allclose(tradeoff.delta_from_laplace(matched, epsilon), delta, rtol=1e-10, atol=1e-12)


# Composition


def test_gaussian_composition() -> None:
    np.testing.assert_allclose(tradeoff.compose_gaussian([3.0, 4.0, 12.0]), 13.0, rtol=1e-15)
    np.testing.assert_allclose(tradeoff.compose_gaussian([3e-200, 4e-200]), 5e-200, rtol=1e-15)
    assert tradeoff.compose_gaussian(2.0) == 2.0


def test_basic_composition() -> None:
    assert tradeoff.compose_basic([1.0, 2.0], [0.25, 0.5]) == (3.0, 0.75)
    assert tradeoff.compose_basic([1.0, 2.0], 0.75) == (3.0, 1.0)


def worst_case_composition(epsilon: float, delta: float, k: int, total: float) -> float:
    """The profile of k copies of the worst (ε, δ)-DP pair, by adding up all 4^k outcomes."""
    yes = (1 - delta) * math.exp(epsilon) / (1 + math.exp(epsilon))
    no = 1 - delta - yes
    outcomes = [(delta, 0.0), (yes, no), (no, yes), (0.0, delta)]
    excess = 0.0
    for combination in itertools.product(outcomes, repeat=k):
        excess += max(
            0.0, math.prod(p for p, _ in combination) - math.exp(total) * math.prod(q for _, q in combination)
        )
    return excess


@pytest.mark.parametrize(
    ("epsilon", "delta", "k"), [(0.5, 0.01, 1), (0.5, 0.01, 4), (2.0, 0.0, 3), (0.0, 0.1, 3), (1.0, 1.0, 2)]
)
def test_optimal_composition_against_all_outcomes(epsilon: float, delta: float, k: int) -> None:
    totals = np.array([0.0, 0.3, 0.5, 1.0, 2.0, 7.0])
    slow = [worst_case_composition(epsilon, delta, k, total) for total in totals]
    np.testing.assert_allclose(tradeoff.compose_optimal(epsilon, delta, k, totals), slow, rtol=1e-12, atol=1e-15)


def test_optimal_composition_is_the_printed_theorem() -> None:
    epsilon, delta, k = 0.1, 1e-6, 30
    for i in range(k // 2 + 1):
        with mpmath.workdps(50):
            e = mpmath.mpf(epsilon)
            terms = (
                mpmath.binomial(k, j) * (mpmath.exp((k - j) * e) - mpmath.exp((k - 2 * i + j) * e)) for j in range(i)
            )
            rest = 1 - mpmath.fsum(terms) / (1 + mpmath.exp(e)) ** k
            printed = float(1 - (1 - mpmath.mpf(delta)) ** k * rest)
        value = tradeoff.compose_optimal(epsilon, delta, k, (k - 2 * i) * epsilon)
        np.testing.assert_allclose(value, printed, rtol=1e-11)


def test_optimal_composition_bounds_and_shapes() -> None:
    np.testing.assert_allclose(
        tradeoff.compose_optimal(1.0, 1e-3, 1, [0.2, 1.0]), ApproxDP(1.0, 1e-3).delta_at([0.2, 1.0])
    )
    total, delta = tradeoff.compose_basic([0.2] * 50, [1e-6] * 50)
    assert tradeoff.compose_optimal(0.2, 1e-6, 50, total) <= delta
    assert tradeoff.compose_optimal([[0.1], [0.2]], 1e-6, 1000, [1.0, 2.0, 3.0]).shape == (2, 3)
    np.testing.assert_allclose(tradeoff.compose_optimal(700.0, 1e-300, 3, [0.0, 2100.0]), [1.0, 3e-300], rtol=1e-14)
    with pytest.raises(InputError, match="k must be"):
        tradeoff.compose_optimal(1.0, 0.0, 0, 1.0)


# Helpers and input


@PROPERTY
@given(st.floats(0, 1e300), st.floats(0, 1e300))
def test_least_finds_the_last_bit(threshold: float, high: float) -> None:
    found = tradeoff.least(lambda x: x >= threshold, 0.0, high)
    assert found == min(threshold, high)


def test_scalars_give_scalars() -> None:
    for value in (
        tradeoff.delta_from_mu(1.0, 1.0),
        tradeoff.epsilon_from_mu(1.0, 1e-5),
        tradeoff.mu_from_epsilon(1.0, 1e-5),
        tradeoff.epsilon_from_advantage(0.5, 0.1),
        tradeoff.compose_optimal(1.0, 0.1, 3, 1.0),
        *(curve(0.3) for curve in CURVES),
        *(curve.inverse(0.3) for curve in CURVES),
        *(curve.epsilon_at(0.1) for curve in CURVES),
        *(curve.delta_at(0.1) for curve in CURVES),
    ):
        assert isinstance(value, np.float64)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match=r"mu must lie in \[0, inf\), not -1.0"):
        Gaussian(-1.0)
    with pytest.raises(InputError, match="delta"):
        ApproxDP(1.0, 1.5)
    with pytest.raises(InputError, match="single number"):
        Laplace([1.0, 2.0])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"alpha\[1\]"):
        Gaussian(1.0)([0.1, 1.1])
    with pytest.raises(InputError, match="epsilon"):
        tradeoff.delta_from_mu(1.0, math.inf)
    with pytest.raises(InputError, match="total_epsilon"):
        tradeoff.compose_optimal(1.0, 0.0, 2, -1.0)


def test_import_is_light() -> None:
    code = "import sys, bayes_dp.region; print(*{m.split('.')[0] for m in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"jax", "pandas", "matplotlib", "numpyro", "arviz"} & set(loaded)


# Symmetry


def lopsided(alpha):  # type: ignore[no-untyped-def]
    return np.maximum(0.0, 1 - np.asarray(alpha) / 0.7)


def subsampled(alpha, share=0.2, mu=2.0):  # type: ignore[no-untyped-def]
    alpha = np.asarray(alpha)
    return (1 - share) * (1 - alpha) + share * Gaussian(mu)(alpha)


@pytest.mark.parametrize(
    "f",
    [
        *(TradeOff(g) for g in (Gaussian(0.0), Gaussian(1.0), Gaussian(8.0), Laplace(3.0), Laplace(40.0))),
        *(TradeOff(ApproxDP(e, d)) for e, d in ((0.0, 0.0), (1.0, 0.01), (30.0, 0.0), (0.0, 0.3), (2.0, 1.0))),
        TradeOff(lambda alpha: np.maximum(0.0, 0.7 - alpha)),
        TradeOff(lambda alpha: np.maximum(Gaussian(1.0)(alpha), ApproxDP(0.3)(alpha))),
        Gaussian(1.0),
    ],
)
def test_symmetric_functions_pass(f) -> None:  # type: ignore[no-untyped-def]
    require_symmetric(f)


@pytest.mark.parametrize(
    "function",
    [
        lopsided,
        subsampled,
        lambda alpha: np.maximum(0.0, 0.7 * (1 - np.asarray(alpha))),
        lambda alpha: np.maximum(0.0, 1 - np.asarray(alpha) * 1.001),
        lambda alpha: np.maximum(0.0, 1 - 1e-6 - np.asarray(alpha) / 0.999),
        lambda alpha: np.maximum(Gaussian(1.0)(alpha), 0.3 * (1 - np.asarray(alpha))),
    ],
)
def test_lopsided_functions_are_refused_with_a_point(function) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=r"needs a symmetric trade-off function, but f\(.*and its inverse is"):
        require_symmetric(TradeOff(function))


def test_an_inverse_that_is_none_is_refused() -> None:
    class Lopsided(Gaussian):
        def __call__(self, alpha):  # type: ignore[no-untyped-def]
            return lopsided(alpha)

    class Own:
        def __init__(self, function, inverse):  # type: ignore[no-untyped-def]
            self.function, self.inverse = function, inverse

        def __call__(self, alpha):  # type: ignore[no-untyped-def]
            return self.function(alpha)

    with pytest.raises(InputError, match="needs a symmetric trade-off function"):
        require_symmetric(Lopsided(1.0))
    require_symmetric(Own(Gaussian(1.0), Gaussian(1.0).inverse))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="needs a symmetric trade-off function"):
        require_symmetric(Own(lopsided, lambda y: lopsided(1 - y)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"inverse\(y\) must be the least x"):
        require_symmetric(Own(Gaussian(1.0), Gaussian(2.0).inverse))  # type: ignore[arg-type]


def test_what_holds_in_both_orders_is_below_both() -> None:
    """Of a subsampled Gaussian, the profile of the convex function below f and its inverse is the larger of theirs."""
    alpha, epsilon = np.linspace(0, 1, 4001), np.array([0.0, 0.1, 0.3, 0.6])
    f = TradeOff(subsampled)
    inverse = TradeOff(lambda a: f.inverse(1 - np.asarray(a)))
    points = np.concatenate([np.stack([alpha, f(alpha)], 1), np.stack([f(alpha), alpha], 1)])
    points = points[np.argsort(points[:, 0], kind="stable")]
    hull: list[tuple[float, float]] = []
    for x, y in points.tolist():
        while len(hull) > 1 and (hull[-1][0] - hull[-2][0]) * (y - hull[-2][1]) <= (hull[-1][1] - hull[-2][1]) * (
            x - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    x, y = np.array(hull).T
    below = TradeOff(lambda a: np.interp(a, x, y))
    require_symmetric(below)
    both = np.maximum(f.delta_at(epsilon), inverse.delta_at(epsilon))
    np.testing.assert_allclose(below.delta_at(epsilon), both, atol=1e-6)
    assert np.min(np.abs(f.delta_at(epsilon) - inverse.delta_at(epsilon))[1:]) > 1e-3
