"""The audit of a network that memorises digits: what is drawn is as described, and only the naive audit is fooled."""

import dataclasses

import numpy as np
import pytest

from bayes_dp.attacks.scores import Bonferroni, guess
from bayes_dp.audits.one_run import one_run
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.propensity import falsify, known
from models import shifted_digits
from models.shifted_digits import audit, digits, features, scores


@pytest.mark.parametrize("shifted", [False, True])
def test_memberships_are_coins_with_the_stated_chances(shifted):
    data = digits(shifted, seed=1)
    n = 3 * 1797
    assert data.pixels.shape == (n, 64)
    assert 0 <= data.pixels.min() < data.pixels.max() <= 1
    assert np.bincount(data.source).tolist() == [3] * 1797
    z = (data.member - data.chance) / np.sqrt(data.chance * (1 - data.chance))
    for group in (data.label < 10, data.label % 2 == 0, data.label % 2 == 1, data.chance > np.median(data.chance)):
        if group.any():
            assert abs(z[group].sum()) < 4 * np.sqrt(group.sum())
    assert (data.chance == 0.5).all() != shifted
    assert not falsify(known(data.chance, data.member)).rejected
    if shifted:
        assert data.member[data.label % 2 == 0].mean() > data.member[data.label % 2 == 1].mean() + 0.1
        np.testing.assert_allclose(np.log(data.chance / (1 - data.chance)).max(), 2.0, atol=0.01)


def test_features_know_nothing_of_memberships():
    data = digits(True, copies=1)
    other = dataclasses.replace(data, member=~data.member, chance=1 - data.chance)
    np.testing.assert_array_equal(features(data), features(other))
    assert features(data).shape == (1797, 43)


def test_the_network_knows_its_members_by_heart():
    data = digits(False, copies=1)
    score = scores(data)
    assert score[data.member].min() > 1
    assert np.mean(score[~data.member] < 1) > 0.03


def test_a_shift_fools_the_naive_audit():
    """One copy of each digit, and the true propensities."""
    numbers, found = Bonferroni([100, 200, 400]), {}
    for shifted in (False, True):
        data = digits(shifted, copies=1)
        score = scores(data)
        naive = one_run(guess(GuessTable(score, data.member), numbers), 0.0).value
        found[shifted] = (
            naive,
            zero_run(GuessTable(score, data.member, data.chance), choice=numbers, propensity="exact").value,
        )
    assert found[False][0] == pytest.approx(found[False][1], rel=1e-6)
    assert found[True][0] > found[False][0] + 0.2 > found[True][1] + 0.2 > 0.4


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_audits_of_both_agree(seed):
    alike, shifted = (audit(each, seed, replicates=39, n_jobs=2) for each in (False, True))
    (low, high), (other_low, other_high) = alike.learned_interval, shifted.learned_interval
    assert max(low, other_low) <= min(high, other_high)
    assert shifted.naive.value > max(alike.naive_interval[1], alike.learned_interval[1])
    assert min(found.learned.value for found in (alike, shifted)) > 0.05


def test_intervals_are_those_of_resampled_digits():
    """A bound that is the mean of the scores, whose interval is known."""
    rng = np.random.default_rng(0)
    score = np.repeat(rng.normal(size=400), 3)
    table = GuessTable(score, np.arange(1200) % 2 == 0)

    def mean(resampled):
        return dataclasses.replace(known_bound, value=float(resampled.score.mean()))

    known_bound = zero_run(GuessTable(score, table.member, np.full(1200, 0.5)), choice=10)
    low, high = shifted_digits.interval(mean, table, np.repeat(np.arange(400), 3), resamples=2000)
    assert (low + high) / 2 == pytest.approx(score.mean(), abs=0.01)
    assert high - low == pytest.approx(2 * 1.645 * score.std() / np.sqrt(400), rel=0.08)


def test_the_command(capsys, monkeypatch):
    small = audit(True, replicates=39, copies=1)
    monkeypatch.setattr(shifted_digits, "audit", lambda shifted, seed, replicates, n_jobs: small)
    assert shifted_digits.main(["--replicates", "39"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 4
    assert rows[2].startswith("| alike | 0 | ")
    assert rows[3].startswith(f"| shifted | 0 | {small.naive.value:.2f} | {small.naive_interval[0]:.2f} to ")
    assert f" | {small.informed.value:.2f} | {small.cautious.value:.2f} | " in rows[3]
    assert rows[0].count("|") == rows[1].count("|") == rows[3].count("|") == 11
