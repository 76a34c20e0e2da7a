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
