"""The conditional zero-run bounds (Theorems D.1 and 5.1 of Zero-Run): each guess is judged by its own propensity.

There are two forms. With the leans and the tampering of `tampering`:

    untampered   under ε-DP at most as many guesses are right as of independent ones with chances sigmoid(ε + lean), a
                 tail of the Poisson binomial law (Theorem D.1 of Zero-Run)
    tampered     guesses are kept by coins; then the p-value of Theorem 5.1.1 for (ε, δ)-DP, the recursion of `f_dp` for
                 Gaussian DP

The coins of the tampered form are uniform numbers, one for each guess and the same for all ε: a guess is kept where its
number is below b(ε). For given numbers the count v(ε) of kept right guesses grows with ε, in steps, and so the p-value
jumps down here and there while it grows in between. The rejected ε need not be an interval, and the largest of them is
*not* a lower bound: that one of the many ε above the truth is rejected is more likely than p. What holds is the first ε
that is not rejected, since the truth is rejected if it is below. Let e(v) be the largest ε rejected by v kept right
guesses. As guesses are switched on at ε_(1) ≤ ε_(2) ≤ …, the first ε that is not rejected is e(v) with the least v for
which e(v) < ε_(v+1). It is found in leaps: where e(v) is not below ε_(v+1), the next v to try is the count at e(v).
None between the two will do, since e does not fall with v.

Without coins there are two ways to a bound. Twice the mean of the p-value over the coins is a p-value, which serves for
ε. And a test that rejects where at least half of all coins make the test at p/2 reject has the error probability p, by
Markov's inequality. That serves for μ, where the count of kept guesses does not depend on μ: the bound is that of the
median count.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.audits.f_dp import GAUSSIAN
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.one_run import lower_bounds as one_run_lower_bounds
from bayes_dp.audits.poisson_binomial import Tails, tail, window
from bayes_dp.audits.rejected import largest_rejected
from bayes_dp.audits.tampering import expected_p_value, keep_for_epsilon, keep_for_f, lean, lower_bounds, switched_on
from bayes_dp.checks import InputError, numbers, one_number, show
from bayes_dp.data.table import whole_numbers
from bayes_dp.support.arrays import Bools, Floats, Indices, Ints

__all__ = [
    "Form",
    "Parameter",
    "bounds_for_propensities",
    "chosen_form",
    "expected_bound",
    "median_bound",
    "median_kept",
    "tampered_bounds",
    "tampered_mu_bounds",
    "untampered_bounds",
    "untampered_p_value",
]

Parameter = Literal["epsilon", "mu"]
Form = Literal["untampered", "tampered"]


_PRECISION = 1e-12
_EXPECTED_PRECISION = 1e-9


def bounds_for_propensities(
    propensity: ArrayLike,
    member_called: ArrayLike,
    correct: ArrayLike,
    uniform: ArrayLike,
    *,
    examples: int,
    p: float,
    parameter: Parameter = "epsilon",
    delta: float = 0.0,
    form: Form | None = None,
    directional: bool = True,
    cautious: bool = False,
) -> Floats:
    """The lower bounds of one and the same r guesses under K sets of propensities, shape (K,).

    Parameters
    ----------
    propensity : (K, r), or (r,) for one bound; of the guessed examples, strictly between 0 and 1.
    member_called : (r,) truth values: was the example called a member?
    correct : (r,) truth values: was that right?
    uniform : (r,) numbers in [0, 1), one for each guess, the same for all K; only the tampered form uses them.
    examples : m, all examples of the audit, guessed or not.
    p : error probability.
    parameter : "epsilon" (at `delta`) or "mu" of Gaussian DP (`delta` is then not used).
    form : "untampered" (ε at δ = 0 only) or "tampered"; by default untampered where it can be.
    directional : whether a guess against its propensity goes without a discount.
    cautious : whether such a guess is taken as one on a fair coin by the untampered form too, as by the tampered one.
        Then propensities that are more extreme than the true ones do no harm.
    """
    chance = np.atleast_2d(numbers("propensity", propensity, 0.0, 1.0, low_open=True, high_open=True))
    m, r = int(whole_numbers(examples, 0, lambda row: "examples")), chance.shape[1]
    called, right = (
        _truths(name, value, r) for name, value in (("member_called", member_called), ("correct", correct))
    )
    if r > m:
        raise InputError(f"propensity must hold at most examples, {m}, in a row, not {r}")
    p = one_number("p", p, 0.0, 1.0, low_open=True, high_open=True)
    delta = one_number("delta", delta, 0.0, 1.0)
    leans = lean(chance, called, directional)
    if chosen_form(parameter, delta, form) == "untampered":
        if cautious:
            leans = np.maximum(leans, 0.0)
        return untampered_bounds(leans, np.full(len(leans), right.sum()), p)
    coins = numbers("uniform", uniform, 0.0, 1.0, high_open=True)
    if coins.shape != (r,):
        raise InputError(f"uniform must hold {r} numbers, one for each guess, not the shape {coins.shape}")
    leans, coins = leans[:, right], coins[right]  # a wrong guess is not counted, kept or not
    if parameter == "mu":
        return tampered_mu_bounds(m, r, (coins < keep_for_f(leans)).sum(axis=1), p)
    return tampered_bounds(m, r, switched_on(leans, coins), delta, p)


def chosen_form(parameter: Parameter, delta: float, form: Form | None) -> Form:
    """The form, checked; untampered by default where it can be, as it is tighter there."""
    if parameter not in ("epsilon", "mu"):
        raise InputError(f'parameter must be "epsilon" or "mu", not {show(parameter)}')
    if form not in (None, "untampered", "tampered"):
        raise InputError(f'form must be "untampered" or "tampered", not {show(form)}')
    pure = parameter == "epsilon" and delta == 0
    if form == "untampered" and not pure:
        raise InputError("the untampered form is for epsilon at delta = 0 only; the tampered one is for the others")
    return form or ("untampered" if pure else "tampered")


# Untampered -----------------------------------------------------------------------------------------------------------


def untampered_p_value(leans: ArrayLike, correct: ArrayLike, epsilon: float) -> Floats:
    """P[S ≥ correct] with chances sigmoid(ε + lean), for leans (…, r); `correct` broadcasts with their leading axes."""
    epsilon = one_number("epsilon", epsilon, 0.0, math.inf, high_open=True)
    return tail(special.expit(np.asarray(leans, dtype=np.float64) + epsilon), correct)


def untampered_bounds(leans: Floats, correct: Ints, p: float) -> Floats:
    """The largest ε rejected by each of K audits, (K,): leans (K, r) of the guesses, `correct` (K,) of them right."""
    tails = Tails(leans, correct)
    # No chance is below that of the least lean, and with equal chances the bound is the one-run bound less the lean.
    equal = one_run_lower_bounds(leans.shape[1], leans.shape[1], correct, 0.0, p)
    high = np.where(correct > 0, equal - leans.min(axis=1, initial=np.inf), 0.0)

    def margin(epsilon: Floats, i: Indices) -> Floats:
        return math.log(p) - tails.log_at(epsilon, i)

    return largest_rejected(margin, np.maximum(high, 0.0) * (1 + 1e-9), _PRECISION)


# Tampered -------------------------------------------------------------------------------------------------------------


def tampered_bounds(m: int, r: int, steps: Floats, delta: float, p: float) -> Floats:
    """The first ε that is not rejected by each of K audits, (K,), by the docstring's rule.

    `steps` (K, n) are the ε from which on each right guess is kept; wrong ones may stand among them as infinities.
    """
    kept = (steps == 0).sum(axis=1)
    bounds, known = np.empty(len(steps)), np.full(steps.shape[1] + 1, np.nan)  # e(v)
    rows = np.arange(len(steps))  # without a bound so far
    while len(rows):
        asked = np.unique(kept[rows])
        asked = asked[np.isnan(known[asked])]
        known[asked] = lower_bounds(m, r, asked, delta, p)
        bounds[rows] = known[kept[rows]]
        at_bound = (steps[rows] <= bounds[rows, None]).sum(axis=1)
        more = at_bound > kept[rows]
        rows = rows[more]
        kept[rows] = at_bound[more]
    return bounds


def tampered_mu_bounds(m: int, r: int, kept: Ints, p: float) -> Floats:
    """The largest μ rejected by each of K audits with so many kept right guesses, (K,): one recursion per number."""
    numbers_kept, place = np.unique(kept, return_inverse=True)
    return np.atleast_1d(f_dp_lower_bounds(GAUSSIAN, m, r, numbers_kept, p))[place]


# Without coins --------------------------------------------------------------------------------------------------------


def expected_bound(m: int, r: int, leans: Floats, delta: float, p: float) -> float:
    """The bound on ε by twice the mean p-value, for the leans of the right guesses, shape (n,)."""

    def margin(x: Floats, _: Indices) -> Floats:
        means = [expected_p_value(m, r, keep_for_epsilon(leans, e), e, delta) for e in x.tolist()]
        return math.log(p / 2) - np.log(means)

    high = np.array([float(lower_bounds(m, r, len(leans), delta, p / 2))])  # as if all were kept
    return float(largest_rejected(margin, high, _EXPECTED_PRECISION)[0])


def median_kept(leans: Floats) -> int:
    """The largest count that at least half of all coins reach, for the f-DP tampering of right guesses, leans (n,)."""
    low, law = window(keep_for_f(leans))
    above = np.cumsum(law[::-1])[::-1]
    return low + int(np.flatnonzero(above >= 0.5)[-1])


def median_bound(m: int, r: int, leans: Floats, p: float) -> float:
    """The bound on μ by the median count of kept guesses at p/2, for the leans of the right guesses, shape (n,)."""
    return float(tampered_mu_bounds(m, r, np.array([median_kept(leans)]), p / 2)[0])


def _truths(name: str, value: ArrayLike, size: int) -> Bools:
    array = np.asarray(value)
    if array.shape != (size,) or array.dtype.kind not in "bui" or not np.isin(array, (0, 1)).all():
        raise InputError(f"{name} must hold {size} truth values, one for each guess")
    return array.astype(np.bool_)
