"""The verb calibrate: how often an audit is wrong, on mechanisms whose leakage is known."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from bayes_dp.audits.registry import INDEX
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import AsJson, Seed, argument, number, whole
from bayes_dp.cli.program import app

__all__: list[str] = []

_STUDIES = ", ".join(dict.fromkeys(entry.study for entry in INDEX.values()))
_EPILOG = f"""AUDIT is one of {_STUDIES}, profile, sequential, and wrong-pairs, which shows
why some methods are refused for some designs.

\b
Examples:
  bayes-dp calibrate one-run
  bayes-dp calibrate intervals --repetitions 20000 --json > intervals.json

\b
Exit codes:
  0 all rows that claim to be valid are, 1 one of them is not,
  2 bad input (one line on standard error says what is wrong)"""


Audit = Annotated[str, argument("Which audit, see below.", "AUDIT")]
Repetitions = Annotated[int, whole("N", "Simulated audits for each row of the table.")]
ErrorProbability = Annotated[float, number("P", "The error probability of the bounds.")]


@app.command(cls=Verb, epilog=_EPILOG, short_help="How often an audit is wrong, on mechanisms of known leakage.")
def calibrate(
    audit: Audit,
    repetitions: Repetitions = 10_000,
    error: ErrorProbability = 0.05,
    as_json: AsJson = False,
    seed: Seed = 0,
) -> int:
    """Simulate an audit on mechanisms whose privacy is known, and count how often its bound exceeds the truth.

    A bound of error probability P may do so in a share P of all audits: a row passes if its rate is at most P and three
    standard errors. Mean bounds stand beside the truths, to show how tight they are. It takes a minute or two.
    """
    from bayes_dp.calibrate import study

    found = study(audit, repetitions=repetitions, p=error, seed=seed)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
    if not found.complete:
        typer.echo("bayes-dp: interrupted; the rows above were finished", err=True)
        return 130
    return 0 if found.passed else 1
