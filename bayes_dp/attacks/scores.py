"""Guesses from scores: the highest scores are called members, the lowest non-members, the others are left open.

How many guesses are best is not known beforehand, and whoever tries several numbers and reports the best must pay for
it. A choice says which numbers are tried and how:

- `Fixed(n)`: n guesses, decided before looking;
- `Bonferroni(numbers)`: the best of k numbers, of the shape (k,), each judged at error probability p/k;
- `Split(numbers)`: the number that is best on one part of the examples, judged on the other part;
- `MultiSplit(numbers)`: the median of the bounds of several such splits, each judged at p/2;
- `Uncorrected(numbers)`: the best of k numbers, each judged at p, which is not valid for k > 1.

Where scores are equal at the border, a seeded coin decides: equal scores are put into a uniformly random order. Which
examples are guessed, and how, depends on the scores, the choice and the seeds, and never on who is a member.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, one_number, seed_of, show, whole_number
from bayes_dp.data.guess_table import GuessTable, rows_of_split
from bayes_dp.data.guesses import Guesses, Rule, guesses_from_ranking
from bayes_dp.data.table import whole_numbers
from bayes_dp.support.arrays import Floats, Indices, Ints

__all__ = [
    "Bonferroni",
    "Fixed",
    "MultiSplit",
    "NumberOfGuesses",
    "Sides",
    "Split",
    "Uncorrected",
    "guess",
    "guess_extremes",
    "require_fair",
]

Sides = Literal["both", "members"]

_FEWEST = 10  # guesses, of the numbers that are tried when none are given


@dataclass(frozen=True)
class Fixed:
    """n guesses, at least 1, decided before looking.

    >>> bdp.attacks.Fixed(100).numbers_for(1000)
    (100,)
    """

    n: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", _whole("n", self.n))

    def numbers_for(self, examples: int) -> tuple[int, ...]:
        """The number for a table of so many examples, as a tuple."""
        examples = whole_number("examples", examples, 1)
        if self.n > examples:
            raise InputError(f"n must be at most the {examples} examples, not {self.n}")
        return (self.n,)


@dataclass(frozen=True, init=False)
class _Several:
    numbers: tuple[int, ...] | None

    def __init__(self, numbers: ArrayLike | None = None) -> None:
        object.__setattr__(self, "numbers", None if numbers is None else _different(numbers))

    def numbers_for(self, examples: int) -> tuple[int, ...]:
        """The numbers for a table of so many examples: as given, or m, m // 2, m // 4, … down to 10, rising."""
        examples = whole_number("examples", examples, 1)
        if self.numbers is None:
            halves = [examples >> i for i in range(examples.bit_length()) if examples >> i >= _FEWEST]
            return tuple(reversed(halves or [examples]))
        for i, n in enumerate(self.numbers):
            if n > examples:
                raise InputError(f"numbers[{i}] must be at most the {examples} examples, not {n}")
        return self.numbers


@dataclass(frozen=True, init=False)
class Bonferroni(_Several):
    """The best of k different numbers of guesses, each judged at error probability p/k.

    Without `numbers` these are m, m // 2, m // 4, … down to 10, for m examples.

    >>> bdp.attacks.Bonferroni().numbers_for(100)
    (12, 25, 50, 100)
    >>> bdp.attacks.Bonferroni([10, 20]).numbers_for(100)
    (10, 20)
    """


@dataclass(frozen=True, init=False)
class Uncorrected(_Several):
    """The best of k different numbers of guesses, each judged at error probability p: not valid for k > 1.

    Without `numbers` these are m, m // 2, m // 4, … down to 10, for m examples.

    >>> bdp.attacks.Uncorrected([10, 20]).numbers_for(100)
    (10, 20)
    """


