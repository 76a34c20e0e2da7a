"""How long the exact posterior takes: `make bench`. The data are drawn from the model at ε = 2, s = 0.6."""

import time

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import region
from tests.bayes.exact.test_posterior import brute_force, half_normal


def model_counts(n, trials=1000, delta=1e-3):
    rng = np.random.default_rng(1)
    rates = region.sample(2.0, delta, 0.6, n, rng)
    return bdp.ErrorCounts(rng.binomial(trials, rates[:, 0]), trials, rng.binomial(trials, rates[:, 1]), trials)


@pytest.mark.parametrize(
    ("n", "trials", "limit"), [(20, 100, 0.2), (20, 1000, 0.2), (20, 10_000, 0.25), (500, 1000, 4.0)]
)
def test_joint_posterior(benchmark, n, trials, limit):
    counts = model_counts(n if benchmark.enabled else n // 5, trials)
    bdp.estimate(model_counts(2), 1e-3)  # what is imported and compiled at first use
    benchmark.pedantic(bdp.estimate, args=(counts, 1e-3), rounds=3)
    if benchmark.enabled:
        assert benchmark.stats.stats.min < limit


def test_against_a_plain_grid(benchmark):
    """The twin: the same likelihood on a grid of 200 × 150 points, far from the accuracy of the adaptive cells."""
    counts = model_counts(20 if benchmark.enabled else 4)
    epsilon, strength = ((np.arange(200) + 0.5) / 200) ** 2 * 24, (np.arange(150) + 0.5) / 150
    given = (counts, 1e-3, epsilon, strength, half_normal)
    weights, log_evidence = benchmark.pedantic(brute_force, args=given, rounds=1)
    post = bdp.estimate(counts, 1e-3)
    assert weights.sum(axis=1) @ epsilon == pytest.approx(post.mean, rel=0.02)
    assert log_evidence == pytest.approx(post.log_evidence, abs=0.05)


@pytest.mark.parametrize("family", ["gaussian", "laplace", "pure"])
def test_many_deltas_of_a_family(benchmark, family):
    """ε at twenty δ against ε at one: the members are the same, so that only their mapping is new."""
    post, many = bdp.estimate(model_counts(6), 1e-3, family=family), np.geomspace(1e-6, 0.1, 20)

    def seconds(delta):
        start = time.process_time()
        post.epsilon_at(delta)
        return time.process_time() - start

    assert len(benchmark.pedantic(post.epsilon_at, args=(many,), rounds=1)) == 20
    if benchmark.enabled:
        one, all_ = (min(seconds(delta) for _ in range(10)) for delta in (1e-4, many))
        benchmark.extra_info["ratio"] = all_ / one
        assert all_ < max(3.5 * one, 0.01)
