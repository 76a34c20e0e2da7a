"""Geometry of the privacy region: every fast formula against a slow obvious one."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from bayes_dp import region
from bayes_dp.checks import InputError

PROPERTY = settings(deadline=None, database=None, derandomize=True, max_examples=150)

EPSILON = st.one_of(st.floats(0, 20), st.sampled_from([0.0, 1e-300, 1e-12, 700.0]))
DELTA = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1e-300, 1e-5, 1.0]))
STRENGTH = st.one_of(st.floats(0, 1, exclude_max=True), st.sampled_from([0.0, 1 - 1e-12]))
RATE = st.integers(0, 2**20).map(lambda i: i / 2**20)  # 1 − rate is exact

ORDINARY = [(1.0, 1e-3, 0.3), (4.0, 0.0, 0.7), (0.5, 0.2, 0.0), (3.0, 0.1, 0.9), (0.5, 0.6, 0.1)]
EXTREME = [
    (700.0, 1e-300, 0.0),
    (700.0, 0.0, 0.85),
    (700.0, 1e-300, 1 - 1e-12),
    (0.0, 1e-300, 0.0),
    (0.0, 1e-300, 1 - 1e-12),
    (1e-300, 1e-300, 0.5),
    (1e-300, 0.0, 1 - 1e-12),
    (1e-12, 0.5, 1 - 2.0**-53),
    (5.0, 1 - 1e-12, 0.3),
]


def exact_layer_area(epsilon: float, delta: float, strength: float) -> mpmath.mpf:
    e, d, s = (mpmath.mpf(value) for value in (epsilon, delta, strength))
    return 2 * ((1 - s * d) ** 2 / (1 + mpmath.exp(s * e)) - (1 - d) ** 2 / (1 + mpmath.exp(e)))


def shoelace(vertices: np.ndarray) -> float:
    x, y = vertices[:, 0], vertices[:, 1]
    return 0.5 * abs(float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))))


def rejection_sample(epsilon: float, delta: float, strength: float, n: int, rng: np.random.Generator) -> np.ndarray:
    points = rng.random((400_000, 2))
    inside = points[region.in_layer(points[:, 0], points[:, 1], epsilon, delta, strength)]
    assert len(inside) > n
    return inside[:n]


# Points


def test_lower_is_the_printed_formula() -> None:
    alpha = np.linspace(0, 1, 101)
    for epsilon, delta, _ in ORDINARY:
        printed = [max(0, 1 - delta - math.exp(epsilon) * a, math.exp(-epsilon) * (1 - delta - a)) for a in alpha]
        np.testing.assert_allclose(region.lower(alpha, epsilon, delta), printed, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize(("epsilon", "delta", "strength"), ORDINARY)
def test_corner_is_where_the_lower_boundary_meets_the_diagonal(epsilon: float, delta: float, strength: float) -> None:
    x = region.corner(epsilon, delta)
    np.testing.assert_allclose(region.lower(x, epsilon, delta), x, rtol=0, atol=1e-15)


@PROPERTY
@given(RATE, RATE, EPSILON, DELTA)
def test_contains_is_the_definition(alpha: float, beta: float, epsilon: float, delta: float) -> None:
    low, high = region.lower(alpha, epsilon, delta), 1 - region.lower(1 - alpha, epsilon, delta)
    assume(min(abs(beta - low), abs(beta - high)) > 1e-12)
    assert region.contains(alpha, beta, epsilon, delta) == (low <= beta <= high)


@PROPERTY
@given(RATE, RATE, EPSILON, DELTA, st.floats(0, 5), st.floats(0, 1))
def test_regions_are_nested(
    alpha: float, beta: float, epsilon: float, delta: float, more: float, larger: float
) -> None:
    if region.contains(alpha, beta, epsilon, delta):
        assert region.contains(alpha, beta, epsilon + more, max(delta, larger))


@PROPERTY
@given(RATE, RATE, EPSILON, DELTA, STRENGTH)
def test_four_images_look_the_same(alpha: float, beta: float, epsilon: float, delta: float, strength: float) -> None:
    a, b = region.images(alpha, beta).T
    assert {tuple(p) for p in region.images(alpha, beta)} == {
        (alpha, beta),
        (beta, alpha),
        (1 - alpha, 1 - beta),
        (1 - beta, 1 - alpha),
    }
    for values in (
        region.contains(a, b, epsilon, delta),
        region.in_layer(a, b, epsilon, delta, strength),
        region.level(a, b, delta),
        region.strength_level(a, b, epsilon, delta),
    ):
        assert np.unique(values).size == 1
    first, second = region.fold(a, b)
    assert np.ptp(first) == np.ptp(second) == 0
    assert first[0] <= second[0]
    assert first[0] + second[0] <= 1


@PROPERTY
@given(RATE, RATE, EPSILON, DELTA, STRENGTH)
def test_layer_and_inner_region_are_a_partition(
    alpha: float, beta: float, epsilon: float, delta: float, strength: float
) -> None:
    layer = region.in_layer(alpha, beta, epsilon, delta, strength)
    inner = region.contains(alpha, beta, strength * epsilon, strength * delta)
    assert region.contains(alpha, beta, epsilon, delta) == (layer | inner)
    assert not layer & inner


@PROPERTY
@given(RATE, RATE, DELTA)
def test_level_is_the_least_epsilon(alpha: float, beta: float, delta: float) -> None:
    level = float(region.level(alpha, beta, delta))
    if math.isinf(level):
        assert not region.contains(alpha, beta, 700.0, delta)
    else:
        assert region.contains(alpha, beta, level * (1 + 1e-12) + 1e-12, delta)
    if 0 < level < math.inf:
        assert not region.contains(alpha, beta, max(0.0, level * (1 - 1e-12) - 1e-12), delta) or level < 2e-12


def test_level_by_hand() -> None:
    np.testing.assert_allclose(region.level(0.1, 0.2, 0.05), math.log(0.75 / 0.1), rtol=1e-14)
    np.testing.assert_allclose(region.level(1e-305, 0.5, 0.0), math.log(0.5) - math.log(1e-305), rtol=1e-14)
    np.testing.assert_allclose(region.level(0.5, 0.5 - 2.0**-50, 0.0), 2.0**-49, rtol=1e-14)
    assert region.level(5e-324, 0.5, 0.0) < math.inf
    np.testing.assert_array_equal(region.level([0.0, 0.0, 0.5], [0.5, 0.9, 0.5], [0.1, 0.1, 0.0]), [np.inf, 0.0, 0.0])


@PROPERTY
@given(RATE, RATE, EPSILON, DELTA)
def test_strength_level_separates_inner_regions(alpha: float, beta: float, epsilon: float, delta: float) -> None:
    s = float(region.strength_level(alpha, beta, epsilon, delta))
    assert 0 <= s <= 1
    if alpha + beta == 1:
        assert s == 0
    if not region.contains(alpha, beta, epsilon, delta):
        assert s >= 1 - 1e-9
    below, above = s - 1e-9, s + 1e-9
    margin = 1e-9 * min(epsilon / 2**20, 1) + 1e-9 * delta  # else the boundaries of the two are not told apart
    if margin > 1e-14 and below > 0:
        assert not region.contains(alpha, beta, below * epsilon, below * delta)
    if margin > 1e-14 and above < 1:
        assert region.contains(alpha, beta, above * epsilon, above * delta)


def test_strength_level_without_delta_is_level_over_epsilon() -> None:
    rng = np.random.default_rng(1)
    for epsilon in (0.1, 3.0, 50.0, 700.0):
        points = region.sample(epsilon, 0.0, 0.0, 500, rng)
        level = region.level(points[:, 0], points[:, 1], 0.0)
        np.testing.assert_allclose(region.strength_level(*points.T, epsilon, 0.0), level / epsilon, rtol=1e-12)


def test_strength_level_of_points_on_a_known_boundary() -> None:
    s, v = np.meshgrid(np.linspace(0.01, 1, 25), np.linspace(0.05, 1, 20))
    for epsilon, delta in [(2.0, 0.1), (30.0, 1e-5), (700.0, 1e-300), (0.0, 0.3), (1e-3, 1e-3)]:
        alpha = v * (1 - s * delta) / (1 + np.exp(s * epsilon))
        beta = alpha + (1 - v) * (1 - s * delta)
        np.testing.assert_allclose(region.strength_level(alpha, beta, epsilon, delta), s, rtol=0, atol=2e-12)


# Areas


@PROPERTY
@given(EPSILON, DELTA, STRENGTH)
def test_areas_add_up(epsilon: float, delta: float, strength: float) -> None:
    whole = region.layer_area(epsilon, delta, strength) + region.area(strength * epsilon, strength * delta)
    np.testing.assert_allclose(whole, region.area(epsilon, delta), rtol=1e-13, atol=1e-320)
    vertices = region.quadrilateral(epsilon, delta, strength)
    np.testing.assert_allclose(
        region.layer_area(epsilon, delta, strength), 4 * shoelace(vertices), rtol=1e-9, atol=1e-15
    )


@pytest.mark.parametrize(("epsilon", "delta", "strength"), ORDINARY + EXTREME)
def test_areas_against_many_digits(epsilon: float, delta: float, strength: float) -> None:
    with mpmath.workdps(700):
        area = exact_layer_area(epsilon, delta, strength)
        log_area = float(mpmath.log(area))
        whole = exact_layer_area(epsilon, delta, 0.0)  # R(0, 0) has no area
        log_whole = float(mpmath.log(whole))
    np.testing.assert_allclose(region.layer_area(epsilon, delta, strength), float(area), rtol=1e-13, atol=1e-320)
    np.testing.assert_allclose(region.log_layer_area(epsilon, delta, strength), log_area, rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(region.area(epsilon, delta), float(whole), rtol=1e-14)
    np.testing.assert_allclose(region.log_area(epsilon, delta), log_whole, rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(("epsilon", "delta", "strength"), ORDINARY)
def test_areas_against_monte_carlo(epsilon: float, delta: float, strength: float) -> None:
    n = 200_000
    alpha, beta = np.random.default_rng(7).random((2, n))
    for inside, area in (
        (region.contains(alpha, beta, epsilon, delta), region.area(epsilon, delta)),
        (region.in_layer(alpha, beta, epsilon, delta, strength), region.layer_area(epsilon, delta, strength)),
    ):
        assert abs(inside.mean() - area) < 4 * math.sqrt(area * (1 - area) / n)


def test_log_areas_where_floats_end() -> None:
    np.testing.assert_allclose(region.log_layer_area(5000.0, 0.0, 0.5), math.log(2) - 2500, rtol=1e-15)
    assert region.log_area(0.0, 0.0) == region.log_layer_area(0.0, 0.0, 0.5) == -math.inf
    assert region.log_boundary_area(0.0, 0.0) == region.log_boundary_area(1.0, 1.0) == -math.inf


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (700.0, 1e-300), (0.0, 1e-300), (1e-300, 0.0), (8.0, 0.5)])
def test_boundary_area_is_the_limit_of_layers(epsilon: float, delta: float) -> None:
    with mpmath.workdps(700):
        weak = mpmath.mpf(10) ** -30
        limit = float(mpmath.log(exact_layer_area(epsilon, delta, 1 - weak) / weak))
    np.testing.assert_allclose(region.log_boundary_area(epsilon, delta), limit, rtol=1e-14)


@pytest.mark.parametrize(("epsilon", "delta", "strength"), [(1.0, 1e-3, 0.3), (0.5, 0.2, 0.01), (3.0, 0.1, 0.9)])
def test_quadrilateral_vertices_lie_on_the_two_boundaries(epsilon: float, delta: float, strength: float) -> None:
    alpha, beta = region.quadrilateral(epsilon, delta, strength).T
    np.testing.assert_allclose(
        region.strength_level(alpha, beta, epsilon, delta), [1, strength, strength, 1], atol=1e-12
    )
    assert np.all(beta >= alpha)
    assert np.all(alpha + beta <= 1 + 1e-15)


def test_quadrilateral_broadcasts() -> None:
    vertices = region.quadrilateral(np.ones((5, 1)), 0.1, np.array([0.0, 0.5]))
    assert vertices.shape == (5, 2, 4, 2)
    np.testing.assert_array_equal(vertices[3, 1], region.quadrilateral(1.0, 0.1, 0.5))


# Map and cubature


@pytest.mark.parametrize(("epsilon", "delta", "strength"), ORDINARY)
def test_map_jacobian_is_the_derivative(epsilon: float, delta: float, strength: float) -> None:
    u, v = np.random.default_rng(2).uniform(0.01, 0.99, (2, 50))
    h = 1e-5  # the map is bilinear: central differences are exact but for rounding

    def place(u: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.stack(region.layer_map(u, v, epsilon, delta, strength)[:2])

    du, dv = (place(u + h, v) - place(u - h, v)) / (2 * h), (place(u, v + h) - place(u, v - h)) / (2 * h)
    jacobian = np.abs(du[0] * dv[1] - du[1] * dv[0])
    alpha, beta, log_jacobian = region.layer_map(u, v, epsilon, delta, strength)
    np.testing.assert_allclose(np.exp(log_jacobian), jacobian, rtol=1e-8)
    assert np.all(region.in_layer(alpha, beta, epsilon, delta, strength))
    assert np.all((beta >= alpha) & (alpha + beta <= 1))


def test_map_takes_the_corners_to_the_vertices() -> None:
    for parameters in ORDINARY + EXTREME:
        alpha, beta, log_jacobian = region.layer_map([1, 0, 0, 1], [0, 0, 1, 1], *parameters)
        vertices = region.quadrilateral(*parameters)
        np.testing.assert_allclose(alpha, vertices[:, 0], rtol=1e-14)
        np.testing.assert_allclose(beta, vertices[:, 1], rtol=1e-14)
        assert not np.isnan(log_jacobian).any()


@pytest.mark.parametrize(("epsilon", "delta", "strength"), ORDINARY + EXTREME)
def test_cubature_weights_sum_to_the_area(epsilon: float, delta: float, strength: float) -> None:
    for order in (1, 5):
        nodes, weights = region.cubature(epsilon, delta, strength, order)
        assert nodes.shape == (4 * order**2, 2)
        assert weights.shape == (4 * order**2,)
        area = region.layer_area(epsilon, delta, strength)
        np.testing.assert_allclose(weights.sum(), area, rtol=1e-12, atol=1e-310)


def nested_integral(function, epsilon: float, delta: float, strength: float) -> float:  # type: ignore[no-untyped-def]
    """∫ over R_s by scipy's adaptive rule on the first quadrilateral, summed over the images."""
    corner, inner_corner = region.corner(epsilon, delta), region.corner(strength * epsilon, strength * delta)

    def low(a: float) -> float:
        return max(a, 1 - delta - math.exp(epsilon) * a)

    def high(a: float) -> float:
        return max(low(a), 1 - strength * delta - math.exp(strength * epsilon) * a)

    def images_sum(b: float, a: float) -> float:
        return function(a, b) + function(b, a) + function(1 - a, 1 - b) + function(1 - b, 1 - a)

    pieces = ((0, corner), (corner, inner_corner))
    return math.fsum(
        integrate.dblquad(images_sum, *piece, low, high, epsabs=1e-13, epsrel=1e-11)[0] for piece in pieces
    )


