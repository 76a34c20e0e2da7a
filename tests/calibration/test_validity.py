"""Lower bounds exceed the truth no more often than they say, in at least 10 000 simulated audits a row.

Run by `make test-slow`; `bayes-dp calibrate AUDIT` prints the same tables, in part in docs/evidence/validity.md.
"""

from __future__ import annotations

import functools

import pytest

from bayes_dp import calibrate
from bayes_dp.calibrate.mechanisms import SIZES

REPETITIONS = 10_000
P = 0.05
CORRECTED = ("one-run", "f-dp", "zero-run-compositional")  # for the best of several numbers of guesses
APPROXIMATE = ("jeffreys", "katz")

# Wrong pairs whose bounds did not exceed the truth too often, refused for other reasons: docs/evidence/validity.md
HARMLESS = {
    ("clopper-pearson, δ = 0", "one run, independent errors, ε = 1"),
    ("accuracy, δ = 0", "one run, independent errors, ε = 1"),
    ("one-run, δ = 0.01", "repeated, as many positives as negatives, ε = 1"),
    ("f-dp, δ = 0.01", "repeated, as many positives as negatives, ε = 1"),
    ("clopper-pearson, δ = 0", "cross-fed, fitted to the other runs, no leak"),
}


@functools.cache
def done(audit):
    return calibrate.study(audit, repetitions=REPETITIONS, p=P, progress=False)


@pytest.fixture
def once(monkeypatch):
    """Studies of one audit a row, with few examples, as good as any to see which rows there are."""
    for module in ("guesses", "rates"):
        monkeypatch.setattr(f"bayes_dp.calibrate.{module}.SIZES", SIZES[:1])
    return lambda audit: calibrate.study(audit, repetitions=1, progress=False).rows


@pytest.mark.parametrize("audit", calibrate.AUDITS)
def test_there_are_rows_to_be_judged(audit, once):
    rows = once(audit)
    assert any(row.valid_claim for row in rows)
    if audit in CORRECTED:
        assert any(row.choice == "Uncorrected" and row.mechanism.startswith("no leak") for row in rows)
    if audit == "one-run":
        assert any("exact" in row.audit and "at once" in row.mechanism for row in rows)
    if audit == "intervals":
        assert {row.audit.split(",")[0] for row in rows if not row.valid_claim} >= set(APPROXIMATE)
    if audit == "wrong-pairs":
        assert {(row.audit, row.mechanism) for row in rows if not row.valid_claim} >= HARMLESS


@pytest.mark.slow
@pytest.mark.parametrize("audit", calibrate.AUDITS)
def test_bounds_hold_their_confidence(audit):
    rows = [row for row in done(audit).rows if row.valid_claim]
    assert rows
    assert not [row for row in rows if row.rate > P + 3 * row.standard_error]
    assert done(audit).passed


@pytest.mark.slow
@pytest.mark.parametrize("audit", CORRECTED)
def test_bounds_without_correction_do_not(audit):
    """Where nothing leaks, the best of several numbers of guesses says too often that something does."""
    rows = [row for row in done(audit).rows if row.choice == "Uncorrected" and row.mechanism.startswith("no leak")]
    assert {row.examples for row in rows} == set(SIZES)
    assert not [row for row in rows if row.rate < P + 3 * row.standard_error]


@pytest.mark.slow
@pytest.mark.parametrize("method", APPROXIMATE)
def test_approximate_intervals_do_not(method):
    rows = [row for row in done("intervals").rows if row.audit.startswith(method)]
    assert not any(row.valid_claim for row in rows)
    assert not all(row.passed for row in rows)


@pytest.mark.slow
def test_the_worst_case_comes_close_to_p():
    """So the studies would notice an audit that is a little wrong."""
    rows = [row for row in done("one-run").rows if "exact" in row.audit and "at once" in row.mechanism]
    assert max(row.rate for row in rows) > 0.9 * P


@pytest.mark.slow
def test_wrong_pairs_of_design_and_method():
    rows = [row for row in done("wrong-pairs").rows if not row.valid_claim]
    assert {(row.audit, row.mechanism) for row in rows if row.passed} == HARMLESS
    assert not [row for row in rows if not row.passed and row.rate < P + 3 * row.standard_error]
