"""What learning propensities returns: one for each example, how good they are, and what rests on them."""

from __future__ import annotations

import json
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
from bayes_dp.data.propensity_source import GIVEN, PropensitySource
from bayes_dp.data.table import csv_text
from bayes_dp.propensity.cross_fitting import Classifier, Fitted, Logistic, Task
from bayes_dp.propensity.diagnostics import Diagnostics
from bayes_dp.propensity.falsification import Falsification, falsify
from bayes_dp.results.posterior import Provenance, digits, finite
from bayes_dp.support.arrays import Bools, Floats, Indices
from bayes_dp.support.text import Lines, columns

__all__ = ["Origin", "Propensity"]


@dataclass(frozen=True, eq=False)
class Origin:
    """What propensities were learned from, so that more can be learned from it."""

    task: Task
    learner: Logistic | Classifier
    first: Fitted
    features: Floats  # (N, d), as they were before the learner's preparation
    seed: int


@dataclass(frozen=True, eq=False)
class Propensity:
    """For each of n examples the probability, strictly between 0 and 1, that it is a member given its features.

    `fold` is the fold of each example: its propensity comes from a classifier that was fitted on other folds only.

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

    kind = "propensity"

    def __post_init__(self) -> None:
        for array in (self.values, self.member, self.fold):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.values)

    def table(self, score: ArrayLike) -> GuessTable:
        """The scores of an attack on these examples, (n,), next to memberships and propensities.

        The table remembers that the propensities were learned, and asks for `falsification` when it is audited.
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

    def summary(self) -> Lines:
        """The diagnostics, the assumptions and the warnings, some lines of text."""
        d = self.diagnostics
        quantiles = [["quantile", *(f"{q:.0%}" for q in d.quantiles["members"])]]
        quantiles += [[side, *(f"{value:.3f}" for value in row.values())] for side, row in d.quantiles.items()]
        bins = [
            ["propensity", *(f"{each.propensity:.3f}" for each in d.reliability)],
            ["members", *(f"{each.members:.3f}" for each in d.reliability)],
        ]
        lines = [
            f"Propensities of {d.examples} examples, {d.members} of them members ({self.provenance.method})",
            f"AUC          {d.auc:.3f}    0.5: the features do not tell members from non-members, 1: they tell all",
            f"Brier score  {d.brier:.4f}   one propensity for all would have {d.brier_constant:.4f}",
            f"Calibration  {d.ece:.4f}   distance of propensities and shares of members, in {len(d.reliability)} bins",
            f"Overlap      {digits(d.eta)}   least of all π and 1-π; "
            + ", ".join(f"below {edge:g}: {count}" for edge, count in d.beyond.items()),
            f"Kept         {d.kept:.3f}    share of random guesses that tampering keeps for Gaussian DP",
            "",
            *columns(quantiles, "l" + "r" * (len(quantiles[0]) - 1)),
            "",
            *columns(bins, "l" + "r" * len(d.reliability)),
            "",
            "Assumptions:",
            *(f"  - {sentence}" for sentence in self.assumptions),
            *([ESTIMATED] if self.origin is not None else []),
            *(f"Warning: {sentence}" for sentence in self.warnings),
        ]
        return Lines("\n".join(lines))

    def to_dict(self) -> dict[str, Any]:
        """Everything but the propensities, fit for JSON."""
        return {
            "kind": self.kind,
            "diagnostics": finite(self.diagnostics.to_dict()),
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
        }

    def to_json(self, path: str | PathLike[str]) -> None:
        """Save `to_dict` as a JSON file, atomically."""
        write_text_atomically(path, json.dumps(self.to_dict(), indent=2) + "\n")

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

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        d = self.diagnostics
        return f"<Propensity of {d.examples} examples: AUC {d.auc:.3f}, overlap {digits(d.eta)}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
