"""The bounds of DP-SGD against closed forms, quadrature and another accountant."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

from bayes_dp.checks import InputError
from bayes_dp.tradeoff import Gaussian, require_symmetric
from bayes_dp.tradeoff.dp_sgd import TOLERANCE, dp_sgd
from bayes_dp.tradeoff.polygon import Polygon

EPSILON = np.linspace(0.0, 8.0, 161)
ALPHA = np.concatenate([np.geomspace(1e-12, 1e-3, 200), np.linspace(0, 1, 2001)])


def one_step(t: np.ndarray, sigma: float, rate: float) -> np.ndarray:
    """H(t) = P[ℓ > log t] − t Q[ℓ > log t] for any t > 0."""
    share = np.maximum((t - 1 + rate) / rate, 0.0)  # exp((x − ½)/σ²) at the threshold
    with np.errstate(divide="ignore"):
        z = sigma * np.log(share) + 0.5 / sigma
    without, member = special.ndtr(-z), special.ndtr(1 / sigma - z)
    return (1 - rate - t) * without + rate * member


def two_steps(t: np.ndarray, sigma: float, rate: float) -> np.ndarray:
    """H of two steps: E_Q r H(t/r), over the first one, with r = e^ℓ."""
    z = np.linspace(-9, 9 + 2 / sigma, 40_001)
    ratio = 1 - rate + rate * np.exp(z / sigma - 0.5 / sigma**2)
    weight = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    return np.array([np.sum(weight * ratio * one_step(s / ratio, sigma, rate)) for s in t])


def both_ways(hockey, epsilon: np.ndarray) -> np.ndarray:
    """The larger δ of the two orders; of "without z" against "with z" it is 1 − t + t H(1/t)."""
    t = np.exp(epsilon)
    return np.maximum(hockey(t), 1 - t + t * hockey(1 / t))


@pytest.mark.parametrize(
    ("sigma", "rate"), [(1.1, 0.01), (1.0, 0.5), (0.3, 0.1), (0.3, 0.01), (5.0, 0.9), (1.0, 1e-3), (1.0, 1e-4)]
)
def test_one_step_is_between_the_bounds(sigma: float, rate: float):
    below, above = dp_sgd(sigma, rate, 1)
    delta = both_ways(lambda t: one_step(t, sigma, rate), EPSILON)
    assert np.all(above.delta_at(EPSILON) <= delta + 1e-11)
    assert np.all(below.delta_at(EPSILON) >= delta - 1e-11)
    assert np.all(below.delta_at(EPSILON) - above.delta_at(EPSILON) <= TOLERANCE)


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.3), (0.5, 0.02), (2.0, 0.9), (1.0, 1e-4)])
def test_two_steps_are_between_the_bounds(sigma: float, rate: float):
    below, above = dp_sgd(sigma, rate, 2)
    epsilon = EPSILON[::10]
    delta = both_ways(lambda t: two_steps(t, sigma, rate), epsilon)
    error = 3e-12 * np.exp(epsilon) + 1e-11  # of the quadrature, which loses digits where e^ε is large
    assert np.all(above.delta_at(epsilon) <= delta + error)
    assert np.all(below.delta_at(epsilon) >= delta - error)


@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 1), (20.0, 400), (10.0, 1000)])
def test_all_of_the_data_at_each_step_is_gaussian(sigma: float, steps: int):
    below, above = dp_sgd(sigma, 1 - 1e-15, steps)
    f = Gaussian(math.sqrt(steps) / sigma)
    assert np.all(below(ALPHA) <= f(ALPHA))
    assert np.all(f(ALPHA) <= above(ALPHA))
    assert np.max(above(ALPHA) - below(ALPHA)) <= TOLERANCE
    for delta in (1e-3, 1e-8, 1e-12):
        assert above.epsilon_at(delta) <= f.epsilon_at(delta) <= below.epsilon_at(delta)
    assert below.epsilon_at(1e-12) - above.epsilon_at(1e-12) < 0.01  # small δ keep digits
    assert np.all(above.delta_at(EPSILON) <= f.delta_at(EPSILON))
    assert np.all(f.delta_at(EPSILON) <= below.delta_at(EPSILON))


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "epsilons", "advantage"),
    [  # by dp-accounting 0.6.0, PLD with intervals of 1e-5: at δ = 0.1, 1e-5, 1e-10, and δ at ε = 0
        (1.1, 0.01, 1000, (0.105317283874, 1.515362000334, 2.625682193357), 0.140321456625),
        (1.0, 0.5, 10, (3.071011143393, 10.459927348334, 16.411032128791), 0.568282450460),
        (0.5, 0.01, 100, (0.303907499179, 6.476210007116, 13.473589863849), 0.169375999774),
        (0.3, 0.01, 100, (4.950566510583, 26.834714473638, 49.280984759406), 0.415235578873),
    ],
)
def test_another_accountant(sigma: float, rate: float, steps: int, epsilons: tuple[float, ...], advantage: float):
    below, above = dp_sgd(sigma, rate, steps)
    assert above.advantage() - 1e-6 <= advantage <= below.advantage() + 1e-6
    for delta, epsilon in zip((0.1, 1e-5), epsilons, strict=False):
        assert below.epsilon_at(delta) == pytest.approx(epsilon, abs=1e-5)
        assert above.epsilon_at(delta) == pytest.approx(epsilon, abs=1e-5)
    assert below.epsilon_at(1e-10) == pytest.approx(epsilons[2], abs=3e-4)


@pytest.mark.parametrize(
    ("sigma", "rate", "steps"),
    [
        (1.1, 0.01, 1000),
        (0.5, 0.01, 50),
        (4.0, 0.05, 10_000),
        (0.5, 0.9999, 3),
        (1e6, 0.5, 3),
        (1.0, 1e-12, 5),
        (1.0, 1e-4, 20),
    ],
)
def test_two_symmetric_trade_off_functions_close_to_each_other(sigma: float, rate: float, steps: int):
    below, above = dp_sgd(sigma, rate, steps)
    for f in (below, above):
        require_symmetric(f)
        beta = f(ALPHA)
        assert np.all((beta >= 0) & (beta <= 1 - ALPHA + 1e-12))
    assert np.all(below(ALPHA) <= above(ALPHA) + 1e-13)
    assert np.max(above(ALPHA) - below(ALPHA)) <= TOLERANCE


def test_more_noise_and_fewer_steps_leak_less():
    strong = dp_sgd(1.0, 0.02, 100)[0]
    for other in ((1.1, 0.02, 100), (1.0, 0.018, 100), (1.0, 0.02, 90)):
        weak = dp_sgd(*other)[0]
        assert np.all(weak.delta_at(EPSILON) <= strong.delta_at(EPSILON) + 1e-13)
        assert weak.epsilon_at(1e-5) < strong.epsilon_at(1e-5)


def test_a_polygon_answers_as_its_corners_say():
    polygon = dp_sgd(1.0, 0.1, 20)[0]
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        direct = np.max(polygon.power - math.exp(epsilon) * polygon.alpha)
        assert polygon.delta_at(epsilon) == pytest.approx(direct, rel=1e-9)
    grid = np.linspace(0, 12, 24_001)
    delta = polygon.delta_at(grid)
    for alpha in (1e-6, 1e-3, 0.1, 0.5, 0.9):
        lines = np.concatenate([1 - delta - np.exp(grid) * alpha, np.exp(-grid) * (1 - delta - alpha)])
        assert polygon(alpha) == pytest.approx(lines.max(), abs=1e-7)
        assert polygon.inverse(1 - alpha) == pytest.approx(float(polygon(alpha)), rel=1e-9)
    for delta in (1e-9, 1e-3, 0.05):
        assert polygon.delta_at(polygon.epsilon_at(delta)) == pytest.approx(delta, rel=1e-9)
    assert polygon.epsilon_at(0.0) == math.inf
    assert polygon.epsilon_at(1.0) == 0.0


def test_a_polygon_of_three_corners():
    polygon = Polygon(np.array([0.0, 0.2]), np.array([0.1, 0.6]))
    assert polygon([0.0, 0.1, 0.2, 0.4, 0.9]).tolist() == pytest.approx([0.9, 0.65, 0.4, 0.2, 0.0])
    assert polygon.delta_at([0.0, math.log(2.5), 3.0]).tolist() == pytest.approx([0.4, 0.1, 0.1])
    assert polygon.epsilon_at([0.05, 0.1, 0.4]).tolist() == pytest.approx([math.inf, math.log(2.5), 0.0])


@pytest.mark.parametrize("arguments", [(0.01, 0.5, 1), (0.3, 0.01, 10**6)])
def test_what_cannot_be_computed(arguments: tuple[float, float, int]):
    with pytest.raises(InputError, match="noise_multiplier"):
        dp_sgd(*arguments)
