"""`gate`: whether a training passes a limit of ε, by the errors of attacks on it. What decides is in `verdict.py`."""

from __future__ import annotations

from typing import Any

from bayes_dp.bayes.estimate import estimate
from bayes_dp.checks import InputError, interval_probability, one_number, seed_of
from bayes_dp.comparison.compare import compare, methods
from bayes_dp.comparison.verdict import Control, Verdict, check_control, judge
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guesses import Guesses

__all__ = ["gate", "valid_bounds"]


def gate(
    counts: ErrorCounts,
    delta: float,
    epsilon: float,
    *,
    prob: float = 0.9,
    control: Control = None,
    seed: int = 0,
    **options: Any,
) -> Verdict:
    """Whether "ε is at most `epsilon`" passed, failed, or is inconclusive, with all reasons.

    Parameters
    ----------
    counts, delta, options : see `estimate`; the options are those of the posterior.
    epsilon : the limit, fixed before the counts were seen.
    prob : the probability of the interval whose upper end may not exceed the limit. Lower bounds have the confidence
        (1 + prob)/2.
    control : counts of the same attack on a training that is known to leak, say without noise: the verdict is "passed"
        only if their own lower bound exceeds the limit. None for no control, which leaves attacks that cannot be
        distinguished from guessing inconclusive. False to accept these, knowingly.
    seed : of all draws; the same seed gives the same verdict.

    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> bdp.gate(counts, 1e-3, 1.0).verdict
    'failed'
    >>> bdp.gate(bdp.ErrorCounts(50, 100, 50, 100), 1e-3, 8.0).verdict  # an attack that guesses would not see a leak
    'inconclusive'
    """
    if not isinstance(counts, ErrorCounts):
        raise InputError(f"counts must be ErrorCounts, not {type(counts).__name__}")
    limit = one_number("epsilon", epsilon, 0.0, high_open=True)
    prob = interval_probability(prob)
    seed = seed_of(seed)
    check_control(control, counts)
    post = estimate(counts, delta, seed=seed, **options)
    bounds = valid_bounds(counts, delta, prob)
    return judge(post, counts, limit, prob, bounds=bounds, control=control, seed=seed)


def valid_bounds(counts: ErrorCounts | Guesses, delta: float, prob: float) -> dict[str, float]:
    """The lower bounds of the registered methods that are valid for these counts, with the confidence (1 + prob)/2."""
    names = [name for name in methods() if not name.startswith("posterior")]
    return compare(counts, delta, (1 + prob) / 2, names=names, per_base=False).bounds()
