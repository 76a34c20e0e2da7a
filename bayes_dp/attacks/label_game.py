"""The observational game about labels: which label was in the training, the one in the data or one drawn by a proxy?

Keep the training as it was. For each of n examples draw a counterfactual label y¹ ~ q(· | x) from the proxy q, and toss
a fair coin. The attacker sees x and either the label of the training or y¹, and says which ("Observational Auditing of
Privacy", Algorithm 2). If the labels of the training came from q as well, then nobody can tell without the model, and
whoever can with it has found a leak: no label has to be changed for that, and all examples take part.

Scores for the label y of an example with features x, of which each is larger the more the label looks like that of the
training, and 0 where it does not tell:

    difference   (M(x)[y] − q(x)[y]) (1 − q(x)[y])^t, with t = 2 as in the paper (6.2)
    log ratio    log M(x)[y] − log q(x)[y], with probabilities of at least 10⁻⁴
    likelihood   log L(x)[y] − log Σ_y' q(x)[y'] L(x)[y'], where L(x)[y] is the chance of what the mechanism put out if
                 the label was y: the best score there is, for mechanisms that are known, such as randomized response

The first two need the probabilities M that the audited model gives. The log ratio orders the strong leaks better, where
the difference is nearly the same for all; the difference is the better one for weak leaks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, one_number, seed_of, show
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["LabelGame", "difference", "likelihood", "log_ratio", "probabilities"]

_LEAST = 1e-4  # probability that a log ratio tells from 0
_OFF = 1e-6  # that probabilities may sum to beside 1


@dataclass(frozen=True, eq=False, repr=False)
class LabelGame:
    """A game that can be played again and again, with new coins and new counterfactual labels each time.

    `labels` has the classes of the training, whole numbers from 0, shape (n,); `proxy` the probabilities q, and `score`
    what the attacker thinks of each label of each example, both of shape (n, k).

    >>> rng = np.random.default_rng(0)
    >>> q = np.full((1000, 2), 0.5)
    >>> labels = rng.integers(0, 2, 1000)
    >>> remembered = np.where(np.eye(2)[labels] == 1, 0.9, 0.1)  # what a model says that has learned them by heart
    >>> game = bdp.attacks.LabelGame(labels, q, remembered - q)
    >>> round(game.play(seed=0).auc().value, 2)  # half of the drawn labels equal the true ones
    0.75
    """

    labels: Ints
    proxy: Floats
    score: Floats

    def __post_init__(self) -> None:
        proxy = probabilities("proxy", self.proxy)
        score = np.array(self.score, dtype=np.float64) if np.shape(self.score) == proxy.shape else None
        if score is None or np.isnan(score).any():
            raise InputError(f"score must be a number for each of the {proxy.shape} probabilities of the proxy")
        object.__setattr__(self, "labels", classes(self.labels, proxy.shape))
        object.__setattr__(self, "proxy", proxy)
        object.__setattr__(self, "score", score)

    def __repr__(self) -> str:
        return "LabelGame: {} examples, {} classes".format(*self.proxy.shape)

    def play(self, seed: int = 0) -> GuessTable:
        """Coins, counterfactual labels, and the score of the label that the attacker is shown; "members" are the
        examples that are shown with the label of the training."""
        rng = np.random.default_rng(seed_of(seed))
        n, k = self.proxy.shape
        member, where = rng.random(n) < 0.5, rng.random(n)
        drawn, below = np.zeros(n, dtype=np.int64), np.zeros(n)
        for label in range(k - 1):
            below += self.proxy[:, label]
            drawn += where >= below
        # rounding may leave a sum of probabilities below 1 without a class of its own
        drawn = np.minimum(drawn, k - 1 - np.argmax(self.proxy[:, ::-1] > 0, axis=1))
        shown = np.where(member, self.labels, drawn)
        return GuessTable(np.take_along_axis(self.score, shown[:, None], 1)[:, 0], member)


def difference(model: ArrayLike, proxy: ArrayLike, power: float = 2.0) -> Floats:
    """(M − q) (1 − q)^t of each label, (n, k)."""
    m, q = _both(model, proxy)
    return np.asarray((m - q) * (1.0 - q) ** one_number("power", power, 0.0))


def log_ratio(model: ArrayLike, proxy: ArrayLike) -> Floats:
    """log M − log q of each label, (n, k)."""
    m, q = _both(model, proxy)
    return np.asarray(np.log(np.maximum(m, _LEAST)) - np.log(np.maximum(q, _LEAST)))


def likelihood(chance: ArrayLike, proxy: ArrayLike) -> Floats:
    """log L − log Σ q L of each label, (n, k)."""
    found, q = numbers("likelihood", chance, 0.0, np.inf, high_open=True), probabilities("proxy", proxy)
    if found.shape != q.shape:
        raise InputError(f"likelihood must have the shape {q.shape} of proxy, not {found.shape}")
    total = (q * found).sum(axis=1)
    if (bad := total <= 0).any():
        raise InputError(f"likelihood[{int(np.argmax(bad))}] must be above 0 for a label that the proxy may draw")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(found) - np.log(total)[:, None])


def probabilities(name: str, given: Any) -> Floats:
    """Probabilities of classes for each example, (n, k) with k of at least 2, whose rows sum to 1."""
    found = numbers(name, given, 0.0, 1.0)
    if found.ndim != 2 or found.shape[1] < 2 or not len(found):
        raise InputError(
            f"{name} must be an array of the probabilities of two or more classes for each example,"
            f" not of the shape {found.shape}"
        )
    total = found.sum(axis=1)
    if (bad := np.abs(total - 1.0) > _OFF).any():
        row = int(np.argmax(bad))
        raise InputError(f"the probabilities of {name}[{row}] must sum to 1, not to {total[row]:g}")
    return found


def classes(given: Any, shape: tuple[int, ...]) -> Ints:
    """Labels as whole numbers from 0 to k − 1, (n,)."""
    n, k = shape
    found = np.asarray(given)
    if found.shape != (n,):
        raise InputError(f"labels must be a class for each of the {n} examples, not of the shape {found.shape}")
    if found.dtype.kind not in "iufb" or (bad := ~np.isin(found, np.arange(k))).any():
        row = 0 if found.dtype.kind not in "iufb" else int(np.argmax(bad))
        raise InputError(f"labels[{row}] must be a whole number from 0 to {k - 1}, not {show(found[row])}")
    return found.astype(np.int64)


def _both(model: ArrayLike, proxy: ArrayLike) -> tuple[Floats, Floats]:
    m, q = probabilities("model", model), probabilities("proxy", proxy)
    if m.shape != q.shape:
        raise InputError(f"model must have the shape {q.shape} of proxy, not {m.shape}")
    return m, q
