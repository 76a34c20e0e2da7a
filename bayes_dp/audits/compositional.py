"""The compositional zero-run audit: what features tell of membership is one mechanism more, composed with the training.

Where every example's propensity π, its chance of being a member given its features, lies in [η, 1−η], the features tell
no more than a randomized response with ε_DS = log((1−η)/η), which is μ_DS-Gaussian DP with μ_DS = −2Φ⁻¹(η). Where that
may fail with a chance of δ_DS for each example, features and model together are (Corollary 1 of "Privacy auditing with
zero (0) training run")

    (ε + ε_DS, 1 − (1−δ)(1−δ_DS))-DP                     if the training is (ε, δ)-DP,
    f-DP for f = G_μ' ⊗ f_{0,δ_DS}, μ'² = μ² + μ_DS²     if it is μ-Gaussian DP,

and a one-run bound on the sum is one on ε or μ (Algorithms 6 and 7). Here f̄⁻¹(y) = (1−δ_DS) Ḡ⁻¹((y−δ_DS)/(1−δ_DS)).

For Gaussian DP the failures may be charged at once instead: some of the m examples fail with a chance of at most
1 − (1−δ_DS)^m, which is taken off the error probability of the test of G_μ' alone (Algorithm 8, whose charge δ_DS is
too small). Both bound the chance of so many right guesses, so the larger bound holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.attacks.scores import NumberOfGuesses, Sides
from bayes_dp.audits.base import Audit, Finding, Inputs
from bayes_dp.audits.choice import Lower, choose
from bayes_dp.audits.f_dp import GAUSSIAN, Family, gaussian_limit, refuse_delta_zero
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.given import as_guesses, guessing_settings
from bayes_dp.audits.memberships import under_overlap
from bayes_dp.audits.one_run import lower_bounds as one_run_lower_bounds
from bayes_dp.checks import InputError, is_one_of, one_number, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.bound import LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.tradeoff import Gaussian, TradeOffFunction, gaussian_inverse

__all__ = [
    "charged_lower_bounds",
    "compositional",
    "gaussian_lower_bounds",
    "lower_bounds",
    "shift_epsilon",
    "shift_mu",
]


_ONE_MODEL = "All guesses were made from one trained model."


def shift_epsilon(overlap: float) -> float:
    """ε_DS = log((1−η)/η)."""
    return math.log1p((1 - 2 * overlap) / overlap)


def shift_mu(overlap: float) -> float:
    """μ_DS = −2Φ⁻¹(η)."""
    return -2 * float(special.ndtri(overlap)) + 0.0


# Bounds ---------------------------------------------------------------------------------------------------------------


def lower_bounds(
    examples: ArrayLike, made: ArrayLike, correct: ArrayLike, p: ArrayLike, *, delta: float, overlap: float,
    shift_delta: float = 0.0,
) -> Floats:  # fmt: skip
    """Bounds on ε at δ: the binomial one-run bounds at 1 − (1−δ)(1−δ_DS), less ε_DS; the numbers broadcast."""
    whole = delta if shift_delta == 0 else 1 - (1 - delta) * (1 - shift_delta)
    return np.maximum(0.0, one_run_lower_bounds(examples, made, correct, whole, p) - shift_epsilon(overlap))


def gaussian_lower_bounds(
    examples: ArrayLike, made: ArrayLike, correct: ArrayLike, p: ArrayLike, *, overlap: float, shift_delta: float = 0.0
) -> Floats:
    """Bounds on μ by the trade-off function G_μ' ⊗ f_{0,δ_DS}; the numbers broadcast."""
    family = GAUSSIAN if shift_delta == 0 else _failing(shift_delta)
    return _deflated(f_dp_lower_bounds(family, examples, made, correct, p), overlap)


