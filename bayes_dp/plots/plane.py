"""The plane of error rates: what (ε, δ) allows, where attacks are in it, and what that says of the boundary.

Figures 1 and 3 of Yildirim et al. (2025) are of this kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.attacks.lira import Curve
from bayes_dp.audits.profile import Profile
from bayes_dp.beta import clopper_pearson_lower, clopper_pearson_upper
from bayes_dp.checks import InputError, one_number, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.loss_table import LossTable
from bayes_dp.plots.style import (
    BLUE,
    CYCLE,
    GREY,
    Look,
    axes_of,
    check_look,
    dressed,
    explained_below,
    family_of,
    ink,
    known,
    look_at,
    look_of,
    orders_of,
    posterior_of,
    shortened,
    title_of,
    veil,
)
from bayes_dp.plots.style import label as letter
from bayes_dp.region import corner
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.tradeoff import approx_dp

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from bayes_dp.results.posterior import Posterior
    from bayes_dp.tradeoff import TradeOffFunction

__all__ = ["SHADES", "roc_plane", "tradeoff"]


SHADES = (0.99, 0.95, 0.9, 0.8, 0.65, 0.5, 0.35, 0.2, 0.1)  # probabilities of the nested bands
_OPACITY = 0.13
_TRADE_OFF = "trade-off"  # marks the curves of `tradeoff`
_PLANE = "rates"  # marks what `roc_plane` has drawn


def roc_plane(
    attacks: ErrorCounts | Curve | LossTable | None = None,
    ax: Axes | None = None,
    *,
    post: Posterior | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    strength: float = 0.0,
    prob: float = 0.9,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """False positive rates against false negative rates.

    Parameters
    ----------
    attacks : counts, whose rates are dots with exact (Clopper-Pearson) intervals of the confidence `prob`; or a curve
        of counts, or losses, whose rates are lines, one for each base: those of the losses at all thresholds. Those of
        the scores of a posterior of curves are drawn by default.
    post : a posterior of ε, of a family, or of curves: its lower boundary is shaded, the darker the more probable, with
        a line at the median.
    epsilon, delta, strength : of a layer R_s(ε, δ), which is filled; δ may be left out if `post` has it.
    label, color : the name in the legend and the colour of all that is given. By default what is drawn on axes that
        have attacks or a posterior already has a name and a colour of its own.

    >>> ax = bdp.plots.roc_plane(bdp.ErrorCounts(10, 100, 20, 100), epsilon=1.0, delta=0.0, strength=0.5)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('false positive rate α', 'false negative rate β')
    """
    if attacks is not None and not isinstance(attacks, ErrorCounts | Curve | LossTable):
        raise InputError(f"attacks must be ErrorCounts, a Curve or a LossTable, not {type(attacks).__name__}")
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    if post is not None:
        _with_curve(post)
    delta = post.provenance.known.get("delta") if delta is None and post is not None else delta
    if (epsilon is None) != (delta is None) and post is None:
        raise InputError(
            f"epsilon and delta need each other, but {'epsilon' if epsilon is None else 'delta'} is missing"
        )
    strength = one_number("strength", strength, 0.0, 1.0, high_open=True)
    if epsilon is not None and delta is not None:
        epsilon, delta = one_number("epsilon", epsilon, 0.0, high_open=True), one_number("delta", delta, 0.0, 1.0)
    elif strength > 0:
        raise InputError("strength needs epsilon and delta, whose layer it is of")
    if epsilon is None and post is None and attacks is None:
        raise InputError("there is nothing to draw: give attacks, a posterior, or epsilon and delta")
    check_look(label, color)
    ax = axes_of(ax, height=3.7)
    look = look_at(ax, _PLANE, "attacks", label, color)
    if epsilon is not None and delta is not None:
        _layer(ax, epsilon, delta, strength, look)
    if post is not None:
        _boundaries(ax, post, look)
    ax.plot([0, 1], [1, 0], color=GREY, linewidth=0.8, linestyle=":", zorder=1, gid=_PLANE)
    if isinstance(attacks, ErrorCounts):
        _rates(ax, attacks, prob, look)
    elif isinstance(attacks, LossTable):
        _at_all_thresholds(ax, attacks, look)
    elif attacks is None and post is not None and (orders := orders_of(post)) is not None:
        _at_all_ranks(ax, orders.labels, look)
    elif attacks is not None:
        x, y = attacks.false_positives / attacks.negatives, attacks.false_negatives / attacks.positives
        lines = ax.plot(x, y, color=look.hue(ink(ax)), linewidth=0.6, alpha=0.6)
        lines[0].set_label(look.words("one attack at many α*"))
    title = "" if post is None else f"Attacks, and the posterior {_given(post)}"
    dressed(ax, "false positive rate α", "false negative rate β", title_of(ax, look, title))
    ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
    explained_below(ax)
    return ax


def tradeoff(
    post: Posterior | Profile,
    ax: Axes | None = None,
    prob: float = 0.9,
    others: Mapping[str, TradeOffFunction] | None = None,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The trade-off function under the posterior: its median, and the band of the probability `prob`.

    Of a whole profile of `audits.profile`: what it is below, and the bounds of the error rates at all thresholds.

    It is that of (ε, δ)-DP or, if the posterior is of a family, of its member. f falls with ε, or with the family's
    parameter, at every α, so the band is that between the ends of its interval. For an average of `estimate_curves` the
    median and the band are those at each α by itself. `others` are trade-off functions to compare with, by the names to
    show.

    >>> post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> ax = bdp.plots.tradeoff(post, others={"Gaussian, μ = 2": bdp.tradeoff.Gaussian(2.0)})
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['90% band', 'median, ε = 2.71', 'Gaussian, μ = 2']
    """
    if not isinstance(post, Profile):
        _with_curve(post)
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    alpha = _alphas()
    curves = _curves(others, alpha)
    check_look(label, color)
    ax = axes_of(ax, height=3.2)
    if isinstance(post, Profile):
        share = f"{100 * post.confidence:g}%"
        colour, words, _ = look_of(ax, _TRADE_OFF, f"f at most, {share}", label, color)
        ax.plot(post.alpha, post.beta, ".", color=GREY, markersize=2, label=f"rates at most, {share}")
        ax.plot(alpha, post.tradeoff()(alpha), color=colour, linewidth=1.6, label=words, gid=_TRADE_OFF)
    else:
        ends = _of_post(post, ((1 - prob) / 2, 0.5, (1 + prob) / 2), alpha)
        middle = f"{label or 'median'}, {_middle(post)}"
        colour, _, more = look_of(ax, _TRADE_OFF, middle, label, color)
        share = "_" if more else f"{prob * 100:g}% band"
        ax.fill_between(alpha, ends[2], ends[0], color=colour, alpha=veil(ax, 0.25), linewidth=0, label=share)
        ax.plot(alpha, ends[1], color=colour, linewidth=1.6, label=middle, gid=_TRADE_OFF)
    for (name, curve), colour, style in zip(curves.items(), CYCLE[1:], ("--", "-.", ":") * 2, strict=False):
        ax.plot(alpha, curve, color=colour, linewidth=1.4, linestyle=style, label=name)
    ax.plot([0, 1], [1, 0], color=GREY, linewidth=0.8, linestyle=":")
    dressed(
        ax,
        "false positive rate α",
        "least false negative rate",
        f"Trade-off function {'(all thresholds)' if isinstance(post, Profile) else _given(post)}",
    )
    ax.set(xlim=(0, 1), ylim=(0, 1))
    explained_below(ax)
    return ax


