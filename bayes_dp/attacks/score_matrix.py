"""What M models give to the same m examples, and which models were trained with which: what attacks start from.

    statistic   φ = log p − log(1 − p), the log-odds of the example's own class (`data/log_odds.py`), or other scores
    member      1 if the model was trained with the example, 0 if it was not, −1 if that is not known or not measured

An attack on one model, the target, has the others as its references. It knows which examples these were trained with,
and nothing of the memberships of the target, which stand beside its scores as the truth (`GuessTable`).
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_dp.attacks.references.registry import attack as attack_named
from bayes_dp.attacks.references.registry import default
from bayes_dp.attacks.references.view import View
from bayes_dp.checks import InputError, is_whole, show
from bayes_dp.data.files import MAX_BYTES, write_bytes_atomically
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.immutable import Immutable
from bayes_dp.data.layout import MEMBER_HEADINGS, Layout
from bayes_dp.data.log_odds import log_likelihood, odds_of_logits, odds_of_losses, odds_of_probabilities
from bayes_dp.data.npz import npz_arrays
from bayes_dp.data.parsing import frame_table
from bayes_dp.data.table import Table, labels, real_numbers
from bayes_dp.support.arrays import Floats, Indices
from bayes_dp.support.once import once
from bayes_dp.support.text import Lines, Rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ScoreMatrix"]

_MOST = 20 * MAX_BYTES  # of arrays in an NPZ file, once unpacked
_LARGEST = 1e100  # of a score, so that squares are finite
_STATISTICS = ("losses", "logits", "probabilities", "log_odds", "scores")
_OTHERS = (
    "labels",
    "population",
    "population_labels",
    "gradient_norm",
    "features",
    "population_features",
    "example",
    "model",
)
_WANTED = {  # of a statistic, in a message
    "losses": "a cross-entropy, a finite number of at least 0 (give scores for other losses, with the other sign)",
    "logits": "a finite number",
    "probabilities": "a probability, from 0 to 1",
    "log_odds": "a finite number",
    "scores": "a finite number",
}
_COLUMNS = {"loss": "losses", "log_odds": "log_odds", "score": "scores"}  # of a long table -> argument
_LAYOUT = Layout(
    headings={
        "model": ("model",),
        "example": ("example",),
        "member": MEMBER_HEADINGS,
        "loss": ("loss",),
        "log_odds": ("logodds",),
        "score": ("score",),
        "gradient_norm": ("gradientnorm",),
    },
    cells={},
    needed=(("model",), ("example",), ("member",), tuple(_COLUMNS)),
    optional=("gradient_norm",),
    accepted="model, example, member and loss, log_odds or score and, if wanted, gradient_norm",
    example="model,example,member,loss",
    content="scores",
)
_NORM = "a finite number of at least 0"
_SUM = 1e-2  # by which probabilities may miss 1, as those of half precision do

Signs = NDArray[np.int8]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ScoreMatrix(Immutable):
    """Statistics of m examples under M models, with the models' memberships. Give one of

    - `losses`, (M, m): cross-entropies −log p, at least 0;
    - `logits`, (M, m, k), with the class of each example in `labels`, (m,), from 0 to k − 1; or (M, m) of class 1;
    - `probabilities`, (M, m, k) with `labels`; or (M, m) of class 1 with `labels`, of the example's class without;
    - `log_odds`, (M, m): log p − log(1 − p) of the example's class;
    - `scores`, (M, m): anything else that is higher for members, such as log densities.

    `member`, (M, m), is True or 1 where the model was trained with the example, False or 0 where it was not, and −1 or
    NaN where that is not known, or the model was not asked: there, and only there, a statistic may be missing (NaN). It
    is left out of everything. How many models were trained with an example may differ from example to example.

    `population` has the same statistic of z examples that no model was trained on, (M, z) or (M, z, k) with
    `population_labels`. `gradient_norm`, (M, m), is for the attack of this name; `features`, (m, d), and
    `population_features`, (z, d), are for quantile regression. `example` and `model` are labels.

    >>> rng = np.random.default_rng(0)
    >>> member = rng.random((8, 200)) < 0.5
    >>> matrix = bdp.ScoreMatrix(member, log_odds=rng.normal(0, 2, 200) + member + rng.normal(size=(8, 200)))
    >>> matrix
    ScoreMatrix: 8 models, 200 examples with 0 to 8 of them trained on each
    >>> table = matrix.attack("rmia", target=0)
    >>> table
    GuessTable: 200 examples, 88 members
    >>> table.auc().value > matrix.attack("loss", target=0).auc().value
    True
    """

    statistic: Floats
    member: Signs
    is_log_odds: bool
    population: Floats | None
    gradient_norm: Floats | None
    features: Floats | None
    population_features: Floats | None
    example: tuple[str, ...] | None
    model: tuple[str, ...] | None

    def __init__(
        self,
        member: ArrayLike,
        *,
        losses: ArrayLike | None = None,
        logits: ArrayLike | None = None,
        probabilities: ArrayLike | None = None,
        log_odds: ArrayLike | None = None,
        scores: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        population: ArrayLike | None = None,
        population_labels: ArrayLike | None = None,
        gradient_norm: ArrayLike | None = None,
        features: ArrayLike | None = None,
        population_features: ArrayLike | None = None,
        example: ArrayLike | None = None,
        model: ArrayLike | None = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in ("self", "__class__")}
        needed = {name: value for name, value in given.items() if value is not None or name == "member"}
        self._set(_checked(needed, ""))

    @classmethod
    def from_npz(cls, source: str | os.PathLike[str] | IO[bytes]) -> ScoreMatrix:
        """From an NPZ file (path or open file) whose arrays have the names of the arguments. Pickled objects are never
        read.

        >>> import io
        >>> file = io.BytesIO()
        >>> np.savez(file, losses=[[0.1, 2.0], [1.5, 0.2]], member=[[1, 0], [0, 1]])
        >>> _ = file.seek(0)
        >>> bdp.ScoreMatrix.from_npz(file)
        ScoreMatrix: 2 models, 2 examples with 1 of them trained on each
        """
        file, found = npz_arrays(source, _keys, "member and losses (or logits, …)", "scores", _MOST)
        return cls._new(_checked({name: values for name, (_, values) in found.items()}, f"{file}: "))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> ScoreMatrix:
        """From a pandas DataFrame with a row for each model and example: the columns model, example, member, and loss,
        log_odds or score, and gradient_norm if wanted.

        Pairs that have no row were not measured. Models and examples are in the order of their first appearance.

        >>> import pandas as pd
        >>> rows = [("a", "x", True, 0.1), ("a", "y", False, 2.0), ("b", "x", False, 1.5)]
        >>> matrix = bdp.ScoreMatrix.from_frame(pd.DataFrame(rows, columns=["model", "example", "member", "loss"]))
        >>> matrix.model, matrix.example, matrix.member
        (('a', 'b'), ('x', 'y'), array([[ 1,  0],
               [ 0, -1]], dtype=int8))
        """
        return cls._new(_long_form(frame_table(frame, _LAYOUT)))

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write an NPZ file, atomically, that `from_npz` reads back as it is."""
        arrays: dict[str, Any] = {
            name: value for name in self.__dataclass_fields__ if (value := getattr(self, name)) is not None
        }
        arrays["log_odds" if arrays.pop("is_log_odds") else "scores"] = arrays.pop("statistic")
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)
        write_bytes_atomically(path, content.getvalue())

    def attack(
        self, name: str | None = None, target: int = 0, references: Sequence[int] | None = None, **settings: Any
    ) -> GuessTable:
        """The scores that an attack gives to the examples of model `target`, beside its memberships.

        `references` are the models that the attack knows, by their numbers; by default all others. Examples of which
        the target's membership is not known are left out. By default the attack is "loss" without references,
        "calibration" with one or two, and "rmia" with more.

        `settings` are those of the attack: `variance="own"` of "lira" and "lira-offline", `gamma` of "rmia" and
        "rmia-offline", `a` of "rmia-offline". What is tuned is tuned on the references alone.
        """
        target = self._model("target", target)
        known = (
            tuple(r for r in range(len(self)) if r != target)
            if references is None
            else self._models("references", references)
        )
        if target in known:
            raise InputError(f"references must not have the target among them, model {target}")
        chosen = attack_named(default(len(known)) if name is None else name)
        if wrong := [each for each in settings if each not in chosen.settings]:
            listed = ", ".join(chosen.settings) or "none"
            raise InputError(f'{wrong[0]} is no setting of the attack "{chosen.name}", which has {listed}')
        measured = self.member[target] >= 0
        if not measured.any():
            raise InputError(f"target must be a model with known memberships, which model {target} has for no example")
        with np.errstate(all="ignore"):
            score = chosen.score(self._view(target, known, measured), **settings)
        return GuessTable(score, self.member[target][measured] == 1)

    def _view(self, target: int, references: tuple[int, ...], measured: NDArray[np.bool_]) -> View:
        """What an attack sees of the examples that the target was measured on."""
        chosen = slice(None) if measured.all() else measured  # a slice copies nothing
        return View(
            statistic=self.statistic[:, chosen],
            log_likelihood=self._log_likelihood()[:, chosen],
            is_probability=self.is_log_odds,
            member=self.member[:, chosen],
            target=target,
            references=references,
            population=self.population,
            population_log_likelihood=self._population_log_likelihood(),
            features=None if self.features is None else self.features[chosen],
            population_features=self.population_features,
            gradient_norm=None if self.gradient_norm is None else self.gradient_norm[:, chosen],
        )

    def to_frame(self) -> pd.DataFrame:
        """A pandas DataFrame with one row for each model and example whose membership is known."""
        import pandas as pd

        row, column = np.nonzero(self.member >= 0)
        columns = {
            "model": np.asarray(self._names())[row],
            "example": np.asarray(range(self.member.shape[1]) if self.example is None else self.example)[column],
            "member": self.member[row, column] == 1,
            "log_odds" if self.is_log_odds else "score": self.statistic[row, column],
        }
        if self.gradient_norm is not None:
            columns["gradient_norm"] = self.gradient_norm[row, column]
        return pd.DataFrame(columns)

    def summary(self) -> Lines:
        """How many models and examples there are, and how many models were trained with an example; lines of text."""
        known = (self.member >= 0).sum(axis=0)
        rows = [
            ("models", f"{len(self)}"),
            ("examples", f"{self.member.shape[1]}"),
            ("models trained with an example", _span(self._with())),
            ("models trained without it", _span(known - self._with())),
            ("statistic", "log-odds of the class" if self.is_log_odds else "scores"),
            ("population examples", "none" if self.population is None else f"{self.population.shape[1]}"),
        ]
        if missing := int((self.member < 0).sum()):
            rows.append(("pairs whose membership is not known", f"{missing}"))
        return Lines.of([Rows(rows, caption=repr(self))])

    def __len__(self) -> int:
        return len(self.statistic)

    @once
    def digest(self) -> str:
        """SHA-256 of everything in it, in hexadecimal: equal input has an equal digest."""
        content = hashlib.sha256()
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            array = None if value is None else np.ascontiguousarray(value)
            content.update(f"{name} {None if array is None else (array.shape, array.dtype.str)}\n".encode())
            if array is not None:
                content.update(array.tobytes())
        return content.hexdigest()

    __hash__ = Immutable.__hash__  # which Python takes away from a class with its own __eq__

    def __eq__(self, other: object) -> bool:
        return self.digest() == other.digest() if isinstance(other, ScoreMatrix) else NotImplemented

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, ({name: getattr(self, name) for name in self.__dataclass_fields__},)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        models, examples = self.member.shape
        return (
            f"ScoreMatrix: {models} model{'s' * (models > 1)}, {examples} example{'s' * (examples > 1)} with"
            f" {_span(self._with())} of them trained on each"
        )

    def _repr_html_(self) -> str:
        return self.summary().html

    def _with(self) -> Indices:
        """How many models were trained with each example, (m,)."""
        return np.count_nonzero(self.member == 1, axis=0)

    @once
    def _log_likelihood(self) -> Floats:
        return log_likelihood(self.statistic) if self.is_log_odds else self.statistic

    @once
    def _population_log_likelihood(self) -> Floats | None:
        return log_likelihood(self.population) if self.is_log_odds and self.population is not None else self.population

    def _names(self) -> tuple[str, ...]:
        """Those of the models, or their numbers."""
        return self.model if self.model is not None else tuple(map(str, range(len(self))))

    def _model(self, name: str, value: Any) -> int:
        if not is_whole(value) or not 0 <= value < len(self):
            raise InputError(f"{name} must be the number of a model, from 0 to {len(self) - 1}, not {show(value)}")
        return int(value)

    def _models(self, name: str, values: Any) -> tuple[int, ...]:
        """Different numbers of models."""
        if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str) or np.ndim(values) != 1:
            raise InputError(f"{name} must be a list of numbers of models, not {show(values)}")
        found = tuple(self._model(f"{name}[{k}]", value) for k, value in enumerate(values))
        if twice := next((k for k, value in enumerate(found) if value in found[:k]), 0):
            raise InputError(
                f"{name}[{twice}] must differ from those before it, but model {found[twice]} is there twice"
            )
        return found


