"""The verbs of the lower bounds: compare and audit."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.program import Design, app, make_folder, number, read_counts, whole

if TYPE_CHECKING:
    from bayes_dp.bound import CredibleInterval, Estimate, LowerBound
    from bayes_dp.guess_table import GuessTable
    from bayes_dp.guesses import Guesses

    Finding = LowerBound | CredibleInterval | Estimate

__all__: list[str] = []

_COMPARE_EPILOG = """\b
Examples:
  bayes-dp compare counts.csv --delta 1e-3
  bayes-dp compare counts.csv --delta 1e-3 --bases --json > comparison.json
  bayes-dp compare counts.csv --delta 1e-5 --design one_run --examples 1000

FILE is as for bayes-dp estimate."""

_SCORES = """\b
FILE has one row per example of the audit:
  score,member
  2.31,1
  -0.4,0
score   what the attack says: the higher, the more likely a member
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
  0 done, 1 the check of --fail-above failed,
  2 bad input (one line on standard error says what is wrong)"""

_AUDIT_EPILOG = f"""{_SCORES}
\b
Examples:
  bayes-dp audit one-run guesses.csv --guesses 500 --delta 1e-5
  bayes-dp audit f-dp guesses.csv --guesses 100,200,400 --choice bonferroni --delta 1e-5

\b
Exit codes:
  0 done, 1 the check of --fail-above failed,
  2 bad input (one line on standard error says what is wrong)"""


Choice = StrEnum("Choice", ["fixed", "bonferroni", "split", "uncorrected"])  # "split" is a method of str, so no class


class Sides(StrEnum):
    both = "both"
    members = "members"


class OneRunMethod(StrEnum):
    best = "best"
    binomial = "binomial"
    f_dp = "f_dp"
    exact = "exact"


class Family(StrEnum):
    gaussian = "gaussian"
    laplace = "laplace"
    approx = "approx"


class Interval(StrEnum):
    clopper_pearson = "clopper-pearson"
    jeffreys = "jeffreys"
    katz = "katz"
    accuracy = "accuracy"
    joint_beta = "joint-beta"


Scores = Annotated[
    str,
    typer.Argument(metavar="FILE", show_default=False, help="Scores of examples: a .csv, .tsv, .txt or .json file."),
]
Counts = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        show_default=False,
        help="Error counts: a .csv, .tsv, .txt or .json file, or - for standard input.",
    ),
]
Delta = Annotated[
    float, typer.Option(parser=number, metavar="D", show_default=False, help="The δ of (ε, δ)-differential privacy.")
]
DeltaIfAny = Annotated[
    float | None, typer.Option(parser=number, metavar="D", help="Bound ε at this δ; otherwise the family's parameter.")
]
Confidence = Annotated[
    float, typer.Option(parser=number, metavar="P", help="With which a bound holds, over repetitions of the audit.")
]
Numbers = Annotated[
    str | None,
    typer.Option(
        "--guesses",
        metavar="N[,N...]",
        help="How many of the most confident guesses to make; several, separated by commas, are tried as --choice"
        " says. By default all of them, half, a quarter and so on.",
    ),
]
How = Annotated[
    Choice | None,
    typer.Option(
        "--choice",
        help="How the number is chosen: fixed in advance (of one number the default), the best with a correction for"
        " looking at all (bonferroni, of several the default), on one half of the examples (split), or the best"
        " without a correction, which is marked as not valid.",
    ),
]
Side = Annotated[Sides, typer.Option(help="Guess members and non-members, or members only.")]
Seed = Annotated[int, typer.Option(parser=whole, metavar="N", help="Seed of the coins that break ties and split.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, and nothing else, to standard output.")]
FailAbove = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="EPS",
        help="Exit with 1 when the bound (of several bases: the one that holds for all) is above EPS.",
    ),
]
HowCounted = Annotated[
    Design | None, typer.Option(help="How the counts arose; by default as a JSON file says, or repeated.")
]
Examples = Annotated[
    int | None, typer.Option(parser=whole, metavar="M", help="With --design one_run: how many examples there were.")
]


@app.command(epilog=_COMPARE_EPILOG, short_help="All methods on the same counts, in one table.")
def compare(
    file: Counts,
    delta: Delta,
    confidence: Confidence = 0.95,
    design: HowCounted = None,
    examples: Examples = None,
    overlap: Annotated[
        float | None,
        typer.Option(
            parser=number,
            metavar="H",
            help="For zero-run bounds: every example is a member with a probability from H to 1-H.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="For PANORAMIA: counts of decisions made without the model."),
    ] = None,
    bases: Annotated[bool, typer.Option("--bases", help="A row for each base too.")] = False,
    prior_epsilon: Annotated[
        str | None, typer.Option(metavar="PRIOR", help="Of the posterior, as for bayes-dp estimate.")
    ] = None,
    as_json: AsJson = False,
    out: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Also write comparison.json, .csv, .html and .tex to this folder."),
    ] = None,
) -> int:
    """Compare the posterior of ε with every lower bound that the same counts give.

    Each row has its kind (posterior, lower bound, estimate), and says what it assumes. A method that does not apply is
    listed with the reason. Posterior intervals have probability 2P-1, so that their lower ends compare with bounds of
    confidence P.
    """
    counts = read_counts(file, design.value if design else None, examples)
    other = None if baseline is None else read_counts(baseline, counts.design, counts.examples)
    if out is not None:
        make_folder(out)

    from bayes_dp.comparison import compare as collect

    found = collect(
        counts, delta, confidence, overlap=overlap, baseline=other, prior_epsilon=prior_epsilon, per_base=bases
    )
    typer.echo(json.dumps(found.to_dict(), indent=2) if as_json else str(found))
    if out is not None:
        typer.echo(f"Wrote {', '.join(_save(found, out))}", err=True)
    return 0


def _save(found: Any, folder: str) -> list[str]:
    import os

    from bayes_dp.files import write_text_atomically

    paths = [os.path.join(folder, f"comparison.{suffix}") for suffix in ("json", "csv", "html", "tex")]
    found.to_json(paths[0])
    frame = found.to_frame()
    frame["assumptions"] = [" ".join(sentences) for sentences in frame["assumptions"]]
    head = '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Comparison</title>\n'
    page = f"{head}{found.to_html()}\n</html>\n"
    for path, text in zip(paths[1:], (frame.to_csv(index=False), page, found.to_latex() + "\n"), strict=True):
        write_text_atomically(path, text)
    return paths


audit = typer.Typer(add_completion=False, rich_markup_mode=None)
app.add_typer(audit, name="audit", short_help="One lower bound from a table of scores, or of counts.")


@audit.callback(invoke_without_command=True, epilog="See bayes-dp audit METHOD --help for what a method is given.")
def _audit(context: typer.Context) -> None:
    """Lower bounds on ε that hold with a given confidence, by one method."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@audit.command("one-run", epilog=_AUDIT_EPILOG, short_help="(ε, δ)-DP from guesses on one model.")
