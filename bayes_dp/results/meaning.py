"""What values of a privacy parameter mean for those who are in the data, as a table.

Of each trade-off function f there is the most that any attack can do: the true positive rate 1 − f(α) at α of .1%, 1%
and 10%, the advantage max over α of 1 − α − f(α), the least share of wrong decisions on as many members as
non-members, and the chance 1 − f(κ) to reconstruct an example that is guessed with chance κ without the training
(`tradeoff/meaning.py`). These are ceilings: that ε is at least 2 does not say that an attack reaches those of ε = 2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from bayes_dp.checks import InputError, one_number
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import A_SHARE, AN_OBJECT, checked_object, is_line
from bayes_dp.results.base import Saved
from bayes_dp.support.text import Line, Part, Rows
from bayes_dp.tradeoff import TradeOffFunction, bayes_risk, largest_tpr, reconstruction

__all__ = ["FPRS", "Attained", "Meaning", "attained", "meaning_of"]

FPRS = (0.001, 0.01, 0.1)


@dataclass(frozen=True)
class Attained:
    """The most that any attack can do, as shares."""

    tpr: tuple[float, ...]  # at the false positive rates `FPRS`
    advantage: float
    bayes_risk: float  # where half are members
    reconstruction: float

    @property
    def cells(self) -> tuple[str, ...]:
        """In percent."""
        return tuple(f"{100 * each:.3g}%" for each in (*self.tpr, self.advantage, self.bayes_risk, self.reconstruction))


def attained(f: TradeOffFunction, baseline: float) -> Attained:
    """The most that any attack can do against f."""
    tpr = tuple(float(largest_tpr(f, fpr)) for fpr in FPRS)
    return Attained(tpr, float(f.advantage()), float(bayes_risk(f)), float(reconstruction(f, baseline)))


@dataclass(frozen=True, repr=False)
class Meaning(Saved):
    """The most that any attack can do, by what it is of.

    >>> bound = bdp.audits.joint_exact(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> print(bound.meaning())
    The most that any attack can do
                           TPR at FPR 0.1%   at 1%  at 10%  advantage  wrong decisions  reconstruction from 10%
    epsilon at least 1.52           0.557%  4.67%   45.8%      64.1%             17.9%                    45.8%
    """

    format = "bayes-dp/meaning/1"

    rows: Mapping[str, Attained]
    baseline: float

    def _parts(self) -> Iterator[Part]:
        if not self.rows:
            yield Line("Nothing here is valid, so that it says nothing of what an attack can do.")
            return
        more = (f"at {100 * fpr:g}%" for fpr in FPRS[1:])
        last = f"reconstruction from {100 * self.baseline:g}%"
        headings = ("", f"TPR at FPR {100 * FPRS[0]:g}%", *more, "advantage", "wrong decisions", last)
        cells = [(what, *row.cells) for what, row in self.rows.items()]
        yield Rows(cells, headings, "The most that any attack can do", "l" + "r" * (len(headings) - 1))

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        rates = {what: dict(zip(map(str, FPRS), row.tpr, strict=True)) for what, row in self.rows.items()}
        rows = {what: asdict(row) | {"tpr": rates[what]} for what, row in self.rows.items()}
        return {"format": self.format, "baseline": self.baseline, "rows": rows}

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        try:
            given = without_format(name, content, cls.format)
            found = checked_object(name, given, {"baseline": A_SHARE, "rows": AN_OBJECT})
            rows = {what: _row(f"{name}: rows[{what!r}]", what, row) for what, row in found["rows"].items()}
        except InputError as error:
            raise InputError(f"{error}; this is not a meaning as to_json and to_dict give it") from None
        return cls(rows, float(found["baseline"]))


def _row(place: str, what: str, content: Any) -> Attained:
    if not is_line(what):
        raise InputError(f"{place}: its name must be a text of one line")
    shares = "advantage", "bayes_risk", "reconstruction"
    found = checked_object(place, content, dict.fromkeys(shares, A_SHARE) | {"tpr": AN_OBJECT})
    tpr = checked_object(f"{place}: tpr", found["tpr"], {str(fpr): A_SHARE for fpr in FPRS})
    return Attained(tuple(float(tpr[str(fpr)]) for fpr in FPRS), *(float(found[share]) for share in shares))


def meaning_of(functions: Mapping[str, TradeOffFunction], baseline: float) -> Meaning:
    """The table of trade-off functions by name, with the chance κ of a guess in the place of `baseline`."""
    baseline = one_number("baseline", baseline, 0.0, 1.0)
    return Meaning({what: attained(f, baseline) for what, f in functions.items()}, baseline)
