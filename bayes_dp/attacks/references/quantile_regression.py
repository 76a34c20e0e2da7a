"""Quantile regression: how high φ is among what the target gives to population examples with such features (Bertran et
al. 2023, "Scalable membership inference attacks via quantile regression"). It needs no reference models.

    score = (φ − μ(x))/σ(x),   the quantile of φ under N(μ(x), σ(x)²), as a normal deviate

μ is the ridge regression of φ on the features of the population, each with mean 0 and standard deviation 1, and an
intercept; log σ² that of the log squared residuals. Both are linear: the class of an example, one column for each, is a
good feature, and squares may be.
"""

from __future__ import annotations

import numpy as np

from bayes_dp.attacks.references.attack import Attack
from bayes_dp.attacks.references.view import View
from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Floats

__all__ = ["ATTACKS"]

_RIDGE = 1.0  # examples that a coefficient of 0 counts for
_TINY = 1e-6  # of the variance of the residuals, which no squared residual is below


def quantile_regression(view: View) -> Floats:
    """The scores, (n,)."""
    if view.population is None or view.features is None or view.population_features is None:
        raise InputError('attack "quantile-regression" needs population, features and population_features, not given')
    centre, scale = view.population_features.mean(axis=0), view.population_features.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    known, asked = ((x - centre) / scale for x in (view.population_features, view.features))
    phi = view.population[view.target]
    mean = _regression(known, phi)
    residual = phi - _at(known, mean)
    least = max(_TINY * float(residual.var()), np.finfo(np.float64).tiny)
    log_variance = _regression(known, np.log(residual**2 + least))
    return (view.statistic[view.target] - _at(asked, mean)) / np.exp(np.clip(_at(asked, log_variance), -700, 700) / 2)


def _regression(x: Floats, y: Floats) -> Floats:
    """Intercept and coefficients, (1 + d,), of columns of mean 0."""
    slopes = np.linalg.solve(x.T @ x + _RIDGE * np.eye(x.shape[1]), x.T @ (y - y.mean()))
    return np.append(y.mean(), slopes)


def _at(x: Floats, coefficients: Floats) -> Floats:
    return coefficients[0] + x @ coefficients[1:]


ATTACKS = (Attack("quantile-regression", quantile_regression),)
