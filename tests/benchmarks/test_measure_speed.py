"""How long the errors of an attack take to count, for a whole curve of target false positive rates: `make bench`."""

import time

import numpy as np
import pytest
from scipy.stats import ncx2

from bayes_dp.attacks import measure_fast
from bayes_dp.data.loss_table import LossTable

GRID = np.arange(1, 100) / 100


def table(runs):
    rng = np.random.default_rng(0)
    return LossTable(rng.gamma(1, 1, (20, runs)), rng.gamma(0.5, 0.8, (20, runs)))


@pytest.mark.parametrize(("runs", "limit"), [(100, 0.02), (200, 0.04), (10_000, 2.0)])
def test_a_curve(benchmark, runs, limit):
    benchmark.pedantic(measure_fast, args=(table(runs), GRID), rounds=5)
    if benchmark.enabled:
        assert benchmark.stats.stats.min < limit


def plain_curve(losses, targets):
    """Algorithm 5 with a refit for each run, and the quantiles of the non-central chi-square law for all targets."""
    counts = np.zeros((2, len(targets), len(losses)), dtype=int)
    for i in range(len(losses)):
        sides = losses.without[i], losses.with_[i]
        for side in (0, 1):
            for j, loss in enumerate(sides[side]):
                rest = [np.delete(x, j) if k == side else x for k, x in enumerate(sides)]
                (m0, v0), (m1, v1) = ((x.mean(), x.var(ddof=1)) for x in rest)
                r = (m0 / v0 - m1 / v1) / (1 / v1 - 1 / v0)
                level = targets if v0 > v1 else 1 - targets
                bound = v0 * ncx2.ppf(level, 1, (m0 + r) ** 2 / v0)
                calls = (loss + r) ** 2 <= bound if v0 > v1 else (loss + r) ** 2 >= bound
                counts[side, :, i] += calls == (side == 0)
    return counts


def test_ratio_to_the_plain_version(benchmark):
    losses = table(20)[:5]
    start = time.perf_counter()
    expected = plain_curve(losses, GRID)
    plain = time.perf_counter() - start
    curve = benchmark.pedantic(measure_fast, args=(losses, GRID), rounds=5)
    np.testing.assert_array_equal([curve.false_positives, curve.false_negatives], expected)
    if benchmark.enabled:
        ratio = plain / benchmark.stats.stats.min
        benchmark.extra_info["ratio"] = ratio
        print(f"{ratio:.0f} times as fast as the plain version")
        assert ratio > 50
