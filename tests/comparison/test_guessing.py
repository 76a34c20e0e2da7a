"""The test of guessing: Fisher's, exact for counts of all sizes, and right as often as it says."""

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.comparison.guessing import guessing


def test_against_scipy():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n0, n1 = rng.integers(1, 60, 2)
        x, y = rng.integers(0, n0 + 1), rng.integers(0, n1 + 1)
        (p,), (worse,) = guessing(bdp.ErrorCounts(x, n0, y, n1))
        table = [[x, n0 - x], [n1 - y, y]]
        tails = [stats.fisher_exact(table, alternative=side)[1] for side in ("less", "greater")]
        assert p == pytest.approx(min(1, 2 * min(tails)), rel=1e-9)
        assert worse == (x / n0 + y / n1 > 1 + 1e-12)


@pytest.mark.parametrize(
    ("counts", "p"),
    [
        (([0], [100], [100], [100]), 1.0),  # always "no"
        (([100], [100], [0], [100]), 1.0),  # always "yes"
        (([0], [1], [0], [1]), 1.0),
        (([0], [5], [0], [5]), 2 / 252),
        (([5], [5], [5], [5]), 2 / 252),  # the opposite decisions are never wrong
        (([10**7], [10**8], [9 * 10**7], [10**8]), 1.0),
    ],
)
def test_edges(counts, p):
    assert guessing(bdp.ErrorCounts(*counts))[0] == pytest.approx([p], abs=2e-4)


def test_large_counts_are_neither_slow_nor_lost():
    (p,), _ = guessing(bdp.ErrorCounts([10**7], 10**8, [9 * 10**7 - 30_000], 10**8))
    normal = 2 * stats.norm.sf(30_000 / np.sqrt(2 * 10**8 * 0.1 * 0.9))
    assert p == pytest.approx(normal, rel=0.05)


@pytest.mark.parametrize(("trials", "rate"), [(5, 0.5), (100, 0.1), (100, 0.5)])
def test_guesses_are_taken_for_more_in_at_most_a_twentieth(trials, rate):
    rng = np.random.default_rng(1)
    wrong = 0
    for _ in range(1000):
        counts = bdp.ErrorCounts(rng.binomial(trials, rate, 5), trials, rng.binomial(trials, 1 - rate, 5), trials)
        wrong += guessing(counts)[0].min() < 0.05 / 5
    assert wrong <= 50 + 3 * np.sqrt(1000 * 0.05 * 0.95)
