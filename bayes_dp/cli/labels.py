"""The verbs audit labels, audit attribute and audit proxy-error: what a model remembers of labels, or of another column
of its data, and what the labels say of the error of their proxy."""

from __future__ import annotations

import json
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayes_dp.cli.audit import Tau, audit, report
from bayes_dp.cli.claims import claim_given, tell, worst
from bayes_dp.cli.command import Verb
from bayes_dp.cli.options import (
    EXPERT,
    AsJson,
    Brief,
    Categories,
    ClaimDpSgd,
    ClaimEpsilon,
    Confidence,
    Delta,
    FailAbove,
    How,
    MeaningToo,
    Numbers,
    Seed,
    argument,
    chosen,
    flag,
    names_in,
    one_of,
    text,
    whole,
)

if TYPE_CHECKING:
    from bayes_dp.claims.claim import Claim
    from bayes_dp.propensity.features import Columns
    from bayes_dp.results.bound import LowerBound

__all__: list[str] = []

_REST = """
The proxy and the control are models that never saw these labels. Without a
control, or where the control has a bound above 0 or knows less of the labels
than the proxy, the bound is not valid.

\b
Exit codes:
  0 done, 1 the check of --fail-above failed, or the claim is refuted,
  2 bad input (one line on standard error says what is wrong),
  3 the check or the claim is inconclusive, as the bound is not valid"""

_LABELS = f"""\b
FILE has one row for each example of the training, say with two classes:
  label,q_0,q_1,p_0,p_1,c_0,c_1
  1,0.31,0.69,0.02,0.98,0.27,0.73
label     the class that was trained on: a whole number from 0, or one of --classes
q, p, c   probabilities of the classes by the proxy, the audited model, the control

\b
Example:
  bayes-dp audit labels table.csv --label label --proxy q_0,q_1 \\
    --model p_0,p_1 --control c_0,c_1 --delta 1e-5
{_REST}"""

_ATTRIBUTE = f"""\b
FILE has one row for each example of the training, say with two values:
  smoker,q_no,q_yes,l_no,l_yes,c_no,c_yes
  yes,0.8,0.2,0.41,0.93,0.55,0.61
q         probabilities of the values given the other columns, by the proxy
l, c      what the audited model and the control give to the example's label if
          the value were this one

\b
Example:
  bayes-dp audit attribute table.csv --attribute smoker --classes no,yes \\
    --proxy q_no,q_yes --likelihood l_no,l_yes --control c_no,c_yes --delta 1e-5
{_REST}"""


_PROXY_ERROR = """\b
FILE has one row for each example of the training, as for bayes-dp audit labels:
  label,q_0,q_1,age,city
  1,0.31,0.69,41,Bern

\b
Example:
  bayes-dp audit proxy-error table.csv --label label --proxy q_0,q_1 --features age,city --categories city
The number is a lower bound on tau: nothing bounds it from above.

\b
Exit codes:
  0 done, 2 bad input (one line on standard error says what is wrong)"""


class FamilyOfLabels(StrEnum):
    approx = "approx"
    gaussian = "gaussian"


Table = Annotated[str, argument("The examples of the training: a .csv, .tsv, .txt or .parquet file, see below.")]
LabelColumn = Annotated[str, text("COLUMN", "The column of the labels that were trained on.")]
AttributeColumn = Annotated[str, text("COLUMN", "The column of the attribute's values in the training.")]
OfProxy = Annotated[str, text("A,B[,...]", "The columns of the proxy's probabilities, in the order of the classes.")]
OfModel = Annotated[str, text("A,B[,...]", "The columns of the audited model's probabilities.")]
OfLikelihood = Annotated[
    str, text("A,B[,...]", "The columns of what the audited model gives to the label under each value.")
]
OfControl = Annotated[str | None, text("A,B[,...]", "The columns of the control.")]
Classes = Annotated[
    str | None, text("A,B[,...]", "The classes, in the order of the columns; by default 0, 1, and so on.")
]
ExactProxy = Annotated[
    bool, flag("--exact-proxy", "The proxy is the very law of the labels, as in a simulation.", panel=EXPERT)
]
Games = Annotated[int, whole("N", "How often the game is played.", panel=EXPERT)]
KnownFeatures = Annotated[
    str | None,
    text("A,B,C", "Columns that are features, for a two-sample test; none may come from a model that saw the labels."),
]
Taus = Annotated[
    str | None,
    text("T,T[,...]", "A curve of the bound by these slacks, which rise, in the place of --tau.", panel=EXPERT),
]
Kind = Annotated[FamilyOfLabels, one_of(FamilyOfLabels, "The privacy that is bounded.", panel=EXPERT)]


