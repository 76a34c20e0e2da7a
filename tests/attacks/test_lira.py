"""The likelihood-ratio attack: the test is of its size and most powerful; the counts are those of plain refits."""

from __future__ import annotations

import json
import math
import os
import warnings
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, ncx2, norm

from bayes_dp.attacks import lira
from bayes_dp.attacks.lira import Curve, SelectionWarning, choose_target, measure, measure_fast, p_values
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.loss_table import LossTable
from tests.data.test_counts import refusal

ALGORITHMS = ("A1", "A2", "A3_sigma0.1", "A4_sigma0.1", "A4_sigma0.05", "A4_sigma0.01")
GRID = np.arange(1, 100) / 100
LAWS = [
    (0, 1, 1, 1),
    (0, 1, -2, 1),
    (3, 2, 3, 1),
    (3, 1, 3, 2),
    (1, 2, -1, 0.5),
    (-5, 0.1, -4.9, 0.3),
    (0, 1, 0.5, 1.01),
]
SETTINGS = settings(max_examples=150, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])


def plain_decision(loss: float, shadows0: list[float], shadows1: list[float], target: float) -> bool:
    """Appendix D, with the equal variances and the signs put right, in exact fractions up to the quantiles."""

    def fit(losses: list[float]) -> tuple[Fraction, Fraction]:
        exact = [Fraction(x) for x in losses]
        mean = sum(exact) / len(exact)
        return mean, sum((x - mean) ** 2 for x in exact) / (len(exact) - 1)

    x = Fraction(loss)
    (m0, v0), (m1, v1) = fit(shadows0), fit(shadows1)
    if v0 == v1:
        side = (m1 > m0) - (m1 < m0)
        if v0 == 0 or side == 0:
            return side * (x - m0) > 0
        return side * float(x - m0) / math.sqrt(v0) > norm.ppf(1 - target)
    if v0 == 0:
        return x != m0
    r = -m1 if v1 == 0 else (m0 / v0 - m1 / v1) / (1 / v1 - 1 / v0)
    noncentrality = float((m0 + r) ** 2 / v0)
    scaled = float((x + r) ** 2 / v0)
    if v0 > v1:
        return bool(scaled <= ncx2.ppf(target, 1, noncentrality))
    return bool(scaled >= ncx2.ppf(1 - target, 1, noncentrality))


def plain_fast(table: LossTable, target: float) -> tuple[list[int], list[int]]:
    """Algorithm 5, run by run."""
    false_positives, false_negatives = [], []
    for out, inside in zip(table.without.tolist(), table.with_.tolist(), strict=True):
        calls0 = [plain_decision(x, out[:j] + out[j + 1 :], inside, target) for j, x in enumerate(out)]
        calls1 = [plain_decision(x, out, inside[:j] + inside[j + 1 :], target) for j, x in enumerate(inside)]
        false_positives.append(sum(calls0))
        false_negatives.append(len(calls1) - sum(calls1))
    return false_positives, false_negatives


def tally(counts: ErrorCounts) -> tuple[list[int], list[int]]:
    return counts.false_positives.tolist(), counts.false_negatives.tolist()


def skewed(seed: int, n: int, runs0: int, runs1: int) -> LossTable:
    """Losses that are not normal, as losses are."""
    rng = np.random.default_rng(seed)
    scale = rng.uniform(0.2, 2, (n, 1))
    return LossTable(rng.gamma(0.5, scale, (n, runs0)), rng.gamma(0.3, scale * rng.uniform(0.3, 1.2), (n, runs1)))


# --------------------------------------------------------------------------------------------------------- the test


@pytest.mark.parametrize("law", LAWS)
def test_size(law: tuple[float, ...]):
    """Under H0 the p-values are uniform: at every α* the test rejects at the rate α*."""
    m0, s0, _, _ = law
    loss = np.random.default_rng(1).normal(m0, s0, 20_000)
    assert kstest(p_values(loss, *law), "uniform").pvalue > 0.01


