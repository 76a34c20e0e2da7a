"""What audits return compares and prints like a number where that says no more than the statement does."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.checks import InputError

COUNTS = bdp.ErrorCounts(10, 100, 20, 100)
bound = bdp.audits.clopper_pearson(COUNTS, 1e-3)
within = bdp.audits.joint_beta(COUNTS, 1e-3)


def test_the_number():
    assert float(bound) == bound.value
    assert f"{bound:.3f} and {bound:>8.1f}" == f"{bound.value:.3f} and {bound.value:>8.1f}"
    assert f"{bound}" == str(bound)
    np.testing.assert_array_equal(np.array([bound, within], dtype=float), [bound.value, within.value])


def test_a_lower_boundshows_what_is_above_and_never_what_is_below():
    below, above = bound.value - 0.1, bound.value + 0.1
    assert (bound > below, bound > above, bound >= bound.value, bound > bound.value) == (True, False, True, False)
    assert (bound < above, bound < below, bound <= 1e300) == (False, False, False)
    assert (below < bound, above < bound, np.float64(below) < bound, above > bound) == (True, False, True, False)
    assert bound <= math.inf


def test_an_interval_shows_both():
    inside = 0.5 * (within.value + within.upper)
    assert not within > inside
    assert not within < inside
    assert within.value - 0.1 < within < within.upper + 0.1
    assert within <= within.upper
    assert not within < within.upper


def test_what_is_no_statement_shows_nothing():
    estimate = bdp.audits.panoramia(
        bdp.ErrorCounts(10, 100, 20, 100, design="one_run", examples=200),
        bdp.ErrorCounts(30, 100, 40, 100, design="one_run", examples=200),
    )
    for found, why in ((estimate, "an estimate and no bound"), (replace(bound, invalid="Why not."), "Why not.")):
        for compare in (lambda: found > 0.1, lambda: found <= 9, lambda: 0.1 < found):  # noqa: B023, SIM300
            with pytest.raises(InputError, match=why):
                compare()
        assert float(found) == found.value


@pytest.mark.parametrize("other", [bound, within, "1", None, True, [1.0], 1j])
def test_other_things_do_not_compare(other: Any):
    with pytest.raises(TypeError):
        _ = bound > other
    with pytest.raises(TypeError):
        _ = bound <= other


def test_there_is_no_arithmetic():
    held: Any = bound
    for make in (lambda: held + 1, lambda: 2 * held, lambda: held - held, lambda: -held, lambda: held / 2):
        with pytest.raises(TypeError):
            make()
