"""The audit of one training run for f-differential privacy (Mahloujifar, Melis and Chaudhuri 2024).

Of m examples, each in the training set by its own fair coin, `made` were guessed and c = `correct` of these rightly. If
the training is f-DP and the chance of at least c correct guesses is p or more, then the recursion

    r[c] = p c/m,  h[c] = p (made − c)/m,  and for k = c−1, …, 0
    h[k] = max(h[k+1], f̄⁻¹(r[k+1])),  r[k] = r[k+1] + k/(made − k) · (h[k] − h[k+1])

ends with r[0] + h[0] ≤ made/m (Mahloujifar, Melis, Chaudhuri, "Auditing f-differential privacy in one run", 2024,
Algorithm 3). Here f̄⁻¹(y) = inf {x : 1 − f(x) ≥ y}, the `inverse` of `tradeoff`. If it ends above, f is rejected at
error probability p. The maximum changes no decision; with it both sequences grow, so the recursion is at rest as soon
as h is.

The slack τ is for examples whose absence is simulated by a law within total variation τ of the true one:
f̄_τ⁻¹(y) = max(0, f̄⁻¹(y) − τ) (Theorem 5 on auditing f-DP with distribution shift, of the observational audit).

The recursion compares the laws with and without an example in both orders, so that f must be symmetric: a lopsided one
is refused.

A family of trade-off functions that leak more as one parameter grows turns the test into a lower bound, the largest
rejected parameter. It is at most the one with f̄⁻¹(p c/m) = p (made − c)/m, which for Gaussian DP is
Φ⁻¹(p c/m) − Φ⁻¹(p (made − c)/m): there the recursion does not start. So many guesses, even good ones, show little; few
sure ones show more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.attacks.scores import NumberOfGuesses, Sides
from bayes_dp.audits.base import Audit, no_gaussian_epsilon
from bayes_dp.audits.choice import choose
from bayes_dp.audits.f_dp_recursion import FEW, margins, rest, scalar_inverse
from bayes_dp.audits.given import ASSUMPTIONS, as_guesses, cautions, guessing_settings
from bayes_dp.audits.memberships import under_coins
from bayes_dp.audits.rejected import largest_rejected, largest_rejected_one, trials
from bayes_dp.checks import InputError, numbers, one_number, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.bound import LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Bools, Floats, Indices
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.tradeoff import (
    ApproxDP,
    Gaussian,
    Laplace,
    TradeOffFunction,
    approx_dp_inverse,
    gaussian_inverse,
    laplace_inverse,
    require_symmetric,
)

__all__ = [
    "GAUSSIAN",
    "LAPLACE",
    "Family",
    "approx",
    "f_dp",
    "gaussian_limit",
    "lower_bounds",
    "p_value",
    "refuse_delta_zero",
    "rejects",
    "trace",
]

Member = Callable[[float], TradeOffFunction]

_HIGHEST = 750.0  # e^{−750} is 0: no larger ε, nor μ, is told apart
_PRECISION = 1e-13  # of a lower bound; of the order of the rounding errors of 100 000 steps
_GAPS = (0.9 * _PRECISION, 1e-10, 1e-7, 1e-4)  # between a bound and its limit, to be tried


@dataclass(frozen=True)
class Family:
    """Trade-off functions by one parameter ≥ 0, `member(parameter)`, which leak more as it grows.

    Where they are known in closed form, `inverse(parameter, y)` is f̄⁻¹(y), vectorised, and `limit(y, h)` the least
    parameter with f̄⁻¹(y) ≤ h.
    """

    parameter: str
    member: Member
    inverse: Callable[[Floats, Floats], Floats] | None = None
    limit: Callable[[Floats, Floats], Floats] | None = None


# Families -------------------------------------------------------------------------------------------------------------


def gaussian_limit(y: Floats, h: Floats) -> Floats:
    """The least μ with f̄⁻¹(y) ≤ h: Φ⁻¹(y) − Φ⁻¹(h)."""
    return np.asarray(special.ndtri(y) - special.ndtri(np.minimum(h, 1.0)))


def _laplace_limit(y: Floats, h: Floats) -> Floats:
    upper = np.where(h <= 0.5, -np.log(4 * h * (1 - y)), np.log((1 - h) / (1 - y)))
    return np.where(y <= 0.5, np.log(y / h), upper)


GAUSSIAN = Family("mu", Gaussian, gaussian_inverse, gaussian_limit)
LAPLACE = Family("laplace", Laplace, laplace_inverse, _laplace_limit)


def approx(delta: float) -> Family:
    """(ε, δ)-DP with the given δ, by ε."""

    def limit(y: Floats, h: Floats) -> Floats:
        flat = np.log(np.maximum(y - delta, 0.0) / h)
        return np.maximum(flat, np.log(np.maximum(1 - delta - h, 0.0) / (1 - y)))

    return Family("epsilon", lambda epsilon: ApproxDP(epsilon, delta), partial(approx_dp_inverse, delta), limit)


def _family_of(trade_off: TradeOffFunction) -> tuple[Family, float]:
    """A family that holds the trade-off function, and its parameter there."""
    match trade_off:
        case Gaussian(mu):
            return GAUSSIAN, mu
        case Laplace(mu):
            return LAPLACE, mu
        case ApproxDP(epsilon, delta):
            return approx(delta), epsilon
    require_symmetric(trade_off)
    return Family("", lambda _: trade_off, lambda _, y: trade_off.inverse(y)), 0.0


def _with_checks(family: Family) -> Family:
    """The family of the user's, each member of which is checked when it is asked for."""

    def member(parameter: float) -> TradeOffFunction:
        found = family.member(parameter)
        if not hasattr(found, "inverse"):
            raise InputError(f"family must give a trade-off function for each parameter, not {show(found)}")
        try:
            require_symmetric(found)
        except InputError as error:
            raise InputError(f"family({parameter:g}): {error}") from None
        return found

    member(0.0)
    return replace(family, member=member)


