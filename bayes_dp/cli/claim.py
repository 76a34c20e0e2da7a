"""The verb audit claim: whether data refute what is said of a training, and nothing else."""

from __future__ import annotations

import json

import typer

from bayes_dp.cli.audit import audit
from bayes_dp.cli.claims import claim_given, testable
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    AsJson,
    Brief,
    ClaimDpSgd,
    ClaimEpsilon,
    Confidence,
    Delta,
    Evidence,
    Examples,
    HowCounted,
    HowMembers,
    MeaningToo,
    NonMembers,
    OfChoice,
    OfGuesses,
    Which,
    chosen_for_all,
)
from bayes_dp.cli.program import judged_in, read_evidence

__all__: list[str] = []

_EPILOG = """FILE is as for bayes-dp estimate.

\b
Examples:
  bayes-dp audit claim counts.csv --delta 1e-5 --claim-epsilon 1
  bayes-dp audit claim scores.csv --delta 1e-5 --claim-dp-sgd 1.1,0.01,1000

\b
Exit codes:
  0 not refuted, 1 refuted, 3 the data cannot test the claim,
  2 bad input (one line on standard error says what is wrong)"""


@audit.command("claim", cls=Verb, epilog=_EPILOG, short_help="Whether the data refute a claim.")
def claim(
    file: Evidence,
    delta: Delta,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    confidence: Confidence = 0.95,
    design: HowCounted = None,
    examples: Examples = None,
    as_json: AsJson = False,
    brief: Brief = False,
    guesses: OfGuesses = None,
    choice: OfChoice = None,
    members: HowMembers = None,
    non_members: NonMembers = None,
    which: Which = None,
    meaning: MeaningToo = False,
) -> int:
    """Say whether errors or scores of attacks refute a claim. What they do not refute they do not verify.

    The test is chosen by the kind of the data. Where the data are counts, it says which epsilon they would have shown.
    """
    from bayes_dp.checks import InputError

    stated = claim_given(claim_epsilon, claim_dp_sgd, delta)
    if stated is None:
        raise InputError("a claim must be given, by --claim-epsilon or --claim-dp-sgd")
    wanted = chosen_for_all(guesses, choice, 0)
    given = read_evidence(file, design, examples, choice=wanted, members=members, non_members=non_members, which=which)
    evidence = testable(judged_in(given, delta, wanted)[0], delta)
    found = stated.test(evidence, confidence=confidence)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else found.brief() if brief else str(found))
    if meaning:
        typer.echo(f"\n{stated.meaning()}", err=as_json)
    return found.exit_code
