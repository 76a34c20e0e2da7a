"""The verb plan: how large an experiment has to be for a posterior of a wanted width, or to refute a claim."""

from __future__ import annotations

import json
import os
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    EXPERT,
    AsJson,
    Brief,
    Confidence,
    Delta,
    Examples,
    HowCounted,
    Jobs,
    PriorEpsilon,
    PriorStrength,
    Prob,
    Seed,
    argument,
    number,
    number_or_text,
    one_of,
    text,
    whole,
)
from bayes_dp.cli.program import app, make_folder, png, read_counts

if TYPE_CHECKING:
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.planning.result import Plan
    from bayes_dp.planning.simulated import Experiment

__all__: list[str] = []

_FILES = ("plan.json", "plan.png")

_EPILOG = """\b
FILE has the error counts so far, as for bayes-dp estimate. Without it, say how
large the first experiment is to be, and what you expect:
  bayes-dp plan --bases 10 --challenges 100 --true-epsilon 2 --delta 1e-3 --width 1

\b
Examples:
  bayes-dp plan counts.csv --delta 1e-3 --width 1.0
  bayes-dp plan counts.csv --delta 1e-3 --width 1.0 --vary bases --jobs 4 --out plan
  bayes-dp plan counts.csv --delta 1e-3 --width 1.0 --json > plan.json
To refute a claim, by its epsilon and what you expect instead:
  bayes-dp plan --delta 1e-5 --refute 1 --true-epsilon 2
  bayes-dp plan --delta 1e-5 --refute 1 --rates 0.05,0.6 --by betting

\b
Exit codes:
  0 done, 2 bad input (one line on standard error says what is wrong)"""


class Vary(StrEnum):
    both = "both"
    challenges = "challenges"
    bases = "bases"


class ClaimMethod(StrEnum):
    joint_exact = "joint-exact"
    clopper_pearson = "clopper-pearson"
    accuracy = "accuracy"
    betting = "betting"
    one_run = "one-run"


CountsSoFar = Annotated[str | None, argument("Error counts so far, see below, or - for standard input.")]
Width = Annotated[float | None, number("W", "How wide the interval may be.")]
Refute = Annotated[
    float | None,
    number("EPS", "Instead of --width: how many runs refute that ε is at most EPS, if it is --true-epsilon or more."),
]
Rates = Annotated[
    str | None, text("A,B", "With --refute: the attack's true rates of false positives and false negatives.")
]
By = Annotated[ClaimMethod, one_of(ClaimMethod, "With --refute: the test; betting may be looked at after every pair.")]
Power = Annotated[float, number("P", "With --refute: the probability to refute the claim.", panel=EXPERT)]
Assurance = Annotated[float, number("A", "The share of the simulated experiments that must reach the width.")]
WhatToVary = Annotated[
    Vary, one_of(Vary, "Grow by more challenges of the same bases, by more bases, or tell about both.")
]
FirstBases = Annotated[int | None, whole("N", "Without FILE: challenge bases to begin with.")]
FirstChallenges = Annotated[
    int | None, whole("N", "Without FILE: challenges of each base without the example, and with it.")
]
TrueEpsilon = Annotated[
    Any,
    number_or_text("E|PRIOR", "Without FILE: the ε that is expected, or its distribution; by default the prior."),
]
TrueStrength = Annotated[Any, number_or_text("S|PRIOR", "Without FILE: the same for the strength of the attacks.")]
StrengthOfAnalysis = Annotated[
    Any, number_or_text("free|S", "In the analysis, as for bayes-dp estimate.", panel=EXPERT)
]
Largest = Annotated[float, number("F", "How many times the first size is tried at most.", panel=EXPERT)]
Experiments = Annotated[int, whole("N", "Simulated experiments of each size.", panel=EXPERT)]
PlanFolder = Annotated[str | None, text("DIR", "Also write plan.json and plan.png to this folder.")]