# The recursion --------------------------------------------------------------------------------------------------------


def trace(
    trade_off: TradeOffFunction, examples: int, made: int, correct: int, p: float, tau: float = 0.0
) -> tuple[Floats, Floats]:
    """The sequences r and h of the recursion, each of shape (correct + 1,), for inspection."""
    require_symmetric(trade_off)
    m, n, c = (int(value) for value in trials(examples, made, correct))
    p = float(_probability(p))
    r, h, tau = np.empty(c + 1), np.empty(c + 1), _slack(tau)
    r[c], h[c] = p * c / max(m, 1), p * (n - c) / max(m, 1)
    for k in range(c - 1, -1, -1):
        h[k] = max(h[k + 1], float(trade_off.inverse(min(r[k + 1], 1.0))) - tau)
        r[k] = r[k + 1] + k / (n - k) * (h[k] - h[k + 1])
    return r, h


def rejects(
    trade_off: TradeOffFunction,
    examples: ArrayLike,
    made: ArrayLike,
    correct: ArrayLike,
    p: ArrayLike,
    tau: float = 0.0,
) -> Bools:
    """Whether so many correct guesses have a chance of less than p under f-DP; the arguments broadcast."""
    family, parameter = _family_of(trade_off)
    m, n, c, level = np.broadcast_arrays(*trials(examples, made, correct), _probability(p))
    margin = margins(family, _slack(tau), np.full(m.size, parameter), *_flat(m, n, c, level))
    return (margin > 0).reshape(m.shape)[()]


def p_value(
    trade_off: TradeOffFunction, examples: ArrayLike, made: ArrayLike, correct: ArrayLike, tau: float = 0.0
) -> Floats:
    """The least p at which f is rejected, 1 if there is none; the arguments broadcast."""
    family, parameter = _family_of(trade_off)
    m, n, c = trials(examples, made, correct)
    shape, (m, n, c), tau = m.shape, _flat(m, n, c), _slack(tau)

    def margin(minus_log_p: Floats, i: Indices) -> Floats:
        p = np.minimum(np.exp(-minus_log_p), 1 - 1e-12)  # at 1 itself the recursion may begin at its end, r = 1
        return margins(family, tau, np.full(len(i), parameter), m[i], n[i], c[i], p)

    return np.exp(-largest_rejected(margin, np.full(m.size, 745.0))).reshape(shape)[()]


