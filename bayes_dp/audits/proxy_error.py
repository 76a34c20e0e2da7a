"""What labels say of the error τ of their proxy, the total variation between their law and the proxy's: a lower bound.

For the share S/n of examples with some property of features and label, Hoeffding (1956) bounds the tails of S by those
of a binomial law, so that τ ≥ L − Σ q_i/n, where L is Clopper-Pearson's end of S/n and q_i the proxy's probability of
the property; and the same for the absence of it. The properties are fixed: that the label is the proxy's likeliest,
that it is improbable, that it is impossible, and each of the classes.

With features there is one more, a classifier two-sample test: on one half of the examples a classifier learns to tell
the labels from labels that the proxy draws, and the property is, on the other half, that it takes the label for a true
one. It has half the error probability.

So τ is at least that. Nothing here bounds it from above: a proxy can be wrong in ways that no classifier of so few
examples finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.checks import InputError, numbers, one_number, seed_of, show
from bayes_dp.data.class_probabilities import classes, drawn, probabilities
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.support.callable_module import call_module_as

__all__ = ["proxy_error"]

_COUNTED = 10  # classes, the most frequent ones, whose numbers are compared with the proxy's
_IMPROBABLE = 0.01


def proxy_error(
    labels: ArrayLike,
    proxy: ArrayLike,
    confidence: float = 0.95,
    *,
    features: ArrayLike | None = None,
    estimator: Any = None,
    seed: int = 0,
) -> float:
    """A lower bound on τ, the total variation between the laws of labels and of the proxy; 0 if nothing speaks for any.

    Parameters
    ----------
    labels, proxy : classes (n,), whole numbers from 0, and probabilities of them, (n, k).
    features : what is known of the examples besides, (n, d), for a classifier two-sample test.
    estimator : a scikit-learn classifier for it, with `fit` and `predict_proba`; by default gradient boosting.

    >>> round(bdp.audits.proxy_error(np.ones(1000, int), np.full((1000, 2), 0.5)), 3)
    0.495
    >>> x = np.random.default_rng(0).normal(size=(2000, 1))
    >>> labels, proxy = (x[:, 0] > 0).astype(int), np.full((2000, 2), 0.5)
    >>> bdp.audits.proxy_error(labels, proxy) < 0.05  # as many of both classes as the proxy says
    True
    >>> round(bdp.audits.proxy_error(labels, proxy, features=x), 3)  # but they are no coins
    0.496
    """
    q = probabilities("proxy", proxy)
    y = classes(labels, q.shape)
    p = 1 - one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    seed = seed_of(seed)
    properties = list(_properties(y, q))
    if features is None:
        if estimator is not None:
            raise InputError("an estimator needs features")
        return max(_beyond(count, len(y), expected, p / len(properties)) for count, expected in properties)
    fixed = max(_beyond(count, len(y), expected, p / 2 / len(properties)) for count, expected in properties)
    return max(fixed, _beyond(*_learned(_features(features, len(y)), y, q, estimator, seed), p / 2))


def _beyond(count: int, n: int, expected: float, p: float) -> float:
    """How far the chance of a property that `count` of n have is from the expected one at least."""
    low = special.betaincinv(count, n - count + 1, p / 2) if count else 0.0
    high = special.betaincinv(count + 1, n - count, 1 - p / 2) if count < n else 1.0
    return max(0.0, float(low - expected), float(expected - high))


def _properties(y: Ints, q: Floats) -> Iterator[tuple[int, float]]:
    """Of how many examples the label has a property, and the share that the proxy expects."""
    own = np.take_along_axis(q, y[:, None], 1)[:, 0]
    most = q.argmax(axis=1)
    yield int((y == most).sum()), float(q.max(axis=1).mean())
    yield int((own == 0).sum()), 0.0
    yield int((own < _IMPROBABLE).sum()), float(np.where(q < _IMPROBABLE, q, 0.0).sum(axis=1).mean())
    share = q.mean(axis=0)
    for label in np.argsort(-share, kind="stable")[:_COUNTED]:
        yield int((y == label).sum()), float(share[label])


def _learned(x: Floats, y: Ints, q: Floats, estimator: Any, seed: int) -> tuple[int, int, float]:
    """How many of how many labels the classifier takes for true, and the share that the proxy expects of that."""
    n, k = q.shape
    if n < 4:
        return 0, 1, 0.0
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(7,)))
    order = rng.permutation(n)
    train, test = order[: n // 2], order[n // 2 :]

    def described(rows: Ints, labels: Ints) -> Floats:
        own = np.take_along_axis(q[rows], labels[:, None], 1)
        return np.column_stack([x[rows], own, q[rows], np.eye(k)[labels]])

    shown = np.concatenate([described(train, y[train]), described(train, drawn(q[train], rng))])
    model = _classifier(estimator, seed).fit(shown, np.repeat([1, 0], len(train)))
    true = np.empty((len(test), k), dtype=bool)
    for label in range(k):
        said = model.predict_proba(described(test, np.full(len(test), label)))
        true[:, label] = said[:, 1] > 0.5
    count = int(np.take_along_axis(true, y[test][:, None], 1).sum())
    return count, len(test), float((true * q[test]).sum(axis=1).mean())


def _classifier(estimator: Any, seed: int) -> Any:
    if estimator is None:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(max_iter=50, random_state=seed)
    if isinstance(estimator, type) or not all(callable(getattr(estimator, m, None)) for m in ("fit", "predict_proba")):
        raise InputError(f"estimator must be a classifier with fit and predict_proba, not {show(estimator)}")
    from sklearn.base import clone

    try:
        return clone(estimator)
    except TypeError as error:
        raise InputError(
            f"estimator must be a scikit-learn classifier, which can be cloned, not {show(estimator)}"
        ) from error


def _features(given: ArrayLike, n: int) -> Floats:
    found = numbers("features", given, low_open=True, high_open=True)
    if found.ndim != 2 or len(found) != n:
        raise InputError(f"features must be of the shape ({n}, features), not {found.shape}")
    return found


call_module_as(proxy_error)
