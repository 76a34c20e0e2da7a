"""Bounds of an observational audit by how far its proxy may be off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.audits.sensitivity import Sensitivity
from bayes_dp.checks import InputError
from bayes_dp.plots.style import axes_of, check_shared, dressed, explained_below, held, look_at, look_of, paper
from bayes_dp.plots.style import label as letter
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["sensitivity"]

_KIND = "sensitivity"
_MARKS = "os^Dv"


def sensitivity(curve: Sensitivity, ax: Axes | None = None, label: str | None = None, color: Any = None) -> Axes:
    """The curve ε(τ) of `audits.sensitivity`: the bound for each τ that the error of the proxy may have.

    Between two slacks of the curve the bound is that of the larger one, as `curve.at` has it. A bound that is not valid
    is a hollow mark. The dotted steps with crosses are the control's, a model that never saw the labels: where they are
    above 0, the error of the proxy is larger than that τ. The axis of τ has the scale of √τ, so that small ones are
    apart. A second curve on the axes must be of the same δ.

    >>> game = bdp.games.LabelGame([0, 1] * 400, [[0.5, 0.5]] * 800, [[1, -1], [-1, 1]] * 400)
    >>> ask = lambda tau: bdp.audits.observational(game, 0, exact=True, tau=tau, choice=400, games=5)
    >>> curve = bdp.audits.sensitivity(ask, [0, 0.01, 0.2])
    >>> ax = bdp.plots.sensitivity(curve)
    >>> [round(float(y), 1) for y in ax.lines[0].get_ydata()]
    [1.4, 1.0, 0.0]
    """
    if not isinstance(curve, Sensitivity):
        raise InputError(
            f"curve must be one of ε by τ, as bayes_dp.audits.sensitivity gives it, not {type(curve).__name__}"
        )
    ax = axes_of(ax, height=2.9)
    known = dict(curve.bounds[0].provenance.known)
    words = ", ".join(["ε at least", *(f"{letter(name)} = {value:g}" for name, value in known.items())])
    look = look_at(ax, _KIND, "bound", label, color)
    check_shared(ax, look, y=words)
    colour, name, more = look_of(ax, _KIND, "bound", label, color)
    tau, epsilon, control = curve.tau, curve.epsilon, curve.control
    # Marks without a place are in the legend alone: those on the axes are full or hollow.
    mark = _MARKS[look.number % len(_MARKS)]
    steps: dict[str, Any] = {"drawstyle": "steps-pre", "linewidth": 1.2, "markersize": 4, "markevery": []}
    ax.plot(tau, epsilon, color=colour, marker=mark, label=name, gid=_KIND, **steps)
    for x, bound in zip(tau, curve.bounds, strict=True):
        face = colour if bound.valid else paper(ax)
        ax.plot(x, bound.value, mark, color=colour, markerfacecolor=face, markersize=4, clip_on=False, zorder=3)
    if not np.isnan(control).all():
        steps |= {"linewidth": 1.0, "linestyle": ":", "marker": "x", "markevery": 1}
        ax.plot(tau, control, color=colour, label=f"{name}, control" if label or more else "control", **steps)
    ax.set_xscale("function", functions=(_root, _square))
    most, top = float(tau[-1]) or 1.0, 1.1 * float(np.nanmax([*epsilon, *control, 0.1]))
    held(ax, more, (-0.001 * most, 1.06 * most), (-0.04 * top, top))
    dressed(ax, "τ, the most that the proxy errs by", words)
    explained_below(ax)
    return ax


def _root(tau: Floats) -> Floats:
    return np.sign(tau) * np.sqrt(np.abs(tau))


def _square(root: Floats) -> Floats:
    return np.sign(root) * np.square(root)
