"""New bases under a posterior, attacked at the places of the old ones.

Nature draws how well the attack on a base does, its level; on which side, and at which false positive rate it errs, is
the attack's choice, so that where the rates lie along the boundary is no evidence. A new base therefore keeps the side
and the false positive rate α that a draw of the posterior gives the old one, and gets a level of its own:

    t ∈ [s, 1] with P(t ≤ x) = |R(x) \\ R(s)| / |R(1) \\ R(s)|,   β = f_t(α),

where R(t) and f_t belong to (tε, tδ), or to the member tθ of a family.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayes_dp import region
from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.levels.posterior import FamilyQuestion
from bayes_dp.bayes.question import Question
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats

__all__ = ["drawn_levels", "new_rates", "strength_of"]

_HALVINGS = 40  # of the layer, to draw a level from it


def strength_of(question: Question | FamilyQuestion, draws: Mapping[str, Floats]) -> Floats | None:
    """s of every draw, (size,); None for the limit s → 1."""
    if question.strength == "tight":
        return None
    fixed = 0.0 if question.strength == "free" else question.strength
    first = next(iter(draws.values()))
    return draws.get("strength", np.full(len(first), fixed))


@underflow_is_zero
def new_rates(
    question: Question | FamilyQuestion,
    draws: Mapping[str, Floats],
    rates: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """α and β of new bases at the places of `rates`, all (size, n); row k is for draw k."""
    alpha, beta = rates
    reflected = alpha + beta > 1.0
    near = np.where(reflected, 1.0 - alpha, alpha)
    strength = strength_of(question, draws)
    if isinstance(question, FamilyQuestion):
        family, theta = question.family, draws[question.family.parameter][:, None]
        level = (
            np.ones_like(alpha) if strength is None else drawn_levels(family, theta, strength[:, None], near.shape, rng)
        )
        new = family(near, level * theta)
    else:
        epsilon, delta = (value[:, None] for value in question.privacy(draws[question.parameter]))
        level = np.ones_like(alpha) if strength is None else _approx_levels(epsilon, delta, strength, near.shape, rng)
        new = region.lower(near, level * epsilon, level * delta)
    return alpha, np.where(reflected, 1.0 - new, new)


def _approx_levels(
    epsilon: Floats, delta: Floats, strength: Floats, shape: tuple[int, ...], rng: np.random.Generator
) -> Floats:
    points = region.sample(epsilon, delta, strength[:, None], shape, rng)
    return region.strength_level(points[..., 0], points[..., 1], epsilon, delta)


def drawn_levels(
    family: TradeOffFamily, theta: Floats, strength: Floats, shape: tuple[int, ...], rng: np.random.Generator
) -> Floats:
    """Levels in shares of θ, by halving the layer until the share of its area below is a random number."""
    inner, gap = theta * strength, theta * (1.0 - strength)
    with np.errstate(divide="ignore"):
        goal = family.log_layer(inner, gap) + np.log(rng.random(shape))
        low, high = np.zeros(shape), np.ones(shape)
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            above = family.log_layer(inner, gap * middle) > goal
            low, high = np.where(above, low, middle), np.where(above, middle, high)
    return strength + (1.0 - strength) * high
