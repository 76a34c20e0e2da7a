"""Learning propensities: each fold's examples are judged by a classifier that was fitted without them (Algorithm 4 of
Zero-Run).

The rows of a `Task` lie in folds. For each of its targets, a classifier is fitted on the rows of all other folds and
asked about those of that fold. Cross-fitting has every fold as a target; with separate training data, the examples are
fold 0, the training data fold 1, and 0 is the only target.

A classifier is calibrated on decision values of five inner parts, each judged without itself, as scikit-learn does in
CalibratedClassifierCV(ensemble=False). Examples of one unit share their fold and their inner part.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import special

from bayes_dp.checks import InputError, is_one_of, show
from bayes_dp.propensity import logistic
from bayes_dp.propensity.splits import balanced_parts
from bayes_dp.support.arrays import Bools, Floats, Indices
from bayes_dp.support.estimators import chances, check_classifier, with_states

__all__ = [
    "EDGE",
    "Calibration",
    "Classifier",
    "Fitted",
    "Logistic",
    "Task",
    "classifier",
    "standardised",
    "task",
]

Calibration = Literal["platt", "isotonic", "none"]

INNER = 5
FEWEST = 10  # members, and non-members, of the rows a classifier is fitted on
EDGE = 1e-12  # a propensity lies between this and 1 − this


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from and rows to judge: the arrays have N rows, of which the first n are the audited examples."""

    x: Floats  # (N, d)
    member: Bools
    unit: Indices  # rows of one unit are never parted
    fold: Indices
    inner: Indices
    targets: tuple[int, ...]
    n: int

    def training(self, target: int) -> Indices:
        """The rows that the classifier of a target is fitted on."""
        return np.flatnonzero(self.fold != target)

    def both_sides_in_all(self) -> bool:
        """Whether members and non-members are left in each fit without an inner part."""
        cells = (self.fold * INNER + self.inner) * 2 + self.member
        size = (int(self.fold.max()) + 1, INNER, 2)
        there = np.bincount(cells, minlength=int(np.prod(size))).reshape(size)
        for target in self.targets:
            inside = np.delete(there, target, axis=0).sum(axis=0)  # inner parts × sides
            if not (inside.sum(axis=0) - inside > 0).all():
                return False
        return True


def task(
    x: Floats, member: Bools, unit: Indices, folds: int, seed: np.random.SeedSequence, train_from: int | None = None
) -> Task:
    """Rows with random folds, or with `train_from` the number of the first row that is training data only."""
    rng = np.random.default_rng(seed)
    n = len(x) if train_from is None else train_from
    if train_from is None:
        if (units := len(np.unique(unit))) < folds:
            raise InputError(f"folds must be at most the number of groups, {units}, not {folds}")
        fold, targets = balanced_parts(unit, member, folds, rng), tuple(range(folds))
    else:
        fold, targets = (np.arange(len(x)) >= n).astype(np.intp), (0,)
    inner = np.empty(len(x), dtype=np.intp)
    for rows in (np.flatnonzero(fold == each) for each in range(int(fold.max()) + 1)):
        inner[rows] = balanced_parts(unit[rows], member[rows], INNER, rng)
    found = Task(x, member, unit, fold, inner, targets, n)
    for target in targets:
        rows = found.training(target)
        for side, name in ((member[rows], "members"), (~member[rows], "non-members")):
            if side.sum() < FEWEST:
                raise InputError(
                    f"at least {FEWEST} {name} are needed to learn from, but of the {len(rows)} examples outside"
                    f" fold {target} only {int(side.sum())} are"
                )
    if not found.both_sides_in_all():
        raise InputError("the groups are too large to calibrate on some of them and leave both sides in the others")
    return found


@dataclass(frozen=True, eq=False)
class Fitted:
    """Propensities of the audited examples, (n,), and what the classifiers complained of."""

    values: Floats
    complaints: Counter[str]


