"""Games of one datum: data sets made one by one against sums, and the theory inside the simulation's error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp import games, leakage
from bayes_dp.checks import InputError
from models.empirical_mean import Bernoulli, EmpiricalMean, Normal

P = np.random.default_rng(0).uniform(0.25, 0.75, 60)
Z = (P <= 0.5) * 1.0
LAW = Bernoulli(P)


def one_by_one(mechanism: EmpiricalMean) -> games.DataSets:
    """The same mechanism, with all of its data."""

    def released(data, rng):
        rows = rng.permutation(len(data))[: mechanism.rows]
        return data[rows].mean(axis=0) + mechanism.noise / np.sqrt(len(rows)) * rng.normal(size=data.shape[1])

    return games.DataSets(lambda rng, n: mechanism.data(n, rng), released, mechanism.n)


@pytest.mark.parametrize(("noise", "part"), [(0.0, 1.0), (0.7, 1.0), (0.0, 0.5), (0.4, 0.25)])
def test_sums_are_as_data_sets(noise, part):
    mechanism = EmpiricalMean(LAW, 20, noise, part)
    twin = one_by_one(mechanism)
    for which in ("without", "with_"):
        given = 2500 if which == "without" else np.tile(Z, (2500, 1))
        fast, slow = (
            mechanism.likelihood_ratio(getattr(each, which)(given, np.random.default_rng(seed)), Z)
            for seed, each in ((1, mechanism), (2, twin))
        )
        assert stats.ks_2samp(fast, slow).pvalue > 1e-3


def test_normal_data_follow_the_theory_exactly():
    rng = np.random.default_rng(3)
    law = Normal(rng.normal(size=30), rng.uniform(0.5, 2, 30))
    z = law.mean + rng.normal(size=30) * 1.5
    for part in (1.0, 0.4):
        mechanism = EmpiricalMean(law, 50, 0.3, part)
        table = games.fixed_datum(mechanism, z, mechanism.likelihood_ratio, rounds=20_000)
        m = mechanism.score(z)
        for alpha in (0.01, 0.1, 0.4):
            seen = table.tpr_at(alpha).value
            assert seen == pytest.approx(float(leakage.power(m, alpha, subsample=part)), abs=0.03)


def test_the_average_datum():
    mechanism = EmpiricalMean(Normal(np.zeros(200), np.ones(200)), 100)
    table = games.average_datum(mechanism, mechanism.likelihood_ratio, rounds=20_000, seed=1)
    data = mechanism.data(2000, np.random.default_rng(2))
    wanted = leakage.average_power([mechanism.score(z) for z in data], 0.1)
    assert table.tpr_at(0.1).value == pytest.approx(float(wanted), abs=0.025)
    assert abs(table.member.mean() - 0.5) < 0.02


def test_a_plug_in_loses_and_a_scalar_product_more():
    rng = np.random.default_rng(4)
    law = Normal(np.zeros(300), rng.uniform(0.05, 3, 300))
    mechanism = EmpiricalMean(law, 100)
    z, points = law.data(1, rng)[0], law.data(100, rng)
    attacks = {
        "best": mechanism.likelihood_ratio,
        "plug-in": lambda o, z: leakage.plug_in(o, z, points, 100),
        "product": lambda o, z: leakage.scalar_product(o, z, points[0]),
    }
    found = [games.fixed_datum(mechanism, z, attack, rounds=3000).auc().value for attack in attacks.values()]
    assert found[0] > found[1] > found[2] > 0.6


def test_targets_in_rows_are_bases_of_repeated_runs():
    mechanism = EmpiricalMean(LAW, 30)
    table = games.fixed_datum(mechanism, np.array([Z, 1 - Z]), mechanism.likelihood_ratio, rounds=400)
    found = games.counts(table, per_base=True)
    assert found.base == ("0", "1")
    assert found.design == "repeated"
    assert (found.negatives + found.positives == 400).all()
    assert found.false_positives[0] < found.false_positives[1]  # the first one leaks more
    pooled = games.counts(table)
    assert pooled.false_positives.sum() == found.false_positives.sum()
    bdp.audits.clopper_pearson(found, 1e-2)  # which other designs are refused


def test_posteriors_of_the_games_find_the_truth():
    mechanism = EmpiricalMean(Normal(np.zeros(40), np.ones(40)), 20)
    z = np.full(40, 1.0)
    truth = np.sqrt(mechanism.score(z))
    inside = 0
    for seed in range(20):
        table = games.fixed_datum(mechanism, z, mechanism.likelihood_ratio, rounds=500, seed=seed)
        low, high = bdp.estimate(games.counts(table), family="gaussian", strength="tight").interval(0.9)
        inside += low <= truth <= high
    assert 14 <= inside <= 20  # binomial(20, 0.9) but for one in a hundred


def test_the_seed_decides():
    mechanism = EmpiricalMean(LAW, 30)
    first, again, other = (
        games.fixed_datum(mechanism, Z, mechanism.likelihood_ratio, rounds=50, seed=seed) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


GOOD = games.DataSets(lambda rng, n: np.zeros((n, 2)), lambda data, rng: data.mean(axis=0), 5)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: games.fixed_datum(GOOD, [1.0, 2.0], lambda o, z: o), "score.* must be of the shape .*, not"),
        (lambda: games.fixed_datum(GOOD, [1.0, 2.0], lambda o, z: o[:, 0] * np.nan), r"score.*\[0\] must lie in"),
        (lambda: games.fixed_datum(GOOD, [[[1.0]]], lambda o, z: o[:, 0]), "target must be of the shape"),
        (lambda: games.fixed_datum(3, [1.0], lambda o, z: o), "mechanism must have the methods data, without"),
        (lambda: games.average_datum(GOOD, 3), "score must be a function"),
        (lambda: games.DataSets(3, lambda data, rng: data, 3), "law must be a function"),
        (lambda: games.DataSets(lambda rng, n: np.zeros(n), lambda d, r: d, 3).data(2, None), r"\(n, features\), not"),
        (lambda: games.DataSets(lambda rng, n: np.zeros((n, 2)), lambda d, r: d, 3).without(2, None), r"\(d,\), not"),
        (lambda: games.counts([1, 2]), "table must be a GuessTable, not list"),
        (lambda: EmpiricalMean(LAW, 10, 0.0, 0.25), "subsample must leave a whole number of rows, not 2.5 of 10"),
    ],
)
def test_what_cannot_be(made, message):
    with pytest.raises(InputError, match=message):
        made()
