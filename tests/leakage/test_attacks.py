"""Attacks on a mean: against the densities of the release, and where they lose what."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from bayes_dp.checks import InputError
from bayes_dp.leakage import alignment, likelihood_ratio, plug_in, scalar_product, score

RNG = np.random.default_rng(0)
MEAN, NOISE = RNG.normal(size=4), np.array([0.0, 0.5, 1.0, 0.0])
COVARIANCE = np.cov(RNG.normal(size=(4, 30)))
RELEASE, TARGETS = RNG.normal(size=(6, 4)), RNG.normal(size=(6, 4))


@pytest.mark.parametrize("rho", [0.2, 1.0])
@pytest.mark.parametrize("covariance", [COVARIANCE, np.diag(COVARIANCE)], ids=["full", "diagonal"])
def test_the_ratio_of_two_densities(rho, covariance):
    k = 10 * rho
    spread = (covariance if covariance.ndim == 2 else np.diag(covariance)) + np.diag(NOISE**2)
    found = likelihood_ratio(RELEASE, TARGETS, MEAN, covariance, 10, noise=NOISE, subsample=rho)
    for i, (o, z) in enumerate(zip(RELEASE, TARGETS, strict=True)):
        without, drawn = (stats.multivariate_normal(MEAN + move, spread / k) for move in (0 * z, (z - MEAN) / k))
        wanted = drawn.logpdf(o) - without.logpdf(o)
        assert found[i] == pytest.approx(wanted, rel=1e-9)
        alone = likelihood_ratio(RELEASE, z, MEAN, covariance, 10, noise=NOISE, subsample=rho)
        assert alone[i] == pytest.approx(wanted, rel=1e-9)


def test_its_mean_and_variance_are_those_of_theorem_3_1():
    n, z = 7, TARGETS[0]
    m = float(score(z, MEAN, COVARIANCE, n))
    release = RNG.multivariate_normal(MEAN, COVARIANCE / n, 100_000)
    for move, sign in ((0, -1), ((z - MEAN) / n, 1)):
        found = likelihood_ratio(release + move, z, MEAN, COVARIANCE, n)
        assert found.mean() == pytest.approx(sign * m / 2, abs=0.02)
        assert found.var() == pytest.approx(m, rel=0.03)
    other = likelihood_ratio(release + (TARGETS[1] - MEAN) / n, z, MEAN, COVARIANCE, n)
    assert other.mean() == pytest.approx(float(alignment(z, TARGETS[1], MEAN, COVARIANCE, n)) - m / 2, abs=0.02)


def test_many_references_make_the_plug_in_the_best_attack():
    variance = np.array([0.1, 1.0, 5.0, 0.5])
    points = RNG.normal(MEAN, np.sqrt(variance), (200_000, 4))
    wanted = likelihood_ratio(RELEASE, TARGETS[0], MEAN, variance, 10, noise=NOISE, subsample=0.5)
    found = plug_in(RELEASE, TARGETS[0], points, 10, noise=NOISE, subsample=0.5)
    np.testing.assert_allclose(found, wanted, rtol=0.03, atol=0.05)


def test_few_references_that_agree_decide_nothing_alone():
    points = np.zeros((3, 4))
    points[:, 1:] = RNG.normal(size=(3, 3))
    assert np.isfinite(plug_in(RELEASE, TARGETS[0], points, 10)).all()


def test_with_equal_variances_the_scalar_product_orders_as_the_ratio():
    ratio = likelihood_ratio(RELEASE, TARGETS[0], MEAN, np.full(4, 2.0), 10)
    product = scalar_product(RELEASE, TARGETS[0], MEAN)
    np.testing.assert_array_equal(np.argsort(ratio), np.argsort(product))
    each = scalar_product(RELEASE, TARGETS, MEAN)
    np.testing.assert_allclose(each, [(z - MEAN) @ o for z, o in zip(TARGETS, RELEASE, strict=True)])


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: likelihood_ratio(MEAN, TARGETS[0], MEAN, COVARIANCE, 3), "release must be of the shape"),
        (lambda: likelihood_ratio(RELEASE, TARGETS[:3], MEAN, COVARIANCE, 3), r"target must be of the shape \(4,\) or"),
        (lambda: likelihood_ratio(RELEASE, TARGETS, MEAN[:3], COVARIANCE, 3), r"mean must be of the shape \(4,\)"),
        (
            lambda: likelihood_ratio(RELEASE, TARGETS, MEAN, COVARIANCE, 3, subsample=0.3),
            "subsample must leave at least one row, and 0.3 of 3 is 0.9",
        ),
        (lambda: plug_in(RELEASE, TARGETS, np.zeros((1, 4)), 3), "with at least 2 points, not"),
        (lambda: plug_in(RELEASE, TARGETS, np.zeros((9, 3)), 3), "reference must have 4 features"),
        (lambda: plug_in(RELEASE, TARGETS, np.zeros((9, 4)), 3), "must leave each feature some variance"),
        (lambda: scalar_product(RELEASE, TARGETS, RELEASE), "reference must be of the shape"),
    ],
)
def test_what_cannot_be(made, message):
    with pytest.raises(InputError, match=message):
        made()
