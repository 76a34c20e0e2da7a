"""Do the chains of a sampler agree, and do they move? Traces, ranks, autocorrelations, effective sample sizes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.checks import InputError, numbers, show, whole_number
from bayes_dp.plots.style import (
    BLUE,
    CYCLE,
    GREY,
    ORANGE,
    Look,
    axes_of,
    check_shared,
    dressed,
    explained,
    explained_below,
    held,
    ink,
    look_at,
    title_of,
    veil,
)
from bayes_dp.plots.style import label as letter
from bayes_dp.results import diagnostics
from bayes_dp.results.posterior import Posterior, WithChains
from bayes_dp.support.arrays import Floats
from bayes_dp.support.ranks import ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["autocorrelation", "ess", "rank", "trace"]


_FEWEST = 8  # draws of a chain
_LAGS = 100
_PLACES = 12  # numbers of draws at which the effective sample size is computed
_ENOUGH = 400.0  # effective draws, Vehtari et al. (2021)


def trace(
    post: Any, ax: Axes | None = None, parameter: str | None = None, label: str | None = None, color: Any = None
) -> Axes:
    """The draws in their order, a line for each chain; they should look like noise around one level.

    `post` is a posterior by sampling, or an array of draws (chains, draws). With a `label` or a `color`, and on axes
    that have chains already, all chains have one colour.

    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> ax = bdp.plots.trace(draws)
    >>> len(ax.lines), ax.get_xlabel()
    (4, 'draw')
    """
    draws, name = _chains(post, parameter)
    ax = axes_of(ax)
    look, colours = _looks(ax, "trace", draws, label, color)
    check_shared(ax, look, y=letter(name, short=False))
    x = np.arange(1, draws.shape[1] + 1)
    for chain, colour, marks in zip(draws, colours, _marks(look, "trace", draws), strict=True):
        ax.plot(x, chain, color=colour, linewidth=0.4, alpha=0.8, **marks)
    dressed(ax, "draw", letter(name, short=False), title_of(ax, look, f"{len(draws)} chains"))
    ax.set_xlim(1, max(draws.shape[1], ax.get_xlim()[1] if look.number else 1))
    if look.name:
        for line in explained_below(ax).get_lines():
            line.set_linewidth(1.6)
    return ax


def rank(
    post: Any,
    ax: Axes | None = None,
    parameter: str | None = None,
    bins: int = 20,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The ranks of each chain's draws among those of all, as histograms; they should all be flat.

    The chains follow each other closely if they have found the same law (Vehtari et al. 2021). With a `label` or a
    `color`, and on axes that have chains already, all chains have one colour.

    >>> ax = bdp.plots.rank(np.random.default_rng(0).normal(size=(4, 500)))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('rank of value among all draws', 'draws of a chain')
    """
    draws, name = _chains(post, parameter)
    bins = whole_number("bins", bins, 2)
    ax = axes_of(ax)
    look, colours = _looks(ax, "rank", draws, label, color)
    check_shared(ax, look, x=f"rank of {letter(name)} among all draws")
    places = ranks(draws.ravel()).reshape(draws.shape) / draws.size
    for chain, colour, marks in zip(places, colours, _marks(look, "rank", draws), strict=True):
        counts, edges = np.histogram(chain, bins=bins, range=(0, 1))
        ax.stairs(counts, edges, baseline=None, color=colour, linewidth=1.2, **marks)
    words = "_" if look.number else "all alike"
    ax.axhline(draws.shape[1] / bins, color=ink(ax), linewidth=0.9, linestyle="--", label=words)
    title = title_of(ax, look, f"{len(draws)} chains")
    dressed(ax, f"rank of {letter(name)} among all draws", "draws of a chain", title)
    ax.set_xlim(0, 1)
    ax.set_ylim(bottom=0)
    explained(ax, above=True)
    return ax


def autocorrelation(
    post: Any,
    ax: Axes | None = None,
    parameter: str | None = None,
    lags: int = _LAGS,
    label: str | None = None,
    color: Any = None,
) -> Axes:
    """The correlation of draws that are so many steps apart, a line for each chain; it should soon be within the band.

    The band is where 95% of the correlations of independent draws are. With a `label` or a `color`, and on axes that
    have chains already, all chains have one colour.

    >>> ax = bdp.plots.autocorrelation(np.random.default_rng(0).normal(size=(4, 500)), lags=20)
    >>> ax.get_xlabel(), ax.get_ylabel(), len(ax.lines)
    ('lag', 'autocorrelation of value', 5)
    """
    draws, name = _chains(post, parameter)
    whole_number("lags", lags, 1)
    ax = axes_of(ax)
    look, colours = _looks(ax, "autocorrelation", draws, label, color)
    check_shared(ax, look, y=f"autocorrelation of {letter(name)}")
    most = min(int(lags), draws.shape[1] - 1)
    for chain, colour, marks in zip(draws, colours, _marks(look, "autocorrelation", draws), strict=True):
        ax.plot(np.arange(most + 1), _correlations(chain, most), color=colour, linewidth=1.2, **marks)
    width = 1.96 / np.sqrt(draws.shape[1])
    shade, words = look.hue(GREY), look.words("independent draws, 95%")
    ax.axhspan(-width, width, color=shade, alpha=veil(ax, 0.25), linewidth=0, label=words)
    ax.axhline(0, color=ink(ax), linewidth=0.6)
    title = title_of(ax, look, f"{len(draws)} chains")
    dressed(ax, "lag", f"autocorrelation of {letter(name)}", title)
    held(ax, look.number > 0, (0, most), (min(-0.1, 1.05 * float(ax.dataLim.y0)), 1.02))
    explained(ax, above=True)
    return ax


