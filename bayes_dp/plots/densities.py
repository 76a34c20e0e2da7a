"""Densities of the posterior: the marginal of a parameter, the prior beside it, and ε with the attack strength."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number, show
from bayes_dp.plots.style import (
    BLUE,
    CURVES,
    ORANGE,
    axes_of,
    check_look,
    check_shared,
    dressed,
    explained,
    ink,
    known,
    look_at,
    marked,
    paper,
    posterior_of,
    title_of,
    veil,
)
from bayes_dp.plots.style import label as letter
from bayes_dp.results.posterior import check_draws
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.bayes.levels.posterior import FamilyPosterior
    from bayes_dp.results.posterior import Posterior

__all__ = ["joint", "posterior", "prior_posterior"]


_CURVE = "posterior density"  # marks the curves of `posterior` among the lines of the axes
_POINTS = 600
_BOTH = "prior and posterior"  # marks the posteriors of `prior_posterior`
_JOINT = "joint posterior"  # marks what `joint` has drawn
_SHARES = (0.9, 0.5)
_MESH = 160  # points a side
_DRAWS = 20_000
_RANGES = {"epsilon": (0.0, np.inf), "delta": (0.0, 1.0), "strength": (0.0, 1.0)}  # the others may be negative


def posterior(
    post: Posterior,
    ax: Axes | None = None,
    parameter: str | None = None,
    prob: float = 0.9,
    thresholds: ArrayLike = (),
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The marginal posterior density of a parameter with its equal-tailed interval shaded, and the prior dashed.

    The density is a curve where the posterior knows it, otherwise a histogram of draws. At each of `thresholds`, shape
    (k,), there is a line, and the legend says how probable it is that the parameter is above.

    On axes that have a posterior already, the new one stands beside it: the limits hold both. `label` is its name in
    the legend, by default "posterior", "posterior 2", …; `color` is by default the next one that is free.

    >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> ax = bdp.plots.posterior(post, thresholds=[2.0])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['posterior', '90%: 1.84 to 5.59', 'prior', 'P(ε > 2) = 0.889']
    """
    name = posterior_of(post).parameter if parameter is None else parameter
    low, high = post.interval(prob, parameter=name)
    limits = np.atleast_1d(numbers("thresholds", thresholds))
    if limits.ndim > 1:
        raise InputError(f"thresholds must be a number or numbers in a row, not of the shape {limits.shape}")
    check_look(label, color)
    ax = axes_of(ax)
    others = [line for line in ax.get_lines() if line.get_gid() == _CURVE]
    if others and ax.get_xlabel() != letter(name, short=False):
        raise InputError(f"ax shows {ax.get_xlabel()}, so that {letter(name, short=False)} needs axes of its own")
    colour = CURVES[len(others) % len(CURVES)] if color is None else color
    curve = label or (f"posterior {len(others) + 1}" if others else "posterior")
    start, end = _span(post, name)
    if limits.size:
        start, end = min(start, limits.min()), max(end, limits.max() + 0.03 * (end - start))
    x, density = _density(post, name, start, end)
    ax.plot(x, density, color=colour, linewidth=1.6, label=curve, gid=_CURVE)
    _shade(ax, x, density, (low, high), f"{prob * 100:g}%: {low:.3g} to {high:.3g}", colour)
    if others:
        before = ax.get_xlim()
        start, end = min(start, before[0]), max(end, before[1])
    ax.set_xlim(start, end)
    _draw_prior(ax, post, name, f"prior of {curve}" if others else "prior", colour if others else ORANGE)
    lines = colour if others else ink(ax)
    for limit, style in zip(limits, ("-", "--", ":", "-.") * limits.size, strict=False):
        words = f"P({letter(name)} > {limit:g}) {_in_words(post.prob_above(limit, name))}"
        ax.vlines(limit, 0, 1.05 * density.max(), color=lines, linewidth=0.9, linestyle=style, label=words)
    title = f"Posterior of {letter(name)}"
    given = f"{title} given {known(post)}"
    dressed(ax, letter(name, short=False), "density", title if others and ax.get_title() != given else given)
    ax.set_ylim(bottom=0)
    explained(ax, above=True)
    return ax


