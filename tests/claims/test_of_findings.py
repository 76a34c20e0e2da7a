"""What bounds, whole profiles and sequential audits say of a claim, and the test that was chosen for counts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.audits.power import POWERS
from bayes_dp.checks import InputError
from bayes_dp.claims.of_findings import _of_replacement

RNG = np.random.default_rng(0)
PROFILE = bdp.audits.profile(RNG.normal(size=600), RNG.normal(2, size=600))
COUNTS = bdp.ErrorCounts(10, 100, 20, 100)
CLAIMS = [
    *(bdp.Claim(epsilon, delta) for epsilon in (1.0, 2.0, 2.45, 2.55, 4.0) for delta in (0.0, 1e-3, 0.2)),
    *(bdp.Claim.gaussian(mu) for mu in (0.5, 1.6, 1.75, 3.0)),
    *(bdp.Claim.dp_sgd(sigma, 0.1, 30, 1e-5) for sigma in (0.5, 1.0, 3.0)),
    bdp.Claim.trade_off(bdp.tradeoff.Laplace(1.0)),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=repr)
def test_a_profile_refutes_what_lies_above_its_band(claim):
    """Whether the claim's f is above a corner of the band is the same as an ε(δ) that the claim does not allow."""
    found = claim.test(PROFILE)
    above = float((claim.below(PROFILE.alpha) - PROFILE.beta).max())
    if abs(above) > 2e-3:  # the values of δ are a grid
        assert found.refuted == (above > 0)
    assert found.confidence == PROFILE.confidence
    assert found.refuted == (found.rows[0].value > claim.epsilon_at(found.delta))
    if claim.delta is not None and not found.refuted:
        assert found.delta == claim.delta


def test_the_noise_that_a_profile_refutes():
    claim = bdp.Claim.dp_sgd(1.0, 0.1, 30, 1e-5)
    found = claim.test(PROFILE)
    assert "(profile)" in found.noise
    assert bdp.Claim.dp_sgd(1.01 * found.noise_multiplier, 0.1, 30, 1e-5).test(PROFILE).refuted
    assert not bdp.Claim.dp_sgd(0.98 * found.noise_multiplier, 0.1, 30, 1e-5).test(PROFILE).refuted


def under_way(pairs=300, **given):
    rng = np.random.default_rng(1)
    delta = 1e-5 if given.get("family", "approx") == "approx" else 0.0
    return bdp.audits.sequential(delta, **given).update(rng.random(pairs) < 0.05, rng.random(pairs) < 0.3)


@pytest.mark.parametrize("method", ["betting", "mixture"])
def test_a_sequential_audit_refutes_up_to_its_bound(method):
    audit = under_way(method=method)
    bound = audit.bound().value
    for epsilon, refuted in ((bound - 0.02, True), (bound + 0.02, False), (20.0, False)):
        found = bdp.Claim(epsilon, 1e-5).test(audit)
        assert (found.refuted, found.method) == (refuted, f"sequential {method}")
        assert found.p_value == audit.p_value(epsilon)
        assert (found.p_value <= 0.05) == refuted


def test_a_mixture_tests_any_claim():
    """The e-value of the smaller law: what refutes Gaussian noise refutes the (ε, δ) that it satisfies later."""
    audit, strong, weak = under_way(method="mixture"), bdp.Claim.gaussian(0.3), bdp.Claim.gaussian(3.0)
    assert strong.test(audit).refuted
    assert not weak.test(audit).refuted
    epsilon = strong.epsilon_at(0.1)
    assert strong.test(audit).p_value <= bdp.Claim(epsilon, 0.1).test(audit).p_value * (1 + 1e-9)
    twice = audit.update([0] * 50, [0] * 50, new_rule=True)
    assert strong.test(twice).p_value < 1e-3


def test_bets_on_one_function_test_what_is_no_weaker():
    claim = bdp.Claim.dp_sgd(2.0, 0.1, 30)
    audit = under_way(family=claim.below)
    assert claim.test(audit).refuted
    assert bdp.Claim.dp_sgd(2.5, 0.1, 30).test(audit).refuted  # more noise is claimed
    weaker = bdp.Claim.dp_sgd(1.5, 0.1, 30).test(audit)
    assert (weaker.outcome, weaker.exit_code) == ("not tested", 3)


