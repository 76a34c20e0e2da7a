"""The f-DP audit against golden values, published figures, a plain twin and its own limits."""

import json
import math
import os
import sys
from pathlib import Path
from statistics import NormalDist

import mpmath
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy import special

import bayes_dp as bdp
from bayes_dp import InputError
from bayes_dp.audits.f_dp import (
    GAUSSIAN,
    LAPLACE,
    Family,
    approx,
    f_dp,
    lower_bounds,
    p_value,
    rejects,
    trace,
)
from bayes_dp.audits.f_dp_recursion import scalar_inverse
from bayes_dp.data.guesses import Guesses
from bayes_dp.tradeoff import ApproxDP, Gaussian, Laplace, TradeOff

# m, r, c, p, τ -> lower bound on μ
MU_BOUNDS = [
    (1, 1, 1, 0.95, 0.0, 3.289707253902943),
    (100, 50, 35, 0.05, 0.0, 0.15779619262234754),
    (100, 50, 0, 0.05, 0.0, 0.0),
    (100, 50, 25, 0.05, 0.0, 0.0),
    (1000, 800, 500, 0.05, 0.0, 0.2010475533511211),
    (500, 300, 240, 1e-9, 0.0, 0.14128971545019595),
    (10_000, 100, 100, 0.05, 0.0, 0.9919354383539425),
    (10_000, 1000, 990, 1e-12, 0.0, 0.5029697585971714),
    (100_000, 100_000, 52_000, 0.05, 0.0, 0.03416321623990337),
    (1000, 200, 130, 0.05, 1e-4, 0.15256110483355667),
    (1000, 200, 150, 0.05, 1e-3, 0.26215753171575096),
    (1000, 1000, 800, 0.05, 1e-2, 0.3030628393796528),
    (1000, 200, 150, 0.05, 5e-2, 0.0),
]

# m, r, c, δ, p, τ -> lower bound on ε
EPSILON_BOUNDS = [
    (1000, 1000, 600, 0.0, 0.05, 0.0, 0.2918871200323966),
    (1000, 1000, 600, 1e-3, 0.05, 0.0, 0.2828899870242431),
    (1000, 100, 100, 1e-6, 0.05, 0.0, 3.492901048101825),
    (1000, 200, 150, 1e-5, 0.05, 1e-3, 0.7036311062976213),
]

# μ, m, made, c, p -> r, h, decision
TRACES = [
    (
        (0.5, 10, 5, 4, 0.5),
        [0.2880495041211761, 0.2880495041211761, 0.28409132986645497, 0.2597891283850498, 0.2],
        [0.14477896617610042, 0.14214541816435877, 0.12631272114547426, 0.08985941892336652, 0.05],
        False,
    ),
    (
        (0.2, 20, 10, 10, 0.05),
        [*[2.21559811678123] * 7, 1.4633141608788616, 0.5777666526278005, 0.1634895599503975, 0.025],
        [*[1.0] * 7, 0.4984773627317544, 0.11895700205272824, 0.0153877288833775, 0.0],
        True,
    ),
]


def close(expected):
    return pytest.approx(expected, rel=1e-9, abs=1e-12)


def family_of(name, parameters):
    return {"gdp": Gaussian, "eps_delta": ApproxDP, "laplace": Laplace}[name](*parameters)


@pytest.mark.parametrize("row", MU_BOUNDS)
def test_golden_bounds_on_mu(row):
    assert float(lower_bounds(GAUSSIAN, *row[:-1])) == close(row[-1])


@pytest.mark.parametrize("row", EPSILON_BOUNDS)
def test_golden_bounds_on_epsilon(row):
    m, r, c, delta, p, tau, expected = row
    assert float(lower_bounds(approx(delta), m, r, c, p, tau)) == close(expected)


def test_golden_laplace_and_p_value():
    assert float(lower_bounds(LAPLACE, 1000, 1000, 600, 0.05)) == close(0.29425222525006606)
    assert float(p_value(Gaussian(0.3), 10_000, 1000, 900)) == close(5.157165025192041e-10)


