"""Several bases: what each of them shows by itself, and the bound from all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_dp.audits.combine import joint_exact
from bayes_dp.checks import InputError
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.plots.style import BLUE, ORANGE, axes_of, dressed, shortened
from bayes_dp.results.bound import LowerBound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["bases"]


def bases(counts: ErrorCounts, bound: LowerBound, ax: Axes | None = None) -> Axes:
    """The bound of `audits.joint_exact` of each base, from the largest to the smallest, and the one of all as a line.

    That of a base holds by itself with the confidence of `bound`, at the same δ; the largest of n does not.

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
    ax, place = axes_of(ax), np.arange(len(each))
    share = f"{100 * bound.confidence:g}%"
    ax.plot(place, np.array(each)[order], "o", color=BLUE, markersize=4, label=f"one base by itself, {share}")
    ax.axhline(bound.value, color=ORANGE, linewidth=1.6, label=f"all bases, {share} ({bound.provenance.method})")
    ax.set_ylim(0, 1.1 * max(*each, bound.value) or 1.0)
    ax.set_xlim(-0.5, len(each) - 0.5)
    if counts.base is not None and len(each) <= 12:
        ax.set_xticks(place, [shortened(counts.base[i]) for i in order], rotation=90)
    else:
        ax.set_xticks([])
    dressed(ax, "bases" if counts.base is None or len(each) > 12 else "", f"ε at least, δ = {delta:g}")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize="x-small", handlelength=1.6)
    return ax
