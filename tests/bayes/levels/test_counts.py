"""Levels of error counts: golden values, the plain integral, and what must hold whatever the family."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.bayes.families.laplace import LAPLACE
from bayes_dp.bayes.families.pure import PURE
from bayes_dp.bayes.families.tables import LevelTables
from bayes_dp.bayes.levels.counts import CountLevels
from tests.bayes.families.test_families import ALL, LOGISTIC, OWN_GAUSSIAN

FAMILIES = {"gaussian": GAUSSIAN, "laplace": LAPLACE, "pure": PURE, "own_logistic": LOGISTIC}
# family, X, N0, Y, N1, θ, s (1 where tight) -> log L (mpmath)
GOLDEN = [
    ("gaussian", 10, 100, 20, 120, 1.5, 0.4, -16.5205084609173),
    ("gaussian", 10, 100, 20, 120, 1.5, 1, -13.4334964977692),
    ("gaussian", 0, 100, 0, 100, 3.0, 0.0, -21.4982075049757),
    ("gaussian", 100, 1000, 250, 1000, 1.9, 0.999, -10.8811788703259),
    ("gaussian", 50, 100, 50, 100, 2.0, 0.5, -26.1781470395902),
    ("gaussian", 90, 100, 80, 100, 1.2, 0.3, -19.5707208583301),
    ("gaussian", 3, 1000000, 400000, 1000000, 2.0, 0.7, -35953.253307402),
    ("gaussian", 1000000, 10000000, 4000000, 10000000, 1.2, 0.9, -128088.872375523),
    ("gaussian", 0, 1, 1, 1, 1.0, 0.5, -1.26025790243964),
    ("laplace", 10, 100, 20, 120, 2.5, 0.4, -9.49956352274001),
    ("laplace", 10, 100, 20, 120, 3.0, 1, -7.52446701573321),
    ("laplace", 0, 50, 25, 60, 1.0, 0.8, -16.8353343648835),
    ("pure", 40, 100, 40, 100, 1.2, 0.5, -9.90926953309509),
    ("own_logistic", 15, 80, 30, 90, 2.0, 0.6, -8.34084882647647),
]


def log_likelihood(family, counts, theta, s):
    law = CountLevels(counts, family)
    tables, theta = LevelTables(law, 60.0), np.array([theta])
    if s == 1:
        found = law.times @ (tables.log_densities(theta)[:, 0] - family.log_density(theta)[0])
    else:
        area = family.log_layer(theta * s, theta * (1 - s))[0]
        found = tables.log_masses(theta, np.array([[s]]))[0, 0] - len(counts) * area
    return float(found - law.constant)


@pytest.mark.parametrize(("name", "x", "n0", "y", "n1", "theta", "s", "wanted"), GOLDEN)
def test_golden(name, x, n0, y, n1, theta, s, wanted):
    found = log_likelihood(FAMILIES[name], bdp.ErrorCounts(x, n0, y, n1), theta, s)
    assert found == pytest.approx(wanted, abs=1e-8, rel=1e-9)


def test_the_golden_values_are_those_of_the_file():
    folder = os.environ.get("BAYES_DP_GOLDEN")
    if not folder:
        pytest.skip("BAYES_DP_GOLDEN is not set")
    rows = [row for row in json.loads((Path(folder) / "fdp.json").read_text()) if row["kind"] == "loglik"]
    fields = ("family", "X", "N0", "Y", "N1", "theta")
    named = [
        (*(row[name] for name in fields), 1 if row["s"] == "tight" else row["s"], float(row["loglik"])) for row in rows
    ]
    assert named == GOLDEN


def slow_density(family, counts, t, corner):
    """∫ p_a p_b(f) (−∂f/∂t) between the kinks, from the definition."""
    (x,), (n0,), (y,), (n1,) = counts.false_positives, counts.negatives, counts.false_negatives, counts.positives
    x, y = (x, y) if corner == 0 else (n0 - x, n1 - y)
    a, b = stats.beta(x + 1, n0 - x + 1), stats.beta(y + 1, n1 - y + 1)

    def integrand(logit):
        alpha, rest = special.expit(logit), special.expit(-logit)
        log_beta, _, rate = family.curve(np.log(alpha), np.log(rest), np.array(t))
        return a.pdf(alpha) * b.pdf(np.exp(log_beta)) * np.exp(rate) * alpha * rest

    kinks = special.logit(family.kinks(np.array(t)))
    edges = np.unique([*np.linspace(-60.0, 60.0, 601), *kinks])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2
    return float((integrand(edges[:-1, None] + half + half * nodes) * weights * half).sum())


@pytest.mark.parametrize("family", ALL, ids=[family.name for family in ALL])
@pytest.mark.parametrize("base", [(10, 100, 20, 120), (0, 30, 0, 30), (30, 30, 0, 20), (0, 1, 1, 1), (15, 30, 15, 30)])
def test_the_density_against_the_plain_integral(family, base):
    counts = bdp.ErrorCounts(*base)
    law = CountLevels(counts, family)
    for t in (0.05, 0.7, 2.5):
        found = law.log_density(np.array([0, 1]), np.full((2, 1), t))[:, 0]
        wanted = [np.log(slow_density(family, counts, t, corner)) for corner in (0, 1)]
        assert found == pytest.approx(wanted, abs=1e-8)


def test_gaussian_by_convolution_is_gaussian_along_the_curve():
    counts = bdp.ErrorCounts(
        [0, 100, 999, 3], [100, 1000, 1000, 10**6], [0, 250, 5, 4 * 10**5], [100, 1000, 1000, 10**6]
    )
    fast, slow = (CountLevels(counts, family) for family in (GAUSSIAN, OWN_GAUSSIAN))
    rows, t = np.arange(8), np.tile([0.1, 1.0, 3.0, 5.0], (8, 1))
    np.testing.assert_allclose(fast.log_density(rows, t), slow.log_density(rows, t), atol=1e-7, rtol=1e-9)


@pytest.mark.parametrize("family", ALL[:5], ids=[family.name for family in ALL[:5]])
@pytest.mark.parametrize("base", [(10, 100, 20, 120), (0, 1, 1, 1), (0, 40, 0, 40), (20, 40, 20, 40), (39, 40, 38, 40)])
def test_the_whole_square_holds_every_pair_of_rates(family, base):
    """The level has a density that integrates to one, so that L(∞, 0) = 1/((N0+1)(N1+1))."""
    law = CountLevels(bdp.ErrorCounts(*base), family)
    reach = 40.0 if family.name in ("gaussian", "like gaussian") else 300.0
    reach = min(reach, getattr(family, "_top", reach))
    mass = LevelTables(law, reach).log_masses(np.array([reach]), np.array([[0.0]]))[0, 0]
    assert mass == pytest.approx(0.0, abs=1e-7)


@pytest.mark.parametrize("family", ALL[:4], ids=[family.name for family in ALL[:4]])
def test_reflected_counts_have_the_same_likelihood(family):
    counts, mirrored = bdp.ErrorCounts(10, 100, 20, 120), bdp.ErrorCounts(90, 100, 100, 120)
    for theta, s in ((0.5, 0.2), (2.0, 0.9), (3.0, 1)):
        assert log_likelihood(family, counts, theta, s) == pytest.approx(
            log_likelihood(family, mirrored, theta, s), abs=1e-9
        )


@pytest.mark.parametrize("family", ALL[:4], ids=[family.name for family in ALL[:4]])
def test_thin_layers_come_near_the_tight_limit(family):
    counts = bdp.ErrorCounts([10, 3], [100, 50], [20, 20], [120, 50])
    tight = log_likelihood(family, counts, 2.0, 1)
    assert log_likelihood(family, counts, 2.0, 0.9999) == pytest.approx(tight, abs=0.05)
    assert log_likelihood(family, counts, 2.0, 1 - 1e-9) == pytest.approx(tight, abs=1e-6)


def test_pure_is_approx_at_delta_0():
    from bayes_dp.bayes.exact.marginal import MarginalLikelihood

    counts = bdp.ErrorCounts([10, 0, 45], [100, 50, 90], [20, 20, 44], [120, 50, 90])
    columns = counts.false_positives, counts.negatives, counts.false_negatives, counts.positives
    for epsilon, s in ((0.5, 0.1), (2.0, 0.7), (6.0, 0.0)):
        wanted = MarginalLikelihood(*columns).total(np.array([epsilon]), np.zeros(1), np.array([[s]]))[0, 0]
        assert log_likelihood(PURE, counts, epsilon, s) == pytest.approx(wanted, abs=1e-8)


@pytest.mark.parametrize("family", ALL[:4], ids=[family.name for family in ALL[:4]])
def test_bases_with_the_same_counts_are_tabulated_once(family):
    once, twice = bdp.ErrorCounts([10, 3], [100, 50], [20, 20], [120, 50]), [0, 1, 0, 0]
    many = bdp.ErrorCounts(
        *(column[twice] for column in (once.false_positives, once.negatives, once.false_negatives, once.positives))
    )
    law = CountLevels(many, family)
    assert sorted(law.times) == [1, 3]
    assert list(law.times[law.base]) == [3, 1, 3, 3]
    wanted = 3 * log_likelihood(family, once[0], 2.0, 0.3) + log_likelihood(family, once[1], 2.0, 0.3)
    assert log_likelihood(family, many, 2.0, 0.3) == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize("family", ALL[:4], ids=[family.name for family in ALL[:4]])
def test_draws_of_rates_lie_on_the_boundary_of_their_level(family):
    law = CountLevels(bdp.ErrorCounts(30, 100, 30, 100), family)
    rng = np.random.default_rng(0)
    row, t = np.repeat([0, 1], 2000), np.tile([0.5, 1.5], 2000)
    alpha, beta = law.draw_rates(row, t, rng)
    low, high = np.where(row, 1 - alpha, alpha), np.where(row, 1 - beta, beta)
    np.testing.assert_allclose(family(low, t), high, atol=1e-9)
    # Their distribution along the lower half at t = 0.5, against the density by quadrature.
    mine = alpha[(row == 0) & (t == 0.5)]
    grid = np.linspace(1e-6, 1 - 1e-6, 20_001)
    log_beta, _log_other, rate = family.curve(np.log(grid), np.log1p(-grid), np.array(0.5))
    density = stats.beta(31, 71).pdf(grid) * stats.beta(31, 71).pdf(np.exp(log_beta)) * np.exp(rate)
    cdf = np.cumsum(density) / density.sum()
    assert stats.kstest(mine, lambda x: np.interp(x, grid, cdf)).pvalue > 1e-3


def test_draws_of_rates_reach_into_the_tails():
    law = CountLevels(bdp.ErrorCounts(30, 100, 30, 100), GAUSSIAN)
    alpha, _ = law.draw_rates(np.zeros(20_000, int), np.full(20_000, 0.5), np.random.default_rng(0))
    grid = np.linspace(1e-6, 1 - 1e-6, 20_001)
    log_beta, _, rate = GAUSSIAN.curve(np.log(grid), np.log1p(-grid), np.array(0.5))
    density = stats.beta(31, 71).pdf(grid) * stats.beta(31, 71).pdf(np.exp(log_beta)) * np.exp(rate)
    low, high = np.interp([0.001, 0.999], np.cumsum(density) / density.sum(), grid)
    assert ((alpha < low) | (alpha > high)).mean() == pytest.approx(0.002, abs=0.0013)


def test_draws_of_rates_in_pieces_belong_to_their_rows(monkeypatch):
    law = CountLevels(bdp.ErrorCounts([10, 70], [100, 100], [70, 10], [100, 100]), GAUSSIAN)
    monkeypatch.setattr("bayes_dp.bayes.levels.counts._CHUNK", 33 * 50)
    alpha, _ = law.draw_rates(np.repeat([0, 2], 100), np.full(200, 0.75), np.random.default_rng(0))
    assert alpha[:100].max() < 0.4 < alpha[100:].min()
