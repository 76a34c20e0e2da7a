"""Where the chains of MHAAR start."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import numpy as np

from bayes_dp import region
from bayes_dp.bayes.likelihoods.base import BaseLikelihood
from bayes_dp.bayes.likelihoods.candidates import BetaPair
from bayes_dp.bayes.mhaar.kernel import State, Target, log_g_of
from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Floats

__all__ = ["start"]

_ATTEMPTS = 500  # at a start of positive density

_log_g = jax.jit(log_g_of, static_argnames="likelihood")


def start(
    rng: np.random.Generator,
    target: Target,
    densities: Mapping[str, Callable[[Floats], Floats]],
    posterior: BetaPair,
    likelihood: BaseLikelihood,
) -> State:
    """An over-dispersed start of positive density; `densities` are the logarithms of those of the priors, by name.

    The pairs come from their law given the counts alone, `posterior`; ε is above many of their levels and s below all
    of their strengths, as far as the supports allow; pairs that are then not in the layer are moved into it along the
    line of constant width. Pairs at which the counts are impossible are drawn again, or their images (1−α, 1−β), and
    now and then the shared parameters.
    """
    delta, (epsilon_ends, strength_ends) = float(target.delta), np.asarray(target.bounds)
    for _ in range(100):
        alpha, beta = (pairs[0, :, 0] for pairs in posterior.draw(rng, 1, 1))
        level = np.quantile(np.minimum(region.level(alpha, beta, delta), 50.0), rng.uniform(0.5, 1.0))
        epsilon = _within(rng, (level + 0.1) * np.exp(rng.uniform(0.0, 0.7)), *epsilon_ends)
        level = np.min(region.strength_level(alpha, beta, epsilon, delta))
        strength = _within(rng, level * rng.uniform(0.0, 1.0), *strength_ends)
        values = {"epsilon": np.array([epsilon]), "strength": np.array([strength])}
        if all(np.isfinite(density(values[name])[0]) for name, density in densities.items()):
            break
    else:
        raise InputError(
            f"the priors must be positive where a chain may start, such as at ε = {epsilon}, s = {strength}"
        )
    alpha, beta = _into_layer(rng, alpha, beta, epsilon, delta, strength)
    for attempt in range(_ATTEMPTS):
        if attempt % 5 == 0:
            shared = likelihood.start(rng, target.counts)
        possible = np.isfinite(_log_g(likelihood, target, alpha, beta, shared))
        if possible.all():
            place: Iterator[Any] = map(np.asarray, (epsilon, strength, alpha, beta, shared))
            return State(*place)
        mirrored = rng.random(len(alpha)) < 0.5  # before the move, as 1 − α rounds a small α off
        first, second = (np.where(mirrored, 1 - pairs[0, :, 0], pairs[0, :, 0]) for pairs in posterior.draw(rng, 1, 1))
        new = _into_layer(rng, first, second, epsilon, delta, strength)
        alpha, beta = (np.where(possible, old, other) for old, other in zip((alpha, beta), new, strict=True))
    raise InputError(
        f"no chain may start: no rates and parameters were found at which the likelihood {likelihood.name} gives"
        f" counts[{np.argmin(possible)}] a positive, finite density"
    )


def _within(rng: np.random.Generator, value: float, low: float, high: float) -> float:
    """`value` if it is inside (low, high), otherwise a point near the end that it is beyond."""
    if low < value < high:
        return value
    room = min(high - low, 1.0) * rng.uniform(0.0, 0.5)
    return low + room if value <= low else high - room


def _into_layer(
    rng: np.random.Generator, alpha: Floats, beta: Floats, epsilon: float, delta: float, strength: float
) -> tuple[Floats, Floats]:
    """(α, β) where it is in R_s(ε, δ), elsewhere points of it of about the same widths."""
    inside = region.in_layer(alpha, beta, epsilon, delta, strength)
    # A line of width 1 − sδ or more misses the layer, and at δ = 0 so does one of width 1.
    width = np.minimum(np.abs(alpha - beta), min(1 - 0.5 * (1 + strength) * delta, 1 - 1e-12))
    outer = np.maximum(0.0, 1 - delta - width) * region.corner(epsilon, 0.0)
    inner = (1 - strength * delta - width) * region.corner(strength * epsilon, 0.0)
    low = outer + rng.uniform(0.05, 0.95, len(width)) * (inner - outer)
    above = alpha + beta > 1
    less, more = np.where(above, 1 - low - width, low), np.where(above, 1 - low, low + width)
    moved = np.where(alpha <= beta, less, more), np.where(alpha <= beta, more, less)
    return np.where(inside, alpha, moved[0]), np.where(inside, beta, moved[1])
