"""What `dp_accounting` says of a mechanism, as a trade-off function. Only this module asks for that package."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from bayes_dp.checks import InputError, show
from bayes_dp.tradeoff import Gaussian, TradeOffFunction
from bayes_dp.tradeoff.polygon import Polygon, polygon_of_profile

__all__ = ["claim_of"]

_STEP = 1e-3  # between the ε at which the accountant is asked, at least
_POINTS = 20_001
_LARGEST = 700.0  # ε; no larger one is told apart
_LEAST_DELTA = 1e-14


def claim_of(mechanism: Any) -> tuple[str, TradeOffFunction | tuple[float, float, int]]:
    """The claim in words, and its trade-off function, or the noise multiplier, sampling rate and steps of DP-SGD."""
    if "dp_accounting" not in {cls.__module__.split(".")[0] for cls in type(mechanism).__mro__}:
        raise InputError(
            "mechanism must be an event or a privacy loss distribution of dp_accounting (pip install dp-accounting),"
            f" not {show(mechanism)}"
        )
    if hasattr(mechanism, "get_delta_for_epsilon"):
        return "a privacy loss distribution of dp_accounting", _polygon(mechanism)
    parts = list(_parts(mechanism, 1))
    kinds = {(rate, sigma) for rate, sigma, _ in parts if rate is not None}
    if parts and None not in {rate for rate, _, _ in parts} and all(sigma > 0 for _, sigma in kinds):
        if all(rate == 1 for rate, _ in kinds):
            mu = math.sqrt(sum(count / sigma**2 for _, sigma, count in parts))
            return f"Gaussian DP with μ = {mu:.6g}", Gaussian(mu)
        if len(kinds) == 1:
            ((rate, sigma),) = kinds
            return "", (sigma, rate, sum(count for _, _, count in parts))
    from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant()
    if not accountant.supports(mechanism):
        raise InputError(f"dp_accounting has no privacy loss distribution of a {type(mechanism).__name__}")
    accountant.compose(mechanism)
    if accountant.get_delta(_LARGEST) >= 0.5:  # which its distribution need not show
        raise InputError(f"a {type(mechanism).__name__} has no finite epsilon")
    return f"a {type(mechanism).__name__} of dp_accounting", _polygon(accountant._pld)


def _parts(event: Any, count: int) -> Iterator[tuple[float | None, float, int]]:
    """The sampling rate, noise multiplier and number of each Gaussian step; a rate of None for what is not one."""
    match type(event).__name__:
        case "NoOpDpEvent":
            return
        case "SelfComposedDpEvent":
            yield from _parts(event.event, count * event.count)
        case "ComposedDpEvent":
            for part in event.events:
                yield from _parts(part, count)
        case "GaussianDpEvent":
            yield 1.0, event.noise_multiplier, count
        case "PoissonSampledDpEvent" if type(event.event).__name__ == "GaussianDpEvent":
            yield event.sampling_probability, event.event.noise_multiplier, count
        case _:
            yield None, 0.0, count


def _polygon(distribution: Any) -> Polygon:
    """By the chords of δ(e^ε), which are above it."""
    beyond = float(distribution.get_delta_for_epsilon(_LARGEST))  # probability of an infinite loss
    last = math.inf if beyond >= 0.5 else float(distribution.get_epsilon_for_delta(max(_LEAST_DELTA, 2 * beyond)))
    if not last < _LARGEST:
        raise InputError("the privacy loss distribution has no finite epsilon")
    epsilon = np.linspace(0.0, max(last, _STEP), _POINTS)
    return polygon_of_profile(epsilon, np.asarray(distribution.get_delta_for_epsilon(epsilon)))
