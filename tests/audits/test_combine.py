"""Bounds from several bases: the rules against their formulas, golden values and simulations with known truth."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.audits import combine as module
from bayes_dp.audits.combine import METHODS, bonferroni, fisher, hommel, mixture, simes
from bayes_dp.audits.exact_test import p_values
from bayes_dp.audits.rate_tests import mixture_log_e
from bayes_dp.checks import InputError
from bayes_dp.tradeoff import Gaussian
from tests.golden import golden

combine, joint_exact = bdp.audits.combine, bdp.audits.joint_exact
RULES = {"bonferroni": bonferroni, "fisher": fisher, "simes": simes, "hommel": hommel}


def bases(x, n0, y, n1, delta):
    return module._Bases(*(np.array(column, float) for column in (x, n0, y, n1)), delta)


# Rules ----------------------------------------------------------------------------------------------------------------


@golden("sequential", "combine_p")
def test_golden_rules(entry):
    for name, rule in RULES.items():
        assert rule(np.array(entry["inputs"]["ps"])) == pytest.approx(entry["expected"][name], rel=1e-8)


@golden("sequential", "partial_conjunction")
def test_golden_partial_conjunction(entry):
    given = entry["inputs"]
    rule = fisher if given["independent"] else bonferroni
    assert rule(np.array(given["ps"]), given["k"]) == pytest.approx(entry["expected"], rel=1e-8)


@golden("sequential", "pooled_cp_bound")
def test_golden_pooled(entry):
    given = entry["inputs"]
    found = module._pooled(bases(given["x"], given["n0"], given["y"], given["n1"], given["delta"]), given["p"])
    assert found == pytest.approx(entry["expected"], rel=1e-8)


@golden("sequential", "pooled_accuracy_bound")
def test_golden_accuracy(entry):
    given = entry["inputs"]
    found = module._accuracy(bases(given["x"], given["n0"], given["y"], given["n1"], given["delta"]), given["p"])
    assert found == pytest.approx(entry["expected"], rel=1e-8)


@golden("sequential", "adaptive_bound")
def test_golden_adaptive(entry, monkeypatch):
    given = entry["inputs"]
    monkeypatch.setattr(module, "GRID", np.arange(given["points"] + 1) * given["step"])
    found = combine(
        bdp.ErrorCounts(given["x"], given["n0"], given["y"], given["n1"]), given["delta"], dependence="independent"
    )
    assert found.value == pytest.approx(entry["expected"], abs=1e-9)


@golden("sequential", "mixture_log_e")
def test_golden_mixture(entry):
    given = entry["inputs"]
    counts = given["x"], given["n0"], given["y"], given["n1"]
    if "mu" in given:
        found = mixture_log_e(Gaussian(given["mu"]), *counts)
    else:
        found = mixture(*counts, given["eps"], given["delta"])
    assert found == pytest.approx(entry["expected"], rel=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_rules_by_their_words(seed):
    p = np.random.default_rng(seed).random(7) ** 3
    ranked = sorted(p)
    assert bonferroni(p) == pytest.approx(min(1, 7 * ranked[0]))
    assert bonferroni(p, 3) == pytest.approx(min(1, 5 * ranked[2]))
    assert simes(p) == pytest.approx(min(1, min(7 * q / (i + 1) for i, q in enumerate(ranked))))
    assert hommel(p) == pytest.approx(min(1, sum(1 / i for i in range(1, 8)) * simes(p)))
    assert fisher(p) == pytest.approx(stats.combine_pvalues(p, "fisher").pvalue)
    assert fisher(p, 4) == pytest.approx(stats.combine_pvalues(ranked[3:], "fisher").pvalue)


def test_e_values_expect_at_most_one():
    n, epsilon, delta = 12, 0.8, 0.02
    e = np.array([[math.exp(mixture(x, n, y, n, epsilon, delta)) for y in range(n + 1)] for x in range(n + 1)])
    corner = (1 - delta) / (1 + math.exp(epsilon))
    for alpha in np.linspace(0, 1 - delta, 41):
        beta = max(1 - delta - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - delta - alpha), 0.0)
        law = np.outer(stats.binom.pmf(range(n + 1), n, alpha), stats.binom.pmf(range(n + 1), n, beta))
        assert (law * e).sum() <= 1 + 1e-12
        assert (law[::-1, ::-1] * e).sum() <= 1 + 1e-12  # the opposite decisions
    assert e[round(n * corner), round(n * corner)] < 1


# Bounds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["bonferroni", "hommel", "simes", "fisher"])
def test_against_every_value_of_the_grid(method, monkeypatch):
    """The last value before the first that is not rejected, looking at one after another."""
    monkeypatch.setattr(module, "GRID", np.arange(200) / 25)
    rng = np.random.default_rng(3)
    x, y = rng.binomial(15, 0.1, 3), rng.binomial(12, 0.15, 3)
    n0, n1 = [15, 15, 14], [12, 12, 20]
    last = 0.0
    for epsilon in module.GRID:
        if RULES[method](p_values(x, n0, y, n1, epsilon, 0.01)) > 0.05:
            break
        last = epsilon
    found = combine(bdp.ErrorCounts(x, n0, y, n1), 0.01, dependence="independent", method=method)
    assert found.value == last > 0


def test_joint_exact_is_the_bound_of_a_base_alone():
    counts = bdp.ErrorCounts([1, 9], [50, 40], [20, 30], [50, 40])
    alone = [joint_exact(counts[i], 1e-3, confidence=0.975).value for i in range(2)]
    both = joint_exact(counts, 1e-3)
    assert both.value == max(alone)
    assert both.details["base"] == str(int(np.argmax(alone)))
    assert len(both.details["p_values"]) == 2


@pytest.mark.parametrize("counts", [(0, 10, 0, 10), (3, 100, 30, 100), (20, 1000, 300, 800), (0, 3000, 0, 5)])
def test_above_clopper_pearson(counts):
    counts = bdp.ErrorCounts(*counts)
    assert joint_exact(counts, 1e-3).value > bdp.audits.clopper_pearson(counts, 1e-3).value


def test_few_runs_with_the_example_and_many_without():
    """x = 0 of N0 and y = 0 of 1: the largest chance is that of (1 − α)^N0 (δ + e^ε α), which peaks at α = 1/N0."""
    found = joint_exact(bdp.ErrorCounts(0, 100_000, 0, 1), 0.0).value
    alpha = np.linspace(1e-7, 1e-4, 100_001)

    def largest(epsilon):
        return (np.exp(100_000 * np.log1p(-alpha)) * np.minimum(1, math.exp(epsilon) * alpha)).max()

    assert largest(found) <= 0.05 < largest(found + 0.01)


def test_many_runs_take_clopper_pearson():
    found = joint_exact(bdp.ErrorCounts(0, 10**8, 0, 10**8), 1e-3).value
    assert found == pytest.approx(bdp.audits.clopper_pearson(bdp.ErrorCounts(0, 10**8, 0, 10**8), 1e-3).value, abs=0.01)


@pytest.mark.parametrize("method", ["bonferroni", "hommel"])
def test_many_runs_by_every_value_of_the_grid(method, monkeypatch):
    """Beyond 100 000 runs values are rejected at once, as p-values of intervals rise in ε."""
    monkeypatch.setattr(module, "GRID", np.arange(301) / 50)
    counts = bdp.ErrorCounts([2000, 2100, 5], [200_000, 200_000, 90], [60_000, 60_000, 20], [200_000, 200_000, 90])
    found = bdp.audits.combine(counts, 1e-5, method=method).value
    bases = module._Bases(*module.columns(counts), 1e-5)
    rule = {"bonferroni": bonferroni, "hommel": hommel}[method]
    kept = [rule(row) > 0.05 for row in bases.p_values(module.GRID)]
    assert found == module.GRID[kept.index(True) - 1] > 3


def test_e_values_need_no_opposite_decisions():
    """They judge both directions, so that there is nothing to warn of."""
    counts = bdp.ErrorCounts(100, 100, 100, 100)
    assert bdp.audits.combine(counts, 1e-5).warnings
    found = bdp.audits.combine(counts, 1e-5, method="mean_e")
    assert (found.value > 3, found.warnings) == (True, ())


def test_pooled_and_adaptive():
    counts = bdp.ErrorCounts([2] * 8, [40] * 8, [20] * 8, [40] * 8)
    pooled = combine(counts, 1e-3, dependence="independent", method="pooled")
    total = bdp.audits.clopper_pearson(bdp.ErrorCounts(16, 320, 160, 320), 1e-3)
    assert pooled.value == pytest.approx(total.value)
    adaptive = combine(counts, 1e-3, dependence="independent")
    assert adaptive.details["half"] == "pooled"
    half = combine(counts, 1e-3, dependence="independent", method="pooled", confidence=0.975)
    assert adaptive.value == half.value
    spread = bdp.ErrorCounts([0, *[20] * 7], [40] * 8, [0, *[20] * 7], [40] * 8)
    adaptive = combine(spread, 1e-3, dependence="independent")
    assert adaptive.details["half"] == "bonferroni"
    assert adaptive.value == combine(spread, 1e-3, confidence=0.975).value
    unequal = bdp.ErrorCounts([2, 2], [40, 30], [20, 10], [40, 40])
    adaptive = combine(unequal, 1e-3, dependence="independent")
    assert adaptive.value == combine(unequal, 1e-3).value
    assert any("share of runs" in sentence for sentence in adaptive.assumptions)


def test_at_least_so_many_bases():
    counts = bdp.ErrorCounts([1, 2, 20, 24], [50] * 4, [3, 2, 24, 27], [50] * 4)
    for dependence in ("any", "independent"):
        values = [combine(counts, 1e-3, dependence=dependence, at_least=k).value for k in (1, 2, 3)]
        assert min(values[:2]) > 1.5
        assert values[2] == 0
    found = combine(counts, 1e-3, at_least=2)
    assert any("at least 2 of 4" in sentence for sentence in found.assumptions)


def test_e_values_alone_are_the_mixture():
    counts = bdp.ErrorCounts(5, 100, 40, 150)
    found = combine(counts, 1e-5, method="mean_e").value
    assert mixture(5, 100, 40, 150, found, 1e-5) >= math.log(20) > mixture(5, 100, 40, 150, found + 0.01, 1e-5)


def test_worse_than_chance_is_told():
    counts = bdp.ErrorCounts([45, 3], [50, 50], [46, 30], [50, 50])
    found = joint_exact(counts, 1e-3)
    assert "1 of 2 bases are worse than chance" in found.warnings[0]
    mirrored = joint_exact(bdp.ErrorCounts(5, 50, 4, 50), 1e-3, confidence=0.975)
    assert f">= {mirrored.value:.4g}" in found.warnings[0]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"dependence": "some"}, 'dependence must be "any" or "independent", not'),
        ({"method": "stouffer"}, "method must be one of adaptive, bonferroni"),
        ({"method": "fisher"}, 'method="fisher" is for independent bases'),
        ({"method": "pooled", "dependence": "independent"}, "the same share of runs"),
        ({"method": "accuracy", "dependence": "independent"}, "base 1 has 60 and 50"),
        ({"at_least": 3}, "at_least must be"),
        ({"at_least": 2, "method": "hommel"}, "at_least is for"),
        ({"delta": 1.5}, "delta"),
    ],
)
def test_refusals(wrong, said):
    counts = bdp.ErrorCounts([1, 2], [50, 60], [3, 4], [50, 50])
    with pytest.raises(InputError, match=said):
        combine(counts, **({"delta": 1e-3} | wrong))


def test_designs():
    with pytest.raises(InputError, match="one_run"):
        combine(bdp.ErrorCounts(1, 10, 2, 10, design="one_run", examples=30), 1e-3)
    crossed = combine(bdp.ErrorCounts([1, 2], [20, 20], [2, 2], [20, 20], design="cross_fed"), 1e-3)
    assert not crossed.valid


# How often they are wrong ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_level_at_the_corner_and_along_the_edge(method):
    """Few data sets here; `tests/calibration/test_combine.py` has the table."""
    from tests.calibration.test_combine import misses

    assert misses(method, "edge", "independent", repetitions=400, bases=5, runs=40)[method] <= 0.05 + 3 * 0.011


def test_many_bases_at_once_are_each_alone():
    some = bases([1, 20, 50, 1], [100, 100, 100, 200_000], [40, 20, 60, 1], [100, 200, 100, 10], 1e-3)
    epsilon = np.array([0.0, 0.5, 2.0])
    for i in range(4):
        alone = some[np.array([i])]
        assert np.allclose(some.gaps(epsilon)[:, [i]], alone.gaps(epsilon), rtol=1e-12, atol=0)
        assert np.allclose(some.p_values(epsilon)[:, [i]], alone.p_values(epsilon), rtol=1e-12, atol=0)


@pytest.mark.parametrize("seed", range(12))
def test_the_hint_is_that_of_the_best_base_by_itself(seed):
    """Bases with one number of runs or many, better and worse than chance, ties among them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    n0, n1 = (rng.integers(1, 200, n) if seed % 2 else np.full(n, 60) for _ in range(2))
    x, y = (rng.binomial(runs, rng.random(n)) for runs in (n0, n1))
    x[-1], y[-1], n0[-1], n1[-1] = x[0], y[0], n0[0], n1[0]
    delta, worse = (0.0, 1e-5, 0.02)[seed % 3], x / n0 + y / n1 > 1
    sides = zip(n0 - x, n0, n1 - y, n1, worse, strict=True)
    alone = [
        bdp.audits.joint_exact(bdp.ErrorCounts(*base), delta, confidence=1 - 0.05 / n).value if turned else 0.0
        for *base, turned in sides
    ]
    warned = bdp.audits.joint_exact(bdp.ErrorCounts(x, n0, y, n1), delta).warnings
    assert bool(warned) == (max(alone) > 0)
    if warned:
        assert f"would give epsilon >= {max(alone):.4g}." in warned[0]
        assert n == 1 or f"of {np.count_nonzero(alone)} of {n} bases" in warned[0]
