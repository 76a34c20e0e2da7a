"""Scores drawn from the members of families, by the trade-off functions alone.

A score is −α, α the rate of false positives that it would have as a threshold: uniform without z. With z, 1 − f(α) is
uniform, so that α = f(U), as f is its own inverse.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayes_dp import tradeoff

CURVES = {"gaussian": tradeoff.Gaussian, "laplace": tradeoff.Laplace, "pure": tradeoff.ApproxDP}
AREAS = {  # G(t)
    "gaussian": lambda t: special.erf(t / 2),
    "laplace": lambda t: -np.expm1(-t) - np.exp(-t) * t / 2,
    "pure": lambda t: np.tanh(t / 2),
}


def member(family, epsilon):
    """The parameter whose best attack has the advantage tanh(ε/2)."""
    chance = special.expit(epsilon)  # of a right guess
    found = {"gaussian": 2 * special.ndtri(chance), "laplace": -2 * np.log(2 * (1 - chance)), "pure": epsilon}
    return float(found[family])


def advantage(family, t):
    """That of the best attack on the member t."""
    found = {"gaussian": 2 * special.ndtr(t / 2) - 1, "laplace": -np.expm1(-t / 2), "pure": np.tanh(t / 2)}
    return float(found[family])


def levels(family, theta, s, n, rng):
    """n levels between sθ and θ, uniform in area."""
    area = AREAS[family]
    goal = rng.uniform(area(s * theta), area(theta), n)
    low, high = np.full(n, s * theta), np.full(n, float(theta))
    for _ in range(100):
        middle = (low + high) / 2
        low, high = np.where(area(middle) > goal, low, middle), np.where(area(middle) > goal, middle, high)
    return (low + high) / 2


def scores(family, t, n0, n1, rng, upside_down=None):
    """(without, with z) of bases at the levels t (n,); half of them upside down, if it is not said which."""
    flip = rng.random(len(t)) < 0.5 if upside_down is None else np.broadcast_to(upside_down, len(t))
    sign = np.where(flip, 1.0, -1.0)[:, None]
    with_z = np.stack([CURVES[family](level)(rng.random(n1)) for level in t])
    return sign * rng.random((len(t), n0)), sign * with_z
