"""Mechanisms that keep labels private, each with the ε that it has, and what they leave of labels for a training.

One label may be replaced by any other of the k classes.

- Randomized response keeps the label with chance e^ε/(e^ε + k − 1), else puts out another one at random (Warner 1965).
- With a prior it does so inside the j most probable classes, where j makes the chance to keep the label largest. A
  label outside becomes one of the j at random (Ghazi et al. 2021).
- ALIBI puts noise of the law Laplace(2/ε) on each entry of the one-hot label, whose L1 sensitivity is 2, and derives
  the probabilities of the classes from that (Malek et al. 2021).
- PATE lets teachers on disjoint parts vote, and takes the class with the most votes after noise. A label moves one
  vote: 2/b a query with Laplace noise of scale b. With Gaussian noise σ the L2 sensitivity is √2, which makes zCDP of
  ρ = Q/σ² after Q queries, and ε = ρ + 2√(ρ log(1/δ)) (Papernot et al. 2017; Bun and Steinke 2016).

The first two tell the chance of what they put out under each label, with which `bdp.audits.labels` can score best.
Whoever learned p̃(out | x) from what was put out can take the noise back out of it, p = p̃ T⁻¹ with T the chances of the
outputs: that costs no privacy (`corrected`). Trainings with these mechanisms are in `models.label_training`.
"""

from __future__ import annotations

import math

import numpy as np

from bayes_dp.checks import InputError, numbers, one_number, whole_number
from bayes_dp.data.class_probabilities import classes
from bayes_dp.support.arrays import Floats, Ints

__all__ = [
    "alibi",
    "corrected",
    "gaussian_scale",
    "gaussian_votes",
    "laplace_scale",
    "laplace_votes",
    "noisy_votes",
    "randomized_response",
    "response_chances",
]


def response_chances(prior: Floats, epsilon: float) -> Floats:
    """P(out | label) of randomized response with a prior, of shape (n, k labels, k outputs); rows of `prior` (n, k).

    Without a prior, that is with the same number everywhere, all classes take part. ε may be infinite.
    """
    epsilon = one_number("epsilon", epsilon, 0.0)
    n, k = _prior(prior).shape
    order = np.argsort(-prior, axis=1, kind="stable")
    sizes = np.arange(1, k + 1)
    odds = math.exp(-epsilon)
    keep = 1.0 / (1.0 + (sizes - 1) * odds)  # e^ε/(e^ε + j − 1)
    mass = np.cumsum(np.take_along_axis(prior, order, 1), axis=1)
    chosen = np.full(n, k) if np.ptp(prior) == 0 else 1 + np.argmax(np.round(keep * mass, 12), axis=1)
    inside = np.empty((n, k), dtype=bool)
    np.put_along_axis(inside, order, np.arange(k) < chosen[:, None], 1)
    own = keep[chosen - 1]
    chance = np.where(inside[:, None, :], (own * odds)[:, None, None], 0.0)
    chance = np.where(inside[:, :, None] & inside[:, None, :] & np.eye(k, dtype=bool), own[:, None, None], chance)
    outside = inside[:, None, :] / chosen[:, None, None]
    return np.where(inside[:, :, None], chance, outside)


def randomized_response(labels: Ints, prior: Floats, epsilon: float, seed: int = 0) -> tuple[Ints, Floats]:
    """What is put out for each label, (n,), and its chance under each label, (n, k): ε-DP for any prior that does not
    depend on these labels."""
    chance = response_chances(prior, epsilon)
    labels = classes(labels, prior.shape)
    rows = np.arange(len(labels))
    law = np.cumsum(chance[rows, labels], axis=1)
    u = np.random.default_rng(seed).random(len(labels)) * law[:, -1]
    out = np.minimum((u[:, None] >= law).sum(axis=1), prior.shape[1] - 1)
    return out, chance[rows, :, out]


