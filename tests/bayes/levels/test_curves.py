"""The posterior of a whole trade-off curve from the order of scores."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.bayes.levels.placements import placement_check
from bayes_dp.checks import InputError

GOLDEN = [
    "00000011001000000101110100011100011100110111111111",
    "00000000000000001111011001111000111111101010111111",
    "00000110000000110110000000101011110100111111111111",
    "01111001111010110110111110011011010000100100000000",
]


def golden() -> tuple[list[np.ndarray], list[np.ndarray]]:
    places = [np.array([int(c) for c in text]) for text in GOLDEN]
    without, with_ = ([np.flatnonzero(labels == kind).astype(float) for labels in places] for kind in (0, 1))
    return without, with_


def drawn(mu: float, bases: int = 3, runs: int = 40, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(bases, runs)), rng.normal(mu, 1.0, (bases, runs))


def test_it_has_the_golden_posterior() -> None:
    post = bdp.estimate_curves(golden(), family="gaussian")
    assert post.log_evidence == pytest.approx(-105.887, abs=0.002)
    assert post.quantile([0.05, 0.5, 0.95]) == pytest.approx([1.0757, 1.5189, 3.7529], abs=0.004)


def test_a_monotone_map_changes_nothing_and_losses_are_scores_upside_down() -> None:
    without, with_ = drawn(1.0)
    plain = bdp.estimate_curves((without, with_), 0.01, family="pure")
    mapped = bdp.estimate_curves((np.exp(without), np.exp(with_)), 0.01, family="pure")
    losses = bdp.estimate_curves(bdp.LossTable(-without, -with_), 0.01, family="pure")
    assert plain.interval() == mapped.interval() == losses.interval()


def test_the_average_weighs_by_evidence_and_has_a_band() -> None:
    post = bdp.estimate_curves(drawn(2.0))
    evidence = {name: each.log_evidence for name, each in post.posteriors.items()}
    weight = np.exp(np.array(list(evidence.values())) - max(evidence.values()))
    assert list(post.weights.values()) == pytest.approx(weight / weight.sum())
    low, high = post.band([0.0, 0.1, 0.5, 1.0])
    assert (low <= high).all()
    assert (np.diff(low) <= 0).all()
    assert high[0] == pytest.approx(1.0)
    assert post.epsilon_at(0.01).interval()[1] > post.epsilon_at(0.1).interval()[1]
    assert post.levels(5).shape == (5, 3)


def test_a_rejected_family_needs_to_be_accepted_for_a_small_delta() -> None:
    post = bdp.estimate_curves(drawn(1.0))
    for each in post.posteriors.values():
        each.check = 0.01
    with pytest.raises(InputError, match="accept_misfit=True"):
        post.epsilon_at(0.001)
    assert post.epsilon_at(0.001, accept_misfit=True).interval()[0] > 0
    assert post.epsilon_at(0.1).interval()[0] > 0


@pytest.mark.parametrize(("truth", "rejected"), [("gaussian", False), ("mixed", True)])
def test_the_check_tells_scores_of_another_shape(truth: str, rejected: bool) -> None:
    rng = np.random.default_rng(0)
    labels = []
    for _ in range(10):
        shift = 2.0 if truth == "gaussian" else np.where(rng.random(150) < 0.3, 4.0, 0.0)
        scores = np.concatenate([rng.normal(size=150), rng.normal(size=150) + shift])
        labels.append(np.repeat([0, 1], 150)[np.argsort(scores)])
    levels = np.full((100, 10), 2.0 if truth == "gaussian" else 1.0)
    p = placement_check(labels, GAUSSIAN, levels, np.zeros((100, 10), bool), rng)
    assert (p <= 0.05) is rejected


def test_ties_and_many_scores_are_told() -> None:
    tied = bdp.estimate_curves((np.zeros((1, 5)), np.zeros((1, 5))), 0.1, family="pure")
    assert any("tied" in sentence for sentence in tied.warnings)
    many = bdp.estimate_curves(drawn(1.0, bases=1, runs=2600), 0.1, family="pure")
    assert any("only some scores" in sentence for sentence in many.warnings)


@pytest.mark.parametrize("scores", [3, None, "a", ([[1.0]],), (3, 4), ([[1.0]], [[np.nan]]), ([[1.0], [2.0]], [[1.0]])])
def test_what_is_no_score_is_refused(scores: object) -> None:
    with pytest.raises(InputError):
        bdp.estimate_curves(scores)  # type: ignore[arg-type]
