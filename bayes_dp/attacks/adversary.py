"""Guesses where members and non-members differ in their features: which examples are called members, which not.

For examples that were members by fair coins it is enough to count the right guesses (`scores.guess`). With propensities
each guess is judged by itself, so here the guesses are kept. As there, the highest scores are called members and the
lowest non-members, and a choice says how many (Algorithm 5 of "Privacy auditing with zero (0) training run").

An attack that does not know the propensities may rank highest what the features tell, which proves nothing about the
model. The aware adversary ranks by

    (score − median score) · b,  b the odds against the guess by the propensity, or 1 if they are above 1,

the chance that the guess would be kept if guesses were tampered with (see `audits.tampering`): the surer the features
are, the less the guess is worth. Neither adversary looks at who is a member.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayes_dp.attacks.scores import Choice, Sides, plan, ranked
from bayes_dp.checks import InputError, seed_of, truth
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses, Rule
from bayes_dp.data.table import IntArray
from bayes_dp.support.once import once

__all__ = ["Calls", "call_members"]


@dataclass(frozen=True, eq=False)
class Calls:
    """The examples of a table with propensities that were called members or non-members, for k numbers of guesses.

    `order` has the rows of the table from the surest non-member to the surest member, shape (n,). For the i-th number,
    the `highest[i]` last of them are called members and the `lowest[i]` first non-members. `rule` and `pilot` are those
    of `Guesses`.
    """

    table: GuessTable
    order: NDArray[np.intp]
    highest: IntArray
    lowest: IntArray
    rule: Rule
    pilot: Calls | None = None
    warnings: tuple[str, ...] = ()  # what is known to speak against the scores

    def __len__(self) -> int:
        return len(self.highest)

    @property
    def propensity(self) -> NDArray[np.float64]:
        """Of all examples, (n,)."""
        assert self.table.propensity is not None
        return self.table.propensity

    def guessed(self, i: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """The guessed rows of the table for the i-th number of guesses, and whether each is called a member."""
        low, high = int(self.lowest[i]), int(self.highest[i])
        rows = np.concatenate([self.order[:low], self.order[len(self.order) - high :]])
        return rows, np.arange(low + high) >= low

    def guesses(self) -> Guesses:
        """How many guesses were made, and how many are right."""
        correct = [
            int(np.sum(self.table.member[rows] == called)) for rows, called in map(self.guessed, range(len(self)))
        ]
        pilot = None if self.pilot is None else self.pilot.guesses()
        made = self.highest + self.lowest
        return Guesses(len(self.table), made, correct, self.rule, pilot, self.table.member.sum(), self.warnings)

    @once
    def digest(self) -> str:
        """SHA-256 of everything in it, in hexadecimal: equal input has an equal digest."""
        content = hashlib.sha256(f"{self.rule} {self.table.digest()}\n".encode())
        for values in (self.order, self.highest, self.lowest):
            content.update(values.astype("<i8").tobytes())
        if self.pilot is not None:
            content.update(self.pilot.digest().encode())
        return content.hexdigest()


def call_members(
    table: GuessTable,
    choice: Choice | int,
    sides: Sides = "both",
    *,
    aware: bool = True,
    directional: bool = True,
    seed: int = 0,
) -> Calls:
    """Call the most extreme examples members or non-members, for each number of guesses of `choice`.

    `choice`, `sides` and `seed` are as for `scores.guess`. `aware` ranks as above and not by the scores alone; without
    `directional` every guess is taken to go with its propensity, as in the paper.
    """
    if not isinstance(table, GuessTable):
        raise InputError(f"table must be a GuessTable, not {type(table).__name__}")
    aware, directional = truth("aware", aware), truth("directional", directional)
    if table.propensity is None:
        raise InputError("propensity must be given, the probability of each example to be a member given its features")
    judged = table.rescored(_adjusted(table, directional)) if aware else table
    numbers = plan(judged, choice, sides, seed)  # and errors
    warnings = table.cautions()
    if numbers.pilot is None:
        return _calls(judged, numbers, sides, seed, None, warnings)
    pilot, kept = judged.split(choice.fraction, choice.seed)  # type: ignore[union-attr]
    return _calls(kept, numbers, sides, seed, _calls(pilot, numbers.pilot, sides, seed), warnings)


def _calls(
    table: GuessTable,
    numbers: Guesses,
    sides: Sides,
    seed: int,
    pilot: Calls | None = None,
    warnings: tuple[str, ...] = (),
) -> Calls:
    lowest = numbers.made // 2 if sides == "both" else np.zeros_like(numbers.made)
    order = ranked(table, seed_of(seed))
    return Calls(table, order, numbers.made - lowest, lowest, numbers.rule, pilot, warnings)


def _adjusted(table: GuessTable, directional: bool) -> NDArray[np.float64]:
    """(score − median) · b for the guess that the side of the median suggests, (n,); infinite scores stay extreme."""
    assert table.propensity is not None
    limit = min(np.abs(table.score[np.isfinite(table.score)]).max(initial=0.0), 1e300)
    score = np.clip(table.score, -2 * limit - 1, 2 * limit + 1)
    distance = score - np.median(score)
    odds = table.propensity / (1 - table.propensity)
    against = np.where(distance > 0, 1 / odds, odds) if directional else np.minimum(odds, 1 / odds)
    return distance * np.minimum(against, 1.0)
