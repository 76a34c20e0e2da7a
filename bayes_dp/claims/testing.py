"""How evidence is held against a claim: which test decides, and what else is told beside it.

What decides is chosen by the kind of the evidence, and not by what it says, so that a true claim is refuted with a
chance of at most p = 1 − confidence:

    error counts         the test that was chosen before; by default the joint one of `audits/rate_tests.py`, with more
                         than 20 000 runs Clopper and Pearson's. Of n bases the smallest p-value counts n times
    guesses              the exact worst case for (ε, δ)-DP, the recursion of f-DP for other claims. Of k numbers of
                         guesses the smallest p-value counts k times, of several splits the median counts twice
    a lower bound        refutes if it is above the claim's ε at its own δ, or above μ of Gaussian DP
    a profile            refutes if it is above the claim's ε at any δ
    a sequential audit   refutes by its p-value, which may be read at any time
    a posterior          gives P(ε > claim), and refutes nothing

E-values refute from 1/p on. Of several bases their mean is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy import special

from bayes_dp.attacks.scores import NumberOfGuesses, Sides
from bayes_dp.audits.base import caution
from bayes_dp.audits.choice import choose
from bayes_dp.audits.f_dp import p_value as f_dp_p_value
from bayes_dp.audits.given import ASSUMPTIONS, as_guesses, cautions, guessing_settings
from bayes_dp.audits.memberships import under_coins
from bayes_dp.audits.one_run import binomial_tail, exact_p_value
from bayes_dp.audits.power import least_detectable, least_detectable_guesses
from bayes_dp.audits.profile import Profile
from bayes_dp.audits.rate_tests import MOST_RUNS, clopper_pearson_p, joint_p, largest_gap, mixture_log_e
from bayes_dp.audits.sequential import Sequential
from bayes_dp.checks import InputError, is_one_of, one_number, seed_of, show
from bayes_dp.claims.of_findings import by_bound, by_posterior, by_profile, by_sequential
from bayes_dp.claims.outcome import as_test, decided, least_refuted_noise
from bayes_dp.claims.result import POWER, ClaimFinding, ClaimTest
from bayes_dp.data.counts import ONE_MODEL, ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.data.json_text import finite
from bayes_dp.results.bound import CredibleInterval, LowerBound, joined
from bayes_dp.results.posterior import Posterior
from bayes_dp.tradeoff import ApproxDP, TradeOffFunction

if TYPE_CHECKING:
    from bayes_dp.claims.claim import Claim

__all__ = ["CountsMethod", "tested"]

CountsMethod = Literal["joint_exact", "clopper_pearson", "accuracy"]
_METHOD = "method is for error counts of repeated runs"
_ROWS = {"joint_exact": "joint", "clopper_pearson": "clopper-pearson", "accuracy": "accuracy"}
_POWERS = {row: method for method, row in _ROWS.items()}
_WHY = {
    "joint": f"a base has more than {MOST_RUNS} runs",
    "accuracy": "it needs as many runs without the example as with it",
}

_REPEATED = "The runs of each base are independent of each other, and the attack was fixed before they were counted."
_MOST = {"joint": 10**7, "clopper-pearson": 10**7, "accuracy": 200_000}  # runs up to which it is told what they detect
_LEVEL = 1e-3  # at which decisions are worse than chance


def tested(
    claim: Claim,
    evidence: Any,
    confidence: float,
    method: CountsMethod | None,
    choice: NumberOfGuesses | int | None,
    sides: Sides,
    seed: int,
) -> ClaimTest:
    """See `Claim.test`."""
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    if method is not None and not is_one_of(method, tuple(_ROWS)):
        raise InputError(f"method must be one of {', '.join(_ROWS)}, not {show(method)}")
    if not is_one_of(sides, ("both", "members")):
        raise InputError(f"sides must be 'both' or 'members', not {show(sides)}")
    seed_of(seed)
    if isinstance(evidence, GuessTable | Guesses) or (
        isinstance(evidence, ErrorCounts) and evidence.design in ONE_MODEL
    ):
        if method is not None:
            raise InputError(_METHOD)
        return _by_guesses(claim, evidence, confidence, choice, sides, seed)
    if choice is not None or sides != "both" or seed:
        raise InputError("choice, sides and seed are for a table of scores")
    if isinstance(evidence, ErrorCounts):
        return _by_counts(claim, evidence, confidence, method)
    if method is not None:
        raise InputError(_METHOD)
    match evidence:
        case LowerBound():
            return by_bound(claim, evidence)
        case Profile():
            return by_profile(claim, evidence)
        case Sequential():
            return by_sequential(claim, evidence)
        case CredibleInterval() | Posterior():
            return by_posterior(claim, evidence)
    raise InputError(
        "evidence must be ErrorCounts, Guesses, a GuessTable, a lower bound, a profile, a sequential audit or a"
        f" posterior, not {type(evidence).__name__}"
    )


# Error counts of repeated runs ----------------------------------------------------------------------------------------


def _by_counts(claim: Claim, counts: ErrorCounts, confidence: float, method: CountsMethod | None) -> ClaimTest:
    p, invalid, f = 1 - confidence, caution(counts), claim.below
    columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    bases = list(zip(*(map(int, column) for column in columns), strict=True))

    def smallest(test: Callable[..., float]) -> float:
        return min(1.0, len(bases) * min(test(f, *base) for base in bases))

    rows = []
    if max(max(n0, n1) for _, n0, _, n1 in bases) <= MOST_RUNS:
        least = min(joint_p(f, *base) for base in largest_gap(f, bases))
        rows.append(as_test("joint", min(1.0, len(bases) * least), p, invalid))
    tests: dict[str, Callable[..., float]] = {"clopper-pearson": clopper_pearson_p}
    if all(n0 == n1 for _, n0, _, n1 in bases):
        tests["accuracy"] = _accuracy_p
    rows += [as_test(name, smallest(test), p, invalid) for name, test in tests.items()]
    first = rows[0].method if method is None else _ROWS[method]
    if first not in [row.method for row in rows]:
        raise InputError(f'method="{method}" is not for these counts: {_WHY[first]}')
    rows.sort(key=lambda row: row.method != first)
    log_e = np.array([mixture_log_e(f, *base) for base in bases])
    with np.errstate(over="ignore"):
        e_value = float(np.exp(log_e).mean())
    rows.append(ClaimFinding("mixture", "e-value", e_value, e_value >= 1 / p and not invalid, not invalid, invalid))

    def refuted(other: TradeOffFunction) -> bool:
        return min(clopper_pearson_p(other, *base) for base in bases) * len(bases) < p

    noise = None if invalid else least_refuted_noise(claim, refuted)
    largest = max(bases, key=lambda base: base[1] + base[3])
    detectable = (
        finite(least_detectable(largest[1], largest[3], f.epsilon, f.delta, p / len(bases), POWER, _POWERS[first]))
        if isinstance(f, ApproxDP) and not invalid and max(largest[1], largest[3]) <= _MOST[first]
        else None
    )
    several = (f"The smallest of {len(bases)} p-values counts {len(bases)} times.",) if len(bases) > 1 else ()
    found = decided(claim, rows, confidence, noise, (_REPEATED, *several), counts.digest(), {}, detectable=detectable)
    return replace(found, warnings=_worse_than_chance(counts))


def _worse_than_chance(counts: ErrorCounts) -> tuple[str, ...]:
    """That X/N0 + Y/N1 is above 1 for a base, at `_LEVEL` over all, by the largest variance that it can have."""
    n0, n1 = counts.negatives, counts.positives
    above = counts.false_positives / n0 + counts.false_negatives / n1 - 1
    z = above / np.sqrt(0.25 / n0 + 0.25 / n1)
    if special.ndtr(-z.max()) * len(counts) > _LEVEL:
        return ()
    base = "" if len(counts) == 1 else f" on base {int(np.argmax(z))}"
    return (
        f"The decisions{base} are worse than chance: the opposite ones leak. Are members and non-members mixed up, or"
        " losses taken for scores?",
    )


def _accuracy_p(f: TradeOffFunction, x: int, n0: int, y: int, n1: int) -> float:
    """P[Binomial(2N, (1 + advantage)/2) ≥ correct decisions], where Hoeffding's theorem holds; else 1."""
    right, share = n0 + n1 - x - y, (1 + f.advantage()) / 2
    if share == 1 or right < (n0 + n1) * share + 1:
        return 1.0
    odds = math.log(share / (1 - share))
    return float(binomial_tail(np.array(float(n0 + n1)), np.array(float(right)), np.array(odds)))


