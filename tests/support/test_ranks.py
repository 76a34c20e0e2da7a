"""Ranks are those of SciPy."""

import numpy as np
import pytest
from scipy import stats

from bayes_dp.support.ranks import ranks


@pytest.mark.parametrize("shape", [(1,), (7,), (400,), (30, 6), (3, 1, 50)])
def test_the_twin_of_scipy(shape):
    rng = np.random.default_rng(1)
    for values in (rng.random(shape), rng.integers(0, 4, shape), np.zeros(shape)):
        np.testing.assert_array_equal(ranks(values), stats.rankdata(values, axis=-1))
