"""How well propensities tell members from non-members, whether they are calibrated, and how far the two overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bayes_dp.data.roc import RocCurve
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["Bin", "Diagnostics", "area_under_curve", "diagnose"]


BINS = 10
EDGES = (0.1, 0.05, 0.01, 0.001)
QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)


@dataclass(frozen=True)
class Bin:
    """Examples of about the same propensity."""

    examples: int
    propensity: float  # mean
    members: float  # share


@dataclass(frozen=True)
class Diagnostics:
    """Of n propensities and memberships.

    auc          chance that a member has a higher propensity than a non-member, ties counting half; ½ without a shift
    brier        mean of (π − s)², s = 1 for members and 0 for others; `brier_constant` is that of one π for all
    ece          mean over the examples of |mean propensity − share of members| in their bin
    reliability  ten bins of equally many examples, from the lowest propensities to the highest
    eta          least min(π, 1 − π): the overlap that the compositional bound needs
    quantiles    of π among members and non-members, by probability
    beyond       for each edge e, how many examples have min(π, 1 − π) < e
    kept         mean of e^{−|logit π|}: the share of random guesses that f-DP tampering keeps; the f-DP bound is 0
                 unless the guesses that are made have more than ½
    """

    examples: int
    members: int
    auc: float
    brier: float
    brier_constant: float
    ece: float
    reliability: tuple[Bin, ...]
    eta: float
    quantiles: Mapping[str, Mapping[float, float]]
    beyond: Mapping[float, int]
    kept: float

    def to_dict(self) -> dict[str, Any]:
        """Everything in it, fit for JSON."""
        texts = {side: {f"{q:g}": v for q, v in row.items()} for side, row in self.quantiles.items()}
        return asdict(self) | {"quantiles": texts, "beyond": {f"{e:g}": k for e, k in self.beyond.items()}}


def diagnose(values: Floats, member: Bools) -> Diagnostics:
    """Of propensities and memberships of shape (n,), with both kinds of examples among them."""
    least = np.minimum(values, 1 - values)
    share = float(member.mean())
    groups = [rows for rows in np.array_split(np.argsort(values, kind="stable"), BINS) if len(rows)]
    bins = tuple(Bin(len(rows), float(values[rows].mean()), float(member[rows].mean())) for rows in groups)
    quantiles = {
        name: dict(zip(QUANTILES, np.quantile(values[side], QUANTILES).tolist(), strict=True))
        for name, side in (("members", member), ("non-members", ~member))
    }
    return Diagnostics(
        examples=len(values),
        members=int(member.sum()),
        auc=area_under_curve(values, member),
        brier=float(np.mean((values - member) ** 2)),
        brier_constant=share * (1 - share),
        ece=sum(each.examples * abs(each.propensity - each.members) for each in bins) / len(values),
        reliability=bins,
        eta=float(least.min()),
        quantiles=quantiles,
        beyond={edge: int((least < edge).sum()) for edge in EDGES},
        kept=float(np.mean(least / (1 - least))),
    )


def area_under_curve(values: Floats, member: Bools) -> float:
    """P[a member's value > a non-member's] + ½ P[they are equal]."""
    return RocCurve.of(values, member).area()
