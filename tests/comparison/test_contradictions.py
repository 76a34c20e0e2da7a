"""Rows of a comparison that cannot all be right say so."""

from dataclasses import replace

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.comparison.contradictions import reconciled
from bayes_dp.comparison.table import ComparisonRow


def posterior(method, low, high, base="all"):
    return ComparisonRow(
        method, base, "posterior", "epsilon", (low + high) / 2, low, high, 0.9, True, "", ("It is one.",)
    )


def bound(method, low, valid=True, base="all"):
    value = low if low is not None else None
    reason = "" if valid else "It does not hold."
    return ComparisonRow(method, base, "lower_bound", "epsilon", value, low, None, 0.95, valid, reason, ("It is one.",))


def by_name(*rows):
    return {row.method: row for row in reconciled(rows)}


def test_the_bundled_counts_as_repeated_ones():
    """.62–.82 with every attack the strongest, and bounds of .95."""
    a4 = bdp.datasets.mnist_a4()
    counts = bdp.ErrorCounts(a4.false_positives, a4.negatives, a4.false_negatives, a4.positives)
    table = bdp.compare(counts, 1e-3, per_base=False)
    (tight,), (accuracy,), (free,) = (table.select(name) for name in ("posterior-tight", "accuracy", "posterior"))
    assert tight.upper < 0.83 < 0.94 < accuracy.lower
    assert not tight.valid
    assert tight.reason.startswith("All of the interval is below a valid lower bound, 0.95 by joint-exact:")
    assert "The interval of posterior-tight lies below this bound." in accuracy.notes
    assert accuracy.valid
    assert free.valid
    assert any("posterior-tight is below this one" in note for note in free.notes)
    assert any("posterior is above this one" in note for note in tight.notes)
    printed = str(table)
    for row in (tight, accuracy, free):
        assert all(sentence in printed for sentence in row.sentences)


@pytest.mark.parametrize(("low", "apart"), [(2.0, False), (2.000001, True), (None, True)])
def test_what_some_guesses_got_out_below_a_bound_by_others(low, apart):
    row = replace(posterior("p", 1.0, 2.0), parameter="e")
    found = by_name(row, bound("b", low), bound("c", 5.0, valid=False))
    assert any("cannot both be right if every guess got the same e" in note for note in found["p"].notes) == apart
    assert found["b"].notes == (("The interval of e of p lies below this bound.",) if apart else ())
    assert found["p"].valid
    assert not found["c"].notes


@pytest.mark.parametrize(("low", "valid"), [(2.0, True), (2.000001, False), (None, False)])
def test_a_bound_above_the_interval(low, valid):
    found = by_name(posterior("p", 1.0, 2.0), bound("b", low))
    assert found["p"].valid == valid
    assert bool(found["b"].notes) != valid
    assert ("infinity by b" in found["p"].reason) == (low is None)


def test_the_largest_of_the_bounds_is_named_and_other_reasons_are_kept():
    row = posterior("p", 1.0, 2.0)
    doubtful = ComparisonRow(
        **{**{f: getattr(row, f) for f in row.__dataclass_fields__}, "valid": False, "reason": "Cross-fed."}
    )
    found = by_name(doubtful, bound("b", 3.0), bound("c", 4.0), bound("d", 5.0, valid=False))
    assert "4 by c" in found["p"].reason
    assert found["p"].reason.endswith("Cross-fed.")


def test_what_says_nothing():
    """Bounds that do not hold or are for other bases, and intervals that meet."""
    rows = (
        posterior("p", 1.0, 2.0), posterior("q", 2.0, 3.0), bound("b", 3.5, valid=False), bound("c", 3.5, base="0"),
        bound("d", 2.0),
    )  # fmt: skip
    assert reconciled(rows) == rows


def test_only_posteriors_and_bounds_of_epsilon_contradict_each_other():
    """Not rows of μ, whose numbers are others, nor estimates, which claim nothing."""
    of_mu = [replace(row, parameter="mu") for row in (posterior("p", 1.0, 2.0), posterior("q", 4.0, 5.0))]
    rows = (*of_mu, replace(bound("b", 3.0), parameter="mu"))
    assert reconciled(rows) == rows
    rows = (posterior("r", 2.5, 2.9), bound("c", 2.7), *of_mu, rows[-1], replace(posterior("e", 1, 2), kind="estimate"))
    assert reconciled(rows) == rows


def test_rows_of_a_base_are_held_against_each_other():
    rows = reconciled((posterior("p", 1.0, 2.0, "0"), posterior("p", 1.0, 2.0, "1"), bound("b", 3.0, base="1")))
    assert [row.valid for row in rows] == [True, False, True]


def test_posteriors_say_what_their_ends_are():
    counts = bdp.ErrorCounts(np.array([12, 8, 20]), 100, [55, 70, 41], 100)
    post = bdp.estimate(counts, 1e-3)
    (row,) = bdp.compare(counts, 1e-3, names=["posterior"], per_base=False).rows
    assert row.valid
    assert row.notes[0].startswith("The lower end of a posterior is no lower bound")
    assert row.notes[1] == post.high_end(row.level)
