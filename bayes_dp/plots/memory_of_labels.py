"""Bounds of audits of labels against the ε of the mechanism that kept the labels private, with their controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError, one_number, show
from bayes_dp.plots.style import (
    CYCLE,
    GREY,
    axes_of,
    check_look,
    dressed,
    explained_below,
    marked,
    paper,
    shortened,
)
from bayes_dp.results.bound import LowerBound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["remembered"]

_MARKS = "os^Dv"
_KIND = "mechanism"  # marks the lines of mechanisms


def remembered(
    bounds: Mapping[str, Mapping[float, LowerBound]],
    ax: Axes | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """For each mechanism the bound of the audit against its ε, (k,); ε may be infinite, without any mechanism.

    `bounds` has for each name of a mechanism the results of `audits.labels` or `audits.observational` by ε. A bound
    that is not valid is a hollow mark. The dashed line is ε itself, above which none should be; crosses are the
    control's, a model that never saw the labels. `label` and `color` are for one mechanism; several have the names of
    the mapping. Axes that have bounds already take more at the same ε.

    >>> found = bdp.audits.labels([0, 1] * 500, [[0.5, 0.5]] * 1000, [[0.9, 0.1], [0.1, 0.9]] * 500, 0, exact=True)
    >>> ax = bdp.plots.remembered({"none": {np.inf: found}})
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['∞']
    """
    checked = _checked(bounds)
    places = sorted({epsilon for row in checked.values() for epsilon in row})
    check_look(label, color)
    if (label or color is not None) and len(checked) > 1:
        raise InputError("label and color are for one mechanism; several have the names of the mapping")
    ax = axes_of(ax, height=2.9)
    names = ["∞" if np.isinf(e) else f"{e:g}" for e in places]
    there = [text.get_text() for text in ax.get_xticklabels()]
    number = len(marked(ax, _KIND))
    if number and names != there:
        raise InputError(f"ax has bounds at the ε {', '.join(there)}, so that those at {', '.join(names)} need others")
    at = {epsilon: i for i, epsilon in enumerate(places)}
    top = 1.15 * max(max(bound.value for row in checked.values() for bound in row.values()), 0.5)
    controls: dict[float, float] = {}
    for epsilon, bound in (pair for row in checked.values() for pair in row.items()):
        if "control" in bound.details:
            controls[epsilon] = max(controls.get(epsilon, 0.0), bound.details["control"])
    order = sorted(controls)
    if number:
        top = max(top, ax.get_ylim()[1])
    if order:
        words = f"{label or next(iter(checked))}, control" if number else "control"
        ax.plot([at[e] for e in order], [controls[e] for e in order], "x:", color=GREY, markersize=4, label=words)
    finite = [epsilon for epsilon in places if np.isfinite(epsilon)]
    if finite and not number:
        ax.plot(range(len(finite)), finite, color=GREY, linestyle="--", linewidth=1.0, label="ε of the mechanism")
    for i, (name, row) in enumerate(checked.items(), number):
        mark, colour = _MARKS[i % len(_MARKS)], CYCLE[i % len(CYCLE)] if color is None else color
        order = sorted(row)
        x, y = [at[e] for e in order], [row[e].value for e in order]
        # Marks without a place are in the legend alone: those on the axes are full or hollow.
        look: dict[str, Any] = {"color": colour, "linewidth": 1.2, "marker": mark, "markersize": 4, "markevery": []}
        ax.plot(x, y, label=label or shortened(name), gid=_KIND, **look)
        for epsilon in order:
            face = colour if row[epsilon].valid else paper(ax)
            ax.plot(at[epsilon], row[epsilon].value, mark, color=colour, markerfacecolor=face, markersize=4)
    ax.set_xticks(range(len(places)), names)
    ax.set_xlim(-0.3, len(places) - 0.7)
    ax.set_ylim(-0.04 * top, top)
    dressed(ax, "ε of the mechanism", "bound of the audit")
    explained_below(ax)
    return ax


def _checked(bounds: Any) -> dict[str, dict[float, LowerBound]]:
    if not isinstance(bounds, Mapping) or not bounds:
        raise InputError(f"bounds must be a mapping from names of mechanisms to bounds by ε, not {show(bounds)}")
    found: dict[str, dict[float, LowerBound]] = {}
    for name, row in bounds.items():
        if not isinstance(row, Mapping) or not row:
            raise InputError(f"bounds[{show(name)}] must be a mapping from ε to bounds, not {show(row)}")
        found[str(name)] = {}
        for epsilon, bound in row.items():
            if not isinstance(bound, LowerBound):
                raise InputError(
                    f"bounds[{show(name)}][{show(epsilon)}] must be a LowerBound, as bayes_dp.audits.labels gives it,"
                    f" not {type(bound).__name__}"
                )
            found[str(name)][one_number(f"ε of bounds[{show(name)}]", epsilon, 0.0)] = bound
    return found
