"""Is the control of an audit of labels able to show the proxy's error? One that knows nothing never has a bound.

The audited model predicts labels by what it learned of all examples, and by what it remembers of each. The control has
to have the first, which the audited labels do not tell from the second. What they do tell is whether the control
predicts them as well as the proxy does: both are models of the same law.
Let q, c be the probabilities that proxy and control give to an example's own label, and f the proxy's mean probability
of that label over all examples. What the proxy knows of the labels is the mean of log q/f. The control is too weak if
its mean of log c/f falls short of that by more than a tenth, and 0.3% of the mean of log 1/f:

    u = 0.9 log(q/f) − log(c/f) − 0.003 log(1/f)   has a mean above 0,

by a t-test at the level 5%, with probabilities of at least 10⁻⁴. A proxy that has seen the labels fails by this too.

A copy of the proxy and a control that says the same of each example are told by their numbers. Of a control that is
given as a likelihood or as a game, not by what it predicts, only one that likes all labels or examples alike is.

Of the audited model it is told if it predicts the labels worse than chance: if the mean of M(x)[y] − Σ_c f_c M(x)[c],
with the frequencies f of the classes, is below 0 by a t-test at 10⁻⁴, as it is where its columns are in another order.
"""

from __future__ import annotations

import numpy as np
from scipy import stats

from bayes_dp.attacks.label_scores import LEAST
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["blind_game", "blind_likelihood", "blind_model", "turned_model"]

_LOST, _LOST_OF_ENTROPY = 0.1, 0.003
_LEVEL = 0.05
_LEVEL_OF_ORDER = 1e-4
_ROUNDED = 5.001e-3  # what numbers may differ by that are the same to two digits


def blind_model(labels: Ints, proxy: Floats, control: Floats) -> str:
    """Why a control, (n, k), cannot show the error of the proxy, a sentence; or nothing.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.uniform(0.1, 0.9, 1000)
    >>> labels, proxy = (rng.random(1000) < p).astype(int), np.column_stack([1 - p, p])
    >>> bdp.audits.label_control.blind_model(labels, proxy, np.full((1000, 2), 0.5))
    'The control says the same of every example: it must be a model that knows their features.'
    >>> other = np.clip(p + rng.normal(0, 0.02, 1000), 0, 1)
    >>> bdp.audits.label_control.blind_model(labels, proxy, np.column_stack([1 - other, other]))
    ''
    """
    if np.abs(control - proxy).max() <= _ROUNDED:
        return "The control says what the proxy says, to two digits: it must be another model."
    if (n := len(labels)) == 1:
        return ""
    if np.ptp(control, axis=0).max() <= _ROUNDED:
        return "The control says the same of every example: it must be a model that knows their features."
    own = labels[:, None]
    q, c = (np.log(np.maximum(np.take_along_axis(p, own, 1)[:, 0], LEAST)) for p in (proxy, control))
    f = np.log(np.maximum(proxy.mean(axis=0), LEAST))[labels]
    short = (1 - _LOST) * (q - f) - (c - f) + _LOST_OF_ENTROPY * f
    if short.mean() <= stats.t.isf(_LEVEL, n - 1) * short.std(ddof=1) / np.sqrt(n):
        return ""
    return (
        "The control predicts the labels worse than the proxy does, by a mean log-likelihood of"
        f" {c.mean():.4g} against {q.mean():.4g} (and {f.mean():.4g} without any features), so that it may not see the"
        " proxy's error; or the proxy has seen the labels."
    )


def blind_likelihood(score: Floats) -> str:
    """The same of a control that is a likelihood, by its score for each label, (n, k), log L − log Σ q L."""
    if np.abs(score).max() <= _ROUNDED:
        return "The control likes all labels of each example alike, so that it cannot see the proxy's error."
    return ""


def blind_game(score: Floats) -> str:
    """The same of a control that is a game, by its scores, (n,)."""
    if len(score) > 1 and np.ptp(score) == 0:
        return "The control gives each example the same score, so that it cannot see the simulator's error."
    return ""


def turned_model(labels: Ints, model: Floats) -> str:
    """What speaks against the audited model's probabilities, (n, k), a sentence; or nothing.

    >>> labels = np.arange(100) % 2
    >>> model = np.where(np.eye(2)[labels] == 1, 0.7, 0.3)
    >>> bdp.audits.label_control.turned_model(labels, model)
    ''
    >>> bdp.audits.label_control.turned_model(labels, model[:, ::-1])
    'The model predicts the labels worse than chance: its columns may be in another order than the classes.'
    """
    n, k = model.shape
    own = np.take_along_axis(model, labels[:, None], 1)[:, 0]
    gain = own - model @ (np.bincount(labels, minlength=k) / n)
    if n == 1 or gain.mean() >= -stats.t.isf(_LEVEL_OF_ORDER, n - 1) * gain.std(ddof=1) / np.sqrt(n):
        return ""
    return "The model predicts the labels worse than chance: its columns may be in another order than the classes."
