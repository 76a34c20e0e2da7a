"""Sequential audits: golden values, fair bets, misses with known truth, misuse that fails, and files."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.audits.betting import (
    ApproxClaims,
    LinesClaim,
    bet_on_product,
    bet_on_sum,
    gaussian_claims,
    laplace_claims,
    lines_below,
    next_refresh,
)
from bayes_dp.audits.capital import Capital
from bayes_dp.audits.one_run_e_values import one_run_log_e
from bayes_dp.audits.sequential import Sequential
from bayes_dp.audits.sequential_state import digest
from bayes_dp.checks import InputError
from bayes_dp.tradeoff import ApproxDP, Gaussian, Laplace
from tests.golden import golden

sequential = bdp.audits.sequential
DELTA = 1e-5


def claims_of(given):
    block = given.get("n0", 1), given.get("n1", 1)
    if "mu" in given:
        return gaussian_claims(np.array([given["mu"]]), block)
    return ApproxClaims(np.array([given["eps"]]), given["delta"], block)


def bits(text):
    return np.array([int(each) for each in text], float)


def errors(n, alpha, beta, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.random(n) < alpha).astype(float), (rng.random(n) < beta).astype(float)


def play(audit, x, y, batch=1):
    for i in range(0, len(x), batch):
        audit.update(x[i : i + batch], y[i : i + batch])
    return audit


# Golden values --------------------------------------------------------------------------------------------------------


@golden("sequential", "bet")
def test_golden_bet(entry):
    given = entry["inputs"]
    found = bet_on_product(claims_of(given), np.array([given["a"]]), np.array([given["b"]]))
    values = [float(each[0]) for each in (found.tau, found.c, found.l0, found.l1)]
    assert values == pytest.approx(entry["expected"], rel=1e-7)


@golden("sequential", "betting_log_wealth")
def test_golden_capital(entry):
    given = entry["inputs"]
    capital, x, y, found = Capital(claims_of(given), 1, False), bits(given["x"]), bits(given["y"]), []
    for t in range(len(x)):
        list(capital.add(x[t : t + 1], y[t : t + 1]))
        found.append(capital.log[0])
    assert [found[t - 1] for t in given["after"]] == pytest.approx(entry["expected"], rel=1e-7, abs=1e-10)


@golden("sequential", "score_log_wealth")
def test_golden_sums(entry):
    given = entry["inputs"]
    capital = Capital(claims_of(given), 1, True)
    list(capital.add(np.array(given["x"]), np.array(given["y"])))
    assert capital.log[0] == pytest.approx(entry["expected"], rel=1e-8)


@golden("sequential", "betting_lower_bound")
def test_golden_bound(entry):
    given = entry["inputs"]
    grid = np.arange(given["points"] + 1) * given["step"]
    audit = sequential(given["delta"], confidence=1 - given["p"], grid=grid)
    assert play(audit, bits(given["x"]), bits(given["y"])).bound().value == pytest.approx(entry["expected"])


@golden("sequential", "mixture_lower_bound")
def test_golden_mixture(entry):
    given = entry["inputs"]
    audit = sequential(given["delta"], confidence=1 - given["p"], method="mixture")
    audit.update_counts(bdp.ErrorCounts(given["x"], given["n0"], given["y"], given["n1"]))
    assert audit.bound().value == pytest.approx(entry["expected"], rel=1e-6)


@golden("sequential", "one_run_log_e")
def test_golden_models(entry):
    given = entry["inputs"]
    found = sum(one_run_log_e(*model, np.array([given["eps"]]), given["delta"]) for model in given["models"])
    assert special.logsumexp(found) - math.log(18) == pytest.approx(entry["expected"], rel=1e-8)


# Bets are fair --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "f"),
    [
        (ApproxClaims(np.array([0.7]), 0.05), ApproxDP(0.7, 0.05)),
        (ApproxClaims(np.array([3.0]), 0.0), ApproxDP(3.0, 0.0)),
        (gaussian_claims(np.array([0.8])), Gaussian(0.8)),
        (laplace_claims(np.array([1.3])), Laplace(1.3)),
    ],
)
@pytest.mark.parametrize("believed", [(0.05, 0.3), (0.3, 0.02), (0.001, 0.001), (0.1, 0.1), (0.95, 0.8), (0.6, 0.9)])
def test_a_true_claim_loses_on_average(claims, f, believed):
    bet = bet_on_product(claims, np.array([believed[0]]), np.array([believed[1]]))
    a, b = (1 - each for each in believed) if sum(believed) > 1 else believed
    assert (bet.l0[0] > 0) == (b < float(f(a)))
    factors = np.exp(bet.log_factors(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0]))[:, 0])
    alpha, share = np.meshgrid(np.linspace(0, 1, 401), np.linspace(0, 1, 21))
    low = np.asarray(f(alpha))
    beta = low + share * (1 - np.asarray(f(1 - alpha)) - low)
    chances = np.stack([(1 - alpha) * (1 - beta), (1 - alpha) * beta, alpha * (1 - beta), alpha * beta])
    assert np.tensordot(factors, chances, 1).max() <= 1 + 1e-12


FUNCTIONS = [ApproxDP(0.7, 0.05), ApproxDP(3.0), Gaussian(0.8), Laplace(1.3), bdp.Claim.dp_sgd(1.0, 0.05, 50).below]


@pytest.mark.parametrize("block", [(1, 1), (3, 1), (2, 7)])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: type(f).__name__)
@pytest.mark.parametrize("believed", [(0.05, 0.3), (0.3, 0.02), (0.001, 0.001), (0.1, 0.1), (0.95, 0.8), (0.6, 0.9)])
def test_a_true_trade_off_function_loses_on_average_in_blocks(f, block, believed):
    """The mean of a block's factor is a product of those of its runs; it is 1 at most wherever rates are allowed."""
    bet = bet_on_product(LinesClaim(*lines_below(f), block), np.array([believed[0]]), np.array([believed[1]]))
    a, b = (1 - each for each in believed) if sum(believed) > 1 else believed
    assert (bet.l0[0] > 0) == (b < float(f(a)) - 1e-6)
    factors = np.exp(bet.cells()[:, 0])
    alpha, share = np.meshgrid(np.linspace(0, 1, 401), np.linspace(0, 1, 21))
    low = np.asarray(f(alpha))
    beta = low + share * (1 - np.asarray(f(1 - alpha)) - low)
    one, other = ((1 - r) * factors[2 * i] + r * factors[2 * i + 1] for i, r in enumerate((alpha, beta)))
    assert (one ** block[0] * other ** block[1]).max() <= 1 + 1e-9


