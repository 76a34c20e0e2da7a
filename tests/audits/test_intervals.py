"""Bounds from intervals of rates: golden values, edges, validity, and what the results say."""

import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.audits import intervals
from bayes_dp.audits.rate_posterior import JointBeta

METHODS = (intervals.clopper_pearson, intervals.jeffreys, intervals.katz, intervals.accuracy)


def counts(x, n0, y, n1, **others):
    return bdp.ErrorCounts([x], n0, [y], n1, **others)


def evaluate(function, given):
    """The golden file's functions in terms of ours."""
    given = dict(given)
    if function.startswith("eps_from_rates"):
        rates = given["fpr"], given["fnr"], given["delta"]
        return region.level(*rates) if function.endswith("reflected") else intervals.epsilon_from_rates(*rates)
    base = given["fp"], given["n0"], given["fn"], given["n1"]
    if function == "joint_beta_cdf":
        return JointBeta(*base, given["delta"]).cdf(given["eps"])
    if function == "joint_beta_eps_quantile":
        return JointBeta(*base, given["delta"]).quantile(given["q"])
    if function == "cp_eps_ub":
        low = (intervals.clopper_pearson_lower(k, n, given["gamma"] / 2) for k, n in (base[:2], base[2:]))
        return intervals.epsilon_from_rates(*low, given["delta"])
    found = intervals.clopper_pearson(
        counts(*base), given["delta"], confidence=1 - given["gamma"], two_sided=function == "cp_eps_interval"
    )
    return list(found.interval()) if function == "cp_eps_interval" else found.value


def number(value):
    return [number(v) for v in value] if isinstance(value, list) else float(value)


def test_golden_values():
    folder = os.environ.get("BAYES_DP_GOLDEN")
    if folder is None:
        pytest.skip("BAYES_DP_GOLDEN is not set")
    cases = json.loads((Path(folder) / "audits_intervals.json").read_text())
    for case in cases:
        found = evaluate(case["inputs"]["function"], case["inputs"])
        tolerance = case["tolerance"]
        expected = number(case["expected"])
        assert found == pytest.approx(expected, rel=tolerance["rel"], abs=tolerance["abs"]), case["name"]


# X, N0, Y, N1, δ, p -> lower bound
CLOPPER_PEARSON = [
    ((0, 100, 0, 100, 0.0, 0.05), 3.2813463490987864),
    ((100, 100, 100, 100, 0.0, 0.05), 0.0),
    ((40, 1000, 500, 1000, 1e-5, 0.1), 2.2136780837427485),
    ((0, 10, 0, 10, 0.01, 0.05), 0.7925880266520696),
    ((1, 10**6, 5 * 10**5, 10**6, 1e-9, 0.05), 11.402712720730044),
    ((80, 100, 90, 100, 0.0, 0.05), 0.0),
    ((10, 100, 20, 100, 0.9, 0.05), 0.0),
    ((10, 100, 20, 100, 1.0, 0.05), 0.0),
]


@pytest.mark.parametrize(("given", "expected"), CLOPPER_PEARSON)
def test_clopper_pearson(given, expected):
    *base, delta, p = given
    found = intervals.clopper_pearson(counts(*base), delta, confidence=1 - p)
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert (found.kind, found.valid, found.upper) == ("lower_bound", True, math.inf)


def test_two_sided():
    found = intervals.clopper_pearson(counts(10, 100, 20, 100), 1e-5, two_sided=True)
    assert found.interval() == pytest.approx((1.3084374688759994, 3.00161589573403), rel=1e-9)
    found = intervals.clopper_pearson(counts(1, 10**6, 5 * 10**5, 10**6), 1e-9, two_sided=True)
    assert found.interval() == pytest.approx((11.266807967877796, 17.500347106923265), rel=1e-9)
    assert any("this attack" in sentence for sentence in found.assumptions)
    assert "at most 17.5 by this attack" in found.statement()
    endless = intervals.clopper_pearson(counts(0, 10, 3, 10), 0.0, two_sided=True)
    assert endless.provenance.settings["two_sided"]
    assert "at most inf by this attack" in endless.statement()
    # privacy-estimates' test vector: TP 487, TN 1, FP 512, FN 0
    found = intervals.clopper_pearson(counts(512, 513, 0, 487), 1e-5, confidence=0.9, two_sided=True)
    assert found.interval() == (0.0, math.inf)


