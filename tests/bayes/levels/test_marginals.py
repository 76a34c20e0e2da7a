"""The posteriors of the levels of bases: against draws, in closed form, and where layers or likelihoods are narrow."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.levels.marginals import LevelMarginals, _covered, above_alone, all_above

COUNTS = bdp.ErrorCounts([5, 20, 40, 20, 1], [100, 100, 100, 100, 4], [60, 30, 45, 30, 2], [100, 100, 100, 100, 4])


def of(post):
    """The marginals of the distinct bases, and which of them a base is."""
    return LevelMarginals.of(post._fit, post._law), post._law.base


@pytest.mark.parametrize(
    ("family", "strength"),
    [("gaussian", "free"), ("laplace", "free"), ("pure", 0.5), ("gaussian", 0.0), ("gaussian", 0.9999)],
)
def test_against_draws(family, strength):
    post = bdp.estimate(COUNTS, family=family, strength=strength)
    found, base = of(post)
    drawn = post.levels(20_000, seed=1)
    for p in (0.05, 0.5, 0.95):
        rank = (drawn <= found.quantile(p)[base]).mean(axis=0)
        assert rank == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 20_000) + 1e-3)
    for level in (0.3, 1.0, 2.0):
        share = (drawn > level).mean(axis=0)
        assert found.above(level)[base] == pytest.approx(share, abs=0.019)
    least = post.draws(20_000, 1)[post.parameter] * post.draws(20_000, 1).get("strength", strength)
    assert all_above(post._fit, 0.5) == pytest.approx((least > 0.5).mean(), abs=0.019)


def test_what_one_base_says_alone_is_the_share_of_its_rates():
    """α and β of their own flat posteriors, and the level of each pair."""
    post = bdp.estimate(COUNTS, family="pure")
    rng = np.random.default_rng(0)
    shape = (200_000, len(COUNTS))
    a = rng.beta(COUNTS.false_positives + 1, COUNTS.negatives - COUNTS.false_positives + 1, shape)
    b = rng.beta(COUNTS.false_negatives + 1, COUNTS.positives - COUNTS.false_negatives + 1, shape)
    level = np.log(np.max([(1 - b) / a, (1 - a) / b, b / (1 - a), a / (1 - b)], axis=0))
    wanted = (level > 0.7).mean(axis=0)
    assert above_alone(post._fit, 0.7)[post._law.base] == pytest.approx(wanted, abs=6e-3)


def test_bases_with_the_same_counts_have_the_same_posterior():
    post = bdp.estimate(COUNTS, family="gaussian")
    found, base = of(post)
    assert base[1] == base[3]
    assert len(found.edges) == len(COUNTS) - 1


@pytest.mark.filterwarnings("error")
def test_a_base_far_from_all_others_and_many_runs():
    """The others would rather have it nowhere near: weights over many orders of magnitude."""
    n, runs = 30, 10**6
    counts = bdp.ErrorCounts([3 * 10**5] * n + [10], runs, [69 * 10**4] * n + [10], runs)
    post = bdp.estimate(counts, family="gaussian")
    found, base = of(post)
    low, high = found.quantile(0.001)[base], found.quantile(0.999)[base]
    assert low[:n] == pytest.approx(0.0285, abs=0.006)
    assert low[n] == pytest.approx(8.4, abs=0.2)
    assert high[n] - low[n] < 1.0
    assert (high[:n] < 0.05).all()


@pytest.mark.parametrize("errors", [0, 1])
def test_one_challenge_of_each_kind(errors):
    found, _ = of(bdp.estimate(bdp.ErrorCounts(errors, 1, 0, 1), family="gaussian"))
    low, median, high = (found.quantile(p)[0] for p in (0.05, 0.5, 0.95))
    assert 0 < low < median < high < 20
    assert found.above(0.0) == pytest.approx(1.0)
    assert found.above(1e3) == 0.0


def test_the_part_of_cells_that_layers_cover():
    rng = np.random.default_rng(0)
    for _ in range(60):
        inner = rng.uniform(0, 3, 40)
        outer = inner + rng.exponential(1, 40) * rng.choice([1e-3, 0.1, 1.0])
        rate = rng.random(40) * np.exp(rng.normal(0, 30, 40))
        low, high = np.sort(rng.uniform(0, 3.5, 2))
        edges = np.linspace(low, high, rng.integers(2, 9))
        inside = np.minimum(outer[:, None], edges[1:]) - np.maximum(inner[:, None], edges[:-1])
        wanted = rate @ np.maximum(inside, 0.0)
        np.testing.assert_allclose(_covered(rate, inner, outer, edges), wanted, rtol=1e-9, atol=1e-300)
