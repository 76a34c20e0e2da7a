"""Bases in groups: which belong together, the sums of their counts, and the prior of the spread κ of their rates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.priors import numpyro_law, prior_of
from bayes_dp.checks import InputError, one_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Ints

__all__ = ["Members", "spread_of", "sums"]


class Members(NamedTuple):
    """The counts of all members, each (n,), and the group 0..G−1 of each, (n,)."""

    counts: Counts
    group: Ints

    @classmethod
    def of(cls, counts: ErrorCounts) -> Members:
        """Groups in the order of their first members; a base with an empty label is a group of its own."""
        if counts.group is None:
            raise InputError("the counts name no groups: give ErrorCounts a group for each base")
        keys = [("group", name) if name else ("alone", str(i)) for i, name in enumerate(counts.group)]
        order = {key: g for g, key in enumerate(dict.fromkeys(keys))}
        return cls(Counts.of(counts), np.array([order[key] for key in keys]))


def sums(members: Members) -> Counts:
    """The sums of every group's counts, each (G,)."""
    return Counts(*(np.bincount(members.group, np.asarray(column)).astype(np.float64) for column in members.counts))


def spread_of(value: Any) -> Any:
    """κ: a number above 0 and at most 1 as it is, or its prior in NumPyro, by default HalfNormal(0.1)."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool):
        return one_number("spread", value, 0.0, 1.0, low_open=True)
    return numpyro_law(prior_of("spread", value))
