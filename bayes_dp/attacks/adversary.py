"""Guesses where members and non-members differ in their features (Algorithm 5 of Zero-Run): who is called a member.

As in `scores.guess`, the highest scores are called members and the lowest non-members, and a choice says how many
(Algorithm 5 of "Privacy auditing with zero (0) training run"). Each guess is judged by its example's propensity.

An attack that does not know the propensities may rank highest what the features tell, which proves nothing about the
model. The aware adversary ranks by

    (score − median score) · b,  b the odds against the guess by the propensity, or 1 if they are above 1,

the chance that the guess would be kept if guesses were tampered with (see `audits.tampering`): the surer the features
are, the less the guess is worth. Neither adversary looks at who is a member.
"""

from __future__ import annotations

import numpy as np

from bayes_dp.attacks.scores import NumberOfGuesses, Sides, guess_extremes
from bayes_dp.checks import InputError, truth
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.support.arrays import Floats

__all__ = ["call_members"]


def call_members(
    table: GuessTable,
    choice: NumberOfGuesses | int,
    sides: Sides = "both",
    *,
    aware: bool = True,
    directional: bool = True,
    seed: int = 0,
) -> Guesses:
    """Call the most extreme examples members or non-members, for each number of guesses of `choice`.

    `choice`, `sides` and `seed` are as for `scores.guess`. `aware` ranks as above and not by the scores alone; without
    `directional` every guess is taken to go with its propensity, as in the paper.

    >>> table = bdp.GuessTable([0.0, 1.0, 5.0, 6.0], [False, False, True, True], [0.4, 0.6, 0.5, 0.5])
    >>> guesses = bdp.attacks.call_members(table, 2)
    >>> rows, called = guesses.guessed(0)
    >>> rows, called, guesses.correct
    (array([0, 3]), array([False,  True]), array([2]))
    """
    if not isinstance(table, GuessTable):
        raise InputError(f"table must be a GuessTable, not {type(table).__name__}")
    aware, directional = truth("aware", aware), truth("directional", directional)
    propensity = table.needed_propensity()
    judged = table.rescored(_adjusted(table.score, propensity, directional)) if aware else table
    return guess_extremes(judged, choice, sides, seed, table.cautions())


def _adjusted(score: Floats, propensity: Floats, directional: bool) -> Floats:
    """(score − median) · b for the guess that the side of the median suggests, (n,); infinite scores stay extreme."""
    limit = min(np.abs(score[np.isfinite(score)]).max(initial=0.0), 1e300)
    score = np.clip(score, -2 * limit - 1, 2 * limit + 1)
    distance = score - np.median(score)
    odds = propensity / (1 - propensity)
    against = np.where(distance > 0, 1 / odds, odds) if directional else np.minimum(odds, 1 / odds)
    return distance * np.minimum(against, 1.0)
