"""Simulation-based calibration (Talts et al. 2018): parameters from the prior, counts from the model, ranks uniform.

Run by `make test-slow`; `python -m tests.calibration.test_sbc` prints the table that docs/calibration.md shows.
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp import region

DATA_SETS = 600
BINS = 20
# name -> bases, challenges under H0 and H1, δ
DESIGNS = {"one base": (1, 50, 50, 0.01), "five bases": (5, 40, 60, 0.01), "twenty bases, δ = 0": (20, 100, 100, 0.0)}


def simulate(design, seed):
    """True (ε, s) from the default priors, the error rates and the counts they give."""
    n, n0, n1, delta = DESIGNS[design]
    rng = np.random.default_rng([7, seed])
    epsilon, strength = abs(rng.normal(0, np.sqrt(10))), rng.random()
    rates = region.sample(epsilon, delta, strength, n, rng)
    counts = bdp.ErrorCounts(rng.binomial(n0, rates[:, 0]), n0, rng.binomial(n1, rates[:, 1]), n1)
    return {"epsilon": epsilon, "strength": strength}, counts, delta


def exact_ranks(truth, counts, delta, seed):
    """The posterior probability below the truth, which is uniform if the posterior is right."""
    del seed
    post = bdp.estimate(counts, delta)
    return {name: float(post.marginals[name].cdf(value)) for name, value in truth.items()}


def mhaar_ranks(truth, counts, delta, seed):
    """The share of nearly independent draws below the truth, ties broken evenly."""
    post = bdp.estimate(counts, delta, method="mhaar", chains=4, warmup=800, draws=2000, seed=seed, progress=False)
    ranks = {}
    for name, value in truth.items():
        thin = post.samples[name][:, ::80].ravel()[:99]
        ranks[name] = (np.sum(thin < value) + np.random.default_rng(seed).random()) / 100
    return ranks


METHODS = {"exact": exact_ranks, "mhaar": mhaar_ranks}


def calibrate(method, design, data_sets=DATA_SETS):
    """Ranks (data_sets,) of ε and s."""
    rows = []
    for seed in range(data_sets):
        truth, counts, delta = simulate(design, seed)
        rows.append(METHODS[method](truth, counts, delta, seed))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def uniformity(ranks):
    """p-values of the χ² test on BINS bins and of the Kolmogorov-Smirnov test."""
    observed = np.histogram(ranks, bins=BINS, range=(0, 1))[0]
    return stats.chisquare(observed).pvalue, stats.kstest(ranks, "uniform").pvalue


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # short runs of the sampler may say that they are short
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("method", METHODS)
def test_ranks_are_uniform(method, design):
    for name, ranks in calibrate(method, design).items():
        chi2, ks = uniformity(ranks)
        assert chi2 > 0.01, (name, chi2)
        assert ks > 0.001, (name, ks)


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
    print("| method | design | data sets | p (χ²) ε | p (χ²) s | p (KS) ε | p (KS) s | 90% intervals that hold ε |")
    print("|---|---|---|---|---|---|---|---|")
    for method in sys.argv[1:] or METHODS:
        for design in DESIGNS:
            start = time.perf_counter()
            ranks = calibrate(method, design)
            (chi_e, ks_e), (chi_s, ks_s) = (uniformity(ranks[name]) for name in ("epsilon", "strength"))
            held = np.mean(np.abs(ranks["epsilon"] - 0.5) < 0.45)
            cells = [method, design, DATA_SETS, *(f"{p:.2f}" for p in (chi_e, chi_s, ks_e, ks_s)), f"{held:.1%}"]
            print("|", " | ".join(map(str, cells)), "|", flush=True)
            print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
