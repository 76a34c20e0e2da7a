"""The forest of records has a row for each, the most exposed first, and fills those that are chosen."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import same_color, to_hex

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.bayes.levels.records import Record, Records
from bayes_dp.plots.style import BLUE, ORANGE
from bayes_dp.results.posterior import Provenance

ABOUT = Provenance("exact", "", {"delta": 1e-3}, {}, {})


def table(medians, chosen, names=None):
    names = names or [f"r{i}" for i in range(len(medians))]
    rows = tuple(
        Record(name, m, 0.5 * m, 2 * m, 0.9 if c else 0.1, 0.5, c)
        for name, m, c in zip(names, medians, chosen, strict=True)
    )
    return Records(rows, 1.5, 1e-3, 0.2, 0.8, "gaussian", (), (), ABOUT)


def test_the_rows(ax):
    found = table([3.0, 2.0, 1.0], [True, True, False])
    assert plots.records(found, ax) is ax
    assert [text.get_text() for text in ax.get_yticklabels()] == ["r0", "r1", "r2"]
    filled, hollow = (line for line in ax.get_lines() if line.get_marker() == "o")
    assert list(filled.get_xdata()) == [3.0, 2.0]
    assert list(hollow.get_xdata()) == [1.0]
    assert filled.get_markerfacecolor() == ORANGE
    assert same_color(hollow.get_markerfacecolor(), "white")
    ends = {to_hex(part.get_color()[0]): np.array(part.get_segments())[:, :, 0].tolist() for part in ax.collections}
    assert ends == {ORANGE: [[1.5, 6.0], [1.0, 4.0]], BLUE: [[0.5, 2.0]]}
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # from top to bottom
    assert ax.get_xscale() == "linear"
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["chosen, q = 0.2, 80% interval", "not chosen, 80% interval", "limit, 1.5"]


def test_records_that_differ_by_orders_of_magnitude_are_in_logarithms(ax):
    plots.records(table([100.0, 1.0, 0.01, 0.0], [True, False, False, False]), ax)
    assert ax.get_xscale() == "log"
    left, right = ax.get_xlim()
    assert left <= 0.01
    assert right > 200
    ends = np.concatenate([np.array(part.get_segments())[:, :, 0] for part in ax.collections])
    assert sorted(ends[:, 0]) == [0.0, 0.005, 0.5, 50.0]  # what is further left goes to the end of the axis, and beyond
    dots = [x for line in ax.get_lines() if line.get_marker() == "o" for x in line.get_xdata()]
    assert sorted(dots) == [left, 0.01, 1.0, 100.0]
    ax.figure.draw_without_rendering()
    plots.records(table([0.004, 0.003], [False, False]), ax)
    further = ax.get_xlim()[0]
    assert further < 0.003
    dots = [x for line in ax.get_lines() if line.get_marker() == "o" for x in line.get_xdata()]
    assert sorted(dots) == [further, 0.003, 0.004, 0.01, 1.0, 100.0]  # the one at 0 still at the end


@pytest.mark.parametrize("chosen", [True, False])
def test_one_record_with_a_long_name(ax, chosen):
    plots.records(table([1.0], [chosen], ["the record of a person with a very long name"]), ax)
    (name,) = (text.get_text() for text in ax.get_yticklabels())
    assert name == "the record of a p…"
    assert len(ax.get_legend().get_texts()) == 2


def test_many_records_fit_on_a_page_without_names():
    found = plots.records(table(np.linspace(3, 0.1, 500), [True] * 20 + [False] * 480))
    height = found.figure.get_size_inches()[1]
    assert len(found.get_yticks()) == 0
    assert found.get_ylabel() == "500 records, the most exposed first"
    plt.close(found.figure)
    assert height < 6


def test_what_was_read_from_a_file_is_drawn(ax):
    found = bdp.records(bdp.estimate(bdp.ErrorCounts([5, 30], 100, [20, 55], 100), 1e-3, family="pure"), 1.0)
    plots.records(bdp.Records.from_dict(found.to_dict()), ax)
    assert len(ax.get_yticklabels()) == 2


def test_bad_input(ax):
    with pytest.raises(bdp.InputError, match=r"found must be Records, as bayes_dp.records gives them, not list"):
        plots.records([], ax)
    plots.records(replace(table([1.0], [True]), family="a family with a long name of its own"), ax)
    assert ax.get_title() == "δ = 0.001, a family with a l… family"
