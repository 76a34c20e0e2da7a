"""The verb compare: all methods on the same counts."""

from __future__ import annotations

import json
import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.options import (
    AsJson,
    Baseline,
    Confidence,
    ControlFile,
    Counts,
    Delta,
    Examples,
    HowCounted,
    Likelihood,
    Limit,
    NoControl,
    Overlap,
    PriorEpsilon,
    PriorStrength,
    SafeCells,
    ScoresToo,
)
from bayes_dp.cli.program import app, either, make_folder, read_control, read_counts

if TYPE_CHECKING:
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.results.posterior import Posterior

__all__: list[str] = []

_FILES = ("comparison.json", "comparison.csv", "comparison.html", "comparison.tex")

_COMPARE_EPILOG = """\b
Examples:
  bayes-dp compare counts.csv --delta 1e-3
  bayes-dp compare counts.csv --delta 1e-3 --bases --json > comparison.json
  bayes-dp compare counts.csv --delta 1e-3 --likelihood bivariate_normal
  bayes-dp compare counts.csv --delta 1e-5 --design one_run --examples 1000

FILE is as for bayes-dp estimate."""


@app.command(epilog=_COMPARE_EPILOG, short_help="All methods on the same counts, in one table.")
def compare(
    file: Counts,
    delta: Delta,
    confidence: Confidence = 0.95,
    design: HowCounted = None,
    examples: Examples = None,
    overlap: Overlap = None,
    baseline: Baseline = None,
    scores: ScoresToo = None,
    likelihood: Annotated[
        list[Likelihood] | None,
        typer.Option(
            metavar=either(Likelihood), help="Also a posterior with this likelihood; may be given several times."
        ),
    ] = None,
    bases: Annotated[bool, typer.Option("--bases", help="A row for each base too.")] = False,
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    as_json: AsJson = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Also write comparison.json, .csv, .html and .tex to this folder."),
    ] = None,
    safe_cells: SafeCells = False,
    fail_above: Limit = None,
    control: ControlFile = None,
    no_control: NoControl = False,
) -> int:
    """Compare the posterior of ε with every lower bound that the same counts give.

    Each row has its kind (posterior, lower bound, estimate), and says what it assumes. A method that does not apply is
    listed with the reason. Posterior intervals have probability 2P-1, so that their lower ends compare with bounds of
    confidence P.
    """
    counts = read_counts(file, design.value if design else None, examples)
    positive = read_control(control, no_control, fail_above, counts, file)
    other = None if baseline is None else read_counts(baseline, counts.design, counts.examples)

    from bayes_dp.checks import InputError, one_number
    from bayes_dp.data.guess_table import GuessTable

    # As the comparison itself does, but before posteriors are sampled for it.
    one_number("confidence", confidence, 0.5, 1.0, low_open=True, high_open=True)
    if overlap is not None:
        one_number("overlap", overlap, 0.0, 0.5, low_open=True)

    table = None if scores is None else GuessTable.read(scores)
    if table is not None and table.propensity is None:
        raise InputError(f"{scores} must have a column propensity, the chance of being a member given the features")
    if out is not None:
        make_folder(out, *_FILES)

    from bayes_dp.comparison.compare import compare as collect

    found = collect(
        counts,
        delta,
        confidence,
        overlap=overlap,
        baseline=other,
        scores=table,
        prior_epsilon=prior_epsilon,
        prior_strength=prior_strength,
        posteriors=_posteriors(counts, delta, likelihood or [], prior_epsilon, prior_strength),
        per_base=bases,
        limit=fail_above,
        control=positive,
    )
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
    if as_json and found.gate is not None:
        typer.echo(str(found.gate), err=True)
    if out is not None:
        typer.echo(f"Wrote {', '.join(_save(found, out, safe_cells))}", err=True)
    return 0 if found.gate is None else found.gate.exit_code


def _posteriors(
    counts: ErrorCounts,
    delta: float,
    likelihoods: list[Likelihood],
    prior_epsilon: str | None,
    prior_strength: str | None,
) -> dict[str, Posterior]:
    from bayes_dp.bayes.convergence import ConvergenceWarning
    from bayes_dp.bayes.estimate import estimate

    priors: dict[str, Any] = {"prior_epsilon": prior_epsilon, "prior_strength": prior_strength}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its sentences are in the table
        return {
            f"posterior-{each.value.replace('_', '-')}": estimate(counts, delta, likelihood=each.value, **priors)
            for each in dict.fromkeys(likelihoods)
        }


def _save(found: Any, folder: str, safe_cells: bool) -> list[str]:
    import os

    from bayes_dp.data.files import write_text_atomically
    from bayes_dp.data.table import safe_cell

    paths = [os.path.join(folder, name) for name in _FILES]
    found.to_json(paths[0])
    frame = found.to_frame()
    for column in ("assumptions", "notes"):
        frame[column] = [" ".join(sentences) for sentences in frame[column]]
    if safe_cells:
        frame = frame.map(safe_cell)
    head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Comparison</title>\n'
    page = f"{head}{found.to_html()}\n</html>\n"
    for path, text in zip(paths[1:], (frame.to_csv(index=False), page, found.to_latex() + "\n"), strict=True):
        write_text_atomically(path, text)
    return paths
