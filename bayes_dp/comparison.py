"""All methods on the same counts, in one table: the posterior beside every lower bound that applies.

A method is registered once (`register`), with the designs that it is valid for. Where it does not apply, the table says
why. Posteriors are given by their equal-tailed interval of probability 2·confidence − 1, so that their lower ends and
the one-sided bounds are missed with the same probability.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

from bayes_dp import __version__
from bayes_dp.audits import intervals
from bayes_dp.audits.f_dp import f_dp
from bayes_dp.audits.one_run import one_run
from bayes_dp.audits.panoramia import panoramia
from bayes_dp.audits.zero_run import compositional
from bayes_dp.bayes.estimate import estimate
from bayes_dp.bound import CredibleInterval, Estimate, LowerBound
from bayes_dp.checks import InputError, one_number
from bayes_dp.data import DESIGNS, ErrorCounts
from bayes_dp.files import Source, read_text, write_text_atomically
from bayes_dp.result import Posterior, show

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "Inputs", "Method", "Row", "compare", "methods", "register"]

Finding = LowerBound | CredibleInterval | Estimate | Posterior
Kind = Literal["posterior", "lower_bound", "estimate", "refused"]

_WORDS = {"posterior": "posterior", "lower_bound": "lower bound", "estimate": "estimate", "refused": "does not apply"}
_ALL = "all"


@dataclass(frozen=True)
class Inputs:
    """What a method is given besides the counts."""

    delta: float
    confidence: float
    overlap: float | None = None  # η: every propensity lies between it and 1 − η
    baseline: ErrorCounts | None = None  # decisions on the same examples without the model
    prior_epsilon: Any = None
    prior_strength: Any = None

    @property
    def probability(self) -> float:
        """Of an equal-tailed interval whose lower end is missed with probability 1 − confidence."""
        return 2 * self.confidence - 1


@dataclass(frozen=True)
class Method:
    """A method of the table: `run` answers from counts; `refuse` gives the reason where it does not apply, or ""."""

    name: str
    run: Callable[[ErrorCounts, Inputs], Finding]
    designs: tuple[str, ...]
    why: str = ""  # why it is not for the other designs
    scope: Literal["whole", "base", "both"] = "both"  # all bases together, each alone, or both
    refuse: Callable[[ErrorCounts, Inputs], str] = lambda counts, inputs: ""


@dataclass(frozen=True)
class Row:
    """What one method says of one base, or of all; `lower` and `upper` are None where there is no such end."""

    method: str
    base: str  # a label, the base's number, or "all"
    kind: Kind
    parameter: str
    value: float | None  # the bound, the estimate, or the posterior's median
    lower: float | None
    upper: float | None
    level: float | None  # confidence, or probability of the interval
    valid: bool
    reason: str  # why it is not valid, or does not apply
    assumptions: tuple[str, ...]


_REGISTRY: dict[str, Method] = {}


def register(method: Method) -> Method:
    """Add a method to the tables that are made from now on; its name must be new."""
    if method.name in _REGISTRY:
        raise InputError(f"a method named {method.name!r} is registered already")
    if unknown := set(method.designs) - set(DESIGNS):
        raise InputError(f"designs must be among {', '.join(DESIGNS)}, not {sorted(unknown)}")
    _REGISTRY[method.name] = method
    return method


def methods() -> dict[str, Method]:
    """The registered methods by name, in the order of the table."""
    return dict(_REGISTRY)


def compare(
    counts: ErrorCounts,
    delta: float,
    confidence: float = 0.95,
    *,
    overlap: float | None = None,
    baseline: ErrorCounts | None = None,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    per_base: bool = True,
    names: Iterable[str] | None = None,
) -> Comparison:
    """One row per method and base, and one for all bases together.

    Parameters
    ----------
    counts : errors of n challenge bases; their design decides which methods apply.
    delta, confidence : of all bounds; the confidence is above 1/2.
    overlap : for zero-run bounds: each example is a member with a probability between this and one minus this.
    baseline : for PANORAMIA: the counts of decisions made without the model, where the non-members are generated.
    prior_epsilon, prior_strength : of the posterior, see `estimate`.
    per_base : whether there are rows for each base.
    names : the methods wanted, all by default.
    """
    if not isinstance(counts, ErrorCounts):
        raise InputError(f"counts must be ErrorCounts, not {type(counts).__name__}")
    if baseline is not None and not isinstance(baseline, ErrorCounts):
        raise InputError(f"baseline must be ErrorCounts, not {type(baseline).__name__}")
    inputs = Inputs(
        delta=one_number("delta", delta, 0.0, 1.0, high_open=True),
        confidence=one_number("confidence", confidence, 0.5, 1.0, low_open=True, high_open=True),
        overlap=None if overlap is None else one_number("overlap", overlap, 0.0, 0.5, low_open=True),
        baseline=baseline,
        prior_epsilon=prior_epsilon,
        prior_strength=prior_strength,
    )
    rows: list[Row] = []
    for method in _wanted(names):
        rows += _rows(method, counts, inputs, per_base)
    return Comparison(
        rows=tuple(rows), delta=inputs.delta, confidence=inputs.confidence, design=counts.design, digest=counts.digest()
    )


def _wanted(names: Iterable[str] | None) -> list[Method]:
    if names is None:
        return list(_REGISTRY.values())
    wanted = [names] if isinstance(names, str) else list(names)
    if unknown := [name for name in wanted if name not in _REGISTRY]:
        raise InputError(f"there is no method {unknown[0]!r}; the methods are {', '.join(_REGISTRY)}")
    return [_REGISTRY[name] for name in wanted]


def _rows(method: Method, counts: ErrorCounts, inputs: Inputs, per_base: bool) -> list[Row]:
    if counts.design not in method.designs:
        return [_refused(method, _ALL, f'It is not for the design "{counts.design}": {method.why}')]
    n = len(counts)
    if method.scope == "base" and n > 1 and not per_base:
        return [_refused(method, _ALL, "It is for single bases, which were not asked for.")]
    parts = []
    if method.scope != "whole" and n > 1 and per_base:
        parts += [(counts.base[i] if counts.base else str(i), counts[i]) for i in range(n)]
    if method.scope != "base" or n == 1:
        parts.append((_ALL, counts))
    rows = []
    for base, part in parts:
        reason = method.refuse(part, inputs)
        rows.append(_refused(method, base, reason) if reason else _row(method, base, method.run(part, inputs), inputs))
    return rows


def _refused(method: Method, base: str, reason: str) -> Row:
    return Row(method.name, base, "refused", "epsilon", None, None, None, None, False, reason, ())


def _row(method: Method, base: str, found: Finding, inputs: Inputs) -> Row:
    if isinstance(found, Posterior):
        low, high = found.interval(inputs.probability)
        reason = " ".join(filter(None, (found.caution, *found.warnings)))
        return Row(
            method.name, base, "posterior", found.parameter, found.median, low, high, inputs.probability, not reason,
            reason, found.assumptions,
        )  # fmt: skip
    if found.kind == "estimate":
        reason = " ".join(("It is an estimate and bounds nothing.", *found.warnings))
        return Row(
            method.name, base, "estimate", found.parameter, _finite(found.value), None, None, None, False, reason,
            found.assumptions,
        )  # fmt: skip
    value = found.details["median"] if found.kind == "posterior" else found.value
    reason = " ".join(filter(None, (found.invalid, *found.warnings)))
    return Row(
        method.name, base, found.kind, found.parameter, _finite(value), _finite(found.value),
        _finite(found.upper), found.confidence, found.valid, reason, found.assumptions,
    )  # fmt: skip


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


# The table ------------------------------------------------------------------------------------------------------------

_HEADINGS = ("method", "base", "kind", "epsilon", "level", "valid", "notes")


@dataclass(frozen=True)
class Comparison:
    """The rows, and what they answer; as text, HTML, LaTeX, a frame, or JSON and back."""

    rows: tuple[Row, ...]
    delta: float
    confidence: float
    design: str
    digest: str  # of the counts
    version: str = __version__

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, method: str | None = None, base: str | None = None) -> tuple[Row, ...]:
        """The rows of a method, of a base, or of both."""
        return tuple(r for r in self.rows if method in (None, r.method) and base in (None, r.base))

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row each; what there is not is missing."""
        import pandas as pd

        frame = pd.DataFrame([asdict(row) for row in self.rows], columns=[f.name for f in fields(Row)])
        numbers = ["value", "lower", "upper", "level"]
        return frame.astype(dict.fromkeys(numbers, float))

    def _cells(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """The rows as text, and the notes, which the rows refer to by their numbers from 1: what is assumed, and why a
        row is not valid or there is none."""
        notes: dict[str, int] = {}
        cells: list[tuple[str, ...]] = []
        for row in self.rows:
            sentences = [row.reason] if row.reason else []
            sentences += [s for s in row.assumptions if s != row.reason]
            numbers = [notes.setdefault(sentence, len(notes) + 1) for sentence in sentences]
            level = "" if row.level is None else f"{100 * row.level:g}%"
            valid = "" if row.kind == "refused" else "yes" if row.valid else f"no [{numbers[0]}]"
            references = " ".join(map(str, numbers))
            cells.append((row.method, row.base, _WORDS[row.kind], _statement(row), level, valid, references))
        return cells, list(notes)

    def __str__(self) -> str:
        cells, notes = self._cells()
        cells.insert(0, _HEADINGS)
        widths = [max(len(row[k]) for row in cells) for k in range(len(_HEADINGS))]
        lines = [self._title(), ""]
        lines += ["  ".join(c.ljust(width) for c, width in zip(row, widths, strict=True)).rstrip() for row in cells]
        lines.insert(3, "  ".join("-" * width for width in widths))
        return "\n".join([*lines, "", "Notes", *(f"{k:>3}  {sentence}" for k, sentence in enumerate(notes, 1))])

    def to_html(self) -> str:
        """A table and its notes, everything escaped; no styles of its own."""
        cells, notes = self._cells()
        head = "".join(f'<th scope="col">{name}</th>' for name in _HEADINGS)
        body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in cells)
        items = "\n".join(f"<li>{html.escape(sentence)}</li>" for sentence in notes)
        return (
            f"<table>\n<caption>{html.escape(self._title())}</caption>\n<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{body}\n</tbody>\n</table>\n<p>Notes</p>\n<ol>\n{items}\n</ol>"
        )

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_latex(self) -> str:
        """A tabular environment and, as an enumeration below it, the notes."""
        cells, notes = self._cells()
        lines = [r"\begin{tabular}{lllrlll}", r"\hline"]
        lines += [r"method & base & kind & $\varepsilon$ & level & valid & notes \\", r"\hline"]
        lines += [" & ".join(map(_latex, row)) + r" \\" for row in cells]
        lines += [r"\hline", r"\end{tabular}", r"\begin{enumerate}"]
        return "\n".join([*lines, *(rf"\item {_latex(sentence)}" for sentence in notes), r"\end{enumerate}"])

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        return asdict(self) | {"rows": [asdict(row) | {"assumptions": list(row.assumptions)} for row in self.rows]}

    def to_json(self, path: str | PathLike[str]) -> None:
        """Save `to_dict` as a JSON file, atomically."""
        write_text_atomically(path, json.dumps(self.to_dict(), indent=2, allow_nan=False) + "\n")

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Comparison:
        """The inverse of `to_dict`."""
        try:
            rows = tuple(Row(**{**row, "assumptions": tuple(row["assumptions"])}) for row in content["rows"])
            return cls(**{**content, "rows": rows})
        except (TypeError, KeyError) as error:
            raise InputError(f"this is not a comparison as to_dict gives it: {error}") from None

    @classmethod
    def from_json(cls, source: Source) -> Comparison:
        """From a file (path or open file) that `to_json` wrote."""
        name, text = read_text(source)
        try:
            return cls.from_dict(json.loads(text))
        except (json.JSONDecodeError, InputError) as error:
            raise InputError(f"{name}: {error}") from None

    def _title(self) -> str:
        return f'Comparison at delta = {self.delta:g}, confidence {100 * self.confidence:g}%, design "{self.design}"'


