"""How far the attack on each base comes: the levels of a posterior of a family."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError, one_number
from bayes_dp.plots.style import (
    BLUE,
    GREY,
    axes_of,
    check_shared,
    dressed,
    explained_below,
    look_at,
    named_places,
    next_place,
    shortened,
    veil,
)
from bayes_dp.plots.style import label as letter
from bayes_dp.results.posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["levels"]

_NAMED = 40  # bases beyond which rows have no names
_ROW, _THIN = 0.15, 0.02  # inches of a row with a name, and of one without
_DRAWS = 4000


def levels(
    post: Posterior, ax: Axes | None = None, prob: float = 0.9, label: str | None = None, color: Any = None
) -> Axes:
    """The median and the interval of the level of each base, the highest first: the member that its attack reaches.

    `post` is of a family; of an average of `estimate_curves` it is the most probable family. Grey is the interval of
    the family's parameter θ, of the training; the dotted line is the median of sθ, below which no level is.
    On axes that have levels of the same family already, the new ones stand below.

    >>> counts = bdp.ErrorCounts([5, 30, 8], 100, [20, 55, 90], 100, base=["Ann", "Bea", "Cay"])
    >>> ax = bdp.plots.levels(bdp.estimate(counts, family="gaussian"))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['Ann', 'Bea', 'Cay']
    """
    from bayes_dp.bayes.levels.curves_average import CurvesAverage
    from bayes_dp.bayes.levels.posterior import FamilyPosterior

    one = post.heaviest if isinstance(post, CurvesAverage) else post
    if not isinstance(one, FamilyPosterior):
        raise InputError(
            "post must be of a family of trade-off functions, as bayes_dp.estimate(counts, family=...) and"
            f" bayes_dp.estimate_curves give it, not {type(post).__name__}"
        )
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    family = one.family
    low, middle, high = np.quantile(one.levels(_DRAWS), [(1 - prob) / 2, 0.5, (1 + prob) / 2], axis=0)
    order = np.argsort(-middle, kind="stable")
    named = len(order) <= _NAMED
    ax = axes_of(ax, height=1.6 + (_ROW * len(order) if named else min(_THIN * len(order), 4.0)))
    name = letter(family.parameter)
    look = look_at(ax, "levels", "posterior", label, color)
    check_shared(ax, look, title=f"levels of the {shortened(family.name)} family")
    place = next_place(look, ax.get_ylim()[0]) + np.arange(len(order))
    above, below = place[0] - 0.6, place[-1] + 0.6
    bottom, top = one.interval(prob, parameter=family.parameter)
    words = look.words(f"{name} of the training, {100 * prob:g}%")
    shade, width = look.hue(GREY), top - bottom
    ax.barh(
        (above + below) / 2, width, below - above, bottom, color=shade, alpha=veil(ax, 0.2), linewidth=0, label=words
    )
    words, colour = look.words(f"level of a base, {100 * prob:g}%"), look.hue(BLUE)
    ax.hlines(place, low[order], high[order], color=colour, linewidth=1.3 if named else 0.5, label=words)
    size = 4 if named else 2
    ax.plot(middle[order], place, color=colour, marker="o", markersize=size, linestyle="none", gid="levels")
    if "strength" in one.marginals:
        draws = one.draws(_DRAWS)
        weakest = float(np.median(draws[family.parameter] * draws["strength"]))
        words = look.words(f"median of s{name}")
        ax.plot([weakest] * 2, [above, below], color=shade, linewidth=1.0, linestyle=":", label=words)
    if named:
        named_places(ax.yaxis, look, place, [shortened(one.bases[i]) for i in order])
    elif not look.number:
        ax.set_yticks([])
    ax.set_xlim(0.0, max(1.05 * max(top, float(high.max())), ax.get_xlim()[1] if look.number else 0.0))
    ax.set_ylim(place[-1] + 0.6, -0.6)
    title = f"levels of the {shortened(family.name)} family"
    dressed(ax, f"level, as {name}", "" if named else f"{len(order)} bases, the highest first", title)
    explained_below(ax)
    return ax
