"""The whole privacy profile from the scores of one base's runs: ε at every δ, δ at every ε, μ, all at once.

A run without the example gives a score, a run with it another; a high score says "with". The rule "score > t" has a
false positive rate α(t) and a false negative rate β(t). A band (`band.py`) of either distribution function, each at
half of the error probability, bounds all of them at once: α(t) ≤ ᾱ = u_{k₀} with k₀ scores without the example above t,
and β(t) ≤ β̄ = u_{k₁} with k₁ scores with it at or below t. So with one confidence for every δ, every ε and μ together

    ε(δ) ≥ max over t of log((1 − δ − β̄)/ᾱ), log((1 − δ − ᾱ)/β̄), 0,
    δ(ε) ≥ max over t of 1 − β̄ − e^ε ᾱ, 1 − ᾱ − e^ε β̄, 0,
    μ ≥ max over t of −Φ⁻¹(ᾱ) − Φ⁻¹(β̄), 0,
    f ≤ the largest convex function below (0, 1), (1, 0), all (ᾱ, β̄) and their mirror images (β̄, ᾱ).

t is −∞ or any score; scores that are the same stay together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.audits.band import BANDS, Band, upper_band
from bayes_dp.checks import InputError, is_one_of, numbers, one_number, show
from bayes_dp.data.formats import without_format
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.json_text import A_SHARE, AN_OBJECT, SENTENCES, checked_object, finite, is_finite, one_of
from bayes_dp.results.base import Saved
from bayes_dp.results.bound import LowerBound
from bayes_dp.results.posterior import Provenance, checked_provenance
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.support.text import Part, Rows, Sentences, digits
from bayes_dp.tradeoff import TradeOff, scalar

__all__ = ["Profile", "profile"]

_SHOWN = (0.0, 1e-5, 1e-3, 0.01, 0.1)  # δ of the summary
_EACH_A_RUN = "Each score is of a run of its own, independent of the others, and not of an example of one model."
_FIXED = "The score was fixed before these runs."


@dataclass(frozen=True, repr=False, eq=False)
class Profile(Saved):
    """What holds at every δ at once with the given confidence.

    `alpha` and `beta`, (k,), bound the error rates of "score > threshold" for every threshold, (k,).

    >>> rng = np.random.default_rng(0)
    >>> found = bdp.audits.profile(rng.normal(size=500), rng.normal(2, size=500))
    >>> print(found.epsilon_at([0.0, 1e-3, 0.1]).round(2), round(found.mu, 2))
    [2.39 2.39 2.15] 1.64
    """

    format = "bayes-dp/profile/1"

    threshold: Floats
    alpha: Floats
    beta: Floats
    confidence: float
    band: Band
    assumptions: tuple[str, ...]
    provenance: Provenance
    warnings: tuple[str, ...] = ()

    def epsilon_at(self, delta: ArrayLike) -> Floats:
        """Lower bounds on ε(δ) in the shape of `delta`, from 0 to 1; all hold together."""
        delta = numbers("delta", delta, 0.0, 1.0)
        return scalar(self._largest(lambda d: self._levels(float(d)), delta))

    def delta_at(self, epsilon: ArrayLike) -> Floats:
        """Lower bounds on δ(ε) in the shape of `epsilon`; all hold together."""
        epsilon = numbers("epsilon", epsilon, 0.0, high_open=True)

        def gains(e: float) -> Floats:
            with np.errstate(over="ignore", invalid="ignore"):
                one, other = (
                    1 - low - np.where(high > 0, np.exp(e) * high, 0.0)
                    for low, high in ((self.beta, self.alpha), (self.alpha, self.beta))
                )
            return np.maximum(one, other)

        return scalar(self._largest(gains, epsilon))

    @property
    def mu(self) -> float:
        """The lower bound on the μ of Gaussian DP."""
        with np.errstate(invalid="ignore"):
            found = -special.ndtri(self.alpha) - special.ndtri(self.beta)
        return max(0.0, float(np.nanmax(found)))

    def tradeoff(self) -> TradeOff:
        """The trade-off function that the training's lies below, everywhere at once."""
        x, y = _hull(np.r_[0.0, 1.0, self.alpha, self.beta], np.r_[1.0, 0.0, self.beta, self.alpha])
        return TradeOff(lambda a: np.minimum(np.interp(a, x, y), 1 - a))

    def threshold_at(self, delta: float) -> float:
        """The threshold that gives the bound on ε(δ)."""
        return float(self.threshold[int(np.argmax(self._levels(one_number("delta", delta, 0.0, 1.0))))])

    def bound(self, delta: float) -> LowerBound:
        """The lower bound on ε at one δ, which holds together with those at all others."""
        value = float(self.epsilon_at(one_number("delta", delta, 0.0, 1.0)))
        return LowerBound(
            parameter="epsilon",
            value=value,
            confidence=self.confidence,
            assumptions=(*self.assumptions, "The bounds at all δ hold together."),
            provenance=Provenance(
                "profile", self.provenance.digest, {"delta": float(delta)}, {}, {**self.provenance.settings}
            ),
            warnings=self.warnings,
            details={"threshold": self.threshold_at(delta)},
            at=self.bound,
        )

    def _levels(self, delta: float) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            one, other = (
                np.where(1 - delta - low > high, np.log(np.maximum(1 - delta - low, 0.0)) - np.log(high), 0.0)
                for low, high in ((self.beta, self.alpha), (self.alpha, self.beta))
            )
        return np.maximum(one, other)

    @staticmethod
    def _largest(of: Any, values: Floats) -> Floats:
        return np.array([max(0.0, float(of(value).max())) for value in values.ravel()]).reshape(values.shape)

    def to_dict(self) -> dict[str, Any]:
        """Everything, in full precision, fit for JSON: thresholds of −∞ and ∞ are None at the first and last places."""
        return {
            "format": self.format,
            "confidence": self.confidence,
            "band": self.band,
            "threshold": finite(self.threshold.tolist()),
            "alpha": self.alpha.tolist(),
            "beta": self.beta.tolist(),
            "assumptions": list(self.assumptions),
            "warnings": list(self.warnings),
            "provenance": self.provenance.to_dict(),
        }

    @classmethod
    def _read(cls, name: str, content: Any) -> Self:
        found = _checked(name, without_format(name, content, cls.format))
        threshold = np.array(found["threshold"], float)  # None is NaN
        ends = np.isnan(threshold)
        threshold[ends] = np.where(np.flatnonzero(ends) == 0, -np.inf, np.inf)
        return cls(
            threshold,
            np.array(found["alpha"], float),
            np.array(found["beta"], float),
            float(found["confidence"]),
            found["band"],
            tuple(found["assumptions"]),
            Provenance(**found["provenance"]),
            tuple(found["warnings"]),
        )

    def _parts(self) -> Iterator[Part]:
        share = f"{100 * self.confidence:g}%"
        epsilon = self.epsilon_at(np.array(_SHOWN))
        cells = [(f"{delta:g}", digits(value)) for delta, value in zip(_SHOWN, epsilon.tolist(), strict=True)]
        shown = ", ".join(f"{value} at {delta}" for delta, value in cells)
        title = f"epsilon at least, at every delta together with confidence {share}: {shown}"
        yield Rows(cells, ("delta", "epsilon at least"), title, words=(title,))
        yield Rows([("mu at least", digits(self.mu))], ("", ""), "", words=(f"mu at least {digits(self.mu)}",))
        yield Sentences("Assumptions", self.assumptions)
        yield Sentences("Warning", self.warnings, "each")


