"""Simulation-based calibration (Talts et al. 2018): parameters from the prior, counts from the model, ranks uniform.

Run by `make test-slow`; `python -m tests.calibration.test_sbc` prints the table of docs/evidence/calibration.md, and
`python -m tests.calibration.test_sbc beta_binomial mhaar` the rows of one likelihood and method.
"""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.nuts.sampler import ModelDraws
from bayes_dp.bayes.question import Question, ask

DATA_SETS = 600
FEWER = {("bivariate_normal", "nuts"): 500}  # of what takes hours
BINS = 20
DRAWS = 99  # nearly independent draws among which a true value is ranked
# name -> bases, challenges under H0 and H1, δ
DESIGNS = {"one base": (1, 50, 50, 0.01), "five bases": (5, 40, 60, 0.01), "twenty bases, δ = 0": (20, 100, 100, 0.0)}
PAIRS = [(likelihood, method) for likelihood in LIKELIHOODS for method in ("exact", "mhaar", "nuts")]
CASES = [
    (likelihood, method, design)
    for likelihood, method in PAIRS
    for design in DESIGNS
    if likelihood == "binomial" or (method != "exact" and design == "five bases")
]


def simulate(design, seed, likelihood="binomial"):
    """True parameters from the default priors, the error rates and the counts they give."""
    n, n0, n1, delta = DESIGNS[design]
    rng = np.random.default_rng([7, seed])
    law, blank = LIKELIHOODS[likelihood], Counts(*(np.full(n, float(v)) for v in (0, n0, 0, n1)))
    while True:
        truth = {"epsilon": abs(rng.normal(0, np.sqrt(10))), "strength": rng.random()} | shared(law, blank, rng)
        rates = region.sample(truth["epsilon"], delta, truth["strength"], n, rng)
        values = [np.array([truth[name]]) for name in law.shared]
        alpha, beta = rates.T
        if likelihood != "kupper_haseman" or possible(law, blank, alpha, beta, values[0]):
            break
    x, y = (row[0] for row in law.draw(rng, blank, alpha[None], beta[None], *values))
    return (
        truth,
        (counts_of(x, n0, y, n1) if likelihood == "bivariate_normal" else bdp.ErrorCounts(x, n0, y, n1)),
        delta,
    )


def shared(law, blank, rng):
    """The parameters beside ε and s, from their prior."""
    if not law.shared:
        return {}
    low = 0.0 if law.name == "beta_binomial" else -1 / (max(blank.n0[0], blank.n1[0]) - 1)
    tau = stats.truncnorm.rvs(low / 0.01, 1 / 0.01, scale=0.01, random_state=rng)
    if "rho" not in law.shared:
        return {"tau": tau}
    return {"tau": tau, "rho": rng.uniform(-1, 1) * float(law.rho_limit(blank, tau))}


def possible(law, blank, alpha, beta, tau):
    """Whether no count has a negative probability at these rates; if one does, the model's density is zero."""
    import jax

    with jax.enable_x64(True):
        return np.isfinite(law.log_density(blank, alpha[:, None], beta[:, None], tau)).all()


def counts_of(x, n0, y, n1):
    """Counts as a normal law draws them: any real numbers, which ErrorCounts are not."""
    n = len(x)
    columns = {"false_positives": x, "negatives": np.full(n, n0), "false_negatives": y, "positives": np.full(n, n1)}

    class Real(SimpleNamespace):
        design, base, group = "repeated", None, None

        def __len__(self):
            return n

        def digest(self):
            return ""

    return Real(**columns)


def question_of(counts, delta, likelihood):
    whole = bdp.ErrorCounts(np.zeros(len(counts)), counts.negatives, np.zeros(len(counts)), counts.positives)
    asked = ask(whole, "epsilon", delta, likelihood=likelihood)
    return Question(counts, asked.parameter, asked.known, asked.strength, asked.priors, asked.likelihood)


def exact_ranks(truth, counts, delta, likelihood, seed):
    """The posterior probability below the truth, which is uniform if the posterior is right."""
    del seed, likelihood
    post = bdp.estimate(counts, delta)
    return {name: float(post.marginals[name].cdf(value)) for name, value in truth.items()}


def mhaar_ranks(truth, counts, delta, likelihood, seed):
    from bayes_dp.bayes.mhaar.posterior import answer

    draws = 2000 if likelihood == "binomial" else 6000
    found = answer(question_of(counts, delta, likelihood), draws=draws, warmup=800, seed=seed, progress=False)
    return ranks_among(found.samples, truth, seed)