@dataclass(frozen=True, init=False)
class Split(_Several):
    """The number of guesses that is best on one part of the examples, judged on the other part.

    The first part, the pilot, is a random share `fraction` of the examples, drawn with `seed`. The numbers are meant
    for the whole table and shrink with each part: n becomes round(n · fraction) guesses on the pilot and
    round(n · (1 − fraction)) on the part that is kept, in both at least 1 and at most the examples of the part. So the
    same share of the examples is guessed everywhere. Without `numbers` these are m, m // 2, m // 4, … down to 10, for
    m examples.

    >>> table = bdp.GuessTable(np.arange(100), np.arange(100) >= 50)
    >>> guesses = bdp.attacks.guess(table, bdp.attacks.Split([20]))
    >>> guesses.pilot.examples, guesses.pilot.made, guesses.examples, guesses.made
    (50, array([10]), 50, array([10]))
    """

    fraction: float = 0.5
    seed: int = 0

    def __init__(self, numbers: ArrayLike | None = None, fraction: float = 0.5, seed: int = 0) -> None:
        super().__init__(numbers)
        share = one_number("fraction", fraction, 0, 1, low_open=True, high_open=True)
        object.__setattr__(self, "fraction", share)
        object.__setattr__(self, "seed", seed_of(seed))


@dataclass(frozen=True, init=False)
class MultiSplit(_Several):
    """The median of the bounds of several splits, each as `Split` makes one, judged at error probability p/2.

    If ε is below the median, at least half of the K bounds are wrong. Each is with a chance of at most p/2, so that in
    the mean K p/2 are, and half of them with a chance of at most p (Markov), however the splits depend on each other.
    Of an even number of bounds the lower one of the two in the middle is the median. What a single split leaves to
    chance is all but gone, at the price of the 2. Without `numbers` these are m, m // 2, m // 4, … down to 10, for m
    examples.

    >>> table = bdp.GuessTable(np.arange(1000), np.random.default_rng(0).random(1000) < np.arange(1000) / 1000)
    >>> guesses = bdp.attacks.guess(table, bdp.attacks.MultiSplit([100, 200], splits=5))
    >>> [int(split.correct[0]) for split in guesses.splits]  # of 50 guesses in each half
    [48, 48, 49, 49, 49]
    >>> round(bdp.audits.one_run(guesses, delta=1e-5).value, 3)
    2.199
    """

    splits: int = 11
    fraction: float = 0.5
    seed: int = 0

    def __init__(
        self, numbers: ArrayLike | None = None, splits: int = 11, fraction: float = 0.5, seed: int = 0
    ) -> None:
        super().__init__(numbers)
        share = one_number("fraction", fraction, 0, 1, low_open=True, high_open=True)
        object.__setattr__(self, "splits", whole_number("splits", splits, 2, 1000))
        object.__setattr__(self, "fraction", share)
        object.__setattr__(self, "seed", seed_of(seed))

    def each(self) -> tuple[Split, ...]:
        """Its splits, of shape (K,)."""
        seeds = np.random.SeedSequence(self.seed, spawn_key=(4,)).generate_state(self.splits)
        return tuple(Split(self.numbers, self.fraction, int(seed)) for seed in seeds)


NumberOfGuesses = Fixed | Bonferroni | Split | MultiSplit | Uncorrected


def guess(table: GuessTable, choice: NumberOfGuesses | int, sides: Sides = "both", seed: int = 0) -> Guesses:
    """Guess the most extreme scores and count how many guesses are right, for each number of guesses of `choice`.

    With `sides` "both", of n guesses the n − n // 2 highest scores are called members and the n // 2 lowest
    non-members, so the odd one is a member; with "members", the n highest are called members. A whole number n means
    `Fixed(n)`. `seed` is that of the coin between equal scores.

    `Guesses` are for examples that were members by fair coins, so propensities other than 1/2 are refused.

    >>> table = bdp.GuessTable([0.1, 0.2, 0.3, 0.7, 0.8, 0.9], [False, False, True, False, True, True])
    >>> bdp.attacks.guess(table, 4).correct  # 0.9 and 0.8 are called members, 0.1 and 0.2 non-members
    array([4])
    >>> bdp.attacks.guess(table, 3, sides="members").correct  # 0.9, 0.8 and 0.7
    array([2])
    """
    require_fair(table)
    return guess_extremes(table, choice, sides, seed, table.cautions())


def require_fair(table: GuessTable) -> None:
    """Refuse a table with propensities other than 1/2."""
    if not isinstance(table, GuessTable):
        raise InputError(f"table must be a GuessTable, not {type(table).__name__}")
    if table.propensity is not None and (unfair := table.propensity != 0.5).any():
        i = int(np.argmax(unfair))
        raise InputError(f"propensity[{i}] must be 0.5 (a fair coin) for guesses, not {show(table.propensity[i])}")


