"""The verbs of the posterior: estimate and demo."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import sys
import warnings
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.options import (
    DEFAULT_LIKELIHOOD,
    AsJson,
    ControlFile,
    Counts,
    Likelihood,
    Limit,
    Method,
    NoControl,
    PriorEpsilon,
    PriorStrength,
    Strength,
)
from bayes_dp.cli.program import Design, app, either, make_folder, number, read_control, read_counts, whole

if TYPE_CHECKING:
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

\b
Examples:
  bayes-dp estimate counts.csv --delta 1e-3 --out results
  bayes-dp estimate counts.csv --delta 1e-5 --json > posterior.json
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


_SAMPLER = {GroupForm.hierarchical: Method.nuts, GroupForm.aggregate: Method.mhaar}


@app.command(epilog=_ESTIMATE_EPILOG, short_help="Estimate ε from the error counts of attacks.")
def estimate(
    file: Counts,
    delta: Annotated[
        float,
        typer.Option(
            parser=number,
            metavar="D",
            show_default=False,
            help="The δ of (ε, δ)-differential privacy, from 0 to below 1: a small probability with which the promise "
            "of ε may fail, usually well below one over the number of training examples.",
        ),
    ],
    prob: Annotated[
        float, typer.Option(parser=number, metavar="P", help="The probability that the printed intervals hold.")
    ] = 0.9,
    strength: Strength = "free",
    likelihood: Annotated[
        Likelihood,
        typer.Option(
            metavar=either(Likelihood),
            help="Of the counts given the error rates: binomial for independent runs; the others have parameters for"
            " the correlation of cross-fed ones.",
        ),
    ] = DEFAULT_LIKELIHOOD,
    method: Annotated[
        Method | None,
        typer.Option(
            metavar=either(Method),
            show_default=False,
            help="exact integrates numerically, and is the default for the binomial likelihood; mhaar samples by Markov"
            " chain Monte Carlo, and is that for the others; nuts does so by Hamiltonian Monte Carlo. With --groups the"
            " default is the one that samples the form: nuts hierarchical, mhaar aggregate.",
        ),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The attacks are dependent: bases with the same label in this column share an example, or are several"
            " attacks on one base.",
        ),
    ] = None,
    group_form: Annotated[
        GroupForm | None,
        typer.Option(
            metavar=either(GroupForm),
            show_default=False,
            help="With --groups: hierarchical, the default, samples the rates of every base around its group's centre;"
            " aggregate, the default with --method mhaar, adds up the counts of a group, which is faster.",
        ),
    ] = None,
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    design: Annotated[
        Design | None,
        typer.Option(
            metavar=either(Design),
            help="How the counts arose: from repeated, independent runs; from runs cross-fed to each other as shadow "
            "models; or from many examples judged on one model. By default as a JSON file says, or repeated.",
        ),
    ] = None,
    examples: Annotated[
        int | None,
        typer.Option(
            parser=whole, metavar="M", help="With --design one_run: how many examples were judged or passed over."
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(parser=whole, metavar="N", help="Seed of all draws: the same seed, the same output.")
    ] = 0,
    as_json: AsJson = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Also tell whether the model fits the counts: their scatter, the spread of the bases, and the"
            " leave-one-out score that compares likelihoods.",
        ),
    ] = False,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="DIR", help="Also write posterior.json and posterior.png to this folder, made if missing."
        ),
    ] = None,
    fail_above: Limit = None,
    control: ControlFile = None,
    no_control: NoControl = False,
) -> int:
    """Estimate ε from the error counts of membership inference attacks.

    Prints the posterior of ε given the counts and δ, with the assumptions it rests on.
    """
    from bayes_dp.checks import InputError, one_number, seed_of

    one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    seed_of(seed)
    form = _form(groups, group_form, method)
    counts = read_counts(file, design.value if design else None, examples, groups)
    positive = read_control(control, no_control, fail_above, counts, file)
    if check and form is GroupForm.hierarchical:
        raise InputError("--check is not made for the hierarchical form of --groups; take --group-form aggregate")
    if out is not None:
        make_folder(out, *_FILES)

    from bayes_dp.bayes.convergence import ConvergenceWarning
    from bayes_dp.bayes.estimate import estimate as infer

    settings: dict[str, Any] = {} if form is None else {"groups": form.value}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its sentences are printed with the result
        post = infer(
            counts,
            delta,
            prior_epsilon=prior_epsilon,
            prior_strength=prior_strength,
            strength=strength,
            likelihood=likelihood.value,
            method=method.value if method else None,
            seed=seed,
            **settings,
        )
    content = post.to_dict(prob)
    found = None
    if check:
        from bayes_dp.bayes.checks.model_check import check as check_model

        found = check_model(post, seed=seed)
        content["check"] = found.to_dict()
    verdict = None
    if fail_above is not None:
        from bayes_dp.comparison.gate import valid_bounds
        from bayes_dp.comparison.verdict import judge

        bounds = valid_bounds(counts, delta, prob)
        verdict = judge(post, counts, fail_above, prob, bounds=bounds, control=positive, checked=found, seed=seed)
        content |= {"verdict": verdict.verdict, "reason": verdict.reason, "fail_above": verdict.to_dict()}
    text = json.dumps(content, indent=2)
    if as_json:
        typer.echo(text)
        for sentence in post.warnings:
            typer.echo(f"bayes-dp: warning: {sentence}", err=True)
    else:
        _print_summary(post, prob)
        if found is not None:
            typer.echo(f"\n{found}")
    if verdict is not None:
        typer.echo(str(verdict), err=as_json)
    if out is not None:  # last, since what cannot be written must not keep the answer from being printed
        typer.echo(f"Wrote {' and '.join(_save(out, text, post, prob, seed))}", err=True)
    return 0 if verdict is None else verdict.exit_code


@app.command(short_help="Estimate ε on bundled data and save a figure.")
def demo(
    out: Annotated[
        str, typer.Option(metavar="DIR", help="The folder for the files, made if missing.")
    ] = "bayes-dp-demo",
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


def _form(groups: str | None, form: GroupForm | None, method: Method | None) -> GroupForm | None:
    """The form of the groups, by default the one that the method samples; None without groups."""
    from bayes_dp.checks import InputError

    if groups is None:
        if form is not None:
            raise InputError("--group-form needs --groups COLUMN, the column that says which bases are dependent")
        return None
    if method is Method.exact:
        raise InputError("--groups is sampled, by --method nuts or mhaar, and --method exact does not sample")
    if form is None:
        return GroupForm.aggregate if method is Method.mhaar else GroupForm.hierarchical
    if method not in (None, _SAMPLER[form]):
        raise InputError(
            f"--group-form {form.value} is sampled by --method {_SAMPLER[form].value}, not by --method {method.value};"
            " leave one of the two out"
        )
    return form


def _save(folder: str, text: str, post: Posterior, prob: float, seed: int) -> list[str]:
    """Write posterior.json and posterior.png; returns their paths."""
    from bayes_dp.data.files import write_bytes_atomically, write_text_atomically

    paths = [os.path.join(folder, name) for name in _FILES]
    write_text_atomically(paths[0], text + "\n")
    write_bytes_atomically(paths[1], _figure(post, prob, seed))
    return paths


def _figure(post: Posterior, prob: float, seed: int) -> bytes:
    """A PNG of the posterior of ε and, where the strength is free, of both together."""
    import io

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from bayes_dp import plots

    panels = 2 if "strength" in post.marginals else 1
    figure = Figure(figsize=(4.8 * panels, 3.8), layout="constrained")
    axes = figure.subplots(1, panels, squeeze=False)[0]
    plots.posterior(post, axes[0], prob=prob)
    if panels == 2:
        plots.joint(post, axes[1], seed=seed)
    content = io.BytesIO()
    FigureCanvasAgg(figure)
    figure.savefig(content, format="png", dpi=150)
    return content.getvalue()


def _print_summary(post: Posterior, prob: float) -> None:
    if not sys.stdout.isatty():
        typer.echo(post.summary(prob))
        return
    from rich.console import Console
    from rich.table import Table

    known = ", ".join(f"{name} = {value:g}" for name, value in post.provenance.known.items())
    table = Table(title=f"Posterior given {known} ({post.provenance.method})", title_justify="left", title_style="bold")
    for heading in ("", "mean", "sd", "median", f"{prob * 100:g}% interval", f"{prob * 100:g}% HDI"):
        table.add_column(heading, justify="right" if heading in ("mean", "sd", "median") else "left")
    for row in post.table(prob):
        ends = (f"{row[low]:.4g} to {row[high]:.4g}" for low, high in (("low", "high"), ("hdi_low", "hdi_high")))
        table.add_row(row["parameter"], *(f"{row[key]:.4g}" for key in ("mean", "sd", "median")), *ends)
    console = Console(highlight=False)
    console.print(table)
    console.print("Assumptions:", *(f"- {sentence}" for sentence in post.assumptions), sep="\n", markup=False)
    console.print(f"Caution: {post.high_end(prob)}", markup=False)
    for sentence in post.warnings:
        console.print(f"Warning: {sentence}", style="bold yellow", markup=False)
