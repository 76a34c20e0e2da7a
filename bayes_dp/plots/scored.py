"""The scores of members and non-members of one model: their ROC curve, and how they are distributed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.beta import clopper_pearson_lower, clopper_pearson_upper
from bayes_dp.checks import InputError, whole_number
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.plots.style import (
    BLUE,
    GREY,
    ORANGE,
    axes_of,
    dressed,
    explained,
    explained_below,
    held,
    look_at,
    look_of,
    veil,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["roc", "scores"]

_POINTS = 300  # of a curve that are drawn
_EDGE = 0.002  # the share of the scores beyond each end of the axis; they are drawn at the end


def roc(
    table: GuessTable,
    ax: Axes | None = None,
    confidence: float = 0.95,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The ROC curve with logarithmic axes: the share of the members that are found by that of non-members accused.

    The band has the exact intervals of the true positive rate at each threshold by itself, of this confidence, for
    thresholds that were fixed beforehand (Clopper and Pearson). The dotted line is guessing. With n0 non-members the
    curve begins at a false positive rate of 1/n0; what is found without any false accusation is the line to the left.

    >>> rng = np.random.default_rng(0)
    >>> member = rng.random(500) < 0.5
    >>> ax = bdp.plots.roc(bdp.GuessTable(member + rng.normal(size=500), member))
    >>> ax.get_xscale(), ax.get_ylabel()
    ('log', 'true positive rate')
    """
    curve = _checked(table).roc(confidence)
    ax = axes_of(ax, height=3.6)
    n0, n1 = curve.negatives, curve.positives
    steps = np.unique(np.rint(np.geomspace(1, n0, _POINTS)).astype(np.int64))
    point = np.searchsorted(curve.false_positives, np.append(0, steps), side="right") - 1
    found = curve.true_positives[point]
    tail = (1 - confidence) / 2
    low, high = clopper_pearson_lower(found, n1, tail), clopper_pearson_upper(found, n1, tail)
    x = np.append(0.5, steps) / n0  # a half in the place of no accusation, which has no logarithm
    colour, words, more = look_of(ax, "roc", "attack", label, color)
    share = "_" if more else f"{100 * confidence:g}% each"
    ax.fill_between(x, low, high, color=colour, alpha=veil(ax, 0.2), linewidth=0, step="post", label=share)
    ax.plot(x, found / n1, color=colour, drawstyle="steps-post", label=words, gid="roc")
    guessing = "_" if more else "guessing"
    ax.plot([x[0], 1], [x[0], 1], color=GREY, linewidth=1.0, linestyle=":", label=guessing)
    ax.set(xscale="log", yscale="log")
    held(ax, more, (x[0], 1), (min(0.5 / n1, x[0]), 1.2))
    dressed(ax, "false positive rate", "true positive rate")
    explained_below(ax)
    return ax


def scores(
    table: GuessTable, ax: Axes | None = None, bins: int = 40, label: str | None = None, color: Any = None
) -> Axes:
    """How the scores of members and of non-members are distributed: the share of either kind in each bin.

    The axis leaves out 0.2% of the scores on each side, infinite ones among them; they are in the outermost bins.
    Of a second table members are a full and non-members a broken line.

    >>> rng = np.random.default_rng(0)
    >>> member = rng.random(500) < 0.5
    >>> ax = bdp.plots.scores(bdp.GuessTable(member + rng.normal(size=500), member))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('score', 'share of examples')
    """
    _checked(table).roc()
    bins = whole_number("bins", bins, 2)
    ax = axes_of(ax)
    finite = table.score[np.isfinite(table.score)]
    low, high = np.quantile(finite, [_EDGE, 1 - _EDGE]) if finite.size else (-1.0, 1.0)
    if not low < high:
        low, high = low - 0.5, high + 0.5
    inside = np.clip(table.score, low, high)
    edges = np.linspace(low, high, bins + 1)
    look = look_at(ax, "scores", "scores", label, color)
    for who, own, words, gid in (
        (~table.member, ORANGE, "non-members", None),
        (table.member, BLUE, "members", "scores"),
    ):
        share, colour = np.histogram(inside[who], bins=edges)[0] / who.sum(), look.hue(own)
        style = "--" if gid is None else "-"
        ax.stairs(share, edges, color=colour, fill=True, alpha=veil(ax, 0.1 if look.number else 0.25))
        ax.stairs(share, edges, color=colour, linestyle=style, label=look.words(f"{words}, {who.sum()}"), gid=gid)
    start, end = ax.get_xlim() if look.number else (low, high)
    ax.set_xlim(min(low, start), max(high, end))
    ax.set_ylim(bottom=0)
    dressed(ax, "score", "share of examples")
    explained(ax, above=True)
    return ax


def _checked(table: GuessTable) -> GuessTable:
    if not isinstance(table, GuessTable):
        raise InputError(f"table must be a GuessTable, not {type(table).__name__}")
    return table
