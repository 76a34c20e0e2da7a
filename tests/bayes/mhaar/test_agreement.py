"""The sampler against the exact posterior: golden and bundled data sets and twenty random ones."""

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.results.diagnostics import ess
from tests.bayes.exact.test_posterior import FIXED

LEVELS = np.array([0.05, 0.25, 0.5, 0.75, 0.95])
SIZES = [1, 2, 5, 10, 50]
BUNDLED = {"strong_attacks": (bdp.datasets.strong_attacks(), 0.01), "mnist_a4": (bdp.datasets.mnist_a4(), 1e-3)}


def share_below(samples, quantile, level):
    """The share of draws (chains, draws) below a quantile of that level, and its Monte Carlo error."""
    below = (samples <= quantile).astype(float)
    # Chains that stick make their own autocorrelation look small: what they disagree by counts as well.
    error = max(
        np.sqrt(level * (1 - level) / ess(below + 1e-9 * samples, "bulk")),
        below.mean(axis=1).std(ddof=1) / np.sqrt(len(samples)),
    )
    return below.mean(), error


def discrepancies(sampled, exact):
    """How many Monte Carlo errors the share of draws below each exact quantile is off, for every parameter."""
    found = {}
    for name in exact.marginals:
        for level, quantile in zip(LEVELS, exact.quantile(LEVELS, name), strict=True):
            share, error = share_below(sampled.samples[name], quantile, level)
            found[name, level] = (share - level) / error
    return found


def disagreement(one, other):
    """The largest difference of two sampled posteriors in the shares below quantiles of the first, in errors."""
    return max(
        abs(there - here) / np.hypot(error_here, error_there)
        for name, samples in one.samples.items()
        for level, quantile in zip(LEVELS, np.quantile(samples, LEVELS), strict=True)
        for here, error_here in [share_below(samples, quantile, level)]
        for there, error_there in [share_below(other.samples[name], quantile, level)]
    )


def random_data(index):
    rng = np.random.default_rng([3, index])
    n, delta = SIZES[index % len(SIZES)], [0.0, 1e-5, 1e-3, 0.02][index % 4]
    trials = rng.integers(20, 300, size=2)
    epsilon, strength = abs(rng.normal(0, 2.5)) + 0.1, rng.random() * 0.95
    rates = region.sample(epsilon, delta, strength, n, rng)
    x, y = rng.binomial(trials[0], rates[:, 0]), rng.binomial(trials[1], rates[:, 1])
    return bdp.ErrorCounts(x, trials[0], y, trials[1]), delta


@pytest.mark.filterwarnings("ignore::UserWarning")  # the error of a short run is taken into account
@pytest.mark.parametrize("index", range(20))  # each number of bases with each δ
def test_random_data_sets(index):
    counts, delta = random_data(index)
    sampled = bdp.estimate(counts, delta, method="mhaar", seed=index, chains=8, draws=8000, progress=False)
    found = discrepancies(sampled, bdp.estimate(counts, delta))
    assert max(map(abs, found.values())) < 4, found


@pytest.mark.parametrize("row", range(len(FIXED)))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_golden_at_fixed_strength(row):
    (x, n0, y, n1), delta, s, *_ = FIXED[row]
    counts = bdp.ErrorCounts([x], n0, [y], n1)
    sampled = bdp.estimate(counts, delta, strength=s, method="mhaar", seed=row, progress=False)
    found = discrepancies(sampled, bdp.estimate(counts, delta, strength=s))
    assert max(map(abs, found.values())) < 4, found


@pytest.mark.parametrize("data", BUNDLED)
@pytest.mark.parametrize("auxiliaries", ["posterior", "uniform"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_bundled_data(data, auxiliaries):
    counts, delta = BUNDLED[data]
    settings = {"n_auxiliaries": 200, "draws": 2000} if auxiliaries == "uniform" else {}
    sampled = bdp.estimate(counts, delta, method="mhaar", auxiliaries=auxiliaries, seed=1, progress=False, **settings)
    found = discrepancies(sampled, bdp.estimate(counts, delta))
    assert max(map(abs, found.values())) < 4, found
