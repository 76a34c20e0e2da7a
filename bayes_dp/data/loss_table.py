"""What an attack sees: the loss of one example under many models, trained with it or without; validated once."""

from __future__ import annotations

import hashlib
import io
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_dp.checks import InputError, one_number, seed_of, show
from bayes_dp.data.files import MAX_BYTES, Source, write_bytes_atomically
from bayes_dp.data.immutable import Immutable
from bayes_dp.data.layout import MEMBER_CELLS, MEMBER_HEADINGS, CellKind, Layout, real_number
from bayes_dp.data.npz import npz_arrays
from bayes_dp.data.parsing import csv_table, file_table, frame_table
from bayes_dp.data.table import Table, chosen_rows, labels
from bayes_dp.support.arrays import Bools, Floats, Indices
from bayes_dp.support.once import once
from bayes_dp.support.text import SHOWN, Lines, Rows, digits, rest

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LossTable"]

_MOST = 10 * MAX_BYTES  # of losses in an NPZ file, once unpacked
_PAIRS = (("without", "with"), ("out", "in"))  # what the two arrays of an NPZ file may be called
_SIDES = ("without the example", "with the example")


def _finite(text: str) -> float | None:
    value = real_number(text)
    return value if value is not None and math.isfinite(value) else None


_LOSS = "a finite number"
_LAYOUT = Layout(
    headings={
        "base": ("base",),
        "member": MEMBER_HEADINGS,
        "run": ("run",),
        "loss": ("loss",),
    },
    cells={
        "member": MEMBER_CELLS,
        "loss": CellKind("d", _finite, _LOSS),
    },
    needed=(("member",), ("loss",)),
    optional=("base", "run"),
    accepted="member (or is_member, label, membership), loss and, if wanted, base, run",
    example="base,member,loss",
    content="losses",
)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LossTable(Immutable):
    """Losses of n challenge bases: `without` of N0 runs trained without the example of the base, `with_` of N1 with it.

    Both arrays are read-only float64, of the shapes (n, N0) and (n, N1); N0 and N1 may differ. An array of shape (N,)
    is taken for one base. Losses must be finite. `base` is a label for each base. Column j may be the same model for
    all bases, for example if one model without any of the examples serves them all: `split` keeps columns together.

    >>> table = bdp.LossTable(without=[[2.0, 2.1, 1.9, 2.2]], with_=[[0.9, 1.1, 1.0, 1.2]])
    >>> table
    LossTable: 1 base, 4 runs without and 4 with the example
    >>> counts = bdp.attacks.measure_fast(table, target_fpr=0.1)
    >>> counts.false_positives, counts.false_negatives
    (array([1]), array([0]))
    """

    without: Floats
    with_: Floats
    base: tuple[str, ...] | None

    def __init__(self, without: ArrayLike, with_: ArrayLike, base: ArrayLike | None = None) -> None:
        self._set(_checked(without, with_, base, lambda name: name))

    @classmethod
    def from_npz(cls, source: str | os.PathLike[str] | IO[bytes], name: str | None = None) -> LossTable:
        """From an NPZ file (path or open file) with the arrays `without` and `with`, and `base` if wanted.

        `out` and `in` are read too. A file with several tables has a name before each key, such as A1_without and
        A1_with, or A1_out and A1_in: `name="A1"` chooses one, and may be left out where there is one only. Pickled
        objects are never read.
        """
        file, arrays = _archive(source, name)
        titles = {key: f"{file}: {title}" for key, (title, _) in arrays.items()}
        content = {key: values for key, (_, values) in arrays.items()}
        return cls._new(_checked(content["without"], content["with_"], content.get("base"), titles.__getitem__))

    @classmethod
    def from_csv(cls, source: Source) -> LossTable:
        """From a CSV file (path or open file) with one row per loss and the headings base, member, run, loss.

        `member` is true (or 1, yes, in) for a run with the example; is_member, label or membership stands for it too.
        Without `base` all losses are of one base. The runs of a side are in the order of their rows, or, with `run`,
        in that of the labels' first appearance; each base must then have the same runs. Other columns are ignored.
        """
        return cls._new(_long_form(csv_table(source, _LAYOUT)))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> LossTable:
        """From a pandas DataFrame with the columns of a CSV file; its index is ignored."""
        return cls._new(_long_form(frame_table(frame, _LAYOUT)))

    @classmethod
    def read(cls, path: str | os.PathLike[str], name: str | None = None) -> LossTable:
        """From a file, by its suffix: .npz (where `name` chooses a table), or .csv, .tsv, .txt, .json in long form."""
        if isinstance(path, str | os.PathLike) and os.path.splitext(os.fspath(path))[1].lower() in (".npz", ".npy"):
            return cls.from_npz(path, name)
        if name is not None:
            raise InputError(f"name must not be given for {show(path)}, only for an .npz file: {show(name)}")
        return cls._new(_long_form(file_table(path, _LAYOUT)))

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write an NPZ file with the arrays `without` and `with`, and `base` if there are labels."""
        arrays: dict[str, Any] = {"without": self.without, "with": self.with_}
        if self.base is not None:
            arrays["base"] = np.array(self.base)
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)
        write_bytes_atomically(path, content.getvalue())

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row per loss and the columns base, member, run, loss."""
        import pandas as pd

        names = np.array(self.base if self.base is not None else range(len(self)))
        parts = []
        for member, losses in enumerate((self.without, self.with_)):
            runs = losses.shape[1]
            columns = {"base": np.repeat(names, runs), "member": bool(member), "run": np.tile(range(runs), len(self))}
            parts.append(pd.DataFrame(columns | {"loss": losses.reshape(-1)}))
        return pd.concat(parts, ignore_index=True)

    def split(self, fraction: float = 0.5, seed: int = 0) -> tuple[LossTable, LossTable]:
        """Two tables of the same bases with no run in common: round(fraction · N) runs of each side, and the others.

        Which runs these are depends on N0, N1, `fraction` and `seed` only. They are the same for all bases, and where
        N0 = N1 they are the same on both sides, so that runs that share a model or a seed stay together.

        >>> table = bdp.LossTable(np.ones((2, 10)), np.zeros((2, 20)))
        >>> table.split(fraction=0.5, seed=1)[0]
        LossTable: 2 bases, 5 runs without and 10 with the example each
        """
        share = one_number("fraction", fraction, 0, 1, low_open=True, high_open=True)
        rng = np.random.default_rng(seed_of(seed))
        drawn: dict[int, Bools] = {}
        for n in (self.without.shape[1], self.with_.shape[1]):
            first = round(share * n)
            if not 0 < first < n:
                raise InputError(f"fraction must leave a run in both parts of {n}, which {show(fraction)} does not")
            if n not in drawn:
                drawn[n] = np.zeros(n, dtype=np.bool_)
                drawn[n][rng.choice(n, first, replace=False)] = True
        one, other = (
            {name: losses[:, drawn[losses.shape[1]] == part] for name, losses in self._arrays().items()}
            for part in (True, False)
        )
        return self._new(one | {"base": self.base}), self._new(other | {"base": self.base})

    def __len__(self) -> int:
        return len(self.without)

    def __getitem__(self, index: int | slice | ArrayLike) -> LossTable:
        """The chosen bases: by a number, a slice, an array of numbers or an array of booleans of shape (n,)."""
        rows = chosen_rows(index, len(self), "base")
        names = None if self.base is None else tuple(self.base[i] for i in rows)
        return self._new({name: losses[rows] for name, losses in self._arrays().items()} | {"base": names})

    @once
    def digest(self) -> str:
        """SHA-256 of everything in it, in hexadecimal: equal input has an equal digest."""
        content = hashlib.sha256(f"{self.without.shape} {self.with_.shape} {self.base is not None}\n".encode())
        for losses in self._arrays().values():
            content.update(losses.astype("<f8").tobytes())
        if self.base is not None:
            content.update("\n".join(self.base).encode())  # a label is one line
        return content.hexdigest()

    __hash__ = Immutable.__hash__  # which Python takes away from a class with its own __eq__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LossTable):
            return NotImplemented
        return self.base == other.base and all(
            np.array_equal(losses, getattr(other, name)) for name, losses in self._arrays().items()
        )

    def summary(self) -> Lines:
        """Mean and standard deviation of the losses of each base, of the first 20 if there are more, as a table.

        >>> print(bdp.LossTable(without=[[2.0, 2.1, 1.9, 2.2]], with_=[[0.9, 1.1, 1.0, 1.2]]).summary())
        LossTable: 1 base, 4 runs without and 4 with the example
        base  loss without       loss with
        0     2.05 (sd 0.1118)   1.05 (sd 0.1118)
        """
        names = self.base or tuple(map(str, range(len(self))))
        sides = self.without[:SHOWN], self.with_[:SHOWN]
        with np.errstate(over="ignore", invalid="ignore"):  # losses near the end of the floats
            moments = [zip(side.mean(axis=1), side.std(axis=1), strict=True) for side in sides]
        found = [[f"{digits(mean)} (sd {digits(sd)})" for mean, sd in side] for side in moments]
        cells = list(zip(names[:SHOWN], *found, strict=True))
        headings = ("base", "loss without", "loss with")
        return Lines.of([Rows(cells, headings, repr(self)), *rest(len(self), "bases")])

    def __repr__(self) -> str:
        bases, each = ("1 base", "") if len(self) == 1 else (f"{len(self)} bases", " each")
        without, with_ = self.without.shape[1], self.with_.shape[1]
        runs = "run" if without == 1 else "runs"
        return f"LossTable: {bases}, {without} {runs} without and {with_} with the example{each}"

    def _arrays(self) -> dict[str, Floats]:
        return {"without": self.without, "with_": self.with_}


