"""Integrals of densities of levels over layers, against laws whose distribution functions are known."""

import numpy as np
import pytest
from scipy import stats

from bayes_dp.bayes.families.tables import LevelTables


class Law:
    """Rows with scipy's densities, whose peaks and widths are only roughly right."""

    def __init__(self, laws, peak, width, owner=None, times=None):
        self.laws, self.peak, self.width = laws, np.array(peak, float), np.array(width, float)
        self.owner = np.arange(len(laws)) if owner is None else np.array(owner)
        self.times = np.ones(self.owner.max() + 1, int) if times is None else np.array(times)

    def log_density(self, rows, t):
        return np.stack([self.laws[row].logpdf(values) for row, values in zip(rows, t, strict=True)])


def log_mass(law, inner, outer):
    """log of the mass between two levels from the nearer tail."""
    with np.errstate(divide="ignore"):
        if inner > law.median():
            return law.logsf(inner) + np.log(-np.expm1(law.logsf(outer) - law.logsf(inner)))
        return law.logcdf(outer) + np.log(-np.expm1(law.logcdf(inner) - law.logcdf(outer)))


LAWS = [
    (stats.norm(2.0, 0.1), 2.0, 0.1),
    (stats.norm(2.0, 0.1), 2.2, 0.3),  # looked for in the wrong place, on the wrong scale
    (stats.norm(3.0, 1e-3), 3.0, 1e-3),
    (stats.norm(-0.5, 0.2), 0.0, 0.08),  # falls from 0 on
    (stats.gamma(3.0, loc=-0.5, scale=0.7), 0.9, 0.9),
    (stats.logistic(2.0, 0.2), 2.0, 0.3),  # log h has nearly a corner on its scale
]


@pytest.mark.parametrize(("law", "peak", "width"), LAWS)
def test_masses_of_layers(law, peak, width):
    tables = LevelTables(Law([law], [peak], [width]), 12.0)
    theta = np.array([0.05, 0.5, 1.7, 1.99, 2.0, 2.05, 2.4, 3.0, 5.0, 10.0])
    strength = np.array([0.0, 0.1, 0.5, 0.8, 0.95, 0.99, 0.9999, 1 - 1e-7])
    found = tables.log_masses(theta, np.tile(strength, (len(theta), 1)))
    for i, t in enumerate(theta):
        for j, s in enumerate(strength):
            thin = (1 - s) * t < 1e-5 * width  # where the mean of the density is as good
            wanted = float(law.logpdf((1 + s) / 2 * t) + np.log((1 - s) * t) if thin else log_mass(law, s * t, t))
            tolerance = 2e-6 + 1e-7 * abs(wanted) if thin else 1e-7 + 3e-8 * abs(wanted)
            assert found[i, j] == pytest.approx(wanted, abs=tolerance), (t, s)


@pytest.mark.parametrize(("law", "peak", "width"), LAWS)
def test_densities(law, peak, width):
    tables = LevelTables(Law([law], [peak], [width]), 12.0)
    t = np.linspace(0.01, 6.0, 301)
    found, wanted = tables.log_densities(t)[0], law.logpdf(t)
    np.testing.assert_allclose(found, wanted, rtol=5e-8, atol=1e-7)


def test_rows_of_one_base_are_added_and_bases_multiplied():
    laws = [stats.norm(2.0, 0.1), stats.norm(1.0, 0.5), stats.norm(1.5, 0.2)]
    tables = LevelTables(Law(laws, [2.0, 1.0, 1.5], [0.1, 0.5, 0.2], owner=[0, 0, 1], times=[1, 3]), 12.0)
    assert len(tables) == 4
    theta, s = 2.1, 0.4
    first, second, third = (law.cdf(theta) - law.cdf(s * theta) for law in laws)
    wanted = np.log(first + second) + 3 * np.log(third)
    assert tables.log_masses(np.array([theta]), np.array([[s]]))[0, 0] == pytest.approx(wanted, abs=1e-9)
    by_base = tables.log_masses_by_base(np.array([theta]), np.array([[s]]))[:, 0, 0]
    assert by_base == pytest.approx([np.log(first + second), np.log(third)], abs=1e-9)


