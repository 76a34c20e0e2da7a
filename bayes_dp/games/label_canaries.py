"""Canaries with random labels (Malek et al. 2021): the interventional twin of the observational game about labels.

Before the training each canary gets two different classes at random, y and y', and a fair coin says which of the two it
is trained on. The attacker, who knows both, asks the model which one it was: the score is log M(x)[y] − log M(x)[y'].
Without the model nobody is right more often than in half of the cases, whatever the features say: there is no proxy
that could be wrong. The price is that the training has wrong labels.

A training that is (ε, δ)-DP in its labels, where one label may be replaced by another, makes the guesses right as
rarely as those of memberships in a one-run audit. To replace a label is more than to add or remove an example: where
that has ε, this has up to 2ε.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, seed_of, whole_number
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.support.arrays import Bools, Ints

__all__ = ["LabelCanaries"]


@dataclass(frozen=True)
class LabelCanaries:
    """Labels for n canaries of k classes, which the seed decides: train on `labels`, and ask for the table.

    >>> canaries = bdp.games.LabelCanaries(1000, 10, seed=0)
    >>> learned = np.where(np.eye(10)[canaries.labels] == 1, 0.5, 0.5 / 9)  # what a model says of them
    >>> canaries.table(np.log(learned)).auc().value
    1.0
    """

    n: int
    classes: int
    seed: int = 0

    def __post_init__(self) -> None:
        whole_number("n", self.n, 1)
        whole_number("classes", self.classes, 2)
        seed_of(self.seed)

    @cached_property
    def _drawn(self) -> tuple[Ints, Ints, Bools]:
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(9,)))
        first = rng.integers(0, self.classes, self.n)
        second = (first + rng.integers(1, self.classes, self.n)) % self.classes
        return first, second, rng.random(self.n) < 0.5

    @property
    def labels(self) -> Ints:
        """The labels to train on, (n,)."""
        first, second, heads = self._drawn
        return np.where(heads, first, second)

    def table(self, score: ArrayLike) -> GuessTable:
        """Of the model's log-probabilities of the classes, (n, k), the difference of the two, beside the coins."""
        found = numbers("score", score)
        if found.shape != (self.n, self.classes):
            raise InputError(f"score must be of the shape ({self.n}, {self.classes}), not {found.shape}")
        first, second, heads = self._drawn
        own, other = (np.take_along_axis(found, each[:, None], 1)[:, 0] for each in (first, second))
        with np.errstate(invalid="ignore"):
            return GuessTable(np.where(own == other, 0.0, own - other), heads)
