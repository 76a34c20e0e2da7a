"""Parametric likelihood-ratio attack: from losses to error counts (Yildirim et al. 2025, Algorithms 2 to 5).

The attack fits a normal law to the losses ℓ of shadow runs without the example (H0) and one to those with it (H1),

    H0: ℓ ~ N(μ0, σ0²),   H1: ℓ ~ N(μ1, σ1²),   μ the mean, σ² = Σ (ℓ − μ)²/(M − 1),

and answers "with" where the most powerful test of size α* between these two laws rejects H0 (Appendix D).

The test. With x = ±(ℓ − μ0)/σ0, of the sign that makes the mean of x under H1 the number m = |μ1 − μ0|/σ0 ≥ 0, and
q = σ1²/σ0² − 1, the likelihood ratio of H1 to H0 grows with q x² + 2 m x, whatever the size of the test. Let C = m/|q|.
The test rejects

    q > 0:   far from −C,   x ≥ e or x ≤ −2C − e,   of the probability Φ(−e) + Φ(−e − 2C) under H0,
    q < 0:   close to C,    e ≤ x ≤ 2C − e,         of the probability Φ(−e) − Φ(e − 2C),
    q = 0:   x ≥ e,                                 of the probability Φ(−e).

The regions of different sizes are nested. So the p-value of a loss is the probability of the region with the loss on
its border, and the test of size α* rejects where p ≤ α*: no border needs to be solved for, and one p-value answers for
all α*. The paper's non-central χ² is the same law, of (X0 ± C)² for a normal X0; its non-centrality C² goes to ∞ for
σ1 → σ0, where the formulas above go to that of q = 0.

Who is tested against whom. `measure` (Algorithm 4) tests runs by shadow runs of their own. `measure_fast` (Algorithm 5)
has one set of runs, each of which is tested by all others. The means and sums of squares without run j come from those
of all N runs,

    μ₋ⱼ = μ − dⱼ/(N − 1),   Sⱼ = S − dⱼ² N/(N − 1),   dⱼ = ℓⱼ − μ,   S = Σ dⱼ²,

except where run j has more than half of S: there the difference cancels, and the sum is taken again without the run.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bayes_dp.checks import InputError, numbers, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.loss_table import LossTable
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["Curve", "HeldOut", "SelectionWarning", "choose_target", "measure", "measure_fast", "p_values"]

Score = Callable[[ErrorCounts], float]

_LEAST = 2  # losses that have a variance
_SAME = 1e-14  # differences of two laws, relative to their spread, that are rounding errors
_REPEATED, _CROSS_FED = "repeated", "cross_fed"  # designs of ErrorCounts


class SelectionWarning(UserWarning):
    """A result was chosen because of its value, and is too good on average."""


# The test ------------------------------------------------------------------------------------------------------------


def p_values(loss: ArrayLike, mean0: ArrayLike, sd0: ArrayLike, mean1: ArrayLike, sd1: ArrayLike) -> Floats:
    """p-values of losses under N(mean0, sd0²), by the most powerful tests against N(mean1, sd1²); shapes broadcast.

    The test of size α* rejects where p ≤ α*. Standard deviations may be 0: against sd0 = 0 every other loss has the
    p-value 0, unless sd1 = 0 too, when only losses on the side of mean1 have it. Where both laws are the same no loss
    says anything, and all p-values are 1.
    """
    given = {"loss": loss, "mean0": mean0, "mean1": mean1}
    x, m0, m1 = (numbers(name, value, low_open=True, high_open=True) for name, value in given.items())
    s0, s1 = (numbers(name, value, 0, high_open=True) for name, value in (("sd0", sd0), ("sd1", sd1)))
    exponent = np.frexp(np.max([np.abs(v).max(initial=0.0) for v in (x, m0, m1, s0, s1)]))[1]
    x, m0, m1, s0, s1 = (np.ldexp(v, -exponent) for v in (x, m0, m1, s0, s1))  # so that no square overflows
    return _p_values(x - m0, m1 - m0, s0, (s1 - s0) * (s1 + s0))


def _p_values(deviation: Floats, gap: Floats, sd0: Floats, widening: Floats) -> Floats:
    """The p-values for deviation = ℓ − μ0, gap = μ1 − μ0 and widening = σ1² − σ0²; shapes broadcast."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        x = np.copysign(1.0, gap) * deviation / sd0
        centre = np.abs(gap) * sd0 / np.abs(widening)
        outer = np.fmax(x, -2 * centre - x)
        inner = np.fmin(x, 2 * centre - x)
        p = np.where(
            widening > 0,
            special.ndtr(-outer) + special.ndtr(-outer - 2 * centre),
            special.ndtr(-inner) - special.ndtr(inner - 2 * centre),
        )
        p = np.where(widening == 0, special.ndtr(-x), p)
    # Laws that differ by rounding errors only would have a region that is rounding errors only.
    same = (np.abs(gap) <= _SAME * sd0) & (np.abs(widening) <= _SAME * sd0**2)
    # Undefined are 0/0: a loss at μ0, the only value under H0, which is never a reason to reject.
    p = np.where(np.isnan(p) | same, 1.0, p)
    return np.clip(p, 0.0, 1.0)


