"""The leakage score of a datum in a mean, m* = (1/n) (z − μ)ᵀ C^{-1} (z − μ), by a Cholesky solve.

With C = L Lᵀ the score is |L^{-1} (z − μ)|²/n. No inverse is formed. Noise N(0, Γ) on each row adds Γ to C.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from bayes_dp.checks import InputError, numbers, whole_number
from bayes_dp.support.arrays import Floats

__all__ = ["alignment", "noise_variance", "score", "whitened", "whitener"]

_DEPENDENT = 1e-12  # of a column's variance: what is left of it besides the columns before it


def score(z: ArrayLike, mean: ArrayLike, covariance: ArrayLike, n: int, *, noise: ArrayLike = 0.0) -> Floats:
    """m* = (1/n) (z − μ)ᵀ (C + Γ)^{-1} (z − μ): how far z lies from the data that it is averaged with.

    Parameters
    ----------
    z : the datum, (d,), or several, (k, d); the result is a number, or (k,).
    mean : μ of the law that the other data are drawn from, (d,).
    covariance : C of that law, (d, d), or its variances alone, (d,), where the features are independent.
    n : how many data the mean is of.
    noise : γ, the standard deviation of the Gaussian noise on each row, a number or (d,): the mean of n rows has noise
        of γ/√n. Γ is diagonal with γ².

    >>> z, mean = np.array([1.0, -0.5, 2.0, 0.0]), np.array([0.0, 0.0, 1.0, 0.0])
    >>> float(bdp.leakage.score(z, mean, [1.0, 0.25, 2.0, 0.5], n=10))
    0.25
    >>> float(bdp.leakage.score(z, mean, np.diag([1.0, 0.25, 2.0, 0.5]), n=10, noise=1.0).round(4))
    0.1033
    """
    data, middle = _data("z", z, mean)
    factor = whitener(covariance, noise, middle.size)
    count = whole_number("n", n, 1)
    found = np.sum(whitened(data - middle, factor) ** 2, axis=-1) / count
    return np.asarray(found)[()]


def alignment(
    target: ArrayLike, truth: ArrayLike, mean: ArrayLike, covariance: ArrayLike, n: int, *, noise: ArrayLike = 0.0
) -> Floats:
    """m_scal = (1/n) (z_targ − μ)ᵀ (C + Γ)^{-1} (z − μ): how much of z an attack sees that is made for z_targ.

    `target` is what the attack takes for the datum and `truth` the datum itself, (d,) each, or several in rows, (k, d).
    The other arguments are those of `score`.

    >>> float(bdp.leakage.alignment([2.0, 1.0], [2.0, -1.0], [0.0, 0.0], [1.0, 1.0], n=6))
    0.5
    """
    aimed, middle = _data("target", target, mean)
    real, _ = _data("truth", truth, mean)
    if aimed.ndim == real.ndim == 2 and len(aimed) != len(real):
        raise InputError(f"target and truth must have as many rows, not {len(aimed)} and {len(real)}")
    factor = whitener(covariance, noise, middle.size)
    count = whole_number("n", n, 1)
    both = (whitened(data - middle, factor) for data in (aimed, real))
    return np.asarray(np.sum(math.prod(both), axis=-1) / count)[()]


def whitener(covariance: ArrayLike, noise: ArrayLike, d: int) -> Floats:
    """What `whitened` solves with: the lower Cholesky factor (d, d) of C + Γ, or its standard deviations (d,)."""
    given = numbers("covariance", covariance, low_open=True, high_open=True)
    if given.shape not in ((d,), (d, d)):
        wanted = f"({d},) or ({d}, {d})"
        raise InputError(f"covariance must be of the shape {wanted}, one row for each feature, not {given.shape}")
    extra = noise_variance(noise, d)
    variances = given if given.ndim == 1 else np.diagonal(given)
    if (variances < 0).any():
        i = int(np.argmax(variances < 0))
        raise InputError(f"covariance must have variances of at least 0, and that of feature {i} is {variances[i]:g}")
    if (variances + extra == 0).any():
        i = int(np.argmax(variances + extra == 0))
        raise InputError(f"covariance must leave each feature some variance, or noise must, and feature {i} has none")
    if given.ndim == 1:
        return np.sqrt(given + extra)
    scale = np.sqrt(variances)
    uneven = np.abs(given - given.T) > 1e-9 * np.outer(scale, scale)
    if uneven.any():
        i, j = map(int, np.unravel_index(int(np.argmax(uneven)), given.shape))
        raise InputError(f"covariance must be symmetric, and has {given[i, j]:g} and {given[j, i]:g} at [{i}, {j}]")
    total = (given + given.T) / 2 + np.diag(extra)
    try:
        factor = linalg.cholesky(total, lower=True, check_finite=False)
    except linalg.LinAlgError:
        factor = np.zeros_like(total)
    if (np.diagonal(factor) ** 2 <= _DEPENDENT * np.diagonal(total)).any():
        raise InputError("covariance must be positive definite: a feature is determined by the others")
    return np.asarray(factor)


def whitened(data: Floats, factor: Floats) -> Floats:
    """L^{-1} x for rows x, (d,) or (k, d)."""
    if factor.ndim == 1:
        return data / factor
    return np.asarray(linalg.solve_triangular(factor, data.T, lower=True, check_finite=False)).T


def noise_variance(noise: ArrayLike, d: int) -> Floats:
    """γ² of each feature, (d,)."""
    given = numbers("noise", noise, 0.0, math.inf, high_open=True)
    if given.shape not in ((), (d,)):
        raise InputError(f"noise must be a number, or one for each of the {d} features, not of the shape {given.shape}")
    return np.broadcast_to(given**2, (d,))


def _data(name: str, z: ArrayLike, mean: ArrayLike) -> tuple[Floats, Floats]:
    """The data (d,) or (k, d), and the mean (d,)."""
    middle = numbers("mean", mean, low_open=True, high_open=True)
    if middle.ndim != 1 or not middle.size:
        raise InputError(f"mean must be of the shape (features,), not {middle.shape}")
    data = numbers(name, z, low_open=True, high_open=True)
    if data.ndim not in (1, 2) or data.shape[-1] != middle.size:
        wanted = f"({middle.size},) or (data, {middle.size}), as mean has {middle.size} features"
        raise InputError(f"{name} must be of the shape {wanted}, not {data.shape}")
    return data, middle