@audit.command("labels", cls=Verb, epilog=_LABELS, short_help="What a model remembers of the labels it was trained on.")
def labels(
    file: Table,
    label: LabelColumn,
    proxy: OfProxy,
    model: OfModel,
    delta: Delta,
    control: OfControl = None,
    classes: Classes = None,
    guesses: Numbers = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    meaning: MeaningToo = False,
    choice: How = None,
    tau: Tau = 0.0,
    taus: Taus = None,
    family: Kind = FamilyOfLabels.approx,
    exact_proxy: ExactProxy = False,
    games: Games = 21,
    seed: Seed = 0,
) -> int:
    """Bound the ε of label privacy from below, by a game that is played after the training.

    Of each example a guesser sees the label of the training or one that a proxy draws, and says which it is.
    """
    names = {"proxy": proxy, "model": model, "control": control}
    settings = {"delta": delta, "family": family.value, "exact": exact_proxy, "games": games}
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    run = _audit_of(file, label, classes, names, guesses, choice, confidence, seed, settings)
    return _told(run, taus, tau, as_json, brief, fail_above, meaning, claim)


@audit.command("attribute", cls=Verb, epilog=_ATTRIBUTE, short_help="What a model remembers of another column.")
def attribute(
    file: Table,
    attribute: AttributeColumn,
    proxy: OfProxy,
    likelihood: OfLikelihood,
    delta: Delta,
    control: OfControl = None,
    classes: Classes = None,
    guesses: Numbers = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    fail_above: FailAbove = None,
    claim_epsilon: ClaimEpsilon = None,
    claim_dp_sgd: ClaimDpSgd = None,
    meaning: MeaningToo = False,
    choice: How = None,
    tau: Tau = 0.0,
    taus: Taus = None,
    family: Kind = FamilyOfLabels.approx,
    exact_proxy: ExactProxy = False,
    games: Games = 21,
    seed: Seed = 0,
) -> int:
    """Bound the ε of the privacy of an attribute from below, by a game that is played after the training.

    Of each example a guesser sees the value of the training or one that a proxy draws, and says which it is.
    """
    names = {"proxy": proxy, "likelihood": likelihood, "control": control}
    settings = {"delta": delta, "family": family.value, "exact": exact_proxy, "games": games}
    claim = claim_given(claim_epsilon, claim_dp_sgd, delta)
    run = _audit_of(file, attribute, classes, names, guesses, choice, confidence, seed, settings)
    return _told(run, taus, tau, as_json, brief, fail_above, meaning, claim)


@audit.command(
    "proxy-error", cls=Verb, epilog=_PROXY_ERROR, short_help="How wrong a proxy of labels is at least, by the labels."
)
def proxy_error(
    file: Table,
    label: LabelColumn,
    proxy: OfProxy,
    classes: Classes = None,
    features: KnownFeatures = None,
    categories: Categories = None,
    confidence: Confidence = 0.95,
    as_json: AsJson = False,
    brief: Brief = False,
    seed: Seed = 0,
) -> int:
    """Bound the error tau of a proxy of labels from below, in total variation, by labels that it never saw.

    With features a classifier looks for more, in a two-sample test.
    """
    from bayes_dp.audits.proxy_error import proxy_error as error
    from bayes_dp.checks import InputError

    table, truth, given = _read(file, label, classes, {"proxy": proxy}, proper=True)
    if features is None and categories is not None:
        raise InputError("--categories are among the --features, which are not given")
    x = None
    if features is not None:
        wanted = names_in("--features", features), names_in("--categories", categories)
        _, x = table.features(*wanted).matrix()
    found = error(truth, given["proxy"], confidence, features=x, seed=seed)
    if as_json:
        typer.echo(json.dumps({"tau_at_least": found, "confidence": confidence, "examples": len(truth)}, indent=2))
    else:
        typer.echo(f"tau >= {found:.4g} with confidence {100 * confidence:g}%")
        if brief:
            return 0
        typer.echo("The proxy must have been made without these labels. Nothing here bounds tau from above.")
    return 0