@pytest.mark.parametrize(("case", "r", "h", "rejected"), TRACES)
def test_golden_trace(case, r, h, rejected):
    mu, *rest = case
    found = trace(Gaussian(mu), *rest)
    np.testing.assert_allclose(found, (r, h), rtol=1e-9, atol=1e-12)
    assert bool(rejects(Gaussian(mu), *rest)) is rejected


@pytest.mark.skipif("BAYES_DP_GOLDEN" not in os.environ, reason="BAYES_DP_GOLDEN names no folder of golden values")
def test_golden_file():
    def inverse(i):
        slack, y = i.get("delta_ds", 0.0), i["y"]
        inner = family_of(i["family"], i["params"]).inverse(max(0.0, y - slack) / (1 - slack))
        return max(0.0, (1 - slack) * float(inner) - i.get("tau", 0.0))

    def bound(family, i):
        return lower_bounds(family, i["m"], i["cp"], i["c"], i["gamma"], i.get("tau", 0.0))

    called = {
        "fbar_inv": inverse,
        "fdp_mu_lb": lambda i: bound(GAUSSIAN, i),
        "fdp_eps_lb": lambda i: bound(approx(i["delta"]), i),
        "fdp_laplace_lb": lambda i: bound(LAPLACE, i),
        "fdp_pvalue": lambda i: p_value(family_of(i["family"], i["params"]), i["m"], i["cp"], i["c"]),
        "gdp_delta": lambda i: Gaussian(i["mu"]).delta_at(i["eps"]),
        "gdp_eps": lambda i: Gaussian(i["mu"]).epsilon_at(i["delta"]),
    }
    rows = json.loads((Path(os.environ["BAYES_DP_GOLDEN"]) / "audits_f_dp.json").read_text())
    for row in rows:
        i, expected, tolerance = row["inputs"], row["expected"], row["tolerance"]
        if i["function"] == "fdp_trace":
            case = (Gaussian(i["mu"]), i["m"], i["cp"], i["c"], i["gamma"])
            r, h = trace(*case)
            assert list(r) == pytest.approx(expected["r"], **tolerance), row["name"]
            assert list(h) == pytest.approx(expected["h"], **tolerance), row["name"]
            assert bool(rejects(*case)) is expected["rejects"], row["name"]
        else:
            assert float(called[i["function"]](i)) == pytest.approx(expected, **tolerance), row["name"]
    assert len(rows) > 40


@pytest.mark.parametrize(
    ("row", "epsilon"),
    [((1000, 800, 600), 1.98162), ((1000, 100, 95), 3.72725), ((2000, 1500, 1000), 1.20106)],
)
def test_published_figures(row, epsilon):
    assert f_dp(Guesses(*row), delta=1e-6).value == pytest.approx(epsilon, abs=1e-5)


# Twins ----------------------------------------------------------------------------------------------------------------


def slow_inverse(name, parameter, delta, y):
    """f̄⁻¹(y) with 30 digits, from the formula of f."""
    if name == "gaussian":
        if not 0 < y < 1:
            return mpmath.mpf(min(max(y, 0), 1))
        return mpmath.ncdf(math.sqrt(2) * mpmath.erfinv(2 * y - 1) - parameter)
    if name == "approx":
        return max(0, 1 - delta - mpmath.exp(parameter) * (1 - y), mpmath.exp(-parameter) * (y - delta))
    alpha, shrink = 1 - y, mpmath.exp(-parameter)
    if alpha < shrink / 2:
        return 1 - alpha / shrink
    return shrink / (4 * alpha) if alpha <= 0.5 else shrink * (1 - alpha)


def slow_rejects(name, parameter, delta, m, made, c, p, tau):
    """The recursion down to k = 0, without the maximum and without stopping early."""
    with mpmath.workdps(30):
        r, h = mpmath.mpf(p) * c / m, mpmath.mpf(p) * (made - c) / m
        for k in range(c - 1, -1, -1):
            new = max(0, slow_inverse(name, parameter, delta, min(r, mpmath.mpf(1))) - tau)
            r, h = r + mpmath.mpf(k) / (made - k) * (new - h), new
            if r <= 0:
                return False
        return r + h > mpmath.mpf(made) / m