@pytest.mark.parametrize("law", LAWS)
def test_most_powerful(law: tuple[float, ...]):
    """The order of the p-values is that of the likelihood ratio (Neyman and Pearson)."""
    m0, s0, m1, s1 = law
    loss = np.random.default_rng(2).normal(m0, 2 * s0, 2000)
    p = p_values(loss, *law)
    ratio = norm.logpdf(loss, m1, s1) - norm.logpdf(loss, m0, s0)
    assert np.diff(ratio[np.argsort(p)]).max() < 1e-9


@pytest.mark.parametrize("law", LAWS)
def test_power_is_that_of_the_best_threshold_on_the_likelihood_ratio(law: tuple[float, ...]):
    m0, s0, m1, s1 = law
    rng = np.random.default_rng(3)
    other, loss = rng.normal(m0, s0, 200_000), rng.normal(m1, s1, 20_000)
    ratio0, ratio1 = (norm.logpdf(x, m1, s1) - norm.logpdf(x, m0, s0) for x in (other, loss))
    for target in (0.02, 0.1, 0.5):
        best = (ratio1 > np.quantile(ratio0, 1 - target)).mean()
        assert (p_values(loss, *law) <= target).mean() == pytest.approx(best, abs=0.02)


@pytest.mark.parametrize(("gap", "spread"), list(product([0.0, 0.3, -2.0], [0.2, 0.7, 1.5, 4.0])))
def test_the_same_as_the_non_central_chi_square(gap: float, spread: float):
    loss = np.linspace(-4, 4, 41)
    q = spread**2 - 1
    square, noncentrality = (loss + gap / q) ** 2, (gap / q) ** 2
    law = ncx2.cdf if q < 0 else ncx2.sf
    np.testing.assert_allclose(p_values(loss, 0, 1, gap, spread), law(square, 1, noncentrality), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("relative", [sign * 10.0**-k for sign in (1, -1) for k in (3, 6, 9, 12)])
@pytest.mark.parametrize("gap", [0.0, 1e-10, 1e-4, 0.5, -3.0])
def test_nearly_equal_variances(relative: float, gap: float):
    """Against the probabilities of the region in 60 digits."""
    loss, spread = np.linspace(-5, 5, 21), 1 + relative
    expected = []
    with mpmath.workdps(60):
        q = mpmath.mpf(spread) ** 2 - 1
        centre = -mpmath.mpf(gap) / q
        for x in loss.tolist():
            half = abs(x - centre)
            inside = mpmath.ncdf(centre + half) - mpmath.ncdf(centre - half)
            expected.append(float(1 - inside if q > 0 else inside))
    np.testing.assert_allclose(p_values(loss, 0, 1, gap, spread), expected, rtol=1e-9, atol=1e-15)
    if abs(gap) >= 0.5:
        np.testing.assert_allclose(p_values(loss, 0, 1, gap, 1), expected, atol=5 * abs(relative))


def test_p_values_do_not_depend_on_units():
    loss = np.random.default_rng(4).normal(0, 2, 50)
    for m0, s0, m1, s1 in LAWS:
        p = p_values(loss, m0, s0, m1, s1)
        for unit in (2.0**900, 2.0**-900, -1.0):
            scaled = (unit * loss, unit * m0, abs(unit) * s0, unit * m1, abs(unit) * s1)
            np.testing.assert_array_equal(p_values(*scaled), p)


def test_laws_without_spread():
    loss = [-1.0, 0.0, 1.0, 2.0, 3.0]
    assert p_values(loss, 0, 0, 2, 1).tolist() == [0, 1, 0, 0, 0]
    assert p_values(loss, 0, 0, 0, 1).tolist() == [0, 1, 0, 0, 0]
    assert p_values(loss, 0, 0, 2, 0).tolist() == [1, 1, 0, 0, 0]
    assert p_values(loss, 2, 0, 0, 0).tolist() == [0, 0, 0, 1, 1]
    assert p_values(loss, 0, 0, 0, 0).tolist() == [1] * 5
    assert p_values(loss, 0, 1, 0, 1).tolist() == [1] * 5
    close = p_values(loss, 0, 1, 2, 0)  # rejects close to 2, the only value under H1
    assert close[3] == 0
    np.testing.assert_allclose(close, norm.cdf(np.add(2, d := np.abs(np.subtract(loss, 2)))) - norm.cdf(2 - d))


def test_arguments_of_p_values():
    assert "sd0 must lie in [0, inf)" in refusal(p_values, 0, 0, -1, 0, 1)
    assert "loss[1] must lie in (-inf, inf), not nan" in refusal(p_values, [0, math.nan], 0, 1, 0, 1)
    assert p_values(np.zeros((3, 1)), 0, 1, np.ones(2), 1).shape == (3, 2)


# ------------------------------------------------------------------------------------------------------------- fits


@given(
    losses=st.lists(
        st.sampled_from([0.0, 1.0, 1.0 + 1e-9, 1e-8, 3e8, -7.25, 1e6 + 1e-3, 0.1])
        | st.floats(-10, 10).map(lambda x: x if abs(x) > 1e-100 else 0.0),  # whose square is no 0
        min_size=3,
        max_size=12,
    )
)
@SETTINGS
def test_leaving_one_out_in_closed_form(losses: list[float]):
    fit, left_out = lira._fit_without_each(np.array([losses]))
    for j in (None, *range(len(losses))):
        rest = [Fraction(x) for i, x in enumerate(losses) if i != j]
        mean = sum(rest) / len(rest)
        variance = sum((x - mean) ** 2 for x in rest) / (len(rest) - 1)
        found, k = (fit, 0) if j is None else (left_out, j)
        assert (found.variance[0, k] == 0) == (variance == 0)
        assert float(found.variance[0, k]) == pytest.approx(float(variance), rel=1e-9)
        error = Fraction(float(found.origin[0, 0])) + Fraction(float(found.mean[0, k])) - mean
        assert abs(error) <= 1e-9 * math.sqrt(variance)


def test_an_outlier_does_not_hide_the_others():
    small = [1e-8, 2e-8, 4e-8, 3e-8]
    _, left_out = lira._fit_without_each(np.array([[*small, 3.0]]))
    assert left_out.variance[0, -1] == pytest.approx(np.var(small, ddof=1), rel=1e-12)


# --------------------------------------------------------------------------------------------------------- counting


@pytest.mark.skipif("BAYES_DP_DATA" not in os.environ, reason="BAYES_DP_DATA names no folder with the published losses")
@pytest.mark.parametrize("name", ALGORITHMS)
def test_published_counts(name: str):
    folder = Path(os.environ["BAYES_DP_DATA"])
    published = json.loads((folder / "mcmc_dp_est_counts.json").read_text())["algorithms"][name]
    counts = measure_fast(LossTable.from_npz(folder / "mcmc_dp_est_losses.npz", name), 0.1)
    assert tally(counts) == (published["false_positives"], published["false_negatives"])
    assert (set(counts.negatives), set(counts.positives), counts.design) == ({100}, {100}, "cross_fed")


@pytest.mark.parametrize(("runs0", "runs1"), [(40, 40), (25, 60), (3, 3), (3, 7)])
def test_the_same_as_refits(runs0: int, runs1: int):
    table = skewed(runs0, 4, runs0, runs1)
    for target in (0.03, 0.1, 0.6):
        assert tally(measure_fast(table, target)) == plain_fast(table, target)


@given(
    losses=st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.1, 7.0]), min_size=3, max_size=6), min_size=2, max_size=2
    ),
    target=st.sampled_from([0.0371, 0.137, 0.4142, 0.777]),
)
@SETTINGS
def test_the_same_as_refits_with_equal_losses(losses: list[list[float]], target: float):
    table = LossTable(*losses)
    assert tally(measure_fast(table, target)) == plain_fast(table, target)


