"""Interpolation without overshoot is that of SciPy."""

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from bayes_dp.support.monotone import Monotone


@pytest.mark.parametrize("shape", ["wild", "rising", "huge", "flat in parts"])
def test_the_twin_of_scipy(shape):
    rng = np.random.default_rng(0)
    for _ in range(60):
        m = int(rng.integers(2, 30))
        x = np.cumsum(rng.exponential(size=m) * 10 ** rng.uniform(-6, 2, m))
        y = {
            "wild": rng.normal(size=(m, 3)),
            "rising": np.cumsum(rng.exponential(size=(m, 3)), axis=0),
            "huge": np.minimum(np.cumsum(10 ** rng.uniform(-3, 150, (m, 3)), axis=0), 1e150),
            "flat in parts": np.round(rng.normal(size=(m, 3))),
        }[shape]
        at = np.concatenate([x, rng.uniform(x[0], x[-1], 50)])
        found, twin = Monotone(x, y), PchipInterpolator(x, y)
        np.testing.assert_allclose(found(at), twin(at), rtol=0, atol=1e-14 * np.abs(y).max())
        slopes = twin.derivative()(at)
        np.testing.assert_allclose(found.slope(at), slopes, rtol=0, atol=1e-10 * np.abs(slopes).max())
        np.testing.assert_array_equal(Monotone(x, y[:, 0])(at[:, None]), found(at)[:, :1])


def test_beyond_the_ends_the_outermost_cubics_go_on():
    x, y = np.array([0.0, 1.0, 3.0, 4.0]), np.array([0.0, 2.0, 2.5, 7.0])
    at = np.array([-0.5, 4.5])
    np.testing.assert_allclose(Monotone(x, y)(at), PchipInterpolator(x, y)(at), rtol=1e-12)
