"""Files that would take much memory or time are refused in a sentence before they do."""

from __future__ import annotations

import io
import json
import time
import tracemalloc

import pytest

import bayes_dp as bdp
from bayes_dp.data import parsing
from bayes_dp.data.json_text import MAX_BRACKETS, MAX_COMMAS

MANY = MAX_BRACKETS + 1
CSV, JSON = bdp.ErrorCounts.from_csv, bdp.ErrorCounts.from_json


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (
            CSV,
            "false_positivs," * 100_000 + "\n1\n",
            "line 1: 1500000 characters are more than a line may have, 1",
        ),
        (CSV, "fp,n0,fn,n1\n" + "1," * 1_000_000, "line 2: 2000000 characters are more than a line may have, 1000000"),
        (CSV, "a," * 1001 + "\n1\n", "1002 columns are more than the 1000"),
        (CSV, ",".join(f"false_{'p' * 900}{k}" for k in range(999)) + "\n1\n", "no column for fp, n0 or tn"),
        (CSV, ",".join(f"falseposit{k}ves" for k in range(999)) + "\n1\n", "meant as falsepositives?"),
        (JSON, "[" + "[]," * MANY + "[]]", "is too large: JSON of at most 4000000 opening brackets"),
        (JSON, "[" + "{}," * MANY + "{}]", "is too large"),
        (JSON, '{"fp": [' + "1," * MAX_COMMAS + "1,1]}", "is too large"),
        (bdp.Comparison.from_json, "[" + "[]," * MANY + "[]]", "is too large"),
        (bdp.GuessTable.from_json, "[" + "[]," * MANY + "[]]", "is too large"),
    ],
)
def test_large_texts(read, text, message):
    began = time.process_time()
    tracemalloc.start()
    try:
        with pytest.raises(bdp.InputError) as error:
            read(io.StringIO(text))
        assert tracemalloc.get_traced_memory()[1] < 200_000_000
    finally:
        tracemalloc.stop()
    assert message in str(error.value)
    assert len(str(error.value)) < 600
    assert time.process_time() - began < 10


def test_rows_of_ever_other_keys(monkeypatch):
    monkeypatch.setattr(parsing, "_MOST_KINDS_OF_ROWS", 3)
    rows = [{"fp": 1, "n0": 5, "fn": 1, "n1": 5, f"note {k}": k} for k in range(4)]
    assert len(JSON(io.StringIO(json.dumps(rows[:3])))) == 3
    with pytest.raises(bdp.InputError, match=r"\[3\] has other keys than the rows before"):
        JSON(io.StringIO(json.dumps(rows)))


def test_what_is_just_within_is_read():
    line = "1,5,1,5," + "x" * (parsing.MAX_LINE - 8)
    assert len(CSV(io.StringIO(f"fp,n0,fn,n1,note\n{line}\n"))) == 1
