"""The one-run audit against golden values, published figures, plain twins, a linear program and its own limits."""

import json
import math
import os
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from bayes_dp import ErrorCounts, InputError
from bayes_dp.audits.f_dp import approx
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.f_dp import p_value as f_dp_p_value
from bayes_dp.audits.one_run import (
    _largest_average,
    best_lower_bounds,
    exact_lower_bounds,
    exact_p_value,
    lower_bounds,
    one_run,
    p_value,
)
from bayes_dp.data.guesses import Guesses
from bayes_dp.tradeoff import ApproxDP

# m, r, v, ε, δ -> binomial p-value (50 digits, rounded)
P_VALUES = [
    (1, 1, 1, 1.0, 0.1, 0.784846862904004),
    (10, 10, 10, 0.5, 0.0, 0.00873192139919789),
    (10, 0, 0, 1.0, 0.01, 1.0),
    (100, 50, 35, 0.0, 1e-5, 0.0034287750012266622),
    (1000, 200, 130, 0.3, 1e-5, 0.018410016277780217),
    (1000, 1000, 600, 0.2, 1e-4, 0.003345311291550489),
    (1000, 1000, 600, 0.2, 1e-3, 0.026566012054800855),
    (1000, 500, 499, 8.0, 1e-6, 0.9874629284611871),
    (1000, 500, 500, 20.0, 1e-9, 0.999998969425782),
    (10_000, 1000, 700, 0.5, 1e-6, 0.0001867555867980429),
    (100_000, 100_000, 75_500, 1.05, 1e-12, 1.1534583221973257e-10),
    (100_000, 1000, 1000, 4.0, 1e-5, 0.07838929078052002),
    (50, 20, 15, 0.0, 1.0, 1.0),
    (1000, 400, 390, 0.0, 0.0, 1.0252042411822815e-101),
]

# m, r, v, δ, p -> binomial lower bound on ε
BOUNDS = [
    (1000, 100, 100, 0.0, 0.05, 3.492965431152293),
    (1000, 100, 100, 1e-6, 0.05, 3.490215955326399),
    (1000, 100, 0, 1e-5, 0.05, 0.0),
    (1000, 1000, 600, 1e-4, 0.05, 0.2950124462615328),
    (1000, 1000, 600, 1e-3, 0.05, 0.26599118025150015),
    (10_000, 10_000, 6000, 1e-6, 0.05, 0.37168151616297884),
    (10_000, 1000, 990, 1e-8, 0.01, 3.88953798384145),
    (100_000, 100_000, 50_300, 0.0, 0.05, 0.0015770595549454765),
    (1, 1, 1, 0.0, 0.6, 0.4054651081081645),
    (5000, 400, 390, 1e-7, 1e-9, 0.0),
    (2000, 400, 340, 1e-3, 0.05, 0.8317187915530009),
]


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("row", P_VALUES)
def test_golden_p_values(row):
    assert float(p_value(*row[:-1])) == close(row[-1])


def test_golden_bounds():
    *given, expected = np.array(BOUNDS).T
    np.testing.assert_allclose(lower_bounds(*given), expected, rtol=1e-9, atol=1e-12)
    assert [float(lower_bounds(*row[:-1])) for row in BOUNDS] == [pytest.approx(row[-1], rel=1e-9) for row in BOUNDS]


@pytest.mark.skipif("BAYES_DP_GOLDEN" not in os.environ, reason="BAYES_DP_GOLDEN names no folder of golden values")
def test_golden_file():
    called = {
        "one_run_pvalue": lambda i: p_value(i["m"], i["r"], i["v"], i["eps"], i["delta"]),
        "one_run_eps_lb": lambda i: lower_bounds(i["m"], i["r"], i["v"], i["delta"], i["p"]),
        "one_run_exact_lp": lambda i: exact_p_value(i["m"], i["r"], i["v"], i["eps"], i["delta"]),
        "steinke_alpha": lambda i: _largest_average(*(np.array(float(i[name])) for name in ("r", "v", "eps"))),
    }
    rows = json.loads((Path(os.environ["BAYES_DP_GOLDEN"]) / "audits_one_run.json").read_text())
    for row in rows:
        found = float(called[row["inputs"]["function"]](row["inputs"]))
        assert found == pytest.approx(row["expected"], **row["tolerance"]), row["name"]
    assert len(rows) > 20