def _audit_of(
    file: str,
    column: str,
    classes: str | None,
    names: dict[str, str | None],
    guesses: str | None,
    choice: Any,
    confidence: float,
    seed: int,
    settings: dict[str, Any],
) -> Callable[[float, float], LowerBound]:
    """The audit, by tau; and by the largest tau that is asked about, which decides how many guesses are tried."""
    from bayes_dp.audits.labels import labels as bound
    from bayes_dp.audits.observational import by_default

    _, truth, given = _read(file, column, classes, names, proper="likelihood" not in names)

    def run(tau: float, largest: float) -> LowerBound:
        plain = guesses is None and choice is None
        made = by_default(len(truth), largest) if plain else chosen(guesses, choice, seed)
        how = settings | {"choice": made, "confidence": confidence, "seed": seed, "tau": tau}
        return bound(truth, **({"model": None} | given), **how)

    return run


def _read(
    file: str, column: str, classes: str | None, names: dict[str, str | None], proper: bool
) -> tuple[Columns, Any, dict[str, Any]]:
    """The file, the places of its labels among the classes, (n,), and the numbers of its columns, (n, k) by name; those
    that are `proper` probabilities sum to 1."""
    import numpy as np

    from bayes_dp.checks import InputError, show, text_of
    from bayes_dp.data.layout import real_number, whole_of
    from bayes_dp.propensity.features import open_columns

    table = open_columns(file, (column.lower(),))
    given: dict[str, Any] = {}
    for name, headings in names.items():
        if headings is None:
            continue
        wanted = names_in(f"--{name}", headings)
        columns = [table.column(heading) for heading in wanted]
        for heading, cells in zip(wanted, columns, strict=True):
            found = [real_number((text_of(cell) or "").strip()) for cell in cells.tolist()]
            wrong = next((i for i, each in enumerate(found) if each is None or not np.isfinite(each)), None)
            if wrong is not None:
                raise InputError(
                    f"{table.place(wrong)}: the column {show(heading)} must hold a number, not {show(cells[wrong])}"
                )
        if len(columns) < 2:
            raise InputError(f"--{name} must name the columns of two or more classes, not of {len(columns)}")
        given[name] = np.column_stack(columns).astype(np.float64)
        total = given[name].sum(axis=1)
        if (proper or name == "proxy") and (off := np.abs(total - 1) > 1e-6).any():
            row = int(np.argmax(off))
            raise InputError(f"{table.place(row)}: the probabilities of --{name} must sum to 1, not to {total[row]:g}")
    known = names_in("--classes", classes) or [str(i) for i in range(given["proxy"].shape[1])]
    if len(known) != given["proxy"].shape[1]:
        raise InputError(
            f"--proxy must name a column for each of the {len(known)} classes, not {given['proxy'].shape[1]}"
        )
    place = {name: i for i, name in enumerate(known)}
    named = [(text_of(cell) or "").strip() for cell in table.column(column).tolist()]
    # Other tools write classes that are whole numbers as 1.0 or 1e+00.
    places = {cell: place.get(cell, place.get(str(whole_of(cell)))) for cell in dict.fromkeys(named)}
    wrong = next((i for i, cell in enumerate(named) if places[cell] is None), None)
    if wrong is not None:
        raise InputError(f"{table.place(wrong)}: {column} must be one of {', '.join(known)}, not {show(named[wrong])}")
    return table, np.array([places[cell] for cell in named]), given


def _told(
    run: Callable[[float, float], LowerBound],
    taus: str | None,
    tau: float,
    as_json: bool,
    brief: bool,
    fail_above: float | None,
    meaning: bool,
    claim: Claim | None,
) -> int:
    from bayes_dp.checks import InputError, show

    if taus is not None:
        from bayes_dp.audits.sensitivity import sensitivity

        if tau or fail_above is not None or meaning or claim is not None:
            raise InputError("--taus gives a curve: a check, a claim and what a bound means are for one --tau")
        try:
            given = [float(part) for part in taus.split(",")]
        except ValueError:
            raise InputError(f"--taus must be numbers separated by commas, not {show(taus)}") from None
        curve = sensitivity(lambda slack: run(slack, max(given)), given)
        typer.echo(json.dumps(curve.to_dict(), indent=2) if as_json else curve.brief() if brief else curve.summary())
        return 0
    found = run(tau, tau)
    code = report({"all": found}, as_json, fail_above, meaning=meaning, brief=brief)
    return code if claim is None else worst(code, tell({"all": claim.test(found)}, as_json))
