"""Posteriors read back from files: the question that a file holds is asked again, and must have the file's answer.

A posterior is a function of its question: of the data, the priors and, by draws, of the settings and the seed. So a
file holds these, and neither tables nor draws, which would take many times as much. What was read back is the same bit
by bit where the same version runs on the same kind of machine. Elsewhere quadrature differs in its last digits, which
is let pass, and the chains of a sampler in all, which is refused: they would be another answer than the file's.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np

from bayes_dp.bayes.estimate import estimate
from bayes_dp.bayes.exact.posterior import exact, exact_delta
from bayes_dp.bayes.families.choice import family_of_words
from bayes_dp.bayes.families.registry import APPROX
from bayes_dp.bayes.levels.average import AveragePosterior
from bayes_dp.bayes.levels.curve_posterior import CurvePosterior, CurveQuestion
from bayes_dp.bayes.levels.curves_average import CurvesAverage
from bayes_dp.bayes.levels.posterior import FamilyPosterior, finite_delta, posterior_of_family
from bayes_dp.bayes.levels.saved_guesses import read_guesses
from bayes_dp.bayes.levels.score_orders import ScoreOrders
from bayes_dp.bayes.levels.shifted import ShiftedPosterior, estimate_shifted
from bayes_dp.bayes.priors import prior_of
from bayes_dp.bayes.question import priors_for
from bayes_dp.checks import InputError, one_number, seed_of, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import Source
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_LINE,
    A_SHARE,
    AN_OBJECT,
    SENTENCES,
    TRUTH,
    Wanted,
    checked_object,
    is_finite,
    is_line,
    one_of,
    read_json,
)
from bayes_dp.results.posterior import Posterior, checked_provenance
from bayes_dp.support.arrays import Floats

__all__ = ["read_dict", "read_file"]

_MOST = 50_000_000  # rates that the run of a file may draw: they take 800 MB
_AS_GOOD_AS_EQUAL = 1e-3  # share of an interval by which its ends may differ: versions differ in their panels

_OBJECT_OR_NULL: Wanted = (lambda value: value is None or isinstance(value, dict), "an object, or null")
_FIELDS: dict[str, Wanted] = {
    "kind": one_of("posterior"),
    "parameter": A_LINE,
    "prob": A_SHARE,
    "estimates": AN_OBJECT,
    "diagnostics": AN_OBJECT,
    "assumptions": SENTENCES,
    "cautions": SENTENCES,
    "warnings": SENTENCES,
    "provenance": AN_OBJECT,
    "asked": _OBJECT_OR_NULL,
}
_OF_FORMAT: dict[str, dict[str, Wanted]] = {
    Posterior.format: {"gaussian": AN_OBJECT},
    ShiftedPosterior.format: {
        "zero_run": (lambda value: value is None or isinstance(value, dict), "an object, or null")
    },
}
_BESIDE = {"check", "verdict", "reason", "fail_above", "claim", "prob_claim_is_wrong"}  # what the command line adds

_KNOWN: Wanted = (lambda value: value is None or is_finite(value, 0.0), "a finite number, at least 0, or null")
_STRENGTH: Wanted = (lambda value: is_finite(value, 0.0) or value in ("free", "tight"), "a number, free or tight")
_PRIORS: Wanted = (
    lambda value: isinstance(value, dict) and all(map(is_line, value.values())),
    "texts by parameter",
)
_SEED: Wanted = (lambda value: type(value) is int and value >= 0, "a whole number, at least 0")
_OF_COUNTS: dict[str, Wanted] = {
    "counts": AN_OBJECT,
    "family": A_LINE,
    "families": (
        lambda value: value is None or (isinstance(value, list) and len(value) > 0 and all(map(is_line, value))),
        "names, or null",
    ),
    "known": _KNOWN,
    "strength": _STRENGTH,
    "priors": _PRIORS,
    "run": _OBJECT_OR_NULL,
}
_RUN: dict[str, Wanted] = {
    "method": one_of("mhaar", "nuts"),
    "likelihood": A_LINE,
    "groups": (lambda value: value in (None, "hierarchical", "aggregate"), "hierarchical, aggregate or null"),
    "spread": (lambda value: value is None or is_finite(value, 0.0) or is_line(value), "a number, a text or null"),
    "settings": AN_OBJECT,
}
_OF_SCORES: dict[str, Wanted] = {
    "orders": AN_OBJECT,
    "members": (lambda value: isinstance(value, list) and len(value) > 0, "a list of families with their priors"),
    "averaged": TRUTH,
    "known": _KNOWN,
    "strength": _STRENGTH,
    "seed": _SEED,
    "accept_misfit": TRUTH,
}
_MEMBER: dict[str, Wanted] = {"family": A_LINE, "priors": _PRIORS}
_OF_GUESSES: dict[str, Wanted] = {
    "guesses": AN_OBJECT,
    "draws": (
        lambda value: value is None or (isinstance(value, list) and all(isinstance(row, str) for row in value)),
        "a list of texts of numbers, or null",
    ),
    "trusted": TRUTH,
    "known": (is_finite, "a finite number"),
    "strength": _STRENGTH,
    "priors": _PRIORS,
    "seed": _SEED,
}


def read_file(source: Source) -> Posterior:
    """The posterior that `to_json` wrote, or `bayes-dp estimate --json`."""
    return _restored(*read_json(source))


def read_dict(content: Any) -> Posterior:
    """The posterior of which this is `to_dict`."""
    return _restored("the posterior", content)


def _restored(name: str, content: Any) -> Posterior:
    found = _checked(name, content)
    asked = found["asked"]
    if asked is None:
        raise InputError(
            f"{name} holds intervals and not what it takes to ask again, as a family, a likelihood or a prior was the"
            " user's own, the run was interrupted, or the file is of before there was more: estimate again"
        )
    try:
        post = _READERS[_kind(asked)][1](found["parameter"], asked)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    _check_answer(name, found, post)
    return post


def _checked(name: str, content: Any) -> dict[str, Any]:
    try:
        shifted = isinstance(content, dict) and content.get("format") == ShiftedPosterior.format
        wanted = ShiftedPosterior.format if shifted else Posterior.format
        content = without_format(name, content, wanted)
        if isinstance(content, dict):
            content = {"asked": None} | {key: value for key, value in content.items() if key not in _BESIDE}
        found = checked_object(name, content, _FIELDS | _OF_FORMAT[wanted])
        checked_provenance(f"{name}: provenance", found["provenance"])
        if found["asked"] is not None:
            kind = _kind(found["asked"])
            if (kind == "guesses") != shifted:
                raise InputError(f"{name}: asked is of {kind}, which is not of the format {show(wanted)}")
            if kind == "counts":
                found["asked"] = {"families": None, "run": None} | found["asked"]
            checked_object(f"{name}: asked", found["asked"], _READERS[kind][0])
    except InputError as error:
        raise InputError(f"{error}; this is not a posterior as to_json and to_dict give it") from None
    return found


def _kind(asked: dict[str, Any]) -> str:
    """Which data the question is put to."""
    return "orders" if "orders" in asked else "guesses" if "guesses" in asked else "counts"


def _check_answer(name: str, found: dict[str, Any], post: Posterior) -> None:
    """Refuse a file whose intervals are not those of its question."""
    by_draws = bool(post.samples)
    now = post.to_dict(found["prob"])["estimates"]
    for parameter, row in now.items():
        old = found["estimates"].get(parameter)
        for end in ("low", "median", "high"):
            was, is_now = old.get(end, "missing") if isinstance(old, dict) else old, row[end]
            if was is None and is_now is None:  # not finite, then as now
                continue
            if is_finite(was) and is_now is not None:
                width = (row["high"] or 0.0) - (row["low"] or 0.0)
                if abs(was - is_now) <= _AS_GOOD_AS_EQUAL * width + 1e-12:
                    continue
            why = "; draws come out the same by the same version on the same kind of machine alone" if by_draws else ""
            raise InputError(
                f"{name}: the {end} of {parameter} is {show(was)}, but for the data and priors of the file it is"
                f" {show(is_now)}{why}"
            )
    if unknown := found["estimates"].keys() - now.keys():
        raise InputError(f"{name}: estimates has {show(min(unknown))}, which is not known; it has {', '.join(now)}")
    if (was := found["provenance"]["digest"]) != post.provenance.digest:
        raise InputError(f"{name}: provenance: digest is {show(was)}, which is not that of the data in the file")


def _of_counts(parameter: str, asked: dict[str, Any]) -> Posterior:
    return _answer(parameter, asked, ErrorCounts.from_json(io.StringIO(json.dumps(asked["counts"]))))


def _answer(parameter: str, asked: dict[str, Any], counts: ErrorCounts) -> Posterior:
    if asked["run"] is not None:
        return _by_draws(asked, counts)
    if asked["families"] is not None:
        each = [_answer(parameter, asked | {"family": name, "families": None}, counts) for name in asked["families"]]
        names = [post.family.name if isinstance(post, FamilyPosterior) else APPROX for post in each]
        return AveragePosterior(dict(zip(names, each, strict=True)))
    priors, family, known = asked["priors"], asked["family"], asked["known"]
    of_strength = {"prior_strength": priors.get("strength"), "strength": asked["strength"]}
    if family != APPROX:
        own = {name: prior for name, prior in priors.items() if name not in ("epsilon", "strength")}
        prior, chosen = next(iter(own.values()), None), family_of_words(family)
        post = posterior_of_family(counts, chosen, prior=prior, prior_epsilon=priors.get("epsilon"), **of_strength)
        if parameter == "delta":
            return post.delta_at(known)
        return post.epsilon_at(known) if parameter == "epsilon" else post
    if parameter == "delta":
        return exact_delta(counts, known, prior_delta=priors.get("delta"), **of_strength)
    return exact(counts, known, prior_epsilon=priors.get("epsilon"), **of_strength)


def _by_draws(asked: dict[str, Any], counts: ErrorCounts) -> Posterior:
    run, priors = checked_object("asked: run", asked["run"], _RUN), asked["priors"]
    settings = run["settings"]
    if clash := settings.keys() & {"counts", "delta", "progress", *_RUN, *_OF_COUNTS, "prior_epsilon"}:
        raise InputError(f"asked: run: settings has {show(min(clash))}, which is not known")
    sizes = (settings.get(name, 1) for name in ("chains", "draws", "warmup"))
    chains, draws, warmup = (size if type(size) is int else 1 for size in sizes)  # what is none is refused below
    if chains * (draws + warmup) * len(counts) > _MOST:
        raise InputError(f"asked: run: chains, draws and warmup are for more than {_MOST} rates, which no file may ask")
    return estimate(
        counts,
        asked["known"],
        prior_epsilon=priors.get("epsilon"),
        prior_strength=priors.get("strength"),
        strength=asked["strength"],
        **{name: value for name, value in run.items() if name != "settings"},
        **settings,
    )


def _of_scores(parameter: str, asked: dict[str, Any]) -> Posterior:
    orders = ScoreOrders.from_dict("asked: orders", asked["orders"])
    posts = {}
    for member in asked["members"]:
        words = checked_object("asked: a member", member, _MEMBER)
        family, priors = family_of_words(words["family"]), words["priors"]
        own = priors.get(family.parameter)
        prior = None if own is None else prior_of(family.parameter, own)
        strength, shared = priors_for("epsilon", priors.get("epsilon"), asked["strength"], priors.get("strength"))
        known = _known(parameter, asked["known"], family.parameter)
        if parameter == "epsilon":
            finite_delta(family, known)
        first = shared["epsilon"] if prior is None else None
        posts[family.name] = CurvePosterior(
            CurveQuestion(
                orders, family, parameter, known, prior, first, strength, shared.get("strength"), seed_of(asked["seed"])
            )
        )
    if len(posts) < len(asked["members"]):
        raise InputError("asked: members has two of one family")
    if asked["averaged"]:
        return CurvesAverage(posts, asked["accept_misfit"])
    if len(posts) > 1:
        raise InputError(f"asked: averaged must be true for {len(posts)} families, not false")
    return next(iter(posts.values()))


def _known(parameter: str, known: Any, own: str) -> Any:
    """δ where ε is the unknown, ε where δ is, None where the family's own parameter is."""
    if parameter == "epsilon":
        return one_number("asked: known", known, 0.0, 1.0, high_open=True)
    if parameter == "delta":
        return one_number("asked: known", known, 0.0, 700.0)
    if parameter != own or known is not None:
        raise InputError(f"parameter must be epsilon, delta or, where nothing is known, {own}, not {show(parameter)}")
    return None


