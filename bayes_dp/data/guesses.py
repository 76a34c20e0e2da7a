"""The outcome of guessing membership on one model: which examples were guessed, how many guesses were right, and how
many rows of numbers one may look at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, is_one_of, show, whole_number
from bayes_dp.data.counts import OBSERVATIONAL, ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.immutable import Immutable
from bayes_dp.data.table import whole_numbers
from bayes_dp.support.arrays import Bools, Floats, Indices, Ints
from bayes_dp.support.once import once
from bayes_dp.support.text import SHOWN, Lines, Rows, Sentences, digits, rest

__all__ = ["Guesses", "Rule", "dependent", "guesses_from_ranking"]

Rule = Literal["fixed", "bonferroni", "split", "multisplit", "uncorrected"]
_RULES = ("fixed", "bonferroni", "split", "multisplit", "uncorrected")


class _Ranking(NamedTuple):
    """Which examples were guessed, see `guesses_from_ranking`."""

    table: GuessTable
    order: Indices
    lowest: Ints


@dataclass(frozen=True, eq=False)
class Guesses(Immutable):
    """Of `examples` examples, `made[i]` were guessed and `correct[i]` of these rightly; arrays of shape (k,).

    The k rows are alternatives, usually the most confident 100, 200, … guesses. `rule` says how one of them is chosen:

    - "fixed": there is one, decided before looking (k = 1);
    - "bonferroni": the best of k, each judged at error probability p/k;
    - "split": the one that is best on `pilot`, other examples of the same audit, with the same k rows;
    - "multisplit": as "split" says in each of `splits`, of the same examples, at p/2; the median of these counts;
    - "uncorrected": the best of k, each at p, which is not valid for k > 1.

    Every example's membership was decided by its own fair coin, or with the propensities of `table`, unknown to whoever
    made the guesses. So the audits judge how many of the examples were `members`: a number, or the least and the most
    that it can be. If it is not given, they say that they could not.

    Guesses of a table of scores, as the functions of `attacks` make them, know their examples, and the numbers follow
    from these: `table`, `order`, `lowest`, `highest` and `guessed(i)` say which they are. Where only the numbers were
    given, these are refused.

    >>> guesses = bdp.Guesses(examples=1000, made=200, correct=150)
    >>> round(bdp.audits.one_run(guesses, delta=1e-5).value, 3)
    0.82
    >>> table = bdp.GuessTable([3.0, 2.0, 1.0, 0.0], [True, True, False, False])
    >>> guesses = bdp.attacks.guess(table, 2)  # the first is called a member, the last a non-member
    >>> guesses.correct, guesses.members
    (array([2]), (2, 2))
    """

    examples: int
    made: Ints
    correct: Ints
    rule: Rule = "fixed"
    pilot: Guesses | None = None
    members: tuple[int, int] = (0, 0)  # the least and the most
    warnings: tuple[str, ...] = ()  # what is known to speak against the scores, sentences that audits pass on
    splits: tuple[Guesses, ...] = ()
    _ranking: _Ranking | None = field(default=None, init=False, repr=False)

    def __init__(
        self,
        examples: int,
        made: ArrayLike,
        correct: ArrayLike,
        rule: Rule = "fixed",
        pilot: Guesses | None = None,
        members: ArrayLike | None = None,
        warnings: tuple[str, ...] = (),
        splits: tuple[Guesses, ...] = (),
    ) -> None:
        m = whole_numbers(examples, 0, lambda row: "examples")
        if m.ndim:
            raise InputError(f"examples must be one whole number, not {show(examples)}")
        rows = [
            np.atleast_1d(whole_numbers(value, 0, lambda row, name=name: name if row is None else f"{name}[{row}]"))  # type: ignore[misc]
            for name, value in (("made", made), ("correct", correct))
        ]
        if rows[0].shape != rows[1].shape:
            raise InputError(f"correct must hold as many numbers as made, {len(rows[0])}, not {len(rows[1])}")
        for name, value, most, of in (("made", rows[0], m, "examples"), ("correct", rows[1], rows[0], "made")):
            if (bad := value > most).any():
                i = int(np.argmax(bad))
                raise InputError(
                    f"{name}[{i}] must be at most {of}, {np.broadcast_to(most, value.shape)[i]}, not {value[i]}"
                )
        if not is_one_of(rule, _RULES):
            raise InputError(f"rule must be one of {', '.join(_RULES)}, not {show(rule)}")
        if rule == "fixed" and len(rows[0]) != 1:
            raise InputError(f'the rule "fixed" is for one number of guesses, not {len(rows[0])}')
        if pilot is not None and not isinstance(pilot, Guesses):
            raise InputError(f"pilot must be Guesses, not {type(pilot).__name__}")
        if (rule == "split") != (pilot is not None):
            raise InputError('pilot must be given for the rule "split", and only for it')
        if pilot is not None and pilot.made.shape != rows[0].shape:
            raise InputError(f"pilot must hold as many rows as made, {len(rows[0])}, not {len(pilot.made)}")
        _check_splits(splits, rule, int(m), len(rows[0]))
        self._set(
            {
                "examples": int(m), "made": rows[0], "correct": rows[1], "rule": rule, "pilot": pilot,
                "members": _limits(members, int(m)), "warnings": _sentences(warnings), "splits": tuple(splits),
                "_ranking": None,
            }
        )  # fmt: skip

    @classmethod
    def from_counts(cls, counts: ErrorCounts) -> Guesses:
        """All guesses of counts of the design "one_run", pooled: N0 + N1 guesses, of which X + Y were wrong.

        At least N1 of the examples were members and at least N0 were not. Counts whose `group` labels say that some of
        their rows depend on each other are refused.

        >>> counts = bdp.ErrorCounts(3, 20, 4, 20, design="one_run", examples=60)
        >>> guesses = bdp.Guesses.from_counts(counts)
        >>> guesses.examples, guesses.made, guesses.correct
        (60, array([40]), array([33]))
        """
        if not isinstance(counts, ErrorCounts):
            raise InputError(f"counts must be ErrorCounts, not {type(counts).__name__}")
        if counts.design == "observational":
            raise InputError(
                f'counts of the design "observational" are no guesses of members: {OBSERVATIONAL}'.rstrip(".")
            )
        if counts.design != "one_run" or counts.examples is None:
            raise InputError(
                f'counts of the design "{counts.design}" are no guesses on one model; that is the design "one_run"'
            )
        if reason := dependent(counts):
            raise InputError(reason.rstrip("."))
        whole = counts.pool()
        negatives, positives = int(whole.negatives[0]), int(whole.positives[0])
        made = negatives + positives
        correct = made - int(whole.false_positives[0] + whole.false_negatives[0])
        return cls(counts.examples, made, correct, members=(positives, counts.examples - negatives))

    def __len__(self) -> int:
        return len(self.made)

    def __reduce__(self) -> tuple[Any, ...]:
        if self._ranking is None:
            given = (self.examples, self.made, self.correct, self.rule, self.pilot, self.members, self.warnings)
            return Guesses, (*given, self.splits)
        table, order, lowest = self._ranking
        how = (self.rule, self.pilot, self.warnings, self.splits)
        return guesses_from_ranking, (table, order, self.made, lowest, *how)

    # Which examples were guessed --------------------------------------------------------------------------------------

    @property
    def knows_examples(self) -> bool:
        """Whether it is known which examples were guessed, and not only how many."""
        return self._ranking is not None

    @property
    def table(self) -> GuessTable:
        """The scores that were guessed by, with the truth."""
        return self._known().table

    @property
    def order(self) -> Indices:
        """The rows of the table from the surest non-member to the surest member, (n,) of the n examples here."""
        return self._known().order

    @property
    def lowest(self) -> Ints:
        """How many are called non-members, (k,): the first of `order`."""
        return self._known().lowest

    @property
    def highest(self) -> Ints:
        """How many are called members, (k,): the last of `order`."""
        return self.made - self.lowest

    @property
    def rows(self) -> Indices:
        """The rows of the table that hold the n examples here, rising, (n,)."""
        here = np.zeros(len(self.table), dtype=np.bool_)
        here[self.order] = True
        return np.flatnonzero(here)

    @property
    def propensity(self) -> Floats:
        """Of the examples here, (n,), in the order of `rows`."""
        return self.table.needed_propensity()[self.rows]

    def guessed(self, i: int) -> tuple[Indices, Bools]:
        """The guessed rows of the table for the i-th number of guesses, and whether each is called a member."""
        i = self._row(i)
        low, high = int(self.lowest[i]), int(self.highest[i])
        rows = np.concatenate([self.order[:low], self.order[len(self.order) - high :]])
        return rows, np.arange(low + high) >= low

    def only(self, i: int) -> Guesses:
        """The i-th number of guesses, as if it had been the only one."""
        i = self._row(i)
        one = slice(i, i + 1)
        return guesses_from_ranking(
            self.table, self.order, self.made[one], self.lowest[one], "fixed", warnings=self.warnings
        )

    def narrowed(self, i: int) -> Guesses:
        """The i-th number of guesses, and that of the pilot, which has chosen it."""
        if self.pilot is None:
            return self.only(i)
        i = self._row(i)
        one, pilot = slice(i, i + 1), self.pilot.only(i)
        return guesses_from_ranking(
            self.table, self.order, self.made[one], self.lowest[one], "split", pilot, self.warnings
        )

    def counts(self, i: int = 0) -> ErrorCounts:
        """The errors among the i-th number of guesses, of the design "one_run".

        >>> table = bdp.GuessTable([3.0, 2.0, 1.0, 0.0], [True, True, False, False])
        >>> bdp.attacks.guess(table, 2).counts()
        ErrorCounts: 1 base, 1 + 1 challenges, design "one_run", 4 examples
        """
        rows, called = self.guessed(i)
        member = self.table.member[rows]
        if member.all() or not member.any():
            kind = "members" if member.any() else "non-members"
            both = self.table.member.any() and not self.table.member.all()
            raise InputError(
                f"counts need members and non-members among the guessed examples, but all {len(rows)} are {kind}"
                + (": more guesses are needed" if both else "")
            )
        return ErrorCounts(
            (called & ~member).sum(),
            (~member).sum(),
            (~called & member).sum(),
            member.sum(),
            design=self.table.design,
            examples=self.examples,
        )

    def _parts(self) -> tuple[Guesses, ...]:
        """Other guesses that are a part of these."""
        return (*filter(None, (self.pilot,)), *self.splits)

    def _row(self, i: int) -> int:
        return whole_number("i", i, 0, len(self) - 1)

    @once
    def digest_of_examples(self) -> str:
        """SHA-256 of the examples, the truth about them and what was guessed, in hexadecimal."""
        rows, place = self.rows, np.zeros(len(self.table), dtype=np.int64)
        place[rows] = np.arange(len(rows))  # of each row of the table among those here
        content = hashlib.sha256(f"{self.rule} {self.table[rows].digest()}\n".encode())
        for values in (place[self.order], self.highest, self.lowest):
            content.update(values.astype("<i8").tobytes())
        for part in self._parts():
            content.update(part.digest_of_examples().encode())
        return content.hexdigest()

    def _known(self) -> _Ranking:
        if self._ranking is None:
            raise InputError(
                "guesses must be made from a GuessTable by bdp.attacks: these are numbers, which do not say what"
                " examples were guessed"
            )
        return self._ranking

    def summary(self) -> Lines:
        """How many guesses were made, and how many were right, a row for each number of guesses, of the first 20.

        >>> print(bdp.Guesses(1000, 200, 150).summary())
        Guesses on 1000 examples, choice "fixed"
        made  correct  share
        200   150      0.75
        """
        pairs = list(zip(self.made.tolist(), self.correct.tolist(), strict=True))
        cells = [(f"{made}", f"{correct}", digits(correct / made) if made else "") for made, correct in pairs[:SHOWN]]
        caption = f'Guesses on {self.examples} examples, choice "{self.rule}"'
        table = Rows(cells, ("made", "correct", "share"), caption)
        return Lines.of([table, *rest(len(self), "numbers of guesses"), Sentences("Warning", self.warnings, "each")])

    # The numbers ------------------------------------------------------------------------------------------------------

    def counted(self) -> Guesses:
        """The numbers alone."""
        pilot = None if self.pilot is None else self.pilot.counted()
        splits = tuple(split.counted() for split in self.splits)
        return Guesses(self.examples, self.made, self.correct, self.rule, pilot, self.members, self.warnings, splits)

    @once
    def digest(self) -> str:
        """SHA-256 of all numbers in it, in hexadecimal: equal numbers have an equal digest, whoever was guessed."""
        content = hashlib.sha256(f"{self.rule} {self.examples}\n".encode())
        for values in (self.made, self.correct):
            content.update(values.astype("<i8").tobytes())
        for part in self._parts():
            content.update(part.digest().encode())
        if self.members != (0, self.examples):
            content.update(f"{self.members}\n".encode())
        return content.hexdigest()


def guesses_from_ranking(
    table: GuessTable,
    order: Indices,
    made: Ints,
    lowest: Ints,
    rule: Rule,
    pilot: Guesses | None = None,
    warnings: tuple[str, ...] = (),
    splits: tuple[Guesses, ...] = (),
) -> Guesses:
    """Guesses of n examples of a table, for k numbers of guesses; the arguments are not checked.

    `order` has the rows of these examples from the surest non-member to the surest member, shape (n,). For the i-th
    number the `lowest[i]` first are called non-members and the `made[i] − lowest[i]` last members. The table is the
    whole one, also where a pilot has some of its rows and these guesses have the others.
    """
    for values in (order, lowest):
        values.flags.writeable = False
    n, highest = len(order), made - lowest
    members = np.concatenate([[0], np.cumsum(table.member[order])])  # among the i first
    correct = members[-1] - members[n - highest] + lowest - members[lowest]
    return Guesses._new(
        {
            "examples": n, "made": made, "correct": correct, "rule": rule, "pilot": pilot,
            "members": (int(members[-1]),) * 2, "warnings": warnings, "splits": splits,
            "_ranking": _Ranking(table, order, lowest),
        }
    )  # fmt: skip


def dependent(counts: ErrorCounts) -> str:
    """Why not every guess of these counts is on a coin of its own, a sentence; empty where each is."""
    if counts.group is None or len(set(counts.group)) == len(counts.group):
        return ""
    label = next(label for i, label in enumerate(counts.group) if label in counts.group[:i])
    return (
        f"The rows of the counts with the group label {show(label)} depend on each other, so that their guesses are not"
        " each on a coin of its own: keep one row of each group."
    )


def _check_splits(splits: Any, rule: str, examples: int, numbers: int) -> None:
    """Refuse what are no splits of so many examples with so many numbers of guesses."""
    if not isinstance(splits, tuple | list) or not all(isinstance(split, Guesses) for split in splits):
        raise InputError(f"splits must be a tuple of Guesses, not {show(splits)}")
    if (rule == "multisplit") != bool(splits):
        raise InputError('splits must be given for the rule "multisplit", and only for it')
    for i, split in enumerate(splits):
        if split.pilot is None or len(split) != numbers:
            raise InputError(f'splits[{i}] must be of the rule "split", with {numbers} numbers of guesses')
        if (whole := split.examples + split.pilot.examples) != examples:
            raise InputError(f"splits[{i}] and its pilot must have the {examples} examples, not {whole}")


def _limits(members: ArrayLike | None, examples: int) -> tuple[int, int]:
    """The least and the most number of members, of so many examples."""
    if members is None:
        return 0, examples
    given = np.atleast_1d(whole_numbers(members, 0, lambda row: "members" if row is None else f"members[{row}]"))
    if len(given) > 2:
        raise InputError(f"members must be a number or the least and the most, not {show(members)}")
    least, most = int(given[0]), int(given[-1])
    if not least <= most <= examples:
        raise InputError(f"members must be at most examples, {examples}, and in order, not {show(members)}")
    return least, most


def _sentences(warnings: Any) -> tuple[str, ...]:
    if not isinstance(warnings, list | tuple) or not all(isinstance(sentence, str) for sentence in warnings):
        raise InputError(f"warnings must be sentences, a tuple of text, not {show(warnings)}")
    return tuple(warnings)
