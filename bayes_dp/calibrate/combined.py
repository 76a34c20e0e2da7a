"""The study of rules for several bases: one bound from all of them.

Every base has the same ε, with the rates of the strongest attack there is (the corner of what ε allows), of a one-sided
one (an edge), or half of them of either kind. Where bases are dependent, all their errors come from the same uniform
numbers. Rules that need independent bases do not claim to be valid then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import cache, partial

import numpy as np
from scipy import special

from bayes_dp.audits.combine import METHODS, bonferroni, combine, fisher, hommel, mixture, simes
from bayes_dp.audits.exact_test import p_values
from bayes_dp.calibrate.looked_at import bounds_by
from bayes_dp.calibrate.rates import RATE_DELTA
from bayes_dp.calibrate.result import Row, Simulation, row_of
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["combined_tasks"]

_BASES, _RUNS = 6, 20
_RULES: dict[str, Callable[[Floats], float]] = {
    "bonferroni": bonferroni,
    "hommel": hommel,
    "simes": simes,
    "fisher": fisher,
}


def _tests(x: Ints, y: Ints) -> Callable[[float], Floats]:
    """The p-values of all bases at an ε, (size, bases), each computed once."""
    pairs, place = np.unique(np.stack([x.ravel(), y.ravel()]), axis=1, return_inverse=True)

    @cache
    def tests(epsilon: float) -> Floats:
        return p_values(pairs[0], _RUNS, pairs[1], _RUNS, epsilon, RATE_DELTA)[place.ravel()].reshape(x.shape)

    return tests


def _evidence(method: str, x: Ints, y: Ints, tests: Callable[[float], Floats], p: float) -> Callable[[float], Floats]:
    """What is at least −log p where ε is rejected, (size,), for errors (size, bases)."""

    def by_rule(epsilon: float) -> Floats:
        return -np.log([max(_RULES[method](row), 1e-300) for row in tests(epsilon)])

    def by_e_values(epsilon: float) -> Floats:
        runs = np.full(x.shape, float(_RUNS))
        logs = mixture(x.astype(float), runs, y.astype(float), runs, epsilon, RATE_DELTA)
        return np.asarray(special.logsumexp(logs, axis=1) - math.log(x.shape[1]))

    if method in _RULES:
        return by_rule
    if method == "mean_e":
        return by_e_values
    share = p / 2 if method == "adaptive" else p
    pooled = _of_sums("pooled" if method == "adaptive" else method, x, y, share)

    def by_sums(epsilon: float) -> Floats:
        rejected = pooled > epsilon
        if method == "adaptive":
            rejected = rejected | (tests(epsilon).min(axis=1) * x.shape[1] <= share)
        return np.where(rejected, np.inf, 0.0)

    return by_sums


def _of_sums(method: str, x: Ints, y: Ints, p: float) -> Floats:
    """The bounds from the sums over bases with as many runs each, (size,): one computation for each that differs."""
    sums, place = np.unique(np.stack([x.sum(axis=1), y.sum(axis=1)]), axis=1, return_inverse=True)
    runs = _RUNS * x.shape[1]
    given = {"method": method, "dependence": "independent", "confidence": 1 - p}
    found = [combine(ErrorCounts(a, runs, b, runs), RATE_DELTA, **given).value for a, b in sums.T.tolist()]  # type: ignore[arg-type]
    return np.array(found)[place.ravel()]


def _task(kind: str, epsilon: float, rng: np.random.Generator, size: int, p: float) -> list[Row]:
    corner = (1 - RATE_DELTA) / (1 + math.exp(epsilon))
    edges = {"corner": 0, "edge": _BASES, "half and half": _BASES // 2}[kind]
    alpha = np.where(np.arange(_BASES) < edges, corner / 4, corner)
    beta = 1 - RATE_DELTA - math.exp(epsilon) * alpha
    x, y = (rng.binomial(_RUNS, rates, (size, _BASES)) for rates in (alpha, beta))
    x_tied, y_tied = ((rng.random((size, _RUNS, 1)) < rates).sum(axis=1) for rates in (alpha, beta))
    mechanism = f"{_BASES} bases, {kind} of ε = {epsilon:g}"
    rows = []
    for bases, errors in (("independent bases", (x, y)), ("dependent bases", (x_tied, y_tied))):
        tests = _tests(errors[0], errors[1])
        for method, rule in METHODS.items():
            claim = bases == "independent bases" or not rule.independent
            found = bounds_by(_evidence(method, errors[0], errors[1], tests, p), epsilon, p)
            labels = f"{method}, δ = {RATE_DELTA:g}", mechanism, 2 * _RUNS * _BASES, bases
            rows.append(row_of(labels, epsilon, found, p, claim))
    return rows


def combined_tasks() -> Iterator[Simulation]:
    for kind in ("corner", "edge", "half and half"):
        yield partial(_task, kind, 1.0)
    yield partial(_task, "corner", 0.0)
