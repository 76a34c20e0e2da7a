"""Classifiers of scikit-learn as they are given: what they must have, copies of them, and what they say."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayes_dp.checks import InputError, show
from bayes_dp.support.arrays import Floats

__all__ = ["chances", "check_classifier", "with_states"]


def check_classifier(name: str, estimator: Any) -> None:
    """Refuse what is no classifier that gives probabilities."""
    if isinstance(estimator, type) or not all(hasattr(estimator, each) for each in ("fit", "get_params", "set_params")):
        raise InputError(f"{name} must be a scikit-learn classifier, not {show(estimator)}")
    if not hasattr(estimator, "predict_proba"):
        raise InputError(f"{name} must have predict_proba, which {type(estimator).__name__} has not")


def with_states(estimator: Any, state: int) -> Any:
    """A clone of a scikit-learn estimator, with the random states that the caller left open set."""
    from sklearn.base import clone

    model = clone(estimator)
    keys = [key for key in model.get_params() if key == "random_state" or key.endswith("__random_state")]
    model.set_params(**{key: state for key in sorted(keys) if model.get_params()[key] is None})
    return model


def chances(model: Any, x: Floats, name: str) -> Floats:
    """The probabilities (n,) of the second of two classes, by a fitted classifier that messages call `name`."""
    found = np.asarray(model.predict_proba(x), dtype=np.float64)
    if found.shape != (len(x), 2) or not ((found >= 0) & (found <= 1)).all():
        raise InputError(f"predict_proba of {name} must give two probabilities for each example")
    return found[:, 1]