def test_published_figures():
    assert float(lower_bounds(1000, 1000, 800, 0, 0.05)) == pytest.approx(1.25433, abs=5e-6)
    assert float(lower_bounds(1000, 100, 95, 1e-5, 0.05)) == pytest.approx(2.16517, abs=1e-5)
    assert float(lower_bounds(1000, 800, 600, 1e-6, 0.05)) == pytest.approx(0.96201, abs=5e-6)


def test_the_methods_differ_where_they_should():
    guesses = Guesses(10_000, 500, 480)
    bounds = {name: one_run(guesses, 1e-4, method=name).value for name in ("best", "binomial", "f_dp", "exact")}
    assert bounds["best"] == bounds["f_dp"] == pytest.approx(2.77, abs=5e-3)
    assert bounds["binomial"] == pytest.approx(2.24, abs=5e-3)
    assert bounds["exact"] == pytest.approx(2.784211570916751, rel=1e-9)
    assert float(exact_p_value(1000, 1000, 600, 0.2, 1e-3)) == pytest.approx(0.00911, abs=5e-6)
    assert float(p_value(1000, 1000, 600, 0.2, 1e-3)) == pytest.approx(0.0266, abs=5e-5)
    assert float(exact_p_value(5, 5, 5, 0.5, 0.01)) == close(0.10251030301190167)


# Twins ----------------------------------------------------------------------------------------------------------------


def pmf(r, epsilon):
    with mpmath.workdps(40):
        odds = mpmath.exp(epsilon)
        return [mpmath.binomial(r, k) * odds**k / (1 + odds) ** r for k in range(r + 1)]


def slow_p_value(m, r, v, epsilon, delta):
    """The definition, term by term, with 40 digits."""
    if v == 0:
        return 1.0
    b = pmf(r, epsilon)
    with mpmath.workdps(40):
        average = max(sum(b[v - i : v]) / i for i in range(1, v + 1))
        return float(min(1, sum(b[v:]) + 2 * m * mpmath.mpf(delta) * average))


def slow_exact_p_value(m, r, v, epsilon, delta):
    if v == 0:
        return 1.0
    b = pmf(r, epsilon)
    with mpmath.workdps(40):
        above = sum(b[v:])
        return float(min(1, above + m * mpmath.mpf(delta) * above * (1 - above) / (v * b[v])))


def by_linear_program(m, r, v, epsilon, delta):
    """The largest chance of at least v correct guesses over the laws q_0, …, q_r that (ε, δ)-DP allows."""
    k, grow = np.arange(1.0, r + 1), math.exp(epsilon)
    right = sparse.diags_array([k], offsets=[1], shape=(r, r + 1))
    wrong = sparse.diags_array([r - k + 1], offsets=[0], shape=(r, r + 1))
    none, one = sparse.csr_array((r, r)), sparse.eye_array(r)
    share = sparse.csr_array(np.full((1, r), 1 / m))
    constraints = sparse.block_array(
        [[right - grow * wrong, -one, none], [wrong - grow * right, none, -one], [None, share, share]]
    )
    found = optimize.linprog(
        np.concatenate([np.where(np.arange(r + 1) >= v, -1.0, 0.0), np.zeros(2 * r)]),
        A_ub=constraints.tocsr(),
        b_ub=np.append(np.zeros(2 * r), delta),
        A_eq=np.append(np.ones(r + 1), np.zeros(2 * r))[None],
        b_eq=[1],
        method="highs",
    )
    assert found.success
    return -found.fun


def random_cases(count, most, seed):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        r = int(rng.integers(1, most + 1))
        v, spare = int(rng.integers(1, r + 1)), int(rng.integers(0, 2 * most))
        yield r + spare, r, v, rng.uniform(0, 3), 10 ** rng.uniform(-5, -0.5)


@pytest.mark.parametrize("case", list(random_cases(40, 60, seed=1)))
def test_against_40_digits(case):
    assert float(p_value(*case)) == pytest.approx(slow_p_value(*case), rel=1e-12)
    assert float(exact_p_value(*case)) == pytest.approx(slow_exact_p_value(*case), rel=1e-12)


