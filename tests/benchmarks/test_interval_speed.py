"""How long the posterior of one attack takes, and how much faster it is than a plain version: `make bench`."""

import time

import numpy as np
import pytest
from scipy import optimize, stats

from bayes_dp import tradeoff
from bayes_dp.audits.rate_posterior import JointBeta

LIMIT = 0.010  # seconds a quantile, whatever the counts
BASES = [
    (0, 1, 0, 1),
    (512, 513, 0, 487),
    (10, 100, 20, 100),
    (9566, 25141, 36, 57),
    (0, 502_227, 4, 4),
    (234, 273, 79_768, 718_477),
    (10**6, 10**7, 10**7, 10**7),
    (0, 10**7, 0, 10**7),
]


@pytest.mark.parametrize("base", BASES)
def test_quantiles(benchmark, base):
    """The mean of five quantiles, from far out to the middle."""

    def quantiles():
        posterior = JointBeta(*base, 1e-5)
        return [posterior.quantile(p) for p in (0.001, 0.05, 0.5, 0.95, 0.999)]

    found = benchmark.pedantic(quantiles, rounds=5)
    assert np.all(np.diff(found) >= 0)
    if benchmark.enabled:
        assert benchmark.stats.stats.min < 5 * LIMIT


def plain_quantile(x, n0, y, n1, delta, p):
    """A fine grid of false positive rates, the other rate's distribution function, and halving."""
    alpha = (np.arange(200_000) + 0.5) / 200_000
    weight = np.diff(stats.beta.cdf(np.arange(200_001) / 200_000, x + 0.5, n0 - x + 0.5))
    beta = stats.beta(y + 0.5, n1 - y + 0.5)

    def cdf(epsilon):
        low, high = tradeoff.approx_dp(alpha, epsilon, delta), 1 - tradeoff.approx_dp(1 - alpha, epsilon, delta)
        return weight @ (beta.cdf(high) - beta.cdf(low)) - p

    return optimize.brentq(cdf, 0.0, 20.0, xtol=1e-8)


def test_ratio_to_a_plain_version(benchmark):
    base = (10, 100, 20, 100, 1e-5)
    start = time.perf_counter()
    expected = plain_quantile(*base, 0.05)
    slow = time.perf_counter() - start
    found = benchmark.pedantic(lambda: JointBeta(*base).quantile(0.05), rounds=5)
    assert found == pytest.approx(expected, abs=1e-5)
    if benchmark.enabled:
        benchmark.extra_info["ratio"] = slow / benchmark.stats.stats.min
        print(f"{slow / benchmark.stats.stats.min:.0f} times as fast as the plain version")
