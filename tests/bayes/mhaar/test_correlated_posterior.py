"""Posteriors of correlated counts: against weighted draws from the prior, and published intervals."""

import itertools
import json
import os
from functools import lru_cache
from pathlib import Path

import jax
import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.compiling import compiler_options, uses_earlier_emitters
from bayes_dp.bayes.layer import fold, in_layer, log_layer_area
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.bayes.mhaar.kernel import _log_sums
from bayes_dp.bayes.mhaar.posterior import mhaar
from tests.bayes.mhaar.test_agreement import LEVELS, share_below
from tests.cubature import log_marginal, rule_of

COUNTS = bdp.ErrorCounts([2, 5], [12, 15], [3, 5], [14, 15], design="cross_fed")
DELTA = 0.01


@lru_cache(maxsize=1)  # a million draws take 40 MB
def weighted_prior(name, size, seed):
    """Draws of (ε, s, shared) from the prior with uniform rates, and their weights g."""
    rng, likelihood, counts = np.random.default_rng(seed), LIKELIHOODS[name], Counts.of(COUNTS)
    epsilon, s = np.abs(rng.normal(0, np.sqrt(10), size)), rng.random(size)
    low = 0.0 if name == "beta_binomial" else -1 / 14
    tau = stats.truncnorm.rvs(low / 0.01, 100, scale=0.01, size=size, random_state=rng)
    shared = [tau]
    with jax.enable_x64(True):
        if name == "bivariate_normal":
            limit = np.asarray(jax.vmap(lambda t: likelihood.rho_limit(counts, t))(tau))
            shared.append(rng.uniform(-1, 1, size) * limit)
        log_weight = np.zeros(size)
        for j in range(len(COUNTS)):
            rates = region.sample(epsilon, DELTA, s, size, rng)
            base = Counts(*(np.asarray(c)[j : j + 1] for c in counts))
            log_g = jax.jit(likelihood.log_density)(base, rates[None, :, 0], rates[None, :, 1], *shared)
            log_weight += np.asarray(log_g)[0]
    weight = np.exp(log_weight - log_weight.max())
    names = ["epsilon", "strength", *likelihood.shared]
    return dict(zip(names, [epsilon, s, *shared], strict=True)), weight / weight.sum()


def assert_as_weighted(post, drawn, weight):
    """That the shares of a posterior's draws below the quantiles of weighted draws are within their errors."""
    worth = 1 / np.sum(weight**2)
    assert worth > 5000
    assert set(post.samples) == set(drawn)
    for name, values in drawn.items():
        order = np.argsort(values)
        quantiles = values[order][np.searchsorted(np.cumsum(weight[order]), LEVELS)]
        for level, quantile in zip(LEVELS, quantiles, strict=True):
            share, error = share_below(post.samples[name], quantile, level)
            error = np.hypot(error, np.sqrt(level * (1 - level) / worth))
            assert abs(share - level) < 4 * error, (name, level, share, error)


@pytest.mark.filterwarnings("ignore::UserWarning")  # the error of a short run is taken into account
@pytest.mark.parametrize("auxiliaries", ["posterior", "uniform"])
@pytest.mark.parametrize("name", ["bivariate_normal", "beta_binomial", "kupper_haseman"])
def test_against_weighted_draws_from_the_prior(name, auxiliaries):
    drawn, weight = weighted_prior(name, 1_000_000, 1)
    settings = {"draws": 6000, "progress": False} | ({"n_auxiliaries": 40} if auxiliaries == "uniform" else {})
    post = mhaar(COUNTS, DELTA, likelihood=name, auxiliaries=auxiliaries, seed=2, **settings)
    assert_as_weighted(post, drawn, weight)


ONE_BASE = Counts(*(np.array([float(k)]) for k in (3, 20, 4, 25)))


