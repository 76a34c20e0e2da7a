"""The likelihood of (ε, s) from guesses on one model, beside the integral of its definition."""

import json
import os
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from bayes_dp.bayes.levels.leans import GroupOfGuesses
from bayes_dp.bayes.levels.shift import ShiftLikelihood


def likelihood(groups, delta=0.0, examples=None):
    """Of groups of (leans, right)."""
    made = [GroupOfGuesses(np.atleast_2d(np.asarray(x, float)), np.asarray(ok, bool)) for x, ok in groups]
    return ShiftLikelihood(made, delta, examples or sum(len(ok) for _, ok in groups))


def at(law, epsilon, strength):
    return law.total(np.array([float(epsilon)]), np.array([[float(strength)]]))[0, 0]


def slow(groups, epsilon, strength, delta=0.0, examples=None):
    """log L by mpmath: ∫_s^1 Π P(guess) q′(t) dt / [q(1) − q(s)], over pieces that see the peak."""
    made = sum(len(ok) for _, ok in groups)
    with mp.workdps(40):
        e, s, d = mp.mpf(float(epsilon)), mp.mpf(float(strength)), mp.mpf(float(delta))
        rate = d * (examples or made) / made

        def left(t):
            """1 − q(t)."""
            return (1 - t * d) / (1 + mp.exp(t * e))

        total = mp.mpf(0)
        for leans, right in groups:

            def density(t, leans=leans, right=right):
                share = min(mp.mpf(1), t * rate)
                wrong = [(1 - share) / (1 + mp.exp(t * e + mp.mpf(float(x)))) for x in leans]
                slope = (d + (1 - t * d) * e / (1 + mp.exp(-t * e))) / (1 + mp.exp(t * e))
                return slope * mp.fprod(1 - c if ok else c for c, ok in zip(wrong, right, strict=True))

            cuts = [s + (1 - s) * mp.mpf(i) / 16 for i in range(17)] + [
                s + (1 - s) * mp.mpf(2) ** -i for i in range(5, 12)
            ]
            cuts = sorted({*cuts, *([1 / rate] if rate > 1 and s < 1 / rate else [])})
            total += mp.log(mp.quad(density, cuts)) - mp.log(left(s) - left(mp.mpf(1)))
        return float(total)


@pytest.mark.skipif("BAYES_DP_GOLDEN" not in os.environ, reason="BAYES_DP_GOLDEN names no folder of golden values")
def test_golden_log_likelihoods():
    rows = json.loads((Path(os.environ["BAYES_DP_GOLDEN"]) / "shift.json").read_text())
    rows = [row for row in rows if row["kind"] == "loglik"]
    assert len(rows) == 9
    for row in rows:
        groups = [(group["lean"], group["right"]) for group in row["groups"]]
        law = likelihood(groups, row["delta"], row["examples"])
        found = at(law, row["epsilon"], 1.0 if row["s"] == "tight" else row["s"])
        assert found == pytest.approx(row["value"], rel=0, abs=1e-10)


@pytest.mark.parametrize(
    ("leans", "right", "epsilon", "strength", "delta", "examples"),
    [
        ([0.3], [1], 1.0, 0.5, 0.0, 1),
        ([0.3], [0], 1.0, 0.5, 0.99, 1),
        ([0.2] * 5, [1, 1, 1, 1, 0], 700.0, 0.3, 0.0, 5),
        ([0.3] * 8, [0] * 8, 40.0, 0.5, 0.0, 8),
        ([0.3] * 8, [1] * 8, 40.0, 0.0, 0.0, 8),
        ([50.0, -50.0, 0.0, 1.0], [1, 1, 1, 0], 3.0, 0.2, 0.0, 8),
        ([50.0, -50.0, 0.0, 1.0], [1, 1, 1, 0], 3.0, 0.2, 1e-3, 8),
        ([-50.0] * 3, [1] * 3, 5.0, 0.001, 1e-9, 30),
        ([0.3, -1.0] * 5, [1, 0] * 5, 20.0, 0.01, 1e-2, 2000),  # all that is right is revealed from t = 1/2 on
        ([0.3] * 4, [1] * 4, 20.0, 0.01, 1e-2, 2000),
        ([0.3] * 4, [1, 0, 1, 1], 2.0, 0.9999999, 0.1, 4),
        ([0.3] * 4, [1, 0, 1, 1], 1e-9, 0.5, 0.0, 4),
        ([0.3] * 4, [1, 1, 1, 1], 1e-6, 0.01, 0.5, 4),
    ],
)
def test_it_is_the_integral_of_its_definition(leans, right, epsilon, strength, delta, examples):
    wanted = slow([(leans, right)], epsilon, strength, delta, examples)
    found = at(likelihood([(leans, right)], delta, examples), epsilon, strength)
    assert found == pytest.approx(wanted, rel=1e-11, abs=1e-10)


