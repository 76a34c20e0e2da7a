"""ε at many δ: each number is that of the result at this δ."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.audits.one_run import one_run
from bayes_dp.checks import InputError
from bayes_dp.data.guesses import Guesses

DELTAS = [1e-2, 1e-5, 1e-3]


def test_a_posterior(exact, ax):
    assert plots.epsilon_delta(exact, ax, DELTAS, prob=0.8) is ax
    x, y = ax.get_lines()[0].get_data()
    np.testing.assert_allclose(x, sorted(DELTAS))
    np.testing.assert_allclose(y, [exact.epsilon_at(d).median for d in sorted(DELTAS)])
    edges = ax.collections[0].get_paths()[0].vertices
    for delta in DELTAS:
        here = edges[edges[:, 0] == delta, 1]
        assert (here.min(), here.max()) == pytest.approx(exact.epsilon_at(delta).interval(0.8))
    assert ax.get_xscale() == "log"
    assert ax.get_xlim() == (1e-5, 1e-2)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("δ", "ε")
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["80% interval", "median"]


def test_a_lower_bound(ax):
    bound = one_run(Guesses(examples=1000, made=100, correct=95), delta=1e-4)
    plots.epsilon_delta(bound, ax, DELTAS)
    (line,) = ax.get_lines()
    np.testing.assert_allclose(line.get_ydata(), [bound.epsilon_at(d).value for d in sorted(DELTAS)])
    assert line.get_label() == "lower bound, 95%"
    assert ax.get_ylim()[1] > line.get_ydata().max()


def test_without_deltas_there_are_some(ax):
    bound = bdp.audits.clopper_pearson(bdp.ErrorCounts(2, 50, 9, 50), 1e-3)
    plots.epsilon_delta(bound, ax)
    assert len(ax.get_lines()[0].get_xdata()) >= 8
    assert ax.get_xlim()[0] <= 1e-5


@pytest.mark.parametrize(
    ("deltas", "message"),
    [
        ([0.0, 0.1], r"deltas\[0\] must lie in \(0, 1\)"),
        ([1e-3], "deltas must be at least two numbers in a row"),
        (1e-3, "deltas must be at least two numbers in a row"),
    ],
)
def test_bad_deltas(exact, ax, deltas, message):
    with pytest.raises(InputError, match=message):
        plots.epsilon_delta(exact, ax, deltas)


def test_results_that_cannot_be_asked(ax, of_delta):
    for given, message in (
        (3.0, "given must be a posterior, or what an audit returns, not float"),
        (bdp.tradeoff.Gaussian(1.0), "not Gaussian"),
        (of_delta, "given must be a posterior of epsilon, or a bound on it, not a posterior of delta"),
    ):
        with pytest.raises(InputError, match=message):
            plots.epsilon_delta(given, ax, DELTAS)


def test_several_beside_each_other(exact, ax):
    gaussian = bdp.estimate(bdp.datasets.mnist_a4(), family="gaussian")
    plots.epsilon_delta({"(ε, δ)": exact, "gaussian": gaussian}, ax, DELTAS)
    first, second = ax.get_lines()[:2]
    np.testing.assert_allclose(first.get_ydata(), [exact.epsilon_at(d).median for d in sorted(DELTAS)])
    np.testing.assert_allclose(second.get_ydata(), [gaussian.epsilon_at(d).median for d in sorted(DELTAS)])
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[:2] == ["(ε, δ)", "gaussian"]
    assert len({(part.get_color(), part.get_linestyle(), part.get_marker()) for part in (first, second)}) == 2


def test_below_the_rates_that_counts_resolve_epsilon_is_the_familys_word(ax):
    post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), family="gaussian")
    plots.epsilon_delta(post, ax, [1e-3, 1e-1])
    assert list(ax.get_lines()[1].get_xdata()) == [post.resolved] * 2 == [0.03] * 2
    assert "3/N: further left a family's word" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_what_differs_by_far_is_in_logarithms(ax):
    little, much = (
        bdp.estimate(bdp.ErrorCounts(*c), family="gaussian") for c in ((500, 1000, 498, 1000), (0, 99, 0, 99))
    )
    plots.epsilon_delta({"little": little, "much": much}, ax, DELTAS)
    assert ax.get_yscale() == "log"
    assert ax.get_ylim()[0] < little.epsilon_at(1e-5).median
    assert ax.get_ylim()[1] > much.epsilon_at(1e-5).interval()[1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "given must have something to draw"),
        ({"": 3}, "given must have names to show, not ''"),
        ({3: 3}, "given must have names to show, not 3"),
        ({"a": 3}, r"given\['a'\] must be a posterior, or what an audit returns, not int"),
    ],
)
def test_several_that_cannot_be_drawn(ax, given, message):
    with pytest.raises(InputError, match=message):
        plots.epsilon_delta(given, ax, DELTAS)
