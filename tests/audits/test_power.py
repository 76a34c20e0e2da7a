"""Power: golden values, enumeration of all counts, and simulated tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.audits import power
from bayes_dp.audits.exact_test import p_values
from tests.golden import golden

DELTA, P = 1e-5, 0.05


@golden("sequential", "cp_power")
def test_golden_clopper_pearson(entry):
    i = entry["inputs"]
    found = power.POWERS["clopper_pearson"](i["n0"], i["n1"], i["a"], i["b"], i["eps0"], i["delta"], i["p"])
    assert found == pytest.approx(entry["expected"], rel=1e-8)


@golden("sequential", "accuracy_power")
def test_golden_accuracy(entry):
    i = entry["inputs"]
    found = power.accuracy_power(i["n"], i["a"], i["b"], i["eps0"], i["delta"], i["p"])
    assert found == pytest.approx(entry["expected"], rel=1e-8)


@golden("sequential", "one_run_power")
def test_golden_one_run(entry):
    i = entry["inputs"]
    found = power.one_run_power(i["m"], i["r"], i["q1"], i["eps0"], i["delta"], i["p"])
    assert found == pytest.approx(entry["expected"], rel=1e-8)


@golden("sequential", "growth")
def test_golden_growth(entry):
    i = entry["inputs"]
    assert power.growth(i["a"], i["b"], i["eps"], i["delta"]) == pytest.approx(entry["expected"], rel=1e-7)


@golden("sequential", "sequential_pairs")
def test_golden_pairs(entry):
    i = entry["inputs"]
    found = power.pairs_needed(i["a"], i["b"], i["eps"], i["delta"], i["p"])
    assert found == pytest.approx(entry["expected"], rel=1e-6)


@pytest.mark.parametrize(("n0", "n1", "epsilon", "delta"), [(20, 13, 0.7, 0.01), (12, 12, 0.0, 0.0), (3, 9, 1.5, 0.2)])
@pytest.mark.parametrize("method", ["joint_exact", "clopper_pearson"])
def test_all_counts_one_by_one(method, n0, n1, epsilon, delta):
    x, y = (each.ravel() for each in np.meshgrid(np.arange(n0 + 1), np.arange(n1 + 1)))
    if method == "joint_exact":
        refuted = p_values(x, n0, y, n1, epsilon, delta) <= P
    else:
        counts = [bdp.ErrorCounts(int(a), n0, int(b), n1) for a, b in zip(x, y, strict=True)]
        refuted = np.array([bdp.audits.clopper_pearson(each, delta).value > epsilon for each in counts])
    for alpha, beta in ((0.05, 0.1), (0.0, 0.3), (0.4, 0.02)):
        chance = stats.binom.pmf(x, n0, alpha) * stats.binom.pmf(y, n1, beta)
        found = power.POWERS[method](n0, n1, alpha, beta, epsilon, delta, P)
        assert found == pytest.approx(chance[refuted].sum(), abs=1e-12)


def test_simulated_accuracy():
    rng = np.random.default_rng(0)
    x, y = rng.binomial(30, 0.1, 20_000), rng.binomial(30, 0.2, 20_000)
    errors, place = np.unique(x + y, return_inverse=True)
    counts = [bdp.ErrorCounts(int(min(each, 30)), 30, int(max(each - 30, 0)), 30) for each in errors]
    refuted = np.array([bdp.audits.accuracy(each, DELTA).value > 0.8 for each in counts])[place]
    found = power.accuracy_power(30, 0.1, 0.2, 0.8, DELTA, P)
    assert refuted.mean() == pytest.approx(found, abs=4 * math.sqrt(0.25 / 20_000))


def test_simulated_guesses():
    rng = np.random.default_rng(0)
    right = rng.binomial(60, 0.85, 20_000)
    refuted = {
        int(k): bdp.audits.one_run(bdp.Guesses(200, 60, int(k)), DELTA, method="exact").value > 1
        for k in np.unique(right)
    }
    share = np.mean([refuted[int(k)] for k in right])
    assert share == pytest.approx(power.one_run_power(200, 60, 0.85, 1.0, DELTA, P)[1], abs=0.015)


def test_pairs_of_betting():
    """The mean of where betting stops, within 20%, and where 90% have stopped."""
    rng, stops = np.random.default_rng(0), []
    for _ in range(25):
        audit = bdp.audits.sequential(DELTA, grid=[0.0, 1.0])
        x, y = rng.random((2, 200)) < 0.1192
        audit.update(x, y)
        stops.append(next(runs for runs, bound in audit.trace() if bound >= 1.0))
    mean = power.pairs_needed(0.1192, 0.1192, 1.0, DELTA, P)
    assert np.mean(stops) == pytest.approx(mean, rel=0.35)
    assert np.mean(np.array(stops) <= 1.9 * mean) >= 0.8


@pytest.mark.parametrize(("n0", "n1", "epsilon"), [(50, 50, 2.0), (30, 100, 0.0), (5000, 5000, 1.0)])
def test_what_can_be_detected(n0, n1, epsilon):
    least = power.least_detectable(n0, n1, epsilon, DELTA, P, 0.9)
    for e, enough in ((least, True), (least - 1e-3, False)):
        corner = (1 - DELTA) / (1 + math.exp(e))
        assert (power.POWERS["joint_exact"](n0, n1, corner, corner, epsilon, DELTA, P) >= 0.9) == enough
    assert least > epsilon


def test_too_few_to_detect_anything():
    assert power.least_detectable(2, 2, 1.0, DELTA, P, 0.9) == math.inf
    assert power.least_detectable_guesses(5, 2, 1.0, DELTA, P, 0.9) == math.inf
    assert power.one_run_power(5, 2, 0.9, 1.0, DELTA, P) == (3, 0.0)
    assert power.accuracy_power(1, 0.0, 0.0, 1.0, DELTA, P) == 0.0
    assert power.POWERS["clopper_pearson"](2, 2, 0.0, 0.0, 1.0, DELTA, P) == 0.0


def test_guesses_that_can_be_detected():
    least = power.least_detectable_guesses(1000, 100, 1.0, DELTA, P, 0.9)
    right = 1 / (1 + math.exp(-least))
    assert power.one_run_power(1000, 100, right, 1.0, DELTA, P)[1] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("n0", "n1", "alpha", "beta", "epsilon", "delta"),
    [
        (1500, 1500, 0.1, 0.2, 1.0, DELTA),
        (2000, 700, 0.01, 0.3, 3.0, 0.0),
        (50, 2000, 0.99, 0.004, 0.5, 0.0),
        (1, 1, 0.0, 0.0, 0.0, 0.0),
        (1000, 1000, 0.26, 0.26, 0.9, 1e-3),
    ],
)
def test_clopper_pearson_of_any_number_of_runs(n0, n1, alpha, beta, epsilon, delta):
    """Where all x are summed it is the region of few runs."""
    last = power.clopper_pearson_region(n0, n1, epsilon, delta, P)
    expected = power._in_region(last, n0, n1, alpha, beta)
    assert power.clopper_pearson_power(n0, n1, alpha, beta, epsilon, delta, P) == pytest.approx(expected, abs=1e-8)


def test_clopper_pearson_by_stretches():
    """30 000 runs, of which 1300 numbers of errors are likely: within 1e-3 of the sum over all."""
    n, alpha, beta, epsilon = 30_000, 0.264, 0.264, 1.0
    last = power.clopper_pearson_region(n, n, epsilon, DELTA, P)
    expected = power._in_region(last, n, n, alpha, beta)
    assert 0.1 < expected < 0.9
    assert power.clopper_pearson_power(n, n, alpha, beta, epsilon, DELTA, P) == pytest.approx(expected, abs=1e-3)


def test_what_ten_million_runs_detect():
    """It used to take the time of ten million bounds."""
    found = power.least_detectable(10**7, 10**7, 1.0, DELTA, P, 0.9)
    assert 1.001 < found < 1.01


@pytest.mark.parametrize("method", ["joint_exact", "clopper_pearson", "accuracy", "one_run"])
def test_no_test_needs_fewer_runs_than_divergences_say(method):
    plan = bdp.plan_claim(1.0, DELTA, (0.05, 0.2), method=method)
    least = power.least_runs(power.growth(0.05, 0.2, 1.0, DELTA), 0.9, P)
    assert 5 < least < plan.runs
    assert power.least_runs(0.1, P, P) == 0
    assert power.least_runs(0.0, 0.9, P) == math.inf


@pytest.mark.parametrize("epsilon", [50.0, 700.0, 1e4])
@pytest.mark.parametrize("runs", [1, 100, 10**7])
def test_claims_that_no_runs_refute(epsilon, runs):
    for method in ("joint_exact", "clopper_pearson", "accuracy"):
        test = bdp.Claim(epsilon).test(bdp.ErrorCounts(0, runs, 0, runs), method=None if runs > 100 else method)
        assert (test.refuted, test.detectable) == (False, None)