def _draw_prior(ax: Axes, post: Posterior, name: str, words: str, colour: Any) -> None:
    """The prior along the whole axis, once for all posteriors on these axes that have it."""
    prior = _prior(post, name)
    if prior is None:
        return
    mark = f"prior {post.provenance.priors.get(name, name)}"
    for line in ax.get_lines():
        if line.get_gid() == mark:
            words, colour = str(line.get_label()), line.get_color()
            line.remove()
    x = np.linspace(*ax.get_xlim(), 2 * _POINTS + 1)[1::2]
    ax.plot(x, prior.density(x), color=colour, linewidth=1.3, linestyle="--", label=words, gid=mark)


def prior_posterior(
    post: Posterior,
    ax: Axes | None = None,
    parameter: str | None = None,
    prob: float = 0.9,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """What the counts have taught: the prior and the posterior density of a parameter, their medians and intervals.

    The bars below are the equal-tailed intervals, with a dot at the median. On axes that have a posterior already, the
    new one stands beside it, with its prior if that is another one.

    >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> ax = bdp.plots.prior_posterior(post)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['posterior, 90%: 1.84 to 5.59', 'prior, 90%: 0.198 to 6.2']
    """
    name = posterior_of(post).parameter if parameter is None else parameter
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    ends = np.array([(1 - prob) / 2, 0.5, (1 + prob) / 2])
    after = post.interval(prob, parameter=name)
    prior = _prior(post, name)
    if prior is None:
        text = show(post.provenance.priors.get(name))
        raise InputError(f"the prior of {name} cannot be drawn, as {text} cannot be read")
    ax = axes_of(ax)
    look = look_at(ax, _BOTH, "posterior", label, color)
    check_shared(ax, look, x=letter(name, short=False))
    before = prior.quantile(ends)
    start, end = _span(post, name)
    start, end = min(start, float(prior.quantile(0.003))), max(end, float(prior.quantile(0.97)))
    if look.number:
        left, right = ax.get_xlim()
        start, end = min(start, left), max(end, right)
    x, density = _density(post, name, start, end)
    its_prior = f"prior {post.provenance.priors.get(name, name)}"
    lines = [("posterior", look.hue(BLUE), "-", density, (after[0], float(post.quantile(0.5, name)), after[1]), _BOTH)]
    if not marked(ax, its_prior):
        colour = look.hue(ORANGE) if look.number else ORANGE
        lines.append(("prior", colour, "--", prior.density(x), tuple(before), its_prior))
    top = max(density.max(), float(ax.dataLim.y1) if look.number else 0.0)
    floor = float(ax.dataLim.y0) if look.number else 0.0  # of the bars that there are
    for place, (what, colour, style, height, (low, middle, high), mark) in enumerate(lines, 1):
        words = look.words(f"{what}, {prob * 100:g}%: {low:.3g} to {high:.3g}")
        ax.plot(x, height, color=colour, linewidth=1.6, linestyle=style, label=words, gid=mark)
        ax.fill_between(x, height, color=colour, alpha=veil(ax, 0.15), linewidth=0)
        y = floor - 0.07 * place * top
        ax.plot([low, high], [y, y], color=colour, linewidth=2.2, solid_capstyle="butt")
        ax.plot([middle], [y], color=colour, marker="o", markersize=4)
    ax.axhline(0, color=ink(ax), linewidth=0.6)
    title = title_of(ax, look, f"Prior and posterior of {letter(name)} given {known(post)}")
    dressed(ax, letter(name, short=False), "density", title)
    ax.set_xlim(start, end)
    ax.set_ylim(bottom=floor - 0.07 * (len(lines) + 1) * top)
    explained(ax, above=True)
    _no_ticks_below_zero(ax)
    return ax


def _no_ticks_below_zero(ax: Axes) -> None:
    from matplotlib.ticker import AutoLocator

    ax.yaxis.set_major_locator(AutoLocator())
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= ax.get_ylim()[1]])


