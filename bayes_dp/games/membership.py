"""Games of membership: the coins fall before the training, or, for a training that is done, decide what is shown.

    interventional    the coin of each example says whether the training has it: `MembershipCoins` (Steinke et al. 2023)
    observational     the training has all examples, and the coin s shows the attacker one of them or a fresh one of the
                      same law, x = s x_in + (1 − s) x_out: `shown_members` ("Observational Auditing of Privacy",
                      Algorithm 1; Ye et al. 2022)

In the second the example is in the training in any case. Where the fresh one is shown the training has the other one in
its place, so that ε is that of the *replacement* of an example by another one of its law: with a training that is
(ε, δ)-DP where an example is there or not, up to 2ε. If the fresh examples are not of the law of the training's, it is
the zero-run audit's case, and `bdp.audits.zero_run` is for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, seed_of, whole_number
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["MembershipCoins", "shown_members"]


@dataclass(frozen=True)
class MembershipCoins:
    """Fair coins for n examples, which the seed decides: train on those of `member`, score all, and ask for the table.

    >>> game = bdp.games.MembershipCoins(1000, seed=0)
    >>> x = np.random.default_rng(1).normal(size=1000)
    >>> released = x[game.member].sum()  # the training
    >>> game.table(x * released).auc().value > 0.5
    True
    """

    n: int
    seed: int = 0

    def __post_init__(self) -> None:
        whole_number("n", self.n, 1)
        seed_of(self.seed)

    @property
    def member(self) -> Bools:
        """Whether the training has each example, (n,)."""
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(8,))).random(self.n) < 0.5

    def table(self, score: ArrayLike) -> GuessTable:
        """The scores of the trained model, (n,), higher for members, beside the coins."""
        return GuessTable(_scores("score", score, self.n), self.member)


def shown_members(training: ArrayLike, fresh: ArrayLike, seed: int = 0) -> GuessTable:
    """Of each pair of an example of the training and a fresh one the coin shows one, of which the score is seen.

    A bound from the table is of the replacement of an example, see the module.

    `training` has the scores of n examples that were trained on, `fresh` those of as many new ones, both (n,).

    >>> bdp.games.shown_members([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], seed=1).score
    array([0.1, 2. , 3. ])
    """
    first = numbers("training", training, low_open=True, high_open=True)
    if first.ndim != 1 or not len(first):
        raise InputError(f"training must be a score for each example, not of the shape {first.shape}")
    second = _scores("fresh", fresh, len(first))
    member = np.random.default_rng(np.random.SeedSequence(seed_of(seed), spawn_key=(6,))).random(len(first)) < 0.5
    return GuessTable(np.where(member, first, second), member)


def _scores(name: str, given: Any, n: int) -> Floats:
    found = numbers(name, given, low_open=True, high_open=True)
    if found.shape != (n,):
        raise InputError(f"{name} must be of the shape ({n},), not {found.shape}")
    return found
