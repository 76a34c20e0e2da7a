"""Scores for the labels of examples, each larger the more a label looks like that of the training, and 0 where it does
not tell.

Let M(x)[y] be the probability that the audited model gives to the label y of an example with features x, and q(x)[y]
the proxy's ("Observational Auditing of Privacy", 6.2):

    difference   (M − q) (1 − q)^t, with t = 2 as in the paper
    log ratio    log M − log q, with probabilities of at least 10⁻⁴
    likelihood   log L(x)[y] − log Σ_y' q(x)[y'] L(x)[y'], where L(x)[y] is the chance of what the mechanism put out if
                 the label was y: the best score there is, for mechanisms that are known, such as randomized response

The log ratio orders the strong leaks better, where the difference is nearly the same for all; the difference is the
better one for weak leaks. Each is for the game of `games.LabelGame`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number
from bayes_dp.data.class_probabilities import probabilities
from bayes_dp.support.arrays import Floats

__all__ = ["LEAST", "difference", "likelihood", "log_ratio"]

LEAST = 1e-4  # probability that a log ratio tells from 0


def difference(model: ArrayLike, proxy: ArrayLike, power: float = 2.0) -> Floats:
    """(M − q) (1 − q)^t of each label, (n, k)."""
    m, q = _both(model, proxy)
    return np.asarray((m - q) * (1.0 - q) ** one_number("power", power, 0.0))


def log_ratio(model: ArrayLike, proxy: ArrayLike) -> Floats:
    """log M − log q of each label, (n, k)."""
    m, q = _both(model, proxy)
    return np.asarray(np.log(np.maximum(m, LEAST)) - np.log(np.maximum(q, LEAST)))


def likelihood(chance: ArrayLike, proxy: ArrayLike) -> Floats:
    """log L − log Σ q L of each label, (n, k)."""
    found, q = numbers("likelihood", chance, 0.0, np.inf, high_open=True), probabilities("proxy", proxy)
    if found.shape != q.shape:
        raise InputError(f"likelihood must have the shape {q.shape} of proxy, not {found.shape}")
    total = (q * found).sum(axis=1)
    if (bad := total <= 0).any():
        raise InputError(f"likelihood[{int(np.argmax(bad))}] must be above 0 for a label that the proxy may draw")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(found) - np.log(total)[:, None])


def _both(model: ArrayLike, proxy: ArrayLike) -> tuple[Floats, Floats]:
    m, q = probabilities("model", model), probabilities("proxy", proxy)
    if m.shape != q.shape:
        raise InputError(f"model must have the shape {q.shape} of proxy, not {m.shape}")
    return m, q
