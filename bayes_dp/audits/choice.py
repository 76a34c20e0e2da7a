"""Which row of the guesses may be looked at, and how an error probability is spent on that: what makes a bound valid.

An error probability p is spent as the rule of `Guesses` says: "fixed" and "split" judge one row at p, "bonferroni"
judges each of k rows at p/k, "multisplit" takes the median of what "split" gives at p/2 on several splits, and
"uncorrected" judges each row at p, which is not valid for k > 1. Which numbers are worth trying is another matter, of
`attacks/scores.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bayes_dp.data.guesses import Guesses
from bayes_dp.support.arrays import Floats, Indices

__all__ = ["Choice", "Lower", "LowerOf", "choose", "choose_by", "level_of"]

Lower = Callable[[Floats, Floats, Floats, float], Floats]  # (examples, made, correct, p), (k,) -> (k,)
LowerOf = Callable[[Guesses, Indices, float], Floats]  # of these rows of the guesses, at p


@dataclass(frozen=True)
class Choice:
    """The bound `value` of the chosen `row`, which was judged at error probability `level`."""

    value: float
    row: int
    level: float
    assumption: str  # how the row was chosen, a sentence
    invalid: str  # a sentence where the rule does not keep the error probability, else empty
    counts: dict[str, int]  # examples, made and correct of that row


def choose(guesses: Guesses, p: float, lower: Lower) -> Choice:
    """The bound at error probability p under the rule of `guesses`, where only their numbers count."""

    def of_numbers(part: Guesses, rows: Indices, level: float) -> Floats:
        made, correct = (values[rows].astype(np.float64) for values in (part.made, part.correct))
        return lower(np.full(len(made), float(part.examples)), made, correct, level)

    return choose_by(guesses, p, of_numbers)


def choose_by(guesses: Guesses, p: float, lower: LowerOf) -> Choice:
    """The bound at error probability p under the rule of `guesses`; of equal bounds the first counts."""
    if guesses.splits:
        return _median(guesses, p, lower)
    every = np.arange(len(guesses))
    k, rule, level, invalid = len(guesses), guesses.rule, level_of(guesses, p), ""
    if guesses.pilot is not None:
        row = int(np.argmax(lower(guesses.pilot, every, p)))
        value = float(lower(guesses, every[row : row + 1], p)[0])
        assumption = "The number of guesses was chosen on other examples of the same audit, which the bound leaves out."
    else:
        values = lower(guesses, every, level)
        row = int(np.argmax(values))
        value = float(values[row])
        if k == 1:
            assumption = "The number of guesses was decided before looking at which were correct."
        elif rule == "bonferroni":
            assumption = (
                f"The {k} numbers of guesses were decided in advance, and each was judged at error probability p/{k}."
            )
        else:
            assumption = f"The best of {k} numbers of guesses was taken, without a correction for that."
            invalid = f"The best of {k} numbers of guesses was taken, so the bound is wrong more often than it says."
    counts = {"examples": guesses.examples, "made": int(guesses.made[row]), "correct": int(guesses.correct[row])}
    return Choice(value, row, level, assumption, invalid, counts)


def _median(guesses: Guesses, p: float, lower: LowerOf) -> Choice:
    """The median over the splits, each at p/2; of an even number the lower of the two in the middle."""
    found = sorted((choose_by(split, p / 2, lower) for split in guesses.splits), key=lambda choice: choice.value)
    middle = found[(len(found) - 1) // 2]
    assumption = (
        f"The number of guesses was chosen on one part of the examples and judged on the other, in {len(found)} random"
        " splits at error probability p/2 each, of which the median bound counts."
    )
    return replace(middle, assumption=assumption)


def level_of(guesses: Guesses, p: float) -> float:
    """The error probability at which each row is judged, of p for all that is looked at."""
    return p / len(guesses) if guesses.rule == "bonferroni" else p / 2 if guesses.splits else p
