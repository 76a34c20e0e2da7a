"""The conditional bounds against slow twins, their limits, and the validity of the first ε that is not rejected."""

import re

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.audits.f_dp import GAUSSIAN
from bayes_dp.audits.f_dp import lower_bounds as f_dp_bounds
from bayes_dp.audits.one_run import lower_bounds as one_run_bounds
from bayes_dp.audits.propensity_bounds import (
    bounds_for_propensities,
    expected_bound,
    median_bound,
    tampered_bounds,
    untampered_p_value,
)
from bayes_dp.audits.tampering import expected_p_value, keep_for_epsilon, keep_for_f, lean, lower_bounds, p_value

P = 0.05


def example(seed, r=60, spread=1.0, k=None, epsilon=1.5):
    """Propensities (k, r), calls, whether they are right, and coins."""
    rng = np.random.default_rng(seed)
    logit = spread * rng.normal(size=r)
    member = rng.random(r) < special.expit(logit)
    called = member ^ (rng.random(r) > special.expit(epsilon))
    shape = r if k is None else (k, r)
    propensity = special.expit(logit + 0.3 * rng.normal(size=shape))
    return propensity, called, called == member, rng.random(r)


# Untampered -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("directional", [True, False])
@pytest.mark.parametrize("p", [0.4, P, 1e-8])
def test_untampered_bounds_are_where_the_tail_is_p(directional, p):
    for seed in range(20):
        propensity, called, right, uniform = example(seed)
        found = bounds_for_propensities(propensity, called, right, uniform, examples=100, p=p, directional=directional)
        leans, v = lean(propensity, called, directional), int(right.sum())
        assert found.shape == (1,)
        if found[0] > 0:
            assert untampered_p_value(leans, v, found[0]) == pytest.approx(p, rel=1e-8)
        else:
            assert untampered_p_value(leans, v, 0.0) >= p


@pytest.mark.parametrize("p", [0.6, 0.9])
def test_untampered_bounds_at_little_confidence(p):
    propensity, called, right, uniform = example(0)
    bound = bounds_for_propensities(propensity, called, right, uniform, examples=100, p=p)[0]
    assert untampered_p_value(lean(propensity, called), int(right.sum()), bound) == pytest.approx(p, rel=1e-8)


# Tampered -------------------------------------------------------------------------------------------------------------


def first_not_rejected(m, propensity, called, right, uniform, delta, p, directional=True):
    """A plain scan: two neighbours on a grid between which the first ε that is not rejected lies."""
    leans = lean(propensity, called, directional)

    grid = np.linspace(0, 8, 4001)
    kept = np.sum(right & (uniform < keep_for_epsilon(leans, grid[:, None])), axis=1)
    first = int(np.argmax(p_value(m, len(called), kept, grid, delta) >= p))
    return grid[max(first - 1, 0)], grid[first]


@pytest.mark.parametrize("delta", [0.0, 1e-4])
@pytest.mark.parametrize("directional", [True, False])
def test_tampered_bounds_by_a_plain_scan(delta, directional):
    positive = 0
    for seed in range(25):
        given = example(seed, r=40, spread=(0.3, 1.0, 3.0)[seed % 3], epsilon=3.0)
        settings = {"examples": 80, "p": P, "delta": delta, "form": "tampered", "directional": directional}
        bound = bounds_for_propensities(*given, **settings)[0]
        low, high = first_not_rejected(80, *given, delta, P, directional)
        assert low - 1e-12 <= bound <= high + 1e-12
        positive += bound > 0
    assert positive > 5


def one_by_one(m, r, steps, delta, p):
    """The least v from the count at 0 on with e(v) < ε_(v+1), by trying them all."""
    bounds = lower_bounds(m, r, np.arange(steps.shape[1] + 1), delta, p)
    found = []
    for row in np.sort(steps, axis=1):
        v = int(np.sum(row == 0))
        while v < len(row) and bounds[v] >= row[v]:
            v += 1
        found.append(bounds[v])
    return found


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-2, 0.3])
@pytest.mark.parametrize("p", [1e-6, 0.05, 0.4, 0.9])
def test_the_leaps_leave_no_count_out(delta, p):
    rng = np.random.default_rng(0)
    for r in (1, 2, 10, 60):
        m = r * int(rng.integers(1, 50))
        steps = np.where(rng.random((40, r)) < 0.6, 0.0, rng.exponential(2.0, (40, r)) * rng.integers(0, 3, (40, 1)))
        steps[rng.random((40, r)) < 0.1] = np.inf
        np.testing.assert_array_equal(tampered_bounds(m, r, steps, delta, p), one_by_one(m, r, steps, delta, p))