CASES = [(60, 40, 31, 0.05), (25, 25, 22, 0.1), (300, 60, 57, 0.01), (12, 9, 9, 0.3), (80, 50, 26, 0.4)]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("tau", [0.0, 1e-3])
@pytest.mark.parametrize(
    ("name", "delta", "family"),
    [
        ("gaussian", 0.0, GAUSSIAN),
        ("laplace", 0.0, LAPLACE),
        ("approx", 0.0, approx(0.0)),
        ("approx", 1e-3, approx(1e-3)),
    ],
)
def test_against_the_plain_recursion(name, delta, family, tau, case):
    bound = float(lower_bounds(family, *case, tau))
    if bound > 0:
        assert slow_rejects(name, bound * (1 - 1e-9), delta, *case, tau)
    assert not slow_rejects(name, bound * (1 + 1e-9) + 1e-12, delta, *case, tau)


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE, approx(0.0), approx(1e-5)])
def test_arrays_and_single_numbers_give_the_same(family, monkeypatch):
    rng = np.random.default_rng(1)
    r = rng.integers(1, 600, 80)
    m, c = r + rng.integers(0, 500, 80), rng.binomial(r, 0.85)
    for name in ("f_dp", "f_dp_recursion"):
        monkeypatch.setattr(sys.modules[f"bayes_dp.audits.{name}"], "FEW", 0)
    by_arrays = lower_bounds(family, m, r, c, 0.05, 1e-6)
    for name in ("f_dp", "f_dp_recursion"):
        monkeypatch.setattr(sys.modules[f"bayes_dp.audits.{name}"], "FEW", 10**9)
    one_by_one = lower_bounds(family, m, r, c, 0.05, 1e-6)
    np.testing.assert_allclose(by_arrays, one_by_one, rtol=1e-11, atol=1e-15)
    assert (one_by_one > 0.5).any()


def plainly_rejected(parameter, m, made, c, p):
    """Gaussian DP, every step down to k = 0."""
    normal, r, h = NormalDist(), p * c / m, p * (made - c) / m
    for k in range(c - 1, -1, -1):
        grown = max(h, 1.0 if r >= 1 else 0.5 * math.erfc(math.sqrt(0.5) * (parameter - normal.inv_cdf(r))))
        r, h = r + k / (made - k) * (grown - h), grown
    return r + h > made / m


@pytest.mark.parametrize("share", [0.53, 0.6, 0.75, 0.9, 0.97, 1.0])
@pytest.mark.parametrize("made", [400, 3000, 20_000])
def test_nothing_is_lost_where_the_recursion_is_left_early(made, share):
    """Within 1e-12 of the bound, where it is as slow to come to rest as to get beyond made/m."""
    for spare in (0, made):
        case = (made + spare, made, round(share * made), 0.05)
        bound = float(lower_bounds(GAUSSIAN, *case))
        many = lower_bounds(GAUSSIAN, case[0], made, np.full(40, case[2]), 0.05)
        np.testing.assert_allclose(many, bound, rtol=1e-12)
        assert not plainly_rejected(bound * (1 + 1e-12) + 1e-15, *case)
        if bound > 0:
            assert plainly_rejected(bound * (1 - 1e-12), *case)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "approx"])
def test_the_formulas_of_the_families(name):
    """The inverse, for arrays and for single numbers, is that of the trade-off function; at the limit it is h."""
    family, member = {"gaussian": (GAUSSIAN, Gaussian), "laplace": (LAPLACE, Laplace)}.get(
        name, (approx(1e-4), lambda epsilon: ApproxDP(epsilon, 1e-4))
    )
    y = np.concatenate([np.logspace(-12, -1, 30), np.linspace(0.1, 0.9, 33), 1 - np.logspace(-1, -9, 20)])
    for parameter in (0.0, 0.3, 2.0, 9.0):
        trade_off = member(parameter)
        expected = trade_off.inverse(y)
        np.testing.assert_allclose(family.inverse(np.full(len(y), parameter), y), expected, rtol=1e-12, atol=1e-300)
        single = scalar_inverse(trade_off, 0.0)
        np.testing.assert_allclose([single(value) for value in y.tolist()], expected, rtol=1e-12, atol=1e-300)
        h = np.maximum(expected * 0.9, 1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            limit = np.fmax(family.limit(y, h), 0.0)
        at_limit = np.array([float(member(x).inverse(v)) for x, v in zip(limit, y, strict=True)])
        assert (at_limit <= h * (1 + 1e-9) + 1e-15).all()


# Properties -----------------------------------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    r=st.integers(1, 800),
    spare=st.integers(0, 2000),
    share=st.floats(0.4, 1),
    p=st.floats(1e-9, 0.9),
    kind=st.sampled_from([GAUSSIAN, LAPLACE, approx(0.0), approx(1e-4)]),
)
def test_the_p_value_of_a_bound_is_p(r, spare, share, p, kind):
    m, c = r + spare, round(share * r)
    bound = float(lower_bounds(kind, m, r, c, p))
    if bound > 1e-6:
        assert bool(rejects(kind.member(bound), m, r, c, p * (1 + 1e-9)))
        assert not bool(rejects(kind.member(bound * (1 + 1e-9)), m, r, c, p))
        value = float(p_value(kind.member(bound), m, r, c))
        assert value <= p * (1 + 1e-9)


