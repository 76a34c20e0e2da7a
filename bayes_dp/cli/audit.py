"""The verbs of audit from a table of scores of one model, and what all verbs of audit share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.claims import claim_given, tell, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    EXPERT,
    AsJson,
    Brief,
    ChoiceRule,
    ClaimDpSgd,
    ClaimEpsilon,
    Confidence,
    Delta,
    FailAbove,
    How,
    HowMembers,
    MeaningToo,
    NonMembers,
    Numbers,
    Scores,
    Seed,
    Side,
    Sides,
    Which,
    chosen,
    number,
    one_of,
    text,
)
from bayes_dp.cli.program import app, read_table

if TYPE_CHECKING:
    from bayes_dp.claims.claim import Claim
    from bayes_dp.claims.result import ClaimTest
    from bayes_dp.data.guess_table import GuessTable
    from bayes_dp.data.guesses import Guesses
    from bayes_dp.results.bound import CredibleInterval, Estimate, LowerBound

    Finding = LowerBound | CredibleInterval | Estimate

__all__ = ["audit", "each", "parts", "report", "share"]

_SCORES = """\b
FILE has one row per example of the audit:
  score,member
  2.31,1
  -0.4,0
score   what the attack says: the higher, the more likely a member;
        a column loss instead of it is turned round
member  the truth: 1 or true if the example was in the training set
base    a label, if the file holds several audits, each of its own model
"""

_PANORAMIA_EPILOG = f"""{_SCORES}
\b
Examples:
  bayes-dp audit panoramia attack.csv --baseline blind.csv
  bayes-dp audit panoramia real.csv --threshold 1.5 --delta 1e-5
With --baseline the result is an estimate, which --fail-above does not take.

\b
Exit codes:
  0 done, 1 the check of --fail-above failed, or the memberships contradict
  what is assumed of them, so that the bound is not valid,
  2 bad input (one line on standard error says what is wrong),
  3 the check is inconclusive, as the bound is not valid"""

_AUDIT_EPILOG = f"""{_SCORES}
\b
Examples:
  bayes-dp audit one-run guesses.csv --guesses 500 --delta 1e-5
  bayes-dp audit f-dp guesses.csv --guesses 100,200,400 --choice bonferroni --delta 1e-5

\b
Exit codes:
  0 done, 1 the check of --fail-above failed, or the memberships contradict
  what is assumed of them, so that the bound is not valid,
  2 bad input (one line on standard error says what is wrong),
  3 the check is inconclusive, as the bound is not valid"""


class OneRunMethod(StrEnum):
    best = "best"
    binomial = "binomial"
    f_dp = "f_dp"
    exact = "exact"


class FDpFamily(StrEnum):
    gaussian = "gaussian"
    laplace = "laplace"
    approx = "approx"


OfOneRun = Annotated[
    OneRunMethod,
    one_of(
        OneRunMethod,
        "The bound of Steinke et al. (binomial), that of f-DP, the better of both, or the exact one.",
        panel=EXPERT,
    ),
]
DeltaOrNone = Annotated[float | None, number("D", "Bound ε at this δ; otherwise the family's parameter.")]
DeltaOrZero = Annotated[float, number("D", "The δ of (ε, δ)-DP.")]
FamilyOfFDp = Annotated[FDpFamily, one_of(FDpFamily, "The family of trade-off functions that the training belongs to.")]
Tau = Annotated[float, number("T", "Slack for simulated absence (observational audits).", panel=EXPERT)]
BaselineScores = Annotated[
    str | None,
    text(
        "FILE",
        "Scores of the same examples by a baseline that never saw the model. Without it the non-members are taken to be"
        " real ones, and the result is a lower bound.",
    ),
]
Gamma = Annotated[float, number("G", "The γ of the generator's (c, γ)-closeness.", panel=EXPERT)]
Thresholds = Annotated[
    list[float] | None,
    number(
        "T",
        "Take an example for a member from this score on; may be given several times. By default every score that"
        " occurs is tried, at the price of a correction.",
        panel=EXPERT,
    ),
]

audit = typer.Typer(add_completion=False, rich_markup_mode=None)
app.add_typer(audit, name="audit", short_help="One lower bound from a table of scores, or of counts.")


@audit.callback(invoke_without_command=True, epilog="See bayes-dp audit METHOD --help for what a method is given.")
def _audit(context: typer.Context) -> None:
    """Lower bounds on ε that hold with a given confidence, by one method."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@audit.command("one-run", cls=Verb, epilog=_AUDIT_EPILOG, short_help="(ε, δ)-DP from guesses on one model.")
