"""Adaptive integration against integrals with known values."""

import numpy as np
import pytest
from numpy.polynomial import legendre
from scipy import stats

from bayes_dp.bayes.grid.panels import ORDER, Piecewise
from bayes_dp.bayes.grid.quadrature import integrate


def gaussian(mean, covariance):
    law = stats.multivariate_normal(mean, covariance)
    return lambda u, v: law.logpdf(np.stack(np.broadcast_arrays(u[:, None], v), axis=-1))


@pytest.mark.parametrize("scale", [0.1, 1e-2, 1e-3])
@pytest.mark.parametrize("correlation", [0.0, -0.9, 0.99])
def test_gaussians_narrow_and_correlated(scale, correlation):
    covariance = scale**2 * np.array([[1, correlation], [correlation, 1]])
    mean = [0.41, 0.53] if scale < 0.05 else [0.5, 0.5]
    cells = integrate(gaussian(mean, covariance), two=True)
    inside = stats.multivariate_normal(mean, covariance).cdf([1, 1], lower_limit=[0, 0]) if scale > 0.05 else 1.0
    assert cells.log_total == pytest.approx(np.log(inside), abs=1e-5 if scale > 0.05 else 1e-7)
    if scale < 0.05:
        for axis in (0, 1):
            p = np.array([0.01, 0.05, 0.5, 0.95, 0.99])
            found = cells.marginal(axis).quantile(p)
            np.testing.assert_allclose(found, stats.norm(mean[axis], scale).ppf(p), atol=2e-4 * scale)
    assert cells.error < 1e-3


def test_one_dimension_and_a_sharp_step():
    rate = 200.0
    cells = integrate(
        lambda u, v: (np.log(rate) - rate * (u - 0.3) - np.where(u < 0.3, 800.0, 0.0))[:, None] + 0 * v, False
    )
    # a jump is the worst case: it is found, and the error estimate owns up to what is left
    assert cells.log_total == pytest.approx(0.0, abs=max(1e-3, 3 * cells.error))


def test_two_separate_peaks_are_both_found():
    def log_density(u, v):
        one = gaussian([0.2, 0.3], 1e-4 * np.eye(2))(u, v)
        two = gaussian([0.8, 0.6], 4e-4 * np.eye(2))(u, v)
        return np.logaddexp(np.log(0.3) + one, np.log(0.7) + two)

    cells = integrate(log_density, two=True)
    assert cells.log_total == pytest.approx(0.0, abs=1e-6)
    assert float(cells.marginal(0).cdf(np.array(0.5))) == pytest.approx(0.3, abs=1e-5)


def test_samples_follow_the_density():
    cells = integrate(gaussian([0.4, 0.6], 1e-3 * np.array([[1, 0.8], [0.8, 1]])), two=True)
    u, v = cells.sample(20_000, np.random.default_rng(4))
    scale = np.sqrt(1e-3)
    assert stats.kstest(u, stats.norm(0.4, scale).cdf).pvalue > 1e-3
    assert stats.kstest(v, stats.norm(0.6, scale).cdf).pvalue > 1e-3
    assert np.corrcoef(u, v)[0, 1] == pytest.approx(0.8, abs=0.01)


def test_piecewise_cdf_and_quantile_are_inverse():
    cells = integrate(gaussian([0.4, 0.6], 1e-3 * np.eye(2)), two=True)
    marginal = cells.marginal(1)
    assert isinstance(marginal, Piecewise)
    p = np.linspace(1e-4, 1 - 1e-4, 101)
    np.testing.assert_allclose(marginal.cdf(marginal.quantile(p)), p, atol=1e-12)
    far = np.array([0.0, 1e-14, 1e-9, 1 - 1e-9, 1 - 1e-14, 1.0])  # where the density is next to none
    np.testing.assert_allclose(marginal.cdf(marginal.quantile(far)), far, atol=1e-14)
    u, weight = marginal.nodes()
    assert weight.sum() == pytest.approx(1.0, abs=1e-12)
    assert weight @ u == pytest.approx(0.6, abs=1e-6)
    np.testing.assert_allclose(
        marginal.density(np.array([0.6, -1.0, 2.0])), [1 / np.sqrt(2e-3 * np.pi), 0, 0], rtol=1e-3
    )


def test_quantiles_where_newton_does_not_arrive():
    """A density that is zero on a panel, and has a ninefold zero at the end of the next."""
    edges, x = np.array([0.0, 0.5, 1.0]), legendre.leggauss(ORDER)[0]
    rise = legendre.legfit(x, ((x + 1) / 2) ** 9, ORDER - 1)
    flat = np.append(0.0, np.zeros(ORDER - 1))
    law = Piecewise(edges, np.stack([flat, 20 * rise]), np.array([0.0, 0.0, 1.0]))
    p = np.array([1e-9, 1e-3, 0.5, 1.0])
    np.testing.assert_allclose(law.quantile(p), 0.5 + 0.5 * p**0.1, rtol=1e-7)
    assert law.quantile(np.array([0.0, 1e-30])) == pytest.approx(0.5)