def lower_bounds(
    family: Family,
    examples: ArrayLike,
    made: ArrayLike,
    correct: ArrayLike,
    p: ArrayLike,
    tau: float = 0.0,
    known: ArrayLike = 0.0,
) -> Floats:
    """The largest parameter of the family that is rejected at error probability p, 0 if none; the numbers broadcast.

    Where a `known` bound is larger, that is the result, for the price of one test.
    """
    m, n, c, level, least = np.broadcast_arrays(*trials(examples, made, correct), _probability(p), known)
    shape, (m, n, c, level, least), tau = m.shape, _flat(m, n, c, level, least), _slack(tau)
    if family.inverse is None:
        family = _with_checks(family)

    def margin(parameter: Floats, i: Indices) -> Floats:
        return margins(family, tau, parameter, m[i], n[i], c[i], level[i])

    if family.limit is None:
        return largest_rejected(margin, _not_rejected(margin, len(m)), _PRECISION, least).reshape(shape)[()]
    limit = _limits(family, m, n, c, level, tau)
    if len(m) > FEW:
        return _by_arrays(margin, least, limit).reshape(shape)[()]
    rows = zip(*(values.tolist() for values in (m, n, c, level, least, limit)), strict=True)
    return np.array([_one(family, tau, *row) for row in rows]).reshape(shape)[()]


def _limits(family: Family, m: Floats, n: Floats, c: Floats, p: Floats, tau: float) -> Floats:
    """The parameters from which on the recursion does not start, at most 750; all arrays of shape (k,)."""
    assert family.limit is not None
    m = np.maximum(m, 1.0)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):  # h = 0: no such parameter; y = 0: every one
        limit = family.limit(p * c / m, p * (n - c) / m + tau)
    # a little more than the formula, whose last digits may be wrong; where it is 0/0, all that can be
    return np.where(c > 0, np.fmax(np.fmin(limit, _HIGHEST) * (1 + 1e-14), 0.0), 0.0)


def _by_arrays(margin: Callable[[Floats, Indices], Floats], low: Floats, limit: Floats) -> Floats:
    """The bounds, (k,). Of many guesses a bound is its limit, but for the last digits: so near ones are tried first."""
    low, high, left = low.copy(), limit.copy(), np.arange(len(limit))
    known = np.flatnonzero((low > 0) & (low < limit))
    high[known] = np.where(margin(low[known], known) > 0, limit[known], low[known])
    for gap in _GAPS:
        left = left[np.minimum(limit[left] * (1 - gap), high[left]) > low[left]]
        x = limit[left] * (1 - gap)
        found = margin(x, left) > 0
        low[left[found]], high[left[~found]] = x[found], x[~found]
        left = left[~found]
    return largest_rejected(margin, high, _PRECISION, low)


def _one(family: Family, tau: float, m: float, n: float, c: float, p: float, low: float, limit: float) -> float:
    """One bound, as `_by_arrays` finds it."""
    m = max(m, 1.0)
    r, h, end = p * c / m, p * (n - c) / m, n / m

    def margin(parameter: float) -> float:
        return rest(scalar_inverse(family.member(parameter), tau), r, h, c, n, end) - end

    return largest_rejected_one(margin, limit, _PRECISION, low, [limit * (1 - gap) for gap in _GAPS])


def _not_rejected(margin: Callable[[Floats, Indices], Floats], size: int) -> Floats:
    """A parameter that is not rejected, by doubling; (size,)."""
    high, left = np.ones(size), np.arange(size)
    while len(left := left[margin(high[left], left) > 0]):
        high[left] *= 2
        if (high > 2.0**60).any():
            raise InputError("the family must leak more as its parameter grows, but 2**60 is rejected still")
    return high


def _flat(*values: Floats) -> tuple[Floats, ...]:
    return tuple(value.ravel() for value in values)


def _probability(p: ArrayLike) -> Floats:
    return numbers("p", p, 0.0, 1.0, low_open=True, high_open=True)


def _slack(tau: float) -> float:
    return one_number("tau", tau, 0.0, 1.0)


# The audit ------------------------------------------------------------------------------------------------------------


