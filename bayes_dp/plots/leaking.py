"""How much a mean leaks of each row: the advantages of all rows, and those of the rows most at risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError, whole_number
from bayes_dp.plots.style import (
    BLUE,
    ORANGE,
    axes_of,
    dressed,
    explained_below,
    look_at,
    look_of,
    named_places,
    next_place,
    shortened,
)
from bayes_dp.support.text import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.leakage.table import LeakageTable

__all__ = ["at_risk", "leakage"]


def leakage(
    table: LeakageTable,
    ax: Axes | None = None,
    bins: int = 30,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The advantage of the best attack on each row, (n,): how many rows have which, in logarithms, and the average.

    >>> ax = bdp.plots.leakage(bdp.leakage.scores(np.random.default_rng(0).normal(size=(500, 3))))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('advantage of the best attack', 'rows')
    """
    shares = _checked(table).advantage
    whole_number("bins", bins, 2)
    ax = axes_of(ax, height=2.8)
    mean = float(shares.mean())
    colour, words, more = look_of(ax, "leakage", "average", label, color)
    ax.hist(shares, bins=bins, color=colour, alpha=0.5 if more else 0.8)
    line = colour if more or label or color is not None else ORANGE
    ax.axvline(mean, color=line, linewidth=1.2, linestyle="--", label=f"{words}, {mean:.3g}", gid="leakage")
    ax.set_yscale("log")
    ax.set_ylim(0.7, 1.3 * float(ax.dataLim.y1))
    dressed(ax, "advantage of the best attack", "rows")
    explained_below(ax)
    return ax


def at_risk(
    table: LeakageTable, ax: Axes | None = None, count: int = 10, label: str | None = None, color: Any = None
) -> Axes:
    """The rows that leak most, `count` of the n: their advantages by name, the largest at the top.

    The dashed line is the average of all rows. On axes that have rows already, the new ones stand below.

    >>> x = np.random.default_rng(0).normal(size=(500, 3))
    >>> x[7] += 10
    >>> ax = bdp.plots.at_risk(bdp.leakage.scores(x), count=3)
    >>> ax.get_yticklabels()[0].get_text()
    '7'
    """
    rows = _checked(table).largest(count)
    shares = table.advantage
    ax = axes_of(ax)
    look = look_at(ax, "at risk", "rows", label, color)
    places = next_place(look, ax.get_ylim()[0]) + np.arange(len(rows))
    words = look.name or "_"
    ax.barh(places, shares[rows], color=look.hue(BLUE), alpha=0.8, label=words)
    mean, ends = float(shares.mean()), [places[0] - 0.6, places[-1] + 0.6]
    average = look.words(f"average of all, {digits(mean)}")
    ax.plot([mean, mean], ends, color=look.hue(ORANGE), linewidth=1.2, linestyle="--", label=average, gid="at risk")
    named_places(ax.yaxis, look, places, [shortened(table.name(int(row))) for row in rows])
    ax.set_ylim(places[-1] + 0.6, -0.6)
    ax.set_xlim(0, max(1.05 * float(shares[rows[0]]), ax.get_xlim()[1] if look.number else 0.0) or 1.0)
    dressed(ax, "advantage of the best attack", "row")
    explained_below(ax)
    return ax


def _checked(table: Any) -> LeakageTable:
    from bayes_dp.leakage.table import LeakageTable

    if not isinstance(table, LeakageTable):
        raise InputError(f"table must be a LeakageTable, as bayes_dp.leakage.scores gives, not {type(table).__name__}")
    return table
