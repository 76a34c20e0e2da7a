"""One lower bound on ε from the error counts of several challenge bases, by rules for combining tests.

The null hypothesis at ε is that every base lies in R(ε, δ). Each base i gives the p-value pᵢ(ε) of the exact test
(`exact_test.py`), and a rule makes one of them, with p₍₁₎ ≤ … ≤ p₍ₙ₎:

    bonferroni  n p₍₁₎                                       whatever the dependence of the bases
    hommel      n (1 + 1/2 + … + 1/n) minᵢ p₍ᵢ₎/i            whatever the dependence (Hommel 1983)
    simes       n minᵢ p₍ᵢ₎/i                                independent bases (Simes 1986)
    fisher      P[χ²₂ₙ ≥ −2 Σ log pᵢ]                        independent bases (Fisher 1932)
    mean_e      1/mean of the bases' e-values (`mixture`)    whatever the dependence (Vovk and Wang 2021)

Others judge sums of counts, of independent bases with the same share of runs without the example:

    pooled      Clopper-Pearson at p/2 for either sum. The mean rates lie in R(ε, δ), which is convex, and a sum of
                unequal trials is less spread than a binomial beyond its mean (Hoeffding 1956), so that the upper
                bound of a mean rate is the larger one of Clopper-Pearson's and (ΣX + 1)/ΣN.
    accuracy    `intervals.accuracy` of the sums, for as many runs without the example as with it
    adaptive    the larger one of pooled and bonferroni, each at half the error probability

"At least k of n bases leak more than ε" (partial conjunction, Benjamini and Heller 2008) is tested by (n − k + 1) p₍ₖ₎
whatever the dependence, and by Fisher's rule on the n − k + 1 largest p-values of independent bases.

A bound is the last value of ε of the grid of `exact_test.py` before the first one that is not rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.audits.base import Audit, caution
from bayes_dp.audits.exact_test import GRID, gap, mixed_log_ratio, p_values, tail_bound
from bayes_dp.audits.intervals import accuracy, epsilon_from_rates
from bayes_dp.audits.rate_tests import clopper_pearson_p
from bayes_dp.audits.repeated import REPEATED, base_name, columns, opposite, provenance, question
from bayes_dp.beta import clopper_pearson_upper
from bayes_dp.checks import InputError, is_one_of, show, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.results.bound import LowerBound
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Bools, Floats, Ints
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.tradeoff import ApproxDP

__all__ = ["METHODS", "combine", "joint_exact", "mixture"]

_EXACT = 100_000  # runs of a base, with the example or without it, up to which its p-value is that of the exact test
_BINOMIAL = "The errors of a base are binomial."
_APART = "The bases are independent of each other: no run serves two of them."
_TIED = "The bases may depend on each other in any way."
_ALIKE = "The decisions on the runs of a base are made alike for all of them, before looking at the truth."

_AT_ONCE = 8  # values of the grid that are judged together

Rule = Callable[[Floats], float]  # p-values (n,) -> one
Dependence = Literal["any", "independent"]


# Rules on p-values ----------------------------------------------------------------------------------------------------


def bonferroni(p: Floats, at_least: int = 1) -> float:
    """min(1, (n − k + 1) p₍ₖ₎).

    >>> bdp.audits.combine.bonferroni(np.array([0.001, 0.2, 0.003, 0.5, 0.01]), at_least=3)
    0.03
    """
    return float(min(1.0, (len(p) - at_least + 1) * np.sort(p)[at_least - 1]))


def fisher(p: Floats, at_least: int = 1) -> float:
    """P[χ² with 2m degrees of freedom ≥ −2 Σ log p] over the m = n − k + 1 largest p-values."""
    largest = np.sort(p)[at_least - 1 :]
    if largest[0] == 0:
        return 0.0
    return float(special.chdtrc(2 * len(largest), -2 * np.log(largest).sum()))


def simes(p: Floats) -> float:
    """min(1, n minᵢ p₍ᵢ₎/i)."""
    return float(min(1.0, len(p) * (np.sort(p) / np.arange(1, len(p) + 1)).min()))


def hommel(p: Floats) -> float:
    """min(1, n (1 + … + 1/n) minᵢ p₍ᵢ₎/i)."""
    ranks = np.arange(1, len(p) + 1)
    return float(min(1.0, len(p) * (1 / ranks).sum() * (np.sort(p) / ranks).min()))


# What the bases say at one ε ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Bases:
    """The error counts, (n,) each, and what they say of ε."""

    x: Floats
    n0: Floats
    y: Floats
    n1: Floats
    delta: float

    def gaps(self, epsilon: Floats) -> Floats:
        """G of each base at each ε, (k,): (k, n). It falls in ε."""
        return gap(self.x, self.n0, self.y, self.n1, epsilon[:, None], self.delta)

    def p_values(self, epsilon: Floats) -> Floats:
        """pᵢ(ε), (k, n): each of a test that only the numbers of runs choose."""
        rows, place = np.unique(np.stack([self.x, self.n0, self.y, self.n1]), axis=1, return_inverse=True)
        x, n0, y, n1 = np.repeat(rows, len(epsilon), axis=1)
        asked = np.tile(epsilon, rows.shape[1])
        found = np.empty(asked.shape)
        exact = np.maximum(n0, n1) <= _EXACT
        found[exact] = p_values(x[exact], n0[exact], y[exact], n1[exact], asked[exact], self.delta)
        for i in np.flatnonzero(~exact):
            found[i] = _interval_p(int(x[i]), int(n0[i]), int(y[i]), int(n1[i]), float(asked[i]), self.delta)
        return found.reshape(-1, len(epsilon)).T[:, place.ravel()]

    def bounds_on_p(self, epsilon: Floats) -> Floats:
        """Not below `p_values`, at once; they rise in ε."""
        found = tail_bound(self.gaps(epsilon))
        for i in np.flatnonzero(np.maximum(self.n0, self.n1) > _EXACT):  # of these the p-value itself, which rises
            base = int(self.x[i]), int(self.n0[i]), int(self.y[i]), int(self.n1[i])
            found[:, i] = [_interval_p(*base, float(each), self.delta) for each in epsilon]
        return found

    def __getitem__(self, some: Ints) -> _Bases:
        return _Bases(self.x[some], self.n0[some], self.y[some], self.n1[some], self.delta)

    def total(self) -> ErrorCounts:
        x, n0, y, n1 = (int(column.sum()) for column in (self.x, self.n0, self.y, self.n1))
        return ErrorCounts(x, n0, y, n1)

    @property
    def proportional(self) -> bool:
        """Whether the share of runs without the example is the same for all."""
        return bool(np.all(self.n0 * self.n1[0] == self.n1 * self.n0[0]))

    def __len__(self) -> int:
        return len(self.x)


def _interval_p(x: int, n0: int, y: int, n1: int, epsilon: float, delta: float) -> float:
    return clopper_pearson_p(ApproxDP(epsilon, delta), x, n0, y, n1)


def mixture(x: Floats, n0: Floats, y: Floats, n1: Floats, epsilon: ArrayLike, delta: float) -> Floats:
    """log of an e-value: the chance of the errors under independent Beta(½, ½) rates over the largest that R allows.

    log B(x+½, N0−x+½) + log B(y+½, N1−y+½) − 2 log B(½, ½) − max over R(ε, δ) of log L. Its expectation is at most 1
    where the rates lie in R, and it falls in ε. Arrays broadcast.

    >>> round(float(bdp.audits.combine.mixture(5, 100, 40, 100, 1.0, 1e-5)), 6)
    4.810062
    """
    worse = np.asarray(x / n0 + y / n1 > 1)  # R is its own image under the opposite decisions
    x, y = np.where(worse, n0 - x, x), np.where(worse, n1 - y, y)
    return np.asarray(mixed_log_ratio(x, n0, y, n1) + gap(x, n0, y, n1, epsilon, delta))


# Rules for a whole bound ----------------------------------------------------------------------------------------------


def _on_grid(rejected: Callable[[Floats], Bools], surely: Callable[[Floats], Bools]) -> float:
    """The last value of the grid before the first that is not `rejected`; those up to some value are so `surely`."""
    start, end = 0, len(GRID)
    while start < end:
        middle = (start + end) // 2
        start, end = (middle + 1, end) if surely(GRID[middle : middle + 1])[0] else (start, middle)
    for begin in range(start, len(GRID), _AT_ONCE):
        kept = ~rejected(GRID[begin : begin + _AT_ONCE])
        if kept.any():
            return float(GRID[max(begin + int(kept.argmax()) - 1, 0)])
    return float(GRID[-1])


def _from_p(rule: Rule, bases: _Bases, p: float) -> float:
    def by(found: Callable[[Floats], Floats]) -> Callable[[Floats], Bools]:
        return lambda epsilon: np.array([rule(row) <= p for row in found(epsilon)])

    return _on_grid(by(bases.p_values), by(bases.bounds_on_p))


def _by_bonferroni(bases: _Bases, p: float) -> float:
    """`_from_p` of bonferroni, looking at few bases: of those with the same runs, the largest G has the least p."""
    share, kinds = p / len(bases), _kinds(bases)

    def largest(epsilon: Floats) -> _Bases:
        return bases[_with_the_largest_gap(bases, kinds, epsilon)]

    def by(found: Callable[[_Bases, Floats], Floats]) -> Callable[[Floats], Bools]:
        return lambda epsilon: np.asarray((found(largest(epsilon), epsilon) <= share).any(axis=1))

    return _on_grid(by(_Bases.p_values), by(_Bases.bounds_on_p))


def _kinds(bases: _Bases) -> list[Ints]:
    """The bases with the same runs, for each numbers of runs that there are."""
    runs = np.stack([bases.n0, bases.n1], axis=1)
    return [np.flatnonzero((runs == each).all(axis=1)) for each in np.unique(runs, axis=0)]


def _with_the_largest_gap(bases: _Bases, kinds: list[Ints], epsilon: Floats) -> Ints:
    """Of each kind, at any ε of (k,)."""
    gaps = bases.gaps(epsilon)
    return np.unique([kind[gaps[:, kind].argmax(axis=1)] for kind in kinds])


def _by_e_values(bases: _Bases, p: float) -> float:
    def rejected(epsilon: Floats) -> Bools:
        logs = mixture(bases.x, bases.n0, bases.y, bases.n1, epsilon[:, None], bases.delta)
        return np.asarray(special.logsumexp(logs, axis=1) - math.log(len(bases)) >= -math.log(p))

    return _on_grid(lambda epsilon: np.zeros(len(epsilon), bool), rejected)  # the mean falls in ε


def _pooled(bases: _Bases, p: float) -> float:
    if not bases.proportional:
        raise InputError(
            'method="pooled" needs the same share of runs without the example in every base; take "bonferroni" or'
            ' "adaptive"'
        )
    ends = []
    for errors, runs in ((bases.x, bases.n0), (bases.y, bases.n1)):
        k, n = errors.sum(), runs.sum()
        ends.append(min(1.0, max(float(clopper_pearson_upper(k, n, p / 2)), (k + 1) / n)))
    return float(epsilon_from_rates(ends[0], ends[1], bases.delta))


def _accuracy(bases: _Bases, p: float) -> float:
    if (unequal := bases.n0 != bases.n1).any():
        raise InputError(
            f'method="accuracy" needs as many runs without the example as with it, but base {int(unequal.argmax())} has'
            f" {bases.n0[unequal][0]:.0f} and {bases.n1[unequal][0]:.0f}"
        )
    return accuracy(bases.total(), bases.delta, confidence=1 - p).value


def _adaptive(bases: _Bases, p: float) -> float:
    if not bases.proportional:
        return _by_bonferroni(bases, p)
    return max(_pooled(bases, p / 2), _by_bonferroni(bases, p / 2))


@dataclass(frozen=True)
class _Method:
    bound: Callable[[_Bases, float], float]
    independent: bool = False  # whether the bases have to be
    partial: Callable[[Floats, int], float] | None = None  # the rule for at least k bases


METHODS: Mapping[str, _Method] = {
    "adaptive": _Method(_adaptive, True),
    "bonferroni": _Method(_by_bonferroni, partial=bonferroni),
    "hommel": _Method(lambda bases, p: _from_p(hommel, bases, p)),
    "simes": _Method(lambda bases, p: _from_p(simes, bases, p), True),
    "fisher": _Method(lambda bases, p: _from_p(fisher, bases, p), True, fisher),
    "pooled": _Method(_pooled, True),
    "accuracy": _Method(_accuracy, True),
    "mean_e": _Method(_by_e_values),
}


@underflow_is_zero
def joint_exact(counts: ErrorCounts, delta: float, *, confidence: float = 0.95) -> LowerBound:
    """From the exact test of both error counts together; of several bases each is judged at p/n.

    Nearly everywhere above `clopper_pearson`, which judges either rate at p/2, and for attacks with few errors of one
    kind far above `accuracy`.

    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> bdp.audits.joint_exact(counts, 1e-3).value, round(bdp.audits.clopper_pearson(counts, 1e-3).value, 2)
    (1.52, 1.39)
    """
    delta, p = question(counts, delta, confidence)
    return _finding(counts, delta, confidence, p, "joint-exact", "bonferroni", "any", 1)


@underflow_is_zero
def combine(
    counts: ErrorCounts,
    delta: float,
    *,
    confidence: float = 0.95,
    dependence: Dependence = "any",
    method: str | None = None,
    at_least: int = 1,
) -> LowerBound:
    """One lower bound on ε from all bases together.

    The rule must be chosen before looking at any bound: the largest one of several holds less often than each.

    Parameters
    ----------
    dependence : "any", or "independent" if no run (and no seed, and no data beside the example) serves two bases.
    method : one of `METHODS`; by default "adaptive" for independent bases, "bonferroni" otherwise.
    at_least : k, for a bound that at least k of the bases exceed; by "bonferroni" or, of independent bases, "fisher".

    >>> counts = bdp.ErrorCounts([20] * 10, [100] * 10, [30] * 10, [100] * 10)
    >>> bdp.audits.combine(counts, 1e-5).value
    0.71
    >>> round(bdp.audits.combine(counts, 1e-5, dependence="independent").value, 4)
    1.0639
    """
    delta, p = question(counts, delta, confidence)
    if not is_one_of(dependence, ("any", "independent")):
        raise InputError(f'dependence must be "any" or "independent", not {show(dependence)}')
    at_least = whole_number("at_least", at_least, 1, len(counts))
    if method is None:
        apart = dependence == "independent" and len(counts) > 1
        method = ("fisher" if at_least > 1 else "adaptive") if apart else "bonferroni"
    if not is_one_of(method, tuple(METHODS)):
        raise InputError(f"method must be one of {', '.join(METHODS)}, not {show(method)}")
    if METHODS[method].independent and dependence == "any":
        raise InputError(
            f'method="{method}" is for independent bases: say dependence="independent" if no run serves two of them'
        )
    if at_least > 1 and METHODS[method].partial is None:
        raise InputError(f'at_least is for the methods "bonferroni" and "fisher", not "{method}"')
    return _finding(counts, delta, confidence, p, "combine", method, dependence, at_least)


def _finding(
    counts: ErrorCounts,
    delta: float,
    confidence: float,
    p: float,
    name: str,
    method: str,
    dependence: Dependence,
    at_least: int,
) -> LowerBound:
    bases, rule = _Bases(*columns(counts), delta), METHODS[method]
    partial = rule.partial
    if at_least > 1 and partial is not None:
        value = _from_p(lambda found: partial(found, at_least), bases, p)
    else:
        value = rule.bound(bases, p)
    settings = {} if name == "joint-exact" else {"rule": method, "dependence": dependence, "at_least": at_least}
    chances = bases.p_values(np.array([value]))[0]
    details: dict[str, Any] = {"base": base_name(counts, int(chances.argmin())), "p_values": chances.tolist()}
    if method == "adaptive":
        pooled = bases.proportional and value == _pooled(bases, p / 2)
        details["half"] = "pooled" if pooled else "bonferroni"

    def again(d: float) -> LowerBound:
        return _finding(counts, d, confidence, p, name, method, dependence, at_least)

    warning = "" if method == "mean_e" else _worse(counts, bases, p)  # which judges opposite decisions too
    return LowerBound(
        parameter="epsilon",
        value=value,
        confidence=confidence,
        assumptions=(REPEATED, f"δ = {delta:g} is known.", *_sentences(bases, method, dependence, at_least, p)),
        provenance=provenance(counts, delta, confidence, name, **settings),
        invalid=caution(counts),
        warnings=(warning,) if warning else (),
        details=details,
        at=again,
    )


def _sentences(bases: _Bases, method: str, dependence: Dependence, at_least: int, p: float) -> list[str]:
    """What is assumed, and what the bound is of."""
    n = len(bases)
    said = [_ALIKE if method == "accuracy" else _BINOMIAL]
    if n > 1:
        said.append(_APART if dependence == "independent" else _TIED)
    if n > 1 and method == "bonferroni":
        said.append(f"The error probability of {p:.3g} is shared by {n} bases.")
    if n > 1 and method == "adaptive" and not bases.proportional:
        said.append("The bases differ in their share of runs without the example, so that their sums say nothing.")
    if at_least > 1:
        said.append(f"The bound is of the base that leaks {at_least}th most: at least {at_least} of {n} leak as much.")
    return said


def _worse(counts: ErrorCounts, bases: _Bases, p: float) -> str:
    """What the opposite decisions would show, where they are significantly better than chance."""
    mirrored = _Bases(bases.n0 - bases.x, bases.n0, bases.n1 - bases.y, bases.n1, bases.delta)
    bounds, share = np.zeros(len(bases)), p / len(bases)
    some = np.flatnonzero(bases.x / bases.n0 + bases.y / bases.n1 > 1)
    if len(some):
        above = mirrored[some].bounds_on_p(GRID[1:2])[0] <= share  # whether its own bound is above 0
        for i in np.flatnonzero(~above):
            above[i] = (mirrored[some[[i]]].p_values(GRID[:2]) <= share).all()
        some = some[above]
    if len(some):
        leaking = mirrored[some]
        largest = np.array([_by_bonferroni(leaking, share * len(some))])
        first = _with_the_largest_gap(leaking, _kinds(leaking), largest)
        bounds[some] = GRID[1]
        bounds[some[first[leaking[first].p_values(largest)[0].argmin()]]] = largest[0]
    return opposite(counts, bounds)


AUDITS = (
    Audit(
        name="joint-exact",
        needs=("counts",),
        run=lambda counts, given: joint_exact(counts, given.delta, confidence=given.confidence),
        assumptions=(REPEATED, _BINOMIAL),
        scope="whole",
    ),
)
call_module_as(combine)
