"""A sequential audit as it went: the bound that held at all times, and the evidence against a claim."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.audits.sequential import Sequential
from bayes_dp.checks import InputError, is_whole, one_number, show
from bayes_dp.plots.style import (
    BLUE,
    GREY,
    ORANGE,
    Look,
    check_shared,
    dressed,
    explained_above,
    explained_below,
    look_at,
    panels_of,
    posterior_of,
)
from bayes_dp.plots.style import label as letter
from bayes_dp.results.posterior import Posterior

__all__ = ["running"]

_Intervals = dict[int, tuple[float, float, float]]
_LARGEST = 60.0  # log capital that is shown; evidence beyond all doubt


def running(
    audit: Sequential,
    ax: Any = None,
    posteriors: Mapping[int, Posterior] | None = None,
    prob: float = 0.9,
    label: str | None = None,
    color: Any = None,
) -> NDArray[np.object_]:
    """The running bound of an audit and its claim; below, the log capital against the claim, and log 1/p.

    `ax` is two axes, shape (2,), or one, shape (1,): the upper one of an audit without a claim, and the lower one of an
    audit of one trade-off function, which has no bound. `posteriors` are those of the same runs, by
    the number of pairs (runs, models) at which they were made: intervals of ε that hold at one look each, under priors
    and a model of the attacks, beside a bound that holds at all looks together.

    >>> rng = np.random.default_rng(0)
    >>> audit = bdp.audits.sequential(1e-5, claim=1.0).update(rng.random(200) < 0.1, rng.random(200) < 0.2)
    >>> axes = bdp.plots.running(audit)
    >>> [ax.get_ylabel() for ax in axes]
    ['ε', 'log capital']
    """
    if not isinstance(audit, Sequential):
        raise InputError(f"audit must be one that audits.sequential gives, not {type(audit).__name__}")
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    intervals = _intervals(posteriors, prob)
    both = audit.claim is not None and audit.lines is None
    panels = panels_of(ax, (2 if both else 1, 1), height=3.8 if both else 2.4)
    last = panels[-1]
    look = look_at(last, "running", "audit", label, color)
    check_shared(last, look, x=audit.unit)
    if audit.lines is None:
        of = letter(audit.bound().parameter)
        _running(panels[0], audit, intervals, prob, of, look)
    if audit.claim is not None:
        _evidence(last, audit, look)
    if both:
        panels[0].set_xticklabels([])
        dressed(panels[0], "", of)
        last.set_xlim(panels[0].get_xlim())
    last.set_xlabel(audit.unit, fontsize="small")
    return panels


def _running(
    ax: Any, audit: Sequential, intervals: dict[int, tuple[float, float, float]], prob: float, of: str, look: Look
) -> None:
    runs, bound = zip(*audit.trace(), (audit.runs, audit.bound().value), strict=True)
    words = look.words(f"lower bound at all times, {100 * audit.confidence:g}%")
    ax.step(runs, bound, where="post", color=look.hue(ORANGE), linewidth=1.6, label=words, gid="running")
    if intervals:
        low, middle, high = np.array(list(intervals.values())).T
        arms = np.stack([middle - low, high - middle])
        words, colour = look.words(f"posterior, {100 * prob:g}% interval"), look.hue(BLUE)
        ax.errorbar(
            list(intervals), middle, yerr=arms, fmt="o", color=colour, markersize=3, elinewidth=1.0, label=words
        )
    if audit.claim is not None:
        words = look.words(f"claim, {of} = {audit.claim:g}")
        ax.axhline(audit.claim, color=GREY, linewidth=1.0, linestyle="--", label=words)
    most = max([*bound, audit.claim or 0.0, *(high for _, _, high in intervals.values())])
    right, top = (ax.get_xlim()[1], ax.get_ylim()[1]) if look.number else (0.0, 0.0)
    ax.set_ylim(0, max(1.05 * most, top) or 1.0)
    ax.set_xlim(0, max(max(1, audit.runs, *intervals) * 1.03, right))
    dressed(ax, "", of)
    explained_above(ax)


def _evidence(ax: Any, audit: Sequential, look: Look) -> None:
    needed = -math.log(1 - audit.confidence)
    points = [(0, 0.0), *audit.claim_trace()]
    ax.plot(*zip(*points, strict=True), color=look.hue(ORANGE), linewidth=1.2, label=look.name or "_", gid="running")
    words = look.words(f"refuted from log 1/p = {needed:.2g}")
    ax.axhline(needed, color=look.color if look.number else GREY, linewidth=1.0, linestyle=":", label=words)
    top = min(_LARGEST, max(value for _, value in points))
    bottom, end = max(-needed, min(value for _, value in points)) - 0.5, 1.5 * max(top, needed)
    before = ax.get_ylim() if look.number else (bottom, end)
    ax.set_ylim(min(bottom, before[0]), max(end, before[1]))
    dressed(ax, "", "log capital")
    explained_below(ax)


def _intervals(posteriors: Any, prob: float) -> _Intervals:
    """The lower end, the median and the upper end, by the number of runs."""
    if posteriors is not None and not isinstance(posteriors, Mapping):
        raise InputError(f"posteriors must be a mapping from numbers of runs to posteriors, not {show(posteriors)}")
    found = {}
    for runs, post in (posteriors or {}).items():
        if not is_whole(runs) or runs < 0:
            raise InputError(f"posteriors must have numbers of runs for keys, not {show(runs)}")
        low, high = posterior_of(post, f"posteriors[{runs}]").interval(prob)
        found[int(runs)] = float(low), float(post.median), float(high)
    return found
