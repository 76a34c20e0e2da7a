"""Tails of the Poisson binomial law against the plain recursion, at any number of digits for far tails."""

import math
import re

import mpmath
import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp.audits.poisson_binomial import Tails, tail, window


def plain(chances):
    """The law by one event after the other, O(r²)."""
    law = np.zeros(len(chances) + 1)
    law[0] = 1.0
    for p in chances:
        law[1:] = law[1:] * (1 - p) + law[:-1] * p
        law[0] *= 1 - p
    return law


def exact_tails(chances):
    """log P[S ≥ v] for v = 0, …, r with 50 digits."""
    with mpmath.workdps(50):
        law = [mpmath.mpf(1)]
        for p in chances:
            p = mpmath.mpf(float(p))
            law = [a * (1 - p) + b * p for a, b in zip([*law, 0], [0, *law], strict=True)]
        tails, total = [], mpmath.mpf(0)
        for q in reversed(law):
            total += q
            tails.append(float(mpmath.log(total)))
    return np.array(tails[::-1])


@pytest.mark.parametrize("r", [1, 2, 3, 17, 60])
@pytest.mark.parametrize("spread", [0.0, 0.3, 2.0, 10.0])
def test_all_tails_of_short_laws(r, spread):
    rng = np.random.default_rng(r)
    chances = special.expit(spread * rng.normal(size=r) + rng.normal())
    expected = exact_tails(chances)
    found = Tails(np.tile(special.logit(chances), (r + 1, 1)), np.arange(r + 1)).log_at(np.zeros(r + 1))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tail(chances, np.arange(r + 1)), np.exp(expected), rtol=2e-12)


def test_the_far_tail_of_a_longer_law():
    rng = np.random.default_rng(0)
    chances = special.expit(rng.normal(size=400) - 1)
    expected = exact_tails(chances)
    assert expected[-1] < -400
    np.testing.assert_allclose(tail(chances, np.arange(401)), np.exp(expected), rtol=1e-11)


@pytest.mark.parametrize("r", [1000, 5000])
def test_a_long_law_by_the_recursion(r):
    chances = np.random.default_rng(1).beta(2, 3, r)
    law = plain(chances)
    mean, sd = chances.sum(), math.sqrt((chances * (1 - chances)).sum())
    for z in (-6, -1, 0, 1, 3, 6):
        v = int(mean + z * sd)
        assert tail(chances, v) == pytest.approx(law[v:].sum(), rel=1e-10)


@pytest.mark.parametrize("p", [1e-9, 0.003, 0.5, 0.97])
def test_equal_chances_are_binomial_up_to_a_hundred_thousand(p):
    r = 100_000
    v = np.unique(np.clip(np.round(r * p + np.array([-7, -3, 0, 1, 3, 7]) * math.sqrt(r * p * (1 - p))), 0, r))
    np.testing.assert_allclose(tail(np.full(r, p), v), stats.binom.sf(v - 1, r, p), rtol=1e-9)
    assert tail(np.full(r, p), v).min() < 1e-9 or p == 1e-9


def test_what_is_sure_and_what_is_impossible():
    chances = np.array([0.0, 1.0, 0.3, 1.0, 0.0])
    np.testing.assert_allclose(tail(chances, np.arange(-1, 7)), [1, 1, 1, 1, 0.3, 0, 0, 0], rtol=1e-14)
    assert tail(np.zeros(0), 0) == 1
    assert tail(np.zeros(0), 1) == 0
    assert tail(np.ones(3), 3) == 1


def test_shapes_broadcast():
    rng = np.random.default_rng(2)
    chances = rng.random((3, 4, 20))
    least = rng.integers(0, 20, (3, 4))
    found = tail(chances, least)
    assert found.shape == (3, 4)
    for i, j in np.ndindex(3, 4):
        assert found[i, j] == pytest.approx(plain(chances[i, j])[least[i, j] :].sum(), rel=1e-11)
    assert tail(chances, 5).shape == (3, 4)
    assert isinstance(tail(chances[0, 0], 5), float)


def test_laws_of_very_different_spread_at_once():
    rng = np.random.default_rng(3)
    log_odds = rng.normal(size=(6, 80)) * np.array([0.01, 0.5, 2, 8, 30, 300])[:, None]
    least = np.full(6, 55)
    found = Tails(log_odds, least).log_at(np.zeros(6))
    for row, value in zip(log_odds, found, strict=True):
        assert value == pytest.approx(exact_tails(special.expit(row))[55], rel=1e-10, abs=1e-12)


def test_a_shift_of_the_log_odds():
    rng = np.random.default_rng(4)
    log_odds, least = rng.normal(size=(3, 50)), np.array([10, 30, 50])
    tails = Tails(log_odds, least)
    for shift in (-5.0, -0.3, 0.0, 0.7, 4.0, 600.0):
        together = tails.log_at(np.full(3, shift))
        for i in range(3):
            alone = tails.log_at(np.array([shift]), np.array([i]))[0]
            assert alone == pytest.approx(together[i], rel=1e-13, abs=1e-15)
            assert np.exp(alone) == pytest.approx(tail(special.expit(log_odds[i] + shift), least[i]), rel=1e-11)


@pytest.mark.parametrize("r", [0, 1, 5, 300, 20_000])
def test_the_window_has_all_of_the_law(r):
    chances = np.random.default_rng(r).random(r)
    low, law = window(chances)
    assert law.sum() == pytest.approx(1, abs=1e-13)
    if r <= 300:
        whole = plain(chances)
        np.testing.assert_allclose(law, whole[low : low + len(law)], atol=1e-15)
        assert 1 - whole[low : low + len(law)].sum() < 1e-14
    else:
        assert len(law) < 2000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (([0.2, 1.5], 1), "probability[1] must lie in [0, 1], not 1.5"),
        (([0.2, math.nan], 1), "probability[1] must lie in [0, 1], not nan"),
        (([0.2], 0.5), "least must be whole numbers, not 0.5"),
        ((0.2, 1), "probability must be an array of at least one dimension, not 0.2"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(bdp.InputError, match=re.escape(message)):
        tail(*given)


def test_a_window_is_of_one_law():
    with pytest.raises(bdp.InputError, match="one dimension"):
        window(np.full((2, 2), 0.5))
