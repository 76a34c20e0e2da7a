"""Arrays from NPZ files, as `numpy.savez` writes them. Pickled objects are never read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError
from bayes_dp.data.files import printable
from bayes_dp.data.npy import MAGIC, npy_header

__all__ = ["npz_arrays"]

Found = dict[str, tuple[str, NDArray[Any]]]  # field -> the key that it has in the file, and its array


def npz_arrays(
    source: Any,
    choose: Callable[[str, Sequence[str]], Mapping[str, str]],
    wanted: str,
    content: str,
    most: int,
) -> tuple[str, Found]:
    """The name of an NPZ file (path or open file), and the arrays that are asked for.

    `choose(name, keys)` maps each field to its key among those of the file, or refuses. `wanted` and `content` are for
    messages: the keys of a good file, and what its arrays hold. All arrays together have at most `most` bytes.
    """
    is_path = isinstance(source, str | os.PathLike)
    if not is_path and not hasattr(source, "read"):
        raise InputError(f"a path or an open file is needed, not {type(source).__name__}")
    file = printable(source if is_path else getattr(source, "name", None))
    with ExitStack() as opened:
        try:
            stream = opened.enter_context(open(source, "rb")) if is_path else source
            place = stream.tell()
            if stream.read(len(MAGIC)) == MAGIC:
                raise InputError(f"{file} holds one array; an NPZ file with the arrays {wanted} is needed")
            stream.seek(place)
            archive = np.load(stream, allow_pickle=False)
        except InputError:
            raise
        except OSError as error:
            raise InputError(f"{file} cannot be read: {(error.strerror or 'it is not an NPZ file').lower()}") from error
        except Exception as error:  # whatever the bytes may be
            raise InputError(f"{file} is not an NPZ file, as numpy.savez writes it") from error
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise InputError(f"{file} is not an NPZ file, as numpy.savez writes it")
        opened.enter_context(archive)
        return file, _arrays(file, archive, choose(file, archive.files), content, most)


def _arrays(file: str, archive: Any, chosen: Mapping[str, str], content: str, most: int) -> Found:
    members = {each.filename.removesuffix(".npy"): each for each in archive.zip.infolist()}
    if sum(members[key].file_size for key in chosen.values()) > most:
        raise InputError(f"{file} has more than {most // 1_000_000} MB of {content}, the most that is read")
    arrays = {}
    for field, key in chosen.items():
        try:
            with archive.zip.open(members[key]) as packed:
                size = npy_header(packed)[-1]
                if size != members[key].file_size - packed.tell():
                    raise ValueError("the header does not say what follows")
            arrays[field] = key, archive[key]
        except Exception as error:  # pickled objects, a damaged file, more than fits into the memory
            raise InputError(f"{file}: {key} cannot be read as a plain array of numbers or texts") from error
    return arrays