def test_variances_that_agree_up_to_rounding():
    rng = np.random.default_rng(5)
    out = rng.normal(size=(3, 30))
    for relative in (0.0, 1e-12, -1e-9, 1e-6, -1e-3):
        shift = 0.8 + out * (1 + relative)
        counts = measure_fast(LossTable(out, shift), 0.1)
        rejected = (p_values(out, out.mean(1, keepdims=True), out.std(1, ddof=1, keepdims=True), 0.8, 1) <= 0.1).sum(1)
        assert np.abs(counts.false_positives - rejected).max() <= 3


def test_losses_far_from_zero_and_of_any_unit():
    table = skewed(6, 3, 20, 25)
    expected = tally(measure_fast(table, 0.1))
    for unit in (2.0**1000, 2.0**-900):
        assert tally(measure_fast(LossTable(unit * table.without, unit * table.with_), 0.1)) == expected
    rounded = LossTable(np.round(table.without, 6), np.round(table.with_, 6))
    moved = LossTable(1e4 + rounded.without, 1e4 + rounded.with_)
    assert tally(measure_fast(moved, 0.1)) == tally(measure_fast(rounded, 0.1))


def test_models_that_give_always_the_same_loss():
    same = np.zeros((1, 5))
    assert tally(measure_fast(LossTable(same, same), 0.1)) == ([0], [5])
    assert tally(measure_fast(LossTable(same, same + 1), 0.1)) == ([0], [0])
    assert tally(measure_fast(LossTable(same + 0.1, [[0.3, 0.4, 0.1, 0.5]]), 0.1)) == ([0], [1])


