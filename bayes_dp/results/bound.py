"""What the audits return: a lower bound with its confidence, a credible interval, or an estimate that is neither.

A file holds all of them but the data, so that one that was read back cannot be asked for ε at another δ.
"""

from __future__ import annotations

import math
import operator
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, Self

import numpy as np

from bayes_dp.checks import InputError
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_LINE,
    A_NUMBER,
    A_SHARE,
    AN_OBJECT,
    SENTENCES,
    TRUTH,
    Wanted,
    checked_object,
    finite,
    is_line,
    one_of,
)
from bayes_dp.results.base import Saved
from bayes_dp.results.meaning import Meaning, meaning_of
from bayes_dp.results.posterior import Provenance, checked_provenance
from bayes_dp.support.text import Part, Rows, Sentences, digits
from bayes_dp.tradeoff import ApproxDP, Gaussian, Laplace, TradeOffFunction

__all__ = ["REPLACED", "CredibleInterval", "Estimate", "LowerBound", "joined"]

REPLACED = "replaced"  # `details["neighbours"]` of bounds from coins that fell after the training

Kind = Literal["lower_bound", "posterior", "estimate"]


@dataclass(frozen=True, repr=False)
class _Finding(Saved):
    """A number about a privacy parameter, with what it rests on.

    `float` and a format give the number. `bound > 1` asks whether the statement shows that the parameter is above 1,
    and `bound < 8` that it is below 8, which a lower bound never does. There is no other arithmetic: a sum of bounds is
    not a bound with this confidence.
    """

    format = "bayes-dp/bound/1"

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

    def meaning(self, *, baseline: float = 0.1) -> Meaning:
        """What the value, and a finite upper end, let the best attack do; an example is guessed with chance
        `baseline` without the training.

        >>> found = bdp.audits.one_run(bdp.Guesses(1000, 200, 150), delta=1e-5)
        >>> round(found.meaning().rows["epsilon at least 0.82"].advantage, 3)
        0.388
        """
        ends = {"at least": self.value} | ({"at most": self.upper} if math.isfinite(self.upper) else {})
        rows = {f"{self.parameter} {what} {digits(value)}": self._trade_off(value) for what, value in ends.items()}
        return meaning_of(rows, baseline)

    def _trade_off(self, value: float) -> TradeOffFunction:
        if self.parameter in ("mu", "laplace"):
            return (Gaussian if self.parameter == "mu" else Laplace)(value)
        delta = self.provenance.known.get("delta")
        if self.parameter != "epsilon" or delta is None:
            raise InputError(f"what a value of {self.parameter} means is not known without its trade-off function")
        return ApproxDP(value, delta)

    @abstractmethod
    def statement(self) -> str:
        """The number in words, without its assumptions."""

    def _parts(self) -> Iterator[Part]:
        ends = digits(self.value), digits(self.upper)
        share = f"{100 * self.confidence:g}%"
        cells = (self.parameter, self.kind.replace("_", " "), *ends, share, self.provenance.method)
        headings = ("parameter", "kind", "value", "upper end", "confidence", "method")
        yield Rows([cells], headings, self.statement(), words=(self.statement(),))
        yield Sentences("NOT VALID", (self.invalid,) if self.invalid else (), "each")
        yield Sentences("Assumptions", self.assumptions)
        yield Sentences("Warning", self.warnings, "each")

    def to_dict(self) -> dict[str, Any]:
        """Everything a report needs, in full precision, fit for JSON (what is not finite is None)."""
        return {
            "format": self.format,
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

    # -- as a number --------------------------------------------------------------------------------------------

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def _shows(self, other: Any, holds: Callable[[float, float], bool], end: float) -> bool:
        """Whether the statement, if it is one, shows that the parameter compares so with a number."""
        if isinstance(other, bool) or not isinstance(other, int | float | np.integer | np.floating):
            return NotImplemented
        if self.invalid or self.kind == "estimate":
            what = f"is not valid ({self.invalid})" if self.invalid else "is an estimate and no bound"
            raise InputError(
                f"what {what} shows nothing of {self.parameter}; compare float(...) of it, the mere number"
            )
        return holds(end, float(other))

    def __gt__(self, other: Any) -> bool:
        return self._shows(other, operator.gt, self.value)

    def __ge__(self, other: Any) -> bool:
        return self._shows(other, operator.ge, self.value)

    def __lt__(self, other: Any) -> bool:
        return self._shows(other, operator.lt, self.upper)

    def __le__(self, other: Any) -> bool:
        return self._shows(other, operator.le, self.upper)

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        found = checked_bound(name, without_format(name, content, cls.format))
        if found["kind"] != cls.kind:
            raise InputError(f"{name} holds {_NAMES[found['kind']]}, and not {_NAMES[cls.kind]}")
        known = {key: value for key, value in found.items() if key in {each.name for each in fields(cls)}}
        numbers = {
            key: math.inf if known[key] is None else float(known[key]) for key in ("value", "upper", "confidence")
        }
        sentences = {key: tuple(known[key]) for key in ("assumptions", "warnings")}
        made = known | numbers | sentences | {"provenance": Provenance(**found["provenance"])}
        return cls(**made, at=_without_data)

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
    >>> f"{bound:.1f}", bound > 0.5, bound < 8  # a lower bound does not show that epsilon is below anything
    ('0.8', True, False)
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


def _without_data(delta: float) -> _Finding:
    raise InputError("a bound that was read from a file has no data, and cannot be asked at another delta")


_NAMES: dict[Kind, str] = {
    "lower_bound": "a lower bound",
    "posterior": "a credible interval",
    "estimate": "an estimate",
}
_FIELDS: dict[str, Wanted] = {
    "kind": one_of(*_NAMES),
    "parameter": A_LINE,
    "value": A_NUMBER,
    "upper": A_NUMBER,
    "confidence": A_SHARE,
    "valid": TRUTH,
    "invalid": A_LINE,
    "details": AN_OBJECT,
    "assumptions": SENTENCES,
    "warnings": SENTENCES,
    "provenance": AN_OBJECT,
}


def checked_bound(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that `to_dict` says of a bound, and nothing else.

    The command line puts before it the base that it is of, which is left out.
    """
    try:
        if isinstance(content, dict) and is_line(content.get("base")):
            content = {key: value for key, value in content.items() if key != "base"}
        found = checked_object(name, content, _FIELDS)
        checked_provenance(f"{name}: provenance", found["provenance"])
        if found["valid"] == bool(found["invalid"]):
            raise InputError(f"{name}: what is valid has no reason in invalid, and what is not has one")
        if found["upper"] is not None and (found["value"] is None or found["value"] > found["upper"]):
            raise InputError(f"{name}: the value must not lie above the upper end")
    except InputError as error:
        raise InputError(f"{error}; this is not a bound as to_json and to_dict give it") from None
    return found