@pytest.mark.parametrize("f", [ApproxDP(0.7, 1e-3), ApproxDP(2.0), Gaussian(0.8), Laplace(1.3)], ids=str)
@pytest.mark.parametrize("block", [(1, 1), (2, 5)])
def test_lines_bet_as_the_function_does(f, block):
    """The same capital as by the formulas of the family, up to what lines between lines would add."""
    own = {
        Gaussian: lambda: gaussian_claims(np.array([0.8]), block),
        Laplace: lambda: laplace_claims(np.array([1.3]), block),
        ApproxDP: lambda: ApproxClaims(np.array([f.epsilon]), f.delta, block),
    }[type(f)]()
    x, y = errors(400 * block[0], 0.02, 0.3)[0], errors(400 * block[1], 0.02, 0.3)[1]
    found = []
    for claims in (own, LinesClaim(*lines_below(f), block)):
        capital = Capital(claims, 1, False)
        list(capital.add(x, y))
        found.append(capital.log[0])
    assert found[0] > 3
    assert found[1] == pytest.approx(found[0], rel=2e-3)


def test_a_trade_off_function_is_refuted_or_not():
    x, y = errors(200, 0.02, 0.3)
    claims = {sigma: bdp.Claim.dp_sgd(sigma, 0.05, 50) for sigma in (0.3, 4.0)}
    audits = {sigma: play(sequential(0.0, family=claim.below), x, y, 100) for sigma, claim in claims.items()}
    assert {sigma: audit.rejects() for sigma, audit in audits.items()} == {0.3: False, 4.0: True}
    assert audits[4.0].p_value() < 0.05 < audits[0.3].p_value()
    with pytest.raises(InputError, match="no parameter to bound"):
        audits[4.0].bound()


