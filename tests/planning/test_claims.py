"""Plans to refute a claim: golden values, the saw, and what can never be refuted."""

from __future__ import annotations

import math

import pytest

import bayes_dp as bdp
from bayes_dp.audits.power import POWERS
from bayes_dp.checks import InputError
from bayes_dp.planning.claims import METHODS
from tests.golden import golden

DELTA = 1e-5


@golden("sequential", "runs_needed")
def test_golden(entry):
    i = entry["inputs"]
    settings = {"method": i["method"], "power": i["power"], "confidence": 1 - i["p"]}
    assert bdp.plan_claim(i["eps0"], i["delta"], (i["a"], i["b"]), **settings).runs == entry["expected"]


@pytest.mark.parametrize("method", ["joint_exact", "clopper_pearson", "accuracy"])
def test_the_number_is_the_least_that_keeps_the_power(method):
    n = bdp.plan_claim(0.8, DELTA, (0.1, 0.15), method=method).runs
    looked = range(n - 1, int(1.05 * n) + 11, 1 if method != "joint_exact" else 5)
    powers = [POWERS[method](k, k, 0.1, 0.15, 0.8, DELTA, 0.05) for k in looked]
    assert powers[0] < 0.9 <= min(powers[1:])


def test_an_epsilon_is_its_strongest_attack():
    corner = (1 - DELTA) / (1 + math.exp(2.0))
    for method in METHODS[1:]:
        one, other = (bdp.plan_claim(1.0, DELTA, truth, method=method) for truth in (2.0, (corner, corner)))
        assert (one.runs, one.rates) == (other.runs, other.rates)
        assert "kindest" in one.assumptions[0]


def test_a_trade_off_function_at_its_best_point():
    found = bdp.plan_claim(1.0, DELTA, bdp.tradeoff.Gaussian(2.0), method="clopper_pearson")
    others = [(a, float(bdp.tradeoff.Gaussian(2.0)(a))) for a in (0.01, 0.05, 0.1587, 0.3)]
    least = min(bdp.plan_claim(1.0, DELTA, rates, method="clopper_pearson").runs for rates in others)
    assert found.runs <= 1.1 * least
    assert found.rates[1] == pytest.approx(float(bdp.tradeoff.Gaussian(2.0)(found.rates[0])))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("truth", [1.0, 0.3, (0.3, 0.5), (0.8, 0.9), bdp.tradeoff.Gaussian(0.1)])
def test_what_the_claim_allows_is_never_refuted(method, truth):
    found = bdp.plan_claim(1.0, DELTA, truth, method=method)
    if method == "betting" and truth == (0.8, 0.9):  # which judges the opposite decisions too
        assert found.runs > 0
    else:
        assert (found.runs, found.mean, bool(found.reason)) == (None, None, True)
        assert found.reason in str(found)


def test_small_false_positive_rates_of_a_trade_off_function():
    """ε = 3 is refuted of Gaussian noise with μ = 1 below one false positive in a thousand only."""
    plan = bdp.plan_claim(3.0, 1e-5, bdp.tradeoff.Gaussian(1.0), method="betting")
    assert min(plan.rates) < 1e-4
    assert plan.runs is not None
    for point in (1e-3, 1e-2):
        rates = point, float(bdp.tradeoff.Gaussian(1.0)(point))
        other = bdp.plan_claim(3.0, 1e-5, rates, method="betting").runs
        assert other is None or other > plan.runs


def test_too_many():
    found = bdp.plan_claim(1.0, DELTA, 1.001, method="accuracy")
    assert (found.runs, found.reason) == (None, "100000 are not enough")
    assert bdp.plan_claim(0.0, 0.0, 1e-3).runs is None  # at once, as no test of level p could


def test_all_numbers_of_runs_beyond_keep_the_power():
    """The last number that has not is 2305."""
    alpha, beta = 0.006, 0.956
    assert bdp.plan_claim(1.0, DELTA, (alpha, beta), method="clopper_pearson").runs == 2306
    powers = [POWERS["clopper_pearson"](n, n, alpha, beta, 1.0, DELTA, 0.05) for n in range(2305, 2432)]
    assert powers[0] < 0.9 <= min(powers[1:])


def test_refusals():
    for truth in ("a", None, (0.1,), (0.1, 1.5), (0.1, 0.2, 0.3), -1.0, math.nan):
        with pytest.raises(InputError, match="truth"):
            bdp.plan_claim(1.0, DELTA, truth)
    with pytest.raises(InputError, match="power must be"):
        bdp.plan_claim(1.0, DELTA, 2.0, method="betting", power=0.8)


def main() -> None:
    """The table of docs/methods/planning.md."""
    print("| claim → truth | Clopper-Pearson | accuracy | exact test | betting |\n|---|---|---|---|---|")
    for name, claim, truth in (
        ("1 → 2, strongest attack", 1.0, 2.0),
        (".5 → 1, strongest attack", 0.5, 1.0),
        ("1 → rates (.006, .956)", 1.0, (0.006, 0.956)),
        ("1 → 1.2, strongest attack", 1.0, 1.2),
    ):
        plans = [
            bdp.plan_claim(claim, DELTA, truth, method=method)
            for method in ("clopper_pearson", "accuracy", "joint_exact", "betting")
        ]
        cells = [str(plan.runs or "never") for plan in plans[:-1]]
        print(f"| {name} | {' | '.join(cells)} | {plans[-1].mean:.0f} ({plans[-1].runs}) |")


if __name__ == "__main__":
    main()
