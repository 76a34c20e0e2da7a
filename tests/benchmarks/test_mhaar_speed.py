"""Effective draws of ε per second: the sampler against a straightforward NumPy version of Algorithm 1; `make bench`."""

import time

import pytest

import bayes_dp as bdp
from bayes_dp.bayes.mhaar import mhaar
from bayes_dp.interop import ess
from tests.twins import mcmc_dp_est

RATIO = 300


def test_against_plain_numpy(benchmark):
    """The twin: K = 1000 uniform auxiliaries, one chain, the best of several proposal scales, a start at the mode.

    The sampler's time is that of a whole call, warm-up and diagnostics included; compilation is measured apart.
    """
    if not benchmark.enabled:
        pytest.skip("measures time: run by `make bench`")
    counts = bdp.datasets.strong_attacks()

    start = time.perf_counter()
    twin = mcmc_dp_est(counts, 0.01, iterations=25_000, n_auxiliaries=1000, sds=(0.07, 0.06), start=(2.9, 0.65), seed=1)
    twin_rate = ess(twin[:1]) / (time.perf_counter() - start)

    def sample(seed):
        return mhaar(counts, 0.01, draws=10_000, seed=seed, progress=False)

    start = time.perf_counter()
    sample(0)
    first = time.perf_counter() - start
    post = benchmark.pedantic(sample, args=(1,), rounds=3)
    seconds = benchmark.stats.stats.mean
    rate = post.diagnostics["ess_bulk"]["epsilon"] / seconds
    benchmark.extra_info.update(
        ratio=rate / twin_rate,
        effective_draws_per_second=rate,
        twin_effective_draws_per_second=twin_rate,
        twin_effective_draws=ess(twin[:1]),
        compile_seconds=first - seconds,
    )
    print({name: round(float(value), 2) for name, value in benchmark.extra_info.items()})
    assert ess(twin[:1]) >= 50
    assert first - seconds < 10
    assert rate >= RATIO * twin_rate
