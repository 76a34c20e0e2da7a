"""The posterior of the Gaussian family beside that of (ε, δ): against a slow grid, on counts of all kinds, in words."""

import numpy as np
import pytest
from scipy import integrate, special, stats

import bayes_dp as bdp
from bayes_dp import tradeoff
from bayes_dp.bayes.convergence import ConvergenceWarning


def gaussian_mu(counts, probability):
    return bdp.estimate(counts, family="gaussian").quantile(probability)


def exact_cdf(counts, t):
    """P[|D| ≤ t] of each base given flat priors of its rates, (n, len(t)): a double integral of two Beta densities."""
    rows = []
    for x, n0, y, n1 in zip(
        counts.false_positives, counts.negatives, counts.false_negatives, counts.positives, strict=True
    ):
        u = np.linspace(-9, 9, 1201)  # z(1−α)
        density = stats.beta.pdf(special.ndtr(-u), x + 1, n0 - x + 1) * stats.norm.pdf(u)
        low, high = (special.betainc(y + 1, n1 - y + 1, special.ndtr(u + side * t[:, None])) for side in (-1, 1))
        rows.append(integrate.trapezoid(density * (high - low), u))  # β between Φ(u − t) and Φ(u + t)
    return np.array(rows)


def slow_quantiles(counts, probability):
    """By a fine grid over (μ, sμ)."""
    t = np.concatenate([[0.0], np.geomspace(0.01, 14.0, 300)])
    rest = special.erfc(t / 2)
    log_area = np.log(np.maximum(rest - rest[:, None], 1e-300))
    below = exact_cdf(counts, t)
    between = np.maximum(below[:, :, None] - below[:, None, :], 1e-300)
    epsilon = special.log_ndtr(t / 2) - special.log_ndtr(-t / 2)
    rate = np.gradient(epsilon, t)
    with np.errstate(divide="ignore"):
        log_prior = -(epsilon**2) / 20 + np.log(rate) - np.log(t)
        density = np.log(between).sum(axis=0) - len(counts) * log_area + log_prior[:, None]
    density = np.where(np.tri(301, k=-1, dtype=bool), density, -np.inf)
    weight = np.exp(density - density.max()) * np.gradient(t)[:, None] * np.gradient(t)
    total = np.cumsum(weight.sum(axis=1)) / weight.sum()
    return np.interp(probability, total, t)


@pytest.mark.parametrize(
    "counts",
    [
        bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100),
        bdp.ErrorCounts([10, 11, 9, 12, 10, 8], 100, [90, 88, 91, 90, 89, 93], 100),
        bdp.ErrorCounts([40], 100, [20], 60),
        bdp.ErrorCounts([88, 92, 80], 100, [45, 30, 59], 100),  # worse than chance: the opposite decisions leak
    ],
    ids=["strong", "weak", "one base", "opposite"],
)
def test_against_the_exact_model_on_a_fine_grid(counts):
    probability = [0.05, 0.5, 0.95]
    found, slow = gaussian_mu(counts, probability), slow_quantiles(counts, probability)
    assert np.abs(found - slow).max() <= 0.02 + 0.02 * slow.max()


def test_rows_and_sides_do_not_matter():
    counts = bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 90)
    again = bdp.ErrorCounts([20, 12, 8], 100, [41, 55, 70], 90)
    opposite = bdp.ErrorCounts([88, 92, 80], 100, [35, 20, 49], 90)
    swapped = bdp.ErrorCounts([55, 70, 41], 90, [12, 8, 20], 100)
    wanted = gaussian_mu(counts, [0.05, 0.95])
    for other in (again, opposite, swapped):
        assert gaussian_mu(other, [0.05, 0.95]) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    "counts",
    [
        ([0], 5, [0], 5),
        ([0], 1, [1], 1),
        ([5], 5, [5], 5),
        ([0] * 5, 10**8, [0] * 5, 10**8),
        ([10**6] * 3, 10**7, [5 * 10**6] * 3, 10**7),
        ([0, 10**7], 10**7, [0, 10**7], 10**7),
        ([0] * 19 + [0], 20, [20] * 19 + [0], 20),
        ([3], 10, [10**6], 10**7),
    ],
)
def test_all_counts_have_a_number(counts):
    low, middle, high = gaussian_mu(bdp.ErrorCounts(*counts), [0.05, 0.5, 0.95])
    assert 0 < low < middle < high < 40