def one_run(
    file: Scores,
    delta: Delta,
    guesses: Numbers = None,
    choice: How = None,
    sides: Side = Sides.both,
    method: Annotated[
        OneRunMethod,
        typer.Option(
            help="The bound of Steinke et al. (binomial), that of f-DP, the better of both, or the exact one."
        ),
    ] = OneRunMethod.best,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
    fail_above: FailAbove = None,
) -> int:
    """Bound ε from below by the guesses of members among the examples of one training run.

    Every example must have been in the training set by its own fair coin.
    """

    def run(made: Guesses, level: float) -> Finding:
        from bayes_dp.audits.one_run import one_run as bound

        return bound(made, delta, confidence=level, method=method.value)

    return _report(_audited(file, guesses, choice, sides, seed, confidence, run), as_json, fail_above, confidence)


@audit.command("f-dp", epilog=_AUDIT_EPILOG, short_help="Gaussian, Laplace or (ε, δ) DP from guesses on one model.")
def f_dp(
    file: Scores,
    delta: DeltaIfAny = None,
    guesses: Numbers = None,
    choice: How = None,
    sides: Side = Sides.both,
    family: Annotated[
        Family, typer.Option(help="The family of trade-off functions that the training belongs to.")
    ] = Family.gaussian,
    tau: Annotated[
        float,
        typer.Option(parser=number, metavar="T", help="Slack for simulated absence (observational audits)."),
    ] = 0.0,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    as_json: AsJson = False,
    fail_above: FailAbove = None,
) -> int:
    """Bound the parameter of a family of trade-off functions, or ε at a δ, by guesses on one training run.

    Every example must have been in the training set by its own fair coin.
    """

    def run(made: Guesses, level: float) -> Finding:
        from bayes_dp.audits.f_dp import f_dp as bound

        return bound(made, delta=delta, family=family.value, tau=tau, confidence=level)

    return _report(_audited(file, guesses, choice, sides, seed, confidence, run), as_json, fail_above, confidence)


@audit.command("panoramia", epilog=_PANORAMIA_EPILOG, short_help="How much better an attack is than a blind baseline.")
def panoramia(
    file: Scores,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Scores of the same examples by a baseline that never saw the model. Without it the non-members are"
            " taken to be real ones, and the result is a lower bound.",
        ),
    ] = None,
    delta: Annotated[float, typer.Option(parser=number, metavar="D", help="The δ of (ε, δ)-DP.")] = 0.0,
    gamma: Annotated[
        float, typer.Option(parser=number, metavar="G", help="The γ of the generator's (c, γ)-closeness.")
    ] = 0.0,
    threshold: Annotated[
        list[float] | None,
        typer.Option(
            parser=number,
            metavar="T",
            help="Take an example for a member from this score on; may be given several times. By default every score"
            " that occurs is tried, at the price of a correction.",
        ),
    ] = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    fail_above: FailAbove = None,
) -> int:
    """PANORAMIA's measurement: an estimate of ε from members and generated non-members, which is not a bound."""
    from bayes_dp.audits.panoramia import panoramia as measure
    from bayes_dp.checks import InputError
    from bayes_dp.guess_table import GuessTable

    if baseline is not None and fail_above is not None:
        raise InputError("--fail-above is for bounds, and with --baseline the result is an estimate")
    tables = [_parts(GuessTable.read(name)) for name in (file, baseline) if name is not None]
    if len(tables) == 2 and tables[0].keys() != tables[1].keys():
        raise InputError(f"{baseline} must have the bases of {file}")
    level = _share(confidence, len(tables[0]))
    found = {
        base: measure(
            table,
            tables[1][base] if len(tables) == 2 else None,
            delta=delta,
            gamma=gamma,
            confidence=level,
            thresholds=threshold or None,
        )
        for base, table in tables[0].items()
    }
    return _report(found, as_json, fail_above, confidence)


