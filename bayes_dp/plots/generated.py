"""Games of PANORAMIA: how precise the attack and the baseline are at each recall, and what is proven of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.audits.one_run import lower_bounds
from bayes_dp.beta import clopper_pearson_lower, clopper_pearson_upper
from bayes_dp.checks import InputError, one_number, show, whole_number
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.games.played import Played
from bayes_dp.plots.style import CYCLE, GREY, axes_of, dressed, explained_below, shortened
from bayes_dp.support.arrays import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["closeness", "precision"]

_POINTS, _FEWEST = 150, 10  # of a curve, and guesses of the first
_BASELINE = "baseline"


def precision(played: Played | Mapping[str, Played], ax: Axes | None = None, *, game: int = 0) -> Axes:
    """Precision against recall in one game, of attacks by the names of their models and of the baseline they share.

    Bands are 95% intervals of each precision by itself (Clopper and Pearson). With real non-members there is no
    baseline, and the dotted line at ½ is guessing.

    >>> rng = np.random.default_rng(0)
    >>> member, noise = rng.random((1, 500)) < 0.5, rng.random((2, 1, 500))
    >>> played = bdp.games.Played(member, noise[0], 0.5 * noise[1] + 0.5 * member)
    >>> ax = bdp.plots.precision({"E100": played})
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('recall', 'precision')
    """
    curves = _curves(played, whole_number("game", game, 0))
    ax = axes_of(ax, height=3.2)
    for name, (table, color) in curves.items():
        members = int(table.member.sum())
        right = np.cumsum(table.member[np.argsort(-table.score)])
        first = min(_FEWEST, len(table))
        taken = np.unique(np.rint(np.geomspace(first, len(table), _POINTS)).astype(np.int64))
        found = right[taken - 1]
        low, high = clopper_pearson_lower(found, taken, 0.025), clopper_pearson_upper(found, taken, 0.025)
        recall = found / max(members, 1)
        ax.fill_between(recall, low, high, color=color, alpha=0.2, linewidth=0)
        ax.plot(recall, found / taken, color=color, linewidth=1.2, label=shortened(name))
    ax.axhline(0.5, color="black", linewidth=1.0, linestyle=":")
    ax.set(xlim=(0, 1), ylim=(0.4, 1.02))
    dressed(ax, "recall", "precision")
    explained_below(ax)
    return ax


def closeness(played: Played | Mapping[str, Played], ax: Axes | None = None, *, confidence: float = 0.95) -> Axes:
    """Lower bounds of c + ε, and of c by the baseline, at each share of guesses against its recall: means over games.

    Bars are standard deviations over games; dashed lines are the largest bounds, means over games. With real
    non-members c = 0, and these are bounds of ε.

    >>> rng = np.random.default_rng(0)
    >>> member, noise = rng.random((2, 500)) < 0.5, rng.random((2, 2, 500))
    >>> played = bdp.games.Played(member, noise[0], 0.5 * noise[1] + 0.5 * member)
    >>> ax = bdp.plots.closeness({"E100": played})
    >>> ax.get_ylabel()
    'lower bound of c + ε, and of c'
    """
    one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    games = _named(played)
    first = next(iter(games.values()))
    ax = axes_of(ax, height=3.2)
    for name, (color, each) in _colours(games).items():
        p = (1 - confidence) / len(each.shares) / (2 if each.generated else 1)
        found = [_bounds(each.tables(k)[int(name == _BASELINE)], each.thresholds, p) for k in range(len(each))]
        recalls, bounds = (np.array([one[i] for one in found]) for i in (0, 1))
        ax.errorbar(
            recalls.mean(axis=0), bounds.mean(axis=0), bounds.std(axis=0), color=color, marker="o", markersize=3,
            linewidth=1.2, elinewidth=0.8, label=shortened(name),
        )  # fmt: skip
        ax.axhline(bounds.max(axis=1).mean(), color=color, linewidth=0.8, linestyle="--")
    ax.set_ylim(bottom=-0.03 * ax.get_ylim()[1])  # so that a line at 0 is seen
    dressed(ax, "recall", "lower bound of c + ε, and of c" if first.generated else "lower bound of ε")
    explained_below(ax)
    return ax


def _bounds(table: GuessTable | None, thresholds: Floats, p: float) -> tuple[Floats, Floats]:
    """The recall and the bound at each threshold."""
    assert table is not None  # of the attack, and of the baseline
    taken = np.array([(table.score >= cut).sum() for cut in thresholds])
    right: Ints = np.array([table.member[table.score >= cut].sum() for cut in thresholds])
    return right / max(int(table.member.sum()), 1), lower_bounds(len(table), taken, right, 0.0, p)


def _curves(played: Any, game: int) -> dict[str, tuple[GuessTable, str]]:
    found = {}
    for name, (color, each) in _colours(_named(played)).items():
        table = each.tables(game)[int(name == _BASELINE)]
        assert table is not None
        found[name] = table, color
    return found


def _colours(games: dict[str, Played]) -> dict[str, tuple[str, Played]]:
    """The models, and the baseline that they share where there is one."""
    found = {name: (CYCLE[k % len(CYCLE)], each) for k, (name, each) in enumerate(games.items())}
    first = next(iter(games.values()))
    return found | ({_BASELINE: (GREY, first)} if first.generated else {})


def _named(played: Any) -> dict[str, Played]:
    games = {"attack": played} if isinstance(played, Played) else played
    if not isinstance(games, Mapping) or not games:
        raise InputError(f"played must be Played, or several by their names, not {show(played):.80}")
    for name, each in games.items():
        if not isinstance(each, Played):
            raise InputError(f"played[{show(name)}] must be Played, not {type(each).__name__}")
        if name == _BASELINE:
            raise InputError("played must have other names than baseline")
    return {str(name): each for name, each in games.items()}