def ess(
    post: Any, ax: Axes | None = None, parameter: str | None = None, label: str | None = None, color: Any = None
) -> Axes:
    """The effective number of draws, in the bulk and in the tails, by the number of draws: it should rise steadily.

    >>> ax = bdp.plots.ess(np.random.default_rng(0).normal(size=(4, 500)))
    >>> [line.get_label() for line in ax.lines]
    ['bulk', 'tail', '400, the least to trust']
    """
    draws, name = _chains(post, parameter)
    ax = axes_of(ax)
    look = look_at(ax, "ess", "chains", label, color)
    check_shared(ax, look, y=f"effective draws of {letter(name)}")
    ends = np.unique(np.linspace(max(_FEWEST, draws.shape[1] // _PLACES), draws.shape[1], _PLACES).astype(int))
    for kind, own, marker, style in (("bulk", BLUE, "o", "-"), ("tail", ORANGE, "^", "--")):
        values = [diagnostics.ess(draws[:, :end], kind) for end in ends]  # type: ignore[arg-type]
        (line,) = ax.plot(ends * len(draws), values, color=look.hue(own), marker=marker, markersize=3, linestyle=style)
        line.set(label=look.words(kind), gid="ess" if kind == "bulk" else None)
    words = "_" if look.number else f"{_ENOUGH:g}, the least to trust"
    ax.axhline(_ENOUGH, color=ink(ax), linewidth=0.9, linestyle=":", label=words)
    title = title_of(ax, look, f"{len(draws)} chains")
    dressed(ax, "draws of all chains", f"effective draws of {letter(name)}", title)
    ax.set_ylim(bottom=0)
    ax.locator_params(axis="x", nbins=5)
    explained(ax, "upper left", above=True)
    return ax


def _chains(post: Any, parameter: str | None) -> tuple[Floats, str]:
    """Draws (chains, draws) of a parameter, and its name."""
    if isinstance(post, Posterior) and not post.samples:
        raise InputError(f"the draws of method {show(post.provenance.method)} are independent and have no chains")
    if isinstance(post, WithChains):
        name = post.parameter if parameter is None and isinstance(post, Posterior) else parameter
        if not isinstance(name, str) or name not in post.samples:
            raise InputError(f"these draws have no parameter {show(name)}; they have {', '.join(post.samples)}")
        values = post.samples[name]
    else:
        if not isinstance(post, list | tuple) and not hasattr(post, "__array__"):
            raise InputError(f"post must be a posterior by sampling, or an array of draws, not {type(post).__name__}")
        if parameter is not None and not isinstance(parameter, str):
            raise InputError(f"parameter must be a name, not {show(parameter)}")
        name, values = parameter or "value", post
    draws = numbers("post", values)
    if draws.ndim != 2 or draws.shape[1] < _FEWEST:
        raise InputError(f"post must be draws of the shape (chains, draws), at least {_FEWEST} each, not {draws.shape}")
    return draws, name


def _looks(ax: Axes, kind: str, draws: Floats, label: str | None, color: Any) -> tuple[Look, list[Any]]:
    """The look of the chains, and the colour of each: their own if no others are there or named."""
    look = look_at(ax, kind, "chains", label, color)
    if not look.number and label is None and color is None:
        return look, [CYCLE[i % len(CYCLE)] for i in range(len(draws))]
    later = CYCLE[(len(CYCLE) - 1 - look.number) % len(CYCLE)] if look.number else BLUE  # chains have those before
    colour = later if color is None else color
    return replace(look, color=colour), [colour] * len(draws)


def _marks(look: Look, kind: str, draws: Floats) -> list[dict[str, Any]]:
    """What the first chain has for all of them: the gid, and the name in the legend."""
    return [{"gid": kind, "label": look.name or "_"}, *({} for _ in draws[1:])]


def _correlations(chain: Floats, most: int) -> Floats:
    """Sample autocorrelations up to a lag, by Fourier transform; of a chain that never moved all are 1."""
    centred = chain - chain.mean()
    spectrum = np.abs(np.fft.rfft(centred, 2 * len(chain))) ** 2
    covariance = np.fft.irfft(spectrum)[: most + 1]
    return covariance / covariance[0] if covariance[0] > 0 else np.ones(most + 1)