def standardised(features: Floats) -> Floats:
    """Columns (N, d) less their mean and of unit size, and a column of 1 for the intercept, (N, d + 1)."""
    exponent = np.frexp(np.abs(features).max(axis=0))[1]
    features = np.ldexp(features, -exponent)  # without rounding; squares of 1e-170 would be 0, of 1e170 infinite
    spread = features.std(axis=0)
    x = (features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.column_stack([x, np.ones(len(x))])


def keeps_a_fit(estimator: Any) -> bool:
    """Whether a part of it stays as it was fitted before, also in a clone, as a `FrozenEstimator` does."""
    from sklearn.base import clone

    parts = [estimator, *estimator.get_params(deep=True).values()] if hasattr(estimator, "get_params") else []
    fitted = [part for part in parts if hasattr(part, "get_params") and not isinstance(part, type)]
    return any(clone(part) is part for part in fitted)


class Logistic:
    """The default: an L2-penalised logistic regression on standardised features, with Platt's calibration."""

    name = "logistic regression (L2, C = 1) on standardised features"

    def __init__(self, calibration: Literal["platt", "none"]) -> None:
        self.calibration = calibration

    def prepared(self, features: Floats) -> Floats:
        """Features (N, d) as `fit` wants them: of unit size, with a column of 1 for the intercept."""
        return standardised(features)

    def fit(self, task: Task, seed: int = 0) -> Fitted:
        """Of each target's examples by a fit on the others; nothing is random, so `seed` is not used."""
        values = np.empty(task.n)
        for target in task.targets:
            rows = task.training(target)
            x, member, inner = task.x[rows], task.member[rows], task.inner[rows]
            beta = logistic.fit(x, member)
            judged = np.flatnonzero(task.fold == target)
            f = task.x[judged] @ beta
            if self.calibration == "platt":
                held_out = np.empty(len(x))
                for part in range(INNER):
                    outside = inner != part
                    held_out[~outside] = x[~outside] @ logistic.fit(x[outside], member[outside], beta)
                slope, intercept = logistic.platt(held_out, member)
                f = slope * f + intercept
            values[judged] = special.expit(f)
        return Fitted(np.clip(values, EDGE, 1 - EDGE), Counter())


class Classifier:
    """Any scikit-learn classifier, with scikit-learn's calibration."""

    def __init__(self, estimator: Any, calibration: Calibration) -> None:
        self.estimator, self.calibration = estimator, calibration
        self.name = type(estimator).__name__

    def prepared(self, features: Floats) -> Floats:
        """Features (N, d) as they are."""
        return features

    def fit(self, task: Task, seed: int = 0) -> Fitted:
        """Like that of `Logistic`; random states that the caller left open are set from `seed`."""
        values, complaints = np.empty(task.n), Counter[str]()
        seeds = np.random.SeedSequence(seed).generate_state(len(task.targets))
        for target, state in zip(task.targets, seeds, strict=True):
            rows = task.training(target)
            model = self._model(task.inner[rows], int(state))
            judged = np.flatnonzero(task.fold == target)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    model.fit(task.x[rows], task.member[rows].astype(np.int64))
                    values[judged] = chances(model, task.x[judged], self.name)
                except InputError:
                    raise
                except Exception as error:  # a classifier may raise anything
                    reason = " ".join(str(error).split())[:200]
                    raise InputError(f"the classifier {self.name} failed: {reason}") from error
            complaints.update({_complaint(each) for each in caught})
        return Fitted(np.clip(values, EDGE, 1 - EDGE), complaints)

    def _model(self, inner: Indices, state: int) -> Any:
        from sklearn.calibration import CalibratedClassifierCV

        model = with_states(self.estimator, state)
        if self.calibration == "none":
            return model
        method = "sigmoid" if self.calibration == "platt" else "isotonic"
        splits = [(np.flatnonzero(inner != part), np.flatnonzero(inner == part)) for part in np.unique(inner)]
        return CalibratedClassifierCV(model, method=method, cv=splits, ensemble=False)


def classifier(estimator: Any, calibration: Calibration) -> Logistic | Classifier:
    """What fits propensities; None stands for logistic regression."""
    if not is_one_of(calibration, ("platt", "isotonic", "none")):
        raise InputError(f"calibration must be 'platt', 'isotonic' or 'none', not {show(calibration)}")
    if estimator is None and calibration != "isotonic":
        return Logistic(calibration)
    if estimator is None:
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return Classifier(make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)), calibration)
    check_classifier("estimator", estimator)
    return Classifier(estimator, calibration)


def _complaint(caught: warnings.WarningMessage) -> str:
    from sklearn.exceptions import ConvergenceWarning

    if issubclass(caught.category, ConvergenceWarning):
        return "did not converge"
    return "warned: " + " ".join(str(caught.message).split())[:160]
