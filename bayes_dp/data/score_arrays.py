"""The arrays of a matrix of scores, checked: statistics of M models on m examples, memberships, and what else there is.

What is refused is named by argument, model, example and value; a table with a row for each pair, by its row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError, show
from bayes_dp.data.layout import MEMBER_HEADINGS, Layout
from bayes_dp.data.log_odds import odds_of_logits, odds_of_losses, odds_of_probabilities
from bayes_dp.data.table import Table, labels, real_numbers
from bayes_dp.support.arrays import Floats, Indices

__all__ = ["FIELDS", "ROWS", "Signs", "checked_fields", "fields_of_rows", "memberships_of", "wanted_keys"]

Signs = NDArray[np.int8]  # 1, 0 and −1

FIELDS = (
    "statistic",
    "member",
    "is_log_odds",
    "population",
    "gradient_norm",
    "features",
    "population_features",
    "example",
    "model",
)
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
ROWS = Layout(
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


def wanted_keys(file: str, keys: Sequence[str]) -> dict[str, str]:
    """The arrays of a file that are arguments."""
    if "member" not in keys or not any(name in keys for name in _STATISTICS):
        held = show(list(keys)) if keys else "no array"
        raise InputError(f"{file} must hold the array member and one of {', '.join(_STATISTICS)}; it holds {held}")
    return {name: name for name in ("member", *_STATISTICS, *_OTHERS) if name in keys}


def checked_fields(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The fields of a ScoreMatrix as new arrays; messages put `where` before the names of arguments."""
    kinds = [name for name in _STATISTICS if name in given]
    if len(kinds) != 1:
        listed = f"{', '.join(_STATISTICS[:-1])} or {_STATISTICS[-1]}"
        raise InputError(f"{where}one of {listed} must be given, not {' and '.join(kinds) or 'none'}")
    kind = kinds[0]
    member = memberships_of(given["member"], f"{where}member")
    one, member = member.ndim == 1, np.atleast_2d(member)
    models, examples = member.shape
    values = _array(f"{where}{kind}", given[kind], (2, 3) if kind in ("logits", "probabilities") else (2,), one)
    if values.shape[:2] != member.shape:
        raise InputError(
            f"{where}{kind} must have a row for each of the {models} models of member and a column for each of its"
            f" {examples} examples, not the shape {values.shape}"
        )
    classes = 2 if values.ndim == 2 else values.shape[2]
    if classes < 2:
        raise InputError(
            f"{where}{kind} must have two classes or more along the last axis, or no such axis, not the shape"
            f" {values.shape}"
        )
    own = _labels(given, "labels", kind, values.ndim, classes, examples, where)
    fields: dict[str, Any] = {
        "statistic": _statistic(f"{where}{kind}", values, kind, own, member),
        "member": member,
        "is_log_odds": kind != "scores",
        "population": None,
    }
    if "population" in given:
        name = f"{where}population"
        others = _array(name, given["population"], (values.ndim,), one)
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
    fields["gradient_norm"] = _norms(given, member, where, one)
    fields |= _features(given, examples, fields["population"], where)
    for name, n, row in (("example", examples, "example"), ("model", models, "model")):
        table = Table({name: given[name]} if name in given else {}, {name: f"{where}{name}"})
        fields[name] = labels(table, name, n, row)
    return {name: fields[name] for name in FIELDS}


def fields_of_rows(table: Table) -> dict[str, Any]:
    """The fields of a ScoreMatrix from one row for each model and example."""
    column = next(name for name in _COLUMNS if name in table.columns)
    if twice := [name for name in _COLUMNS if name in table.columns and name != column]:
        raise InputError(
            f"{table.namer(column)(None)} must not stand beside {table.headings[twice[0]]}: leave one of them out"
        )
    member = real_numbers(
        _blank(table, "member", _missing(table.columns["member"]), -1),
        "member",
        "True or False (or 1 or 0, or −1 or nothing where it is not known)",
        lambda x: (x == 0) | (x == 1) | (x == -1),
        truths=True,
    )
    n, known, kind = member.size, member >= 0, _COLUMNS[column]
    open_rows = _blank(table, column, ~known, 0.0)
    values = {column: real_numbers(open_rows, column, _WANTED[kind], lambda x: _good(x, kind))}
    if "gradient_norm" in table.columns:
        missing = _missing(table.columns["gradient_norm"])
        norms = real_numbers(
            _blank(table, "gradient_norm", missing | ~known, 0.0), "gradient_norm", _NORM, lambda x: _good(x, "losses")
        )
        values["gradient_norm"] = np.where(missing, np.nan, norms)
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
    return checked_fields(given, "")


