"""The log likelihood of every base at draws of the parameters, with the base's error rates integrated out.

It is exact where the likelihood has a closed form (`exact/marginal.py`), and elsewhere by importance sampling.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayes_dp.bayes.checks.new_bases import strength_of
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.likelihoods.counts import Counts
from bayes_dp.bayes.question import Question
from bayes_dp.support.arrays import Floats

__all__ = ["log_likelihood"]


def log_likelihood(question: Question, draws: Mapping[str, Floats], seed: int = 0) -> Floats:
    """log p(X_i, Y_i | draw) for draws of shape (size,) by parameter name: an array (size, n)."""
    epsilon, delta = question.privacy(draws[question.parameter])
    counts, strength = question.counts, strength_of(question, draws)
    if question.likelihood.closed_form:
        columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
        return MarginalLikelihood(*columns).each(epsilon, delta, strength)
    assert strength is not None, "only a likelihood with a closed form is defined for strength='tight'"

    from bayes_dp.bayes.checks.importance import by_importance  # and JAX

    shared = np.array([draws[name] for name in question.likelihood.shared]).reshape(-1, len(epsilon))
    return by_importance(question.likelihood, Counts.of(counts), epsilon, delta, strength, shared, seed)