def joint(
    post: Posterior,
    ax: Axes | None = None,
    *,
    size: int = _DRAWS,
    seed: int = 0,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The joint posterior of the privacy parameter and the attack strength.

    Where the posterior knows its density, contours hold the 50% and the 90% of it that are densest; of a sampler there
    is a hexagonal histogram of `size` draws. Above and beside are the marginal densities, in axes that belong to `ax`
    (its `child_axes`). On axes that have such a figure already the limits hold both; `label` is the name in the legend.

    >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> ax = bdp.plots.joint(post)
    >>> ax.get_xlabel(), ax.get_ylabel(), len(ax.child_axes)
    ('ε', 'attack strength s', 2)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['90%', '50%']
    """
    if "strength" not in posterior_of(post).marginals:
        raise InputError("the joint posterior needs a free attack strength; here the strength is fixed")
    size, seed = check_draws(size, seed)
    check_look(label, color)
    ax = axes_of(ax, height=3.0)
    before = [part for part in ax.child_axes if part.get_gid() == _JOINT]
    colour = CURVES[len(before) // 2 % len(CURVES)] if color is None else color
    spans = {name: _span(post, name) for name in (post.parameter, "strength")}
    if _contours(ax, post, spans, colour, label) is None:
        _hexagons(ax, post.draws(size, seed), spans, colour, label)
    dressed(ax, letter(post.parameter, short=False), letter("strength", short=False), f"Posterior given {known(post)}")
    (left, right), (bottom, top) = spans.values()
    if before:
        (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
        left, right, bottom, top = min(left, x0), max(right, x1), min(bottom, y0), max(top, y1)
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    for name, bounds in ((post.parameter, (0.0, 1.02, 1.0, 0.2)), ("strength", (1.02, 0.0, 0.2, 1.0))):
        beside = ax.inset_axes(bounds)
        beside.set_axis_off()
        beside.set_gid(_JOINT)
        x, density = _density(post, name, *spans[name])
        fill = beside.fill_betweenx if name == "strength" else beside.fill_between
        fill(x, density, color=colour, alpha=veil(ax, 0.35), linewidth=0)
    for part in ax.child_axes:  # those of all posteriors on these axes have one scale
        if part.get_gid() == _JOINT:
            upright = part.get_position().height > part.get_position().width
            part.set(**({"ylim": (bottom, top)} if upright else {"xlim": (left, right)}))
    explained(ax)
    return ax


def _contours(
    ax: Axes, post: Posterior, spans: Mapping[str, tuple[float, float]], colour: Any, label: str | None
) -> Floats | None:
    """The regions of highest density of each of `_SHARES`; their least densities, or None for a posterior by draws."""
    x, y = (start + (end - start) * (np.arange(_MESH) + 0.5) / _MESH for start, end in spans.values())
    density = post._joint_density(x, y)
    if density is None:
        return None
    held = np.sort(density, axis=None)[::-1]
    # The axes hold nearly all, but not quite: the shares are of the whole.
    cumulative = np.cumsum(held) / held.sum()
    levels = held[np.searchsorted(cumulative, _SHARES)]
    name, clear = "" if label is None else f"{label}, ", 1.0
    for share, level, opacity in zip(_SHARES, levels, (veil(ax, 0.2), veil(ax, 0.45)), strict=True):
        filled = ax.contourf(x, y, density.T, levels=[level, np.inf], colors=[colour], alpha=opacity)
        filled.set_gid(_JOINT)
        ax.contour(x, y, density.T, levels=[level], colors=[colour], linewidths=1.0)
        clear *= 1.0 - opacity  # the regions lie over each other
        ax.fill([], [], color=colour, alpha=1.0 - clear, linewidth=0, label=f"{name}{share:.0%}")
    return levels


def _hexagons(
    ax: Axes, draws: Mapping[str, Floats], spans: Mapping[str, tuple[float, float]], colour: Any, label: str | None
) -> None:
    """A histogram of draws in hexagons."""
    from matplotlib.colors import LinearSegmentedColormap

    ends = [end for span in spans.values() for end in span]
    cells = ax.hexbin(
        *(draws[name] for name in spans),
        gridsize=(44, 26),  # regular hexagons at the usual proportions of a figure
        extent=(ends[0], ends[1], ends[2], ends[3]),
        mincnt=1,
        cmap=LinearSegmentedColormap.from_list("", [paper(ax), colour]),
        linewidths=0.2,
    )
    most = float(np.max(np.asarray(cells.get_array())))
    cells.set_clim(-0.15 * most, most)  # so that a cell with a single draw is not white
    ax.fill([], [], color=colour, linewidth=0, label=label or "draws")


def _in_words(probability: float) -> str:
    """Three digits after the point, and no 0 or 1 that is not quite one."""
    if 0.001 <= probability <= 0.999:
        return f"= {probability:.3f}"
    return "< 0.001" if probability < 0.5 else "> 0.999"


def _shade(ax: Axes, x: Floats, density: Floats, ends: tuple[float, float], words: str, colour: Any) -> None:
    """Fill the area under the density between two ends."""
    low, high = ends
    inside = (x > low) & (x < high)
    at_low, at_high = np.interp([low, high], x, density)
    ax.fill_between(
        [low, *x[inside], high],
        [at_low, *density[inside], at_high],
        color=colour,
        alpha=veil(ax, 0.25),
        linewidth=0,
        label=words,
    )


def _span(post: Posterior, name: str) -> tuple[float, float]:
    """The part of the axis that holds nearly all of the posterior, from zero where that is near."""
    low, high = (float(end) for end in post.quantile([0.003, 0.997], name))
    margin = 0.1 * (high - low) or 0.1 * abs(high) or 1.0
    least, most = _RANGES.get(name, (-np.inf, np.inf))
    start = 0.0 if least == 0.0 and low <= 0.2 * high else low - margin
    return max(least, start), min(high + margin, most)


def _density(post: Posterior, name: str, start: float, end: float) -> tuple[Floats, Floats]:
    """The ends of a line (m,) and the posterior density along it."""
    if not post.samples:
        x = np.linspace(start, end, 2 * _POINTS + 1)[1::2]  # not the very ends, where a density may be infinite
        return x, post.pdf(x, name)
    draws = post.draws(_DRAWS)[name]
    counts, edges = np.histogram(draws, bins=60, range=(start, end))
    return np.repeat(edges, 2)[1:-1], np.repeat(counts / (len(draws) * np.diff(edges)), 2)


class _Prior:
    """A prior's density and quantiles, by sums over nodes that are dense at the ends of its support."""

    def __init__(self, name: str, prior: Any) -> None:
        from bayes_dp.bayes import priors

        self._log_density = priors.log_density(prior)
        low, high = priors.support(name, prior)
        u = (np.arange(20_000) + 0.5) / 20_000
        if np.isinf(high):
            self._x = low + 2 * np.tan(np.pi * u / 2) ** 2
            rate = np.tan(np.pi * u / 2) * (1 + np.tan(np.pi * u / 2) ** 2)
        else:
            self._x = low + (high - low) * np.sin(np.pi * u / 2) ** 2
            rate = np.sin(np.pi * u)
        mass = np.exp(self._log_density(self._x)) * rate
        self._cumulative = np.cumsum(mass) / mass.sum()

    def density(self, x: Floats) -> Floats:
        return np.exp(self._log_density(x))

    def quantile(self, probability: Any) -> Any:
        return np.interp(probability, self._cumulative, self._x)


class _PriorOfFamily:
    """The same of a parameter of a family, from the quantiles of its prior, which may have none at 0."""

    def __init__(self, post: FamilyPosterior, name: str) -> None:
        self.quantile = partial(post.prior_quantile, parameter=name)
        p = (np.arange(2 * _POINTS) + 0.5) / (2 * _POINTS)
        x = self.quantile(p)
        kept = np.append(True, np.diff(x) > 0) & (x > 0)
        self._x, self._density = x[kept], np.gradient(p[kept], x[kept])

    def density(self, x: Floats) -> Floats:
        return np.asarray(np.interp(x, self._x, self._density, right=0.0))


def _prior(post: Posterior, name: str) -> _Prior | _PriorOfFamily | None:
    """The prior of a parameter, or None where its description cannot be read back."""
    from bayes_dp.bayes import priors
    from bayes_dp.bayes.levels.posterior import FamilyPosterior

    if isinstance(post, FamilyPosterior):
        return _PriorOfFamily(post, name)
    try:
        return _Prior(name, priors.read(post.provenance.priors[name]))
    except (InputError, KeyError):
        return None
