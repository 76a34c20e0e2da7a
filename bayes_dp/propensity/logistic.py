"""Logistic regression with an L2 penalty on standardised features, Platt's calibration of it, and the likelihood.

All are solved by Newton's method from any start, in two or three steps from one that is near; `most_likely_near` takes
some more, which are quicker.

`fit` minimises Σ_i log(1 + e^{−s_i f_i}) + ½ Σ_j (σ_j β_j)², with f = b + xβ, s = ±1 and σ_j the standard deviation of
feature j: the same as scikit-learn's LogisticRegression (C = 1) after its StandardScaler, in the coordinates of x, as
the intercept has no penalty.

`platt` minimises the cross-entropy of 1/(1 + e^{−(a f + b)}) to the targets (N₁+1)/(N₁+2) of N₁ members and 1/(N₀+2) of
the N₀ others (Platt, "Probabilistic outputs for support vector machines", 1999, 2.2).

`most_likely` and `log_likelihood` are about ℓ(β) = −Σ_i log(1 + e^{−s_i f_i}) − ½ κ|β|², with a κ so small that it
tells only where the likelihood has no maximum. `firth` adds ½ log det of the information to ℓ: as if each example, by
its share of influence h, were half a member more and half a non-member more. That leaves hardly any bias, and finite
coefficients even where members and non-members are separated (Firth, "Bias reduction of maximum likelihood estimates",
1993).
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayes_dp.support.arrays import Bools, Floats

__all__ = ["firth", "fit", "information", "log_likelihood", "most_likely", "most_likely_near", "platt"]


_STEPS = 100
_NEAR = 1e-7  # of the squared Newton decrement: the step that starts below it ends at about its square
_NEAREST = 1e-11  # the same, for steps that end at a share of it
_KAPPA = 1e-6  # of features of unit size: those with outliers have large true coefficients
_ROUNDS = 50  # of Firth's weights
_STILL = 1e-3  # change of the log-odds in the last of them


def fit(x: Floats, member: Bools, start: Floats | None = None) -> Floats:
    """β and then b, shape (d + 1,), from features (n, d + 1) of about unit size, of which the last is 1 for b."""
    mean = x.mean(axis=0)
    spread = np.maximum((x * x).mean(axis=0) - mean**2, 0.0)
    spread[spread < 1e-14 * (1 + mean**2)] = 1.0  # a constant feature keeps its scale
    spread[-1] = 0.0
    beta = np.zeros(x.shape[1]) if start is None else start
    return _newton(x, member.astype(np.float64), np.ones(len(x)), spread, beta)


def platt(f: Floats, member: Bools) -> tuple[float, float]:
    """Slope a and intercept b, from decision values of shape (n,)."""
    members, others = int(member.sum()), int((~member).sum())
    targets = np.where(member, (members + 1) / (members + 2), 1 / (others + 2))
    scale = max(float(np.abs(f).max()), 1e-300)
    x = np.column_stack([f / scale, np.ones(len(f))])
    start = np.array([0.0, np.log((members + 1) / (others + 1))])
    a, b = _newton(x, targets, np.ones(len(f)), np.zeros(2), start)
    return float(a / scale), float(b)


def log_likelihood(x: Floats, member: Bools, beta: Floats) -> float:
    """ℓ(β) for x as in `fit`."""
    f = x @ beta
    return float(np.sum(np.where(member, f, 0.0) - np.logaddexp(0.0, f)) - 0.5 * _KAPPA * beta @ beta)


def most_likely(x: Floats, member: Bools, start: Floats, tilt: Floats | None = None) -> Floats:
    """The maximum of ℓ(β) + tilt·β over β (d + 1,), for x as in `fit`."""
    ridge = np.full(x.shape[1], _KAPPA)
    return _newton(x, member.astype(np.float64), np.ones(len(x)), ridge, start, tilt)


def information(x: Floats, beta: Floats) -> Floats:
    """−∇²ℓ at β, (d + 1, d + 1)."""
    return _curvature(x, special.expit(x @ beta), np.full(x.shape[1], _KAPPA))


def most_likely_near(x: Floats, member: Bools, start: Floats, inverse: Floats) -> Floats:
    """`most_likely`, from the inverse of the information at `start`, for many memberships with one start.

    The steps are those of Broyden, Fletcher, Goldfarb and Shanno: no other inverse is computed, this one is corrected
    by what each step shows of it. If they do not come nearer, Newton's are taken.
    """
    target, beta, last = member.astype(np.float64), start, np.inf
    gradient = x.T @ (special.expit(x @ beta) - target) + _KAPPA * beta
    for _ in range(_STEPS):
        step = inverse @ gradient
        decrement = float(gradient @ step)
        if not decrement < last:
            break
        beta = beta - step
        if decrement < _NEAREST:
            return beta
        last, before = decrement, gradient
        gradient = x.T @ (special.expit(x @ beta) - target) + _KAPPA * beta
        change = before - gradient  # by the step: about information @ step
        along, moved = float(change @ step), inverse @ change
        if not along > 0:
            break
        outer = np.outer(step, moved)
        share = (1 + float(change @ moved) / along) / along
        inverse = inverse + share * np.outer(step, step) - (outer + outer.T) / along
    return most_likely(x, member, start)


def firth(x: Floats, member: Bools) -> Floats:
    """The maximum of ℓ(β) + ½ log det I(β), (d + 1,), with the information I = Σ_i p_i (1 − p_i) x_i x_iᵀ + κ."""
    ridge, beta = np.full(x.shape[1], _KAPPA), np.zeros(x.shape[1])
    for _ in range(_ROUNDS):
        chance = special.expit(x @ beta)
        scaled = x * np.sqrt(chance * (1 - chance))[:, None]
        influence = np.einsum("ij,ji->i", scaled, np.linalg.solve(scaled.T @ scaled + np.diag(ridge), scaled.T))
        weights = 1 + influence
        before, beta = beta, _newton(x, (member + influence / 2) / weights, weights, ridge, beta)
        if np.abs(x @ (beta - before)).max() < _STILL:
            break
    return beta


def _newton(
    x: Floats, target: Floats, weights: Floats, ridge: Floats, beta: Floats, tilt: Floats | None = None
) -> Floats:
    """The minimum of Σ w (log(1 + e^f) − t f) + ½ Σ ridge β² − tilt·β over β (d,), f = xβ."""
    pull = np.zeros(len(beta)) if tilt is None else tilt

    def loss(beta: Floats, f: Floats) -> float:
        return float(weights @ (np.logaddexp(0.0, f) - target * f) + 0.5 * ridge @ beta**2 - pull @ beta)

    f, scaled = x @ beta, np.empty_like(x)
    value = loss(beta, f)
    for _ in range(_STEPS):
        chance = special.expit(f)
        gradient = x.T @ (weights * (chance - target)) + ridge * beta - pull
        step = np.linalg.solve(_curvature(x, chance, ridge, weights, scaled), gradient)
        decrement, size = float(gradient @ step), 1.0
        if decrement < _NEAR:
            return beta - step
        while True:
            candidate = beta - size * step
            f = x @ candidate
            lower = loss(candidate, f)
            if lower <= value - 0.25 * size * decrement or size < 1e-6:
                break
            size /= 2
        beta, value = candidate, lower
    return beta


def _curvature(
    x: Floats, chance: Floats, ridge: Floats, weights: Floats | float = 1.0, room: Floats | None = None
) -> Floats:
    """Of that sum at the f with these chances; `room` is an array like x that may be overwritten."""
    scaled = np.multiply(x, np.sqrt(weights * chance * (1 - chance))[:, None], out=room)
    curvature: Floats = scaled.T @ scaled
    diagonal = np.einsum("ii->i", curvature)  # a view
    diagonal += ridge + 1e-10 * (1 + diagonal)  # columns may be equal
    return curvature