def test_cubature_is_exact_for_polynomials() -> None:
    for parameters in ORDINARY[:2]:
        for i, j in [(1, 0), (0, 2), (2, 2), (4, 0), (1, 3)]:
            nodes, weights = region.cubature(*parameters, (i + j + 3) // 2)
            truth = nested_integral(lambda a, b, i=i, j=j: a**i * b**j, *parameters)
            np.testing.assert_allclose(weights @ (nodes[:, 0] ** i * nodes[:, 1] ** j), truth, rtol=1e-10)


def test_cubature_of_a_smooth_function() -> None:
    for parameters in [*ORDINARY, (20.0, 1e-5, 0.5)]:
        nodes, weights = region.cubature(*parameters, 20)
        truth = nested_integral(lambda a, b: math.exp(-3 * a - b * b) * math.cos(2 * b), *parameters)
        value = weights @ (np.exp(-3 * nodes[:, 0] - nodes[:, 1] ** 2) * np.cos(2 * nodes[:, 1]))
        np.testing.assert_allclose(value, truth, rtol=1e-9)


# Sampling


@pytest.mark.parametrize(("epsilon", "delta", "strength"), ORDINARY)
def test_sample_is_uniform(epsilon: float, delta: float, strength: float) -> None:
    n, rng = 40_000, np.random.default_rng(3)
    points = region.sample(epsilon, delta, strength, n, rng)
    alpha, beta = points.T
    assert points.shape == (n, 2)
    assert np.all(region.in_layer(alpha, beta, epsilon, delta, strength))
    image = 2 * (alpha + beta > 1) + (alpha > beta)
    assert stats.chisquare(np.bincount(image, minlength=4)).pvalue > 1e-3
    # the share of the layer that is stronger than the point is uniform
    level = region.strength_level(alpha, beta, epsilon, delta)
    share = region.layer_area(epsilon, delta, level) / region.layer_area(epsilon, delta, strength)
    assert stats.chisquare(np.histogram(share, 20, (0, 1))[0]).pvalue > 1e-3
    # α has the density of the layer's height there
    grid = np.linspace(0, region.corner(strength * epsilon, strength * delta), 20_001)
    top = 1 - strength * delta - np.exp(strength * epsilon) * grid
    height = top - np.maximum(grid, 1 - delta - np.exp(epsilon) * grid)
    below = integrate.cumulative_trapezoid(height, grid, initial=0)
    share = np.interp(region.fold(alpha, beta)[0], grid, below / below[-1])
    assert stats.kstest(share, "uniform").pvalue > 1e-3
    # and the two coordinates agree with rejection from the unit square
    slow = rejection_sample(epsilon, delta, strength, 4_000, rng)
    for fast, twin in zip(region.fold(alpha, beta), region.fold(*slow.T), strict=True):
        assert stats.ks_2samp(fast, twin).pvalue > 1e-3


def test_sample_broadcasts_and_repeats() -> None:
    epsilon, strength = np.array([0.5, 2.0, 8.0]), np.array([0.1, 0.5, 0.9])
    points = region.sample(epsilon, 0.01, strength, (1000, 3), np.random.default_rng(4))
    assert points.shape == (1000, 3, 2)
    assert np.all(region.in_layer(points[..., 0], points[..., 1], epsilon, 0.01, strength))
    again = region.sample(epsilon, 0.01, strength, (1000, 3), np.random.default_rng(4))
    np.testing.assert_array_equal(points, again)


@pytest.mark.parametrize(("epsilon", "delta", "strength"), EXTREME)
def test_sample_at_the_extremes(epsilon: float, delta: float, strength: float) -> None:
    alpha, beta = region.fold(*region.sample(epsilon, delta, strength, 2000, np.random.default_rng(5)).T)
    # inside, up to the rounding of the coordinates
    assert np.all(beta + np.exp(epsilon) * (alpha + 1e-16) >= 1 - delta - 1e-15)
    assert np.all(beta + np.exp(strength * epsilon) * (alpha - 1e-16) <= 1 - strength * delta + 1e-15)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (4.0, 0.0), (0.5, 0.2), (3.0, 0.6), (0.0, 0.1)])
