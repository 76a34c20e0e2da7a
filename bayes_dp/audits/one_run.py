"""The audit of one training run for (ε, δ)-differential privacy (Steinke, Nasr and Jagielski 2023).

Of m examples, each in the training set by its own fair coin, r = `made` were guessed, v = `correct` of these rightly.
With W ~ Binomial(r, 1/(1 + e^{−ε})), the chance of so many correct guesses under (ε, δ)-DP is at most each of

    binomial   P[W ≥ v] + 2mδ max_{1≤i≤v} P[v−i ≤ W < v]/i     (Steinke, Nasr, Jagielski, "Privacy auditing with one (1)
               training run", NeurIPS 2023, Theorem 5.2)
    f_dp       the p-value of `f_dp` for f_{ε,δ}
    exact      P[W ≥ v] + mδ P[W ≥ v] P[W < v] / (v P[W = v])

and at most 1; it is 1 for v = 0. "best" is the smaller of the first two, which is valid as both bound the same chance.
The third is attained by some (ε, δ)-DP training, so no valid p-value is below it. At δ = 0 it is the first one too. The
first is below it, and so not valid, for some v below the mode of W. In all cases tried it was above 7/8 there, so that
only bounds of less than 12.5% confidence are affected.

Why the third is exact: let q_k be the chance of k correct guesses. Applied to the events "guess i is right, and k are"
and "guess i is wrong, and k − 1 are right", averaged over the memberships and summed over the examples, (ε, δ)-DP says

    Σ_k (k q_k − e^ε (r−k+1) q_{k−1})_+ + ((r−k+1) q_{k−1} − e^ε k q_k)_+ ≤ mδ.

Conversely, if q satisfies this, then a training that draws the number of correct guesses from q and the guesses
otherwise at random is (ε, δ)-DP. So the largest chance is a linear program in q. Let b_k = P[W = k] and T = P[W ≥ v].

- At most T + νmδ, with ν = T (1 − T)/(v b_v): in the dual program take T as the multiplier of Σ q_k = 1, ν as that of
  mδ, and y_k/(k b_k) as that of the k-th left bracket, with y_k = P[W ≥ max(k, v)] − T P[W ≥ k] ≥ 0. It is feasible, as
  y_k/(k b_k) grows up to k = v, where it is ν, and falls from there, which b_{k−1}/b_k = k e^{−ε}/(r − k + 1) shows.
- Attained: by the mixture of the laws of W and of W given W ≥ v that uses up mδ, up to the chance 1.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.attacks.scores import NumberOfGuesses, Sides
from bayes_dp.audits.base import Audit
from bayes_dp.audits.choice import Lower, choose
from bayes_dp.audits.f_dp import approx
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.given import ASSUMPTIONS, as_guesses, cautions, guessing_settings
from bayes_dp.audits.memberships import under_coins
from bayes_dp.audits.rejected import largest_rejected, trials
from bayes_dp.beta import stirling_error
from bayes_dp.checks import InputError, is_one_of, numbers, one_number, show
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.bound import LowerBound, joined
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Floats, Indices
from bayes_dp.support.callable_module import call_module_as

__all__ = [
    "best_lower_bounds",
    "binomial_tail",
    "exact_lower_bounds",
    "exact_p_value",
    "lower_bounds",
    "one_run",
    "p_value",
]

Formula = Literal["best", "binomial", "f_dp", "exact"]

_METHODS = ("best", "binomial", "f_dp", "exact")
_PRECISION = 1e-14  # of a lower bound; of the order of the rounding errors of a p-value
_FEW = 24  # up to so many problems, Python's floats are faster than arrays
_TINY = 1e-280  # quotients of probabilities below are summed as series


# p-values -------------------------------------------------------------------------------------------------------------


def p_value(examples: ArrayLike, made: ArrayLike, correct: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """The binomial p-value of (ε, δ)-DP, the first formula above; the arguments broadcast."""
    return _binomial(*_checked(examples, made, correct, epsilon, delta))[()]


def exact_p_value(
    examples: ArrayLike, made: ArrayLike, correct: ArrayLike, epsilon: ArrayLike, delta: ArrayLike
) -> Floats:
    """The largest chance, over all (ε, δ)-DP trainings and guessers, of at least so many correct guesses."""
    return _exact(*_checked(examples, made, correct, epsilon, delta))[()]


def _binomial(m: Floats, r: Floats, v: Floats, epsilon: Floats, delta: Floats) -> Floats:
    r, k = np.maximum(r, 1.0), np.maximum(v, 1.0)
    p = binomial_tail(r, k, epsilon)
    if delta.any():
        p = p + 2 * m * delta * _largest_average(r, k, epsilon)
    return np.where(v > 0, np.minimum(p, 1.0), 1.0)


def _exact(m: Floats, r: Floats, v: Floats, epsilon: Floats, delta: Floats) -> Floats:
    """Of P[W ≥ v] and P[W < v], the smaller one is divided by the probability of its first value."""
    r, k = np.maximum(r, 1.0), np.maximum(v, 1.0)
    above, below = binomial_tail(r, k, epsilon), binomial_tail(r, r - k + 1, -epsilon)
    up = above < 0.5
    quotient = _tail_quotient(r, np.where(up, k, r - k + 1), np.where(up, epsilon, -epsilon))
    other = np.where(up, below, above * k * np.exp(-epsilon) / (r - k + 1))  # P[W = v − 1]/P[W = v]
    return np.where(v > 0, np.minimum(above + m * delta * quotient * other / k, 1.0), 1.0)


def _largest_average(r: Floats, v: Floats, epsilon: Floats) -> Floats:
    """max over 1 ≤ i ≤ v of P[v−i ≤ W < v]/i, for 1 ≤ v ≤ r.

    The average of P[W = v−1], P[W = v−2], … grows until the next term is smaller, which is beyond the mode, and then
    falls for good: the terms rise to the mode and fall from there.
    """
    if r.size <= _FEW:
        found = [_largest_average_of(*one) for one in zip(r.flat, v.flat, epsilon.flat, strict=True)]
        return np.array(found).reshape(r.shape)
    above = binomial_tail(r, v, epsilon)
    low = np.clip(v - np.floor((r + 1) * special.expit(epsilon)), 1.0, v)
    high = v.copy()
    while (low < high).any():
        i = np.floor((low + high) / 2)
        falls = i * np.exp(_log_pmf(r, v - i - 1, epsilon)) <= binomial_tail(r, v - i, epsilon) - above
        low, high = np.where(falls, low, np.minimum(i + 1, high)), np.where(falls, i, high)
    average = (binomial_tail(r, v - low, epsilon) - above) / low
    return np.where(low == 1, np.exp(_log_pmf(r, v - 1, epsilon)), average)


def _largest_average_of(r: float, v: float, epsilon: float) -> float:
    """The same for one problem; the probabilities that decide where the largest average is are differences of tails."""
    small = special.expit(-epsilon)

    def tail(k: float) -> float:
        return float(special.betaincc(r - k + 1, k, small)) if k > 0 else 1.0

    above = tail(v)
    low, high = min(max(v - math.floor((r + 1) * (1 - small)), 1.0), v), v
    while low < high:
        i = (low + high) // 2
        sum_of_i = tail(v - i) - above
        if i * (tail(v - i - 1) - above - sum_of_i) <= sum_of_i:
            high = i
        else:
            low = i + 1
    if low == 1:
        return math.exp(_log_pmf(*np.array([[r], [v - 1], [epsilon]]))[0])
    return (tail(v - low) - above) / low


def binomial_tail(r: Floats, k: Floats, epsilon: Floats) -> Floats:
    """P[W ≥ k] = I_q(k, r−k+1) = 1 − I_{1−q}(r−k+1, k), from the smaller of q and 1 − q, which has more digits."""
    above, below, small = np.maximum(k, 1.0), r - np.maximum(k, 1.0) + 1, special.expit(-np.abs(epsilon))
    tail = np.where(epsilon < 0, special.betainc(above, below, small), special.betaincc(below, above, small))
    return np.where(k > 0, tail, 1.0)


def _log_pmf(r: Floats, k: Floats, epsilon: Floats) -> Floats:
    """log P[W = k] by deviances (Loader, "Fast and accurate computation of binomial probabilities", 2000)."""
    inside, rest = np.maximum(k, 0.0), np.minimum(r - k, r)
    deviances = _deviance(inside, r * special.expit(epsilon)) + _deviance(rest, r * special.expit(-epsilon))
    log_pmf = _stirling_rest(r) - _stirling_rest(inside) - _stirling_rest(rest) - deviances
    return np.where(k >= 0, log_pmf, -np.inf)


def _deviance(x: Floats, mean: Floats) -> Floats:
    """x log(x/mean) − x + mean, without the cancellation where x is near the mean."""
    away = (x - mean) / mean
    return mean * (special.xlog1py(1 + away, away) - away)


def _stirling_rest(n: Floats) -> Floats:
    """log n! − n log n + n, 0 at n = 0."""
    return stirling_error(n) + np.where(n > 0, 0.5 * np.log(2 * math.pi * np.maximum(n, 1.0)), 0.0)


def _tail_quotient(r: Floats, k: Floats, epsilon: Floats) -> Floats:
    """P[W ≥ k]/P[W = k] = Σ_j Π_{i<j} e^ε (r−k−i)/(k+1+i), the sum where the probabilities may underflow."""
    tail = binomial_tail(r, k, epsilon)
    usual = tail > _TINY
    quotient = np.empty_like(tail)
    quotient[usual] = tail[usual] / np.exp(_log_pmf(r[usual], k[usual], epsilon[usual]))
    if not usual.all():
        r, k, odds = r[~usual], k[~usual], np.exp(epsilon[~usual])
        total, term, i = np.ones_like(r), np.ones_like(r), 0
        while (term > 1e-17 * total).any():
            term = term * odds * np.maximum(r - k - i, 0.0) / (k + 1 + i)
            total, i = total + term, i + 1
        quotient[~usual] = total
    return quotient


# Lower bounds on ε ----------------------------------------------------------------------------------------------------


def lower_bounds(examples: ArrayLike, made: ArrayLike, correct: ArrayLike, delta: ArrayLike, p: ArrayLike) -> Floats:
    """Largest ε whose binomial p-value is below p, 0 if none; the arguments broadcast."""
    return _largest_epsilon(_binomial, examples, made, correct, delta, p)


def exact_lower_bounds(
    examples: ArrayLike, made: ArrayLike, correct: ArrayLike, delta: ArrayLike, p: ArrayLike
) -> Floats:
    """Largest ε whose exact p-value is below p, 0 if none; the arguments broadcast."""
    return _largest_epsilon(_exact, examples, made, correct, delta, p)


def best_lower_bounds(examples: ArrayLike, made: ArrayLike, correct: ArrayLike, delta: float, p: ArrayLike) -> Floats:
    """Largest ε with a p-value below p, binomial or f-DP: the larger of the two bounds; all but δ broadcast."""
    bound = lower_bounds(examples, made, correct, delta, p)
    return f_dp_lower_bounds(approx(delta), examples, made, correct, p, known=bound) if delta > 0 else bound


def _largest_epsilon(
    formula: Any, examples: ArrayLike, made: ArrayLike, correct: ArrayLike, delta: ArrayLike, p: ArrayLike
) -> Floats:
    level = numbers("p", p, 0.0, 1.0, low_open=True, high_open=True)
    given = np.broadcast_arrays(*_checked(examples, made, correct, 0.0, delta), level)
    m, r, v, _, d, level = (values.ravel() for values in given)
    pure = np.where(v > 0, _clopper_pearson(np.maximum(r, 1.0), np.maximum(v, 1.0), level), 0.0)
    with_slack = d > 0

    def margin(epsilon: Floats, i: Indices) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(level[i]) - np.log(formula(m[i], r[i], v[i], epsilon, d[i]))

    bounds = np.where(with_slack, largest_rejected(margin, np.where(with_slack, pure, 0.0), _PRECISION), pure)
    return bounds.reshape(given[0].shape)[()]


def _clopper_pearson(r: Floats, v: Floats, p: Floats) -> Floats:
    """The ε ≥ 0 with P[W ≥ v] = p, by the quantiles of the Beta distribution; 0 if that is less."""
    chance, rest = special.betaincinv(v, r - v + 1, p), special.betainccinv(r - v + 1, v, p)
    return np.maximum(np.log(chance) - np.log(rest), 0.0)


def _checked(
    examples: ArrayLike, made: ArrayLike, correct: ArrayLike, epsilon: ArrayLike, delta: ArrayLike
) -> tuple[Floats, ...]:
    """All as arrays of one shape."""
    return np.broadcast_arrays(
        *trials(examples, made, correct),
        numbers("epsilon", epsilon, 0.0, math.inf, high_open=True),
        numbers("delta", delta, 0.0, 1.0),
    )


# The audit ------------------------------------------------------------------------------------------------------------


def _bounds_by(method: str, delta: float) -> Lower:
    if method == "f_dp":
        return partial(f_dp_lower_bounds, approx(delta))
    bounds = {"best": best_lower_bounds, "binomial": lower_bounds, "exact": exact_lower_bounds}[method]
    return lambda m, r, v, p: bounds(m, r, v, delta, p)


def one_run(
    guesses: GuessTable | Guesses | ErrorCounts,
    delta: float,
    *,
    confidence: float = 0.95,
    method: Formula = "best",
    choice: NumberOfGuesses | int | None = None,
    sides: Sides = "both",
    seed: int = 0,
) -> LowerBound:
    """Lower bound on ε at the given δ, from the guesses made on one trained model.

    `method` is one of "best", "binomial", "f_dp" and "exact", see above. Error counts, of the design "one_run", are
    taken as one row, all guesses together. From a table of scores the guesses are made by `attacks.guess` with
    `choice`, `sides` and `seed`: by default the best of several numbers, corrected for their number.

    >>> guesses = bdp.Guesses(examples=1000, made=200, correct=150)
    >>> round(bdp.audits.one_run(guesses, 1e-5).value, 4)
    0.82
    >>> round(bdp.audits.one_run(guesses, 1e-5, method="exact").value, 4)
    0.8211
    """
    made = as_guesses(guesses, choice, sides, seed)
    delta = one_number("delta", delta, 0.0, 1.0)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    if not is_one_of(method, _METHODS):
        raise InputError(f"method must be one of {', '.join(_METHODS)}, not {show(method)}")
    coins, found = under_coins(made), choose(made, 1 - confidence, _bounds_by(method, delta))
    return LowerBound(
        parameter="epsilon",
        value=found.value,
        confidence=confidence,
        assumptions=(*ASSUMPTIONS, *coins.assumptions, found.assumption, f"δ = {delta:g} is known."),
        provenance=Provenance(
            method="one_run",
            digest=made.digest(),
            known={"delta": delta},
            priors={},
            settings={"confidence": confidence, "method": method, "rule": made.rule}
            | guessing_settings(guesses, sides, seed),
        ),
        invalid=joined(coins.invalid, found.invalid),
        warnings=cautions(made),
        details={**found.counts, "level": found.level, **coins.details},
        at=lambda d: one_run(guesses, d, confidence=confidence, method=method, choice=choice, sides=sides, seed=seed),
    )


AUDITS = (
    Audit(
        name="one-run",
        needs=("guesses", "coins"),
        run=lambda counts, given: one_run(given.guessed(counts), given.delta, confidence=given.confidence),
        assumptions=ASSUMPTIONS,
        scope="whole",
    ),
    Audit(
        name="one-run-exact",
        needs=("guesses", "coins"),
        run=lambda counts, given: one_run(
            given.guessed(counts), given.delta, confidence=given.confidence, method="exact"
        ),
        assumptions=ASSUMPTIONS,
        scope="whole",
    ),
)
call_module_as(one_run)
