"""Error counts of canaries over trainings: against a plain count, and beside privacy that is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.attacks import canary_counts, dirac_scores
from bayes_dp.checks import InputError
from models.dirac_canaries import DELTA, transcript


def trainings(runs, canaries, sigma, q, steps, seed, **labels):
    """Tables of Dirac canaries, each training with coins of its own."""
    rng = np.random.default_rng(seed)
    coins = rng.random((runs, canaries)) < 0.5
    how = {"noise_multiplier": sigma, "sampling_rate": q}
    return [bdp.GuessTable(dirac_scores(transcript(c, sigma, q, steps, rng), **how), c, **labels) for c in coins]


def test_it_counts():
    runs = trainings(40, 3, 1.0, 0.5, 4, 0, base=["a", "b", "c"])
    limits = [-1.0, 0.0, 0.5]
    counts = canary_counts(runs, limits)
    for i, limit in enumerate(limits):
        wrong = {(inside, said): 0 for inside in (False, True) for said in (False, True)}
        for run in runs:
            wrong[bool(run.member[i]), bool(run.score[i] >= limit)] += 1
        assert counts.false_positives[i] == wrong[False, True]
        assert counts.false_negatives[i] == wrong[True, False]
        assert counts.negatives[i] == wrong[False, True] + wrong[False, False]
        assert counts.positives[i] == wrong[True, True] + wrong[True, False]
    assert counts.base == ("a", "b", "c")
    assert counts.design == "repeated"
    assert canary_counts(runs) == canary_counts(runs, [0.0] * 3)


def test_canaries_of_the_same_trainings_are_told_to_depend_and_one_is_not():
    several, one = (canary_counts(trainings(60, m, 1.0, 1.0, 1, 1)) for m in (3, 1))
    assert "share their group label" in bdp.estimate(several, 1e-3).caution
    assert not bdp.estimate(one, 1e-3).caution
    assert one.group is None
    assert "may depend on each other in any way" in str(bdp.audits.joint_exact(several, 1e-3))


def test_scores_at_the_threshold_and_infinite_ones():
    runs = [bdp.GuessTable([0.0, -np.inf], [False, True]), bdp.GuessTable([np.inf, 0.1], [True, False])]
    counts = canary_counts(runs)
    assert counts.false_positives.tolist() == [1, 1]
    assert counts.false_negatives.tolist() == [0, 1]


def test_scores_that_may_come_again_and_such_that_may_not():
    """Few canaries of which only a class is told have the same scores in several trainings."""
    rng = np.random.default_rng(5)
    coins = rng.random((50, 2)) < 0.5
    counts = canary_counts([bdp.GuessTable(np.where(c, 1.0, -1.0), c) for c in coins])
    assert counts.false_positives.tolist() == counts.false_negatives.tolist() == [0, 0]
    runs = trainings(20, 2, 1.0, 0.5, 2, 4)
    with pytest.raises(InputError, match=r"runs\[20\] has the scores of runs\[3\]"):
        canary_counts([*runs, runs[3]])


def test_bounds_of_single_canaries_are_below_the_accountant():
    """Ten steps of σ = 3 without sampling; 40 canaries of 400 trainings, at 95% each."""
    epsilon = bdp.Claim.dp_sgd(3.0, 1.0, 10).epsilon_at(DELTA)
    counts = canary_counts(trainings(400, 40, 3.0, 1.0, 10, 2))
    bounds = np.array([bdp.audits.clopper_pearson(counts[i], DELTA).value for i in range(40)])
    assert 0.3 < bounds.mean() < bounds.max() < epsilon


def test_the_posterior_finds_the_gaussian_mechanism():
    """One step without sampling is μ-GDP with μ = 1/σ, and the likelihood ratio is the best attack."""
    counts = canary_counts(trainings(1500, 1, 0.8, 1.0, 1, 3))
    low, high = bdp.estimate(counts, family="gaussian", strength="tight").interval(0.99)
    assert low < 1.25 < high
    assert high - low < 0.5
    rate = counts.false_positives / counts.negatives
    assert rate == pytest.approx(special.ndtr(-1.25 / 2), abs=0.06)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda runs: [], "runs must be a list of tables"),
        (lambda runs: runs[0], "runs must be a list of tables"),
        (lambda runs: [runs[0], 3], "runs must be a list of tables"),
        (lambda runs: [runs[0], runs[1][:1]], r"runs\[1\] must have the 2 canaries of runs\[0\]"),
        (
            lambda runs: [runs[0], bdp.GuessTable([0, 1], [0, 1], base=["b", "a"])],
            r"runs\[1\] must have the 2 canaries",
        ),
        (lambda runs: [runs[0], bdp.GuessTable([0, 1], [0, 1], 0.4)], r"runs\[1\] must have canaries that a fair coin"),
        (lambda runs: [runs[0]] * 9, r"runs\[1\] has the scores of runs\[0\]"),
        (lambda runs: [bdp.GuessTable([0, 1], [0, 1]), bdp.GuessTable([2, 3], [0, 0])], "no training with canary 0"),
        (lambda runs: [bdp.GuessTable([0, 1], [1, 0]), bdp.GuessTable([2, 3], [1, 1])], "no training without canary 0"),
    ],
)
def test_what_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        canary_counts(change(trainings(20, 2, 1.0, 0.5, 2, 4)))


@pytest.mark.parametrize("threshold", [[0.0], [0.0, 1.0, 2.0], [[0.0, 1.0]], np.nan, "a"])
def test_thresholds_that_are_none(threshold):
    with pytest.raises(InputError, match="threshold"):
        canary_counts(trainings(20, 2, 1.0, 0.5, 2, 4), threshold)


def test_draws_in_the_place_of_what_was_trained_on_are_no_canaries():
    game = bdp.games.LabelGame([0, 1] * 5, [[0.5, 0.5]] * 10, [[1, -1], [-1, 1]] * 5)
    with pytest.raises(InputError, match="that a fair coin put into the training"):
        canary_counts([game.play(seed) for seed in range(20)])
