"""`gate`: whether a training passes a limit of ε, by the errors of attacks on it. What decides is in `verdict.py`."""

from __future__ import annotations

from typing import Any

from bayes_dp.attacks.scores import NumberOfGuesses
from bayes_dp.bayes.estimate import estimate
from bayes_dp.checks import interval_probability, one_number, seed_of
from bayes_dp.comparison.compare import compare, counts_and_guesses, methods
from bayes_dp.comparison.control import Control, as_control
from bayes_dp.comparison.verdict import Verdict, judge
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses

__all__ = ["gate", "valid_bounds"]


def gate(
    counts: ErrorCounts | GuessTable | Guesses,
    delta: float,
    epsilon: float,
    *,
    prob: float = 0.9,
    control: Control = None,
    choice: NumberOfGuesses | int | None = None,
    seed: int = 0,
    **options: Any,
) -> Verdict:
    """Whether "ε is at most `epsilon`" passed, failed, or is inconclusive, with all reasons.

    Parameters
    ----------
    counts, delta, options : see `estimate`; the options are those of the posterior. Scores of one model, or guesses
        made from them, are judged as `compare` does, by as many guesses as `choice` says.
    epsilon : the limit, fixed before the counts were seen.
    prob : the probability of the interval whose upper end may not exceed the limit. Lower bounds have the confidence
        (1 + prob)/2.
    control : counts (or scores, if scores are judged) of the same attack on a training that is known to leak, say
        without noise: the verdict is "passed" only if their own lower bound exceeds the limit. None for no control,
        which leaves attacks that cannot be distinguished from guessing inconclusive. False to accept these, knowingly.
    seed : of all draws; the same seed gives the same verdict.

    >>> counts = bdp.ErrorCounts(10, 100, 20, 100)
    >>> bdp.gate(counts, 1e-3, 1.0).verdict
    'failed'
    >>> bdp.gate(bdp.ErrorCounts(50, 100, 50, 100), 1e-3, 8.0).verdict  # an attack that guesses would not see a leak
    'inconclusive'
    """
    limit = one_number("epsilon", epsilon, 0.0, high_open=True)
    prob = interval_probability(prob)
    seed = seed_of(seed)
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    counts, found_in = counts_and_guesses(counts, delta, choice, None)
    positive = as_control(control, counts, found_in, delta, choice)
    evidence = counts if found_in is None else found_in.guesses
    post = estimate(evidence, delta, seed=seed, **options)
    bounds = valid_bounds(evidence, delta, prob)
    return judge(post, counts, limit, prob, bounds=bounds, control=positive, seed=seed)


def valid_bounds(counts: ErrorCounts | Guesses, delta: float, prob: float) -> dict[str, float]:
    """The lower bounds of the registered methods that are valid for these counts, with the confidence (1 + prob)/2."""
    names = [name for name in methods() if not name.startswith("posterior")]
    return compare(counts, delta, (1 + prob) / 2, names=names, per_base=False).bounds()