def _statement(row: Row) -> str:
    """The number as the table shows it."""
    if row.kind == "refused":
        return ""
    if row.kind == "estimate":
        return f"about {show(row.value)}" if row.value is not None else "about infinity"
    low = "infinity" if row.lower is None else show(row.lower)
    if row.kind == "posterior":
        return f"{low} to {'infinity' if row.upper is None else show(row.upper)}"
    return f">= {low}"


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "≥": r"$\geq$", "≤": r"$\leq$",
    "−": "$-$", "→": r"$\to$", "ε": r"$\varepsilon$", "δ": r"$\delta$", "μ": r"$\mu$", "α": r"$\alpha$",
    "β": r"$\beta$", "γ": r"$\gamma$", "η": r"$\eta$",
}  # fmt: skip


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text.replace(">=", "≥"))


# The methods ----------------------------------------------------------------------------------------------------------

_REPEATED = ("repeated", "cross_fed")
_DEPENDENT = "guesses on one model depend on each other, and intervals of their rates do not hold."
_INDEPENDENT = "it is for guesses on one model, each example a member by its own coin."


def _posterior(strength: Any) -> Callable[[ErrorCounts, Inputs], Posterior]:
    def run(counts: ErrorCounts, inputs: Inputs) -> Posterior:
        return estimate(
            counts,
            inputs.delta,
            prior_epsilon=inputs.prior_epsilon,
            prior_strength=inputs.prior_strength if strength == "free" else None,
            strength=strength,
        )

    return run


