"""The verb audit sequential: a lower bound that may be looked at after every pair of runs."""

from __future__ import annotations

import io
import math
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from bayes_dp.cli.audit import audit, report
from bayes_dp.cli.claims import claim_given, tell, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    AsJson,
    Brief,
    ClaimDpSgd,
    ClaimEpsilon,
    Confidence,
    Delta,
    MeaningToo,
    argument,
    flag,
    number,
    text,
)

if TYPE_CHECKING:
    from bayes_dp.audits.sequential import Sequential
    from bayes_dp.data.pairs import Pairs

__all__: list[str] = []

_EPILOG = """\b
FILE has one row for each pair of runs, in their order:
  without,with
  0,0
  0,1
without  1 if the run without the example was judged wrongly (a false positive)
with     1 if the run with it was (a false negative)
Both by one rule, fixed before the pair was seen; the next pair may have another.

\b
Examples:
  bayes-dp audit sequential today.csv --delta 1e-5 --state audit.json
  train | bayes-dp audit sequential - --delta 1e-5 --fail-above 1

\b
Exit codes:
  0 done, 1 the check of --fail-above failed, or the claim is refuted,
  2 bad input (one line on standard error says what is wrong)"""

InOrder = Annotated[
    str, argument("Pairs of runs: a .csv, .tsv, .txt or .json file, or - for lines of CSV that arrive.")
]
State = Annotated[
    str | None,
    text("FILE", "Go on from this file, if it is there, and save to it. Give each pair once: FILE has new pairs only."),
]
Dependent = Annotated[
    bool, flag("--dependent", "The two runs of a pair may share seeds, or data that changes from pair to pair.")
]
RefutedAbove = Annotated[
    float | None, number("EPS", "Exit with 1 as soon as a training with an epsilon of EPS or less is refuted.")
]


@audit.command("sequential", cls=Verb, epilog=_EPILOG, short_help="A bound that may be looked at after every pair.")
def sequential(
    file: InOrder,
    delta: Delta,
    state: State = None,
    dependent: Dependent = False,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: RefutedAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    meaning: MeaningToo = False,
) -> int:
    """Bound ε from below by pairs of runs, one without the example and one with it, as often as you like.

    You may look after every pair, and stop whenever you want to.
    """
    from bayes_dp.audits.sequential import LARGEST
    from bayes_dp.data.files import check_writable

    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    stated = math.inf if claim is None else claim.epsilon_at(delta)
    limits = ([] if fail_above is None else [fail_above]) + ([stated] if stated <= LARGEST else [])
    under_way = _begun(delta, state, dependent, confidence, limits[-1] if limits else None)
    if state is not None:
        check_writable(state)
    before = under_way.runs
    for x, y in _pairs(file, under_way):
        under_way.update(x, y)
        if state is not None:
            under_way.to_json(state)
        if limits and all(under_way.rejects(limit) for limit in limits):
            break
    code = report({"all": under_way.bound()}, as_json, None, meaning=meaning, brief=brief)
    typer.echo(f"Pairs: {under_way.runs - before} new, {under_way.runs} in all", err=as_json)
    if fail_above is not None:
        code = int(under_way.rejects(fail_above))
        word, found = ("FAILED", "is refuted") if code else ("passed", "is not refuted")
        typer.echo(f"Check {word}: epsilon at most {fail_above:g} {found}", err=as_json)
    return code if claim is None else worst(code, tell({"all": claim.test(under_way)}, as_json))


def _begun(delta: float, state: str | None, dependent: bool, confidence: float, claim: float | None) -> Sequential:
    """A new audit, or the one that the file of the state holds, if it has these settings."""
    from bayes_dp.audits.sequential import Sequential
    from bayes_dp.audits.sequential import sequential as begin
    from bayes_dp.checks import InputError

    asked = begin(delta, confidence=confidence, pairs="dependent" if dependent else "independent", claim=claim)
    if state is None or not os.path.exists(state):
        return asked
    found = Sequential.from_json(state)
    for name in ("delta", "confidence", "method", "family", "pairs"):
        old, new = getattr(found, name), getattr(asked, name)
        if old != new:
            raise InputError(
                f"{state} is of an audit with {name} = {old}, not {new}: go on with that, or begin another"
            )
    return found


def _pairs(file: str, under_way: Sequential) -> Iterator[Pairs]:
    """All pairs of a file at once; those of standard input as they come, up to the next bet."""
    from bayes_dp.audits.betting import next_refresh
    from bayes_dp.checks import InputError
    from bayes_dp.data.pairs import pairs_of_lines, read_pairs

    if file != "-":
        yield read_pairs(file)
        return
    if sys.stdin is None:
        raise InputError("standard input is closed")

    def sizes() -> Iterator[int]:
        while True:
            yield next_refresh(under_way.runs) - under_way.runs

    lines = io.TextIOWrapper(sys.stdin.buffer, "utf-8-sig")
    try:
        yield from pairs_of_lines("standard input", lines, sizes())
    except UnicodeDecodeError:
        raise InputError("standard input must be text in UTF-8") from None
    finally:
        lines.detach()  # or standard input would be closed along with it