def test_bases_done_in_pieces_are_the_same(monkeypatch):
    laws = [stats.norm(mean, 0.3) for mean in (2.0, 1.0, 1.5, 0.7, 2.5)]
    law = Law(laws, [2.0, 1.0, 1.5, 0.7, 2.5], [0.3] * 5, owner=[0, 0, 1, 2, 2], times=[1, 3, 2])
    theta, s = np.array([1.8, 2.6]), np.array([[0.1, 0.5], [0.2, 0.9]])
    wanted = LevelTables(law, 12.0).log_masses(theta, s)
    monkeypatch.setattr("bayes_dp.bayes.families.tables._CHUNK", 4)
    assert LevelTables(law, 12.0).log_masses(theta, s) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("peak", [5.0, 6.0, 8.0])
def test_a_peak_at_or_beyond_the_reach(peak):
    law = stats.norm(peak, 1.0)
    found = LevelTables(Law([law], [peak], [1.0]), 5.0).log_masses(np.array([3.0, 5.0, 9.0]), np.full((3, 1), 0.1))
    wanted = [log_mass(law, 0.3, 3.0), log_mass(law, 0.5, 5.0), log_mass(law, 0.9, 5.0)]
    assert found[:, 0] == pytest.approx(wanted, abs=1e-7)


def test_densities_of_several_bases():
    laws, t = [stats.norm(2.0, 0.3), stats.norm(1.0, 0.4), stats.norm(1.5, 0.2)], np.array([0.8, 1.4])
    found = LevelTables(Law(laws, [2.0, 1.0, 1.5], [0.3, 0.4, 0.2], owner=[0, 0, 1]), 12.0).log_densities(t)
    wanted = [np.log(laws[0].pdf(t) + laws[1].pdf(t)), laws[2].logpdf(t)]
    np.testing.assert_allclose(found, wanted, atol=1e-7)


def test_a_layer_may_be_as_thin_as_numbers_allow():
    """Its width is that of θ(1 − s), not of a difference of two levels."""
    law, s = stats.norm(2.0, 0.5), 1 - 1e-11
    found = LevelTables(Law([law], [2.0], [0.5]), 12.0).log_masses(np.array([2.3]), np.array([[s]]))[0, 0]
    assert found == pytest.approx(law.logpdf(2.3) + np.log(2.3 * (1 - s)), abs=1e-7)


def test_draws_of_levels():
    laws = [stats.norm(2.0, 0.1), stats.norm(1.0, 0.5)]
    tables = LevelTables(Law(laws, [2.0, 1.0], [0.1, 0.5], owner=[0, 0]), 12.0)
    levels, row = tables.draw(np.full(20_000, 2.05), np.full(20_000, 0.5), np.random.default_rng(0))
    mass = np.array([law.cdf(2.05) - law.cdf(1.025) for law in laws])
    assert np.unique(levels).size > 19_990  # no grid
    assert (row[:, 0] == 1).mean() == pytest.approx(mass[1] / mass.sum(), abs=0.02)
    for i, law in enumerate(laws):
        mine = levels[row[:, 0] == i, 0]
        cdf = lambda t, law=law, m=mass[i]: (law.cdf(t) - law.cdf(1.025)) / m  # noqa: E731
        assert stats.kstest(mine, cdf).pvalue > 1e-3


def test_beyond_the_reach_there_is_nothing():
    tables = LevelTables(Law([stats.norm(2.0, 0.1)], [2.0], [0.1]), 5.0)
    found = tables.log_masses(np.array([5.0, 1e3, 1e6]), np.array([[0.2], [1e-3], [1e-6]]))[:, 0]
    assert found == pytest.approx([0.0, 0.0, 0.0], abs=1e-8)