def _curves(others: Mapping[str, TradeOffFunction] | None, alpha: Floats) -> dict[str, Floats]:
    """The values of the trade-off functions, by their names."""
    if others is not None and not isinstance(others, Mapping):
        raise InputError(f"others must be a mapping from names to trade-off functions, not {type(others).__name__}")
    for name, function in (others or {}).items():
        if not isinstance(name, str) or not callable(function):
            raise InputError(f"others must have trade-off functions by their names, not {show(name)}: {show(function)}")
    return {name: function(alpha) for name, function in (others or {}).items()}


def _privacy(post: Posterior, value: float) -> tuple[float, float]:
    """(ε, δ) at a value of the posterior's parameter."""
    given = post.provenance.known
    return (value, given["delta"]) if post.parameter == "epsilon" else (given["epsilon"], value)


def _alphas() -> Floats:
    """Points of [0, 1], dense at its ends, where a trade-off function turns."""
    small = np.geomspace(1e-5, 0.1, 200)
    return np.unique(np.concatenate([[0.0, 1.0], small, 1 - small, np.linspace(0.1, 0.9, 400)]))


def _lower(epsilon: float, delta: float) -> Floats:
    """The vertices (3, 2) of the lower boundary of R(ε, δ)."""
    x = float(corner(epsilon, delta))
    return np.array([[0.0, 1 - delta], [x, x], [1 - delta, 0.0]])


