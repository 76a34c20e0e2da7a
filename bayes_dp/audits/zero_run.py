"""Zero-run audits: members and non-members that may come from different laws, after the model has been trained.

Compositional form (Corollary 1 of Zero-Run). Where every example's propensity π, its chance of being a member given its
features, lies in [η, 1−η], what the features tell is as a randomized response with ε_DS = log((1−η)/η), up to a chance
δ_DS that it does not. Membership given features and model is then (ε+ε_DS, 1−(1−δ)(1−δ_DS))-DP, and a one-run bound
of that less ε_DS is one of ε.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bayes_dp.audits.choice import as_guesses, choose
from bayes_dp.audits.one_run import lower_bounds
from bayes_dp.bound import LowerBound
from bayes_dp.checks import one_number
from bayes_dp.data import ErrorCounts
from bayes_dp.guesses import Guesses
from bayes_dp.result import Provenance

__all__ = ["compositional"]


def compositional(
    guesses: Guesses | ErrorCounts,
    delta: float,
    *,
    overlap: float,
    shift_delta: float = 0.0,
    confidence: float = 0.95,
) -> LowerBound:
    """ε ≥ max(0, one-run bound at 1−(1−δ)(1−δ_DS), less log((1−η)/η)); η is the `overlap`, δ_DS the `shift_delta`."""
    given = as_guesses(guesses)
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    overlap = one_number("overlap", overlap, 0.0, 0.5, low_open=True)
    shift_delta = one_number("shift_delta", shift_delta, 0.0, 1.0, high_open=True)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    shift, whole = math.log1p((1 - 2 * overlap) / overlap), 1 - (1 - delta) * (1 - shift_delta)
    whole = delta if shift_delta == 0 else whole

    def lower(examples: Any, made: Any, correct: Any, p: float) -> Any:
        return np.maximum(0.0, lower_bounds(examples, made, correct, whole, p) - shift)

    chosen = choose(given, 1 - confidence, lower)
    return LowerBound(
        parameter="epsilon",
        value=chosen.value,
        confidence=confidence,
        assumptions=(
            "All guesses were made from one trained model.",
            f"Given the features of all examples, each is a member with a probability between {overlap:g} and"
            f" {1 - overlap:g}, independent of the others"
            + (f", but for a chance of {shift_delta:g}." if shift_delta else "."),
            f"δ = {delta:g} is known.",
            chosen.assumption,
        ),
        provenance=Provenance(
            "zero-run-compositional",
            given.digest(),
            {"delta": delta},
            {},
            {"confidence": confidence, "overlap": overlap, "shift_delta": shift_delta, "rule": given.rule},
        ),
        invalid=chosen.invalid,
        details={**chosen.counts, "level": chosen.level, "shift_epsilon": shift},
        at=lambda d: compositional(given, d, overlap=overlap, shift_delta=shift_delta, confidence=confidence),
    )
