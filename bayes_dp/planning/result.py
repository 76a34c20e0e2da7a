"""What a plan returns: widths of the interval for experiments of several sizes, and the size that is needed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from scipy import stats

from bayes_dp.checks import InputError, is_one_of, one_number, show
from bayes_dp.data.counts import DESIGNS
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_NUMBER,
    A_SHARE,
    AN_OBJECT,
    SENTENCES,
    TRUTH,
    Wanted,
    a_list,
    checked_object,
    finite,
    is_finite,
    one_of,
)
from bayes_dp.results.base import Saved
from bayes_dp.results.posterior import Provenance, checked_provenance
from bayes_dp.support.arrays import Floats
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Needed", "Plan", "PlanRow", "Way", "crossing"]

Way = Literal["challenges", "bases"]

_COLUMNS = ("way", "times", "bases", "negatives", "positives", "runs", "low", "median", "high", "assured", "share")


@dataclass(frozen=True, eq=False)
class PlanRow:
    """Widths of the interval in the simulated experiments of one size; `times` is that size over the first one."""

    way: Way
    times: float  # infinite for the limit of many challenges
    bases: int
    negatives: float  # challenges of each base without the example, on average
    positives: float
    widths: Floats  # (repetitions,)

    @property
    def runs(self) -> float:
        """All challenges of all bases."""
        return self.bases * (self.negatives + self.positives)

    def quantile(self, probability: float) -> float:
        """The least width that this share of the experiments does not exceed."""
        probability = one_number("probability", probability, 0.0, 1.0)
        return float(np.quantile(self.widths, probability, method="inverted_cdf"))

    def assured(self, share: float) -> tuple[float, float, float]:
        """The quantile of this share, and its 95% confidence interval by order statistics."""
        share = one_number("share", share, 0.0, 1.0, low_open=True, high_open=True)
        ordered, size = np.sort(self.widths), len(self.widths)
        below, above = (int(rank) for rank in stats.binom.ppf([0.025, 0.975], size, share))
        return self.quantile(share), float(ordered[max(below - 1, 0)]), float(ordered[min(above, size - 1)])


@dataclass(frozen=True)
class Needed:
    """The size at which the interval is narrow enough; between which `runs` it lies, simulation error considered."""

    times: float
    bases: int
    negatives: int
    positives: int
    runs: int
    fewest: int
    most: int | None  # None if none of the sizes is surely enough


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Saved):
    """How wide the interval of ε will be, by the size of the experiment.

    An experiment grows in two ways: by more "challenges" of the same bases, or by more "bases". The interval is equal-
    tailed, of the probability `prob`. A size is enough if a share `assurance` of the simulated experiments has an
    interval of at most `width`.

    >>> experiment = bdp.Experiment(bases=2, negatives=100, positives=100, epsilon=1.0)
    >>> plan = bdp.plan(experiment, 1e-3, width=9.0, vary="challenges", largest=2.0, repetitions=2)
    >>> plan.needed["challenges"].negatives, plan.needed["challenges"].positives
    (100, 100)
    """

    format = "bayes-dp/plan/1"
    width: float
    prob: float
    assurance: float
    present: float | None  # the width given the counts as they are, if there are counts
    design: str
    rows: tuple[PlanRow, ...]
    limit: PlanRow | None  # of more and more challenges: the error rates of the bases are known
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    provenance: Provenance
    complete: bool = True  # False if it was interrupted

    @property
    def ways(self) -> tuple[Way, ...]:
        return tuple(dict.fromkeys(row.way for row in self.rows))

    def select(self, way: Way) -> tuple[PlanRow, ...]:
        """The rows of a way to grow, from the smallest to the largest."""
        if not is_one_of(way, self.ways):
            raise InputError(f"way must be {' or '.join(map(repr, self.ways))}, not {show(way)}")
        return tuple(row for row in self.rows if row.way == way)

    @property
    def needed(self) -> Mapping[Way, Needed | None]:
        """The size that is needed, by the way to grow; None where no size that was tried is enough (see `reason`).

        Between two sizes the width is taken to be a power of the size.
        """
        return {way: self._needed(way) for way in self.ways}

    def _needed(self, way: Way) -> Needed | None:
        rows = self.select(way)
        times = np.array([row.times for row in rows])
        middle, low, high = np.array([row.assured(self.assurance) for row in rows]).T
        found = crossing(times, middle, self.width)
        if found is None:
            return None
        size = _grown(rows[0], way, found)
        ends = (crossing(times, widths, self.width) for widths in (low, high))
        fewest, most = (None if end is None else _runs(*_grown(rows[0], way, end)) for end in ends)
        return Needed(found, *size, _runs(*size), fewest or 0, most)

    def reason(self, way: Way) -> str:
        """Why no size is enough that grows in this way, a sentence; empty where one is."""
        if self._needed(way) is not None:
            return ""
        if not self.complete:
            return "It was interrupted before a size was enough."
        least = self.limit.quantile(self.assurance) if self.limit is not None and way == "challenges" else 0.0
        if least > self.width:
            return (
                f"No number of {self.noun} of these bases is enough: were their error rates known exactly, the"
                f" interval would still be {digits(least)} wide, as few bases do not tell how strong the attacks are."
            )
        return f"The largest size that was tried, {_words(self.select(way)[-1], self.noun)}, is not enough."

    @property
    def noun(self) -> str:
        """What the experiment counts: "challenges", or "guesses" on one model."""
        return "guesses" if self.design == "one_run" else "challenges"

    # -- how it is shown and saved ------------------------------------------------------------------------------

    def table(self) -> list[dict[str, Any]]:
        """One row a size: 10%, 50% and 90% quantiles of the width, the one that counts, and the share that reach it."""
        rows = []
        for row in (*self.rows, *((self.limit,) if self.limit is not None else ())):
            quantiles = (row.quantile(p) for p in (0.1, 0.5, 0.9, self.assurance))
            share = float(np.mean(row.widths <= self.width))
            values = (row.way, row.times, row.bases, row.negatives, row.positives, row.runs, *quantiles, share)
            rows.append(dict(zip(_COLUMNS, values, strict=True)))
        return rows

    def to_frame(self) -> pd.DataFrame:
        """The table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.table(), columns=list(_COLUMNS))

    def _parts(self) -> Iterator[Part]:
        known = ", ".join(f"{name} = {value:g}" for name, value in self.provenance.known.items())
        aim = f"a {100 * self.prob:g}% interval of epsilon that is at most {digits(self.width)} wide at {known}"
        yield Line(f"Plan for {aim}")
        if self.present is not None:
            yield Line(f"It is {digits(self.present)} wide now.")
        size = len(self.rows[0].widths)
        yield Line(f"A size is enough if {100 * self.assurance:g}% of {size} simulated experiments reach it.")
        for way in self.ways:
            yield Line()
            yield self._sizes(way)
            yield Line(self._verdict(way))
        yield Line()
        yield Sentences("Assumptions", self.assumptions)
        yield Sentences("Warning", self.warnings, "each")

    def _sizes(self, way: Way) -> Rows:
        cells = []
        for row in self.table():
            if row["way"] == way:
                bounded = math.isfinite(row["times"])
                each = f"{row['negatives']:.0f} + {row['positives']:.0f}" if bounded else "no limit"
                runs = f"{row['runs']:.0f}" if bounded else ""
                widths = digits(row["median"]), digits(row["assured"])
                cells.append((str(row["bases"]), each, runs, *widths, f"{100 * row['share']:.0f}%"))
        headings = ("bases", self.noun, "in all", "median", f"{100 * self.assurance:g}%", "reach it")
        title = f"more {self.noun} of the same bases" if way == "challenges" else "more bases"
        return Rows(cells, headings, f"By {title}:", "rrrrrr", gap="   ")

    def _verdict(self, way: Way) -> str:
        need = self._needed(way)
        if need is None:
            return self.reason(way)
        if need.times == 1.0:
            return "The smallest size is enough."
        most = f"to {need.most}" if need.most is not None else "or more"
        size = _words(need, self.noun)
        return f"Needed: about {size}, {need.runs} in all ({need.fewest} {most}, by the error of the simulation)."

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON; what is infinite is None."""
        needed = {way: None if need is None else dict(vars(need)) for way, need in self.needed.items()}
        sizes = (*self.rows, *((self.limit,) if self.limit is not None else ()))
        rows = [row | {"widths": size.widths.tolist()} for row, size in zip(self.table(), sizes, strict=True)]
        return {
            "format": self.format,
            "width": self.width,
            "prob": self.prob,
            "assurance": self.assurance,
            "present": self.present,
            "design": self.design,
            "needed": needed,
            "reasons": {way: self.reason(way) for way in self.ways},
            "rows": finite(rows),
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
            "complete": self.complete,
        }

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        found = checked_plan(name, without_format(name, content, cls.format))
        rows = [_row(row) for row in found["rows"]]
        limits = [row for row in rows if math.isinf(row.times)]
        same = {key: found[key] for key in ("width", "prob", "assurance", "present", "design", "complete")}
        return cls(
            **same,
            rows=tuple(row for row in rows if math.isfinite(row.times)),
            limit=limits[0] if limits else None,
            assumptions=tuple(found["assumptions"]),
            warnings=tuple(found["warnings"]),
            provenance=Provenance(**found["provenance"]),
        )


def crossing(times: Floats, widths: Floats, wanted: float) -> float | None:
    """Where the width first falls to the wanted one, between two sizes by a straight line in the logarithms."""
    enough = np.flatnonzero(widths <= wanted)
    if not len(enough):
        return None
    k = int(enough[0])
    if k == 0:
        return float(times[0])
    if widths[k] == 0:
        return float(times[k])
    slope = math.log(times[k] / times[k - 1]) / math.log(widths[k] / widths[k - 1])
    return float(times[k - 1] * (wanted / widths[k - 1]) ** slope)


def _grown(first: PlanRow, way: Way, times: float) -> tuple[int, int, int]:
    """Bases, negatives and positives of the first size, grown so many times, rounded up."""
    factor = (times, 1.0) if way == "bases" else (1.0, times)
    bases, negatives, positives = first.bases * factor[0], first.negatives * factor[1], first.positives * factor[1]
    return tuple(math.ceil(value - 1e-9) for value in (bases, negatives, positives))  # type: ignore[return-value]


def _runs(bases: int, negatives: int, positives: int) -> int:
    return bases * (negatives + positives)


def _words(size: PlanRow | Needed, noun: str) -> str:
    bases = "1 base" if size.bases == 1 else f"{size.bases} bases"
    return f"{bases} with {size.negatives:.0f} + {size.positives:.0f} {noun} each"


def _row(content: Mapping[str, Any]) -> PlanRow:
    times, negatives, positives = (
        math.inf if content[key] is None else content[key] for key in ("times", "negatives", "positives")
    )
    return PlanRow(content["way"], times, content["bases"], negatives, positives, np.array(content["widths"], float))


_POSITIVE: Wanted = (lambda value: is_finite(value, 0.0) and value > 0, "a finite number above 0")
_INSIDE: Wanted = (lambda value: is_finite(value, 0.0, 1.0) and 0 < value < 1, "a number above 0 and below 1")
_FIELDS: dict[str, Wanted] = {
    "width": _POSITIVE,
    "prob": _INSIDE,
    "assurance": _INSIDE,
    "present": A_NUMBER,
    "design": one_of(*DESIGNS),
    "needed": AN_OBJECT,
    "reasons": AN_OBJECT,
    "rows": a_list("rows"),
    "assumptions": SENTENCES,
    "warnings": SENTENCES,
    "provenance": AN_OBJECT,
    "complete": TRUTH,
}
_ROW: dict[str, Wanted] = {
    **dict.fromkeys(_COLUMNS, A_NUMBER),
    "way": one_of("challenges", "bases"),
    "bases": (lambda value: is_finite(value, 1.0) and isinstance(value, int), "a whole number, at least 1"),
    "share": A_SHARE,
    "widths": (
        lambda value: isinstance(value, list) and bool(value) and all(is_finite(width, 0.0) for width in value),
        "a list of finite numbers, at least 0",
    ),
}


def checked_plan(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that a plan says, and nothing else."""
    try:
        found = checked_object(name, content, _FIELDS)
        checked_provenance(f"{name}: provenance", found["provenance"])
        for i, row in enumerate(found["rows"]):
            if isinstance(row, dict) and "widths" not in row:
                raise InputError(f"{name}: rows[{i}] has no widths, without which it cannot be read back")
            checked_object(f"{name}: rows[{i}]", row, _ROW)
            if row["times"] is not None and None in (row["negatives"], row["positives"]):
                raise InputError(f"{name}: rows[{i}] has no negatives or positives, and only the limit has none")
        sizes = [row["times"] is not None for row in found["rows"]]
        if not any(sizes) or not all(sizes[:-1]):
            raise InputError(f"{name}: the rows must be sizes, and at most a limit at their end")
    except InputError as error:
        raise InputError(f"{error}; this is not a plan as to_json and to_dict give it") from None
    return found
