"""The claim of --claim-epsilon and --claim-dp-sgd, and what is said of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from bayes_dp.claims.claim import Claim
    from bayes_dp.claims.result import ClaimTest
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.data.guesses import Guesses
    from bayes_dp.results.bound import LowerBound

__all__ = ["claim_given", "tell", "testable", "worst"]


def claim_given(epsilon: float | None, training: str | None, delta: float | None) -> Claim | None:
    """The claim that the options make, if they make one."""
    from bayes_dp.checks import InputError, show
    from bayes_dp.claims.claim import Claim

    if epsilon is not None and training is not None:
        raise InputError("--claim-epsilon and --claim-dp-sgd exclude each other")
    if epsilon is not None:
        if delta is None:
            raise InputError("--claim-epsilon needs --delta")
        return Claim(epsilon, delta)
    if training is None:
        return None
    try:
        noise, rate, steps = training.split(",")
        numbers = float(noise), float(rate), int(steps)
    except ValueError:
        raise InputError(
            "--claim-dp-sgd must be a noise multiplier, a sampling rate and a number of steps, such as 1.1,0.01,1000,"
            f" not {show(training)}"
        ) from None
    return Claim.dp_sgd(*numbers, delta=delta)


def testable(evidence: ErrorCounts | Guesses, delta: float | None) -> ErrorCounts | Guesses | LowerBound:
    """What a claim is held against: of guesses of examples that were no members by fair coins, the zero-run bound."""
    from bayes_dp.data.guesses import Guesses

    if not isinstance(evidence, Guesses) or (evidence.table.needed_propensity() == 0.5).all():
        return evidence
    from bayes_dp.audits.zero_run import zero_run

    return zero_run(evidence, delta)


def tell(tests: Mapping[str, ClaimTest | None], as_json: bool) -> int:
    """Print what was found of a claim, by name of the base; returns the exit code."""
    made = {name: test for name, test in tests.items() if test is not None}
    for name, test in made.items():
        text = f"\n{test}" if len(made) == 1 else f"\nBase {name}: {test}"
        typer.echo(test.answer if as_json else text, err=as_json)
    return worst(*(test.exit_code for test in made.values()))


def worst(*codes: int) -> int:
    """One exit code for several checks: 1 if one failed, else 3 if one is inconclusive."""
    return next((code for code in (1, 3) if code in codes), 0)