def test_pairs_are_computed_like_singles():
    cases = list(random_cases(60, 500, seed=2))
    columns = np.array(cases).T
    for function in (p_value, exact_p_value):
        np.testing.assert_allclose(function(*columns), [float(function(*case)) for case in cases], rtol=1e-13)
    m, r, v, _, delta = columns
    for function in (lower_bounds, exact_lower_bounds):
        singles = [float(function(*case[:3], case[4], 0.05)) for case in cases]
        np.testing.assert_allclose(function(m, r, v, delta, 0.05), singles, rtol=1e-12, atol=1e-15)
    assert lower_bounds(m[:, None], r[:, None], v[:, None], [0.0, 1e-3], 0.05).shape == (60, 2)


def test_exact_is_the_linear_program():
    for case in random_cases(60, 50, seed=3):
        assert float(exact_p_value(*case)) == pytest.approx(by_linear_program(*case), abs=1e-7), case
    assert by_linear_program(1000, 1000, 600, 0.2, 1e-3) == pytest.approx(
        float(exact_p_value(1000, 1000, 600, 0.2, 1e-3)), rel=1e-7
    )


@pytest.mark.parametrize(("m", "r", "v"), [(7, 5, 4), (9, 9, 6), (6, 6, 1), (12, 8, 8)])
def test_the_proof_in_whole_numbers(m, r, v):
    """The multipliers and the mixture of the module's proof, with e^ε = 2 and fractions: no rounding at all."""
    odds, delta = 2, Fraction(1, 50)
    b = [Fraction(math.comb(r, k) * odds**k, (1 + odds) ** r) for k in range(r + 1)]
    above = sum(b[v:])
    nu = m * above * (1 - above) / (v * b[v])
    y = [0, *((sum(b[max(k, v) :]) - above * sum(b[k:])) / (k * b[k]) for k in range(1, r + 1)), 0]
    assert all(0 <= value <= nu / m for value in y)
    for k in range(r + 1):  # the column of q_k: what it earns is at most what it costs
        cost = above + (k * y[k] if k else 0) - (odds * (r - k) * y[k + 1] if k < r else 0)
        assert cost >= (k >= v)

    bound = above + nu * delta
    if bound <= 1:
        weight = (bound - above) / (1 - above)
        q = [(1 - weight) * b[k] + (weight * b[k] / above if k >= v else 0) for k in range(r + 1)]
        spent = sum(
            max(k * q[k] - odds * (r - k + 1) * q[k - 1], 0) + max((r - k + 1) * q[k - 1] - odds * k * q[k], 0)
            for k in range(1, r + 1)
        )
        assert (sum(q), sum(q[v:]), spent) == (1, bound, m * delta)


# Properties -----------------------------------------------------------------------------------------------------------


def test_no_p_value_is_below_the_exact_one():
    rng = np.random.default_rng(4)
    n = 3000
    r = rng.integers(1, 400, n)
    m, v = r + rng.integers(0, 1000, n), rng.binomial(r, rng.uniform(0.3, 1, n))
    epsilon, delta = rng.exponential(1.5, n), 10 ** rng.uniform(-8, 0, n)
    exact, binomial = exact_p_value(m, r, v, epsilon, delta), p_value(m, r, v, epsilon, delta)
    below = binomial < exact * (1 - 1e-12)
    assert (binomial[below] > 0.875).all()  # see the next test
    assert (v[below] < np.floor((r[below] + 1) / (1 + np.exp(-epsilon[below])))).all()
    some = slice(0, 300)
    by_f_dp = [
        float(f_dp_p_value(ApproxDP(e, d), *row))
        for e, d, *row in zip(epsilon[some], delta[some], m[some], r[some], v[some], strict=True)
    ]
    assert (by_f_dp >= exact[some] * (1 - 1e-9)).all()


def test_the_binomial_p_value_can_be_too_small_below_the_mode():
    """Two examples and e^ε = 99: a training that is (ε, δ)-DP, whose guesses are never both wrong."""
    q, m = Fraction(99, 100), 2
    norm = 1 - (1 - q) ** 2
    chance = {2: q**2 / norm, 1: q * (1 - q) / norm, 0: Fraction(0)}  # of a pair of guesses, by how many are right

    def excess(right, right_if_flipped):  # how far one output's chance exceeds e^ε times that with a membership flipped
        return max(chance[right] - 99 * chance[right_if_flipped], 0)

    delta = excess(2, 1) + excess(1, 0) + excess(1, 2) + excess(0, 1)
    assert delta == q * (1 - q) / norm
    assert chance[2] + 2 * chance[1] == 1
    given = (m, 2, 1, math.log(99), float(delta))
    assert float(exact_p_value(*given)) == 1
    assert float(p_value(*given)) == pytest.approx(0.9999039603960396, rel=1e-12)


