"""A comparison at a glance: every method's statement on one axis of ε."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError, one_number
from bayes_dp.comparison.table import Comparison, ComparisonRow
from bayes_dp.plots.style import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    Look,
    axes_of,
    dressed,
    explained_below,
    ink,
    look_at,
    named_places,
    next_place,
    paper,
    title_of,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["forest"]

_KINDS = {  # kind -> colour, marker, words of the legend
    "posterior": (BLUE, "o", "posterior, {:g}% interval"),
    "lower_bound": (ORANGE, ">", "lower bound, {:g}%"),
    "estimate": (GREEN, "D", "estimate, bounds nothing"),
}
_HOLLOW = "not valid"
_KIND, _OPEN = "comparison", "beyond-the-axis"  # marks a comparison, and what goes on to the end of the axis


def forest(
    comparison: Comparison,
    ax: Axes | None = None,
    truth: float | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The rows of a comparison from top to bottom; those that do not apply are left out.

    A posterior is its median and its interval, a lower bound a triangle with a line to the right, an estimate a
    diamond. Of guesses on one model there is e, what the attack got out, beside ε. What is not valid is hollow and
    grey, with a broken line. `truth` is a line, and so is the claim of the comparison. On axes that have a comparison
    already, the rows of the new one stand below in one colour.

    >>> table = bdp.compare(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, names=["clopper-pearson", "katz"])
    >>> ax = bdp.plots.forest(table)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['clopper-pearson', 'katz']
    """
    if not isinstance(comparison, Comparison):
        raise InputError(
            f"comparison must be a Comparison, as bayes_dp.compare gives it, not {type(comparison).__name__}"
        )
    rows = [row for row in comparison.rows if row.kind != "refused" and row.parameter in ("epsilon", "e")]
    if not rows:
        raise InputError("the comparison has no row that applies, so there is nothing to draw")
    if truth is not None:
        truth = one_number("truth", truth, 0.0, high_open=True)
    ax = axes_of(ax, height=1.5 + 0.17 * len(rows))
    look = look_at(ax, _KIND, "comparison", label, color)
    numbers = [n for row in rows for n in (row.value, row.lower, row.upper) if n is not None]
    claim = None if comparison.claim is None else comparison.claim.epsilon
    end = 1.08 * max([*numbers, truth or 0.0, claim or 0.0, 0.5])
    if look.number:
        end = _extended(ax, end)
    first = next_place(look, ax.get_ylim()[0])
    for place, row in enumerate(rows, first):
        _draw(ax, row, place, end, look)
    for kind in dict.fromkeys(row.kind for row in rows):
        own, marker, words = _KINDS[kind]
        level = next(row.level for row in rows if row.kind == kind)
        _legend_only(ax, look.hue(own), marker, look.hue(own), look.words(words.format(100 * (level or 0.0))))
    ax.get_lines()[-1].set_gid(_KIND)
    if not all(row.valid for row in rows) and _HOLLOW not in ax.get_legend_handles_labels()[1]:
        _legend_only(ax, GREY, "o", paper(ax), _HOLLOW)
    below = first + len(rows) - 0.4
    if truth is not None:
        words = look.words(f"truth, {truth:.3g}")
        ax.plot([truth] * 2, [first - 0.6, below], color=ink(ax), linewidth=1.0, linestyle=":", label=words)
    if claim is not None:
        words = look.words(f"claim, {claim:.3g}")
        ax.plot([claim] * 2, [first - 0.6, below], color=GREY, linewidth=1.2, linestyle="--", label=words)
    named_places(ax.yaxis, look, range(first, first + len(rows)), [_name(row) for row in rows])
    for text, row in zip(ax.get_yticklabels()[-len(rows) :], rows, strict=True):
        text.set_color(ink(ax) if row.valid else GREY)
    ax.set_xlim(0, end)
    ax.set_ylim(below, -0.6)
    dressed(ax, "ε", "", title_of(ax, look, f'δ = {comparison.delta:g}, design "{comparison.design}"'))
    explained_below(ax)
    return ax


def _extended(ax: Axes, end: float) -> float:
    """The end of the axis for what is there as well, of which that goes on to it which has no end of its own."""
    before = ax.get_xlim()[1]
    for line in [line for line in ax.get_lines() if str(line.get_gid()).startswith(_OPEN)]:
        x = np.asarray(line.get_xdata())
        line.set_xdata(np.where(x == before, max(before, end), x))
    return max(before, end)


def _draw(ax: Axes, row: ComparisonRow, place: int, end: float, look: Look) -> None:
    own, marker, _ = _KINDS[row.kind]
    colour = look.hue(own)
    low = end if row.lower is None else row.lower  # infinite: beyond the end of the axis
    centre = row.value if row.kind != "lower_bound" else low
    if row.kind != "estimate":
        high = end if row.upper is None or row.kind == "lower_bound" else row.upper
        dashes = "-" if row.valid else (0, (2, 2))
        ax.plot([low, high], [place, place], color=colour, linewidth=1.4, linestyle=dashes, gid=f"{_OPEN}-{place}")
    face = colour if row.valid else paper(ax)
    style = {"color": colour, "marker": marker, "markersize": 5, "markerfacecolor": face, "linestyle": "none"}
    ax.plot([end if centre is None else centre], [place], clip_on=False, zorder=3, gid=f"{_OPEN}-{place}-mark", **style)


def _legend_only(ax: Axes, colour: Any, marker: str, face: str, words: str) -> None:
    ax.plot([], [], color=colour, marker=marker, markersize=5, markerfacecolor=face, linestyle="none", label=words)


def _name(row: ComparisonRow) -> str:
    base = "" if row.base == "all" else f" [{row.base}]"
    return f"{row.method}{base}{', e' if row.parameter == 'e' else ''}"
