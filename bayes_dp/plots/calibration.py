"""Simulation-based calibration: are the truth's ranks uniform?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number, whole_number
from bayes_dp.plots.style import BLUE, GREY, axes_of, dressed, explained, ink, look_at, marked, paper, veil

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["sbc_ranks"]


def sbc_ranks(
    ranks: ArrayLike,
    ax: Axes | None = None,
    bins: int = 20,
    prob: float = 0.95,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """A histogram of the ranks of the truth in its posterior, in [0, 1] and of shape (data sets,).

    If the posterior is right, each bar is within the band with the probability `prob`, and so about as many are not as
    that says. The χ² test of all bars is in the title or, of ranks with a name, in the legend. On axes that have ranks
    already the bars of the new ones are outlines.

    >>> ax = bdp.plots.sbc_ranks(np.random.default_rng(0).random(500))
    >>> ax.get_title()
    '500 data sets, χ² test p = 0.14'
    """
    from scipy import stats  # half a second to import

    values = numbers("ranks", ranks, 0.0, 1.0)
    if values.ndim != 1 or not len(values):
        raise InputError(f"ranks must be of the shape (data sets,), not {values.shape}")
    whole_number("bins", bins, 2)
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    ax = axes_of(ax)
    look = look_at(ax, "ranks", "ranks", label, color)
    counts, edges = np.histogram(values, bins=bins, range=(0, 1))
    low, high = stats.binom.ppf([(1 - prob) / 2, (1 + prob) / 2], len(values), 1 / bins)
    band = f"band {low:g} {high:g}"
    if not marked(ax, band):
        shade, words = look.color if look.number else GREY, look.words(f"{prob * 100:g}% of bars, if right")
        ax.axhspan(low, high, color=shade, alpha=veil(ax, 0.3), linewidth=0, label=words, gid=band)
        ax.axhline(len(values) / bins, color=ink(ax), linewidth=0.9, linestyle="--")
    said = f"{len(values)} data sets, χ² test p = {float(stats.chisquare(counts).pvalue):.2g}"
    if look.number:
        ax.stairs(counts, edges, color=look.color, linewidth=1.4)
    else:
        face = look.hue(BLUE)
        ax.bar(edges[:-1], counts, np.diff(edges), align="edge", fc=face, ec=paper(ax), alpha=0.75, linewidth=0.5)
    words = look.words(said) if look.name else "_"
    ax.plot([], [], color=look.hue(BLUE), linewidth=3.0 - look.number, label=words, gid="ranks")
    dressed(ax, "rank of the truth", "data sets", "" if look.name else said)
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    explained(ax, above=True)
    return ax