def charged_lower_bounds(
    examples: ArrayLike, made: ArrayLike, correct: ArrayLike, p: ArrayLike, *, overlap: float, shift_delta: float = 0.0
) -> Floats:
    """Bounds on μ by G_μ' at the error probability p − (1 − (1−δ_DS)^m), 0 if none is left; the numbers broadcast."""
    m, made, correct, p = np.broadcast_arrays(examples, made, correct, p)
    left = p + np.expm1(m * math.log1p(-shift_delta))
    bounds = f_dp_lower_bounds(GAUSSIAN, m, made, correct, np.where(left > 0, left, p))
    return np.where(left > 0, _deflated(bounds, overlap), 0.0)[()]


def _deflated(total: Floats, overlap: float) -> Floats:
    return np.sqrt(np.maximum(0.0, total**2 - shift_mu(overlap) ** 2))


@dataclass(frozen=True)
class _Failing(TradeOffFunction):
    """G_μ ⊗ f_{0,δ}: with the chance δ there is no privacy at all (equation 5)."""

    mu: float
    failure: float

    def __call__(self, alpha: ArrayLike) -> Floats:
        rest = 1 - self.failure
        return rest * Gaussian(self.mu)(np.minimum(np.asarray(alpha) / rest, 1.0))

    def inverse(self, y: ArrayLike) -> Floats:
        return (1 - self.failure) * Gaussian(self.mu).inverse(_beyond(self.failure, np.asarray(y)))

    def delta_at(self, epsilon: ArrayLike) -> Floats:
        return self.failure + (1 - self.failure) * Gaussian(self.mu).delta_at(epsilon)

    def epsilon_at(self, delta: ArrayLike) -> Floats:
        left = (np.asarray(delta) - self.failure) / (1 - self.failure)
        return np.where(left >= 0, Gaussian(self.mu).epsilon_at(np.maximum(left, 0.0)), np.inf)[()]


def _beyond(failure: float, y: Floats) -> Floats:
    """(y − δ)/(1 − δ) within [0, 1]: the share of y that no failure explains."""
    return np.clip((y - failure) / (1 - failure), 0.0, 1.0)


def _failing(failure: float) -> Family:
    rest = 1 - failure

    def inverse(mu: Floats, y: Floats) -> Floats:
        return rest * gaussian_inverse(mu, _beyond(failure, y))

    def limit(y: Floats, h: Floats) -> Floats:
        return gaussian_limit(_beyond(failure, y), h / rest)

    return Family("mu", lambda mu: _Failing(mu, failure), inverse, limit)


def _within(given: Any, overlap: float, shift_delta: float) -> Any:
    """A table or guesses without their propensities, which keep to the overlap or may fail to; all else as it is."""
    guesses = isinstance(given, Guesses) and given.knows_examples
    table = given.table if guesses else given
    if not isinstance(table, GuessTable):
        return given
    if table.propensity is not None and shift_delta == 0:
        far = np.minimum(table.propensity, 1 - table.propensity) < overlap
        if far.any():
            i = int(np.argmax(far))
            raise InputError(
                f"propensity[{i}] must lie in [{overlap:g}, {1 - overlap:g}], as the overlap says, not"
                f" {show(table.propensity[i])}"
            )
    return given.counted() if guesses else GuessTable(table.score, table.member)


# The audit ------------------------------------------------------------------------------------------------------------


