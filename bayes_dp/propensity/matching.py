"""Which columns of a file are features, and which of its rows belongs to which example of a table of scores.

A file of features may be that of the scores, or hold their columns too: no column of these is a feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError, show
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.layout import MEMBER_HEADINGS, Layout, plain
from bayes_dp.data.other_tools import scores_of
from bayes_dp.data.parsing import file_table
from bayes_dp.data.table import labels
from bayes_dp.propensity.features import Columns, Features, memberships, open_columns
from bayes_dp.support.arrays import Indices

__all__ = ["Matched", "chosen_columns", "matched", "notes_on_columns"]

ID = "id"
_NO_FEATURES = ("score", "loss", "propensity", "propensitysource", ID, "member", "ismember", "membership")
_OF_SCORES = Layout(
    headings={"id": (ID,), "member": MEMBER_HEADINGS, "base": ("base",)},
    cells={},
    needed=(),
    optional=("id", "member", "base"),
    accepted="id, member, base",
    example="id,score,member",
    content="scores",
)


@dataclass(frozen=True, eq=False)
class Matched:
    """The features of n examples, their groups (n,) if there are any, and how they came about, in sentences."""

    features: Features
    groups: NDArray[Any] | None
    notes: tuple[str, ...]


def matched(
    table: GuessTable,
    scores: str,
    file: str,
    *,
    group: str | None = None,
    only: Sequence[str] | None = None,
    categories: Sequence[str] = (),
) -> Matched:
    """The features in `file` of the examples of a table that was read from the file `scores`.

    Rows are joined by the column id, where both files have one, and else belong together in their order. `group` is the
    column of the groups, and `only` names the features; by default they are all columns but those of scores.
    """
    ids, own = _of_scores(table, scores)
    held = open_columns(file, texts=(ID,))
    keys = [heading for heading in held.headings if plain(heading) == ID]
    if len(keys) > 1:
        raise InputError(f"{file} must have one column {ID}, not {show(keys)}")
    if ids is not None and keys:
        rows, spare = _joined(ids, scores, held, keys[0])
        held, how = held.rows(rows), f"Examples of {scores} and of {file} were joined by the column {ID}"
        how += f"; {spare} of {file} have no score and were left out." if spare else "."
    elif len(held) != len(table):
        raise InputError(f"{file} must hold as many examples as {scores}, {len(table)}, not {len(held)}")
    else:
        how = f"The examples of {file} are those of {scores} in the same order."
    for heading in held.headings:
        if plain(heading) in MEMBER_HEADINGS and (plain(heading) != "label" or "label" in own):
            _same_members(held, heading, table, scores)
    left = chosen_columns(held, () if group is None else (group,), only, own)
    return Matched(
        held.features(left, categories),
        None if group is None else held.column(group),
        (how, *notes_on_columns(held, left, () if group is None else (group,))),
    )


def _of_scores(table: GuessTable, scores: str) -> tuple[tuple[str, ...] | None, set[str]]:
    """The ids of the examples, if the file of scores has them, and its headings; files of other tools have neither."""
    if scores_of(scores)[0]:
        return None, set()
    given = file_table(scores, _OF_SCORES)
    return labels(given, "id", len(table), "example"), {plain(heading) for heading in given.headings.values()}


def chosen_columns(
    held: Columns, apart: Sequence[str], only: Sequence[str] | None, own: set[str] | None = None
) -> list[str]:
    """The headings of the features: those of `only`, or all that are not `apart` and not known for columns of scores.
    `own` are further headings that stand for scores here, in small letters without spaces."""
    if only is not None:
        return list(only)
    others = {*_NO_FEATURES, *(own or ())}
    return [heading for heading in held.headings if heading not in apart and plain(heading) not in others]


def notes_on_columns(held: Columns, features: Sequence[str], apart: Sequence[str] = ()) -> tuple[str, ...]:
    """Which columns are no features though nobody said so, a sentence, if there are any."""
    left = [heading for heading in held.headings if heading not in features and heading not in apart]
    if not left:
        return ()
    names = ", ".join(show(heading) for heading in left[:10]) + (f" and {len(left) - 10} more" if left[10:] else "")
    return (f"Columns of {held.name} that were not taken for features: {names}.",)


def _joined(ids: Sequence[str], scores: str, held: Columns, key: str) -> tuple[Indices, int]:
    """The row of each example, (n,), and how many rows are left over."""
    row_of: dict[str, int] = {}
    for row, cell in enumerate(held.column(key).tolist()):
        text = _id(cell)
        if text is None:
            raise InputError(f"{held.place(row)}: {key} must be a text or a whole number, not {show(cell)}")
        if text in row_of:
            raise InputError(f"{held.place(row)}: the {ID} {show(text)} is that of {held.place(row_of[text])} too")
        row_of[text] = row
    seen = set()
    for text in ids:
        if text not in row_of:
            raise InputError(f"{held.name} has no row with the {ID} {show(text)} of {scores}")
        if text in seen:
            raise InputError(f"{scores} has two rows with the {ID} {show(text)}")
        seen.add(text)
    return np.array([row_of[text] for text in ids], dtype=np.intp), len(row_of) - len(seen)


def _id(cell: Any) -> str | None:
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    return str(cell).strip() if isinstance(cell, str | int | np.integer) and not isinstance(cell, bool) else None


def _same_members(held: Columns, heading: str, table: GuessTable, scores: str) -> None:
    stated = memberships(held.column(heading), len(table), heading, held.place)
    if (other := stated != table.member).any():
        i = int(np.argmax(other))
        raise InputError(f"{held.place(i)}: {heading} must be that of {scores}, whose rows are other examples")
