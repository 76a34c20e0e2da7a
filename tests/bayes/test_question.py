"""The question: what is checked, kept and said, the same for every method."""

import warnings

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.convergence import ConvergenceWarning
from bayes_dp.bayes.question import ask

COUNTS = bdp.ErrorCounts([3, 5], 20, [4, 2], 25)
METHODS = {"exact": {}, "mhaar": {"chains": 2, "draws": 50, "warmup": 50, "progress": False}}


def test_another_known_value_keeps_the_priors():
    question = ask(COUNTS, "epsilon", 0.01, prior="Gamma(2, 1)", prior_strength="Beta(2, 2)")
    other = question.given("epsilon", 0.1)
    assert (other.known, other.priors) == (0.1, question.priors)
    inverse = question.given("delta", 1.5)
    assert (inverse.parameter, inverse.known) == ("delta", 1.5)
    assert type(inverse.priors["delta"]).__name__ == "Uniform"
    assert inverse.priors["strength"] is question.priors["strength"]
    assert question.given("delta", 1.5, "Beta(1, 9)").given("delta", 2.0).priors["delta"].concentration0 == 9


@pytest.mark.parametrize("design", ["repeated", "cross_fed", "one_run", "observational"])
def test_assumptions(design):
    examples = 100 if design in ("one_run", "observational") else None
    counts = bdp.ErrorCounts([3, 5], 20, [4, 2], 25, design=design, examples=examples)
    sentences = " ".join(ask(counts, "epsilon", 0.01, strength=0.5).assumptions())
    assert "δ = 0.01 is known." in sentences
    assert "s = 0.5" in sentences
    assert ("correlated" in sentences) == (design == "cross_fed")
    assert ("one model" in sentences) == (design in ("one_run", "observational"))
    assert ("Nobody changed the training" in sentences) == (design == "observational")
    assert "ε = 2 is known." in ask(counts, "delta", 2.0).assumptions()
    assert "strongest possible" in " ".join(ask(counts, "epsilon", 0.0, strength="tight").assumptions())


@pytest.mark.parametrize("name", ["bivariate_normal", "beta_binomial", "kupper_haseman"])
@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_likelihoods_of_correlated_counts(name):
    counts = bdp.ErrorCounts([3, 5, 4, 0], [20, 20, 25, 20], [4, 25, 3, 6], [25, 25, 20, 25], design="cross_fed")
    post = bdp.estimate(counts, 0.01, likelihood=name, **METHODS["mhaar"])
    shared = ["tau", "rho"] if name == "bivariate_normal" else ["tau"]
    assert list(post.samples) == list(post.marginals) == ["epsilon", "strength", *shared]
    assert post.provenance.method == "mhaar"
    assert post.provenance.settings["likelihood"] == name
    expected = "2 of the 8 counts are 0 or all of their runs" if name == "bivariate_normal" else ""
    assert post.caution.startswith(expected)
    assert bool(post.caution) == bool(expected)
    assert "too narrow" not in " ".join(post.assumptions)
    assert any("orrelat" in sentence for sentence in post.assumptions)
    data = post.to_arviz()
    assert np.isfinite(data["sample_stats"]["lp"].values).all()
    assert set(data["posterior"].data_vars) == {"epsilon", "strength", *shared, "alpha", "beta"}
    with pytest.raises(bdp.InputError, match="method='exact' is for likelihood='binomial'"):
        bdp.estimate(counts, 0.01, likelihood=name, method="exact")


def test_a_law_with_parameters_need_not_be_one_of_correlated_decisions():
    counts = bdp.ErrorCounts([3, 5, 4], 20, [4, 9, 3], 20, design="cross_fed")
    spoilt = bdp.Likelihood("spoilt", lambda counts, alpha, beta, lam: alpha * lam, {"lam": "Beta(1, 20)"})
    assert "cross-fed" in ask(counts, "epsilon", 0.01, likelihood=spoilt).caution()
    for name in ("bivariate_normal", "beta_binomial", "kupper_haseman"):
        assert ask(counts, "epsilon", 0.01, likelihood=name).caution() == ""


@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
def test_correlated_counts_of_known_strength():
    counts = bdp.ErrorCounts([3, 5, 4, 0], [20, 20, 25, 20], [4, 25, 3, 6], [25, 25, 20, 25], design="cross_fed")
    post = bdp.estimate(counts, 0.01, likelihood="kupper_haseman", strength=0.3, **METHODS["mhaar"])
    assert list(post.samples) == ["epsilon", "tau"]


def test_an_unknown_likelihood_is_named():
    for method in ("mhaar", None):
        with pytest.raises(bdp.InputError, match="likelihood must be one of binomial, bivariate_normal"):
            bdp.estimate(COUNTS, 0.01, likelihood="normal", method=method)


def test_unknown_settings_are_named():
    with pytest.raises(bdp.InputError, match=r"no setting chain; it has auxiliaries, chains, draws"):
        bdp.estimate(COUNTS, 0.01, method="mhaar", chain=3)
    with pytest.raises(bdp.InputError, match="settings of a sampler"):
        bdp.estimate(COUNTS, 0.01, draws=3)


def test_every_method_takes_a_seed():
    plain = bdp.estimate(COUNTS, 0.01)
    for method in (None, "exact"):
        assert bdp.estimate(COUNTS, 0.01, method=method, seed=3).to_dict() == plain.to_dict()
        with pytest.raises(bdp.InputError, match=r"seed must be a whole number from 0 to 2\*\*63 - 1, not -1"):
            bdp.estimate(COUNTS, 0.01, method=method, seed=-1)


def test_warnings_point_to_the_caller():
    from bayes_dp.bayes.mhaar.posterior import mhaar

    for call in (
        lambda: mhaar(COUNTS, 0.01, **METHODS["mhaar"]),
        lambda: bdp.estimate(COUNTS, 0.01, method="mhaar", **METHODS["mhaar"]),
    ):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            post = call()
        (one,) = [w for w in seen if w.category is ConvergenceWarning]
        assert one.filename == __file__
        assert str(one.message) == " ".join(post.warnings)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        post.epsilon_at(0.1)
    assert [w.filename for w in seen if w.category is ConvergenceWarning] == [__file__]


def test_the_density_at_and_beyond_the_ends():
    weak = bdp.ErrorCounts([10], 20, [12], 25)
    post = bdp.estimate(weak, 0.01, prior_epsilon="HalfNormal(3)")
    at, near, beyond = post.pdf([0.0, 1e-3, -1.0])
    assert at == pytest.approx(near, rel=0.02)
    assert beyond == 0
    s = post.pdf([0.0, 1.0, 1.1], "strength")
    assert np.isfinite(s).all()
    assert s[2] == 0
    narrow = bdp.estimate(weak, 0.01, prior_epsilon="Uniform(1, 2)")
    assert narrow.pdf([1.0, 2.0]) == pytest.approx(narrow.pdf([1.0 + 1e-4, 2.0 - 1e-4]), rel=0.01)
