"""The log-odds that models of any library give to the classes of examples.

    scikit-learn       `predict_proba`, or else `decision_function`, which is taken for logits; classes are looked up in
                       `classes_`, and one that the model was not trained on has probability 0
    a PyTorch module   called on tensors, on the device of its parameters, in `eval` mode and without gradients
    any callable       called on the examples, as functions of JAX and Flax modules bound to their parameters are

The last two give logits (n, k), or of two classes (n,) or (n, 1), those of class 1; or their probabilities. PyTorch is
never imported here: a module can only come from where it was.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError, show
from bayes_dp.data.log_odds import odds_of_logits, odds_of_probabilities
from bayes_dp.support.arrays import Floats, Indices

__all__ = ["Output", "Questions", "asked", "check_classes", "is_model", "log_odds", "rows"]

Output = Literal["logits", "probabilities"]
Questions = list[tuple[Any, NDArray[Any]]]  # examples and their classes

_UNSURE = 1e-2  # by which probabilities may miss 1, as those of half precision do


def asked(x: Any, y: Any, population: Any = None) -> Questions:
    """The examples and their classes, and the same of the population if it is given."""
    found = [_pair(x, y, "x", "y")]
    if population is not None:
        if not isinstance(population, tuple | list) or len(population) != 2:
            raise InputError(
                f"population must be a pair (x, y) of examples and their classes, not {show(population):.80}"
            )
        found.append(_pair(population[0], population[1], "population[0]", "population[1]"))
        _same_names(found[1][1], found[0][1].tolist(), "population[1] must hold classes of y")
    return found


def check_classes(model: Any, y: NDArray[Any], name: str) -> None:
    """Refuse labels of which a model that names its classes has not one: they are other names for these."""
    if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
        classes = _classes(model, name).tolist()
        _same_names(y, classes, f"y must hold the classes of {name}, {show(classes):.60},")


def _same_names(y: NDArray[Any], classes: list[Any], wanted: str) -> None:
    if set(y.tolist()).isdisjoint(classes):
        raise InputError(f"{wanted} and has not one of them: it begins with {show(y.tolist()[0])}")


def _pair(x: Any, y: Any, name_x: str, name_y: str) -> tuple[Any, NDArray[Any]]:
    try:
        n = int(x.shape[0]) if hasattr(x, "shape") else len(x)
    except Exception:  # a value of any class, which may raise anything
        n = 0
    if hasattr(x, "tocsr"):  # a sparse matrix of scipy, some of which have no rows to choose
        x = x.tocsr()
    if not n or isinstance(x, str | bytes | dict):
        raise InputError(f"{name_x} must hold examples along its first axis, at least one, not {show(x):.80}")
    try:
        labels = np.asarray(y)
    except Exception:  # a value of any class, which may raise anything
        labels = np.array(None)
    if labels.shape != (n,) or labels.dtype.kind not in "biufUSO":
        raise InputError(f"{name_y} must hold a class for each of the {n} examples, not {show(y):.80}")
    return x, labels


def rows(x: Any, chosen: slice | NDArray[Any]) -> Any:
    """Examples of an array, a DataFrame, a sparse matrix, a tensor or a list."""
    if hasattr(x, "iloc"):
        return x.iloc[chosen]
    if hasattr(x, "shape"):
        return x[chosen]
    return x[chosen] if isinstance(chosen, slice) else [x[i] for i in np.arange(len(x))[chosen]]


def log_odds(model: Any, x: Any, y: NDArray[Any], batch_size: int, output: Output, name: str) -> Floats:
    """φ of the examples x with the classes y under a model, (n,); messages call the model `name`."""
    parts = []
    with _calling(model, name) as (call, classes, gives):
        kind = gives or output
        for first in range(0, len(y), batch_size):
            batch = slice(first, first + batch_size)
            found = _array(call(rows(x, batch)), name)
            own, known = _columns(y[batch], classes, found, first, name)
            if len(found) != len(own):
                raise InputError(f"{name} must give a row for each of {len(own)} examples, not the shape {found.shape}")
            bad = ~np.isfinite(found.reshape(len(found), -1)).all(axis=1)
            if kind == "probabilities":
                flat = found.reshape(len(found), -1)
                total = flat.sum(axis=1) if found.ndim == 2 else np.ones(len(found))
                bad |= (flat < 0).any(axis=1) | (flat > 1).any(axis=1) | (np.abs(total - 1) > _UNSURE)
            if bad.any():
                i = int(np.argmax(bad))
                raise InputError(f"{name} must give {kind} for example {first + i}, not {show(found[i].tolist()):.80}")
            with np.errstate(all="ignore"):
                phi = (odds_of_probabilities if kind == "probabilities" else odds_of_logits)(found, own)
                parts.append(np.where(known, phi, odds_of_probabilities(np.zeros(1), None)))
    return np.concatenate(parts)


def is_model(value: Any) -> bool:
    """Whether a value is one model. Some can be iterated over, such as pipelines, forests and PyTorch's Sequential."""
    return callable(value) or hasattr(value, "predict_proba") or hasattr(value, "decision_function")


