"""The score of a datum, by hand and where it cannot be had."""

from __future__ import annotations

import numpy as np
import pytest

from bayes_dp.checks import InputError
from bayes_dp.leakage import alignment, score

RNG = np.random.default_rng(0)
MEAN = RNG.normal(size=5)
COVARIANCE = np.cov(RNG.normal(size=(5, 40)))
DATA = RNG.normal(size=(7, 5))


@pytest.mark.parametrize("noise", [0.0, 0.7, np.array([0.0, 1.0, 2.0, 0.0, 0.5])])
def test_by_an_inverse(noise):
    for covariance in (COVARIANCE, np.diag(COVARIANCE)):
        whole = (covariance if covariance.ndim == 2 else np.diag(covariance)) + np.diag(np.broadcast_to(noise**2, 5))
        inverse = np.linalg.inv(whole)
        wanted = np.array([(z - MEAN) @ inverse @ (z - MEAN) for z in DATA]) / 30
        np.testing.assert_allclose(score(DATA, MEAN, covariance, 30, noise=noise), wanted, rtol=1e-10)
        assert score(DATA[2], MEAN, covariance, 30, noise=noise) == pytest.approx(wanted[2], rel=1e-10)
        other = np.array([(z - MEAN) @ inverse @ (DATA[0] - MEAN) for z in DATA]) / 30
        np.testing.assert_allclose(alignment(DATA[0], DATA, MEAN, covariance, 30, noise=noise), other, rtol=1e-9)


def test_noise_alone_may_give_the_variance():
    assert score([3.0, 1.0], [0.0, 1.0], [0.0, 1.0], 1, noise=[1.5, 0.0]) == pytest.approx(4.0)


def test_it_does_not_depend_on_units():
    units = np.array([1e-6, 1.0, 1e6, 10.0, 1e3])
    scaled = score(DATA * units, MEAN * units, COVARIANCE * np.outer(units, units), 30)
    np.testing.assert_allclose(scaled, score(DATA, MEAN, COVARIANCE, 30), rtol=1e-9)


LINEAR = np.array([[1.0, 2.0], [2.0, 4.0]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((DATA, MEAN, LINEAR, 3), r"covariance must be of the shape \(5,\) or \(5, 5\), .* not \(2, 2\)"),
        (([1.0, 1.0], [0.0, 0.0], LINEAR, 3), "positive definite: a feature is determined by the others"),
        (([1.0, 1.0], [0.0, 0.0], [[1.0, 3.0], [3.0, 1.0]], 3), "covariance must be positive definite"),
        (([1.0, 1.0], [0.0, 0.0], [[1.0, 0.5], [0.4, 1.0]], 3), r"symmetric, and has 0.5 and 0.4 at \[0, 1\]"),
        (([1.0, 1.0], [0.0, 0.0], [1.0, 0.0], 3), "and feature 1 has none"),
        (([1.0, 1.0], [0.0, 0.0], [1.0, -2.0], 3), "that of feature 1 is -2"),
        (([1.0, 1.0], [0.0], [1.0], 3), r"z must be of the shape \(1,\) or \(data, 1\)"),
        (([1.0], [[0.0]], [1.0], 3), "mean must be of the shape"),
        (([1.0], [0.0], [1.0], 0), "n must be a whole number, at least 1"),
        (([np.nan], [0.0], [1.0], 1), r"z\[0\] must lie in"),
    ],
)
def test_what_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        score(*arguments)


def test_targets_and_truths_in_rows():
    with pytest.raises(InputError, match="target and truth must have as many rows, not 7 and 3"):
        alignment(DATA, DATA[:3], MEAN, COVARIANCE, 30)
    with pytest.raises(InputError, match="noise must be a number, or one for each of the 5 features"):
        score(DATA, MEAN, COVARIANCE, 30, noise=[1.0, 2.0])