def test_bounds_are_monotone():
    for family in (GAUSSIAN, LAPLACE, approx(1e-4)):
        assert (np.diff(lower_bounds(family, 800, 500, np.arange(501), 0.05)) >= -1e-12).all()
        assert (np.diff(lower_bounds(family, 800, 500, 450, np.logspace(-3, -0.1, 30))) >= -1e-12).all()
        assert (
            np.diff([float(lower_bounds(family, 800, 500, 450, 0.05, t)) for t in np.logspace(-9, -1, 20)]) <= 0
        ).all()
    assert (np.diff([float(lower_bounds(approx(d), 800, 500, 450, 0.05)) for d in np.logspace(-9, 0, 30)]) <= 0).all()


def test_mu_is_below_its_limit():
    rng = np.random.default_rng(2)
    r = rng.integers(1, 5000, 200)
    m, c = r + rng.integers(0, 5000, 200), rng.binomial(r, 0.9)
    limit = special.ndtri(0.05 * c / m) - special.ndtri(0.05 * (r - c) / m)
    assert (lower_bounds(GAUSSIAN, m, r, c, 0.05) <= np.maximum(limit, 0.0) * (1 + 1e-12)).all()


def test_edges():
    for family in (GAUSSIAN, LAPLACE, approx(0.0), approx(1e-4)):
        assert float(lower_bounds(family, 100, 0, 0, 0.05)) == float(lower_bounds(family, 100, 50, 0, 0.05)) == 0.0
        assert float(lower_bounds(family, 0, 0, 0, 0.05)) == 0.0
        assert float(lower_bounds(family, 100, 50, 25, 0.05)) == 0.0
        assert float(p_value(family.member(1.0), 100, 50, 0)) == float(p_value(family.member(1.0), 100, 0, 0)) == 1.0
        assert not bool(rejects(family.member(0.0), 100, 50, 0, 0.999))
        assert float(lower_bounds(family, 100, 50, 50, 0.05)) > 1
        assert float(lower_bounds(family, 100, 50, 50, 0.05, 1.0)) == 0.0
        assert float(p_value(family.member(700.0), 100, 50, 50)) > 0.9
    assert float(lower_bounds(approx(1.0), 100, 50, 50, 0.05)) == 0.0
    assert float(p_value(ApproxDP(1.0, 1.0), 100, 50, 50)) == pytest.approx(1.0)
    assert trace(Gaussian(1.0), 0, 0, 0, 0.05)[0].tolist() == [0.0]


def test_trade_off_functions_of_the_users():
    """Given as callables, the known functions give the known answers, for p-values and for bounds."""
    mine = TradeOff(lambda alpha: special.ndtr(-special.ndtri(alpha) - 0.5))
    rows = np.array([[300, 60, 50], [300, 200, 120], [40, 40, 38]]).T
    np.testing.assert_allclose(p_value(mine, *rows), p_value(Gaussian(0.5), *rows), rtol=1e-6)
    assert rejects(mine, *rows, 0.05).tolist() == rejects(Gaussian(0.5), *rows, 0.05).tolist()
    np.testing.assert_allclose(
        lower_bounds(Family("mu", Gaussian), *rows, 0.05), lower_bounds(GAUSSIAN, *rows, 0.05), rtol=1e-10
    )


