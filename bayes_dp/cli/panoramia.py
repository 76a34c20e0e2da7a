"""The verb panoramia run: PANORAMIA on examples that were generated and scored elsewhere, with any software."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayes_dp.cli.audit import DeltaOrZero, Gamma, report
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import EXPERT, AsJson, Brief, Confidence, FailAbove, Jobs, Seed, names_in, number, text, whole
from bayes_dp.cli.program import app

__all__: list[str] = []

_EPILOG = """\b
FILEs have a row for each example, and the same columns, say:
  age,hours,helper,loss,loss_control
  31,40,0.42,0.02,0.37
loss          what the audited model says of the example; several columns may be
helper        features of the baseline: of the example, and losses of models that
              never saw these members, best one trained on generated examples;
              they may be missing (empty)
loss_control  the same of a model that leaks little: well generalised, or trained
              without these members
No member in the file may have been used to make the generator or a helper.

\b
Examples:
  bayes-dp panoramia run --members in.csv --generated out.csv --target-loss loss \\
    --control-loss loss_control --baseline-features age,hours,helper
  bayes-dp panoramia run --members in.csv --non-members held_out.csv \\
    --target-loss loss --baseline-features age,hours,helper

\b
Exit codes:
  0 done, 1 the check of --fail-above failed,
  2 bad input (one line on standard error says what is wrong),
  3 the check is inconclusive, as the bound is not valid"""

Members = Annotated[str, text("FILE", "Examples that the model was trained on: .csv, .tsv, .txt or .parquet.")]
Generated = Annotated[str | None, text("FILE", "Generated examples: the result is an estimate of ε, and no bound.")]
Real = Annotated[
    str | None, text("FILE", "In their place, real examples drawn as the members were: a lower bound.", "--non-members")
]
TargetLoss = Annotated[str, text("A[,B...]", "Columns of what the audited model says, such as its loss.")]
ControlLoss = Annotated[
    str | None, text("A[,B...]", "Columns of the same of a control; without it nothing is evidence.")
]
BaselineFeatures = Annotated[str | None, text("A[,B...]", "Columns for the baseline; by default all others but id.")]
Games = Annotated[int, whole("N", "Games with parts and coins of their own, of which the median counts.", "--seeds")]
Training = Annotated[
    float, number("P", "The share of the examples that train the attack and the baseline.", panel=EXPERT)
]
Out = Annotated[
    str | None,
    text("FILE", "Write scores, members and propensities of the first game as CSV.", "--out", "-o"),
]

panoramia = typer.Typer(add_completion=False, rich_markup_mode=None)
app.add_typer(panoramia, name="panoramia", short_help="Audit with generated examples as non-members.")


@panoramia.callback(invoke_without_command=True, epilog="See bayes-dp panoramia run --help for what it is given.")
def _panoramia(context: typer.Context) -> None:
    """Audit a model whose non-members are lost, with generated examples in their place."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@panoramia.command("run", cls=Verb, epilog=_EPILOG, short_help="Train attack and baseline, play the game, measure.")
def run(
    members: Members,
    target_loss: TargetLoss,
    generated: Generated = None,
    non_members: Real = None,
    control_loss: ControlLoss = None,
    baseline_features: BaselineFeatures = None,
    delta: DeltaOrZero = 0.0,
    confidence: Confidence = 0.95,
    seeds: Games = 1,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    out: Out = None,
    gamma: Gamma = 0.0,
    training: Training = 0.5,
    jobs: Jobs = 1,
    seed: Seed = 0,
) -> int:
    """PANORAMIA from files: how much better an attack tells members from generated examples than a blind baseline.

    Both are gradient boosting, trained on a part of the examples and compared on the others.
    """
    from bayes_dp.audits.panoramia import panoramia as measure
    from bayes_dp.checks import InputError, show
    from bayes_dp.data.files import check_writable
    from bayes_dp.games.pairs import coin_pairs

    if (generated is None) == (non_members is None):
        raise InputError("give --generated or --non-members, and not both")
    if generated is not None and fail_above is not None:
        raise InputError("--fail-above is for bounds, and with --generated the result is an estimate")
    if gamma > 0 and generated is None:
        raise InputError("--gamma is for --generated")
    if out is not None:
        if not out.lower().endswith(".csv"):
            raise InputError(f"--out must end in .csv, not {show(out)}")
        check_writable(out)
    said = {"target": names_in("--target-loss", target_loss)}
    if control_loss is not None:
        said["control"] = names_in("--control-loss", control_loss)
    other = generated if generated is not None else str(non_members)
    columns = _read(members, other, said, names_in("--baseline-features", baseline_features) or None)
    how: dict[str, Any] = {"training": training, "seeds": seeds, "seed": seed, "n_jobs": jobs}
    played = coin_pairs(**columns, real=generated is None, **how)
    found = measure(played, delta=delta, gamma=gamma, confidence=confidence)
    if out is not None:
        played.table().to_csv(out)
    return report({"all": found}, as_json, fail_above, brief=brief)


def _read(members: str, others: str, said: dict[str, list[str]], features: list[str] | None) -> dict[str, Any]:
    """The columns of both files by what they are for, each a pair of arrays."""
    from bayes_dp.checks import InputError, show
    from bayes_dp.propensity.features import open_columns

    tables = [open_columns(name) for name in (members, others)]
    taken = {heading for headings in said.values() for heading in headings}
    if features is None:
        for one, other in (tables, tables[::-1]):
            if lacking := [name for name in other.headings if name not in {*one.headings, *taken, "id"}]:
                raise InputError(
                    f"{one.name} has no column {show(lacking[0])}, which {other.name} has: name the"
                    " --baseline-features that both have"
                )
        features = [heading for heading in tables[0].headings if heading not in taken and heading != "id"]
    if shared := sorted(taken & set(features)):
        raise InputError(f"--baseline-features must not have what a model says, and {show(shared[0])} is that")
    found: dict[str, Any] = {}
    for name, headings in {"features": features, **said}.items():
        own, rest = (table.features(headings, missing=name == "features") for table in tables)
        if name != "features" and own.texts:
            raise InputError(f"{members}: the column {show(next(iter(own.texts)))} must hold numbers")
        whole = own.above(rest).matrix()[1]
        found[name] = whole[: len(own)], whole[len(own) :]
    return found
