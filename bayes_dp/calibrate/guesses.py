"""The studies of audits of guesses: `one_run`, `f_dp`, `panoramia` and `compositional`.

The first two are studied with every mechanism, every way to choose the number of guesses, and in the extreme case
where δ is spent at once; PANORAMIA with thresholds known in advance; the zero-run audit with features that tell a part
of the membership, for a guesser who knows them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from bayes_dp.attacks.scores import Bonferroni, Fixed, NumberOfGuesses, Split, Uncorrected
from bayes_dp.audits.choice import Lower
from bayes_dp.audits.f_dp import GAUSSIAN, LAPLACE, approx
from bayes_dp.audits.f_dp import lower_bounds as f_dp_bounds
from bayes_dp.audits.one_run import best_lower_bounds, exact_lower_bounds
from bayes_dp.audits.one_run import lower_bounds as binomial_bounds
from bayes_dp.calibrate.bounds import at_delta, bounds_of, discounted, shift_of, simulated
from bayes_dp.calibrate.counts import draw_above, draw_correct
from bayes_dp.calibrate.extreme import draw_at_once, least_rejecting
from bayes_dp.calibrate.mechanisms import RESPONSES, SIZES, Mechanism, RandomizedResponse, mechanisms_for
from bayes_dp.calibrate.result import Row, Simulation, row_of
from bayes_dp.data.guesses import Guesses
from bayes_dp.support.arrays import Ints

__all__ = ["DELTA", "f_dp_tasks", "one_run_tasks", "panoramia_tasks", "zero_run_tasks"]


DELTA = 1e-5
SPENT_DELTA = 1e-3  # where it is spent at once

Lowers = Mapping[str, tuple[Lower, str]]  # from the audit's name to its bound and the parameter that it bounds


def one_run_tasks() -> Iterator[Simulation]:
    methods = {"best": best_lower_bounds, "binomial": binomial_bounds, "exact": exact_lower_bounds}
    usual, spent = (
        {f"one-run {name}, δ = {delta:g}": at_delta(f, delta) for name, f in methods.items()}
        for delta in (DELTA, SPENT_DELTA)
    )
    return _one_run_guesses({audit: (lower, "epsilon") for audit, lower in usual.items()}, spent)


def f_dp_tasks() -> Iterator[Simulation]:
    usual, spent = (
        {f"f-dp approx, δ = {delta:g}": partial(f_dp_bounds, approx(delta))} for delta in (DELTA, SPENT_DELTA)
    )
    lowers: Lowers = {
        "f-dp gaussian (μ)": (partial(f_dp_bounds, GAUSSIAN), "mu"),
        **{audit: (lower, "epsilon") for audit, lower in usual.items()},
        "f-dp laplace (μ)": (partial(f_dp_bounds, LAPLACE), "laplace"),
    }
    return _one_run_guesses(lowers, spent)


def panoramia_tasks() -> Iterator[Simulation]:
    for examples in SIZES:
        for mechanism in mechanisms_for(examples):
            yield partial(_panoramia_task, mechanism, examples)


def zero_run_tasks() -> Iterator[Simulation]:
    for examples in SIZES:
        for overlap in (0.4, 0.2):
            shift = shift_of(overlap)
            lower = partial(discounted, shift, DELTA)
            lowers = {f"zero-run-compositional, η = {overlap:g}, δ = {DELTA:g}": (lower, "epsilon")}
            for plain in RESPONSES:
                yield partial(_guess_task, lowers, RandomizedResponse(plain.epsilon, shift), examples)


def _one_run_guesses(usual: Lowers, spent: Mapping[str, Lower]) -> Iterator[Simulation]:
    """All mechanisms at δ = `DELTA`, and the extreme case at `SPENT_DELTA`."""
    for examples in SIZES:
        for mechanism in mechanisms_for(examples):
            yield partial(_guess_task, usual, mechanism, examples)
        for epsilon in (0.0, 1.0, 3.0):
            yield partial(_extreme_task, spent, epsilon, examples)


def _guess_task(
    lowers: Lowers, mechanism: Mechanism, examples: int, rng: np.random.Generator, size: int, p: float
) -> list[Row]:
    rows = []
    for audit, (lower, parameter) in lowers.items():
        truth = mechanism.truth(parameter, DELTA)
        if math.isinf(truth):
            continue
        for choice in _choices(examples):
            bounds = simulated(mechanism, examples, choice, lower, p, size, rng)
            labels = (audit, mechanism.name, examples, _choice_name(choice))
            rows.append(row_of(labels, truth, bounds, p, not isinstance(choice, Uncorrected)))
    return rows


def _choices(examples: int) -> tuple[NumberOfGuesses, ...]:
    return Fixed(examples // 10), Bonferroni(), Split(), Uncorrected()


def _choice_name(choice: NumberOfGuesses) -> str:
    return f"Fixed({choice.n})" if isinstance(choice, Fixed) else type(choice).__name__


def _extreme_task(
    lowers: Mapping[str, Lower], epsilon: float, examples: int, rng: np.random.Generator, size: int, p: float
) -> list[Row]:
    rows = []
    name = f"spends δ = {SPENT_DELTA:g} at once, ε = {epsilon:g}"
    for audit, lower in lowers.items():
        least = least_rejecting(lower, examples, examples, epsilon, p)
        correct = draw_at_once(examples, examples, least, epsilon, SPENT_DELTA, size, rng)
        bounds = bounds_of(lower, examples, np.array([examples]), correct[:, None], p)[:, 0]
        rows.append(row_of((audit, name, examples, f"Fixed({examples})"), epsilon, bounds, p, True))
    return rows


def _panoramia_task(mechanism: Mechanism, examples: int, rng: np.random.Generator, size: int, p: float) -> list[Row]:
    delta = 0.0 if math.isfinite(mechanism.truth("epsilon", 0.0)) else DELTA
    truth, lower, rows = mechanism.truth("epsilon", delta), at_delta(binomial_bounds, delta), []
    for choice, taken, right in _thresholds(mechanism, examples, rng, size):
        bounds = bounds_of(lower, examples, taken, right, p / right.shape[1]).max(axis=1)
        rows.append(row_of((f"panoramia, δ = {delta:g}", mechanism.name, examples, choice), truth, bounds, p, True))
    return rows


def _thresholds(
    mechanism: Mechanism, examples: int, rng: np.random.Generator, size: int
) -> Iterator[tuple[str, Ints, Ints]]:
    """Their name, how many scores are at or above each, (k,) or (size, k), and the members among these, (size, k)."""
    for levels in (np.array([0.9]), np.array([0.5, 0.75, 0.9, 0.95])):
        yield f"{len(levels)} threshold{'s' * (len(levels) > 1)}", *draw_above(mechanism, examples, levels, size, rng)
    if examples == SIZES[0]:  # more would take long
        every = Guesses(examples, range(1, examples + 1), range(1, examples + 1), "bonferroni")
        yield "every score", every.made, draw_correct(mechanism, every, size, rng, "members")
