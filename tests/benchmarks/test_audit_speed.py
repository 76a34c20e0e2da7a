"""How long the audits of guesses take, and how much faster they are than plain versions: `make bench`."""

import math
import time
from statistics import NormalDist

import numpy as np
import pytest

from bayes_dp.audits.f_dp import GAUSSIAN, LAPLACE, approx, lower_bounds
from bayes_dp.audits.one_run import best_lower_bounds, exact_lower_bounds, one_run
from bayes_dp.audits.one_run import lower_bounds as binomial_lower_bounds
from bayes_dp.data.guesses import Guesses

FAMILIES = {"gaussian": GAUSSIAN, "laplace": LAPLACE, "approx": approx(1e-6)}


def check(benchmark, limit):
    if benchmark.enabled:
        assert benchmark.stats.stats.min < limit


@pytest.mark.parametrize("correct", [0.51, 0.6, 0.755, 0.99])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("made", "limit"), [(10_000, 0.02), (100_000, 0.1)])
def test_one_f_dp_bound(benchmark, made, limit, family, correct):
    given = (FAMILIES[family], made, made, round(correct * made), 0.05)
    benchmark.pedantic(lower_bounds, args=given, rounds=5)
    check(benchmark, limit)


@pytest.mark.parametrize("correct", [51_000, 60_000, 75_500, 99_000])
@pytest.mark.parametrize("method", ["best", "binomial", "f_dp", "exact"])
def test_one_run(benchmark, method, correct):
    guesses = Guesses(100_000, 100_000, correct)
    benchmark.pedantic(one_run, args=(guesses, 1e-6), kwargs={"method": method}, rounds=5)
    check(benchmark, 0.1)


BATCHES = {
    "binomial": lambda *rows: binomial_lower_bounds(*rows, 1e-5, 0.05),
    "best": lambda *rows: best_lower_bounds(*rows, 1e-5, 0.05),
    "exact": lambda *rows: exact_lower_bounds(*rows, 1e-5, 0.05),
    **{name: lambda *rows, family=family: lower_bounds(family, *rows, 0.05) for name, family in FAMILIES.items()},
}


@pytest.mark.parametrize("audit", BATCHES)
def test_a_thousand_pairs(benchmark, audit):
    benchmark.pedantic(BATCHES[audit], args=(2000, 2000, 1000 + np.arange(1000)), rounds=2)
    check(benchmark, 2.0)


def plain_gaussian_bound(m, made, c, p):
    """The recursion down to k = 0 for every μ, and halving."""
    normal = NormalDist()

    def rejects(mu):
        r, h = p * c / m, p * (made - c) / m
        for k in range(c - 1, -1, -1):
            new = max(h, 1.0 if r >= 1 else 0.5 * math.erfc((mu - normal.inv_cdf(r)) / math.sqrt(2)))
            r, h = r + k / (made - k) * (new - h), new
        return r + h > made / m

    low, high = 0.0, 10.0
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if rejects(middle) else (low, middle)
    return low


def plain_binomial_bound(m, r, v, delta, p):
    """Sums of probabilities, and halving."""

    def p_value(epsilon):
        log_odds, total = epsilon, -r * math.log1p(math.exp(epsilon))
        b = [
            math.exp(math.lgamma(r + 1) - math.lgamma(k + 1) - math.lgamma(r - k + 1) + k * log_odds + total)
            for k in range(r + 1)
        ]
        window, average = 0.0, 0.0
        for i in range(1, v + 1):
            window += b[v - i]
            average = max(average, window / i)
        return sum(b[v:]) + 2 * m * delta * average

    low, high = 0.0, 20.0
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if p_value(middle) <= p else (low, middle)
    return low


def test_ratio_to_plain_versions(benchmark):
    """All in one run, as one machine is not always as fast as itself."""

    def seconds(function, *arguments):
        start = time.perf_counter()
        value = function(*arguments)
        return time.perf_counter() - start, float(value)

    made, correct = 20_000, 14_000
    pairs = {
        "f-DP": (
            (lower_bounds, GAUSSIAN, made, made, correct, 0.05),
            (plain_gaussian_bound, made, made, correct, 0.05),
        ),
        "one run": (
            (binomial_lower_bounds, made, made, correct, 1e-6, 0.05),
            (plain_binomial_bound, made, made, correct, 1e-6, 0.05),
        ),
    }
    benchmark.pedantic(lower_bounds, args=pairs["f-DP"][0][1:], rounds=1)
    for name, (ours, plain) in pairs.items():
        fast, value = min(seconds(*ours) for _ in range(3))
        slow, expected = seconds(*plain)
        assert value == pytest.approx(expected, rel=1e-9)
        benchmark.extra_info[name] = slow / fast
        if benchmark.enabled:
            print(f"{name}: {1e3 * fast:.1f} ms, {slow / fast:.0f} times as fast as the plain version")
            assert slow / fast > 3


@pytest.mark.parametrize("correct", [550, 600, 800, 950])
@pytest.mark.parametrize("examples", [1000, 10_000, 100_000])
def test_one_run_of_a_thousand_guesses(benchmark, examples, correct):
    benchmark.pedantic(one_run, args=(Guesses(examples, 1000, correct), 1e-5), rounds=20)
    check(benchmark, 0.003)
