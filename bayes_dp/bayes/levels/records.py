"""The view of data owners: how much an attack got out of each record, and which records are above a limit.

A record is a challenge base. Its own ε is that of the member of the family at its level t_i. The law of the levels is
found from all records (`population.py`), so that each learns from the others (partial pooling): levels that all lie in
[sθ, θ] would be none where most records show nothing and one shows much. With p_i = P(ε_i > ε₀ | all data), the chosen
records are the largest set {i : p_i ≥ c} whose expected share of false ones,

    FDR = mean of 1 − p_i over the set,

is at most q: the Bayesian false discovery rate (Newton et al. 2004, Biostatistics 5, 155-176; Müller et al. 2004,
Journal of the American Statistical Association 99, 990-1001).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from bayes_dp.bayes.levels.population import Population, above_alone
from bayes_dp.bayes.levels.posterior import FamilyPosterior, made_of
from bayes_dp.checks import InputError, one_number, show
from bayes_dp.data.files import write_text_atomically
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_LINE,
    A_SHARE,
    AN_OBJECT,
    SENTENCES,
    TRUTH,
    Wanted,
    a_list,
    checked_object,
    is_finite,
)
from bayes_dp.data.table import csv_text
from bayes_dp.results.base import Saved
from bayes_dp.results.posterior import Posterior, Provenance, checked_provenance
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits
from bayes_dp.tradeoff import least

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Record", "Records", "records"]

_SHOWN = 25  # rows of the summary; the others are in the frame
_NAMED = 5  # records that a warning names
_REACH = 1e6  # a level beyond all
_EVEN = 0.5
_FINITE: Wanted = (lambda value: is_finite(value, 0.0), "a finite number, at least 0")


@dataclass(frozen=True)
class Record:
    """What is known of one record; ε is its own.

    >>> found = bdp.records(bdp.estimate(bdp.ErrorCounts(5, 100, 20, 100), 1e-3, family="laplace"), epsilon=2.0)
    >>> record = found.records[0]
    >>> record.base, record.chosen, round(record.above, 2)
    ('0', True, 1.0)
    """

    base: str  # its label or number
    median: float
    low: float  # ends of the interval of ε
    high: float
    above: float  # P(ε > ε₀) given the data of all records
    alone: float  # the same given its own data only, if all pairs of error rates are equally likely
    chosen: bool


@dataclass(frozen=True, eq=False, repr=False)
class Records(Saved):
    """The records, the most exposed first, and which of them are taken to be above ε₀.

    >>> counts = bdp.ErrorCounts([5, 30, 8], 100, [20, 55, 90], 100, base=["Ann", "Bea", "Cay"])
    >>> found = bdp.records(bdp.estimate(counts, 1e-3, family="laplace"), epsilon=1.0)
    >>> found.chosen
    ('Ann',)
    >>> print(found)
    1 of 3 records is taken to be above epsilon = 1 at delta = 0.001 (laplace family)
    Expected share of false ones among them: 5.1...e-10, at most 0.1
    ...
    """

    format = "bayes-dp/records/1"
    records: tuple[Record, ...]
    epsilon: float  # ε₀
    delta: float
    q: float
    prob: float  # of the intervals
    family: str
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    provenance: Provenance

    def __len__(self) -> int:
        return len(self.records)

    @property
    def chosen(self) -> tuple[str, ...]:
        """The labels of the records that are taken to be above ε₀."""
        return tuple(record.base for record in self.records if record.chosen)

    @property
    def false_share(self) -> float:
        """The expected share of false ones among the chosen, given the model; 0 if none is chosen."""
        return float(np.mean([1.0 - record.above for record in self.records if record.chosen] or [0.0]))

    def _parts(self) -> Iterator[Part]:
        number, every = len(self.chosen), len(self)
        share = f"{100 * self.prob:g}% interval"
        title = (
            f"{number} of {every} record{'s' * (every > 1)} {'is' if number == 1 else 'are'} taken to be above"
            f" epsilon = {self.epsilon:g} at delta = {self.delta:g} ({self.family} family)"
        )
        cells = [
            (
                record.base,
                digits(record.median),
                f"{digits(record.low)} to {digits(record.high)}",
                _chance(record.above),
                _chance(record.alone),
                "yes" if record.chosen else "",
            )
            for record in self.records[:_SHOWN]
        ]
        headings = ("record", "epsilon", share, f"P(> {self.epsilon:g})", "alone", "chosen")
        false = f"Expected share of false ones among them: {digits(self.false_share)}, at most {self.q:g}"
        yield Line(title)
        yield Line(false)
        yield Rows(cells, headings, sides="lrlrrl")
        if every > _SHOWN:
            yield Sentences("", (f"and {every - _SHOWN} more, which to_frame and to_csv have",))
        yield Sentences("Assumptions", self.assumptions)
        yield Sentences("Warning", self.warnings, "each")

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        return {
            "format": self.format,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "q": self.q,
            "prob": self.prob,
            "family": self.family,
            "false_share": self.false_share,
            "records": [asdict(record) for record in self.records],
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
        }

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        found = checked_records(name, without_format(name, content, cls.format))
        rows = tuple(Record(**row) for row in found["records"])
        wanted = chosen_of(np.array([row.above for row in rows]), found["q"])
        if wanted.tolist() != [row.chosen for row in rows]:
            raise InputError(f"{name}: the chosen records are not those that q = {show(found['q'])} gives")
        given = {key: found[key] for key in ("epsilon", "delta", "q", "prob", "family")}
        made = cls(
            rows,
            **given,
            assumptions=tuple(found["assumptions"]),
            warnings=tuple(found["warnings"]),
            provenance=Provenance(**found["provenance"]),
        )
        if made.false_share != found["false_share"]:
            raise InputError(f"{name}: false_share is {show(found['false_share'])}, which is not what the records say")
        return made

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row a record, the most exposed first."""
        import pandas as pd

        return pd.DataFrame([asdict(record) for record in self.records], columns=list(Record.__dataclass_fields__))

    def to_csv(self, path: str | PathLike[str], *, safe_cells: bool = False) -> None:
        """Write the rows as a CSV file, atomically; `safe_cells` is for spreadsheets, as for `ErrorCounts`."""
        write_text_atomically(path, self.csv(safe_cells=safe_cells))

    def csv(self, *, safe_cells: bool = False) -> str:
        """The text that `to_csv` writes."""
        columns = {name: [getattr(row, name) for row in self.records] for name in Record.__dataclass_fields__}
        return csv_text(columns, safe_cells)


