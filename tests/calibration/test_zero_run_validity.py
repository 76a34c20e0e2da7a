"""What the study of zero-run audits must show: every valid form holds, and what is wrong is seen to be wrong.

Run by `make test-slow`; `bayes-dp calibrate zero-run` prints the table, which docs/evidence/validity.md shows in part.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayes_dp import calibrate
from bayes_dp.calibrate.shifted import ADVERSARIES, SHIFTS
from tests.calibration.test_validity import REPETITIONS, P, done

ON_EPSILON = (
    "untampered, directional",
    "untampered, cautious",
    "untampered",
    "tampered, directional",
    "tampered, directional, δ = 1e-05",
    "tampered, δ = 1e-05",
    "tampered, directional, without coins",
    "compositional, δ = 1e-05",
)
ON_MU = (
    "tampered, directional (μ)",
    "tampered (μ)",
    "tampered, directional, without coins (μ)",
    "compositional (μ)",
)


def found(audit: str, shift: str = "", adversary: str = "", mechanism: str = ""):
    return [
        row
        for row in done("zero-run").rows
        if row.audit == audit
        and row.mechanism.startswith(shift)
        and row.choice.startswith(adversary)
        and mechanism in row.mechanism
    ]


OTHERS = (
    "one-run",
    "tampered, r after tampering",
    "tampered, largest ε rejected",
    "untampered, directional, π too extreme",
    *(f"{audit}, π too extreme" for audit in ("untampered, cautious", "untampered", "tampered, directional")),
    *(f"compositional (μ), {form}" for form in ("Proposition 6", "Algorithm 7", "Algorithm 8 charged")),
)


def test_there_are_rows_to_be_judged():
    rows = calibrate.study("zero-run", repetitions=1, progress=False).rows
    assert {row.audit for row in rows} >= {*ON_EPSILON, *ON_MU, *OTHERS}
    assert {row.mechanism.split(",")[0] for row in rows} >= set(SHIFTS)


@pytest.mark.slow
@pytest.mark.parametrize("audit", [*ON_EPSILON, *ON_MU])
def test_every_form_holds_in_every_case(audit):
    assert REPETITIONS >= 10_000
    for shift, adversary in itertools.product(SHIFTS, ADVERSARIES):
        rows = found(audit, shift, adversary)
        assert len(rows) == (3 if audit in ON_EPSILON else 2)
        assert all(row.valid_claim and row.rate <= P + 3 * row.standard_error for row in rows)


@pytest.mark.slow
def test_some_form_comes_close_to_its_error_probability_wherever_nothing_leaks():
    """So the study would notice a bound that is a little wrong: the exploiting adversary spends all that is granted."""
    for shift in SHIFTS:
        (row,) = found("untampered, directional", shift, "exploiting", "no leak")
        assert row.rate > 0.5 * P


@pytest.mark.slow
@pytest.mark.parametrize("shift", [shift for shift in SHIFTS if shift != "no shift"])
def test_what_ignores_the_shift_is_wrong(shift):
    for audit in ("one-run", "tampered, r after tampering"):
        (row,) = found(audit, shift, "exploiting", "no leak")
        assert not row.valid_claim
        assert row.rate > 10 * P


@pytest.mark.slow
@pytest.mark.parametrize("shift", ["strong shift", "two groups"])
def test_the_largest_rejected_epsilon_is_no_bound(shift):
    for row in found("tampered, largest ε rejected", shift, "exploiting"):
        assert row.rate > P + 3 * row.standard_error


@pytest.mark.slow
@pytest.mark.parametrize("shift", ["strong shift", "two groups"])
def test_directions_need_propensities_that_are_right(shift):
    for adversary in ("unaware", "aware"):
        for row in found("untampered, directional, π too extreme", shift, adversary):
            assert row.rate > P + 3 * row.standard_error
    for audit in ("untampered, cautious", "untampered", "tampered, directional"):
        for row in found(f"{audit}, π too extreme", shift):
            assert row.valid_claim
            assert row.passed


@pytest.mark.slow
def test_a_failure_of_each_example_is_not_one_of_the_audit():
    (wrong,) = found("compositional (μ), Proposition 6")
    assert wrong.rate == pytest.approx(0.98, abs=0.01)
    for audit in ("compositional (μ), Algorithm 7", "compositional (μ), Algorithm 8 charged"):
        (row,) = found(audit)
        assert row.rate <= P


@pytest.mark.slow
def test_directions_are_tighter_on_average():
    pairs = [("untampered, directional", "untampered, cautious"), ("untampered, cautious", "untampered")]
    pairs += [("untampered, directional", "tampered, directional"), ("tampered, directional (μ)", "tampered (μ)")]
    pairs += [("tampered, directional, δ = 1e-05", "tampered, δ = 1e-05")]
    for better, worse in pairs:
        means = np.array([[row.mean_bound for row in found(audit)] for audit in (better, worse)])
        assert (means[0] >= means[1] - 0.01).all()
        assert means[0].mean() > means[1].mean() + 0.01