def _layer(ax: Axes, epsilon: float, delta: float, strength: float, look: Look) -> None:
    """R(ε, δ) without its inner part R(sε, sδ)."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    colour, outlines = look.hue(BLUE), []
    for scale, style in ((1.0, "-"), (strength, "--"))[: 1 + (strength > 0)]:
        lower = _lower(scale * epsilon, scale * delta)
        outline = np.concatenate([lower, [[1.0, 0.0]], 1 - lower, [[0.0, 1.0]], lower[:1]])
        outlines.append(Path(outline if scale == 1.0 else outline[::-1], closed=True))  # the other way round: a hole
        names = look.words(f"ε = {epsilon:g}, δ = {delta:g}" if scale == 1.0 else f"s = {strength:g}")
        for part, words in ((lower, names), (1 - lower, "_")):
            ax.plot(*part.T, color=colour, linewidth=1.3, linestyle=style, label=words, zorder=1.5)
    ring = Path.make_compound_path(*outlines)
    ax.add_patch(PathPatch(ring, facecolor=colour, alpha=veil(ax, 0.18), linewidth=0, zorder=0))


def _boundaries(ax: Axes, post: Posterior, look: Look) -> None:
    """Nested bands between the lower boundaries at quantiles of the posterior."""
    words = look.words(f"boundary, posterior bands {SHADES[-1]:.0%} to {SHADES[0]:.0%}")
    tails = [(1 - probability) / 2 for probability in SHADES]
    *ends, middle = _boundary(post, [*tails, *(1 - tail for tail in tails), 0.5])
    for low, high in zip(ends[: len(tails)], ends[len(tails) :], strict=True):
        outline = np.concatenate([low, high[::-1]])
        ax.fill(*outline.T, color=look.hue(ink(ax)), alpha=_OPACITY, linewidth=0, zorder=1.2, label=words)
        words = "_"  # once in the legend
    words = look.words(f"boundary at the median, {_middle(post)}")
    ax.plot(*middle.T, color=look.hue(BLUE), linewidth=1.0, label=words, zorder=1.6)


def _boundary(post: Posterior, probability: Sequence[float]) -> list[Floats]:
    """The lower boundary at quantiles of the posterior, as points (k, 2)."""
    if family_of(post) or _averaged(post):
        alpha = _alphas()
        return [np.stack([alpha, beta], axis=1) for beta in _of_post(post, probability, alpha)]
    return [_lower(*_privacy(post, float(value))) for value in post.quantile(probability)]


def _of_post(post: Posterior, probability: Sequence[float], alpha: Floats) -> list[Floats]:
    """f(α) at quantiles of the posterior; f falls as it becomes less private."""
    if _averaged(post):
        averaged: Any = post
        return list(averaged.curve_quantiles(alpha, [1.0 - p for p in probability]))
    if family := family_of(post):
        return [family(alpha, value) for value in post.quantile(probability, family.parameter)]
    return [approx_dp(alpha, *_privacy(post, float(value))) for value in post.quantile(probability)]


def _middle(post: Posterior) -> str:
    """The median in words, of the parameter that the curve has."""
    if _averaged(post):
        return "at each α"
    family = family_of(post)
    name = family.parameter if family else post.parameter
    return f"{letter(name)} = {float(post.quantile(0.5, name)):.3g}"


def _given(post: Posterior) -> str:
    """Whose curve it is."""
    if family := family_of(post):
        return f"({shortened(family.name)})"
    if _averaged(post):
        return "(average of families)"
    return f"given {known(post)}"


def _averaged(post: Posterior) -> bool:
    from bayes_dp.bayes.levels.average import AveragePosterior

    return isinstance(post, AveragePosterior)


def _with_curve(post: Any) -> None:
    """Refuse what is no posterior, or has no one curve."""
    if _averaged(posterior_of(post)) and orders_of(post) is None:
        raise InputError("post averages families, which have curves of their own: give one of its `posteriors`")


def _rates(ax: Axes, counts: ErrorCounts, prob: float, look: Look) -> None:
    """Dots with exact intervals of each rate."""
    tail = (1 - prob) / 2
    centres, arms = [], []
    for errors, runs in ((counts.false_positives, counts.negatives), (counts.false_negatives, counts.positives)):
        low, high = clopper_pearson_lower(errors, runs, tail), clopper_pearson_upper(errors, runs, tail)
        centres.append(errors / runs)
        arms.append(np.stack([errors / runs - low, high - errors / runs]))
    ax.errorbar(
        centres[0],
        centres[1],
        xerr=arms[0],
        yerr=arms[1],
        fmt="o",
        color=look.hue(ink(ax)),
        markersize=3,
        elinewidth=0.6,
        label=look.words(f"observed rates, {prob * 100:g}%"),
        zorder=3,
    )


def _at_all_ranks(ax: Axes, orders: Sequence[Ints], look: Look) -> None:
    """The rates of every base by the order of its labels, 1 for a score with the example, at all thresholds."""
    words = look.words("one base at all thresholds")
    for labels in orders:
        ones = np.append(0, np.cumsum(labels))  # below a threshold that is above so many scores
        zeros = np.arange(len(ones)) - ones
        x, y = 1.0 - zeros / zeros[-1], ones / ones[-1]
        ax.plot(x, y, color=look.hue(ink(ax)), linewidth=0.6, alpha=0.6, label=words)
        words = "_"  # once in the legend


def _at_all_thresholds(ax: Axes, losses: LossTable, look: Look) -> None:
    """The rates of every base if a run is taken for one with the example where its loss is at most a threshold."""
    words = look.words("one base at all thresholds")
    for without, with_ in zip(losses.without, losses.with_, strict=True):
        threshold = np.unique(np.concatenate([without, with_]))
        called = [np.searchsorted(np.sort(side), threshold, side="right") / len(side) for side in (without, with_)]
        x, y = np.append(0.0, called[0]), np.append(1.0, 1.0 - called[1])
        ax.plot(x, y, color=look.hue(ink(ax)), linewidth=0.6, alpha=0.6, label=words)
        words = "_"  # once in the legend
