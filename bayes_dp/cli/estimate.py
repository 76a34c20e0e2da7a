"""The verbs of the posterior: estimate and demo."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.bayes.families.registry import APPROX, AVERAGE, NAMES
from bayes_dp.cli.claims import claim_given, tell, testable, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    DEFAULT_FAMILY,
    DEFAULT_LIKELIHOOD,
    EXPERT,
    AsJson,
    Brief,
    Chains,
    ClaimDpSgd,
    ClaimEpsilon,
    ControlFile,
    Draws,
    EstimateMethod,
    Evidence,
    Examples,
    Family,
    FamilyName,
    HowCounted,
    HowMembers,
    LikelihoodOfCounts,
    Limit,
    MeaningToo,
    MethodOfPosterior,
    NoControl,
    NonMembers,
    OfChoice,
    OfGuesses,
    OptionalDelta,
    PriorEpsilon,
    PriorOfFamily,
    PriorStrength,
    Prob,
    Seed,
    Spread,
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
from bayes_dp.cli.program import app, judged_in, make_folder, png, read_control, read_evidence, unwarned

if TYPE_CHECKING:
    from bayes_dp.bayes.checks.model_check import ModelCheck
    from bayes_dp.claims.result import ClaimTest
    from bayes_dp.comparison.verdict import Verdict
    from bayes_dp.results.posterior import Posterior

__all__: list[str] = []

_DEMO_DELTA = 1e-3
_FILES = ("posterior.json", "posterior.png")

_ESTIMATE_EPILOG = """\b
FILE has one row per challenge base (a data set, and an example in or out of it):
  base,fp,n0,fn,n1
  image-17,40,1000,650,1000
  image-42,12,1000,900,1000
n0  attacks on models trained without the example
fp  how many of these said "trained with it"      (false positives)
n1  attacks on models trained with the example
fn  how many of these said "trained without it"   (false negatives)
The headings tp,fp,tn,fn and false_positives,negatives,false_negatives,positives
are read too; base and group are labels and may be missing.
Or it has the scores of one model's examples, as for bayes-dp audit one-run.

\b
Examples:
  bayes-dp estimate counts.csv --delta 1e-3 --out results
  bayes-dp estimate counts.csv --delta 1e-5 --json > posterior.json
  bayes-dp estimate counts.csv --delta 1e-5 --family gaussian
  bayes-dp estimate counts.csv --delta 1e-5 --groups image --check --group-form aggregate
  bayes-dp estimate counts.csv --delta 1e-5 --prob 0.95 --fail-above 4 --control noiseless.csv
The last is a gate for continuous integration: it fails when ε may be above 4, and
passes only if the same attack sees more than that in a training without noise.

