"""The verb measure: from losses of models to the error counts of an attack."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import EXPERT, AsJson, SafeCells, argument, number, one_of, text, whole
from bayes_dp.cli.program import app, write_or_print

if TYPE_CHECKING:
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.data.loss_table import LossTable

__all__: list[str] = []

_EPILOG = """\b
FILE is an .npz file, as numpy.savez writes it, with two arrays:
  without  losses of the examples under models trained without them
  with     losses of the examples under models trained with them
Each has a row for each example (challenge base) and a column for each model.
base, with a label for each row, may be there too. Of several tables in one
file, such as A1_without, A1_with, A2_without, A2_with, choose with --name A1;
A1_out and A1_in are read too.
A .csv, .tsv, .txt or .json file has a row for each loss instead:
  base,member,loss
  image-17,0,1.31
  image-17,1,0.02
member  1 or true for a model that was trained with the example

\b
Examples:
  bayes-dp measure losses.npz --target-fpr 0.1 -o counts.json
  bayes-dp measure losses.npz --target-fpr 0.1 --method held-out -o counts.csv
  bayes-dp measure losses.npz --target-fpr 0.1 --json | bayes-dp estimate - --delta 1e-3

\b
Exit codes:
  0 done, 2 bad input (one line on standard error says what is wrong)"""


class AttackMethod(StrEnum):
    fast = "fast"
    held_out = "held-out"
    shadows = "shadows"


Losses = Annotated[str, argument("Losses: an .npz, .csv, .tsv, .txt or .json file, see below.")]
TargetFpr = Annotated[
    list[float],
    number(
        "A",
        "The false positive rate α* that the attack aims at, above 0 and below 1. With --method held-out it may be"
        " given several times: the best is chosen on other runs than those that are counted.",
    ),
]
Name = Annotated[str | None, text("NAME", "Which table, where an .npz file has several.")]
MethodOfAttack = Annotated[
    AttackMethod,
    one_of(
        AttackMethod,
        "Which runs the attack learns from. fast: for each run all others, so that the errors are correlated (design"
        " cross_fed). held-out: a part of the runs, which is not counted. shadows: the runs of another file.",
    ),
]
Shadows = Annotated[
    str | None, text("FILE", "With --method shadows: losses of other models, for the same bases.", panel=EXPERT)
]
Fraction = Annotated[
    float | None,
    number("F", "With --method held-out: the part of the runs to learn from, by default 0.5.", panel=EXPERT),
]
SeedOfPart = Annotated[
    int | None,
    whole("N", "With --method held-out: seed of the draw of that part, by default 0.", panel=EXPERT),
]
CountsFile = Annotated[
    str | None,
    text(
        "FILE",
        "Write the counts to this .json or .csv file, and not to standard output. JSON keeps the design.",
        "--out",
        "-o",
    ),
]


@app.command(cls=Verb, epilog=_EPILOG, short_help="Count the errors of an attack from losses of models.")
def measure(
    file: Losses,
    target_fpr: TargetFpr,
    name: Name = None,
    method: MethodOfAttack = AttackMethod.fast,
    as_json: AsJson = False,
    out: CountsFile = None,
    shadows: Shadows = None,
    fraction: Fraction = None,
    seed: SeedOfPart = None,
    safe_cells: SafeCells = False,
) -> int:
    """Count the errors of a likelihood-ratio attack (LiRA) from losses of models trained with and without examples.

    For each model the attack says whether it was trained with the example, given the loss of the example and those of
    other models. The counts of its errors are what bayes-dp estimate and bayes-dp compare read.
    """
    from bayes_dp.checks import InputError, show

    suffix = None if out is None else os.path.splitext(out)[1].lower()
    if suffix not in (None, ".csv", ".json"):
        raise InputError(f"--out must end in .json or .csv, not {show(out)}")
    if (shadows is not None) != (method is AttackMethod.shadows):
        raise InputError("--shadows FILE and --method shadows need each other")
    if len(target_fpr) > 1 and method is not AttackMethod.held_out:
        raise InputError("--target-fpr may be given several times with --method held-out only, which chooses one")
    held_out = {key: value for key, value in (("fraction", fraction), ("seed", seed)) if value is not None}
    if held_out and method is not AttackMethod.held_out:
        raise InputError(f"--{next(iter(held_out))} is for --method held-out")

    from bayes_dp.data.files import check_writable
    from bayes_dp.data.loss_table import LossTable

    if out is not None:
        check_writable(out)
    table = LossTable.read(file, name)
    others = None if shadows is None else LossTable.read(shadows, name)
    counts, notes = _counted(table, target_fpr, method, others, held_out)
    in_json = json.dumps(counts.to_dict(), ensure_ascii=False, indent=1) + "\n"
    if as_json:
        typer.echo(in_json, nl=False)
    elif out is None:
        typer.echo(counts.csv(safe_cells=safe_cells), nl=False)
    try:
        if out is not None:
            write_or_print(
                out, counts.json() if suffix == ".json" else counts.csv(safe_cells=safe_cells), printed=as_json
            )
            notes.append(f"wrote {out}")
    finally:
        if counts.design == "cross_fed" and (suffix == ".csv" or (out is None and not as_json)):
            notes.append(
                "the runs were cross-fed, which CSV does not tell: give --design cross_fed to bayes-dp estimate or "
                "compare, or write JSON"
            )
        for note in notes:
            typer.echo(f"bayes-dp: {note}", err=True)
    return 0


def _counted(
    table: LossTable, targets: list[float], method: AttackMethod, others: LossTable | None, held_out: dict[str, Any]
) -> tuple[ErrorCounts, list[str]]:
    """The counts, and what to say about them."""
    from bayes_dp.attacks import lira

    if method is AttackMethod.fast:
        return lira.measure_fast(table, targets[0]), []
    if others is not None:
        return lira.measure(table, targets[0], others), []
    found = lira.choose_target(table, targets, **held_out)
    counts, pilot = found.counts, found.pilot
    learned = f"learned from {pilot.negatives} + {pilot.positives} runs of each base"
    counted = f"counted on the other {counts.negatives[0]} + {counts.positives[0]}"
    chosen = f", chose --target-fpr {found.target_fpr:g} on these" if len(targets) > 1 else ""
    return counts, [f"{learned}{chosen}, and {counted}"]
