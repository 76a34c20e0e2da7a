"""The membership games of Azize and Basu (2024), Algorithms 1 to 4: is the datum in the data that the release is of?

In each round n data are drawn from a law, a fair coin falls, and something of the data is released. The attack gives
the release a score, and is told nothing else.

    fixed datum       z is the same in all rounds. Where the coin says so, it takes the place of one of the data.
    average datum     z is drawn in each round: one of the data where the coin says so, and otherwise another one.

The advantage of an attack is P(it says "in" | in) − P(it says "in" | out), as of any game with a fair coin.

Rounds are independent of each other, each with data of its own. So the errors of a threshold that was fixed before are
those of repeated runs, `counts`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, seed_of, show, truth, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.support.arrays import Floats

__all__ = ["DataSets", "Mechanism", "average_datum", "counts", "fixed_datum"]

Score = Callable[[Floats, Floats], Any]  # releases (k, d), target (d,) or (k, d) -> (k,)

_NUMBERS = 2_000_000  # of a block of rounds


class Mechanism(Protocol):
    """What a game is played on: n data of a law, and what is released of them. Releases have d numbers, data may have
    as many or others.

    >>> law = lambda rng, n: rng.normal(size=(n, 3))
    >>> mechanism = bdp.games.DataSets(law, lambda data, rng: data.mean(axis=0), n=10)  # one of them
    >>> mechanism.without(4, np.random.default_rng(0)).shape
    (4, 3)
    """

    def data(self, rounds: int, rng: np.random.Generator) -> Floats:
        """A datum of the law for each round, (rounds, features)."""

    def without(self, rounds: int, rng: np.random.Generator) -> Floats:
        """Releases of data of the law, (rounds, d)."""

    def with_(self, targets: Floats, rng: np.random.Generator) -> Floats:
        """Releases of data of the law of which one is the target, (rounds, d) for targets (rounds, features)."""


@dataclass(frozen=True)
class DataSets:
    """A mechanism that makes every data set: simple, for any law and any release, and slow.

    `law(rng, n)` draws data, (n, features), and `release(data, rng)` gives what is released of them, (d,).

    >>> law = lambda rng, n: rng.normal(size=(n, 2))
    >>> noisy = bdp.games.DataSets(law, lambda data, rng: data.mean(axis=0) + 0.1 * rng.normal(size=2), n=20)
    >>> noisy.with_(np.full((5, 2), 40.0), np.random.default_rng(0)).mean().round(1)  # 40/20
    np.float64(2.0)
    """

    law: Callable[[np.random.Generator, int], Any]
    release: Callable[[Floats, np.random.Generator], Any]
    n: int

    def __post_init__(self) -> None:
        for name in ("law", "release"):
            if not callable(getattr(self, name)):
                raise InputError(f"{name} must be a function, not {show(getattr(self, name))}")
        whole_number("n", self.n, 1)

    def data(self, rounds: int, rng: np.random.Generator) -> Floats:
        """A datum of the law for each round, (rounds, features)."""
        return self._drawn(rng, whole_number("rounds", rounds, 0))

    def without(self, rounds: int, rng: np.random.Generator) -> Floats:
        """Releases of data of the law, (rounds, d)."""
        return np.array(
            [self._released(self._drawn(rng, self.n), rng) for _ in range(whole_number("rounds", rounds, 0))]
        )

    def with_(self, targets: Floats, rng: np.random.Generator) -> Floats:
        """Releases of data of the law, one of which is replaced by the target, (rounds, d)."""
        found = []
        for target in numbers("targets", targets, low_open=True, high_open=True):
            data = self._drawn(rng, self.n)
            if target.shape != data.shape[1:]:
                wanted = f"(rounds, {data.shape[1]}), as the law has it"
                raise InputError(f"targets must be of the shape {wanted}, not (rounds, {str(target.shape)[1:]}")
            data[rng.integers(self.n)] = target
            found.append(self._released(data, rng))
        return np.array(found)

    def _drawn(self, rng: np.random.Generator, n: int) -> Floats:
        found = numbers("law(rng, n)", self.law(rng, n), low_open=True, high_open=True)
        if found.ndim != 2 or len(found) != n:
            raise InputError(f"law(rng, n) must be of the shape (n, features), not {found.shape} for n = {n}")
        return found

    def _released(self, data: Floats, rng: np.random.Generator) -> Floats:
        found = numbers("release(data, rng)", self.release(data, rng), low_open=True, high_open=True)
        if found.ndim != 1:
            raise InputError(f"release(data, rng) must be of the shape (d,), not {found.shape}")
        return found


def fixed_datum(
    mechanism: Mechanism, target: ArrayLike, score: Score, *, rounds: int = 2000, seed: int = 0
) -> GuessTable:
    """The game of Algorithms 1 and 2: a round for each row of the table, `member` being the coin.

    Parameters
    ----------
    mechanism : with the methods of `Mechanism`, such as `DataSets`.
    target : the datum, (features,), or several, (k, features), each of which gets its own rounds and the label of its
        number as `base`.
    score : a function of releases, (m, d), and the target, (features,), to scores (m,), higher for "it is in".
    rounds : of each target.

    >>> law = lambda rng, n: rng.normal(size=(n, 20))
    >>> mechanism = bdp.games.DataSets(law, lambda data, rng: data.mean(axis=0), n=10)
    >>> z = np.full(20, 1.5)
    >>> attack = lambda release, z: bdp.leakage.likelihood_ratio(release, z, np.zeros(20), np.ones(20), 10)
    >>> table = bdp.games.fixed_datum(mechanism, z, attack, rounds=1000)
    >>> seen = table.tpr_at(0.1).value
    >>> abs(seen - bdp.leakage.power(bdp.leakage.score(z, np.zeros(20), np.ones(20), 10), 0.1)) < 0.1
    np.True_
    """
    targets = numbers("target", target, low_open=True, high_open=True)
    if targets.ndim not in (1, 2) or not targets.size:
        raise InputError(f"target must be of the shape (features,) or (targets, features), not {targets.shape}")
    _check(mechanism, score)
    size, rng = whole_number("rounds", rounds, 2), np.random.default_rng(seed_of(seed))
    tables = [_played(mechanism, z, score, size, rng) for z in np.atleast_2d(targets)]
    base = None if targets.ndim == 1 else np.repeat([f"{i}" for i in range(len(targets))], size).tolist()
    scores, member = (np.concatenate([table[i] for table in tables]) for i in (0, 1))
    return GuessTable(scores, member, base=base)


def average_datum(mechanism: Mechanism, score: Score, *, rounds: int = 2000, seed: int = 0) -> GuessTable:
    """The game of Algorithms 3 and 4: each row is a round with a datum of its own, `member` being the coin.

    The arguments are those of `fixed_datum`, but `score` takes a target for each release, (m, features).

    >>> law = lambda rng, n: rng.normal(size=(n, 20))
    >>> mechanism = bdp.games.DataSets(law, lambda data, rng: data.mean(axis=0), n=10)
    >>> attack = lambda release, z: bdp.leakage.likelihood_ratio(release, z, np.zeros(20), np.ones(20), 10)
    >>> bool(bdp.games.average_datum(mechanism, attack, rounds=500).auc().value > 0.7)
    True
    """
    _check(mechanism, score)
    size, rng = whole_number("rounds", rounds, 2), np.random.default_rng(seed_of(seed))
    return GuessTable(*_played(mechanism, None, score, size, rng))


def counts(table: GuessTable, threshold: float = 0.0, *, per_base: bool = False) -> ErrorCounts:
    """The errors of the attack that says "it is in" where the score is at least `threshold`, as of repeated runs.

    The threshold has to be fixed before the rounds. The rounds (n,) are one row, or with `per_base` one each target.

    >>> table = bdp.GuessTable([0.1, -0.4, 0.8, -0.9], [False, True, True, False])
    >>> bdp.games.counts(table)
    ErrorCounts: 1 base, 2 + 2 challenges, design "repeated"
    """
    if not isinstance(table, GuessTable):
        raise InputError(f"table must be a GuessTable, not {type(table).__name__}")
    found = table.counts(threshold, truth("per_base", per_base))
    return ErrorCounts(found.false_positives, found.negatives, found.false_negatives, found.positives, base=found.base)


def _check(mechanism: Any, score: Any) -> None:
    if isinstance(mechanism, type) or not all(
        callable(getattr(mechanism, name, None)) for name in ("data", "without", "with_")
    ):
        raise InputError(f"mechanism must have the methods data, without and with_, which {show(mechanism)} has not")
    if not callable(score):
        raise InputError(f"score must be a function of releases and a target, not {show(score)}")


def _played(
    mechanism: Mechanism, target: Floats | None, score: Score, rounds: int, rng: np.random.Generator
) -> tuple[Floats, Any]:
    """Scores and coins, (rounds,), of some rounds at a time."""
    member = rng.random(rounds) < 0.5
    width = (mechanism.data(1, rng) if target is None else target).size
    block = max(1, _NUMBERS // max(width, 1))
    scores = np.empty(rounds)
    for inside in (False, True):
        rows = np.flatnonzero(member == inside)
        for start in range(0, len(rows), block):
            chosen = rows[start : start + block]
            size = len(chosen)
            targets = mechanism.data(size, rng) if target is None else np.broadcast_to(target, (size, width))
            released = mechanism.with_(targets, rng) if inside else mechanism.without(size, rng)
            said = numbers("score(release, target)", score(released, targets if target is None else target))
            if said.shape != (size,):
                raise InputError(f"score(release, target) must be of the shape ({size},), not {said.shape}")
            scores[chosen] = said
    return scores, member
