"""The outcome of guessing membership on one model: how many guesses were made, how many were right, and how many rows
of numbers one may look at."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, is_one_of
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.table import IntArray, show, whole_numbers
from bayes_dp.support.once import once

__all__ = ["Guesses", "Rule"]

Rule = Literal["fixed", "bonferroni", "split", "uncorrected"]
_RULES = ("fixed", "bonferroni", "split", "uncorrected")


@dataclass(frozen=True, eq=False)
class Guesses:
    """Of `examples` examples, `made[i]` were guessed and `correct[i]` of these rightly; arrays of shape (k,).

    The k rows are alternatives, usually the most confident 100, 200, … guesses. `rule` says how one of them is chosen:

    - "fixed": there is one, decided before looking (k = 1);
    - "bonferroni": the best of k, each judged at error probability p/k;
    - "split": the one that is best on `pilot`, other examples of the same audit, with the same k rows;
    - "uncorrected": the best of k, each at p, which is not valid for k > 1.

    Every example's membership was decided by its own fair coin, unknown to whoever made the guesses. So the audits
    judge how many of the examples were `members`: a number, or the least and the most that it can be. If it is not
    given, they say that they could not.
    """

    examples: int
    made: IntArray
    correct: IntArray
    rule: Rule = "fixed"
    pilot: Guesses | None = None
    members: tuple[int, int] = (0, 0)  # the least and the most
    warnings: tuple[str, ...] = ()  # what is known to speak against the scores, sentences that audits pass on

    def __init__(
        self,
        examples: int,
        made: ArrayLike,
        correct: ArrayLike,
        rule: Rule = "fixed",
        pilot: Guesses | None = None,
        members: ArrayLike | None = None,
        warnings: tuple[str, ...] = (),
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
        for value in rows:
            value.flags.writeable = False
        fields: dict[str, Any] = {
            "examples": int(m), "made": rows[0], "correct": rows[1], "rule": rule, "pilot": pilot,
            "members": _limits(members, int(m)), "warnings": _sentences(warnings),
        }  # fmt: skip
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_counts(cls, counts: ErrorCounts) -> Guesses:
        """All guesses of counts of the design "one_run", pooled: N0 + N1 guesses, of which X + Y were wrong.

        At least N1 of the examples were members and at least N0 were not.
        """
        if not isinstance(counts, ErrorCounts):
            raise InputError(f"counts must be ErrorCounts, not {type(counts).__name__}")
        if counts.design != "one_run" or counts.examples is None:
            raise InputError(
                f'counts of the design "{counts.design}" are no guesses on one model; that is the design "one_run"'
            )
        whole = counts.pool()
        negatives, positives = int(whole.negatives[0]), int(whole.positives[0])
        made = negatives + positives
        correct = made - int(whole.false_positives[0] + whole.false_negatives[0])
        return cls(counts.examples, made, correct, members=(positives, counts.examples - negatives))

    def __len__(self) -> int:
        return len(self.made)

    @once
    def digest(self) -> str:
        """SHA-256 of everything in it, in hexadecimal: equal input has an equal digest."""
        content = hashlib.sha256(f"{self.rule} {self.examples}\n".encode())
        for values in (self.made, self.correct):
            content.update(values.astype("<i8").tobytes())
        if self.pilot is not None:
            content.update(self.pilot.digest().encode())
        if self.members != (0, self.examples):
            content.update(f"{self.members}\n".encode())
        return content.hexdigest()


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
