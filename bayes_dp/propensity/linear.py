"""In what the log-odds of membership are taken to be linear, so that a region for their coefficients can be had.

    default classifier                            the features
    a `LogisticRegression` of scikit-learn        the features
    a `Pipeline` that ends in one                 what its other steps make of the features, fitted without memberships
    any other classifier                          the features and the log-odds that it gives, which were learned

Only the last depends on memberships. A step that cannot be fitted without them, or that was fitted before and is kept
as it is (`FrozenEstimator`), makes a pipeline such a classifier.

Columns are replaced by an orthogonal basis of their span, in which the same log-odds are linear. Else the little that
is taken off the likelihood for large coefficients would rule out the truth where it lies in a small difference of
columns, as with the start and the end of something whose length matters, or with powers of a year.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from bayes_dp.propensity.cross_fitting import Classifier, Logistic, keeps_a_fit, standardised
from bayes_dp.propensity.result import Origin
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.support.estimators import with_states

__all__ = ["Linear", "linear"]


_NONE = 1e-10  # size of a direction, relative to the largest one


@dataclass(frozen=True, eq=False)
class Linear:
    """Columns of the audited examples (n, d), and of those to learn from (N, d), with the memberships of these (N,).

    They are orthogonal over all examples and of unit size, and the last is 1. `of` says what they are, `invalid` why a
    region in them proves nothing.
    """

    audited: Floats
    learned_from: Floats
    member: Bools
    of: str
    invalid: str = ""


def linear(origin: Origin) -> Linear:
    """The columns of learned propensities."""
    task, n = origin.task, origin.task.n
    rows = np.unique(np.concatenate([task.training(target) for target in task.targets]))
    matrix, of = _columns(origin)
    if matrix is not None:
        x = _orthogonal(matrix)
        return Linear(x[:n], x[rows], task.member[rows], of)
    name = origin.learner.name
    x = _orthogonal(np.column_stack([origin.features[:n], special.logit(origin.first.values)]))
    return Linear(
        x, x, task.member[:n], f"the features and the log-odds of {name}",
        f"How far {name} may be from the truth is not known: the bound holds only if the true log-odds are linear in"
        " the features and in the log-odds that it gives.",
    )  # fmt: skip


def _orthogonal(matrix: Floats) -> Floats:
    """A basis of what the columns (N, d) and 1 span: orthogonal, of mean 0 and unit size, and 1 as the last."""
    left, sizes, _ = np.linalg.svd(standardised(matrix)[:, :-1], full_matrices=False)
    kept = left[:, sizes > _NONE * sizes[:1]]  # what is dropped is rounding
    return np.column_stack([math.sqrt(len(kept)) * kept, np.ones(len(kept))])


def _columns(origin: Origin) -> tuple[Floats | None, str]:
    """The matrix (N, d) that a logistic regression gets, and what it is; None if there is none."""
    if isinstance(origin.learner, Logistic):
        return origin.features, "the features"
    assert isinstance(origin.learner, Classifier)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import Pipeline

    steps = origin.learner.estimator
    before: list[Any] = []
    while isinstance(steps, Pipeline):
        before, steps = [*before, *(step for _, step in steps.steps[:-1])], steps.steps[-1][1]
    if not isinstance(steps, LogisticRegression) or any(map(keeps_a_fit, before)):
        return None, ""
    before = [step for step in before if step is not None and step != "passthrough"]
    matrix: Any = origin.features
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit of the propensities had them already
        for step in before:
            try:
                matrix = with_states(step, origin.seed).fit(matrix).transform(matrix)
            except Exception:  # it needs memberships
                return None, ""
    matrix = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix, dtype=np.float64)
    return matrix, "what the logistic regression gets of the features" if before else "the features"
