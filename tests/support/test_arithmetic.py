"""No call depends on what the user has told NumPy to do about overflow, underflow and the like."""

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.support.arithmetic import underflow_is_zero

COUNTS = bdp.ErrorCounts([12, 3], 100, [50, 70], 100)
LOSSES = np.random.default_rng(0).normal(size=(2, 2, 30)) + np.array([0.0, -1.0])[:, None, None]
SCORES = bdp.GuessTable(np.arange(60.0) % 7 + np.arange(60) % 2, np.arange(60) % 2, propensity=np.full(60, 0.5))


def loud(call):
    with np.errstate(all="raise"):
        return call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: bdp.estimate(COUNTS, 0.01).summary(),
        lambda: bdp.estimate(COUNTS, 0.01, strength=0.5).to_dict(),
        lambda: bdp.estimate(COUNTS, 0.0, strength="tight").interval(0.9, "hdi"),
        lambda: bdp.estimate(COUNTS, 0.01, prior_epsilon="Gamma(2, 1)", strength=0.3).pdf(1.0),
        lambda: bdp.estimate(COUNTS, 0.01).rates(20),
        lambda: bdp.estimate(COUNTS, 0.01).delta_at(1.0).interval(),
        lambda: bdp.compare(COUNTS, delta=0.01),
        lambda: bdp.audits.combine(COUNTS, 0.01, dependence="independent"),
        lambda: bdp.audits.profile(*LOSSES[0]),
        lambda: bdp.audits.zero_run(SCORES, delta=1e-5),
        lambda: bdp.LossTable(*LOSSES),
    ],
)
def test_calls_under_the_strictest_arithmetic(call):
    loud(call)


def test_the_caller_s_settings_stay():
    @underflow_is_zero
    def tiny():
        return np.exp(np.array(-1e4)), np.geterr()["under"]

    before = np.geterr()
    assert loud(tiny) == (0.0, "ignore")
    assert np.geterr() == before
