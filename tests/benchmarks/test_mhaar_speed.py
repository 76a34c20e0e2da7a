"""Effective draws per second: the sampler against plain NumPy versions of Algorithms 1 and 6; `make bench`."""

import json
import subprocess
import sys
import time

import pytest

import bayes_dp as bdp
from bayes_dp.bayes.mhaar.posterior import mhaar
from bayes_dp.results.diagnostics import ess
from tests.calibration.test_published import FOLDER, NAMES, published
from tests.twins import mcmc_dp_est, mcmc_dp_est_correlated

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


# A tail may be worth fewer draws than the bulk, as is then told.
@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_correlated_against_plain_numpy(benchmark):
    """Algorithm 6 on the bundled MNIST counts: the smallest rate of the four parameters, against that of the twin.

    The twin has K = 1000 uniform auxiliaries, the proposals of the paper, and starts at draws of the posterior. Both
    rates are rough: the sampler's is a mean over four seeds, and the twin needs many iterations.
    """
    if not benchmark.enabled:
        pytest.skip("measures time: run by `make bench`")
    counts = bdp.datasets.mnist_a4()
    seeds, posteriors = iter(range(4)), []

    def sample():
        seed = next(seeds)
        posteriors.append(mhaar(counts, 1e-3, likelihood="bivariate_normal", seed=seed, progress=False))

    start = time.perf_counter()
    mhaar(counts, 1e-3, likelihood="bivariate_normal", seed=4, progress=False)
    first = time.perf_counter() - start
    benchmark.pedantic(sample, rounds=4)
    seconds = benchmark.stats.stats.mean
    rate = sum(min(post.diagnostics["ess_bulk"].values()) for post in posteriors) / (4 * seconds)
    post = posteriors[-1]

    begin = [float(values[0, -1]) for values in post.samples.values()]
    states = post._chains.states
    rates = [(float(a), float(b)) for a, b in zip(states.alpha[0, -1], states.beta[0, -1], strict=True)]
    start = time.perf_counter()
    twin = mcmc_dp_est_correlated(
        counts, 1e-3, iterations=80_000, n_auxiliaries=1000, sds=(0.1, 0.01, 0.001, 0.001), start=begin, rates=rates,
        seed=1,
    )  # fmt: skip
    elapsed = time.perf_counter() - start
    twin_rate = min(ess(values[None]) for values in twin) / elapsed
    benchmark.extra_info.update(
        ratio=rate / twin_rate,
        effective_draws_per_second=rate,
        twin_effective_draws_per_second=twin_rate,
        twin_effective_draws=twin_rate * elapsed,
        compile_seconds=first - seconds,
    )
    print({name: round(float(value), 3) for name, value in benchmark.extra_info.items()})
    assert rate >= RATIO * twin_rate


COLD = """
import json, sys
import bayes_dp as bdp
counts = bdp.ErrorCounts.from_csv(sys.argv[1], design="cross_fed")
post = bdp.estimate(counts, 1e-3, likelihood="bivariate_normal", progress=False)
print(json.dumps({name: dict(post.diagnostics[name]) for name in ("rhat", "ess_bulk")}))
"""


@pytest.mark.skipif(FOLDER is None, reason="BAYES_DP_DATA names no folder")
@pytest.mark.parametrize("name", NAMES)
def test_published_data_from_a_cold_start(benchmark, name, tmp_path):
    """A process of its own, so that imports and compilation count: R-hat and effective draws of all four parameters."""
    if not benchmark.enabled:
        pytest.skip("measures time: run by `make bench`")
    path = tmp_path / "counts.csv"
    path.write_text(published(name).csv())
    command = [sys.executable, "-W", "ignore", "-c", COLD, str(path)]
    done = benchmark.pedantic(subprocess.run, args=(command,), kwargs={"capture_output": True, "check": True}, rounds=1)
    found = json.loads(done.stdout)
    benchmark.extra_info.update(rhat=max(found["rhat"].values()), effective_draws=min(found["ess_bulk"].values()))
    print(name, f"{benchmark.stats.stats.max:.1f} s", dict(benchmark.extra_info))
    assert benchmark.stats.stats.max < 30
    assert benchmark.extra_info["rhat"] < 1.01
    assert benchmark.extra_info["effective_draws"] >= 1000