def _restored(fields: dict[str, Any]) -> ScoreMatrix:
    return ScoreMatrix._new(fields)


def _span(numbers: Indices) -> str:
    return f"{numbers.min()}" if numbers.min() == numbers.max() else f"{numbers.min()} to {numbers.max()}"


# Checks --------------------------------------------------------------------------------------------------------------


def _keys(file: str, keys: Sequence[str]) -> dict[str, str]:
    """The arrays of a file that are arguments."""
    if "member" not in keys or not any(name in keys for name in _STATISTICS):
        held = show(list(keys)) if keys else "no array"
        raise InputError(f"{file} must hold the array member and one of {', '.join(_STATISTICS)}; it holds {held}")
    return {name: name for name in ("member", *_STATISTICS, *_OTHERS) if name in keys}


def _checked(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a ScoreMatrix as new arrays; messages put `where` before the names of arguments."""
    kinds = [name for name in _STATISTICS if name in given]
    if len(kinds) != 1:
        listed = f"{', '.join(_STATISTICS[:-1])} or {_STATISTICS[-1]}"
        raise InputError(f"{where}one of {listed} must be given, not {' and '.join(kinds) or 'none'}")
    kind = kinds[0]
    member = _memberships(given["member"], f"{where}member")
    models, examples = member.shape
    values = _array(f"{where}{kind}", given[kind], (2, 3) if kind in ("logits", "probabilities") else (2,))
    if values.shape[:2] != member.shape:
        raise InputError(
            f"{where}{kind} must have a row for each of the {models} models of member and a column for each of its"
            f" {examples} examples, not the shape {values.shape}"
        )
    classes = 2 if values.ndim == 2 else values.shape[2]
    own = _labels(given, "labels", kind, values.ndim, classes, examples, where)
    fields: dict[str, Any] = {
        "statistic": _statistic(f"{where}{kind}", values, kind, own, member),
        "member": member,
        "is_log_odds": kind != "scores",
        "population": None,
    }
    if "population" in given:
        name = f"{where}population"
        others = _array(name, given["population"], (values.ndim,))
        if len(others) != models or others.shape[2:] != values.shape[2:]:
            raise InputError(f"{name} must hold {kind} of the {models} models, not the shape {others.shape}")
        theirs = None
        if own is not None:
            theirs = _labels(given, "population_labels", kind, others.ndim, classes, others.shape[1], where)
            if theirs is None:
                raise InputError(
                    f"{where}population_labels must be given, the class of each population example, not None"
                )
        fields["population"] = _statistic(name, others, kind, theirs, None)
    if "population_labels" in given and ("population" not in given or own is None):
        raise InputError(f"{where}population_labels must be given with population and labels only")
    fields["gradient_norm"] = _norms(given, member, where)
    fields |= _features(given, examples, fields["population"], where)
    for name, n, row in (("example", examples, "example"), ("model", models, "model")):
        table = Table({name: given[name]} if name in given else {}, {name: f"{where}{name}"})
        fields[name] = labels(table, name, n, row)
    return {name: fields[name] for name in ScoreMatrix.__dataclass_fields__}


def _long_form(table: Table) -> dict[str, Any]:
    """The fields of a ScoreMatrix from one row for each model and example."""
    column = next(name for name in _COLUMNS if name in table.columns)
    if twice := [name for name in _COLUMNS if name in table.columns and name != column]:
        raise InputError(
            f"{table.namer(column)(None)} must not stand beside {table.headings[twice[0]]}: leave one of them out"
        )
    values = {column: real_numbers(table, column, _WANTED[_COLUMNS[column]], lambda x: _good(x, _COLUMNS[column]))}
    if "gradient_norm" in table.columns:
        values["gradient_norm"] = real_numbers(table, "gradient_norm", _NORM, lambda x: _good(x, "losses"))
    n = values[column].size
    member = real_numbers(table, "member", "True or False (or 1 or 0)", lambda x: (x == 0) | (x == 1), truths=True)
    names, places = {}, []
    for each in ("model", "example"):
        found = labels(table, each, n, "row") or ()
        place = {name: k for k, name in enumerate(dict.fromkeys(found))}
        names[each] = tuple(place)
        places.append(np.fromiter(map(place.__getitem__, found), np.intp, n))
    shape = len(names["model"]), len(names["example"])
    pairs = np.ravel_multi_index(tuple(places), shape)
    first = np.full(shape[0] * shape[1], n)
    np.minimum.at(first, pairs, np.arange(n))
    if (bad := first[pairs] < np.arange(n)).any():
        row = int(np.argmax(bad))
        model, example = (names[each][where[row]] for each, where in zip(names, places, strict=True))
        raise InputError(
            f"{table.namer('example')(row)} must be there once for each model, but {show(example)} of model"
            f" {show(model)} is there twice"
        )

    def spread(of: Floats) -> Floats:
        found = np.full(shape, np.nan)
        found[tuple(places)] = of
        return found

    given = {_COLUMNS[column]: spread(values[column]), "member": spread(member)} | names
    if "gradient_norm" in values:
        given["gradient_norm"] = spread(values["gradient_norm"])
    return _checked(given, "")


def _array(name: str, value: Any, dimensions: tuple[int, ...]) -> NDArray[Any]:
    """An array of numbers, without an empty axis; masked elements become NaN."""
    try:
        array = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
    except Exception:  # a ragged list, or a value of any class, which may raise anything
        array = np.array(None)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} must be an array of numbers, not {show(value):.80}")
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    if array.ndim not in dimensions or not array.size:
        wanted = " or ".join({1: "(m,)", 2: "(M, m)", 3: "(M, m, k)"}[each] for each in dimensions)
        raise InputError(f"{name} must be of the shape {wanted} with nothing empty, not {array.shape}")
    return array


def _memberships(value: Any, name: str) -> Signs:
    """1, 0 and −1, (M, m)."""
    try:
        array = value if isinstance(value, np.ma.MaskedArray) else np.asarray(value)
        if array.dtype.kind == "O":  # truth values beside None, or of pandas
            array = np.array([[np.nan if cell is None else float(cell) for cell in row] for row in array])
    except Exception:  # a ragged list, or cells of any class, which may raise anything
        array = np.array(None)
    if array.dtype.kind not in "biuf" or array.ndim != 2 or not array.size:
        raise InputError(
            f"{name} must have a row for each model and a column for each example, at least one of both, of True and"
            f" False (or 1 and 0, and −1 or NaN where it is not known), not {show(value):.80}"
        )
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    if array.dtype.kind == "b":
        return array.astype(np.int8)
    unknown = np.isnan(array) | (array == -1)
    if (bad := ~unknown & (array != 0) & (array != 1)).any():
        r, i = _place(bad)
        raise InputError(
            f"{name}[{r}, {i}] must be 1 (model {r} was trained with example {i}), 0 (it was not), or −1 or NaN (not"
            f" known), not {show(array[r, i])}"
        )
    return np.where(unknown, -1, array).astype(np.int8)


def _labels(
    given: Mapping[str, Any], name: str, kind: str, dimensions: int, classes: int, n: int, where: str
) -> Indices | None:
    """The classes of n examples, if they are needed or given."""
    if name not in given:
        if dimensions == 3 or kind == "logits":
            raise InputError(f"{where}{name} must be given, the class of each example, for {kind}")
        return None
    if kind not in ("logits", "probabilities"):
        raise InputError(f"{where}{name} must not be given for {kind}, which are of each example's own class")
    found = _array(f"{where}{name}", given[name], (1,))
    if len(found) != n:
        raise InputError(f"{where}{name} must hold a class for each of the {n} examples, not {len(found)}")
    if (bad := (found != np.floor(found)) | ~(found >= 0) | (found >= classes)).any():
        i = int(np.argmax(bad))
        raise InputError(f"{where}{name}[{i}] must be a whole number from 0 to {classes - 1}, not {show(found[i])}")
    return found.astype(np.intp)


def _statistic(name: str, values: NDArray[Any], kind: str, own: Indices | None, member: Signs | None) -> Floats:
    """φ, or scores, (M, m), and NaN where the membership is not known; model by model, which needs less memory."""
    made = np.empty(values.shape[:2])
    for r, row in enumerate(values):
        known = np.ones(len(row), dtype=np.bool_) if member is None else member[r] >= 0
        each = known if row.ndim == 1 else known[:, None]
        if (bad := each & ~_good(row.astype(np.float64, copy=False), kind)).any():
            place = _place(bad)
            listed = ", ".join(map(str, (r, *place)))
            raise InputError(
                f"{name}[{listed}], of model {r} at example {place[0]}, must be {_WANTED[kind]}, not {show(row[place])}"
            )
        if kind == "probabilities" and row.ndim == 2:
            with np.errstate(invalid="ignore"):
                total = row.sum(axis=1, dtype=np.float64)
            if (wrong := known & ~(np.abs(total - 1) <= _SUM)).any():
                i = int(np.argmax(wrong))
                raise InputError(f"{name}[{r}, {i}], of model {r} at example {i}, must add up to 1, not {total[i]:.6g}")
        with np.errstate(all="ignore"):
            made[r] = _of_kind(np.where(each, row, 0.5), kind, own)
        made[r, ~known] = np.nan
    return made


def _of_kind(row: NDArray[Any], kind: str, own: Indices | None) -> Floats:
    """The statistics of one model, (m,)."""
    if kind == "logits" and own is not None:
        return odds_of_logits(row, own)
    if kind == "probabilities":
        return odds_of_probabilities(row, own)
    row = row.astype(np.float64)
    return odds_of_losses(row) if kind == "losses" else row + 0.0  # so that -0.0 becomes 0.0, its equal


def _good(cells: Floats, kind: str) -> NDArray[np.bool_]:
    low, high = {"losses": (0.0, _LARGEST), "probabilities": (0.0, 1.0)}.get(kind, (-_LARGEST, _LARGEST))
    with np.errstate(invalid="ignore"):
        found: NDArray[np.bool_] = (cells >= low) & (cells <= high)
    return found


def _norms(given: Mapping[str, Any], member: Signs, where: str) -> Floats | None:
    """Norms of gradients, (M, m); those of a whole model may be missing, and where the membership is not known."""
    if "gradient_norm" not in given:
        return None
    name = f"{where}gradient_norm"
    norms = _array(name, given["gradient_norm"], (2,)).astype(np.float64)
    if norms.shape != member.shape:
        raise InputError(f"{name} must have the shape of member, {member.shape}, not {norms.shape}")
    bad = ~_good(norms, "losses") & (member >= 0) & ~np.isnan(norms).all(axis=1, keepdims=True)
    if bad.any():
        r, i = _place(bad)
        raise InputError(f"{name}[{r}, {i}], of model {r} at example {i}, must be {_NORM}, not {show(norms[r, i])}")
    return norms


def _features(given: Mapping[str, Any], examples: int, population: Floats | None, where: str) -> dict[str, Any]:
    """Features of the examples and of the population, both or none."""
    names = ("features", "population_features")
    if not any(name in given for name in names):
        return dict.fromkeys(names)
    if population is None or not all(name in given for name in names):
        raise InputError(f"{where}features must be given with population and population_features")
    found = {}
    for name, n in zip(names, (examples, population.shape[1]), strict=True):
        values = _array(f"{where}{name}", given[name], (2,)).astype(np.float64)
        if len(values) != n:
            raise InputError(f"{where}{name} must have a row for each of {n} examples, not {len(values)}")
        if not (good := np.abs(values) <= _LARGEST).all():
            i, j = _place(~good)
            raise InputError(f"{where}{name}[{i}, {j}] must be a finite number, not {show(values[i, j])}")
        found[name] = values
    if found["features"].shape[1] != found["population_features"].shape[1]:
        widths = " and ".join(str(values.shape[1]) for values in found.values())
        raise InputError(f"{where}population_features must have as many columns as features, but there are {widths}")
    return found


def _place(bad: NDArray[np.bool_]) -> tuple[int, ...]:
    """Where the first one is."""
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(bad)), bad.shape))
