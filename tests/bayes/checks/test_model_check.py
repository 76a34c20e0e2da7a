"""The checks speak up where the model is wrong in a known way, and mostly keep silent where it is right."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.checks.new_bases import new_rates
from bayes_dp.bayes.checks.pointwise import log_likelihood
from bayes_dp.bayes.question import ask
from tests.bayes.likelihoods.test_custom import binomial, draw_binomial


def simulated(seed, n=20, trials=100, tau=0.0, epsilon=2.0, strength=0.5, delta=0.01):
    """Counts of uniform rates in the layer (on the boundary for strength 1), beta-binomial if τ > 0."""
    rng = np.random.default_rng([5, seed])
    if strength == 1:
        rates = region.sample_boundary(epsilon, delta, n, rng)
    else:
        rates = region.sample(epsilon, delta, strength, n, rng)
    if tau:
        odds = (1 - tau) / tau
        rates = rng.beta(np.maximum(rates * odds, 1e-9), np.maximum((1 - rates) * odds, 1e-9))
    return bdp.ErrorCounts(rng.binomial(trials, rates[:, 0]), trials, rng.binomial(trials, rates[:, 1]), trials)


def checks(sets, assumed="free", **settings):
    return [
        bdp.check(bdp.estimate(simulated(seed, **settings), 0.01, strength=assumed), size=300, seed=seed)
        for seed in range(sets)
    ]


def test_true_models_pass():
    found = checks(8)
    assert sum(one.doubtful for one in found) <= 1
    assert all("Nothing here speaks against the model" in one.advice[0] for one in found if not one.doubtful)
    assert 0.8 < np.mean([one.dispersion for one in found]) < 1.2
    # The ranks of the levels are uniform, whatever the base.
    assert stats.kstest(np.concatenate([one.rank for one in found]), "uniform").pvalue > 0.001


def test_scatter_is_seen_where_the_layer_is_known():
    for one in checks(3, "tight", strength=1, tau=0.05, trials=1000):
        assert one.dispersion_p < 0.01
        assert one.dispersion > 2
        assert "beta_binomial" in one.advice[0]
    assert np.mean([one.dispersion_p < 0.01 for one in checks(4, "tight", strength=1)]) <= 0.25


def test_two_kinds_of_bases_are_seen():
    """Ten bases with rates of a strong attack, ten with those of guessing, at one operating point."""
    rng = np.random.default_rng(3)
    x = rng.binomial(200, 0.1, 20)
    y = rng.binomial(200, np.r_[np.full(10, 0.03), np.full(10, 0.9)])
    found = bdp.check(bdp.estimate(bdp.ErrorCounts(x, 200, y, 200), 1e-3))
    assert found.rank_p < 0.01
    assert found.doubtful
    assert "levels" in found.summary()


def gaussian_noise(seed, alpha, mu=1.0, trials=1000):
    """Counts of attacks whose d′ is from half of μ to μ, at given false positive rates."""
    rng = np.random.default_rng([6, seed])
    beta = stats.norm.cdf(stats.norm.isf(alpha) - mu * rng.uniform(0.5, 1.0, len(alpha)))
    return bdp.ErrorCounts(rng.binomial(trials, alpha), trials, rng.binomial(trials, beta), trials)


def family_of(name, counts):
    return bdp.estimate(counts, 1e-5) if name == "approx" else bdp.estimate(counts, family=name)


@pytest.mark.parametrize(("name", "fits"), [("approx", False), ("pure", False), ("laplace", None), ("gaussian", True)])
def test_the_shape_of_gaussian_noise_is_seen_where_thresholds_differ(name, fits):
    """Thirty bases with rates all along the boundary; Laplace noise is hardly told from it."""
    found = bdp.check(family_of(name, gaussian_noise(1, np.linspace(0.02, 0.98, 30))), size=1000)
    if fits is not None:
        assert found.doubtful != fits
        assert (found.shape_p > 0.01) == fits
        assert any("another family" in sentence for sentence in found.advice) != fits
    assert "shape of the boundary" in found.summary()


@pytest.mark.parametrize("name", ["approx", "gaussian", "pure"])
def test_one_threshold_shows_no_shape(name):
    found = bdp.check(family_of(name, gaussian_noise(2, np.full(20, 0.1))), size=20)
    assert found.shape is None
    assert found.shape_p is None
    assert "shape" not in found.summary()


@pytest.mark.parametrize(
    ("x", "y", "seen"),
    [
        ([100, 110, 90], [500, 300, 700], False),  # one threshold of the false positive rate
        ([500, 300, 700], [100, 110, 90], False),  # or of the other
        ([500, 300, 700], [300, 500, 100], True),
        ([0, 0, 0], [300, 500, 100], False),
        ([300], [500], False),
    ],
)
def test_whether_thresholds_differ(x, y, seen):
    found = bdp.check(bdp.estimate(bdp.ErrorCounts(x, 1000, y, 1000), family="pure"), size=20)
    assert (found.shape_p is not None) == seen
    assert bdp.ModelCheck.from_dict(found.to_dict()).to_dict() == found.to_dict()


@pytest.mark.parametrize("name", ["approx", "gaussian"])
def test_the_places_of_the_rates_are_no_evidence(name):
    """A private training attacked at one small false positive rate: where on the boundary is the attack's choice."""
    counts = gaussian_noise(3, np.full(16, 0.01), mu=0.1, trials=300)
    found = bdp.check(family_of(name, counts), size=50)
    assert found.rank_p > 0.01
    assert found.p_value > 0.01