def _chance(value: float) -> str:
    """A probability with three digits, which does not say 1 or 0 of what is not sure."""
    return "> 0.999" if value > 0.9995 else "< 0.001" if value < 0.0005 else f"{value:.3f}"


def records(
    post: Posterior, epsilon: float = 1.0, delta: float | None = None, *, q: float = 0.1, prob: float = 0.9
) -> Records:
    """The posterior of every record's own ε, and the records that are above a limit.

    Parameters
    ----------
    post : of a family of trade-off functions, as `estimate(counts, family=...)` gives it, or
        `estimate_curves(scores, family=...)`; each base is a record.
    epsilon : the limit ε₀.
    delta : at which ε is meant; by default that of the posterior.
    q : the expected share of false ones among the chosen records is at most this.
    prob : of the intervals of ε.

    The ε of a record is what the attack on it got out. Records with few runs are pulled towards the others: `alone` is
    P(ε > ε₀) without that. How much leaks in how many of them is found from the data of all, whatever the priors of the
    posterior say.

    >>> counts = bdp.ErrorCounts([5, 1, 30], [100, 3, 100], [20, 2, 55], [100, 3, 100], base=["Ann", "few", "Cay"])
    >>> found = bdp.records(bdp.estimate(counts, family="gaussian"), epsilon=2.0, delta=1e-3)
    >>> [(row.base, round(row.above, 2), round(row.alone, 2)) for row in found.records]
    [('Ann', 1.0, 1.0), ...]
    """
    if not isinstance(post, FamilyPosterior):
        raise InputError(
            "post must be a posterior of a family of trade-off functions, as bayes_dp.estimate(counts, family=...)"
            f" gives it, not {type(post).__name__}"
        )
    if post.question.strength == "tight":
        raise InputError("post has strength='tight', where all records have the same level: there is none to choose")
    epsilon = one_number("epsilon", epsilon, 0.0, high_open=True)
    q = one_number("q", q, 0.0, 1.0, low_open=True, high_open=True)
    prob = one_number("prob", prob, 0.0, 1.0, low_open=True, high_open=True)
    if delta is None and "delta" not in post.provenance.known:
        raise InputError("delta is missing: the posterior has none, and the ε of a record is at a δ")
    at = post.epsilon_at(post.provenance.known["delta"] if delta is None else one_number("delta", delta))
    family, known = post.family, at.provenance.known["delta"]
    fit, law = made_of(post)
    limit = float(
        least(lambda t: family.epsilon_at(t, np.array(known)) > epsilon, np.array(0.0), min(_REACH, family.most))
    )
    reached = bool(family.epsilon_at(np.array(limit), np.array(known)) > epsilon) and limit < family.farthest
    found = Population.of(fit, law, limit if reached else 0.0)
    above, alone = (found.above(limit), above_alone(fit, limit)) if reached else np.zeros((2, len(found.mass)))
    median, low, high = (
        family.epsilon_at(found.quantile(p), np.array(known)) for p in (0.5, (1.0 - prob) / 2, (1.0 + prob) / 2)
    )
    of_base = {"median": median, "low": low, "high": high, "above": above, "alone": alone}
    columns = {name: np.asarray(values)[law.base] for name, values in of_base.items()}
    order = np.lexsort((-columns["median"], -columns["above"]))
    chosen = chosen_of(columns["above"][order], q)
    rows = tuple(
        Record(post.bases[i], **{name: float(values[i]) for name, values in columns.items()}, chosen=bool(which))
        for i, which in zip(order, chosen, strict=True)
    )
    return Records(
        rows,
        epsilon,
        known,
        q,
        prob,
        family.name,
        assumptions=(
            f"What the attack got out of a record is one member of the {family.name} family, at every δ.",
            "The true error rates of a record are uniform over a layer of its own, and all show which there are.",
            "Given its rates, the data of a record are independent of those of the others.",
            "The ε of a record is what this attack got out of it; another attack may get out more.",
            f"The share of false ones is an expectation under this model, of which the {family.name} family is a part.",
        ),
        warnings=(*at.unreliable, *filter(None, (at.caution,)), *_pooled(rows, epsilon)),
        provenance=at.provenance,
    )