def test_the_rate_is_the_target_when_the_laws_are_normal():
    rng = np.random.default_rng(7)
    table = LossTable(rng.normal(1, 1, (200, 100)), rng.normal(0, 0.8, (200, 120)))
    curve = measure_fast(table, [0.05, 0.1, 0.5])
    np.testing.assert_allclose(curve.false_positives.mean(1) / 100, curve.target_fpr, atol=0.012)


def test_too_few_runs():
    assert refusal(measure_fast, LossTable([[1, 2]], [[1, 2, 3]]), 0.1) == (
        "table must have at least 3 runs without the example, as a variance needs 2 and the tested run is left out, "
        "not 2"
    )
    assert "at least 3 runs with the example" in refusal(measure_fast, LossTable([[1, 2, 3]], [[1]]), 0.1)
    one = LossTable([[1]], [[2]])
    assert tally(measure(one, 0.1, LossTable([[0, 4]], [[3, 8]]))) == ([0], [1])
    assert refusal(measure, one, 0.1, LossTable([[1]], [[3, 4]])) == (
        "shadows must have at least 2 runs without the example, as a variance needs 2, not 1"
    )


def test_arguments():
    table = skewed(8, 2, 5, 5)
    for target in (0, 1, -0.1, math.nan, 2):
        assert "target_fpr must lie in (0, 1)" in refusal(measure_fast, table, target)
    assert "target_fpr[1] must lie in (0, 1)" in refusal(measure_fast, table, [0.1, 1.0])
    assert "target_fpr must be numeric" in refusal(measure_fast, table, "0.1")
    assert "target_fpr must be a number or a list" in refusal(measure_fast, table, [])
    assert refusal(measure_fast, [[1.0]], 0.1) == "table must be a LossTable, not list"
    assert refusal(measure, table, 0.1, None) == "shadows must be a LossTable, not NoneType"
    assert refusal(measure, table, 0.1, [table]) == (
        "shadows must be one table, or 5 + 5 tables, one for each run, not 1"
    )
    assert refusal(measure, table, 0.1, table[0]) == "shadows must have the 2 bases of the table, not 1"
    assert "shadows must be of other runs" in refusal(measure, table, 0.1, table)
    same = LossTable(np.zeros((1, 8)), np.zeros((1, 8)))
    assert tally(choose_target(same, GRID).counts) == ([0], [4])
    labelled = [LossTable(table.without, table.with_, base=names) for names in (["a", "b"], ["b", "a"])]
    assert "the labels differ" in refusal(measure, labelled[0], 0.1, labelled[1])


