"""`plan_claim`: how many runs it takes to refute a claim of (ε, δ)-DP, if the truth is as expected.

The power of each test is computed exactly (`audits/power.py`). As errors are counted in whole numbers, it rises in
the number of runs n like a saw. So n is the least one that has the power along with all from n to 1.05 n + 10 (of more
than 15 of these, 15 are looked at).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy import special

from bayes_dp.audits.power import POWERS, growth, least_runs, one_run_power, pairs_needed
from bayes_dp.checks import InputError, is_one_of, numbers, one_number, show
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import (
    A_LINE,
    A_NUMBER,
    A_SHARE,
    AN_OBJECT,
    SENTENCES,
    Wanted,
    checked_object,
    finite,
    is_finite,
)
from bayes_dp.results.base import Saved
from bayes_dp.results.posterior import Provenance, checked_provenance
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits
from bayes_dp.tradeoff import ApproxDP, TradeOffFunction

__all__ = ["METHODS", "ClaimPlan", "plan_claim"]

METHODS = ("joint_exact", "clopper_pearson", "accuracy", "betting", "one_run")
Method = Literal["joint_exact", "clopper_pearson", "accuracy", "betting", "one_run"]

_MOST = 100_000  # runs
_LOOKS = 15  # numbers of runs from n to 1.05 n + 10
_SPREAD = 1.9  # 90% of sequences stop by so many times the mean


@dataclass(frozen=True, repr=False)
class ClaimPlan(Saved):
    """How many runs refute a claim; `runs` of either kind, pairs of betting, or guesses on one model.

    >>> bdp.plan_claim(1.0, 1e-5, 2.0).runs
    34
    """

    format = "bayes-dp/claim-plan/1"
    epsilon: float  # of the claim
    delta: float
    method: str
    power: float
    confidence: float
    rates: tuple[float, float]  # the truth: false positives and false negatives
    runs: int | None  # None where no number that was tried is enough
    mean: float | None  # of betting: about how many pairs it takes on average
    reason: str  # why there is no number
    assumptions: tuple[str, ...]
    provenance: Provenance

    def _parts(self) -> Iterator[Part]:
        claim = f"epsilon = {digits(self.epsilon)} at delta = {self.delta:g}"
        share = f"{100 * self.power:g}%"
        if self.runs is None:
            yield Line(f"No number of runs refutes {claim} with probability {share}: {self.reason}")
        elif self.method == "betting":
            yield Line(
                f"About {self.mean:.0f} pairs on average refute {claim}, and {self.runs} with probability {share}"
            )
        else:
            what = (
                "guesses on one model" if self.method == "one_run" else "runs without the example, and as many with it,"
            )
            yield Line(f"{self.runs} {what} refute {claim} with probability {share}")
        cells = (self.method, *map(digits, self.rates), f"{100 * self.confidence:g}%")
        yield Rows([cells], ("test", "false positives", "false negatives", "confidence"), "", "lrrr")
        yield Sentences("Assumptions", self.assumptions)

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        own = asdict(self) | {"rates": list(self.rates), "assumptions": list(self.assumptions)}
        return finite({"format": self.format} | own | {"provenance": self.provenance.to_dict()})

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        try:
            found = checked_object(name, without_format(name, content, cls.format), _FIELDS)
            provenance = Provenance(**checked_provenance(f"{name}: provenance", found["provenance"]))
        except InputError as error:
            raise InputError(f"{error}; this is not a plan of a claim as to_json and to_dict give it") from None
        lists = {"rates": tuple(map(float, found["rates"])), "assumptions": tuple(found["assumptions"])}
        return cls(**found | lists | {"provenance": provenance})


def _are_rates(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(is_finite(each, 0.0, 1.0) for each in value)


_FIELDS: dict[str, Wanted] = {
    "epsilon": (lambda value: is_finite(value, 0.0), "a finite number, at least 0"),
    "delta": A_SHARE,
    "method": A_LINE,
    "power": A_SHARE,
    "confidence": A_SHARE,
    "rates": (_are_rates, "two numbers from 0 to 1"),
    "runs": (lambda value: value is None or (type(value) is int and value > 0), "a whole number above 0, or null"),
    "mean": A_NUMBER,
    "reason": A_LINE,
    "assumptions": SENTENCES,
    "provenance": AN_OBJECT,
}


def plan_claim(
    epsilon: float,
    delta: float,
    truth: float | tuple[float, float] | TradeOffFunction,
    *,
    power: float = 0.9,
    confidence: float = 0.95,
    method: Method = "joint_exact",
) -> ClaimPlan:
    """How many runs it takes to refute that a training is (`epsilon`, `delta`)-DP, if it is what `truth` says.

    Parameters
    ----------
    truth : the true error rates (α, β), (2,), of the attack; or the true ε, of which the strongest attack there is is
        taken, with the rates (1 − δ)/(1 + e^ε) both: the kindest case; or a trade-off function, such as
        `tradeoff.Gaussian(1.0)`, whose point of the fastest growth of evidence is taken.
    power : the probability with which the claim is to be refuted; 0.9 for betting.
    method : "joint_exact", "clopper_pearson", "accuracy", "betting" on pairs (`audits.sequential`), or "one_run", where
        all of n examples are guessed.

    >>> print(bdp.plan_claim(0.5, 1e-5, (0.05, 0.6)).summary())
    48 runs without the example, and as many with it, refute epsilon = 0.5 at delta = 1e-05 with probability 90%
    test         false positives  false negatives  confidence
    joint_exact             0.05              0.6         95%
    Assumptions:
      - The runs are independent, and the true error rates are as given.
    """
    epsilon = one_number("epsilon", epsilon, 0.0, 50.0)
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    power = one_number("power", power, 0.0, 1.0, low_open=True, high_open=True)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    if not is_one_of(method, METHODS):
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {show(method)}")
    if method == "betting" and power != 0.9:
        raise InputError(f'power must be 0.9 with method="betting", of which no other is known, not {power:g}')
    (alpha, beta), assumed = _rates(truth, epsilon, delta, method)
    p, runs, mean, reason = 1 - confidence, None, None, _never(alpha, beta, epsilon, delta, method)
    if not reason and method == "betting":
        mean = pairs_needed(alpha, beta, epsilon, delta, p)
        runs = math.ceil(_SPREAD * mean)
    elif not reason:
        speed = _growth(method, alpha, beta, epsilon, delta)
        runs = _least(_power(method, alpha, beta, epsilon, delta, p), power, least_runs(speed, power, p))
        reason = "" if runs is not None else f"{_MOST} are not enough"
    return ClaimPlan(
        epsilon=epsilon,
        delta=delta,
        method=method,
        power=power,
        confidence=confidence,
        rates=(alpha, beta),
        runs=runs,
        mean=mean,
        reason=reason,
        assumptions=(assumed,),
        provenance=Provenance("plan_claim", "", {"delta": delta}, {}, {"confidence": confidence, "power": power}),
    )


def _rates(truth: Any, epsilon: float, delta: float, method: str) -> tuple[tuple[float, float], str]:
    """The error rates, and what is assumed of them."""
    if callable(truth):
        ends = np.logspace(-12, -3, 181)  # where large ε are told apart
        grid = np.unique(np.concatenate([ends, np.linspace(0.0, 1.0, 1001)[1:-1], 1 - ends]))
        low = np.asarray(truth(grid))
        if method in ("accuracy", "one_run"):
            i = int(np.argmin(grid + low))
        else:
            i = int(np.argmax([growth(float(a), float(b), epsilon, delta) for a, b in zip(grid, low, strict=True)]))
        return (float(grid[i]), float(low[i])), "The runs are independent, and the attack is the best for this test."
    given = numbers("truth", truth, 0.0, high_open=True)
    if given.ndim == 0:
        corner = (1 - delta) / (1 + math.exp(min(float(given), 700.0)))
        return (corner, corner), "The runs are independent, and the attack is the strongest there is: the kindest case."
    alpha, beta = numbers("truth", truth, 0.0, 1.0) if given.shape == (2,) else (math.nan, math.nan)
    if math.isnan(alpha):
        raise InputError(f"truth must be an epsilon, two error rates or a trade-off function, not {show(truth)}")
    return (float(alpha), float(beta)), "The runs are independent, and the true error rates are as given."


def _never(alpha: float, beta: float, epsilon: float, delta: float, method: str) -> str:
    """Why no number of runs is enough; empty where one may be."""
    if alpha + beta > 1 and method != "betting":
        return "the decisions are worse than chance, and the opposite ones have to be judged."
    if method in ("accuracy", "one_run"):
        right, allowed = 1 - (alpha + beta) / 2, (1 + ApproxDP(epsilon, delta).advantage()) / 2
        if right <= allowed:
            return f"{100 * right:.3g}% right decisions are allowed by the claim, up to {100 * allowed:.3g}%."
    elif growth(alpha, beta, epsilon, delta) <= 0:
        return "the claim allows these error rates."
    return ""


def _power(method: str, alpha: float, beta: float, epsilon: float, delta: float, p: float) -> Callable[[int], float]:
    if method == "one_run":
        return lambda n: one_run_power(n, n, 1 - (alpha + beta) / 2, epsilon, delta, p)[1]
    return lambda n: POWERS[method](n, n, alpha, beta, epsilon, delta, p)


def _growth(method: str, alpha: float, beta: float, epsilon: float, delta: float) -> float:
    """How far a pair of runs, or a guess, moves the logarithm of the likelihood ratio to what the claim allows."""
    if method != "one_run":
        return growth(alpha, beta, epsilon, delta)
    right, allowed = 1 - (alpha + beta) / 2, 1 / (1 + math.exp(-epsilon))
    return float(special.rel_entr(right, allowed) + special.rel_entr(1 - right, 1 - allowed))


def _least(reached: Callable[[int], float], power: float, start: float) -> int | None:
    """The least n with the power on all of [n, 1.05 n + 10], which is none below `start`. What fails there rules out
    all n up to it."""
    n = max(1, math.floor(min(start, _MOST + 1.0)))
    while n <= _MOST:
        window = np.unique(np.linspace(n, math.floor(1.05 * n + 10), _LOOKS).astype(int))[::-1]
        failed = next((int(k) for k in window if reached(int(k)) < power), None)
        if failed is None:
            return n
        n = failed + 1
    return None