def _of_guesses(parameter: str, asked: dict[str, Any]) -> Posterior:
    if parameter != "epsilon":
        raise InputError(f"parameter must be epsilon, not {show(parameter)}")
    priors = asked["priors"]
    return estimate_shifted(
        read_guesses("asked: guesses", asked["guesses"]),
        asked["known"],
        draws=None if asked["draws"] is None else _rows_of_numbers(asked["draws"]),
        known=asked["trusted"],
        prior_epsilon=priors.get("epsilon"),
        prior_strength=priors.get("strength"),
        strength=asked["strength"],
        seed=asked["seed"],
    )


def _rows_of_numbers(texts: list[str]) -> Floats:
    rows = [text.split() for text in texts]
    if not rows or len({len(row) for row in rows}) != 1:
        raise InputError("asked: draws must be texts of as many numbers each")
    try:
        return np.array(rows, dtype=np.float64)
    except ValueError:
        raise InputError("asked: draws must be texts of numbers") from None


_READERS: dict[str, tuple[dict[str, Wanted], Callable[[str, dict[str, Any]], Posterior]]] = {
    "counts": (_OF_COUNTS, _of_counts),
    "orders": (_OF_SCORES, _of_scores),
    "guesses": (_OF_GUESSES, _of_guesses),
}
