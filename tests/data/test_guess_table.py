"""GuessTable: what is accepted, what is refused with which words, and what it counts."""

from __future__ import annotations

import copy
import dataclasses
import io
import json
import math
import pickle
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from bayes_dp.checks import InputError
from bayes_dp.data import parsing
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from tests.data.test_counts import refusal

TABLE = GuessTable([0.5, math.inf, -2.25], [True, True, False])
FULL = GuessTable([0.5, math.inf, -2.25], [True, True, False], [0.5, 0.25, 0.125], ["a", "b", "a"])
GOOD = "score,member\n0.5,1\ninf,1\n-2.25,0\n"
SETTINGS = settings(
    max_examples=100,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

SCORE = "must be a number (inf and -inf too), not "
TRUTH = "must be True or False (or 1 or 0), not "
TRUTH_TEXT = "must be true or false (or 1 or 0, yes or no, in or out), not "
PROBABILITY = "must be a probability above 0 and below 1, not "


def csv_refusal(content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    message = refusal(GuessTable.from_csv, io.BytesIO(data))
    assert message.startswith("the input")
    return message.removeprefix("the input")


def json_refusal(content: Any) -> str:
    text = content if isinstance(content, str) else json.dumps(content)
    message = refusal(GuessTable.from_json, io.StringIO(text))
    assert message.startswith("the input")
    return message.removeprefix("the input")


texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=8).map(str.strip)


@st.composite
def tables(draw: st.DrawFn, labelled: bool = False) -> GuessTable:
    n = draw(st.integers(1, 12))

    def column(elements: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
        return st.lists(elements, min_size=n, max_size=n)

    bases = column(st.sampled_from(["a", "b", ""]) if labelled else texts)
    return GuessTable(
        draw(column(st.floats(allow_nan=False) | st.integers(-2, 2))),
        draw(column(st.booleans())),
        draw(st.none() | column(st.floats(0, 1, exclude_min=True, exclude_max=True))),
        draw(bases if labelled else st.none() | bases),
    )


# ---------------------------------------------------------------------------------------------------- construction


def test_fields_are_read_only_copies():
    score, member, propensity = np.array([0.5, 1.0]), np.array([True, False]), np.array([0.5, 0.75])
    table = GuessTable(score, member, propensity, base=[" x ", 7])
    score[0], member[0], propensity[0] = 9, False, 0.1
    for name, dtype, expected in (
        ("score", np.float64, [0.5, 1.0]),
        ("member", np.bool_, [True, False]),
        ("propensity", np.float64, [0.5, 0.75]),
    ):
        values = getattr(table, name)
        assert values.dtype == dtype
        assert values.tolist() == expected
        with pytest.raises(ValueError, match="read-only"):
            values[0] = values[1]
    assert table.base == ("x", "7")
    assert len(table) == 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.base = None  # type: ignore[misc]
    assert TABLE.propensity is None
    assert TABLE.base is None


def test_arrays_of_the_caller_stay_writable():
    score, member = np.array([0.5, 1.0]), np.array([True, False])
    table = GuessTable(score, member)
    score[0], member[0] = 2, False  # raises where they are read-only
    assert table == GuessTable([0.5, 1.0], [True, False])


@pytest.mark.parametrize(
    "three",
    [
        [3, 4],
        (3.0, 4),
        [np.float32(3), np.int8(4)],
        [Fraction(3), np.array(4)],
        np.array([3, 4], dtype=np.uint8),
        np.array([3, 4], dtype=np.float16),
        np.array([3, 4], dtype=np.longdouble),
        np.array([3, 4.0], dtype=object),
        pd.Series([3, 4]),
        pd.Series([3, 4], dtype="Float64"),
        jnp.array([3, 4]),
        np.ma.masked_array([3, 4], mask=[False, False]),
    ],
    ids=repr,
)
def test_scores_of_every_kind_are_accepted(three: Any):
    assert GuessTable(three, [True, False]) == GuessTable([3.0, 4.0], [True, False])


@pytest.mark.parametrize(
    "member",
    [
        [True, False],
        (1, 0),
        [1.0, False],
        [np.True_, np.int8(0)],
        np.array([1, 0], dtype=np.uint8),
        np.array([1.0, 0.0]),
        np.array([True, 0], dtype=object),
        pd.Series([True, False]),
        pd.Series([True, False], dtype="boolean"),
        pd.Series([1, 0], dtype="Int64"),
        jnp.array([True, False]),
    ],
    ids=repr,
)
def test_truths_of_every_kind_are_accepted(member: Any):
    assert GuessTable([3, 4], member).member.tolist() == [True, False]


def test_one_propensity_for_all():
    assert GuessTable([1, 2], [1, 0], 0.5) == GuessTable([1, 2], [1, 0], [0.5, 0.5])
    assert not GuessTable([1, 2], [1, 0], 0.5).propensity.flags.writeable
    assert refusal(GuessTable, [1, 2], [1, 0], 1) == f"propensity {PROBABILITY}1"


def test_a_single_example():
    assert GuessTable(0.5, True, 0.5, ["a"]) == GuessTable([0.5], [True], [0.5], ["a"])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), "nan"),
        (np.float32("nan"), "nan"),
        (True, "True"),
        (None, "None"),
        ("3", "'3'"),
        (3 + 0j, "(3+0j)"),
        (10**400, "1000000000"),
        (10**5000, "a number of thousands of digits"),
        ([1.0], "[1.0]"),
        (pd.NA, "<NA>"),
        (pd.Timestamp("2025-01-01"), "2025-01-01"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else type(value).__name__,
)
def test_a_bad_score_is_named_with_its_row(value: Any, shown: str):
    message = refusal(GuessTable, [0.5, 0.5, value], [1, 0, 1])
    assert message.startswith(f"score[2] {SCORE}")
    assert shown in message