def test_chance_extremes_of_few_runs_do_not_make_it_huge():
    """No error in 2 × 5 runs is what d′ = 2.5 gives now and then; the prior has the rest."""
    assert gaussian_mu(bdp.ErrorCounts(0, 5, 0, 5), 0.05) < 2.5
    useless = bdp.ErrorCounts(np.random.default_rng(0).binomial(5, 0.5, 40), 5, [2, 3] * 20, 5)
    assert gaussian_mu(useless, 0.95) < 1.5


def test_one_strong_attack_among_useless_ones_counts():
    counts = bdp.ErrorCounts([15] + [50] * 19, 100, [15] + [50] * 19, 100)
    assert gaussian_mu(counts, 0.95) > 2 * special.ndtri(0.85) > 2.0


@pytest.mark.parametrize(("n", "trials", "rate"), [(20, 1000, 0.1), (20, 1000, 0.01), (10, 100, 0.1), (5, 1000, 0.1)])
def test_it_holds_the_truth_where_the_noise_is_gaussian(n, trials, rate):
    """Attacks between half of μ = 1 and all of it, where the interval of ε lies below 4.38 in all data sets."""
    held, ends = 0, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        beta = special.ndtr(-special.ndtri(rate) - rng.uniform(0.5, 1.0, n))
        counts = bdp.ErrorCounts(rng.binomial(trials, rate, n), trials, rng.binomial(trials, beta), trials)
        low, high = gaussian_mu(counts, [0.05, 0.95])
        held += low <= 1.0 <= high
        ends.append(high)
    assert held >= 14  # 18 of 20 on average, and 14 at three standard errors below
    assert np.median(ends) < 2.5


@pytest.mark.parametrize(("n", "trials", "most"), [(20, 1000, 0.15), (20, 100, 0.5), (5, 1000, 0.4)])
def test_useless_attacks_are_near_nothing(n, trials, most):
    ends = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        counts = bdp.ErrorCounts(rng.binomial(trials, 0.1, n), trials, rng.binomial(trials, 0.9, n), trials)
        ends.append(gaussian_mu(counts, 0.95))
    assert np.mean(ends) < most


def test_every_posterior_says_it():
    counts = bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100)
    post = bdp.estimate(counts, delta=1e-3)
    low, high = post.gaussian(0.8)
    mu = gaussian_mu(counts, [0.1, 0.9])
    assert (low, high) == pytest.approx(tuple(tradeoff.epsilon_from_mu(mu, 1e-3)))
    sentence = post.high_end(0.8)
    assert f"between {low:.4g} and {high:.4g} with 80% probability" in sentence
    assert f"Caution: {sentence}" in post.summary(0.8)
    content = post.to_dict(0.8)
    assert content["gaussian"] == {"low": low, "high": high}
    assert content["cautions"] == [sentence]
    assert post.warnings == ()
    assert post.caution == ""  # these two speak of faults, and this is none
    delta = post.delta_at(1.0)
    assert delta.gaussian(0.8) == pytest.approx(tuple(tradeoff.delta_from_mu(mu, 1.0)))
    assert "would put δ between" in delta.summary()


def response_at_one_threshold(epsilon, alpha, seed):
    rng = np.random.default_rng(seed)
    beta = tradeoff.approx_dp(alpha, epsilon, 0.0)
    return bdp.ErrorCounts(rng.binomial(1000, alpha, 20), 1000, rng.binomial(1000, beta, 20), 1000)


