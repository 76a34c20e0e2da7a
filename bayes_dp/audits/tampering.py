"""Tampered guesses (Theorem 5.1 of Zero-Run): a likely one is kept by a coin, so that fair-coin bounds hold again.

The lean of a guess T ∈ {−1, 1} on an example of propensity π is T·logit π, positive where the guess goes with the
propensity. Without the model it is right with chance sigmoid(lean), and under ε-DP with at most sigmoid(ε + lean). It
is kept with a chance b (Ceberé, Even, Bleistein, Bellet, "Privacy auditing with zero (0) training run", Theorem 5.1),

    for (ε, δ)-DP   b = (1 + e^{−ε−lean})/(1 + e^{−ε})     so that b sigmoid(ε + lean) = sigmoid(ε),
    for f-DP        b = e^{−lean},

and b = 1 where the lean is negative. The paper has |logit π| for the lean, as if every guess went with its propensity;
that is valid too, and never tighter. The kept guess is right with chance sigmoid(ε) at most, as it would be with a fair
coin. Of m examples r = `made` were guessed, and v kept guesses are right. With Z ~ Binomial(r, sigmoid(ε)),

    P[kept and right ≥ v] ≤ P[Z ≥ v] + mδ (1 + e^{−ε}) Σ_{i=1}^{v} P[Z = v − i]/i        (Theorem 5.1.1)

for (ε, δ)-DP, and the recursion of `f_dp` holds for f-DP (Theorem 5.1.2). In both r counts the guesses *before*
tampering. With δ > 0 the sum above, like that of `one_run`, is below the largest chance possible for some v below the
mode of Z. In all cases tried it was above 6/7 there.

Why the direction may be used. For (ε, δ)-DP the proof asks only that b times the chance of a right guess is at most
sigmoid(γ), for the privacy loss γ = ε and for all larger ones. This holds where b is as above, and where the lean is
negative and b = 1. For f-DP let A be an event of the model's outputs and of the other guesses, and π ≥ ½; then

    P[A, kept, right] = (1 − π)(P[A, T = 1 | S = 1] + P[A, T = −1 | S = −1]) ≤ (1 − π)(f̄(x) + f̄(y)) ≤ f̄((1 − π)(x + y))

with x = P[A, T = 1 | S = −1] and y = P[A, T = −1 | S = 1], since f̄ = 1 − f is concave, f̄(0) ≥ 0 and 2(1 − π) ≤ 1. The
last argument is at most P[A, wrong] = (1 − π)x + πy. The rest is as in the paper, and π < ½ is the mirror image.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.audits.one_run import binomial_tail
from bayes_dp.audits.one_run import lower_bounds as pure_lower_bounds
from bayes_dp.audits.poisson_binomial import tail, window
from bayes_dp.audits.rejected import largest_rejected, trials
from bayes_dp.checks import numbers, one_number
from bayes_dp.support.arrays import Floats, Indices

__all__ = [
    "expected_p_value",
    "keep_for_epsilon",
    "keep_for_f",
    "lean",
    "lower_bounds",
    "p_value",
    "slack",
    "switched_on",
]


_WINDOW = 40.0  # probabilities of Z below e^{−40} are left out of the sum
_PRECISION = 1e-12
_BLOCK = 1_000_000  # numbers at a time


# Chances of being kept ------------------------------------------------------------------------------------------------


def lean(propensity: ArrayLike, member_called: ArrayLike, directional: bool = True) -> Floats:
    """T·logit π, or |logit π| if not `directional`; T is 1 where a member was called, else −1. The arguments broadcast.

    Infinite where the propensity is 0 or 1.
    """
    logit = special.logit(numbers("propensity", propensity, 0.0, 1.0))
    called = np.asarray(member_called, dtype=np.bool_)
    return np.asarray(np.where(called, logit, -logit) if directional else np.abs(logit) + np.zeros(called.shape))[()]


def keep_for_epsilon(lean: ArrayLike, epsilon: ArrayLike) -> Floats:
    """b = (1 + e^{−ε−lean})/(1 + e^{−ε}), or 1 where the lean is negative."""
    e = np.asarray(epsilon, dtype=np.float64)
    return np.minimum(special.expit(e) + special.expit(-e) * keep_for_f(lean), 1.0)


def keep_for_f(lean: ArrayLike) -> Floats:
    """b = e^{−lean}, or 1 where the lean is negative."""
    return np.exp(-np.maximum(lean, 0.0))


def switched_on(lean: Floats, uniform: Floats) -> Floats:
    """The ε ≥ 0 from which on a guess is kept, uniform < b(ε): b grows from (1 + e^{−lean})/2 to 1."""
    never = keep_for_f(lean)  # the limit of b for ε → −∞
    with np.errstate(divide="ignore", invalid="ignore"):
        late = np.log(uniform - never) - np.log1p(-uniform)
    return np.where(uniform > (1 + never) / 2, late, 0.0)


# The p-value of (ε, δ)-DP ---------------------------------------------------------------------------------------------


def p_value(examples: ArrayLike, made: ArrayLike, correct: ArrayLike, epsilon: ArrayLike, delta: ArrayLike) -> Floats:
    """The p-value of Theorem 5.1.1, at most 1; `correct` counts the right guesses that were kept. The arguments
    broadcast."""
    e = numbers("epsilon", epsilon, 0.0, math.inf, high_open=True)
    given = (*trials(examples, made, correct), e, numbers("delta", delta, 0.0, 1.0))
    arrays = np.broadcast_arrays(*given)
    return _p_value(*(values.ravel() for values in arrays)).reshape(arrays[0].shape)[()]


def _p_value(m: Floats, r: Floats, v: Floats, epsilon: Floats, delta: Floats) -> Floats:
    """The same of arrays (k,)."""
    plain = np.where(v > 0, np.minimum(binomial_tail(np.maximum(r, 1.0), np.maximum(v, 1.0), epsilon), 1.0), 1.0)
    if not delta.any():
        return plain
    return np.minimum(plain + m * delta * (1 + np.exp(-epsilon)) * _slack(r, v, epsilon), 1.0)


def slack(made: ArrayLike, correct: ArrayLike, epsilon: ArrayLike) -> Floats:
    """α = Σ_{i=1}^{v} P[Z = v − i]/i for Z ~ Binomial(made, sigmoid ε), v = `correct`; the arguments broadcast."""
    e = numbers("epsilon", epsilon, 0.0, math.inf, high_open=True)
    _, r, v, e = np.broadcast_arrays(*trials(made, made, correct), e)
    return _slack(r.ravel(), v.ravel(), e.ravel()).reshape(r.shape)[()]


def _slack(r: Floats, v: Floats, epsilon: Floats) -> Floats:
    """The same of arrays (k,), by blocks."""
    result = np.empty(len(r))
    if len(r):
        width = 2 * int(_WINDOW / 3 + math.sqrt((_WINDOW / 3) ** 2 + _WINDOW * r.max() / 2)) + 2
        step = max(1, _BLOCK // width)
        for i in range(0, len(r), step):
            part = slice(i, i + step)
            result[part] = _slack_of(r[part].astype(np.intp), v[part].astype(np.intp), epsilon[part], width)
    return result


def _slack_of(r: Indices, v: Indices, epsilon: Floats, width: int) -> Floats:
    """The sum over the n = v − i among so many values around the mean of Z, by log-probabilities; all (k,)."""
    n = (r * special.expit(epsilon)).astype(np.intp)[:, None] + np.arange(width) - width // 2
    inside = (n >= 0) & (n < v[:, None])
    n = np.where(inside, n, 0)
    log_chance = n * epsilon[:, None] - _log_factorial(n) - _log_factorial(r[:, None] - n)
    log_chance += (special.gammaln(r + 1.0) - r * np.logaddexp(0.0, epsilon))[:, None]
    return np.sum(np.where(inside, np.exp(log_chance) / (v[:, None] - n + ~inside), 0.0), axis=1)


def _log_factorial(n: Indices) -> Floats:
    """log n!, from a table of the range of n where that is shorter."""
    low, high = int(n.min()), int(n.max())
    if high - low >= n.size:
        return np.asarray(special.gammaln(n + 1.0))
    return np.asarray(special.gammaln(np.arange(low, high + 1) + 1.0)[n - low])


def lower_bounds(examples: ArrayLike, made: ArrayLike, correct: ArrayLike, delta: float, p: ArrayLike) -> Floats:
    """Largest ε with a p-value below p for this number of kept right guesses, 0 if none; all but δ broadcast."""
    level = numbers("p", p, 0.0, 1.0, low_open=True, high_open=True)
    m, r, v, level = np.broadcast_arrays(*trials(examples, made, correct), level)
    shape, (m, r, v, level) = m.shape, (values.ravel() for values in (m, r, v, level))
    delta, pure = one_number("delta", delta, 0.0, 1.0), np.asarray(pure_lower_bounds(m, r, v, 0.0, level))
    charged = np.full(len(m), delta)
    if delta == 0:
        return pure.reshape(shape)[()]

    def margin(epsilon: Floats, i: Indices) -> Floats:
        with np.errstate(divide="ignore"):
            return np.log(level[i]) - np.log(_p_value(m[i], r[i], v[i], epsilon, charged[i]))

    return largest_rejected(margin, pure, _PRECISION).reshape(shape)[()]


# Without the coins ----------------------------------------------------------------------------------------------------


def expected_p_value(examples: int, made: int, keep: ArrayLike, epsilon: float, delta: float = 0.0) -> float:
    """The mean p-value over the coins that keep guesses, for the b of the right guesses, (n,); twice it is a p-value.

    Let V of the n right guesses be kept. Then P[Z ≥ V] = P[Z + (n − V) ≥ n] is a tail of the Poisson binomial law of
    Y = Z + (n − V), and the mean of Σ P[Z = V − i]/i is Σ_{y < n} P[Y = y]/(n − y). Values above 1 are not cut before
    the mean is taken, but after.
    """
    lost = 1 - numbers("keep", keep, 0.0, 1.0)
    m, r, n = (int(value) for value in trials(examples, made, len(lost)))
    epsilon = one_number("epsilon", epsilon, 0.0, math.inf, high_open=True)
    chances = np.concatenate([np.full(r, special.expit(epsilon)), lost])
    mean = float(tail(chances, n))
    if delta > 0:
        low, law = window(chances)
        below = law[: max(0, n - low)]
        mean += m * delta * (1 + math.exp(-epsilon)) * float(np.sum(below / (n - low - np.arange(len(below)))))
    return min(mean, 1.0)
