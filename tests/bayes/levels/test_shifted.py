"""The posterior of ε and e from guesses on one model."""

import json
import os
from pathlib import Path

import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import optimize, special, stats

import bayes_dp as bdp
from bayes_dp.attacks import Bonferroni, call_members
from bayes_dp.bayes.levels.shifted import ShiftedPosterior
from bayes_dp.checks import InputError
from bayes_dp.data.propensity_source import PropensitySource
from bayes_dp.tradeoff import approx_dp
from tests.bayes.levels.guessing import draw, guesses_of, levels_of, plain

ENDS = [0.05, 0.5, 0.95]
RNG = np.random.default_rng(5)


def of_leans(leans, right, others=0):
    """Guesses with these leans, half of them of members."""
    called = np.arange(len(leans)) % 2 == 0
    logit = np.where(called, leans, -np.asarray(leans))
    return guesses_of(special.expit(logit), called, np.asarray(right, bool), others=others)


# Values ---------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif("BAYES_DP_GOLDEN" not in os.environ, reason="BAYES_DP_GOLDEN names no folder of golden values")
def test_golden_posteriors():
    rows = json.loads((Path(os.environ["BAYES_DP_GOLDEN"]) / "shift.json").read_text())
    rows = [row for row in rows if row["kind"] == "posterior"]
    assert len(rows) == 3
    for row in rows:
        (group,) = row["groups"]
        guesses = of_leans(group["lean"], group["right"], row["examples"] - len(group["lean"]))
        post = bdp.estimate_shifted(guesses, row["delta"], strength=row["strength"])
        np.testing.assert_allclose(post.quantile(row["prob"]), row["epsilon"], atol=1e-3)
        assert post.log_evidence == pytest.approx(row["log_evidence"], abs=2e-5)
        if "level" in row:
            np.testing.assert_allclose(post.quantile(row["prob"], "e"), row["level"], atol=2e-3)


@pytest.mark.parametrize(("wrong", "right"), [(20, 40), (0, 3), (1, 0), (40, 30)])
def test_without_shift_a_flat_prior_gives_a_beta_posterior(wrong, right):
    """With s → 1 and σ(ε) uniform on [½, 1] it is Beta(v + 1, r − v + 1) there."""
    flat = dist.TruncatedDistribution(dist.Logistic(0.0, 1.0), low=0.0)
    post = bdp.estimate_shifted(plain(wrong, right), strength="tight", prior_epsilon=flat)
    law = stats.beta(right + 1, wrong + 1)
    at = law.isf(law.sf(0.5) * (1 - np.array(ENDS)))
    np.testing.assert_allclose(special.expit(post.quantile(ENDS)), at, atol=2e-4)
    evidence = np.log(law.sf(0.5) * 2) + special.betaln(right + 1, wrong + 1)
    assert post.log_evidence == pytest.approx(evidence, abs=2e-5)


def test_without_shift_it_is_the_diagonal_of_the_layer():
    """On the diagonal α = β of R(ε, δ) minus R(sε, sδ) errors are binomial: v = N0 + N1 − X − Y."""
    epsilon, strength, delta, errors = 1.4, 0.3, 0.0, (6, 30, 9, 30)
    ends = [
        optimize.brentq(lambda a, t=t: float(approx_dp(a, t * epsilon, t * delta)) - a, 0, 1) for t in (1.0, strength)
    ]
    x, n0, y, n1 = errors
    alpha = np.linspace(*ends, 20_001)
    mean = np.trapezoid(alpha ** (x + y) * (1 - alpha) ** (n0 + n1 - x - y), alpha) / (ends[1] - ends[0])
    law = bdp.estimate_shifted(plain(x + y, n0 + n1 - x - y))._likelihood
    found = law.total(np.array([epsilon]), np.array([[strength]]))[0, 0]
    assert found == pytest.approx(np.log(mean), abs=1e-7)


