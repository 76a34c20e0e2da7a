"""The verbs of audit from repeated runs: of error counts, and of the scores of one base's runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.audit import audit, report
from bayes_dp.cli.claims import claim_given, tell, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    EXPERT,
    AsJson,
    Brief,
    ClaimDpSgd,
    ClaimEpsilon,
    Confidence,
    Counts,
    Delta,
    Examples,
    FailAbove,
    HowCounted,
    MeaningToo,
    argument,
    flag,
    one_of,
    text,
    whole,
)
from bayes_dp.cli.program import read_counts

if TYPE_CHECKING:
    from bayes_dp.audits.profile import Profile
    from bayes_dp.results.bound import LowerBound

__all__: list[str] = []


class Interval(StrEnum):
    clopper_pearson = "clopper-pearson"
    jeffreys = "jeffreys"
    katz = "katz"
    accuracy = "accuracy"
    joint_beta = "joint-beta"
    joint_exact = "joint-exact"


class BandOfRates(StrEnum):
    equal = "equal"
    dkw = "dkw"


class Combination(StrEnum):
    adaptive = "adaptive"
    bonferroni = "bonferroni"
    hommel = "hommel"
    simes = "simes"
    fisher = "fisher"
    pooled = "pooled"
    accuracy = "accuracy"
    mean_e = "mean-e"


OfRates = Annotated[Interval, one_of(Interval, "Which interval; clopper-pearson, accuracy and joint-exact are exact.")]
OfBases = Annotated[
    Combination | None,
    one_of(
        Combination,
        "The rule, chosen before any bound was seen. By default adaptive for independent bases, otherwise bonferroni.",
        panel=EXPERT,
    ),
]
Apart = Annotated[
    bool, flag("--independent", "No run, seed or data beside the examples serves two bases. It cannot be tested.")
]
AtLeast = Annotated[int, whole("K", "Bound what at least K of the bases leak.", panel=EXPERT)]
TwoSided = Annotated[
    bool, flag("--two-sided", "An upper end too, which bounds what this attack achieves.", panel=EXPERT)
]


@audit.command("intervals", cls=Verb, short_help="Intervals of the error rates of repeated runs.")
def intervals(
    file: Counts,
    delta: Delta,
    method: OfRates = Interval.clopper_pearson,
    confidence: Confidence = 0.95,
    design: HowCounted = None,
    examples: Examples = None,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    two_sided: TwoSided = False,
    meaning: MeaningToo = False,
) -> int:
    """Bound ε from below by intervals of the error rates of repeated, independent runs, base by base and together.

    FILE is as for bayes-dp estimate.
    """
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    counts = read_counts(file, design, examples)

    from bayes_dp import audits
    from bayes_dp.checks import InputError

    run = getattr(audits, method.name)
    settings: dict[str, Any] = {"confidence": confidence}
    if two_sided:
        if method not in (Interval.clopper_pearson, Interval.jeffreys, Interval.katz):
            raise InputError(f"--two-sided is not for --method {method.value}")
        settings["two_sided"] = True
    if method is Interval.joint_beta and fail_above is not None:
        raise InputError("--fail-above is for bounds, and joint-beta gives a posterior; see bayes-dp estimate")
    found = {}
    if len(counts) > 1:
        labels = counts.base or tuple(map(str, range(len(counts))))
        found = {f"{i} ({label})": run(counts[i], delta, **settings) for i, label in enumerate(labels)}
    if len(counts) == 1 or method is not Interval.joint_beta:
        found["all"] = run(counts, delta, **settings)
    code = report(found, as_json, fail_above, meaning=meaning, brief=brief)
    return code if claim is None else worst(code, tell({"all": claim.test(counts, confidence=confidence)}, as_json))


@audit.command("combine", cls=Verb, short_help="One bound from the error counts of several bases.")
def combine(
    file: Counts,
    delta: Delta,
    independent: Apart = False,
    confidence: Confidence = 0.95,
    design: HowCounted = None,
    examples: Examples = None,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    rule: OfBases = None,
    at_least: AtLeast = 1,
    meaning: MeaningToo = False,
) -> int:
    """Bound ε from below by the error counts of all bases together, by a rule for combining tests.

    The test of each base is the one called joint-exact elsewhere. A claim is tested by the bound.

    FILE is as for bayes-dp estimate.
    """
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    counts = read_counts(file, design, examples)

    from bayes_dp.audits.combine import combine as bound

    found = bound(
        counts,
        delta,
        confidence=confidence,
        dependence="independent" if independent else "any",
        method=None if rule is None else rule.name,
        at_least=at_least,
    )
    code = report({"all": found}, as_json, fail_above, meaning=meaning, brief=brief)
    return code if claim is None else worst(code, tell({"all": claim.test(found)}, as_json))


@audit.command("profile", cls=Verb, short_help="Epsilon at every delta from the scores of one base's runs.")
def profile(
    file: Annotated[str, argument("Scores of runs, with the columns score and member: see the docs.")],
    delta: Annotated[str | None, text("D[,D...]", "The values of δ to print bounds for; all hold together.")] = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    band: Annotated[
        BandOfRates, one_of(BandOfRates, "Bounds of the error rates: Clopper-Pearson, or of one width.", panel=EXPERT)
    ] = BandOfRates.equal,
    meaning: MeaningToo = False,
) -> int:
    """Bound ε at every δ at once, from scores of runs with the example and of runs without it.

    FILE has one row for each run: its score, high for "with", and whether it was with the example (member 1 or 0). The
    runs must be independent: scores of the examples of one model are for bayes-dp audit one-run.
    """
    from bayes_dp.audits.profile import profile as find
    from bayes_dp.checks import InputError, show
    from bayes_dp.data.guess_table import GuessTable

    try:
        deltas = [float(part) for part in (delta or "").split(",") if part.strip()]
    except ValueError:
        raise InputError(f"--delta must be numbers separated by commas, such as 1e-5,1e-3, not {show(delta)}") from None
    if fail_above is not None and len(deltas) != 1:
        raise InputError("--fail-above is for a single --delta")
    if claim_epsilon is not None and len(deltas) != 1:
        raise InputError("--claim-epsilon is for a single --delta")
    claim = claim_given(claim_epsilon, claim_dp_sgd, deltas[0] if len(deltas) == 1 else None)
    found = find(GuessTable.read(file), confidence=confidence, band=band.value)
    bounds = {f"{d:g}": found.bound(d) for d in deltas}
    if len(bounds) == 1:
        code = report({"all": found.bound(deltas[0])}, as_json, fail_above, meaning=meaning, brief=brief)
    else:
        code = _all_of_it(found, bounds, as_json, brief, meaning)
    return code if claim is None else worst(code, tell({"all": claim.test(found)}, as_json))


def _all_of_it(found: Profile, bounds: Mapping[str, LowerBound], as_json: bool, brief: bool, meaning: bool) -> int:
    """Print the bounds at several δ, or the profile where none was asked for."""
    if as_json:
        content = [each.to_dict() for each in bounds.values()]
        typer.echo(json.dumps(content or found.to_dict(), indent=2))
    else:
        typer.echo(
            "\n".join(
                [*(each.statement() for each in bounds.values()), str(found.brief() if brief else found.summary())]
            )
        )
    for name, each in bounds.items() if meaning else ():
        typer.echo(f"\nAt delta = {name}: {each.meaning()}", err=as_json)
    return 0
