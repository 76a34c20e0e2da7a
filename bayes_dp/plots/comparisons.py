"""A comparison at a glance: every method's statement on one axis of ε."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bayes_dp.checks import InputError, one_number
from bayes_dp.comparison.table import Comparison, ComparisonRow
from bayes_dp.plots.style import BLUE, GREEN, GREY, ORANGE, axes_of, dressed, explained_below, ink, paper

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["forest"]

_KINDS = {  # kind -> colour, marker, words of the legend
    "posterior": (BLUE, "o", "posterior, {:g}% interval"),
    "lower_bound": (ORANGE, ">", "lower bound, {:g}%"),
    "estimate": (GREEN, "D", "estimate, bounds nothing"),
}
_HOLLOW = "not valid"


def forest(comparison: Comparison, ax: Axes | None = None, truth: float | None = None) -> Axes:
    """The rows of a comparison from top to bottom; those that do not apply are left out.

    A posterior is its median and its interval, a lower bound a triangle with a line to the right, an estimate a
    diamond. Of guesses on one model there is e, what the attack got out, beside ε. What is not valid is hollow and
    grey, with a broken line. `truth` is a line, and so is the claim of the comparison.

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
    numbers = [n for row in rows for n in (row.value, row.lower, row.upper) if n is not None]
    claim = None if comparison.claim is None else comparison.claim.epsilon
    end = 1.08 * max([*numbers, truth or 0.0, claim or 0.0, 0.5])
    for place, row in enumerate(rows):
        _draw(ax, row, place, end)
    for kind in dict.fromkeys(row.kind for row in rows):
        colour, marker, words = _KINDS[kind]
        level = next(row.level for row in rows if row.kind == kind)
        _legend_only(ax, colour, marker, colour, words.format(100 * (level or 0.0)))
    if not all(row.valid for row in rows):
        _legend_only(ax, GREY, "o", paper(ax), _HOLLOW)
    if truth is not None:
        ax.axvline(truth, color=ink(ax), linewidth=1.0, linestyle=":", label=f"truth, {truth:.3g}")
    if claim is not None:
        ax.axvline(claim, color=GREY, linewidth=1.2, linestyle="--", label=f"claim, {claim:.3g}")
    ax.set_yticks(range(len(rows)), [_name(row) for row in rows])
    for text, row in zip(ax.get_yticklabels(), rows, strict=True):
        text.set_color(ink(ax) if row.valid else GREY)
    ax.set_xlim(0, end)
    ax.set_ylim(len(rows) - 0.4, -0.6)
    dressed(ax, "ε", "", f'δ = {comparison.delta:g}, design "{comparison.design}"')
    explained_below(ax)
    return ax


def _draw(ax: Axes, row: ComparisonRow, place: int, end: float) -> None:
    colour, marker, _ = _KINDS[row.kind]
    low = end if row.lower is None else row.lower  # infinite: beyond the end of the axis
    centre = row.value if row.kind != "lower_bound" else low
    if row.kind != "estimate":
        high = end if row.upper is None or row.kind == "lower_bound" else row.upper
        ax.plot([low, high], [place, place], color=colour, linewidth=1.4, linestyle="-" if row.valid else (0, (2, 2)))
    face = colour if row.valid else paper(ax)
    style = {"color": colour, "marker": marker, "markersize": 5, "markerfacecolor": face, "linestyle": "none"}
    ax.plot([end if centre is None else centre], [place], clip_on=False, zorder=3, **style)  # type: ignore[arg-type]


def _legend_only(ax: Axes, colour: str, marker: str, face: str, words: str) -> None:
    ax.plot([], [], color=colour, marker=marker, markersize=5, markerfacecolor=face, linestyle="none", label=words)


def _name(row: ComparisonRow) -> str:
    base = "" if row.base == "all" else f" [{row.base}]"
    return f"{row.method}{base}{', e' if row.parameter == 'e' else ''}"
