"""New guesses under a posterior of guesses on one model: how many of each group are right.

A new group gets a level of its own, uniform in area, and its guesses keep the leans x_i of the old ones:

    t ∈ [s, 1] with P(t ≤ y) = [q(y) − q(s)]/[q(1) − q(s)],    right with the chance d + (1 − d) σ(tε + x_i).

Leans within 0.02 of each other are taken for their mean. That changes the mean number of right guesses by less than
2e-6 of it, and the variance by less than 1e-4 of it.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayes_dp.bayes.levels.shift import ShiftLikelihood, log_area
from bayes_dp.bayes.levels.shift_question import ShiftQuestion
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Indices, Ints

__all__ = ["draws_given_leaks", "new_levels", "right_guesses"]

_HALVINGS = 60
_APART = 0.02
_NUMBERS = 1_000_000  # at a time


@underflow_is_zero
def new_levels(epsilon: Floats, strength: Floats, delta: float, groups: int, rng: np.random.Generator) -> Floats:
    """Levels t of new groups for draws of ε and s, (m,) each: (m, groups)."""
    uniform = rng.random((len(epsilon), groups))
    epsilon, low = epsilon[:, None], np.broadcast_to(strength[:, None], uniform.shape)
    goal = log_area(epsilon, delta, low) + np.log1p(-uniform)  # of the area above t
    high = np.ones_like(uniform)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        above = log_area(epsilon, delta, middle) > goal
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return 0.5 * (low + high)


@underflow_is_zero
def draws_given_leaks(likelihood: ShiftLikelihood, epsilon: Floats, leaks: Floats, rng: np.random.Generator) -> Indices:
    """A draw of the propensities for the e of one group, (m,): P(k) ∝ ℓ_k(e)."""
    found, uniform = np.empty(len(leaks), np.intp), rng.random(len(leaks))
    step = max(1, _NUMBERS // likelihood.draws)
    for part in (slice(i, i + step) for i in range(0, len(leaks), step)):
        revealed = np.minimum(1.0, likelihood.rate * leaks[part] / epsilon[part])
        share = np.cumsum(special.softmax(likelihood.groups[0].log_likelihood(leaks[part], revealed), axis=0), axis=0)
        found[part] = (share < uniform[part]).sum(axis=0).clip(0, likelihood.draws - 1)
    return found


@underflow_is_zero
def right_guesses(
    question: ShiftQuestion,
    likelihood: ShiftLikelihood,
    epsilon: Floats,
    levels: Floats,
    draw: Indices,
    rng: np.random.Generator,
) -> Ints:
    """How many guesses of each group are right at levels (m, groups) of ε, with draws (m,) of the propensities."""
    found = np.zeros(levels.shape, int)
    leans = question.leans if question.known else np.maximum(question.leans, 0.0)
    for g, chosen in enumerate(question.groups.values()):
        for k in np.unique(draw):
            rows = np.flatnonzero(draw == k)
            place, number = _merged(leans[k, chosen])
            step = max(1, _NUMBERS // len(place))
            for part in (rows[i : i + step] for i in range(0, len(rows), step)):
                t = levels[part, g, None]
                revealed = np.minimum(1.0, t * likelihood.rate)
                chance = revealed + (1.0 - revealed) * special.expit(t * epsilon[part, None] + place)
                found[part, g] = rng.binomial(number, chance).sum(axis=1)
    return found


def _merged(leans: Floats) -> tuple[Floats, Ints]:
    """The means of leans that are close to each other, and how many they are."""
    ordered = np.sort(leans)
    cell = np.floor((ordered - ordered[0]) / _APART)
    first = np.flatnonzero(np.diff(cell, prepend=-1.0))
    number = np.diff(np.append(first, len(ordered)))
    return np.add.reduceat(ordered, first) / number, number