def test_an_attack_that_is_always_wrong():
    """One-sided, its decisions count as they are; two-sided, the opposite decisions do as well."""
    worse, better = counts(90, 100, 95, 100), counts(10, 100, 5, 100)
    for method in METHODS:
        assert method(worse, 0.0).value == 0
    one, other = (intervals.clopper_pearson(c, 0.0, two_sided=True).interval() for c in (worse, better))
    assert one == pytest.approx(other)
    assert one[0] > 1
    one, other = (intervals.katz(c, 0.0, two_sided=True).interval() for c in (worse, better))
    assert one == pytest.approx(other)


def test_rates():
    rates = intervals.epsilon_from_rates
    assert rates(0.1, 0.2, 0.01) == pytest.approx(2.066862759472976)
    assert rates([0.0, 0.2, 0.5, 0.0, 0.9], [0.2, 0.0, 0.5, 1.0, 0.9], 0.0).tolist() == [math.inf, math.inf, 0, 0, 0]
    assert rates(0.0, 0.0, 1.0) == 0
    assert region.level(0.8, 0.9, 0.0) == pytest.approx(rates(0.2, 0.1, 0.0))


def test_one_rate_against_the_definition():
    for k, n, p in ((0, 10, 0.05), (3, 10, 0.025), (10, 10, 0.05), (60_000, 100_000, 1e-9)):
        low, high = intervals.clopper_pearson_lower(k, n, p), intervals.clopper_pearson_upper(k, n, p)
        assert (low == 0 and k == 0) or stats.binom.sf(k - 1, n, low) == pytest.approx(p, rel=1e-6)
        assert (high == 1 and k == n) or stats.binom.cdf(k, n, high) == pytest.approx(p, rel=1e-6)


def test_several_bases_share_the_error_probability():
    several = bdp.ErrorCounts([10, 40, 25], 100, [20, 45, 30], 100, base=["a", "b", "c"])
    for method in METHODS:
        found = method(several, 1e-3, confidence=0.94)
        alone = [method(several[i], 1e-3, confidence=0.98).value for i in range(3)]
        assert found.details["bounds"] == pytest.approx(alone)
        assert found.value == pytest.approx(max(alone))
        assert found.details["base"] == "'a'"
        assert any("largest of 3 bounds" in sentence for sentence in found.assumptions)


def test_katz_against_the_formula():
    found = intervals.katz(counts(10, 100, 20, 100), 0.0)
    spread = np.sqrt(0.9 / 10 + 0.2 / 80)
    assert found.value == pytest.approx(np.log(8) - stats.norm.ppf(0.975) * spread)
    assert not found.valid
    assert intervals.katz(counts(1, 200, 199, 200), 0.01, two_sided=True).upper < 0.1
    empty = intervals.katz(counts(0, 100, 20, 100), 0.0)
    a, b = 0.5 / 101, 20.5 / 101
    spread = np.sqrt((1 - a) / (100 * a) + b / (100 * (1 - b)))
    assert empty.value == pytest.approx(np.log((1 - b) / a) - stats.norm.ppf(0.975) * spread)


def test_accuracy_against_the_definition():
    """The largest ε for which the tail is at most p and v ≥ 2Nq + 1, by a fine grid."""
    for x, y, n, delta in ((10, 20, 100, 0.01), (0, 0, 20, 0.0), (45, 48, 100, 0.0), (0, 1, 1, 0.0), (2, 1, 5, 0.1)):
        epsilon = np.linspace(0, 12, 1_200_001)
        q = 1 - (1 - delta) / (1 + np.exp(epsilon))
        v = 2 * n - x - y
        p_value = np.where(v >= 2 * n * q + 1, stats.binom.sf(v - 1, 2 * n, q), 1.0)
        below = epsilon[p_value <= 0.05]
        expected = below.max() if len(below) else 0.0
        assert intervals.accuracy(counts(x, n, y, n), delta).value == pytest.approx(expected, abs=2e-5)


def test_accuracy_needs_equal_numbers():
    with pytest.raises(bdp.InputError, match="base 1 has 20 and 30"):
        intervals.accuracy(bdp.ErrorCounts([1, 2], [10, 20], [1, 2], [10, 30]), 0.0)


# Attacks against (ε,δ)-DP with known rates: corners and edges of the region, in and out of the diagonal.
TRUTHS = [(0.0, 0.0, 0.5), (0.0, 0.0, 0.05), (1.0, 0.0, None), (1.0, 0.05, 0.01), (3.0, 1e-3, 0.0), (0.5, 0.1, 0.6)]


