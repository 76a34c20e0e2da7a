"""Logistic regression with an L2 penalty on standardised features, with weights, and Platt's calibration of it.

Both are solved by Newton's method from any start. A weight is how often an example counts, so a bootstrap resample is a
vector of weights, and the solution on the whole sample is near enough to its own that two or three steps suffice.

`fit` minimises Σ_i w_i log(1 + e^{−s_i f_i}) + ½ Σ_j (σ_j β_j)², with f = b + xβ, s = ±1 and σ_j the standard deviation
of feature j under the weights: the same as scikit-learn's LogisticRegression (C = 1) after its StandardScaler, in the
coordinates of x, as the intercept has no penalty.

`platt` minimises the cross-entropy of 1/(1 + e^{−(a f + b)}) to the targets (N₁+1)/(N₁+2) of members and 1/(N₀+2) of
the others (Platt, "Probabilistic outputs for support vector machines", 1999, §2.2), where N₁ and N₀ are their weights.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

__all__ = ["fit", "platt"]

Floats = NDArray[np.float64]

_STEPS = 100
_NEAR = 1e-7  # of the squared Newton decrement: the step that starts below it ends at about its square


def fit(x: Floats, member: NDArray[np.bool_], weights: Floats, start: Floats | None = None) -> Floats:
    """β and then b, shape (d + 1,), from features (n, d) of about unit size, of which the last column is 1 for b."""
    total = weights.sum()
    mean = weights @ x / total
    spread = np.maximum(weights @ (x * x) / total - mean**2, 0.0)
    spread[spread < 1e-14 * (1 + mean**2)] = 1.0  # a constant feature keeps its scale
    spread[-1] = 0.0
    return _newton(x, member.astype(np.float64), weights, spread, np.zeros(x.shape[1]) if start is None else start)


def platt(f: Floats, member: NDArray[np.bool_], weights: Floats) -> tuple[float, float]:
    """Slope a and intercept b, from decision values of shape (n,)."""
    members, others = float(weights @ member), float(weights @ ~member)
    targets = np.where(member, (members + 1) / (members + 2), 1 / (others + 2))
    scale = max(float(np.abs(f).max()), 1e-300)
    x = np.column_stack([f / scale, np.ones(len(f))])
    start = np.array([0.0, np.log((members + 1) / (others + 1))])
    a, b = _newton(x, targets, weights, np.zeros(2), start)
    return float(a / scale), float(b)


def _newton(x: Floats, target: Floats, weights: Floats, ridge: Floats, beta: Floats) -> Floats:
    """The minimum of Σ w (log(1 + e^f) − t f) + ½ Σ ridge β² over β (d,), f = xβ."""

    def loss(beta: Floats, f: Floats) -> float:
        return float(weights @ (np.logaddexp(0.0, f) - target * f) + 0.5 * ridge @ beta**2)

    f = x @ beta
    value = loss(beta, f)
    for _ in range(_STEPS):
        chance = special.expit(f)
        gradient = x.T @ (weights * (chance - target)) + ridge * beta
        scaled = x * np.sqrt(weights * chance * (1 - chance))[:, None]
        curvature = scaled.T @ scaled
        diagonal = np.einsum("ii->i", curvature)  # a view
        diagonal += ridge + 1e-10 * (1 + diagonal)  # columns may be equal
        step = np.linalg.solve(curvature, gradient)
        decrement, size = float(gradient @ step), 1.0
        while True:
            candidate = beta - size * step
            f = x @ candidate
            lower = loss(candidate, f)
            if lower <= value - 0.25 * size * decrement or size < 1e-6 or decrement < _NEAR:
                break
            size /= 2
        beta, value = candidate, lower
        if decrement < _NEAR:
            break
    return beta
