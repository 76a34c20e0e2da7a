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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayes_dp.attacks.matrix_counts import counts_of_examples, counts_of_models, tables
from bayes_dp.attacks.outputs import Output, asked, check_classes, is_model, log_odds
from bayes_dp.attacks.references.registry import attack as attack_named
from bayes_dp.attacks.references.registry import default
from bayes_dp.attacks.references.view import Columns, View
from bayes_dp.attacks.scores import Sides
from bayes_dp.checks import InputError, is_one_of, is_whole, show, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import MAX_BYTES, write_bytes_atomically
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.immutable import Immutable
from bayes_dp.data.log_odds import log_likelihood
from bayes_dp.data.loss_table import LossTable
from bayes_dp.data.npz import npz_arrays
from bayes_dp.data.parsing import frame_table
from bayes_dp.data.score_arrays import FIELDS, ROWS, Signs, checked_fields, fields_of_rows, memberships_of, wanted_keys
from bayes_dp.support.arrays import Floats, Indices
from bayes_dp.support.once import once
from bayes_dp.support.progress import bar, check_shown
from bayes_dp.support.text import Lines, Rows

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ScoreMatrix"]

_MOST = 20 * MAX_BYTES  # of arrays in an NPZ file, once unpacked


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
    is left out of everything. How many models were trained with an example may differ from example to example. If
    `member` is of one model, (m,), the axis of the models is left out of all arrays.

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
        self._set(checked_fields(needed, ""))

    @classmethod
    def from_models(
        cls,
        models: Any,
        x: Any,
        y: ArrayLike,
        member: ArrayLike,
        *,
        population: tuple[Any, ArrayLike] | None = None,
        output: Output = "logits",
        batch_size: int = 4096,
        progress: bool | None = None,
    ) -> ScoreMatrix:
        """From trained models, asked about examples x of the classes y, whose memberships (M, m) are known; or from one
        model, with memberships (m,).

        A model is a classifier of scikit-learn, a PyTorch module, or any function of examples, such as one of JAX or
        Flax. What the last two give are "logits" (n, k), or what `output` says; of two classes (n,) will do, and y
        holds the numbers of their columns. `models` may be a generator, so that they are not in memory together.

        `population` is a pair (x, y) of examples that no model was trained on. x may be an array, a DataFrame, a sparse
        matrix, a tensor or a list; a model is asked about `batch_size` examples at a time. `progress` is whether there
        is a bar on standard error, by default on a terminal.

        >>> from sklearn.linear_model import LogisticRegression
        >>> rng = np.random.default_rng(0)
        >>> x, y, member = rng.normal(size=(40, 2)), np.arange(40) % 2, rng.random((5, 40)) < 0.5
        >>> models = [LogisticRegression().fit(x[row], y[row]) for row in member]
        >>> bdp.ScoreMatrix.from_models(models, x, y, member)
        ScoreMatrix: 5 models, 40 examples with 0 to 4 of them trained on each
        """
        known = np.atleast_2d(memberships_of(member, "member"))
        count, examples = known.shape
        questions = asked(x, y, population)
        if (n := len(questions[0][1])) != examples:
            raise InputError(f"member must have a column for each of the {n} examples x, not {examples}")
        batch_size = whole_number("batch_size", batch_size, 1)
        if not is_one_of(output, get_args(Output)):
            raise InputError(f'output must be "logits" or "probabilities", not {show(output):.80}')
        check_shown(progress)
        try:
            given = iter([models] if is_model(models) else models)
        except TypeError:
            raise InputError(f"models must be a list of models or a generator, not {show(models):.80}") from None
        found = [np.empty((count, len(labels))) for _, labels in questions]
        r = 0
        with bar(count, progress) as move:
            for r, model in enumerate(given, 1):
                if r > count:
                    break
                check_classes(model, questions[0][1], f"models[{r - 1}]")
                for (inputs, labels), values in zip(questions, found, strict=True):
                    values[r - 1] = log_odds(model, inputs, labels, batch_size, output, f"models[{r - 1}]")
                move(1, "models")
        if r != count:
            raise InputError(f"models must be as many as the rows of member, {count}, not {'more' if r > count else r}")
        return cls(known, log_odds=found[0], population=found[1] if len(found) > 1 else None)

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
        file, found = npz_arrays(source, wanted_keys, "member and losses (or logits, …)", "scores", _MOST)
        return cls._new(checked_fields({name: values for name, (_, values) in found.items()}, f"{file}: "))

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> ScoreMatrix:
        """From a pandas DataFrame with a row for each model and example: the columns model, example, member, and loss,
        log_odds or score, and gradient_norm if wanted.

        Pairs that have no row were not measured, nor were those whose member is missing or −1. Models and examples are
        in the order of their first appearance.

        >>> import pandas as pd
        >>> rows = [("a", "x", True, 0.1), ("a", "y", False, 2.0), ("b", "x", False, 1.5)]
        >>> matrix = bdp.ScoreMatrix.from_frame(pd.DataFrame(rows, columns=["model", "example", "member", "loss"]))
        >>> matrix.model, matrix.example, matrix.member
        (('a', 'b'), ('x', 'y'), array([[ 1,  0],
               [ 0, -1]], dtype=int8))
        """
        return cls._new(fields_of_rows(frame_table(frame, ROWS)))

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
        "rmia-offline", `a` of "rmia-offline", `quantile` of "quantile-regression". What is tuned is tuned on the
        references alone.
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

    def loss_tables(self) -> tuple[LossTable, ...]:
        """The examples as challenge bases, with the losses −φ of their runs: a table for each pair of numbers of runs.

        Examples with fewer than three models trained with them, or without, are in none. The labels of the bases are
        those of the examples, or their numbers.
        """
        return tuple(table for _, table in self._tables())

    def example_counts(self, target_fpr: float = 0.1) -> ErrorCounts:
        """The errors of the likelihood-ratio attack on each example: a base with its runs, by `attacks.measure_fast`.

        Each run is tested by all others of the example, so that the design is "cross_fed", and the same models serve
        all bases. Examples with fewer than three models trained with them, or without, are left out.

        >>> rng = np.random.default_rng(0)
        >>> member = rng.random((40, 5)) < 0.5
        >>> matrix = bdp.ScoreMatrix(member, log_odds=2.0 * member + rng.normal(size=(40, 5)))
        >>> counts = matrix.example_counts()
        >>> counts.base, counts.positives
        (('0', '1', '2', '3', '4'), array([17, 24, 12, 16, 19]))
        """
        return counts_of_examples(self._tables(), target_fpr)

    def model_counts(
        self,
        guesses: int,
        name: str | None = None,
        targets: Sequence[int] | None = None,
        sides: Sides = "both",
        seed: int = 0,
        **settings: Any,
    ) -> ErrorCounts:
        """The errors of so many guesses on the examples of each target, by the other models: a row for each target.

        `name` and `settings` are those of `attack`, `sides` and `seed` those of `attacks.guess`; `targets` are by
        default all models. For one target the design is "one_run". Several share their examples and are each other's
        references: their design is "cross_fed", for which one-run bounds are none, and their rows are one `group`.

        >>> rng = np.random.default_rng(0)
        >>> member = rng.random((9, 100)) < 0.5
        >>> matrix = bdp.ScoreMatrix(member, log_odds=2.0 * member + rng.normal(size=(9, 100)))
        >>> matrix.model_counts(20, targets=[0])
        ErrorCounts: 1 base, 10 + 10 challenges, design "one_run", 100 examples
        """
        chosen = self._models("targets", list(range(len(self))) if targets is None else targets)
        if not chosen:
            raise InputError("targets must be at least one model, not none")
        scores = [self.attack(name, target, **settings) for target in chosen]
        return counts_of_models(scores, [self._names()[target] for target in chosen], guesses, sides, seed)

    def _tables(self) -> list[tuple[Indices, LossTable]]:
        names = self.example or tuple(map(str, range(self.member.shape[1])))
        return tables(self.statistic, self.member, names)

    def _view(self, target: int, references: tuple[int, ...], measured: NDArray[np.bool_]) -> View:
        """What an attack sees of the examples that the target was measured on."""
        some = not measured.all()

        def of(array: NDArray[Any]) -> NDArray[Any] | Columns:
            return Columns(array, measured) if some else array

        return View(
            statistic=of(self.statistic),
            log_likelihood=of(self._log_likelihood()),
            is_probability=self.is_log_odds,
            member=of(self.member),
            target=target,
            references=references,
            population=self.population,
            population_log_likelihood=self._population_log_likelihood(),
            features=self.features[measured] if some and self.features is not None else self.features,
            population_features=self.population_features,
            gradient_norm=None if self.gradient_norm is None else of(self.gradient_norm),
        )

    def concat(self, *others: ScoreMatrix) -> ScoreMatrix:
        """These models followed by those of `others`, which have the same examples, and population if there is one.

        Where only some have norms of gradients, those of the others are missing. Features are those of the first one.

        >>> rng = np.random.default_rng(0)
        >>> member, phi = rng.random((9, 100)) < 0.5, rng.normal(size=(9, 100))
        >>> mine = bdp.ScoreMatrix(member[0], log_odds=phi[0])
        >>> references = bdp.ScoreMatrix(member[1:], log_odds=phi[1:])
        >>> mine.concat(references).attack("rmia", target=0)
        GuessTable: 100 examples, 44 members
        """
        parts = (self, *others)
        for k, part in enumerate(parts):
            self._must_go_with(part, f"matrix {k}")
        fields = {name: getattr(self, name) for name in FIELDS}
        for name in ("statistic", "member", "population"):
            if fields[name] is not None:
                fields[name] = np.concatenate([getattr(part, name) for part in parts])
        if any(part.gradient_norm is not None for part in parts):
            norms = [np.full(p.member.shape, np.nan) if p.gradient_norm is None else p.gradient_norm for p in parts]
            fields["gradient_norm"] = np.concatenate(norms)
        if self.model is not None:
            fields["model"] = tuple(label for part in parts for label in part.model or ())
        return self._new(fields)

    def _must_go_with(self, other: Any, name: str) -> None:
        """Refuse what cannot be concatenated with this matrix, 0."""
        if not isinstance(other, ScoreMatrix):
            raise InputError(f"{name} must be a ScoreMatrix, not {type(other).__name__}")
        here, there = self.member.shape[1], other.member.shape[1]
        if here != there:
            raise InputError(f"{name} must have the {here} examples of matrix 0, not {there}")
        if self.example != other.example:
            raise InputError(f"{name} must have the example labels of matrix 0, in the same order")
        if self.is_log_odds != other.is_log_odds:
            kinds = {True: "log-odds", False: "scores"}
            raise InputError(
                f"{name} must hold {kinds[self.is_log_odds]}, as matrix 0 does, not {kinds[other.is_log_odds]}"
            )
        sizes = [0 if each.population is None else each.population.shape[1] for each in (self, other)]
        if sizes[0] != sizes[1]:
            here, there = (f"{z} example{'s' * (z > 1)}" if z else "none" for z in sizes)
            raise InputError(f"{name} must have the population of matrix 0, {here}, not {there}")
        if (self.model is None) != (other.model is None):
            raise InputError(f"{name} must have model labels if matrix 0 does, and only then")

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
                content.update(array.reshape(-1).view(np.uint8).data)
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

    def _with(self) -> Indices:
        """How many models were trained with each example, (m,)."""
        return np.count_nonzero(self.member == 1, axis=0)

    @once
    def _log_likelihood(self) -> Floats:
        return _likelihoods(self.statistic) if self.is_log_odds else self.statistic

    @once
    def _population_log_likelihood(self) -> Floats | None:
        return _likelihoods(self.population) if self.is_log_odds and self.population is not None else self.population

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


def _likelihoods(log_odds: Floats) -> Floats:
    """log p, (M, m); model by model, which needs less memory."""
    found = np.empty_like(log_odds)
    for r, row in enumerate(log_odds):
        found[r] = log_likelihood(row)
    return found


def _restored(fields: dict[str, Any]) -> ScoreMatrix:
    return ScoreMatrix._new(fields)


def _span(numbers: Indices) -> str:
    return f"{numbers.min()}" if numbers.min() == numbers.max() else f"{numbers.min()} to {numbers.max()}"