def _unequal(counts: ErrorCounts, inputs: Inputs) -> str:
    if (counts.negatives == counts.positives).all():
        return ""
    return "It needs as many runs without the example as with it."


def _no_coin(counts: ErrorCounts, inputs: Inputs) -> str:
    if inputs.overlap in (None, 0.5):
        return ""
    return "An overlap was given, so that memberships were no fair coins; zero-run bounds allow for that."


def _no_coin_or_no_delta(counts: ErrorCounts, inputs: Inputs) -> str:
    return "A Gaussian mechanism has no finite ε at δ = 0." if inputs.delta == 0 else _no_coin(counts, inputs)


def _no_overlap(counts: ErrorCounts, inputs: Inputs) -> str:
    return "" if inputs.overlap is not None else "No overlap of the propensities was given."


register(Method("posterior", _posterior("free"), DESIGNS))
register(Method("posterior-tight", _posterior("tight"), DESIGNS))
register(
    Method(
        "joint-beta",
        lambda counts, given: intervals.joint_beta(counts, given.delta, confidence=given.probability),
        _REPEATED,
        _DEPENDENT,
        scope="base",
    )
)
for _name, _interval in (
    ("clopper-pearson", intervals.clopper_pearson),
    ("jeffreys", intervals.jeffreys),
    ("katz", intervals.katz),
):
    register(
        Method(
            _name,
            lambda counts, given, run=_interval: run(counts, given.delta, confidence=given.confidence),  # type: ignore[misc]
            _REPEATED,
            _DEPENDENT,
        )
    )