def _checked(without: Any, with_: Any, base: Any, title: Callable[[str], str]) -> dict[str, Any]:
    """The fields of a LossTable as new arrays; `title` is what messages call a field."""
    losses = {"without": _numeric(without, title("without")), "with_": _numeric(with_, title("with_"))}
    for name, values in losses.items():
        if values.ndim == 1:
            losses[name] = values = values[None]
        if values.ndim != 2 or not values.size:
            raise InputError(
                f"{title(name)} must have a row for each base and a column for each run, at least one of both, "
                f"not the shape {values.shape}"
            )
    n = len(losses["without"])
    if len(losses["with_"]) != n:
        raise InputError(
            f"{title('with_')} must have as many bases (rows) as {title('without')}, {n}, not {len(losses['with_'])}"
        )
    names = None if base is None else labels(Table({"base": base}, {"base": title("base")}), "base", n)
    for (name, values), side in zip(losses.items(), _SIDES, strict=True):
        if not (good := np.isfinite(values)).all():
            i, j = (int(k) for k in np.unravel_index(np.argmin(good), good.shape))
            label = "" if names is None else f" ({show(names[i])})"
            raise InputError(
                f"{title(name)}[{i}, {j}], the loss of base {i}{label} in run {j} {side}, must be {_LOSS}, not "
                f"{show(values[i, j])}"
            )
    return losses | {"base": names}