@pytest.mark.parametrize(
    "case", [{}, {"delta": 0.02, "others": 40}, {"groups": 3}, {"draws": 5}, {"delta": 0.01, "groups": 2, "draws": 3}]
)
def test_it_is_what_weighted_draws_from_the_prior_say(case):
    size, number = 24, 100_000
    rng = np.random.default_rng(len(case))
    _, _, _, guesses, drawn = draw(rng, size, **case)
    post = bdp.estimate_shifted(guesses, case.get("delta", 0.0), draws=drawn)
    delta, groups = case.get("delta", 0.0), case.get("groups", 1)
    epsilon, strength = abs(rng.normal(0, np.sqrt(10), number)), rng.random(number)
    level = np.stack([levels_of(epsilon, strength, delta, rng.random(number)) for _ in range(groups)])
    question, of_group = post.question, np.arange(size) % groups
    rows, called = guesses.guessed(0)
    sure = np.minimum(1.0, level * delta * guesses.examples / size)
    likelihood = np.zeros(number)
    for pi in question.propensity[:, rows]:
        lean = np.where(called, special.logit(pi), -special.logit(pi))
        product = np.ones(number)
        for i, ok in enumerate(question.right):
            g = of_group[rows[i]]
            chance = sure[g] + (1 - sure[g]) * special.expit(level[g] * epsilon + lean[i])
            product *= chance if ok else 1 - chance
        likelihood += product / len(question.propensity)
    weight = likelihood / likelihood.sum()
    assert post.log_evidence == pytest.approx(np.log(likelihood.mean()), abs=0.03)
    e = {"e" if groups == 1 else f"e[{name}]": level[int(name or 0)] * epsilon for name in question.groups}
    for name, values in {"epsilon": epsilon, "strength": strength, **e}.items():
        order = np.argsort(values)
        cdf = np.interp(post.quantile(ENDS, name), values[order], np.cumsum(weight[order]))
        np.testing.assert_allclose(cdf, ENDS, atol=0.02, err_msg=name)


def test_draws_are_those_of_the_posterior():
    _, _, _, guesses, drawn = draw(np.random.default_rng(3), 40, delta=1e-3, groups=2, draws=3)
    for post in (bdp.estimate_shifted(guesses), bdp.estimate_shifted(guesses, 1e-3, draws=drawn, strength=0.4)):
        found = post.draws(2000, seed=1)
        assert list(found) == list(post.marginals)
        for name, values in found.items():
            assert stats.kstest(values, post.marginals[name].cdf).pvalue > 1e-4, name
        assert all((found[name] <= found["epsilon"]).all() for name in post.leaks)
    again = post.draws(2000, seed=1)
    assert all((found[name] == again[name]).all() for name in found)


def test_equal_draws_are_known_propensities():
    _, _, _, guesses, _ = draw(np.random.default_rng(4), 60)
    known = bdp.estimate_shifted(guesses)
    often = bdp.estimate_shifted(guesses, draws=np.tile(guesses.table.propensity, (20, 1)))
    for name in known.marginals:
        np.testing.assert_allclose(often.quantile(ENDS, name), known.quantile(ENDS, name), atol=1e-6)
    assert often.log_evidence == pytest.approx(known.log_evidence, abs=1e-9)
    assert often.diagnostics["effective_draws"] == pytest.approx(20)


def test_draws_that_the_guesses_speak_against_do_not_count():
    ok = np.ones(60, bool)
    guesses = of_leans(np.zeros(60), ok)
    other = np.tile(np.where(guesses.table.member, 0.001, 0.999), (19, 1))  # the guesses should all be wrong
    post = bdp.estimate_shifted(
        guesses, draws=np.concatenate([np.full((1, 60), 0.5), other]), prior_epsilon="HalfNormal(1)"
    )
    assert post.diagnostics["effective_draws"] == pytest.approx(1, abs=1e-6)
    assert any("count as 1" in sentence for sentence in post.warnings)


def test_a_small_delta_changes_little():
    _, _, _, guesses, _ = draw(np.random.default_rng(6), 60, others=200)
    none, small, tiny = (bdp.estimate_shifted(guesses, delta) for delta in (0.0, 1e-5, 1e-12))
    for name in none.marginals:
        np.testing.assert_allclose(tiny.quantile(ENDS, name), none.quantile(ENDS, name), atol=1e-5)
        np.testing.assert_allclose(small.quantile(ENDS, name), none.quantile(ENDS, name), atol=2e-3)
    large = none.epsilon_at(0.05)
    assert large.quantile(0.05, "e") < none.quantile(0.05, "e") - 0.01
    assert [post.question.delta for post in none.epsilon_at([0.0, 0.05])] == [0.0, 0.05]


