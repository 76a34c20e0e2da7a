"""Posteriors read back from files: the question that a file holds is asked again, and must have the file's answer.

A posterior by quadrature is a function of its question, which is all it takes for intervals, densities and draws.
The draws of a sampler are in no file.
"""

from __future__ import annotations

import io
import json
from typing import Any

from bayes_dp.bayes.exact.posterior import exact, exact_delta
from bayes_dp.bayes.families.registry import APPROX
from bayes_dp.bayes.levels.average import AveragePosterior
from bayes_dp.bayes.levels.posterior import posterior_of_family
from bayes_dp.checks import InputError, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import Source
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_LINE,
    A_SHARE,
    AN_OBJECT,
    SENTENCES,
    Wanted,
    checked_object,
    is_finite,
    is_line,
    one_of,
    read_json,
)
from bayes_dp.results.posterior import Posterior, checked_provenance

__all__ = ["read_dict", "read_file"]

_AS_GOOD_AS_EQUAL = 1e-3  # share of an interval by which its ends may differ: versions differ in their panels

_SHIFTED = "bayes-dp/shifted/1"
_OTHER_DATA = {"curves": ("scores", "estimate_curves"), "shifted": ("guesses", "estimate_shifted")}

_FIELDS: dict[str, Wanted] = {
    "kind": one_of("posterior"),
    "parameter": A_LINE,
    "prob": A_SHARE,
    "estimates": AN_OBJECT,
    "gaussian": AN_OBJECT,
    "diagnostics": AN_OBJECT,
    "assumptions": SENTENCES,
    "cautions": SENTENCES,
    "warnings": SENTENCES,
    "provenance": AN_OBJECT,
    "asked": (lambda value: value is None or isinstance(value, dict), "an object, or null"),
}
_BESIDE = {"check", "verdict", "reason", "fail_above", "claim", "prob_claim_is_wrong"}  # what the command line adds
_ASKED: dict[str, Wanted] = {
    "counts": AN_OBJECT,
    "family": A_LINE,
    "families": (
        lambda value: value is None or (isinstance(value, list) and len(value) > 0 and all(map(is_line, value))),
        "names, or null",
    ),
    "known": (lambda value: value is None or is_finite(value, 0.0), "a finite number, at least 0, or null"),
    "strength": (lambda value: is_finite(value, 0.0) or value in ("free", "tight"), "a number, free or tight"),
    "priors": (lambda value: isinstance(value, dict) and all(map(is_line, value.values())), "texts by parameter"),
}


def read_file(source: Source) -> Posterior:
    """The posterior that `to_json` wrote, or `bayes-dp estimate --json`."""
    return _restored(*read_json(source))


def read_dict(content: Any) -> Posterior:
    """The posterior of which this is `to_dict`."""
    return _restored("the posterior", content)


def _restored(name: str, content: Any) -> Posterior:
    if isinstance(content, dict) and content.get("format") == _SHIFTED:
        raise InputError(f"{name} holds intervals and not what it takes to ask again, as {_missing('shifted')}")
    found = _checked(name, without_format(name, content, Posterior.format))
    asked, method = found["asked"], found["provenance"]["method"]
    if asked is None:
        raise InputError(f"{name} holds intervals and not what it takes to ask again, as {_missing(method)}")
    post = _answer(found["parameter"], asked, ErrorCounts.from_json(io.StringIO(json.dumps(asked["counts"]))))
    now = post.to_dict(found["prob"])["estimates"]
    for parameter, row in now.items():
        old = found["estimates"].get(parameter)
        for end in ("low", "median", "high"):
            was = old.get(end) if isinstance(old, dict) else None
            if not is_finite(was) or not abs(was - row[end]) <= _AS_GOOD_AS_EQUAL * (row["high"] - row["low"]) + 1e-12:
                raise InputError(
                    f"{name}: the {end} of {parameter} is {show(was)}, but for the counts and priors of the file it is"
                    f" {show(row[end])}"
                )
    return post


def _missing(method: str) -> str:
    """Why the posterior of a method cannot be asked again, and what to do."""
    if method in _OTHER_DATA:
        data, function = _OTHER_DATA[method]
        return f"the {data} are in no file; give bayes_dp.{function} the {data} and its settings"
    return (
        f"the method {show(method)} has draws, or the priors or the family are the user's own; give bayes_dp.estimate"
        " the counts and its settings"
    )


def _checked(name: str, content: Any) -> dict[str, Any]:
    try:
        if isinstance(content, dict):
            content = {"asked": None} | {key: value for key, value in content.items() if key not in _BESIDE}
        found = checked_object(name, content, _FIELDS)
        checked_provenance(f"{name}: provenance", found["provenance"])
        if found["asked"] is not None:
            found["asked"] = {"families": None} | found["asked"]
            checked_object(f"{name}: asked", found["asked"], _ASKED)
    except InputError as error:
        raise InputError(f"{error}; this is not a posterior as to_json and to_dict give it") from None
    return found


def _answer(parameter: str, asked: dict[str, Any], counts: ErrorCounts) -> Posterior:
    if asked["families"] is not None:
        each = {name: asked | {"family": name, "families": None} for name in asked["families"]}
        return AveragePosterior({name: _answer(parameter, one, counts) for name, one in each.items()})
    priors, family, known = asked["priors"], asked["family"], asked["known"]
    of_strength = {"prior_strength": priors.get("strength"), "strength": asked["strength"]}
    if family != APPROX:
        own = {name: prior for name, prior in priors.items() if name not in ("epsilon", "strength")}
        prior = next(iter(own.values()), None)
        post = posterior_of_family(counts, family, prior=prior, prior_epsilon=priors.get("epsilon"), **of_strength)
        if parameter == "delta":
            return post.delta_at(known)
        return post.epsilon_at(known) if parameter == "epsilon" else post
    if parameter == "delta":
        return exact_delta(counts, known, prior_delta=priors.get("delta"), **of_strength)
    return exact(counts, known, prior_epsilon=priors.get("epsilon"), **of_strength)
