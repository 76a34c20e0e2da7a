"""The test of Kolmogorov and Smirnov, whose exact law only `scipy.stats` has, which takes half a second to import."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from bayes_dp.support.arrays import Floats

__all__ = ["kolmogorov_p"]

_MANY = 10_000  # values from which the limit law serves, with Vrbik's (2018) correction
_FAR = 4.0  # n D² from which both sides cannot be exceeded at once: twice the exact one-sided tail


def kolmogorov_p(values: Floats) -> float:
    """The two-sided p-value that values in [0, 1] are uniform, exact for up to 10 000 of them.

    The probability that no distance reaches D is an entry of the n-th power of a matrix (Durbin 1973; Marsaglia, Tsang
    and Wang 2003).
    """
    ordered, n = np.sort(values), len(values)
    distance = float(max((np.arange(1, n + 1) / n - ordered).max(), (ordered - np.arange(n) / n).max()))
    if n > _MANY:
        x = math.sqrt(n) * distance
        return float(special.kolmogorov(x + 1 / (6 * math.sqrt(n)) + (x - 1) / (4 * n)))
    if n * distance**2 >= _FAR or distance >= 0.5:
        return float(min(2 * special.smirnov(n, distance), 1.0))
    return float(min(max(1.0 - _within(n, distance), 0.0), 1.0))


def _within(n: int, distance: float) -> float:
    """P(D < distance)."""
    if n * distance <= 0.5:
        return 0.0
    k = math.floor(n * distance) + 1
    size, rest = 2 * k - 1, k - n * distance
    lag = np.subtract.outer(np.arange(size), np.arange(size)) + 1
    matrix = np.where(lag >= 0, 1.0 / special.factorial(np.maximum(lag, 0)), 0.0)
    edge = rest ** np.arange(1, size + 1) / special.factorial(np.arange(1, size + 1))
    matrix[:, 0] -= edge
    matrix[-1, :] -= edge[::-1]
    matrix[-1, 0] += max(2 * rest - 1, 0.0) ** size / special.factorial(size)
    found, scale = np.eye(size), 0.0  # of which the powers are kept, with the logarithm of a factor
    power, scale_of_power = matrix, 0.0
    for bit in reversed(f"{n:b}"):
        if bit == "1":
            found, scale = _scaled(found @ power, scale + scale_of_power)
        power, scale_of_power = _scaled(power @ power, 2 * scale_of_power)
    return float(found[k - 1, k - 1] * math.exp(scale + math.lgamma(n + 1) - n * math.log(n)))


def _scaled(matrix: Floats, scale: float) -> tuple[Floats, float]:
    most = float(matrix.max())
    return matrix / most, scale + math.log(most)