@pytest.mark.parametrize("array", [np.array([1, np.nan]), pd.Series([1, None]), pd.Series([1, pd.NA], dtype="Int64")])
def test_a_missing_score_in_an_array_is_named_with_its_row(array: Any):
    assert refusal(GuessTable, array, [1, 0]).startswith(f"score[1] {SCORE}")


@pytest.mark.parametrize("array", [np.array([True, False]), np.array(["1", "2"]), np.array([1, 2], "M8[s]")])
def test_score_arrays_of_other_kinds_are_refused(array: Any):
    assert refusal(GuessTable, array, [1, 0]).startswith(f"score[0] {SCORE}")


@pytest.mark.parametrize("value", [-1, 2, 0.5, float("nan"), float("inf"), None, "yes", "1", b"1", 1j, [1], pd.NA])
def test_a_bad_truth_is_named_with_its_row(value: Any):
    message = refusal(GuessTable, [1, 2, 3], [1, value, value])
    assert message.startswith(f"member[1] {TRUTH}")
    if isinstance(value, int | float):
        message = refusal(GuessTable, [1, 2, 3], np.array([1, value, 0]))
        assert message == f"member[1] {TRUTH}{value}"


@pytest.mark.parametrize("value", [0, 1, -0.1, 1.5, float("nan"), float("inf"), True, None, "0.5"])
def test_a_bad_propensity_is_named_with_its_row(value: Any):
    message = refusal(GuessTable, [1, 2, 3], [1, 0, 1], [0.5, 0.5, value])
    assert message == f"propensity[2] {PROBABILITY}{value!r}"


def test_lengths_and_shapes():
    assert refusal(GuessTable, [1, 2], [1]) == "member must hold as many rows as score, 2, not 1"
    assert refusal(GuessTable, [1, 2], True) == "member must hold as many rows as score, 2, not 1"
    assert refusal(GuessTable, [1, 2], [1, 0], [0.5]) == "propensity must hold as many rows as score, 2, not 1"
    assert refusal(GuessTable, [1, 2], [1, 0], base=["a"]) == "base must hold 2 labels, one per example, not 1"
    assert refusal(GuessTable, [1, 2], [1, 0], base=["a", None]).startswith("base[1] must be a label (one line of")
    assert refusal(GuessTable, np.ones((2, 3)), [1, 0]) == (
        "score must have one dimension, one row per example, not the shape (2, 3)"
    )
    assert refusal(GuessTable, [[1, 2]], [1]) == f"score[0] {SCORE}[1, 2]"
    for empty in ([], (), np.array([]), pd.Series([], dtype=float)):
        assert refusal(GuessTable, empty, empty) == "score must hold at least one row, not none"
    assert refusal(GuessTable, [1], []) == "member must hold at least one row, not none"
    for value in ({1.0}, {"a": 1}, object(), "0.5", None):
        assert refusal(GuessTable, value, [1]).startswith("score must be ")
    assert refusal(GuessTable, [1], None) == f"member {TRUTH}None"


