"""The samplers on the bundled and on the six published data sets: do they agree, and at what price?

Run by `make test-slow`; `python -m tests.calibration.test_published bivariate_normal` prints the table of
docs/methods/method.md. The counts are in the folder that BAYES_DP_DATA names.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.likelihoods.bivariate_normal import BIVARIATE_NORMAL
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.results.diagnostics import ess, rhat
from tests.bayes.mhaar.test_agreement import BUNDLED, disagreement
from tests.cubature import log_marginal

NAMES = ("A1", "A2", "A3_sigma0.1", "A4_sigma0.1", "A4_sigma0.05", "A4_sigma0.01")
FOLDER = os.environ.get("BAYES_DP_DATA")


def published(name):
    rows = json.loads((Path(FOLDER) / "mcmc_dp_est_counts.json").read_text())["algorithms"][name]
    return bdp.ErrorCounts(rows["false_positives"], 100, rows["false_negatives"], 100, design="cross_fed")


def both(name, likelihood):
    """The posteriors by MHAAR and by NUTS, and the seconds that they took."""
    found = []
    for method in ("mhaar", "nuts"):
        begun = time.perf_counter()
        post = bdp.estimate(published(name), 1e-3, likelihood=likelihood, method=method, seed=1, progress=False)
        found.append((post, time.perf_counter() - begun))
    return found


def in_the_large_mode(post):
    """The draws of the chains that never come to the mode at ε = 0 (see below), of which the result has to tell."""
    kept = np.mean(post.samples["epsilon"] < 0.01, axis=1) < 0.01
    assert kept.sum() >= 3
    assert kept.all() or any("chains disagree on epsilon" in sentence for sentence in post.warnings)
    return SimpleNamespace(samples={name: values[kept] for name, values in post.samples.items()})


def log_posterior(name, epsilon, strength, tau, rho):
    """Of all parameters under the bivariate normal law, by cubature and up to a constant."""
    counts = published(name)
    columns = counts.false_positives, counts.negatives, counts.false_negatives, counts.positives
    bases = (Counts(*(np.array([float(value)]) for value in base)) for base in zip(*columns, strict=True))
    values = [log_marginal(BIVARIATE_NORMAL, base, epsilon, 1e-3, strength, shared=(tau, rho)) for base in bases]
    width = 2 * float(BIVARIATE_NORMAL.rho_limit(Counts.of(counts), tau))  # of the prior of ρ given τ, which is uniform
    return float(np.sum(values)) - epsilon**2 / 20 - tau**2 / (2 * 0.01**2) - np.log(width)


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="BAYES_DP_DATA names no folder")
@pytest.mark.filterwarnings("ignore::UserWarning")  # divergences of the bivariate normal law
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("name", NAMES)
def test_nuts_and_mhaar_agree(name, likelihood):
    (mhaar, _), (nuts, _) = both(name, likelihood)
    there = in_the_large_mode(nuts)
    assert disagreement(mhaar, there) < 4
    assert max(rhat(values) for values in there.samples.values()) < 1.02
    assert nuts.diagnostics["divergences"] <= (40 if likelihood == "bivariate_normal" else 0)


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="BAYES_DP_DATA names no folder")
def test_the_bivariate_normal_law_has_a_second_mode_at_epsilon_zero():
    """A chain that starts there stays there: on the way to the other mode the density falls by more than 9 nats."""
    usual, zero = (1.45, 0.07, 0.0076, 0.0025), (0.0008, 0.5, 0.0244, 0.0287)
    ways = (0.15, *zero[1:]), (0.15, 0.2, 0.0127, 0.01), (0.3, 0.3, 0.02, 0.012)
    heights = [log_posterior("A4_sigma0.1", *place) for place in (usual, zero)]
    assert abs(heights[0] - heights[1]) < 1
    assert all(log_posterior("A4_sigma0.1", *place) < min(heights) - 9 for place in ways)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("likelihood", ["bivariate_normal", "beta_binomial", "kupper_haseman"])
@pytest.mark.parametrize("data", BUNDLED)
def test_all_samplers_agree_on_bundled_data(data, likelihood):
    """As the exact posterior does with each of them for the binomial likelihood, in tests/bayes/."""
    counts, delta = BUNDLED[data]
    run = partial(bdp.estimate, counts, delta, likelihood=likelihood, progress=False)
    mhaar = run(method="mhaar", seed=1)
    assert disagreement(mhaar, run(method="nuts", seed=2, draws=2000)) < 4  # of 1000 a chain some tails are too rough
    assert disagreement(mhaar, run(method="mhaar", auxiliaries="uniform", n_auxiliaries=300, seed=3)) < 4


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    print(
        "| Data | Likelihood | 90% of ε, NUTS | MHAAR | differ by | divergences of 4000 | ESS/s, NUTS | ESS/s, MHAAR |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in NAMES:
        for likelihood in sys.argv[1:]:
            found = both(name, likelihood)
            (mhaar, _), (nuts, _) = found
            ends = [f"{low:.2f} to {high:.2f}" for low, high in (post.interval(0.9) for post in (nuts, mhaar))]
            speed = [f"{min(ess(v) for v in post.samples.values()) / seconds:.0f}" for post, seconds in found]
            cells = [name, likelihood, *ends, f"{disagreement(mhaar, nuts):.1f}", str(nuts.diagnostics["divergences"])]
            print("|", " | ".join([*cells, *reversed(speed)]), "|", flush=True)


if __name__ == "__main__":
    main()