def test_a_delta_that_reveals_all_but_for_weak_attacks():
    """With δm/r = 30 and wrong guesses the level is below 1/30."""
    _, _, _, guesses, _ = draw(np.random.default_rng(10), 50, others=4950)
    post = bdp.estimate_shifted(guesses, 0.3)
    assert 0 < post.quantile(0.999, "strength") < 1 / 30
    high = post.quantile(0.95)
    assert 0 < post.quantile(0.5, "e") < high / 30
    with pytest.raises(InputError, match=r"delta = 0.3 is too large: it would reveal all 50 guesses"):
        bdp.estimate_shifted(guesses, 0.3, strength="tight")
    with pytest.raises(InputError, match="too large"):
        bdp.estimate_shifted(guesses, 0.3, strength=0.5)
    alone = bdp.estimate_shifted(of_leans([0.0] * 5, [1] * 5, 95), 0.3, strength="tight")
    assert alone.log_evidence == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize(
    ("leans", "right"),
    [
        ([0.0], [1]),
        ([0.0], [0]),
        ([0.4] * 50, [1] * 50),
        ([0.4] * 50, [0] * 50),
        ([-50.0, 50.0, 36.0, -36.0, 0.0, 1.0], [1, 1, 1, 0, 1, 0]),
        ([0.1] * 5000, [0] * 1000 + [1] * 4000),
    ],
)
def test_extreme_guesses(leans, right, delta):
    post = bdp.estimate_shifted(of_leans(leans, right), delta)
    assert post.diagnostics["relative_error"] < 1e-3
    for name in ("epsilon", "e"):
        low, high = post.interval(0.9, parameter=name)
        assert 0 < low < high < np.inf
    assert post.quantile(0.5, "e") < post.quantile(0.5)
    if len(leans) == 5000:
        assert abs(post.quantile(0.5, "e") - (np.log(4) - 0.1)) < (0.01 if delta == 0 else 0.05)


def test_epsilon_up_to_700():
    guesses = of_leans([0.0] * 40, [1] * 40)
    post = bdp.estimate_shifted(guesses, prior_epsilon="Uniform(0, 700)", strength="tight")
    # 40 right guesses: σ(ε)^40, which is all but 1 from ε = 7 on.
    x = np.linspace(0, 700, 2_000_001)
    density = special.expit(x) ** 40
    cdf = np.cumsum(density) / density.sum()
    np.testing.assert_allclose(post.quantile(ENDS), np.interp(ENDS, cdf, x), atol=0.02)
    free = bdp.estimate_shifted(guesses, prior_epsilon="Uniform(0, 700)")
    assert free.diagnostics["relative_error"] < 1e-3
    far = bdp.estimate_shifted(of_leans([0.0] * 40, [0] * 40), prior_epsilon="Uniform(600, 700)", strength=0.9)
    assert 600 < far.quantile(0.5) < 605


def test_a_prior_without_end_is_refused_where_it_cannot_be_followed():
    with pytest.raises(InputError, match="give prior_epsilon an end"):
        bdp.estimate_shifted(of_leans([0.0] * 40, [1] * 40), prior_epsilon="HalfCauchy(1e9)")


def test_unknown_propensities_give_no_credit_to_surprises():
    leans, right = np.array([-2.0] * 10 + [1.0] * 10), np.array([1] * 8 + [0] * 4 + [1] * 8)
    found = bdp.estimate_shifted(of_leans(leans, right), known=False)
    wanted = bdp.estimate_shifted(of_leans(np.maximum(leans, 0), right))
    np.testing.assert_allclose(found.quantile(ENDS, "e"), wanted.quantile(ENDS, "e"), rtol=1e-9)
    assert found.quantile(0.05, "e") < bdp.estimate_shifted(of_leans(leans, right)).quantile(0.05, "e")


def test_groups_follow_the_labels():
    propensity, called = np.full(60, 0.5), np.arange(60) % 2 == 0
    base = np.where(np.arange(60) % 3 == 0, "few", "many")
    right = np.where(base == "few", np.arange(60) % 2 == 0, True)
    guesses = guesses_of(propensity, called, right, base, others=30)
    post = bdp.estimate_shifted(guesses)
    assert list(post.leaks) == ["e[few]", "e[many]"]  # those of no guess are no group
    assert post.quantile(0.5, "e[few]") < 1 < 2 < post.quantile(0.5, "e[many]")
    alone = bdp.estimate_shifted(guesses_of(propensity, called, right, None, others=30))
    assert post.marginals["strength"].sd < 0.7 * alone.marginals["strength"].sd  # groups tell s


