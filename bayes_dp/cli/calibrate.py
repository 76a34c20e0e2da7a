"""The verb calibrate: how often an audit is wrong, on mechanisms whose leakage is known."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from bayes_dp.audits.registry import INDEX
from bayes_dp.cli.program import app, number, whole

__all__: list[str] = []

_STUDIES = ", ".join(dict.fromkeys(entry.study for entry in INDEX.values()))
_EPILOG = f"""AUDIT is one of {_STUDIES}, and wrong-pairs, which shows why some methods are refused for some designs.

\b
Examples:
  bayes-dp calibrate one-run
  bayes-dp calibrate intervals --repetitions 20000 --json > intervals.json

\b
Exit codes:
  0 all rows that claim to be valid are, 1 one of them is not,
  2 bad input (one line on standard error says what is wrong)"""


@app.command(epilog=_EPILOG, short_help="How often an audit is wrong, on mechanisms of known leakage.")
def calibrate(
    audit: Annotated[str, typer.Argument(metavar="AUDIT", show_default=False, help="Which audit, see below.")],
    repetitions: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Simulated audits for each row of the table.")
    ] = 10_000,
    error: Annotated[
        float, typer.Option(parser=number, metavar="P", help="The error probability of the bounds.")
    ] = 0.05,
    seed: Annotated[int, typer.Option(parser=whole, metavar="N", help="Seed: the same seed, the same table.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON, and nothing else, to standard output.")] = False,
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