# The audit ------------------------------------------------------------------------------------------------------------


def test_result_on_mu():
    guesses = Guesses(1000, 100, 95)
    bound = f_dp(guesses)
    assert (bound.kind, bound.parameter, bound.confidence) == ("lower_bound", "mu", 0.95)
    assert bound.value == pytest.approx(float(lower_bounds(GAUSSIAN, 1000, 100, 95, 0.05)), rel=1e-12)
    assert bound.provenance.known == {}
    assert bound.provenance.settings == {"confidence": 0.95, "family": "gaussian", "tau": 0.0, "rule": "fixed"}
    limit = special.ndtri(0.05 * 95 / 1000) - special.ndtri(0.05 * 5 / 1000)
    assert bound.details["limit"] == pytest.approx(limit, rel=1e-9)
    assert bound.value <= bound.details["limit"]

    epsilon = bound.epsilon_at(1e-6)
    assert (epsilon.parameter, epsilon.provenance.known) == ("epsilon", {"delta": 1e-6})
    assert epsilon.value == float(Gaussian(bound.value).epsilon_at(1e-6))
    assert epsilon.details["mu"] == bound.value
    assert any("Gaussian DP" in sentence for sentence in epsilon.assumptions)
    assert not any("Gaussian DP" in sentence for sentence in bound.assumptions)
    assert json.dumps(epsilon.to_dict())


def test_other_families():
    guesses = Guesses(1000, 100, 100)
    laplace = f_dp(guesses, family="laplace", tau=1e-4)
    assert laplace.parameter == "laplace"
    assert laplace.details["limit"] < math.inf
    assert any("total variation 0.0001" in sentence for sentence in laplace.assumptions)
    assert laplace.epsilon_at(1e-3).value == float(Laplace(laplace.value).epsilon_at(1e-3))
    epsilon = f_dp(guesses, family="approx", delta=1e-6)
    assert epsilon.value == close(3.492901048101825)
    assert epsilon.details["limit"] == math.inf
    assert epsilon.epsilon_at(1e-3).value == float(lower_bounds(approx(1e-3), 1000, 100, 100, 1 - 0.95))
    mine = f_dp(guesses, family=lambda parameter: Gaussian(2 * parameter))
    assert mine.parameter == "parameter"
    assert 2 * mine.value == pytest.approx(f_dp(guesses).value, rel=1e-10)
    assert mine.epsilon_at(1e-5).value == pytest.approx(f_dp(guesses, delta=1e-5).value, rel=1e-9)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"guesses": "many"},
            "guesses must be a GuessTable, Guesses (as attacks.guess gives them) or ErrorCounts, not str",
        ),
        ({"confidence": 0}, "confidence must lie in (0, 1), not 0.0"),
        ({"tau": 2}, "tau must lie in [0, 1], not 2.0"),
        ({"delta": 2}, "delta must lie in [0, 1], not 2.0"),
        ({"family": "approx"}, 'delta must be given for the family "approx"'),
        ({"family": "cauchy"}, "family must be gaussian, approx, laplace or a callable, not 'cauchy'"),
        ({"family": math.sqrt}, "family must give a trade-off function for each parameter, not 0.0"),
        (
            {"family": lambda parameter: Gaussian(0.0)},
            "the family must leak more as its parameter grows, but 2**60 is rejected still",
        ),
    ],
)
def test_wrong_input(change, message):
    arguments = {"guesses": Guesses(100, 50, 45)} | change
    with pytest.raises(InputError) as error:
        f_dp(**arguments)
    assert str(error.value) == message


def test_p_values_when_all_examples_are_guessed_rightly():
    """One example: a right guess has the chance 1/(1 + e^{-ε}), or Φ(μ/2); two: the square of that."""
    assert p_value(ApproxDP(0.3), 1, 1, 1) == pytest.approx(1 / (1 + math.exp(-0.3)), rel=1e-9)
    assert p_value(Gaussian(0.4), 1, 1, 1) == pytest.approx(special.ndtr(0.2), rel=1e-9)
    assert p_value(ApproxDP(0.3), 2, 2, 2) <= 1
    assert p_value(ApproxDP(0.3), 5, 5, 0) == 1


