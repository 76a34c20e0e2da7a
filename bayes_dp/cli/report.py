"""The verb report: a whole analysis as one file for a reader who was not there."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from bayes_dp.cli.claims import claim_given, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    DEFAULT_LIKELIHOOD,
    Chains,
    ClaimDpSgd,
    ClaimEpsilon,
    ControlFile,
    Delta,
    Draws,
    Evidence,
    Examples,
    HowCounted,
    HowMembers,
    LikelihoodOfCounts,
    Limit,
    MethodOfPosterior,
    NoControl,
    NonMembers,
    OfChoice,
    OfGuesses,
    PriorEpsilon,
    PriorStrength,
    Prob,
    ScoresToo,
    Seed,
    Strength,
    Warmup,
    Which,
    chosen_for_all,
    flag,
    of_sampler,
    one_of,
    text,
    value_of,
)
from bayes_dp.cli.program import (
    app,
    read_control,
    read_evidence,
    read_scores,
    unwarned,
    write_or_print,
)

__all__: list[str] = []

_EPILOG = """\b
FILE is as for bayes-dp estimate.

\b
Examples:
  bayes-dp report counts.csv --delta 1e-3 -o report.html
  bayes-dp report counts.csv --delta 1e-3 --design cross_fed --likelihood bivariate_normal -o report.html
  bayes-dp report counts.csv --delta 1e-3 --format markdown > report.md
  bayes-dp report scores.csv --delta 1e-5 --claim-epsilon 1 -o report.html

\b
Exit codes:
  0 done, and the gate of --fail-above passed, 1 it failed, 3 it is inconclusive,
  2 bad input (one line on standard error says what is wrong)"""


class Format(StrEnum):
    html = "html"
    markdown = "markdown"
    json = "json"


ReportFile = Annotated[
    str | None, text("FILE", "Write to this .html, .md or .json file instead of standard output.", "--out", "-o")
]
FormOfReport = Annotated[
    Format | None,
    one_of(Format, "The form; by default that of the suffix of FILE, and html on standard output.", "--format"),
]
ModelCard = Annotated[
    bool, flag("--model-card", "One section for a model card, in Markdown, in the place of the report.")
]
Title = Annotated[str | None, text("TEXT", "The heading.")]


@app.command(cls=Verb, epilog=_EPILOG, short_help="A whole analysis as one file, for a reader who was not there.")
def report(
    file: Evidence,
    delta: Delta,
    out: ReportFile = None,
    form: FormOfReport = None,
    model_card: ModelCard = False,
    title: Title = None,
    prob: Prob = 0.9,
    design: HowCounted = None,
    examples: Examples = None,
    fail_above: Limit = None,
    control: ControlFile = None,
    no_control: NoControl = False,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    guesses: OfGuesses = None,
    choice: OfChoice = None,
    members: HowMembers = None,
    non_members: NonMembers = None,
    which: Which = None,
    scores: ScoresToo = None,
    strength: Strength = "free",
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    likelihood: LikelihoodOfCounts = DEFAULT_LIKELIHOOD,
    method: MethodOfPosterior = None,
    chains: Chains = None,
    draws: Draws = None,
    warmup: Warmup = None,
    seed: Seed = 0,
) -> int:
    """Write a report of the whole analysis: an HTML page that needs nothing else, Markdown, or JSON.

    It says what the counts show of ε, beside every lower bound that applies; whether the model fits; how much depends
    on priors and strength; what it rests on; and how to repeat it. Lower bounds have the confidence (1 + P)/2.
    """
    from bayes_dp.checks import InputError
    from bayes_dp.data.files import check_writable
    from bayes_dp.reporting.report import format_of
    from bayes_dp.reporting.report import report as assemble

    if model_card and (form is not None or (out is not None and format_of(out) != "markdown")):
        raise InputError("--model-card is Markdown: leave --format out, and let FILE end in .md")
    if out is not None:
        check_writable(out)
    wanted: Any = form.value if form else format_of(out) if out is not None else "html"
    settings = of_sampler([likelihood], method, chains=chains, draws=draws, warmup=warmup)
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    number = chosen_for_all(guesses, choice, seed)
    given = read_evidence(file, design, examples, choice=number, members=members, non_members=non_members, which=which)
    made_alike: Any = {"choice": number, "members": members, "which": which}
    positive = read_control(control, no_control, fail_above, given, delta, file, **made_alike)
    more: dict[str, Any] = {} if fail_above is None else {"limit": fail_above, "control": positive}
    if number is not None:
        more["choice"] = number
    if scores is not None:
        more["scores"] = read_scores(scores)
    if claim is not None:
        more["claim"] = claim
    with unwarned():
        made = assemble(
            given,
            delta,
            prob=prob,
            prior_epsilon=prior_epsilon,
            prior_strength=prior_strength,
            strength=strength,
            likelihood=likelihood.value,
            method=value_of(method),
            seed=seed,
            title=title,
            source=file,
            **more,
            **settings,
        )
        text = made.model_card + "\n" if model_card else made.text(wanted)
    try:
        if out is None:
            typer.echo(text, nl=False)
        else:
            write_or_print(out, text)
            typer.echo(f"Wrote {out}", err=True)
    finally:
        for sentence in made.posterior.warnings:
            typer.echo(f"bayes-dp: warning: {sentence}", err=True)
    verdict, tested = made.findings.verdict, made.findings.comparison.claim
    if verdict is not None:
        typer.echo(str(verdict), err=True)
    if tested is not None:
        typer.echo(tested.answer, err=True)
    return worst(*(each.exit_code for each in (verdict, tested) if each is not None))
