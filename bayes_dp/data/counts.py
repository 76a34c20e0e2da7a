"""What the methods start from: the error counts of membership inference attacks, validated once and immutable."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, numbers, show
from bayes_dp.data.files import Source, write_text_atomically
from bayes_dp.data.immutable import Immutable
from bayes_dp.data.layout import COUNTS, grouped_by
from bayes_dp.data.parsing import csv_table, file_table, frame_table, json_table
from bayes_dp.data.table import Table, chosen_rows, count_arrays, csv_text, labels, one_whole_number
from bayes_dp.support.arrays import Ints
from bayes_dp.support.once import once
from bayes_dp.support.text import SHOWN, Lines, Rows, digits, rest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CROSS_FED", "DESIGNS", "OBSERVATIONAL", "ONE_MODEL", "ErrorCounts"]

DESIGNS = ("repeated", "cross_fed", "one_run", "observational")
ONE_MODEL = ("one_run", "observational")  # those of guesses on one model
CROSS_FED = "The runs were cross-fed, so their errors are in truth correlated"  # every method says what that does to it
OBSERVATIONAL = (
    "Nobody changed the training: coins only decided whether the guesser was shown what it had, or a draw in its place."
    " If the draws have another law, that looks like a leak. So look at what is found of a control, a model that never"
    " saw these data: audits.labels and audits.observational do."
)

_COUNTS = {"fp": "false_positives", "n0": "negatives", "fn": "false_negatives", "n1": "positives"}
_LABELS = {"base": "base", "group": "group"}


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ErrorCounts(Immutable):
    """Errors of attacks on n challenge bases: of `negatives` non-member challenges, `false_positives` were called
    members; of `positives` member challenges, `false_negatives` were called non-members.

    The counts are read-only int64 arrays of shape (n,); `negatives` and `positives` may be given as one number for all.
    `base` and `group` are labels, one per base, which need not differ. `design` says how the counts arose:

    - "repeated": many runs on one data set and challenge per base, so the tests are independent;
    - "cross_fed": runs that served as each other's shadow models, so the tests are correlated;
    - "one_run": many examples judged on one model; `examples` is their number, guessed or not, and the rows
      (for example groups of examples) share them, so that all guesses together are at most `examples`;
    - "observational": likewise, in a game after the training, which nobody changed: the coins only decided whether the
      guesser was shown what it had or a draw in its place, as in `games.LabelGame`. No bound takes that for fair coins.

    >>> counts = bdp.ErrorCounts([1, 2], 20, [4, 0], 20, base=["a", "b"])
    >>> counts
    ErrorCounts: 2 bases, 20 + 20 challenges each, design "repeated"
    >>> counts[1].base, counts[1].false_positives
    (('b',), array([2]))
    >>> counts.pool().false_positives
    array([3])
    """

    false_positives: Ints
    negatives: Ints
    false_negatives: Ints
    positives: Ints
    base: tuple[str, ...] | None
    group: tuple[str, ...] | None
    design: str
    examples: int | None

    def __init__(
        self,
        false_positives: ArrayLike,
        negatives: ArrayLike,
        false_negatives: ArrayLike,
        positives: ArrayLike,
        base: ArrayLike | None = None,
        group: ArrayLike | None = None,
        design: str = "repeated",
        examples: int | None = None,
    ) -> None:
        columns = {"fp": false_positives, "n0": negatives, "fn": false_negatives, "n1": positives}
        table = Table(columns | _given(base=base, group=group), _COUNTS | _LABELS)
        self._set(_checked(table, count_arrays(table), design, examples))

    @classmethod
    def from_rates(
        cls,
        false_positive_rate: ArrayLike,
        negatives: ArrayLike,
        false_negative_rate: ArrayLike,
        positives: ArrayLike,
        **others: Any,
    ) -> ErrorCounts:
        """From error rates in [0, 1]; a rate times its number of challenges must be a whole number within 1e-6.

        >>> counts = bdp.ErrorCounts.from_rates([0.1, 0.3], 50, [0.2, 0.0], 50)
        >>> counts.false_positives, counts.false_negatives
        (array([ 5, 15]), array([10,  0]))
        >>> bdp.ErrorCounts.from_rates(0.3, 5, 0.2, 5)
        Traceback (most recent call last):
            ...
        bayes_dp.checks.InputError: false_positive_rate[0] times negatives[0] must be a whole number, but 0.3 ...
        """
        rates = {
            "fp": np.atleast_1d(numbers("false_positive_rate", false_positive_rate, 0, 1)),
            "fn": np.atleast_1d(numbers("false_negative_rate", false_negative_rate, 0, 1)),
        }
        headings = _COUNTS | {"fp": "false_positive_rate", "fn": "false_negative_rate"}
        zeros = {column: np.zeros_like(rate) for column, rate in rates.items()}
        _, n0, _, n1 = count_arrays(Table(zeros | {"n0": negatives, "n1": positives}, headings))
        counts = {"fp": rates["fp"] * n0, "fn": rates["fn"] * n1}
        for column, total in (("fp", "n0"), ("fn", "n1")):
            if (bad := np.abs(counts[column] - np.rint(counts[column])) > 1e-6).any():
                i = int(np.argmax(bad))
                product = f"{show(rates[column][i])} times {(n0 if total == 'n0' else n1)[i]}"
                raise InputError(
                    f"{headings[column]}[{i}] times {headings[total]}[{i}] must be a whole number, but {product} is "
                    f"{show(counts[column][i])}"
                )
        fp, fn = (np.rint(counts[column]).astype(np.int64) for column in ("fp", "fn"))
        return cls._of((fp, n0, fn, n1), **others)

    @classmethod
    def from_confusion(cls, tp: ArrayLike, fp: ArrayLike, tn: ArrayLike, fn: ArrayLike, **others: Any) -> ErrorCounts:
        """From confusion matrices, each argument of shape (n,) or a number; a positive is a member.

        >>> counts = bdp.ErrorCounts.from_confusion(tp=8, fp=1, tn=9, fn=2)
        >>> counts.false_positives / counts.negatives, counts.false_negatives / counts.positives
        (array([0.1]), array([0.2]))
        """
        columns = {"tp": tp, "fp": fp, "tn": tn, "fn": fn}
        return cls._of(count_arrays(Table(columns, {column: column for column in columns})), **others)

    @classmethod
    def from_csv(
        cls, source: Source, *, design: str | None = None, examples: int | None = None, group: str | None = None
    ) -> ErrorCounts:
        """From a CSV file (path or open file) with one row per base and headings fp, n0, fn, n1 or tp, fp, tn, fn.

        Long headings (false_positives, ...) and the columns base and group are read too. Columns design and examples
        say how the counts arose, the same in all rows; without them the design is "repeated", unless an argument says
        another one. An argument that differs from the file is an error. Other columns are ignored.
        `group` is the heading of the column that says which bases belong together, if it is not "group".
        """
        return cls._settled(csv_table(source, grouped_by(group)), design, examples)

    @classmethod
    def from_json(
        cls, source: Source, *, design: str | None = None, examples: int | None = None, group: str | None = None
    ) -> ErrorCounts:
        """From a JSON file (path or open file): an object of columns or a list of row objects, named as in CSV.

        An object of columns may state "design" and "examples" too; an argument that differs from them is an error.
        """
        return cls._settled(json_table(source, grouped_by(group)), design, examples)

    @classmethod
    def from_frame(
        cls, frame: pd.DataFrame, *, design: str | None = None, examples: int | None = None, group: str | None = None
    ) -> ErrorCounts:
        """From a pandas DataFrame with the columns of a CSV file; its index is ignored."""
        return cls._settled(frame_table(frame, grouped_by(group)), design, examples)

    @classmethod
    def _settled(cls, table: Table, design: str | None, examples: int | None) -> ErrorCounts:
        """With the design that the table states, or the caller; they must not differ."""
        wanted = _given(design=design, examples=examples)
        for name, value in wanted.items():
            if (stated := table.settings.get(name, value)) != value:
                raise InputError(
                    f"{table.place(name, None)} is {show(stated)} in the file, but {show(value)} was given"
                )
        how = dict(table.settings) | wanted
        try:
            return cls._from_table(table, how.get("design", "repeated"), how.get("examples"))
        except InputError as error:
            where = table.place("", None).rstrip(": ")
            if where and str(error).startswith(("design ", "examples ")):  # which know of no file
                raise InputError(f"{where}: {error}") from None
            raise

    @classmethod
    def _from_table(cls, table: Table, design: str, examples: int | None) -> ErrorCounts:
        return cls._new(_checked(table, count_arrays(table), design, examples))

    @classmethod
    def _of(
        cls,
        counts: Sequence[Ints],
        base: ArrayLike | None = None,
        group: ArrayLike | None = None,
        design: str = "repeated",
        examples: int | None = None,
    ) -> ErrorCounts:
        """From counts that need no more checks, and the other arguments of the constructor."""
        return cls._new(_checked(Table(_given(base=base, group=group), _LABELS), counts, design, examples))

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        design: str | None = None,
        examples: int | None = None,
        group: str | None = None,
    ) -> ErrorCounts:
        """From a file, by its suffix: .json, or .csv, .tsv, .txt."""
        return cls._settled(file_table(path, grouped_by(group)), design, examples)

    def to_dict(self) -> dict[str, Any]:
        """Plain lists under the names of the fields; fields that are None are left out."""
        setting = {"design": self.design} | _given(examples=self.examples)
        counts = {name: getattr(self, name).tolist() for name in _COUNTS.values()}
        return setting | counts | {name: list(texts) for name, texts in self._labels().items()}

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row per base."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def to_csv(self, path: str | os.PathLike[str], *, safe_cells: bool = False) -> None:
        """Write a CSV file with one row per base; a `design` that is not "repeated", and `examples`, are columns.

        With `safe_cells`, a label that a spreadsheet would take for a formula gets an apostrophe before it.
        """
        write_text_atomically(path, self.csv(safe_cells=safe_cells))

    def csv(self, *, safe_cells: bool = False) -> str:
        """The text that `to_csv` writes."""
        return csv_text(self._columns(), safe_cells)

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file with everything in it."""
        write_text_atomically(path, self.json())

    def json(self) -> str:
        """The text that `to_json` writes."""
        return json.dumps({"format": COUNTS.format} | self.to_dict(), ensure_ascii=False, indent=1) + "\n"

    def pool(self) -> ErrorCounts:
        """All bases summed into one, without labels.

        >>> bdp.ErrorCounts([1, 2], 20, [4, 0], 20).pool().false_positives
        array([3])
        """
        sums = {name: [sum(getattr(self, name).tolist())] for name in _COUNTS.values()}  # Python's sums never overflow
        return ErrorCounts(**sums, design=self.design, examples=self.examples)

    def concat(self, *others: ErrorCounts) -> ErrorCounts:
        """These bases followed by those of `others`, which must be of the same design (and `examples`).

        >>> day, night = bdp.ErrorCounts(1, 20, 4, 20, base=["day"]), bdp.ErrorCounts(2, 20, 3, 20, base=["night"])
        >>> both = day.concat(night)
        >>> both.base, both.false_positives
        (('day', 'night'), array([1, 2]))
        """
        parts = (self, *others)
        for i, part in enumerate(parts):
            if not isinstance(part, ErrorCounts):
                raise InputError(f"part {i} must be ErrorCounts, not {type(part).__name__}")
            for name in ("design", "examples"):
                here, there = getattr(self, name), getattr(part, name)
                if here != there:
                    raise InputError(f"part {i} must have the {name} of part 0, {show(here)}, not {show(there)}")
            for name in _LABELS:
                if (getattr(self, name) is None) != (getattr(part, name) is None):
                    raise InputError(f"part {i} and part 0 must both have {name} labels, or neither")
        counts = [np.concatenate([getattr(part, name) for part in parts]) for name in _COUNTS.values()]
        texts = {name: [text for part in parts for text in getattr(part, name)] for name in self._labels()}
        return self._of(counts, **texts, design=self.design, examples=self.examples)

    def __len__(self) -> int:
        return len(self.false_positives)

    def __getitem__(self, index: int | slice | ArrayLike) -> ErrorCounts:
        """The chosen bases: by a number, a slice, an array of numbers or an array of booleans of shape (n,)."""
        rows = chosen_rows(index, len(self), "base")
        counts = [getattr(self, name)[rows] for name in _COUNTS.values()]
        texts = {name: [texts[i] for i in rows] for name, texts in self._labels().items()}
        return self._of(counts, **texts, design=self.design, examples=self.examples)

    def _labels(self) -> dict[str, tuple[str, ...]]:
        return _given(base=self.base, group=self.group)

    def _columns(self) -> dict[str, list[Any]]:
        found = {name: values for name, values in self.to_dict().items() if name not in ("design", "examples")}
        stated = {} if self.design == "repeated" else {"design": self.design} | _given(examples=self.examples)
        return found | {name: [value] * len(self) for name, value in stated.items()}

    @once
    def digest(self) -> str:
        """SHA-256 of counts, design and examples, in hexadecimal: equal input has an equal digest."""
        content = hashlib.sha256(f"{self.design} {self.examples}\n".encode())
        for name in _COUNTS.values():
            content.update(getattr(self, name).astype("<i8").tobytes())
        return content.hexdigest()

    __hash__ = Immutable.__hash__  # which Python takes away from a class with its own __eq__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ErrorCounts):
            return NotImplemented
        return self.digest() == other.digest() and self._labels() == other._labels()

    def summary(self) -> Lines:
        """The counts and the rates of each base, of the first 20 if there are more, as a table.

        >>> print(bdp.ErrorCounts([1, 2], 20, [4, 0], 20, base=["a", "b"]).summary())
        ErrorCounts: 2 bases, 20 + 20 challenges each, design "repeated"
        base  false positives  FPR   false negatives  FNR
        a             1 of 20  0.05          4 of 20  0.2
        b             2 of 20  0.1           0 of 20  0
        """
        sides = (self.false_positives, self.negatives), (self.false_negatives, self.positives)
        names = self.base or tuple(map(str, range(len(self))))
        cells = [
            (name, *(cell for k, n in sides for cell in (f"{k[i]} of {n[i]}", digits(k[i] / n[i]))))
            for i, name in enumerate(names[:SHOWN])
        ]
        headings = ("base", "false positives", "FPR", "false negatives", "FNR")
        return Lines.of([Rows(cells, headings, repr(self), "lrlrl"), *rest(len(self), "bases")])

    def __repr__(self) -> str:
        spans = " + ".join(
            f"{n.min()}" if n.min() == n.max() else f"{n.min()} to {n.max()}" for n in (self.negatives, self.positives)
        )
        bases, each = ("1 base", "") if len(self) == 1 else (f"{len(self)} bases", " each")
        examples = "" if self.examples is None else f", {self.examples} examples"
        return f'ErrorCounts: {bases}, {spans} challenges{each}, design "{self.design}"{examples}'


