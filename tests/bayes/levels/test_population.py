"""The levels of records: against all assignments of layers, in closed form, and where likelihoods are narrow."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.bayes.levels.population import _CONCENTRATION, Population, above_alone

COUNTS = bdp.ErrorCounts([5, 20, 40, 20, 1], [100, 100, 100, 100, 4], [60, 30, 45, 30, 2], [100, 100, 100, 100, 4])


def of(post, limit=0.7):
    """The levels of the distinct records, and which of them a base is."""
    return Population.of(post._fit, post._law, limit), post._law.base


def layers_of(found):
    """First and last cell of every layer, the prior of its share, and what each record says of it (n, layers)."""
    area = np.exp(GAUSSIAN.log_layer(found.edges[:-1], np.diff(found.edges)))
    cells = [(i, j) for j in range(len(area)) for i in range(j + 1)]
    prior = _CONCENTRATION * np.array([1.0 / (j + 1) / len(area) for _, j in cells])
    density = np.array([found.mass[:, i : j + 1].sum(axis=1) / area[i : j + 1].sum() for i, j in cells]).T
    return cells, prior, density


@pytest.mark.parametrize("rows", [([5, 20], [60, 70]), ([1, 8], [30, 88]), ([10, 10], [50, 50]), ([30], [40])])
@pytest.mark.parametrize("limit", [0.3, 1.0])
def test_against_all_assignments_of_layers(rows, limit):
    """P(layers of one or two records) ∝ the data's, times the Dirichlet-multinomial probability of the layers."""
    post = bdp.estimate(bdp.ErrorCounts(rows[0], 100, rows[1], 100), family="gaussian")
    found, base = of(post, limit)
    cells, prior, density = layers_of(found)
    far = found.edges[:-1] >= limit
    beyond = np.array([[(m * far)[i : j + 1].sum() / m[i : j + 1].sum() for i, j in cells] for m in found.mass])
    if len(base) == 1:
        weight = density[0] * prior
        wanted = [weight @ beyond[0] / weight.sum()]
    else:
        joint = np.outer(density[base[0]] * prior, density[base[1]] * prior)
        joint += np.diag(density[base[0]] * density[base[1]] * prior)  # Γ(a + 2)/Γ(a) = a(a + 1)
        wanted = [joint.sum(axis=1) @ beyond[base[0]] / joint.sum(), joint.sum(axis=0) @ beyond[base[1]] / joint.sum()]
    assert found.above(limit)[base] == pytest.approx(wanted, abs=0.03)


@pytest.mark.parametrize("p", [0.05, 0.5, 0.95])
def test_quantiles_are_those_of_the_cells(p):
    post = bdp.estimate(COUNTS, family="gaussian")
    found, _ = of(post)
    level = found.quantile(p)
    log_h = post._fit.tables.log_masses_by_base
    for i, end in enumerate(level):
        outer = np.minimum(found.edges[1:], end)
        inner = np.minimum(found.edges[:-1], outer)
        below = np.where(outer > inner, np.exp(log_h(outer, (inner / outer)[:, None])[i, :, 0]), 0.0)
        whole = np.exp(log_h(found.edges[1:], (found.edges[:-1] / found.edges[1:])[:, None])[i, :, 0])
        assert found.rate[i] @ below / (found.rate[i] @ whole) == pytest.approx(p, abs=2e-3)


def test_what_one_base_says_alone_is_the_share_of_its_rates():
    """α and β of their own flat posteriors, and the level of each pair."""
    post = bdp.estimate(COUNTS, family="pure")
    rng = np.random.default_rng(0)
    shape = (200_000, len(COUNTS))
    a = rng.beta(COUNTS.false_positives + 1, COUNTS.negatives - COUNTS.false_positives + 1, shape)
    b = rng.beta(COUNTS.false_negatives + 1, COUNTS.positives - COUNTS.false_negatives + 1, shape)
    level = np.log(np.max([(1 - b) / a, (1 - a) / b, b / (1 - a), a / (1 - b)], axis=0))
    wanted = (level > 0.7).mean(axis=0)
    assert above_alone(post._fit, 0.7)[post._law.base] == pytest.approx(wanted, abs=6e-3)


def test_many_runs_speak_for_themselves():
    """Whatever the others show: α and β are known to 1e-3."""
    runs, level = 10**6, np.array([0.0, 0.2, 0.5, 1.0, 3.0])
    beta = special.ndtr(special.ndtri(0.7) - level)
    counts = bdp.ErrorCounts([3 * 10**5] * 5, runs, (beta * runs).astype(int), runs)
    found, base = of(bdp.estimate(counts, family="gaussian"), 0.5)
    low, median, high = (found.quantile(p)[base] for p in (0.001, 0.5, 0.999))
    assert median == pytest.approx(level, abs=2e-3)
    assert (high - low < 0.03).all()
    assert found.above(0.5)[base] == pytest.approx([0, 0, 0.5, 1, 1], abs=0.3)


def test_bases_with_the_same_counts_have_the_same_posterior():
    found, base = of(bdp.estimate(COUNTS, family="gaussian"))
    assert base[1] == base[3]
    assert len(found.mass) == len(COUNTS) - 1


@pytest.mark.filterwarnings("error")
def test_a_base_far_from_all_others_and_many_runs():
    """One shows all there is, and no other does anything: its level is its own."""
    n, runs = 30, 10**6
    counts = bdp.ErrorCounts([3 * 10**5] * n + [10], runs, [69 * 10**4] * n + [10], runs)
    found, base = of(bdp.estimate(counts, family="gaussian"))
    low, high = (found.quantile(p)[base] for p in (0.001, 0.999))
    assert low[:n] == pytest.approx(0.0285, abs=0.006)
    assert low[n] == pytest.approx(8.4, abs=0.2)
    assert high[n] - low[n] < 1.0
    assert (high[:n] < 0.05).all()


@pytest.mark.parametrize("errors", [0, 1])
def test_one_challenge_of_each_kind(errors):
    found, _ = of(bdp.estimate(bdp.ErrorCounts(errors, 1, 0, 1), family="gaussian"))
    low, median, high = (found.quantile(p)[0] for p in (0.05, 0.5, 0.95))
    assert 0 < low < median < high < 20
    assert 0 < found.above(0.7)[0] < 1
    assert found.above(0.0) == pytest.approx(1.0)
