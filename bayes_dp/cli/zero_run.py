"""The verb audit zero-run: a lower bound for a model that is trained already, from scores with propensities."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.audit import audit, each, parts, report, share
from bayes_dp.cli.claims import claim_given, tell, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    EXPERT,
    FEATURES,
    AsJson,
    Brief,
    Categories,
    ClaimDpSgd,
    ClaimEpsilon,
    Confidence,
    FailAbove,
    FeatureColumns,
    Group,
    How,
    MeaningToo,
    Numbers,
    Scores,
    Seed,
    Side,
    Sides,
    chosen,
    flag,
    number,
    one_of,
    text,
    value_of,
    whole,
)
from bayes_dp.cli.propensity import learned_for

if TYPE_CHECKING:
    from bayes_dp.claims.claim import Claim
    from bayes_dp.cli.audit import Finding
    from bayes_dp.data.guess_table import GuessTable
    from bayes_dp.results.bound import LowerBound

__all__: list[str] = []

_REPLICATES = 600

_EPILOG = """\b
FILE has one row per example of the audit:
  score,member,propensity
  2.31,1,0.62
  -0.4,0,0.35
score       what the attack says: the higher, the more likely a member;
            a column loss instead of it is turned round
member      the truth: 1 or true if the example was in the training set
propensity  the chance of being a member given the example's features, without
            the model; above 0 and below 1
base        a label, if the file holds several audits, each of its own model

\b
Examples:
  bayes-dp audit zero-run scores.csv
  bayes-dp audit zero-run scores.csv --delta 1e-5 --guesses 100,200,400
  bayes-dp audit zero-run scores.csv --family gaussian --delta 1e-5
  bayes-dp audit zero-run scores.csv --features features.npy
  bayes-dp audit zero-run all.csv --features all.csv --feature-columns age,site
With --features the column propensity is not needed: propensities are learned,
from a file with a row of features for each row of FILE.

