"""The pictures of chains, on chains of known behaviour."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import signal

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.checks import InputError
from bayes_dp.results import diagnostics

PLOTS = (plots.trace, plots.rank, plots.autocorrelation, plots.ess)


def autoregressive(phi, shape=(3, 4000), seed=0):
    noise = np.random.default_rng(seed).normal(size=shape)
    return signal.lfilter([1.0], [1.0, -phi], noise, axis=1)


def test_the_trace_has_every_draw(sampled, ax):
    assert plots.trace(sampled, ax, "strength") is ax
    for line, chain in zip(ax.get_lines(), sampled.samples["strength"], strict=True):
        np.testing.assert_array_equal(line.get_ydata(), chain)
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 5001))
    assert ax.get_ylabel() == "attack strength s"
    assert ax.get_title() == "4 chains"


def test_the_ranks_of_chains_that_agree_and_of_one_that_does_not(ax):
    draws = np.random.default_rng(0).normal(size=(4, 2000))
    draws[3] += 3
    plots.rank(draws, ax, bins=10)
    heights = np.array([patch.get_data().values for patch in ax.patches])
    assert heights.shape == (4, 10)
    assert (heights.sum(axis=1) == 2000).all()
    everything = np.sort(draws.ravel())
    for chain, bars in zip(draws, heights, strict=True):
        ranks = np.searchsorted(everything, chain) + 1
        np.testing.assert_array_equal(bars, np.histogram(ranks / 8000, 10, (0, 1))[0])
    assert heights[3, 0] == 0
    assert heights[3, -1] > 700
    assert ax.get_lines()[0].get_ydata()[0] == 200
    assert ax.get_ylim()[1] > heights.max()


def test_ties_have_the_middle_rank(ax):
    plots.rank(np.zeros((2, 50)), ax, bins=4)
    assert [list(p.get_data().values) for p in ax.patches] == 2 * [[0, 0, 50, 0]]


def test_the_autocorrelation_is_that_of_the_definition(ax):
    draws = autoregressive(0.8)
    assert plots.autocorrelation(draws, ax, lags=12) is ax
    for line, chain in zip(ax.get_lines(), draws, strict=False):
        centred = chain - chain.mean()
        twin = [np.sum(centred[k:] * centred[: len(chain) - k]) / np.sum(centred**2) for k in range(13)]
        np.testing.assert_allclose(line.get_ydata(), twin, atol=1e-10)
        np.testing.assert_allclose(line.get_ydata()[:6], 0.8 ** np.arange(6), atol=0.12)
    band = ax.patches[0].get_extents().transformed(ax.transData.inverted())
    assert (band.y0, band.y1) == pytest.approx((-1.96 / np.sqrt(4000), 1.96 / np.sqrt(4000)))
    assert ax.get_xlim() == (0, 12)


def test_a_chain_that_never_moved(ax):
    plots.autocorrelation(np.ones((1, 50)), ax)
    assert (ax.get_lines()[0].get_ydata() == 1).all()
    assert ax.get_xlim() == (0, 49)


def test_effective_sample_sizes(ax):
    draws = autoregressive(0.5)
    assert plots.ess(draws, ax) is ax
    bulk, tail, _ = ax.get_lines()
    for line, kind in ((bulk, "bulk"), (tail, "tail")):
        x, y = line.get_data()
        assert x[-1] == 12_000
        for total, value in zip(x, y, strict=True):
            assert value == pytest.approx(diagnostics.ess(draws[:, : total // 3], kind))
        assert line.get_label() == kind
    assert bulk.get_ydata()[-1] == pytest.approx(12_000 / 3, rel=0.2)  # (1 − φ)/(1 + φ) of them
    assert bulk.get_linestyle() != tail.get_linestyle()
    assert ax.get_ylim()[1] > 400


@pytest.mark.filterwarnings("ignore::UserWarning")  # a short run says that it is short
def test_the_draws_of_the_sampler(ax):
    post = bdp.estimate(
        bdp.ErrorCounts([5, 8], 30, [9, 12], 30), 1e-3, method="mhaar", draws=100, warmup=100, chains=2, progress=False
    )
    plots.trace(post, ax)
    np.testing.assert_array_equal(ax.get_lines()[1].get_ydata(), post.samples["epsilon"][1])
    assert ax.get_ylabel() == "ε"


@pytest.mark.parametrize("plot", PLOTS)
def test_bad_input(plot, ax, exact, sampled):
    for given, message in (
        (exact, "the draws of method 'exact' are independent and have no chains"),
        (np.zeros(50), r"post must be draws of the shape \(chains, draws\), at least 8 each, not \(50,\)"),
        (np.zeros((4, 3)), r"at least 8 each, not \(4, 3\)"),
        (np.full((2, 20), np.nan), r"post\[0, 0\] must lie in"),
        ("chains", "post must be a posterior by sampling, or an array of draws, not str"),
    ):
        with pytest.raises(InputError, match=message):
            plot(given, ax)
    with pytest.raises(InputError, match="these draws have no parameter 'tau'; they have epsilon, strength, rho"):
        plot(sampled, ax, "tau")
    assert not ax.lines


def test_bad_settings(ax):
    with pytest.raises(InputError, match="bins must be a whole number, at least 2, not 1"):
        plots.rank(np.zeros((2, 20)), ax, bins=1)
    with pytest.raises(InputError, match="lags must be a whole number, at least 1, not 0"):
        plots.autocorrelation(np.zeros((2, 20)), ax, lags=0)