# -------------------------------------------------------------------------------------------------- what it can do


def test_equality_hash_and_digest():
    same = GuessTable(np.array([0.5, np.inf, -2.25]), np.array([1, 1, 0]))
    assert same == TABLE
    assert hash(same) == hash(TABLE)
    assert same.digest() == TABLE.digest()
    assert GuessTable([-0.0], [True]) == GuessTable([0.0], [True])
    assert GuessTable([-0.0], [True]).digest() == GuessTable([0.0], [True]).digest()
    # written out once, so that digests in saved results stay comparable
    assert GuessTable(0.5, True).digest() == "69e66185b7bb0840d967ce909eaba74693ab5829c355c427724374281aec2ec2"
    others = [
        TABLE,
        FULL,
        TABLE[:2],
        dataclasses.replace(TABLE, score=[0.5, 1, 1]),
        dataclasses.replace(TABLE, member=[1, 0, 0]),
        dataclasses.replace(TABLE, propensity=0.5),
        dataclasses.replace(TABLE, propensity=0.25),
        dataclasses.replace(TABLE, base=["a", "b", "c"]),
        dataclasses.replace(TABLE, base=["a", "", "bc"]),
    ]
    assert len(set(others)) == len({table.digest() for table in others}) == len(others)
    assert TABLE != "GuessTable"


@given(table=tables(), other=tables())
@SETTINGS
def test_equal_tables_have_equal_digests_and_no_others(table: GuessTable, other: GuessTable):
    assert table[:] == table
    assert table[:].digest() == table.digest()
    assert (table == other) == (table.digest() == other.digest())


def test_copies_and_pickles_stay_read_only():
    for table in (TABLE, FULL):
        for twin in (pickle.loads(pickle.dumps(table)), copy.copy(table), copy.deepcopy(table)):
            assert twin == table
            assert not twin.score.flags.writeable
            assert not twin.member.flags.writeable


def test_choosing_examples():
    two = GuessTable([0.5, -2.25], [True, False], [0.5, 0.125], ["a", "a"])
    for index in (slice(None, None, 2), [0, 2], np.array([0, -1]), np.array([True, False, True]), [True, False, True]):
        assert FULL[index] == two
        assert not FULL[index].score.flags.writeable
    assert FULL[1] == FULL[1:2] == FULL[np.int64(-2)]
    assert [float(one.score[0]) for one in TABLE] == TABLE.score.tolist()
    with pytest.raises(IndexError):
        FULL[3]
    start = "the index must choose at least one example, from 0 to 2, not "
    for index, shown in [([], "[]"), (slice(3, 9), "slice(3, 9, None)"), ([False] * 3, "[False"), ([[0]], "[[0]]")]:
        assert refusal(FULL.__getitem__, index).startswith(start + shown)


def test_texts():
    assert repr(TABLE) == "GuessTable: 3 examples, 2 members"
    assert repr(FULL) == "GuessTable: 3 examples, 2 members, 2 bases, with propensities"
    assert str(GuessTable([1], [1], base=["a"])) == "GuessTable: 1 example, 1 member, 1 base"


def test_counts_by_hand():
    table = GuessTable([3, 3, 2, 1, math.inf, -math.inf], [1, 0, 1, 0, 1, 1])
    assert table.counts(3) == ErrorCounts(1, 2, 2, 4, design="one_run", examples=6)
    assert table.counts(math.inf) == ErrorCounts(0, 2, 3, 4, design="one_run", examples=6)
    assert table.counts(-math.inf) == ErrorCounts(2, 2, 0, 4, design="one_run", examples=6)
    assert refusal(table.counts, math.nan) == "threshold must lie in [-inf, inf], not nan"
    assert refusal(table.counts, "3").startswith("threshold must be numeric")
    assert refusal(GuessTable([1, 2], [1, 1]).counts, 0) == (
        "counts need members and non-members, but all examples are members"
    )
    assert refusal(GuessTable([1, 2], [0, 0]).counts, 0).endswith("but all examples are non-members")


def test_counts_per_base_by_hand():
    table = GuessTable([3, 1, 3, 1, 5], [1, 0, 0, 1, 1], base=["b", "b", "a", "a", "b"])
    assert table.counts(3, per_base=True) == ErrorCounts(
        [0, 1], 1, [0, 1], [2, 1], base=["b", "a"], design="one_run", examples=5
    )
    assert table.counts(3) == table.counts(3, per_base=True).pool()
    assert refusal(table[[0, 2, 3]].counts, 3, per_base=True) == (
        "counts need members and non-members, but all examples of base 'b' are members"
    )
    assert refusal(TABLE.counts, 3, per_base=True) == (
        "base must be given to tell the examples of different bases apart, not None"
    )


