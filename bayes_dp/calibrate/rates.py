"""The study of intervals: bounds from the error rates of attacks on runs that are independent.

The attacks have false positive rate α and false negative rate β on the border of what ε allows at δ,

    e^ε α + β = 1 − δ  with  α ≤ β,

from its end α = 0 to its corner α = β = (1 − δ)/(1 + e^ε). The best attacks on a Gaussian or a Laplace mechanism touch
it in one point, where ε is that of the mechanism at δ. Half of the runs are with z and half without.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy import special

from bayes_dp.audits.intervals import accuracy, clopper_pearson, jeffreys, katz
from bayes_dp.calibrate.mechanisms import SIZES
from bayes_dp.calibrate.result import Row, Simulation, row_of
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.results.bound import LowerBound
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.tradeoff import Gaussian, Laplace

__all__ = ["RATE_DELTA", "RATE_METHODS", "attacks_on_border", "interval_tasks", "rate_bounds"]


RATE_DELTA = 0.01  # where less would hardly show

RateMethod = Callable[..., LowerBound]
RATE_METHODS: dict[str, tuple[RateMethod, bool]] = {  # and whether it claims to be valid
    "clopper-pearson": (clopper_pearson, True),
    "accuracy": (accuracy, True),
    "jeffreys": (jeffreys, False),
    "katz": (katz, False),
}


def rate_bounds(method: RateMethod, x: Ints, n0: int, y: Ints, n1: int, delta: float, p: float) -> Floats:
    """Bounds (size,) from false positives x and false negatives y of shape (size,): one computation per pair."""
    pairs, place = np.unique(np.stack([x, y]), axis=1, return_inverse=True)
    values = [method(ErrorCounts(a, n0, b, n1), delta, confidence=1 - p).value for a, b in pairs.T.tolist()]
    return np.array(values)[place.ravel()]


def attacks_on_border(examples: int, delta: float) -> Iterator[tuple[str, float, float, float]]:
    """Name, false positive rate, false negative rate and ε of attacks on the border of what ε allows at δ.

    With "few errors" a rate is so small that there is often no error where 2.6 are expected.
    """
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        corner = (1 - delta) / (1 + math.exp(epsilon))
        yield f"corner of ε = {epsilon:g}", corner, corner, epsilon
        yield f"edge of ε = {epsilon:g}", corner / 4, 1 - delta - math.exp(epsilon) * corner / 4, epsilon
        yield f"end of ε = {epsilon:g}", 0.0, 1 - delta, epsilon
    for mu in (0.5, 1.0, 2.0):
        epsilon = float(Gaussian(mu).epsilon_at(delta))
        tangent = epsilon / mu + mu / 2
        alpha, beta = float(special.ndtr(-tangent)), float(special.ndtr(tangent - mu))
        yield f"Gaussian mechanism, μ = {mu:g}", alpha, beta, epsilon
    for mu in (0.5, 1.0, 3.0):
        epsilon = float(Laplace(mu).epsilon_at(delta))
        yield (
            f"Laplace mechanism, μ = {mu:g}",
            math.exp((-epsilon - mu) / 2) / 2,
            math.exp((epsilon - mu) / 2) / 2,
            epsilon,
        )
    alpha, beta = 2.6 / (examples // 2), 0.5
    yield "few errors", alpha, beta, math.log((1 - delta - beta) / alpha)


def _rate_task(
    attack: tuple[str, float, float, float], examples: int, rng: np.random.Generator, size: int, p: float
) -> list[Row]:
    name, alpha, beta, truth = attack
    n = examples // 2
    x, y = rng.binomial(n, alpha, size), rng.binomial(n, beta, size)
    rows = []
    for audit, (method, claim) in RATE_METHODS.items():
        bounds = rate_bounds(method, x, n, y, n, RATE_DELTA, p)
        rows.append(row_of((f"{audit}, δ = {RATE_DELTA:g}", name, examples, "all runs"), truth, bounds, p, claim))
    return rows


def interval_tasks() -> Iterator[Simulation]:
    for examples in SIZES:
        for attack in attacks_on_border(examples, RATE_DELTA):
            yield partial(_rate_task, attack, examples)
