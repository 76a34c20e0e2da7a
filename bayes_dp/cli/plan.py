"""The verb plan: how large an experiment has to be for a posterior of a wanted width."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.options import AsJson, Delta, Examples, HowCounted, PriorEpsilon, PriorStrength, number_or_text
from bayes_dp.cli.program import app, either, make_folder, number, read_counts, whole

if TYPE_CHECKING:
    from bayes_dp.planning.result import Plan

__all__: list[str] = []

_FILES = ("plan.json", "plan.png")

_EPILOG = """\b
FILE has the error counts so far, as for bayes-dp estimate. Without it, say how
large the first experiment is to be, and what you expect:
  bayes-dp plan --bases 10 --challenges 100 --true-epsilon 2 --delta 1e-3 --width 1

\b
Examples:
  bayes-dp plan counts.csv --delta 1e-3 --width 1.0
  bayes-dp plan counts.csv --delta 1e-3 --width 1.0 --vary bases --jobs 4 --out plan
  bayes-dp plan counts.csv --delta 1e-3 --width 1.0 --json > plan.json

\b
Exit codes:
  0 done, 2 bad input (one line on standard error says what is wrong)"""


class Vary(StrEnum):
    both = "both"
    challenges = "challenges"
    bases = "bases"


@app.command(epilog=_EPILOG, short_help="How many challenges or bases a wanted width takes.")
def plan(
    delta: Delta,
    width: Annotated[
        float, typer.Option(parser=number, metavar="W", show_default=False, help="How wide the interval may be.")
    ],
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", show_default=False, help="Error counts so far, see below, or - for standard input."
        ),
    ] = None,
    prob: Annotated[
        float, typer.Option(parser=number, metavar="P", help="The probability of the interval, which is equal-tailed.")
    ] = 0.9,
    assurance: Annotated[
        float,
        typer.Option(
            parser=number, metavar="A", help="The share of the simulated experiments that must reach the width."
        ),
    ] = 0.8,
    vary: Annotated[
        Vary,
        typer.Option(
            metavar=either(Vary), help="Grow by more challenges of the same bases, by more bases, or tell about both."
        ),
    ] = Vary.both,
    largest: Annotated[
        float, typer.Option(parser=number, metavar="F", help="How many times the first size is tried at most.")
    ] = 32.0,
    bases: Annotated[
        int | None, typer.Option(parser=whole, metavar="N", help="Without FILE: challenge bases to begin with.")
    ] = None,
    challenges: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="N", help="Without FILE: challenges of each base without the example, and with it."
        ),
    ] = None,
    true_epsilon: Annotated[
        Any,
        typer.Option(
            parser=number_or_text,
            metavar="E|PRIOR",
            help="Without FILE: the ε that is expected, or its distribution; by default the prior.",
        ),
    ] = None,
    true_strength: Annotated[
        Any,
        typer.Option(
            parser=number_or_text, metavar="S|PRIOR", help="Without FILE: the same for the strength of the attacks."
        ),
    ] = None,
    strength: Annotated[
        Any,
        typer.Option(parser=number_or_text, metavar="free|S", help="In the analysis, as for bayes-dp estimate."),
    ] = "free",
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    design: HowCounted = None,
    examples: Examples = None,
    repetitions: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Simulated experiments of each size.")
    ] = 100,
    seed: Annotated[int, typer.Option(parser=whole, metavar="N", help="Seed: the same seed, the same plan.")] = 0,
    jobs: Annotated[int, typer.Option(parser=whole, metavar="N", help="Processes to share the work; -1 for all.")] = 1,
    as_json: AsJson = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Also write plan.json and plan.png to this folder, made if missing."),
    ] = None,
) -> int:
    """Find how many challenges or bases give an interval of ε that is narrow enough, by simulation.

    Larger experiments are simulated from what the counts so far say of ε, of the attacks and of the bases. It takes
    minutes: each of the simulated experiments is analysed like a real one.
    """
    from bayes_dp.checks import InputError
    from bayes_dp.planning.plan import plan as make
    from bayes_dp.planning.simulated import Experiment

    sizes = {"--bases": bases, "--challenges": challenges}
    truths = {"--true-epsilon": true_epsilon, "--true-strength": true_strength}
    given: Any
    if file is not None:
        if wrong := [name for name, value in (sizes | truths).items() if value is not None]:
            raise InputError(f"{wrong[0]} is for plans without a FILE, whose counts tell it")
        given = read_counts(file, design.value if design else None, examples)
    else:
        if missing := [name for name, value in sizes.items() if value is None]:
            raise InputError(f"a FILE of counts is needed, or {missing[0]}")
        if design is not None or examples is not None:
            raise InputError("--design and --examples are for plans from a FILE")
        given = Experiment(bases, challenges, challenges, true_epsilon, true_strength)  # type: ignore[arg-type]
    if out is not None:
        make_folder(out, *_FILES)

    found = make(
        given,
        delta,
        width,
        prob=prob,
        assurance=assurance,
        vary=vary.value,
        largest=largest,
        prior_epsilon=prior_epsilon,
        prior_strength=prior_strength,
        strength=strength,
        repetitions=repetitions,
        seed=seed,
        n_jobs=jobs,
    )
    text = json.dumps(found.to_dict(), indent=2)
    typer.echo(text if as_json else str(found))
    if as_json:
        for sentence in found.warnings:
            typer.echo(f"bayes-dp: warning: {sentence}", err=True)
    if out is not None:
        typer.echo(f"Wrote {' and '.join(_save(out, text, found))}", err=True)
    return 0 if found.complete else 130


def _save(folder: str, text: str, found: Plan) -> list[str]:
    """Write plan.json and plan.png; returns their paths."""
    import io

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from bayes_dp import plots
    from bayes_dp.data.files import write_bytes_atomically, write_text_atomically

    figure = Figure(figsize=(4.8, 3.8), layout="constrained")
    plots.widths(found, figure.subplots())
    content = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(content, format="png", dpi=150)
    paths = [os.path.join(folder, name) for name in _FILES]
    write_text_atomically(paths[0], text + "\n")
    write_bytes_atomically(paths[1], content.getvalue())
    return paths
