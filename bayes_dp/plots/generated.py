"""Games of PANORAMIA: how precise the attack and the baseline are at each recall, and what is proven of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.audits.one_run import lower_bounds
from bayes_dp.beta import clopper_pearson_lower, clopper_pearson_upper
from bayes_dp.checks import InputError, one_number, show, whole_number
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.games.played import Played
from bayes_dp.plots.style import (
    CYCLE,
    GREY,
    axes_of,
    check_look,
    dressed,
    explained_below,
    ink,
    marked,
    shortened,
    veil,
)
from bayes_dp.support.arrays import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["closeness", "precision"]

_POINTS, _FEWEST = 150, 10  # of a curve, and guesses of the first
_ATTACK, _BASELINE = "attack", "baseline"
_DASHES: tuple[Any, ...] = ("-", "--", (0, (6, 1)), (0, (3, 1, 1, 1, 1, 1)))  # of attacks, in turn
_MARKERS = "o", "s", "^", "D"


def precision(
    played: Played | Mapping[str, Played],
    ax: Axes | None = None,
    *,
    game: int = 0,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Precision against recall in one game, of attacks by the names of their models and of the baseline they share.

    Bands are 95% intervals of each precision by itself (Clopper and Pearson). With real non-members there is no
    baseline, and the dotted line at ½ is guessing. `label` and `color` are for one attack; several have the names of
    the mapping.

    >>> rng = np.random.default_rng(0)
    >>> member, noise = rng.random((1, 500)) < 0.5, rng.random((2, 1, 500))
    >>> played = bdp.games.Played(member, noise[0], 0.5 * noise[1] + 0.5 * member)
    >>> ax = bdp.plots.precision({"E100": played})
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('recall', 'precision')
    """
    number, games = whole_number("game", game, 0), _named(played, label, color)
    tables = [each.tables(number) for each in games.values()]
    ax = axes_of(ax, height=3.4)
    more = bool(marked(ax, _ATTACK))
    for curve in _curves_of(ax, games, label, color):
        table = tables[curve.place][int(curve.is_baseline)]
        assert table is not None
        members = int(table.member.sum())
        right = np.cumsum(table.member[np.argsort(-table.score)])
        first = min(_FEWEST, len(table))
        taken = np.unique(np.rint(np.geomspace(first, len(table), _POINTS)).astype(np.int64))
        found = right[taken - 1]
        low, high = clopper_pearson_lower(found, taken, 0.025), clopper_pearson_upper(found, taken, 0.025)
        recall = found / max(members, 1)
        ax.fill_between(recall, low, high, color=curve.style["color"], alpha=veil(ax, 0.2), linewidth=0)
        ax.plot(recall, found / taken, linewidth=1.2, linestyle=curve.dashes, **curve.style)
    if not more:
        ax.axhline(0.5, color=ink(ax), linewidth=1.0, linestyle=":")
    ax.set(xlim=(0, 1), ylim=(0.4, 1.02))
    dressed(ax, "recall", "precision")
    explained_below(ax)
    return ax


def closeness(
    played: Played | Mapping[str, Played],
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """Lower bounds of c + ε, and of c by the baseline, at each share of guesses against its recall: means over games.

    Bars are standard deviations over games; dashed lines are the largest bounds, means over games. With real
    non-members c = 0, and these are bounds of ε. `label` and `color` are for one attack; several have the names of
    the mapping.

    >>> rng = np.random.default_rng(0)
    >>> member, noise = rng.random((2, 500)) < 0.5, rng.random((2, 2, 500))
    >>> played = bdp.games.Played(member, noise[0], 0.5 * noise[1] + 0.5 * member)
    >>> ax = bdp.plots.closeness({"E100": played})
    >>> ax.get_ylabel()
    'lower bound of c + ε, and of c'
    """
    one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    games = _named(played, label, color)
    given = list(games.values())
    words = "lower bound of c + ε, and of c" if given[0].generated else "lower bound of ε"
    ax = axes_of(ax, height=3.4)
    if marked(ax, _ATTACK) and ax.get_ylabel() != words:
        raise InputError(f"ax shows a {ax.get_ylabel()}, so that a {words} needs axes of its own")
    for curve in _curves_of(ax, games, label, color):
        each = given[curve.place]
        p = (1 - confidence) / len(each.shares) / (2 if each.generated else 1)
        found = [_bounds(each.tables(k)[int(curve.is_baseline)], each.thresholds, p) for k in range(len(each))]
        recalls, bounds = (np.array([one[i] for one in found]) for i in (0, 1))
        ax.errorbar(
            recalls.mean(axis=0), bounds.mean(axis=0), bounds.std(axis=0), marker=curve.marker, markersize=3,
            linewidth=1.2, elinewidth=0.8, **curve.style,
        )  # fmt: skip
        ax.axhline(bounds.max(axis=1).mean(), color=curve.style["color"], linewidth=0.8, linestyle="--")
    top = 1.05 * float(ax.dataLim.y1) or 1.0
    ax.set_ylim(-0.03 * top, top)  # so that a line at 0 is seen
    dressed(ax, "recall", words)
    explained_below(ax)
    return ax


def _bounds(table: GuessTable | None, thresholds: Floats, p: float) -> tuple[Floats, Floats]:
    """The recall and the bound at each threshold."""
    assert table is not None  # of the attack, and of the baseline
    taken = np.array([(table.score >= cut).sum() for cut in thresholds])
    right: Ints = np.array([table.member[table.score >= cut].sum() for cut in thresholds])
    return right / max(int(table.member.sum()), 1), lower_bounds(len(table), taken, right, 0.0, p)


@dataclass(frozen=True)
class _Curve:
    """Of which of the games it is, and how it is drawn."""

    place: int
    is_baseline: bool
    style: dict[str, Any]
    dashes: Any
    marker: str


def _curves_of(ax: Axes, games: dict[str, Played], label: str | None, color: Any) -> list[_Curve]:
    """The attacks, each with the next colour, and the baseline that they share where there is one."""
    number, found = len(marked(ax, _ATTACK)), []
    words = ""
    for place, name in enumerate(games):
        again = f" {number + 1}" if name == _ATTACK and number else ""
        words, own = label or shortened(name) + again, CYCLE[(number + place) % len(CYCLE)]
        style = {"color": own if color is None else color, "label": words, "gid": _ATTACK}
        shape = (number + place) % len(_DASHES)
        found.append(_Curve(place, False, style, _DASHES[shape], _MARKERS[shape]))
    if next(iter(games.values())).generated:
        words = f"{words}, {_BASELINE}" if number else _BASELINE
        style = {"color": found[0].style["color"] if number else GREY, "label": words}
        found.append(_Curve(0, True, style, "-.", "x"))
    return found


def _named(played: Any, label: Any, color: Any) -> dict[str, Played]:
    check_look(label, color)
    games = {_ATTACK: played} if isinstance(played, Played) else played
    if not isinstance(games, Mapping) or not games:
        raise InputError(f"played must be Played, or several by their names, not {show(played):.80}")
    for name, each in games.items():
        if not isinstance(each, Played):
            raise InputError(f"played[{show(name)}] must be Played, not {type(each).__name__}")
        if name == _BASELINE:
            raise InputError("played must have other names than baseline")
    if (label or color is not None) and len(games) > 1:
        raise InputError("label and color are for one attack; several have the names of the mapping")
    return {str(name): each for name, each in games.items()}