# Guesses on one model -------------------------------------------------------------------------------------------------


def _by_guesses(
    claim: Claim,
    given: GuessTable | Guesses | ErrorCounts,
    confidence: float,
    choice: NumberOfGuesses | int | None,
    sides: Sides,
    seed: int,
) -> ClaimTest:
    made = as_guesses(given, choice, sides, seed)
    coins, p = under_coins(made), 1 - confidence

    def of(f: TradeOffFunction, test: Callable[..., Any]) -> tuple[float, Any]:
        found = choose(made, p, lambda m, n, c, level: -np.asarray(test(f, m, n, c)))
        times = len(made) if made.rule == "bonferroni" else 2 if made.splits else 1
        return min(1.0, -found.value * times), found

    tests: dict[str, Callable[..., Any]] = {"f-dp": f_dp_p_value}
    if isinstance(claim.below, ApproxDP):
        tests = {"one-run-exact": _exact_p} | tests
    rows, chosen = [], None
    for name, test in tests.items():
        value, found = of(claim.below, test)
        chosen = chosen or found
        rows.append(as_test(name, value, p, joined(coins.invalid, found.invalid)))

    def refuted(other: TradeOffFunction) -> bool:
        return of(other, f_dp_p_value)[0] < p

    noise = least_refuted_noise(claim, refuted) if rows[0].valid else None
    detectable = None
    if isinstance(claim.below, ApproxDP) and len(made) == 1 and rows[0].valid:
        given_runs = int(made.examples), int(made.made[0])
        detectable = finite(least_detectable_guesses(*given_runs, claim.below.epsilon, claim.below.delta, p, POWER))
    assert chosen is not None
    sentences = (*ASSUMPTIONS, *coins.assumptions, chosen.assumption)
    settings = {"rule": made.rule} | guessing_settings(given, sides, seed)
    tested_claim = decided(claim, rows, confidence, noise, sentences, made.digest(), settings, detectable=detectable)
    return replace(tested_claim, warnings=cautions(made))


def _exact_p(f: ApproxDP, m: Any, n: Any, c: Any) -> Any:
    return exact_p_value(m, n, c, f.epsilon, f.delta)