def compositional(
    guesses: GuessTable | Guesses | ErrorCounts,
    delta: float | None = None,
    *,
    overlap: float,
    shift_delta: float = 0.0,
    family: Literal["approx", "gaussian"] = "approx",
    confidence: float = 0.95,
    choice: NumberOfGuesses | int | None = None,
    sides: Sides = "both",
    seed: int = 0,
) -> LowerBound:
    """Lower bound on ε at the given δ, or on μ of Gaussian DP for the family "gaussian".

    η is the `overlap`, δ_DS the `shift_delta`. For the family "gaussian" a δ is not needed; if there is one, the bound
    is on ε at this δ. From a table of scores the guesses are made with `choice`, `sides` and `seed`, as for `one_run`;
    its propensities, if it has any, must lie in [η, 1−η] unless there is a `shift_delta`.

    >>> guesses = bdp.Guesses(examples=1000, made=200, correct=150)
    >>> round(bdp.audits.compositional(guesses, 1e-5, overlap=0.5).value, 4)  # fair coins: the one-run bound
    0.82
    >>> round(bdp.audits.compositional(guesses, 1e-5, overlap=0.4).value, 4)  # log(0.6/0.4) less
    0.4145
    """
    if not is_one_of(family, ("approx", "gaussian")):
        raise InputError(f'family must be "approx" or "gaussian", not {show(family)}')
    if delta is not None:
        delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    elif family == "approx":
        raise InputError('delta must be given for the family "approx"')
    if family == "gaussian":
        refuse_delta_zero(delta)
    overlap = one_number("overlap", overlap, 0.0, 0.5, low_open=True)
    shift_delta = one_number("shift_delta", shift_delta, 0.0, 1.0, high_open=True)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    given = as_guesses(_within(guesses, overlap, shift_delta), choice, sides, seed)
    shift: dict[str, Any] = {"overlap": overlap, "shift_delta": shift_delta}

    def on_epsilon(m: Floats, r: Floats, c: Floats, p: float) -> Floats:
        assert delta is not None
        return lower_bounds(m, r, c, p, delta=delta, **shift)

    def on_mu(m: Floats, r: Floats, c: Floats, p: float) -> Floats:
        return np.maximum(gaussian_lower_bounds(m, r, c, p, **shift), charged_lower_bounds(m, r, c, p, **shift))

    lower: Lower = on_epsilon if family == "approx" else on_mu
    found = under_overlap(given, overlap * (1 - shift_delta))  # each chance may be anything with that of δ_DS
    chosen = choose(given, 1 - confidence, lower)
    value, parameter = chosen.value, "epsilon"
    details = {**chosen.counts, "level": chosen.level, **found.details}
    assumptions = [
        _ONE_MODEL,
        f"Given the features of all examples, each is a member with a probability between {overlap:g} and"
        f" {1 - overlap:g}, independent of the others"
        + (f", but for a chance of {shift_delta:g}." if shift_delta else "."),
    ]
    if family == "approx":
        details["shift_epsilon"] = shift_epsilon(overlap)
    else:
        details["shift_mu"], parameter = shift_mu(overlap), "mu"
        if delta is not None:
            details["mu"], parameter = value, "epsilon"
            value = float(Gaussian(value).epsilon_at(delta))
            assumptions.append("The privacy of the training is that of one member of the family, Gaussian DP.")
    if delta is not None:
        assumptions.append(f"δ = {delta:g} is known.")
    return LowerBound(
        parameter=parameter,
        value=value,
        confidence=confidence,
        assumptions=(*assumptions, *found.assumptions, chosen.assumption),
        provenance=Provenance(
            "zero-run-compositional",
            given.digest(),
            {} if delta is None else {"delta": delta},
            {},
            {"confidence": confidence, **shift, "family": family, "rule": given.rule}
            | guessing_settings(guesses, sides, seed),
        ),
        invalid=joined(found.invalid, chosen.invalid),
        warnings=given.warnings,
        details=details,
        at=lambda d: compositional(
            guesses, d, **shift, family=family, confidence=confidence, choice=choice, sides=sides, seed=seed
        ),
    )


def _run(counts: ErrorCounts, given: Inputs) -> Finding:
    assert given.overlap is not None  # as it is needed
    guesses = counts if given.guesses is None else given.guesses.counted()  # by the overlap, whatever the propensities
    return compositional(guesses, given.delta, overlap=given.overlap, confidence=given.confidence)


AUDITS = (
    Audit(
        name="zero-run-compositional",
        needs=("guesses", "overlap"),
        run=_run,
        assumptions=(_ONE_MODEL,),
        scope="whole",
    ),
)
call_module_as(compositional)
