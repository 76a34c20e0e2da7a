"""What bounds from error counts of repeated, independent runs share: the question, names of bases, hints."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_dp.checks import InputError, one_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats

__all__ = ["REPEATED", "base_name", "columns", "opposite", "provenance", "question"]

REPEATED = "The runs of each base are independent of each other."


def question(counts: ErrorCounts, delta: Any, confidence: Any) -> tuple[float, float]:
    """δ and the error probability p, checked."""
    if not isinstance(counts, ErrorCounts):
        raise InputError(f"counts must be ErrorCounts, not {type(counts).__name__}")
    if counts.design == "one_run":
        raise InputError(
            'counts of the design "one_run" are guesses on one model, which depend on each other: intervals of their'
            " rates do not hold; use one_run or f_dp"
        )
    delta = one_number("delta", delta, 0.0, 1.0)
    return delta, 1 - one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)


def columns(counts: ErrorCounts) -> tuple[Floats, Floats, Floats, Floats]:
    columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    x, n0, y, n1 = (column.astype(np.float64) for column in columns)
    return x, n0, y, n1


def base_name(counts: ErrorCounts, i: int) -> str:
    return str(i) if counts.base is None else repr(counts.base[i])


def opposite(counts: ErrorCounts, bounds: Floats, otherwise: str = "") -> str:
    """What the opposite decisions would show, a sentence, from the bounds that they would give; empty for nothing."""
    worse = np.flatnonzero(bounds > 0)
    if not len(worse):
        return ""
    first = int(worse[np.argmax(bounds[worse])])
    whose = "decisions" if len(counts) == 1 else f"decisions of {len(worse)} of {len(counts)} bases"
    of = "" if len(counts) == 1 else f" of base {base_name(counts, first)}"
    return (
        f"The {whose} are worse than chance, which leaks as well: the opposite decisions{of} would give epsilon >="
        f" {bounds[first]:.4g}. Which of the two to take must be decided before looking{otherwise}."
    )


def provenance(counts: ErrorCounts, delta: float, confidence: float, method: str, **settings: Any) -> Provenance:
    return Provenance(method, counts.digest(), {"delta": delta}, {}, {"confidence": confidence, **settings})
