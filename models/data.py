"""Data sets that are too large for a package: from the folder that BAYES_DP_DATASETS names, or from OpenML.

Fashion-MNIST (Zalando SE 2017, MIT licence) has 60 000 + 10 000 images of 28 × 28 pixels in ten classes. In the folder
it is `fashion-mnist/`, with the four files that its authors published. OpenML's copy is cached by scikit-learn.
"""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError

__all__ = ["FOLDER", "fashion_mnist"]

FOLDER = "BAYES_DP_DATASETS"
_PARTS = ("train", "t10k")


def fashion_mnist() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Pixels (70000, 784) and classes (70000,), the training images first."""
    if folder := os.environ.get(FOLDER):
        path = Path(folder) / "fashion-mnist"
        images = [_idx(path / f"{part}-images-idx3-ubyte.gz", 3).reshape(-1, 784) for part in _PARTS]
        labels = [_idx(path / f"{part}-labels-idx1-ubyte.gz", 1) for part in _PARTS]
        return np.concatenate(images), np.concatenate(labels).astype(np.int64)
    from sklearn.datasets import fetch_openml

    try:
        x, y = fetch_openml("Fashion-MNIST", version=1, return_X_y=True, as_frame=False)
    except Exception as error:  # no network, or whatever OpenML answers
        raise InputError(
            f"Fashion-MNIST is needed: set {FOLDER} to a folder that has it in fashion-mnist/, or let scikit-learn"
            " load it from OpenML"
        ) from error
    return x.astype(np.uint8), y.astype(np.int64)


def _idx(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """The data of a file in the IDX format: 0, 0, 8 for bytes, the number of dimensions, their lengths, the data."""
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    start = 4 + 4 * dimensions
    shape = [int.from_bytes(content[k : k + 4]) for k in range(4, start, 4)]
    if content[:4] != bytes([0, 0, 8, dimensions]) or len(content) != start + math.prod(shape):
        raise InputError(f"{path} is no IDX file of bytes in {dimensions} dimensions")
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)