@pytest.mark.parametrize("block", [(1, 3), (4, 1)])
def test_blocks_in_any_batches(block):
    x, y = errors(300 * block[0], 0.05, 0.3)[0], errors(300 * block[1], 0.05, 0.3)[1]
    x[5], y[7] = 0.25, 0.75
    one = sequential(DELTA, block=block, grid=np.arange(30) / 10).update(x, y)
    other = sequential(DELTA, block=block, grid=np.arange(30) / 10)
    for i in range(0, max(len(x), len(y)), 17):
        other.update(x[i : i + 17], y[i : i + 17])
    assert np.array_equal(one._capital.log, other._capital.log)
    assert (one.runs, one.bound().details["blocks"], one.bound().value > 0.5) == (300, 300, True)
    assert other.update([0] * (block[0] - 1), []).bound().details["waiting"] == [block[0] - 1, 0]


def test_a_block_says_more_than_a_pair_of_it():
    """More runs without the example, whose errors are rare, tell more of their rate."""
    x, y = errors(2000, 0.05, 0.3)[0], errors(400, 0.05, 0.3)[1]
    values = [sequential(DELTA, block=(n, 1)).update(x[: 400 * n], y).bound().value for n in (1, 2)]
    assert values[1] > values[0] + 0.1


@pytest.mark.parametrize("believed", [(0.05, 0.3), (0.3, 0.02), (0.9, 0.8)])
def test_a_sum_loses_on_average_whatever_the_dependence(believed):
    """The sum is linear, so that its mean depends on the two means only: the corners of R are enough."""
    epsilon, delta = 0.9, 0.03
    a, b, x, y = (np.array([each]) for each in (*believed, 0.1, 0.2))
    bet = bet_on_sum(ApproxClaims(np.array([epsilon]), delta), a, b, (x, y))
    f = ApproxDP(epsilon, delta)
    for alpha in np.linspace(0, 1, 101):
        for beta in (float(f(alpha)), 1 - float(f(1 - alpha))):
            a, b = (1 - alpha, 1 - beta) if bet.mirrored[0] else (alpha, beta)
            assert bet.size[0] * (bet.h[0] - bet.s[0] * a - b) <= 1e-12
    assert 1 + bet.size[0] * (bet.h[0] - bet.s[0] - 1) > 0


def test_e_values_of_a_model_expect_at_most_one():
    """Under the worst law of the number of right guesses: T_k for every k."""
    from bayes_dp.audits.one_run import exact_p_value

    m, r, epsilon, delta = 60, 12, 0.8, 1e-3
    tails = np.r_[1.0, exact_p_value(m, r, np.arange(1, r + 1), epsilon, delta), 0.0]
    law = -np.diff(np.minimum.accumulate(tails))
    e = np.exp(np.array([one_run_log_e(m, r, v, np.array([epsilon]), delta)[0] for v in range(r + 1)]))
    assert np.all(law @ e <= 1 + 1e-9)


# The same bits, in any batches and after a stop -----------------------------------------------------------------------


@pytest.mark.parametrize("values", ["errors", "shares", "both"])
@pytest.mark.parametrize("pairs", ["independent", "dependent"])
def test_batches_change_no_bit(values, pairs):
    rng = np.random.default_rng(0)
    x, y = errors(700, 0.1, 0.3) if values == "errors" else rng.beta(2, 8, (2, 700))
    if values == "both":
        x, y = (np.where(rng.random(700) < 0.5, each, np.round(each)) for each in (x, y))
    grid = np.arange(30) / 10
    one, *others = (play(sequential(DELTA, pairs=pairs, grid=grid), x, y, batch) for batch in (1, 73, 700))
    for other in others:
        assert np.array_equal(one._capital.log, other._capital.log)


