"""Propensities from features, or as they are given, checked and described.

import bayes_dp as bdp
pi = bdp.propensity.fit(features, member, seed=0)
print(pi)
table = pi.table(score)
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_dp.checks import InputError, numbers, seed_of, show, whole_number
from bayes_dp.propensity.cross_fitting import (
    Calibration,
    Classifier,
    Logistic,
    Task,
    classifier,
    keeps_a_fit,
    task,
)
from bayes_dp.propensity.diagnostics import area_under_curve, diagnose
from bayes_dp.propensity.features import Features, as_features, memberships, unit_codes
from bayes_dp.propensity.result import Origin, Propensity
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.support.workers import one_thread

__all__ = ["fit", "known"]

OVERLAP = 0.01  # rows with a propensity closer to 0 or 1 than this are named
FOLDS = 5
FEW = 20  # members, and non-members, for each feature of a logistic regression; below, a warning
_SHARES_DIFFER = 3.0  # standard errors

ASSUMPTIONS = (
    "Given the features of all examples, each is a member with its propensity, independent of the others.",
    "All that the attack knows of an example and that tells of its membership is in the features, or in the model.",
)
_KEPT = (
    "A part of the estimator was fitted before and stays as it is (FrozenEstimator): if it was fitted on these"
    " examples, the propensity of an example was learned from its own membership too."
)


def fit(
    features: Any,
    member: ArrayLike,
    *,
    estimator: Any = None,
    calibration: Calibration = "platt",
    folds: int = FOLDS,
    categories: Sequence[str] = (),
    groups: ArrayLike | None = None,
    training: tuple[Any, ...] | None = None,
    seed: int = 0,
) -> Propensity:
    """The propensity of each of n examples, from a classifier that was fitted without it (Algorithm 4 of Zero-Run).

    Parameters
    ----------
    features : array (n, d), DataFrame, or path of an .npy, .csv or .parquet file; a DataFrame may have columns of text.
    member : (n,) truth values, or 1 and 0.
    estimator : a scikit-learn classifier, a Pipeline too; it gets the matrix of features and is not changed. By default
        logistic regression with an L2 penalty on standardised features.
    calibration : "platt", "isotonic" or "none", on five inner parts of the rows that the classifier is fitted on.
    folds : number of parts for cross-fitting, dealt at random in equal shares of members and of non-members.
    categories : columns of a DataFrame or file that hold categories, although they are numbers or look like numbers.
    groups : (n,) labels of examples that belong together; one group is never parted.
    training : (features, member) or (features, member, groups) of other examples to learn from, without folds.
    seed : of all draws, the parts and the random states that the estimator leaves open; the same seed gives the same
        propensities.

    >>> rng = np.random.default_rng(0)
    >>> age = rng.normal(size=(2000, 1))
    >>> member = rng.random(2000) < 1 / (1 + np.exp(-age[:, 0]))
    >>> learned = bdp.propensity.fit(age, member)
    >>> print(learned.summary())
    Propensities of 2000 examples, 1013 of them members (propensity)
    AUC          0.743    0.5: the features do not tell members from non-members, 1: they tell all
    ...
    """
    given = as_features(features, categories)
    n = len(given)
    truth, seed = memberships(member, n), seed_of(seed)
    _both(truth, "member")
    folds = whole_number("folds", folds, 2, 100)
    learner = classifier(estimator, calibration)
    every, labels, all_members = given, groups, truth
    warned: list[str] = []
    if training is not None:
        every, all_members, labels = _with_training(given, truth, categories, groups, training)
        warned += _shares(truth, all_members[n:])
    names, matrix = every.matrix()
    root = np.random.SeedSequence(seed)
    split_seed, model_seed = root.spawn(2)
    units = unit_codes(labels, len(every))
    job = task(learner.prepared(matrix), all_members, units, folds, split_seed, None if training is None else n)
    with one_thread():
        first = learner.fit(job, seed=int(model_seed.generate_state(1)[0]))
    fits = len(job.targets)
    warned += tuple(
        f"The classifier {learner.name} {what} ({k} of {fits} fits)." for what, k in first.complaints.items()
    )
    if isinstance(learner, Classifier) and keeps_a_fit(learner.estimator):
        warned.append(_KEPT)
    if isinstance(learner, Logistic):
        warned += _few(job, len(names))
    warned += _overlap(first.values, truth, names, matrix[:n])
    how = (
        f"each by a classifier fitted on the other {folds - 1} of {folds} parts"
        if training is None
        else f"by a classifier fitted on {len(every) - n} other examples"
    )
    learned = f"Propensities were learned by {learner.name}, calibration: {calibration}, {how}."
    settings = {"estimator": learner.name, "calibration": calibration, "seed": seed, "columns": len(names)}
    settings |= {"folds": int(folds)} if training is None else {"training": len(every) - n}
    settings |= {"groups": len(np.unique(units))} if labels is not None else {}
    return Propensity(
        values=first.values,
        member=truth,
        fold=job.fold[:n].copy(),
        diagnostics=diagnose(first.values, truth),
        assumptions=(*ASSUMPTIONS, learned),
        warnings=tuple(warned),
        provenance=Provenance("propensity", _digest(every.digest(), all_members, units), {}, {}, settings),
        origin=Origin(job, learner, first, matrix, seed),
    )


def known(values: ArrayLike, member: ArrayLike) -> Propensity:
    """Propensities that are known, by the way members were chosen, or come from elsewhere; values of shape (n,).

    >>> known = bdp.propensity.known([0.5, 0.3, 0.6, 0.5], [True, True, False, False])
    >>> known.table([1.0, 0.2, 0.7, 0.1])  # scores of an attack, ready for `audits.zero_run`
    GuessTable: 4 examples, 2 members, with propensities
    """
    chances = np.atleast_1d(numbers("values", values, 0.0, 1.0, low_open=True, high_open=True))
    truth = memberships(member, np.size(member))
    _both(truth, "member")
    if np.ndim(values) == 0:
        chances = np.full(len(truth), chances[0])
    if chances.shape != truth.shape:
        raise InputError(f"values must hold one propensity for each of the {len(truth)} examples, not {chances.shape}")
    return Propensity(
        values=chances,
        member=truth,
        fold=np.zeros(len(truth), dtype=np.intp),
        diagnostics=diagnose(chances, truth),
        assumptions=(*ASSUMPTIONS, "The propensities were given, and are taken to be exact."),
        warnings=_overlap(chances, truth, (), None),
        provenance=Provenance("known propensities", _digest("", truth, chances), {}, {}, {}),
    )


def _with_training(
    given: Features, truth: Bools, categories: Sequence[str], groups: Any, training: tuple[Any, ...]
) -> tuple[Features, Bools, Any]:
    """Features, members and groups of the examples and, below them, of the training data."""
    if not isinstance(training, tuple | list) or len(training) not in (2, 3):
        raise InputError("training must be a tuple (features, member) or (features, member, groups)")
    if (groups is None) == (len(training) == 3):
        raise InputError("groups must be given for the examples and for the training data, or for neither")
    others = as_features(training[0], categories)
    members = memberships(training[1], len(others), "training member")
    _both(members, "training member")
    labels = None
    if groups is not None:
        mine, theirs = ([str(label) for label in np.asarray(each).tolist()] for each in (groups, training[2]))
        if shared := sorted(set(mine) & set(theirs)):
            raise InputError(f"the group {show(shared[0])} is among the examples and in the training data too")
        labels = np.array(mine + theirs)
    return given.above(others), np.concatenate([truth, members]), labels


def _both(member: Bools, name: str) -> None:
    if member.all() or not member.any():
        raise InputError(f"{name} must have members and non-members, but all {len(member)} are the same")


def _shares(member: Bools, training: Bools) -> tuple[str, ...]:
    here, there = float(member.mean()), float(training.mean())
    error = (here * (1 - here) / len(member) + there * (1 - there) / len(training)) ** 0.5
    if abs(here - there) <= _SHARES_DIFFER * error:
        return ()
    return (
        f"Of the examples {here:.1%} are members, of the training data {there:.1%}: propensities learned there are"
        " wrong here, unless both were drawn in the same way.",
    )


def _few(job: Task, columns: int) -> tuple[str, ...]:
    """A warning where a fit has few members, or few non-members, for its number of coefficients."""
    sides = [job.member[job.training(target)] for target in job.targets]
    fewest = min(min(int(side.sum()), int((~side).sum())) for side in sides)
    if fewest >= FEW * columns:
        return ()
    return (
        f"Some fit had {fewest} members or non-members for {columns} features; below {FEW} for each, what the features"
        " tell is lost in noise, propensities are too close to the share of members, and bounds too high. The bootstrap"
        " allows for that, and its bound will be low. Take fewer features, such as their principal components, or"
        " more examples.",
    )


def _overlap(values: Floats, member: Bools, names: tuple[str, ...], matrix: Any) -> tuple[str, ...]:
    """A warning that names how many examples have lost overlap; an error if it is lost for all of a side."""
    lost = np.minimum(values, 1 - values) < OVERLAP
    whole = "" if not lost[member].all() else "member" if not lost[~member].all() else "example"
    whole = whole or ("non-member" if lost[~member].all() else "")
    if whole or area_under_curve(values, member) == 1.0:
        what = (
            f"every {whole} has a propensity below {OVERLAP:g} or above {1 - OVERLAP:g}"
            if whole
            else ("every member has a higher propensity than every non-member")
        )
        raise InputError(
            f"members and non-members do not overlap: {what}, so that no audit can tell the model's doing from the"
            f" shift{_culprit(names, matrix, member)}"
        )
    if not lost.any():
        return ()
    return (
        f"{int(lost.sum())} of {len(values)} examples ({int((lost & member).sum())} members) have a propensity below"
        f" {OVERLAP:g} or above {1 - OVERLAP:g}: there is hardly any overlap, and errors of such propensities"
        " weigh most. Leave them out of the audit.",
    )


def _culprit(names: tuple[str, ...], matrix: Any, member: Bools) -> str:
    """The feature that tells them apart best by itself, if it nearly does."""
    if not names:
        return ""
    areas = [area_under_curve(column, member) for column in matrix.T]
    best = int(np.argmax(np.abs(np.array(areas) - 0.5)))
    if max(areas[best], 1 - areas[best]) < 0.95:
        return ""
    return f" (the feature {show(names[best])} alone has an AUC of {max(areas[best], 1 - areas[best]):.3f})"


def _digest(features: str, member: Bools, other: NDArray[Any]) -> str:
    content = hashlib.sha256(features.encode())
    content.update(member.astype("u1").tobytes())
    content.update(np.ascontiguousarray(other).astype("<f8").tobytes())
    return content.hexdigest()
