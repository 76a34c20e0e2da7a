"""The observational game about labels: which label was in the training, the one in the data or one drawn by a proxy?

Keep the training as it was. For each of n examples draw a counterfactual label y¹ ~ q(· | x) from the proxy q, and toss
a fair coin. The attacker sees x and either the label of the training or y¹, and says which ("Observational Auditing of
Privacy", Algorithm 2). If the labels of the training came from q as well, then nobody can tell without the model, and
whoever can with it has found a leak: no label has to be changed for that, and all examples take part.

Scores for labels, of which each is larger the more a label looks like that of the training, are in
`attacks.label_scores`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayes_dp.checks import InputError, seed_of
from bayes_dp.data.class_probabilities import classes, drawn, probabilities
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["LabelGame"]


@dataclass(frozen=True, eq=False, repr=False)
class LabelGame:
    """A game that can be played again and again, with new coins and new counterfactual labels each time.

    `labels` has the classes of the training, whole numbers from 0, shape (n,); `proxy` the probabilities q, and `score`
    what the attacker thinks of each label of each example, both of shape (n, k).

    >>> rng = np.random.default_rng(0)
    >>> q = np.full((1000, 2), 0.5)
    >>> labels = rng.integers(0, 2, 1000)
    >>> remembered = np.where(np.eye(2)[labels] == 1, 0.9, 0.1)  # what a model says that has learned them by heart
    >>> game = bdp.games.LabelGame(labels, q, remembered - q)
    >>> round(game.play(seed=0).auc().value, 2)  # half of the drawn labels equal the true ones
    0.74
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
        # a stream of its own, because labels that are simulated with the same seed must not depend on the coins
        rng = np.random.default_rng(np.random.SeedSequence(seed_of(seed), spawn_key=(6,)))
        member = rng.random(len(self.labels)) < 0.5
        shown = np.where(member, self.labels, drawn(self.proxy, rng))
        score = np.take_along_axis(self.score, shown[:, None], 1)[:, 0]
        return GuessTable(score, member, 0.5, propensity_source="simulated")