def _missing(cells: NDArray[Any]) -> NDArray[np.bool_]:
    """Which cells of a column hold nothing: None, NaN, or what pandas has for them."""
    if cells.dtype.kind in "biuf":
        return np.isnan(cells)
    nothing = ("NoneType", "NAType", "NaTType")
    return np.array([type(cell).__name__ in nothing or (isinstance(cell, float) and cell != cell) for cell in cells])


def _blank(table: Table, column: str, rows: NDArray[np.bool_], value: float) -> Table:
    """The table with a number in the place of whatever these rows hold in a column."""
    if not rows.any():
        return table
    cells = table.columns[column].astype(object)
    cells[rows] = value
    return replace(table, columns={**table.columns, column: cells})


def _array(name: str, value: Any, dimensions: tuple[int, ...], one: bool = False, kinds: str = "iuf") -> NDArray[Any]:
    """An array of numbers, without an empty axis; masked elements become NaN. That of `one` model is given without the
    axis of the models, which is added."""
    try:
        array = _of_frame(value, kinds) if hasattr(value, "iloc") else value
        array = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
    except Exception:  # a ragged list, or a value of any class, which may raise anything
        array = np.array(None)
    if array.dtype.kind not in kinds:
        raise InputError(f"{name} must be an array of numbers, not {show(value):.80}")
    if isinstance(array, np.ma.MaskedArray):
        array = np.ma.filled(array.astype(np.float64), np.nan)
    if array.ndim + one not in dimensions or not array.size:
        shapes = {1: "(m,)", 2: "(m,)" if one else "(M, m)", 3: "(m, k)" if one else "(M, m, k)"}
        wanted = " or ".join(shapes[each] for each in dimensions) + (", as member is of one model," if one else "")
        raise InputError(f"{name} must be of the shape {wanted} with nothing empty, not {array.shape}")
    return array[None] if one else array


def _of_frame(value: Any, kinds: str) -> Any:
    """A DataFrame or a Series as an array: what pandas has as missing in columns of its own types becomes NaN."""
    types = np.asarray(value.dtypes, dtype=object).reshape(-1).tolist()  # of a Series one
    own = [kind for kind in types if not isinstance(kind, np.dtype)]
    if own and all(getattr(kind, "kind", "no") in kinds for kind in own):
        return value.to_numpy(dtype=np.float64, na_value=np.nan)
    return value


def memberships_of(value: Any, name: str) -> Signs:
    """1, 0 and −1, (M, m), or of one model (m,)."""
    try:
        array = _of_frame(value, "biuf") if hasattr(value, "iloc") else value
        array = array if isinstance(array, np.ma.MaskedArray) else np.asarray(array)
        if array.dtype.kind == "O":  # truth values beside None
            array = np.array([np.nan if cell is None else float(cell) for cell in array.flat]).reshape(array.shape)
    except Exception:  # a ragged list, or cells of any class, which may raise anything
        array = np.array(None)
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2) or not array.size:
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
        place = _place(bad)
        raise InputError(
            f"{name}[{', '.join(map(str, place))}] must be 1 (the model was trained with example {place[-1]}), 0 (it"
            f" was not), or −1 or NaN (not known), not {show(array[place])}"
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
    found = _array(f"{where}{name}", given[name], (1,), kinds="biuf")
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


def _norms(given: Mapping[str, Any], member: Signs, where: str, one: bool) -> Floats | None:
    """Norms of gradients, (M, m); those of a whole model may be missing, and where the membership is not known."""
    if "gradient_norm" not in given:
        return None
    name = f"{where}gradient_norm"
    norms = _array(name, given["gradient_norm"], (2,), one).astype(np.float64)
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
