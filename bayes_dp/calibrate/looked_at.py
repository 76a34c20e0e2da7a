"""The study of sequential audits: bounds that are looked at after every pair of runs.

Pairs of runs have the error rates of an attack on the border of what ε allows (`rates.py`). What counts is whether the
truth is exceeded at any look. Beside the audits stand, without a claim to be valid, bounds for a fixed number of runs
that are computed again at ten looks, and betting on independent pairs whose errors come from the same uniform number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from bayes_dp.audits.betting import ApproxClaims, Claims, bet_on_product, bet_on_sum, next_refresh
from bayes_dp.audits.combine import mixture
from bayes_dp.calibrate.rates import RATE_DELTA, RATE_METHODS, attacks_on_border, rate_bounds
from bayes_dp.calibrate.result import Row, Simulation, row_of
from bayes_dp.support.arrays import Floats

__all__ = ["bounds_by", "largest_capital", "largest_mixture", "looked_at_tasks", "looks"]

_PAIRS = 60
_ATTACKS = ("corner of ε = 0", "corner of ε = 1", "edge of ε = 1", "corner of ε = 3")
_SHARES = (0.25, 0.5, 0.75, 0.9)  # of the truth, at which bounds are told apart


def largest_capital(claims: Claims, x: Floats, y: Floats, *, dependent: bool = False) -> Floats:
    """log of the largest capital after any pair, (size,), against a claim for each sequence of errors x and y, both
    (size, pairs): what `audits/capital.py` does to one sequence."""
    size, pairs = x.shape
    log, best, t = np.zeros(size), np.zeros(size), 0
    while t < pairs:
        until = min(next_refresh(t), pairs)
        a, b = ((each[:, :t].sum(axis=1) + 0.5) / (t + 1) for each in (x, y))
        if dependent:
            spreads = (
                (0.25 + ((each[:, :t] - rate[:, None]) ** 2).sum(axis=1)) / (t + 1) for each, rate in ((x, a), (y, b))
            )
            assert isinstance(claims, ApproxClaims)
            factors = bet_on_sum(claims, a, b, (next(spreads), next(spreads))).log_factors(*_KINDS)
        else:
            factors = bet_on_product(claims, a, b).log_factors(*_KINDS)  # (4, size)
        played = factors[(2 * x + y)[:, t:until].astype(int), np.arange(size)[:, None]]
        steps = log[:, None] + np.cumsum(played, axis=1)
        log, best, t = steps[:, -1], np.maximum(best, steps.max(axis=1)), until
    return best


_KINDS = np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0])


def looks(pairs: int) -> Floats:
    """Every pair up to the 64th, and then whenever there are 2% more."""
    found = [1]
    while found[-1] < pairs:
        found.append(min(next_refresh(found[-1]), pairs))
    return np.array(found, float)


def largest_mixture(epsilon: float, delta: float, x: Floats, y: Floats) -> Floats:
    """The same as `largest_capital` for the mixture, at the `looks`."""
    n = looks(x.shape[1])
    a, b = (np.cumsum(each, axis=1)[:, n.astype(int) - 1] for each in (x, y))
    return np.asarray(mixture(a, n, b, n, epsilon, delta).max(axis=1))


def bounds_by(evidence: Callable[[float], Floats], truth: float, p: float) -> Floats:
    """The last value that is rejected before the first that is not, of a few, of which one is just above the truth."""
    grid = np.array([0.0, *(share * truth for share in _SHARES if truth > 0), truth + 1e-9])
    rejected = np.stack([evidence(float(epsilon)) >= -np.log(p) for epsilon in grid])
    number = np.where(rejected.all(axis=0), len(grid), (~rejected).argmax(axis=0))
    return np.asarray(grid[np.maximum(number - 1, 0)])


def _task(attack: tuple[str, float, float, float], rng: np.random.Generator, size: int, p: float) -> list[Row]:
    name, alpha, beta, truth = attack
    u, v = rng.random((2, size, _PAIRS))
    x, y, tied = (u < alpha).astype(float), (v < beta).astype(float), (u < beta).astype(float)

    def betting(y: Floats, dependent: bool) -> Callable[[float], Floats]:
        return lambda e: largest_capital(ApproxClaims(np.full(size, e), RATE_DELTA), x, y, dependent=dependent)

    ways: list[tuple[str, str, Callable[[float], Floats], bool]] = [
        ("betting", "all pairs", betting(y, False), True),
        ("betting, dependent pairs", "all pairs", betting(y, True), True),
        ("betting, dependent pairs", "comonotone pairs", betting(tied, True), True),
        ("betting", "comonotone pairs", betting(tied, False), False),
        ("mixture", "all pairs", lambda e: largest_mixture(e, RATE_DELTA, x, y), True),
    ]
    rows = []
    for way, pairs, evidence, claim in ways:
        labels = f"{way}, δ = {RATE_DELTA:g}", name, 2 * _PAIRS, pairs
        rows.append(row_of(labels, truth, bounds_by(evidence, truth, p), p, claim))
    for method in ("clopper-pearson", "accuracy"):
        again = np.zeros(size)
        for n in range(_PAIRS // 10, _PAIRS + 1, _PAIRS // 10):
            counts = (each[:, :n].sum(axis=1).astype(int) for each in (x, y))
            found = rate_bounds(RATE_METHODS[method][0], next(counts), n, next(counts), n, RATE_DELTA, p)
            again = np.maximum(again, found)
        rows.append(row_of((f"{method}, δ = {RATE_DELTA:g}", name, 2 * _PAIRS, "ten looks"), truth, again, p, False))
    return rows


def looked_at_tasks() -> Iterator[Simulation]:
    for attack in attacks_on_border(2 * _PAIRS, RATE_DELTA):
        if attack[0] in _ATTACKS:
            yield partial(_task, attack)
