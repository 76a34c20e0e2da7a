"""The verb leakage: how much the mean of a data set leaks about each of its rows."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    AsJson,
    Brief,
    Categories,
    FeatureColumns,
    SafeCells,
    argument,
    names_in,
    number,
    one_of,
    text,
)
from bayes_dp.cli.program import app, write_or_print

__all__: list[str] = []

_EPILOG = """\b
FILE has one row for each person and a column for each feature:
  name,age,income,site
  Ada,31,2100,north
  Bo,47,3900,south
It is a .csv, .tsv, .txt, .npy or .parquet file. Columns of text become one
column of 0 and 1 for each value.

\b
Examples:
  bayes-dp leakage data.csv
  bayes-dp leakage data.csv --label name --subsample 0.1 --noise 0.5
  bayes-dp leakage data.csv --delta 1e-5 -o leakage.csv

\b
Exit codes:
  0 done, 2 bad input (one line on standard error says what is wrong)"""


class HowCovariance(StrEnum):
    full = "full"
    diagonal = "diagonal"


Data = Annotated[str, argument("The data that the mean is of, see below.")]
Subsample = Annotated[float, number("R", "The part of the rows that the mean is of, above 0 and at most 1.")]
Noise = Annotated[
    float,
    number("G", "Standard deviation of the Gaussian noise on each row: the mean of k rows has noise of G/√k."),
]
CovarianceOf = Annotated[
    HowCovariance, one_of(HowCovariance, "full, or diagonal for features that are independent of each other.")
]
Label = Annotated[str | None, text("COLUMN", "A column with a name for each row, which is no feature.")]
DeltaOfEpsilon = Annotated[float | None, number("D", "Also give the ε of each row at this δ, in the table of -o.")]
TableFile = Annotated[str | None, text("FILE", "Write the table of all rows to this CSV file.", "--out", "-o")]


@app.command(cls=Verb, epilog=_EPILOG, short_help="How much a mean leaks about each row of a data set.")
def leakage(
    file: Data,
    covariance: CovarianceOf = HowCovariance.full,
    noise: Noise = 0.0,
    subsample: Subsample = 1.0,
    label: Label = None,
    delta: DeltaOfEpsilon = None,
    as_json: AsJson = False,
    brief: Brief = False,
    out: TableFile = None,
    features: FeatureColumns = None,
    categories: Categories = None,
    safe_cells: SafeCells = False,
) -> int:
    """Find how much the mean of a data set leaks about each of its rows, and who is most at risk.

    The score of a row is its squared Mahalanobis distance to the other rows over their number. The best attack on the
    row has an advantage of 2Φ(√score/2) − 1, less with noise or where the mean is of a random part of the rows.
    """
    from bayes_dp.checks import InputError, one_number
    from bayes_dp.data.files import check_writable
    from bayes_dp.leakage import scores
    from bayes_dp.propensity.features import open_columns

    if delta is not None:
        one_number("delta", delta, 0.0, 1.0)
        if out is None:
            raise InputError("--delta needs -o FILE, the table that has the ε of each row")
    if out is not None:
        check_writable(out)
    columns = open_columns(file, (label.lower(),) if label is not None else ())
    names = None if label is None else [str(cell) for cell in columns.column(label)]
    wanted = names_in("--features", features) or [name for name in columns.headings if name != label]
    found = scores(
        columns.features(wanted, names_in("--categories", categories)),
        covariance=covariance.value,
        noise=noise,
        subsample=subsample,
        labels=names,
    )
    content = found.to_dict()
    if as_json:
        typer.echo(json.dumps(content, ensure_ascii=False, indent=1))
        for sentence in found.warnings:
            typer.echo(f"bayes-dp: warning: {sentence}", err=True)
    else:
        typer.echo(found.brief() if brief else found.summary())
    if out is not None:
        write_or_print(out, found.csv(delta, safe_cells=safe_cells), printed=True)
        typer.echo(f"bayes-dp: wrote {out}", err=True)
    return 0
