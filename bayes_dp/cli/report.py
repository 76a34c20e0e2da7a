"""The verb report: a whole analysis as one file for a reader who was not there."""

from __future__ import annotations

import warnings
from enum import StrEnum
from typing import Annotated, Any

import typer

from bayes_dp.cli.options import (
    DEFAULT_LIKELIHOOD,
    ControlFile,
    Counts,
    Delta,
    Examples,
    HowCounted,
    Likelihood,
    Limit,
    Method,
    NoControl,
    PriorEpsilon,
    PriorStrength,
    Strength,
)
from bayes_dp.cli.program import app, either, number, read_control, read_counts, whole, write_or_print

__all__: list[str] = []

_EPILOG = """\b
FILE is as for bayes-dp estimate.

\b
Examples:
  bayes-dp report counts.csv --delta 1e-3 -o report.html
  bayes-dp report counts.csv --delta 1e-3 --design cross_fed --likelihood bivariate_normal -o report.html
  bayes-dp report counts.csv --delta 1e-3 --format markdown > report.md

\b
Exit codes:
  0 done, and the gate of --fail-above passed, 1 it failed, 3 it is inconclusive,
  2 bad input (one line on standard error says what is wrong)"""


class Format(StrEnum):
    html = "html"
    markdown = "markdown"
    json = "json"


@app.command(epilog=_EPILOG, short_help="A whole analysis as one file, for a reader who was not there.")
def report(
    file: Counts,
    delta: Delta,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write to this .html, .md or .json file instead of standard output."
        ),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option(
            "--format",
            metavar=either(Format),
            help="The form; by default that of the suffix of FILE, and html on standard output.",
        ),
    ] = None,
    prob: Annotated[
        float,
        typer.Option(
            parser=number, metavar="P", help="Of the intervals; the lower bounds have the confidence (1 + P)/2."
        ),
    ] = 0.9,
    strength: Strength = "free",
    likelihood: Annotated[
        Likelihood, typer.Option(metavar=either(Likelihood), help="As for bayes-dp estimate.")
    ] = DEFAULT_LIKELIHOOD,
    method: Annotated[
        Method | None, typer.Option(metavar=either(Method), show_default=False, help="As for bayes-dp estimate.")
    ] = None,
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    design: HowCounted = None,
    examples: Examples = None,
    seed: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Seed of all draws: the same seed, the same report.")
    ] = 0,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The heading.")] = None,
    fail_above: Limit = None,
    control: ControlFile = None,
    no_control: NoControl = False,
) -> int:
    """Write a report of the whole analysis: an HTML page that needs nothing else, Markdown, or JSON.

    It says what the counts show of ε, beside every lower bound that applies; whether the model fits; how much depends
    on priors and strength; what it rests on; and how to repeat it.
    """
    from bayes_dp.bayes.convergence import ConvergenceWarning
    from bayes_dp.data.files import check_writable
    from bayes_dp.reporting.report import format_of
    from bayes_dp.reporting.report import report as assemble

    if out is not None:
        check_writable(out)
    wanted: Any = form.value if form else format_of(out) if out is not None else "html"
    counts = read_counts(file, design.value if design else None, examples)
    positive = read_control(control, no_control, fail_above, counts, file)
    judged: dict[str, Any] = {} if fail_above is None else {"limit": fail_above, "control": positive}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its sentences are in the report
        made = assemble(
            counts,
            delta,
            prob=prob,
            prior_epsilon=prior_epsilon,
            prior_strength=prior_strength,
            strength=strength,
            likelihood=likelihood.value,
            method=method.value if method else None,
            seed=seed,
            title=title,
            source=file,
            **judged,
        )
        text = made.text(wanted)
    try:
        if out is None:
            typer.echo(text, nl=False)
        else:
            write_or_print(out, text)
            typer.echo(f"Wrote {out}", err=True)
    finally:
        for sentence in made.posterior.warnings:
            typer.echo(f"bayes-dp: warning: {sentence}", err=True)
    verdict = made.findings.verdict
    if verdict is None:
        return 0
    typer.echo(str(verdict), err=True)
    return verdict.exit_code
