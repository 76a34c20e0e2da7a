"""The forest has a row for each statement of the comparison, at its numbers, and tells the kinds apart."""

from __future__ import annotations

from dataclasses import replace

import matplotlib.pyplot as plt
import pytest
from matplotlib.colors import same_color

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.checks import InputError
from bayes_dp.comparison.table import Comparison, ComparisonRow


def row(method, kind, value, lower=None, upper=None, level=None, valid=True, base="all", parameter="epsilon"):
    return ComparisonRow(method, base, kind, parameter, value, lower, upper, level, valid, "" if valid else "Why.", ())


ROWS = (
    row("posterior", "posterior", 1.5, 1.2, 2.5, 0.9),
    row("one-run", "lower_bound", 0.8, 0.8, None, 0.95),
    row("two-sided", "lower_bound", 0.6, 0.6, 3.5, 0.95, valid=False, base="image 4"),
    row("nothing", "refused", None, valid=False),
    row("panoramia", "estimate", 1.9, valid=False),
    row("mu", "lower_bound", 0.3, 0.3, None, 0.95, parameter="mu"),
    row("endless", "lower_bound", None, None, None, 0.95),
)
COMPARISON = Comparison(ROWS, 1e-3, 0.95, "repeated", "digest")
SHOWN = [ROWS[k] for k in (0, 1, 2, 4, 6)]


def drawn(ax):
    """The lines and the markers of each row, by its place."""
    found = {}
    for line in ax.get_lines():
        x, y = line.get_data()
        if len(x):
            found.setdefault(int(y[0]), {})["line" if len(x) == 2 else "marker"] = line
    return [found[k] for k in sorted(found)]


def test_the_rows(ax):
    assert plots.forest(COMPARISON, ax) is ax
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["posterior", "one-run", "two-sided [image 4]", "panoramia", "endless"]
    end = ax.get_xlim()[1]
    rows = drawn(ax)
    assert list(rows[0]["line"].get_xdata()) == [1.2, 2.5]
    assert list(rows[0]["marker"].get_xdata()) == [1.5]
    assert list(rows[1]["line"].get_xdata()) == [0.8, end]
    assert list(rows[1]["marker"].get_xdata()) == [0.8]
    assert list(rows[2]["line"].get_xdata()) == [0.6, end]
    assert "line" not in rows[3]
    assert list(rows[4]["marker"].get_xdata()) == [end]
    assert end > 3.5
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # from top to bottom
    assert ax.get_xlabel() == "ε"


def test_kinds_differ_in_shape_and_colour(ax):
    plots.forest(COMPARISON, ax)
    looks = {r.kind: (d["marker"].get_marker(), d["marker"].get_color()) for r, d in zip(SHOWN, drawn(ax), strict=True)}
    markers, colours = zip(*looks.values(), strict=True)
    assert len(looks) == len(set(markers)) == len(set(colours)) == 3
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words == ["posterior, 90% interval", "lower bound, 95%", "estimate, bounds nothing", "not valid"]


def test_what_is_not_valid_is_hollow_broken_and_grey(ax):
    plots.forest(COMPARISON, ax)
    for r, parts, name in zip(SHOWN, drawn(ax), ax.get_yticklabels(), strict=True):
        assert same_color(parts["marker"].get_markerfacecolor(), "white") == (not r.valid)
        assert same_color(name.get_color(), "black") == r.valid
        if "line" in parts:
            assert (parts["line"].get_linestyle() == "-") == r.valid


def test_the_truth(ax):
    plots.forest(COMPARISON, ax, truth=5.0)
    (line,) = (line for line in ax.get_lines() if line.get_label() == "truth, 5")
    assert list(line.get_xdata()) == [5.0, 5.0]
    assert ax.get_xlim()[1] > 5


def test_a_real_comparison(ax):
    comparison = bdp.compare(bdp.ErrorCounts([5, 9], 50, [20, 11], 50), 1e-3, per_base=True)
    plots.forest(comparison, ax)
    applies = [r for r in comparison.rows if r.kind != "refused"]
    assert len(ax.get_yticklabels()) == len(applies)
    for r, parts in zip(applies, drawn(ax), strict=True):
        assert parts["marker"].get_xdata()[0] == (r.value if r.kind == "posterior" else r.lower)


def test_a_comparison_of_many_bases_fits_on_a_page():
    """Rows of single bases are for those who ask for them."""
    many = bdp.compare(
        bdp.ErrorCounts([5] * 20, 50, [20] * 20, 50), 1e-3, names=["clopper-pearson", "katz", "accuracy"]
    )
    assert [row.base for row in many.rows] == ["all"] * 3
    figure = plots.forest(many).figure
    height = figure.get_size_inches()[1]
    plt.close(figure)
    assert height < 3


def test_bad_input(ax):
    with pytest.raises(InputError, match=r"comparison must be a Comparison, as bayes_dp.compare gives it, not list"):
        plots.forest([], ax)
    with pytest.raises(InputError, match="nothing to draw"):
        plots.forest(replace(COMPARISON, rows=(ROWS[3],)), ax)
    with pytest.raises(InputError, match="truth must lie in"):
        plots.forest(COMPARISON, ax, truth=-1.0)


def test_a_claim_is_a_line():
    counts = bdp.ErrorCounts(10, 100, 20, 100)
    table = bdp.compare(counts, 1e-3, names=["katz"], claim=bdp.Claim(20.0, 1e-3))
    ax = plots.forest(table)
    (line,) = [line for line in ax.get_lines() if str(line.get_label()).startswith("claim")]
    assert line.get_label() == "claim, 20"
    assert list(line.get_xdata()) == [20.0, 20.0]
    assert ax.get_xlim()[1] > 20  # within the picture
    none = bdp.compare(counts, 1e-5, names=["katz"], claim=bdp.Claim(20.0, 1e-3))  # which allows every ε there
    assert not [line for line in plots.forest(none).get_lines() if str(line.get_label()).startswith("claim")]
    plt.close("all")
