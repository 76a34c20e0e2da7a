"""The p-value of Kolmogorov and Smirnov is that of SciPy, which approximates it from 141 values on, to 2e-7."""

import numpy as np
import pytest
from scipy import stats

from bayes_dp.support.kolmogorov import kolmogorov_p


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 100, 140, 500, 3000, 12_000])
def test_the_twin_of_scipy(n):
    rng = np.random.default_rng(n)
    near, precision = np.linspace(0.0, 1.0, n), 1e-12 if n <= 140 else 1e-6 if n <= 10_000 else 5e-6
    for values in (rng.random(n), rng.random(n) ** 1.5, rng.random(n) ** 3, 0.8 * rng.random(n), near, near + 0.0):
        expected = stats.kstest(values, "uniform").pvalue
        assert kolmogorov_p(values) == pytest.approx(expected, rel=precision, abs=precision)


def test_one_value_is_as_far_as_the_farther_end():
    assert kolmogorov_p(np.array([0.25])) == pytest.approx(0.5)
