"""The figures. Each function draws into the `ax` it is given (or a new one) and returns it; nothing global is changed.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.result import Posterior

__all__ = ["joint", "posterior"]

Floats = NDArray[np.float64]

_BLUE, _ORANGE = "#0072b2", "#d55e00"
_LABELS = {"epsilon": "ε", "delta": "δ", "strength": "attack strength s"}
_POINTS = 600
_DRAWS = 20_000


def posterior(post: Posterior, ax: Axes | None = None, parameter: str | None = None, prob: float = 0.9) -> Axes:
    """The marginal posterior density of a parameter with its equal-tailed interval shaded, and the prior dashed.

    The density is a curve where the posterior knows it, otherwise a histogram of draws.
    """
    ax = _axes(ax)
    name = post.parameter if parameter is None else parameter
    low, high = post.interval(prob, parameter=name)
    start, end = _span(post, name)
    x, density = _density(post, name, start, end)
    ax.plot(x, density, color=_BLUE, linewidth=1.8, label="posterior")
    inside = (x > low) & (x < high)
    at_low, at_high = np.interp([low, high], x, density)
    ax.fill_between(
        [low, *x[inside], high],
        [at_low, *density[inside], at_high],
        color=_BLUE,
        alpha=0.25,
        linewidth=0,
        label=f"{prob * 100:g}% interval, {low:.3g} to {high:.3g}",
    )
    prior = _prior_density(post, name, x)
    if prior is not None:
        ax.plot(x, prior, color=_ORANGE, linewidth=1.4, linestyle="--", label="prior")
    ax.set(xlabel=_LABELS[name], ylabel="density", xlim=(start, end))
    ax.set_ylim(0, 1.3 * density.max())  # leaves room for the legend
    ax.set_title(f"Posterior of {_LABELS[name]} given {_known(post)}", fontsize="medium")
    ax.legend(loc="upper right", frameon=False, fontsize="small")
    return ax


def joint(post: Posterior, ax: Axes | None = None, *, size: int = _DRAWS, seed: int = 0) -> Axes:
    """The joint posterior of the privacy parameter and the attack strength, as a hexagonal histogram of draws."""
    if "strength" not in post.marginals:
        raise InputError("the joint posterior needs a free attack strength; here the strength is fixed")
    ax = _axes(ax)
    draws = post.draws(size, seed)
    (left, right), (bottom, top) = (_span(post, name) for name in (post.parameter, "strength"))
    cells = ax.hexbin(
        draws[post.parameter],
        draws["strength"],
        gridsize=(44, 26),  # regular hexagons at the usual proportions of a figure
        extent=(left, right, bottom, top),
        mincnt=1,
        cmap="Blues",
        linewidths=0.2,
    )
    most = float(np.max(np.asarray(cells.get_array())))
    cells.set_clim(-0.15 * most, most)  # so that a cell with a single draw is not white
    ax.set(xlabel=_LABELS[post.parameter], ylabel=_LABELS["strength"], xlim=(left, right), ylim=(bottom, top))
    ax.set_title(f"Joint posterior given {_known(post)} (darker: more probable)", fontsize="medium")
    return ax


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots()[1]


def _known(post: Posterior) -> str:
    return ", ".join(f"{_LABELS[name]} = {value:g}" for name, value in post.provenance.known.items())


def _span(post: Posterior, name: str) -> tuple[float, float]:
    """The part of the axis that holds nearly all of the posterior, from zero where that is near."""
    low, high = (float(end) for end in post.quantile([0.003, 0.997], name))
    margin = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    end = high + margin if name == "epsilon" else min(high + margin, 1.0)
    return max(0.0, low - margin) if low > 0.2 * high else 0.0, end


def _density(post: Posterior, name: str, start: float, end: float) -> tuple[Floats, Floats]:
    """The ends of a line (m,) and the posterior density along it."""
    if hasattr(post, "pdf"):
        x = np.linspace(start, end, 2 * _POINTS + 1)[1::2]  # not the very ends, where a density may be infinite
        return x, np.asarray(post.pdf(x, name))
    draws = post.draws(_DRAWS)[name]
    counts, edges = np.histogram(draws, bins=60, range=(start, end))
    return np.repeat(edges, 2)[1:-1], np.repeat(counts / (len(draws) * np.diff(edges)), 2)


def _prior_density(post: Posterior, name: str, x: Floats) -> Any:
    """The prior's density at x, or None where the description of the prior cannot be read back."""
    from bayes_dp.bayes import priors

    try:
        prior = priors.parse(post.provenance.priors[name])
    except InputError:
        return None
    return np.exp(priors.log_density(prior)(x))