@given(table=tables(labelled=True), threshold=st.floats(allow_nan=False) | st.integers(-2, 2))
@SETTINGS
def test_counts_have_an_obvious_twin(table: GuessTable, threshold: float):
    def twin(rows: list[int]) -> tuple[int, int, int, int]:
        kinds = Counter((bool(table.member[i]), bool(table.score[i] >= threshold)) for i in rows)
        wrong_out, wrong_in = kinds[True, False], kinds[False, True]
        return wrong_in, wrong_in + kinds[False, False], wrong_out, wrong_out + kinds[True, True]

    def found(call: Any) -> list[tuple[int, ...]] | None:
        try:
            counts = call()
        except InputError:
            return None
        assert counts.examples == len(table)
        columns = (counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
        return [tuple(row) for row in np.transpose(columns).tolist()]

    everything = [twin(list(range(len(table))))]
    groups = [twin([i for i, base in enumerate(table.base) if base == name]) for name in dict.fromkeys(table.base)]
    for rows, call in ((everything, table.counts), (groups, lambda t: table.counts(t, per_base=True))):
        possible = all(row[1] and row[3] for row in rows)
        assert found(lambda call=call: call(threshold)) == (rows if possible else None)


@given(table=tables(labelled=True))
@SETTINGS
def test_by_base_has_an_obvious_twin(table: GuessTable):
    parts = table.by_base()
    assert list(parts) == list(dict.fromkeys(table.base))
    for name, part in parts.items():
        assert part == table[[i for i, base in enumerate(table.base) if base == name]]


def test_by_base_needs_bases():
    assert refusal(TABLE.by_base).startswith("base must be given to tell")


@given(table=tables(), fraction=st.floats(0.01, 0.99), seed=st.integers(0, 2**63 - 1))
@SETTINGS
def test_split_shares_out_all_examples(table: GuessTable, fraction: float, seed: int):
    numbered = dataclasses.replace(table, base=[str(i) for i in range(len(table))])
    first = round(fraction * len(table))
    if not 0 < first < len(table):
        message = refusal(table.split, fraction, seed)
        assert message.startswith(f"fraction must leave an example in both parts of {len(table)}, which ")
        return
    parts = numbered.split(fraction, seed)
    assert [len(part) for part in parts] == [first, len(table) - first]
    rows = [[int(i) for i in part.base] for part in parts]
    assert sorted(rows[0] + rows[1]) == list(range(len(table)))
    for part, mine in zip(parts, rows, strict=True):
        assert mine == sorted(mine)
        assert part == numbered[mine]
    assert numbered.split(fraction, seed) == parts
    turned = dataclasses.replace(numbered, score=-table.score, member=~table.member)  # the rows drawn stay the same
    assert [part.base for part in turned.split(fraction, seed)] == [part.base for part in parts]


def test_split_draws_every_subset_equally_often():
    table = GuessTable(range(5), [1, 0, 1, 0, 1])
    drawn = Counter(tuple(table.split(0.4, seed)[0].score) for seed in range(2000))
    assert len(drawn) == 10
    assert sum((count - 200) ** 2 / 200 for count in drawn.values()) < chi2.isf(1e-4, 9)


def test_split_arguments():
    for fraction in (0, 1, -1, 2, math.nan, "half"):
        assert refusal(TABLE.split, fraction).startswith("fraction must ")
    assert refusal(TABLE.split, 0.5, -1).startswith("seed must be a whole number")
    assert refusal(TABLE[:1].split) == "fraction must leave an example in both parts of 1, which 0.5 does not"


# ------------------------------------------------------------------------------------------------- written and read


@given(table=tables())
@SETTINGS
def test_what_is_written_is_read_back(tmp_path: Path, table: GuessTable):
    table.to_csv(tmp_path / "scores.csv")
    assert GuessTable.read(tmp_path / "scores.csv") == table
    assert GuessTable.from_frame(table.to_frame()) == table
    columns = {name: values.tolist() for name, values in table.to_frame().items()}
    assert GuessTable.from_json(io.StringIO(json.dumps(columns))) == table
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert GuessTable.from_json(io.StringIO(json.dumps(rows))) == table
    table.to_frame().to_csv(tmp_path / "scores.csv", index=False)
    assert GuessTable.read(tmp_path / "scores.csv") == table


def test_csv_as_written(tmp_path: Path):
    TABLE.to_csv(tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_text() == GOOD
    dataclasses.replace(FULL, base=["a, b", "c", "d"]).to_csv(tmp_path / "scores.csv")
    assert (tmp_path / "scores.csv").read_bytes() == (
        b'score,member,propensity,base\n0.5,1,0.5,"a, b"\ninf,1,0.25,c\n-2.25,0,0.125,d\n'
    )
    assert "cannot be written: no such file" in refusal(TABLE.to_csv, tmp_path / "no" / "scores.csv")


def test_frames():
    frame = FULL.to_frame()
    assert list(frame.columns) == ["score", "member", "propensity", "base"]
    assert frame["member"].dtype == bool
    assert list(TABLE.to_frame().columns) == ["score", "member"]
    assert GuessTable.from_frame(frame.rename(columns={"member": "Is_Member"}).assign(other="x")) == FULL
    assert GuessTable.from_frame(frame.assign(member=[1, 1, 0]).set_index(pd.Index([9, 8, 7]))) == FULL
    assert refusal(GuessTable.from_frame, frame.assign(score=[1, None, 2])) == f"score[1] {SCORE}nan"
    assert refusal(GuessTable.from_frame, frame.assign(member=["yes", "no", "no"])) == f"member[0] {TRUTH}'yes'"
    assert refusal(GuessTable.from_frame, frame.drop(columns="member")).startswith("frame: no column for member; ")
    assert refusal(GuessTable.from_frame, GOOD) == "frame must be a pandas DataFrame, not str"


def test_read_goes_by_the_suffix(tmp_path: Path):
    for name in ("a.csv", "a.CSV", "a.tsv", "a.txt"):
        (tmp_path / name).write_text(GOOD)
        assert GuessTable.read(tmp_path / name) == TABLE
    (tmp_path / "a.Json").write_text('{"score": [0.5, Infinity, -2.25], "member": [1, 1, 0]}')
    assert GuessTable.read(str(tmp_path / "a.Json")) == TABLE
    assert refusal(GuessTable.read, "a.npz") == "'a.npz' must end in .csv, .tsv, .txt or .json, not '.npz'"
    assert refusal(GuessTable.read, io.StringIO(GOOD)) == "path must be a path, not StringIO"


@pytest.mark.parametrize(
    "content",
    [
        '"score","member"\n"0.5","1"\ninf,"1"\n"-2.25",0\n',
        GOOD + ",\n",
        "member,note,Score\n1,x,5e-1\nTRUE,,+INF\nFalse,nan,-2.250\n",
        "score,is_member\n.5,yes\nInfinity,Yes\n-225E-2,no\n",
        "SCORE,Is Member\n+0.5,in\n+infinity,IN\n-2.25,out\n",
        "score,label\n0.50000,1.0\ninf,1\n-2.25,0.0\n",
        "score,Membership\n0.5,true\ninf,true\n-2.25,false\n",
    ],
)
def test_csv_forms_that_are_read(tmp_path: Path, content: str | bytes):
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "scores.csv").write_bytes(data)
    assert GuessTable.from_csv(tmp_path / "scores.csv") == TABLE
    assert GuessTable.from_csv(io.BytesIO(data)) == TABLE
    if isinstance(content, str):
        assert GuessTable.from_csv(io.StringIO(content, newline="")) == TABLE


def test_csv_with_all_columns():
    text = 'base;score;propensity;member\na;0.5;0.5;1\n"b";inf;2.5e-1;1\n a ;-2.25;.125;0\n'
    assert GuessTable.from_csv(io.StringIO(text)) == FULL


BAD_NUMBERS = ["", "x", "NaN", "nan", "1e400", "-1e400", "9" * 5000, "0x10", "1_000", "1 000", "٣", "³"]
BAD_NUMBERS += ["1e", ".", "--1"]
BAD_CELLS = {
    "score": (SCORE, [*BAD_NUMBERS, "True", "infinit", "--inf", "0,5", "1,000.5", "1'000", "€"]),
    "is_member": (TRUTH_TEXT, [*BAD_NUMBERS, "-1", "2", "0.5", "member", "t", "maybe", "inf"]),
    "propensity": (PROBABILITY, [*BAD_NUMBERS, "0", "1", "1.0", "-0.5", "50%", "0,5", "1e-400", "inf"]),
}


@pytest.mark.parametrize("column", BAD_CELLS)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_bad_cells_are_named_with_line_heading_and_value(column: str, delimiter: str):
    wanted, cells = BAD_CELLS[column]
    good = {"score": "0.5", "is_member": "1", "propensity": "0.5"}
    for cell in cells:
        rows = [list(good), list(good.values()), list((good | {column: f'"{cell}"'}).values()), ["x"]]
        lines = [delimiter.join(row) for row in rows]
        message = csv_refusal(f"# comment\n{lines[0]}\n{lines[1]}\n\n{lines[2]}\n{lines[3]}\n")
        start = f", line 5: {column} {wanted}"
        assert message.startswith(start)
        shown = message.removeprefix(start)
        assert shown == repr(cell) if len(cell) < 50 else shown.startswith("'999") and "..." in shown


def test_long_cells_are_refused_in_no_time():
    for cell in ("9" * 900_000 + "x", "." * 900_000, "1e" + "9" * 900_000 + "x"):
        assert csv_refusal(f"score,member\n{cell},1\n").startswith(f", line 2: score {SCORE}")


def test_rows_with_too_few_or_too_many_fields():
    assert csv_refusal(GOOD + "1\n") == ", line 5: 1 fields under the 2 headings of line 1"
    for row in ("0,5,1", "1,000.5,1"):
        assert csv_refusal(f"#\n{GOOD}{row}\n") == (
            ", line 6: 3 fields under the 2 headings of line 2 (a thousands separator or decimal comma?)"
        )


def test_empty_files():
    for text in ("", "\n\n", "\ufeff", "# only a comment\n", "   "):
        assert csv_refusal(text) == (" is empty: column headings such as score,member and rows of scores are needed")
    assert json_refusal("[]") == " has no rows of scores"


def test_headings():
    accepted = (
        "accepted headings are score (or loss), member (or is_member, label, membership) and, if wanted, propensity,"
        " base"
    )
    assert csv_refusal("#\nscore,x\n1,1\n") == f", line 2: no column for member; {accepted}, found ['score', 'x']"
    assert csv_refusal("scores,member\n1,1\n").startswith(
        ", line 1: no column for score or loss (is 'scores' meant as score?)"
    )
    assert csv_refusal("score,membr\n1,1\n").startswith(", line 1: no column for member (is 'membr' meant as member?)")
    assert csv_refusal("fp,n0,fn,n1\n1,2,3,4\n").startswith(", line 1: no column for score or loss, member; ")
    assert csv_refusal("score,member,Is-Member\n1,1,1\n") == (
        ", line 1: the headings 'member' (column 2) and 'Is-Member' (column 3) name the same column"
    )
    assert csv_refusal("0.5,1\n0.25,0\n") == (
        ", line 1: column headings are needed, not the numbers '0.5,1' (a line that starts with # is a comment); "
        + accepted.replace("accepted headings", "accepted")
    )


@pytest.mark.parametrize("read", [GuessTable.from_csv, GuessTable.from_json, GuessTable.read])
def test_files_that_cannot_be_opened(tmp_path: Path, read: Any):
    missing = tmp_path / "missing.csv"
    assert refusal(read, missing) == f"{missing} cannot be read: no such file or directory"


def test_the_file_is_named(tmp_path: Path):
    path = tmp_path / "scores.csv"
    path.write_text(GOOD + "nan,1\n")
    assert refusal(GuessTable.read, path) == f"{path}, line 5: score {SCORE}'nan'"


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parsing, "MAX_ROWS", 3)
    rows = [{"score": 1, "member": True}] * 4
    message = "the input has more than 3 rows, the most that is read"
    assert len(GuessTable.from_csv(io.StringIO("#\n\n" + GOOD))) == 3
    assert refusal(GuessTable.from_csv, io.StringIO(GOOD + "1,1\n")) == message
    assert refusal(GuessTable.from_csv, io.StringIO(GOOD + "\n" * 9)) == message
    assert len(GuessTable.from_json(io.StringIO(json.dumps(rows[:3])))) == 3
    assert refusal(GuessTable.from_json, io.StringIO(json.dumps(rows))) == message
    columns = {"score": [1] * 4, "member": [1] * 4}
    assert refusal(GuessTable.from_json, io.StringIO(json.dumps(columns))) == message