@lru_cache
def marginal_of_one_base(name, epsilon, delta, s, shared):
    """For both auxiliaries, once."""
    return log_marginal(LIKELIHOODS[name], ONE_BASE, epsilon, delta, s, shared)


@pytest.mark.parametrize("auxiliaries", ["posterior", "uniform"])
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_what_the_averaged_move_averages_is_the_marginal_likelihood(name, auxiliaries):
    """Its weights w, with nodes of a cubature in the place of pairs drawn from q, on a grid of θ."""
    law, counts = LIKELIHOODS[name], ONE_BASE
    shared = {
        "binomial": [()],
        "bivariate_normal": [(0.02, 0.01), (-0.003, -0.004)],
        "beta_binomial": [(0.0,), (0.03,)],
    }
    (u, weight_u), (t, weight_t) = rule_of(16), rule_of(16)
    u, v = (part.ravel() for part in np.meshgrid(u, t**4, indexing="ij"))
    log_node = np.log(np.outer(weight_u, 4 * t**3 * weight_t)).ravel()[:, None]
    grid = itertools.product((0.3, 2.0, 4.0), (0.02, 0.5, 0.97), (0.0, 0.01), shared.get(name, [(0.0,), (2e-4,)]))
    density = jax.jit(law.log_density, compiler_options=compiler_options(0, uses_earlier_emitters(0)))
    for epsilon, s, delta, values in grid:
        alpha, beta, log_jacobian = region.layer_map(u, v, epsilon, delta, s)
        points = region.images(alpha, beta).reshape(1, -1, 2)
        with jax.enable_x64(True):
            alpha, beta = points[..., 0], points[..., 1]
            log_q = law.proposal(counts, auxiliaries)[0].log_density(alpha, beta)
            log_weight = density(counts, alpha, beta, *values) - log_q
            inside = in_layer(*fold(alpha, beta), epsilon, delta, s)  # but for rounding, all are
            log_mass = np.broadcast_to(log_node + log_jacobian[:, None], (u.size, 4)).reshape(1, -1)
            inside &= (alpha > 0) & (alpha < 1) & (beta > 0) & (beta < 1)  # where images round to the edge
            total = _log_sums(inside, log_weight + log_q + log_mass) - log_layer_area(epsilon, delta, s)
        assert inside.mean() > 0.9
        assert total == pytest.approx(marginal_of_one_base(name, epsilon, delta, s, values), abs=1e-4)


# 90% intervals of Table 1 of MCMC-DP-Est, whose ends carry a Monte Carlo error of 0.1 to 0.3
TABLE_1 = {
    "A1": (5.52, 10.52),
    "A2": (4.95, 10.00),
    "A3_sigma0.1": (1.29, 2.53),
    "A4_sigma0.1": (1.00, 2.12),
    "A4_sigma0.05": (2.80, 7.68),
    "A4_sigma0.01": (4.61, 9.62),
}


@pytest.mark.slow
# A tail may be worth fewer draws than the bulk, as is then told.
@pytest.mark.filterwarnings("ignore::bayes_dp.bayes.convergence.ConvergenceWarning")
@pytest.mark.parametrize("name", TABLE_1)
def test_published_counts(name):
    """R-hat below 1.01 and 1000 effective draws of all four parameters; intervals as published within their error."""
    folder = os.environ.get("BAYES_DP_DATA")
    if folder is None:
        pytest.skip("BAYES_DP_DATA is not set")
    counts = json.loads((Path(folder) / "mcmc_dp_est_counts.json").read_text())["algorithms"][name]
    data = bdp.ErrorCounts(counts["false_positives"], 100, counts["false_negatives"], 100, design="cross_fed")
    post = bdp.estimate(data, 1e-3, likelihood="bivariate_normal", progress=False)
    assert max(post.diagnostics["rhat"].values()) < 1.01
    assert min(post.diagnostics["ess_bulk"].values()) >= 1000
    assert post.interval(0.9) == pytest.approx(TABLE_1[name], abs=0.35)
