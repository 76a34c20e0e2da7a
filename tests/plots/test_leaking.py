"""Leakage of the rows of a data set: bars and names are those of the table."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from bayes_dp import leakage, plots
from bayes_dp.checks import InputError

X = np.random.default_rng(0).normal(size=(60, 2))
X[7] += 9
TABLE = leakage.scores(X, labels=[f"row {i}" for i in range(60)])


def test_every_row_is_in_a_bar():
    ax = plots.leakage(TABLE, bins=7)
    assert sum(bar.get_height() for bar in ax.patches) == 60
    assert ax.lines[0].get_xdata()[0] == pytest.approx(TABLE.advantage.mean())
    plt.close(ax.figure)


def test_those_at_risk_by_name():
    ax = plots.at_risk(TABLE, count=4)
    rows = TABLE.largest(4)
    assert rows[0] == 7
    assert [bar.get_width() for bar in ax.patches] == list(TABLE.advantage[rows])
    assert [name.get_text() for name in ax.get_yticklabels()] == [f"row {row}" for row in rows]
    plt.close(ax.figure)
    same = plots.at_risk(leakage.scores(np.ones((4, 2))))  # nothing leaks
    assert same.get_xlim() == (0.0, 1.0)
    plt.close(same.figure)


@pytest.mark.parametrize("figure", [plots.leakage, plots.at_risk])
def test_only_tables(figure):
    with pytest.raises(
        InputError, match=r"table must be a LeakageTable, as bayes_dp.leakage.scores gives, not ndarray"
    ):
        figure(X)