def one_run(
    file: Scores,
    delta: Delta,
    guesses: Numbers = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    members: HowMembers = None,
    non_members: NonMembers = None,
    which: Which = None,
    choice: How = None,
    sides: Side = Sides.both,
    method: OfOneRun = OneRunMethod.best,
    seed: Seed = 0,
    meaning: MeaningToo = False,
) -> int:
    """Bound ε from below by the guesses of members among the examples of one training run.

    Every example must have been in the training set by its own fair coin.
    """

    def run(made: Guesses, level: float) -> Finding:
        from bayes_dp.audits.one_run import one_run as bound

        return bound(made, delta, confidence=level, method=method.value)

    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    tables = parts(read_table(file, members, non_members, which))
    given = tables, guesses, choice, sides, seed, confidence
    code = report(_audited(*given, run), as_json, fail_above, confidence, meaning, brief=brief)
    return worst(code, tell(_claimed(claim, *given), as_json))


@audit.command(
    "f-dp", cls=Verb, epilog=_AUDIT_EPILOG, short_help="Gaussian, Laplace or (ε, δ) DP from guesses on one model."
)
def f_dp(
    file: Scores,
    delta: DeltaOrNone = None,
    guesses: Numbers = None,
    family: FamilyOfFDp = FDpFamily.gaussian,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    members: HowMembers = None,
    non_members: NonMembers = None,
    which: Which = None,
    choice: How = None,
    sides: Side = Sides.both,
    tau: Tau = 0.0,
    seed: Seed = 0,
    meaning: MeaningToo = False,
) -> int:
    """Bound the parameter of a family of trade-off functions, or ε at a δ, by guesses on one training run.

    Every example must have been in the training set by its own fair coin.
    """

    def run(made: Guesses, level: float) -> Finding:
        from bayes_dp.audits.f_dp import f_dp as bound

        return bound(made, delta=delta, family=family.value, tau=tau, confidence=level)

    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    tables = parts(read_table(file, members, non_members, which))
    given = tables, guesses, choice, sides, seed, confidence
    code = report(_audited(*given, run), as_json, fail_above, confidence, meaning, brief=brief)
    return worst(code, tell(_claimed(claim, *given), as_json))


@audit.command(
    "panoramia", cls=Verb, epilog=_PANORAMIA_EPILOG, short_help="How much better an attack is than a blind baseline."
)
def panoramia(
    file: Scores,
    baseline: BaselineScores = None,
    delta: DeltaOrZero = 0.0,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    members: HowMembers = None,
    gamma: Gamma = 0.0,
    threshold: Thresholds = None,
    meaning: MeaningToo = False,
) -> int:
    """PANORAMIA's measurement: an estimate of ε from members and generated non-members, which is not a bound."""
    from bayes_dp.audits.panoramia import panoramia as measure
    from bayes_dp.checks import InputError

    if baseline is not None and fail_above is not None:
        raise InputError("--fail-above is for bounds, and with --baseline the result is an estimate")
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    if baseline is not None and claim is not None:
        raise InputError("a claim is tested by bounds, and with --baseline the result is an estimate")
    tables = [parts(read_table(name, members)) for name in (file, baseline) if name is not None]
    if len(tables) == 2 and tables[0].keys() != tables[1].keys():
        raise InputError(f"{baseline} must have the bases of {file}")
    level = share(confidence, len(tables[0]))
    found = each(
        tables[0],
        lambda base: measure(
            tables[0][base],
            tables[1][base] if len(tables) == 2 else None,
            delta=delta,
            gamma=gamma,
            confidence=level,
            thresholds=threshold or None,
        ),
    )
    code = report(found, as_json, fail_above, confidence, meaning, brief=brief)
    tests = {} if claim is None else {name: claim.test(bound) for name, bound in found.items()}
    return worst(code, tell(tests, as_json))