@pytest.mark.parametrize(("epsilon", "alpha"), [(0.1, 0.1), (0.1, 0.01), (0.2, 0.05)])
def test_an_interval_that_thresholds_draw_below_delta_is_not_left_alone(epsilon, alpha):
    """Of randomized response, which has the corner of R(ε, δ)."""
    for seed in range(3):
        counts = response_at_one_threshold(epsilon, alpha, seed)
        post, pure = bdp.estimate(counts, 1e-5), bdp.estimate(counts, family="pure").interval(0.8)
        assert post.interval()[1] < epsilon / 2
        assert f"at δ = 0 the same counts put ε between {pure[0]:.4g} and {pure[1]:.4g}" in post.high_end(0.8)
        assert pure[0] / 1.3 <= epsilon <= 1.3 * pure[1]


def test_an_interval_above_delta_says_nothing_of_it():
    for counts, delta in (
        (response_at_one_threshold(0.1, 0.5, 0), 1e-5),
        (response_at_one_threshold(1.5, 0.1, 0), 1e-5),
        (bdp.ErrorCounts(2, 3, 1, 3), 0.5),
        (response_at_one_threshold(0.1, 0.1, 0), 0.0),
    ):
        assert "at δ = 0 the same counts" not in bdp.estimate(counts, delta).high_end()


def test_at_no_delta_no_number_will_do():
    post = bdp.estimate(bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100), delta=0.0)
    assert post.gaussian() == (np.inf, np.inf)
    assert post.to_dict()["gaussian"] == {"low": None, "high": None}
    assert "no finite ε holds for it at δ = 0" in post.summary()


def test_the_sampled_posteriors_say_it_too():
    counts = bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100, group=["a", "a", "b"])
    exact = bdp.estimate(counts, 1e-3)
    with pytest.warns(ConvergenceWarning):  # from so few draws
        sampled = bdp.estimate(counts, 1e-3, method="mhaar", chains=2, draws=20, warmup=20, progress=False)
    assert sampled.gaussian() == exact.gaussian()
    assert "is not known from the counts" in sampled.high_end()  # a sampler has no evidence


def test_the_rows_that_are_printed():
    post = bdp.estimate(bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100), delta=1e-3)
    beside = post.shown()[-1]
    assert beside["parameter"] == "epsilon, if Gaussian"
    assert (beside["low"], beside["high"]) == pytest.approx(post.gaussian())
    assert [row["parameter"] for row in post.table()] == ["epsilon", "strength"]
    useless = bdp.estimate(bdp.ErrorCounts(50, 100, 50, 100), 1e-3)
    assert str(useless.shown()[-1]["hdi_low"]) == "0.0"  # and not -0.0
    assert repr(post).endswith(f"; if Gaussian, {post.gaussian()[0]:.4g} to {post.gaussian()[1]:.4g}>")


@pytest.mark.parametrize(("prior", "strength"), [("HalfNormal(0.5)", "free"), (None, 0.5), (None, "tight")])
def test_it_has_the_same_beliefs(prior, strength):
    counts = bdp.ErrorCounts([12, 8, 20], 100, [55, 70, 41], 100)
    post = bdp.estimate(counts, 1e-3, prior_epsilon=prior, strength=strength)
    wanted = bdp.estimate(counts, 1e-3, family="gaussian", prior_epsilon=prior, strength=strength)
    assert post.gaussian() == pytest.approx(wanted.interval(), rel=1e-9)


def test_what_the_counts_say_of_the_two():
    close, apart = bdp.ErrorCounts(10, 100, 20, 100), bdp.datasets.strong_attacks()
    assert "The counts do not tell which of the two is right" in bdp.estimate(close, 1e-3).high_end()
    assert (
        "the counts favour Gaussian noise (its log evidence is larger by 8.47)" in bdp.estimate(apart, 1e-3).high_end()
    )
    rng = np.random.default_rng(0)
    level, alpha = rng.uniform(0.75, 1.5, 20), rng.uniform(0.02, 0.98, 20)
    beta = np.array([tradeoff.approx_dp(a, e, 0.0) for a, e in zip(alpha, level, strict=True)])
    response = bdp.ErrorCounts(rng.binomial(10_000, alpha), 10_000, rng.binomial(10_000, beta), 10_000)
    assert "the counts favour (ε,δ)" in bdp.estimate(response, 1e-3).high_end()
    assert "is not known from the counts" in bdp.estimate(close, 1e-3).delta_at(1.0).high_end()
