"""A digest of what a value holds, so that a folder of work that was begun knows what it is of.

Arrays and settings count by what they hold, and functions by their code, defaults and what they enclose: two lambdas
are two functions, and two `functools.partial` of one function are if their arguments are. What a function reads from
its module is not seen, nor is anything in an object that cannot be pickled and has no `__dict__`, nor what lies very
deep. A function that wraps another counts as that one.
"""

from __future__ import annotations

import functools
import hashlib
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

__all__ = ["digest_of"]

_DEEPEST, _MOST = 100, 20_000  # parts of parts, and parts in all, that are looked at


def digest_of(value: Any) -> str:
    """SHA-256 of what a value holds, in hexadecimal.

    >>> from bayes_dp.support.content import digest_of
    >>> digest_of(lambda x: x + 1) == digest_of(lambda x: x + 1), digest_of(lambda x: x) == digest_of(lambda x: -x)
    (True, False)
    """
    return _digest(value, {}, 0)


def _digest(value: Any, known: dict[int, tuple[Any, str]], depth: int) -> str:
    """The digest of what may be a part; `known` has those of other parts, and the parts, so that they stay."""
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if (old := known.get(id(value))) is not None:
        return old[1]
    known[id(value)] = value, kind  # where it holds itself
    parts = _parts(value) if depth < _DEEPEST and len(known) < _MOST else []
    if parts is None:
        found = _joined(kind, [_whole(value)])
    else:
        each = [_digest(part, known, depth + 1) for part in parts]
        found = _joined(kind, sorted(each) if isinstance(value, set | frozenset) else each)
    known[id(value)] = value, found
    return found


def _parts(value: Any) -> list[Any] | None:
    """What a value is made of; None for what counts as a whole."""
    if isinstance(value, type):
        return [value.__module__, value.__qualname__]
    if isinstance(value, ModuleType):
        return [value.__name__]
    if hasattr(value, "__wrapped__"):  # a function that was compiled, cached or mapped
        return [getattr(value, "__qualname__", ""), value.__wrapped__]
    if isinstance(value, FunctionType):
        cells = [_within(cell) for cell in value.__closure__ or ()]
        return [value.__qualname__, value.__code__, value.__defaults__, value.__kwdefaults__, cells]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_consts]
    if isinstance(value, MethodType):
        return [value.__func__, value.__self__]
    if isinstance(value, functools.partial):
        return [value.func, value.args, value.keywords]
    if isinstance(value, dict):
        return [part for pair in value.items() for part in pair]
    if isinstance(value, list | tuple | set | frozenset):
        return list(value)
    if hasattr(value, "detach") and hasattr(value, "cpu"):  # a tensor of PyTorch
        return [np.asarray(value.detach().cpu())]
    if all(hasattr(value, name) for name in ("get_arrays", "reset_n_calls")):  # neighbours, which count calls
        return list(value.get_arrays())
    if hasattr(value, "shape") or not hasattr(value, "__dict__"):  # arrays and frames
        return None
    return [vars(value)] if vars(value) else None


def _whole(value: Any) -> str:
    if value is None or isinstance(value, str | bytes | int | float):
        return repr(value)
    from joblib import hash as content_of

    try:
        return str(content_of(value))
    except Exception:  # what cannot be pickled may raise anything
        return ""


def _within(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing was put in it yet
        return None


def _joined(kind: str, parts: list[str]) -> str:
    content = hashlib.sha256(kind.encode())
    for part in parts:
        content.update(f"\n{len(part)} {part}".encode(errors="surrogatepass"))
    return content.hexdigest()
