"""How far the attack on each base comes: the levels of a posterior of a family."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayes_dp.checks import InputError, one_number
from bayes_dp.plots.style import BLUE, GREY, axes_of, dressed, explained_below, label, shortened
from bayes_dp.results.posterior import Posterior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["levels"]

_NAMED = 40  # bases beyond which rows have no names
_ROW, _THIN = 0.15, 0.02  # inches of a row with a name, and of one without
_DRAWS = 4000


def levels(post: Posterior, ax: Axes | None = None, prob: float = 0.9) -> Axes:
    """The median and the interval of the level of each base, the highest first: the member that its attack reaches.

    `post` is of a family; of an average of `estimate_curves` it is the most probable family. Grey is the interval of
    the family's parameter θ, of the training; the dotted line is the median of sθ, below which no level is.

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
    place, name = np.arange(len(order)), label(family.parameter)
    bottom, top = one.interval(prob, parameter=family.parameter)
    ax.axvspan(bottom, top, color=GREY, alpha=0.2, linewidth=0, label=f"{name} of the training, {100 * prob:g}%")
    if "strength" in one.marginals:
        draws = one.draws(_DRAWS)
        weakest = float(np.median(draws[family.parameter] * draws["strength"]))
        ax.axvline(weakest, color=GREY, linewidth=1.0, linestyle=":", label=f"median of s{name}")
    words = f"level of a base, {100 * prob:g}%"
    ax.hlines(place, low[order], high[order], color=BLUE, linewidth=1.3 if named else 0.5, label=words)
    ax.plot(middle[order], place, color=BLUE, marker="o", markersize=4 if named else 2, linestyle="none")
    ax.set_yticks(place if named else [], [shortened(one.bases[i]) for i in order] if named else [])
    ax.set_xlim(0.0, 1.05 * max(top, float(high.max())))
    ax.set_ylim(len(order) - 0.4, -0.6)
    title = f"levels of the {shortened(family.name)} family"
    dressed(ax, f"level, as {name}", "" if named else f"{len(order)} bases, the highest first", title)
    explained_below(ax)
    return ax
