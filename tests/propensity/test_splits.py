"""Parts and resamples: balanced, seeded, and never through the middle of a group."""

from collections import Counter

import numpy as np
import pytest

from bayes_dp.propensity.splits import balanced_parts


@pytest.mark.parametrize("parts", [2, 3, 5])
def test_parts_have_equal_shares(parts):
    rng = np.random.default_rng(0)
    for n in (20, 101, 1000):
        member = rng.random(n) < 0.3
        part = balanced_parts(np.arange(n), member, parts, rng)
        for side in (member, ~member, np.ones(n, bool)):
            counts = np.bincount(part[side], minlength=parts)
            assert counts.max() - counts.min() <= 1
        assert not np.array_equal(part, balanced_parts(np.arange(n), member, parts, rng))


def test_the_same_seed_gives_the_same_parts():
    unit, member = np.arange(300) // 3, np.arange(300) % 2 > 0
    a, b = (balanced_parts(unit, member, 4, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(a, b)


def test_every_example_may_be_in_every_part():
    member = np.arange(12) < 5
    seen = Counter()
    for seed in range(2000):
        part = balanced_parts(np.arange(12), member, 3, np.random.default_rng(seed))
        seen.update(enumerate(part.tolist()))
    assert len(seen) == 36
    assert min(seen.values()) > 560  # 667 on average, with a standard deviation of 21
    assert max(seen.values()) < 770


@pytest.mark.parametrize("seed", range(5))
def test_groups_stay_together_and_in_balance(seed):
    rng = np.random.default_rng(seed)
    unit = np.concatenate([np.repeat(np.arange(100), rng.integers(1, 12, 100)), np.full(60, 100)])
    unit = rng.permutation(unit)
    member = rng.random(101)[unit] > rng.random(len(unit))
    part = balanced_parts(unit, member, 3, rng)
    for u in range(101):
        assert len(set(part[unit == u])) == 1
    for side in (member, ~member):
        share = np.bincount(part[side], minlength=3) / side.sum()
        assert np.abs(share - 1 / 3).max() < 0.05
