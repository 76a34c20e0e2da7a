"""ε against δ: one question for each δ, asked of the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number
from bayes_dp.plots.style import BLUE, ORANGE, axes_of, dressed, explained
from bayes_dp.results.bound import CredibleInterval, Estimate, LowerBound
from bayes_dp.results.posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["epsilon_delta"]

_DELTAS = np.geomspace(1e-6, 1e-1, 11)


def epsilon_delta(given: Any, ax: Axes | None = None, deltas: ArrayLike | None = None, prob: float = 0.9) -> Axes:
    """The posterior of ε, or a bound on it, at many δ: the median and the interval, or the value.

    `given` is a posterior of ε or what an audit returns; it is asked by `epsilon_at`. For a posterior by sampling each
    δ is a run of its own, so that `deltas`, of shape (k,), should be few.

    >>> ax = bdp.plots.epsilon_delta(bdp.audits.f_dp(bdp.Guesses(1000, 200, 150)), deltas=[1e-5, 1e-3])
    >>> ax.get_ylabel(), ax.lines[0].get_ydata().round(3)
    ('ε', array([1.297, 0.852]))
    """
    if not isinstance(given, Posterior | LowerBound | CredibleInterval | Estimate):
        raise InputError(f"given must be a posterior, or what an audit returns, not {type(given).__name__}")
    if given.parameter == "delta":
        raise InputError("given must be a posterior of epsilon, or a bound on it, not a posterior of delta")
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    asked = numbers("deltas", _DELTAS if deltas is None else deltas, 0.0, 1.0, low_open=True, high_open=True)
    if asked.ndim != 1 or len(asked) < 2:
        raise InputError(f"deltas must be at least two numbers in a row, not of the shape {asked.shape}")
    asked = np.sort(asked)
    found: Any = [given.epsilon_at(float(delta)) for delta in asked]
    ax = axes_of(ax)
    if isinstance(given, Posterior):
        low, high = np.array([post.interval(prob) for post in found]).T
        middle = [post.median for post in found]
        ax.fill_between(asked, low, high, color=BLUE, alpha=0.25, linewidth=0, label=f"{prob * 100:g}% interval")
        ax.plot(asked, middle, color=BLUE, linewidth=1.6, marker="o", markersize=3, label="median")
    else:
        words = "estimate" if given.kind == "estimate" else f"{given.kind.replace('_', ' ')}, {given.confidence:.0%}"
        ax.plot(asked, [bound.value for bound in found], color=ORANGE, marker="^", markersize=4, label=words)
    ax.set_xscale("log")
    ax.set_xlim(asked[0], asked[-1])
    ax.set_ylim(0, 1.3 * ax.dataLim.ymax or 1.0)
    dressed(ax, "δ", "ε", f"ε at δ ({given.provenance.method})")
    explained(ax)
    return ax
