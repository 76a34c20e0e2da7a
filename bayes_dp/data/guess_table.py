"""What an attack says of each example of one model: a score, next to the truth; validated once and immutable."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.checks import InputError, one_number, seed_of, show, truth
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import Source, write_text_atomically
from bayes_dp.data.immutable import Immutable
from bayes_dp.data.layout import MEMBER_CELLS, MEMBER_HEADINGS, CellKind, Layout, plain, real_number
from bayes_dp.data.parsing import csv_table, file_table, frame_table, json_table
from bayes_dp.data.propensity_source import GIVEN, SIMULATED, Name, PropensitySource, named, worst
from bayes_dp.data.table import Table, chosen_rows, csv_text, labels, real_numbers
from bayes_dp.support.arrays import Bools, Floats, Indices, Ints
from bayes_dp.support.once import once
from bayes_dp.support.text import Line, Lines, Rows, Sentences

if TYPE_CHECKING:
    import pandas as pd

    from bayes_dp.data.roc import Interval, Rate, RateAt, RocCurve

__all__ = ["GuessTable", "guess_table_of", "has_scores", "rows_of_split"]


def _probability(text: str) -> float | None:
    value = real_number(text)
    return value if value is not None and 0 < value < 1 else None


_SCORE = "a number (inf and -inf too)"
_LEVEL = 1e-3  # at which members score lower
_FPRS = (0.1, 0.01, 0.001)  # of the summary
_PROBABILITY = "a probability above 0 and below 1"
_LAYOUT = Layout(
    headings={
        "score": ("score",),
        "loss": ("loss",),
        "run": ("run",),
        "member": MEMBER_HEADINGS,
        "propensity": ("propensity",),
        "base": ("base",),
        "propensity_source": ("propensitysource",),
    },
    cells={
        "score": CellKind("d", real_number, _SCORE),
        "loss": CellKind("d", real_number, _SCORE),
        "member": MEMBER_CELLS,
        "propensity": CellKind("d", _probability, _PROBABILITY),
    },
    needed=(("score", "loss"), ("member",)),
    optional=("run", "propensity", "base", "propensity_source"),
    accepted="score (or loss), member (or is_member, label, membership) and, if wanted, propensity, base",
    example="score,member",
    content="scores",
)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class GuessTable(Immutable):
    """The n examples of an audit: a higher `score` says "more likely a member", `member` is the truth.

    All arrays are read-only and of shape (n,). Scores are float64 and may be infinite. Members may be given as truth
    values or as 1 and 0. `propensity` is the probability, above 0 and below 1, that the example is a member given its
    features; one number may stand for all. `base` is a label for each example, such as the group that it belongs to.

    `propensity_source` says where the propensities come from: "given" (the default), "learned" or "rejected"; or
    "simulated" where the examples are those of a game in which nobody changed the training. A table of learned
    propensities, `Propensity.table`, knows more than the name, see `source`.

    >>> table = bdp.GuessTable([0.1, 0.4, 0.8, 0.9], [False, True, False, True])
    >>> table.counts(threshold=0.5)
    ErrorCounts: 1 base, 2 + 2 challenges, design "one_run", 4 examples
    >>> round(table.auc().value, 2)  # of the 4 pairs of a member and a non-member, 3 are in the right order
    0.75
    """

    score: Floats
    member: Bools
    propensity: Floats | None
    base: tuple[str, ...] | None
    propensity_source: PropensitySource | Callable[[], PropensitySource]

    def __init__(
        self,
        score: ArrayLike,
        member: ArrayLike,
        propensity: ArrayLike | None = None,
        base: ArrayLike | None = None,
        propensity_source: Name | PropensitySource | Callable[[], PropensitySource] = "given",
    ) -> None:
        given = {"score": score, "member": member, "propensity": propensity, "base": base}
        columns = {name: value for name, value in given.items() if value is not None or name in ("score", "member")}
        known = isinstance(propensity_source, PropensitySource) or callable(propensity_source)
        source = propensity_source if known else named(propensity_source, "propensity_source")
        self._set(_checked(Table(columns, {name: name for name in columns})) | {"propensity_source": source})

    @classmethod
    def from_losses(
        cls,
        loss: ArrayLike,
        member: ArrayLike,
        propensity: ArrayLike | None = None,
        base: ArrayLike | None = None,
    ) -> GuessTable:
        """From losses, which are lower for members: the scores are −loss."""
        given = {"loss": loss, "member": member, "propensity": propensity, "base": base}
        columns = {name: value for name, value in given.items() if value is not None or name in ("loss", "member")}
        return cls._new(_checked(Table(columns, {name: name for name in columns})))

    @classmethod
    def from_csv(cls, source: Source) -> GuessTable:
        """From a CSV file (path or open file) with one row per example and headings score, member, propensity, base,
        propensity_source.

        The last three may be missing; is_member, label or membership stands for member too; other columns are ignored.
        A column loss instead of score holds losses: the scores are −loss.
        """
        return cls._new(_checked(csv_table(source, _LAYOUT)))

    @classmethod
    def from_json(cls, source: Source) -> GuessTable:
        """From a JSON file (path or open file): an object of columns or a list of row objects, named as in CSV."""
        return cls._new(_checked(json_table(source, _LAYOUT)))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> GuessTable:
        """From a pandas DataFrame with the columns of a CSV file; its index is ignored."""
        return cls._new(_checked(frame_table(frame, _LAYOUT)))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> GuessTable:
        """From a file, by its suffix: .json, or .csv, .tsv, .txt."""
        return cls._new(_checked(file_table(path, _LAYOUT)))

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row per example."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def to_csv(self, path: str | os.PathLike[str], *, safe_cells: bool = False) -> None:
        """Write a CSV file with one row per example; members are written as 1, the others as 0.

        With `safe_cells`, a label that a spreadsheet would take for a formula gets an apostrophe before it.
        """
        columns = self._columns() | {"member": self.member.astype(np.int8)}
        lists = {name: v.tolist() if isinstance(v, np.ndarray) else v for name, v in columns.items()}
        write_text_atomically(path, csv_text(lists, safe_cells))

    def counts(self, threshold: float, per_base: bool = False) -> ErrorCounts:
        """The errors of the attack that calls an example a member where its score is at least `threshold`.

        Every example is guessed. There is one row of counts for all, or with `per_base` one for each base label, in the
        order of their first appearance; a row needs at least one member and one non-member.

        >>> table = bdp.GuessTable([0.1, 0.4, 0.8, 0.9], [False, True, False, True])
        >>> counts = table.counts(threshold=0.5)
        >>> counts.false_positives, counts.false_negatives
        (array([1]), array([1]))
        """
        least = one_number("threshold", threshold)
        called = self.score >= least
        names, codes = self._bases() if truth("per_base", per_base) else (None, np.zeros(len(self), dtype=np.int64))

        def tally(chosen: Bools) -> Ints:
            return np.bincount(codes[chosen], minlength=1 if names is None else len(names)).astype(np.int64)

        positives, negatives = tally(self.member), tally(~self.member)
        for total, others in ((positives, "non-members"), (negatives, "members")):
            if not total.all():
                i = int(np.argmin(total))
                whose = "" if names is None else f" of base {show(names[i])}"
                raise InputError(f"counts need members and non-members, but all examples{whose} are {others}")
        return ErrorCounts(
            tally(called & ~self.member),
            negatives,
            tally(~called & self.member),
            positives,
            base=names,
            design=self.design,
            examples=len(self),
        )

    def roc(self, confidence: float = 0.95) -> RocCurve:
        """The ROC curve: false and true positive rates at every threshold, with intervals of this confidence."""
        from bayes_dp.data.roc import RocCurve  # which needs SciPy

        return RocCurve.of(self.score, self.member, confidence)

    def auc(self, confidence: float = 0.95, method: Interval = "exact") -> Rate:
        """The area under the ROC curve with its interval: the chance that a member scores higher than a non-member,
        ties counting half.

        By default the interval holds at every sample size. By "delong" it is about half as wide, and approximate.

        >>> rng = np.random.default_rng(0)
        >>> table = bdp.GuessTable(rng.normal(size=400) + (np.arange(400) % 2), np.arange(400) % 2)
        >>> print(table.auc())
        0.7896 (95% interval 0.7048 to 0.8603)
        >>> print(table.auc(method="delong"))
        0.7896 (95% interval 0.7412 to 0.8301)
        """
        return self.roc(confidence).auc(method)

    def tpr_at(self, fpr: float, confidence: float = 0.95) -> RateAt:
        """The share of the members who score above the threshold at which at most the share `fpr` of the non-members
        do, with its interval, and with that of the true FPR of this threshold.

        >>> table = bdp.GuessTable(np.arange(100), np.arange(100) >= 40)
        >>> found = table.tpr_at(0.0)  # no non-member is accused
        >>> found.value, found.above, found.fpr.value
        (1.0, 39.0, 0.0)
        """
        return self.roc(confidence).tpr_at(fpr)

    def cautions(self) -> tuple[str, ...]:
        """What speaks against the scores, in sentences: that members score lower than non-members."""
        if self.member.all() or not self.member.any():
            return ()
        curve = self.roc()
        if curve.p_lower() > _LEVEL:
            return ()
        shift = ""
        if self.propensity is not None and (self.propensity != 0.5).any():
            shift = " Features by which members and non-members differ may be why, too."
        return (
            f"By these scores members score lower (AUC {curve.area():.2f}): are these losses? Those belong under the"
            f" heading loss, or to GuessTable.from_losses.{shift}",
        )

    def summary(self) -> Lines:
        """How many examples there are, and how well the scores tell members from non-members; some lines of text."""
        if self.member.all() or not self.member.any():
            return Lines.of([Line(repr(self))])
        curve = self.roc()
        points = [fpr for fpr in _FPRS if fpr * curve.negatives >= 1]
        area = str(curve.auc())
        rates = [(f"TPR at an FPR of {fpr:g}", str(curve.tpr_at(fpr))) for fpr in points]
        words = (repr(self), f"AUC {area}", *(f"{name}: {rate}" for name, rate in rates))
        table = Rows([("AUC", area), *rates], caption=repr(self), words=words)
        return Lines.of([table, Sentences("Warning", self.cautions(), "each")])

    def split(self, fraction: float = 0.5, seed: int = 0) -> tuple[GuessTable, GuessTable]:
        """Two parts with no example in common: round(fraction · n) examples drawn at random, and the others.

        Which examples these are depends on n, `fraction` and `seed` only. The rows keep their order.

        >>> table = bdp.GuessTable(np.arange(100), np.arange(100) >= 50)
        >>> table.split(fraction=0.2, seed=1)
        (GuessTable: 20 examples, 10 members, GuessTable: 80 examples, 40 members)
        """
        first, others = rows_of_split(len(self), fraction, seed)
        return self._rows(first), self._rows(others)

    def by_base(self) -> dict[str, GuessTable]:
        """The examples of each base label, in the order of their first appearance."""
        names, codes = self._bases()
        ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
        parts = np.split(np.argsort(codes, kind="stable"), ends)
        return {name: self._rows(rows) for name, rows in zip(names, parts, strict=True)}

    def rescored(self, score: ArrayLike) -> GuessTable:
        """The same examples with other scores, (n,)."""
        return GuessTable(score, self.member, self.propensity, self.base, self.propensity_source)

    @property
    def source(self) -> PropensitySource:
        """Where the propensities come from. Learned ones are tested when this is asked for the first time."""
        return self.propensity_source() if callable(self.propensity_source) else self.propensity_source

    @property
    def design(self) -> str:
        """That of error counts of guesses of these examples: "one_run", or "observational"."""
        return "observational" if self.propensity_source == SIMULATED else "one_run"

    def needed_propensity(self) -> Floats:
        """The propensities, for what cannot do without."""
        if self.propensity is None:
            raise InputError(
                "propensity must be given, the probability of each example to be a member given its features"
            )
        return self.propensity

    def __len__(self) -> int:
        return len(self.score)

    def __getitem__(self, index: int | slice | ArrayLike) -> GuessTable:
        """The chosen examples: by a number, a slice, an array of numbers or an array of booleans of shape (n,)."""
        return self._rows(chosen_rows(index, len(self), "example"))

    @once
    def digest(self) -> str:
        """SHA-256 of everything in it, in hexadecimal: equal input has an equal digest."""
        content = hashlib.sha256(f"{len(self)} {self.propensity is not None} {self.base is not None}\n".encode())
        content.update(self.score.astype("<f8").tobytes())
        content.update(self.member.astype("u1").tobytes())
        if self.propensity is not None:
            content.update(self.propensity.astype("<f8").tobytes())
        if self.base is not None:
            content.update("\n".join(self.base).encode())  # a label is one line
        if self._learned():
            content.update(b"\nlearned")
        return content.hexdigest()

    __hash__ = Immutable.__hash__  # which Python takes away from a class with its own __eq__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GuessTable):
            return NotImplemented
        return (self.base, self._learned()) == (other.base, other._learned()) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("score", "member", "propensity")
        )

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        sizes = {"example": len(self), "member": int(self.member.sum())}
        if self.base is not None:
            sizes["base"] = len(set(self.base))
        parts = [f"{size} {name}{'' if size == 1 else 's'}" for name, size in sizes.items()]
        if self.propensity is not None:
            kind = "" if not self._learned() else "simulated " if self.design == "observational" else "learned "
            parts.append(f"with {kind}propensities")
        return f"GuessTable: {', '.join(parts)}"

    def _rows(self, rows: Indices) -> GuessTable:
        return self._new(
            {
                "score": self.score[rows],
                "member": self.member[rows],
                "propensity": None if self.propensity is None else self.propensity[rows],
                "base": None if self.base is None else tuple(map(self.base.__getitem__, rows.tolist())),
                "propensity_source": self.propensity_source,
            }
        )

    def _bases(self) -> tuple[tuple[str, ...], Ints]:
        """The k different labels in the order of their first appearance, and the place among them, shape (n,)."""
        if self.base is None:
            raise InputError("base must be given to tell the examples of different bases apart, not None")
        place = {name: i for i, name in enumerate(dict.fromkeys(self.base))}
        return tuple(place), np.fromiter(map(place.__getitem__, self.base), np.int64, len(self))

    def _learned(self) -> bool:
        return self.propensity is not None and self.propensity_source != GIVEN

    def _columns(self) -> dict[str, Any]:
        columns = {name: getattr(self, name) for name in ("score", "member", "propensity", "base")}
        if self._learned():
            columns["propensity_source"] = (self.source.name,) * len(self)
        return {name: values for name, values in columns.items() if values is not None}


def guess_table_of(table: Table) -> GuessTable:
    """From columns of a table, which says what messages call their cells."""
    return GuessTable._new(_checked(table))


def has_scores(headings: Sequence[str]) -> bool:
    """Whether these are headings of scores and memberships, and not of error counts."""
    found = {_LAYOUT.column.get(plain(heading)) for heading in headings}
    return "member" in found and bool({"score", "loss"} & found)


def rows_of_split(n: int, fraction: float, seed: int) -> tuple[Indices, Indices]:
    """The rows of the two parts of a table of n examples, see `GuessTable.split`, rising, of shapes (k,), (n − k,)."""
    share = one_number("fraction", fraction, 0, 1, low_open=True, high_open=True)
    first = round(share * n)
    if not 0 < first < n:
        raise InputError(f"fraction must leave an example in both parts of {n}, which {show(fraction)} does not")
    drawn = np.zeros(n, dtype=np.bool_)
    drawn[np.random.default_rng(seed_of(seed)).choice(n, first, replace=False)] = True
    return np.flatnonzero(drawn), np.flatnonzero(~drawn)


def _checked(table: Table) -> dict[str, Any]:
    """The fields of a GuessTable, as new arrays."""
    score = _score(table) + 0.0  # so that -0.0 becomes 0.0, its equal
    member = real_numbers(table, "member", "True or False (or 1 or 0)", lambda x: (x == 0) | (x == 1), truths=True)
    n = score.size
    fields = {"score": score.reshape(n), "member": member.astype(np.bool_), "propensity": None}
    if "propensity" in table.columns:
        propensity = real_numbers(table, "propensity", _PROBABILITY, lambda x: (x > 0) & (x < 1))
        fields["propensity"] = propensity if propensity.ndim else np.full(n, propensity)
    for name, values in fields.items():
        if values is not None and values.size != n:
            heading = table.headings["score" if "score" in table.columns else "loss"]
            raise InputError(f"{table.namer(name)(None)} must hold as many rows as {heading}, {n}, not {values.size}")
        fields[name] = None if values is None else values.reshape(n)
    return fields | {"base": labels(table, "base", n, "example"), "propensity_source": _source(table, n)}


def _score(table: Table) -> Floats:
    """The scores, or losses with the other sign; shape () or (n,)."""
    if "loss" not in table.columns:
        return real_numbers(table, "score", _SCORE, lambda x: ~np.isnan(x))
    name = table.namer("loss")(None)
    if "score" in table.columns:
        raise InputError(f"{name} must not stand beside {table.headings['score']}, as both give scores: leave one out")
    if "run" in table.columns:
        raise InputError(
            f"{name} must be of one run, but there is a column {table.headings['run']}: losses of many runs are for"
            " LossTable, or bayes-dp measure"
        )
    return -real_numbers(table, "loss", _SCORE, lambda x: ~np.isnan(x))


def _source(table: Table, n: int) -> PropensitySource:
    """The worst of the sources that a column names for each row, or a JSON object once for all."""
    if "propensity_source" not in table.columns:
        return GIVEN
    if isinstance(table.columns["propensity_source"], str):
        return named(table.columns["propensity_source"], table.namer("propensity_source")(None))
    names = labels(table, "propensity_source", n, "example") or ()
    first = {name: row for row, name in reversed(list(enumerate(names)))}
    return worst([named(name, table.namer("propensity_source")(row)) for name, row in first.items()])