@pytest.mark.parametrize("delta", [0.0, 1e-6, 1e-3, 0.05])
def test_no_bound_is_above_the_exact_one(delta):
    rng = np.random.default_rng(5)
    r = rng.integers(1, 2000, 300)
    m, v = r + rng.integers(0, 3000, 300), rng.binomial(r, 0.9)
    exact = exact_lower_bounds(m, r, v, delta, 0.05)
    best, binomial = best_lower_bounds(m, r, v, delta, 0.05), lower_bounds(m, r, v, delta, 0.05)
    assert (binomial <= best).all()
    assert (best <= exact * (1 + 1e-9)).all()
    if delta == 0:
        np.testing.assert_allclose(best, exact, rtol=1e-12)


@settings(max_examples=200, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    r=st.integers(1, 3000),
    spare=st.integers(0, 3000),
    share=st.floats(0.3, 1),
    p=st.floats(1e-9, 0.45),
    delta=st.one_of(st.just(0.0), st.floats(-10, -1).map(lambda x: 10**x)),
)
def test_the_p_value_of_a_bound_is_p(r, spare, share, p, delta):
    m, v = r + spare, round(share * r)
    for bound, value in ((lower_bounds, p_value), (exact_lower_bounds, exact_p_value)):
        epsilon = float(bound(m, r, v, delta, p))
        if epsilon > 0:
            assert float(value(m, r, v, epsilon, delta)) == pytest.approx(p, rel=1e-9)
        else:
            assert float(value(m, r, v, 0.0, delta)) >= p * (1 - 1e-12)


@pytest.mark.parametrize("function", [lower_bounds, exact_lower_bounds])
def test_bounds_are_monotone(function):
    v = np.arange(501)
    in_correct = function(800, 500, v, 1e-4, 0.05)
    assert (np.diff(in_correct) >= 0).all()
    assert in_correct[-1] > 3
    assert (np.diff(function(800, 500, 450, np.logspace(-9, 0, 50), 0.05)) <= 0).all()
    assert (np.diff(function(800, 500, 450, 1e-4, np.logspace(-6, -0.4, 50))) >= 0).all()
    assert (np.diff(function(np.arange(500, 5000, 50), 500, 450, 1e-4, 0.05)) <= 0).all()


def test_edges():
    for value in (p_value, exact_p_value):
        assert float(value(100, 0, 0, 1.0, 1e-5)) == float(value(100, 50, 0, 1.0, 0.0)) == 1.0
        assert float(value(0, 0, 0, 1.0, 1e-5)) == 1.0
        assert float(value(100, 50, 40, 0.0, 1.0)) == 1.0
        high = value(100, 50, np.arange(51), 700.0, 1e-5)
        assert (high[1:] > 1 - 1e-12).all()
        assert (high <= 1).all()
    for bound in (lower_bounds, exact_lower_bounds):
        assert float(bound(100, 0, 0, 1e-5, 0.05)) == float(bound(100, 50, 0, 1e-5, 0.05)) == 0.0
        assert float(bound(100, 50, 50, 1.0, 0.05)) == float(bound(100, 50, 50, 0.999, 0.05)) == 0.0
        assert float(bound(100, 50, 25, 0.0, 0.05)) == 0.0
        assert float(bound(10, 10, 10, 0.0, 0.05)) == pytest.approx(-math.log(0.05**-0.1 - 1), rel=1e-12)


def test_p_values_far_below_the_smallest_float():
    """P[W ≥ v] and P[W = v] underflow, but not their quotient."""
    assert float(exact_p_value(100_000, 100_000, 100_000, 0.0, 1e-3)) == pytest.approx(1e-3, rel=1e-12)
    r, v = 100_000, 90_000
    quotient, term = 0.0, 1.0
    for i in range(r - v + 1):
        quotient, term = quotient + term, term * (r - v - i) / (v + 1 + i)
    assert float(exact_p_value(1_000_000, r, v, 0.0, 1e-3)) == pytest.approx(1e3 * quotient / v, rel=1e-12)
    assert float(p_value(100_000, 100_000, 100_000, 0.0, 0.0)) == 0.0


