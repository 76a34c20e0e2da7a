"""Options and arguments that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.cli.program import Design, either, number, whole

__all__ = [
    "DEFAULT_LIKELIHOOD",
    "AsJson",
    "Baseline",
    "Categories",
    "Choice",
    "Confidence",
    "ControlFile",
    "Counts",
    "Delta",
    "DeltaIfAny",
    "Examples",
    "FailAbove",
    "FeatureColumns",
    "How",
    "HowCounted",
    "Likelihood",
    "Limit",
    "Method",
    "NoControl",
    "Numbers",
    "Overlap",
    "PriorEpsilon",
    "PriorStrength",
    "SafeCells",
    "Scores",
    "ScoresToo",
    "Seed",
    "Side",
    "Sides",
    "Strength",
    "chosen",
    "number_or_text",
]


def number_or_text(text: Any) -> Any:
    """A number if it is one; whether the text can stand for one is checked by what is called."""
    try:
        return float(text)
    except ValueError:
        return text


Likelihood = StrEnum("Likelihood", list(LIKELIHOODS))  # type: ignore[misc]  # the names of a registry
DEFAULT_LIKELIHOOD = Likelihood("binomial")


class Method(StrEnum):
    exact = "exact"
    mhaar = "mhaar"
    nuts = "nuts"


Choice = StrEnum("Choice", ["fixed", "bonferroni", "split", "uncorrected"])  # "split" is a method of str, so no class


class Sides(StrEnum):
    both = "both"
    members = "members"


Scores = Annotated[
    str,
    typer.Argument(metavar="FILE", show_default=False, help="Scores of examples: a .csv, .tsv, .txt or .json file."),
]
Counts = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        show_default=False,
        help="Error counts of the attacks: a .csv, .tsv, .txt or .json file, or - for standard input.",
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
        metavar=either(Choice),
        help="How the number is chosen: fixed in advance (of one number the default), the best with a correction for"
        " looking at all (bonferroni, of several the default), on one half of the examples (split), or the best"
        " without a correction, which is marked as not valid.",
    ),
]
Side = Annotated[Sides, typer.Option(metavar=either(Sides), help="Guess members and non-members, or members only.")]
Seed = Annotated[int, typer.Option(parser=whole, metavar="N", help="Seed of the coins that break ties and split.")]
AsJson = Annotated[bool, typer.Option("--json", help="Write JSON, and nothing else, to standard output.")]
SafeCells = Annotated[
    bool,
    typer.Option(
        "--safe-cells",
        help="In CSV, put an apostrophe before a label that begins with =, +, - or @, which a spreadsheet would run.",
    ),
]
FailAbove = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="EPS",
        help="Exit with 1 when the bound (of several bases: the one that holds for all) is above EPS.",
    ),
]
Limit = Annotated[
    float | None,
    typer.Option(
        "--fail-above",
        parser=number,
        metavar="EPS",
        help="A gate: exit with 1 when the upper end of the equal-tailed interval is above EPS, and"
        " with 3 when it is not but something speaks against relying on it, above all that nothing shows that the"
        " attack would have seen a leak.",
    ),
]
ControlFile = Annotated[
    str | None,
    typer.Option(
        "--control",
        metavar="FILE",
        help="With --fail-above: error counts of the same attack on a training that is known to leak, say without"
        " noise. The gate passes only if their own lower bound exceeds EPS.",
    ),
]
NoControl = Annotated[
    bool,
    typer.Option(
        "--no-control",
        help="With --fail-above: accept attacks that cannot be distinguished from guessing, without a control.",
    ),
]
Strength = Annotated[
    Any,
    typer.Option(
        parser=number_or_text,
        metavar="free|tight|S",
        help="The strength that every attack reaches, from 0 (worthless ones may be among them) to 1 (each is the "
        "strongest possible): free estimates it along with ε, tight sets it to 1, a number below 1 fixes it.",
    ),
]
PriorEpsilon = Annotated[
    str | None,
    typer.Option(
        metavar="PRIOR",
        help='What is believed of ε before the data, as a NumPyro distribution such as "HalfNormal(3)" or '
        '"Gamma(2, 1)"; by default half-normal with variance 10.',
    ),
]
PriorStrength = Annotated[
    str | None,
    typer.Option(metavar="PRIOR", help='The same for a free strength; by default "Beta(1, 1)", the uniform one.'),
]
HowCounted = Annotated[
    Design | None,
    typer.Option(metavar=either(Design), help="How the counts arose; by default as a JSON file says, or repeated."),
]
Examples = Annotated[
    int | None, typer.Option(parser=whole, metavar="M", help="With --design one_run: how many examples there were.")
]
Overlap = Annotated[
    float | None,
    typer.Option(
        parser=number,
        metavar="H",
        help="For zero-run bounds: every example is a member with a probability from H to 1-H.",
    ),
]
Baseline = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="For PANORAMIA: counts of decisions made without the model."),
]
ScoresToo = Annotated[
    str | None,
    typer.Option(
        "--scores",
        metavar="FILE",
        help="For zero-run bounds: the attack's scores of the same examples, with a column propensity; as for"
        " bayes-dp audit zero-run.",
    ),
]
FeatureColumns = Annotated[
    str | None,
    typer.Option(metavar="A,B,C", help="The columns that are features; by default all that hold nothing else."),
]
Categories = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Columns that hold categories, although they are numbers or look like numbers."),
]


def chosen(numbers: str | None, choice: Choice | None, seed: int) -> Any:
    """The choice of the number of guesses, from the options."""
    from bayes_dp.attacks import scores
    from bayes_dp.checks import InputError, show

    given = None
    if numbers is not None:
        try:
            given = [int(part) for part in numbers.split(",")]
        except ValueError:
            raise InputError(f"--guesses must be whole numbers separated by commas, not {show(numbers)}") from None
    if choice is None:
        choice = Choice.fixed if given is not None and len(given) == 1 else Choice.bonferroni
    if choice is Choice.fixed:
        if given is None or len(given) != 1:
            raise InputError("--choice fixed needs one number of --guesses")
        return scores.Fixed(given[0])
    if choice is Choice.split:
        return scores.Split(given, seed=seed)
    return scores.Bonferroni(given) if choice is Choice.bonferroni else scores.Uncorrected(given)
