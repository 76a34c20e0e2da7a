"""The options and arguments of the verbs, each declared once.

A verb takes one by its type, as in `def plan(delta: Delta, prob: Prob = 0.9)`. Options that only one verb has stand
above that verb, made by the same functions. The common ones are in no panel; the panels EXPERT, GATE and
FEATURES come below them in --help.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

import typer

from bayes_dp.bayes.families.registry import APPROX, AVERAGE, NAMES
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.cli.command import EXPERT

__all__ = [
    "DEFAULT_FAMILY",
    "DEFAULT_LIKELIHOOD",
    "EXPERT",
    "FEATURES",
    "GATE",
    "SCORES",
    "AsJson",
    "Baseline",
    "Categories",
    "Chains",
    "ChoiceRule",
    "ClaimDpSgd",
    "ClaimEpsilon",
    "Confidence",
    "ControlFile",
    "Counts",
    "Delta",
    "Design",
    "Draws",
    "EstimateMethod",
    "Evidence",
    "Examples",
    "FailAbove",
    "Family",
    "FamilyName",
    "FeatureColumns",
    "Group",
    "How",
    "HowCounted",
    "HowMembers",
    "Jobs",
    "Likelihood",
    "LikelihoodOfCounts",
    "Limit",
    "MeaningToo",
    "MethodOfPosterior",
    "NoControl",
    "NonMembers",
    "Numbers",
    "OfChoice",
    "OfGuesses",
    "OptionalDelta",
    "Overlap",
    "PriorEpsilon",
    "PriorOfFamily",
    "PriorStrength",
    "Prob",
    "SafeCells",
    "Scores",
    "ScoresToo",
    "Seed",
    "Side",
    "Sides",
    "Spread",
    "Strength",
    "Warmup",
    "Which",
    "argument",
    "chosen",
    "chosen_for_all",
    "flag",
    "is_sampled",
    "names_in",
    "number",
    "number_or_text",
    "of_sampler",
    "one_of",
    "text",
    "value_of",
    "whole",
]

GATE = "A gate, for continuous integration"
FEATURES = "Features, from which propensities are learned"
SCORES = "Scores of one model"


# -- how options are made ----------------------------------------------------------------------------------------------


def number(metavar: str, help: str, *names: str, panel: str | None = None) -> Any:
    """An option that takes a number. `names` begin with dashes; by default there is one, that of the parameter."""
    return _option(names, metavar, help, panel, parser=_number)


def whole(metavar: str, help: str, *names: str, panel: str | None = None) -> Any:
    """An option that takes a whole number."""
    return _option(names, metavar, help, panel, parser=_whole)


def number_or_text(metavar: str, help: str, *names: str, panel: str | None = None) -> Any:
    """An option that takes a number, or text; whether the text can stand for one is checked by what is called."""
    return _option(names, metavar, help, panel, parser=_number_or_text)


def text(metavar: str, help: str, *names: str, panel: str | None = None) -> Any:
    """An option that takes text: a name, names with commas between them, the path of a file or a folder."""
    return _option(names, metavar, help, panel)


def one_of(choices: type[StrEnum], help: str, *names: str, panel: str | None = None) -> Any:
    """An option that takes one of the names."""
    return _option(names, "|".join(choices), help, panel)


def flag(name: str, help: str, panel: str | None = None) -> Any:
    """An option that is given or not."""
    return _option((name,), None, help, panel)


def argument(help: str, metavar: str = "FILE") -> Any:
    """An argument: what the verb reads."""
    return typer.Argument(metavar=metavar, show_default=False, help=help)


def _option(names: tuple[str, ...], metavar: str | None, help: str, panel: str | None, **settings: Any) -> Any:
    return typer.Option(*names, metavar=metavar, help=help, rich_help_panel=panel, **settings)


def _number(given: Any) -> float:
    try:
        return float(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r:.80} is not a number") from None


def _whole(given: Any) -> int:
    try:
        return int(given)
    except ValueError:
        raise typer.BadParameter(f"{given!r:.80} is not a whole number") from None


def _number_or_text(given: Any) -> Any:
    try:
        return float(given)
    except ValueError:
        return given


def value_of(name: StrEnum | None) -> Any:
    """The name as text, None if there is none."""
    return None if name is None else name.value


# -- what is read and written ------------------------------------------------------------------------------------------

Counts = Annotated[
    str, argument("Error counts of the attacks: a .csv, .tsv, .txt or .json file, or - for standard input.")
]
Evidence = Annotated[
    str,
    argument(
        "Error counts of the attacks: a .csv, .tsv, .txt or .json file, or - for standard input. Or the scores of one"
        " model's examples, as for audit one-run."
    ),
]
Scores = Annotated[str, argument("Scores of examples: a .csv, .tsv, .txt or .json file, or that of another tool.")]
AsJson = Annotated[bool, flag("--json", "Write JSON, and nothing else, to standard output.")]
Brief = Annotated[bool, flag("--brief", "Print the numbers, and how many assumptions and notes they rest on.", EXPERT)]
SafeCells = Annotated[
    bool,
    flag(
        "--safe-cells",
        "In CSV, put an apostrophe before a label that begins with =, +, - or @, which a spreadsheet would run.",
        panel=EXPERT,
    ),
]

# -- how counts arose --------------------------------------------------------------------------------------------------


class Design(StrEnum):
    repeated = "repeated"
    cross_fed = "cross_fed"
    one_run = "one_run"
    observational = "observational"


HowCounted = Annotated[
    Design | None,
    one_of(
        Design,
        "How the counts arose: from independent runs (repeated), from runs cross-fed to each other as shadow models, or"
        " from many examples judged on one model (one_run; observational if nobody changed its training). By default as"
        " the file says, or repeated.",
    ),
]
Examples = Annotated[int | None, whole("M", "With --design one_run: how many examples there were.")]

# -- a posterior -------------------------------------------------------------------------------------------------------


Likelihood = StrEnum("Likelihood", list(LIKELIHOODS))  # type: ignore[misc]  # the names of a registry
DEFAULT_LIKELIHOOD = Likelihood("binomial")


class EstimateMethod(StrEnum):
    exact = "exact"
    mhaar = "mhaar"
    nuts = "nuts"


FamilyName = StrEnum("FamilyName", [APPROX, *NAMES, AVERAGE])  # type: ignore[misc]  # the names of a registry
_NAMED = f"{', '.join(NAMES[:-1])} or {NAMES[-1]}"
DEFAULT_FAMILY = FamilyName(APPROX)
Family = Annotated[
    FamilyName,
    one_of(
        FamilyName,
        "What the training is taken to be: (ε, δ)-differentially private (approx); as private, at every δ at once, as"
        f" one member of a family of trade-off functions ({_NAMED}), such as Gaussian noise, Laplace noise or"
        " randomized response (pure); or one of the first three, weighed by what the counts say of each (average).",
        panel=EXPERT,
    ),
]
PriorOfFamily = Annotated[
    str | None,
    text(
        "PRIOR",
        f"With --family {_NAMED}: what is believed of its parameter. Without it the best attack has the"
        " advantage tanh(ε/2), with --prior-epsilon for ε.",
        panel=EXPERT,
    ),
]
Delta = Annotated[
    float,
    number(
        "D",
        "The δ of (ε, δ)-differential privacy, from 0 to below 1: the chance that the promise of ε may fail, usually"
        " well below one over the number of training examples.",
    ),
]
OptionalDelta = Annotated[
    float | None,
    number(
        "D",
        "The δ of (ε, δ)-differential privacy, from 0 to below 1: the chance that the promise of ε may fail, usually"
        f" well below one over the number of training examples. Only --family {_NAMED} can go without.",
    ),
]
Prob = Annotated[float, number("P", "The probability of the intervals.")]
Strength = Annotated[
    Any,
    number_or_text(
        "free|tight|S",
        "The strength that every attack reaches, from 0 (worthless ones may be among them) to 1 (each is the strongest"
        " possible): free estimates it along with ε, tight sets it to 1, a number below 1 fixes it.",
        panel=EXPERT,
    ),
]
LikelihoodOfCounts = Annotated[
    Likelihood,
    one_of(
        Likelihood,
        "Of the counts given the error rates: binomial for independent runs; the others have parameters for the"
        " correlation of cross-fed ones.",
        panel=EXPERT,
    ),
]
MethodOfPosterior = Annotated[
    EstimateMethod | None,
    one_of(
        EstimateMethod,
        "exact integrates numerically, and is the default for the binomial likelihood; mhaar samples by Markov chain"
        " Monte Carlo, and is that for the others; nuts does so by Hamiltonian Monte Carlo.",
        panel=EXPERT,
    ),
]
PriorEpsilon = Annotated[
    str | None,
    text(
        "PRIOR",
        'What is believed of ε before the data, as a NumPyro distribution such as "HalfNormal(3)" or "Gamma(2, 1)"; by'
        " default half-normal with variance 10.",
        panel=EXPERT,
    ),
]
PriorStrength = Annotated[
    str | None,
    text("PRIOR", 'The same for a free strength; by default "Beta(1, 1)", the uniform one.', panel=EXPERT),
]
Spread = Annotated[
    Any,
    number_or_text(
        "K|PRIOR",
        "With --groups: the spread κ of the rates within a group, above 0 and at most 1, or its prior; by default"
        ' "HalfNormal(0.1)".',
        panel=EXPERT,
    ),
]
Chains = Annotated[int | None, whole("N", "Of a sampler: how many chains, by default 4.", panel=EXPERT)]
Draws = Annotated[
    int | None,
    whole(
        "N",
        "Of a sampler: how many draws of each chain are kept, by default 1000 of nuts, and 4000 or more of mhaar.",
        panel=EXPERT,
    ),
]
Warmup = Annotated[
    int | None,
    whole("N", "Of a sampler: how many draws before these, which are left out, by default 1000.", panel=EXPERT),
]
Seed = Annotated[int, whole("N", "Seed of all that is drawn: the same seed, the same output.", panel=EXPERT)]
Jobs = Annotated[int, whole("N", "Processes to share the work; -1 for all.", panel=EXPERT)]


def is_sampled(likelihood: Likelihood, method: EstimateMethod | None = None) -> bool:
    """Whether the posterior of bases that are not grouped is sampled."""
    return method not in (None, EstimateMethod.exact) or not LIKELIHOODS[likelihood.value].closed_form


def of_sampler(
    likelihoods: Iterable[Likelihood], method: EstimateMethod | None = None, **settings: int | None
) -> dict[str, Any]:
    """The settings of a sampler that are given; refused where the posteriors of all these likelihoods are exact."""
    from bayes_dp.checks import InputError

    given = {name: value for name, value in settings.items() if value is not None}
    if given and not any(is_sampled(each, method) for each in likelihoods):
        raise InputError(f"--{next(iter(given))} is for a posterior that is sampled, and here none is")
    return given


# -- a gate ------------------------------------------------------------------------------------------------------------

Limit = Annotated[
    float | None,
    number(
        "EPS",
        "Exit with 1 when the upper end of the equal-tailed interval is above EPS, and with 3 when it is not but"
        " something speaks against relying on it, above all that nothing shows that the attack would have seen a leak.",
        panel=GATE,
    ),
]
ControlFile = Annotated[
    str | None,
    text(
        "FILE",
        "With --fail-above: error counts, or scores, of the same attack on a training that is known to leak, say"
        " without noise. The gate passes only if their own lower bound exceeds EPS.",
        panel=GATE,
    ),
]
NoControl = Annotated[
    bool,
    flag(
        "--no-control",
        "With --fail-above: accept attacks that cannot be distinguished from guessing, without a control.",
        panel=GATE,
    ),
]
ClaimEpsilon = Annotated[
    float | None,
    number(
        "EPS",
        "Also say whether the data refute that the training is (ε, δ)-differentially private, and exit with 1 if they"
        " do, with 3 if they cannot test it.",
        panel=GATE,
    ),
]
ClaimDpSgd = Annotated[
    str | None,
    text(
        "S,Q,T",
        "The same of DP-SGD with noise multiplier S, sampling rate Q and T steps.",
        panel=GATE,
    ),
]
MeaningToo = Annotated[
    bool,
    flag("--meaning", "Also print the most that any attack can do at this value.", panel=EXPERT),
]
FailAbove = Annotated[
    float | None,
    number("EPS", "Exit with 1 when the bound (of several bases: the one that holds for all) is above EPS."),
]

# -- lower bounds from guesses -----------------------------------------------------------------------------------------


class Sides(StrEnum):
    both = "both"
    members = "members"


ChoiceRule = StrEnum(
    "ChoiceRule", ["fixed", "bonferroni", "split", "multisplit", "uncorrected"]
)  # "split" is a method of str, so no class

Confidence = Annotated[float, number("P", "With which a bound holds, over repetitions of the audit.")]
Numbers = Annotated[
    str | None,
    text(
        "N[,N...]",
        "How many of the most confident guesses to make; several, separated by commas, are tried as --choice says. By"
        " default all of them, half, a quarter and so on.",
    ),
]
How = Annotated[
    ChoiceRule | None,
    one_of(
        ChoiceRule,
        "How the number is chosen: fixed in advance (of one number the default), the best with a correction for"
        " looking at all (bonferroni, of several the default), on one half of the examples (split), by the median over"
        " 11 such halves (multisplit), or the best without a correction, which is marked as not valid.",
        panel=EXPERT,
    ),
]


OfGuesses = Annotated[
    str | None,
    text(
        "N[,N...]",
        "How many of the most confident guesses to make: a number decided before looking, or several, of which one half"
        " of the examples chooses for the other. By default all of them, half, a quarter and so on.",
        "--guesses",
        panel=SCORES,
    ),
]
OfChoice = Annotated[
    ChoiceRule | None,
    one_of(ChoiceRule, "fixed or split; the others are for audits of one bound.", "--choice", panel=SCORES),
]


class HowChosen(StrEnum):
    coins = "coins"


HowMembers = Annotated[
    HowChosen | None,
    one_of(
        HowChosen,
        "Of scores from another tool, whose files do not tell: each example was put into the training data by its own"
        " fair coin. If not, the way is audit zero-run.",
        "--members",
        panel=SCORES,
    ),
]
NonMembers = Annotated[
    str | None,
    text(
        "FILE",
        "Of PrivacyGuard, where FILE has the scores of the members: those of the non-members.",
        "--non-members",
        panel=SCORES,
    ),
]
Which = Annotated[
    str | None,
    text("NAME", "Of a report of SACRO-ML with several results: the one that is wanted.", panel=SCORES),
]
Side = Annotated[Sides, one_of(Sides, "Guess members and non-members, or members only.", panel=EXPERT)]


def chosen(numbers: str | None, choice: ChoiceRule | None, seed: int) -> Any:
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
        choice = ChoiceRule.fixed if given is not None and len(given) == 1 else ChoiceRule.bonferroni
    if choice is ChoiceRule.fixed:
        if given is None or len(given) != 1:
            raise InputError("--choice fixed needs one number of --guesses")
        return scores.Fixed(given[0])
    if choice is ChoiceRule.split:
        return scores.Split(given, seed=seed)
    if choice is ChoiceRule.multisplit:
        return scores.MultiSplit(given, seed=seed)
    return scores.Bonferroni(given) if choice is ChoiceRule.bonferroni else scores.Uncorrected(given)


def chosen_for_all(numbers: str | None, choice: ChoiceRule | None, seed: int) -> Any:
    """The same for methods that judge one number of guesses: several numbers are tried on one half of the examples."""
    if numbers is None and choice is None:
        return None
    if choice is None and numbers is not None and "," in numbers:
        choice = ChoiceRule("split")
    return chosen(numbers, choice, seed)


def names_in(option: str, given: str | None) -> list[str]:
    """The names in an option, which are separated by commas; none where it is not given."""
    from bayes_dp.checks import InputError, show

    if given is None:
        return []
    names = [name.strip() for name in given.split(",")]
    if not all(names) or len(set(names)) < len(names):
        raise InputError(f"{option} must be different names separated by commas, not {show(given)}")
    return names


# -- what audits of counts are given beside them -----------------------------------------------------------------------

Overlap = Annotated[
    float | None,
    number("H", "For zero-run bounds: every example is a member with a probability from H to 1-H.", panel=EXPERT),
]
Baseline = Annotated[
    str | None, text("FILE", "For PANORAMIA: counts of decisions made without the model.", panel=EXPERT)
]
ScoresToo = Annotated[
    str | None,
    text(
        "FILE",
        "For zero-run bounds and the posterior under shift: the attack's scores of the same examples, with a column"
        " propensity; as for bayes-dp audit zero-run.",
        "--scores",
        panel=EXPERT,
    ),
]

# -- features ----------------------------------------------------------------------------------------------------------

FeatureColumns = Annotated[
    str | None,
    text("A,B,C", "The columns that are features; by default all that hold nothing else.", panel=FEATURES),
]
Categories = Annotated[
    str | None,
    text("A,B", "Columns that hold categories, although they are numbers or look like numbers.", panel=FEATURES),
]
Group = Annotated[
    str | None,
    text("NAME", "A column that says which examples belong together; they are never parted.", panel=FEATURES),
]