@audit.command("intervals", short_help="Intervals of the error rates of repeated runs.")
def intervals(
    file: Counts,
    delta: Delta,
    method: Annotated[Interval, typer.Option(help="Which interval; clopper-pearson and accuracy are exact.")] = (
        Interval.clopper_pearson
    ),
    two_sided: Annotated[
        bool, typer.Option("--two-sided", help="An upper end too, which bounds what this attack achieves.")
    ] = False,
    confidence: Confidence = 0.95,
    design: HowCounted = None,
    examples: Examples = None,
    as_json: AsJson = False,
    fail_above: FailAbove = None,
) -> int:
    """Bound ε from below by intervals of the error rates of repeated, independent runs, base by base and together.

    FILE is as for bayes-dp estimate.
    """
    counts = read_counts(file, design.value if design else None, examples)

    from bayes_dp.audits import intervals as bounds
    from bayes_dp.checks import InputError

    run = getattr(bounds, method.name)
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
    return _report(found, as_json, fail_above)


def _audited(
    file: str,
    numbers: str | None,
    choice: Choice | None,
    sides: Sides,
    seed: int,
    confidence: float,
    run: Callable[[Guesses, float], Finding],
) -> dict[str, Finding]:
    """The finding of each base, all of which hold together, or of the whole table if it has no bases."""
    from bayes_dp.attacks.scores import guess
    from bayes_dp.guess_table import GuessTable

    wanted = _choice(numbers, choice, seed)
    parts = _parts(GuessTable.read(file))
    level = _share(confidence, len(parts))
    return {name: run(guess(part, wanted, sides.value, seed), level) for name, part in parts.items()}


def _parts(table: GuessTable) -> dict[str, GuessTable]:
    return {"all": table} if table.base is None else table.by_base()


def _share(confidence: float, parts: int) -> float:
    """The confidence of each of so many bounds that hold together with the given one."""
    from bayes_dp.checks import one_number

    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    return confidence if parts == 1 else 1 - (1 - confidence) / parts


def _choice(numbers: str | None, choice: Choice | None, seed: int) -> Any:
    """The choice of the number of guesses, from the options."""
    from bayes_dp.attacks import scores
    from bayes_dp.checks import InputError

    given = None
    if numbers is not None:
        try:
            given = [int(part) for part in numbers.split(",")]
        except ValueError:
            raise InputError(f"--guesses must be whole numbers separated by commas, not {numbers!r:.80}") from None
    if choice is None:
        choice = Choice.fixed if given is not None and len(given) == 1 else Choice.bonferroni
    if choice is Choice.fixed:
        if given is None or len(given) != 1:
            raise InputError("--choice fixed needs one number of --guesses")
        return scores.Fixed(given[0])
    if choice is Choice.split:
        return scores.Split(given, seed=seed)
    return scores.Bonferroni(given) if choice is Choice.bonferroni else scores.Uncorrected(given)


def _report(
    found: Mapping[str, Finding], as_json: bool, fail_above: float | None, together: float | None = None
) -> int:
    """Print findings by name, and the confidence that they have `together`; returns the exit code."""
    if as_json:
        content = [{"base": name, **finding.to_dict()} for name, finding in found.items()]
        typer.echo(json.dumps(content[0] if len(found) == 1 else content, indent=2))
    else:
        for name, finding in found.items():
            if len(found) > 1:
                typer.echo(f"Base {name}" if name != "all" else "All bases together")
            typer.echo(finding.summary() + ("\n" if len(found) > 1 else ""))
        if together is not None and len(found) > 1:
            typer.echo(f"All of these bounds hold together with confidence {100 * together:g}%.")
    if fail_above is None:
        return 0
    # Bounds of single bases beside one of all are not corrected for their number.
    judged = [found["all"]] if "all" in found else list(found.values())
    highest = max(judged, key=lambda finding: finding.value)
    passed = highest.value <= fail_above
    verdict = f"Check {'passed' if passed else 'FAILED'}: the bound, {highest.value:.6g}, is {'not ' if passed else ''}"
    note = f" (it is not valid: {highest.invalid})" if highest.invalid else ""
    typer.echo(f"{verdict}above {fail_above:g}{note}", err=as_json)
    return 0 if passed else 1
