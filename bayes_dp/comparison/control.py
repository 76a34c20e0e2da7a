"""The positive control of a verdict: the same attack on a training that is known to leak, and whether it shows that.

It is made as the evidence is: error counts for error counts, and for the scores of one model the scores of another one,
from which guesses are made by the same rule. Its lower bound is that of Clopper and Pearson for repeated runs, that of
one run for guesses of examples that were members by fair coins, and the zero-run bound for others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from bayes_dp.attacks.scores import NumberOfGuesses
from bayes_dp.audits.intervals import clopper_pearson
from bayes_dp.audits.judged import Judged, judged
from bayes_dp.audits.one_run import one_run
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.checks import InputError, one_number
from bayes_dp.data.counts import ONE_MODEL, ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.bound import LowerBound
from bayes_dp.support.arrays import Ints
from bayes_dp.support.text import digits

__all__ = ["Control", "Evidence", "as_control", "check_control", "check_limit", "shows_too_little"]

Control = ErrorCounts | GuessTable | Guesses | Literal[False] | None
Evidence = ErrorCounts | Guesses | Literal[False] | None  # with guesses in place of scores
_UNLIKE = 2.0  # ratio of the numbers of runs from which control and counts are said to differ


def as_control(
    control: Control,
    counts: ErrorCounts,
    evidence: Judged | None,
    delta: float,
    choice: NumberOfGuesses | int | None = None,
) -> Evidence:
    """The control of these counts, or of this evidence, checked; of scores the guesses by the same choice."""
    if isinstance(control, GuessTable | Guesses):
        if counts.design not in ONE_MODEL:
            raise InputError(f'the control has scores of one model, and the counts are of the design "{counts.design}"')
        found = judged(control, delta, choice if isinstance(control, GuessTable) else None)
        if evidence is not None and found.table == evidence.table:
            raise InputError("the control has the very scores that are judged; it must be of a training that leaks")
        control = found.guesses
    check_control(control, counts)
    return control


def check_limit(limit: float | None, control: Control) -> None:
    """Refuse a limit that is none, and a control without a limit or that can be none."""
    if limit is not None:
        one_number("limit", limit, 0.0, high_open=True)
    elif control is not None:
        raise InputError("control is for a verdict: give a limit of epsilon too")


def check_control(control: Evidence, counts: ErrorCounts) -> None:
    """Refuse what cannot be a positive control of these counts."""
    if control is None or control is False:
        return
    if not isinstance(control, ErrorCounts | Guesses):
        raise InputError(
            "control must be the ErrorCounts, the scores or the guesses of the same attack on a training that is known"
            f" to leak, or False to go without, not {type(control).__name__}"
        )
    design = control.design if isinstance(control, ErrorCounts) else "one_run"
    if (design in ONE_MODEL) != (counts.design in ONE_MODEL):
        raise InputError(
            f'the control must have been made as the counts were: its design is "{design}", and theirs'
            f' "{counts.design}"'
        )
    if isinstance(control, ErrorCounts) and _rows(control) == _rows(counts):
        raise InputError("the control has the very counts that are to be judged; it must be of a training that leaks")


def _rows(counts: ErrorCounts) -> list[tuple[int, ...]]:
    columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def shows_too_little(
    control: ErrorCounts | Guesses, counts: ErrorCounts, delta: float, limit: float, prob: float, notes: list[str]
) -> list[str]:
    """Why the control does not show that this attack sees a leak above the limit; nothing where it does.

    Its own lower bound has to exceed the limit. Which bound is fixed by how it was made, and not by its value.
    """
    confidence = (1 + prob) / 2
    bound = _bound_of(control)(control, delta, confidence=confidence)
    if bound.invalid:
        return [f"No lower bound is valid for the control: {bound.invalid}"]
    with_confidence = f"{digits(bound.value)} with confidence {100 * confidence:g}% ({bound.provenance.method})"
    if not bound.value > limit:
        return [
            f"The control's lower bound, {with_confidence}, is not above the limit: it does not show that this"
            " attack would have seen a leak of that size." + "".join(f" {sentence}" for sentence in bound.warnings)
        ]
    notes.append(
        f"The positive control has the lower bound {with_confidence}: this attack sees a leak that exceeds the limit."
    )
    here, there = (float(np.mean(part)) for part in (_runs(counts), _runs(control)))
    if not 1 / _UNLIKE <= here / there <= _UNLIKE:
        notes.append(
            f"The control has {there:.6g} runs a base and the counts have {here:.6g}: what the attack shows in the one"
            " number of runs it need not show in the other."
        )
    return []


def _bound_of(control: ErrorCounts | Guesses) -> Callable[..., LowerBound]:
    if isinstance(control, ErrorCounts):
        return one_run if control.design in ONE_MODEL else clopper_pearson
    return one_run if (control.table.needed_propensity() == 0.5).all() else zero_run


def _runs(part: ErrorCounts | Guesses) -> Ints:
    """How many runs of a base, or guesses, there are."""
    return part.made if isinstance(part, Guesses) else part.negatives + part.positives
