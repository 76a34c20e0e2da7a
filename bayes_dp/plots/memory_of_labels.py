"""Bounds of audits of labels against the ε of the mechanism that kept the labels private, with their controls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError, one_number, show
from bayes_dp.plots.style import BLUE, CYCLE, GREY, axes_of, dressed, explained_below, paper, shortened
from bayes_dp.results.bound import LowerBound

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["remembered"]

_MARKS = "os^Dv"


def remembered(bounds: Mapping[str, Mapping[float, LowerBound]], ax: Axes | None = None) -> Axes:
    """For each mechanism the bound of the audit against its ε, (k,); ε may be infinite, without any mechanism.

    `bounds` has for each name of a mechanism the results of `audits.labels` or `audits.observational` by ε. A bound
    that is not valid is a hollow mark. The dashed line is ε itself, above which none should be; crosses are the
    control's, a model that never saw the labels.

    >>> found = bdp.audits.labels([0, 1] * 500, [[0.5, 0.5]] * 1000, [[0.9, 0.1], [0.1, 0.9]] * 500, 0, exact=True)
    >>> ax = bdp.plots.remembered({"none": {np.inf: found}})
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['∞']
    """
    checked = _checked(bounds)
    places = sorted({epsilon for row in checked.values() for epsilon in row})
    ax = axes_of(ax, height=2.9)
    at = {epsilon: i for i, epsilon in enumerate(places)}
    top = 1.15 * max(max(bound.value for row in checked.values() for bound in row.values()), 0.5)
    controls: dict[float, float] = {}
    for epsilon, bound in (pair for row in checked.values() for pair in row.items()):
        if "control" in bound.details:
            controls[epsilon] = max(controls.get(epsilon, 0.0), bound.details["control"])
    order = sorted(controls)
    if order:
        ax.plot([at[e] for e in order], [controls[e] for e in order], "x:", color=GREY, markersize=4, label="control")
    finite = [epsilon for epsilon in places if np.isfinite(epsilon)]
    if finite:
        shown = [min(epsilon, 2 * top) for epsilon in finite]
        ax.plot(range(len(finite)), shown, color=GREY, linestyle="--", linewidth=1.0, label="ε of the mechanism")
    for number, (name, row) in enumerate(checked.items()):
        mark = _MARKS[number % len(_MARKS)]
        color = CYCLE[number % len(CYCLE)] if len(checked) > 1 else BLUE
        order = sorted(row)
        ax.plot(
            [at[e] for e in order], [row[e].value for e in order], color=color, linewidth=1.2, label=shortened(name)
        )
        for epsilon in order:
            face = color if row[epsilon].valid else paper(ax)
            ax.plot(at[epsilon], row[epsilon].value, mark, color=color, markerfacecolor=face, markersize=4)
    ax.set_xticks(range(len(places)), ["∞" if np.isinf(e) else f"{e:g}" for e in places])
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