def corrected(predicted: Floats, epsilon: float) -> Floats:
    """Probabilities of labels from those of their randomized responses, (n, k): p̃ T⁻¹, without what is below 0."""
    k = predicted.shape[1]
    keep = 1.0 / (1.0 + (k - 1) * math.exp(-one_number("epsilon", epsilon, 0.0, low_open=True)))
    other = (1.0 - keep) / (k - 1)
    least = np.maximum(predicted - other, 0.0)  # T = (keep − other) 1 + other, and rows sum to 1
    total = least.sum(axis=1, keepdims=True)
    return np.where(total > 0, least / np.where(total > 0, total, 1.0), 1.0 / k)


def alibi(labels: Ints, prior: Floats, epsilon: float, seed: int = 0) -> Floats:
    """Probabilities of classes given noisy one-hot labels o, (n, k): prior times exp(−(|o_y − 1| − |o_y|) ε/2)."""
    epsilon = one_number("epsilon", epsilon, 0.0, low_open=True)
    prior = _prior(prior)
    exact = np.eye(prior.shape[1])[classes(labels, prior.shape)]
    if math.isinf(epsilon):
        return exact
    noisy = exact + np.random.default_rng(seed).laplace(0.0, 2.0 / epsilon, exact.shape)
    with np.errstate(divide="ignore"):
        log = np.log(prior) - np.clip(1 - 2 * noisy, -1, 1) * epsilon / 2  # |o − 1| − |o|, also of huge o
    likely = np.exp(log - log.max(axis=1, keepdims=True))
    return likely / likely.sum(axis=1, keepdims=True)


def noisy_votes(votes: Ints, scale: float, noise: str = "laplace", seed: int = 0) -> Ints:
    """The class with the most noisy votes for each query, (Q,), of votes (Q, k)."""
    rng = np.random.default_rng(seed)
    if noise not in ("laplace", "gaussian"):
        raise InputError(f"noise must be laplace or gaussian, not {noise!r}")
    draw = rng.laplace if noise == "laplace" else rng.normal
    return np.argmax(votes + draw(0.0, one_number("scale", scale, 0.0), votes.shape), axis=1)


def laplace_votes(scale: float, queries: int) -> float:
    """ε of so many queries with Laplace noise."""
    return 2.0 * whole_number("queries", queries, 1) / one_number("scale", scale, 0.0, low_open=True)


def gaussian_votes(scale: float, queries: int, delta: float) -> float:
    """ε at δ of so many queries with Gaussian noise."""
    rho = whole_number("queries", queries, 1) / one_number("scale", scale, 0.0, low_open=True) ** 2
    return rho + 2.0 * math.sqrt(rho * -math.log(one_number("delta", delta, 0.0, 1.0, low_open=True, high_open=True)))


def laplace_scale(epsilon: float, queries: int) -> float:
    """The b with which so many queries have this ε, which may be infinite."""
    return 2.0 * whole_number("queries", queries, 1) / one_number("epsilon", epsilon, 0.0, low_open=True)


def gaussian_scale(epsilon: float, queries: int, delta: float) -> float:
    """The σ with which so many queries have this ε at δ: √ρ = √(log(1/δ) + ε) − √log(1/δ), without cancellation."""
    epsilon = one_number("epsilon", epsilon, 0.0, low_open=True)
    cost = -math.log(one_number("delta", delta, 0.0, 1.0, low_open=True, high_open=True))
    if math.isinf(epsilon):
        return 0.0
    return math.sqrt(whole_number("queries", queries, 1)) * (math.sqrt(cost + epsilon) + math.sqrt(cost)) / epsilon


def _prior(given: Floats) -> Floats:
    found = numbers("prior", given, 0.0, math.inf, high_open=True)
    if found.ndim != 2 or not found.size or (bad := found.sum(axis=1) == 0).any():
        row = "" if found.ndim != 2 or not found.size else f"; prior[{int(np.argmax(bad))}] has none above 0"
        raise InputError(f"prior must be the probabilities of the classes for each example, (n, k){row}")
    return found
