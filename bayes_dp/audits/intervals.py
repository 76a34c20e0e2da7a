"""Bounds on ε from the error counts of repeated, independent runs: intervals of both rates, Hoeffding for accuracy.

An attack with error rates (α, β) against an (ε,δ)-DP mechanism has (α, β) ∈ R(ε,δ), so that bounds on the rates give a
lower bound on ε. The upper end of a two-sided interval bounds what this attack achieves, and not the mechanism.

With several bases each is judged at error probability p/n, and the largest bound counts (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.audits.base import Audit, Inputs, caution
from bayes_dp.audits.rate_posterior import JointBeta
from bayes_dp.audits.repeated import REPEATED, base_name, columns, opposite, provenance, question
from bayes_dp.beta import clopper_pearson_lower, clopper_pearson_upper
from bayes_dp.checks import InputError, one_number, truth
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.region import level
from bayes_dp.results.bound import CredibleInterval, LowerBound
from bayes_dp.support.arrays import Floats
from bayes_dp.tradeoff import fraction, scalar

__all__ = [
    "accuracy",
    "clopper_pearson",
    "epsilon_from_rates",
    "jeffreys",
    "joint_beta",
    "katz",
]

Rates = tuple[Floats, Floats]

_BINOMIAL = "The errors of a base are binomial."
_NORMAL = "The log ratios of the observed rates are normal with their estimated variances."
_ALIKE = "The decisions on the runs of a base are made alike for all of them, before looking at the truth."
_STRONGEST = "This attack is the strongest possible: the interval is of the attack's ε."
_UPPER = "The upper end bounds what this attack achieves, and not what a better one could."


# One rate -------------------------------------------------------------------------------------------------------------


def _jeffreys_lower(k: Floats, n: Floats, p: float) -> Floats:
    return np.where(k > 0, special.betaincinv(k + 0.5, n - k + 0.5, p), 0.0)


def _jeffreys_upper(k: Floats, n: Floats, p: float) -> Floats:
    return np.where(k < n, special.betainccinv(k + 0.5, n - k + 0.5, p), 1.0)


# Both rates -----------------------------------------------------------------------------------------------------------


def epsilon_from_rates(false_positive_rate: ArrayLike, false_negative_rate: ArrayLike, delta: ArrayLike) -> Floats:
    """max(0, log((1−δ−β)/α), log((1−δ−α)/β)): the least ε that allows these rates to an attack that is no worse than
    chance. For one that is, α + β > 1, this is 0, and `region.level` gives the ε of the opposite decisions.
    """
    alpha, beta = (
        fraction("false_positive_rate", false_positive_rate),
        fraction("false_negative_rate", false_negative_rate),
    )
    rest = 1 - fraction("delta", delta)
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (
            np.where(rest - b > a, np.log(np.maximum(rest - b, 0.0)) - np.log(a), 0.0)
            for a, b in ((alpha, beta), (beta, alpha))
        )
    return scalar(np.maximum(one, other))


def _rectangle_upper(low: Rates, high: Rates, delta: float) -> Floats:
    """The largest level of a point of the rectangle [low, high] of rates, on either side of α + β = 1."""
    corners = level(low[0], low[1], delta), level(high[0], high[1], delta)
    return np.maximum(*corners)


def _two_sided(low: Rates, high: Rates, delta: float) -> tuple[Floats, Floats]:
    """The smallest and the largest level of the points of the rectangle [low, high]."""
    below = epsilon_from_rates(*high, delta)
    above = epsilon_from_rates(1 - low[0], 1 - low[1], delta)
    return np.maximum(below, above), _rectangle_upper(low, high, delta)


def clopper_pearson(
    counts: ErrorCounts, delta: float, *, confidence: float = 0.95, two_sided: bool = False
) -> LowerBound:
    """From exact (Clopper-Pearson) bounds of both rates, each at half of the error probability p = 1 − confidence.

    ε ≥ max(0, log((1−δ−β̄)/ᾱ), log((1−δ−ᾱ)/β̄)) with the upper bounds ᾱ, β̄. An attack worse than chance gives 0, and a
    warning where the opposite decisions would give more. `two_sided` takes lower and upper bounds at p/4 each: all four
    hold at once, so that the lower end may use the attack or its opposite, and there is an upper end.

    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> round(bdp.audits.clopper_pearson(counts, 1e-3).value, 4)
    1.3895
    >>> both = bdp.audits.clopper_pearson(counts, 1e-3, two_sided=True)
    >>> round(both.value, 4), round(both.upper, 4)
    (1.307, 3.0005)
    """
    return _from_rates(
        counts, delta, confidence, two_sided, "clopper-pearson", (clopper_pearson_lower, clopper_pearson_upper)
    )


def jeffreys(counts: ErrorCounts, delta: float, *, confidence: float = 0.95, two_sided: bool = False) -> LowerBound:
    """Like `clopper_pearson`, with the quantiles of Beta(k+½, n−k+½): shorter, right on average, not guaranteed.

    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> round(bdp.audits.jeffreys(counts, 1e-3).value, 4)
    1.4326
    >>> round(bdp.audits.clopper_pearson(counts, 1e-3).value, 4)
    1.3895
    """
    return _from_rates(counts, delta, confidence, two_sided, "jeffreys", (_jeffreys_lower, _jeffreys_upper))


RateBound = Callable[[Floats, Floats, float], Floats]


def _from_rates(
    counts: ErrorCounts,
    delta: float,
    confidence: float,
    two_sided: bool,
    method: str,
    bounds: tuple[RateBound, RateBound],
) -> LowerBound:
    delta, p = question(counts, delta, confidence)
    two_sided = truth("two_sided", two_sided)
    x, n0, y, n1 = columns(counts)
    share = p / len(counts) / (4 if two_sided else 2)

    def one_sided(x: Floats, y: Floats) -> Floats:
        return epsilon_from_rates(bounds[1](x, n0, share), bounds[1](y, n1, share), delta)

    if two_sided:
        low, high = ((bound(x, n0, share), bound(y, n1, share)) for bound in bounds)
        lower, upper = _two_sided(low, high, delta)
        warning = ""
    else:
        lower, upper = one_sided(x, y), np.full(len(counts), math.inf)
        warning = opposite(counts, one_sided(n0 - x, n1 - y), ", or take two_sided")
    sentences = [_BINOMIAL]
    if method == "jeffreys":
        invalid = "Jeffreys intervals hold their confidence on average over the rates, and not at every rate."
    else:
        invalid = ""

    def again(d: float) -> LowerBound:
        return _from_rates(counts, d, confidence, two_sided, method, bounds)

    return _bound(counts, delta, confidence, method, two_sided, lower, upper, sentences, invalid, warning, again)


def katz(counts: ErrorCounts, delta: float, *, confidence: float = 0.95, two_sided: bool = False) -> LowerBound:
    """From the normal approximation of the log ratios (1−δ−β)/α and (1−δ−α)/β (Katz et al. 1978, at δ = 0).

    The variance of log((1−δ−β̂)/α̂) is about β(1−β)/(N1 (1−δ−β)²) + (1−α)/(N0 α). Half an error is added to both sides
    of both rates where a count is 0 or all. Each ratio is judged at p/2 (two-sided: p/4 at each end, of the decisions
    or, where these are worse than chance, of their opposite).

    >>> bound = bdp.audits.katz(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> round(bound.value, 4), bound.valid
    (1.4821, False)
    >>> bound.invalid
    'The normal approximation does not guarantee the confidence, least of all with few errors.'
    """
    delta, p = question(counts, delta, confidence)
    two_sided = truth("two_sided", two_sided)
    x, n0, y, n1 = columns(counts)
    z = float(-special.ndtri(p / len(counts) / (4 if two_sided else 2)))

    def both_ends(x: Floats, y: Floats) -> tuple[Floats, Floats]:
        extreme = (x == 0) | (x == n0) | (y == 0) | (y == n1)
        alpha, beta = (np.where(extreme, (k + 0.5) / (n + 1), k / n) for k, n in ((x, n0), (y, n1)))
        ends = []
        for a, m, b, n in ((alpha, n0, beta, n1), (beta, n1, alpha, n0)):
            some = 1 - delta - b > 0  # else the ratio is estimated as 0, and says nothing
            gap = np.where(some, 1 - delta - b, 1.0)
            centre, spread = np.log(gap / a), np.sqrt(b * (1 - b) / (n * gap**2) + (1 - a) / (m * a))
            ends.append([np.where(some, centre + side * spread, -math.inf) for side in (-z, z)])
        low, high = (np.maximum(0.0, np.maximum(*pair)) for pair in zip(*ends, strict=True))
        return low, high

    if two_sided:
        worse = x / n0 + y / n1 > 1
        lower, upper = both_ends(np.where(worse, n0 - x, x), np.where(worse, n1 - y, y))
        warning = ""
    else:
        lower, upper = both_ends(x, y)[0], np.full(len(counts), math.inf)
        warning = opposite(counts, both_ends(n0 - x, n1 - y)[0], ", or take two_sided")
    sentences = [_NORMAL]
    invalid = "The normal approximation does not guarantee the confidence, least of all with few errors."

    def again(d: float) -> LowerBound:
        return katz(counts, d, confidence=confidence, two_sided=two_sided)

    return _bound(counts, delta, confidence, "katz", two_sided, lower, upper, sentences, invalid, warning, again)


def accuracy(counts: ErrorCounts, delta: float, *, confidence: float = 0.95) -> LowerBound:
    """From the number of correct decisions v = 2N−X−Y, where N0 = N1 = N.

    v is a sum of 2N independent Bernoulli variables whose probabilities have a mean of at most q = 1 − (1−δ)/(1+e^ε).
    By Hoeffding (1956), P[correct ≥ v] ≤ P[Binomial(2N, q) ≥ v] wherever v ≥ 2Nq + 1, and no union bound over δ is
    needed. The bound is the ε of the largest q with both v ≥ 2Nq + 1 and a tail of at most p.

    >>> round(bdp.audits.accuracy(bdp.ErrorCounts(10, 100, 20, 100), 1e-3).value, 4)
    1.3982
    >>> round(float(bdp.tradeoff.epsilon_from_advantage(0.7, 1e-3)), 4)  # if the observed rates were the true ones
    1.7334
    """
    delta, p = question(counts, delta, confidence)
    x, n0, y, n1 = columns(counts)
    if (unequal := n0 != n1).any():
        i = int(np.argmax(unequal))
        raise InputError(
            f"the accuracy bound needs as many negatives as positives, but base {base_name(counts, i)} has {n0[i]:.0f}"
            f" and {n1[i]:.0f}"
        )

    def from_correct(right: Floats) -> Floats:
        q = np.minimum(clopper_pearson_lower(right, n0 + n1, p / len(counts)), (right - 1) / (n0 + n1))
        q = np.maximum(q, 0.5)
        with np.errstate(divide="ignore"):
            return np.maximum(0.0, np.log(np.maximum(q - delta, 0.0) / (1 - q)))

    lower = from_correct(n0 + n1 - x - y)
    warning = opposite(counts, from_correct(x + y))
    sentences = [_ALIKE]
    upper = np.full(len(counts), math.inf)

    def again(d: float) -> LowerBound:
        return accuracy(counts, d, confidence=confidence)

    return _bound(counts, delta, confidence, "accuracy", False, lower, upper, sentences, "", warning, again)


def joint_beta(counts: ErrorCounts, delta: float, *, confidence: float = 0.95, prior: float = 0.5) -> CredibleInterval:
    """The equal-tailed credible interval of one attack's ε, under Beta(prior, prior) on either rate (`JointBeta`).

    For one base only: several attacks would each have their own ε.

    >>> found = bdp.audits.joint_beta(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    >>> round(found.value, 3), round(found.upper, 3)
    (1.544, 2.723)
    """
    delta, p = question(counts, delta, confidence)
    one_number("delta", delta, 0.0, 1.0, high_open=True)  # at 1 no attack shows anything, and there is no law
    if len(counts) != 1:
        raise InputError(f"joint_beta is for one base, not {len(counts)}: choose one, as in counts[0]")
    prior = one_number("prior", prior, 0.5, 1e9)
    x, n0, y, n1 = (int(column[0]) for column in columns(counts))
    posterior = JointBeta(x, n0, y, n1, delta, prior)
    low, high = posterior.quantile(p / 2), posterior.quantile(1 - p / 2)

    def again(d: float) -> CredibleInterval:
        return joint_beta(counts, d, confidence=confidence, prior=prior)

    return CredibleInterval(
        parameter="epsilon",
        value=low,
        upper=high,
        confidence=confidence,
        assumptions=(
            REPEATED,
            f"δ = {delta:g} is known.",
            _STRONGEST,
            f"Before the data, the two error rates are independent, each with the law Beta({prior:g}, {prior:g}).",
        ),
        provenance=provenance(counts, delta, confidence, "joint-beta", prior=prior),
        invalid=caution(counts),
        details={"median": posterior.quantile(0.5)},
        at=again,
    )


# What they share ------------------------------------------------------------------------------------------------------


def _bound(
    counts: ErrorCounts,
    delta: float,
    confidence: float,
    method: str,
    two_sided: bool,
    lower: Floats,
    upper: Floats,
    sentences: list[str],
    invalid: str,
    warning: str,
    again: Callable[[float], LowerBound],
) -> LowerBound:
    """The largest of the bases' bounds, all of which hold at once."""
    n, best = len(counts), int(np.argmax(lower))
    several = (f"The largest of {n} bounds, each with confidence 1 − {1 - confidence:.3g}/{n}.",) if n > 1 else ()
    return LowerBound(
        parameter="epsilon",
        value=float(lower[best]),
        upper=float(upper.max()),
        confidence=confidence,
        assumptions=(REPEATED, f"δ = {delta:g} is known.", *sentences, *several) + ((_UPPER,) if two_sided else ()),
        provenance=provenance(counts, delta, confidence, method, two_sided=two_sided),
        invalid=caution(counts) or invalid,
        warnings=(warning,) if warning else (),
        details={"base": base_name(counts, best), "bounds": lower.tolist()},
        at=again,
    )


def _unequal(counts: ErrorCounts, inputs: Inputs) -> str:
    if (counts.negatives == counts.positives).all():
        return ""
    return "It needs as many runs without the example as with it."


AUDITS = (
    Audit(
        name="joint-beta",
        needs=("counts",),
        run=lambda counts, given: joint_beta(counts, given.delta, confidence=given.probability),
        assumptions=(REPEATED, _STRONGEST),
        scope="base",
    ),
    Audit(
        name="clopper-pearson",
        needs=("counts",),
        run=lambda counts, given: clopper_pearson(counts, given.delta, confidence=given.confidence),
        assumptions=(REPEATED, _BINOMIAL),
    ),
    Audit(
        name="jeffreys",
        needs=("counts",),
        run=lambda counts, given: jeffreys(counts, given.delta, confidence=given.confidence),
        assumptions=(REPEATED, _BINOMIAL),
    ),
    Audit(
        name="katz",
        needs=("counts",),
        run=lambda counts, given: katz(counts, given.delta, confidence=given.confidence),
        assumptions=(REPEATED, _NORMAL),
    ),
    Audit(
        name="accuracy",
        needs=("counts",),
        run=lambda counts, given: accuracy(counts, given.delta, confidence=given.confidence),
        assumptions=(REPEATED, _ALIKE),
        refuse=_unequal,
    ),
)
