"""What a test of a claim returns: refuted or not, with each finding that bears on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self

from bayes_dp.checks import InputError
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_LINE,
    A_NUMBER,
    AN_OBJECT,
    SENTENCES,
    TRUTH,
    Wanted,
    a_list,
    checked_object,
    finite,
    is_finite,
    is_line,
    one_of,
)
from bayes_dp.results.base import Saved
from bayes_dp.results.posterior import Provenance, checked_provenance
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits

__all__ = ["POWER", "ClaimFinding", "ClaimTest"]

Outcome = Literal["refuted", "not refuted", "not tested"]
POWER = 0.9  # of what is called detectable
_EXIT: dict[Outcome, int] = {"not refuted": 0, "refuted": 1, "not tested": 3}


@dataclass(frozen=True)
class ClaimFinding:
    """What one method says of a claim: a p-value, a lower bound, an e-value, or the probability of a posterior."""

    method: str
    kind: Literal["test", "e-value", "bound", "posterior"]
    value: float  # the p-value, the e-value, the bound, or P(ε > claim)
    refutes: bool
    valid: bool
    reason: str = ""  # why it is not valid

    @property
    def text(self) -> str:
        """The value, with what it is."""
        name = {"test": "p = ", "e-value": "e = ", "bound": ">= ", "posterior": "P = "}[self.kind]
        return f"{name}{digits(self.value)}"

    @property
    def word(self) -> str:
        """Whether it refutes the claim."""
        return ("yes" if self.refutes else "no") if self.valid else "not valid"


@dataclass(frozen=True, repr=False)
class ClaimTest(Saved):
    """Whether evidence refutes a claim. What is not refuted is not verified: a better attack may refute it.

    >>> test = bdp.Claim(1.0, 1e-5).test(bdp.ErrorCounts(10, 100, 20, 100))
    >>> test.outcome, test.method, test.exit_code
    ('refuted', 'joint', 1)
    >>> [(row.method, row.refutes) for row in test.rows]
    [('joint', True), ('clopper-pearson', True), ('accuracy', True), ('mixture', True)]
    """

    format = "bayes-dp/claim/1"
    claim: str  # in words
    outcome: Outcome
    method: str  # that decides, chosen by the kind of evidence and not by what it says
    p_value: float | None  # of that method; None for a bound or a posterior, which have none
    prob_above: float | None  # P(ε > claim) by a posterior
    confidence: float  # one minus the chance to refute a true claim
    epsilon: float | None  # the claim's ε at `delta`; None where it is infinite, or there is no δ
    delta: float | None
    noise_multiplier: float | None  # of a claim of DP-SGD: all from this one on are refuted; None for none
    detectable: float | None  # the least ε of a training whose like it refutes with probability .9; None for none
    rows: tuple[ClaimFinding, ...]
    assumptions: tuple[str, ...]
    provenance: Provenance
    warnings: tuple[str, ...] = ()  # what speaks against the evidence, such as decisions that are worse than chance

    @property
    def refuted(self) -> bool:
        return self.outcome == "refuted"

    @property
    def exit_code(self) -> int:
        """Of the command line: 0 not refuted, 1 refuted, 3 not tested."""
        return _EXIT[self.outcome]

    @property
    def answer(self) -> str:
        """What was found, a sentence or two, and what speaks against the evidence."""
        return " ".join([self._said, *self.warnings])

    @property
    def _said(self) -> str:
        if self.prob_above is not None:
            return (
                f"By the posterior the claim ({self.claim}) is wrong with probability {digits(self.prob_above)}, that"
                " is P(ε > claim)."
            )
        said = f"The claim ({self.claim}) is "
        if self.outcome == "not tested":
            return f"{said}not tested: {self.rows[0].reason}"
        by = f"p = {self.p_value:.2g}, {self.method}" if self.p_value is not None else self.method
        level = f"{100 * self.confidence:g}%"
        if self.refuted:
            return f"{said}REFUTED with confidence {level} ({by})."
        return f"{said}not refuted at {level} ({by}). That verifies nothing: a better attack may refute it."

    @property
    def noise(self) -> str:
        """The empirical noise multiplier, a sentence; empty where there is none."""
        if self.noise_multiplier is None:
            return ""
        by = next((row.method for row in self.rows if row.method in ("f-dp", "profile")), "clopper-pearson")
        return (
            f"Empirical noise multiplier: below {digits(self.noise_multiplier)} with confidence"
            f" {100 * self.confidence:g}% ({by}), at the claimed sampling rate and number of steps."
        )

    @property
    def power(self) -> str:
        """What the evidence could have refuted, a sentence; empty where that is not known."""
        if self.detectable is None:
            return ""
        return (
            f"As much evidence refutes this claim with probability {100 * POWER:g}% if epsilon is"
            f" {digits(self.detectable)} or more and the attack is the strongest there is."
        )

    def _parts(self) -> Iterator[Part]:
        yield Line(self.answer)
        if self.detectable is not None:
            yield Line(self.power)
        if self.noise_multiplier is not None:
            yield Line(self.noise)
        cells = [(row.method, row.kind, row.text, row.word, row.reason) for row in self.rows]
        yield Rows(cells, ("method", "kind", "value", "refutes", "note"), "", "llrll")
        yield Sentences("Assumptions", self.assumptions)

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        own |= {"rows": [asdict(row) for row in self.rows], "assumptions": list(self.assumptions)}
        del own["warnings"]  # which files from before there were any have not
        own |= {"warnings": list(self.warnings)} if self.warnings else {}
        return finite({"format": self.format} | own | {"provenance": self.provenance.to_dict()})

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        content, warnings = without_format(name, content, cls.format), ()
        if isinstance(content, dict) and "warnings" in content:
            given = checked_object(name, {"warnings": content["warnings"]}, {"warnings": SENTENCES})
            warnings = tuple(given["warnings"])
            content = {key: value for key, value in content.items() if key != "warnings"}
        found = _checked(name, content)
        rows = tuple(ClaimFinding(**row | {"value": _infinite(row["value"])}) for row in found["rows"])
        others = {"rows": rows, "assumptions": tuple(found["assumptions"]), "warnings": warnings}
        return cls(**found | others | {"provenance": Provenance(**found["provenance"])})


def _infinite(value: float | None) -> float:
    return float("inf") if value is None else value


_SHARE: Wanted = (lambda value: value is None or is_finite(value, 0.0, 1.0), "a number from 0 to 1, or null")
_FIELDS: dict[str, Wanted] = {
    "claim": A_LINE,
    "outcome": one_of(*_EXIT),
    "method": A_LINE,
    "p_value": _SHARE,
    "prob_above": _SHARE,
    "confidence": (lambda value: is_finite(value) and 0 < value < 1, "a number above 0 and below 1"),
    "epsilon": A_NUMBER,
    "delta": _SHARE,
    "noise_multiplier": A_NUMBER,
    "detectable": A_NUMBER,
    "rows": a_list("findings"),
    "assumptions": SENTENCES,
    "provenance": AN_OBJECT,
}
_ROW: dict[str, Wanted] = {
    "method": A_LINE,
    "kind": one_of("test", "e-value", "bound", "posterior"),
    "value": A_NUMBER,
    "refutes": TRUTH,
    "valid": TRUTH,
    "reason": (is_line, "a text of one line"),
}


def _checked(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that a test of a claim says, and nothing else."""
    try:
        found = checked_object(name, content, _FIELDS)
        checked_provenance(f"{name}: provenance", found["provenance"])
        for i, row in enumerate(found["rows"]):
            checked_object(f"{name}: rows[{i}]", row, _ROW)
            if row["valid"] == bool(row["reason"]) or (row["refutes"] and not row["valid"]):
                raise InputError(f"{name}: rows[{i}]: what is valid has no reason, and only what is valid refutes")
        if not found["rows"]:
            raise InputError(f"{name}: rows must not be empty")
    except InputError as error:
        raise InputError(f"{error}; this is not a test of a claim as to_json and to_dict give it") from None
    return found
