"""The study of wrong pairs: methods on counts that arose otherwise than they assume, which is why these are refused.

The column `choice` says what becomes of the pair of design and method: "refused" or "cautioned", and "offered" for the
right method on the same counts, for comparison.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special

from bayes_dp.attacks.scores import Fixed
from bayes_dp.audits.choice import Lower
from bayes_dp.audits.f_dp import approx
from bayes_dp.audits.f_dp import lower_bounds as f_dp_bounds
from bayes_dp.audits.one_run import best_lower_bounds, exact_lower_bounds
from bayes_dp.audits.one_run import lower_bounds as binomial_bounds
from bayes_dp.calibrate.bounds import at_delta, bounds_of, discounted, shift_of, simulated
from bayes_dp.calibrate.extreme import draw_at_once, least_rejecting
from bayes_dp.calibrate.guesses import DELTA
from bayes_dp.calibrate.mechanisms import RandomizedResponse
from bayes_dp.calibrate.rates import RATE_DELTA, RATE_METHODS, rate_bounds
from bayes_dp.calibrate.result import Row, Simulation, row_of
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["wrong_pair_tasks"]


def wrong_pair_tasks() -> Iterator[Simulation]:
    yield _one_run_independent
    yield _one_run_revealed
    yield from (partial(_one_run_at_once, epsilon) for epsilon in (0.0, 1.0))
    yield _repeated_balanced
    yield _repeated_unbalanced
    yield _cross_fed_fitted
    yield _cross_fed_counting
    yield _shifted
    yield _generated


@dataclass(frozen=True)
class _Counts:
    """Error counts of so many repetitions: x and y of shape (size,), negatives and positives the same for all."""

    x: Ints
    negatives: int
    y: Ints
    positives: int

    def bounds(self, method: str, delta: float, p: float) -> Floats:
        """By a method of rates, or by one of guesses that takes all decisions together."""
        n = self.negatives + self.positives
        if method in RATE_METHODS:
            return rate_bounds(RATE_METHODS[method][0], self.x, self.negatives, self.y, self.positives, delta, p)
        correct = (n - self.x - self.y)[:, None]
        return bounds_of(_GUESS_METHODS[method](delta), n, np.array([n]), correct, p)[:, 0]


_GUESS_METHODS: dict[str, Callable[[float], Lower]] = {
    "one-run": lambda delta: at_delta(best_lower_bounds, delta),
    "f-dp": lambda delta: partial(f_dp_bounds, approx(delta)),
    "exact": lambda delta: at_delta(exact_lower_bounds, delta),
}
_OFFERED = "offered"
_ONE_RUN = {"clopper-pearson": "refused", "accuracy": "refused", "one-run": _OFFERED}
_REPEATED = {"one-run": "refused", "f-dp": "refused", "clopper-pearson": _OFFERED}
_CROSS_FED = {"clopper-pearson": "cautioned", "accuracy": "cautioned", "one-run": "refused", "f-dp": "refused"}


def _pair_rows(
    counts: _Counts, mechanism: str, truth: float, delta: float, p: float, methods: dict[str, str]
) -> list[Row]:
    """One row for each of `methods`, from its name to what becomes of the pair."""
    rows = []
    for method, fate in methods.items():
        labels = (f"{method}, δ = {delta:g}", mechanism, counts.negatives + counts.positives, fate)
        rows.append(row_of(labels, truth, counts.bounds(method, delta, p), p, fate == _OFFERED))
    return rows


def _one_run_independent(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Guesses of one run that happen to be independent, half of them of members."""
    n, epsilon = 1000, 1.0
    x, y = rng.binomial(n, special.expit(-epsilon), (2, size))
    name = f"one run, independent errors, ε = {epsilon:g}"
    return _pair_rows(_Counts(x, n, y, n), name, epsilon, 0.0, p, _ONE_RUN)


