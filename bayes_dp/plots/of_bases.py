"""Several bases: what each of them shows by itself, and the bound from all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.audits.combine import joint_exact
from bayes_dp.checks import InputError
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.plots.style import (
    BLUE,
    ORANGE,
    axes_of,
    check_shared,
    dressed,
    explained_above,
    look_at,
    named_places,
    next_place,
    shortened,
)
from bayes_dp.results.bound import LowerBound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bases"]

_NAMED = 12  # bases, beyond which there are no names


def bases(
    counts: ErrorCounts, bound: LowerBound, ax: Axes | None = None, label: str | None = None, color: Any = None
) -> Axes:
    """The bound of `audits.joint_exact` of each base, from the largest to the smallest, and the one of all as a line.

    That of a base holds by itself with the confidence of `bound`, at the same δ; the largest of n does not. On axes
    that have bases at this δ already, the new ones stand to the right.

    >>> counts = bdp.ErrorCounts([2, 9, 30], [100] * 3, [40, 55, 50], [100] * 3)
    >>> ax = bdp.plots.bases(counts, bdp.audits.combine(counts, 1e-3))
    >>> ax.lines[0].get_ydata()
    array([2.2 , 1.  , 0.17])
    """
    if not isinstance(counts, ErrorCounts):
        raise InputError(f"counts must be ErrorCounts, not {type(counts).__name__}")
    if not isinstance(bound, LowerBound) or bound.parameter != "epsilon" or "delta" not in bound.provenance.known:
        raise InputError(f"bound must be a lower bound on epsilon at a known delta, not {type(bound).__name__}")
    delta = bound.provenance.known["delta"]
    each = [joint_exact(counts[i], delta, confidence=bound.confidence).value for i in range(len(counts))]
    order = np.argsort(each)[::-1]
    ax = axes_of(ax)
    look = look_at(ax, "bases", "counts", label, color)
    check_shared(ax, look, y=f"ε at least, δ = {delta:g}")
    place = next_place(look, ax.get_xlim()[1] - 0.1) + np.arange(len(each))
    share = f"{100 * bound.confidence:g}%"
    words = look.words(f"one base by itself, {share}")
    ax.plot(place, np.array(each)[order], "o", color=look.hue(BLUE), markersize=4, label=words, gid="bases")
    words, ends = look.words(f"all bases, {share} ({bound.provenance.method})"), [place[0] - 0.5, place[-1] + 0.5]
    ax.plot(ends, [bound.value] * 2, color=look.hue(ORANGE), linewidth=1.6, label=words)
    before = ax.get_ylim()[1] if look.number else 0.0
    ax.set_ylim(0, max(1.1 * max(*each, bound.value), before) or 1.0)
    ax.set_xlim(-0.5, place[-1] + 0.5)
    named = counts.base is not None and len(each) <= _NAMED
    if named:
        named_places(ax.xaxis, look, place, [shortened(counts.base[i]) for i in order])  # type: ignore[index]
        ax.tick_params("x", labelrotation=90)
    elif not look.number:
        ax.set_xticks([])
    dressed(ax, "" if named else "bases", f"ε at least, δ = {delta:g}")
    explained_above(ax)
    return ax
