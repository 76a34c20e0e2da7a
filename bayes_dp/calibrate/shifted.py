"""The study of zero-run audits: members and non-members differ in their features, by a known law of propensities.

Each of m examples has a propensity π of the law, is a member with that chance, and has a response of the model: the
membership, flipped with chance 1/(1 + e^ε), or ±μ/2 with standard normal noise. Three adversaries see the responses:

    unaware      guesses what the response says, and is surest where it is strongest
    aware        the same, but prefers guesses that would be kept if they were tampered with
    exploiting   guesses by response and features together, the features' share being no leak

The valid bounds are all forms of `zero_run`. Beside them stands what is wrong: the one-run audit, which knows nothing
of features; the one-run bound of the guesses that are left *after* tampering; the largest ε that is rejected in place
of the first that is not; directions with propensities that are more extreme than the true ones; and a failure of the
overlap that is charged once and not for each example (Proposition 6). All bounds for one mechanism, law and adversary
are of the same guesses.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import special

from bayes_dp.audits.compositional import charged_lower_bounds, gaussian_lower_bounds
from bayes_dp.audits.compositional import lower_bounds as compositional_bounds
from bayes_dp.audits.f_dp import GAUSSIAN
from bayes_dp.audits.f_dp import lower_bounds as f_dp_bounds
from bayes_dp.audits.one_run import lower_bounds as one_run_bounds
from bayes_dp.audits.poisson_binomial import Tails
from bayes_dp.audits.propensity_bounds import (
    expected_bound,
    median_kept,
    tampered_bounds,
    tampered_mu_bounds,
    untampered_bounds,
)
from bayes_dp.audits.tampering import keep_for_epsilon, keep_for_f, switched_on
from bayes_dp.audits.tampering import lower_bounds as bounds_of_kept
from bayes_dp.calibrate.extreme import draw_at_once, least_rejecting
from bayes_dp.calibrate.mechanisms import NoisyScore, RandomizedResponse
from bayes_dp.calibrate.result import Row, Simulation, row_of
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.tradeoff import Gaussian

__all__ = ["ADVERSARIES", "SHIFTS", "Audits", "largest_rejected_epsilon", "shifted_tasks", "simulate"]


EXAMPLES, GUESSES = 400, 100
DELTA = 1e-5
SPENT_DELTA = 1e-3  # where it is spent at once
EXTREME = 1.5  # the factor of log-odds that are too extreme
SAMPLE = 50  # audits whose slow bounds are computed

ADVERSARIES = ("unaware", "aware", "exploiting")
SHIFTS = {  # the largest |logit π|, and whether it is that of all examples or they are spread evenly up to it
    "no shift": (0.0, False),
    "mild shift": (0.5, False),
    "strong shift": (3.0, False),
    "two groups": (2.5, True),
}
Mechanism = RandomizedResponse | NoisyScore


@dataclass(frozen=True)
class Audits:
    """The guesses of R audits, one a row: their leans, whether they are right, and a coin for each; all (R, r)."""

    leans: Floats
    right: Bools
    coins: Floats

    def steps(self, leans: Floats) -> Floats:
        """The ε from which on each guess is kept, infinite for the wrong ones."""
        return np.where(self.right, switched_on(leans, self.coins), np.inf)


def simulate(mechanism: Mechanism, shift: str, adversary: str, size: int, rng: np.random.Generator) -> Audits:
    """So many audits, each of `GUESSES` guesses on `EXAMPLES` examples."""
    limit, groups = SHIFTS[shift]
    place = rng.uniform(-1, 1, (size, EXAMPLES))
    logit = limit * (np.sign(place) if groups else place)
    member = rng.random((size, EXAMPLES)) < special.expit(logit)
    sign = np.where(member, 1.0, -1.0)
    if isinstance(mechanism, RandomizedResponse):
        odds = np.where(rng.random(sign.shape) < special.expit(mechanism.epsilon), sign, -sign)
        evidence = mechanism.epsilon * odds
    else:
        odds = mechanism.law.mu * (sign * mechanism.law.mu / 2 + rng.standard_normal(sign.shape))
        evidence = odds
    if adversary == "exploiting":
        odds = evidence + logit
    tie = 1e-9 * rng.standard_normal(sign.shape)
    called = odds + tie > 0
    leans = np.where(called, logit, -logit)
    worth = np.abs(odds + tie) * (keep_for_f(leans) if adversary == "aware" else 1.0)
    chosen = np.argpartition(-worth, GUESSES, axis=1)[:, :GUESSES]
    leans, right = (np.take_along_axis(values, chosen, axis=1) for values in (leans, called == member))
    return Audits(leans, right, rng.random(leans.shape))


def shifted_tasks() -> Iterator[Simulation]:
    for shift in SHIFTS:
        for adversary in ADVERSARIES:
            for epsilon in (0.0, 1.0, 3.0):
                yield partial(_epsilon_task, RandomizedResponse(epsilon), shift, adversary)
            for mechanism in (RandomizedResponse(1.0), NoisyScore(Gaussian(2.0))):
                yield partial(_mu_task, mechanism, shift, adversary)
    yield _failing_task
    yield from (partial(_at_once_task, epsilon) for epsilon in (0.0, 1.0))


def largest_rejected_epsilon(m: int, r: int, steps: Floats, p: float) -> Floats:
    """What is no bound: the largest ε that is rejected at δ = 0, in place of the first that is not; (R,)."""
    steps = np.sort(steps, axis=1)
    ends = np.concatenate([steps, np.full((len(steps), 1), np.inf)], axis=1)
    starts = np.concatenate([np.zeros((len(steps), 1)), steps], axis=1)
    most = bounds_of_kept(m, r, np.arange(steps.shape[1] + 1), 0.0, p)
    rejected = (starts < most) & (starts < ends)
    return np.max(np.where(rejected, np.minimum(most, ends), 0.0), axis=1)


# The tasks ------------------------------------------------------------------------------------------------------------


def _epsilon_task(
    mechanism: RandomizedResponse, shift: str, adversary: str, rng: np.random.Generator, size: int, p: float
) -> list[Row]:
    audits, overlap = simulate(mechanism, shift, adversary, size, rng), float(special.expit(-SHIFTS[shift][0]))
    m, r, plain, right = EXAMPLES, GUESSES, np.abs(audits.leans), audits.right.sum(axis=1)
    truth, truth_at_delta = mechanism.epsilon, mechanism.truth("epsilon", DELTA)
    labels = (_name(mechanism, shift), m, adversary)
    steps, cautious = audits.steps(audits.leans), np.maximum(audits.leans, 0.0)
    found = [
        ("untampered, directional", truth, untampered_bounds(audits.leans, right, p), True),
        ("untampered, cautious", truth, untampered_bounds(cautious, right, p), True),
        ("untampered", truth, untampered_bounds(plain, right, p), True),
        ("tampered, directional", truth, tampered_bounds(m, r, steps, 0.0, p), True),
        (f"tampered, directional, δ = {DELTA:g}", truth_at_delta, tampered_bounds(m, r, steps, DELTA, p), True),
        (f"tampered, δ = {DELTA:g}", truth_at_delta, tampered_bounds(m, r, audits.steps(plain), DELTA, p), True),
        (
            f"compositional, δ = {DELTA:g}",
            truth_at_delta,
            compositional_bounds(m, r, right, p, delta=DELTA, overlap=overlap),
            True,
        ),
        ("one-run", truth, one_run_bounds(m, r, right, 0.0, p), False),
        ("tampered, largest ε rejected", truth, largest_rejected_epsilon(m, r, steps, p), False),
        ("tampered, r after tampering", truth, _after_tampering(audits, truth, p), False),
    ]
    if shift != "no shift":
        extreme, kept = EXTREME * audits.leans, tampered_bounds(m, r, audits.steps(EXTREME * audits.leans), 0.0, p)
        found += [
            ("untampered, directional, π too extreme", truth, untampered_bounds(extreme, right, p), False),
            ("untampered, cautious, π too extreme", truth, untampered_bounds(EXTREME * cautious, right, p), True),
            ("untampered, π too extreme", truth, untampered_bounds(np.abs(extreme), right, p), True),
            ("tampered, directional, π too extreme", truth, kept, True),
        ]
    rows = [_row(audit, labels, at, bounds, p, claim) for audit, at, bounds, claim in found]
    return [*rows, _expected_row(audits, truth, labels, p)]


def _mu_task(
    mechanism: Mechanism, shift: str, adversary: str, rng: np.random.Generator, size: int, p: float
) -> list[Row]:
    audits, overlap = simulate(mechanism, shift, adversary, size, rng), float(special.expit(-SHIFTS[shift][0]))
    m, r, right = EXAMPLES, GUESSES, audits.right.sum(axis=1)
    labels, truth = (_name(mechanism, shift), m, adversary), mechanism.truth("mu", DELTA)

    def tampered(leans: Floats) -> Floats:
        kept = audits.right & (audits.coins < keep_for_f(leans))
        return tampered_mu_bounds(m, r, kept.sum(axis=1), p)

    values, place = np.unique(right, return_inverse=True)
    medians = [median_kept(leans[ok]) for leans, ok in zip(audits.leans, audits.right, strict=True)]
    found = [
        ("tampered, directional (μ)", tampered(audits.leans), True),
        ("tampered (μ)", tampered(np.abs(audits.leans)), True),
        ("tampered, directional, without coins (μ)", tampered_mu_bounds(m, r, np.array(medians), p / 2), True),
        ("compositional (μ)", gaussian_lower_bounds(m, r, values, p, overlap=overlap)[place], True),
        ("f-dp (μ)", f_dp_bounds(GAUSSIAN, m, r, values, p)[place], False),
    ]
    return [_row(audit, labels, truth, bounds, p, claim) for audit, bounds, claim in found]


def _failing_task(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """No leak; the features tell the membership of each example with a small chance, and else nothing."""
    m, r, failure, overlap = 2000, 5, 0.005, 0.5
    known = np.minimum(rng.binomial(m, failure, size), r)
    right = known + rng.binomial(r - known, 0.5)
    values, labels = np.arange(r + 1), (f"features tell all with chance {failure:g}, no leak", m, "exploiting")
    settings = {"overlap": overlap, "shift_delta": failure}
    found = [
        ("compositional (μ), Proposition 6", f_dp_bounds(GAUSSIAN, m, r, values, p), False),
        ("compositional (μ), Algorithm 8 charged", charged_lower_bounds(m, r, values, p, **settings), True),
        ("compositional (μ), Algorithm 7", gaussian_lower_bounds(m, r, values, p, **settings), True),
    ]
    return [_row(audit, labels, 0.0, bounds[right], p, claim) for audit, bounds, claim in found]


def _at_once_task(epsilon: float, rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Fair coins, and δ is spent on as many right guesses as the tampered form needs to be wrong."""
    m, r = EXAMPLES, GUESSES

    def lower(examples: Floats, made: Floats, correct: Floats, level: float) -> Floats:
        return bounds_of_kept(examples, made, correct, SPENT_DELTA, level)

    least = least_rejecting(lower, m, r, epsilon, p)
    right = draw_at_once(m, r, least, epsilon, SPENT_DELTA, size, rng)
    bounds = bounds_of_kept(m, r, np.arange(r + 1), SPENT_DELTA, p)[right]
    name = f"spends δ = {SPENT_DELTA:g} at once, ε = {epsilon:g}"
    return [_row(f"tampered, δ = {SPENT_DELTA:g}", (name, m, "the worst"), epsilon, bounds, p, True)]


