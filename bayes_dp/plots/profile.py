"""ε against δ: one question for each δ, asked of the same data.

Under a family of trade-off functions it is the profile of one training: one member answers all δ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.audits.profile import Profile
from bayes_dp.checks import InputError, numbers, one_number, show
from bayes_dp.plots.style import (
    CYCLE,
    GREY,
    ORANGE,
    axes_of,
    check_look,
    dressed,
    explained_below,
    family_of,
    held,
    orders_of,
    spread_out,
    veil,
)
from bayes_dp.results.bound import CredibleInterval, Estimate, LowerBound
from bayes_dp.results.posterior import Posterior
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["epsilon_delta"]

_DELTAS = np.geomspace(1e-6, 1e-1, 11)
_CURVE = "profile"  # marks the lines of `epsilon_delta`
_PLAIN = 1e-5  # the δ that a whole profile is first asked at, which changes nothing
_DASHES = ("-", "--", "-.", ":")
_MARKS = ("o", "s", "D", "v")


def epsilon_delta(
    given: Any,
    ax: Axes | None = None,
    deltas: ArrayLike | None = None,
    prob: float = 0.9,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The posterior of ε, or a bound on it, at many δ: the median and the interval, or the value.

    `given` is a posterior of ε or what an audit returns, a whole profile too, or a mapping of several from the names to
    show; each is asked by `epsilon_at`. For a posterior by sampling each δ is a run of its own, so that `deltas`, of
    shape (k,), should be few. Left of the grey line, at 3/N or, for scores, 1/N₀, ε is what a family says: the data
    tell nothing of rates as small as that.

    >>> ax = bdp.plots.epsilon_delta(bdp.audits.f_dp(bdp.Guesses(1000, 200, 150)), deltas=[1e-5, 1e-3])
    >>> ax.get_ylabel(), ax.lines[0].get_ydata().round(3)
    ('ε', array([1.297, 0.852]))
    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> both = {name: bdp.estimate(counts, 1e-3, family=name) for name in ("approx", "gaussian")}
    >>> ax = bdp.plots.epsilon_delta(both, deltas=[1e-4, 1e-1])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['approx', 'gaussian', "3/N: further left a family's word"]
    """
    named = _named(given)
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    asked = numbers("deltas", _DELTAS if deltas is None else deltas, 0.0, 1.0, low_open=True, high_open=True)
    if asked.ndim != 1 or len(asked) < 2:
        raise InputError(f"deltas must be at least two numbers in a row, not of the shape {asked.shape}")
    asked = np.sort(asked)
    check_look(label, color)
    if (label or color is not None) and len(named) > 1:
        raise InputError("label and color are for one line; several have the names of the mapping")
    lines = {name: _line(one, asked, prob) for name, one in named.items()}
    ax = axes_of(ax, height=3.0)
    before = sum(line.get_gid() == _CURVE for line in ax.get_lines())
    for i, (name, (low, middle, high)) in enumerate(lines.items(), before):
        is_posterior = isinstance(named[name], Posterior)
        colour = color or (CYCLE[i % len(CYCLE)] if name or is_posterior or before else ORANGE)
        if is_posterior:
            words = "_" if name or before else f"{prob * 100:g}% interval"
            ax.fill_between(asked, low, high, color=colour, alpha=veil(ax, 0.25), linewidth=0, label=words)
        ax.plot(
            asked,
            middle,
            color=colour,
            linewidth=1.6,
            linestyle=_DASHES[i % len(_DASHES)],
            marker=_MARKS[i % len(_MARKS)] if is_posterior else "^",
            markersize=3,
            label=label or name or ("median" if is_posterior else _kind(named[name])) + f" {i + 1}" * (i > 0),
            gid=_CURVE,
        )
    _mark_resolved(ax, named, asked)
    ax.set_xscale("log")
    most = max(_most(line) for line in lines.values())
    shown = ax.get_xlim(), ax.get_ylim()
    bottom, top = spread_out(ax.yaxis, [_most(line[1]) for line in lines.values()], most)
    ax.set_xlim(asked[0], asked[-1])
    ax.set_ylim(bottom, top)
    if before:
        held(ax, True, *shown)
    title = f"ε at δ, {100 * prob:g}% intervals" if "" not in named else f"ε at δ ({named[''].provenance.method})"
    dressed(ax, "δ", "ε", title)
    explained_below(ax)
    return ax


def _named(given: Any) -> dict[str, Any]:
    """What is to be drawn by the names to show, checked; one without a name has ""."""
    several = isinstance(given, Mapping)
    named: dict[str, Any] = dict(given) if several else {"": given}
    if not named:
        raise InputError("given must have something to draw, and is empty")
    for name, one in named.items():
        if several and not (isinstance(name, str) and name):
            raise InputError(f"given must have names to show, not {show(name)}")
        place = f"given[{show(name)}]" if several else "given"
        if isinstance(one, Profile):
            named[name] = one = one.bound(_PLAIN)
        if not isinstance(one, Posterior | LowerBound | CredibleInterval | Estimate):
            raise InputError(f"{place} must be a posterior, or what an audit returns, not {type(one).__name__}")
        if one.parameter == "delta":
            raise InputError(f"{place} must be a posterior of epsilon, or a bound on it, not a posterior of delta")
    return named


def _line(given: Any, deltas: Floats, prob: float) -> Floats:
    """The lower end, the middle and the upper end at each δ, (3, k); of a bound all three are its value."""
    found = [given.epsilon_at(float(delta)) for delta in deltas]
    if isinstance(given, Posterior):
        return np.array([(low, post.median, high) for post in found for low, high in [post.interval(prob)]]).T
    return np.tile([bound.value for bound in found], (3, 1))


def _most(line: Floats) -> float:
    return float(line[np.isfinite(line)].max(initial=0.0))


def _kind(bound: Any) -> str:
    return "estimate" if bound.kind == "estimate" else f"{bound.kind.replace('_', ' ')}, {bound.confidence:.0%}"


def _mark_resolved(ax: Axes, named: Mapping[str, Any], deltas: Floats) -> None:
    """A line at the smallest rate that the data of a family's posterior resolve, if it is in view."""
    posteriors: list[Any] = [one for one in named.values() if isinstance(one, Posterior)]
    rates = [(one.resolved, "3/N" if orders_of(one) is None else "1/N₀") for one in posteriors if _by_family(one)]
    least, name = min(rates, default=(0.0, ""))
    if deltas[0] < least < deltas[-1]:
        ax.axvline(least, color=GREY, linewidth=1.0, linestyle=":", label=f"{name}: further left a family's word")


def _by_family(post: Posterior) -> bool:
    return family_of(post) is not None or orders_of(post) is not None
