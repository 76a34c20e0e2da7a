"""How much a mean leaks of each row: the advantages of all rows, and those of the rows most at risk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError, whole_number
from bayes_dp.plots.style import BLUE, GREY, ORANGE, axes_of, dressed, explained, look_of, shortened

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
    ax = axes_of(ax)
    mean = float(shares.mean())
    colour, words, more = look_of(ax, "leakage", "average", label, color)
    top = ax.get_ylim()[1] / 4 if more else 0.0
    heights = ax.hist(shares, bins=bins, color=colour, alpha=0.5 if more else 0.8)[0]
    line = colour if more or label or color is not None else ORANGE
    ax.axvline(mean, color=line, linewidth=1.2, linestyle="--", label=f"{words}, {mean:.3g}", gid="leakage")
    ax.set_yscale("log")
    ax.set_ylim(0.7, 4 * max(top, 1.05 * float(np.max(heights))))
    dressed(ax, "advantage of the best attack", "rows")
    explained(ax)
    return ax


def at_risk(table: LeakageTable, ax: Axes | None = None, count: int = 10) -> Axes:
    """The rows that leak most, `count` of the n: their advantages by name, the largest at the top.

    The dashed line is the average of all rows.

    >>> x = np.random.default_rng(0).normal(size=(500, 3))
    >>> x[7] += 10
    >>> ax = bdp.plots.at_risk(bdp.leakage.scores(x), count=3)
    >>> ax.get_yticklabels()[0].get_text()
    '7'
    """
    rows = _checked(table).largest(count)
    shares = table.advantage
    ax = axes_of(ax)
    places = np.arange(len(rows))
    ax.barh(places, shares[rows], color=BLUE, alpha=0.8)
    ax.axvline(float(shares.mean()), color=GREY, linewidth=1.2, linestyle="--")
    ax.set_yticks(places, [shortened(table.name(int(row))) for row in rows])
    ax.invert_yaxis()
    ax.set_xlim(0, 1.05 * float(shares[rows[0]]) or 1.0)
    dressed(ax, "advantage of the best attack", "row")
    return ax


def _checked(table: Any) -> LeakageTable:
    from bayes_dp.leakage.table import LeakageTable

    if not isinstance(table, LeakageTable):
        raise InputError(f"table must be a LeakageTable, as bayes_dp.leakage.scores gives, not {type(table).__name__}")
    return table
