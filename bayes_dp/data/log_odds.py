"""What a model gives to the class that an example has: its log-odds, from losses, logits or class probabilities.

With p the probability of the example's own class y and ℓ = −log p its cross-entropy,

    φ = log p − log(1 − p) = −ℓ − log(1 − e^−ℓ) = z_y − log Σ_{c≠y} e^{z_c}   for logits z,   log p = −log(1 + e^−φ).

φ is nearer to a normal law than ℓ is (Carlini et al. 2022, Section IV-C), and of logits it is exact where p rounds to
1. What rounds to p = 0 or 1 in probabilities and losses is moved away by 2⁻⁵³, so that |φ| is at most 37 there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.support.arrays import Floats, Indices

__all__ = ["log_likelihood", "odds_of_logits", "odds_of_losses", "odds_of_probabilities"]

_SURE = 2.0**-53


def odds_of_losses(loss: Floats) -> Floats:
    """φ of cross-entropies ℓ ≥ 0, of any shape."""
    loss = np.maximum(loss, _SURE)
    return -loss - np.log(-np.expm1(-loss))


def odds_of_logits(logits: NDArray[Any], labels: Indices) -> Floats:
    """φ, (m,), of logits (m, k) and labels (m,) below k; of logits (m,) of class 1 and labels 0 or 1."""
    if logits.ndim == 1:
        return np.where(labels == 1, 1.0, -1.0) * logits
    others = np.array(logits, dtype=np.float64)
    rows = np.arange(len(labels))
    own = others[rows, labels]
    others[rows, labels] = -np.inf
    largest = others.max(axis=1)
    others -= largest[:, None]
    return own - largest - np.log(np.exp(others, out=others).sum(axis=1))


def odds_of_probabilities(p: NDArray[Any], labels: Indices | None) -> Floats:
    """φ, (m,), of class probabilities (m, k) and labels; of (m,) of class 1, or without labels of the own class."""
    p = np.array(p, dtype=np.float64)
    if p.ndim == 1:
        own, others = p, 1 - p
        if labels is not None:
            own, others = np.where(labels == 1, p, 1 - p), np.where(labels == 1, 1 - p, p)
    else:
        rows = np.arange(len(labels))  # type: ignore[arg-type]
        own = p[rows, labels]
        p[rows, labels] = 0.0
        others = p.sum(axis=1)
    return np.log(np.maximum(own, _SURE)) - np.log(np.maximum(others, _SURE))


def log_likelihood(log_odds: Floats) -> Floats:
    """log p of log-odds φ, of any shape."""
    return np.minimum(log_odds, 0.0) - np.log1p(np.exp(-np.abs(log_odds)))
