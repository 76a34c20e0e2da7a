"""Error counts of a matrix of scores: of its examples, each a challenge base with its runs, and of its models.

Examples differ in how many models were trained with them. Those with as many models with and without are one
`LossTable`, whose losses are −φ. Each table is cross-fed, and the counts are put into the order of the examples.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayes_dp.attacks.lira import measure_fast
from bayes_dp.attacks.scores import Fixed, Sides, guess
from bayes_dp.checks import InputError, one_number, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.loss_table import LossTable
from bayes_dp.data.score_arrays import Signs
from bayes_dp.support.arrays import Floats, Indices

__all__ = ["counts_of_examples", "counts_of_models", "tables"]

_COLUMNS = ("false_positives", "negatives", "false_negatives", "positives")  # of error counts
_FEWEST = 3  # runs on a side: a variance needs two, and the tested run is left out


def tables(statistic: Floats, member: Signs, names: Sequence[str]) -> list[tuple[Indices, LossTable]]:
    """The examples with as many runs on both sides, at least three of each, and their losses; by rising numbers."""
    with_, without = (member == 1).sum(axis=0), (member == 0).sum(axis=0)
    enough = np.flatnonzero((with_ >= _FEWEST) & (without >= _FEWEST))
    if not enough.size:
        raise InputError(
            f"member must have an example with at least {_FEWEST} models trained with it and {_FEWEST} without, but"
            f" none of the {member.shape[1]} is"
        )
    found = []
    for n0, n1 in np.unique(np.stack([without, with_])[:, enough], axis=1).T.tolist():
        here = enough[(without[enough] == n0) & (with_[enough] == n1)]
        sides = np.where(member[:, here] < 0, 2, member[:, here])
        order = np.argsort(sides, axis=0, kind="stable")  # the models without, those with, and the others
        losses = -np.take_along_axis(statistic[:, here], order, axis=0).T
        found.append((here, LossTable(losses[:, :n0], losses[:, n0 : n0 + n1], base=[names[i] for i in here])))
    return found


def counts_of_examples(found: Sequence[tuple[Indices, LossTable]], target_fpr: float) -> ErrorCounts:
    """The cross-fed counts of all tables, in the order of the examples."""
    target = one_number("target_fpr", target_fpr, 0, 1, low_open=True, high_open=True)
    measured = [measure_fast(table, target) for _, table in found]
    together = measured[0].concat(*measured[1:])
    return together[np.argsort(np.concatenate([here for here, _ in found]), kind="stable")]


def counts_of_models(
    scores: Sequence[GuessTable], names: Sequence[str], guesses: int, sides: Sides, seed: int
) -> ErrorCounts:
    """A row for each model: the errors of so many guesses on its examples.

    One model is a one-run game. Several are none: the attacks on each know the memberships of the others, so that their
    guesses may be right together, or wrong together, without a leak.
    """
    guesses = whole_number("guesses", guesses, 1)
    if guesses > (least := min(map(len, scores))):
        raise InputError(f"guesses must be at most the {least} examples of a model, not {guesses}")
    rows = []
    for name, table in zip(names, scores, strict=True):
        made = guess(table, Fixed(guesses), sides, seed)
        member = table.member[made.guessed(0)[0]]
        if member.all() or not member.any():
            kind = "members" if member.any() else "non-members"
            raise InputError(
                f"guesses must be so many that members and non-members are among them, but all {guesses} of model"
                f" {name} are {kind}"
            )
        rows.append(made.counts())
    alone = len(names) == 1
    return ErrorCounts(
        **{column: np.concatenate([getattr(row, column) for row in rows]) for column in _COLUMNS},
        base=names,
        group=None if alone else ["models of one matrix"] * len(names),
        design="one_run" if alone else "cross_fed",
        examples=len(scores[0]) if alone else None,
    )
