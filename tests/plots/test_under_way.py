"""The running bound: what it is drawn from, with a claim and without one, and beside posteriors."""

from __future__ import annotations

import math

import matplotlib.pyplot as plt
import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.checks import InputError


@pytest.fixture
def audit():
    rng = np.random.default_rng(0)
    found = bdp.audits.sequential(1e-5, claim=1.0)
    for _ in range(6):
        found.update(rng.random(50) < 0.05, rng.random(50) < 0.4)
    return found


def test_what_is_drawn(audit, exact):
    above, below = bdp.plots.running(audit, posteriors={100: exact}, prob=0.5)
    steps = above.lines[0]
    assert steps.get_drawstyle() == "steps-post"
    expected = [*audit.trace(), (300, audit.bound().value)]
    assert np.array_equal(steps.get_xydata(), np.array(expected, float))
    assert above.collections[0].get_segments()[0] == pytest.approx(
        np.column_stack([[100, 100], exact.interval(0.5)]), rel=1e-9
    )
    assert np.array_equal(below.lines[0].get_xydata(), np.array([(0, 0.0), *audit.claim_trace()]))
    assert below.lines[1].get_ydata()[0] == pytest.approx(math.log(20))
    plt.close("all")


@pytest.mark.parametrize("method", ["betting", "mixture", "one_run"])
def test_nothing_yet_and_no_claim(method):
    (ax,) = bdp.plots.running(bdp.audits.sequential(1e-5, method=method))
    assert ax.get_xlabel() == {"betting": "pairs", "mixture": "runs", "one_run": "models"}[method]
    plt.close("all")


def test_one_trade_off_function_has_no_bound():
    audit = bdp.audits.sequential(0.0, family=bdp.tradeoff.Gaussian(0.5), block=(1, 2)).update([0] * 40, [0] * 80)
    (ax,) = bdp.plots.running(audit)
    assert np.array_equal(ax.lines[0].get_xydata(), np.array([(0, 0.0), *audit.claim_trace()]))
    assert ax.get_xlabel() == "blocks"
    plt.close("all")


def test_refusals(audit, exact):
    for posteriors in ({-1: exact}, {1.5: exact}, {10: 3}, [exact]):
        with pytest.raises(InputError, match="posteriors"):
            bdp.plots.running(audit, posteriors=posteriors)
    with pytest.raises(InputError, match="audit must be"):
        bdp.plots.running(exact)


def test_bases_from_the_largest_to_the_smallest():
    counts = bdp.ErrorCounts([9, 2, 30], [100] * 3, [55, 40, 50], [100] * 3, base=["a", "b", "c"])
    bound = bdp.audits.combine(counts, 1e-3)
    ax = bdp.plots.bases(counts, bound)
    each = [bdp.audits.joint_exact(counts[i], 1e-3).value for i in (1, 0, 2)]
    assert ax.lines[0].get_ydata().tolist() == each
    assert set(ax.lines[1].get_ydata()) == {bound.value}
    assert [text.get_text() for text in ax.get_xticklabels()] == ["b", "a", "c"]
    plt.close("all")


def test_a_whole_profile():
    rng = np.random.default_rng(0)
    found = bdp.audits.profile(rng.normal(size=60), rng.normal(2, size=60))
    deltas = [1e-6, 1e-3, 0.1]
    assert bdp.plots.epsilon_delta(found, deltas=deltas).lines[0].get_ydata() == pytest.approx(found.epsilon_at(deltas))
    both = bdp.plots.epsilon_delta({"profile": found, "other": found.bound(0.1)}, deltas=deltas)
    assert np.array_equal(both.lines[0].get_ydata(), both.lines[1].get_ydata())
    ax = bdp.plots.tradeoff(found)
    assert np.array_equal(ax.lines[0].get_xydata(), np.column_stack([found.alpha, found.beta]))
    assert ax.lines[1].get_ydata() == pytest.approx(found.tradeoff()(ax.lines[1].get_xdata()))
    plt.close("all")
