"""What a posterior predicts of the counts, beside those that it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import one_number, seed_of
from bayes_dp.plots.style import (
    BLUE,
    GREY,
    ORANGE,
    axes_of,
    dressed,
    explained_below,
    family_of,
    known,
    look_at,
    named_places,
    next_place,
    posterior_of,
    shortened,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.results.posterior import Posterior

__all__ = ["predictive"]

_SIZE = 2000  # draws
_FEW = 40  # bases, beyond which marks are small
_NAMED = 10  # bases, beyond which there are no names


def predictive(
    post: Posterior,
    ax: Axes | None = None,
    prob: float = 0.9,
    *,
    seed: int = 0,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The share of false negatives of every base, and where the posterior expects that of a new base at its place.

    A new base is attacked at the same false positive rate, and gets a level of its own from the layer. The bases are in
    the order of their shares. Where the dots leave the grey intervals, or all are on one side of the medians, the bases
    are not spread as the model says. A share of at most 1 − `prob` may well lie outside, usually less, for the counts
    took part in the prediction. `bdp.check` has the tests. On axes that have bases already,
    the new ones stand to the right.

    >>> ax = bdp.plots.predictive(bdp.estimate(bdp.datasets.mnist_a4(), 1e-3, family="gaussian"))
    >>> ax.get_title()
    '0 of 20 bases outside, gaussian family'
    """
    from bayes_dp.bayes.checks.model_check import new_counts

    posterior_of(post)
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    missed = new_counts(post, _SIZE, seed_of(seed))[1]
    counts = post.counts
    share = counts.false_negatives / counts.positives
    ends = np.quantile(missed, [(1 - prob) / 2, 0.5, (1 + prob) / 2], axis=0, method="inverted_cdf")
    low, middle, high = ends / counts.positives
    outside = (share < low) | (share > high)
    ax = axes_of(ax, height=3.0)
    look = look_at(ax, "predictive", "posterior", label, color)
    order, place = np.lexsort((middle, share)), next_place(look, ax.get_xlim()[1]) + np.arange(len(share))
    few = len(share) <= _FEW
    words = look.words(f"expected, {100 * prob:g}% interval and median")
    ax.vlines(place, low[order], high[order], color=GREY, linewidth=3.0 if few else 0.8, alpha=0.6, label=words)
    size = 6 if few else 1.5
    ax.plot(place, middle[order], color=GREY, marker="_", markersize=size, linestyle="none", gid="predictive")
    family = family_of(post)
    model = known(post) if family is None else f"{family.name} family"
    bases = "base" if len(share) == 1 else "bases"
    title = f"{int(outside.sum())} of {len(share)} {bases} outside, {model}"
    for which, own, marker, said in ((~outside, BLUE, "o", "observed"), (outside, ORANGE, "D", "observed, outside")):
        at = which[order]
        if at.any():
            size, colour = 4.0 if few else 1.8, look.hue(own)
            words = look.words(said if not look.number else f"{said}: {int(at.sum())} of {len(at)}")
            ax.plot(place[at], share[order][at], marker, color=colour, markersize=size, label=words)
    dressed(ax, f"{bases}, by their false negatives", "false negative rate", title if not look.number else " ")
    names = counts.base or tuple(map(str, range(len(share))))
    named = len(share) <= _NAMED
    if named:
        named_places(ax.xaxis, look, place, [shortened(names[i]) for i in order])
    elif not look.number:
        ax.set_xticks([])
    ax.set_xlim(-0.7, place[-1] + 0.7)
    ax.set_ylim(-0.02, 1.02)
    explained_below(ax)
    return ax
