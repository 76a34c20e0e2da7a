"""The mechanism "spends δ at once", the extreme case: no other makes an audit reject ε more often.

Nothing in (ε, δ)-DP makes guesses independent. Of r guesses on m examples the number of correct ones is W ~
Binomial(r, 1/(1 + e^{−ε})), or with some chance W given W ≥ v, so that mδ is used up, where v is the least number for
which the audit's bound exceeds ε. This is the law that attains the exact p-value of `one_run`.
"""

from __future__ import annotations

import numpy as np
from scipy import special, stats

from bayes_dp.audits.choice import Lower
from bayes_dp.audits.one_run import exact_p_value
from bayes_dp.support.arrays import Ints

__all__ = ["draw_at_once", "least_rejecting"]


def least_rejecting(lower: Lower, examples: int, made: int, epsilon: float, p: float) -> int:
    """The least number of correct guesses whose bound exceeds ε, or made + 1."""
    low, high = 0, made + 1
    while high - low > 1:
        middle = (low + high) // 2
        above = lower(np.array([float(examples)]), np.array([float(made)]), np.array([float(middle)]), p)[0] > epsilon
        low, high = (low, middle) if above else (middle, high)
    return high


def draw_at_once(
    examples: int, made: int, least: int, epsilon: float, delta: float, size: int, rng: np.random.Generator
) -> Ints:
    """Numbers of correct guesses that are `least` or more as often as (ε, δ)-DP allows, shape (size,)."""
    correct = rng.binomial(made, special.expit(epsilon), size)
    if least > made:
        return correct
    usual = stats.binom.sf(least - 1, made, special.expit(epsilon))
    most = float(exact_p_value(examples, made, least, epsilon, delta))
    lifted = rng.random(size) < (most - usual) / (1 - usual)
    above = stats.binom.isf(usual * rng.random(size), made, special.expit(epsilon))
    return np.where(lifted, np.maximum(above, least), correct).astype(np.int64)
