"""The checks speak up where the model is wrong in a known way, and mostly keep silent where it is right."""

import json

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import bayes_dp as bdp
from bayes_dp import region
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
