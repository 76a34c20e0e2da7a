"""Mechanisms of label privacy: their ε against the chances of all that they put out, and their laws against counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayes_dp.checks import InputError
from models.label_dp import (
    alibi,
    corrected,
    gaussian_scale,
    gaussian_votes,
    laplace_votes,
    noisy_votes,
    randomized_response,
    response_chances,
)

PRIORS = np.random.default_rng(0).dirichlet(np.full(5, 0.5), 200)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("prior", [PRIORS, np.full((3, 5), 0.2)], ids=["prior", "none"])
def test_chances_differ_by_no_more_than_epsilon(prior, epsilon):
    chance = response_chances(prior, epsilon)
    assert np.allclose(chance.sum(axis=2), 1)
    for one in chance:
        seen = one.max(axis=0) > 0
        ratio = one[:, seen].max(axis=0) / one[:, seen].min(axis=0)
        assert ratio.max() <= np.exp(epsilon) * (1 + 1e-12)
    if len(prior) == 3:
        assert np.isclose(chance[0, 0, 0] / chance[0, 1, 0], np.exp(epsilon))


def test_the_number_of_classes_is_best():
    for prior, chance in zip(PRIORS[:50], response_chances(PRIORS[:50], 1.5), strict=True):
        most = np.sort(prior)[::-1].cumsum()
        best = max(most[j - 1] * np.exp(1.5) / (np.exp(1.5) + j - 1) for j in range(1, 6))
        assert np.isclose((prior * np.diag(chance)).sum(), best)


def test_what_is_put_out_has_these_chances():
    prior = np.tile([0.5, 0.3, 0.15, 0.05], (40_000, 1))
    labels = np.arange(40_000) % 4
    out, chance = randomized_response(labels, prior, 1.0, seed=1)
    law = response_chances(prior[:1], 1.0)[0]
    for label in range(4):
        seen = np.bincount(out[labels == label], minlength=4)
        possible = law[label] > 0
        assert not seen[~possible].any()
        if possible.sum() > 1:
            assert stats.chisquare(seen[possible], 10_000 * law[label][possible]).pvalue > 1e-4
    assert np.array_equal(chance, law[:, out].T)


def test_without_privacy_labels_stay():
    labels = np.arange(60) % 5
    assert np.array_equal(randomized_response(labels, np.full((60, 5), 0.2), np.inf)[0], labels)
    assert np.array_equal(alibi(labels, PRIORS[:60], np.inf).argmax(axis=1), labels)


def test_noise_is_taken_out():
    law = PRIORS[:20]
    chance = response_chances(np.full((20, 5), 0.2), 1.2)
    out = (law[:, :, None] * chance).sum(axis=1)
    assert np.allclose(corrected(out, 1.2), law)
    assert np.allclose(corrected(law, np.inf), law)
    sure = corrected(np.eye(3), 1.0)  # more than any response allows: the others are 0, not below
    assert np.array_equal(sure, np.eye(3))
    assert np.allclose(corrected(np.full((1, 3), 1 / 3), 1.0), 1 / 3)


def test_alibi_is_bayes_rule():
    """Over noisy labels, the average of the posterior is the prior, and the truth has the chance that it is given."""
    rng = np.random.default_rng(2)
    prior = np.tile([0.6, 0.3, 0.1], (50_000, 1))
    labels = rng.choice(3, 50_000, p=prior[0])
    found = alibi(labels, prior, 2.0, seed=3)
    assert np.allclose(found.mean(axis=0), prior[0], atol=0.01)
    sure = found[:, 0] > 0.9
    assert abs((labels[sure] == 0).mean() - found[sure, 0].mean()) < 0.01


def test_alibi_is_private():
    """The densities of the noisy label under two labels differ by e^ε at most, and by that somewhere."""
    noisy = np.random.default_rng(4).normal(0.5, 3, (1000, 2))
    epsilon = 1.3
    log = -np.abs(noisy[:, None] - np.eye(2)).sum(axis=2) * epsilon / 2
    assert np.isclose(np.abs(log[:, 0] - log[:, 1]).max(), epsilon)


def test_votes():
    votes = np.array([[10, 0], [0, 10]])
    assert noisy_votes(votes, 1e-9).tolist() == noisy_votes(votes, 1e-9, "gaussian").tolist() == [0, 1]
    chance = np.mean(noisy_votes(np.tile([[1, 0]], (20_000, 1)), 2.0) == 0)
    assert abs(chance - (1 - np.exp(-0.5) * (0.5 + 0.5 / 4))) < 0.01  # Laplace noise of scale 2 on both
    assert laplace_votes(40.0, 1000) == 50.0
    assert np.isclose(gaussian_votes(100.0, 1000, 1e-5), 0.1 + 2 * np.sqrt(0.1 * np.log(1e5)))
    with pytest.raises(InputError, match="laplace or gaussian"):
        noisy_votes(votes, 1.0, "uniform")


@pytest.mark.parametrize("k", [2, 3, 7, 50])
@pytest.mark.parametrize("epsilon", [0.0, 1e-12, 1e-6, 0.5, 50.0, 700.0, np.inf])
def test_no_prior_breaks_epsilon(k, epsilon):
    """All pairs of labels and all outputs, also of priors with zeros, ties, or one class."""
    rng = np.random.default_rng(k)
    rows = [
        np.eye(k)[0],
        np.full(k, 1 / k),
        np.append(np.full(k - 1, 1 / (k - 1)), 0.0),
        rng.dirichlet(np.full(k, 0.01)),
    ]
    rows.append(np.append(0.5, np.full(k - 1, 0.5 / (k - 1))))
    for priors in (np.array(rows), *(row[None] for row in rows)):
        chance = response_chances(priors, epsilon)
        assert np.allclose(chance.sum(axis=2), 1, rtol=1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.log(chance)
            assert np.nanmax(log[:, :, None] - log[:, None]) <= epsilon * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize("epsilon", [1e-16, 1e-12, 1e-6, 1.0, 50.0])
def test_a_scale_has_its_epsilon_however_small(epsilon):
    assert np.isclose(gaussian_votes(gaussian_scale(epsilon, 1000, 1e-5), 1000, 1e-5), epsilon, rtol=1e-9)


def test_alibi_of_hardly_any_budget_is_the_prior():
    prior = np.tile([0.3, 0.7, 0.0], (4, 1))
    for epsilon in (1e-12, 1e-310):
        assert np.allclose(alibi(np.array([0, 1, 2, 0]), prior, epsilon), prior)


@pytest.mark.parametrize("mechanism", [randomized_response, alibi])
@pytest.mark.parametrize(
    ("labels", "prior", "message"),
    [
        ([0, -1], np.full((2, 2), 0.5), r"labels\[1\] must be a whole number from 0 to 1, not -1"),
        ([0, 2], np.full((2, 2), 0.5), r"labels\[1\] must be a whole number from 0 to 1, not 2"),
        ([0, 1, 1], np.full((2, 2), 0.5), "a class for each of the 2 examples"),
        ([0, 1], np.array([[0.5, 0.5], [np.nan, 0.5]]), r"prior\[1, 0\]"),
        ([0, 1], np.array([[0.5, 0.5], [0.0, 0.0]]), r"prior\[1\] has none above 0"),
        ([0, 1], np.array([0.5, 0.5]), r"prior must be .* \(n, k\)"),
    ],
)
def test_refused(mechanism, labels, prior, message):
    with pytest.raises(InputError, match=message):
        mechanism(np.array(labels), prior, 1.0)