\b
Exit codes:
  0 done, 1 the memberships contradict the propensities, so that the bound is
  not valid, or the check of --fail-above failed,
  2 bad input (one line on standard error says what is wrong),
  3 the check is inconclusive, as the bound is not valid"""


class Form(StrEnum):
    untampered = "untampered"
    tampered = "tampered"
    compositional = "compositional"


class ZeroRunFamily(StrEnum):
    approx = "approx"
    gaussian = "gaussian"


class Trust(StrEnum):
    cautious = "cautious"
    exact = "exact"


class Ranking(StrEnum):
    aware = "aware"
    score = "score"


ZeroRunDelta = Annotated[
    float | None, number("D", "Bound ε at this δ; by default 0, and for --family gaussian μ is bounded.")
]
FamilyOfZeroRun = Annotated[ZeroRunFamily, one_of(ZeroRunFamily, "(ε, δ)-DP, or Gaussian DP.")]
FormOfBound = Annotated[
    Form | None,
    one_of(Form, "Of the bound; by default untampered for ε at δ = 0, and tampered for all else.", panel=EXPERT),
]
TrustInPropensities = Annotated[
    Trust,
    one_of(
        Trust,
        "exact: the propensities are exact; cautious: they may be more extreme than the truth, at some cost to the"
        " untampered bound.",
        panel=EXPERT,
    ),
]
Directional = Annotated[
    bool,
    flag(
        "--directional/--no-directional",
        "Take nothing off guesses that go against their propensity; --no-directional as in the paper.",
        panel=EXPERT,
    ),
]
Derandomised = Annotated[bool, flag("--derandomised", "No coins for the tampered form, at some cost.", panel=EXPERT)]
LeastPropensity = Annotated[
    float | None,
    number(
        "H",
        "For --form compositional: every propensity is from H to 1-H; by default as in the file.",
        panel=EXPERT,
    ),
]
ShiftDelta = Annotated[
    float, number("D", "For --form compositional: the chance that H fails, per example.", panel=EXPERT)
]
HowRanked = Annotated[
    Ranking,
    one_of(
        Ranking,
        "Prefer guesses of examples whose features tell little (aware), or rank by the score alone.",
        "--ranking",
        panel=EXPERT,
    ),
]
FeaturesToo = Annotated[
    str | None,
    text(
        "FILE",
        "Learn the propensities from these features, as bayes-dp propensity does: a .csv, .tsv, .txt, .parquet or .npy"
        " file. Its rows are joined to those of the scores by the column id, where both files have one, and else are in"
        " the same order. Columns of scores are no features.",
        panel=FEATURES,
    ),
]
Bootstrap = Annotated[
    int | None,
    whole(
        "K",
        "With --features: allow for the error of the propensities, by so many draws (600 by default); 0 does not, and"
        " then the bound is not valid.",
        panel=FEATURES,
    ),
]
JobsOfDraws = Annotated[int | None, whole("N", "With --features: how many processes draw.", panel=FEATURES)]
Checkpoint = Annotated[
    str | None,
    text("FILE", "With --features: keep finished draws here, to go on after a stop.", panel=FEATURES),
]


@audit.command(
    "zero-run", cls=Verb, epilog=_EPILOG, short_help="For a trained model whose members differ from non-members."
)
def zero_run(
    file: Scores,
    delta: ZeroRunDelta = None,
    family: FamilyOfZeroRun = ZeroRunFamily.approx,
    guesses: Numbers = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    features: FeaturesToo = None,
    group: Group = None,
    feature_columns: FeatureColumns = None,
    categories: Categories = None,
    bootstrap: Bootstrap = None,
    jobs: JobsOfDraws = None,
    checkpoint: Checkpoint = None,
    form: FormOfBound = None,
    propensity: TrustInPropensities = Trust.cautious,
    directional: Directional = True,
    derandomised: Derandomised = False,
    overlap: LeastPropensity = None,
    shift_delta: ShiftDelta = 0.0,
    choice: How = None,
    sides: Side = Sides.both,
    ranking: HowRanked = Ranking.aware,
    seed: Seed = 0,
    meaning: MeaningToo = False,
) -> int:
    """Bound ε or μ from below by guesses of members, where members and non-members may differ in their features.

    Given its features, each example must be a member with the probability in the column propensity, or with --features
    with one that can be learned.
    """
    from bayes_dp.checks import InputError
    from bayes_dp.data.files import check_writable
    from bayes_dp.data.other_tools import scores_of

    for option, given in (("--group", group), ("--feature-columns", feature_columns), ("--categories", categories)):
        if given is not None and not features:
            raise InputError(f"{option} is for audits with --features")
    if bootstrap is not None and not features:
        raise InputError("--bootstrap is for audits with --features")
    for option, drawn in (("--jobs", jobs), ("--checkpoint", checkpoint)):
        if drawn is not None and (bootstrap == 0 or not features):
            raise InputError(f"{option} is for audits with --features and a bootstrap")
    if checkpoint is not None:
        check_writable(checkpoint)
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    settings = {
        "delta": delta,
        "family": family.value,
        "form": value_of(form),
        "directional": directional,
        "propensity": propensity.value,
        "choice": chosen(guesses, choice, seed),
        "sides": sides.value,
        "aware": ranking is Ranking.aware,
        "seed": seed,
    }
    table = scores_of(file)[1]
    if features is not None:
        if derandomised or form is Form.compositional or overlap is not None or shift_delta:
            raise InputError("--features is for the untampered form, and the tampered one with coins")
        replicates = _REPLICATES if bootstrap is None else bootstrap
        settings["confidence"] = confidence
        source = (features, group, feature_columns, categories)
        learned = _from_features(table, file, source, settings, replicates, jobs, checkpoint)
        return _told({"all": learned}, claim, as_json, brief, fail_above, meaning)
    if table.propensity is None:
        raise InputError(
            f"{file} must have a column propensity, the chance of being a member given the features, or --features"
        )
    settings |= {"derandomised": derandomised, "overlap": overlap, "shift_delta": shift_delta}
    return _told(_of_bases(table, confidence, settings), claim, as_json, brief, fail_above, meaning, confidence)


def _told(
    found: Mapping[str, Finding],
    claim: Claim | None,
    as_json: bool,
    brief: bool,
    fail_above: float | None,
    meaning: bool,
    together: float | None = None,
) -> int:
    """The bounds, and whether they are above what the claim allows."""
    code = report(found, as_json, fail_above, together, meaning, brief=brief)
    tests = {} if claim is None else {name: claim.test(bound) for name, bound in found.items()}
    return worst(code, tell(tests, as_json))


def _of_bases(table: GuessTable, confidence: float, settings: dict[str, Any]) -> dict[str, Finding]:
    """The bound of each base, all of which hold together, or of the whole table if it has no bases."""
    from bayes_dp.audits.zero_run import zero_run as bound

    tables = parts(table)
    level = share(confidence, len(tables))
    return each(tables, lambda name: bound(tables[name], confidence=level, **settings))


def _from_features(
    table: GuessTable,
    file: str,
    features: tuple[str, str | None, str | None, str | None],
    settings: dict[str, Any],
    replicates: int,
    jobs: int | None,
    checkpoint: str | None,
) -> LowerBound:
    """The bound with propensities that are learned."""
    from bayes_dp.audits.zero_run import zero_run as bound
    from bayes_dp.checks import InputError
    from bayes_dp.propensity import bootstrap as bootstrapped

    if table.base is not None and len(set(table.base)) > 1:
        raise InputError(f"{file} must have one base for --features, not {len(set(table.base))}")
    learned = learned_for(table, file, *features, settings["seed"])
    if replicates == 0:
        return bound(learned.table(table.score), **settings)
    try:
        return bootstrapped(learned, table.score, replicates=replicates, n_jobs=jobs, checkpoint=checkpoint, **settings)
    except KeyboardInterrupt:
        if checkpoint is not None:
            typer.echo(f"bayes-dp: {checkpoint} keeps what is done; the same command goes on", err=True)
        raise