# Fits ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Fit:
    """Normal laws fitted to losses: mean = origin + mean; shapes (n, 1), or (n, N) for those without run j."""

    origin: Floats
    mean: Floats
    variance: Floats

    def deviations(self, loss: Floats) -> Floats:
        return (loss - self.origin) - self.mean


def _fit(loss: Floats) -> tuple[_Fit, Floats]:
    """The fit to all losses (n, N) of each base, and the losses relative to its origin.

    The origin is a loss in the middle: equal losses become exact zeros, and so have a variance of exactly 0, and an
    outlier does not round off the others.
    """
    half = loss.shape[1] // 2
    origin = np.partition(loss, half, axis=1)[:, half : half + 1]
    shifted = loss - origin
    mean = shifted.mean(axis=1, keepdims=True)
    squares = ((shifted - mean) ** 2).sum(axis=1, keepdims=True)
    return _Fit(origin, mean, squares / (loss.shape[1] - 1)), shifted


def _fit_without_each(loss: Floats) -> tuple[_Fit, _Fit]:
    """The fit to all losses (n, N) of each base, and that to all but the j-th, for each j."""
    runs = loss.shape[1]
    fit, shifted = _fit(loss)
    total = fit.variance * (runs - 1)
    deviation = shifted - fit.mean
    mean = fit.mean - deviation / (runs - 1)
    squares = total - deviation**2 * (runs / (runs - 1))
    base, run = np.nonzero(squares < total / 2)
    others = shifted[base]
    here = np.arange(len(run)), run
    others[here] = 0.0
    mean[base, run] = others.sum(axis=1) / (runs - 1)
    others -= mean[base, run][:, None]
    others[here] = 0.0
    squares[base, run] = (others**2).sum(axis=1)
    return fit, _Fit(fit.origin, mean, squares / (runs - 2))


def _tested(loss: Floats, fit0: _Fit, fit1: _Fit) -> Floats:
    """The p-values, shape (n, N), of losses (n, N) given the fits under H0 and H1."""
    gap = (fit1.origin - fit0.origin) + (fit1.mean - fit0.mean)
    return _p_values(fit0.deviations(loss), gap, np.sqrt(fit0.variance), fit1.variance - fit0.variance)


def _scaled(*tables: LossTable) -> list[tuple[Floats, Floats]]:
    """The losses of tables of the same bases in units in which none exceeds 1, so that no square overflows."""
    largest = np.zeros((len(tables[0]), 1))
    for table in tables:
        for loss in (table.without, table.with_):
            largest = np.maximum(largest, np.abs(loss).max(axis=1, keepdims=True))
    exponent = np.frexp(largest)[1]
    return [(np.ldexp(table.without, -exponent), np.ldexp(table.with_, -exponent)) for table in tables]


