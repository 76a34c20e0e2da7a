"""The exact posterior against golden values, a brute-force grid, and its own draws."""

import math

import numpy as np
import numpyro.distributions as dist
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes import priors
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.exact.posterior import exact, exact_delta
from bayes_dp.bayes.grid import locating, panels, quadrature

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]
# X, N0, Y, N1, δ, s -> quantiles of ε at LEVELS, mean, log evidence; prior HalfNormal(variance 10)
FIXED = [
    ((200, 500, 200, 500), 0.01, 0.0, [0.44611, 0.80608, 1.58867, 3.03552, 5.74053], 2.162875, -12.101557),
    ((200, 500, 200, 500), 0.01, 0.4, [0.37553, 0.50033, 0.63857, 0.81439, 1.05757], 0.668907, -12.668314),
    ((200, 500, 200, 500), 0.01, 0.8, [0.31952, 0.39348, 0.44698, 0.50260, 0.58609], 0.449158, -12.993979),
    ((200, 500, 200, 500), 0.01, 0.95, [0.29679, 0.36303, 0.40941, 0.45616, 0.52397], 0.409779, -13.079056),
    ((40, 100, 40, 100), 0.01, 0.99, [0.16933, 0.31197, 0.41435, 0.51860, 0.67219], 0.416942, -9.898103),
    ((400, 1000, 400, 1000), 0.01, 0.99, [0.32006, 0.36583, 0.39770, 0.42988, 0.47611], 0.397926, -14.484861),
    ((3, 50, 40, 60), 0.0, 0.5, [1.11123, 1.78288, 2.37262, 3.08733, 4.31587], 2.499171, -7.988338),
    ((1, 20, 19, 20), 1e-5, 0.3, [0.12417, 0.63903, 1.39407, 2.51693, 4.68245], 1.765277, -6.097591),
]


def brute_force(counts, delta, epsilon, strength, log_prior):
    """Trapezoid weights on a grid of ε (r,) and s (c,) with the likelihood from the integrals, not the table."""
    model = MarginalLikelihood(
        *(getattr(counts, n) for n in ("false_positives", "negatives", "false_negatives", "positives"))
    )
    log_post = model.total(epsilon, np.full(len(epsilon), delta), np.tile(strength, (len(epsilon), 1)))
    log_post = log_post + log_prior(epsilon)[:, None]
    log_post += np.log(np.gradient(epsilon))[:, None]
    if len(strength) > 1:
        log_post += np.log(np.gradient(strength))
    top = log_post.max()
    weights = np.exp(log_post - top)
    return weights / weights.sum(), top + math.log(weights.sum())


def half_normal(x):
    return stats.halfnorm(scale=math.sqrt(10)).logpdf(x)


@pytest.mark.parametrize(("base", "delta", "s", "quantiles", "mean", "log_evidence"), FIXED)
def test_golden_at_fixed_strength(base, delta, s, quantiles, mean, log_evidence):
    x, n0, y, n1 = base
    post = exact(bdp.ErrorCounts([x], n0, [y], n1), delta, strength=s)
    np.testing.assert_allclose(post.quantile(LEVELS), quantiles, atol=1e-3)
    assert post.mean == pytest.approx(mean, abs=2e-4)
    assert post.log_evidence == pytest.approx(log_evidence, abs=1e-4)


def test_golden_joint():
    post = exact(bdp.datasets.strong_attacks(), 0.01)
    # the golden grid's own tolerance is 0.004
    np.testing.assert_allclose(post.quantile(LEVELS), [2.6935, 2.8163, 2.9263, 3.079, 3.5256], atol=0.004)
    np.testing.assert_allclose(post.quantile(LEVELS, "strength"), [0.5677, 0.6647, 0.71, 0.7477, 0.7953], atol=0.004)
    assert post.log_evidence == pytest.approx(-123.3937, abs=0.003)
    assert post.mean == pytest.approx(3.0022, abs=0.004)
    draws = post.draws(20_000, seed=3)
    assert np.corrcoef(draws["epsilon"], draws["strength"])[0, 1] == pytest.approx(-0.8545, abs=0.01)