def _checked(table: Table, counts: Sequence[Ints], design: object, examples: object) -> dict[str, Any]:
    """The fields of ErrorCounts, from counts that need no more checks and a table with the labels."""
    fields: dict[str, Any] = dict(zip(_COUNTS.values(), counts, strict=True))
    fields |= {name: labels(table, name, len(counts[0])) for name in _LABELS}
    fields["design"] = known = _known_design(design)
    fields["examples"] = _checked_examples(examples, known, counts[1], counts[3])
    return fields


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _known_design(design: object) -> str:
    if isinstance(design, str) and design in DESIGNS:
        return design
    named = ", ".join(f'"{name}"' for name in DESIGNS[:-1])
    raise InputError(f'design must be {named} or "{DESIGNS[-1]}", not {show(design)}')


def _checked_examples(examples: object, design: str, negatives: Ints, positives: Ints) -> int | None:
    if design not in ONE_MODEL:
        if examples is not None:
            raise InputError(
                f'examples must not be given for the design "{design}", only for "one_run": {show(examples)}'
            )
        return None
    guesses = sum(negatives.tolist()) + sum(positives.tolist())
    if examples is None:
        raise InputError(f'examples, at least the {guesses} guesses, must be given for the design "{design}", not None')
    number = one_whole_number("examples", examples, 1)
    if number < guesses:
        raise InputError(f"examples must be at least the {guesses} guesses (negatives and positives), not {number}")
    return number