@contextmanager
def _calling(model: Any, name: str) -> Iterator[tuple[Any, NDArray[Any] | None, Output | None]]:
    """A function of a batch, the classes of its columns if the model names them, and what it gives if that is known."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(model, torch.nn.Module):
        with _without_gradients(torch, model) as call:
            yield call, None, None
    elif hasattr(model, "predict_proba"):
        yield model.predict_proba, _classes(model, name), "probabilities"
    elif hasattr(model, "decision_function"):
        yield model.decision_function, _classes(model, name), "logits"
    elif callable(model):
        yield model, None, None
    else:
        raise InputError(
            f"{name} must have predict_proba or decision_function, be a PyTorch module, or be a function of examples,"
            f" not {show(model):.80}"
        )


@contextmanager
def _without_gradients(torch: Any, model: Any) -> Iterator[Any]:
    """A PyTorch module as a function from arrays to arrays; its mode is what it was before, in the end."""
    modes = [(module, module.training) for module in model.modules()]
    first = next(iter(model.parameters()), None)

    def call(batch: Any) -> Any:
        tensor = torch.as_tensor(batch if isinstance(batch, torch.Tensor) else np.asarray(batch))
        if first is not None:
            kind = first.dtype if tensor.is_floating_point() else tensor.dtype
            tensor = tensor.to(device=first.device, dtype=kind)
        return model(tensor).detach().to("cpu").double().numpy()

    model.eval()
    try:
        with torch.no_grad():
            yield call
    finally:
        for module, mode in modes:
            module.training = mode


def _array(given: Any, name: str) -> NDArray[Any]:
    """What a model gives, (n,) or (n, k) of at least two columns, in double precision."""
    try:
        found = np.asarray(given)
    except Exception:  # a value of any class, which may raise anything
        found = np.array(None)
    if found.dtype.kind == "V":  # bfloat16 and the like, of JAX
        found = found.astype(np.float64)
    if found.dtype.kind not in "iuf" or found.ndim not in (1, 2):
        raise InputError(f"{name} must give an array (n,) or (n, k) of numbers, not {show(given):.80}")
    if found.ndim == 2 and found.shape[1] == 1:
        found = found[:, 0]
    return found.astype(np.float64)


def _classes(model: Any, name: str) -> NDArray[Any]:
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise InputError(f"{name} must be a fitted classifier with classes_, not {show(model):.80}")
    return np.asarray(classes)


def _columns(
    y: NDArray[Any], classes: NDArray[Any] | None, found: NDArray[Any], first: int, name: str
) -> tuple[Indices, NDArray[np.bool_]]:
    """The column of each example's class, (n,), and whether the model has it."""
    width = 2 if found.ndim == 1 else found.shape[1]
    if classes is None:
        whole = y if y.dtype.kind in "biu" else _whole(y)
        if (bad := (whole < 0) | (whole >= width)).any():
            i = int(np.argmax(bad))
            raise InputError(
                f"y[{first + i}] must be the number of a column of what {name} gives, from 0 to {width - 1}, not"
                f" {show(y[i])}"
            )
        return whole.astype(np.intp), np.ones(len(y), dtype=np.bool_)
    if len(classes) != width:
        raise InputError(f"{name} must give a column for each of its {len(classes)} classes, not {width}")
    place = {label: k for k, label in enumerate(classes.tolist())}
    labels = y.tolist()
    columns = np.array([place.get(label, -1) for label in labels], dtype=np.intp)
    for i in np.flatnonzero(columns < 0).tolist():
        if _is_missing(labels[i]):
            raise InputError(f"y[{first + i}] must be a class, not {show(labels[i])}")
    return np.maximum(columns, 0), columns >= 0


def _is_missing(label: Any) -> bool:
    """Whether a label is None, or not a number, nor a time, nor what pandas has in their place."""
    try:
        return label is None or bool(label != label)
    except Exception:  # what pandas has says neither
        return True


def _whole(y: NDArray[Any]) -> NDArray[np.int64]:
    """Whole numbers, and −1 for anything else."""
    if y.dtype.kind != "f":
        return np.full(len(y), -1)
    return np.where(y == np.floor(y), y, -1).astype(np.int64)