def test_fixed_strength_agrees_with_brute_force_to_the_promised_accuracy():
    counts = bdp.ErrorCounts([1, 3], [20, 50], [19, 40], [20, 60])
    epsilon = ((np.arange(6000) + 0.5) / 6000) ** 2 * 25
    edges = 0.5 * (epsilon[1:] + epsilon[:-1])
    for s in (0.0, 0.3, 0.9):
        post = exact(counts, 1e-5, strength=s)
        weights, log_evidence = brute_force(counts, 1e-5, epsilon, np.array([s]), half_normal)
        np.testing.assert_allclose(post.marginals["epsilon"].cdf(edges), np.cumsum(weights[:, 0])[:-1], atol=2e-5)
        assert post.log_evidence == pytest.approx(log_evidence, abs=2e-5)
        assert post.mean == pytest.approx(float(epsilon @ weights[:, 0]), abs=2e-4)


@pytest.mark.parametrize("delta", [0.0, 0.01])
def test_joint_agrees_with_brute_force(delta):
    rng = np.random.default_rng(2)
    counts = bdp.ErrorCounts(rng.binomial(60, 0.3, 3), 60, rng.binomial(80, 0.35, 3), 80)
    # midpoints in the square roots, so that both axes are fine near zero
    epsilon = ((np.arange(500) + 0.5) / 500) ** 2 * 24
    strength = (np.arange(250) + 0.5) / 250
    weights, _ = brute_force(counts, delta, epsilon, strength, half_normal)
    post = exact(counts, delta)
    edges = 0.5 * (epsilon[1:] + epsilon[:-1])
    np.testing.assert_allclose(post.marginals["epsilon"].cdf(edges), np.cumsum(weights.sum(1))[:-1], atol=3e-4)
    edges = 0.5 * (strength[1:] + strength[:-1])
    np.testing.assert_allclose(post.marginals["strength"].cdf(edges), np.cumsum(weights.sum(0))[:-1], atol=3e-4)


def test_tolerance_does_not_move_the_answer(monkeypatch):
    """Interval ends within 1e-3 and log evidence within 1e-6: a run with far smaller cells is the reference."""
    sets = [
        (bdp.datasets.strong_attacks(), 0.01),
        (bdp.datasets.mnist_a4(), 1e-3),
        (bdp.ErrorCounts([7], 50, [9], 50), 0.0),
    ]
    quick = [exact(counts, delta) for counts, delta in sets]
    for module in (panels, quadrature):
        monkeypatch.setattr(module, "INTERPOLANT", 1e-6)
    for module in (panels, locating, quadrature):
        monkeypatch.setattr(module, "DROP", 32.0)
    for (counts, delta), post in zip(sets, quick, strict=True):
        careful = exact(counts, delta)
        assert post.log_evidence == pytest.approx(careful.log_evidence, abs=1e-6)
        for name in ("epsilon", "strength"):
            np.testing.assert_allclose(post.quantile(LEVELS, name), careful.quantile(LEVELS, name), atol=1e-4)
        assert len(careful.grid["weight"]) > len(post.grid["weight"])


def test_tight_agrees_with_a_strength_close_to_one():
    counts = bdp.ErrorCounts([10, 12], 100, [20, 15], 90)
    tight, close = exact(counts, 1e-3, strength="tight"), exact(counts, 1e-3, strength=1 - 1e-7)
    np.testing.assert_allclose(tight.quantile(LEVELS), close.quantile(LEVELS), atol=1e-5)
    assert tight.log_evidence == pytest.approx(close.log_evidence, abs=1e-5)
    assert "strongest possible" in " ".join(tight.assumptions)
    assert set(tight.marginals) == {"epsilon"}


@pytest.mark.parametrize(
    "prior",
    [dist.Gamma(2.0, 1.0), dist.LogNormal(0.0, 1.0), dist.Uniform(0.0, 3.0), dist.HalfCauchy(1.0), dist.Gamma(0.5, 0.2)]
    + [dist.TruncatedNormal(1.0, 2.0, low=0.0), dist.Exponential(0.5)],
    ids=lambda prior: type(prior).__name__,
)
def test_any_numpyro_prior(prior):
    counts = bdp.ErrorCounts([20], 100, [25], 100)
    post = exact(counts, 0.01, prior_epsilon=prior, strength=0.5)
    low, high = priors.support("epsilon", prior)
    epsilon = low + ((np.arange(6000) + 0.5) / 6000) ** 2 * (min(high, 300.0) - low)
    weights, log_evidence = brute_force(counts, 0.01, epsilon, np.array([0.5]), priors.log_density(prior))
    edges = 0.5 * (epsilon[1:] + epsilon[:-1])
    np.testing.assert_allclose(post.marginals["epsilon"].cdf(edges), np.cumsum(weights[:, 0])[:-1], atol=1e-3)
    assert post.log_evidence == pytest.approx(log_evidence, abs=1e-3)
    assert post.provenance.priors["epsilon"].startswith(type(prior).__name__)


