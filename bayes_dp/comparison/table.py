"""The table of a comparison: its rows, and its forms as text, HTML, LaTeX, a frame, or JSON and back."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, Self

from bayes_dp import __version__
from bayes_dp.checks import InputError, show
from bayes_dp.claims.result import ClaimTest
from bayes_dp.comparison.schema import SCHEMA, checked_comparison
from bayes_dp.comparison.verdict import Verdict
from bayes_dp.data.formats import without_format
from bayes_dp.results.base import Saved
from bayes_dp.results.meaning import Meaning, meaning_of
from bayes_dp.support.text import Line, Part, Rows, Sentences, columns, digits
from bayes_dp.tradeoff import ApproxDP, Gaussian, mu_from_epsilon

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "ComparisonRow", "Kind"]

Kind = Literal["posterior", "lower_bound", "estimate", "refused"]

_WORDS = {"posterior": "posterior", "lower_bound": "lower bound", "estimate": "estimate"}
_LISTS = ("assumptions", "notes")  # of a row
_HEADINGS = ("method", "base", "kind", "epsilon", "level", "valid", "notes")


@dataclass(frozen=True)
class ComparisonRow:
    """What one method says of one base, or of all; `lower` and `upper` are None where there is no such end.

    >>> table = bdp.compare(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, names=["clopper-pearson", "one-run"])
    >>> bound, refused = table.rows
    >>> bound.valid, refused.lower, refused.reason[:35]
    (True, None, 'It is not for the design "repeated"')
    """

    method: str
    base: str  # a label, the base's number, or "all"
    kind: Kind
    parameter: str  # "epsilon", or "e", what an attack got out of one model
    value: float | None  # the bound, the estimate, or the posterior's median
    lower: float | None
    upper: float | None
    level: float | None  # confidence, or probability of the interval
    valid: bool
    reason: str  # why it is not valid, or does not apply
    assumptions: tuple[str, ...]
    notes: tuple[str, ...] = ()  # what else has to be known to read the number: what its ends are, what contradicts it

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is said of the number: the reason first, then what is assumed, then the notes."""
        said = (self.reason, *self.assumptions, *self.notes)
        return tuple(dict.fromkeys(sentence for sentence in said if sentence))


