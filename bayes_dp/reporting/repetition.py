"""How a report is made again: the command, and the lines of Python."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from bayes_dp.attacks.scores import Fixed, Split
from bayes_dp.bayes.priors import describe
from bayes_dp.data.guesses import Guesses
from bayes_dp.games.played import Played
from bayes_dp.reporting.document import Code, shown
from bayes_dp.reporting.findings import Findings
from bayes_dp.tradeoff import ApproxDP

__all__ = ["repetition"]

_DEFAULTS = {
    "prior_epsilon": None,
    "prior_strength": None,
    "strength": "free",
    "likelihood": "binomial",
    "method": None,
    "chains": None,
    "draws": None,
    "warmup": None,
}
_SIMPLE = (str, int, float, bool)


def repetition(found: Findings, title: str | None, source: str | None) -> dict[str, Code]:
    """The command only where one would give the same report: from a file, without settings of Python's own, and
    without a control or scores, whose files are not known here."""
    options = {k: _text(k, v) for k, v in found.options.items() if k not in _DEFAULTS or v != _DEFAULTS[k]}
    common = {"prob": found.prob, **options, "seed": found.seed, "title": title}
    codes = {"python": Code("python", "The same in Python:", _python(found, common, source))}
    files = (found.control is not None and found.control is not False) or (
        found.scores is not None and found.judged is None
    )
    told = _claim_words(found) is not None and _choice_words(found) is not None
    named = isinstance(found.options["likelihood"], str) and not files and told
    if source is not None and named and options.keys() <= _DEFAULTS.keys():
        codes = {"command": Code("command", "On the command line:", _command(found, common, source))} | codes
    return codes


def _text(name: str, value: Any) -> Any:
    """An option as it can be written down; a user's prior or likelihood by its description."""
    if value is None or isinstance(value, _SIMPLE):
        return value
    return describe(value) if name.startswith("prior") else getattr(value, "name", str(value))


def _command(found: Findings, options: Mapping[str, Any], source: str) -> str:
    words = ["bayes-dp", "report", source, "--delta", repr(found.delta)]
    if found.judged is None:
        words += ["--design", found.counts.design]
        words += ["--examples", str(found.counts.examples)] if found.counts.examples is not None else []
    words += _choice_words(found) or []
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", value if isinstance(value, str) else repr(value)]
    if found.verdict is not None:
        words += ["--fail-above", repr(found.verdict.epsilon)] + ["--no-control"] * (found.control is False)
    words += _claim_words(found) or []
    return shown(shlex.join([*words, "-o", "report.html"]))


def _choice_words(found: Findings) -> list[str] | None:
    """The options of the choice of the number of guesses; None where there are none for it."""
    choice = found.choice
    if choice is None:
        return None if isinstance(found.given, Guesses) else []
    if isinstance(choice, Split):
        if choice.fraction != Split().fraction or choice.seed != found.seed:
            return None
        numbers = [] if choice.numbers is None else ["--guesses", ",".join(map(str, choice.numbers))]
        return [*numbers, "--choice", "split"]
    number = choice.n if isinstance(choice, Fixed) else choice
    return ["--guesses", str(number)] if isinstance(number, int) else None


def _claim_words(found: Findings) -> list[str] | None:
    """The options of a claim; None where there are none for it."""
    claim = found.stated
    if claim is None:
        return []
    if claim.delta not in (None, found.delta):
        return None
    if claim.training is not None:
        return ["--claim-dp-sgd", ",".join(map(repr, claim.training))]
    return ["--claim-epsilon", repr(claim.below.epsilon)] if isinstance(claim.below, ApproxDP) else None


def _python(found: Findings, options: Mapping[str, Any], source: str | None) -> str:
    counts = found.counts
    what = "counts"
    if isinstance(found.given, Guesses):
        what = "guesses"
        read = f"guesses = ...  # the bdp.Guesses whose digest() is {found.given.digest()!r}"
    elif isinstance(found.given, Played):
        what = "played"
        read = f"played = ...  # the bdp.games.Played whose digest() is {found.given.digest()!r}"
    elif found.judged is not None:
        what = "scores"
        read = f"scores = ...  # the bdp.GuessTable of {len(found.judged.table)} examples"
        if source not in (None, "-"):
            read = f"scores = bdp.GuessTable.read({source!r})"
    elif source in (None, "-"):
        read = f"counts = ...  # the bdp.ErrorCounts of design {counts.design!r} whose digest() is {counts.digest()!r}"
    else:
        examples = "" if counts.examples is None else f", examples={counts.examples}"
        read = f"counts = bdp.ErrorCounts.read({source!r}, design={counts.design!r}{examples})"
    given = "".join(f", {k}={v!r}" for k, v in (*options.items(), ("source", source)) if v is not None)
    more = []
    if found.verdict is not None:
        given += f", limit={found.verdict.epsilon!r}" + ", control=False" * (found.control is False)
    if found.stated is not None:
        given += ", claim=claim"
        more = [f"claim = {found.stated.expression}"]
    if found.control is not None and found.control is not False:
        given += ", control=control"
        kind = type(found.control).__name__
        more += [f"control = ...  # the bdp.{kind} whose digest() is {found.control.digest()!r}"]
    if found.judged is not None and found.choice is not None:
        prefix = "" if isinstance(found.choice, int) else "bdp.attacks."
        given += f", choice={prefix}{found.choice!r}"
    elif found.judged is None and found.scores is not None:
        given += ", scores=scores"
        more += [f"scores = ...  # the bdp.GuessTable whose digest() is {found.scores.digest()!r}"]
    lines = ["import bayes_dp as bdp", read, *more, f"bdp.report({what}, {found.delta!r}{given}).save('report.html')"]
    return "\n".join(map(shown, lines))
