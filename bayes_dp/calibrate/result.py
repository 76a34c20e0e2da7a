"""What a study returns: for each bound on each mechanism, how often it exceeds the truth.

Of R simulated audits a share `rate` exceeds the truth, with standard error √(rate (1 − rate)/R). The row passes if
rate ≤ p + 3 standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayes_dp.checks import InputError, show
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_COUNT,
    A_LINE,
    A_NUMBER,
    A_SHARE,
    TRUTH,
    Wanted,
    a_list,
    checked_object,
    finite,
)
from bayes_dp.results.base import Saved
from bayes_dp.support.arrays import Floats
from bayes_dp.support.text import Part, Rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Row", "Simulation", "Study", "row_of"]

_HEADINGS = ("audit", "mechanism", "truth", "examples", "choice", "rate", "s.e.", "mean bound", "verdict")


@dataclass(frozen=True)
class Row:
    """How often one bound, on one mechanism, exceeds the truth.

    >>> row = bdp.calibrate.study("wrong-pairs", repetitions=20).rows[0]
    >>> row.audit, row.truth, row.verdict
    ('clopper-pearson, δ = 0', 1.0, 'no claim, within p')
    """

    audit: str
    mechanism: str
    truth: float  # the parameter that is bounded, of the mechanism
    examples: int
    choice: str  # of the number of guesses, or why the pair of design and method is not offered
    rate: float
    standard_error: float
    mean_bound: float
    valid_claim: bool  # whether the method says that its bound holds here
    passed: bool  # the rate is at most p + 3 standard errors

    @property
    def verdict(self) -> str:
        if self.valid_claim:
            return "holds" if self.passed else "VIOLATED"
        return "no claim, within p" if self.passed else "no claim, exceeds p"


@dataclass(frozen=True, repr=False)
class Study(Saved):
    """The rows of a study; `complete` is False if it was interrupted.

    >>> study = bdp.calibrate.study("panoramia", repetitions=20)
    >>> study.passed, study.complete
    (True, True)
    >>> study.to_frame()[["mechanism", "truth", "rate"]].iloc[0].to_dict()
    {'mechanism': 'no leak', 'truth': 0.0, 'rate': 0.05}
    """

    format = "bayes-dp/study/1"
    audit: str
    repetitions: int
    p: float
    seed: int
    rows: tuple[Row, ...]
    complete: bool = True

    @property
    def passed(self) -> bool:
        """Whether the study is complete and every row that claims to be valid is within p + 3 standard errors."""
        return self.complete and all(row.passed for row in self.rows if row.valid_claim)

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=list(Row.__dataclass_fields__))

    def to_dict(self) -> dict[str, Any]:
        """Everything in it, fit for JSON."""
        rows = [finite(asdict(row)) for row in self.rows]
        return {"format": self.format} | asdict(self) | {"rows": rows, "passed": self.passed}

    def _parts(self) -> Iterator[Part]:
        cells = [
            (
                row.audit,
                row.mechanism,
                f"{row.truth:.3f}",
                str(row.examples),
                row.choice,
                f"{row.rate:.4f}",
                f"{row.standard_error:.4f}",
                f"{row.mean_bound:.3f}",
                row.verdict,
            )
            for row in self.rows
        ]
        widths = [max(map(len, column)) for column in zip(_HEADINGS, *cells, strict=True)]
        lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in (_HEADINGS, *cells)]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        state = "" if self.complete else ", INTERRUPTED"
        title = f"{self.audit}: {self.repetitions} audits a row at p = {self.p:g}, seed {self.seed}{state}"
        yield Rows(cells, _HEADINGS, title, words=(title, "", *lines))

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        found = checked_study(name, without_format(name, content, cls.format))
        rows: list[dict[str, Any]] = [
            {k: math.inf if v is None else v for k, v in row.items()} for row in found["rows"]
        ]
        given = {key: found[key] for key in ("audit", "repetitions", "p", "seed", "complete")}
        study = cls(**given, rows=tuple(Row(**row) for row in rows))
        if study.passed != found["passed"]:
            raise InputError(f"{name}: passed is {show(found['passed'])}, which is not what the rows say")
        return study


Simulation = Callable[[np.random.Generator, int, float], list[Row]]  # (generator, repetitions, p)


def row_of(labels: tuple[str, str, int, str], truth: float, bounds: Floats, p: float, claim: bool) -> Row:
    """From the bounds of all repetitions, shape (repetitions,)."""
    audit, mechanism, examples, choice = labels
    rate = float(np.mean(bounds > truth))
    error = math.sqrt(rate * (1 - rate) / len(bounds))
    mean = float(np.mean(bounds))
    return Row(audit, mechanism, truth, examples, choice, rate, error, mean, claim, rate <= p + 3 * error)


_FIELDS: dict[str, Wanted] = {
    "audit": A_LINE,
    "repetitions": A_COUNT,
    "p": A_SHARE,
    "seed": A_COUNT,
    "rows": a_list("rows"),
    "complete": TRUTH,
    "passed": TRUTH,
}
_ROW: dict[str, Wanted] = {
    "audit": A_LINE,
    "mechanism": A_LINE,
    "truth": A_NUMBER,
    "examples": A_COUNT,
    "choice": A_LINE,
    "rate": A_SHARE,
    "standard_error": A_SHARE,
    "mean_bound": A_NUMBER,
    "valid_claim": TRUTH,
    "passed": TRUTH,
}


def checked_study(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that a study says, and nothing else."""
    try:
        found = checked_object(name, content, _FIELDS)
        for i, row in enumerate(found["rows"]):
            checked_object(f"{name}: rows[{i}]", row, _ROW)
    except InputError as error:
        raise InputError(f"{error}; this is not a study as to_json and to_dict give it") from None
    return found