# Counting ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curve:
    """Error counts of the attack for k target false positive rates α* and n bases.

    `target_fpr` has the shape (k,), `false_positives` and `false_negatives` the shape (k, n). There are `negatives`
    runs without the example and `positives` with it, for each base. `base` and `design` are those of `ErrorCounts`.

    >>> rng = np.random.default_rng(0)
    >>> table = bdp.LossTable(rng.normal(2, 1, (1, 1000)), rng.normal(0, 1, (1, 1000)))
    >>> curve = bdp.attacks.measure_fast(table, [0.01, 0.1])
    >>> curve.false_positives.shape  # (k, n)
    (2, 1)
    >>> curve.at(0.1)
    ErrorCounts: 1 base, 1000 + 1000 challenges, design "cross_fed"
    """

    target_fpr: Floats
    false_positives: Ints
    negatives: int
    false_negatives: Ints
    positives: int
    base: tuple[str, ...] | None
    design: str

    def __post_init__(self) -> None:
        for values in (self.target_fpr, self.false_positives, self.false_negatives):
            values.flags.writeable = False

    def at(self, target_fpr: float) -> ErrorCounts:
        """The counts at one α* of the curve."""
        wanted = _one_target(target_fpr)
        k = int(np.argmin(np.abs(self.target_fpr - wanted)))
        if not math.isclose(self.target_fpr[k], wanted, rel_tol=1e-9):
            raise InputError(
                f"target_fpr must be one of the {len(self)} of the curve, not {wanted:g}; the nearest is "
                f"{self.target_fpr[k]:g}"
            )
        return self._counts(k)

    def best(self, score: Score | None = None) -> tuple[float, ErrorCounts]:
        """The α* whose counts have the highest score, and these counts, with a `SelectionWarning`.

        The score of counts is by default 1 − X/N0 − Y/N1, averaged over the bases; of equal ones the first is taken.
        Chance makes the best of many look better than it is, so no interval or bound from these counts is valid. They
        are for looking at; `choose_target` chooses α* on some of the runs and counts on the others.
        """
        k = self._best(_checked(score))
        warnings.warn(
            f"target_fpr = {self.target_fpr[k]:g} is the best of {len(self)} by the counts themselves: no interval or "
            "bound from these counts is valid. choose_target chooses it on other runs.",
            SelectionWarning,
            stacklevel=2,
        )
        return float(self.target_fpr[k]), self._counts(k)

    def _best(self, score: Score | None) -> int:
        scores = [float((score or _advantage)(self._counts(k))) for k in range(len(self))]
        if np.isnan(scores).any():
            k = int(np.argmax(np.isnan(scores)))
            raise InputError(f"score must give a number for all counts, not nan as at target_fpr[{k}]")
        return int(np.argmax(scores))

    def _counts(self, k: int) -> ErrorCounts:
        return ErrorCounts(
            self.false_positives[k],
            self.negatives,
            self.false_negatives[k],
            self.positives,
            base=self.base,
            design=self.design,
        )

    def __len__(self) -> int:
        return len(self.target_fpr)

    def __repr__(self) -> str:
        k, n = self.false_positives.shape
        return (
            f"Curve: {k} target false positive rates from {self.target_fpr.min():g} to {self.target_fpr.max():g}, "
            f'{n} base{"s" * (n > 1)}, {self.negatives} + {self.positives} challenges, design "{self.design}"'
        )


