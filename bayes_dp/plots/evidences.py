"""How probable each family of trade-off functions is, given the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bayes_dp.checks import InputError, one_number
from bayes_dp.plots.style import (
    BLUE,
    GREY,
    axes_of,
    dressed,
    explained_below,
    ink,
    look_at,
    named_places,
    next_place,
    shortened,
)
from bayes_dp.plots.style import label as letter
from bayes_dp.support.text import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.bayes.compare_families import FamilyComparison
    from bayes_dp.bayes.levels.curves_average import CurvesAverage

__all__ = ["families"]


def families(
    found: FamilyComparison | CurvesAverage,
    ax: Axes | None = None,
    prob: float = 0.9,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """A bar for each family: its weight. Beside it, by how many nats its evidence is below the best, and its ε.

    `found` is a comparison of families by counts, or an average of `estimate_curves`, of scores. The bars are grey
    where these do not tell which family is right. On axes that have families already, the new ones stand below.

    >>> ax = bdp.plots.families(bdp.compare_families(bdp.ErrorCounts(10, 100, 20, 100), 1e-3))
    >>> ax.get_title()
    'the counts do not tell which family'
    >>> ax.texts[0].get_text()
    '-0.2 nats, ε 1.842 to 5.586'
    """
    from bayes_dp.bayes.compare_families import FamilyComparison
    from bayes_dp.bayes.levels.curves_average import CurvesAverage

    data = "counts"
    if isinstance(found, CurvesAverage):
        data = "scores"
        found = FamilyComparison(found.posteriors, {name: post.log_evidence for name, post in found.posteriors.items()})
    if not isinstance(found, FamilyComparison):
        raise InputError(
            "found must be a FamilyComparison, as bayes_dp.compare_families gives it, or an average of"
            f" bayes_dp.estimate_curves, not {type(found).__name__}"
        )
    symbol = letter(next(iter(found.posteriors.values())).parameter)
    rows = found.rows(one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True))
    ax = axes_of(ax, height=0.9 + 0.45 * len(rows))
    look = look_at(ax, "families", "comparison", label, color)
    first = next_place(look, ax.get_ylim()[0] - 0.2)
    best = max(row["log_evidence"] for row in rows)
    for place, row in enumerate(rows, first):
        colour = look.hue(BLUE) if found.told and row["log_evidence"] == best else GREY
        ax.barh(place, row["weight"], height=0.3, color=colour, linewidth=0)
        below = row["log_evidence"] - best
        ends = f"{symbol} {digits(row['low'])} to {digits(row['high'])}"
        words = f"{'best' if below == 0 else f'{below:.1f} nats'}, {ends}"
        ax.text(0.01, place - 0.22, words, fontsize="x-small", ha="left", va="bottom", color=ink(ax))
    named_places(ax.yaxis, look, range(first, first + len(rows)), [shortened(row["family"]) for row in rows])
    ax.set_xlim(0, 1)
    ax.set_ylim(first + len(rows) - 0.6, -0.85)
    said = f"the {data} " + (f"favour {shortened(found.best)}" if found.told else "do not tell which family")
    ax.plot([], [], color=look.hue(BLUE), linewidth=4.0, label=look.words(said) if look.name else "_", gid="families")
    dressed(ax, "weight", "", "" if look.name else said)
    if look.name:
        explained_below(ax)
    return ax
