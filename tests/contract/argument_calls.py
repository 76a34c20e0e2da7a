"""The table of calls, the objects that its arguments are made of, and how one of its calls is made."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import propensity, tradeoff
from bayes_dp.planning.result import Plan, PlanRow
from bayes_dp.results.posterior import Provenance
from tests.contract.argument_values import Values

RNG = np.random.default_rng(0)
COUNTS = bdp.ErrorCounts([3, 5], [20, 30], [4, 6], [20, 30])
ONE = COUNTS[0]
ONE_RUN = bdp.ErrorCounts(3, 20, 4, 20, design="one_run", examples=60)
GUESSES = bdp.Guesses(60, 40, 30)
MEMBER = np.arange(60) % 2 == 0
SCORES = bdp.GuessTable(MEMBER + RNG.normal(size=60), MEMBER)
WITH_PROPENSITIES = bdp.GuessTable(SCORES.score, MEMBER, 0.5)
LOSSES, SHADOWS = (bdp.LossTable(RNG.gamma(1, 1, (3, 12)), RNG.gamma(0.5, 0.5, (3, 12))) for _ in range(2))
MATRIX = bdp.ScoreMatrix(
    np.arange(6)[:, None] % 2 == np.arange(8) % 2,
    log_odds=np.random.default_rng(1).normal(size=(6, 8)),
    population=np.random.default_rng(2).normal(size=(6, 5)),
    gradient_norm=np.ones((6, 8)),
    features=np.ones((8, 2)),
    population_features=np.ones((5, 2)),
)
FEATURES = RNG.normal(size=(60, 2))
GAUSSIAN = tradeoff.Gaussian(1.0)


def logistic(a: Any, theta: Any) -> Any:
    return (1 - a) / (1 - a + a * np.exp(theta))


LOGISTIC = bdp.Family("logistic", logistic)


@cache
def posterior() -> Any:
    return bdp.estimate(COUNTS, 1e-2)


@cache
def shifted() -> Any:
    return bdp.estimate_shifted(bdp.attacks.call_members(WITH_PROPENSITIES, 40))


@cache
def family_posterior() -> Any:
    return bdp.estimate(COUNTS, 1e-2, family="gaussian")


@cache
def curves() -> Any:
    return bdp.estimate_curves(LOSSES, 0.3, family="pure")


@cache
def average_of_curves() -> Any:
    return bdp.estimate_curves(LOSSES, 0.3)


@cache
def learned() -> Any:
    return propensity.fit(FEATURES, MEMBER)


@cache
def comparison() -> Any:
    return bdp.compare(COUNTS, 1e-2, names=["katz", "accuracy"])


@dataclass(frozen=True)
class Later:
    """A value that is made when it is first needed."""

    make: Callable[[], Any]


@dataclass(frozen=True)
class Method:
    """A method of an object that is made when it is first needed."""

    make: Callable[[], Any]
    name: str

    def __call__(self, **arguments: Any) -> Any:
        return getattr(self.make(), self.name)(**arguments)


PLAN = Plan(
    1.0,
    0.9,
    0.8,
    None,
    "repeated",
    tuple(PlanRow("challenges", t, 2, 20 * t, 20 * t, np.linspace(1, 2, 9) / t) for t in (1.0, 2.0)),
    None,
    (),
    (),
    Provenance("plan", "", {"delta": 1e-3}, {}, {}),
)


@dataclass(frozen=True)
class Call:
    """A public callable, the `base` of arguments that work, and what each argument takes.

    With `until`, "module:name", acceptance means that this function is reached, the first one after the checks: where
    the work itself takes long, other tests have it.
    """

    function: Callable[..., Any]
    base: dict[str, Any]
    arguments: dict[str, Values]
    until: str = ""


CALLS: dict[str, Call] = {}


def call(
    name: str, function: Callable[..., Any], base: dict[str, Any], /, *, until: str = "", **arguments: Values
) -> None:
    CALLS[name] = Call(function, base, arguments, until)


class WorkBegunError(Exception):
    """The work has begun."""


def run(entry: Call, argument: str, value: Any) -> Any:
    """The result of the call with one argument changed; `WorkBegunError` where it is not waited for."""
    arguments = {name: made(given) for name, given in (entry.base | {argument: value}).items()}
    with warnings.catch_warnings(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", UserWarning)
        if entry.until:
            module, _, name = entry.until.partition(":")
            patch.setattr(importlib.import_module(module), name, _reached)
        return entry.function(**arguments)


def made(value: Any) -> Any:
    return value.make() if isinstance(value, Later) else value


def _reached(*_: Any, **__: Any) -> None:
    raise WorkBegunError
