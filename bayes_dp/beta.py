"""Beta laws of rates: the density for many trials, without the cancellation that the logarithms of Γ bring, and the
quantiles that are exact bounds of a rate (Clopper and Pearson)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.support.arrays import Floats

__all__ = [
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "log_density",
    "log_peak",
    "stirling_error",
    "stirling_series",
]


def stirling_series(z: Any) -> Any:
    """log Γ(z) − [(z − ½) log z − z + ½ log 2π] for z ≥ 8, to 2e-13, of an array of NumPy or JAX."""
    w = 1 / (z * z)
    return (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w * (1 / 1680 - w / 1188)))) / z


def stirling_error(n: Floats) -> Floats:
    """log n! - log(sqrt(2πn) (n/e)^n), to full precision; 0 at n = 0 by convention."""
    small = np.where(n > 0, np.minimum(n, 16.0), 1.0)
    exact = special.gammaln(small + 1) - (small + 0.5) * np.log(small) + small - 0.5 * np.log(2 * np.pi)
    big = np.maximum(n, 16.0)
    return np.where(n == 0, 0.0, np.where(n < 16, exact, stirling_series(big)))


def log_peak(k: Floats, n: Floats) -> Floats:
    """log of the largest value of the density of Beta(k+1, n-k+1), at y = k/n, without the cancellation of lgamma's."""
    inside = (k > 0) & (k < n)
    spread = np.where(inside, 0.5 * np.log(n / (2 * np.pi * np.where(inside, k * (n - k), 1.0))), 0.0)
    return np.asarray(np.log1p(n) + spread + inside * (stirling_error(n) - stirling_error(k) - stirling_error(n - k)))


def log_density(k: Floats, n: Floats, peak: Floats, y: Floats, one_minus_y: Floats) -> Floats:
    """log density of Beta(k+1, n-k+1) relative to its mode k/n, which keeps full precision for n up to 1e7 and beyond.

    `peak` is `log_peak(k, n)`; y and 1-y are both given, so that neither end loses digits.
    """
    rest = n - k
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(k > 0, k * _log_ratio(y * rest - k * one_minus_y, k, y * n), 0.0)
        successes = np.where(rest > 0, rest * _log_ratio(k * one_minus_y - y * rest, rest, one_minus_y * n), 0.0)
    return np.asarray(peak + errors + successes)


def _log_ratio(difference: Floats, base: Floats, value: Floats) -> Floats:
    """log(value/base) where value = base + difference: by log1p where they are close, plainly where they are not."""
    change = difference / base
    return np.where(change < -0.5, np.log(value / base), np.log1p(change))


def clopper_pearson_lower(errors: ArrayLike, trials: ArrayLike, p: ArrayLike) -> Floats:
    """The rate below which `errors` of `trials` or more have a probability below p; 0 for none (Clopper, Pearson 1934).

    The p-quantile of Beta(k, n−k+1). Arrays broadcast.
    """
    k, n = np.broadcast_arrays(np.asarray(errors, float), np.asarray(trials, float))
    lower: Floats = np.where(k > 0, special.betaincinv(np.maximum(k, 1.0), n - k + 1, p), 0.0)
    return lower[()]


def clopper_pearson_upper(errors: ArrayLike, trials: ArrayLike, p: ArrayLike) -> Floats:
    """The rate above which `errors` of `trials` or fewer have a probability below p; 1 for all of them.

    The (1−p)-quantile of Beta(k+1, n−k).
    """
    k, n = np.broadcast_arrays(np.asarray(errors, float), np.asarray(trials, float))
    upper: Floats = np.where(k < n, special.betainccinv(k + 1, np.maximum(n - k, 1.0), p), 1.0)
    return upper[()]