@app.command(cls=Verb, epilog=_EPILOG, short_help="How many challenges or bases a wanted width takes.")
def plan(
    delta: Delta,
    width: Width = None,
    file: CountsSoFar = None,
    prob: Prob = 0.9,
    assurance: Assurance = 0.8,
    vary: WhatToVary = Vary.both,
    bases: FirstBases = None,
    challenges: FirstChallenges = None,
    true_epsilon: TrueEpsilon = None,
    true_strength: TrueStrength = None,
    refute: Refute = None,
    rates: Rates = None,
    by: By = ClaimMethod.joint_exact,
    confidence: Confidence = 0.95,
    design: HowCounted = None,
    examples: Examples = None,
    as_json: AsJson = False,
    brief: Brief = False,
    out: PlanFolder = None,
    strength: StrengthOfAnalysis = "free",
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    largest: Largest = 32.0,
    repetitions: Experiments = 100,
    power: Power = 0.9,
    seed: Seed = 0,
    jobs: Jobs = 1,
) -> int:
    """Find how many challenges or bases give an interval of ε that is narrow enough, by simulation.

    Larger experiments are simulated from what the counts so far say of ε, of the attacks and of the bases. It takes
    minutes: each of the simulated experiments is analysed like a real one.
    """
    from bayes_dp.checks import InputError
    from bayes_dp.planning.plan import plan as make

    if refute is not None:
        if width is not None or file is not None:
            raise InputError("--refute is for plans without --width and without a FILE")
        return _of_claim(refute, delta, true_epsilon, rates, by, power, confidence, as_json, brief)
    if width is None or rates is not None:
        raise InputError("--rates is for --refute" if rates is not None else "--width must be given, or --refute")

    given = _given(
        file,
        {"--bases": bases, "--challenges": challenges},
        {"--true-epsilon": true_epsilon, "--true-strength": true_strength},
        design,
        examples,
    )
    if out is not None:
        make_folder(out, *_FILES)

    found = make(
        given,
        delta,
        width,
        prob=prob,
        assurance=assurance,
        vary=vary.value,
        largest=largest,
        prior_epsilon=prior_epsilon,
        prior_strength=prior_strength,
        strength=strength,
        repetitions=repetitions,
        seed=seed,
        n_jobs=jobs,
    )
    content = json.dumps(found.to_dict(), indent=2)
    typer.echo(content if as_json else found.brief() if brief else found.summary())
    if as_json:
        for sentence in found.warnings:
            typer.echo(f"bayes-dp: warning: {sentence}", err=True)
    if out is not None:
        typer.echo(f"Wrote {' and '.join(_save(out, content, found))}", err=True)
    return 0 if found.complete else 130


def _of_claim(
    epsilon: float,
    delta: float,
    true_epsilon: Any,
    rates: str | None,
    by: Any,
    power: float,
    confidence: float,
    as_json: bool,
    brief: bool,
) -> int:
    """Print how many runs refute a claim."""
    from bayes_dp.checks import InputError, show
    from bayes_dp.planning.claims import plan_claim

    if (rates is None) == (true_epsilon is None):
        raise InputError("--refute needs either --true-epsilon or --rates")
    truth = true_epsilon
    if rates is not None:
        try:
            truth = tuple(float(part) for part in rates.split(","))
        except ValueError:
            raise InputError(f"--rates must be two numbers, such as 0.05,0.6, not {show(rates)}") from None
    elif not isinstance(truth, float):
        raise InputError(f"--true-epsilon must be a number with --refute, not {show(truth)}")
    found = plan_claim(epsilon, delta, truth, power=power, confidence=confidence, method=by.name)
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else found.brief() if brief else found.summary())
    return 0


def _given(
    file: str | None, sizes: dict[str, int | None], truths: dict[str, Any], design: str | None, examples: int | None
) -> ErrorCounts | Experiment:
    """The counts of a file, or the experiment that the options without one tell of."""
    from bayes_dp.checks import InputError
    from bayes_dp.planning.simulated import Experiment

    if file is not None:
        if wrong := [name for name, value in (sizes | truths).items() if value is not None]:
            raise InputError(f"{wrong[0]} is for plans without a FILE, whose counts tell it")
        return read_counts(file, design, examples)
    if missing := [name for name, value in sizes.items() if value is None]:
        raise InputError(f"a FILE of counts is needed, or {missing[0]}")
    if design is not None or examples is not None:
        raise InputError("--design and --examples are for plans from a FILE")
    bases, challenges = (int(value or 0) for value in sizes.values())
    return Experiment(bases, challenges, challenges, *truths.values())


def _save(folder: str, content: str, found: Plan) -> list[str]:
    """Write plan.json and plan.png; returns their paths."""
    from matplotlib.figure import Figure

    from bayes_dp import plots
    from bayes_dp.data.files import write_bytes_atomically, write_text_atomically

    figure = Figure(figsize=(4.8, 3.8), layout="constrained")
    plots.widths(found, figure.subplots())
    paths = [os.path.join(folder, name) for name in _FILES]
    write_text_atomically(paths[0], content + "\n")
    write_bytes_atomically(paths[1], png(figure))
    return paths