# --------------------------------------------------------------------------------------------- independent shadow runs


def test_measure_with_one_set_of_shadow_runs():
    table, shadows = skewed(9, 3, 20, 12), skewed(10, 3, 15, 30)
    for target in (0.1, 0.4):
        counts = measure(table, target, shadows)
        for i in range(3):
            learned = shadows.without[i].tolist(), shadows.with_[i].tolist(), target
            assert counts.false_positives[i] == sum(plain_decision(x, *learned) for x in table.without[i])
            assert counts.false_negatives[i] == sum(not plain_decision(x, *learned) for x in table.with_[i])
        assert counts.design == "repeated"


def test_measure_with_a_set_of_shadow_runs_for_each_run():
    table = skewed(11, 2, 4, 3)
    sets = [skewed(20 + j, 2, 6 + j, 8) for j in range(7)]
    counts = measure(table, 0.2, sets)
    losses = np.concatenate([table.without, table.with_], axis=1)
    calls = [
        [plain_decision(losses[i, j], s.without[i].tolist(), s.with_[i].tolist(), 0.2) for j, s in enumerate(sets)]
        for i in range(2)
    ]
    assert tally(counts) == ([sum(row[:4]) for row in calls], [3 - sum(row[4:]) for row in calls])
    assert measure(table, 0.2, sets[:1] * 7) == measure(table, 0.2, sets[0])


# ------------------------------------------------------------------------------------------------------------ curves


def test_curve():
    table = skewed(12, 3, 30, 20)
    table = LossTable(table.without, table.with_, base=["a", "b", "c"])
    curve = measure_fast(table, GRID)
    assert isinstance(curve, Curve)
    assert curve.false_positives.shape == curve.false_negatives.shape == (99, 3)
    assert repr(curve) == (
        'Curve: 99 target false positive rates from 0.01 to 0.99, 3 bases, 30 + 20 challenges, design "cross_fed"'
    )
    for k, target in enumerate(GRID):
        counts = measure_fast(table, float(target))
        assert curve.at(target) == counts
        assert counts.base == ("a", "b", "c")
        assert tally(counts) == (curve.false_positives[k].tolist(), curve.false_negatives[k].tolist())
    assert (np.diff(curve.false_positives, axis=0) >= 0).all()
    assert curve.at(0.1 + 1e-12) == curve.at(0.1)
    assert len(measure_fast(table, [0.1])) == 1
    assert refusal(curve.at, 0.105).startswith("target_fpr must be one of the 99 of the curve, not 0.105; the nearest")
    assert "single number" in refusal(curve.at, [0.1])
    with pytest.raises(ValueError, match="read-only"):
        curve.false_positives[0, 0] = 1
    assert measure(table, GRID, skewed(13, 3, 9, 9)).design == "repeated"


def test_the_best_of_a_curve_comes_with_a_warning():
    curve = measure_fast(skewed(14, 3, 30, 20), GRID)
    with pytest.warns(SelectionWarning, match="best of 99 by the counts themselves"):
        target, counts = curve.best()
    errors = curve.false_positives / 30 + curve.false_negatives / 20
    assert errors[list(GRID).index(target)].mean() == errors.mean(1).min()
    assert counts == curve.at(target)
    with pytest.warns(SelectionWarning):
        assert curve.best(lambda counts: -counts.false_positives.sum())[0] == 0.01
    assert refusal(curve.best, lambda counts: math.nan).startswith("score must give a number")