# The audit ------------------------------------------------------------------------------------------------------------


def test_result():
    guesses = Guesses(10_000, 500, 480)
    bound = one_run(guesses, 1e-4, confidence=0.9)
    assert bound.kind == "lower_bound"
    assert bound.parameter == "epsilon"
    assert bound.valid
    assert bound.value == float(best_lower_bounds(10_000, 500, 480, 1e-4, 1 - 0.9))
    assert bound.interval() == (bound.value, math.inf)
    assert bound.provenance.to_dict()["known"] == {"delta": 1e-4}
    assert bound.provenance.digest == guesses.digest()
    assert bound.provenance.settings == {"confidence": 0.9, "method": "best", "rule": "fixed"}
    assert bound.details == {"examples": 10_000, "made": 500, "correct": 480, "level": pytest.approx(0.1)}
    assert any("fair coin" in sentence for sentence in bound.assumptions)
    assert "0.0001" in bound.assumptions[-1]
    assert json.dumps(bound.to_dict())

    other = bound.epsilon_at(1e-6)
    assert other.provenance.known == {"delta": 1e-6}
    assert other.value == one_run(guesses, 1e-6, confidence=0.9).value > bound.value


def test_error_counts_of_one_run():
    counts = ErrorCounts([3, 2], [40, 10], [4, 1], [40, 10], design="one_run", examples=200)
    assert one_run(counts, 0.0).value == one_run(Guesses(200, 100, 90), 0.0).value
    with pytest.raises(InputError, match=r'the design "repeated" are no guesses on one model'):
        one_run(ErrorCounts(3, 40, 4, 40), 0.0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guesses": 3}, "guesses must be a GuessTable, Guesses (as attacks.guess gives them) or ErrorCounts, not int"),
        ({"delta": -0.1}, "delta must lie in [0, 1], not -0.1"),
        ({"confidence": 1.0}, "confidence must lie in (0, 1), not 1.0"),
        ({"method": "worst"}, "method must be one of best, binomial, f_dp, exact, not 'worst'"),
    ],
)
def test_wrong_input(change, message):
    arguments = {"guesses": Guesses(10, 5, 4), "delta": 1e-3} | change
    with pytest.raises(InputError) as error:
        one_run(**arguments)
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((10, 11, 4), "made must be at most examples, 10, not 11"),
        ((10, 5, 6), "correct must be at most made, 5, not 6"),
        ((10, 5.5, 4), "made must be whole numbers, not 5.5"),
    ],
)
def test_wrong_numbers(row, message):
    with pytest.raises(InputError) as error:
        p_value(*row, 1.0, 0.0)
    assert str(error.value) == message


def test_one_problem_is_answered_as_among_many():
    """Few problems go one by one in plain floats, many together in arrays."""
    rng = np.random.default_rng(7)
    made = rng.integers(1, 3000, 200)
    examples, correct = made + rng.integers(0, 3000, 200), (made * rng.uniform(0, 1, 200)).astype(int)
    correct[:20] = made[:20]
    for epsilon in (0.0, 0.3, 2.0, 40.0):
        together = p_value(examples, made, correct, epsilon, 1e-4)
        alone = [float(p_value(*row, epsilon, 1e-4)) for row in zip(examples, made, correct, strict=True)]
        np.testing.assert_allclose(alone, together, rtol=1e-11)
    for bounds in (lower_bounds, best_lower_bounds):
        together = bounds(examples, made, correct, 1e-4, 0.05)
        alone = [float(bounds(*row, 1e-4, 0.05)) for row in zip(examples[:60], made[:60], correct[:60], strict=True)]
        np.testing.assert_allclose(alone, together[:60], rtol=1e-11, atol=1e-11)


def test_the_best_bound_is_the_larger_one():
    rng = np.random.default_rng(8)
    made = rng.integers(50, 400, 30)
    correct = (made * rng.uniform(0.5, 1, 30)).astype(int)
    for examples, delta in ((made, 1e-6), (made * 50, 1e-4), (made, 0.3)):
        found = best_lower_bounds(examples, made, correct, delta, 0.05)
        separate = (
            lower_bounds(examples, made, correct, delta, 0.05),
            f_dp_lower_bounds(approx(delta), examples, made, correct, 0.05),
        )
        np.testing.assert_allclose(found, np.maximum(*separate), rtol=1e-12, atol=1e-12)
