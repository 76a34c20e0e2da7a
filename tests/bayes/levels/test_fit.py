"""What a fit is asked for besides its marginals, and functions of its parameter as coordinates."""

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.grid.axis import axis_of
from bayes_dp.bayes.levels.fit import Mapped
from bayes_dp.bayes.priors import prior_of

COUNTS = bdp.ErrorCounts([5, 20, 20], 100, [60, 30, 30], 100)


def fitted(**options):
    return bdp.estimate(COUNTS, 1e-3, family="gaussian", **options)._fit


def test_the_top_of_the_prior_is_its_quantile():
    fit = fitted(prior="Uniform(0, 2)")
    assert fit.prior_top() == pytest.approx(1.9, abs=1e-3)
    assert float(fit.prior_quantile(np.array(0.5))) == pytest.approx(1.0, abs=1e-3)


def test_the_likelihoods_of_bases_multiply_to_that_of_all():
    fit, theta = fitted(), np.array([0.7, 1.5, 2.5])
    for strength in (0.2, 0.9):
        bases = fit.pointwise(theta, np.full(3, strength))
        whole = fit._log_likelihood(_epsilon_of(fit, theta), np.full((3, 1), strength))[:, 0]
        np.testing.assert_allclose(bases @ fit.tables.times, whole, rtol=1e-9)
    bases = fit.pointwise(theta, np.ones(3))
    np.testing.assert_allclose(bases @ fit.tables.times, fit._tight(theta), rtol=1e-9)
    np.testing.assert_allclose(fit._log_likelihood(_epsilon_of(fit, theta), np.ones((3, 1)))[:, 0], fit._tight(theta))


def _epsilon_of(fit, theta):
    """The ε of equal advantage, in which the prior is."""
    grid = np.linspace(0.0, 12.0, 200_001)
    return np.interp(theta, fit.theta(grid), grid)


def test_an_increasing_function_with_an_atom():
    """max(ε − 1, 0) has an atom at 0, which its distribution function counts in."""
    coordinate = axis_of("epsilon", prior_of("epsilon", "Uniform(0, 5)")).coordinate
    mapped = Mapped(coordinate, lambda epsilon: np.maximum(epsilon - 1.0, 0.0))
    assert (mapped.low, mapped.high) == (0.0, pytest.approx(4.0))
    assert mapped.inverse(np.array(-1e-3)) == 0.0
    assert mapped.inverse(np.array(0.0)) == pytest.approx(float(coordinate.inverse(np.array(1.0))), rel=1e-9)
    u = coordinate.inverse(np.array([2.0, 3.0]))
    np.testing.assert_allclose(mapped.value(u), [1.0, 2.0])
    np.testing.assert_allclose(mapped.log_rate(u), coordinate.log_rate(u), rtol=1e-6)
    assert mapped.log_rate(coordinate.inverse(np.array([0.5]))) == -np.inf
