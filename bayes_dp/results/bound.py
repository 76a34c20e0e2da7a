"""What the audits return: a lower bound with its confidence, a credible interval, or an estimate that is neither."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, ClassVar, Literal

from bayes_dp.checks import InputError
from bayes_dp.data.files import write_text_atomically
from bayes_dp.results.posterior import Provenance, digits, finite
from bayes_dp.support.text import Lines

__all__ = ["CredibleInterval", "Estimate", "LowerBound", "joined"]

Kind = Literal["lower_bound", "posterior", "estimate"]


@dataclass(frozen=True)
class _Finding(ABC):
    """A number about a privacy parameter, with what it rests on."""

    parameter: str  # "epsilon", "mu" (Gaussian DP) or "laplace"
    value: float
    confidence: float  # with which the statement is made
    assumptions: tuple[str, ...]  # sentences
    provenance: Provenance
    invalid: str = ""  # why the statement does not hold with its confidence, a sentence; empty where it does
    upper: float = math.inf  # the other end of a two-sided interval
    warnings: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)  # intermediate numbers, fit for JSON
    at: Callable[[float], _Finding] | None = field(default=None, repr=False, compare=False)

    kind: ClassVar[Kind]

    @property
    def valid(self) -> bool:
        return not self.invalid

    def interval(self) -> tuple[float, float]:
        """The value and the upper end, which is infinite unless the method gives one."""
        return self.value, self.upper

    def epsilon_at(self, delta: float) -> _Finding:
        """The statement on ε at another δ, from the same data with the same settings."""
        if self.at is None:
            raise InputError(f"the method {self.provenance.method} gives no bound on epsilon at another delta")
        return self.at(delta)

    @abstractmethod
    def statement(self) -> str:
        """The number in words, without its assumptions."""

    def summary(self) -> Lines:
        """The statement with its assumptions and warnings, a few lines of text."""
        lines = [self.statement()]
        if self.invalid:
            lines.append(f"NOT VALID: {self.invalid}")
        lines += ["Assumptions:", *(f"  - {sentence}" for sentence in self.assumptions)]
        lines += [f"Warning: {sentence}" for sentence in self.warnings]
        return Lines("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Everything a report needs, in full precision, fit for JSON (what is not finite is None)."""
        return {
            "kind": self.kind,
            "parameter": self.parameter,
            "value": finite(self.value),
            "upper": finite(self.upper),
            "confidence": self.confidence,
            "valid": self.valid,
            "invalid": self.invalid,
            "details": finite(dict(self.details)),
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
        }

    def to_json(self, path: str | PathLike[str]) -> None:
        """Save `to_dict` as a JSON file, atomically."""
        write_text_atomically(path, json.dumps(self.to_dict(), indent=2) + "\n")

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def _known(self) -> str:
        known = [f"{name} = {value:g}" for name, value in self.provenance.known.items()]
        return f" at {', '.join(known)}" if known else ""


class LowerBound(_Finding):
    """With the given confidence, the parameter is at least `value`.

    >>> bound = bdp.audits.one_run(bdp.Guesses(1000, 200, 150), delta=1e-5)
    >>> bound.statement()
    'epsilon >= 0.82 at delta = 1e-05 with confidence 95% (one_run)'
    >>> round(bound.value, 3), bound.upper, bound.valid
    (0.82, inf, True)
    """

    kind = "lower_bound"

    def statement(self) -> str:
        """The bound in words."""
        within = f"{self.parameter} >= {digits(self.value)}"
        if self.provenance.settings.get("two_sided"):
            within += f", and at most {digits(self.upper)} by this attack,"
        return f"{within}{self._known()} with confidence {100 * self.confidence:g}% ({self.provenance.method})"


class CredibleInterval(_Finding):
    """With the given posterior probability (the `confidence`), the parameter lies between `value` and `upper`.

    >>> found = bdp.audits.joint_beta(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3)
    >>> found.statement()
    'epsilon is between 1.544 and 2.723 at delta = 0.001 with probability 95% (joint-beta)'
    """

    kind = "posterior"

    def statement(self) -> str:
        """The interval in words."""
        return (
            f"{self.parameter} is between {digits(self.value)} and {digits(self.upper)}{self._known()} with probability"
            f" {100 * self.confidence:g}% ({self.provenance.method})"
        )


def joined(*reasons: str) -> str:
    """Reasons why a statement is not valid as one text; those that are empty are left out."""
    return " ".join(filter(None, reasons))


class Estimate(_Finding):
    """A number of the size of the parameter that is no bound on it, although its parts are confidence bounds.

    >>> attack = bdp.ErrorCounts(10, 100, 20, 100, design="one_run", examples=200)
    >>> baseline = bdp.ErrorCounts(30, 100, 40, 100, design="one_run", examples=200)
    >>> found = bdp.audits.panoramia(attack, baseline)
    >>> found.statement()
    'epsilon is estimated as 1.18 at delta = 0 (panoramia); this is not a lower bound'
    """

    kind = "estimate"

    def statement(self) -> str:
        """The estimate in words."""
        return (
            f"{self.parameter} is estimated as {digits(self.value)}{self._known()} ({self.provenance.method});"
            " this is not a lower bound"
        )