@overload
def measure(table: LossTable, target_fpr: float, shadows: LossTable | Sequence[LossTable]) -> ErrorCounts: ...
@overload
def measure(
    table: LossTable, target_fpr: Sequence[float] | NDArray[Any], shadows: LossTable | Sequence[LossTable]
) -> Curve: ...
def measure(table: LossTable, target_fpr: ArrayLike, shadows: LossTable | Sequence[LossTable]) -> ErrorCounts | Curve:
    """The errors of the attack on the runs of a table, by shadow runs of their own (Algorithm 4): design "repeated".

    `shadows` is a table of the same bases, whose M0 and M1 runs (2 or more) are no runs of `table`. Given these runs
    the test of a base is fixed, and its errors are independent, each with the same chance. The paper has a new set of
    shadow runs for each run: for that, give a list of N0 + N1 tables, first those for the runs without the example.

    For one number `target_fpr` above 0 and below 1 the answer is an `ErrorCounts`, for an array of shape (k,) it is a
    `Curve`.

    >>> rng = np.random.default_rng(0)
    >>> runs, shadows = (bdp.LossTable(rng.normal(2, 1, (1, 1000)), rng.normal(0, 1, (1, 1000))) for _ in range(2))
    >>> counts = bdp.attacks.measure(runs, 0.1, shadows)
    >>> counts.false_positives / counts.negatives, counts.false_negatives / counts.positives
    (array([0.086]), array([0.25]))
    """
    _must_be_a_table("table", table)
    targets = _targets(target_fpr)
    runs0, runs1 = table.without.shape[1], table.with_.shape[1]
    shared = not isinstance(shadows, Sequence)
    each: list[Any] = list(shadows) if isinstance(shadows, Sequence) else [shadows]
    if not shared and len(each) != runs0 + runs1:
        raise InputError(f"shadows must be one table, or {runs0} + {runs1} tables, one for each run, not {len(each)}")
    names = ["shadows" if shared else f"shadows[{j}]" for j in range(len(each))]
    for name, shadow in zip(names, each, strict=True):
        _must_be_shadows(name, shadow, table)
    parts: list[Floats] = []
    for j, shadow in enumerate(each):
        losses, (shadow0, shadow1) = _scaled(table, shadow)
        fit0, fit1 = _fit(shadow0)[0], _fit(shadow1)[0]
        loss = np.concatenate(losses, axis=1) if shared else np.concatenate(losses, axis=1)[:, j : j + 1]
        parts.append(_tested(loss, fit0, fit1))
    p = np.concatenate(parts, axis=1)
    return _answer(target_fpr, _curve(targets, p[:, :runs0], p[:, runs0:], table, _REPEATED))


@overload
def measure_fast(table: LossTable, target_fpr: float) -> ErrorCounts: ...
@overload
def measure_fast(table: LossTable, target_fpr: Sequence[float] | NDArray[Any]) -> Curve: ...
def measure_fast(table: LossTable, target_fpr: ArrayLike) -> ErrorCounts | Curve:
    """The errors of the attack on each run, by all other runs of the base (Algorithm 5): design "cross_fed".

    Needs at least 3 runs of each base without the example and 3 with it. The errors are correlated, because the runs
    share their shadow runs. For one number `target_fpr` above 0 and below 1 the answer is an `ErrorCounts`, for an
    array of shape (k,) it is a `Curve`.

    >>> rng = np.random.default_rng(0)
    >>> table = bdp.LossTable(rng.normal(2, 1, (1, 1000)), rng.normal(0, 1, (1, 1000)))
    >>> curve = bdp.attacks.measure_fast(table, [0.01, 0.1])
    >>> counts = curve.at(0.1)
    >>> counts.false_positives / counts.negatives, counts.design
    (array([0.087]), 'cross_fed')
    """
    _must_be_a_table("table", table)
    targets = _targets(target_fpr)
    _must_have_runs("table", table, _LEAST + 1, "as a variance needs 2 and the tested run is left out")
    ((loss0, loss1),) = _scaled(table)
    fit0, without_each0 = _fit_without_each(loss0)
    fit1, without_each1 = _fit_without_each(loss1)
    p0, p1 = _tested(loss0, without_each0, fit1), _tested(loss1, fit0, without_each1)
    return _answer(target_fpr, _curve(targets, p0, p1, table, _CROSS_FED))


def _curve(targets: Floats, p0: Floats, p1: Floats, table: LossTable, design: str) -> Curve:
    """Count the p-values under H0, (n, N0), and under H1, (n, N1), that are at most α*."""
    rejected0, rejected1 = (
        np.array([np.searchsorted(row, targets, side="right") for row in np.sort(p, axis=1)], dtype=np.int64).T
        for p in (p0, p1)
    )
    runs0, runs1 = p0.shape[1], p1.shape[1]
    return Curve(targets, rejected0.copy(), runs0, runs1 - rejected1, runs1, table.base, design)


def _answer(target_fpr: ArrayLike, curve: Curve) -> ErrorCounts | Curve:
    return curve if np.ndim(target_fpr) else curve._counts(0)


# Choosing α* ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HeldOut:
    """An α* that was chosen on some runs of each base, the pilot, and the error counts of the other runs at it.

    The pilot runs are the shadow runs of the others too. `pilot` is their curve, by which α* was chosen.

    >>> rng = np.random.default_rng(0)
    >>> table = bdp.LossTable(rng.normal(2, 1, (1, 1000)), rng.normal(0, 1, (1, 1000)))
    >>> found = bdp.attacks.choose_target(table, [0.01, 0.1, 0.2])
    >>> found.pilot.target_fpr, found.target_fpr  # those that were tried, and the one that was best on the pilot
    (array([0.01, 0.1 , 0.2 ]), 0.2)
    """

    target_fpr: float
    counts: ErrorCounts
    pilot: Curve


