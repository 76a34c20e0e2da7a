"""Data sets that are too large for a package: from the folder that BAYES_DP_DATASETS names, or from OpenML.

Fashion-MNIST (Zalando SE 2017, MIT licence) has 60 000 + 10 000 images of 28 × 28 pixels in ten classes. In the folder
it is `fashion-mnist/`, with the four files that its authors published. Adult (UCI 1996, CC BY 4.0) has 48 842 people of
the census of 1994 and whether they earn more than 50 000 dollars; it is `adult.csv.gz`. OpenML's copies are cached by
scikit-learn. The speeches are the State of the Union addresses (public domain), `state_of_the_union.txt.gz`; any text
of a few million characters in its place will do.
"""

from __future__ import annotations

import gzip
import math
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bayes_dp.checks import InputError

__all__ = ["FOLDER", "adult", "fashion_mnist", "speeches"]

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


def adult() -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
    """Features (48842, 14), in which categories are whole numbers from 0 and what is missing is NaN; which of them are
    categories (14,); and the label, 1 for those who earn more, (48842,)."""
    import pandas as pd

    if folder := os.environ.get(FOLDER):
        path = Path(folder) / "adult.csv.gz"
        try:
            frame = pd.read_csv(path, skipinitialspace=True, na_values="?")
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    else:
        from sklearn.datasets import fetch_openml

        try:
            frame = fetch_openml("adult", version=2, as_frame=True).frame
        except Exception as error:
            raise InputError(
                f"Adult is needed: set {FOLDER} to a folder that has adult.csv.gz, or let scikit-learn load it from"
                " OpenML"
            ) from error
    label = frame.iloc[:, -1].astype(str).str.contains(">50K").to_numpy().astype(np.int64)
    columns, kinds = [], []
    for name in frame.columns[:-1]:
        column = frame[name]
        kinds.append(not pd.api.types.is_numeric_dtype(column))
        if kinds[-1]:
            codes = column.astype("category").cat.codes.to_numpy().astype(np.float64)
            columns.append(np.where(codes < 0, np.nan, codes))
        else:
            columns.append(column.to_numpy(dtype=np.float64))
    return np.column_stack(columns), np.array(kinds), label


def speeches() -> str:
    """All addresses as one text; there is no other place to have it from."""
    if not (folder := os.environ.get(FOLDER)):
        raise InputError(f"the speeches are needed: set {FOLDER} to a folder that has state_of_the_union.txt.gz")
    path = Path(folder) / "state_of_the_union.txt.gz"
    try:
        return gzip.decompress(path.read_bytes()).decode("utf-8")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error


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
