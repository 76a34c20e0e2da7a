"""What a study returns: for each bound on each mechanism, how often it exceeds the truth.

Of R simulated audits a share `rate` exceeds the truth, with standard error √(rate (1 − rate)/R). The row passes if
rate ≤ p + 3 standard errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bayes_dp.support.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Row", "Simulation", "Study", "row_of"]


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


@dataclass(frozen=True)
class Study:
    """The rows of a study; `complete` is False if it was interrupted.

    >>> study = bdp.calibrate.study("panoramia", repetitions=20)
    >>> study.passed, study.complete
    (True, True)
    >>> study.to_frame()[["mechanism", "truth", "rate"]].iloc[0].to_dict()
    {'mechanism': 'no leak', 'truth': 0.0, 'rate': 0.05}
    """

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
        return asdict(self) | {"rows": [asdict(row) for row in self.rows], "passed": self.passed}

    def __str__(self) -> str:
        heading = ("audit", "mechanism", "truth", "examples", "choice", "rate", "s.e.", "mean bound", "verdict")
        cells = [heading] + [
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
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        state = "" if self.complete else ", INTERRUPTED"
        title = f"{self.audit}: {self.repetitions} audits a row at p = {self.p:g}, seed {self.seed}{state}"
        return "\n".join([title, "", *lines])


Simulation = Callable[[np.random.Generator, int, float], list[Row]]  # (generator, repetitions, p)


def row_of(labels: tuple[str, str, int, str], truth: float, bounds: Floats, p: float, claim: bool) -> Row:
    """From the bounds of all repetitions, shape (repetitions,)."""
    audit, mechanism, examples, choice = labels
    rate = float(np.mean(bounds > truth))
    error = math.sqrt(rate * (1 - rate) / len(bounds))
    mean = float(np.mean(bounds))
    return Row(audit, mechanism, truth, examples, choice, rate, error, mean, claim, rate <= p + 3 * error)