\b
Exit codes:
  0 done, and the gate of --fail-above passed, 1 it failed, 3 it is inconclusive,
  2 bad input (one line on standard error says what is wrong)"""


class GroupForm(StrEnum):
    hierarchical = "hierarchical"
    aggregate = "aggregate"


_SAMPLER = {GroupForm.hierarchical: EstimateMethod.nuts, GroupForm.aggregate: EstimateMethod.mhaar}

Groups = Annotated[
    str | None,
    text(
        "COLUMN",
        "The attacks are dependent: bases with the same label in this column share an example, or are several attacks"
        " on one base.",
        panel=EXPERT,
    ),
]
FormOfGroups = Annotated[
    GroupForm | None,
    one_of(
        GroupForm,
        "With --groups: hierarchical, the default, samples the rates of every base around its group's centre, by nuts;"
        " aggregate, the default with --method mhaar, adds up the counts of a group, which is faster.",
        panel=EXPERT,
    ),
]
Check = Annotated[
    bool,
    flag(
        "--check",
        "Also tell whether the model fits the counts.",
    ),
]
PosteriorFolder = Annotated[str | None, text("DIR", "Also write posterior.json and posterior.png to this folder.")]


@app.command(cls=Verb, epilog=_ESTIMATE_EPILOG, short_help="Estimate ε from the error counts of attacks.")
def estimate(
    file: Evidence,
    delta: OptionalDelta = None,
    prob: Prob = 0.9,
    design: HowCounted = None,
    examples: Examples = None,
    check: Check = False,
    as_json: AsJson = False,
    out: PosteriorFolder = None,
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
    family: Family = DEFAULT_FAMILY,
    prior: PriorOfFamily = None,
    strength: Strength = "free",
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    likelihood: LikelihoodOfCounts = DEFAULT_LIKELIHOOD,
    groups: Groups = None,
    group_form: FormOfGroups = None,
    spread: Spread = None,
    method: MethodOfPosterior = None,
    chains: Chains = None,
    draws: Draws = None,
    warmup: Warmup = None,
    seed: Seed = 0,
    brief: Brief = False,
    meaning: MeaningToo = False,
) -> int:
    """Estimate ε from the error counts of membership inference attacks.

    Prints the posterior of ε given the counts and δ, with the assumptions it rests on.
    """
    from bayes_dp.checks import InputError, one_number, seed_of

    one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    seed_of(seed)
    _check_family(family, delta, prior, check, fail_above)
    form = _form(groups, group_form, spread, method)
    sampler = method if form is None else _SAMPLER[form]
    settings = of_sampler([likelihood], sampler, chains=chains, draws=draws, warmup=warmup)
    if form is not None:
        settings |= {"groups": form.value, "spread": spread}
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    wanted = chosen_for_all(guesses, choice, seed)
    given = read_evidence(
        file, design, examples, groups, choice=wanted, members=members, non_members=non_members, which=which
    )
    evidence, counts = judged_in(given, delta, wanted)
    made_alike: Any = {"choice": wanted, "members": members, "which": which}
    positive = read_control(control, no_control, fail_above, given, delta, file, **made_alike)
    if check and form is GroupForm.hierarchical:
        raise InputError("--check is not made for the hierarchical form of --groups; take --group-form aggregate")
    if out is not None:
        make_folder(out, *_FILES)

    from bayes_dp.bayes.estimate import estimate as infer

    with unwarned():
        post = infer(
            evidence,
            delta,
            family=family.value,
            prior=prior,
            prior_epsilon=prior_epsilon,
            prior_strength=prior_strength,
            strength=strength,
            likelihood=likelihood.value,
            method=value_of(method),
            seed=seed,
            **settings,
        )
    found = None
    if check:
        from bayes_dp.bayes.checks.model_check import check as check_model

        found = check_model(post, seed=seed)
    verdict = None
    if fail_above is not None and delta is not None:
        from bayes_dp.comparison.gate import valid_bounds
        from bayes_dp.comparison.verdict import judge

        bounds = valid_bounds(evidence, delta, prob)
        verdict = judge(post, counts, fail_above, prob, bounds=bounds, control=positive, checked=found, seed=seed)
    tested = None if claim is None else claim.test(testable(evidence, delta))
    told = None if claim is None or delta is None else claim.test(post)
    content = json.dumps(_content(post, prob, found, verdict) | _of_claim(tested, told), indent=2)
    _print(post, prob, found, verdict, content if as_json else None, brief)
    if meaning:
        typer.echo(f"\n{post.meaning(prob)}", err=as_json)
    if out is not None:  # last, since what cannot be written must not keep the answer from being printed
        typer.echo(f"Wrote {' and '.join(_save(out, content, post, prob, seed))}", err=True)
    code = tell({"all": tested}, as_json)
    if told is not None:
        typer.echo(told.answer, err=as_json)
    return worst(code, 0 if verdict is None else verdict.exit_code)


@app.command(cls=Verb, short_help="Estimate ε on bundled data and save a figure.")
def demo(
    out: Annotated[str, text("DIR", "The folder for the files, made if missing.")] = "bayes-dp-demo",
) -> int:
    """Estimate ε on bundled data, and save a figure, the numbers and the data.

    The data are attacks on a small network trained on MNIST with noise added to its weights, 20 challenge bases of
    100 + 100 runs each (algorithm A4 of Yildirim et al., 2025).
    """
    from bayes_dp import datasets
    from bayes_dp.bayes.estimate import estimate as infer
    from bayes_dp.data.files import write_bytes_atomically

    make_folder(out, "counts.csv", *_FILES)
    counts = datasets.mnist_a4()
    post = infer(counts, _DEMO_DELTA)
    typer.echo("Attacks on a small network trained on MNIST (algorithm A4 of Yildirim et al., 2025)")
    typer.echo(f"{counts!r}\n")
    _print_summary(post, 0.9)
    copy = os.path.join(out, "counts.csv")
    write_bytes_atomically(copy, datasets.demo_csv().read_bytes())
    saved = [copy, *_save(out, json.dumps(post.to_dict(), indent=2), post, 0.9, 0)]
    program = "bayes-dp" if shutil.which("bayes-dp") else sys.argv[0]
    again = [program, "estimate", copy, "--delta", f"{_DEMO_DELTA:g}", "--design", counts.design, "--out", out]
    typer.echo(f"\nWrote {', '.join(saved)}\nThe same from the file:  {shlex.join(again)}")
    return 0


def _check_family(
    family: FamilyName, delta: float | None, prior: str | None, check: bool, fail_above: float | None
) -> None:
    """Refuse what goes with some families only."""
    from bayes_dp.checks import InputError

    if family in (APPROX, AVERAGE):
        *first, last = NAMES
        if delta is None:
            only = f"{', '.join(first)} and {last}"
            raise InputError(f"missing option '--delta', without which there are only --family {only}")
        if prior is not None:
            single = f"{', '.join(first)} or {last}"
            raise InputError(f"--prior is for --family {single}; the prior of ε is --prior-epsilon")
    if family != APPROX:
        for option, given in (("--check", check), ("--fail-above", fail_above is not None)):
            if given:
                raise InputError(f"{option} is for the posterior of (ε, δ), and not for --family {family.value}")


def _form(groups: str | None, form: GroupForm | None, spread: Any, method: EstimateMethod | None) -> GroupForm | None:
    """The form of the groups, by default the one that the method samples; None without groups."""
    from bayes_dp.checks import InputError

    if groups is None:
        for option, given in (("--group-form", form), ("--spread", spread)):
            if given is not None:
                raise InputError(f"{option} needs --groups COLUMN, the column that says which bases are dependent")
        return None
    if method is EstimateMethod.exact:
        raise InputError("--groups is sampled, by --method nuts or mhaar, and --method exact does not sample")
    if form is None:
        return GroupForm.aggregate if method is EstimateMethod.mhaar else GroupForm.hierarchical
    if method not in (None, _SAMPLER[form]):
        raise InputError(
            f"--group-form {form.value} is sampled by --method {_SAMPLER[form].value}, not by --method {method.value};"
            " leave one of the two out"
        )
    return form


def _content(post: Posterior, prob: float, checked: ModelCheck | None, verdict: Verdict | None) -> dict[str, Any]:
    """What --json prints; of guesses not the scores and memberships of all examples, as logs keep what is printed."""
    content = post.to_dict(prob)
    if post.format == "bayes-dp/shifted/1":
        content["asked"] = None
    if checked is not None:
        content["check"] = checked.to_dict()
    if verdict is not None:
        content |= {"verdict": verdict.verdict, "reason": verdict.reason, "fail_above": verdict.to_dict()}
    return content


def _of_claim(tested: ClaimTest | None, told: ClaimTest | None) -> dict[str, Any]:
    """What --json prints of a claim: what the counts say, and the posterior."""
    if tested is None:
        return {}
    return {"claim": tested.to_dict(), "prob_claim_is_wrong": None if told is None else told.prob_above}


def _print(
    post: Posterior, prob: float, checked: ModelCheck | None, verdict: Verdict | None, content: str | None, brief: bool
) -> None:
    """Print the content if it is given, and the summaries otherwise."""
    if content is None:
        _print_summary(post, prob, brief)
        if checked is not None:
            typer.echo(f"\n{checked}")
    else:
        typer.echo(content)
        for sentence in post.warnings:
            typer.echo(f"bayes-dp: warning: {sentence}", err=True)
    if verdict is not None:
        typer.echo(str(verdict), err=content is not None)


def _save(folder: str, content: str, post: Posterior, prob: float, seed: int) -> list[str]:
    """Write posterior.json and posterior.png; returns their paths."""
    from bayes_dp.data.files import write_bytes_atomically, write_text_atomically

    paths = [os.path.join(folder, name) for name in _FILES]
    write_text_atomically(paths[0], content + "\n")
    write_bytes_atomically(paths[1], _figure(post, prob, seed))
    return paths


def _figure(post: Posterior, prob: float, seed: int) -> bytes:
    """A PNG of the posterior of ε and, where the strength is free, of both together."""
    from matplotlib.figure import Figure

    from bayes_dp import plots

    panels = 2 if "strength" in post.marginals else 1
    figure = Figure(figsize=(4.8 * panels, 3.8), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    plots.posterior(post, axes[0], prob=prob)
    if panels == 2:
        plots.joint(post, axes[1], seed=seed)
    return png(figure)


def _print_summary(post: Posterior, prob: float, brief: bool = False) -> None:
    if brief or not sys.stdout.isatty():
        typer.echo(post.brief(prob) if brief else post.summary(prob))
        return
    from rich.console import Console
    from rich.table import Table

    shown = post._rows(prob)
    table = Table(title=shown.caption, title_justify="left", title_style="bold")
    for heading, side in zip(shown.headings, shown.sides, strict=True):
        table.add_column(heading, justify="right" if side == "r" else "left")
    for row in shown.rows:
        table.add_row(*row)
    console = Console(highlight=False)
    console.print(table)
    console.print("Assumptions:", *(f"- {sentence}" for sentence in post.assumptions), sep="\n", markup=False)
    console.print(f"Caution: {post.high_end(prob)}", markup=False)
    for sentence in post.warnings:
        console.print(f"Warning: {sentence}", style="bold yellow", markup=False)
