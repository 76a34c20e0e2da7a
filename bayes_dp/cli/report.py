"""The verb report: a whole analysis as one file for a reader who was not there."""

from __future__ import annotations

import warnings
from enum import StrEnum
from typing import Annotated, Any

import typer

from bayes_dp.cli.program import Design, app, number, read_counts, whole

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
  0 done, 2 bad input (one line on standard error says what is wrong)"""


class Format(StrEnum):
    html = "html"
    markdown = "markdown"
    json = "json"


def _strength(text: Any) -> Any:
    """A number if it is one; whether it can be a strength is checked by the method."""
    try:
        return float(text)
    except ValueError:
        return text


@app.command(epilog=_EPILOG, short_help="A whole analysis as one file, for a reader who was not there.")
def report(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            show_default=False,
            help="Error counts: a .csv, .tsv, .txt or .json file, or - for standard input.",
        ),
    ],
    delta: Annotated[
        float,
        typer.Option(parser=number, metavar="D", show_default=False, help="The δ of (ε, δ)-differential privacy."),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="Write to this .html, .md or .json file instead of standard output."
        ),
    ] = None,
    form: Annotated[
        Format | None,
        typer.Option("--format", help="The form; by default that of the suffix of FILE, and html on standard output."),
    ] = None,
    prob: Annotated[
        float,
        typer.Option(
            parser=number, metavar="P", help="Of the intervals; the lower bounds have the confidence (1 + P)/2."
        ),
    ] = 0.9,
    strength: Annotated[
        Any, typer.Option(parser=_strength, metavar="free|tight|S", help="As for bayes-dp estimate.")
    ] = "free",
    likelihood: Annotated[str, typer.Option(metavar="NAME", help="As for bayes-dp estimate.")] = "binomial",
    method: Annotated[
        str | None, typer.Option(metavar="exact|mhaar", show_default=False, help="As for bayes-dp estimate.")
    ] = None,
    prior_epsilon: Annotated[
        str | None, typer.Option(metavar="PRIOR", help="The prior of ε, as for bayes-dp estimate.")
    ] = None,
    prior_strength: Annotated[
        str | None, typer.Option(metavar="PRIOR", help="The prior of a free strength, as for bayes-dp estimate.")
    ] = None,
    design: Annotated[
        Design | None, typer.Option(help="How the counts arose; by default as a JSON file says, or repeated.")
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(parser=whole, metavar="M", help="With --design one_run: how many examples there were."),
    ] = None,
    seed: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Seed of all draws: the same seed, the same report.")
    ] = 0,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="The heading.")] = None,
) -> int:
    """Write a report of the whole analysis: an HTML page that needs nothing else, Markdown, or JSON.

    It says what the counts show of ε, beside every lower bound that applies; whether the model fits; how much depends
    on priors and strength; what it rests on; and how to repeat it.
    """
    from bayes_dp.bayes.convergence import ConvergenceWarning
    from bayes_dp.reporting.assembled import format_of
    from bayes_dp.reporting.assembled import report as assemble

    wanted: Any = form.value if form else format_of(out) if out is not None else "html"
    counts = read_counts(file, design.value if design else None, examples)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its sentences are in the report
        made = assemble(
            counts,
            delta,
            prob=prob,
            prior_epsilon=prior_epsilon,
            prior_strength=prior_strength,
            strength=strength,
            likelihood=likelihood,
            method=method,
            seed=seed,
            title=title,
            source=file,
        )
        if out is None:
            typer.echo(made.text(wanted), nl=False)
        else:
            made.save(out, wanted)
            typer.echo(f"Wrote {out}", err=True)
    for sentence in made.posterior.warnings:
        typer.echo(f"bayes-dp: warning: {sentence}", err=True)
    return 0