_NUMBERS = (
    lambda value: isinstance(value, list) and all(is_finite(each, 0.0, 1.0) for each in value),
    "a list of numbers from 0 to 1",
)
_FIELDS = {
    "confidence": A_SHARE,
    "band": one_of(*BANDS),
    "threshold": (
        lambda value: (
            isinstance(value, list)
            and all(is_finite(each) for each in value[1:-1])
            and all(each is None or is_finite(each) for each in value)
        ),
        "a list of numbers, the first and the last of which may be null",
    ),
    "alpha": _NUMBERS,
    "beta": _NUMBERS,
    "assumptions": SENTENCES,
    "warnings": SENTENCES,
    "provenance": AN_OBJECT,
}


def _checked(name: str, content: Any) -> dict[str, Any]:
    """The content of a file of this `name`, where it is all that `to_dict` says of a profile, and nothing else."""
    try:
        found = checked_object(name, content, _FIELDS)
        checked_provenance(f"{name}: provenance", found["provenance"])
        size = len(found["threshold"])
        if not 0 < size == len(found["alpha"]) == len(found["beta"]):
            raise InputError(f"{name}: threshold, alpha and beta must be lists of one length, at least 1")
        inner = [each for each in found["threshold"] if each is not None]
        if any(a >= b for a, b in pairwise(inner)):
            raise InputError(f"{name}: threshold must increase")
    except InputError as error:
        raise InputError(f"{error}; this is not a profile as to_json and to_dict give it") from None
    return found


