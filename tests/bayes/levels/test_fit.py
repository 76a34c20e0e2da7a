"""What a fit is asked for besides its marginals, and functions of its parameter as coordinates."""

import numpy as np
import pytest
from scipy import special, stats
from scipy.integrate import cumulative_trapezoid

import bayes_dp as bdp
from bayes_dp.bayes.grid.axis import axis_of
from bayes_dp.bayes.levels.fit import Mapped
from bayes_dp.bayes.priors import prior_of

COUNTS = bdp.ErrorCounts([5, 20, 20], 100, [60, 30, 30], 100)


def fitted(**options):
    return bdp.estimate(COUNTS, 1e-3, family="gaussian", **options)._fit


def test_the_quantiles_of_the_prior():
    fit = fitted(prior="Uniform(0, 2)")
    assert fit.prior_quantile(np.array([0.5, 0.95])) == pytest.approx([1.0, 1.9], abs=1e-3)


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


@pytest.mark.parametrize("strength", [1e-5, 1e-3, 0.01, 0.03])
def test_members_beyond_the_farthest_keep_their_inner_edge(strength):
    """R(θ) is the whole square from some θ on: the layer of (10 θ, s) is that of (θ, 10 s)."""
    counts = bdp.ErrorCounts([10, 12, 9], [100] * 3, [60, 55, 70], [100] * 3)
    fit = bdp.estimate(counts, family="gaussian", prior="HalfNormal(1000)")._fit
    theta = fit.family.farthest
    found, expected = (
        fit._log_likelihood(np.array([factor * theta]), np.array([[strength * 10 / factor]]))[0, 0]
        for factor in (10.0, 1.0)
    )
    assert found == pytest.approx(expected, rel=1e-9)


def test_a_prior_far_wider_than_the_counts():
    """By a plain sum over μ and the inner edge a = sμ, of the convolution of two Beta laws in Φ⁻¹."""
    x, y, n = [10, 12, 9], [60, 55, 70], 100
    t, u = np.linspace(0, 12, 2401), np.linspace(-9, 9, 4001)

    def law(k):
        return stats.beta.pdf(special.ndtr(-u), k + 1, n - k + 1) * stats.norm.pdf(u)

    d = np.linspace(-18, 18, 2 * len(u) - 1)
    both = [np.convolve(law(k), law(m)) * (u[1] - u[0]) for k, m in zip(x, y, strict=True)]
    below = np.array(
        [cumulative_trapezoid(np.interp(t, d, each) + np.interp(-t, d, each), t, initial=0) for each in both]
    )
    mu = np.exp(np.linspace(np.log(0.2), np.log(5000), 1000))
    value = np.empty(len(mu))
    for i, each in enumerate(mu):
        end = min(each, 12.0)
        a = np.linspace(0, end * (1 - 1e-4), 1500)
        mass = np.array([np.interp(end, t, row) - np.interp(a, t, row) for row in below])
        layers = np.prod(np.maximum(mass, 0) / (special.erfc(a / 2) - special.erfc(each / 2)), axis=0)
        value[i] = np.trapezoid(layers, a) / each
    weight = np.cumsum(value * np.exp(-((mu / 1000) ** 2) / 2) * mu)
    expected = np.interp([0.05, 0.5, 0.95], weight / weight[-1], mu)
    post = bdp.estimate(bdp.ErrorCounts(x, [n] * 3, y, [n] * 3), family="gaussian", prior="HalfNormal(1000)")
    assert [post.quantile(p) for p in (0.05, 0.5, 0.95)] == pytest.approx(expected, rel=0.02)