@pytest.mark.parametrize(
    "kind", ["betting", "dependent", "shares", "gaussian", "lines", "blocks", "adaptive", "mixture", "mixed", "one_run"]
)
def test_resumed_with_the_same_bits(kind, tmp_path):
    rng = np.random.default_rng(1)
    options = {
        "dependent": {"pairs": "dependent"},
        "gaussian": {"family": "gaussian"},
        "lines": {"family": Gaussian(0.3)},
        "blocks": {"block": (3, 2)},
        "mixture": {"method": "mixture"},
        "mixed": {"method": "mixture", "family": Gaussian(0.3)},
        "one_run": {"method": "one_run"},
    }.get(kind, {})
    delta = 0.0 if kind in ("gaussian", "lines", "mixed") else DELTA
    options |= {} if kind in ("lines", "mixed") else {"grid": np.arange(40) / 10}
    straight, stopped = (sequential(delta, seed=3, **options) for _ in range(2))
    for step in range(3 if kind == "adaptive" else 6):
        if kind == "one_run":
            new = (bdp.Guesses(100, 20, int(rng.integers(10, 20))),)
        elif kind == "adaptive":
            new = rng.normal(size=37), rng.normal(1, size=37)
        elif kind == "shares":
            new = tuple(rng.beta(2, 8, (2, 37)))
        else:
            new = rng.random(37) < 0.1, rng.random(31) < 0.3
        verb = {"one_run": "update_guesses", "adaptive": "update_scores"}.get(kind, "update")
        for audit in (straight, stopped):
            getattr(audit, verb)(*new)
        stopped.to_json(tmp_path / f"{step}.json")
        stopped = Sequential.from_json(tmp_path / f"{step}.json")
    for audit in (straight, stopped):
        audit.to_json(tmp_path / f"{audit is straight}.json")
    assert (tmp_path / "True.json").read_text() == (tmp_path / "False.json").read_text()
    assert straight.p_value(0.0) == stopped.p_value(0.0) < 0.05
    if kind not in ("lines", "mixed"):
        assert straight.bound().to_dict() == stopped.bound().to_dict()
        assert straight.bound().value > 0


@pytest.mark.parametrize("kind", ["errors", "scores"])
def test_resumed_after_every_pair(kind, tmp_path):
    rng, path = np.random.default_rng(4), tmp_path / "state.json"
    straight, stopped = (sequential(DELTA, grid=[0.0, 0.1, 1.0], claim=0.5) for _ in range(2))
    for _ in range(80):
        without, with_ = rng.normal(size=1), rng.normal(2, size=1)
        for audit in (straight, stopped):
            if kind == "scores":
                audit.update_scores(without, with_)
            else:
                audit.update(without > 1, with_ <= 1)
        stopped.to_json(path)
        stopped = Sequential.from_json(path)
    assert np.array_equal(straight._capital.log, stopped._capital.log)
    assert straight.claim_trace() == stopped.claim_trace()
    assert straight.bound().value == stopped.bound().value > 0


def test_files_that_cannot_be(tmp_path):
    path = tmp_path / "state.json"
    play(sequential(DELTA, grid=[0.0, 1.0]), *errors(70, 0.1, 0.2)).to_json(path)
    content = json.loads(path.read_text())
    changes = [
        {"format": "bayes-dp/bound/1"},
        {"delta": 1.0},
        {"method": "luck"},
        {"grid": [0.0]},
        {"grid": [0.0, 1.0, 2.0]},
        {"best": [1.0]},
        {"steps": []},
        {"waiting": [[]]},
        {"more": 1},
        {"capital": {}},
        {"capital": content["capital"] | {"counts": [[1], [2]]}},
        {"capital": content["capital"] | {"past_pairs": 10**6}},
        {"capital": content["capital"] | {"start": [None, 1.0]}},
        {"looks": -1},
        {"waiting": [[2.0], []]},
        {"claimed": [[1, 0.0]]},
        {"highest": None},
        {"capital": content["capital"] | {"sums": [99.0, 0.0, 0.0, 0.0]}},
        {"capital": content["capital"] | {"counts": [[99], [0], [0], [0]]}},
        {"capital": content["capital"] | {"scores": [[0.0, 1.0]]}},
        {"method": "one_run", "models": [[0.0], [0.0, 1.0]]},
        {"block": [2, 0]},
        {"block": [1, 1, 1]},
        {"lines": [[0.0]]},
        {"family": "trade-off"},
        {"family": "trade-off", "delta": 0.0, "grid": [0.0], "lines": [[0.0, 2.0]]},
        {"confidence": 0.5},
        {"sha256": "0"},
    ]
    for change, signed in itertools.product(changes, (False, True)):
        changed = content | change
        if signed and "confidence" not in change and "sha256" not in change:  # by somebody who knows how
            changed["sha256"] = digest(changed)
        path.write_text(json.dumps(changed))
        with pytest.raises(InputError) as error:
            Sequential.from_json(path)
        assert "\n" not in str(error.value)


