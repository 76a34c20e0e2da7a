"""Claims of another accountant, where it is installed."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.tradeoff import Gaussian, require_symmetric
from bayes_dp.tradeoff.polygon import polygon_of_profile


def test_a_polygon_of_a_privacy_profile():
    f = Gaussian(1.5)
    epsilon = np.linspace(0, 12, 4001)
    polygon = polygon_of_profile(epsilon, f.delta_at(epsilon))
    require_symmetric(polygon)
    alpha = np.linspace(0, 1, 501)
    assert np.all(polygon(alpha) <= f(alpha) + 1e-12)
    assert np.max(f(alpha) - polygon(alpha)) < 1e-6
    assert polygon.epsilon_at(1e-5) == pytest.approx(f.epsilon_at(1e-5), abs=1e-4)


def test_what_is_no_event():
    for wrong in (None, 3, "PLD", Gaussian(1.0)):
        with pytest.raises(bdp.InputError, match=r"mechanism must be an event .* of dp_accounting"):
            bdp.Claim.accounted(wrong)


class TestInstalled:
    @pytest.fixture
    def package(self):
        return pytest.importorskip("dp_accounting", reason="dp-accounting is not installed")

    def test_events_that_are_computed_here(self, package):
        step = package.PoissonSampledDpEvent(0.01, package.GaussianDpEvent(1.1))
        claim = bdp.Claim.accounted(package.SelfComposedDpEvent(step, 1000), 1e-5)
        assert claim.epsilon == bdp.Claim.dp_sgd(1.1, 0.01, 1000, 1e-5).epsilon
        both = package.ComposedDpEvent([package.GaussianDpEvent(2.0), package.NoOpDpEvent()] * 4)
        assert bdp.Claim.accounted(both).below == Gaussian(1.0)

    def test_events_by_the_accountant(self, package):
        laplace = package.SelfComposedDpEvent(package.LaplaceDpEvent(2.0), 1)
        claim = bdp.Claim.accounted(laplace, 1e-3)
        assert claim.epsilon == pytest.approx(bdp.tradeoff.Laplace(0.5).epsilon_at(1e-3), abs=1e-3)
        require_symmetric(claim.below)
        assert claim.test(bdp.ErrorCounts(1, 100, 2, 100)).refuted
        mixed = package.ComposedDpEvent([laplace, package.GaussianDpEvent(3.0)])
        accountant = package.pld.PLDAccountant().compose(mixed)
        assert bdp.Claim.accounted(mixed, 1e-5).epsilon == pytest.approx(accountant.get_epsilon(1e-5), abs=1e-3)

    def test_privacy_loss_distributions(self, package):
        from dp_accounting.pld import privacy_loss_distribution

        loss = privacy_loss_distribution.from_gaussian_mechanism(2.0)
        claim = bdp.Claim.accounted(loss, 1e-5)
        assert claim.epsilon == pytest.approx(Gaussian(0.5).epsilon_at(1e-5), abs=1e-3)
        assert claim.test(bdp.ErrorCounts(1, 100, 2, 100)).refuted

    def test_events_without_a_privacy_loss(self, package):
        with pytest.raises(bdp.InputError, match="no privacy loss distribution of a UnsupportedDpEvent"):
            bdp.Claim.accounted(package.UnsupportedDpEvent())
        with pytest.raises(bdp.InputError, match="no finite epsilon"):
            bdp.Claim.accounted(package.NonPrivateDpEvent())
