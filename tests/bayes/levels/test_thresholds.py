"""The evidence given the false positives, against plain sums, and what the choice of thresholds may not tell."""

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp import region

COLUMNS = ("false_positives", "negatives", "false_negatives", "positives")
COUNTS = bdp.ErrorCounts([2, 9], [20, 30], [9, 8], [30, 20])


def by_sums(counts, delta, s, family=None):
    """log ∫ Π p(X, Y | ε)/p(X | ε) p(ε) dε with the rates on a grid in the unit square."""
    a, b = np.meshgrid(*[(np.arange(200) + 0.5) / 200] * 2, indexing="ij")
    epsilon = (np.arange(30) + 0.5) * 0.3
    total = np.zeros(len(epsilon))
    for k, e in enumerate(epsilon):
        if family is None:
            inside = region.in_layer(a, b, e, delta, s)
        else:
            t = float(family.by_epsilon(np.array(e)))
            flip = a + b > 1
            low, high = np.where(flip, 1 - a, a), np.where(flip, 1 - b, b)
            inside = (family(low, t) <= high) & (high < family(low, s * t))
        for x, n0, y, n1 in zip(*(getattr(counts, name) for name in COLUMNS), strict=True):
            chance = stats.binom.pmf(x, n0, a) * inside
            total[k] += np.log((chance * stats.binom.pmf(y, n1, b)).sum() / chance.sum())
    prior = stats.halfnorm(scale=np.sqrt(10)).pdf(epsilon) * 0.3
    return special.logsumexp(total, b=prior)


@pytest.mark.parametrize("family", [None, "gaussian", "laplace"])
def test_it_is_that_of_the_false_negatives_given_the_false_positives(family):
    if family is None:
        post, own = bdp.estimate(COUNTS, 0.05, strength=0.5), None
    else:
        post = bdp.estimate(COUNTS, family=family, strength=0.5)
        own = post.question.family
    assert post.log_evidence_given_false_positives == pytest.approx(by_sums(COUNTS, 0.05, 0.5, own), abs=0.03)


def with_one_threshold():
    """Gaussian noise with μ = 1.5, ε = 4.02 at δ = 0.01, attacked at the false positive rate 0.1 throughout."""
    rng = np.random.default_rng(2)
    beta = special.ndtr(-special.ndtri(0.1) - 1.5 * rng.uniform(0.5, 1.0, 20))
    return bdp.ErrorCounts(rng.binomial(1000, 0.1, 20), 1000, rng.binomial(1000, beta), 1000)


def test_one_threshold_tells_no_family():
    counts = with_one_threshold()
    found = bdp.compare_families(counts, 0.01)
    assert "gaussian" not in found.within(5.0)  # its law of false positive rates fits them worse
    assert set(found.left_open(5.0)) == {"approx", "gaussian", "laplace"}
    assert not found.told
    assert found.said.startswith("The counts do not tell which of the families approx, gaussian, laplace is right")
    assert "do not tell which of the two is right" in bdp.estimate(counts, 0.01).told


def test_the_gate_heeds_a_family_that_only_the_threshold_speaks_against():
    counts, limit = with_one_threshold(), 2.3  # a little above half of ε
    assert bdp.estimate(counts, 0.01).interval()[1] < limit
    found = bdp.gate(counts, 0.01, limit)
    assert "gaussian" in {reason.code for reason in found.reasons}


def test_thresholds_that_differ_tell_families_as_before():
    found = bdp.compare_families(bdp.datasets.strong_attacks(), 1e-3, ["approx", "gaussian"])
    assert found.told
    assert list(found.left_open(5.0)) == ["gaussian"]


def test_a_single_family_is_always_told():
    found = bdp.compare_families(COUNTS, 0.05, "gaussian")
    assert found.told
    assert list(found.left_open(0.0)) == ["gaussian"]


@pytest.mark.parametrize("strength", ["free", "tight", 0.0])
def test_extreme_counts_have_it_too(strength):
    for counts in (bdp.ErrorCounts(0, 10, 0, 10), bdp.ErrorCounts(0, 10**6, 0, 10**6), bdp.ErrorCounts(5, 10, 5, 10)):
        for post in (
            bdp.estimate(counts, 1e-3, strength=strength),
            bdp.estimate(counts, 1e-3, family="gaussian", strength=strength),
        ):
            assert np.isfinite(post.log_evidence_given_false_positives)
