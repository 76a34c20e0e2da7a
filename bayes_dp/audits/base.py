"""What an audit is to the rest of the package: a name, what it needs, what it assumes, and a function that answers.

The meanings of `needs` never change, and what is not in their list is refused:

    counts      error counts of repeated, independent runs: the designs "repeated" and "cross_fed"
    guesses     guesses on one model: error counts of the design "one_run"
    coins       each example was a member by its own fair coin, so that neither an overlap nor propensities were given
    overlap     every propensity lies between η and 1 − η
    scores      the attack's scores of the examples behind the counts, with propensities

All but the first are of guesses on one model. An audit's `refuse` is for what is its own, such as a δ at which there is
no bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from bayes_dp.checks import InputError, show
from bayes_dp.data.counts import CROSS_FED, ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses, dependent
from bayes_dp.results.bound import CredibleInterval, Estimate, LowerBound

__all__ = ["NEEDS", "Audit", "Finding", "Inputs", "Scope", "caution", "no_gaussian_epsilon"]

Finding = LowerBound | CredibleInterval | Estimate
Scope = Literal["whole", "base", "both"]  # all bases together, each alone, or both


@dataclass(frozen=True)
class Inputs:
    """What an audit is given besides the counts."""

    delta: float
    confidence: float
    overlap: float | None = None  # η: every propensity lies between it and 1 − η
    baseline: ErrorCounts | None = None  # decisions on the same examples without the model
    scores: GuessTable | None = None  # of the same examples, with propensities
    guesses: Guesses | None = None  # that the counts are of, where these are known; by one number of them

    def guessed(self, counts: ErrorCounts) -> Guesses | ErrorCounts:
        """The guesses, which know how many of all examples are members, or else the counts of them."""
        return counts if self.guesses is None else self.guesses

    @property
    def probability(self) -> float:
        """Of an equal-tailed interval whose lower end is missed with probability 1 − confidence."""
        return float(f"{2 * self.confidence - 1:.15g}")  # 0.9 for 0.95, and not 0.8999999999999999


Refuse = Callable[[ErrorCounts, Inputs], str]  # the reason, or ""


def _nothing(counts: ErrorCounts, inputs: Inputs) -> str:
    return ""


@dataclass(frozen=True)
class Audit:
    """One way from what attacks achieved to a number about ε.

    `run` answers where nothing is refused. `assumptions` are sentences that every answer carries, beside those that
    depend on the data and the settings.
    """

    name: str
    needs: tuple[str, ...]
    run: Callable[[ErrorCounts, Inputs], Finding]
    assumptions: tuple[str, ...]
    refuse: Refuse = _nothing
    scope: Scope = "both"

    def __post_init__(self) -> None:
        if unknown := [need for need in self.needs if need not in NEEDS]:
            raise InputError(f"needs must be among {', '.join(NEEDS)}, not {show(unknown[0])}")
        if not self.needs or ("counts" in self.needs and len(self.needs) > 1):
            raise InputError("needs must hold counts alone, or something of guesses on one model")

    @property
    def designs(self) -> tuple[str, ...]:
        """Of the counts that it is for."""
        return ("repeated", "cross_fed") if "counts" in self.needs else ("one_run",)

    @property
    def why(self) -> str:
        """Why it is not for the other designs."""
        if "counts" in self.needs:
            return "guesses on one model depend on each other, and intervals of their rates do not hold."
        each = ", each example a member by its own coin" if "coins" in self.needs else ""
        return f"it is for guesses on one model{each}."

    def refused(self, counts: ErrorCounts, inputs: Inputs) -> str:
        """Why it does not apply to counts of its designs, or ""."""
        reasons = (ask(counts, inputs) for ask in (self.refuse, *(NEEDS[need] for need in self.needs)))
        return next(filter(None, reasons), "")

    def on(self, counts: ErrorCounts, inputs: Inputs) -> Finding:
        """The answer to all counts together; what the audit is not for is refused."""
        if counts.design not in self.designs:
            raise InputError(f'{self.name} is not for the design "{counts.design}": {self.why}')
        if self.scope == "base" and len(counts) > 1:
            raise InputError(f"{self.name} is for one base, not {len(counts)}")
        if reason := self.refused(counts, inputs):
            raise InputError(f"{self.name} does not apply: {reason}")
        return self.run(counts, inputs)


def caution(counts: ErrorCounts) -> str:
    """Why a bound for independent runs does not hold its confidence for these counts, or ""."""
    if counts.design != "cross_fed":
        return ""
    return f"{CROSS_FED}: the statement may be too strong."


def no_gaussian_epsilon(counts: ErrorCounts, inputs: Inputs) -> str:
    """For Gaussian DP there is an ε at δ > 0 only."""
    return "A Gaussian mechanism has no finite ε at δ = 0." if inputs.delta == 0 else ""


# Needs ----------------------------------------------------------------------------------------------------------------


def _dependent(counts: ErrorCounts, inputs: Inputs) -> str:
    return "" if inputs.guesses is not None else dependent(counts)


def _no_coin(counts: ErrorCounts, inputs: Inputs) -> str:
    if inputs.overlap not in (None, 0.5):
        return "An overlap was given, so that memberships were no fair coins; zero-run bounds allow for that."
    if inputs.scores is not None and inputs.scores.propensity is not None and (inputs.scores.propensity != 0.5).any():
        return "Propensities were given, so that memberships were no fair coins; zero-run bounds allow for that."
    return ""


def _no_overlap(counts: ErrorCounts, inputs: Inputs) -> str:
    return "" if inputs.overlap is not None else "No overlap of the propensities was given."


def _no_scores(counts: ErrorCounts, inputs: Inputs) -> str:
    return "" if inputs.scores is not None else "No scores with propensities were given."


NEEDS: dict[str, Refuse] = {
    "counts": _nothing,
    "guesses": _dependent,
    "coins": _no_coin,
    "overlap": _no_overlap,
    "scores": _no_scores,
}
