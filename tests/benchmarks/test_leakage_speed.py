"""How long the leakage scores of a large data set take: `make bench`."""

import numpy as np
import pytest

from bayes_dp import leakage


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_a_large_data_set(benchmark, covariance):
    """100 000 rows of 1000 features: at most 5 s, of which most are products of matrices."""
    rows = 100_000 if benchmark.enabled else 2000
    x = np.random.default_rng(0).standard_normal((rows, rows // 100))
    table = benchmark.pedantic(leakage.scores, args=(x,), kwargs={"covariance": covariance}, rounds=1)
    assert len(table) == rows
    if benchmark.enabled:
        assert benchmark.stats.stats.min < 5