def guess_extremes(
    table: GuessTable,
    choice: NumberOfGuesses | int,
    sides: Sides | Literal["largest"],
    seed: int,
    warnings: tuple[str, ...],
) -> Guesses:
    """What `guess` gives, whatever the propensities. With `sides` "largest", the scores that are farthest from 0 are
    guessed, and called members where they are positive."""
    if isinstance(choice, int | np.integer) and not isinstance(choice, bool):
        choice = Fixed(int(choice))
    if not isinstance(choice, NumberOfGuesses):
        raise InputError(
            f"choice must be Fixed, Bonferroni, Split, MultiSplit, Uncorrected or a whole number, not {show(choice)}"
        )
    if not isinstance(sides, str) or sides not in (*get_args(Sides), "largest"):
        raise InputError(f'sides must be "both" or "members", not {show(sides)}')
    # A stream of its own, because Split draws with a seed too, and often with the same one
    rng = np.random.default_rng(np.random.SeedSequence(seed_of(seed), spawn_key=(1,)))
    numbers = choice.numbers_for(len(table))
    if isinstance(choice, MultiSplit):
        splits = tuple(guess_extremes(table, one, sides, seed, warnings) for one in choice.each())
        order, made = _ranked(table.score, np.arange(len(table)), rng), np.array(numbers)
        lowest = _lowest(table.score[order], made, sides, rng)
        return guesses_from_ranking(table, order, made, lowest, "multisplit", warnings=warnings, splits=splits)
    if isinstance(choice, Split):
        tried, rows = rows_of_split(len(table), choice.fraction, choice.seed)
        order, first = _ranked(table.score, rows, rng), _ranked(table.score, tried, rng)
        made = _scaled(numbers, choice.fraction, len(first))
        lowest = _lowest(table.score[first], made, sides, rng)
        pilot = guesses_from_ranking(table, first, made, lowest, "uncorrected")
        made = _scaled(numbers, 1 - choice.fraction, len(order))
        lowest = _lowest(table.score[order], made, sides, rng)
        return guesses_from_ranking(table, order, made, lowest, "split", pilot, warnings)
    rule: Rule = "uncorrected"
    if not isinstance(choice, Uncorrected):
        rule = "fixed" if isinstance(choice, Fixed) else "bonferroni"
    order, made = _ranked(table.score, np.arange(len(table)), rng), np.array(numbers)
    return guesses_from_ranking(
        table, order, made, _lowest(table.score[order], made, sides, rng), rule, warnings=warnings
    )


def _ranked(score: Floats, rows: Indices, rng: np.random.Generator) -> Indices:
    """The rows from the lowest to the highest score, equal scores in a random order."""
    shuffled = rows[rng.permutation(len(rows))]
    return shuffled[np.argsort(score[shuffled], kind="stable")]


def _lowest(rising: Floats, made: Ints, sides: Sides | Literal["largest"], rng: np.random.Generator) -> Ints:
    """How many of so many guesses of these scores, in rising order, are of non-members."""
    if sides == "largest":
        shuffled = rising[rng.permutation(len(rising))]
        farthest = shuffled[np.argsort(-np.abs(shuffled), kind="stable")]
        return np.concatenate([[0], np.cumsum(farthest <= 0)])[made]
    return made // 2 if sides == "both" else np.zeros_like(made)


def _scaled(numbers: Sequence[int], share: float, most: int) -> Ints:
    """Numbers for the whole table shrunk to a part of `most` examples, shape (k,)."""
    return np.array([min(max(round(n * share), 1), most) for n in numbers])


def _whole(name: str, value: ArrayLike) -> int:
    number = whole_numbers(value, 1, lambda row: name)
    if number.ndim:
        raise InputError(f"{name} must be one whole number, not {show(value)}")
    return int(number)


def _different(numbers: ArrayLike) -> tuple[int, ...]:
    checked = np.atleast_1d(whole_numbers(numbers, 1, lambda row: "numbers" if row is None else f"numbers[{row}]"))
    first: dict[int, int] = {}
    for i, n in enumerate(checked.tolist()):
        if first.setdefault(n, i) != i:
            raise InputError(f"numbers[{i}] must differ from numbers[{first[n]}], but both are {n}")
    return tuple(first)