@dataclass(frozen=True, repr=False)
class Comparison(Saved):
    """The rows, and what they answer; as text, HTML, LaTeX, a frame, or JSON and back.

    >>> table = bdp.compare(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, names=["clopper-pearson", "katz"])
    >>> table.bounds()  # of those that hold their confidence: katz is an approximation
    {'clopper-pearson': 1.389...}
    >>> [(row.method, row.valid) for row in table.rows]
    [('clopper-pearson', True), ('katz', False)]
    """

    format = "bayes-dp/comparison/1"
    rows: tuple[ComparisonRow, ...]
    delta: float
    confidence: float
    design: str
    digest: str  # of the counts
    version: str = __version__
    gate: Verdict | None = None  # on a limit of ε, where one was given
    claim: ClaimTest | None = None  # by the same counts, where a claim was given

    def __len__(self) -> int:
        return len(self.rows)

    def select(self, method: str | None = None, base: str | None = None) -> tuple[ComparisonRow, ...]:
        """The rows of a method, of a base, or of both.

        >>> table = bdp.compare(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, names=["clopper-pearson", "katz"])
        >>> [row.valid for row in table.select("katz")]
        [False]
        """
        for name, value in (("method", method), ("base", base)):
            if value is not None and not isinstance(value, str):
                raise InputError(f"{name} must be the name of one, or None for all, not {show(value)}")
        return tuple(r for r in self.rows if method in (None, r.method) and base in (None, r.base))

    def bounds(self) -> dict[str, float]:
        """The valid lower bounds on ε for all bases together, by method."""
        rows = (row for row in self.select(base="all") if row.kind == "lower_bound" and row.parameter == "epsilon")
        return {row.method: math.inf if row.lower is None else row.lower for row in rows if row.valid}

    def meaning(self, *, baseline: float = 0.1) -> Meaning:
        """What the valid bounds, and the interval and the median of the valid posteriors, let the best attack do, by
        (ε, δ) alone, but for the posterior of the Gaussian family, which knows the whole curve; an example is guessed
        with chance `baseline` without the training.

        >>> table = bdp.compare(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, names=["clopper-pearson", "katz"])
        >>> [(what, round(row.advantage, 3)) for what, row in table.meaning().rows.items()]
        [('clopper-pearson, epsilon at least 1.39', 0.601)]
        """
        functions = {}
        for row in self.rows:
            ends = {"at least": row.lower}
            if row.kind == "posterior":
                ends = {"from": row.lower, "median": row.value, "to": row.upper}
            for what, value in ends.items() if row.valid and row.parameter == "epsilon" else ():
                if value is not None and math.isfinite(value):
                    name = row.method if row.base == "all" else f"{row.method} of {row.base}"
                    gaussian = row.method == "posterior-gaussian"
                    f = Gaussian(float(mu_from_epsilon(value, self.delta))) if gaussian else ApproxDP(value, self.delta)
                    functions[f"{name}, epsilon {what} {digits(value)}"] = f
        return meaning_of(functions, baseline)

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row each; what there is not is missing."""
        import pandas as pd

        frame = pd.DataFrame([asdict(row) for row in self.rows], columns=[f.name for f in fields(ComparisonRow)])
        numbers = ["value", "lower", "upper", "level"]
        return frame.astype(dict.fromkeys(numbers, float))

    def _cells(self) -> tuple[list[tuple[str, ...]], list[str], str]:
        """The rows as text, and the notes, which the rows refer to by their numbers from 1: what is assumed, why a row
        is not valid, and what else is to be known. The methods that do not apply are one line, with the reasons among
        the notes."""
        notes: dict[str, int] = {}
        cells: list[tuple[str, ...]] = []
        for row in self.rows:
            if row.kind == "refused":
                continue
            numbers = [notes.setdefault(sentence, len(notes) + 1) for sentence in row.sentences]
            level = "" if row.level is None else f"{100 * row.level:g}%"
            valid = "yes" if row.valid else f"no [{numbers[0]}]"
            references = " ".join(map(str, numbers))
            cells.append((row.method, row.base, _WORDS[row.kind], _statement(row), level, valid, references))
        reasons: dict[str, list[str]] = {}
        for row in self.rows:
            if row.kind == "refused":
                name = row.method if row.base == "all" else f"{row.method} of {row.base}"
                reasons.setdefault(" ".join(row.sentences), []).append(name)
        folded = "; ".join(
            f"{', '.join(names)} [{notes.setdefault(reason, len(notes) + 1)}]" for reason, names in reasons.items()
        )
        return cells, list(notes), f"Do not apply: {folded}" if folded else ""

    def _parts(self) -> Iterator[Part]:
        cells, notes, folded = self._cells()
        rule = tuple("-" * max(map(len, column)) for column in zip(_HEADINGS, *cells, strict=True))
        words = (self._title(), "", *columns([_HEADINGS, rule, *cells]))
        yield Rows(cells, _HEADINGS, self._title(), words=words)
        yield Line()
        if folded:
            yield Line(folded)
            yield Line()
        yield Sentences("Notes", notes, "numbered")
        if self.gate is not None:
            yield Line()
            yield from self.gate._parts()
        if self.claim is not None:
            yield Line()
            yield from self.claim._parts()

    def to_html(self) -> str:
        """A table and its notes, everything escaped; no styles of its own."""
        return self.summary().html

    def to_latex(self) -> str:
        """A tabular environment and, as an enumeration below it, the notes."""
        cells, notes, folded = self._cells()
        lines = [r"\begin{tabular}{lllrlll}", r"\hline"]
        lines += [r"method & base & kind & $\varepsilon$ & level & valid & notes \\", r"\hline"]
        lines += [" & ".join(map(_latex, row)) + r" \\" for row in cells]
        lines += [r"\hline", r"\end{tabular}"] + ([_latex(folded)] if folded else []) + [r"\begin{enumerate}"]
        ends = (str(end) for end in (self.gate, self.claim) if end is not None)
        gate = [line for end in ends for line in ("", _latex(end).replace("\n", "\n\n"))]
        return "\n".join([*lines, *(rf"\item {_latex(sentence)}" for sentence in notes), r"\end{enumerate}", *gate])

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        rows = [asdict(row) | {name: list(getattr(row, name)) for name in _LISTS} for row in self.rows]
        gate = None if self.gate is None else self.gate.to_dict()
        own = {"format": self.format, "schema": SCHEMA} | asdict(self) | {"rows": rows, "gate": gate}
        del own["claim"]  # which files from before there were claims have not
        return own if self.claim is None else own | {"claim": self.claim.to_dict()}

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        content = without_format(name, content, cls.format)
        claim = None
        if isinstance(content, dict) and "claim" in content:
            claim = ClaimTest._read(f"{name}: claim", content["claim"])
            content = {key: value for key, value in content.items() if key != "claim"}
        found = checked_comparison(name, content)
        rows = tuple(ComparisonRow(**row | {name: tuple(row[name]) for name in _LISTS}) for row in found["rows"])
        gate = None if found["gate"] is None else Verdict._read(f"{name}: gate", found["gate"])
        own = {field.name: found[field.name] for field in fields(cls) if field.name != "claim"}
        return cls(**own | {"rows": rows, "gate": gate, "claim": claim})

    def _title(self) -> str:
        return f'Comparison at delta = {self.delta:g}, confidence {100 * self.confidence:g}%, design "{self.design}"'


def _statement(row: ComparisonRow) -> str:
    """The number as the table shows it."""
    if row.kind == "refused":
        return ""
    if row.kind == "estimate":
        return f"about {digits(row.value)}" if row.value is not None else "about infinity"
    low = "infinity" if row.lower is None else digits(row.lower)
    if row.kind == "posterior":
        letter = "" if row.parameter == "epsilon" else f"{row.parameter}: "
        return f"{letter}{low} to {'infinity' if row.upper is None else digits(row.upper)}"
    return f">= {low}"


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"$<$", ">": r"$>$", "≥": r"$\geq$", "≤": r"$\leq$",
    "−": "$-$", "→": r"$\to$", "ε": r"$\varepsilon$", "δ": r"$\delta$", "μ": r"$\mu$", "α": r"$\alpha$",
    "β": r"$\beta$", "γ": r"$\gamma$", "η": r"$\eta$",
}  # fmt: skip


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text.replace(">=", "≥"))
