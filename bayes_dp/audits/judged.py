"""From scores to the guesses that all methods judge: one number of them, decided before looking, and the error counts.

Every method can be held against another only if both judge the same guesses, and a posterior is of one number of them.
So the number is `Fixed`, or the one that is best on the pilot of a `Split`: by the lower bound of the one-run audit, or
with propensities of the zero-run audit, at p = 0.05. Where several bounds are equal, mostly 0, the one counts that
would be largest if it were allowed to be negative (with propensities, the largest number). The pilot is left out of all
that is judged, so that to the methods the number is a fixed one.

Counts know nothing of the examples that were not guessed. The guesses do, and with them the audits test how many of all
examples are members.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.scores import Fixed, NumberOfGuesses, Split, guess
from bayes_dp.audits.one_run import best_lower_bounds
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.checks import InputError, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses, guesses_from_ranking

__all__ = ["Judged", "Tried", "judged"]

_LEVEL = 0.05  # at which numbers of guesses are compared on the pilot


@dataclass(frozen=True)
class Tried:
    """A number of guesses on the pilot, how many were right, and the bound that they give."""

    made: int
    correct: int
    bound: float


@dataclass(frozen=True, eq=False)
class Judged:
    """One number of guesses of a table whose examples have propensities, ½ for fair coins."""

    guesses: Guesses
    tried: tuple[Tried, ...] = ()  # on the pilot, if there was one

    @property
    def table(self) -> GuessTable:
        """All examples, those of the pilot among them."""
        return self.guesses.table

    @cached_property
    def kept(self) -> GuessTable:
        """The examples that are judged: all but the pilot's."""
        return self.table[self.guesses.rows]

    @cached_property
    def counts(self) -> ErrorCounts:
        """The errors among the guesses, of the design "one_run"."""
        return self.guesses.counts()

    @cached_property
    def fair(self) -> bool:
        """Whether each example was a member by a fair coin, as far as the propensities say."""
        return _fair(self.table)


def judged(given: GuessTable | Guesses, delta: float | None, choice: NumberOfGuesses | int | None = None) -> Judged:
    """The guesses that are judged, of a table by `choice`: by default a `Split`."""
    if isinstance(given, GuessTable):
        if len(given) < 2:
            raise InputError("at least 2 examples are needed, a member and a non-member, and there is 1")
        guesses = _guessed(given, Split() if choice is None else choice)
    elif choice is not None:
        raise InputError("choice is for a table of scores; these guesses are made already")
    else:
        guesses = _of_coins(given)
    if (guesses.made < 2).all():
        raise InputError(f"at least 2 guesses are needed, one of either kind, and there are {guesses.made.max()}")
    if not guesses.lowest.any():
        raise InputError('guesses must be of members and of non-members (sides="both"): of one kind they have no rates')
    if guesses.pilot is None:
        if len(guesses) > 1:
            raise InputError(
                "choice must be Fixed or Split: all methods judge one number of guesses, decided on no example that"
                f" they judge, and not the best of {len(guesses)}"
            )
        return Judged(guesses)
    tried = [_tried(guesses.pilot, i, delta or 0.0) for i in range(len(guesses))]
    best = max(range(len(tried)), key=lambda i: tried[i][0])
    return Judged(guesses.narrowed(best), tuple(one for _, one in tried))


def _guessed(table: GuessTable, choice: Any) -> Guesses:
    if not isinstance(choice, Fixed | Split | int | np.integer) or isinstance(choice, bool):
        raise InputError(
            "choice must be Fixed, Split or a whole number, as all methods judge one number of guesses, not"
            f" {show(choice)}"
        )
    table, chosen = _with_propensities(table), choice if isinstance(choice, Fixed | Split) else int(choice)
    return guess(table, chosen) if _fair(table) else call_members(table, chosen)


def _of_coins(guesses: Guesses) -> Guesses:
    """The same guesses, with the propensity ½ where the table has none."""
    if not guesses.knows_examples:
        raise InputError(
            "guesses must be made from a GuessTable by bdp.attacks: these are numbers, which do not tell false"
            " positives from false negatives; bdp.audits.one_run and f_dp take them"
        )
    if guesses.table.propensity is not None:
        return guesses
    pilot = None if guesses.pilot is None else _of_coins(guesses.pilot)
    table = _with_propensities(guesses.table)
    return guesses_from_ranking(
        table, guesses.order, guesses.made, guesses.lowest, guesses.rule, pilot, guesses.warnings, guesses.splits
    )


def _with_propensities(table: GuessTable) -> GuessTable:
    return table if table.propensity is not None else GuessTable(table.score, table.member, 0.5, table.base)


def _fair(table: GuessTable) -> bool:
    return bool((table.needed_propensity() == 0.5).all())


def _tried(pilot: Guesses, i: int, delta: float) -> tuple[tuple[float, float], Tried]:
    """The i-th number of guesses on the pilot: what it is chosen by, and what is told of it."""
    made, correct = int(pilot.made[i]), int(pilot.correct[i])
    if _fair(pilot.table):
        bound = float(best_lower_bounds(pilot.examples, made, correct, delta, _LEVEL))
        share = special.betaincinv(correct, made - correct + 1, _LEVEL) if correct else 0.0
        second = float(special.logit(share))
    else:
        bound, second = zero_run(pilot.only(i), delta, confidence=1 - _LEVEL).value, float(made)
    return (bound, second), Tried(made, correct, bound)
