"""What all tests of a claim share: findings as one result, and the noise multipliers that evidence refutes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from bayes_dp.checks import InputError
from bayes_dp.claims.result import ClaimFinding, ClaimTest
from bayes_dp.results.posterior import Provenance
from bayes_dp.tradeoff import TradeOffFunction
from bayes_dp.tradeoff.dp_sgd import dp_sgd

if TYPE_CHECKING:
    from bayes_dp.claims.claim import Claim

__all__ = ["as_test", "decided", "least_refuted_noise"]

_LARGEST_NOISE = 1e3
_LEAST_NOISE = 0.15  # that is looked at: with less the law of a step takes ever more time
_PRECISION = 5e-3  # of an empirical noise multiplier, relative; what is lost makes it larger
_ROUGHLY = 1e-4  # distance between the bounds of f that is enough for it


def as_test(name: str, p_value: float, p: float, invalid: str) -> ClaimFinding:
    """A p-value that refutes from p on, if it is valid."""
    return ClaimFinding(name, "test", p_value, p_value <= p and not invalid, not invalid, invalid)


def least_refuted_noise(claim: Claim, refuted: Callable[[TradeOffFunction], bool]) -> float | None:
    """The least noise multiplier that is refuted, to `_PRECISION`; what is refuted is so at all larger ones too."""
    if claim.training is None:
        return None
    sigma, rate, steps = claim.training

    def at(candidate: float) -> bool:
        try:
            f = dp_sgd(candidate, rate, steps, _ROUGHLY)[0]
        except InputError:  # with so little noise it hides nothing, so that nothing refutes it
            return False
        return refuted(f)

    low = high = sigma
    if at(sigma):
        while (low := low / 2) >= _LEAST_NOISE and at(low):
            high = low
        if low < _LEAST_NOISE:  # a sampled step may be refuted without any noise
            return high
    else:
        while not at(high := 2 * high):
            if high > _LARGEST_NOISE * sigma:
                return None
            low = high
    while high / low > 1 + _PRECISION:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if at(middle) else (middle, high)
    return high


def decided(
    claim: Claim,
    rows: list[ClaimFinding],
    confidence: float,
    noise: float | None,
    assumptions: tuple[str, ...],
    digest: str,
    settings: dict[str, Any],
    delta: float | None = None,
    detectable: float | None = None,
) -> ClaimTest:
    """With the first row to decide."""
    first, delta = rows[0], claim.delta if delta is None else delta
    epsilon = None if delta is None else claim.epsilon_at(delta)
    return ClaimTest(
        claim=claim.statement(delta),
        outcome=("refuted" if first.refutes else "not refuted") if first.valid else "not tested",
        method=first.method,
        p_value=first.value if first.kind == "test" else None,
        prob_above=first.value if first.kind == "posterior" else None,
        confidence=confidence,
        epsilon=None if epsilon is None or math.isinf(epsilon) else epsilon,
        delta=delta,
        noise_multiplier=noise,
        detectable=detectable,
        rows=tuple(rows),
        assumptions=assumptions,
        provenance=Provenance("claim", digest, {}, {}, {"confidence": confidence, **settings}),
    )