def rejections(method, epsilon, delta, alpha, n, p=0.05):
    """The exact probability that the bound is above the truth, over all pairs of counts."""
    corner = region.corner(epsilon, delta)
    alpha = corner if alpha is None else alpha
    beta = bdp.tradeoff.approx_dp(alpha, epsilon, delta)
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    weight = stats.binom.pmf(x, n, alpha) * stats.binom.pmf(y, n, beta)
    many = bdp.ErrorCounts(x, n, y, n)
    bounds = method(many, delta, confidence=1 - p * len(many)) if p * len(many) < 1 else None
    if bounds is None:  # Bonferroni would ask for more than certainty: one by one
        keep = weight > 1e-9
        bounds = np.array([method(many[i], delta, confidence=1 - p).value for i in np.nonzero(keep)[0]])
        return float(weight[keep][bounds > epsilon + 1e-12].sum())
    return float(weight[np.array(bounds.details["bounds"]) > epsilon + 1e-12].sum())


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize("method", [intervals.clopper_pearson, intervals.accuracy])
def test_validity_over_all_counts(method, truth):
    epsilon, delta, alpha = truth
    assert rejections(method, epsilon, delta, alpha, 25) <= 0.05


@pytest.mark.parametrize("truth", TRUTHS)
def test_validity_of_the_two_sided_interval(truth):
    epsilon, delta, alpha = truth

    def two_sided(data, d, confidence):
        return intervals.clopper_pearson(data, d, confidence=confidence, two_sided=True)

    assert rejections(two_sided, epsilon, delta, alpha, 20) <= 0.05


def test_approximate_intervals_are_said_to_be_so():
    """A Jeffreys bound of a rate at error 0.025 is wrong more often than that at some rates; both are marked."""
    k, rate = np.arange(26.0), np.linspace(0.001, 0.999, 500)[:, None]
    upper = intervals._jeffreys_upper(k, np.full(26, 25.0), 0.025)
    wrong = (stats.binom.pmf(k, 25, rate) * (upper < rate)).sum(axis=1)
    assert 0.03 < wrong.max() < 0.15
    exact = intervals.clopper_pearson_upper(k, 25, 0.025)
    assert (stats.binom.pmf(k, 25, rate) * (exact < rate)).sum(axis=1).max() <= 0.025
    for method in (intervals.jeffreys, intervals.katz):
        found = method(counts(3, 25, 4, 25), 0.0)
        assert not found.valid
        assert "NOT VALID" in found.summary()


def test_monotone():
    data = counts(10, 100, 20, 100)
    for method in METHODS:
        by_delta = [method(data, d).value for d in (0.0, 1e-5, 0.01, 0.1, 0.5)]
        by_confidence = [method(data, 0.0, confidence=c).value for c in (0.5, 0.9, 0.99, 0.999999)]
        assert by_delta == sorted(by_delta, reverse=True)
        assert by_confidence == sorted(by_confidence, reverse=True)


def test_joint_beta_result():
    found = intervals.joint_beta(counts(10, 100, 20, 100), 1e-5, confidence=0.9)
    posterior = JointBeta(10, 100, 20, 100, 1e-5)
    assert found.kind == "posterior"
    assert found.interval() == pytest.approx((posterior.quantile(0.05), posterior.quantile(0.95)), rel=1e-12)
    assert "strongest possible" in " ".join(found.assumptions)
    assert "with probability 90%" in found.statement()
    with pytest.raises(bdp.InputError, match="for one base, not 2"):
        intervals.joint_beta(bdp.ErrorCounts([1, 2], 10, [1, 2], 10), 0.0)
    with pytest.raises(bdp.InputError, match="prior must lie"):
        intervals.joint_beta(counts(1, 10, 1, 10), 0.0, prior=0.1)


@pytest.mark.parametrize("method", [*METHODS, intervals.joint_beta])
def test_designs(method):
    one_run = counts(1, 10, 2, 10, design="one_run", examples=20)
    with pytest.raises(bdp.InputError, match="one_run"):
        method(one_run, 0.0)
    crossed = method(counts(1, 10, 2, 10, design="cross_fed"), 0.0)
    assert not crossed.valid
    assert "correlated" in crossed.invalid
    with pytest.raises(bdp.InputError, match="counts must be ErrorCounts"):
        method([1, 2], 0.0)
    with pytest.raises(bdp.InputError, match=r"confidence must lie in \(0, 1\)"):
        method(counts(1, 10, 2, 10), 0.0, confidence=1.0)


