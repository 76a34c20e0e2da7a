"""The levels of bases have their medians and intervals, the highest first; and figures of curves from scores."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import same_color

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.checks import InputError

COUNTS = bdp.ErrorCounts([5, 30, 8], 100, [20, 55, 90], 100, base=["Ann", "Bea", "Cay"])


@pytest.fixture(scope="module")
def curves():
    rng = np.random.default_rng(0)
    shift = np.array([[0.2], [2.0], [1.0]])
    return bdp.estimate_curves((rng.normal(size=(3, 40)), rng.normal(size=(3, 40)) + shift))


def test_levels_of_counts(ax):
    post = bdp.estimate(COUNTS, family="gaussian")
    assert plots.levels(post, ax, prob=0.8) is ax
    drawn = post.levels(4000)
    order = np.argsort(-np.median(drawn, axis=0))
    assert [text.get_text() for text in ax.get_yticklabels()] == [COUNTS.base[i] for i in order]
    middle = next(line for line in ax.lines if line.get_marker() == "o")
    assert middle.get_xdata() == pytest.approx(np.median(drawn, axis=0)[order])
    ends = np.array([path.vertices[:, 0] for path in ax.collections[0].get_paths()]).T
    assert ends == pytest.approx(np.quantile(drawn, [0.1, 0.9], axis=0)[:, order])
    low, high = post.interval(0.8, parameter="mu")
    assert ax.patches[0].get_x() == pytest.approx(low)
    assert ax.patches[0].get_x() + ax.patches[0].get_width() == pytest.approx(high)


def test_levels_of_curves_are_those_of_the_most_probable_family(curves, ax):
    plots.levels(curves, ax)
    assert ax.get_title() == f"levels of the {max(curves.weights, key=curves.weights.get)} family"
    assert ax.get_yticklabels()[0].get_text() == "1"


def test_what_has_no_levels(ax):
    with pytest.raises(InputError, match="post must be of a family"):
        plots.levels(bdp.estimate(COUNTS, 1e-3), ax)


def test_a_fixed_strength_has_no_line_of_the_weakest(ax):
    plots.levels(bdp.estimate(COUNTS, family="pure", strength=0.5), ax)
    assert not any("median of s" in str(line.get_label()) for line in ax.lines)


def test_curves_are_drawn_with_their_stairs(curves, ax):
    plots.roc_plane(ax=ax, post=curves)
    stairs = [line for line in ax.lines if same_color(line.get_color(), "black") and line.get_linewidth() == 0.6]
    assert len(stairs) == 3
    x, y = stairs[1].get_data()
    assert (x[0], y[0], x[-1], y[-1]) == (1.0, 0.0, 0.0, 1.0)
    assert (np.diff(x) <= 0).all()
    assert (np.diff(y) >= 0).all()
    labels = curves.question.orders.labels[1]
    # The area above the stairs is the chance that a score with z is above one without.
    wins = np.mean([[a > b for b in np.flatnonzero(labels == 0)] for a in np.flatnonzero(labels == 1)])
    assert 1.0 - np.trapezoid(y[::-1], x[::-1]) == pytest.approx(wins, abs=1e-9)


def test_the_curve_of_an_average_has_its_band(curves, ax):
    plots.tradeoff(curves, ax, prob=0.8)
    low, high = curves.band([0.1, 0.5], 0.8)
    assert ax.get_legend().get_texts()[1].get_text() == "median, at each α"
    outline = ax.collections[0].get_paths()[0].vertices
    for alpha, ends in zip((0.1, 0.5), np.array([low, high]).T, strict=True):
        near = outline[np.abs(outline[:, 0] - alpha) < 2e-3, 1]
        assert (near.min(), near.max()) == pytest.approx(ends, abs=0.02)


def test_profiles_of_curves_tell_what_scores_resolve(curves, ax):
    plots.epsilon_delta({"curve": curves.epsilon_at(0.1)}, ax, deltas=[0.01, 0.1])
    assert "1/N₀: further left a family's word" in [text.get_text() for text in ax.get_legend().get_texts()]
    line = next(line for line in ax.lines if "1/N" in str(line.get_label()))
    assert line.get_xdata()[0] == pytest.approx(1 / 40)


def test_weights_of_curves_are_those_of_scores(curves, ax):
    plots.families(curves, ax)
    assert ax.get_title().startswith("the scores ")
    assert [patch.get_width() for patch in ax.patches] == pytest.approx(list(curves.weights.values()))
