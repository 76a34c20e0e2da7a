"""What ArviZ is given of posteriors from orders of scores and from guesses, and what it makes of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp.bayes.checks.new_guesses import _merged, new_levels, right_guesses
from bayes_dp.bayes.checks.new_orders import FALSE_POSITIVE_RATES, _missed, missed
from bayes_dp.bayes.families.registry import FAMILIES
from bayes_dp.bayes.levels.placements import placements
from tests.bayes.arviz_contract import functions_work
from tests.bayes.levels.guessing import draw

RNG = np.random.default_rng(0)
SCORES = RNG.normal(size=(4, 30)), RNG.normal(1.0, 1.0, (4, 30))
CURVES: tuple[dict[str, object], ...] = (
    {"family": "gaussian"},
    {"family": "laplace", "strength": "tight"},
    {"strength": 0.3},
    {"strength": "tight"},
)
GUESSES: tuple[tuple[dict[str, object], dict[str, object]], ...] = (
    ({}, {}),
    ({"groups": 3}, {}),
    ({"groups": 3}, {"strength": "tight"}),
    ({"groups": 2, "delta": 0.02, "others": 20}, {"strength": 0.4, "known": False}),
    ({"draws": 5}, {}),
    ({"draws": 5, "groups": 3, "delta": 0.01}, {}),
    ({"draws": 5, "groups": 3}, {"strength": "tight"}),
)


def shifted(case: dict[str, object], asked: dict[str, object]) -> bdp.Posterior:
    case = {"size": 24} | case
    *_, guesses, draws = draw(np.random.default_rng(3), **case)
    return bdp.estimate_shifted(guesses, case.get("delta", 0.0), draws=draws, **asked)


@pytest.mark.parametrize("asked", CURVES, ids=str)
def test_of_orders(asked):
    post = bdp.estimate_curves(SCORES, 0.1, **asked)
    data = post.to_arviz(size=200)
    functions_work(data)
    np.testing.assert_array_equal(data["posterior"]["epsilon"].values[0], post.draws(200)["epsilon"])
    assert data["log_likelihood"]["scores"].shape == (1, 200, 4)
    assert data["posterior_predictive"]["false_negatives"].shape == (1, 200, 4, len(FALSE_POSITIVE_RATES))
    assert data["constant_data"]["positives"].values.tolist() == [30] * 4
    prior = sum(values.values[0] for values in data["log_prior"].data_vars.values())
    total = prior + data["log_likelihood"]["scores"].values[0].sum(axis=-1)
    np.testing.assert_allclose(data["sample_stats"]["lp"].values[0], total)


def test_an_average_of_curves_has_the_numbers_of_each_draw_s_family():
    post = bdp.estimate_curves(SCORES, 0.1)
    data = post.to_arviz(size=300, seed=2)
    which = data["sample_stats"]["family"].values[0]
    assert np.bincount(which) / 300 == pytest.approx([post.weights[name] for name in post._used], abs=0.12)
    for i, one in enumerate(post._used.values()):
        own, mine = one.to_arviz(size=300, seed=2), which == i
        assert mine.any()
        for group, name in (("log_likelihood", "scores"), ("posterior_predictive", "false_negatives")):
            np.testing.assert_array_equal(data[group][name].values[0, mine], own[group][name].values[0, mine])


@pytest.mark.parametrize(("case", "asked"), GUESSES, ids=str)
def test_of_guesses(case, asked):
    post = shifted(case, asked)
    data = post.to_arviz(size=200, seed=1)
    functions_work(data)
    groups = case.get("groups", 1)
    drawn = post.draws(200, 1)
    np.testing.assert_array_equal(data["posterior"]["e"].values[0].T, [drawn[name] for name in post.leaks])
    assert data["log_likelihood"]["guesses"].shape == (1, 200, groups)
    assert data["prior"]["e"].shape == (1, 200, groups)
    assert (data["prior"]["e"].values <= data["prior"]["epsilon"].values[..., None] * (1 + 1e-12)).all()
    assert (data["posterior_predictive"]["correct"].values <= data["constant_data"]["made"].values).all()
    assert data["observed_data"]["correct"].values.sum() == post.question.right.sum()
    assert ("propensity_draw" in data["posterior"]) == (groups > 1 and "draws" in case)


@pytest.mark.parametrize("strength", ["free", "tight"])
def test_the_likelihood_of_a_draw_of_the_propensities(strength):
    """Its mean over all of them is that of the posterior, and each has been drawn by its share of it."""
    post = shifted({"draws": 4, "groups": 3, "delta": 0.01}, {"strength": strength})
    law = post._likelihood
    drawn = post.draws(50)
    epsilon, s = drawn["epsilon"], post._strength_of(drawn)
    of_draws = law.of_groups(epsilon, s).sum(axis=0)
    wanted = law.total(epsilon, s[:, None])[:, 0]
    np.testing.assert_allclose(special.logsumexp(of_draws, axis=0) - np.log(4), wanted, atol=1e-9)
    data = post.to_arviz(size=4000)
    found = data["log_likelihood"]["guesses"].values[0].sum(axis=-1)
    drawn = post.draws(4000)
    share = law.weights(drawn["epsilon"], post._strength_of(drawn)[:, None])[..., 0]
    which = data["posterior"]["propensity_draw"].values[0]
    for k in range(4):
        assert np.mean(which == k) == pytest.approx(share[k].mean(), abs=4 * 0.5 / np.sqrt(4000))
    some = np.arange(0, 4000, 80)
    chosen = law.of_groups(drawn["epsilon"][some], post._strength_of(drawn)[some]).sum(axis=0)
    np.testing.assert_allclose(found[some], chosen[which[some], np.arange(len(some))], atol=1e-9)


@pytest.mark.parametrize("delta", [0.0, 0.3])
def test_new_levels_are_uniform_in_area(delta):
    epsilon, s = np.full(4000, 2.0), np.full(4000, 0.2)
    t = new_levels(epsilon, s, delta, 2, np.random.default_rng(0))

    def accuracy(t):
        return 1 - (1 - t * delta) / (1 + np.exp(2.0 * t))

    share = (accuracy(t) - accuracy(0.2)) / (accuracy(1.0) - accuracy(0.2))
    assert stats.kstest(share.ravel(), "uniform").pvalue > 1e-3
    tight = new_levels(epsilon, np.ones(4000), delta, 1, np.random.default_rng(0))
    np.testing.assert_allclose(tight, 1.0)


def test_new_guesses_are_right_with_the_chances_of_the_model():
    post = shifted({"groups": 2, "delta": 0.02, "others": 30, "draws": 3, "size": 60}, {})
    law, question = post._likelihood, post.question
    size = 20_000
    epsilon, levels = np.full(size, 1.5), np.repeat([[0.3, 0.9]], size, axis=0)
    which = np.arange(size) % 3
    found = right_guesses(question, law, epsilon, levels, which, np.random.default_rng(1))
    for g, mask in enumerate(question.groups.values()):
        for k in range(3):
            t = levels[0, g]
            revealed = min(1.0, t * 0.02 * question.guesses.examples / len(question.right))
            chance = revealed + (1 - revealed) * special.expit(t * 1.5 + question.leans[k, mask])
            mine = found[which == k, g]
            variance = (chance * (1 - chance)).sum()
            assert mine.mean() == pytest.approx(chance.sum(), abs=4.5 * np.sqrt(variance / len(mine)))
            assert mine.var() == pytest.approx(variance, rel=0.1)


def test_merged_leans():
    leans = np.random.default_rng(0).normal(size=5000)
    place, number = _merged(leans)
    assert number.sum() == 5000
    assert len(place) < 600
    for e in (0.0, 1.0, 4.0):
        chance = special.expit(e + leans)
        assert number @ special.expit(e + place) == pytest.approx(chance.sum(), rel=2e-6)
        merged = number @ (special.expit(e + place) * special.expit(-e - place))
        assert merged == pytest.approx((chance * (1 - chance)).sum(), rel=1e-4)


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(("n0", "n1", "mu"), [(30, 20, 1.0), (1, 5, 2.0), (101, 3, 0.5)])
def test_new_orders_are_those_of_scores(n0, n1, mu, flipped):
    """Scores drawn from the two normal laws of the Gaussian family, upside down or not, and counted."""
    rng, size = np.random.default_rng(0), 4000
    order = np.repeat([0, 1], [n0, n1])
    found = _missed(order, FAMILIES["gaussian"], np.full(size, mu), np.full(size, flipped), rng)
    other = np.empty_like(found)
    for i in range(size):
        scores = np.concatenate([rng.normal(size=n0), rng.normal(mu, 1.0, n1)]) * (-1 if flipped else 1)
        other[i] = missed([order[np.argsort(scores)]])[0]
    error = np.sqrt((found.var(axis=0) + other.var(axis=0)) / size) + 1e-9
    assert (abs(found.mean(axis=0) - other.mean(axis=0)) < 4.5 * error).all()
    np.testing.assert_allclose(found.std(axis=0), other.std(axis=0), rtol=0.1, atol=0.02)
    covariance = [np.cov(each.T)[0, -1] for each in (found, other)]
    scale = found.std(axis=0)[0] * found.std(axis=0)[-1]
    assert covariance[0] == pytest.approx(covariance[1], abs=0.08 * scale + 0.02)


def test_missed_scores():
    order = np.array([1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    np.testing.assert_allclose(placements(order), [1.0, 0.8, 0.0])
    assert missed([order]).tolist() == [[2, 2, 2, 2, 2]]
    assert missed([order[::-1]]).tolist() == [[2, 2, 2, 1, 1]]