def chosen_of(above: Floats, q: float) -> Bools:
    """Which of the probabilities, (n,) and falling, are in the largest set {p ≥ c} whose mean of 1 − p is ≤ q."""
    share = np.cumsum(1.0 - above) / np.arange(1, len(above) + 1)
    last_of_its_kind = np.append(above[1:] < above[:-1], True)
    good = np.flatnonzero((share <= q) & last_of_its_kind)
    return np.arange(len(above)) < (good[-1] + 1 if len(good) else 0)


def _pooled(rows: tuple[Record, ...], epsilon: float) -> Iterator[str]:
    """What the records were given by each other, a sentence."""
    borrowed = [row.base for row in rows if row.chosen and row.alone < _EVEN]
    if borrowed:
        names = ", ".join(borrowed[:_NAMED]) + (", ..." if len(borrowed) > _NAMED else "")
        yield (
            f"by their own data alone {len(borrowed)} of the chosen records ({names}) have less than an even chance to"
            f" be above epsilon = {epsilon:g}: they are chosen for what the others show."
        )


_FIELDS: dict[str, Wanted] = {
    "epsilon": _FINITE,
    "delta": A_SHARE,
    "q": A_SHARE,
    "prob": A_SHARE,
    "family": A_LINE,
    "false_share": A_SHARE,
    "records": a_list("records"),
    "assumptions": SENTENCES,
    "warnings": SENTENCES,
    "provenance": AN_OBJECT,
}
_RECORD: dict[str, Wanted] = {
    "base": A_LINE,
    "median": _FINITE,
    "low": _FINITE,
    "high": _FINITE,
    "above": A_SHARE,
    "alone": A_SHARE,
    "chosen": TRUTH,
}


def checked_records(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that such a table says, and nothing else."""
    try:
        found = checked_object(name, content, _FIELDS)
        for i, row in enumerate(found["records"]):
            checked_object(f"{name}: records[{i}]", row, _RECORD)
        checked_provenance(f"{name}: provenance", found["provenance"])
    except InputError as error:
        raise InputError(f"{error}; this is not a table of records as to_json and to_dict give it") from None
    return found
