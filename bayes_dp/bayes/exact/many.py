"""The exact posteriors of many data sets at once, for simulations.

That of a data set is p(ε, s | X, Y) ∝ p(ε) p(s) Π_i L_i(ε, s) over its bases i. The corner probabilities of which L_i
is made are tabulated once for all data sets that have such a base, in batches of hundreds of bases, whose cost a base
is a fraction of that alone; and the priors are looked at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.exact.posterior import ExactPosterior, Shared, check_challenges, corner_table
from bayes_dp.bayes.grid.axis import axis_of
from bayes_dp.bayes.question import Question, Strength, ask, priors_for
from bayes_dp.checks import InputError, one_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.workers import check_jobs, pool

__all__ = ["estimate_many"]

_BASES = 400  # of which the tables are held at once, some 70 MB


def estimate_many(
    counts: Iterable[ErrorCounts],
    delta: float,
    *,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
    n_jobs: int | None = None,
) -> list[ExactPosterior]:
    """The posteriors of ε for many data sets, those that `estimate` gives for each, in a fraction of the time.

    For simulations: how wide the intervals of an experiment will be, how they depend on what is not known, how often
    they cover the truth. The data sets may have different numbers of bases.

    Parameters
    ----------
    counts : the data sets, each the error counts of its challenge bases.
    delta, prior_epsilon, prior_strength, strength : as for `estimate`, the same for all.
    n_jobs : of joblib: by default one process, or the active backend's (`joblib.parallel_config`).

    >>> sets = [bdp.ErrorCounts(errors, 100, 2 * errors, 100) for errors in (5, 10, 15)]
    >>> for post in bdp.estimate_many(sets, delta=1e-3):
    ...     print("{:.3f} to {:.3f}".format(*post.interval()))
    2.543 to 6.302
    1.842 to 5.586
    1.345 to 5.028
    """
    from joblib import delayed

    check_jobs(n_jobs)
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    strength, priors = priors_for("epsilon", prior_epsilon, strength, prior_strength)
    beliefs = {"prior": priors["epsilon"], "prior_strength": priors.get("strength"), "strength": strength}
    questions = _questions(counts, delta, beliefs)
    done = pool(n_jobs)(delayed(_posteriors)(batch) for batch in _batches(questions))
    return [post for batch in done for post in batch]


def _questions(counts: Iterable[ErrorCounts], delta: float, beliefs: dict[str, Any]) -> list[Question]:
    if isinstance(counts, ErrorCounts) or not isinstance(counts, Iterable):
        raise InputError(f"counts must be a sequence of ErrorCounts, one of each data set, not {type(counts).__name__}")
    found = []
    for i, each in enumerate(counts):
        try:
            found.append(ask(each, "epsilon", delta, **beliefs))
            check_challenges(each)
        except InputError as error:
            raise InputError(f"counts[{i}]: {error}") from None
    return found


def _batches(questions: list[Question]) -> Iterator[list[Question]]:
    sizes = np.cumsum([len(question.counts) for question in questions])
    for batch in np.unique(sizes // _BASES):
        yield [questions[i] for i in np.flatnonzero(sizes // _BASES == batch)]


def _posteriors(questions: list[Question]) -> list[ExactPosterior]:
    axes = [axis_of(name, prior) for name, prior in questions[0].priors.items()]
    columns = ("false_positives", "negatives", "false_negatives", "positives")
    likelihood = MarginalLikelihood(
        *(np.concatenate([getattr(question.counts, name) for question in questions]) for name in columns)
    )
    corners, first, found = corner_table(questions[0], likelihood, axes[0]), 0, []
    for question in questions:
        bases = np.arange(first, first + len(question.counts))
        first += len(bases)
        mine, which = likelihood.part(bases)
        shared = Shared(axes, mine, None if corners is None else corners.part(mine, which))
        found.append(ExactPosterior(question, shared=shared))
    return found
