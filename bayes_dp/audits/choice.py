"""What the audits of guesses share: the largest rejected parameter, and which row of the guesses may be looked at.

A lower bound is the supremum of the rejected values of a privacy parameter, and 0 if none is rejected. An error
probability p is spent as the rule of `Guesses` says: "fixed" and "split" judge one row at p, "bonferroni" judges each
of k rows at p/k, and "uncorrected" judges each at p, which is not valid for k > 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.attacks.scores import Bonferroni, NumberOfGuesses, Sides, guess, require_fair
from bayes_dp.checks import InputError, numbers, seed_of, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.data.table import MAX_COUNT
from bayes_dp.support.arrays import Floats, Indices

__all__ = [
    "ASSUMPTIONS",
    "Choice",
    "Lower",
    "as_guesses",
    "cautions",
    "choose",
    "choose_by",
    "guessing_settings",
    "largest_rejected",
    "trials",
]

Rows = Indices
Lower = Callable[[Floats, Floats, Floats, float], Floats]  # (examples, made, correct, p), (k,) -> (k,)
LowerOf = Callable[[Guesses, Rows, float], Floats]  # of these rows of the guesses, at p

_LEVEL = 1e-3

ASSUMPTIONS = (
    "Each example was in the training set by its own fair coin, independent of the others and unknown to the guesser.",
    "All guesses were made from one trained model.",
)


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

    def of_numbers(part: Guesses, rows: Rows, level: float) -> Floats:
        made, correct = (values[rows].astype(np.float64) for values in (part.made, part.correct))
        return lower(np.full(len(made), float(part.examples)), made, correct, level)

    return choose_by(guesses, p, of_numbers)


def choose_by(guesses: Guesses, p: float, lower: LowerOf) -> Choice:
    """The bound at error probability p under the rule of `guesses`; of equal bounds the first counts."""
    every = np.arange(len(guesses))
    k, rule, invalid = len(guesses), guesses.rule, ""
    level = p / k if rule == "bonferroni" else p
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


def as_guesses(
    given: Any, choice: NumberOfGuesses | int | None = None, sides: Sides = "both", seed: int = 0
) -> Guesses:
    """Guesses of examples that were members by fair coins, as they are; error counts of the design "one_run" as one row
    of guesses; those of `attacks.guess` from a table of scores, by default the best of several numbers, corrected for
    their number."""
    if isinstance(given, GuessTable):
        return guess(given, Bonferroni() if choice is None else choice, sides, seed)
    if not isinstance(given, Guesses | ErrorCounts):
        raise InputError(
            "guesses must be a GuessTable, Guesses (as attacks.guess gives them) or ErrorCounts, not"
            f" {type(given).__name__}"
        )
    if choice is not None:
        raise InputError("choice is for a table of scores; these guesses are made already")
    if sides != "both" or seed_of(seed):
        raise InputError("sides and seed are for a table of scores; these guesses are made already")
    if isinstance(given, ErrorCounts):
        return Guesses.from_counts(given)
    if given.knows_examples:
        require_fair(given.table)
    return given


def cautions(guesses: Guesses) -> tuple[str, ...]:
    """What speaks against guesses of examples that were members by fair coins, in sentences: what is known of their
    scores, or else that fewer of them are right than coins would be, at `_LEVEL` over all numbers of guesses."""
    if guesses.warnings:
        return guesses.warnings
    p_values = special.bdtr(guesses.correct, guesses.made, 0.5) * len(guesses)
    worst = int(np.argmin(p_values))
    if p_values[worst] > _LEVEL:
        return ()
    return (
        f"Only {guesses.correct[worst]} of {guesses.made[worst]} guesses are right, which is worse than chance: the"
        " opposite guesses leak. Are members and non-members mixed up, or losses taken for scores?",
    )


def guessing_settings(given: Any, sides: Sides, seed: int) -> dict[str, Any]:
    """What a result records of how guesses were made of a table; nothing for guesses that were made already."""
    return {"sides": sides, "seed": int(seed)} if isinstance(given, GuessTable) else {}


def trials(examples: ArrayLike, made: ArrayLike, correct: ArrayLike) -> tuple[Floats, ...]:
    """The three numbers as float64 arrays of one shape, checked: whole, with 0 ≤ correct ≤ made ≤ examples."""
    given = {"examples": examples, "made": made, "correct": correct}
    arrays = np.broadcast_arrays(*(numbers(name, value, 0, MAX_COUNT) for name, value in given.items()))
    checked = dict(zip(given, arrays, strict=True))
    for name, value in checked.items():
        if (bad := value != np.floor(value)).any():
            raise InputError(f"{name} must be whole numbers, not {show(float(value[bad][0]))}")
    for name, most in (("made", "examples"), ("correct", "made")):
        if (bad := checked[name] > checked[most]).any():
            raise InputError(
                f"{name} must be at most {most}, {checked[most][bad][0]:.0f}, not {checked[name][bad][0]:.0f}"
            )
    return arrays


def largest_rejected(
    margin: Callable[[Floats, Indices], Floats],
    high: Floats,
    precision: float = 4e-16,
    low: Floats | float = 0.0,
) -> Floats:
    """Supremum in [low, high] of the x with a positive margin, (n,), to a relative `precision`; `low` for none.

    `margin(x, i)` is positive where x is rejected in problem i, both of shape (≤ n,). It changes its sign once, and the
    result is on the rejected side. Chandrupatla's bracketing ("A new hybrid quadratic/bisection algorithm", Adv. Eng.
    Software 1997): inverse quadratic interpolation where the last three points allow it, else halving.
    """
    result = np.zeros_like(high) + low
    left: Indices = np.flatnonzero(high > result)
    a: Floats = result[left]
    b: Floats = high[left]
    fa, fb = margin(a, left), margin(b, left)
    result[left[fb > 0]] = b[fb > 0]
    keep = (fa > 0) & ~(fb > 0)
    left, (a, b, fa, fb) = left[keep], (values[keep] for values in (a, b, fa, fb))
    t = np.full(len(left), 0.5)
    while len(left):
        x = a + t * (b - a)
        fx = margin(x, left)
        same = (fx > 0) == (fa > 0)
        c, fc = np.where(same, a, b), np.where(same, fa, fb)
        b, fb = np.where(same, b, a), np.where(same, fb, fa)
        a, fa = x, fx
        width = precision * np.maximum(np.where(fa > 0, a, b), 1e-3)
        keep = np.abs(b - a) > width
        result[left[~keep]] = np.where(fa > 0, a, b)[~keep]
        left, (a, b, c, fa, fb, fc) = left[keep], (values[keep] for values in (a, b, c, fa, fb, fc))
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a NaN means halving
            xi, phi = (a - b) / (c - b), (fa - fb) / (fc - fb)
            t = fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
            t = np.where((phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi) & np.isfinite(t), t, 0.5)
        least = 0.5 * width[keep] / np.abs(b - a)
        t = np.clip(t, least, 1 - least)
    return result