def _name(mechanism: Mechanism, shift: str) -> str:
    return f"{shift}, {mechanism.name}"


def _row(audit: str, labels: tuple[str, int, str], truth: float, bounds: Floats, p: float, claim: bool) -> Row:
    mechanism, examples, adversary = labels
    return row_of((audit, mechanism, examples, adversary), truth, bounds, p, claim)


def _after_tampering(audits: Audits, epsilon: float, p: float) -> Floats:
    """One-run bounds of the guesses that are kept at the true ε, as if no others had been made; (R,)."""
    kept = audits.coins < keep_for_epsilon(audits.leans, epsilon)
    made, right = kept.sum(axis=1), (kept & audits.right).sum(axis=1)
    return one_run_bounds(EXAMPLES, made, right, 0.0, p)


def _expected_row(audits: Audits, epsilon: float, labels: tuple[str, int, str], p: float) -> Row:
    """Of the bound by twice the mean p-value: the rate by the p-values at the truth, the mean bound of a few audits."""
    right = audits.right.sum(axis=1)
    with np.errstate(divide="ignore"):
        lost = special.logit(np.where(audits.right, 1 - keep_for_epsilon(audits.leans, epsilon), 0.0))
    law = np.concatenate([np.full(lost.shape, epsilon), lost], axis=1)
    rejected = 2 * np.exp(Tails(law, right).log_at(np.zeros(len(law)))) < p
    few = zip(audits.leans[:SAMPLE], audits.right[:SAMPLE], strict=True)
    mean = float(np.mean([expected_bound(EXAMPLES, GUESSES, leans[ok], 0.0, p) for leans, ok in few]))
    rate = float(np.mean(rejected))
    error = math.sqrt(rate * (1 - rate) / len(rejected))
    mechanism, examples, adversary = labels
    audit = "tampered, directional, without coins"
    return Row(audit, mechanism, epsilon, examples, adversary, rate, error, mean, True, rate <= p + 3 * error)
