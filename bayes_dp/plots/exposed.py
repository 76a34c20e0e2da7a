"""Records at a glance: how much an attack got out of each, and which are taken to be above the limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_dp.checks import InputError
from bayes_dp.plots.style import BLUE, ORANGE, axes_of, dressed, explained_below, ink, paper, shortened, spread_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.bayes.levels.records import Records

__all__ = ["records"]

_NAMED = 40  # records beyond which rows have no names
_ROW, _THIN = 0.15, 0.02  # inches of a row with a name, and of one without


def records(found: Records, ax: Axes | None = None) -> Axes:
    """The median and the interval of ε of each record, the most exposed first; those chosen are filled.

    The line is the limit ε₀. Where the records differ by orders of magnitude the axis is logarithmic, and an interval
    that reaches further down than it does ends at its left side.

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
    low, middle, high = np.array([(row.low, row.median, row.high) for row in rows]).T
    chosen = np.array([row.chosen for row in rows])
    left, right = spread_out(ax.xaxis, np.append(middle, found.epsilon), float(high.max()))
    place, thick = np.arange(len(rows)), 1.3 if named else 0.5
    for which, colour, words in ((chosen, ORANGE, f"chosen, q = {found.q:g}"), (~chosen, BLUE, "not chosen")):
        if which.any():
            ends = (np.maximum(end[which], left) for end in (low, high))
            ax.hlines(place[which], *ends, color=colour, linewidth=thick)
            ax.plot(
                np.maximum(middle[which], left),
                place[which],
                color=colour,
                marker="o",
                markersize=4 if named else 2,
                markerfacecolor=colour if which is chosen else paper(ax),
                markeredgewidth=1.0 if named else 0.4,
                linestyle="none",
                label=f"{words}, {100 * found.prob:g}% interval",
            )
    ax.axvline(found.epsilon, color=ink(ax), linewidth=1.0, linestyle=":", label=f"limit, {found.epsilon:g}")
    ax.set_yticks(place if named else [], [shortened(row.base) for row in rows] if named else [])
    ax.set_xlim(left, right)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    title = f"δ = {found.delta:g}, {shortened(found.family)} family"
    dressed(ax, "ε of the record", "" if named else f"{len(rows)} records, the most exposed first", title)
    explained_below(ax)
    return ax