@pytest.mark.parametrize("method", [*METHODS, intervals.joint_beta])
def test_results_can_be_repeated_and_saved(method, tmp_path):
    data = counts(10, 100, 20, 100)
    found = method(data, 1e-3)
    again = found.epsilon_at(0.01)
    assert again.value == method(data, 0.01).value
    found.to_json(tmp_path / "bound.json")
    saved = json.loads((tmp_path / "bound.json").read_text())
    assert saved["value"] == found.value
    assert saved["provenance"]["digest"] == data.digest()
    assert saved["assumptions"] == list(found.assumptions)
    assert found.statement() in str(found)
    assert found._repr_html_().startswith("<table>")
    assert float(found) == found.value


def test_special_cases_of_one_run(tmp_path):
    """N = 1: one run either way tells nothing at 95%."""
    for method in METHODS:
        assert method(counts(0, 1, 0, 1), 0.0).value < 0.7
    assert intervals.clopper_pearson(counts(0, 10**7, 0, 10**7), 0.0).value == pytest.approx(
        float(special.logit(0.025 ** (1 / 10**7))), rel=1e-6
    )


# Decisions that are worse than chance ---------------------------------------------------------------------------------

ONE_SIDED = (intervals.clopper_pearson, intervals.jeffreys, intervals.katz, intervals.accuracy)


@pytest.mark.parametrize("method", ONE_SIDED)
def test_the_opposite_decisions_leak_as_well(method):
    worse, better = counts(90, 100, 95, 100), counts(10, 100, 5, 100)
    (sentence,) = method(worse, 1e-3).warnings
    assert "The decisions are worse than chance" in sentence
    assert f"would give epsilon >= {method(better, 1e-3).value:.4g}" in sentence
    assert ("two_sided" in sentence) == (method is not intervals.accuracy)
    assert sentence in method(worse, 1e-3).summary()
    assert method(worse, 1e-3).valid == method(better, 1e-3).valid
    for right in (better, counts(50, 100, 50, 100), counts(55, 100, 52, 100), counts(0, 1, 1, 1), counts(1, 1, 1, 1)):
        assert method(right, 1e-3).warnings == ()
    if method is not intervals.accuracy:
        assert method(worse, 1e-3, two_sided=True).warnings == ()


@pytest.mark.parametrize("method", ONE_SIDED)
def test_the_opposite_decisions_of_some_bases(method):
    several = bdp.ErrorCounts([10, 80, 97, 50], 100, [20, 90, 99, 50], 100, base=["a", "b", "c", "d"])
    (sentence,) = method(several, 1e-3).warnings
    alone = method(bdp.ErrorCounts(3, 100, 1, 100), 1e-3, confidence=1 - 0.05 / 4).value
    assert "The decisions of 2 of 4 bases are worse than chance" in sentence
    assert f"the opposite decisions of base 'c' would give epsilon >= {alone:.4g}" in sentence


def test_the_hint_is_in_the_comparison():
    row = bdp.compare(counts(90, 100, 95, 100), 1e-3, names="clopper-pearson").rows[0]
    assert (row.valid, row.value) == (True, 0.0)
    assert "the opposite decisions" in row.reason


@pytest.mark.parametrize("x", [0, 1, 2, 18, 19, 20])
@pytest.mark.parametrize("y", [0, 1, 2, 28, 29, 30])
@pytest.mark.parametrize("two_sided", [False, True])
def test_katz_adds_half_an_error_to_extreme_counts_only(x, y, two_sided):
    """Written from the formula: an extreme count is 0 or all, and one less is none."""
    found = intervals.katz(bdp.ErrorCounts(x, 20, y, 30), 0.01, confidence=0.9, two_sided=two_sided)
    swapped = intervals.katz(bdp.ErrorCounts(y, 30, x, 20), 0.01, confidence=0.9, two_sided=two_sided)
    assert (swapped.value, swapped.upper) == (found.value, found.upper)
    if two_sided and x / 20 + y / 30 > 1:
        x, y = 20 - x, 30 - y
    half = 0.5 if x in (0, 20) or y in (0, 30) else 0.0
    alpha, beta = (x + half) / (20 + 2 * half), (y + half) / (30 + 2 * half)
    z = stats.norm.isf(0.1 / (4 if two_sided else 2))
    low = high = 0.0
    for a, m, b, n in ((alpha, 20, beta, 30), (beta, 30, alpha, 20)):
        gap = 0.99 - b
        if gap > 0:
            spread = np.sqrt(b * (1 - b) / (n * gap**2) + (1 - a) / (m * a))
            low = max(low, np.log(gap / a) - z * spread)
            high = max(high, np.log(gap / a) + z * spread)
    assert found.value == pytest.approx(low, abs=1e-12)
    assert found.upper == (pytest.approx(high, abs=1e-12) if two_sided else np.inf)
