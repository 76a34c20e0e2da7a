"""Dependent attacks: the norm of the cut normal law, both limits, the moments of sums, and known groups."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.grouped import hierarchical
from bayes_dp.bayes.groups import Members, spread_of, sums
from bayes_dp.bayes.likelihoods.aggregate import Aggregate
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.nuts.cut_normal import log_normal_mass
from bayes_dp.bayes.nuts.grouped_model import spread_with
from bayes_dp.bayes.precision import double
from bayes_dp.bayes.priors import numpyro_law, prior_of
from tests.bayes.arviz_contract import works

MASSES = [
    # ε, δ, κ, centre
    (1.0, 0.01, 0.1, (0.2, 0.4)),
    (4.0, 0.01, 0.05, (0.02, 0.3)),
    (6.0, 0.0, 0.1, (0.003, 0.5)),
    (3.0, 0.001, 0.01, (0.0475, 0.0475)),
    (2.0, 0.2, 0.3, (0.2, 0.3)),
    (0.1, 0.0, 0.02, (0.48, 0.5)),
    (0.5, 0.4, 2.0, (0.1, 0.8)),
]


@pytest.mark.parametrize(("epsilon", "delta", "spread", "centre"), MASSES)
def test_norm_against_a_fine_grid(epsilon, delta, spread, centre):
    """Z = ∫ over α of the normal density times the normal probability of the β that R(ε, δ) has there."""
    n = 400_000
    alpha = (np.arange(n) + 0.5) / n
    low, high = region.lower(alpha, epsilon, delta), 1 - region.lower(1 - alpha, epsilon, delta)
    across = stats.norm.cdf(high, centre[1], spread) - stats.norm.cdf(low, centre[1], spread)
    wanted = np.sum(stats.norm.pdf(alpha, centre[0], spread) * across) / n
    with double():
        found = log_normal_mass(jnp.array([centre[0]]), jnp.array([centre[1]]), spread, epsilon, delta)
    np.testing.assert_allclose(np.exp(found), wanted, rtol=2e-5)


def test_groups_and_their_sums():
    counts = bdp.ErrorCounts([1, 2, 3, 4, 5], [10, 20, 30, 40, 50], [5, 4, 3, 2, 1], 60, group=["b", "", "a", "b", ""])
    members = Members.of(counts)
    np.testing.assert_array_equal(members.group, [0, 1, 2, 0, 3])
    x, n0, y, n1 = sums(members)
    np.testing.assert_array_equal(x, [5, 2, 3, 5])
    np.testing.assert_array_equal(n0, [50, 20, 30, 50])
    np.testing.assert_array_equal(y, [7, 4, 3, 1])
    np.testing.assert_array_equal(n1, [120, 60, 60, 60])
    with pytest.raises(bdp.InputError, match="name no groups"):
        Members.of(bdp.ErrorCounts([1], 10, [5], 60))


def test_spreads():
    assert spread_of(0.2) == 0.2
    assert float(spread_of(None).scale) == pytest.approx(0.1)
    with pytest.raises(bdp.InputError, match="spread"):
        spread_of(0.0)
    assert spread_of(1.0) == 1.0
    with pytest.raises(bdp.InputError, match=r"spread must lie in \(0, 1\]"):
        spread_of(1.1)
    with pytest.raises(bdp.InputError, match="spread must live within"):
        spread_of("Normal(0, 1)")


def test_sums_have_the_moments_of_the_groups():
    """Means and variances of drawn sums, and of the density, against members simulated one by one."""
    rng = np.random.default_rng(1)
    sizes, centre, spread = np.array([40, 60, 30]), (0.3, 0.45), 0.05
    counts = bdp.ErrorCounts([1] * 3, sizes, [1] * 3, sizes + 10, group=["g"] * 3)
    law = Aggregate.of(Members.of(counts), spread)
    total = sums(Members.of(counts))
    grid = np.arange(int(total.n0[0]) + 1.0)
    with double():
        each = Aggregate(np.full(len(grid), law.pairs0[0]), np.full(len(grid), law.pairs1[0]), spread)
        columns = Counts(grid, np.full(len(grid), total.n0[0]), grid * 0, np.full(len(grid), total.n1[0]))
        log_g = each.log_density(columns, np.full((len(grid), 1), centre[0]), np.full((len(grid), 1), centre[1]))
    mass = np.exp(np.asarray(log_g))[:, 0]
    mass /= mass.sum()
    mean = mass @ grid
    members = rng.normal(centre[0], spread, (200_000, 3))
    simulated = rng.binomial(sizes, members).sum(axis=1)
    drawn = law.draw(rng, total, np.full((200_000, 1), centre[0]), np.full((200_000, 1), centre[1]))[0]
    assert mean == pytest.approx(0.3 * 130)
    variance = mass @ (grid - mean) ** 2
    assert variance == pytest.approx(130 * 0.21 + spread**2 * np.sum(sizes * (sizes - 1)), rel=1e-9)
    for values in (simulated, drawn):
        assert abs(values.mean() - mean) < 5 * np.sqrt(variance / 200_000)
        # A member's rate of variance κ² leaves α(1−α) − κ² to its count, which Σ N (N−1) κ² makes up for.
        assert abs(values.var() / variance - 1) < 0.02


# The posterior --------------------------------------------------------------------------------------------------------


def simulated(seed, sizes, trials=50, spread=0.1, delta=0.01, epsilon=2.0, strength=0.3):
    """Members around centres that are uniform in the layer, cut to R(ε, δ) by rejection, and their counts."""
    rng = np.random.default_rng([8, seed])
    centres = np.repeat(region.sample(epsilon, delta, strength, len(sizes), rng), sizes, axis=0)
    rates = np.full(centres.shape, np.nan)
    while (open_ := np.isnan(rates[:, 0])).any():
        drawn = rng.normal(centres[open_], spread)
        legal = ((drawn >= 0) & (drawn <= 1)).all(axis=1)
        legal[legal] = region.contains(drawn[legal, 0], drawn[legal, 1], epsilon, delta)
        rates[np.flatnonzero(open_)[legal]] = drawn[legal]
    x, y = rng.binomial(trials, rates.T)
    return bdp.ErrorCounts(x, trials, y, trials, group=np.repeat([f"g{i}" for i in range(len(sizes))], sizes))


def summed(counts):
    x, n0, y, n1 = sums(Members.of(counts))
    return bdp.ErrorCounts(x, n0, y, n1)


def assert_alike(sampled, exact, parameters=("epsilon", "strength"), atol=0.04):
    for name in parameters:
        shares = [sampled.marginals[name].cdf(q) for q in exact.quantile([0.1, 0.5, 0.9], name)]
        np.testing.assert_allclose(shares, [0.1, 0.5, 0.9], atol=atol)


def test_small_spread_is_one_base_with_the_sums():
    """And a group of one is a base."""
    counts = simulated(1, [3, 1, 4, 1])
    exact = bdp.estimate(summed(counts), 0.01)
    sampled = hierarchical(counts, 0.01, spread=1e-4, draws=700, warmup=500, progress=False)
    assert sampled.diagnostics["divergences"] == 0
    assert_alike(sampled, exact)
    law = bdp.estimate(counts, 0.01, groups="aggregate", spread=1e-6, draws=2500, progress=False)
    assert_alike(law, exact)


def test_against_weighted_draws_from_the_prior():
    """The posterior of everything on two small groups: prior draws, weighted by the likelihood of the counts."""
    counts = bdp.ErrorCounts([2, 3, 4], [10, 12, 9], [5, 3, 2], [11, 10, 9], group=["a", "a", "b"])
    rng = np.random.default_rng(5)
    size, delta = 800_000, 0.05
    epsilon, strength = np.abs(rng.normal(0, np.sqrt(10), size)), rng.random(size)
    spread = np.abs(rng.normal(0, 0.1, size))
    centres = [region.sample(epsilon, delta, strength, size, rng) for _ in range(2)]
    log_weight = np.zeros(size)
    for i, group in enumerate([0, 0, 1]):
        rates = np.full((size, 2), np.nan)
        left = np.arange(size)
        for _ in range(400):  # rejection: the law is cut to R(ε, δ)
            drawn = rng.normal(centres[group][left], spread[left, None])
            legal = ((drawn >= 0) & (drawn <= 1)).all(axis=1)
            legal[legal] = region.contains(*drawn[legal].T, epsilon[left[legal]], delta)
            rates[left[legal]] = drawn[legal]
            left = left[~legal]
            if not len(left):
                break
        assert len(left) < 1e-4 * size
        rates[left] = centres[group][left]
        log_weight += stats.binom.logpmf(counts.false_positives[i], counts.negatives[i], rates[:, 0])
        log_weight += stats.binom.logpmf(counts.false_negatives[i], counts.positives[i], rates[:, 1])
    weight = np.exp(log_weight - log_weight.max())
    weight /= weight.sum()
    worth = 1 / np.sum(weight**2)
    assert worth > 10_000
    sampled = hierarchical(counts, delta, draws=1200, warmup=600, progress=False, seed=3)
    assert sampled.diagnostics["divergences"] == 0
    for name, values in {"epsilon": epsilon, "strength": strength, "spread": spread}.items():
        order = np.argsort(values)
        quantiles = values[order][np.searchsorted(np.cumsum(weight[order]), [0.1, 0.5, 0.9])]
        shares = sampled.marginals[name].cdf(quantiles)
        np.testing.assert_allclose(shares, [0.1, 0.5, 0.9], atol=0.03, err_msg=name)


@pytest.mark.filterwarnings("ignore::UserWarning")  # a short run
def test_forms():
    counts = simulated(3, [2, 2])
    sampled = hierarchical(counts, 0.01, draws=200, warmup=300, chains=2, progress=False, strength=0.5, spread=0.05)
    assert set(sampled.samples) == {"epsilon"}
    alpha, beta = sampled.rates(300)
    epsilon = sampled.draws(300)["epsilon"]
    assert alpha.shape == (300, 4)
    assert region.contains(alpha, beta, epsilon[:, None] * (1 + 1e-9), 0.01).all()
    with pytest.raises(bdp.InputError, match="take groups='aggregate'"):
        bdp.check(sampled)
    text = sampled.summary()
    assert "nuts, hierarchical" in text
    assert "κ = 0.05" in text
    assert sampled.provenance.settings["spread"] == 0.05
    assert works(sampled).posterior["alpha"].shape == (2, 200, 4)
    assert sampled.epsilon_at(0.1).provenance.known == {"delta": 0.1}
    first, second = sampled.epsilon_at([0.1, 0.01])
    # Without groups= the labels that its bases share would be a reason for caution.
    assert not sampled.caution
    assert not any("share their" in sentence for sentence in (*sampled.assumptions, *first.assumptions))
    assert [post.provenance.known["delta"] for post in (first, second)] == [0.1, 0.01]
    np.testing.assert_array_equal(second.samples["epsilon"], sampled.samples["epsilon"])
    with pytest.raises(bdp.InputError, match=r"delta\[1\] must lie in \[0, 1\)"):
        sampled.epsilon_at([0.1, 1.0])
    law = bdp.estimate(counts, 0.01, groups="aggregate", draws=500, progress=False)
    assert set(law.samples) == {"epsilon", "strength", "spread"}
    assert law.provenance.priors["spread"] == "HalfNormal(scale=0.1)"
    assert "spread" not in law.provenance.settings
    assert (
        replace(law.question, likelihood=Aggregate.of(Members.of(counts), 0.05)).provenance("", {}).settings["spread"]
        == 0.05
    )
    assert law.question.counts.base == ("g0", "g1")
    assert not law.caution
    assert np.isfinite(bdp.check(law, size=100).elpd)
    works(law, size=100)
    members = Members.of(counts)
    assert Aggregate.of(members, spread_of(None)) == Aggregate.of(members, spread_of("HalfNormal(0.1)"))
    assert Aggregate.of(members, spread_of(None)) != Aggregate.of(members, spread_of("HalfNormal(0.2)"))


def test_what_is_refused():
    counts = simulated(4, [2, 2])
    plain = bdp.ErrorCounts([3], 10, [4], 10)
    with pytest.raises(bdp.InputError, match="name no groups"):
        bdp.estimate(plain, 0.01, groups="hierarchical")
    with pytest.raises(bdp.InputError, match="not defined for strength='tight'"):
        bdp.estimate(counts, 0.01, groups="hierarchical", strength="tight")
    with pytest.raises(bdp.InputError, match="groups are not defined for strength='tight'"):
        bdp.estimate(counts, 0.01, groups="aggregate", strength="tight")
    with pytest.raises(bdp.InputError, match="groups must be 'hierarchical' or 'aggregate', not 'x'"):
        bdp.estimate(counts, 0.01, groups="x")
    with pytest.raises(bdp.InputError, match="sampled by 'nuts', not 'exact'"):
        bdp.estimate(counts, 0.01, groups="hierarchical", method="exact")
    with pytest.raises(bdp.InputError, match="binomial counts only"):
        bdp.estimate(counts, 0.01, groups="hierarchical", likelihood="beta_binomial")
    with pytest.raises(bdp.InputError, match="spread is for groups"):
        bdp.estimate(counts, 0.01, spread=0.1)


# What was given is kept -----------------------------------------------------------------------------------------------

FEW = {"chains": 1, "draws": 50, "warmup": 50, "progress": False}


def rows_of(design="repeated", **labels):
    examples = {"examples": 2000} if design in ("one_run", "observational") else {}
    return bdp.ErrorCounts([10] * 4, 100, [20] * 4, 100, design=design, **labels, **examples)


@pytest.mark.parametrize("design", ["cross_fed", "one_run", "observational"])
@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_sums_keep_the_caution_and_the_digest_of_the_counts(design):
    counts = rows_of(design, group=["a", "a", "b", ""])
    post = bdp.estimate(counts, 1e-3, groups="aggregate", **FEW)
    words = {"cross_fed": "were cross-fed", "one_run": "were made on one model", "observational": "a control"}
    said = words[design]
    assert said in post.caution
    assert post.provenance.digest == counts.digest() == post.epsilon_at(1e-4).provenance.digest
    assert post.epsilon_at(1e-4).caution == post.caution
    row = bdp.compare(counts, 1e-3, names="posterior", per_base=False, posteriors={"sums": post}).select("sums")[0]
    assert said in row.reason
    with pytest.raises(bdp.InputError, match="that of other counts"):
        bdp.compare(rows_of(design)[:3], 1e-3, names="posterior", posteriors={"sums": post})


# Labels that several bases share --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ({}, ""),
        ({"group": ["a", "b", "c", "d"], "base": ["1", "2", "3", "4"]}, ""),
        ({"group": ["", "", "a", ""], "base": ["", "", "x", ""]}, ""),
        ({"group": ["a"] * 4}, "4 of the 4 bases share their group label"),
        ({"group": ["a", "a", "b", "c"], "base": ["x"] * 4}, "2 of the 4 bases share their group label"),
        ({"group": ["a", "b", "c", "d"], "base": ["x", "y", "y", "x"]}, "4 of the 4 bases share their base label"),
        ({"base": [7, 7, 8, ""]}, "2 of the 4 bases share their base label"),
    ],
)
def test_bases_that_share_a_label_are_not_independent_without_a_word(labels, said):
    counts = rows_of(**labels)
    post = bdp.estimate(counts, 1e-3)
    assert said in post.caution
    assert bool(post.caution) == bool(said)
    assert (post.caution in post.assumptions) == bool(said)
    assert bdp.estimate(counts[:1], 1e-3).caution == ""
    row = bdp.compare(counts, 1e-3, names="posterior", per_base=False).rows[0]
    assert row.valid == (not said)
    if said:
        column = "group" if "group label" in said else "base"
        assert f"--groups {column})" in post.caution
        assert f"--groups {column})" in row.reason


@pytest.mark.parametrize("prior", ["Uniform(0.05, 0.1)", "HalfNormal(0.03)"])
def test_the_coordinate_of_the_spread_has_the_prior(prior):
    """Drawn without any data, the spread has its prior, up to the ends of its support."""
    prior = numpyro_law(prior_of("spread", prior))
    found = bdp.run_nuts(lambda: spread_with(prior), draws=2000, warmup=500, progress=False)
    drawn = np.asarray(found.samples["spread"]).ravel()
    ends = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(np.mean(drawn[:, None] < np.asarray(prior.icdf(ends)), axis=0), ends, atol=0.03)
