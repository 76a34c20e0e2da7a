"""The table of records: what it says of each, which it chooses, and what it warns of."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.bayes.families.choice import family_of
from bayes_dp.bayes.levels.records import chosen_of

COUNTS = bdp.ErrorCounts([5, 30, 8, 30], 100, [20, 55, 90, 55], 100, base=["Ann", "Bea", "Cay", "Dee"])


@pytest.fixture(scope="module")
def post():
    return bdp.estimate(COUNTS, 1e-3, family="gaussian")


def by_name(found):
    return {record.base: record for record in found.records}


def test_each_record_has_the_posterior_of_its_own_epsilon():
    """With so many runs that others hardly matter, that of its own rates."""
    counts = bdp.ErrorCounts([500, 3000, 800], 10_000, [2000, 5500, 9000], 10_000)
    found = bdp.records(bdp.estimate(counts, 1e-3, family="gaussian"), epsilon=2.0, prob=0.8)
    rng, rows = np.random.default_rng(0), by_name(found)
    for i, (x, y) in enumerate(zip(counts.false_positives, counts.false_negatives, strict=True)):
        alpha, beta = rng.beta(x + 1, 10_001 - x, 20_000), rng.beta(y + 1, 10_001 - y, 20_000)
        drawn = family_of("gaussian").epsilon_at(np.abs(stats.norm.isf(alpha) + stats.norm.isf(beta)), np.array(1e-3))
        row = rows[str(i)]
        ranks = [(drawn <= value).mean() for value in (row.low, row.median, row.high)]
        assert ranks == pytest.approx([0.1, 0.5, 0.9], abs=0.06)  # others pull a little
        assert row.above == pytest.approx((drawn > 2).mean(), abs=0.02)


def test_records_with_the_same_data_have_the_same_row(post):
    rows = by_name(bdp.records(post, 2.0, prob=0.8))
    same = {name: getattr(rows["Bea"], name) for name in ("median", "low", "high", "above", "alone", "chosen")}
    assert same == {name: getattr(rows["Dee"], name) for name in same}
    assert rows["Bea"] == by_name(bdp.records(post, 2.0, prob=0.8))["Bea"]


@pytest.mark.parametrize("silent", [20, 99])
def test_one_record_that_leaks_among_many_that_do_not_is_found(silent):
    rng = np.random.default_rng(silent)
    alpha = rng.uniform(0.05, 0.3, silent + 1)
    beta = stats.norm.cdf(stats.norm.isf(alpha) - np.where(np.arange(silent + 1) == 7, 3.0, 0.0))
    counts = bdp.ErrorCounts(rng.binomial(100, alpha), 100, rng.binomial(100, beta), 100)
    found = bdp.records(bdp.estimate(counts, 1e-3, family="gaussian"), 1.0)
    assert found.chosen == ("7",)
    assert found.records[0].low > 5.0  # of a truth of 17.6


def test_the_most_exposed_is_first(post):
    for epsilon in (0.1, 1.0, 5.0):
        found = bdp.records(post, epsilon)
        above = [record.above for record in found.records]
        assert above == sorted(above, reverse=True)
        assert [record.chosen for record in found.records] == [True] * len(found.chosen) + [False] * (
            4 - len(found.chosen)
        )


def test_delta_is_that_of_the_posterior_or_another(post):
    other = bdp.records(post, 2.0, delta=0.1)
    assert other.delta == 0.1
    assert by_name(other)["Ann"].median < by_name(bdp.records(post, 2.0))["Ann"].median
    bare = bdp.estimate(COUNTS, family="gaussian")
    assert bdp.records(bare, 2.0, 0.1).to_dict()["records"] == other.to_dict()["records"]
    assert bdp.records(post.delta_at(1.0), 2.0, 0.1).to_dict()["records"] == other.to_dict()["records"]
    with pytest.raises(bdp.InputError, match="delta is missing"):
        bdp.records(bare, 2.0)
    with pytest.raises(bdp.InputError, match="delta is missing"):
        bdp.records(post.delta_at(1.0), 2.0)
    with pytest.raises(bdp.InputError, match="delta must be above 0 for the gaussian family"):
        bdp.records(bare, 2.0, 0.0)


def test_the_chosen_are_the_largest_set_with_few_false_ones():
    rng = np.random.default_rng(0)
    for _ in range(200):
        above = np.sort(rng.choice([0.0, 0.3, 0.5, 0.8, 0.95, 1.0], rng.integers(1, 8)) ** rng.choice([1, 0.3]))[::-1]
        q = rng.choice([0.01, 0.1, 0.3, 0.7])
        sets = [above >= c for c in np.unique(above)]
        good = [each for each in sets if np.mean(1 - above[each]) <= q]
        wanted = max(good, key=np.sum) if good else np.zeros(len(above), bool)
        np.testing.assert_array_equal(chosen_of(above, q), wanted)


def test_records_with_the_same_data_are_chosen_together_or_not():
    assert chosen_of(np.array([1.0, 0.8, 0.8]), 0.11).tolist() == [True, False, False]
    assert chosen_of(np.array([1.0, 0.8, 0.8]), 0.14).tolist() == [True, True, True]


def test_more_false_ones_allowed_choose_more(post):
    numbers = [len(bdp.records(post, 1.0, q=q).chosen) for q in (1e-9, 0.05, 0.3, 0.999)]
    assert numbers == sorted(numbers)
    assert numbers[-1] == 4
    for q in (0.05, 0.3):
        assert bdp.records(post, 1.0, q=q).false_share <= q


def test_a_record_with_few_runs_is_pulled_to_the_others_and_that_is_said():
    counts = bdp.ErrorCounts([10] * 8 + [1], [1000] * 8 + [2], [200] * 8 + [1], [1000] * 8 + [2])
    found = bdp.records(bdp.estimate(counts, 1e-3, family="gaussian"), 4.0)
    few = by_name(found)["8"]
    assert few.above > 1.5 * few.alone
    assert few.alone < 0.5
    assert few.chosen
    assert any("1 of the chosen records (8) have less than an even chance" in text for text in found.warnings)
    (record,) = bdp.records(bdp.estimate(counts[8], 1e-3, family="gaussian"), 4.0).records
    assert not record.chosen


def test_all_and_none(post):
    assert len(bdp.records(post, 0.0, q=0.5).chosen) == 4
    none = bdp.records(post, 600.0)
    assert none.chosen == ()
    assert none.false_share == 0.0
    assert str(none).startswith("0 of 4 records are taken to be above epsilon = 600")


def test_long_tables_are_cut_in_text_only():
    counts = bdp.ErrorCounts(np.arange(40), 100, np.arange(40) + 20, 100)
    found = bdp.records(bdp.estimate(counts, 1e-3, family="gaussian"), 2.0)
    assert len(found) == len(found.to_frame()) == len(found.to_dict()["records"]) == 40
    assert "and 15 more" in str(found)


def test_the_file_for_spreadsheets(post, tmp_path):
    found = bdp.records(post, 2.0)
    frame = pd.read_csv(io.StringIO(found.csv()))
    pd.testing.assert_frame_equal(frame, found.to_frame(), rtol=1e-14)  # old pandas reads no better
    found.to_csv(tmp_path / "records.csv")
    assert (tmp_path / "records.csv").read_text() == found.csv()
    evil = bdp.estimate(bdp.ErrorCounts(5, 10, 5, 10, base=["=1+1"]), 1e-3, family="pure")
    assert "\n'=1+1," in bdp.records(evil).csv(safe_cells=True)


def test_what_is_refused(post):
    for wrong in (COUNTS, bdp.estimate(COUNTS, 1e-3)):
        with pytest.raises(bdp.InputError, match="post must be a posterior of a family"):
            bdp.records(wrong)
    with pytest.raises(bdp.InputError, match="all records have the same level"):
        bdp.records(bdp.estimate(COUNTS, 1e-3, family="gaussian", strength="tight"))


def test_a_file_whose_choice_is_another_is_refused(post):
    content = bdp.records(post, 2.0).to_dict()
    for name, value in (("q", 0.999), ("false_share", 0.5)):
        with pytest.raises(bdp.InputError, match=r"chosen records are not|not what the records say"):
            bdp.Records.from_dict(content | {name: value})


def test_families_differ_in_epsilon_and_hardly_in_order():
    orders = [
        [record.base for record in bdp.records(bdp.estimate(COUNTS, 1e-3, family=name), 1.0).records]
        for name in ("gaussian", "laplace", "pure")
    ]
    for one, other in itertools.pairwise(orders):
        assert one[0] == other[0] == "Ann"


def test_no_record_is_above_a_limit_that_no_member_reaches():
    """The largest member, θ = 2, is (2, 0)-DP."""
    logistic = bdp.Family("logistic", lambda a, t: (1 - a) / (1 - a + a * np.exp(t)), most=2.0)
    counts = bdp.ErrorCounts([5, 30, 0], 100, [60, 55, 0], 100)
    post = bdp.estimate(counts, 1e-3, family=logistic, prior="Uniform(0, 2)")
    for limit, some in ((2.1, False), (50.0, False), (0.5, True)):
        found = bdp.records(post, limit)
        assert bool(found.chosen) == some
        assert all((row.above > 0) == (row.alone > 0) == some for row in found.records)
        assert all(row.high <= 2.0 for row in found.records)
    assert found.warnings is not None


def test_what_speaks_against_the_counts_is_said():
    for counts, word in (
        (bdp.datasets.mnist_a4(), "cross-fed"),
        (bdp.ErrorCounts(50, 100, 50, 100, design="observational", examples=500), "Nobody changed"),
    ):
        found = bdp.records(bdp.estimate(counts, 1e-3, family="gaussian"), 1.0)
        assert any(word in text for text in found.warnings)


def test_odd_counts():
    """Decisions that are always wrong leak; guessing does not; one run of each kind says next to nothing."""
    for x, y, trials, chosen in (
        ([95, 10], [95, 90], 100, ("0",)),
        ([50] * 5, [50] * 5, 100, ()),
        ([0, 0], [0, 1], 1, ()),
        ([0], [0], 10**7, ("0",)),
    ):
        found = bdp.records(bdp.estimate(bdp.ErrorCounts(x, trials, y, trials), 1e-3, family="gaussian"), 1.0)
        assert found.chosen == chosen
        assert all(0 <= row.low <= row.median <= row.high < np.inf for row in found.records)