def _numeric(value: Any, name: str) -> Floats:
    """A copy as float64 of any shape; -0.0 becomes 0.0, its equal. Masked elements become NaN."""
    try:
        array = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
    except Exception:  # a ragged list, or a value of any class, which may raise anything
        array = np.array(None)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} must be an array of numbers, with as many runs for each base, not {show(value)}")
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64)
    return np.asarray(floats.filled(np.nan) if isinstance(floats, np.ma.MaskedArray) else floats) + 0.0


def _archive(source: Any, name: str | None) -> tuple[str, dict[str, tuple[str, NDArray[Any]]]]:
    """The name of an NPZ file, and its key and array for each of "without", "with_" and, if it is there, "base"."""
    if name is not None and not isinstance(name, str):
        raise InputError(f"name must be a text such as 'A1', not {show(name)}")
    return npz_arrays(source, lambda file, keys: _keys(file, keys, name), "without and with", "losses", _MOST)


def _keys(file: str, keys: Sequence[str], name: str | None) -> dict[str, str]:
    """Field -> key of the table `name`, or of the only one in the file."""
    tables: dict[str, tuple[str, str]] = {}  # the prefixes that have both arrays; "" where there is no name
    for key in keys:
        for one, other in _PAIRS:
            prefix = key.removesuffix(one)
            if prefix != key and (not prefix or prefix.endswith("_")) and f"{prefix}{other}" in keys:
                tables.setdefault(prefix, (key, f"{prefix}{other}"))
    names = {prefix.removesuffix("_"): prefix for prefix in tables}
    listed = ", ".join(known for known in names if known) or "none"
    if name is None:
        if not names:
            raise InputError(f"{file} must hold the arrays without and with (or out and in); it holds {_shown(keys)}")
        if len(names) > 1 and "" not in names:
            raise InputError(f"{file} holds several tables of losses; give the name of one of them: {listed:.300}")
        name = "" if "" in names else next(iter(names))
    if name not in names:
        raise InputError(
            f"{file} has no losses of the name {show(name)} (the arrays {show(name + '_without')} and "
            f"{show(name + '_with')}, or _out and _in); the names in it are {listed:.300}, the keys {_shown(keys)}"
        )
    prefix = names[name]
    found = dict(zip(("without", "with_"), tables[prefix], strict=True))
    base = next((key for key in (f"{prefix}base", "base") if key in keys), None)
    return found if base is None else found | {"base": base}


