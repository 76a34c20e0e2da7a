"""Posteriors of many data sets at once against those of each alone."""

import pickle

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.exact import many


def data_sets(sizes, seed=0):
    """Small and large experiments, with leaks and without; the last base of each is the same."""
    rng = np.random.default_rng(seed)
    found = []
    for i, n in enumerate(sizes):
        trials = rng.integers(5, 10 ** rng.integers(1, 5), (2, n)) + 1
        errors = rng.binomial(trials, rng.beta(1, 1 + i % 4, (2, n)))
        trials[:, -1], errors[:, -1] = 200, (20, 30)
        found.append(bdp.ErrorCounts(errors[0], trials[0], errors[1], trials[1]))
    return found


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"prior_epsilon": "Gamma(2, 1)", "prior_strength": "Beta(2, 1)"},
        {"strength": 0.5},
        {"strength": "tight"},
    ],
)
@pytest.mark.parametrize("delta", [0.0, 0.02])
def test_each_is_what_estimate_gives(options, delta, monkeypatch):
    monkeypatch.setattr(many, "_BASES", 8)  # so that there are several batches
    sets = data_sets([1, 3, 6, 2, 9, 1])
    found = bdp.estimate_many(sets, delta, **options)
    assert len(found) == len(sets)
    for counts, post in zip(sets, found, strict=True):
        alone = bdp.estimate(counts, delta, **options)
        assert post.provenance == alone.provenance
        assert post.assumptions == alone.assumptions
        tolerance = 10 * max(alone.diagnostics["relative_error"], 1e-6)
        assert post.log_evidence == pytest.approx(alone.log_evidence, abs=tolerance)
        assert (post.mean, post.sd) == pytest.approx((alone.mean, alone.sd), rel=tolerance)
        np.testing.assert_allclose(post.interval(), alone.interval(), rtol=tolerance)


def test_what_is_asked_of_one_afterwards():
    """It holds no tables of the others: they are made again for its own bases."""
    sets = data_sets([4, 2])
    found, alone = bdp.estimate_many(sets, 0.01)[1], bdp.estimate(sets[1], 0.01)
    assert len(pickle.dumps(found)) < 2e6
    assert found.epsilon_at(0.1).mean == pytest.approx(alone.epsilon_at(0.1).mean, rel=1e-6)
    assert found.delta_at(1.0).mean == pytest.approx(alone.delta_at(1.0).mean, rel=1e-6)
    np.testing.assert_array_equal(found.rates(10)[0], alone.rates(10)[0])


@pytest.mark.parametrize("prior", [None, "LogNormal(0, 1)"])
def test_several_processes_give_the_same(monkeypatch, prior):
    """Also where JAX has run in this one, which an unusual prior needs. Sums of other threads end in other digits."""
    monkeypatch.setattr(many, "_BASES", 8)
    sets = data_sets([4, 6, 3, 7, 2])
    alone, shared = (bdp.estimate_many(sets, 0.01, prior_epsilon=prior, n_jobs=n_jobs) for n_jobs in (1, 2))
    for one, other in zip(alone, shared, strict=True):
        assert one.interval() == pytest.approx(other.interval(), rel=1e-12)
        assert one.log_evidence == pytest.approx(other.log_evidence, rel=1e-12)


def test_none():
    assert bdp.estimate_many([], 0.01) == []


@pytest.mark.parametrize(
    ("counts", "delta", "said"),
    [
        (bdp.ErrorCounts(1, 10, 2, 10), 0.1, "a sequence of ErrorCounts, one of each data set, not ErrorCounts"),
        (7, 0.1, "a sequence of ErrorCounts, one of each data set, not int"),
        ([bdp.ErrorCounts(1, 10, 2, 10), "counts.csv"], 0.1, r"counts\[1\]: counts must be ErrorCounts, not str"),
        ([bdp.ErrorCounts(1, 10**9, 2, 10)], 0.1, r"counts\[0\]: .* negatives\[0\] is 1000000000"),
        ([bdp.ErrorCounts(1, 10, 2, 10)], 1.0, r"delta must lie in \[0, 1\)"),
    ],
)
def test_bad_arguments(counts, delta, said):
    with pytest.raises(bdp.InputError, match=said):
        bdp.estimate_many(counts, delta)