def test_boundary_sample_is_the_limit_of_layers(epsilon: float, delta: float) -> None:
    n, rng = 20_000, np.random.default_rng(6)
    alpha, beta = region.sample_boundary(epsilon, delta, n, rng).T
    image = 2 * (alpha + beta > 1) + (alpha > beta)
    assert stats.chisquare(np.bincount(image, minlength=4)).pvalue > 1e-3
    alpha, beta = region.fold(alpha, beta)
    np.testing.assert_allclose(beta + math.exp(epsilon) * alpha, 1 - delta, rtol=0, atol=1e-13)
    # the layer's width in β at fixed α is δ + ε e^ε α times 1 − s
    corner = region.corner(epsilon, delta)
    rate = epsilon * math.exp(epsilon)
    share = (delta * alpha + rate * alpha**2 / 2) / (delta * corner + rate * corner**2 / 2)
    assert stats.kstest(share, "uniform").pvalue > 1e-3
    near, _ = region.fold(*region.sample(epsilon, delta, 1 - 1e-7, n, rng).T)
    assert stats.ks_2samp(alpha, near).pvalue > 1e-3


def test_sampling_an_empty_layer_is_refused() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="no area"):
        region.sample(0.0, 0.0, 0.5, 3, rng)
    with pytest.raises(InputError, match="no area"):
        region.sample_boundary([1.0, 0.0], 0.0, 2, rng)


