"""The histogram of ranks, its band and its test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayes_dp import plots
from bayes_dp.checks import InputError

RANKS = np.random.default_rng(0).random(500)


def heights(ax):
    return [bar.get_height() for bar in ax.containers[0]]


def test_the_bars_and_the_test(ax):
    assert plots.sbc_ranks(RANKS, ax, bins=10) is ax
    counts = np.histogram(RANKS, 10, (0, 1))[0]
    assert heights(ax) == list(counts)
    assert ax.get_lines()[0].get_ydata()[0] == 50
    assert ax.get_title() == f"500 data sets, χ² test p = {stats.chisquare(counts).pvalue:.2g}"
    assert ax.get_xlim() == (0, 1)
    assert ax.get_ylim()[1] > counts.max()


def test_the_band_holds_bars_of_uniform_ranks(ax):
    plots.sbc_ranks(RANKS, ax, bins=10, prob=0.9)
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    low, high = round(band.y0), round(band.y1)
    assert (band.y0, band.y1) == pytest.approx((low, high))
    law = stats.binom(500, 0.1)
    assert law.cdf(low - 1) < 0.05 <= law.cdf(low)
    assert law.cdf(high - 1) < 0.95 <= law.cdf(high)
    bars = np.random.default_rng(1).binomial(500, 0.1, 20_000)
    assert 0.9 <= np.mean((low <= bars) & (bars <= high)) < 0.94
    assert ax.get_legend().get_texts()[0].get_text() == "90% of bars, if right"


def test_wrong_ranks_stick_out(ax):
    plots.sbc_ranks(RANKS**2, ax, bins=10)
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert heights(ax)[0] > band.y1
    assert heights(ax)[-1] < band.y0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.1, 1.2],), r"ranks\[1\] must lie in \[0, 1\], not 1.2"),
        (([],), "ranks must be"),
        (([[0.1, 0.2]],), r"ranks must be of the shape \(data sets,\), not \(1, 2\)"),
        ((RANKS, None, 1), "bins must be a whole number, at least 2, not 1"),
        ((RANKS, None, 20, 1.0), "prob must lie in"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(InputError, match=message):
        plots.sbc_ranks(*arguments)
