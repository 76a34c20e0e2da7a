"""The studies of audits of `audits/registry.py` that have none of their own, by what they need.

Those that need counts are studied on attacks at the border of what ε allows, as intervals are; those that need guesses
of examples that were members by fair coins on randomized responses, of which each example is guessed. Whether an audit
claims to be valid is what its result says.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from bayes_dp.audits.base import Audit, Inputs
from bayes_dp.calibrate.mechanisms import RESPONSES, SIZES, RandomizedResponse
from bayes_dp.calibrate.rates import RATE_DELTA, attacks_on_border
from bayes_dp.calibrate.result import Row, Simulation, row_of
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Ints

__all__ = ["can_be_studied", "tasks_for"]


def can_be_studied(audit: Audit) -> bool:
    """Whether it needs no more than what is simulated here."""
    return set(audit.needs) in ({"counts"}, {"guesses", "coins"})


def tasks_for(audit: Audit) -> Iterator[Simulation]:
    """The tasks of the study."""
    examples = SIZES[0]
    if "counts" in audit.needs:
        for attack in attacks_on_border(examples, RATE_DELTA):
            yield partial(_counts_task, audit, attack, examples)
    else:
        for mechanism in RESPONSES:
            yield partial(_guesses_task, audit, mechanism, examples)


def _counts_task(
    audit: Audit,
    attack: tuple[str, float, float, float],
    examples: int,
    rng: np.random.Generator,
    size: int,
    p: float,
) -> list[Row]:
    name, alpha, beta, truth = attack
    runs = np.full(size, examples // 2)
    table = np.stack([rng.binomial(runs, alpha), runs, rng.binomial(runs, beta), runs], axis=1)
    return _rows(audit, table, (name, examples, "all runs"), truth, p)


def _guesses_task(
    audit: Audit, mechanism: RandomizedResponse, examples: int, rng: np.random.Generator, size: int, p: float
) -> list[Row]:
    members, wrong = rng.binomial(examples, 0.5, size), 1 / (1 + np.exp(mechanism.epsilon))
    table = np.stack(
        [rng.binomial(examples - members, wrong), examples - members, rng.binomial(members, wrong), members], axis=1
    )
    return _rows(audit, table, (mechanism.name, examples, "all"), mechanism.truth("epsilon", RATE_DELTA), p)


def _rows(audit: Audit, table: Ints, labels: tuple[str, int, str], truth: float, p: float) -> list[Row]:
    """The row of counts of all repetitions, (size, 4): one computation for each that is different."""
    different, place = np.unique(table, axis=0, return_inverse=True)
    inputs, kind = Inputs(RATE_DELTA, 1 - p), {}
    if audit.designs == ("one_run",):
        kind = {"design": "one_run", "examples": labels[1]}
    found = [audit.on(ErrorCounts(*row, **kind), inputs) for row in different.tolist()]  # type: ignore[arg-type]
    values, claim = np.array([each.value for each in found]), all(each.valid for each in found)
    mechanism, examples, choice = labels
    name = f"{audit.name}, δ = {RATE_DELTA:g}"
    return [row_of((name, mechanism, examples, choice), truth, values[place.ravel()], p, claim)]
