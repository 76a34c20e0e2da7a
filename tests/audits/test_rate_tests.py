"""The tests of a trade-off function by counts, against golden values, enumeration and each other."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from bayes_dp.audits.exact_test import p_values
from bayes_dp.audits.rate_tests import clopper_pearson_p, joint_p, mixture_log_e
from bayes_dp.tradeoff import ApproxDP, Gaussian, TradeOff, TradeOffFunction
from bayes_dp.tradeoff.dp_sgd import dp_sgd

N0, N1 = 9, 7
DP_SGD = dp_sgd(1.0, 0.3, 5)[0]


@pytest.mark.parametrize(
    ("counts", "f", "expected"),
    [
        ((3, 20, 5, 20), ApproxDP(0.5, 0.01), 0.014645628779876792),
        ((0, 10, 0, 12), ApproxDP(1.0, 0.0), 0.001016126809208754),
    ],
)
def test_golden_values_of_the_joint_test(counts, f, expected: float):
    x, n0, y, n1 = counts
    assert joint_p(f, x, n0, y, n1) == pytest.approx(expected, rel=1e-5)


def test_the_joint_test_is_the_exact_one_of_epsilon_and_delta():
    for counts in ((3, 20, 5, 20), (1, 40, 20, 30), (0, 10, 0, 12)):
        x, n0, y, n1 = counts
        expected = float(np.ravel(p_values(x, n0, y, n1, 0.8, 1e-2))[0])
        assert joint_p(ApproxDP(0.8, 1e-2), x, n0, y, n1) == pytest.approx(expected, rel=1e-5)


def test_golden_values_of_the_others():
    assert clopper_pearson_p(ApproxDP(1.5, 1e-5), 5, 100, 40, 100) == pytest.approx(0.0550669663565759, rel=1e-8)
    assert mixture_log_e(ApproxDP(1.0, 1e-5), 5, 100, 40, 100) == pytest.approx(4.810062219076485, rel=1e-8)
    assert mixture_log_e(Gaussian(0.8), 10, 80, 20, 80) == pytest.approx(5.458734448133427, rel=1e-8)
    assert mixture_log_e(Gaussian(0.8), 0, 0, 20, 80) == 0.0


def slow_excess(f: TradeOffFunction, x: int, y: int) -> float:
    """G by the best of many points of the curve."""
    if x / N0 + y / N1 >= 1 or y / N1 >= f(x / N0):
        return 0.0
    alpha = np.concatenate([np.linspace(0, 1, 40_001), np.geomspace(1e-9, 1e-3, 2000)])
    beta = np.asarray(f(alpha))
    terms = special.xlogy(x, alpha) + special.xlog1py(N0 - x, -alpha)
    terms = terms + special.xlogy(y, beta) + special.xlog1py(N1 - y, -beta)
    free = sum(special.xlogy(k, k / n) + special.xlogy(n - k, 1 - k / n) for k, n in ((x, N0), (y, N1)))
    return float(free - terms.max())


@pytest.mark.parametrize(
    "f", [ApproxDP(0.0), ApproxDP(1.0, 0.05), Gaussian(1.0), DP_SGD, TradeOff(Gaussian(0.5))], ids=lambda f: str(f)[:12]
)
def test_the_joint_test_against_enumeration(f: TradeOffFunction):
    pairs = list(itertools.product(range(N0 + 1), range(N1 + 1)))
    excess = np.array([slow_excess(f, x, y) for x, y in pairs])
    alpha = np.append(np.linspace(0, 1, 6001), 0.95 / (1 + math.e))  # and the corner of (1, 0.05)
    chances = np.array(
        [stats.binom.pmf(x, N0, alpha) * stats.binom.pmf(y, N1, np.asarray(f(alpha))) for x, y in pairs]
    )  # of each pair, at each point of the curve
    for x, y in ((0, 0), (0, 2), (1, 1), (3, 0), (2, 3)):
        observed = slow_excess(f, x, y)
        if observed == 0:
            assert joint_p(f, x, N0, y, N1) == 1.0
            continue
        slow = chances[excess >= observed - 1e-6].sum(axis=0).max()
        assert joint_p(f, x, N0, y, N1) == pytest.approx(slow, rel=2e-3)  # that of a grid is too small, if anything
        assert joint_p(f, x, N0, y, N1) >= slow * (1 - 1e-4)


def test_decisions_worse_than_chance_show_nothing_here():
    for test in (joint_p, clopper_pearson_p):
        assert test(Gaussian(0.1), 90, 100, 90, 100) == 1.0
    assert mixture_log_e(Gaussian(0.1), 90, 100, 90, 100) == mixture_log_e(Gaussian(0.1), 10, 100, 10, 100) > 0


def test_the_mean_of_the_e_value_is_at_most_one():
    pairs = list(itertools.product(range(N0 + 1), range(N1 + 1)))
    for f in (ApproxDP(1.0, 0.05), Gaussian(1.0), DP_SGD):
        e = np.array([math.exp(mixture_log_e(f, x, N0, y, N1)) for x, y in pairs])
        for alpha in (0.0, 0.01, 0.1, 0.3, 0.6, 0.95):
            for beta in (float(f(alpha)), 1 - float(f(1 - alpha)), 1 - alpha):
                law = np.array([stats.binom.pmf(x, N0, alpha) * stats.binom.pmf(y, N1, beta) for x, y in pairs])
                assert law @ e <= 1 + 1e-9


def test_more_evidence_and_weaker_claims():
    assert joint_p(Gaussian(1.0), 5, 100, 40, 100) > joint_p(Gaussian(1.0), 10, 200, 80, 200)
    for test in (joint_p, clopper_pearson_p):
        values = [test(Gaussian(mu), 5, 100, 40, 100) for mu in (0.5, 1.0, 1.5, 2.0)]
        assert values == sorted(values)
    assert joint_p(Gaussian(1.0), 5, 100, 40, 100) < clopper_pearson_p(Gaussian(1.0), 5, 100, 40, 100)