register(
    Method(
        "accuracy",
        lambda counts, given: intervals.accuracy(counts, given.delta, confidence=given.confidence),
        _REPEATED,
        _DEPENDENT,
        refuse=_unequal,
    )
)
register(
    Method(
        "one-run",
        lambda counts, given: one_run(counts, given.delta, confidence=given.confidence),
        ("one_run",),
        _INDEPENDENT,
        scope="whole",
        refuse=_no_coin,
    )
)
register(
    Method(
        "one-run-exact",
        lambda counts, given: one_run(counts, given.delta, confidence=given.confidence, method="exact"),
        ("one_run",),
        _INDEPENDENT,
        scope="whole",
        refuse=_no_coin,
    )
)
register(
    Method(
        "f-dp-gaussian",
        lambda counts, given: f_dp(counts, delta=given.delta, confidence=given.confidence),
        ("one_run",),
        _INDEPENDENT,
        scope="whole",
        refuse=_no_coin_or_no_delta,
    )
)
register(
    Method(
        "f-dp-laplace",
        lambda counts, given: f_dp(counts, delta=given.delta, family="laplace", confidence=given.confidence),
        ("one_run",),
        _INDEPENDENT,
        scope="whole",
        refuse=_no_coin,
    )
)
register(
    Method(
        "zero-run-compositional",
        lambda counts, given: compositional(
            counts,
            given.delta,
            overlap=given.overlap,  # type: ignore[arg-type]
            confidence=given.confidence,
        ),
        ("one_run",),
        "it is for guesses on one model.",
        scope="whole",
        refuse=_no_overlap,
    )
)
register(
    Method(
        "panoramia",
        lambda counts, given: panoramia(counts, given.baseline, delta=given.delta, confidence=given.confidence),
        ("one_run",),
        _INDEPENDENT,
        scope="whole",
        refuse=_no_coin,
    )
)