def test_a_file_of_many_rows_is_read_in_seconds():
    n = 200_000
    scores = np.random.default_rng(0).normal(size=n).tolist()
    text = "score,member\n" + "".join(f"{x!r},{i % 2}\n" for i, x in enumerate(scores))
    assert GuessTable.from_csv(io.StringIO(text)) == GuessTable(scores, np.arange(n) % 2)


def test_json_forms_and_refusals():
    columns = {"Score": [0.5, math.inf, -2.25], "is-member": [True, 1, 0.0], "propensity": None, "about": {"a": 1}}
    assert GuessTable.from_json(io.StringIO(json.dumps(columns))) == TABLE
    assert GuessTable.from_json(io.StringIO(json.dumps(columns | {"propensity": 0.5}))).propensity.tolist() == [0.5] * 3
    two = {"score": [1, 2], "member": [1, 0]}
    assert json_refusal(two | {"score": [1, None]}) == f": score[1] {SCORE}None"
    assert json_refusal(two | {"score": [1, math.nan]}) == f": score[1] {SCORE}nan"
    assert json_refusal('{"score": [1, 1e400], "member": [1, 0]}') == f": score[1] {SCORE}'1e400'"
    assert json_refusal(two | {"member": [1, "yes"]}) == f": member[1] {TRUTH}'yes'"
    assert json_refusal(two | {"member": [1, 0, 1]}) == ": member must hold as many rows as score, 2, not 3"
    assert json_refusal(two | {"member": None}) == f": member {TRUTH}None"
    assert json_refusal(two | {"base": ["a"]}) == ": base must hold 2 labels, one per example, not 1"
    assert json_refusal(two | {"score": [], "member": []}) == ": score must hold at least one row, not none"
    assert json_refusal({"score": [1]}).startswith(
        ": no column for member; accepted headings are score (or loss), member (or"
    )
    row = {"score": 1, "member": True}
    assert json_refusal([row, row | {"score": "x"}]) == f": [1].score {SCORE}'x'"
    assert json_refusal([row, row | {"base": "a"}]) == (
        ": [1] must have the columns of [0], ['member', 'score'], not ['base', 'member', 'score']"
    )
    assert json_refusal("3") == " must hold an object of columns or a list of row objects, not 3"


