"""What learning propensities returns: one for each example, how good they are, and what rests on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.audits.zero_run import ESTIMATED
from bayes_dp.checks import InputError, one_number
from bayes_dp.data.files import write_text_atomically
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.json_text import finite
from bayes_dp.data.propensity_source import GIVEN, PropensitySource
from bayes_dp.data.table import csv_text
from bayes_dp.propensity.cross_fitting import Classifier, Fitted, Logistic, Task
from bayes_dp.propensity.diagnostics import Diagnostics
from bayes_dp.propensity.falsification import Falsification, falsify
from bayes_dp.results.base import Result
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Bools, Floats, Indices
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits

__all__ = ["Origin", "Propensity"]


@dataclass(frozen=True, eq=False)
class Origin:
    """What propensities were learned from, so that more can be learned from it."""

    task: Task
    learner: Logistic | Classifier
    first: Fitted
    features: Floats  # (N, d), as they were before the learner's preparation
    seed: int


@dataclass(frozen=True, eq=False, repr=False)
class Propensity(Result):
    """For each of n examples π = P(member | features), strictly between 0 and 1.

    `values`, `member` and `fold` have the shape (n,). `fold` is the fold of each example: its propensity comes from
    a classifier that was fitted on other folds only.

    >>> known = bdp.propensity.known([0.5, 0.3, 0.6, 0.5], [True, True, False, False])
    >>> known.values, known.inside(0.4)
    (array([0.5, 0.3, 0.6, 0.5]), array([ True, False,  True,  True]))
    """

    values: Floats
    member: Bools
    fold: Indices
    diagnostics: Diagnostics
    assumptions: tuple[str, ...]
    warnings: tuple[str, ...]
    provenance: Provenance
    origin: Origin | None = field(default=None, repr=False)

    format = "bayes-dp/propensity/1"
    kind = "propensity"

    def __post_init__(self) -> None:
        for array in (self.values, self.member, self.fold):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.values)

    def table(self, score: ArrayLike) -> GuessTable:
        """The scores of an attack on these examples, (n,), next to memberships and propensities.

        The table remembers that the propensities were learned, and asks for `falsification` when it is audited.

        >>> known = bdp.propensity.known([0.5, 0.3, 0.6, 0.5], [True, True, False, False])
        >>> known.table([1.0, 0.2, 0.7, 0.1]).propensity
        array([0.5, 0.3, 0.6, 0.5])
        """
        return GuessTable(score, self.member, self.values, None, GIVEN if self.origin is None else self.source)

    @cached_property
    def falsification(self) -> Falsification:
        """Do the memberships contradict the propensities? Tested when it is first asked for, and then remembered."""
        return falsify(self)

    def source(self) -> PropensitySource:
        """What a result that rests on these propensities has to say of them."""
        if self.origin is None:
            return GIVEN
        tested = self.falsification
        outcome = {"p_value": tested.p_value, "level": tested.level, "excess": tested.excess}
        return PropensitySource(
            "rejected" if tested.rejected else "learned",
            assumptions=(*self.assumptions[1:], *([] if tested.rejected else [tested.statement()])),
            warnings=self.warnings,
            objection=tested.statement() if tested.rejected else "",
            test=outcome | {"statement": tested.statement()},
        )

    def inside(self, edge: float) -> Bools:
        """Which examples have a propensity from `edge` to 1 − `edge`, (n,)."""
        return np.minimum(self.values, 1 - self.values) >= one_number("edge", edge, 0.0, 0.5)

    def _parts(self) -> Iterator[Part]:
        d = self.diagnostics
        beyond = ", ".join(f"below {edge:g}: {count}" for edge, count in d.beyond.items())
        bins = f"in {len(d.reliability)} bins"
        rows = (
            ("AUC", f"{d.auc:.3f}", "0.5: the features do not tell members from non-members, 1: they tell all"),
            ("Brier score", f"{d.brier:.4f}", f"one propensity for all would have {d.brier_constant:.4f}"),
            ("Calibration", f"{d.ece:.4f}", f"distance of propensities and shares of members, {bins}"),
            ("Overlap", digits(d.eta), f"least of all π and 1-π; {beyond}"),
            ("Kept", f"{d.kept:.3f}", "share of random guesses that tampering keeps for Gaussian DP"),
        )
        title = f"Propensities of {d.examples} examples, {d.members} of them members ({self.provenance.method})"
        yield Rows(
            rows, caption=title, words=(title, *(f"{name:<12} {value:<6}   {what}" for name, value, what in rows))
        )
        quantiles = [(side, *(f"{value:.3f}" for value in row.values())) for side, row in d.quantiles.items()]
        yield Line()
        yield Rows(
            quantiles,
            ("quantile", *(f"{q:.0%}" for q in d.quantiles["members"])),
            sides="l" + "r" * len(d.quantiles["members"]),
        )
        yield Line()
        yield Rows(
            [("members", *(f"{each.members:.3f}" for each in d.reliability))],
            ("propensity", *(f"{each.propensity:.3f}" for each in d.reliability)),
            sides="l" + "r" * len(d.reliability),
        )
        yield Line()
        yield Sentences("Assumptions", self.assumptions)
        if self.origin is not None:
            yield Line(ESTIMATED)
        yield Sentences("Warning", self.warnings, "each")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the propensities, fit for JSON."""
        return {
            "format": self.format,
            "kind": self.kind,
            "diagnostics": finite(self.diagnostics.to_dict()),
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
        }

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Save member, propensity, fold and the source of the propensity of each example as a CSV file, atomically."""
        write_text_atomically(path, self.csv())

    def csv(self) -> str:
        """The text that `to_csv` writes."""
        columns = {"member": self.member.astype(int), "propensity": self.values, "fold": self.fold}
        lists = {name: values.tolist() for name, values in columns.items()}
        return csv_text(lists | {"propensity_source": [self.source().name] * len(self)})

    def learned(self) -> Origin:
        """What the propensities were learned from; an error if they were given."""
        if self.origin is None:
            raise InputError("these propensities were given, not learned, so there is nothing to learn again")
        return self.origin

    def __repr__(self) -> str:
        d = self.diagnostics
        return f"<Propensity of {d.examples} examples: AUC {d.auc:.3f}, overlap {digits(d.eta)}>"
