"""How large may the error of a proxy be before the leak is gone? The bound of an observational audit by its slack τ.

The audit is made for each τ_1 < τ_2 < … of a list, and what is told at τ_i is

    ε(τ_i) = min over j ≤ i of the bound at τ_j,

which never rises. Let τ* be the true error of the proxy, and τ_i the first of the list that is not below it. The bound
at τ_i holds with the confidence of the audit, and at all later ones ε(τ) is not above it. So all of the curve at and
after τ* holds at once, and τ may be read off after looking at it: what it takes is only that τ is not below τ*, which
no look at the bounds can say. That the control has no bound from some τ on is needed for that, and does not prove it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number, show
from bayes_dp.data.formats import without_format
from bayes_dp.data.json_text import Wanted, checked_object
from bayes_dp.results.base import Saved
from bayes_dp.results.bound import LowerBound
from bayes_dp.support.arrays import Floats
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.support.text import Line, Part, Rows, Sentences, digits

__all__ = ["TAUS", "Sensitivity", "sensitivity"]

TAUS = (0.0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
_NOTHING = 1e-9  # a bound that rounding makes of 0


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Saved):
    """The curve: `bounds`, k of them, by their slack `tau`, which rises; their values are `epsilon`, which falls.

    >>> rng = np.random.default_rng(0)
    >>> proxy, labels = np.full((4000, 2), 0.5), rng.integers(0, 2, 4000)
    >>> model = np.where(np.eye(2)[labels] == 1, 0.9, 0.1)
    >>> curve = bdp.audits.sensitivity(lambda tau: bdp.audits.labels(labels, proxy, model, 0, tau=tau, exact=True))
    >>> curve.epsilon.round(1)
    array([5. , 3.5, 3. , 2.6, 2.1, 1.3, 0.7])
    >>> round(curve.at(0.03).value, 1)  # by the next τ that the curve has
    1.3
    """

    format = "bayes-dp/sensitivity/1"

    bounds: tuple[LowerBound, ...]

    @property
    def tau(self) -> Floats:
        """The slacks, (k,)."""
        return np.array([_tau_of(bound) for bound in self.bounds])

    @property
    def epsilon(self) -> Floats:
        """The bounds, (k,)."""
        return np.array([bound.value for bound in self.bounds])

    @property
    def control(self) -> Floats:
        """The bounds of the control, (k,); NaN where there is none."""
        return np.array([bound.details.get("control", np.nan) for bound in self.bounds], dtype=np.float64)

    @property
    def gone(self) -> float | None:
        """The first τ at which nothing is left; None if there is none."""
        return _first(self.tau, self.epsilon < _NOTHING)

    @property
    def blind(self) -> float | None:
        """The first τ from which on the control has no bound; None if there is none."""
        return _first(self.tau, np.logical_and.accumulate((self.control < _NOTHING)[::-1])[::-1])

    def at(self, tau: float) -> LowerBound:
        """The bound if the proxy errs by at most τ: that of the first slack of the curve which is not below it."""
        most = float(self.tau[-1])
        tau = one_number("tau", tau, 0.0, 1.0)
        if tau > most:
            raise InputError(f"tau must be at most {most:g}, the last of the curve, not {show(tau)}")
        return self.bounds[int(np.argmax(self.tau >= tau))]

    def to_dict(self) -> dict[str, Any]:
        """Everything, in full precision, fit for JSON."""
        return {"format": self.format, "bounds": [bound.to_dict() for bound in self.bounds]}

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        try:
            found = checked_object(name, without_format(name, content, cls.format), _FIELDS)
            made = [LowerBound._read(f"{name}: bounds[{i}]", each) for i, each in enumerate(found["bounds"])]
            return cls(_checked(name, made))
        except InputError as error:
            raise InputError(f"{error}; this is not a curve as to_json and to_dict give it") from None

    def _parts(self) -> Iterator[Part]:
        first = self.bounds[0]
        known = "".join(f" at {name} = {value:g}" for name, value in first.provenance.known.items())
        share = f"{100 * first.confidence:g}%"
        told = self.control
        reasons = list(dict.fromkeys(bound.invalid for bound in self.bounds if bound.invalid))
        cells = [
            (
                f"{_tau_of(bound):g}",
                digits(bound.value),
                "" if np.isnan(control) else digits(control),
                "yes" if bound.valid else f"no [{reasons.index(bound.invalid) + 1}]",
            )
            for bound, control in zip(self.bounds, told.tolist(), strict=True)
        ]
        title = f"epsilon{known} by the error of the proxy, with confidence {share}"
        yield Rows(cells, ("tau", "epsilon at least", "control", "valid"), title, "rrrl")
        yield Line(self._said())
        if reasons:
            yield Sentences("Not valid", [f"[{i + 1}] {reason}" for i, reason in enumerate(reasons)])
        shared = [s for s in first.assumptions if all(s in bound.assumptions for bound in self.bounds)]
        own = "Given what is known of it, what the game hides of each example has a law within τ of the proxy's."
        yield Sentences("Assumptions", (own, _TOGETHER, *shared))

    def _said(self) -> str:
        gone = "something is left at all of these" if self.gone is None else f"nothing is left from {self.gone:g} on"
        if np.isnan(self.control).all():
            return f"Of the bound {gone}."
        blind = "never without a bound" if self.blind is None else f"without a bound from {self.blind:g} on"
        return f"Of the bound {gone}; the control is {blind}."


_TOGETHER = "All rows at and above the proxy's true error hold together; that it is not above a row is not shown here."


def sensitivity(audit: Callable[[float], LowerBound], tau: ArrayLike = TAUS) -> Sensitivity:
    """The curve ε(τ) of an audit of labels or attributes.

    Parameters
    ----------
    audit : from τ to the bound, such as `lambda tau: bdp.audits.labels(..., tau=tau)`, the same otherwise. Give it a
        `choice`: by default it guesses more where τ is above 0.
    tau : rising numbers from 0 to 1, (k,).

    >>> game = bdp.games.LabelGame([0, 1] * 400, [[0.5, 0.5]] * 800, [[1, -1], [-1, 1]] * 400)
    >>> ask = lambda tau: bdp.audits.observational(game, 0, exact=True, tau=tau, choice=80, games=5)
    >>> curve = bdp.audits.sensitivity(ask, [0, 0.01, 0.2])
    >>> print(curve.summary())
    epsilon at delta = 0 by the error of the proxy, with confidence 95%
     tau  epsilon at least  control  valid
       0             1.193           yes
    0.01                 0           yes
     0.2                 0           yes
    Of the bound nothing is left from 0.01 on.
    ...
    """
    if not callable(audit):
        raise InputError(f"audit must be a function from tau to a bound, not {show(audit)}")
    slacks = np.atleast_1d(numbers("tau", tau, 0.0, 1.0))
    if slacks.ndim != 1 or not slacks.size or (np.diff(slacks) <= 0).any():
        raise InputError(f"tau must be rising numbers, not {show(tau)}")
    found: list[LowerBound] = []
    for slack in slacks.tolist():
        bound = audit(slack)
        if not isinstance(bound, LowerBound):
            raise InputError(f"audit(tau) must give a LowerBound, not {type(bound).__name__}")
        if bound.provenance.settings.get("tau") != slack:
            raise InputError(f"audit({slack:g}) must be the bound of an audit with the slack tau = {slack:g}")
        least = min((bound.value, *(each.value for each in found)))
        found.append(bound if bound.value == least else replace(bound, value=least))
    return Sensitivity(_checked("audit", found))


def _checked(name: str, bounds: list[LowerBound]) -> tuple[LowerBound, ...]:
    """Bounds of one audit that differ by their slack, which rises while they fall."""
    first = bounds[0]
    for before, bound in pairwise(bounds):
        if _alike(bound) != _alike(first):
            raise InputError(f"{name}: the bounds must differ by tau only")
        if _tau_of(bound) <= _tau_of(before) or bound.value > before.value:
            raise InputError(f"{name}: tau must rise from bound to bound, which must not rise")
    return tuple(bounds)


def _alike(bound: LowerBound) -> tuple[Any, ...]:
    made = bound.provenance
    others = {key: value for key, value in made.settings.items() if key != "tau"}
    return bound.parameter, bound.confidence, made.method, made.digest, dict(made.known), others


def _tau_of(bound: LowerBound) -> float:
    tau = bound.provenance.settings.get("tau")
    return one_number("tau of a bound", tau, 0.0, 1.0)


def _first(tau: Floats, where: Any) -> float | None:
    return float(tau[int(np.argmax(where))]) if np.any(where) else None


_FIELDS: dict[str, Wanted] = {"bounds": (lambda value: isinstance(value, list) and len(value) > 0, "a list of bounds")}

call_module_as(sensitivity)