def test_a_prior_alone_comes_back_when_the_data_say_nothing():
    """N0 = N1 = 1, X = 0, Y = 1: for s = 0 the likelihood hardly depends on ε."""
    post = exact(bdp.ErrorCounts([0], 1, [1], 1), 0.0, prior_epsilon=dist.Uniform(0.0, 700.0), strength=0.0)
    assert post.quantile(0.5) == pytest.approx(350, abs=2)


@pytest.mark.parametrize(("low", "high"), [(0.3, 0.9), (0.0, 1.0)])
def test_strength_priors(low, high):
    post = exact(bdp.datasets.strong_attacks(), 0.01, prior_strength=dist.Uniform(low, high))
    assert low <= post.quantile(0.0, "strength") < post.quantile(1.0, "strength") <= high


def test_singular_strength_prior_is_integrated():
    post = exact(bdp.datasets.mnist_a4(), 1e-3, prior_strength="Beta(0.5, 0.5)")
    assert post.diagnostics["relative_error"] < 1e-4
    assert not post.warnings


def test_draws_follow_the_marginals_and_repeat():
    post = exact(bdp.datasets.strong_attacks(), 0.01)
    draws = post.draws(20_000, seed=1)
    for name, values in draws.items():
        assert stats.kstest(values, post.marginals[name].cdf).pvalue > 1e-3
    np.testing.assert_array_equal(post.draws(50, seed=1)["epsilon"], post.draws(50, seed=1)["epsilon"])
    assert not np.array_equal(post.draws(50, seed=1)["epsilon"], post.draws(50, seed=2)["epsilon"])


def test_grid_gives_expectations():
    post = exact(bdp.datasets.strong_attacks(), 0.01)
    grid = post.grid
    assert grid["weight"].sum() == pytest.approx(1.0, abs=1e-12)
    assert grid["weight"] @ grid["epsilon"] == pytest.approx(post.mean, abs=1e-6)
    variance = grid["weight"] @ (grid["epsilon"] - post.mean) ** 2
    assert math.sqrt(variance) == pytest.approx(post.sd, rel=1e-5)


def test_pdf_is_the_derivative_of_the_cdf():
    post = exact(bdp.datasets.strong_attacks(), 0.01)
    for name, at in (("epsilon", np.array([2.7, 3.0, 3.5])), ("strength", np.array([0.6, 0.7, 0.78]))):
        cdf, h = post.marginals[name].cdf, 1e-4
        np.testing.assert_allclose(post.pdf(at, name), (cdf(at + h) - cdf(at - h)) / (2 * h), rtol=2e-3)


def test_intervals_hold_their_probability():
    post = exact(bdp.datasets.strong_attacks(), 0.01)
    cdf = post.marginals["epsilon"].cdf
    for kind in ("equal-tailed", "hdi"):
        low, high = post.interval(0.8, kind)
        assert float(cdf(high) - cdf(low)) == pytest.approx(0.8, abs=1e-6)
    widths = [np.diff(post.interval(0.8, kind))[0] for kind in ("hdi", "equal-tailed")]
    assert widths[0] < widths[1]
    low, high = post.interval(0.8, "hdi")
    np.testing.assert_allclose(post.pdf(low), post.pdf(high), rtol=1e-3)
    assert post.prob_above(3.0) == pytest.approx(1 - float(cdf(3.0)))


