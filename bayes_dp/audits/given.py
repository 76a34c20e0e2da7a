"""What the audits of examples that were members by fair coins make of what they are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from bayes_dp.attacks.scores import Bonferroni, NumberOfGuesses, Sides, guess, require_fair
from bayes_dp.checks import InputError, seed_of
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses

__all__ = ["ASSUMPTIONS", "as_guesses", "cautions", "guessing_settings"]

_LEVEL = 1e-3  # at which too few guesses are right

ASSUMPTIONS = (
    "Each example was in the training set by its own fair coin, independent of the others and unknown to the guesser.",
    "All guesses were made from one trained model.",
)


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