def test_levels_of_two_kinds_are_seen_in_every_family():
    rng = np.random.default_rng(5)
    y = rng.binomial(200, np.r_[np.full(12, 0.02), np.full(12, 0.9)])
    counts = bdp.ErrorCounts(rng.binomial(200, 0.1, 24), 200, y, 200)
    for name in ("gaussian", "laplace", "pure"):
        assert bdp.check(family_of(name, counts), size=200).rank_p < 0.01


@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
@pytest.mark.parametrize("strength", ["free", 0.5, "tight"])
def test_leave_one_out_score_of_families_against_refitting(name, strength):
    """Two bases with the same counts and one apart; as for the (ε, δ) layer below."""
    counts = bdp.ErrorCounts([10, 10, 20], 100, [60, 60, 30], 100)
    options = {"family": name, "strength": strength}
    found = bdp.check(bdp.estimate(counts, **options), size=2000)
    whole = bdp.estimate(counts, **options).log_evidence
    for i in range(3):
        keep = np.arange(3) != i
        others = bdp.ErrorCounts(counts.false_positives[keep], 100, counts.false_negatives[keep], 100)
        assert abs(found.elpd_by_base[i] - (whole - bdp.estimate(others, **options).log_evidence)) < 0.1


@pytest.mark.parametrize("name", ["gaussian", "laplace", "pure"])
def test_new_bases_of_a_family_have_its_levels(name):
    """P(level ≤ t) = |R(t) \\ R(s)| / |R(1) \\ R(s)|, at the place and on the side of the old rates."""
    question = family_of(name, gaussian_noise(4, np.full(2, 0.1))).question
    family, size = question.family, 4000
    draws = {family.parameter: np.full(size, 1.5), "strength": np.full(size, 0.3)}
    old = np.tile([0.2, 0.7], (size, 1)), np.tile([0.5, 0.9], (size, 1))
    alpha, beta = new_rates(question, draws, old, np.random.default_rng(0))
    assert (alpha == old[0]).all()
    assert (alpha[:, 0] + beta[:, 0] < 1).all()
    assert (alpha[:, 1] + beta[:, 1] > 1).all()
    area = np.exp([family.log_layer(np.array(0.45), np.array(t - 0.45)) for t in (0.9, 1.5)])
    share = area[0] / area[1]
    inside = np.stack([beta[:, 0] >= family(0.2, 0.9), 1 - beta[:, 1] >= family(1 - 0.7, 0.9)])
    assert np.abs(inside.mean(axis=1) - share).max() < 4 * np.sqrt(share * (1 - share) / size)


def test_rows_of_one_base_are_compared():
    """Batches of one base's runs: alike, or with rates that wander from batch to batch."""
    names = np.repeat([f"base {i}" for i in range(5)], 4)
    rng = np.random.default_rng(4)
    alike, wandering = rng.binomial(100, 0.2, 20), rng.binomial(100, rng.beta(4, 16, 20))
    for x, expected in ((alike, False), (wandering, True)):
        counts = bdp.ErrorCounts(x, 100, rng.binomial(100, 0.5, 20), 100, base=names)
        found = bdp.check(bdp.estimate(counts, 1e-3), size=300)
        assert (found.batches_p < 0.01) == expected
        assert "rows of the same base" in found.summary()
    counts = bdp.ErrorCounts(alike, 100, alike, 100)
    assert bdp.check(bdp.estimate(counts, 1e-3), size=100).batches_p is None


def test_leave_one_out_score_against_refitting():
    """log p(base i | others) = log evidence of all − log evidence of the others, each by quadrature."""
    counts = simulated(1, n=6)
    found = bdp.check(bdp.estimate(counts, 0.01), size=4000)
    whole = bdp.estimate(counts, 0.01).log_evidence
    for i in range(6):
        keep = np.arange(6) != i
        others = bdp.ErrorCounts(counts.false_positives[keep], 100, counts.false_negatives[keep], 100)
        assert abs(found.elpd_by_base[i] - (whole - bdp.estimate(others, 0.01).log_evidence)) < 0.05
    assert found.elpd == pytest.approx(found.elpd_by_base.sum())


