"""The whole profile: golden values, a plain twin, mechanisms with a known profile, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.audits.band import upper_band
from bayes_dp.audits.profile import Profile
from bayes_dp.checks import InputError
from bayes_dp.tradeoff import Gaussian
from tests.golden import golden

profile = bdp.audits.profile
DELTAS = [0.0, 1e-5, 1e-3, 0.01, 0.1, 0.5, 1.0]


def scores(n, m, mu=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(mu, size=m)


@golden("sequential", "roc")
def test_golden(entry):
    given, expected = entry["inputs"], entry["expected"]
    found = profile(given["s0"], given["s1"], confidence=1 - given["p"], band=given["band"])
    assert found.epsilon_at(given["deltas"]) == pytest.approx(expected["eps"], rel=1e-6)
    assert found.delta_at(given["epsilons"]) == pytest.approx(expected["delta"], rel=1e-6)
    assert found.mu == pytest.approx(expected["mu"], rel=1e-6)


@pytest.mark.parametrize("round_to", [None, 0])
def test_against_a_loop_over_thresholds(round_to):
    low, high = scores(40, 25, 1.5)
    if round_to is not None:  # ties, within and between
        low, high = low.round(round_to), high.round(round_to)
    u0, u1 = upper_band(40, 0.05, "equal"), upper_band(25, 0.05, "equal")
    best, delta_best, mu = dict.fromkeys(DELTAS, 0.0), 0.0, 0.0
    for t in [-math.inf, *low, *high]:
        a, b = u0[sum(low > t)], u1[sum(high <= t)]
        mu = max(mu, -special.ndtri(a) - special.ndtri(b)) if max(a, b) < 1 else mu
        for x, y in ((a, b), (b, a)):
            delta_best = max(delta_best, 1 - y - math.exp(0.4) * x)
            for delta in DELTAS:
                if 1 - delta - y > x:
                    best[delta] = max(best[delta], math.log((1 - delta - y) / x))
    found = profile(low, high, confidence=0.9)
    assert found.epsilon_at(DELTAS) == pytest.approx(list(best.values()), rel=1e-12)
    assert found.delta_at(0.4) == pytest.approx(delta_best, rel=1e-12)
    assert found.mu == pytest.approx(mu, rel=1e-12)


def test_the_trade_off_function_says_the_same():
    found = profile(*scores(300, 200))
    f = found.tradeoff()
    assert f.epsilon_at(DELTAS) == pytest.approx(found.epsilon_at(DELTAS), abs=1e-9)
    assert f.delta_at([0.0, 0.3, 2.0]) == pytest.approx(found.delta_at([0.0, 0.3, 2.0]), abs=1e-9)
    bdp.tradeoff.require_symmetric(f)


def test_a_table_of_runs_is_the_same():
    low, high = scores(30, 40)
    table = bdp.GuessTable(np.concatenate([low, high]), [False] * 30 + [True] * 40)
    both = profile(low, high), profile(table)
    assert both[0].to_dict() == both[1].to_dict()


def test_infinite_scores_and_extremes():
    found = profile([-math.inf, 0.0, 0.0], [0.0, math.inf, math.inf])
    assert (found.epsilon_at(DELTAS) >= 0).all()
    apart = profile([-math.inf] * 500, [math.inf] * 500)
    assert apart.epsilon_at(0.0) == pytest.approx(
        math.log((1 - upper_band(500, 0.025, "equal")[0]) / upper_band(500, 0.025, "equal")[0])
    )
    assert apart.threshold_at(0.0) == -math.inf
    assert apart.delta_at(1e6) == 0
    alike = profile(np.zeros(50), np.zeros(60))
    assert alike.epsilon_at(0.0) == alike.mu == alike.delta_at(0.0) == 0
    one = profile([0.0], [1.0])
    assert one.epsilon_at(0.0) == 0


@pytest.mark.parametrize("score", [-math.inf, math.inf, 0.0])
def test_scores_that_are_all_the_same_can_be_read_back(score, tmp_path):
    found = bdp.audits.profile([score] * 3, [score] * 4)
    found.to_json(tmp_path / "profile.json")
    read = Profile.from_json(tmp_path / "profile.json")
    assert read.threshold.tolist() == found.threshold.tolist()
    assert (read.epsilon_at(0.0), read.mu) == (0.0, 0.0)


def test_a_bound_at_one_delta():
    found = profile(*scores(400, 400, 2.0))
    bound = found.bound(1e-3)
    assert bound.value == found.epsilon_at(1e-3)
    assert bound.epsilon_at(0.1).value == found.epsilon_at(0.1)
    low, high = scores(400, 400, 2.0)
    t = bound.details["threshold"]
    alone = bdp.ErrorCounts(int((low > t).sum()), 400, int((high <= t).sum()), 400)
    assert bound.value < bdp.audits.clopper_pearson(alone, 1e-3).value  # which is for a threshold fixed before


@pytest.mark.parametrize("band", ["equal", "dkw"])
@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_all_together_hold(band, mu):
    deltas = np.array([0.0, 1e-5, 1e-3, 0.01, 0.03, 0.1, 0.3]) if mu == 0 else np.array([1e-5, 1e-3, 0.01, 0.1])
    truth = np.zeros(len(deltas)) if mu == 0 else Gaussian(mu).epsilon_at(deltas)
    wrong = sum(
        bool((profile(*scores(60, 60, mu, seed), confidence=0.8, band=band).epsilon_at(deltas) > truth).any())
        for seed in range(400)
    )
    assert wrong / 400 <= 0.2


def test_worse_than_chance_asks():
    low, high = scores(200, 200, -1.5)
    found = profile(low, high)
    assert found.epsilon_at(0.0) == 0
    assert "are these losses?" in found.warnings[0]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (([1.0, math.nan], [2.0]), r"without\[1\]"),
        (([1.0], []), "with_ must be a list of scores"),
        (([1.0],), "with_ must be given"),
        (([[1.0]], [2.0]), "without must be a list"),
        ((bdp.GuessTable([1.0, 2.0], [True, True]),), "runs without the example"),
        ((bdp.GuessTable([1.0, 2.0], [True, False], 0.5),), "propensities"),
        ((bdp.GuessTable([1.0, 2.0], [True, False]), [1.0]), "with_ is for"),
    ],
)
def test_refusals(given, said):
    with pytest.raises(InputError, match=said):
        profile(*given)


@pytest.mark.parametrize(
    "change",
    [{"alpha": [0.5]}, {"threshold": [None, 1.0, 0.5]}, {"beta": [2.0, 1.0, 1.0]}, {"band": "wide"}, {"more": 1}],
)
def test_files_that_cannot_be(change):
    content = profile([0.0, 1.0], [1.0, 1.0]).to_dict()
    assert len(content["threshold"]) == 3
    with pytest.raises(InputError):
        Profile.from_dict(content | change)