def test_import_is_light():
    code = "import sys, bayes_dp.data.guess_table; print([m for m in ('pandas', 'scipy', 'jax') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# ------------------------------------------------------------------------------------------------------------- fuzz


def only_input_errors(read: Any, *args: Any) -> None:
    try:
        table = read(*args)
    except InputError as error:
        message = str(error)
        assert message.isprintable()
        assert len(message) < 600
    else:
        assert len(table) == len(table.score) == len(table.member) > 0
        assert not np.isnan(table.score).any()


CSV_PIECES = st.sampled_from(
    [
        *("score", "member", "propensity", "base", "label", "x", "score,member\n", "0.5,1\n", "true", "in"),
        *(",", ",", ",", ";", "\t", "\n", "\n", "\r", '"', '"', "#", " "),
        *("1", "0", "-1", "1.5", "1e400", "nan", "inf", "\0", "\ufeff", "é"),
    ]
)
CSV_TEXT = st.lists(CSV_PIECES, max_size=40).map("".join)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(0, 1) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=10,
)
JSON_COLUMNS = st.fixed_dictionaries(
    dict.fromkeys(["score", "member"], st.lists(st.integers(0, 1), min_size=1, max_size=2) | JSON_VALUES),
    optional=dict.fromkeys(["propensity", "base", "label"], JSON_VALUES),
)