# What is said ---------------------------------------------------------------------------------------------------------


def shown(**options):
    _, _, _, guesses, _ = draw(np.random.default_rng(8), 50, others=50)
    return bdp.estimate_shifted(guesses, **options)


@pytest.fixture(scope="module")
def post():
    return shown()


def test_e_and_the_bound_stand_beside_epsilon(post):
    lines = post.summary().splitlines()
    assert [line.split()[0] for line in lines[1:5]] == ["parameter", "epsilon", "e", "strength"]
    assert post.zero_run().statement() in str(post)
    assert post.zero_run(0.8).confidence == pytest.approx(0.9)
    assert "does not tell s from ε" in str(post)
    assert "Bayes factor of no leak" in str(post)
    assert " e " in repr(post)
    assert post.zero_run().value == bdp.audits.zero_run(post.question.guesses, 0.0, propensity="exact").value
    cautious = shown(known=False).zero_run()
    assert cautious.value == bdp.audits.zero_run(post.question.guesses, 0.0).value


def test_the_bayes_factor_of_no_leak():
    """The binomial chance with fair coins, over the evidence."""
    post = bdp.estimate_shifted(plain(30, 30))
    assert post.no_leak == pytest.approx(np.exp(60 * np.log(0.5) - post.log_evidence))
    assert post.no_leak > 3
    assert bdp.estimate_shifted(plain(5, 55)).no_leak < 1e-6
    for name in ("epsilon", "e"):
        assert post.interval(0.9999, parameter=name)[0] > 0


def test_propensities_that_are_too_extreme_are_told():
    leans, right = [3.0] * 40, [1] * 20 + [0] * 20
    post = bdp.estimate_shifted(of_leans(leans, right))
    assert post.diagnostics["p_few_right"] == pytest.approx(stats.binom.cdf(20, 40, special.expit(3.0)), rel=1e-6)
    assert any(sentence.startswith("The propensities are too extreme") for sentence in post.warnings)
    fine = bdp.estimate_shifted(of_leans([3.0] * 40, [1] * 38 + [0] * 2))
    assert fine.diagnostics["p_few_right"] > 0.01
    assert not fine.warnings


def test_memberships_that_contradict_the_propensities_are_told():
    called = np.arange(200) % 2 == 0
    member = np.arange(200) < 190
    post = bdp.estimate_shifted(guesses_of(np.full(200, 0.5), called, called == member))
    assert "contradict the propensities" in post.caution
    assert post.caution in str(post)
    assert "NOT VALID" in str(post)
    one = bdp.estimate_shifted(bdp.GuessTable([1.0], [True], 0.5))
    assert one.zero_run() is None
    assert "There is no zero-run bound" in str(one)
    assert "all members" in one.caution


def test_learned_propensities_are_told():
    learned = {"propensity_source": PropensitySource("learned", ("Learned so.",), ("Watch it.",), "No good.")}
    guesses = guesses_of(np.full(40, 0.5), np.arange(40) % 2 == 0, np.arange(40) < 30, others=20, **learned)
    post = bdp.estimate_shifted(guesses)
    assert any("known=False does" in sentence for sentence in post.warnings)
    assert "Learned so." in post.assumptions
    assert "Watch it." in post.warnings
    assert "No good." in post.caution
    assert not any("known=False does" in each for each in bdp.estimate_shifted(guesses, known=False).warnings)


def test_few_draws_are_told():
    post = shown(draws=np.full((3, 100), 0.5))
    assert any("3 draws of the propensities are few" in sentence for sentence in post.warnings)


def test_the_upper_end_is_the_priors(post):
    assert "the prior's" in post.high_end()
    assert post.diagnostics["upper_end_over_prior"] == pytest.approx(post.quantile(0.95) / 6.198, rel=1e-4)
    tight = bdp.estimate_shifted(plain(300, 700), strength="tight")
    assert "presumes" in tight.high_end()


# Files, figures and refusals ------------------------------------------------------------------------------------------


def test_saved(tmp_path, post):
    post.to_json(tmp_path / "post.json")
    content = json.loads((tmp_path / "post.json").read_text())
    assert content["format"] == "bayes-dp/shifted/1"
    assert content["zero_run"]["format"] == "bayes-dp/bound/1"
    assert set(content["estimates"]) == {"epsilon", "e", "strength"}
    assert content["estimates"]["e"]["low"] == post.interval(parameter="e")[0]
    assert content["diagnostics"]["no_leak"] == post.no_leak
    assert content["provenance"]["settings"] == {"strength": "free", "known": True, "seed": 0}


