"""Parquet files, whose few bytes can stand for very many: what they expand to is known before they are read."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING, Any

from bayes_dp.checks import InputError, show

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MAX_BYTES", "MAX_CELLS", "parquet_frame"]

MAX_CELLS = 50_000_000  # numbers; a text counts as ten
MAX_BYTES = 400_000_000  # without compression


def parquet_frame(name: str) -> pd.DataFrame:
    """The table in a Parquet file of numbers and texts."""
    if importlib.util.find_spec("pyarrow") is None:
        raise InputError(f'{name} cannot be read without pyarrow: pip install "bayes-dp[parquet]"')
    import pyarrow.parquet as pq

    try:
        with open(name, "rb") as file:
            metadata = pq.read_metadata(file)
            _check_size(name, metadata)
            # A text that is there once for many rows stays so until it is known how long all of them are.
            columns = [metadata.schema.column(k) for k in range(metadata.num_columns)]
            texts = [column.path for column in columns if column.physical_type == "BYTE_ARRAY"]
            table = pq.ParquetFile(file, read_dictionary=texts).read()
            return _decoded(name, table).to_pandas(date_as_object=False)
    except InputError:
        raise
    except Exception as error:  # pyarrow has errors of many classes
        reason = getattr(error, "strerror", None) or "it is no Parquet file"
        raise InputError(f"{name} cannot be read: {reason}") from error


def _check_size(name: str, metadata: Any) -> None:
    import pyarrow as pa

    schema = metadata.schema.to_arrow_schema()
    for field in schema:
        if pa.types.is_nested(field.type):
            raise InputError(
                f"{name}: the column {show(field.name)} must hold numbers or texts, not {field.type!s:.80}"
            )
    plain = [pa.types.is_primitive(field.type) for field in schema]  # numbers, truth values and dates
    groups = [metadata.row_group(g) for g in range(metadata.num_row_groups)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    if rows * max(1, sum(1 if one else 10 for one in plain)) > MAX_CELLS:
        raise InputError(
            f"{name} has {rows} rows of {len(plain)} columns, more than the {MAX_CELLS} cells that are"
            " read, of which a text counts as ten"
        )
    size = sum(group.total_byte_size for group in groups)
    if size > MAX_BYTES:
        raise InputError(f"{name} expands to {size} bytes, more than the {MAX_BYTES} that are read")


def _decoded(name: str, table: Any) -> Any:
    """The table with its texts in each row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    letters = 0
    for k, field in enumerate(table.schema):
        if not (pa.types.is_dictionary(field.type) and _is_text(field.type.value_type)):
            continue
        chunks = table.column(k).chunks
        for chunk in chunks:
            letters += pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0
        if letters > MAX_BYTES:
            raise InputError(f"{name} expands to more than {MAX_BYTES} bytes of text, the most that is read")
        column = pa.chunked_array([chunk.dictionary_decode() for chunk in chunks], field.type.value_type)
        table = table.set_column(k, field.with_type(field.type.value_type), column)
    return table


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(test(kind) for test in tests)
