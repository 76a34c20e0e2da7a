"""The ROC curve and the distribution of scores: what is drawn are the rates and shares of the table."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import plots

RNG = np.random.default_rng(0)
MEMBER = RNG.random(2000) < 0.4
TABLE = bdp.GuessTable(np.round(RNG.normal(size=2000) + MEMBER, 2), MEMBER)


@pytest.fixture
def ax():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_the_points_of_the_curve_are_those_of_the_table(ax):
    assert plots.roc(TABLE, ax, confidence=0.9) is ax
    line = ax.get_lines()[0]
    n0 = int((~MEMBER).sum())
    for x, y in zip(*line.get_data(), strict=True):
        assert y == TABLE.tpr_at(0.0 if x < 1 / n0 else x).value
    assert (line.get_xdata()[-1], line.get_ydata()[-1]) == (1.0, 1.0)
    band = ax.collections[0].get_paths()[0].vertices
    at = TABLE.tpr_at(0.01, confidence=0.9)
    here = band[np.isclose(band[:, 0], np.floor(0.01 * n0) / n0), 1]
    assert at.low == pytest.approx(here[np.argmin(abs(here - at.low))])
    assert at.high == pytest.approx(here[np.argmin(abs(here - at.high))])
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_many_examples_are_drawn_by_few_points(ax):
    member = np.arange(200_000) % 2 == 0
    plots.roc(bdp.GuessTable(np.random.default_rng(1).normal(size=200_000), member), ax)
    assert len(ax.get_lines()[0].get_xdata()) <= 301


def test_the_shares_of_the_bins_add_up_to_all_examples(ax):
    score = np.where(np.arange(2000) == 5, np.inf, TABLE.score)
    plots.scores(bdp.GuessTable(score, MEMBER), ax, bins=20)
    shares = [patch.get_data().values for patch in ax.patches]
    assert [values.sum() for values in shares] == pytest.approx([1.0] * 4)
    edges = ax.patches[0].get_data().edges
    middle = (TABLE.score >= edges[8]) & (TABLE.score < edges[9]) & MEMBER
    assert shares[2][8] == pytest.approx(middle.sum() / MEMBER.sum(), abs=2e-3)


@pytest.mark.parametrize(
    ("score", "found"),
    [(np.zeros(4), [0, 0, 1]), (np.array([np.inf, -np.inf, np.inf, -np.inf]), [0, 0.5, 1])],
)
def test_scores_without_a_range(ax, score, found):
    table = bdp.GuessTable(score, [True, True, False, False])
    plots.scores(table, ax)
    assert [patch.get_data().values.sum() for patch in ax.patches] == pytest.approx([1.0] * 4)
    ax.clear()
    plots.roc(table, ax)
    assert ax.get_lines()[0].get_xydata().tolist() == [[0.25, found[0]], [0.5, found[1]], [1, found[2]]]
