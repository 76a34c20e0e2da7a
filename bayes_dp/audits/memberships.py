"""Do the memberships contradict what an audit assumes of them?

Every audit of guesses assumes how likely each example was to be a member: by a fair coin, by its propensity, or within
an overlap. The number M of members among m examples then has a known law. Where the M at hand is too far from it, the
bound rests on an assumption that is wrong.

    fair coins      M ~ Binomial(m, ½)
    overlap η       M lies, in the usual order of laws, between Binomial(m, η) and Binomial(m, 1 − η)
    propensities    M ~ the Poisson binomial law of the π_i. So is A, how many examples are on their likelier side
                    (members with π > ½, others with π < ½), with the chances max(π_i, 1 − π_i). Too large an A says
                    that propensities are too near to ½; one that is small for fair coins, that they point the wrong way

Every p-value is twice the smaller tail, which is exact or too large. So a true assumption is rejected with a chance of
at most `LEVEL`, and what is more even than coins, such as halves of a fixed size, passes. Where M is known within
limits only, as from counts of the guesses, the M within these that speaks least against the assumption is judged.

Given their propensities, examples are members independently of each other. Where examples of one group were chosen
together (all texts of an author, all images of a patient), they are not, and a few groups weigh like many examples. So
the examples of each group are paired, each in one pair. The number of pairs that agree, both members or both not, has
the Poisson binomial law of the chances π_i π_j + (1 − π_i)(1 − π_j). Too many pairs that agree speak against it.

The coins of a game in which nobody changed the training are fair, but decide what is shown, and not what is trained on.
So nothing that takes them for memberships is valid.

Where a pilot chose the number of guesses, the other examples and all of them together are judged, each at half the
level: the bound rests on the former, and the latter tell more.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bayes_dp.audits.poisson_binomial import tail
from bayes_dp.checks import InputError
from bayes_dp.data.counts import OBSERVATIONAL
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.bound import joined
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["LEVEL", "Memberships", "under_coins", "under_independence", "under_overlap", "under_propensities"]

LEVEL = 1e-4

Limits = tuple[int, int]


@dataclass(frozen=True)
class Memberships:
    """What came out, for a bound: its `invalid`, a sentence or empty, and further `assumptions` and `details`."""

    invalid: str = ""
    assumptions: tuple[str, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)


def under_coins(guesses: Guesses) -> Memberships:
    """Of examples that were members by fair coins."""
    found = _counted(guesses, 0.5, "fair coins")
    if guesses.knows_examples and guesses.table.design == "observational":
        return replace(found, invalid=joined(OBSERVATIONAL, found.invalid))
    return found


def under_overlap(guesses: Guesses, overlap: float) -> Memberships:
    """Of examples that were members with chances between `overlap` and 1 − `overlap`."""
    return _counted(guesses, overlap, f"an overlap of {overlap:g}")


def under_propensities(member: Bools, propensity: Floats, kept: int) -> Memberships:
    """Of examples that were members with their propensities, (n,) each; the bound is on the first `kept` of them, the
    others are a pilot's."""
    members = int(member.sum())
    _refuse_one_kind((members, members), len(member))
    parts = [slice(kept)] if kept == len(member) else [slice(kept), slice(None)]
    tests = [test for part in parts for test in _tests(member[part], propensity[part])]
    p_value, found = min(tests)
    return _outcome(min(1.0, len(tests) * p_value), found, "the propensities", members)


