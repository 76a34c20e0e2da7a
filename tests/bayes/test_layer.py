"""The layer in JAX against the layer in NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bayes_dp import region
from bayes_dp.bayes import layer

# ε, δ, s
PLACES = [
    (1.0, 1e-3, 0.3),
    (4.0, 0.0, 0.7),
    (0.5, 0.2, 0.0),
    (3.0, 0.1, 0.9),
    (20.0, 1e-5, 0.99),
    (1e-3, 0.0, 0.999999),
    (700.0, 0.0, 0.0),
    (700.0, 1e-3, 0.5),
]


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def points(epsilon, delta, s):
    """Points of the square and of the layer."""
    rng = np.random.default_rng(3)
    return np.concatenate([rng.random((2000, 2)), region.sample(epsilon, delta, s, 2000, rng)]).T


@pytest.mark.parametrize(("epsilon", "delta", "s"), PLACES)
def test_inside_is_that_of_region(epsilon, delta, s):
    alpha, beta = points(epsilon, delta, s)
    low, gap = layer.fold(jnp.asarray(alpha), jnp.asarray(beta))
    near, far = region.fold(alpha, beta)
    np.testing.assert_array_equal(low, near)
    np.testing.assert_allclose(gap, 1 - far, rtol=0, atol=1e-16)
    inside = np.asarray(layer.in_layer(low, gap, epsilon, delta, s))
    expected = region.in_layer(alpha, beta, epsilon, delta, s)
    assert np.mean(inside != expected) < 1e-3  # rounding, on the boundary
    assert (inside == expected)[:2000].all()


@pytest.mark.parametrize(("epsilon", "delta", "s"), PLACES)
def test_area_is_that_of_region(epsilon, delta, s):
    value = float(layer.log_layer_area(jnp.asarray(epsilon), delta, jnp.asarray(s)))
    assert value == pytest.approx(float(region.log_layer_area(epsilon, delta, s)), rel=1e-13, abs=1e-13)


@pytest.mark.parametrize(("epsilon", "delta", "s"), PLACES)
def test_edges_bound_the_layer(epsilon, delta, s):
    alpha, beta = points(epsilon, delta, s)
    low = region.fold(alpha, beta)[0]
    outer, length = (np.asarray(v) for v in layer.edges(jnp.asarray(np.abs(alpha - beta)), epsilon, delta, s))
    near = 1e-12 * low + 1e-15
    inside = region.in_layer(alpha, beta, epsilon, delta, s)
    assert (low[inside] >= (outer - near)[inside]).all()
    assert (low[inside] <= (outer + length + near)[inside]).all()
    between = (low > outer + near) & (low < outer + length - near)
    assert inside[between].all()


def test_edges_where_the_layer_is_thin():
    """outer and length at w = 0 are the corners of the quadrilateral, whose difference would cancel."""
    epsilon, delta, s = 0.5, 1e-3, 1 - 1e-9
    length = float(layer.edges(jnp.asarray(0.0), epsilon, delta, s)[1])
    # d/dt of (1 - tδ)/(1 + e^{tε}) at t = 1, times s - 1
    slope = delta / (1 + np.exp(epsilon)) + (1 - delta) * epsilon * np.exp(epsilon) / (1 + np.exp(epsilon)) ** 2
    assert length == pytest.approx(1e-9 * slope, rel=1e-7)