# The rest -------------------------------------------------------------------------------------------------------------


def test_what_has_no_partner_waits():
    x, y = errors(50, 0.1, 0.3)
    audit = sequential(DELTA).update(x, y[:20])
    assert audit.bound().details["waiting"] == [30, 0]
    audit.update([], y[20:])
    assert audit.bound().details["waiting"] == [0, 0]
    assert np.array_equal(audit._capital.log, sequential(DELTA).update(x, y)._capital.log)


def test_swapped_and_opposite_decisions():
    x, y = errors(400, 0.05, 0.4)
    straight = play(sequential(DELTA), x, y, 50).bound().value
    assert play(sequential(DELTA), y, x, 50).bound().value == pytest.approx(straight, abs=0.011)
    assert play(sequential(DELTA), 1 - x, 1 - y, 50).bound().value == pytest.approx(straight, abs=0.011)


def test_a_rejected_value_stays_so():
    x, y = errors(200, 0.02, 0.2)
    audit = play(sequential(DELTA), x, y, 10)
    before = audit.bound().value
    assert play(audit, np.ones(400), np.zeros(400), 40).bound().value >= before
    assert audit.e_value(before) < 20
    assert audit.rejects(before)
    assert audit.rejects(before - 0.005)  # between two values of the grid
    assert not audit.rejects(audit.bound().value + 0.005)
    assert not audit.rejects(13.0)


def test_the_claim_joins_the_grid():
    x, y = errors(300, 0.05, 0.3)
    audit = sequential(DELTA, claim=1.2345)
    looked = [audit.update(x[i : i + 1], y[i : i + 1]).e_value(1.2345) for i in range(300)]
    runs, log_e = zip(*audit.claim_trace(), strict=True)
    assert np.exp(log_e) == pytest.approx([looked[n - 1] for n in runs])
    assert (runs[0], runs[-1]) == (1, 300)
    assert len(runs) < 160
    assert audit.rejects(1.2345) == (max(looked) >= 20)
    assert sequential(DELTA, claim=1.0).claim_trace() == sequential(DELTA).update([0], [0]).claim_trace() == []


def test_nothing_is_known_of_no_runs():
    for method in ("betting", "mixture", "one_run"):
        audit = sequential(DELTA, method=method)
        assert (audit.bound().value, audit.e_value(1.0), audit.rejects(0.0)) == (0.0, 1.0, False)
    assert sequential(DELTA).update([], []).bound().value == 0.0


@pytest.mark.parametrize("delta", [0.0, 0.999999])
@pytest.mark.parametrize("method", ["betting", "mixture", "dependent"])
@pytest.mark.parametrize(("x", "y"), [(0, 0), (1, 1), (0, 1), (1, 0)])
def test_pairs_that_are_all_the_same(x, y, method, delta):
    options = {"pairs": "dependent"} if method == "dependent" else {"method": method}
    audit = sequential(delta, grid=np.r_[0, 0.001, 0.5, 1, 3.14, 12, 50], claim=1e-9, **options)
    audit.update([x], [y]).update([x] * 3000, [y] * 3000)
    bound = audit.bound().value
    assert (bound > 2 if delta == 0 else bound == 0) if x == y else bound == 0
    assert all(math.isfinite(log_e) for _, log_e in audit.claim_trace())


