"""Guesses from scores: how many, on which side, right or wrong; fair ties; and never a look at who is a member."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from collections import Counter
from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from bayes_dp.attacks.scores import Bonferroni, Fixed, MultiSplit, NumberOfGuesses, Split, Uncorrected, guess
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses
from tests.data.test_counts import refusal

SETTINGS = settings(max_examples=100, deadline=None, derandomize=True, phases=[Phase.explicit, Phase.generate])
TABLE = GuessTable([5, 4, 3, 2, 1, 0], [1, 1, 0, 1, 0, 0])
TIED = st.sampled_from([-math.inf, -1.0, 0.0, 0.5, math.inf])


def ranked(table: GuessTable, seed: int) -> np.ndarray:
    """The rows from the lowest to the highest score."""
    return guess(table, len(table), seed=seed).order


@st.composite
def tables(draw: st.DrawFn, scores: Any = TIED, least: int = 1, unique: bool = False) -> GuessTable:
    score = draw(st.lists(scores, min_size=least, max_size=10, unique=unique))
    return GuessTable(score, draw(st.lists(st.booleans(), min_size=len(score), max_size=len(score))))


@st.composite
def questions(draw: st.DrawFn) -> tuple[GuessTable, NumberOfGuesses, str, int]:
    """A table with ties, a choice that fits it, sides and a seed."""
    table = draw(tables(least=2))
    numbers = draw(st.none() | st.lists(st.integers(1, len(table)), min_size=1, max_size=4, unique=True))
    seeds = st.integers(0, 2**63 - 1)
    choice = draw(
        st.sampled_from(
            [
                Fixed(numbers[0] if numbers else len(table)),
                Bonferroni(numbers),
                Uncorrected(numbers),
                Split(numbers, seed=draw(seeds)),
                Split(numbers, fraction=1 / len(table), seed=3),
                MultiSplit(numbers, splits=3, seed=draw(seeds)),
            ]
        )
    )
    return table, choice, draw(st.sampled_from(["both", "members"])), draw(seeds)


def with_members(table: GuessTable, member: Any) -> GuessTable:
    return dataclasses.replace(table, member=member)


def calls(table: GuessTable, ask: Callable[[GuessTable], Guesses]) -> list[np.ndarray]:
    """What is said of every example, found from outside: 1 (a member), -1 (a non-member) or 0 (nothing), for each
    number of guesses and, of a split, for the kept part and the pilot; each array of shape (k, n).

    Turning one example alone into a member makes one more guess right, one fewer, or neither.
    """

    def right(member: Any) -> list[np.ndarray]:
        guesses = ask(with_members(table, member))
        return [part.correct for part in (guesses, guesses.pilot) if part is not None]

    n = len(table)
    without = right(np.zeros(n, dtype=bool))
    turned = [right(one) for one in np.eye(n, dtype=bool)]
    return [np.stack([turned[i][part] - without[part] for i in range(n)], axis=1) for part in range(len(without))]


def assert_law(found: Counter[Any], law: dict[Any, float]) -> None:
    """A chi-square test at 1e-4 of counts against probabilities."""
    total = found.total()
    assert found.keys() <= law.keys()
    statistic = sum((found[value] - total * p) ** 2 / (total * p) for value, p in law.items())
    assert statistic < chi2.isf(1e-4, len(law) - 1)


# --------------------------------------------------------------------------------------------- numbers and their sides


def test_by_hand():
    # from the top: in, in, out, in, out, out
    both = [guess(TABLE, n) for n in range(1, 7)]
    assert [int(one.made[0]) for one in both] == [1, 2, 3, 4, 5, 6]
    assert [int(one.correct[0]) for one in both] == [1, 2, 3, 4, 4, 4]
    top = [guess(TABLE, n, sides="members") for n in range(1, 7)]
    assert [int(one.correct[0]) for one in top] == [1, 2, 2, 3, 3, 3]
    assert {(one.examples, one.rule, one.pilot) for one in both + top} == {(6, "fixed", None)}


def test_the_odd_guess_is_a_member():
    assert calls(TABLE, lambda t: guess(t, 3))[0].tolist() == [[1, 1, 0, 0, 0, -1]]
    assert calls(TABLE, lambda t: guess(t, 1))[0].tolist() == [[1, 0, 0, 0, 0, 0]]
    assert calls(TABLE, lambda t: guess(t, 4))[0].tolist() == [[1, 1, 0, 0, -1, -1]]
    assert calls(TABLE, lambda t: guess(t, 4, sides="members"))[0].tolist() == [[1, 1, 1, 1, 0, 0]]


def test_infinite_scores_are_the_most_extreme():
    table = GuessTable([1e308, -math.inf, 0, math.inf, -1e308], [1, 1, 1, 1, 1])
    assert calls(table, lambda t: guess(t, 2))[0].tolist() == [[0, -1, 0, 1, 0]]
    assert calls(table, lambda t: guess(t, 5))[0].tolist() == [[1, -1, 1, 1, -1]]


@given(table=tables(scores=st.floats(allow_nan=False), unique=True), sides=st.sampled_from(["both", "members"]))
@SETTINGS
def test_different_scores_have_an_obvious_twin(table: GuessTable, sides: str):
    pairs = sorted(zip(table.score.tolist(), table.member.tolist(), strict=True), reverse=True)
    n = len(pairs)
    numbers = list(range(1, n + 1))
    twin = []
    for k in numbers:
        low = k // 2 if sides == "both" else 0
        twin.append(sum(member for _, member in pairs[: k - low]) + sum(not member for _, member in pairs[n - low :]))
    for choice in (Bonferroni(numbers), Uncorrected(numbers)):
        guesses = guess(table, choice, sides)
        assert (guesses.made.tolist(), guesses.correct.tolist()) == (numbers, twin)
    assert [int(guess(table, k, sides).correct[0]) for k in numbers] == twin


@given(question=questions())
@SETTINGS
def test_calls_are_as_many_as_stated_and_at_the_ends(question: tuple[GuessTable, NumberOfGuesses, str, int]):
    table, choice, sides, seed = question
    guesses = guess(table, choice, sides, seed)
    parts = [part for part in (guesses, guesses.pilot) if part is not None]
    everything = calls(table, lambda t: guess(t, choice, sides, seed))
    if isinstance(choice, Split):
        pilot, kept = dataclasses.replace(table, base=[str(i) for i in range(len(table))]).split(
            choice.fraction, choice.seed
        )
        rows = [[int(i) for i in part.base] for part in (kept, pilot)]
    else:
        rows = [list(range(len(table)))]
    for part, mine, said in zip(parts, rows, everything, strict=True):
        others = [i for i in range(len(table)) if i not in mine]
        assert not said[:, others].any()
        assert part.examples == len(mine)
        for n, calls_of_n in zip(part.made.tolist(), said[:, mine], strict=True):
            low = n // 2 if sides == "both" else 0
            assert [(calls_of_n == sign).sum() for sign in (1, -1)] == [n - low, low]
            score = table.score[mine]
            levels = [score[calls_of_n == sign] for sign in (1, 0, -1)]
            levels = [level for level in levels if level.size]
            assert all(upper.min() >= lower.max() for upper, lower in pairwise(levels))


@given(question=questions(), data=st.data())
@SETTINGS
def test_members_never_decide_who_is_guessed(
    question: tuple[GuessTable, NumberOfGuesses, str, int], data: st.DataObject
):
    table, choice, sides, seed = question
    member = np.array(data.draw(st.permutations(table.member.tolist())))
    guesses = guess(with_members(table, member), choice, sides, seed)
    found = [part.correct.tolist() for part in (guesses, guesses.pilot) if part is not None]
    said = calls(table, lambda t: guess(t, choice, sides, seed))
    assert found == [((part == 1) & member | (part == -1) & ~member).sum(1).tolist() for part in said]
    assert np.array_equal(ranked(table, seed), ranked(with_members(table, member), seed))


@given(table=tables(), seed=st.integers(0, 2**63 - 1))
@SETTINGS
def test_more_guesses_include_fewer(table: GuessTable, seed: int):
    numbers = list(range(1, len(table) + 1))
    said = calls(table, lambda t: guess(t, Bonferroni(numbers), "both", seed))[0]
    for fewer, more in pairwise(said):
        assert (more[fewer != 0] == fewer[fewer != 0]).all()


@given(table=tables(), seed=st.integers(0, 2**63 - 1))
@SETTINGS
def test_ranked_sorts_all_rows(table: GuessTable, seed: int):
    order = ranked(table, seed)
    assert sorted(order.tolist()) == list(range(len(table)))
    assert table.score[order].tolist() == sorted(table.score.tolist())


# ----------------------------------------------------------------------------------------------------------- fair ties


@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4], [4, 2, 0, 3, 1]])
def test_all_orders_of_equal_scores_are_equally_likely(order: list[int]):
    table = GuessTable([1, 0, 1, 0, 1], [1, 0, 0, 1, 1])[order]
    possible = [p for p in permutations(range(5)) if (np.diff(table.score[list(p)]) >= 0).all()]
    assert len(possible) == 12
    found = Counter(tuple(ranked(table, seed).tolist()) for seed in range(2400))
    assert_law(found, dict.fromkeys(possible, 1 / 12))


@pytest.mark.parametrize("sides", ["both", "members"])
@pytest.mark.parametrize("order", [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 0, 5, 3, 1, 4]])
def test_the_law_of_right_guesses_is_the_same_for_every_order_of_the_rows(sides: str, order: list[int]):
    table = GuessTable([0, 0, 0, 0, 1, 1], [1, 1, 0, 0, 1, 0])
    outcomes: Counter[int] = Counter()
    for p in permutations(range(6)):  # the order of the coin; Python's sort keeps it among equals
        rows = sorted(p, key=lambda i: table.score[i])
        low, high = (rows[:1], rows[-2:]) if sides == "both" else ([], rows[-3:])
        outcomes[sum(not table.member[i] for i in low) + sum(bool(table.member[i]) for i in high)] += 1
    law = {value: count / 720 for value, count in outcomes.items()}
    found = Counter(int(guess(table[order], 3, sides, seed).correct[0]) for seed in range(1500))
    assert_law(found, law)


def test_ties_of_a_split_are_fair_even_with_equal_seeds():
    table = GuessTable([0] * 6, [1, 1, 1, 0, 0, 0])
    said: Counter[tuple[int, int]] = Counter()
    for seed in range(1800):
        kept, pilot = calls(table, lambda t, seed=seed: guess(t, Split([2], seed=seed), "members", seed))
        said[int(np.argmax(kept)), int(np.argmax(pilot))] += 1
    assert_law(said, {(i, j): 1 / 30 for i in range(6) for j in range(6) if i != j})


def test_seeds():
    table = GuessTable([0] * 40, [1, 0] * 20)
    assert guess(table, 20).correct == guess(table, 20, seed=0).correct
    assert len({int(guess(table, 20, seed=seed).correct[0]) for seed in range(20)}) > 1
    assert len({guess(table, Split([20], seed=seed)).digest() for seed in range(20)}) > 1
    assert guess(table, Split([20], seed=5), seed=7).digest() == guess(table, Split([20], seed=5), seed=7).digest()


@pytest.mark.parametrize("choice", [Fixed(8), Split([8, 16])], ids=repr)
def test_blind_guesses_are_right_by_fair_coins(choice: NumberOfGuesses):
    rng = np.random.default_rng(1)
    score = np.repeat([0.0, 1.0, 2.0, 3.0], 4)
    found: Counter[int] = Counter()
    for seed in range(1500):
        guesses = guess(GuessTable(score, rng.random(16) < 0.5), choice, seed=seed)
        found[int(guesses.correct[0])] += 1
    n = int(guesses.made[0])
    assert_law(found, {k: float(binom.pmf(k, n, 0.5)) for k in range(n + 1)})


# -------------------------------------------------------------------------------------------------------------- choices


def test_rules():
    table = GuessTable(range(100), [0, 1] * 50)
    for choice, rule in ((Fixed(10), "fixed"), (Bonferroni([10, 20]), "bonferroni"), (Uncorrected(10), "uncorrected")):
        guesses = guess(table, choice)
        assert (guesses.rule, guesses.examples, guesses.pilot) == (rule, 100, None)
    guesses = guess(table, Split([10, 20], fraction=0.2))
    assert (guesses.rule, guesses.examples, guesses.made.tolist()) == ("split", 80, [8, 16])
    assert (guesses.pilot.rule, guesses.pilot.examples, guesses.pilot.made.tolist()) == ("uncorrected", 20, [2, 4])
    assert guess(table, 10).digest() == guess(table, np.int64(10)).digest() == guess(table, Fixed(10)).digest()


def test_numbers_without_any_given():
    def made(m: int) -> list[int]:
        table = GuessTable(range(m), np.arange(m) % 2)
        assert guess(table, Uncorrected()).made.tolist() == guess(table, Bonferroni()).made.tolist()
        return guess(table, Bonferroni()).made.tolist()

    assert made(1) == [1]
    assert made(9) == [9]
    assert made(19) == [19]
    assert made(20) == [10, 20]
    assert made(100) == [12, 25, 50, 100]
    guesses = guess(GuessTable(range(100), np.arange(100) % 2), Split())
    assert guesses.made.tolist() == guesses.pilot.made.tolist() == [6, 12, 25, 50]


@given(
    m=st.integers(2, 300),
    fraction=st.floats(0.01, 0.99),
    numbers=st.lists(st.integers(1, 300), min_size=1, max_size=5, unique=True),
)
@SETTINGS
def test_numbers_of_a_split_shrink_with_the_parts(m: int, fraction: float, numbers: list[int]):
    numbers = [min(n, m) for n in numbers]
    numbers = list(dict.fromkeys(numbers))
    table = GuessTable(range(m), np.arange(m) % 2)
    if not 0 < round(fraction * m) < m:
        assert refusal(guess, table, Split(numbers, fraction)).startswith("fraction must leave an example in both")
        return
    guesses = guess(table, Split(numbers, fraction))
    assert guesses.pilot.examples == round(fraction * m)
    assert guesses.examples == m - guesses.pilot.examples
    for part, share in ((guesses, 1 - fraction), (guesses.pilot, fraction)):
        for n, made in zip(numbers, part.made.tolist(), strict=True):
            assert abs(made - n * share) <= 0.5 or made in (1, part.examples)
            assert 1 <= made <= part.examples


def test_choices_are_values():
    for choice in (Fixed(3), Bonferroni([3, 4]), Uncorrected(), Split([3], 0.25, 7)):
        for twin in (pickle.loads(pickle.dumps(choice)), copy.deepcopy(choice), dataclasses.replace(choice)):
            assert twin == choice
            assert hash(twin) == hash(choice)
    assert Bonferroni([3]) != Uncorrected([3])
    assert Bonferroni(np.array([3, 4])) == Bonferroni((3, 4.0))
    assert repr(Fixed(3)) == "Fixed(n=3)"
    assert repr(Split([3, 4])) == "Split(numbers=(3, 4), fraction=0.5, seed=0)"
    assert type(Bonferroni(np.array([3])).numbers[0]) is int
    with pytest.raises(dataclasses.FrozenInstanceError):
        Fixed(3).n = 4  # type: ignore[misc]


def test_bad_choices():
    for value, shown in [(0, "0"), (-1, "-1"), (2.5, "2.5"), (True, "True"), ("3", "'3'"), (None, "None")]:
        assert refusal(Fixed, value) == f"n must be a whole number from 1 to 2**53, not {shown}"
        for kind in (Bonferroni, Uncorrected, Split, MultiSplit):
            assert refusal(kind, [5, value]) == f"numbers[1] must be a whole number from 1 to 2**53, not {shown}"
    assert refusal(Fixed, [3]) == "n must be one whole number, not [3]"
    assert refusal(Bonferroni, [3, 4, 3]) == "numbers[2] must differ from numbers[0], but both are 3"
    assert refusal(Bonferroni, []).startswith("numbers must hold at least one")
    for fraction in (0, 1, math.nan, "half"):
        assert refusal(Split, None, fraction).startswith("fraction must ")
    assert refusal(Split, None, 0.5, -1).startswith("seed must be a whole number")


def test_bad_guesses():
    assert refusal(guess, TABLE, 7) == "n must be at most the 6 examples, not 7"
    assert refusal(guess, TABLE, 0) == "n must be a whole number from 1 to 2**53, not 0"
    for kind in (Bonferroni, Uncorrected, Split, MultiSplit):
        assert refusal(guess, TABLE, kind([3, 7])) == "numbers[1] must be at most the 6 examples, not 7"
    for choice in (True, None, "fixed", 2.0, [3]):
        assert refusal(guess, TABLE, choice).startswith(
            "choice must be Fixed, Bonferroni, Split, MultiSplit, Uncorrected or a whole"
        )
    for sides in ("Both", "", None, ["both"], np.array(["both", "members"])):
        assert refusal(guess, TABLE, 2, sides).startswith('sides must be "both" or "members", not ')
    assert refusal(guess, TABLE, 2, seed=-1).startswith("seed must be a whole number")
    assert refusal(guess, [1, 2], 2) == "table must be a GuessTable, not list"
    assert refusal(guess, TABLE[:1], Split()).startswith("fraction must leave an example in both parts of 1")


def test_guesses_need_fair_coins():
    fair = dataclasses.replace(TABLE, propensity=0.5)
    assert guess(fair, 4).digest() == guess(TABLE, 4).digest()
    unfair = dataclasses.replace(TABLE, propensity=[0.5, 0.5, 0.25, 0.5, 0.5, 0.75])
    assert refusal(guess, unfair, 4) == "propensity[2] must be 0.5 (a fair coin) for guesses, not 0.25"


def test_a_million_examples_are_sorted_once():
    m = 1_000_000
    rng = np.random.default_rng(0)
    member = rng.random(m) < 0.5
    table = GuessTable(rng.normal(size=m) + member, member)
    guesses = guess(table, Bonferroni())
    order = np.argsort(table.score)
    for n, right in zip(guesses.made.tolist(), guesses.correct.tolist(), strict=True):
        assert right == member[order[m - (n - n // 2) :]].sum() + (~member[order[: n // 2]]).sum()
