"""Members and non-members that differ: the overlap of their propensities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number, whole_number
from bayes_dp.plots.style import BLUE, GREY, ORANGE, axes_of, dressed, explained_below, ink, look_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["propensities"]


def propensities(
    propensity: ArrayLike,
    member: ArrayLike,
    ax: Axes | None = None,
    overlap: float | None = None,
    bins: int = 30,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Propensities of members, upwards, and of non-members, downwards; both arrays (n,).

    The bound for members that differ rests on the overlap of the two: on how far the propensities stay away from 0 and
    1. `overlap` is the η that is assumed, every propensity being between it and 1 − η; what is beyond is dark.
    On axes that have propensities already, the bars of the new ones are outlines.

    >>> member = np.random.default_rng(0).random(200) < 0.4
    >>> ax = bdp.plots.propensities(np.full(200, 0.4), member, overlap=0.3)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('propensity of being a member', 'examples')
    """
    values = numbers("propensity", propensity, 0.0, 1.0)
    inside = np.asarray(member)
    if values.ndim != 1 or not len(values):
        raise InputError(f"propensity must be of the shape (examples,), not {values.shape}")
    if inside.shape != values.shape or not np.isin(inside, (0, 1)).all():
        raise InputError(f"member must be truth values, or 0 and 1, one for each of the {len(values)} propensities")
    whole_number("bins", bins, 2)
    if overlap is not None:
        overlap = one_number("overlap", overlap, 0.0, 0.5, low_open=True)
    inside = inside.astype(bool)
    ax = axes_of(ax, height=2.9)
    look = look_at(ax, "propensities", "examples", label, color)
    for who, sign, own in ((inside, 1, BLUE), (~inside, -1, ORANGE)):
        counts, edges = np.histogram(values[who], bins=bins, range=(0, 1))
        words = look.words(f"{'members' if sign > 0 else 'non-members'}, {int(who.sum())}")
        if look.number:
            style = "-" if sign > 0 else (0, (2, 1))
            ax.stairs(sign * counts, edges, color=look.color, linewidth=1.4, linestyle=style, label=words)
        else:
            shade = 0.8 if sign > 0 or look.color is None else 0.4
            colour = look.hue(own)
            ax.bar(edges[:-1], sign * counts, np.diff(edges), align="edge", color=colour, alpha=shade, label=words)
    ax.axhline(0, color=ink(ax), linewidth=0.8, gid="propensities")
    if overlap is not None:
        beyond = float(np.mean((values < overlap) | (values > 1 - overlap)))
        words = look.words(f"beyond η = {overlap:g}, {100 * beyond:.2g}%")
        for start, end in ((0.0, overlap), (1 - overlap, 1.0)):
            ground = look.color if look.number else GREY
            ax.axvspan(start, end, color=ground, alpha=0.35 / (1 + look.number), linewidth=0, label=words)
            words = "_"  # once in the legend
    dressed(ax, "propensity of being a member", "examples")
    ax.set_xlim(0, 1)
    tallest = max(abs(ax.dataLim.y0), ax.dataLim.y1)
    ax.set_ylim(-1.15 * tallest, 1.15 * tallest)
    ax.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    explained_below(ax)
    return ax
