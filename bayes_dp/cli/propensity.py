"""The verb propensity: the chance of each example to be a member given its features, and whether it can be trusted."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    EXPERT,
    AsJson,
    Brief,
    Categories,
    FeatureColumns,
    Group,
    Seed,
    argument,
    names_in,
    number,
    one_of,
    text,
    whole,
)
from bayes_dp.cli.program import app, write_or_print

if TYPE_CHECKING:
    from bayes_dp.data.guess_table import GuessTable
    from bayes_dp.propensity import Propensity

__all__ = ["learned_for"]

_EPILOG = """\b
FILE has one row per example and a column for each feature:
  age,site,length,member
  31,north,140,1
  47,south,96,0
Columns of text become one column of 0 and 1 for each value. Leave out what the
attack's scores are made of, and everything that says outright who is a member.
An .npy file holds the features only, and --member names another .npy file.

\b
Examples:
  bayes-dp propensity features.csv --member member
  bayes-dp propensity features.csv --member member --group patient -o pi.csv
  bayes-dp propensity features.npy --member member.npy --json > pi.json

\b
Exit codes:
  0 done, 1 the memberships contradict the propensities,
  2 bad input (one line on standard error says what is wrong)"""


class Calibration(StrEnum):
    platt = "platt"
    isotonic = "isotonic"
    none = "none"


Features = Annotated[str, argument("Features: a .csv, .tsv, .txt, .parquet or .npy file, see below.")]
Member = Annotated[str, text("NAME", "The column that says who is a member, or an .npy file of that.")]
Training = Annotated[
    str | None,
    text(
        "FILE",
        "Learn from the examples of this file, which has the same columns, and not by cross-fitting.",
        panel=EXPERT,
    ),
]
Folds = Annotated[int, whole("N", "Parts of the examples, each judged by the others.", panel=EXPERT)]
HowCalibrated = Annotated[
    Calibration,
    one_of(
        Calibration,
        "Of what the logistic regression says, on examples that it has not seen.",
        panel=EXPERT,
    ),
]
Level = Annotated[
    float | None, number("P", "Error probability of the falsification test, by default 0.01.", panel=EXPERT)
]
PropensitiesFile = Annotated[
    str | None, text("FILE", "Write member, propensity and fold of each example, as CSV.", "--out", "-o")
]


@app.command(cls=Verb, epilog=_EPILOG, short_help="Learn who is likely a member from features, for a zero-run audit.")
def propensity(
    file: Features,
    member: Member,
    group: Group = None,
    feature_columns: FeatureColumns = None,
    categories: Categories = None,
    as_json: AsJson = False,
    brief: Brief = False,
    out: PropensitiesFile = None,
    training: Training = None,
    folds: Folds = 5,
    calibration: HowCalibrated = Calibration.platt,
    level: Level = None,
    seed: Seed = 0,
) -> int:
    """Learn propensities by a calibrated logistic regression, describe them, and test them.

    Prints how well the features tell members from non-members (AUC), whether propensities agree with the shares of
    members (calibration), and how near they are to 0 and 1 (overlap). Then guessers try to contradict them.
    """
    from dataclasses import replace

    from bayes_dp.checks import InputError, show
    from bayes_dp.data.files import check_writable
    from bayes_dp.propensity import falsify, fit
    from bayes_dp.propensity.falsification import LEVEL

    if out is not None and os.path.splitext(out)[1].lower() != ".csv":
        raise InputError(f"--out must end in .csv, not {show(out)}")
    if out is not None:
        check_writable(out)
    only, meant = names_in("--feature-columns", feature_columns) or None, names_in("--categories", categories)
    features, members, groups, notes = _read(file, member, group, only, meant)
    others: tuple[Any, ...] | None = None
    if training is not None:
        others = _read(training, member, group, only, meant)[: 2 if group is None else 3]
    learned = fit(
        features, members, folds=folds, calibration=calibration.value, groups=groups, training=others, seed=seed
    )
    learned = replace(learned, assumptions=(*learned.assumptions, *notes))
    tested = learned.falsification if level in (None, LEVEL) else falsify(learned, level=level)
    if as_json:
        typer.echo(json.dumps({"propensity": learned.to_dict(), "falsification": tested.to_dict()}, indent=2))
    else:
        typer.echo("\n\n".join(each.brief() if brief else each.summary() for each in (learned, tested)))
    if out is not None:
        write_or_print(out, learned.csv(), printed=as_json)
        typer.echo(f"bayes-dp: wrote {out}", err=True)
    return 1 if tested.rejected else 0


def learned_for(
    table: GuessTable, scores: str, file: str, group: str | None, only: str | None, categories: str | None, seed: int
) -> Propensity:
    """Propensities of the examples of a table of scores, from the features in a file."""
    from dataclasses import replace

    from bayes_dp.propensity import fit
    from bayes_dp.propensity.matching import matched

    named = names_in("--feature-columns", only) or None
    found = matched(table, scores, file, group=group, only=named, categories=names_in("--categories", categories))
    learned = fit(found.features, table.member, groups=found.groups, seed=seed)
    return replace(learned, assumptions=(*learned.assumptions, *found.notes))


def _read(
    file: str, member: str, group: str | None, only: list[str] | None, categories: list[str]
) -> tuple[Any, Any, Any, tuple[str, ...]]:
    """Features, members and groups (or None) of a file, and notes on its columns."""
    from bayes_dp.checks import InputError, show
    from bayes_dp.propensity.feature_files import array_file
    from bayes_dp.propensity.features import memberships, open_columns
    from bayes_dp.propensity.matching import chosen_columns, notes_on_columns

    held, is_array = open_columns(file), os.path.splitext(file)[1].lower() == ".npy"
    apart = [] if group is None else [group]
    if is_array:
        if os.path.splitext(member)[1].lower() != ".npy":
            raise InputError(f"--member must be an .npy file for features in an .npy file, not {show(member)}")
        members = memberships(array_file(member), len(held), member)
    else:
        members = memberships(held.column(member), len(held), member, held.place)
        apart.append(member)
    groups = None if group is None else held.column(group)
    left = chosen_columns(held, apart, only)
    return held.features(left, categories), members, groups, notes_on_columns(held, left, apart)