@underflow_is_zero
def profile(
    without: ArrayLike | GuessTable, with_: ArrayLike | None = None, *, confidence: float = 0.95, band: Band = "equal"
) -> Profile:
    """ε at every δ at once, from scores of runs without the example and of runs with it.

    Parameters
    ----------
    without, with_ : the scores, high for "with"; infinite ones are allowed. Or one `GuessTable` whose rows are runs,
        the members being those with the example.
    band : "equal", Clopper-Pearson at a level at which all hold together, or "dkw", of equal width.

    >>> rng = np.random.default_rng(0)
    >>> found = bdp.audits.profile(rng.normal(size=200), rng.normal(1, size=200))
    >>> round(float(found.epsilon_at(1e-3)), 2), round(float(found.delta_at(0.5)), 3)
    (0.73, 0.041)
    """
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    if not is_one_of(band, BANDS):
        raise InputError(f"band must be one of {', '.join(BANDS)}, not {show(band)}")
    table = _table(without, with_)
    low, high = np.sort(table.score[~table.member]), np.sort(table.score[table.member])
    threshold = np.unique(np.append(table.score, -np.inf))
    share = (1 - confidence) / 2
    above = len(low) - np.searchsorted(low, threshold, side="right")
    below = np.searchsorted(high, threshold, side="right")
    return Profile(
        threshold,
        upper_band(len(low), share, band)[above],
        upper_band(len(high), share, band)[below],
        confidence,
        band,
        (_EACH_A_RUN, _FIXED),
        Provenance("profile", table.digest(), {}, {}, {"confidence": confidence, "band": band}),
        table.cautions(),
    )


def _table(without: Any, with_: Any) -> GuessTable:
    if isinstance(without, GuessTable):
        if with_ is not None:
            raise InputError("with_ is for scores without a table: a GuessTable holds both")
        if without.propensity is not None or without.base is not None:
            what = "propensities" if without.propensity is not None else "bases"
            raise InputError(
                f"a table with {what} is of the examples of a model, and the profile is from runs of one base"
            )
        table = without
    else:
        if with_ is None:
            raise InputError("with_ must be given: the scores of the runs with the example")
        columns = [numbers(name, each, -math.inf, math.inf) for name, each in (("without", without), ("with_", with_))]
        for name, column in zip(("without", "with_"), columns, strict=True):
            if column.ndim != 1 or not len(column):
                raise InputError(f"{name} must be a list of scores, not of the shape {column.shape}")
        member: Bools = np.repeat([False, True], [len(column) for column in columns])
        table = GuessTable(np.concatenate(columns), member)
    if table.member.all() or not table.member.any():
        missing = "without" if table.member.all() else "with"
        raise InputError(f"there are no runs {missing} the example: runs without it and with it are needed")
    return table


def _hull(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The corners of the largest convex function below the points, from x = 0 to x = 1."""
    order = np.lexsort((y, x))
    kept: list[tuple[float, float]] = []
    for a, b in zip(x[order].tolist(), y[order].tolist(), strict=True):
        if kept and a == kept[-1][0]:
            continue
        while len(kept) > 1 and (kept[-1][1] - kept[-2][1]) * (a - kept[-2][0]) >= (b - kept[-2][1]) * (
            kept[-1][0] - kept[-2][0]
        ):
            kept.pop()
        kept.append((a, b))
    return np.array([each[0] for each in kept]), np.array([each[1] for each in kept])


call_module_as(profile)