@given(data=st.binary() | st.binary().map(lambda data: GOOD.encode() + data))
@example(b"\xff\xfe\x00\xd8")
@SETTINGS
def test_any_bytes(data: bytes):
    only_input_errors(GuessTable.from_csv, io.BytesIO(data))
    only_input_errors(GuessTable.from_json, io.BytesIO(data))


@given(text=st.text(st.characters()) | CSV_TEXT | CSV_TEXT.map(lambda text: GOOD + text))
@example("score,member\n1,\ud800\n")
@SETTINGS
def test_any_text(text: str):
    only_input_errors(GuessTable.from_csv, io.StringIO(text, newline=""))
    only_input_errors(GuessTable.from_csv, io.BytesIO(text.encode("utf-8", "surrogatepass")))


@given(content=JSON_VALUES | JSON_COLUMNS | st.lists(JSON_COLUMNS, max_size=3))
@SETTINGS
def test_any_json(content: Any):
    only_input_errors(GuessTable.from_json, io.StringIO(json.dumps(content)))


@given(columns=st.lists(JSON_VALUES | st.lists(st.integers(0, 1), min_size=2, max_size=2), min_size=4, max_size=4))
@SETTINGS
def test_any_arguments(columns: list[Any]):
    only_input_errors(GuessTable, *columns)


