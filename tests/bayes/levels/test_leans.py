"""The likelihood of guesses at one level, beside the sum over all guesses."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayes_dp.bayes.levels.leans import GroupOfGuesses

SPREADS = (0.0, 0.01, 1.0, 5.0, 50.0)


def slow(leans, right, level, revealed):
    """Σ_right log [d + (1 − d) σ(e + x)] + Σ_wrong log [(1 − d) σ(−e − x)] for one draw."""
    chance = revealed + (1 - revealed) / (1 + mp.exp(-level - leans)) if right else None
    return mp.log(chance) if right else mp.log1p(-revealed) - mp.log1p(mp.exp(level + leans))


def whole(leans, right, level, revealed):
    with mp.workdps(40):
        values = (mp.mpf(float(x)) for x in (level, revealed))
        level, revealed = values
        return float(sum(slow(mp.mpf(float(x)), ok, level, revealed) for x, ok in zip(leans, right, strict=True)))


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("size", [1, 7, 300])
def test_it_is_the_sum_over_all_guesses(spread, size):
    rng = np.random.default_rng(size)
    leans, right = spread * rng.standard_normal((3, size)), rng.random(size) < 0.7
    group = GroupOfGuesses(leans, right)
    level = np.array([0.0, 1e-9, 0.3, 4.0, 4.0, 35.0, 700.0, 1e5])
    revealed = np.array([0.0, 1e-20, 0.0, 0.3, 1e-5, 0.999, 1e-3, 0.0])
    found = group.log_likelihood(level, revealed)
    wanted = [[whole(x, right, e, d) for e, d in zip(level, revealed, strict=True)] for x in leans]
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-11 * size)


@given(
    st.lists(st.tuples(st.floats(-745, 745), st.booleans()), min_size=1, max_size=6),
    st.floats(0, 800),
    st.floats(0, 1, exclude_max=True),
)
def test_any_leans_at_any_level(guesses, level, revealed):
    leans, right = np.array([[x for x, _ in guesses]]), np.array([ok for _, ok in guesses])
    found = GroupOfGuesses(leans, right).log_likelihood(np.array([level]), np.array([revealed]))[0, 0]
    assert found == pytest.approx(whole(leans[0], right, level, revealed), rel=1e-11, abs=1e-10)


def test_all_is_revealed():
    right = np.array([True, True, False])
    everything = np.ones(2)
    leans = np.array([[0.5, -3.0, 1.0]])
    assert np.isneginf(GroupOfGuesses(leans, right).log_likelihood(np.array([0.0, 2.0]), everything)).all()
    of_right = GroupOfGuesses(leans[:, :2], right[:2]).log_likelihood(np.array([0.0, 2.0]), everything)
    np.testing.assert_allclose(of_right, 0.0, atol=1e-12)