def nuts_ranks(truth, counts, delta, likelihood, seed):
    from bayes_dp.bayes.nuts.posterior import draws_of
    from bayes_dp.bayes.nuts.sampler import NutsSettings

    # The bivariate normal takes small steps, and its draws are nearly independent.
    chains, draws, target = (2, 500, 0.97) if likelihood == "bivariate_normal" else (4, 400, 0.9)
    settings = NutsSettings(chains, draws, 400, target, seed, False)
    found = draws_of(question_of(counts, delta, likelihood), settings)
    return ranks_among(found.samples, truth, seed)


def ranks_among(samples, truth, seed):
    """The share of nearly independent draws below the truth, ties broken evenly."""
    ranks = {}
    for name, value in truth.items():
        step = max(1, samples[name].size // (DRAWS + 1))
        thin = samples[name].T.ravel()[::step][:DRAWS]
        ranks[name] = (np.sum(thin < value) + np.random.default_rng(seed).random()) / (DRAWS + 1)
    return ranks


METHODS = {"exact": exact_ranks, "mhaar": mhaar_ranks, "nuts": nuts_ranks}


def calibrate(likelihood, method, design, data_sets=None):
    """Ranks of every parameter, one for each data set."""
    rows = []
    for seed in range(data_sets or FEWER.get((likelihood, method), DATA_SETS)):
        truth, counts, delta = simulate(design, seed, likelihood)
        rows.append(METHODS[method](truth, counts, delta, likelihood, seed))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def uniformity(ranks):
    """p-values of the χ² test on BINS bins and of the Kolmogorov-Smirnov test."""
    observed = np.histogram(ranks, bins=BINS, range=(0, 1))[0]
    return stats.chisquare(observed).pvalue, stats.kstest(ranks, "uniform").pvalue


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # short runs of the sampler may say that they are short
@pytest.mark.parametrize(("likelihood", "method", "design"), CASES)
def test_ranks_are_uniform(likelihood, method, design):
    for name, ranks in calibrate(likelihood, method, design).items():
        chi2, ks = uniformity(ranks)
        assert chi2 > 0.01, (name, chi2)
        assert ks > 0.001, (name, ks)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("method", ["exact", "mhaar"])
def test_one_data_set(method):
    for ranks in calibrate("binomial", method, "one base", 1).values():
        assert 0 < ranks[0] < 1


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_one_data_set_without_draws(likelihood, monkeypatch):
    """NUTS is asked, but its draws, which take long to compile, are all 0; the question can be told by MHAAR too."""

    def zeros(model, arguments, settings):
        values = {name: np.zeros((settings.chains, settings.draws)) for name in ("epsilon", "strength", "tau", "rho")}
        return ModelDraws(values, {}, {}, ())

    monkeypatch.setattr("bayes_dp.bayes.nuts.posterior.sample", zeros)
    truth, counts, delta = simulate("five bases", 0, likelihood)
    for name, ranks in calibrate(likelihood, "nuts", "five bases", 1).items():
        assert 0.99 <= ranks[0] <= 1 if truth[name] > 0 else 0 <= ranks[0] <= 0.01
    question = question_of(counts, delta, likelihood)
    assert question.provenance("mhaar", {"assumptions": question.assumptions(), "caution": question.caution()})


def test_a_wrong_posterior_is_noticed():
    """The check itself: with the strength taken to be 'tight', when it is not, the ranks pile up."""
    ranks = []
    for seed in range(60):
        truth, counts, delta = simulate("five bases", seed)
        post = bdp.estimate(counts, delta, strength="tight")
        ranks.append(float(post.marginals["epsilon"].cdf(truth["epsilon"])))
    assert uniformity(np.array(ranks))[0] < 1e-6


def main() -> None:
    import warnings

    warnings.simplefilter("ignore", UserWarning)
    print("| likelihood | method | design | data sets | p (χ²) | p (KS) | 90% intervals that hold ε |")
    print("|---|---|---|---|---|---|---|")
    for likelihood, method, design in CASES:
        if not set(sys.argv[1:]) <= {likelihood, method, design}:
            continue
        start = time.perf_counter()
        ranks = calibrate(likelihood, method, design)
        found = {name: uniformity(values) for name, values in ranks.items()}
        chi2, ks = (", ".join(f"{name} {p[i]:.2f}" for name, p in found.items()) for i in (0, 1))
        held = np.mean(np.abs(ranks["epsilon"] - 0.5) < 0.45)
        size = str(len(ranks["epsilon"]))
        print("|", " | ".join([likelihood, method, design, size, chi2, ks, f"{held:.1%}"]), "|", flush=True)
        print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