def test_epsilon_at_is_a_fresh_posterior():
    counts = bdp.datasets.strong_attacks()
    post = exact(counts, 0.01)
    again, other = post.epsilon_at([0.01, 1e-5])
    np.testing.assert_allclose(again.quantile(LEVELS), post.quantile(LEVELS), rtol=1e-12)
    np.testing.assert_allclose(other.quantile(LEVELS), exact(counts, 1e-5).quantile(LEVELS), rtol=1e-12)
    assert post.epsilon_at(1e-5).provenance.known == {"delta": 1e-5}


def test_delta_at_agrees_with_brute_force():
    counts = bdp.ErrorCounts([10], 100, [40], 100)
    post = exact(counts, 0.0, strength=0.5).delta_at(0.8)
    delta = (np.arange(3000) + 0.5) / 3000
    model = MarginalLikelihood(counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    log_post = model.total(np.full(3000, 0.8), delta, np.full((3000, 1), 0.5))[:, 0]
    weights = np.exp(log_post - log_post.max())
    cdf = np.cumsum(weights / weights.sum())
    np.testing.assert_allclose(post.marginals["delta"].cdf(delta + 0.5 / 3000), cdf, atol=1e-4)
    assert post.parameter == "delta"
    direct = exact_delta(counts, 0.8, strength=0.5)
    assert direct.quantile(0.5) == pytest.approx(post.quantile(0.5), abs=1e-12)


def test_rates_lie_in_the_layer_and_follow_the_posterior():
    """The slow twin: the mean of α given ε by sums over a fine grid of (α,β), at the draws' own ε."""
    counts = bdp.ErrorCounts([10, 30], 100, [20, 45], 100)
    post = exact(counts, 0.01, strength=0.4)
    alpha, beta = post.rates(4000, seed=2)
    epsilon = post.draws(4000, seed=2)["epsilon"]
    assert region.in_layer(alpha, beta, epsilon[:, None], 0.01, 0.4).all()
    a, b = np.meshgrid(*[(np.arange(500) + 0.5) / 500] * 2, indexing="ij")
    for base in (0, 1):
        x, y = counts.false_positives[base], counts.false_negatives[base]
        density = stats.binom.pmf(x, 100, a) * stats.binom.pmf(y, 100, b)
        difference = []
        for draw in range(0, 4000, 20):
            weight = density * region.in_layer(a, b, epsilon[draw], 0.01, 0.4)
            difference.append(alpha[draw, base] - (weight * a).sum() / weight.sum())
        assert np.mean(difference) == pytest.approx(0.0, abs=4 * np.std(difference) / np.sqrt(len(difference)))


def test_rates_of_an_outlier_come_from_the_grid():
    """One base at ε = 0 among bases at ε = 3, with s fixed at 0.9: its rates lie where almost none of its law is."""
    counts = bdp.ErrorCounts([50, 500], 1000, [50, 500], 1000)
    post = exact(counts, 0.0, strength=0.9)
    alpha, beta = post.rates(40, seed=0)
    epsilon = post.draws(40, seed=0)["epsilon"][:, None]
    assert region.in_layer(alpha, beta, epsilon, 0.0, 0.9).all()
    assert np.ptp(alpha[:, 1]) > 0


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize("trials", [1, 10**7])
def test_extreme_counts(n, trials):
    rng = np.random.default_rng(n)
    x, y = rng.binomial(trials, 0.2, n), rng.binomial(trials, 0.3, n)
    x[0] = 0
    post = exact(bdp.ErrorCounts(x, trials, y, trials), 1e-6)
    low, high = post.interval(0.9)
    assert 0 <= low < high < 25
    assert np.isfinite(post.log_evidence)


def test_bad_arguments_are_named():
    counts = bdp.datasets.strong_attacks()
    for arguments, message in [
        ({"delta": 1.0}, r"delta must lie in \[0, 1\), not 1.0"),
        ({"delta": -0.1}, "delta"),
        ({"delta": float("nan")}, "delta"),
        ({"delta": 0.1, "strength": 1.0}, r"strength must lie in \[0, 1\), not 1.0"),
        ({"delta": 0.1, "strength": "loose"}, "'free', 'tight' or a number"),
        ({"delta": 0.1, "strength": 0.5, "prior_strength": "Beta(1, 1)"}, "prior_strength is for strength='free'"),
        ({"delta": 0.1, "prior_epsilon": dist.Normal(0.0, 1.0)}, r"must live within \[0, inf\]"),
        ({"delta": 0.1, "prior_strength": dist.Gamma(1.0, 1.0)}, r"must live within \[0, 1\]"),
    ]:
        with pytest.raises(bdp.InputError, match=message):
            exact(counts, **arguments)
    with pytest.raises(bdp.InputError, match="counts must be ErrorCounts"):
        bdp.estimate([[1, 2, 3, 4]], 0.1)
    with pytest.raises(bdp.InputError, match="chains: settings of a sampler"):
        bdp.estimate(counts, 0.1, chains=1)
    with pytest.raises(bdp.InputError, match="method must be 'exact', 'mhaar' or 'nuts'"):
        bdp.estimate(counts, 0.1, method="gibbs")


def test_assumptions_follow_the_design():
    repeated = bdp.ErrorCounts([1], 10, [2], 10)
    crossed = bdp.ErrorCounts([1], 10, [2], 10, design="cross_fed")
    assert not any("cross-fed" in sentence for sentence in exact(repeated, 0.0, strength=0.1).assumptions)
    assert any("cross-fed" in sentence for sentence in exact(crossed, 0.0, strength=0.1).assumptions)


def test_nothing_global_changes():
    import jax

    before = jax.config.jax_enable_x64
    exact(bdp.ErrorCounts([1], 10, [2], 10), 0.0, prior_epsilon="Gamma(2, 1)", strength=0.1)
    assert jax.config.jax_enable_x64 == before


@pytest.mark.parametrize(("n", "trials"), [(40, 10**6), (100, 10**5)])
def test_attacks_that_are_all_tight(n, trials):
    """All rates on the boundary itself: a peak at s → 1 far narrower than any first grid."""
    rng = np.random.default_rng(5)
    rates = region.sample_boundary(1.0, 1e-3, n, rng)
    counts = bdp.ErrorCounts(rng.binomial(trials, rates[:, 0]), trials, rng.binomial(trials, rates[:, 1]), trials)
    post = exact(counts, 1e-3)
    model = MarginalLikelihood(counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    epsilon, s = np.array([0.9999, 1.0, 1.001, 1.003]), np.tile([0.99, 0.995, 0.998, 0.9995], (4, 1))
    best = model.total(epsilon, np.full(4, 1e-3), s).max()
    assert best - 25 < post.log_evidence < best
    low, high = post.quantile([1e-4, 1 - 1e-4])
    assert low < 1.0 + 5 / np.sqrt(trials)
    assert high < 1.1
    assert post.quantile(0.95, "strength") > 0.98


def test_mean_and_sd_with_a_long_tail():
    """A weak attack at small δ: the density reaches far beyond its bulk, and the variance is no difference of noise."""
    post = exact(bdp.ErrorCounts([5, 4, 6, 7, 5], 100, [92, 97, 93, 95, 94], 100), 1e-5)
    draws = post.draws(40_000, seed=0)["epsilon"]
    assert post.mean == pytest.approx(draws.mean(), abs=5 * draws.std() / 200)
    assert post.sd == pytest.approx(draws.std(), rel=0.05)


def test_delta_with_a_prior_that_piles_up_at_one():
    post = exact_delta(bdp.ErrorCounts([5], 20, [6], 20), 0.5, prior_delta=dist.Beta(1.0, 0.1), strength=0.2)
    assert np.isfinite(post.log_evidence)
    assert 0 < post.quantile(0.05) < post.quantile(0.95) <= 1


def test_a_prior_that_the_data_contradict():
    """Attacks at ε = 3 under a prior that hardly reaches 0.8: the posterior lies where neither would have it."""
    counts = bdp.ErrorCounts([50, 45, 55], 1000, [50, 60, 48], 1000)
    post = exact(counts, 1e-3, prior_epsilon=dist.HalfNormal(0.1), strength=0.5)
    epsilon = (np.arange(4000) + 0.5) / 4000 * 5
    log_prior = stats.halfnorm(scale=0.1).logpdf
    weights, _ = brute_force(counts, 1e-3, epsilon, np.array([0.5]), log_prior)
    free = exact(counts, 1e-3, prior_epsilon=dist.HalfNormal(0.1))
    np.testing.assert_allclose(post.marginals["epsilon"].cdf(epsilon + 5 / 8000), np.cumsum(weights[:, 0]), atol=2e-3)
    assert 1.0 < free.quantile(0.05) < free.quantile(0.95) < 3.5


# Odd priors ----------------------------------------------------------------------------------------------------------

THREE = bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100)


@pytest.mark.parametrize("b", [1e4, 1e5])
def test_strength_all_but_known_to_be_zero(b):
    """The posterior is then a ridge along s = 0, thinner than any grid's step, and that of the fixed strength."""
    sharp, fixed = bdp.estimate(THREE, 1e-3, prior_strength=f"Beta(1, {b})"), bdp.estimate(THREE, 1e-3, strength=0.0)
    for p in (0.05, 0.5, 0.95):
        assert sharp.quantile(p) == pytest.approx(fixed.quantile(p), rel=2e-3)
    assert sharp.log_evidence == pytest.approx(fixed.log_evidence, abs=2e-3)


def test_priors_far_beyond_the_data():
    """There the likelihood of ε falls like 1/ε, as only strengths below a level over ε explain the counts."""
    post = bdp.estimate(THREE, 1e-3, prior_epsilon="Uniform(100, 110)")
    for p in (0.05, 0.5, 0.95):
        assert post.quantile(p) == pytest.approx(100 * 1.1**p, rel=1e-3)
    whole = bdp.estimate(THREE, 1e-3, prior_epsilon="Uniform(40, 600)")
    assert whole.quantile([0.05, 0.5, 0.95]) == pytest.approx(40 * 15 ** np.array([0.05, 0.5, 0.95]), rel=5e-3)
    assert bdp.estimate(THREE, 1e-3).delta_at(300.0).interval(0.9) == pytest.approx((0.05, 0.95), abs=1e-3)


@pytest.mark.parametrize("prior", ["Pareto(1, 2.5)", "InverseGamma(3, 3)", "LogNormal(0, 2)"])
def test_means_under_heavy_tails(prior):
    """E ε = ∫ P(ε > x) dx, here over log x."""
    post = bdp.estimate(THREE, 1e-3, prior_epsilon=prior)
    t = np.linspace(np.log(1e-3), np.log(1e5), 200_001)
    above = 1 - post.marginals["epsilon"].cdf(np.exp(t))
    assert post.mean == pytest.approx(1e-3 + np.trapezoid(above * np.exp(t), t), rel=2e-3)


def test_moments_that_do_not_exist_are_not_given():
    """At strength 0 the likelihood tends to a constant as ε grows, so that the tail is the prior's."""
    cauchy, pareto, light = (
        bdp.estimate(THREE, 1e-3, prior_epsilon=p, strength=0.0)
        for p in ("HalfCauchy(1)", "Pareto(1, 1.5)", "Pareto(1, 3)")
    )
    assert np.isnan([cauchy.mean, cauchy.sd, pareto.sd]).all()
    assert np.isfinite([cauchy.median, light.mean, light.sd]).all()
    assert "so heavy" in cauchy.warnings[0]
    assert light.warnings == ()
    assert cauchy.to_dict()["estimates"]["epsilon"]["mean"] is None
    assert "nan" in cauchy.summary()


@pytest.mark.parametrize("delta", [1e-310, 1e-300, 1e-120])
def test_tiny_delta_is_as_none(delta):
    one, none = bdp.estimate(THREE, delta), bdp.estimate(THREE, 0.0)
    assert one.interval() == pytest.approx(none.interval(), rel=1e-9)


def test_counts_beyond_the_digits_are_refused():
    counts = bdp.ErrorCounts([1, 2], [10, 2**40], [1, 2], 10)
    with pytest.raises(
        bdp.InputError, match=r"at most 100000000 challenges of a base, but negatives\[1\] is 1099511627776"
    ):
        bdp.estimate(counts, 1e-3)


def test_more_challenges_than_were_checked_are_warned_of():
    many = bdp.ErrorCounts([300_000, 400_000], 2_000_000, [1_200_000, 900_000], 2_000_000)
    assert "more than 1000000 challenges" in bdp.estimate(many, 1e-3).warnings[0]
    assert bdp.estimate(bdp.ErrorCounts([3], 2_000_000, [1_200_000], 2_000_000), 1e-3).warnings == ()