def test_evidence_is_the_prior_mean_of_the_likelihood():
    """The normalisation of the pointwise likelihoods: Σ over all counts of a base of its marginal likelihood is 1."""
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(9), np.arange(7)))
    draws = {"epsilon": np.array([1.5]), "strength": np.array([0.4]), "tau": np.array([0.03])}
    for likelihood in ("binomial", "beta_binomial"):
        counts = bdp.ErrorCounts(x, 8, y, 6)
        total = logsumexp(log_likelihood(ask(counts, "epsilon", 0.01, likelihood=likelihood), draws))
        assert abs(total) < (1e-9 if likelihood == "binomial" else 0.01)


def test_cross_fed_counts_are_told_which_likelihood_to_use():
    given = simulated(2)
    counts = bdp.ErrorCounts(given.false_positives, 100, given.false_negatives, 100, design="cross_fed")
    found = bdp.check(bdp.estimate(counts, 1e-3), size=200)
    assert "use likelihood='bivariate_normal'" in found.advice[0]


def test_the_normal_law_is_not_advised_where_it_has_no_bound():
    counts = bdp.ErrorCounts([0, 12, 20], 100, [60, 70, 55], 100, design="cross_fed")
    found = bdp.check(bdp.estimate(counts, 1e-3), size=200)
    assert "use likelihood='beta_binomial'" in found.advice[0]


def test_forms():
    counts = bdp.ErrorCounts([10, 20], 100, [60, 50], 100, base=["<a>", "b"])
    found = bdp.check(bdp.estimate(counts, 1e-3), size=200)
    frame = found.to_frame()
    assert list(frame.index) == ["<a>", "b"]
    assert list(frame.columns) == ["rank", "elpd", "pareto_k"]
    again = json.loads(json.dumps(found.to_dict()))
    assert again["elpd"] == found.elpd
    assert str(found) == found.summary()
    assert "<table>" in found._repr_html_()
    same = bdp.check(bdp.estimate(counts, 1e-3), size=200)
    assert same.to_dict() == found.to_dict()


def test_one_base_and_no_errors_are_fine():
    found = bdp.check(bdp.estimate(bdp.ErrorCounts([0], 50, [0], 50), 0.0), size=200)
    assert np.isfinite(found.elpd)
    assert 0 <= found.rank[0] <= 1


def test_only_posteriors_of_counts_can_be_checked():
    with pytest.raises(bdp.InputError, match="check is for a posterior"):
        bdp.check(3.0)


@pytest.mark.filterwarnings("ignore::UserWarning")  # short chains
def test_likelihoods_side_by_side():
    counts = simulated(7, n=8, tau=0.08, strength=0.8)
    found = bdp.compare_likelihoods(
        counts, 0.01, ["binomial", "beta_binomial"], size=200, chains=2, draws=400, warmup=300, progress=False
    )
    rows = found.rows()
    assert rows[0]["difference"] == 0
    assert rows[1]["difference"] <= 0
    assert {row["likelihood"] for row in rows} == {"binomial", "beta_binomial"}
    first, second = (found.checks[name].elpd_by_base for name in found)
    assert rows[1]["difference"] == pytest.approx(np.sum(second - first))
    assert list(found.to_frame().index) == list(found)
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["likelihood"] == next(iter(found))
    assert "difference" in str(found)
    with pytest.raises(bdp.InputError, match="likelihoods must be some of"):
        bdp.compare_likelihoods(counts, 0.01, ["poisson"])


@pytest.mark.filterwarnings("ignore::UserWarning")  # short chains
def test_a_likelihood_of_ones_own_among_others():
    counts = simulated(8, n=4, trials=30)
    own = bdp.Likelihood("mine", binomial, sampler=draw_binomial)
    settings = {"chains": 2, "draws": 1000, "warmup": 300, "progress": False}
    found = bdp.compare_likelihoods(counts, 0.01, ["binomial", own], **settings)
    assert set(found) == {"binomial", "mine"}
    assert found.posteriors["mine"].assumptions[-1] == "Given its rates, a base's errors follow the law mine."
    assert found.posteriors["binomial"].provenance.method == "exact"
    assert abs(found.rows()[1]["difference"]) < 0.3
    assert all(row["likelihood"] in str(found) for row in found.rows())


@pytest.mark.parametrize(
    ("laws", "words"),
    [
        (["binomial", bdp.Likelihood("binomial", binomial, sampler=draw_binomial)], "two are called 'binomial'"),
        (["beta_binomial"] * 2, "two are called 'beta_binomial'"),
        (["binomial", bdp.Likelihood("mine", binomial)], "the likelihood mine has no sampler"),
        (["binomial", ["beta_binomial"]], r"or of the type bayes_dp.Likelihood, not \[\['beta_binomial'\]\]"),
        ([], r"likelihoods must be some of .* not \[\]"),
    ],
)
def test_what_cannot_be_compared(laws, words):
    with pytest.raises(bdp.InputError, match=words):
        bdp.compare_likelihoods(simulated(8, n=4), 0.01, laws)
