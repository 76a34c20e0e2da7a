"""The bars of families have the lengths of their weights, and say whether the counts tell which is right."""

from __future__ import annotations

import pytest

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.bayes.compare_families import FamilyComparison
from bayes_dp.plots.style import BLUE, GREY

COUNTS = bdp.ErrorCounts(10, 100, 20, 100)


@pytest.fixture(scope="module")
def found():
    return bdp.compare_families(COUNTS, 1e-3)


def colours(ax):
    return [patch.get_facecolor() for patch in ax.patches]


def test_the_bars(found, ax):
    from matplotlib.colors import to_rgba

    assert plots.families(found, ax, prob=0.8) is ax
    assert [patch.get_width() for patch in ax.patches] == list(found.weights.values())
    assert [text.get_text() for text in ax.get_yticklabels()] == ["approx", "gaussian", "laplace"]
    low, high = found.posteriors["gaussian"].interval(0.8)
    assert ax.texts[1].get_text() == f"best, ε {low:.4g} to {high:.4g}"
    assert ax.get_title() == "the counts do not tell which family"
    assert set(colours(ax)) == {to_rgba(GREY)}


def test_a_family_that_the_counts_favour(found, ax):
    from matplotlib.colors import to_rgba

    told = FamilyComparison(found.posteriors, {"approx": -30.0, "gaussian": -10.0, "laplace": -20.0})
    plots.families(told, ax)
    assert ax.get_title() == "the counts favour gaussian"
    assert colours(ax) == [to_rgba(GREY), to_rgba(BLUE), to_rgba(GREY)]
    assert ax.texts[0].get_text().startswith("-20.0 nats, ε ")


def test_one_family(found, ax):
    plots.families(FamilyComparison({"gaussian": found.posteriors["gaussian"]}, {"gaussian": -10.0}), ax)
    assert [patch.get_width() for patch in ax.patches] == [1.0]


def test_bad_input(ax):
    with pytest.raises(
        bdp.InputError, match=r"found must be a FamilyComparison, as bayes_dp.compare_families gives it, or an average"
    ):
        plots.families({}, ax)
