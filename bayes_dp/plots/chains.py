"""Do the chains of a sampler agree, and do they move? Traces, ranks, autocorrelations, effective sample sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats

from bayes_dp.checks import InputError, numbers, show, whole_number
from bayes_dp.plots.style import BLUE, CYCLE, GREY, ORANGE, axes_of, dressed, explained, ink, label
from bayes_dp.results import interop
from bayes_dp.results.posterior import Posterior, WithChains
from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["autocorrelation", "ess", "rank", "trace"]


_FEWEST = 8  # draws of a chain
_LAGS = 100
_PLACES = 12  # numbers of draws at which the effective sample size is computed
_ENOUGH = 400.0  # effective draws, Vehtari et al. (2021)


def trace(post: Any, ax: Axes | None = None, parameter: str | None = None) -> Axes:
    """The draws in their order, a line for each chain; they should look like noise around one level.

    `post` is a posterior by sampling, or an array of draws (chains, draws).

    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> ax = bdp.plots.trace(draws)
    >>> len(ax.lines), ax.get_xlabel()
    (4, 'draw')
    """
    draws, name = _chains(post, parameter)
    ax = axes_of(ax)
    for chain, colour in zip(draws, _colours(draws), strict=True):
        ax.plot(np.arange(1, draws.shape[1] + 1), chain, color=colour, linewidth=0.4, alpha=0.8)
    dressed(ax, "draw", label(name, short=False), f"{len(draws)} chains")
    ax.set_xlim(1, draws.shape[1])
    return ax


def rank(post: Any, ax: Axes | None = None, parameter: str | None = None, bins: int = 20) -> Axes:
    """The ranks of each chain's draws among those of all, as histograms; they should all be flat.

    The chains follow each other closely if they have found the same law (Vehtari et al. 2021).

    >>> ax = bdp.plots.rank(np.random.default_rng(0).normal(size=(4, 500)))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('rank of value among all draws', 'draws of a chain')
    """
    draws, name = _chains(post, parameter)
    bins = whole_number("bins", bins, 2)
    ax = axes_of(ax)
    ranks = stats.rankdata(draws).reshape(draws.shape) / draws.size
    for chain, colour in zip(ranks, _colours(draws), strict=True):
        counts, edges = np.histogram(chain, bins=bins, range=(0, 1))
        ax.stairs(counts, edges, baseline=None, color=colour, linewidth=1.2)
    ax.axhline(draws.shape[1] / bins, color=ink(ax), linewidth=0.9, linestyle="--", label="all alike")
    dressed(ax, f"rank of {label(name)} among all draws", "draws of a chain", f"{len(draws)} chains")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, 1.3 * max(ax.get_ylim()[1] / 1.05, draws.shape[1] / bins))
    explained(ax)
    return ax


def autocorrelation(post: Any, ax: Axes | None = None, parameter: str | None = None, lags: int = _LAGS) -> Axes:
    """The correlation of draws that are so many steps apart, a line for each chain; it should soon be within the band.

    The band is where 95% of the correlations of independent draws are.

    >>> ax = bdp.plots.autocorrelation(np.random.default_rng(0).normal(size=(4, 500)), lags=20)
    >>> ax.get_xlabel(), ax.get_ylabel(), len(ax.lines)
    ('lag', 'autocorrelation of value', 5)
    """
    draws, name = _chains(post, parameter)
    whole_number("lags", lags, 1)
    ax = axes_of(ax)
    most = min(int(lags), draws.shape[1] - 1)
    for chain, colour in zip(draws, _colours(draws), strict=True):
        ax.plot(np.arange(most + 1), _correlations(chain, most), color=colour, linewidth=1.2)
    width = 1.96 / np.sqrt(draws.shape[1])
    ax.axhspan(-width, width, color=GREY, alpha=0.25, linewidth=0, label="independent draws, 95%")
    ax.axhline(0, color=ink(ax), linewidth=0.6)
    dressed(ax, "lag", f"autocorrelation of {label(name)}", f"{len(draws)} chains")
    ax.set_xlim(0, most)
    ax.set_ylim(min(-0.1, ax.get_ylim()[0]), 1.02)
    explained(ax)
    return ax


def ess(post: Any, ax: Axes | None = None, parameter: str | None = None) -> Axes:
    """The effective number of draws, in the bulk and in the tails, by the number of draws: it should rise steadily.

    >>> ax = bdp.plots.ess(np.random.default_rng(0).normal(size=(4, 500)))
    >>> [line.get_label() for line in ax.lines]
    ['bulk', 'tail', '400, the least to trust']
    """
    draws, name = _chains(post, parameter)
    ax = axes_of(ax)
    ends = np.unique(np.linspace(max(_FEWEST, draws.shape[1] // _PLACES), draws.shape[1], _PLACES).astype(int))
    for kind, colour, marker, style in (("bulk", BLUE, "o", "-"), ("tail", ORANGE, "^", "--")):
        values = [interop.ess(draws[:, :end], kind) for end in ends]  # type: ignore[arg-type]
        ax.plot(ends * len(draws), values, color=colour, marker=marker, markersize=3, linestyle=style, label=kind)
    ax.axhline(_ENOUGH, color=ink(ax), linewidth=0.9, linestyle=":", label=f"{_ENOUGH:g}, the least to trust")
    dressed(ax, "draws of all chains", f"effective draws of {label(name)}", f"{len(draws)} chains")
    ax.set_ylim(0, 1.25 * max(ax.get_ylim()[1], _ENOUGH))
    explained(ax, "upper left")
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


def _colours(draws: Floats) -> list[str]:
    return [CYCLE[i % len(CYCLE)] for i in range(len(draws))]


def _correlations(chain: Floats, most: int) -> Floats:
    """Sample autocorrelations up to a lag, by Fourier transform; of a chain that never moved all are 1."""
    centred = chain - chain.mean()
    spectrum = np.abs(np.fft.rfft(centred, 2 * len(chain))) ** 2
    covariance = np.fft.irfft(spectrum)[: most + 1]
    return covariance / covariance[0] if covariance[0] > 0 else np.ones(most + 1)