def _one_run_revealed(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """With chance δ the training publishes its data, else nothing: (0, δ)-DP."""
    n, delta = 1000, 0.1
    x, y = rng.binomial(n, 0.5, (2, size)) * (rng.random(size) >= delta)
    methods = _ONE_RUN | {"f-dp": _OFFERED}
    return _pair_rows(_Counts(x, n, y, n), "one run, all revealed with chance δ", 0.0, delta, p, methods)


def _one_run_at_once(epsilon: float, rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """The extreme case, in turn against each method; the wrong guesses fall on members and others at random."""
    n, delta, rows = 1000, 0.01, []
    for method, fate in (_ONE_RUN | {"f-dp": _OFFERED, "exact": _OFFERED}).items():

        def lower(m: Floats, r: Floats, c: Floats, p: float, method: str = method) -> Floats:
            wrong = (r - c).astype(np.int64)
            return _Counts(wrong // 2, n, wrong - wrong // 2, n).bounds(method, delta, p)

        least = least_rejecting(lower, 2 * n, 2 * n, epsilon, p)
        wrong = 2 * n - draw_at_once(2 * n, 2 * n, least, epsilon, delta, size, rng)
        x = rng.hypergeometric(n, n, wrong)
        name = f"one run, δ spent at once, ε = {epsilon:g}"
        rows += _pair_rows(_Counts(x, n, wrong - x, n), name, epsilon, delta, p, {method: fate})
    return rows


def _repeated_balanced(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    n, epsilon, delta = 1000, 1.0, RATE_DELTA
    x, y = rng.binomial(n, (1 - delta) / (1 + math.exp(epsilon)), (2, size))
    methods = _REPEATED | {"accuracy": _OFFERED}
    name = f"repeated, as many positives as negatives, ε = {epsilon:g}"
    return _pair_rows(_Counts(x, n, y, n), name, epsilon, delta, p, methods)


def _repeated_unbalanced(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """An attack that sees nothing and says "member" nine times of ten is right in 70 of 100 runs."""
    n0, n1, says = 500, 1500, 0.9
    x, y = rng.binomial(n0, says, size), rng.binomial(n1, 1 - says, size)
    name = "repeated, three positives for a negative, no leak"
    return _pair_rows(_Counts(x, n0, y, n1), name, 0.0, RATE_DELTA, p, _REPEATED)


def _cross_fed_fitted(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Each run is judged by the side of the midpoint of the mean scores of the other runs with and without z."""
    n = 100
    out, within = rng.standard_normal((2, size, n))
    wrong = []
    for own, other in ((out, within), (within, out)):
        own_mean = (own.sum(axis=1, keepdims=True) - own) / (n - 1)
        other_mean = other.mean(axis=1, keepdims=True)
        wrong.append(np.sum((own - (own_mean + other_mean) / 2) * (own_mean - other_mean) < 0, axis=1))
    name = "cross-fed, fitted to the other runs, no leak"
    return _pair_rows(_Counts(wrong[0], n, wrong[1], n), name, 0.0, 0.0, p, _CROSS_FED)


def _cross_fed_counting(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Where half of the runs have z, the other runs' memberships tell this run's: it is what they have less of."""
    del rng
    n, none = 100, np.zeros(size, dtype=np.int64)
    name = "cross-fed, said to be what is rarer in the other runs, no leak"
    return _pair_rows(_Counts(none, n, none, n), name, 0.0, 0.0, p, _CROSS_FED)


def _shifted(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Members and non-members differ in their features, and the model leaks nothing."""
    m, overlap = 2000, 0.4
    mechanism = RandomizedResponse(0.0, shift_of(overlap))
    bounds: dict[str, tuple[Lower, str]] = {
        "one-run": (at_delta(best_lower_bounds, DELTA), "refused"),
        "zero-run-compositional": (partial(discounted, mechanism.shift, DELTA), _OFFERED),
    }
    rows = []
    for audit, (lower, fate) in bounds.items():
        values = simulated(mechanism, m, Fixed(m), lower, p, size, rng)
        labels = (f"{audit}, δ = {DELTA:g}", f"propensities {overlap:g} to {1 - overlap:g}, no leak", m, fate)
        rows.append(row_of(labels, 0.0, values, p, fate == _OFFERED))
    return rows


def _generated(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Non-members from a generator with a flaw that the attack sees and the baseline does not; no leak."""
    m, lower = 2000, at_delta(binomial_bounds, 0.0)
    made = np.array([m // 2])
    seen, unseen = rng.binomial(made, special.expit(1.0), (size, 1)), rng.binomial(made, 0.5, (size, 1))
    values = np.maximum(0.0, bounds_of(lower, m, made, seen, p / 2) - bounds_of(lower, m, made, unseen, p / 2))[:, 0]
    labels = ("panoramia, δ = 0", "generated non-members, baseline misses their flaw, no leak", m, "an estimate only")
    return [row_of(labels, 0.0, values, p, False)]