def test_families_test_claims_of_their_own():
    audit = under_way(family="gaussian")
    mu = audit.bound().value
    assert bdp.Claim.gaussian(mu - 0.01).test(audit).refuted
    assert not bdp.Claim.gaussian(mu + 0.02).test(audit).refuted
    assert bdp.Claim(1.0, 1e-5).test(audit).outcome == "not tested"
    laplace = under_way(family="laplace")
    assert bdp.Claim.trade_off(bdp.tradeoff.Laplace(0.2)).test(laplace).refuted
    assert bdp.Claim.gaussian(0.1).test(laplace).outcome == "not tested"
    assert bdp.Claim(1.0, 1e-3).test(under_way()).outcome == "not tested"  # infinite at 1e-5
    assert bdp.Claim.gaussian(0.3).test(under_way()).refuted


@pytest.mark.parametrize("method", ["joint_exact", "clopper_pearson", "accuracy"])
def test_the_method_that_was_chosen_decides(method):
    found = bdp.Claim(2.0, 1e-5).test(bdp.ErrorCounts(10, 80, 15, 80), method=method)
    assert found.method == {"joint_exact": "joint"}.get(method, method.replace("_", "-"))
    assert found.p_value == found.rows[0].value
    assert {row.method for row in found.rows} == {"joint", "clopper-pearson", "accuracy", "mixture"}
    corner = (1 - 1e-5) / (1 + math.exp(found.detectable))
    reached = [POWERS[method](80, 80, corner * x, corner * x, 2.0, 1e-5, 0.05) for x in (0.99, 1.01)]
    assert reached[0] > 0.9 > reached[1]


def test_methods_that_do_not_suit_the_evidence():
    claim = bdp.Claim(1.0, 1e-5)
    with pytest.raises(InputError, match='method="accuracy" is not for these counts: it needs as many runs'):
        claim.test(bdp.ErrorCounts(1, 10, 2, 12), method="accuracy")
    with pytest.raises(InputError, match='method="joint_exact" is not for these counts: a base has more than'):
        claim.test(bdp.ErrorCounts(1, 30_000, 2, 30_000), method="joint_exact")
    for evidence in (bdp.Guesses(100, 20, 15), PROFILE, bdp.audits.joint_exact(COUNTS, 1e-5)):
        with pytest.raises(InputError, match="method is for error counts"):
            claim.test(evidence, method="joint_exact")
    with pytest.raises(InputError, match="method must be one of"):
        claim.test(COUNTS, method="mixture")


# What values mean -----------------------------------------------------------------------------------------------------


def test_what_values_mean():
    f = bdp.tradeoff.ApproxDP(1.0, 1e-3)
    row = bdp.Claim(1.0, 1e-3).meaning(baseline=0.2).rows["the claim"]
    assert row.tpr == pytest.approx([float(1 - f(fpr)) for fpr in (0.001, 0.01, 0.1)])
    assert (row.advantage, row.reconstruction) == pytest.approx((f.advantage(), float(1 - f(0.2))))
    alpha = np.linspace(0, 1, 100_001)
    assert row.bayes_risk == pytest.approx(float(((alpha + f(alpha)) / 2).min()), abs=1e-5)


def test_meaning_of_bounds_and_posteriors():
    post = bdp.estimate(COUNTS, 1e-3)
    for value, row in zip(
        (post.interval()[0], post.median, post.interval()[1]), post.meaning().rows.values(), strict=True
    ):
        assert row == bdp.Claim(value, 1e-3).meaning().rows["the claim"]
    family = bdp.estimate(COUNTS, 1e-3, family="gaussian")
    names = list(family.meaning().rows)
    low, _ = family.interval(parameter="mu")
    assert names[0] == f"lower end, mu = {low:.4g}"
    own = bdp.Claim.gaussian(float(family.quantile(0.05, "mu"))).meaning().rows["the claim"]
    assert family.meaning().rows[names[0]].tpr == pytest.approx(own.tpr, rel=1e-6)
    assert family.meaning().rows[names[0]].bayes_risk == pytest.approx(own.bayes_risk, rel=1e-4)
    guesses = bdp.Guesses(1000, 200, 170)
    mu = bdp.audits.f_dp(guesses)
    assert list(mu.meaning().rows.values()) == list(bdp.Claim.gaussian(mu.value).meaning().rows.values())
    two = bdp.audits.clopper_pearson(COUNTS, 1e-3, two_sided=True).meaning()
    assert [what.split()[2] for what in two.rows] == ["least", "most"]
    assert two.to_dict()["rows"][next(iter(two.rows))]["tpr"]["0.001"] < 0.1
    with pytest.raises(InputError, match="baseline must lie in"):
        post.meaning(baseline=2.0)


