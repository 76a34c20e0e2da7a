"""The verb gate: a verdict on a limit of ε, in the forms that continuous integration reads."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from bayes_dp.cli.claims import claim_given, testable, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    ClaimDpSgd,
    ClaimEpsilon,
    Delta,
    Evidence,
    Examples,
    HowCounted,
    HowMembers,
    NonMembers,
    OfChoice,
    OfGuesses,
    PriorEpsilon,
    PriorStrength,
    Prob,
    Seed,
    Which,
    chosen_for_all,
    flag,
    number,
    one_of,
    text,
)
from bayes_dp.cli.program import app, judged_in, read_control, read_evidence, unwarned, write_or_print

__all__: list[str] = []

_EPILOG = """\b
FILE is as for bayes-dp estimate.

\b
Examples:
  bayes-dp gate counts.csv --delta 1e-5 --epsilon 4 --control noiseless.csv
  bayes-dp gate counts.csv --delta 1e-5 --epsilon 4 --no-control --brief
  bayes-dp gate counts.csv --delta 1e-5 --epsilon 4 --no-control --format junit -o privacy.xml

\b
Exit codes:
  0 it passed, 1 it failed, 3 it is inconclusive,
  2 bad input (one line on standard error says what is wrong)"""


class VerdictForm(StrEnum):
    github = "github"
    junit = "junit"
    sarif = "sarif"
    markdown = "markdown"


LimitOfEpsilon = Annotated[float, number("EPS", "The limit, fixed before the counts were seen.", "--epsilon")]
ControlOfGate = Annotated[
    str | None,
    text(
        "FILE",
        "Error counts, or scores, of the same attack on a training that is known to leak, say without noise. The gate"
        " passes only if their own lower bound exceeds EPS.",
        "--control",
    ),
]
WithoutControl = Annotated[
    bool, flag("--no-control", "Accept attacks that cannot be distinguished from guessing, without a control.")
]
FormOfVerdict = Annotated[
    VerdictForm | None,
    one_of(
        VerdictForm,
        "Annotations of GitHub, XML of JUnit, SARIF 2.1.0, or Markdown for a summary; text by default.",
        "--format",
    ),
]
Brief = Annotated[bool, flag("--brief", "One line.")]
VerdictFile = Annotated[str | None, text("FILE", "Write it to this file instead of standard output.", "--out", "-o")]


@app.command(cls=Verb, epilog=_EPILOG, short_help="Whether ε passes a limit, for continuous integration.")
def gate(
    file: Evidence,
    delta: Delta,
    epsilon: LimitOfEpsilon,
    prob: Prob = 0.9,
    control: ControlOfGate = None,
    no_control: WithoutControl = False,
    form: FormOfVerdict = None,
    brief: Brief = False,
    out: VerdictFile = None,
    design: HowCounted = None,
    examples: Examples = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    guesses: OfGuesses = None,
    choice: OfChoice = None,
    members: HowMembers = None,
    non_members: NonMembers = None,
    which: Which = None,
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    seed: Seed = 0,
) -> int:
    """Judge whether "ε is at most EPS" passed, failed, or is inconclusive, by the errors of attacks.

    It fails where the upper end of the posterior's interval is above EPS, and is inconclusive where something speaks
    against relying on that end.
    """
    from bayes_dp.checks import InputError
    from bayes_dp.data.files import check_writable

    if brief and form is not None:
        raise InputError("--brief and --format exclude each other")
    if out is not None:
        check_writable(out)
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    number = chosen_for_all(guesses, choice, seed)
    given = read_evidence(file, design, examples, choice=number, members=members, non_members=non_members, which=which)
    made_alike: Any = {"choice": number, "members": members, "which": which}
    positive = read_control(control, no_control, epsilon, given, delta, file, **made_alike)
    evidence = judged_in(given, delta, number)[0]

    from bayes_dp.comparison.gate import gate as judge
    from bayes_dp.comparison.verdict_forms import FORMS
    from bayes_dp.comparison.verdict_forms import brief as in_one_line

    options: dict[str, Any] = {"prior_epsilon": prior_epsilon, "prior_strength": prior_strength, "seed": seed}
    with unwarned():
        verdict = judge(evidence, delta, epsilon, prob=prob, control=positive, **options)
    told = f"{in_one_line(verdict)}\n" if brief else f"{verdict}\n"
    if form is not None:
        told = FORMS[form.value](verdict, "standard input" if file == "-" else file)
    if out is None:
        typer.echo(told, nl=False)
    else:
        write_or_print(out, told)
    if claim is None:
        return verdict.exit_code
    tested = claim.test(testable(evidence, delta), confidence=(1 + prob) / 2)
    typer.echo(tested.answer, err=True)
    return worst(verdict.exit_code, tested.exit_code)