def _audited(
    tables: Mapping[str, GuessTable],
    numbers: str | None,
    choice: ChoiceRule | None,
    sides: Sides,
    seed: int,
    confidence: float,
    run: Callable[[Guesses, float], Finding],
) -> dict[str, Finding]:
    """The finding of each base, all of which hold together, or of the whole table if it has no bases."""
    from bayes_dp.attacks.scores import guess

    wanted = chosen(numbers, choice, seed)
    level = share(confidence, len(tables))
    return each(tables, lambda name: run(guess(tables[name], wanted, sides.value, seed), level))


def _claimed(
    claim: Claim | None,
    tables: Mapping[str, GuessTable],
    numbers: str | None,
    choice: ChoiceRule | None,
    sides: Sides,
    seed: int,
    confidence: float,
) -> dict[str, ClaimTest]:
    """What the guesses of each base say of a claim, if there is one."""
    if claim is None:
        return {}
    wanted = chosen(numbers, choice, seed)
    settings: dict[str, Any] = {"choice": wanted, "sides": sides.value, "seed": seed}
    level = share(confidence, len(tables))
    return {name: claim.test(table, confidence=level, **settings) for name, table in tables.items()}


def each(tables: Mapping[str, GuessTable], run: Callable[[str], Finding]) -> dict[str, Finding]:
    """The finding of each base by its name, which a refusal begins with if there are several."""
    from bayes_dp.checks import InputError, show

    found = {}
    for name in tables:
        try:
            found[name] = run(name)
        except InputError as error:
            raise InputError(f"base {show(name)}: {error}" if len(tables) > 1 else str(error)) from None
    return found


def parts(table: GuessTable) -> dict[str, GuessTable]:
    """The table of each base, or all of it if it has none."""
    return {"all": table} if table.base is None else table.by_base()


def share(confidence: float, bounds: int) -> float:
    """The confidence of each of so many bounds that hold together with the given one."""
    from bayes_dp.checks import one_number

    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    return confidence if bounds == 1 else 1 - (1 - confidence) / bounds


def report(
    found: Mapping[str, Finding],
    as_json: bool,
    fail_above: float | None,
    together: float | None = None,
    meaning: bool = False,
    brief: bool = False,
) -> int:
    """Print findings by name, the confidence that they have `together`, and what they mean; returns the exit code,
    which is 1 where memberships contradict what is assumed, whatever the check says."""
    if as_json:
        content = [{"base": name, **finding.to_dict()} for name, finding in found.items()]
        typer.echo(json.dumps(content[0] if len(found) == 1 else content, indent=2))
    else:
        for name, finding in found.items():
            if len(found) > 1:
                typer.echo(f"Base {name}" if name != "all" else "All bases together")
            said = finding.brief() if brief else finding.summary()
            typer.echo(said + ("\n" if len(found) > 1 else ""))
        if together is not None and len(found) > 1:
            typer.echo(f"All of these bounds hold together with confidence {100 * together:g}%.")
    for name, finding in found.items() if meaning else ():
        typer.echo(f"\n{finding.meaning()}" if len(found) == 1 else f"\nBase {name}: {finding.meaning()}", err=as_json)
    code = 0 if fail_above is None else _checked(found, fail_above, as_json)
    for assumed in (wrong := dict.fromkeys(filter(None, map(_contradicted, found.values())))):
        typer.echo(f"bayes-dp: the memberships contradict {assumed}, so the bound is not valid", err=True)
    return 1 if wrong else code


def _contradicted(finding: Finding) -> str:
    """What the memberships contradict, or nothing."""
    rejected = finding.details.get("propensities", {}).get("source") == "rejected"
    return "the propensities" if rejected else finding.details.get("memberships_contradict", "")


def _checked(found: Mapping[str, Finding], fail_above: float, as_json: bool) -> int:
    """Print the outcome of the check and return its exit code."""
    # Bounds of single bases beside one of all are not corrected for their number.
    judged = [found["all"]] if "all" in found else list(found.values())
    highest = max(judged, key=lambda finding: finding.value)
    below = highest.value <= fail_above
    unfit = next((finding.invalid for finding in (highest, *judged) if finding.invalid), "")
    verdict, code = ("FAILED", 1) if not below else ("INCONCLUSIVE", 3) if unfit else ("passed", 0)
    note = f" (it is not valid: {unfit})" if unfit else ""
    bound = f"the bound, {highest.value:.6g}, is {'not ' if below else ''}above {fail_above:g}{note}"
    typer.echo(f"Check {verdict}: {bound}", err=as_json)
    return code
