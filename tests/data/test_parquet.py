"""Parquet files: what they expand to is known before it is there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayes_dp.checks import InputError
from bayes_dp.data import parquet
from bayes_dp.data.parquet import parquet_frame
from bayes_dp.propensity.features import as_features


def test_the_frame_is_that_of_pandas(tmp_path):
    frame = pd.DataFrame(
        {
            "number": [0.5, -1.0, np.nan, 2.0],
            "text": ["x", "y", None, "x"],
            "category": pd.Categorical(["u", "v", "u", "u"]),
            "codes": pd.Categorical([1, 2, 1, 1]),
            "truth": [True, False, True, True],
            "day": pd.date_range("2020-01-01", periods=4),
            "whole": pd.array([1, 2, None, 3], dtype="Int64"),
        },
        index=[7, 5, 6, 8],
    )
    for size in (4, 2):  # rows of a group
        frame.to_parquet(tmp_path / "f.parquet", row_group_size=size)
        expected = pd.read_parquet(tmp_path / "f.parquet").astype({"category": "str"})
        pd.testing.assert_frame_equal(parquet_frame(str(tmp_path / "f.parquet")), expected, check_dtype=False)


def refused_unread(path, table, monkeypatch):
    """The sentence, from the metadata alone."""
    pq.write_table(table, path, compression="zstd")
    with monkeypatch.context() as patch:
        patch.setattr(pq.ParquetFile, "read", None)
        with pytest.raises(InputError) as error:
            as_features(path)
    return str(error.value)


def test_what_is_too_large_is_refused_unread(tmp_path, monkeypatch):
    zeros = pa.array(np.zeros(1_000_000, dtype=np.int8))
    path = tmp_path / "f.parquet"
    said = refused_unread(path, pa.table({f"c{k}": zeros for k in range(51)}), monkeypatch)
    assert path.stat().st_size < 1_000_000
    assert "f.parquet has 1000000 rows of 51 columns, more than the 50000000 cells that are read" in said
    texts = pa.array(["a"]).dictionary_encode().take(pa.array(np.zeros(1_000_000, dtype=np.int32)))
    said = refused_unread(path, pa.table({f"c{k}": texts for k in range(6)}), monkeypatch)
    assert "1000000 rows of 6 columns" in said
    monkeypatch.setattr(parquet, "MAX_BYTES", 100_000)
    long = pa.array(["x" * 1000 + str(k) for k in range(101)])
    assert "bytes, more than the 100000 that are read" in refused_unread(path, pa.table({"c": long}), monkeypatch)


def test_a_long_text_in_many_rows_is_refused_before_it_is_in_each(tmp_path):
    rows = pa.DictionaryArray.from_arrays(pa.array(np.zeros(100_000, np.int32)), pa.array(["x" * 100_000]))
    pq.write_table(pa.table({"c": rows}), tmp_path / "f.parquet")
    with pytest.raises(InputError, match="expands to more than 400000000 bytes of text"):
        as_features(tmp_path / "f.parquet")


@pytest.mark.parametrize("column", [[[1, 2], [3]], [{"a": 1}, {"a": 2}]])
def test_cells_that_hold_more_than_a_value_are_refused(tmp_path, monkeypatch, column):
    said = refused_unread(tmp_path / "f.parquet", pa.table({"c": column}), monkeypatch)
    assert "the column 'c' must hold numbers or texts" in said