def choose_target(
    table: LossTable, grid: ArrayLike, fraction: float = 0.5, seed: int = 0, score: Score | None = None
) -> HeldOut:
    """Choose α* from a grid of shape (k,) on a part of the runs, and measure the attack at it on the others.

    A random share `fraction` of the runs, drawn with `seed` (`LossTable.split`), is the pilot. The pilot runs are
    cross-fed, and the α* of the highest `score` is taken, as in `Curve.best`. Then the pilot runs are the shadow runs
    by which the others are tested. So the fits and α*, which is one for all bases, depend on the pilot only. Given the
    pilot, the tests of the others are fixed in advance and independent: the design of the counts is "repeated".

    >>> rng = np.random.default_rng(0)
    >>> table = bdp.LossTable(rng.normal(2, 1, (1, 1000)), rng.normal(0, 1, (1, 1000)))
    >>> found = bdp.attacks.choose_target(table, [0.01, 0.1, 0.2])
    >>> found.target_fpr, found.counts
    (0.2, ErrorCounts: 1 base, 500 + 500 challenges, design "repeated")
    """
    _must_be_a_table("table", table)
    targets = _targets(grid, "grid")
    score = _checked(score)
    pilot, kept = table.split(fraction, seed)
    _must_have_runs(
        "the pilot part of the table", pilot, _LEAST + 1, "as a variance needs 2 and the tested run is left out"
    )
    curve = measure_fast(pilot, targets)
    target = float(curve.target_fpr[curve._best(score)])
    return HeldOut(target, measure(kept, target, pilot), curve)


def _advantage(counts: ErrorCounts) -> float:
    errors = counts.false_positives / counts.negatives + counts.false_negatives / counts.positives
    return float(1 - errors.mean())


# Checks --------------------------------------------------------------------------------------------------------------


def _targets(value: ArrayLike, name: str = "target_fpr") -> Floats:
    """The α*, shape (k,)."""
    targets = numbers(name, value, 0, 1, low_open=True, high_open=True)
    if targets.ndim > 1 or not targets.size:
        raise InputError(f"{name} must be a number or a list of numbers, not of the shape {targets.shape}")
    return np.atleast_1d(targets)


def _one_target(value: Any) -> float:
    targets = _targets(value)
    if np.ndim(value):
        raise InputError(f"target_fpr must be a single number, not {show(value)}")
    return float(targets[0])


def _must_be_a_table(name: str, value: object) -> None:
    if not isinstance(value, LossTable):
        raise InputError(f"{name} must be a LossTable, not {type(value).__name__}")


def _must_have_runs(name: str, table: LossTable, least: int, why: str) -> None:
    for side, runs in (("without", table.without.shape[1]), ("with", table.with_.shape[1])):
        if runs < least:
            raise InputError(f"{name} must have at least {least} runs {side} the example, {why}, not {runs}")


def _must_be_shadows(name: str, shadows: LossTable, table: LossTable) -> None:
    _must_be_a_table(name, shadows)
    _must_have_runs(name, shadows, _LEAST, "as a variance needs 2")
    if len(shadows) != len(table):
        raise InputError(f"{name} must have the {len(table)} bases of the table, not {len(shadows)}")
    if shadows.base != table.base and None not in (shadows.base, table.base):
        raise InputError(f"{name} must have the bases of the table in the same order, but the labels differ")
    both = ((shadows.without, table.without), (shadows.with_, table.with_))
    # Losses that are all the same may well be equal in other runs.
    if all(np.array_equal(one, other) for one, other in both) and any(np.ptp(one) > 0 for one, _ in both):
        raise InputError(f"{name} must be of other runs than the table; measure_fast is for runs that test each other")


def _checked(score: Score | None) -> Score | None:
    if score is not None and not callable(score):
        raise InputError(f"score must be a function of counts, not {show(score)}")
    return score
