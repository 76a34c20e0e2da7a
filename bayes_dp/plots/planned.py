"""The width of the interval by the size of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError
from bayes_dp.plots.style import (
    BLUE,
    GREY,
    ORANGE,
    axes_of,
    check_shared,
    dressed,
    explained_below,
    logarithmic,
    look_at,
    paper,
    title_of,
    veil,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.planning.result import Plan

__all__ = ["widths"]

_STYLES = {"challenges": (BLUE, "-", "o"), "bases": (ORANGE, "--", "s")}


def widths(plan: Plan, ax: Axes | None = None, label: str | None = None, color: Any = None) -> Axes:
    """The width against all challenges, for both ways to grow: the one that counts, and the band of 80% of experiments.

    The dotted line is the width that is wanted, a star the size that is needed, and the line of dots and dashes the
    limit of more and more challenges of the same bases.

    >>> experiment = bdp.Experiment(2, 100, 100, epsilon=1.0)
    >>> ax = bdp.plots.widths(bdp.plan(experiment, 1e-3, 2.0, vary="challenges", largest=2.0, repetitions=2))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('challenges of all bases', 'width of the 90% interval')
    """
    from bayes_dp.planning.result import Plan

    if not isinstance(plan, Plan):
        raise InputError(f"plan must be a Plan, as bayes_dp.plan gives it, not {type(plan).__name__}")
    ax = axes_of(ax, height=3.4)
    look = look_at(ax, "widths", "plan", label, color)
    axis, upright = f"{plan.noun} of all bases", f"width of the {100 * plan.prob:g}% interval"
    check_shared(ax, look, x=axis, y=upright)
    needed = plan.needed
    for way in plan.ways:
        own, style, marker = _STYLES[way]
        colour = look.hue(own)
        rows = plan.select(way)
        runs = np.array([row.runs for row in rows])
        low, high, middle = (np.array([row.quantile(p) for row in rows]) for p in (0.1, 0.9, plan.assurance))
        ax.fill_between(runs, low, high, color=colour, alpha=veil(ax, 0.15), linewidth=0)
        words = look.words(f"more {way if way == 'bases' else plan.noun}")
        ax.plot(runs, middle, color=colour, linestyle=style, marker=marker, markersize=3.5, label=words)
        need = needed[way]
        if need is not None:
            ax.plot(
                [need.runs], [plan.width], color=colour, marker="*", markersize=11, markeredgecolor=paper(ax), zorder=4
            )
    if plan.limit is not None:
        level = plan.limit.quantile(plan.assurance)
        words = look.words(f"no limit to {plan.noun}")
        ax.axhline(level, color=look.hue(BLUE), linewidth=1.0, linestyle="-.", label=words)
    words, colour = look.words(f"wanted, {plan.width:.3g}"), look.color if look.number else GREY
    ax.axhline(plan.width, color=colour, linewidth=1.2, linestyle=":", label=words, gid="widths")
    logarithmic(ax)
    dressed(ax, axis, upright, title_of(ax, look, f"{100 * plan.assurance:g}% of experiments are narrower"))
    explained_below(ax)
    return ax
