"""Records at a glance: how much an attack got out of each, and which are taken to be above the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError
from bayes_dp.plots.style import (
    BLUE,
    ORANGE,
    axes_of,
    dressed,
    explained_below,
    ink,
    look_at,
    marked,
    named_places,
    next_place,
    paper,
    shortened,
    spread_out,
    title_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.bayes.levels.records import Records

__all__ = ["records"]

_KIND, _MARKS = "records", "medians"  # marks records, and their dots
_NAMED = 40  # records beyond which rows have no names
_ROW, _THIN = 0.15, 0.02  # inches of a row with a name, and of one without


def records(found: Records, ax: Axes | None = None, label: str | None = None, color: Any = None) -> Axes:
    """The median and the interval of ε of each record, the most exposed first; those chosen are filled.

    The line is the limit ε₀. Where the records differ by orders of magnitude the axis is logarithmic, and an interval
    that reaches further down than it does ends at its left side. On axes that have records already, the new ones stand
    below.

    >>> counts = bdp.ErrorCounts([5, 30, 8], 100, [20, 55, 90], 100, base=["Ann", "Bea", "Cay"])
    >>> ax = bdp.plots.records(bdp.records(bdp.estimate(counts, 1e-3, family="laplace"), epsilon=1.0))
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['Ann', 'Cay', 'Bea']
    """
    from bayes_dp.bayes.levels.records import Records

    if not isinstance(found, Records):
        raise InputError(f"found must be Records, as bayes_dp.records gives them, not {type(found).__name__}")
    rows = found.records
    named = len(rows) <= _NAMED
    ax = axes_of(ax, height=1.6 + (_ROW * len(rows) if named else min(_THIN * len(rows), 4.0)))
    look = look_at(ax, _KIND, "records", label, color)
    low, middle, high = np.array([(row.low, row.median, row.high) for row in rows]).T
    chosen = np.array([row.chosen for row in rows])
    before = [float(x) for line in marked(ax, _KIND) for x in line.get_xdata()]
    most = max(float(high.max()), ax.get_xlim()[1] / 1.3 if look.number else 0.0)
    end = ax.get_xlim()[0]
    left, right = spread_out(ax.xaxis, [*middle, found.epsilon, *before], most)
    for line in marked(ax, _MARKS):
        line.set_xdata([left if x <= end else x for x in line.get_xdata()])
    place, thick = next_place(look, ax.get_ylim()[0]) + np.arange(len(rows)), 1.3 if named else 0.5
    for which, own, words in ((chosen, ORANGE, f"chosen, q = {found.q:g}"), (~chosen, BLUE, "not chosen")):
        if which.any():
            colour = look.hue(own)
            ax.hlines(place[which], low[which], high[which], color=colour, linewidth=thick)
            ax.plot(
                np.maximum(middle[which], left),
                place[which],
                color=colour,
                marker="o",
                markersize=4 if named else 2,
                markerfacecolor=colour if which is chosen else paper(ax),
                markeredgewidth=1.0 if named else 0.4,
                linestyle="none",
                gid=_MARKS,
                label=look.words(f"{words}, {100 * found.prob:g}% interval"),
            )
    words, span = look.words(f"limit, {found.epsilon:g}"), [place[0] - 0.6, place[-1] + 0.6]
    ax.plot([found.epsilon] * 2, span, color=ink(ax), linewidth=1.0, linestyle=":", label=words)
    ax.plot(middle, place, linestyle="none", gid=_KIND)  # what the axis is chosen by, with more records
    if named:
        named_places(ax.yaxis, look, place, [shortened(row.base) for row in rows])
    elif not look.number:
        ax.set_yticks([])
    ax.set_xlim(left, right)
    ax.set_ylim(place[-1] + 0.6, -0.6)
    title = title_of(ax, look, f"δ = {found.delta:g}, {shortened(found.family)} family")
    dressed(ax, "ε of the record", "" if named else f"{len(rows)} records, the most exposed first", title)
    explained_below(ax)
    return ax