@pytest.mark.parametrize("family", ["approx", "gaussian", "laplace"])
@pytest.mark.parametrize("value", [0.0, 1.0, 0.5, 1e-320, 1 - 1e-16])
def test_values_at_the_ends_of_the_grid(family, value):
    audit = sequential(0.0, family=family, grid=[0.0, 1e-300, 1e-9, 1.0, 38.0], claim=50.0)
    audit.update([value] * 200, [value] * 200)
    assert np.isfinite(audit._capital.log).all()
    assert audit.bound().value == (0.0 if value == 0.5 else 1.0)


def test_guesses_that_are_all_right_or_wrong():
    audit = sequential(DELTA, method="one_run", grid=[0.0, 1.0, 12.0])
    for correct in (0, 1000):
        assert math.isfinite(audit.update_guesses(bdp.Guesses(1000, 1000, correct)).e_value(12.0))


def test_stretches_of_rules_multiply():
    audit = sequential(DELTA, method="mixture").update([0] * 40, [0] * 40)
    alone = audit.e_value(1.0)
    audit.update([0] * 40, [0] * 40, new_rule=True)
    assert audit.e_value(1.0) == pytest.approx(alone**2)
    together = sequential(DELTA, method="mixture").update([0] * 80, [0] * 80)
    assert together.e_value(1.0) > alone**2
    assert any("version that leaks most" in sentence for sentence in audit.bound().assumptions)


def test_the_mixture_holds_at_other_deltas():
    audit = sequential(DELTA, method="mixture").update([0] * 60, [0] * 50 + [1] * 10)
    bound = audit.bound()
    audit.update([1] * 500, [1] * 500)
    assert bound.epsilon_at(DELTA).value == bound.value
    again = sequential(0.1, method="mixture").update([0] * 60, [0] * 50 + [1] * 10).bound()
    assert bound.epsilon_at(0.1).value == again.value < bound.value


@pytest.mark.parametrize("method", ["betting", "mixture"])
def test_the_p_value_is_that_of_the_bound(method):
    x, y = errors(70, 0.05, 0.4)
    given = {"method": method, "grid": np.arange(60) / 20}
    p = play(sequential(DELTA, **given), x, y, 10).p_value(1.0)
    for factor, refuted in ((1.01, True), (0.99, False)):
        audit = play(sequential(DELTA, confidence=1 - p * factor, **given), x, y, 10)
        assert audit.rejects(1.0) == refuted
    assert play(sequential(DELTA, **given), x, y, 10).p_value(20.0) > 0.9


def test_the_trace_is_of_rises():
    audit = play(sequential(DELTA), *errors(300, 0.05, 0.3))
    runs, bounds = zip(*audit.trace(), strict=True)
    assert (runs[0], bounds[0]) == (0, 0.0)
    assert np.all(np.diff(bounds) > 0)
    assert bounds[-1] == audit.bound().value


def test_refreshes_of_a_million_pairs():
    t = steps = 0
    while t < 10**6:
        t, steps = next_refresh(t), steps + 1
    assert steps == 536