def under_independence(member: Bools, propensity: Floats, group: NDArray[np.integer]) -> Memberships:
    """Of examples that were members with their propensities independently also within a group, all arrays (n,)."""
    order = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[order], prepend=group[order[0]] - 1))
    sizes = np.diff(starts, append=len(order))
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    paired = (place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes))
    first, second = order[paired], order[np.flatnonzero(paired) + 1]
    if not len(first):
        return Memberships()
    chance = propensity[first] * propensity[second] + (1 - propensity[first]) * (1 - propensity[second])
    agree = int(np.sum(member[first] == member[second]))
    p_value = float(tail(chance, agree))
    details: dict[str, Any] = {"groups_p_value": p_value}
    if p_value > LEVEL:
        return Memberships(details=details)
    return Memberships(
        "The memberships contradict their independence: examples of a group are members, or not, together. Of"
        f" {len(first)} pairs {agree} agree, where {chance.sum():.6g} were expected (p = {p_value:.2g}, and {LEVEL:g}"
        " or less is rejected). Audit one example of each group.",
        details=details | {"memberships_contradict": "their independence"},
    )


def _counted(guesses: Guesses, overlap: float, assumed: str) -> Memberships:
    """The test of the number of members by the binomial laws of `overlap` and 1 − `overlap`."""
    parts = [(guesses.members, guesses.examples)]
    if guesses.pilot is not None:
        both = zip(guesses.members, guesses.pilot.members, strict=True)
        least, most = (sum(limits) for limits in both)
        parts.append(((least, most), guesses.examples + guesses.pilot.examples))
    _refuse_one_kind(*parts[-1])
    p_values = [_p_of_count(limits, examples, overlap) for limits, examples in parts]
    (least, most), examples = parts[int(np.argmin(p_values))]
    if least == 0 and most == examples:
        sentence = f"How many of the examples were members is not known here, so {assumed} could not be tested."
        return Memberships(assumptions=(sentence,))
    known = f"{least}" if least == most else f"between {least} and {most}"
    found = f"{known} of {examples} examples are members"
    return _outcome(min(1.0, len(parts) * min(p_values)), found, assumed, least if least == most else [least, most])


def _outcome(p_value: float, found: str, assumed: str, members: int | list[int]) -> Memberships:
    details = {"members": members, "memberships_p_value": p_value}
    if p_value > LEVEL:
        return Memberships(details=details)
    return Memberships(
        f"The memberships contradict {assumed}: {found} (p = {p_value:.2g}, and {LEVEL:g} or less is rejected).",
        details=details | {"memberships_contradict": assumed},
    )


def _refuse_one_kind(members: Limits, examples: int) -> None:
    for only, name in ((examples, "members"), (0, "non-members")):
        if members == (only, only) and examples > 0:
            raise InputError(f"all {examples} examples are {name}: an audit of guesses needs members and non-members")


def _p_of_count(members: Limits, examples: int, overlap: float) -> float:
    """Twice the smaller tail: P[Binomial(m, 1 − η) ≥ least] or P[Binomial(m, η) ≤ most], the latter by mirroring."""
    least, most = members
    return min(1.0, 2 * min(_binomial_tail(examples, k, overlap) for k in (least, examples - most)))


def _binomial_tail(trials: int, least: int, overlap: float) -> float:
    """P[Binomial(trials, 1 − overlap) ≥ least]."""
    if least <= 0:
        return 1.0
    return float(special.betaincc(trials - least + 1, least, overlap))


def _tests(member: Bools, propensity: Floats) -> list[tuple[float, str]]:
    """The p-values of M and of A, with what was found."""
    n, members = len(member), int(member.sum())
    mean = float(propensity.sum())
    far = float(tail(propensity, members) if members > mean else tail(1 - propensity, n - members))
    tests = [(min(1.0, 2 * far), f"{members} of {n} examples are members, where {mean:.6g} were expected")]
    apart = propensity != 0.5
    if apart.any():
        chance = np.abs(propensity[apart] - 0.5) + 0.5
        sided, likelier = len(chance), int(np.sum((propensity[apart] > 0.5) == member[apart]))
        mean = float(chance.sum())
        far = float(tail(chance, likelier)) if likelier > mean else _binomial_tail(sided, sided - likelier, 0.5)
        found = (
            f"{likelier} of {sided} examples are what their propensity says is likelier, where {mean:.6g} were expected"
        )
        tests.append((min(1.0, 2 * far), found))
    return tests