def test_groups_multiply():
    groups = [([0.1, -0.4, 1.0], [1, 1, 0]), ([0.0, 2.0], [0, 1])]
    found = at(likelihood(groups, 0.01, 50), 1.7, 0.4)
    assert found == pytest.approx(slow(groups, 1.7, 0.4, 0.01, 50), abs=1e-11)


def test_many_guesses_far_from_the_peak():
    """2000 of 3000 guesses are right, so that e is near log 2; the layer begins at 27."""
    law = likelihood([([0.0] * 3000, [1] * 2000 + [0] * 1000)])
    with mp.workdps(60):
        # With σ(e) = a, dq = da: an incomplete Beta function.
        inner, outer = (1 / (1 + mp.exp(-mp.mpf(v))) for v in (27, 30))
        mass = mp.quad(lambda a: mp.exp(2000 * mp.log(a) + 1000 * mp.log(1 - a)), mp.linspace(inner, outer, 400))
        wanted = float(mp.log(mass) - mp.log(outer - inner))
    assert at(law, 30.0, 0.9) == pytest.approx(wanted, rel=1e-12)


def test_without_shift_the_level_is_an_incomplete_beta_function():
    epsilon, strength = np.array([0.01, 0.7, 1.5]), np.array([[0.0, 0.5, 0.9]] * 3)
    found = likelihood([([0.0] * 50, [1] * 33 + [0] * 17)]).total(epsilon, strength)
    inner, outer = special.expit(epsilon[:, None] * strength), special.expit(epsilon)[:, None]
    mass = special.betainc(34, 18, outer) - special.betainc(34, 18, inner)
    np.testing.assert_allclose(found, np.log(mass / (outer - inner)) + special.betaln(34, 18), rtol=1e-10)


def test_a_strength_near_one_is_the_tight_limit():
    law = likelihood([([0.5, -1.0, 0.2], [1, 0, 1])], 0.01, 30)
    chance = [0.1 + 0.9 * special.expit(2 + x) for x in (0.5, -1.0, 0.2)]
    limit = np.log(chance[0] * (1 - chance[1]) * chance[2])
    for strength in (1.0, 1 - 1e-13, 1 - 1e-10):
        assert at(law, 2.0, strength) == pytest.approx(limit, abs=1e-8)


def test_equal_draws_are_one():
    rng = np.random.default_rng(0)
    groups = [(rng.standard_normal(40), rng.random(40) < 0.6) for _ in range(2)]
    epsilon, strength = np.array([0.5, 2.0]), np.array([[0.1, 0.7, 1.0]] * 2)
    for part in (groups[:1], groups):
        once = likelihood(part, 1e-3, 200)
        often = ShiftLikelihood([GroupOfGuesses(np.tile(x, (5, 1)), ok) for x, ok in part], 1e-3, 200)
        np.testing.assert_allclose(often.total(epsilon, strength), once.total(epsilon, strength), atol=1e-11)
        assert often.log_null() == pytest.approx(once.log_null(), abs=1e-11)
        np.testing.assert_allclose(often.weights(epsilon, strength), 0.2, atol=1e-11)


def test_draws_are_shared_by_the_groups():
    """The mean over the draws is that of the product over groups, as all groups have one draw of the propensities."""
    rng = np.random.default_rng(1)
    right = [rng.random(10) < 0.6 for _ in range(2)]
    leans = [rng.standard_normal((3, 10)) for _ in range(2)]
    law = ShiftLikelihood([GroupOfGuesses(x, ok) for x, ok in zip(leans, right, strict=True)], 0.0, 20)
    each = [at(likelihood([(x[k], ok) for x, ok in zip(leans, right, strict=True)]), 1.2, 0.3) for k in range(3)]
    assert at(law, 1.2, 0.3) == pytest.approx(special.logsumexp(each) - np.log(3), abs=1e-11)
    weights = law.weights(np.array([1.2]), np.array([[0.3]]))[:, 0, 0]
    np.testing.assert_allclose(weights, special.softmax(each), atol=1e-11)


def test_delta_goes_to_zero():
    groups = [([0.4, -0.2, 1.3], [1, 1, 0])]
    limit = at(likelihood(groups), 1.1, 0.2)
    steps = [at(likelihood(groups, delta, 30), 1.1, 0.2) - limit for delta in (1e-4, 1e-6, 1e-8, 1e-320)]
    assert abs(steps[0]) < 2e-3
    np.testing.assert_allclose(np.array(steps[1:3]) / steps[0], [1e-2, 1e-4], rtol=1e-2)
    assert steps[3] == pytest.approx(0, abs=1e-14)


def test_equal_points_and_any_order():
    law = likelihood([([0.5, -1.0, 0.2] * 20, [1, 0, 1] * 20)], 0.01, 100)
    epsilon, strength = np.array([2.0, 0.3, 2.0]), np.array([[0.5, 0.1, 0.5], [0.0, 0.9, 0.9], [0.1, 0.99, 1.0]])
    found = law.total(epsilon, strength)
    for i, j in np.ndindex(3, 3):
        assert found[i, j] == pytest.approx(at(law, epsilon[i], strength[i, j]), abs=1e-9)
