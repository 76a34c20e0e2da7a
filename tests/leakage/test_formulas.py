"""What a leakage score means: golden values, slow twins, limits, and the laws of the game by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, special, stats

import bayes_dp as bdp
from bayes_dp import leakage, tradeoff
from bayes_dp.audits import f_dp
from bayes_dp.checks import InputError
from tests.golden import golden

SHARES = (0.05, 0.25, 1.0)


@golden("audits_per_datum", "leakage_score")
def test_golden_score(entry):
    of = entry["inputs"]
    found = leakage.score(of["z"], of["mu"], of["var"], of["n"])
    assert found == pytest.approx(entry["expected"], **of_tolerance(entry))


@golden("audits_per_datum", "leakage_advantage")
def test_golden_advantage(entry):
    assert leakage.advantage(entry["inputs"]["mstar"]) == pytest.approx(entry["expected"], **of_tolerance(entry))


@golden("audits_per_datum", "leakage_power")
def test_golden_power(entry):
    of = entry["inputs"]
    assert leakage.power(of["mstar"], of["alpha"]) == pytest.approx(entry["expected"], **of_tolerance(entry))


@golden("audits_per_datum", "leakage_delta")
def test_golden_delta(entry):
    of = entry["inputs"]
    assert leakage.delta(of["mstar"], of["eps"]) == pytest.approx(entry["expected"], **of_tolerance(entry))


@golden("audits_per_datum", "subsample_advantage")
def test_golden_advantage_with_sub_sampling(entry):
    of = entry["inputs"]
    found = leakage.advantage(of["mstar"], subsample=of["rho"])
    assert found == pytest.approx(entry["expected"], **of_tolerance(entry))


@golden("audits_per_datum", "subsample_delta")
def test_golden_delta_with_sub_sampling(entry):
    of = entry["inputs"]
    found = leakage.delta(of["mstar"], of["eps"], subsample=of["rho"])
    assert found == pytest.approx(entry["expected"], **of_tolerance(entry))


@golden("audits_per_datum", "subsample_power_paper")
def test_golden_power_as_printed(entry):
    of = entry["inputs"]
    found = leakage.power_as_printed(of["mstar"], of["alpha"], subsample=of["rho"])
    assert found == pytest.approx(entry["expected"], **of_tolerance(entry))


@golden("audits_per_datum", "misspecified_power")
def test_golden_power_of_a_misspecified_target(entry):
    of = {name: value for name, value in entry["inputs"].items() if name != "function"}
    assert leakage.misspecified_power(**of) == pytest.approx(entry["expected"], **of_tolerance(entry))


def of_tolerance(entry):
    return {name: entry["tolerance"][name] for name in ("rel", "abs")}


# -- against the two laws themselves -----------------------------------------------------------------------------------


def laws(m, rho):
    """The densities of the released statistic without z and with it, where μ = √(m*/ρ)."""
    mu = math.sqrt(m / rho)
    return stats.norm.pdf, lambda x: (1 - rho) * stats.norm.pdf(x) + rho * stats.norm.pdf(x, mu)


@pytest.mark.parametrize("rho", SHARES)
@pytest.mark.parametrize("m", [0.3, 2.0, 8.84])
def test_profile_and_advantage_are_those_of_the_mixture(m, rho):
    without, with_ = laws(m, rho)
    x = np.linspace(-12, 12 + math.sqrt(m / rho), 40_001)
    for epsilon in (0.0, 0.5, 2.0):
        growth = math.exp(epsilon)
        both = [
            integrate.simpson(np.maximum(0.0, p(x) - growth * q(x)), x=x)
            for p, q in ((with_, without), (without, with_))
        ]
        assert leakage.delta(m, epsilon, subsample=rho) == pytest.approx(max(both), abs=1e-7)
        assert both[0] >= both[1] - 1e-7  # to add z is the larger of the two orders
    assert leakage.advantage(m, subsample=rho) == pytest.approx(leakage.delta(m, 0.0, subsample=rho), abs=1e-12)


@pytest.mark.parametrize(("m", "rho"), [(0.0, 0.25), (1.0, 0.05), (8.84, 0.9), (60.0, 0.25), (1.0, 1.0)])
def test_power_and_trade_off_are_one_thing(m, rho):
    alpha = np.array([0.0, 1e-12, 1e-3, 0.05, 0.3, 0.7, 1.0])
    f = leakage.trade_off(m, subsample=rho)
    tradeoff.require_symmetric(f)
    power = leakage.power(m, alpha, subsample=rho)
    assert (power <= (1 - rho) * alpha + rho + 1e-15).all()
    assert (1 - f(alpha) >= power - 1e-12).all()  # what holds in both orders is no smaller
    small = alpha <= stats.norm.cdf(-math.sqrt(m / rho) / 2)
    np.testing.assert_allclose(1 - f(alpha[small]), power[small], rtol=1e-12, atol=1e-14)
    for epsilon in (0.0, 0.1, 3.0):
        assert f.delta_at(epsilon) == pytest.approx(float(leakage.delta(m, epsilon, subsample=rho)), rel=1e-12)
    assert tradeoff.TradeOff(f).delta_at(0.1) == pytest.approx(float(f.delta_at(0.1)), abs=1e-7)
    assert f.advantage() == pytest.approx(float(leakage.advantage(m, subsample=rho)), abs=1e-12)


def test_without_sub_sampling_it_is_gaussian_dp():
    assert leakage.trade_off(2.25) == tradeoff.Gaussian(1.5)
    alpha = np.linspace(0, 1, 23)
    whole = tradeoff.SubsampledGaussian(1.5, 1.0)
    np.testing.assert_allclose(whole(alpha), tradeoff.Gaussian(1.5)(alpha), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(whole.inverse(alpha), tradeoff.Gaussian(1.5).inverse(alpha), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("rho", SHARES)
def test_epsilon_is_the_inverse_of_delta(rho):
    m = np.array([0.01, 1.0, 30.0])
    for epsilon in (1e-6, 0.3, 1.0, 5.0):
        delta = leakage.delta(m, epsilon, subsample=rho)
        again = leakage.epsilon(m, delta, subsample=rho)
        known = np.isfinite(again)  # δ may be below the smallest float
        np.testing.assert_allclose(leakage.delta(m[known], again[known], subsample=rho), delta[known], rtol=1e-9)
        assert again[1] == pytest.approx(epsilon, rel=1e-7)
    f = leakage.trade_off(3.0, subsample=rho)
    for delta in (1e-30, 1e-5, 0.01, 0.3):
        assert f.epsilon_at(delta) == pytest.approx(float(leakage.epsilon(3.0, delta, subsample=rho)), rel=1e-12)


def test_the_largest_and_the_smallest_scores():
    everywhere = np.array([0.0, 0.5, 1.0])
    np.testing.assert_array_equal(leakage.power(np.inf, everywhere), 1.0)
    np.testing.assert_array_equal(leakage.power(0.0, everywhere), everywhere)
    np.testing.assert_allclose(leakage.power(np.inf, everywhere, subsample=0.2), 0.2 + 0.8 * everywhere)
    assert leakage.delta(np.inf, 3.0, subsample=0.2) == 0.2
    np.testing.assert_array_equal(leakage.epsilon(np.inf, [0.1, 0.2], subsample=0.2), [np.inf, 0.0])
    assert leakage.epsilon(0.0, 0.0) == leakage.advantage(0.0) == 0
    assert leakage.epsilon(1.0, 0.0) == np.inf
    assert leakage.delta(1.0, 800.0) == 0
    assert leakage.delta(1e4, 800.0, subsample=1e-3) == pytest.approx(1e-3)


def test_what_theorem_4_3_prints_is_impossible():
    rho, alpha, m = 0.1, 0.05, 8.84
    assert leakage.power_as_printed(m, alpha, subsample=rho) == pytest.approx(0.241, abs=1e-3)
    assert (1 - rho) * alpha + rho == pytest.approx(0.145)
    rng = np.random.default_rng(0)
    without = rng.normal(size=400_000)
    with_ = rng.normal(size=400_000) + math.sqrt(m / rho) * (rng.random(400_000) < rho)
    seen = np.mean(with_ > np.quantile(without, 1 - alpha))
    assert seen == pytest.approx(float(leakage.power(m, alpha, subsample=rho)), abs=0.002)
    np.testing.assert_array_equal(leakage.power_as_printed(m, 0.3), leakage.power(m, 0.3))


# -- attacks that aim elsewhere ----------------------------------------------------------------------------------------


def test_a_misspecified_target_by_simulation():
    rng, n = np.random.default_rng(1), 3
    target, truth, mean = rng.normal(size=(3, 4))
    covariance = np.cov(rng.normal(size=(4, 30)))
    m_targ = float(leakage.score(target, mean, covariance, n))
    m_scal = float(leakage.alignment(target, truth, mean, covariance, n))
    assert leakage.alignment(target, target, mean, covariance, n) == pytest.approx(m_targ)
    way = np.linalg.solve(covariance, target - mean)
    out = rng.multivariate_normal(mean, covariance / n, 200_000) @ way
    shifted = out + way @ (truth - mean) / n
    threshold = np.quantile(out, 0.9)
    seen = np.mean(shifted > threshold)
    assert seen == pytest.approx(float(leakage.misspecified_power(m_scal, m_targ, 0.1)), abs=0.005)
    middle = (out.mean() + shifted.mean()) / 2
    gained = abs(np.mean(shifted > middle) - np.mean(out > middle))
    assert gained == pytest.approx(float(leakage.misspecified_advantage(m_scal, m_targ)), abs=0.005)
    own = m_targ * n / 2 / n + way @ mean  # the threshold in the middle of the laws for z_targ
    assert abs(np.mean(shifted > own) - np.mean(out > own)) < gained
    assert leakage.misspecified_power(-m_scal, m_targ, 0.1) != leakage.misspecified_power(m_scal, m_targ, 0.1)
    assert leakage.misspecified_advantage(m_targ, m_targ) == pytest.approx(float(leakage.advantage(m_targ)), rel=1e-12)


@pytest.mark.parametrize("rho", [0.3, 1.0])
def test_the_average_datum_by_simulation(rho):
    rng = np.random.default_rng(2)
    m = np.array([0.0, 0.5, 2.0, 9.0])
    mu = np.sqrt(m / rho)[rng.integers(4, size=400_000)]
    inside = rng.random(mu.size) < rho
    ratios = [mu * (rng.normal(size=mu.size) + shift * mu) - mu**2 / 2 for shift in (0, inside)]
    alpha = 0.05
    threshold = np.quantile(ratios[0], 1 - alpha)
    seen = np.mean(ratios[1] > threshold)
    assert leakage.average_power(m, alpha, subsample=rho) == pytest.approx(seen, abs=0.004)
    assert leakage.average_power(m, alpha, subsample=rho) > leakage.power(m, alpha, subsample=rho).mean()


def test_average_power_of_equal_data_is_their_power():
    alpha = np.array([[0.0, 1e-9, 0.05], [0.5, 0.9, 1.0]])
    for rho in (0.2, 1.0):
        found = leakage.average_power(np.full(3, 2.5), alpha, subsample=rho)
        np.testing.assert_allclose(found, leakage.power(2.5, alpha, subsample=rho), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(leakage.average_power([0.0, 0.0], alpha), alpha, atol=1e-12)
    with pytest.raises(InputError, match="score must be finite, and that of datum 1 is not"):
        leakage.average_power([1.0, np.inf], 0.1)


# -- what it plugs into ------------------------------------------------------------------------------------------------


def test_claims_and_audits_take_the_trade_off_function():
    f = leakage.trade_off(2.0, subsample=0.25)
    claim = bdp.Claim.trade_off(f, 1e-3)
    assert claim.epsilon == pytest.approx(float(leakage.epsilon(2.0, 1e-3, subsample=0.25)))
    alpha = 0.05
    missed = round(2000 * (1 - float(leakage.power(2.0, alpha, subsample=0.25))))
    assert not claim.test(bdp.ErrorCounts(100, 2000, missed, 2000)).refuted
    assert claim.test(bdp.ErrorCounts(100, 2000, missed - 200, 2000)).refuted
    weak = leakage.trade_off(0.02, subsample=0.5)
    assert f_dp.p_value(weak, 1000, 1000, 530) > 0.1
    assert f_dp.p_value(weak, 1000, 1000, 700) < 1e-3
    with pytest.raises(InputError, match="an audit needs a symmetric trade-off function"):
        bdp.Claim.trade_off(tradeoff.TradeOff(lambda a: 0.75 * (1 - a) + 0.25 * special.ndtr(-special.ndtri(a) - 2)))


def test_the_trade_off_function_of_dp_sgd_with_one_step_is_the_same():
    from bayes_dp.tradeoff.dp_sgd import dp_sgd

    below, above = dp_sgd(1 / 1.7, 0.2, 1)
    alpha = np.linspace(0, 1, 101)
    f = tradeoff.SubsampledGaussian(1.7, 0.2)(alpha)
    assert (below(alpha) <= f + 1e-12).all()
    assert (f <= above(alpha) + 1e-12).all()


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: leakage.advantage(-1.0), r"score must lie in \[0, inf\], not -1"),
        (lambda: leakage.power([1.0, 2.0], [0.1, 0.2, 0.3]), r"score \(2,\), alpha \(3,\)"),
        (lambda: leakage.advantage(1.0, subsample=0.0), r"subsample must lie in \(0, 1\]"),
        (lambda: leakage.misspecified_power(0.5, 0.0, 0.1), "m_targ must lie in"),
        (lambda: leakage.trade_off(np.inf), "score must lie in"),
        (lambda: leakage.average_power([], 0.1), r"score must be of the shape \(data,\), not \(0,\)"),
    ],
)
def test_what_cannot_be(made, message):
    with pytest.raises(InputError, match=message):
        made()