# Input


def test_scalars_give_scalars() -> None:
    for value in (
        region.contains(0.1, 0.2, 1.0, 0.0),
        region.level(0.1, 0.2, 0.0),
        region.strength_level(0.1, 0.2, 3.0, 0.01),
        region.area(1.0, 0.1),
        region.log_layer_area(1.0, 0.1, 0.5),
        region.log_boundary_area(1.0, 0.1),
        *region.layer_map(0.5, 0.5, 1.0, 0.1, 0.5),
    ):
        assert isinstance(value, np.generic)


def test_bad_input_is_named() -> None:
    with pytest.raises(InputError, match=r"epsilon must lie in \[0, inf\), not -1.0"):
        region.area(-1.0, 0.1)
    with pytest.raises(InputError, match=r"delta\[1\]"):
        region.area(1.0, [0.1, 1.5])
    with pytest.raises(InputError, match="strength"):
        region.layer_area(1.0, 0.1, 1.0)
    with pytest.raises(InputError, match="alpha"):
        region.level(math.nan, 0.1, 0.1)
    with pytest.raises(InputError, match="order"):
        region.cubature(1.0, 0.1, 0.5, 0)
    with pytest.raises(InputError, match="single number"):
        region.cubature([1.0, 2.0], 0.1, 0.5, 3)  # type: ignore[arg-type]
