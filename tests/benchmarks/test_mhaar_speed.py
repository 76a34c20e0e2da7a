"""Effective draws of ε per second: the sampler against a straightforward NumPy version of Algorithm 1; `make bench`."""

import time
import warnings

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.interop import ess
from tests.twins import mcmc_dp_est

RATIO = 300


def test_against_plain_numpy(benchmark):
    """K = 1000, uniform auxiliaries and one chain for the twin, on the strong attacks; both timed in this run."""
    counts = bdp.datasets.strong_attacks()
    if not benchmark.enabled:
        pytest.skip("measures time: run by `make bench`")

    start = time.perf_counter()
    twin = mcmc_dp_est(counts, 0.01, iterations=30_000, n_auxiliaries=1000, sds=(0.03, 0.02), start=(3.0, 0.7), seed=1)[
        0
    ][3000:]
    seconds = (time.perf_counter() - start) * 0.9
    twin_rate = ess(twin[None]) / seconds

    def sample(seed):
        return bdp.estimate(counts, 0.01, method="mhaar", draws=20_000, seed=seed, progress=False)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        start = time.perf_counter()
        sample(0)
        first = time.perf_counter() - start
        post = benchmark.pedantic(sample, args=(1,), rounds=1)
    again = benchmark.stats.stats.min
    rate = ess(post.samples["epsilon"]) / again
    benchmark.extra_info.update(
        ratio=rate / twin_rate,
        per_second=rate,
        twin_per_second=twin_rate,
        twin_ess=ess(twin[None]),
        compile_seconds=first - again,
    )
    print({name: round(float(value), 2) for name, value in benchmark.extra_info.items()})
    assert np.isfinite(rate)
    assert rate > RATIO * twin_rate
    assert first - again < 10
