"""How long white-box scores take, against a loop over canaries: `make bench`."""

import time

import numpy as np
import pytest

from bayes_dp.attacks import step_scores


def one(gradients, inner, i, canaries, q, u):
    """A canary's score by the covariance of all others."""
    half = np.append(np.full(canaries, q / 2), np.full(len(gradients) - canaries, q))
    others = np.arange(len(gradients)) != i
    v = np.eye(gradients.shape[1]) + (gradients[others].T * (half * (1 - half))[others]) @ gradients[others]
    away = u - half[others] @ gradients[others]
    solved = np.linalg.solve(v, gradients[i])
    return np.log(1 - q + q * np.exp(solved @ away - solved @ gradients[i] / 2))


@pytest.mark.benchmark(timer=time.process_time)
def test_all_canaries_at_once(benchmark):
    """300 canaries, 100 references, 1000 parameters: at least 100 times as fast as one by one."""
    m, r, d, q = (300, 100, 1000, 0.1) if benchmark.enabled else (6, 4, 20, 0.1)
    rng = np.random.default_rng(0)
    gradients = rng.normal(size=(m + r, d)) / np.sqrt(2 * d)
    u = gradients[0] + rng.normal(size=d)
    gram, inner = gradients @ gradients.T, gradients @ u
    found = benchmark(step_scores, gram, inner, m, noise_multiplier=1.0, sampling_rate=q)
    start = time.process_time()
    slow = [one(gradients, inner, i, m, q, u) for i in range(3)]
    spent = (time.process_time() - start) / 3 * m
    np.testing.assert_allclose(found.ratio[:3], slow, rtol=1e-6, atol=1e-9)
    if benchmark.enabled:
        assert spent > 100 * benchmark.stats.stats.median
