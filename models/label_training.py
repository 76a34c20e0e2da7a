"""Trainings whose labels a mechanism of `models.label_dp` keeps private, by any learner.

    LP-1ST                    randomized response, then a training on what it put out (Ghazi et al. 2021)
    LP-1ST, corrected         the same, and the noise taken out of what the model says (as in Wu et al. 2023, in kind)
    LP-1ST, prior             randomized response inside the classes that a public model finds probable
    LP-2ST                    LP-1ST on one half, whose model is the prior for the other half; a training on both
    ALIBI                     Laplace noise on one-hot labels, and a training on the posterior (Malek et al. 2021)
    PATE, Laplace / Gaussian  teachers on disjoint parts vote on public examples, on which a student is trained

Each uses every label once, or counts how often, so that its ε is that of `models.label_dp`. The prior, and the public
examples of PATE, must not depend on these labels.

A learner is a function of features (n, d) and targets (n, k), probabilities of the classes, to a function that predicts
such for features: `by_scikit_learn` makes one of a classifier, `models.net.learner` a network.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bayes_dp.checks import InputError, show
from bayes_dp.support.arrays import Floats, Ints
from models.label_dp import alibi, corrected, gaussian_scale, laplace_scale, noisy_votes, randomized_response

__all__ = ["MECHANISMS", "Learner", "Predict", "Task", "by_scikit_learn", "one_hot", "pate"]

Predict = Callable[[Floats], Floats]
Learner = Callable[[Floats, Floats], Predict]

_DELTA = 1e-5  # of Gaussian votes


@dataclass(frozen=True)
class Task:
    """Features and labels of the training, the public prior at these features, public examples, and who learns."""

    x: Floats  # (n, d)
    y: Ints  # (n,)
    prior: Floats  # (n, k)
    public: Floats  # (queries, d)
    learner: Learner
    teacher: Learner
    teachers: int = 50

    @property
    def classes(self) -> int:
        return self.prior.shape[1]

    @property
    def no_prior(self) -> Floats:
        return np.full_like(self.prior, 1 / self.classes)


def one_hot(labels: Ints, classes: int) -> Floats:
    return np.eye(classes)[labels]


def by_scikit_learn(make: Callable[[], Any]) -> Learner:
    """A learner from a function that makes a classifier. Targets between 0 and 1 are rows of several classes, by their
    `sample_weight`."""

    def fit(x: Floats, targets: Floats) -> Predict:
        model, k = make(), targets.shape[1]
        if len(there := np.flatnonzero(targets.any(axis=0))) == 1:  # which many classifiers refuse
            return lambda x: np.tile(one_hot(there, k), (len(x), 1))
        if (targets.max(axis=1) == 1).all():
            model.fit(x, targets.argmax(axis=1))
        else:
            rows, classes = np.nonzero(targets > 0)
            try:
                model.fit(x[rows], classes, sample_weight=targets[rows, classes])
            except TypeError as error:
                raise InputError(
                    f"soft labels need a classifier whose fit takes sample_weight, which {show(model)} does not"
                ) from error

        def predict(x: Floats) -> Floats:
            found = np.zeros((len(x), k))
            found[:, np.asarray(model.classes_, dtype=int)] = model.predict_proba(x)
            return found

        return predict

    return fit


def _one_stage(task: Task, epsilon: float, seed: int) -> Predict:
    out, _ = randomized_response(task.y, task.no_prior, epsilon, seed)
    return task.learner(task.x, one_hot(out, task.classes))


def _corrected(task: Task, epsilon: float, seed: int) -> Predict:
    predict = _one_stage(task, epsilon, seed)
    return lambda x: corrected(predict(x), epsilon)


def _with_prior(task: Task, epsilon: float, seed: int) -> Predict:
    out, _ = randomized_response(task.y, task.prior, epsilon, seed)
    return task.learner(task.x, one_hot(out, task.classes))


def _two_stages(task: Task, epsilon: float, seed: int) -> Predict:
    half = len(task.y) // 2
    first, _ = randomized_response(task.y[:half], task.no_prior[:half], epsilon, seed)
    prior = task.learner(task.x[:half], one_hot(first, task.classes))(task.x[half:])
    second, _ = randomized_response(task.y[half:], prior, epsilon, seed + 1)
    return task.learner(task.x, one_hot(np.concatenate([first, second]), task.classes))


def _alibi(task: Task, epsilon: float, seed: int) -> Predict:
    return task.learner(task.x, alibi(task.y, task.prior, epsilon, seed))


def pate(task: Task, epsilon: float, seed: int, noise: str = "laplace") -> Predict:
    """Teachers on disjoint parts, noisy votes on the public examples, a student on these."""
    rng = np.random.default_rng(seed)
    votes = np.zeros((len(task.public), task.classes), dtype=np.int64)
    for part in np.array_split(rng.permutation(len(task.y)), task.teachers):
        said = task.teacher(task.x[part], one_hot(task.y[part], task.classes))(task.public).argmax(axis=1)
        votes[np.arange(len(said)), said] += 1
    queries = len(task.public)
    scale = laplace_scale(epsilon, queries) if noise == "laplace" else gaussian_scale(epsilon, queries, _DELTA)
    return task.learner(task.public, one_hot(noisy_votes(votes, scale, noise, seed), task.classes))


MECHANISMS: dict[str, Callable[[Task, float, int], Predict]] = {
    "LP-1ST": _one_stage,
    "LP-1ST, corrected": _corrected,
    "LP-1ST, prior": _with_prior,
    "LP-2ST": _two_stages,
    "ALIBI": _alibi,
    "PATE, Laplace": pate,
    "PATE, Gaussian": partial(pate, noise="gaussian"),
}
