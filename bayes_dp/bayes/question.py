"""The question put to the counts: which parameter is unknown, what is known, the priors and the likelihood."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from bayes_dp.bayes.likelihoods.base import BaseLikelihood, likelihood_of
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.priors import describe, exact_words, prior_of
from bayes_dp.checks import InputError, one_number, show
from bayes_dp.data.counts import CROSS_FED, OBSERVATIONAL, ErrorCounts
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats

__all__ = ["Parameter", "Question", "Strength", "ask", "asked_again", "needs_area", "priors_for", "words_of_priors"]

Parameter = Literal["epsilon", "delta"]
Strength = float | Literal["free", "tight"]

_ONE_MODEL = "The guesses were made on one model, so their errors are in truth dependent."
_OTHER: dict[Parameter, Parameter] = {"epsilon": "delta", "delta": "epsilon"}


@dataclass(frozen=True)
class Question:
    """A checked question, the same for every method that answers it."""

    counts: ErrorCounts
    parameter: Parameter  # the unknown one
    known: float  # the other
    strength: Strength
    priors: Mapping[str, Any]  # of the parameter and, if it is free, of the strength
    likelihood: BaseLikelihood
    grouped: ErrorCounts | None = None  # the counts as they were given, where the model knows of their groups

    def privacy(self, value: Floats) -> tuple[Floats, Floats]:
        """(ε, δ) for values of the unknown parameter."""
        known = np.full_like(value, self.known)
        return (value, known) if self.parameter == "epsilon" else (known, value)

    def given(self, parameter: Parameter, known: float, prior: Any = None) -> Question:
        """The same question with another unknown, known value or prior; by default the prior stays if it can."""
        if prior is None:
            prior = self.priors.get(parameter)
        priors: dict[str, Any] = {parameter: prior_of(parameter, prior)}
        priors |= {name: p for name, p in self.priors.items() if name == "strength"}
        return replace(self, parameter=parameter, known=_known(parameter, known), priors=priors)

    def assumptions(self) -> tuple[str, ...]:
        """What the answer rests on, a sentence each."""
        strength = {
            "free": "The strength s that every attack reaches is unknown and estimated along with the privacy"
            " parameter.",
            "tight": "Every attack is the strongest possible on the worst possible challenge base (s → 1).",
        }.get(str(self.strength), f"The strength that every attack reaches is known, s = {self.strength}.")
        found = [
            f"{'δ' if self.parameter == 'epsilon' else 'ε'} = {self.known:g} is known.",
            strength,
            "The true error rates of the bases are independent and uniform over the layer R_s(ε,δ).",
            self.likelihood.assumption,
        ]
        return tuple(found + ([self.caution()] if self.caution() else []))

    def caution(self) -> str:
        """Why the counts do not meet the assumptions, in sentences; empty where they do."""
        design = {
            "cross_fed": f"{CROSS_FED}: the interval may be too narrow.",
            "one_run": _ONE_MODEL,
            "observational": f"{_ONE_MODEL} {OBSERVATIONAL}",
        }.get(self.counts.design, "")
        if self.counts.design == "cross_fed" and self.likelihood.correlated:
            design = ""
        shared = _shared_labels(self.counts) if self.grouped is None else ""
        return " ".join(filter(None, (design, shared, self.likelihood.caution(self.counts))))

    def provenance(self, method: str, settings: Mapping[str, Any]) -> Provenance:
        """What it takes to ask again, with the settings of the method."""
        own = self.likelihood.distributions()
        return Provenance(
            method=method,
            digest=(self.counts if self.grouped is None else self.grouped).digest(),
            known={_OTHER[self.parameter]: self.known},
            priors={name: describe(prior) for name, prior in (*self.priors.items(), *own.items())},
            settings={
                "strength": self.strength,
                "likelihood": self.likelihood.name,
                **self.likelihood.settings,
                **settings,
            },
        )

    def saved(self) -> dict[str, Any] | None:
        """What it takes to ask again, fit for JSON; None where a prior is none that text can say."""
        counts = self.counts if self.grouped is None else self.grouped
        return asked_again(counts, self.known, self.strength, self.priors, "approx")


def asked_again(
    counts: ErrorCounts, known: float | None, strength: Strength, priors: Mapping[str, Any], family: str | None
) -> dict[str, Any] | None:
    """A question fit for JSON, of which `bayes/saved.py` is the reader; None where text cannot say what is asked."""
    words = words_of_priors(priors)
    if words is None or family is None:
        return None
    return {"counts": counts.to_dict(), "family": family, "known": known, "strength": strength, "priors": words}


def words_of_priors(priors: Mapping[str, Any]) -> dict[str, str] | None:
    """The text of each prior, with all digits; None where one has none."""
    words = {name: exact_words(prior) for name, prior in priors.items()}
    return None if None in words.values() else {name: str(text) for name, text in words.items()}


def _shared_labels(counts: ErrorCounts) -> str:
    """Why bases with the same label may not be independent, a sentence; empty where no labels are shared."""
    for column, labels in (("group", counts.group), ("base", counts.base)):
        often = Counter(filter(None, labels or ()))  # an empty label is none
        if shared := sum(number for number in often.values() if number > 1):
            given = "groups=" if column == "group" else "groups= and the labels as group"
            return (
                f"{shared} of the {len(counts)} bases share their {column} label with another, and were taken for"
                f" independent all the same, so the interval may be too narrow: give {given} (on the command line"
                f" --groups {column})."
            )
    return ""


def ask(
    counts: ErrorCounts,
    parameter: Parameter,
    known: float,
    *,
    prior: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    likelihood: Any = "binomial",
) -> Question:
    """A question from what the caller gives; each fault is an InputError."""
    if not isinstance(counts, ErrorCounts):
        raise InputError(
            f"counts must be ErrorCounts, not {type(counts).__name__}; see ErrorCounts.from_csv and others"
        )
    known, (strength, priors) = _known(parameter, known), priors_for(parameter, prior, strength, prior_strength)
    law = likelihood_of(likelihood)
    law.check(Counts.of(counts))
    return Question(counts, parameter, known, strength, priors, law)


def priors_for(parameter: Parameter, prior: Any, strength: Any, prior_strength: Any) -> tuple[Strength, dict[str, Any]]:
    """The strength, checked, and the priors of the parameter and, if it is free, of the strength."""
    strength = _strength(strength)
    priors: dict[str, Any] = {parameter: prior_of(parameter, prior)}
    if strength == "free":
        priors["strength"] = prior_of("strength", prior_strength)
    elif prior_strength is not None:
        raise InputError(f"prior_strength is for strength='free'; here the strength is {show(strength)}")
    return strength, priors


def needs_area(what: str, strength: Strength) -> None:
    """Refuse the limit s → 1 for what draws rates from the layer: "NUTS is", "groups are"."""
    if strength == "tight":
        raise InputError(
            f"{what} not defined for strength='tight', where the layer has no area; use method='exact' and no groups"
        )


def _known(parameter: Parameter, value: Any) -> float:
    """δ in [0, 1) where ε is the unknown, ε in [0, 700] where δ is."""
    if parameter == "epsilon":
        return one_number("delta", value, 0.0, 1.0, high_open=True)
    return one_number("epsilon", value, 0.0, 700.0)


def _strength(value: Any) -> Strength:
    if isinstance(value, str):
        if value not in ("free", "tight"):
            raise InputError(f"strength must be 'free', 'tight' or a number in [0, 1), not {show(value)}")
        return "free" if value == "free" else "tight"
    return one_number("strength", value, 0.0, 1.0, high_open=True)
