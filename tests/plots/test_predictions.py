"""The predictive check has a dot for each base beside what is expected of it, and marks those outside."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.bayes.checks.model_check import new_counts
from bayes_dp.plots.style import BLUE, ORANGE

COUNTS = bdp.ErrorCounts([5, 30, 8, 12], 100, [20, 55, 90, 60], [100, 100, 100, 80], base=["Ann", "Bea", "Cay", "Dan"])


@pytest.mark.parametrize("options", [{}, {"family": "gaussian"}, {"strength": "tight"}, {"strength": 0.5}])
def test_the_dots_are_the_counts_and_the_bars_what_is_drawn(ax, options):
    post = bdp.estimate(COUNTS, 1e-3, **options)
    assert plots.predictive(post, ax, prob=0.8, seed=3) is ax
    share = COUNTS.false_negatives / COUNTS.positives
    x, y = new_counts(post, 2000, 3)
    assert x.shape == y.shape == (2000, 4)
    low, high = np.sort(y, axis=0)[[199, 1799]] / COUNTS.positives  # the 200th and the 1800th smallest
    order = np.argsort(share)
    (bars,) = ax.collections
    ends = np.array(bars.get_segments())[:, :, 1]
    np.testing.assert_allclose(ends, np.stack([low, high], axis=1)[order])
    outside = (share < low) | (share > high)
    for colour, which in ((BLUE, ~outside), (ORANGE, outside)):
        lines = [line for line in ax.get_lines() if line.get_color() == colour]
        drawn = sorted(value for line in lines for value in line.get_ydata())
        assert drawn == pytest.approx(sorted(share[which]))
    assert ax.get_title().startswith(f"{outside.sum()} of 4 bases outside, ")
    assert [text.get_text() for text in ax.get_xticklabels()] == [COUNTS.base[i] for i in order]


def test_bases_that_no_prediction_expects_are_marked(ax):
    """With the strength known to be 1/2 and ε small, a perfect attack is not expected."""
    counts = bdp.ErrorCounts([30] * 9 + [0], 100, [60] * 9 + [0], 100)
    post = bdp.estimate(counts, 1e-3, strength=0.5, prior_epsilon="HalfNormal(0.1)")
    plots.predictive(post, ax)
    assert not ax.get_title().startswith("0 of 10")
    assert any(line.get_color() == ORANGE for line in ax.get_lines())


def test_new_counts_are_those_of_the_likelihood():
    """A tight Gaussian member known to be μ = 1: at α the new misses have the mean N1 Φ(z(1−α) − μ)."""
    counts = bdp.ErrorCounts(1000, 10_000, 6109, 10_000)
    post = bdp.estimate(counts, family="gaussian", strength="tight", prior="Uniform(0.9999, 1.0001)")
    _, missed = new_counts(post, 2000)
    alpha = 0.1
    assert missed.mean() / 10_000 == pytest.approx(special.ndtr(-special.ndtri(alpha) - 1), abs=0.005)


def test_guesses_have_no_prediction_of_counts():
    table = bdp.GuessTable(np.arange(20.0), np.arange(20) % 2 == 0, 0.5)
    with pytest.raises(bdp.InputError, match="check is for the posterior of error counts"):
        plots.predictive(bdp.estimate_shifted(table))


def test_the_prior_of_a_family_is_that_of_the_advantage(ax):
    """μ = 2 z((1 + tanh(ε/2))/2) of the half-normal ε, and its ε at δ."""
    post = bdp.estimate(COUNTS, 1e-3, family="gaussian")
    p = np.array([0.05, 0.5, 0.95])
    mu = 2 * special.ndtri(special.expit(stats.halfnorm(scale=10**0.5).ppf(p)))
    np.testing.assert_allclose(post.prior_quantile(p, "mu"), mu, rtol=2e-3)
    np.testing.assert_allclose(post.prior_quantile(p), bdp.tradeoff.epsilon_from_mu(mu, 1e-3), rtol=1e-2)
    np.testing.assert_allclose(post.prior_quantile(p, "strength"), p, atol=1e-4)
    with pytest.raises(bdp.InputError, match="this posterior has no parameter 'delta'"):
        post.prior_quantile(p, "delta")
    plots.prior_posterior(post, ax, parameter="mu")
    low, high = post.prior_quantile([0.05, 0.95], "mu")
    assert [text.get_text() for text in ax.get_legend().get_texts()][1] == f"prior, 90%: {low:.3g} to {high:.3g}"
    (prior,) = (line for line in ax.get_lines() if line.get_linestyle() == "--")
    x, density = (np.asarray(part, float) for part in prior.get_data())
    adv = 2 * special.ndtr(x / 2) - 1  # p(μ) = p(ε) dε/dμ with ε = 2 artanh(adv)
    exact = stats.halfnorm(scale=10**0.5).pdf(2 * np.arctanh(adv)) * 2 / (1 - adv**2) * stats.norm.pdf(x / 2)
    inside = (x > 0.1) & (x < 5)
    np.testing.assert_allclose(density[inside], exact[inside], rtol=0.02)


def test_the_given_prior_of_a_family_is_drawn(ax):
    post = bdp.estimate(COUNTS, family="laplace", prior="Uniform(0, 8)")
    plots.prior_posterior(post, ax)
    (prior,) = (line for line in ax.get_lines() if line.get_linestyle() == "--")
    x, density = prior.get_data()
    assert density[(x > 0.1) & (x < 7.9)] == pytest.approx(1 / 8, rel=0.01)