@pytest.mark.parametrize(
    ("act", "said"),
    [
        (lambda: sequential(1.0), "delta"),
        (lambda: sequential(DELTA, method="naive"), "method must be one of"),
        (lambda: sequential(DELTA, family="gaussian"), "delta must be 0"),
        (lambda: sequential(0.0, family="laplace", method="one_run"), "is for family"),
        (lambda: sequential(DELTA, family="laplace", method="mixture"), "delta must be 0"),
        (lambda: sequential(DELTA, pairs="dependent", method="mixture"), 'is for pairs="independent"'),
        (lambda: sequential(0.0, family="gaussian", pairs="dependent"), "is for family"),
        (lambda: sequential(DELTA, grid=[0.5, 1.0]), "grid must be"),
        (lambda: sequential(DELTA).update([0, 2], [0]), r"false_positive\[1\]"),
        (lambda: sequential(DELTA).update([0], [math.nan]), r"false_negative"),
        (lambda: sequential(DELTA, method="mixture").update([0.5], [0]), r"false_positive\[0\] must be 0 or 1"),
        (lambda: sequential(DELTA).update_guesses(bdp.Guesses(10, 5, 4)), 'method="one_run"'),
        (lambda: sequential(DELTA, method="one_run").update([0], [0]), "update_guesses"),
        (lambda: sequential(DELTA).e_value(0.0123), "value of the grid"),
        (lambda: sequential(DELTA).rejects(), "without a claim"),
        (lambda: sequential(DELTA).p_value(math.nan), "epsilon"),
        (lambda: sequential(DELTA, family="subsampled"), "or a trade-off function, not 'subsampled'"),
        (lambda: sequential(DELTA, family=math.exp), "or a trade-off function"),
        (lambda: sequential(DELTA, family=Gaussian(1.0)), "delta must be 0"),
        (lambda: sequential(0.0, family=Gaussian(1.0), grid=[0.0, 1.0]), "is the claim itself"),
        (lambda: sequential(DELTA, block=(2, 0)), r"block\[1\]"),
        (lambda: sequential(DELTA, block=2), "block must be two numbers"),
        (lambda: sequential(DELTA, block=(2, 1), pairs="dependent"), "block is for betting"),
        (lambda: sequential(DELTA, block=(2, 1), method="mixture"), "block is for betting"),
        (lambda: sequential(DELTA, block=(2, 1)).update_scores([1.0], [1.0]), "give a number"),
        (lambda: sequential(DELTA).update([0], [0]).bound().epsilon_at(0.1), "begin another one, or use the mixture"),
        (lambda: sequential(DELTA).update_counts(bdp.ErrorCounts([1, 1], [5, 5], [1, 1], [5, 5])), "one base"),
        (lambda: sequential(DELTA).update_scores([1.0], [1.0, 2.0]), "as many scores"),
        (lambda: sequential(DELTA).update_scores([1.0], [math.inf]), r"with_\[0\] must lie in"),
        (lambda: sequential(DELTA).update([0], [0]).update_scores([1.0], [1.0]), "threshold must be a number"),
        (lambda: sequential(DELTA).update_scores([1.0], [1.0]).update([0], [0]), "go on with update_scores"),
        (lambda: sequential(DELTA).update_scores([1.0], [1.0], threshold="best"), "threshold must be"),
    ],
)
def test_refusals(act, said):
    with pytest.raises(InputError, match=said):
        act()


# Runs of two rules, which nothing may pair ----------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["betting", "mixture"])
@pytest.mark.parametrize("way", ["scores", "errors", "counts"])
def test_runs_of_two_rules_are_not_paired(method, way, tmp_path):
    """Most runs without the example are judged by a high threshold, most of those with it by a low one: without any
    leak X and Y are rare, and so their sum would be if they were taken for errors of one rule."""
    rng, audit = np.random.default_rng(0), sequential(DELTA, method=method)
    for step in range(12):
        threshold, sizes = (2.0, (50, 10)) if step % 2 == 0 else (-2.0, (10, 50))
        without, with_ = (rng.normal(size=size) for size in sizes)
        x, y = without > threshold, with_ <= threshold
        if way == "scores":
            audit.update_scores(without, with_, threshold=threshold)
        elif way == "errors":
            audit.update(x, y, new_rule=True)
        else:
            audit.update_counts(bdp.ErrorCounts(x.sum(), len(x), y.sum(), len(y)), new_rule=True)
        audit.to_json(tmp_path / "state.json")
        audit = Sequential.from_json(tmp_path / "state.json")
    bound = audit.bound()
    assert bound.value == 0.0
    if method == "betting":
        assert (bound.details["pairs"], bound.details["waiting"], bound.details["left_out"]) == (
            120,
            [0, 40],
            [240, 200],
        )
    else:
        assert [sum(each[1::2]) for each in audit.stretches] == [60] * 12


