"""A folder for the parts of long work: a file of arrays for each part that is done, which is looked for before it.

`settings.json` says what the folder is of, by a digest of all that the parts depend on. Each file of a part has a
digest of this and of its arrays, so that what was changed, damaged or made of something else is refused, never used.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError
from bayes_dp.data.files import printable, remove_temporary, write_bytes_atomically, write_text_if_new
from bayes_dp.data.json_text import read_json
from bayes_dp.support.arrays import Floats

__all__ = ["Kept"]


class Kept:
    """The parts that are done, in a folder; nowhere, if it is None.

    `form` is the format that `settings.json` names, `inputs` the digest, `part` what a part is called, `key` what its
    arrays are, and `other` what a folder with another digest is of.
    """

    def __init__(self, folder: Any, form: str, inputs: str, part: str, key: str, other: str) -> None:
        self.path, self.inputs, self.part, self.key = None, inputs, part, key
        if folder is None:
            return
        if not isinstance(folder, str | os.PathLike):
            raise InputError(f"checkpoint must be a path, not {type(folder).__name__}")
        self.path = Path(os.fsdecode(folder))
        record, stated = self.path / "settings.json", {"format": form, "inputs": inputs}
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            if not os.path.lexists(record):
                write_text_if_new(record, json.dumps(stated) + "\n")
            remove_temporary(self.path)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"checkpoint {printable(self.path)} cannot be used: {reason}") from error
        if read_json(record)[1] != stated:
            raise InputError(f"checkpoint {printable(self.path)} is of {other}; delete it, or give another folder")

    def read(self, r: int, sizes: Sequence[int]) -> list[Floats] | None:
        """The arrays of part r, of these sizes, if it is done."""
        if self.path is None or not os.path.lexists(file := self._file(r)):
            return None
        try:
            with open(file, "rb") as content, np.load(content, allow_pickle=False) as archive:
                found = [archive[f"{self.key}_{k}"] for k in range(len(sizes))]
                right = str(archive["sum"]) == self._sum(r, found)
        except Exception as error:  # whatever the bytes may be
            raise InputError(f"{file} is damaged; delete it, and the {self.part} is made again") from error
        if not right or [each.shape for each in found] != [(n,) for n in sizes]:
            raise InputError(f"{file} was changed; delete it, and the {self.part} is made again")
        return found

    def write(self, r: int, found: Sequence[Floats]) -> None:
        """Keep part r."""
        if self.path is None:
            return
        content = io.BytesIO()
        arrays: dict[str, Any] = {f"{self.key}_{k}": each for k, each in enumerate(found)}
        np.savez(content, **arrays, sum=np.array(self._sum(r, found)))
        write_bytes_atomically(self._file(r), content.getvalue())

    def _file(self, r: int) -> Path:
        assert self.path is not None
        return self.path / f"{self.part}{r:05d}.npz"

    def _sum(self, r: int, found: Sequence[NDArray[Any]]) -> str:
        content = hashlib.sha256(f"{self.inputs} {r}\n".encode())
        for each in found:
            content.update(np.ascontiguousarray(each, dtype="<f8").tobytes())
        return content.hexdigest()
