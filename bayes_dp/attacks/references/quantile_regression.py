"""Quantile regression: how far log p is above what the target gives to population examples with such features (Bertran
et al. 2023, "Scalable membership inference attacks via quantile regression"). It needs no reference models.

    score = log p − q(x),   q(x) = w₀ + w·x,   w minimises Σ_z ρ(log p(z) − q(z)),   ρ(r) = max(τ r, (τ − 1) r),

so that the share τ of the population, by default one half, is below q. The features have mean 0 and standard deviation
1 in the population. The class of an example, one column for each, is a good feature, and squares may be.

w is found by iterated weighted least squares (Hunter and Lange 2000), where the weight of a residual r is

    ρ(r)/r² = (τ or 1 − τ)/max(|r|, e),   e a twentieth of the mean |r| of ordinary least squares,

in a fixed number of rounds, each with a ridge of 10⁻³ examples of the largest weight.
"""

from __future__ import annotations

import numpy as np

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import View
from bayes_dp.checks import InputError, one_number
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]

_ROUNDS = 15
_RIDGE = 1e-3
_SHARP = 0.05  # e, of the mean residual


def quantile_regression(view: View, quantile: float = 0.5) -> Floats:
    """The scores, (n,)."""
    quantile = one_number("quantile", quantile, 0, 1, low_open=True, high_open=True)
    log_p = view.population_log_likelihood
    if log_p is None or view.features is None or view.population_features is None:
        raise InputError('attack "quantile-regression" needs population, features and population_features, not given')
    centre, scale = view.population_features.mean(axis=0), view.population_features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    known, asked = (
        np.column_stack([np.ones(len(x)), (x - centre) / scale]) for x in (view.population_features, view.features)
    )
    return view.log_likelihood[view.target] - asked @ _weights(known, log_p[view.target], quantile)


def _weights(x: Floats, y: Floats, quantile: float) -> Floats:
    """w, (1 + d,), for x (z, 1 + d) whose first column is 1, and y (z,)."""
    w = _least_squares(x, y, np.ones(len(y)))
    least = max(_SHARP * float(np.abs(y - x @ w).mean()), np.finfo(np.float64).tiny)
    for _ in range(_ROUNDS):
        r = y - x @ w
        w = _least_squares(x, y, np.where(r >= 0, quantile, 1 - quantile) / np.maximum(np.abs(r) / least, 1.0))
    return w


def _least_squares(x: Floats, y: Floats, weight: Floats) -> Floats:
    weighted = x * weight[:, None]
    solution = np.linalg.solve(weighted.T @ x + _RIDGE * np.eye(x.shape[1]), weighted.T @ y)
    return solution.astype(np.float64)


ATTACKS = (Attack("quantile-regression", quantile_regression, ("quantile",)),)