def test_one_threshold_is_one_rule():
    rng = np.random.default_rng(0)
    for method in ("betting", "mixture"):
        audit = sequential(DELTA, method=method)
        for sizes in ((50, 10), (10, 50)):
            audit.update_scores(*(rng.normal(size=size) for size in sizes), threshold=0.5)
        assert audit.runs == (60 if method == "betting" else 120)
        assert len(audit.stretches) == (method == "mixture")
        assert "left_out" not in audit.bound().details
        audit.update([0], [])  # errors by a rule that nobody named
        audit.update([], [0])
        assert audit.runs == (61 if method == "betting" else 122)


def test_guesses_whose_members_were_not_drawn_by_coins(tmp_path):
    rng = np.random.default_rng(0)
    member = rng.random(300) < 0.9
    known = bdp.attacks.call_members(bdp.GuessTable(rng.normal(size=300), member, 0.9), 100)
    with pytest.raises(InputError, match=r"propensity\[0\] must be 0.5"):
        sequential(DELTA, method="one_run").update_guesses(known)
    audit = sequential(DELTA, method="one_run", grid=[0.0, 1.0])
    audit.update_guesses(bdp.Guesses(300, 100, 60))
    assert not audit.bound().invalid
    audit.update_guesses(bdp.attacks.guess(bdp.GuessTable(rng.normal(size=300), member), 100))
    audit.update_guesses(bdp.Guesses(300, 100, 60))
    assert "The memberships contradict fair coins" in audit.bound().invalid
    audit.to_json(tmp_path / "state.json")
    assert Sequential.from_json(tmp_path / "state.json").bound().invalid == audit.bound().invalid
    assert not bdp.Claim(0.1, DELTA).test(audit).rows[0].valid


# The mixture against families -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "n0", "y", "n1"), [(0, 60, 0, 40), (3, 50, 20, 80), (80, 90, 35, 40), (60, 60, 1, 1)])
@pytest.mark.parametrize("f", [Gaussian(0.8), Laplace(1.3), ApproxDP(0.7)], ids=str)
def test_mixtures_against_families(f, x, n0, y, n1):
    """As the test of one trade-off function by counts finds it, which looks for the largest likelihood otherwise."""
    from bayes_dp.audits.rate_tests import mixture_log_e

    audits = [sequential(0.0, method="mixture", family=f, seed=1)]
    if not isinstance(f, ApproxDP):
        audits.append(sequential(0.0, method="mixture", family=type(f).__name__.lower(), claim=f.mu))
    for audit in audits:
        audit.update_counts(bdp.ErrorCounts(x, n0, y, n1)).update([], [0, 1], new_rule=True)
        expected = mixture_log_e(f, x, n0, y, n1)
        assert math.log(audit.e_value()) == pytest.approx(expected, rel=1e-4, abs=1e-4)
        assert audit.rejects() == (expected >= math.log(20))
        assert audit.p_value() == pytest.approx(min(1.0, math.exp(-expected)), rel=1e-2)


def test_the_mixture_bounds_mu(tmp_path):
    x, y = errors(400, 0.02, 0.3)
    audit = sequential(0.0, method="mixture", family="gaussian").update(x, y)
    bound = audit.bound()
    assert (bound.parameter, audit.e_value(bound.value)) == ("mu", pytest.approx(20, rel=1e-6))
    assert 1.5 < bound.value < sequential(0.0, family="gaussian").update(x, y).bound().value
    audit.update(1 - x, y)  # what was rejected stays so
    assert audit.bound().value == bound.value
    assert bdp.Claim.gaussian(bound.value * 0.99).test(audit).refuted
    audit.to_json(tmp_path / "state.json")
    assert Sequential.from_json(tmp_path / "state.json").bound().value == bound.value


def test_new_order_of_counts_is_of_the_seed():
    counts = bdp.ErrorCounts(5, 60, 20, 60)
    values = [sequential(DELTA, seed=seed).update_counts(counts)._capital.log[50] for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
