"""From numbers of correct guesses to the bounds of many audits at once.

`Lower` is a bound of one number of guesses, as the audits have it. Repetitions with the same numbers have the same
bound, which is computed once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bayes_dp.attacks.scores import NumberOfGuesses, guess
from bayes_dp.audits.choice import Lower, level_of
from bayes_dp.audits.one_run import lower_bounds as binomial_bounds
from bayes_dp.calibrate.counts import draw_correct
from bayes_dp.calibrate.mechanisms import Mechanism
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["at_delta", "bounds_of", "discounted", "shift_of", "simulated"]


def bounds_of(lower: Lower, examples: int, made: Ints, correct: Ints, p: float) -> Floats:
    """Bounds of shape (size, k) from made (k,) or (size, k) and correct (size, k): one computation per pair."""
    codes = made * (examples + 1) + correct
    pairs, place = np.unique(codes, return_inverse=True)
    r, c = (values.astype(np.float64) for values in np.divmod(pairs, examples + 1))
    return lower(np.full(len(pairs), float(examples)), r, c, p)[place].reshape(correct.shape)


def simulated(
    mechanism: Mechanism,
    examples: int,
    choice: NumberOfGuesses,
    lower: Lower,
    p: float,
    size: int,
    rng: np.random.Generator,
) -> Floats:
    """The bounds of so many audits, (size,), as `guess` and the audit's own choice of a row would give them."""
    # A table of no meaning, to be told the numbers of guesses
    plan = guess(GuessTable(np.arange(float(examples)), np.zeros(examples, bool)), choice)
    correct = draw_correct(mechanism, plan, size, rng)
    bounds = bounds_of(lower, plan.examples, plan.made, correct, level_of(plan, p))
    if plan.pilot is None:
        return bounds.max(axis=1)
    pilot = plan.pilot
    best = np.argmax(bounds_of(lower, pilot.examples, pilot.made, draw_correct(mechanism, pilot, size, rng), p), axis=1)
    return bounds[np.arange(size), best]


def at_delta(bounds: Callable[..., Floats], delta: float) -> Lower:
    """Bounds (examples, made, correct, δ, p), at one δ."""
    return lambda m, r, c, p: bounds(m, r, c, delta, p)


def shift_of(overlap: float) -> float:
    """log((1 − η)/η): what the features tell when the propensities lie between η = `overlap` and 1 − η."""
    return math.log((1 - overlap) / overlap)


def discounted(shift: float, delta: float, m: Floats, r: Floats, c: Floats, p: float) -> Floats:
    """The bounds of the zero-run audit, max(0, one-run bound − shift)."""
    return np.maximum(0.0, binomial_bounds(m, r, c, delta, p) - shift)