def test_meaning_of_an_average_of_families():
    """By the law of each number over all curves: no curve is that of a quantile of ε, as families cross."""
    post = bdp.estimate(COUNTS, 1e-3, family="average")
    share = (np.arange(3000) + 0.5) / 3000
    functions = {
        "approx": (lambda e: bdp.tradeoff.ApproxDP(e, 1e-3), "epsilon"),
        "gaussian": (bdp.tradeoff.Gaussian, "mu"),
        "laplace": (bdp.tradeoff.Laplace, "mu"),
    }
    tpr, weight = [], []
    for name, part in post.posteriors.items():
        make, parameter = functions[name]
        tpr += [1 - float(make(float(t))(0.01)) for t in part.quantile(share, parameter)]
        weight += [post.weights[name] / 3000] * 3000
    order = np.argsort(tpr)
    law = np.cumsum(np.array(weight)[order])
    for prob, row in zip((0.1, 0.5, 0.9), post.meaning(0.8, baseline=0.01).rows.values(), strict=True):
        assert row.tpr[1] == pytest.approx(np.array(tpr)[order][np.searchsorted(law, prob)], rel=0.02)
        assert row.reconstruction == row.tpr[1]
        assert row.bayes_risk == pytest.approx((1 - row.advantage) / 2)


def of_a_replacement():
    """A bound on label privacy: responses 2y − 1 with Gaussian noise σ = 1, each of which is 1-GDP if it is there or
    not, and 2-GDP if its label is replaced."""
    rng = np.random.default_rng(0)
    y, q = rng.integers(0, 2, 20_000), np.full((20_000, 2), 0.5)
    told = 2 * y - 1 + rng.normal(size=20_000)
    likely = np.exp(-((told[:, None] - np.array([-1, 1])) ** 2) / 2)
    return bdp.audits.labels(y, q, None, 1e-5, likelihood=likely, exact=True, games=1, choice=1000)


def test_a_bound_of_a_replacement_is_held_against_what_the_claim_allows_of_one():
    bound = of_a_replacement()
    one, both = (bdp.Claim.gaussian(mu).epsilon_at(1e-5) for mu in (1.0, 2.0))
    trained, plain = bdp.Claim.dp_sgd(1.0, 1.0, 1, 1e-5), bdp.Claim.gaussian(1.0, 1e-5)
    for value, refuted in ((0.9 * one, False), (1.1 * one, False), (0.99 * both, False), (1.01 * both, True)):
        test = trained.test(replace(bound, value=value))
        assert test.refuted == refuted
        assert "of the replacement of an example" in str(test)
        assert plain.test(replace(bound, value=value)).refuted == (value > one)  # which is meant as the bound is
    assert trained.test(replace(bound, value=1.1 * one, details={})).refuted  # of coins before the training


def test_bounds_of_games_say_that_they_are_of_a_replacement():
    rng = np.random.default_rng(1)
    x, real = rng.normal(size=(2, 800, 2))
    game = bdp.games.coin_pairs((x, real), (rng.gamma(0.1, 1, 800), rng.gamma(9, 1, 800)), real=True)
    bounds = of_a_replacement(), bdp.audits.panoramia(game)
    assert [bound.details["neighbours"] for bound in bounds] == ["replaced", "replaced"]
    table = bdp.compare(game, 1e-5, names=["one-run", "zero-run", "panoramia"], claim=bdp.Claim.dp_sgd(2, 1, 1, 1e-5))
    assert all(sum("replacement" in sentence for sentence in row.assumptions) == 1 for row in table.rows)
    assert table.claim.method == "panoramia"
    limit = bdp.Claim.dp_sgd(2, 1, 1).epsilon_at(1e-5)
    assert limit < bounds[1].value < 2 * limit
    assert table.claim.outcome == "not refuted"


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0, 1.5])
def test_two_steps_of_gaussian_dp_are_one_of_twice_as_much(mu):
    exact = bdp.tradeoff.epsilon_from_mu(2 * mu, 1e-5)
    assert exact <= _of_replacement(bdp.tradeoff.Gaussian(mu), 1e-5) < exact + 1e-3
    assert _of_replacement(bdp.tradeoff.ApproxDP(mu, 1e-6), 1e-5) == pytest.approx(2 * mu, abs=0.1)
    assert _of_replacement(bdp.tradeoff.Gaussian(9.0), 1e-5) == math.inf