def _shown(keys: Sequence[str]) -> str:
    return show(list(keys)) if keys else "no array"


def _long_form(table: Table) -> dict[str, Any]:
    """The fields of a LossTable from one row per loss."""
    loss = _numeric(table.columns["loss"], table.namer("loss")(None))
    if loss.ndim != 1 or not loss.size:
        raise InputError(f"{table.namer('loss')(None)} must hold one loss for each row, not {show(loss)}")
    n = loss.size
    if not (good := np.isfinite(loss)).all():
        i = int(np.argmin(good))
        raise InputError(f"{table.namer('loss')(i)} must be {_LOSS}, not {show(loss[i])}")
    member = _members(table, n)
    bases, base = _codes(labels(table, "base", n, "loss"), n)
    named = labels(table, "run", n, "loss")
    runs, run = _codes(named, n)
    losses: dict[str, Floats] = {}
    for field, side, words in zip(("without", "with_"), (False, True), _SIDES, strict=True):
        rows = np.flatnonzero(member == side)
        rows = rows[np.lexsort((run[rows], base[rows]))]  # stable: the order of the rows where there are no run labels
        sizes = np.bincount(base[rows], minlength=len(bases))
        if (bad := (sizes != sizes[0]) | (sizes == 0)).any():
            i = int(np.argmax(bad))
            raise InputError(
                f"{table.namer('loss')(None)} must hold as many runs for each base, but base {show(bases[i])} has "
                f"{sizes[i]} {words}" + (f" and base {show(bases[0])} has {sizes[0]}" if i else "")
            )
        if named is not None:
            _same_runs(table, base, run, rows.reshape(len(bases), -1), (bases, runs), words)
        losses[field] = loss[rows].reshape(len(bases), -1)
    return losses | {"base": bases if "base" in table.columns else None}


def _same_runs(
    table: Table,
    base: Indices,
    run: Indices,
    rows: Indices,
    names: tuple[Sequence[str], Sequence[str]],
    side: str,
) -> None:
    """Refuse a run that a base has twice, or that the first base does not have; `rows` has the shape (n, N)."""
    bases, runs = names
    grid = run[rows]
    twice = np.zeros(grid.shape, dtype=np.bool_)
    twice[:, 1:] = grid[:, 1:] == grid[:, :-1]
    for bad, problem in ((twice, "appears twice"), (grid != grid[0], "is not among the runs of the first base")):
        if bad.any():
            row = int(rows[tuple(np.argwhere(bad)[0])])
            raise InputError(
                f"{table.namer('run')(row)} must name each run {side} once, and the same runs for all bases, but "
                f"{show(runs[run[row]])} of base {show(bases[base[row]])} {problem}"
            )


def _members(table: Table, n: int) -> Bools:
    """The column of truths, as booleans of shape (n,)."""
    cells = np.asarray(table.columns["member"], dtype=object)
    if cells.shape != (n,):
        raise InputError(f"{table.namer('member')(None)} must hold as many rows as the losses, {n}, not {cells.size}")
    found = [MEMBER_CELLS.read(str(cell)) for cell in cells.tolist()]
    if None in found:
        i = found.index(None)
        raise InputError(f"{table.namer('member')(i)} must be {MEMBER_CELLS.wanted}, not {show(cells[i])}")
    return np.array(found, dtype=np.bool_)


def _codes(names: Sequence[str] | None, n: int) -> tuple[tuple[str, ...], Indices]:
    """The different labels in the order of their first appearance, and the place among them of each, shape (n,)."""
    if names is None:
        return ("0",), np.zeros(n, dtype=np.intp)
    place = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return tuple(place), np.fromiter(map(place.__getitem__, names), np.intp, n)