def test_choosing_on_held_out_runs():
    table = skewed(15, 3, 30, 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = choose_target(table, GRID, fraction=0.4, seed=3)
    pilot, kept = table.split(0.4, 3)
    assert (found.pilot.negatives, found.pilot.positives) == (12, 8)
    with pytest.warns(SelectionWarning):
        assert found.target_fpr == measure_fast(pilot, GRID).best()[0]
    assert found.counts == measure(kept, found.target_fpr, pilot)
    assert found.counts.design == "repeated"
    assert set(found.counts.negatives) == {18}
    assert choose_target(table, 0.25).target_fpr == 0.25
    assert refusal(choose_target, table, GRID, 0.1).startswith("the pilot part of the table must have at least 3")


def test_chance_is_not_chosen_on_held_out_runs():
    """Where models do not depend on the example, the best of a curve looks like an attack, the held out does not."""
    rng = np.random.default_rng(16)
    table = LossTable(rng.normal(size=(300, 40)), rng.normal(size=(300, 40)))

    def advantage(counts: ErrorCounts) -> float:
        return float(1 - (counts.false_positives / counts.negatives + counts.false_negatives / counts.positives).mean())

    chosen, held_out = [], []
    for i in range(len(table)):
        with pytest.warns(SelectionWarning):
            chosen.append(advantage(measure_fast(table[i], GRID).best()[1]))
        held_out.append(advantage(choose_target(table[i], GRID).counts))
    assert np.mean(chosen) > 0.03
    assert abs(np.mean(held_out)) < 4 * np.std(held_out) / math.sqrt(len(held_out))


def test_given_the_shadow_runs_the_errors_are_binomial():
    rng = np.random.default_rng(18)
    n, runs = 20_000, 30
    one = skewed(19, 1, 20, 20)
    shadows = LossTable(np.repeat(one.without, n, 0), np.repeat(one.with_, n, 0))
    counts = measure(LossTable(rng.gamma(0.5, 1, (n, runs)), rng.gamma(0.3, 0.6, (n, runs))), 0.1, shadows)
    for errors in tally(counts):
        rate = np.mean(errors) / runs
        assert 0.05 < rate < 0.95
        assert np.var(errors) == pytest.approx(runs * rate * (1 - rate), rel=0.05)
    assert abs(np.corrcoef(*tally(counts))[0, 1]) < 0.03


def test_results_are_error_counts(tmp_path: Path):
    counts: Any = measure_fast(skewed(17, 2, 10, 10), 0.1)
    counts.to_json(tmp_path / "counts.json")
    assert ErrorCounts.from_json(tmp_path / "counts.json") == counts


def main(bases: int = 20_000, runs: int = 100, target: float = 0.1) -> None:
    """The table of docs/methods/lira.md: how the counts of `measure_fast` vary from base to base."""
    heads = "Variance of *X*", "Variance of *Y*", "Correlation of *X* and *Y*", "Mean of *X*/N0"
    print(f"| Losses without and with *z* | {' | '.join(heads)} |")
    print("|---|---|---|---|---|")
    rng, shape = np.random.default_rng(0), (bases, runs)
    for name, without, with_ in (
        ("normal, sd 1, means 1 and 0", rng.normal(1, 1, shape), rng.normal(0, 1, shape)),
        ("normal, sd 1, means 3 and 0", rng.normal(3, 1, shape), rng.normal(0, 1, shape)),
        ("gamma, shapes 0.5 and 0.3, scales 1 and 0.6", rng.gamma(0.5, 1, shape), rng.gamma(0.3, 0.6, shape)),
    ):
        counts = measure_fast(LossTable(without, with_), target)
        x, y = counts.false_positives, counts.false_negatives
        ratios = [k.var() / (k.mean() * (1 - k.mean() / runs)) for k in (x, y)]
        print(f"| {name} | {ratios[0]:.2g} | {ratios[1]:.2g} | {np.corrcoef(x, y)[0, 1]:.2f} | {x.mean() / runs:.2f} |")


if __name__ == "__main__":
    main()