# Losses, and scores with the wrong sign


LOSSES = GuessTable([-1.5, 2.0, math.inf, 0.0], [True, False, True, False])


@pytest.mark.parametrize(
    "text",
    [
        "loss,member\n1.5,1\n-2,0\n-inf,1\n0,0\n",
        "id;Loss;is_member\na;1.5;yes\nb;-2;no\nc;-inf;in\nd;-0.0;out\n",
        "loss,member\n1.5e+00,1.000e+00\n-2.,0.\n-inf,1e0\n0,-0.0E+00\n",
    ],
)
def test_losses_in_files(text: str, tmp_path: Path):
    assert GuessTable.from_csv(io.StringIO(text)) == LOSSES
    frame = pd.read_csv(io.StringIO(text), sep=None, engine="python")
    if "Loss" not in frame:
        assert GuessTable.from_frame(frame) == LOSSES
    rows = [{"loss": 1.5, "member": 1}, {"loss": -2, "member": 0}, {"loss": math.inf * -1, "member": 1}]
    assert GuessTable.from_json(io.StringIO(json.dumps(rows))) == LOSSES[:3]
    columns = {"loss": [1.5, -2], "member": [1, 0], "base": ["a", "a"], "propensity": 0.5}
    read = GuessTable.from_json(io.StringIO(json.dumps(columns)))
    assert read == GuessTable.from_losses([1.5, -2], [1, 0], 0.5, ["a", "a"])
    assert read.score.tolist() == [-1.5, 2.0]
    read.to_csv(tmp_path / "scores.csv")
    assert GuessTable.read(tmp_path / "scores.csv") == read


def test_losses_that_are_refused():
    assert csv_refusal("loss,member\nnan,1\n").startswith(", line 2: loss must be a number")
    assert csv_refusal("score,Loss,member\n1,2,1\n") == (
        ": Loss must not stand beside score, as both give scores: leave one out"
    )
    assert csv_refusal("loss,run,member\n1,2,1\n").startswith(": loss must be of one run, but there is a column run")
    assert json_refusal({"loss": None, "member": [1]}).startswith(": loss must be a number")
    assert GuessTable.from_csv(io.StringIO("score,run,member\n1,2,1\n")).score.tolist() == [1.0]
    with pytest.raises(InputError, match=r"loss\[1\] must be a number"):
        GuessTable.from_losses([1.0, math.nan], [1, 0])
    with pytest.raises(InputError, match="member must hold as many rows as loss, 2, not 1"):
        GuessTable.from_losses([1.0, 2.0], [1])


def wrong_way(n: int = 400, propensity: float | None = None) -> GuessTable:
    rng = np.random.default_rng(4)
    member = np.arange(n) % 2 == 0
    return GuessTable(rng.normal(size=n) - 0.7 * member, member, propensity)


def test_scores_with_the_wrong_sign():
    table = wrong_way()
    assert table.auc().high < 0.5
    (sentence,) = table.cautions()
    assert f"members score lower (AUC {table.auc().value:.2f}): are these losses?" in sentence
    assert sentence in str(table)
    assert "Features" not in sentence
    assert wrong_way(propensity=0.5).cautions() == (sentence,)
    assert "Features by which members and non-members differ" in wrong_way(propensity=0.4).cautions()[0]
    turned = GuessTable.from_losses(table.score, table.member)
    assert turned.cautions() == ()
    assert turned.auc().value == pytest.approx(1 - table.auc().value)
    assert f"AUC {turned.auc()}" in str(turned)
    assert f"TPR at an FPR of 0.01: {turned.tpr_at(0.01)}" in str(turned)
    assert "0.001" not in str(turned)  # of 200 non-members
    assert GuessTable([1.0, 2.0], [True, False]).cautions() == ()  # too few to tell


def test_a_notebook_shows_how_well_the_scores_tell():
    assert "<td>AUC</td>" in GuessTable([0.1, 0.4, 0.8, 0.9], [False, True, False, True])._repr_html_()
    assert "2 members" in GuessTable([0.1, 0.4], [True, True])._repr_html_()
