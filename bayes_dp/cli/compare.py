"""The verb compare: all methods on the same counts."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.claims import claim_given, tell, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    EXPERT,
    AsJson,
    Baseline,
    Brief,
    Chains,
    ClaimDpSgd,
    ClaimEpsilon,
    Confidence,
    ControlFile,
    Delta,
    Draws,
    Evidence,
    Examples,
    HowCounted,
    HowMembers,
    Likelihood,
    Limit,
    MeaningToo,
    NoControl,
    NonMembers,
    OfChoice,
    OfGuesses,
    Overlap,
    PriorEpsilon,
    PriorStrength,
    SafeCells,
    ScoresToo,
    Warmup,
    Which,
    chosen_for_all,
    flag,
    is_sampled,
    of_sampler,
    one_of,
    text,
)
from bayes_dp.cli.program import (
    app,
    judged_in,
    make_folder,
    read_control,
    read_counts,
    read_evidence,
    read_scores,
    unwarned,
)

if TYPE_CHECKING:
    from bayes_dp.data.counts import ErrorCounts
    from bayes_dp.data.guesses import Guesses
    from bayes_dp.results.posterior import Posterior

__all__: list[str] = []

_FILES = ("comparison.json", "comparison.csv", "comparison.html", "comparison.tex")

_COMPARE_EPILOG = """\b
Examples:
  bayes-dp compare counts.csv --delta 1e-3
  bayes-dp compare counts.csv --delta 1e-3 --bases --json > comparison.json
  bayes-dp compare counts.csv --delta 1e-3 --likelihood bivariate_normal
  bayes-dp compare counts.csv --delta 1e-5 --design one_run --examples 1000
  bayes-dp compare scores.csv --delta 1e-5
  bayes-dp compare attack_result_0.npz --members coins --guesses 200 --delta 1e-5

FILE is as for bayes-dp estimate."""


Likelihoods = Annotated[
    list[Likelihood] | None,
    one_of(Likelihood, "Also a posterior with this likelihood; may be given several times.", panel=EXPERT),
]
RowPerBase = Annotated[bool, flag("--bases", "A row for each base too.")]
ComparisonFolder = Annotated[
    str | None, text("DIR", "Also write comparison.json, .csv, .html and .tex to this folder.")
]


@app.command(cls=Verb, epilog=_COMPARE_EPILOG, short_help="All methods on the same counts, in one table.")
def compare(
    file: Evidence,
    delta: Delta,
    confidence: Confidence = 0.95,
    design: HowCounted = None,
    examples: Examples = None,
    bases: RowPerBase = False,
    as_json: AsJson = False,
    out: ComparisonFolder = None,
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
    prior_epsilon: PriorEpsilon = None,
    prior_strength: PriorStrength = None,
    likelihood: Likelihoods = None,
    chains: Chains = None,
    draws: Draws = None,
    warmup: Warmup = None,
    overlap: Overlap = None,
    scores: ScoresToo = None,
    baseline: Baseline = None,
    safe_cells: SafeCells = False,
    brief: Brief = False,
    meaning: MeaningToo = False,
) -> int:
    """Compare the posterior of ε with every lower bound that the same counts give.

    Each row has its kind (posterior, lower bound, estimate), and says what it assumes. A method that does not apply is
    listed with the reason. Posterior intervals have probability 2P-1, so that their lower ends compare with bounds of
    confidence P.
    """
    likelihoods = list(dict.fromkeys(likelihood or ()))
    settings = of_sampler(likelihoods, chains=chains, draws=draws, warmup=warmup)
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    wanted = chosen_for_all(guesses, choice, 0)
    given = read_evidence(file, design, examples, choice=wanted, members=members, non_members=non_members, which=which)
    evidence, counts = judged_in(given, delta, wanted)
    made_alike: Any = {"choice": wanted, "members": members, "which": which}
    positive = read_control(control, no_control, fail_above, given, delta, file, **made_alike)
    other = None if baseline is None else read_counts(baseline, counts.design, counts.examples)

    from bayes_dp.checks import one_number

    # As the comparison itself does, but before posteriors are sampled for it.
    one_number("confidence", confidence, 0.5, 1.0, low_open=True, high_open=True)
    if overlap is not None:
        one_number("overlap", overlap, 0.0, 0.5, low_open=True)

    table = read_scores(scores)
    if out is not None:
        make_folder(out, *_FILES)

    from bayes_dp.comparison.compare import compare as collect

    priors: dict[str, Any] = {"prior_epsilon": prior_epsilon, "prior_strength": prior_strength}
    found = collect(
        evidence,
        delta,
        confidence,
        overlap=overlap,
        baseline=other,
        scores=table,
        posteriors=_posteriors(evidence, delta, likelihoods, priors, settings),
        per_base=bases,
        limit=fail_above,
        control=positive,
        claim=claim,
        **priors,
    )
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else found.brief() if brief else found.summary())
    if as_json and found.gate is not None:
        typer.echo(str(found.gate), err=True)
    if as_json:
        tell({"all": found.claim}, as_json)
    if meaning:
        typer.echo(f"\n{found.meaning()}", err=as_json)
    if out is not None:
        typer.echo(f"Wrote {', '.join(_save(found, out, safe_cells))}", err=True)
    return worst(*(each.exit_code for each in (found.gate, found.claim) if each is not None))


def _posteriors(
    evidence: ErrorCounts | Guesses,
    delta: float,
    likelihoods: list[Likelihood],
    priors: dict[str, Any],
    settings: dict[str, Any],
) -> dict[str, Posterior]:
    """The rows that are asked for beside those of the table, each by its name."""
    from bayes_dp.bayes.estimate import estimate

    found = {}
    with unwarned():  # the sentences are in the table
        for each in likelihoods:
            options = priors | (settings if is_sampled(each) else {})
            name = f"posterior-{each.value.replace('_', '-')}"
            found[name] = estimate(evidence, delta, likelihood=each.value, **options)
    return found


def _save(found: Any, folder: str, safe_cells: bool) -> list[str]:
    from bayes_dp.data.files import write_text_atomically
    from bayes_dp.data.table import safe_cell

    paths = [os.path.join(folder, name) for name in _FILES]
    found.to_json(paths[0])
    frame = found.to_frame()
    for column in ("assumptions", "notes"):
        frame[column] = [" ".join(sentences) for sentences in frame[column]]
    if safe_cells:
        frame = frame.map(safe_cell)
    head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Comparison</title>\n'
    page = f"{head}{found.to_html()}\n</html>\n"
    for path, content in zip(paths[1:], (frame.to_csv(index=False), page, found.to_latex() + "\n"), strict=True):
        write_text_atomically(path, content)
    return paths