@pytest.mark.parametrize("delta", [0.0, 1e-5, 1e-2, 0.3])
def test_more_right_guesses_never_give_a_lower_bound(delta):
    """Which the leaps rest on; with large m δ too, where the sum of the slack grows with v below the mode."""
    for m, r in ((1, 1), (7, 7), (100, 100), (5000, 100), (10**6, 30)):
        for p in (1e-6, 0.05, 0.4, 0.99):
            assert (np.diff(lower_bounds(m, r, np.arange(r + 1), delta, p)) >= -1e-12).all()


def test_the_largest_rejected_epsilon_is_no_bound():
    """Nothing leaks, and the adversary follows the features: a valid test rejects ε = 0 in at most P of all cases.

    The first ε that is not rejected keeps to that; the largest that is rejected does not.
    """
    rng, m, repetitions, strong = np.random.default_rng(5), 100, 2000, 3.0
    member = rng.random((repetitions, m)) < special.expit(strong)  # all examples lean to members, and are called so
    table = lower_bounds(m, m, np.arange(m + 1), 0.0, P)
    first = largest = 0
    for right in member:
        uniform = rng.random(m)
        settings = {"examples": m, "p": P, "form": "tampered"}
        called = np.ones(m, bool)
        first += bounds_for_propensities(np.full(m, special.expit(strong)), called, right, uniform, **settings)[0] > 0
        epsilon = np.linspace(0, 5, 400)
        kept = (uniform[right] < keep_for_epsilon(np.full(right.sum(), strong), epsilon[:, None])).sum(axis=1)
        largest += (epsilon < table[kept]).any()
    error = np.sqrt(P * (1 - P) / repetitions)
    assert first / repetitions < P + 3 * error
    assert largest / repetitions > P + 6 * error


def test_tampered_bounds_on_mu():
    propensity, called, right, uniform = example(1, r=200, spread=0.5, k=7, epsilon=4.0)
    found = bounds_for_propensities(propensity, called, right, uniform, examples=300, p=P, parameter="mu")
    for row, bound in zip(propensity, found, strict=True):
        kept = int(np.sum(right & (uniform < keep_for_f(lean(row, called)))))
        assert bound == pytest.approx(float(f_dp_bounds(GAUSSIAN, 300, 200, kept, P)), abs=1e-12)
    assert (found > 0).all()


# Both -----------------------------------------------------------------------------------------------------------------

QUESTIONS = (
    {"form": "untampered"},
    {"form": "tampered"},
    {"delta": 1e-4},
    {"parameter": "mu"},
)


@pytest.mark.parametrize("question", QUESTIONS)
def test_many_propensities_are_as_one_by_one(question):
    propensity, called, right, uniform = example(2, r=90, spread=0.7, k=9, epsilon=4.0)
    together = bounds_for_propensities(propensity, called, right, uniform, examples=99, p=P, **question)
    alone = [
        bounds_for_propensities(row, called, right, uniform, examples=99, p=P, **question)[0] for row in propensity
    ]
    np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-12)
    assert together.shape == (9,)
    assert len(np.unique(together)) >= 3
    assert together.max() > 0


@pytest.mark.parametrize("question", QUESTIONS)
def test_directions_never_loosen(question):
    better = 0
    for seed in range(30):
        given = example(seed, r=150, spread=0.5, epsilon=4.0)
        plain, directional = (
            bounds_for_propensities(*given, examples=200, p=P, directional=choice, **question)[0]
            for choice in (False, True)
        )
        assert directional >= plain - 1e-12
        better += directional > plain + 1e-9
    assert better > 5


@pytest.mark.parametrize("question", QUESTIONS)
def test_one_more_right_guess_never_loosens(question):
    propensity, called, right, uniform = example(3, r=150, spread=0.5, epsilon=3.0)
    order = np.argsort(right)  # the wrong ones come first
    bounds = []
    for wrong in range(8):
        now = np.ones(150, bool)
        now[order[:wrong]] = False
        bounds.append(bounds_for_propensities(propensity, called, now, uniform, examples=200, p=P, **question)[0])
    assert (np.diff(bounds) <= 1e-12).all()
    assert bounds[0] > bounds[-1]