def f_dp(
    guesses: GuessTable | Guesses | ErrorCounts,
    delta: float | None = None,
    *,
    family: Literal["gaussian", "approx", "laplace"] | Member = "gaussian",
    tau: float = 0.0,
    confidence: float = 0.95,
    choice: NumberOfGuesses | int | None = None,
    sides: Sides = "both",
    seed: int = 0,
) -> LowerBound:
    """Lower bound on the parameter of a family of trade-off functions, or on ε at `delta` if that is given.

    The families are "gaussian" (μ), "laplace" (μ), "approx" ((ε, δ)-DP, needs `delta`) and any callable from a number
    ≥ 0 to a symmetric `TradeOffFunction` that leaks more as the number grows. The result's `epsilon_at` gives the bound
    on ε at other δ; for Gaussian DP there is none at δ = 0. `tau` is the slack for simulated absence. Error counts are
    taken as one row, all guesses together.
    From a table of scores the guesses are made with `choice`, `sides` and `seed`, as for `one_run`.

    >>> bound = bdp.audits.f_dp(bdp.Guesses(examples=1000, made=200, correct=150))
    >>> bound.statement()
    'mu >= 0.3395 with confidence 95% (f_dp)'
    >>> round(bound.epsilon_at(1e-5).value, 3)
    1.297
    """
    made = as_guesses(guesses, choice, sides, seed)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    tau = _slack(tau)
    if delta is not None:
        delta = one_number("delta", delta, 0.0, 1.0)
    name, members = _named_family(family, delta)
    if name == "gaussian":
        refuse_delta_zero(delta)
    coins = under_coins(made)
    found = choose(made, 1 - confidence, lambda m, n, c, p: lower_bounds(members, m, n, c, p, tau))
    assumptions = [*ASSUMPTIONS, *coins.assumptions, found.assumption]
    details: dict[str, Any] = {**found.counts, "level": found.level, **coins.details}
    if members.limit is not None:
        m, n, c, p = (np.array(float(number)) for number in (*found.counts.values(), found.level))
        limit = float(_limits(members, m, n, c, p, tau))
        details["limit"] = limit if limit < _HIGHEST else math.inf
    value, parameter = found.value, members.parameter
    if delta is not None and parameter != "epsilon":
        details[parameter] = value
        value, parameter = float(members.member(value).epsilon_at(delta)), "epsilon"
        if math.isinf(value):
            raise InputError(f"the family has no finite epsilon at delta = {delta:g}: give a larger delta, or none")
        assumptions.append(_of_family(name))
    if delta is not None:
        assumptions.append(f"δ = {delta:g} is known.")
    if tau > 0:
        assumptions.append(
            f"What stands in for an absent example has a law within total variation {tau:g} of the right one."
        )
    return LowerBound(
        parameter=parameter,
        value=value,
        confidence=confidence,
        assumptions=tuple(assumptions),
        provenance=Provenance(
            method="f_dp",
            digest=made.digest(),
            known={} if delta is None else {"delta": delta},
            priors={},
            settings={"confidence": confidence, "family": name, "tau": tau, "rule": made.rule}
            | guessing_settings(guesses, sides, seed),
        ),
        invalid=joined(coins.invalid, found.invalid),
        warnings=cautions(made),
        details=details,
        at=lambda d: f_dp(
            guesses, delta=d, family=family, tau=tau, confidence=confidence, choice=choice, sides=sides, seed=seed
        ),
    )


def refuse_delta_zero(delta: float | None) -> None:
    """Gaussian DP allows no finite ε at δ = 0, whatever its μ, so that there is no bound to give."""
    if delta == 0:
        raise InputError(
            "Gaussian DP has no finite epsilon at delta = 0: give a delta above 0, or none for a bound on mu"
        )


_DESCRIPTION = {
    "gaussian": "Gaussian DP",
    "laplace": "the Laplace mechanism",
    "custom": "which the caller gave",
}


def _of_family(name: str) -> str:
    return f"The privacy of the training is that of one member of the family, {_DESCRIPTION[name]}."


def _named_family(family: Any, delta: float | None) -> tuple[str, Family]:
    if callable(family):
        return "custom", Family("parameter", family)
    if family == "approx":
        if delta is None:
            raise InputError('delta must be given for the family "approx"')
        return "approx", approx(delta)
    families = {"gaussian": GAUSSIAN, "laplace": LAPLACE}
    if not isinstance(family, str) or family not in families:
        raise InputError(f"family must be gaussian, approx, laplace or a callable, not {show(family)}")
    return family, families[family]


AUDITS = (
    Audit(
        name="f-dp-gaussian",
        needs=("guesses", "coins"),
        run=lambda counts, given: f_dp(given.guessed(counts), given.delta, confidence=given.confidence),
        assumptions=(*ASSUMPTIONS, _of_family("gaussian")),
        refuse=no_gaussian_epsilon,
        scope="whole",
    ),
    Audit(
        name="f-dp-laplace",
        needs=("guesses", "coins"),
        run=lambda counts, given: f_dp(
            given.guessed(counts), given.delta, family="laplace", confidence=given.confidence
        ),
        assumptions=(*ASSUMPTIONS, _of_family("laplace")),
        scope="whole",
    ),
)
call_module_as(f_dp)
