"""The header of an array in NumPy's format, which says what follows and need not be true."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["MAGIC", "npy_header"]

MAGIC = b"\x93NUMPY"


def npy_header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether it is stored column by column, type, and how many bytes of data that makes.

    A damaged header may raise anything.
    """
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    version = np.lib.format.read_magic(file)
    shape, in_columns, kind = read[version](file)
    if any(length < 0 for length in shape):
        raise ValueError("a negative length")
    return shape, in_columns, kind, math.prod(shape) * kind.itemsize