@pytest.mark.parametrize("question", QUESTIONS)
def test_fair_coins_give_the_one_run_bounds(question):
    _, called, right, uniform = example(4)
    fair, v = np.full(60, 0.5), int(right.sum())
    found = bounds_for_propensities(fair, called, right, uniform, examples=90, p=P, **question)[0]
    if question.get("parameter") == "mu":
        expected = f_dp_bounds(GAUSSIAN, 90, 60, v, P)
    elif question.get("delta"):
        expected = lower_bounds(90, 60, v, 1e-4, P)
    else:
        expected = one_run_bounds(90, 60, v, 0.0, P)
    assert found == pytest.approx(float(expected), rel=1e-9)
    assert found > 0


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("r", [0, 1, 12])
def test_no_guess_or_none_that_is_right(question, r):
    nothing = np.zeros(r, bool)
    found = bounds_for_propensities(np.full((3, r), 0.6), nothing, nothing, np.zeros(r), examples=20, p=P, **question)
    np.testing.assert_array_equal(found, np.zeros(3))


def test_untampered_is_tighter_than_tampered():
    wins = []
    for seed in range(30):
        given = example(seed, r=200, spread=1.5, epsilon=2.0)
        pair = [bounds_for_propensities(*given, examples=200, p=P, form=form)[0] for form in ("untampered", "tampered")]
        wins.append(pair[0] - pair[1])
    assert np.mean(wins) > 0.1


def test_extreme_propensities_are_no_trouble():
    r = 30
    called = np.ones(r, bool)
    for propensity in (1e-300, 1e-12, 1 - 1e-12):
        for question in QUESTIONS:
            given = (np.full(r, propensity), called, called, np.full(r, 0.3))
            bound = bounds_for_propensities(*given, examples=r, p=P, **question)[0]
            assert np.isfinite(bound)
            assert bound >= 0


# Without coins --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_the_bound_by_the_mean(delta):
    propensity, called, right, _ = example(6, r=150, epsilon=3.0)
    leans = lean(propensity, called)[right]
    bound = expected_bound(200, 150, leans, delta, P)
    assert bound > 0
    mean = expected_p_value(200, 150, keep_for_epsilon(leans, bound), bound, delta)
    assert 2 * mean == pytest.approx(P, rel=1e-6)


def test_the_bound_by_the_median():
    propensity, called, right, _ = example(6, r=150, spread=0.5, epsilon=4.0)
    leans = lean(propensity, called)[right]
    kept = np.random.default_rng(0).random((100_001, len(leans))) < keep_for_f(leans)
    median = int(np.median(kept.sum(axis=1)))
    expected = {float(f_dp_bounds(GAUSSIAN, 200, 150, median + i, P / 2)) for i in (-1, 0, 1)}
    assert median_bound(200, 150, leans, P) in expected
    assert median_bound(200, 150, np.zeros(140), P) == float(f_dp_bounds(GAUSSIAN, 200, 150, 140, P / 2))
    assert median_bound(200, 150, np.zeros(0), P) == 0


# Input ----------------------------------------------------------------------------------------------------------------

GOOD = {
    "propensity": [0.4, 0.6],
    "member_called": [True, False],
    "correct": [True, True],
    "uniform": [0.1, 0.2],
    "examples": 5,
    "p": 0.05,
}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"propensity": [0.4, 1.0]}, "propensity[1] must lie in (0, 1), not 1.0"),
        ({"propensity": [[0.4, 0.5], [np.nan, 0.5]]}, "propensity[1, 0] must lie in (0, 1), not nan"),
        ({"member_called": [True]}, "member_called must hold 2 truth values, one for each guess"),
        ({"correct": [0, 2]}, "correct must hold 2 truth values, one for each guess"),
        ({"uniform": [0.1], "form": "tampered"}, "uniform must hold 2 numbers, one for each guess, not the shape (1,)"),
        ({"uniform": [0.1, 1.0], "form": "tampered"}, "uniform[1] must lie in [0, 1), not 1.0"),
        ({"examples": 1}, "propensity must hold at most examples, 1, in a row, not 2"),
        ({"p": 0.0}, "p must lie in (0, 1), not 0.0"),
        ({"delta": -0.1}, "delta must lie in [0, 1], not -0.1"),
        ({"parameter": "eps"}, 'parameter must be "epsilon" or "mu", not \'eps\''),
        ({"form": "composed"}, 'form must be "untampered" or "tampered", not \'composed\''),
        ({"form": "untampered", "delta": 0.1}, "the untampered form is for epsilon at delta = 0 only"),
        ({"form": "untampered", "parameter": "mu"}, "the untampered form is for epsilon at delta = 0 only"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(bdp.InputError, match=re.escape(message)):
        bounds_for_propensities(**GOOD | wrong)