# Lopsided functions ---------------------------------------------------------------------------------------------------


def lopsided(alpha):
    return np.maximum(0.0, 1 - np.asarray(alpha) / 0.7)


def both_ways(alpha):
    return np.maximum(0.0, 0.7 - np.asarray(alpha))


@pytest.mark.parametrize("function", [lopsided, lambda alpha: np.maximum(0.0, 0.7 * (1 - np.asarray(alpha)))])
def test_a_lopsided_function_is_refused_by_all(function):
    f, guesses = TradeOff(function), Guesses(1000, 150, 150)
    for ask in (
        lambda: p_value(f, 1000, 150, 150),
        lambda: rejects(f, 1000, 150, 150, 0.05),
        lambda: trace(f, 1000, 150, 150, 0.05),
        lambda: f_dp(guesses, family=lambda _: f),
        lambda: lower_bounds(Family("mine", lambda _: f), 1000, 150, 150, 0.05),
    ):
        with pytest.raises(bdp.InputError, match="needs a symmetric trade-off function"):
            ask()


def test_a_family_that_is_lopsided_from_some_member_on():
    def member(parameter):
        return Gaussian(parameter) if parameter < 1.2 else TradeOff(lopsided)

    with pytest.raises(bdp.InputError, match=r"family\(.*\): an audit needs a symmetric trade-off function"):
        f_dp(Guesses(1000, 60, 60), family=member)
    with pytest.raises(bdp.InputError, match="family must give a trade-off function"):
        f_dp(Guesses(1000, 60, 60), family=lambda parameter: Gaussian(parameter) if parameter < 1.2 else parameter)


def test_why_lopsided_functions_are_refused():
    """A training that shows each non-member with chance 0.3, and else nothing, has the trade-off function `lopsided`.
    Guesses of those that are shown are always right. As if it held in both orders, f would be rejected every time; what
    does hold in both is not."""
    rng = np.random.default_rng(0)
    member = rng.random((200, 1000)) < 0.5
    shown = ~member & (rng.random((200, 1000)) < 0.3)
    made = shown.sum(axis=1)
    wrong, right = (lambda y: 0.7 * y), TradeOff(both_ways)

    def plainly_rejected(inverse, m, c, p):
        r, h = p * c / m, 0.0
        for k in range(c - 1, -1, -1):
            grown = max(h, inverse(r))
            r, h = r + k / (c - k) * (grown - h), grown
        return r + h > c / m

    assert np.mean([plainly_rejected(wrong, 1000, c, 0.05) for c in made]) == 1.0
    assert np.mean([plainly_rejected(lambda y: max(0.0, y - 0.3), 1000, c, 0.05) for c in made]) <= 0.05
    assert not rejects(right, 1000, made[:5], made[:5], 0.05).any()


# At δ = 0 -------------------------------------------------------------------------------------------------------------


def test_gaussian_dp_has_no_epsilon_at_zero_delta():
    table = bdp.GuessTable(np.arange(40.0), np.arange(40) >= 20, 0.5)
    for ask in (
        lambda delta: f_dp(Guesses(1000, 100, 95), delta=delta),
        lambda delta: f_dp(Guesses(1000, 100, 50), delta=delta),
        lambda delta: f_dp(Guesses(1000, 100, 95)).epsilon_at(delta),
        lambda delta: bdp.audits.zero_run(table, delta, family="gaussian"),
        lambda delta: bdp.audits.zero_run(table, delta, family="gaussian", form="compositional"),
        lambda delta: bdp.audits.compositional(table, delta, family="gaussian", overlap=0.5),
    ):
        with pytest.raises(bdp.InputError, match="Gaussian DP has no finite epsilon at delta = 0"):
            ask(0)
        assert math.isfinite(ask(1e-300).value)
    with pytest.raises(bdp.InputError, match="has no finite epsilon at delta = 1e-06"):
        f_dp(Guesses(1000, 100, 95), family=lambda parameter: ApproxDP(parameter, 1e-5), delta=1e-6)
    assert f_dp(Guesses(1000, 100, 95), family="laplace", delta=0).value > 1
    assert f_dp(Guesses(1000, 100, 95), family="approx", delta=0).value > 1