def test_the_digest_knows_the_draws(post):
    one, other = (shown(draws=np.full((20, 100), value)).provenance.digest for value in (0.4, 0.5))
    assert len({one, other, post.provenance.digest}) == 3


def test_arviz():
    _, _, _, guesses, _ = draw(np.random.default_rng(9), 30, groups=2)
    data = bdp.estimate_shifted(guesses).to_arviz(50, seed=3)
    assert data.posterior["e"].shape == (1, 50, 2)
    assert data.posterior["epsilon"].shape == (1, 50)
    assert list(data.posterior["base"].values) == ["0", "1"]
    assert data.constant_data["made"].values.tolist() == [15, 15]


def test_figures(post):
    for name in ("epsilon", "e", "strength"):
        ax = bdp.plots.posterior(post, parameter=name)
        (line, *_) = ax.get_lines()
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1.0, abs=0.05)
    assert bdp.plots.joint(post).has_data()


def test_a_table_is_guessed_wholly(post):
    table = post.question.guesses.table
    whole = bdp.estimate_shifted(table)
    assert whole.question.guesses.made.tolist() == [len(table)]
    again = bdp.estimate_shifted(call_members(table, len(table)))
    np.testing.assert_allclose(whole.quantile(ENDS), again.quantile(ENDS))


def test_what_is_refused():
    table = bdp.GuessTable(RNG.normal(size=40), np.arange(40) < 20, 0.5)
    with pytest.raises(InputError, match="decided before looking"):
        bdp.estimate_shifted(call_members(table, Bonferroni()))
    with pytest.raises(InputError, match="at least one guess"):
        bdp.estimate_shifted(guesses_of(np.empty(0), np.empty(0, bool), np.empty(0, bool), others=10))
    with pytest.raises(InputError, match=r"draws must be of shape \(K, 40\)"):
        bdp.estimate_shifted(table, draws=np.full((40, 3), 0.5))
    with pytest.raises(InputError, match="propensity must be given"):
        bdp.estimate_shifted(bdp.GuessTable(table.score, table.member))
    with pytest.raises(InputError, match="groups"):
        bdp.estimate_shifted(
            guesses_of(np.full(300, 0.5), np.arange(300) < 150, np.arange(300) % 2 == 0, np.arange(300))
        )
    post = bdp.estimate_shifted(call_members(table, 20))
    for refused in (
        lambda: post.counts,
        post.rates,
        post.gaussian,
        lambda: post.delta_at(1.0),
        lambda: bdp.check(post),
    ):
        with pytest.raises(InputError, match="guesses on one model"):
            refused()
    counts = bdp.ErrorCounts(3, 20, 4, 20)
    with pytest.raises(InputError, match="is of guesses of other examples"):
        bdp.compare(counts, 0.0, posteriors={"shifted": post}, names=["katz"])
    assert isinstance(post, ShiftedPosterior)


def test_odd_guesses_have_a_posterior():
    rng = np.random.default_rng(1)
    propensity = rng.uniform(0.2, 0.8, 60)
    member = rng.random(60) < propensity
    ties = bdp.GuessTable(np.ones(60), member, propensity)
    for guesses, post in (
        ("one", bdp.estimate_shifted(call_members(bdp.GuessTable(member + 0.0, member, propensity), 1))),
        ("one, tight", bdp.estimate_shifted(call_members(ties, 1), strength="tight")),
        ("ties", bdp.estimate_shifted(call_members(ties, 30))),
        ("of members", bdp.estimate_shifted(call_members(bdp.GuessTable(propensity, [True] * 60, propensity), 30))),
    ):
        low, high = post.interval(parameter="e")
        assert 0 < low < high <= post.interval()[1] + 1e-9, guesses
        assert post.notes("e")
        assert str(post)


def test_guesses_that_are_worse_than_coins_do_not_blame_the_propensities():
    post = bdp.estimate_shifted(plain(30, 2))
    (said,) = post.warnings
    assert said.startswith("The guesses are worse than coins: only 2 of 32 guesses are right")


def test_one_draw_is_few():
    guesses = plain(10, 30)
    post = bdp.estimate_shifted(guesses, draws=[guesses.table.propensity])
    assert post.warnings == ("1 draw of the propensities is few: take at least 20.",)
