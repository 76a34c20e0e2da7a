"""Attacks on the mean of data: what a release says of whether a datum is in it. A higher score says "it is".

With μ and V = C + Γ the law of the rows, noise included, and k rows in the mean o, the release is N(μ, V/k) without z
and N(μ + (z − μ)/k, V/k) with it, for many rows and features. So the log-likelihood ratio is (equations 10 and 11 of
the paper)

    ℓ = (z − μ)ᵀ V^{-1} (o − μ) − (z − μ)ᵀ V^{-1} (z − μ)/(2k).

With k = ρn rows drawn from n this is the ratio where z is drawn, and that of all releases is log(1 − ρ + ρ e^ℓ). It
orders releases as ℓ does, is 0 where ℓ is, and rounds to one number for all small ℓ: the score is ℓ. Equation 15 of the
paper takes the mixture feature by feature, which is no likelihood ratio, as the features of z are drawn together. For
many features it becomes ρℓ plus a constant, so that attacks by a threshold are the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number, whole_number
from bayes_dp.leakage.mahalanobis import whitened, whitener
from bayes_dp.support.arrays import Floats

__all__ = ["likelihood_ratio", "plug_in", "scalar_product"]


def likelihood_ratio(
    release: ArrayLike,
    target: ArrayLike,
    mean: ArrayLike,
    covariance: ArrayLike,
    n: int,
    *,
    noise: ArrayLike = 0.0,
    subsample: float = 1.0,
) -> Floats:
    """ℓ of each release, the best score where the law of the data is known: see the module for the formula.

    Parameters
    ----------
    release : means that were released, (k, d).
    target : the datum, (d,), or one for each release, (k, d).
    mean, covariance, n, noise : as for `score`: the law of the other data, how many there are, and noise on each row.
    subsample : ρ, the part of the rows that a mean is of, at least one row.

    >>> p = np.full(200, 0.3)
    >>> z = np.ones(200)
    >>> release = np.array([p, p + (z - p) / 50])  # what is expected without z and with it
    >>> bdp.leakage.likelihood_ratio(release, z, p, p * (1 - p), n=50)
    array([-4.66666667,  4.66666667])
    """
    rows = _releases(release)
    aimed = _targets(target, rows)
    middle = numbers("mean", mean, low_open=True, high_open=True)
    if middle.shape != rows.shape[1:]:
        raise InputError(f"mean must be of the shape ({rows.shape[1]},), as release has it, not {middle.shape}")
    factor = whitener(covariance, noise, middle.size)
    rho = one_number("subsample", subsample, 0.0, 1.0, low_open=True)
    averaged = rho * whole_number("n", n, 1)
    if averaged < 1:
        raise InputError(f"subsample must leave at least one row, and {rho:g} of {n} is {averaged:g}")
    away = whitened(aimed - middle, factor)
    seen = whitened(rows - middle, factor)
    product = seen @ away if away.ndim == 1 else np.einsum("ij,ij->i", seen, away)
    return np.asarray(product - np.sum(away**2, axis=-1) / (2 * averaged))


def plug_in(
    release: ArrayLike,
    target: ArrayLike,
    reference: ArrayLike,
    n: int,
    *,
    noise: ArrayLike = 0.0,
    subsample: float = 1.0,
) -> Floats:
    """`likelihood_ratio` with mean and variances from r `reference` points of the law, (r, d), none of the data.

    The features are taken to be independent, as r < d as a rule. Each variance is that of the points about their mean,
    weighed with the average of all as one point more: a feature in which few points agree must not decide alone. The
    other arguments, with shapes (k, d) and (d,) or (k, d), are those of `likelihood_ratio`.

    >>> rng = np.random.default_rng(0)
    >>> release = rng.normal(size=(2, 50)) / 10
    >>> release[1] += 0.02  # with z, one of 100
    >>> bdp.leakage.plug_in(release, np.full(50, 2.0), rng.normal(size=(400, 50)), n=100).round(2)
    array([-0.05,  0.91])
    """
    points = numbers("reference", reference, low_open=True, high_open=True)
    if points.ndim != 2 or len(points) < 2:
        raise InputError(
            f"reference must be of the shape (points, features) with at least 2 points, not {points.shape}"
        )
    rows = _releases(release)
    if points.shape[1] != rows.shape[1]:
        raise InputError(f"reference must have {rows.shape[1]} features, as release has, not {points.shape[1]}")
    own = points.var(axis=0, ddof=1)
    variance = ((len(points) - 1) * own + own.mean()) / len(points)
    return likelihood_ratio(rows, target, points.mean(axis=0), variance, n, noise=noise, subsample=subsample)


def scalar_product(release: ArrayLike, target: ArrayLike, reference: ArrayLike) -> Floats:
    """(z − z_ref)ᵀ o of each release (k, d): an attack that needs one `reference` point of the law only, (d,).

    `target` is (d,) or (k, d). Where all features have one variance and the point is the mean, it orders the releases
    of a target as `likelihood_ratio` does (Dwork et al., "Robust Traceability from Trace Amounts", 2015).

    >>> bdp.leakage.scalar_product([[0.1, 0.2], [0.3, 0.3]], [1.0, 1.0], [0.0, 1.0])
    array([0.1, 0.3])
    """
    rows = _releases(release)
    aimed = _targets(target, rows)
    point = numbers("reference", reference, low_open=True, high_open=True)
    if point.shape != rows.shape[1:]:
        raise InputError(f"reference must be of the shape ({rows.shape[1]},), as release has it, not {point.shape}")
    return np.asarray(np.einsum("ij,ij->i", rows, np.broadcast_to(aimed - point, rows.shape)))


def _releases(release: ArrayLike) -> Floats:
    rows = numbers("release", release, low_open=True, high_open=True)
    if rows.ndim != 2 or not rows.shape[1]:
        raise InputError(f"release must be of the shape (releases, features), not {rows.shape}")
    return rows


def _targets(target: ArrayLike, rows: Floats) -> Floats:
    aimed = numbers("target", target, low_open=True, high_open=True)
    if aimed.shape not in (rows.shape, rows.shape[1:]):
        wanted = f"({rows.shape[1]},) or {rows.shape}, as release has it"
        raise InputError(f"target must be of the shape {wanted}, not {aimed.shape}")
    return aimed
