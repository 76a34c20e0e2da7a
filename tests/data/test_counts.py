"""ErrorCounts: what is accepted, what is refused and how the refusal names the place and the value."""

from __future__ import annotations

import copy
import dataclasses
import gzip
import hashlib
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from bayes_dp import datasets
from bayes_dp.checks import InputError
from bayes_dp.data import files, parsing
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import write_text_atomically
from bayes_dp.data.table import count_arrays

COUNTS = ErrorCounts([3, 0, 7], 100, [5, 100, 2], [100, 100, 50])
GOOD = "fp,n0,fn,n1\n3,100,5,100\n0,100,100,100\n7,100,2,50\n"


def refusal(call: Any, *args: Any, **kwargs: Any) -> str:
    """The message of the InputError that a call raises: one line, and not endless."""
    with pytest.raises(InputError) as caught:
        call(*args, **kwargs)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 600
    return message


def csv_refusal(tmp_path: Path, content: str | bytes) -> str:
    """The refusal of a CSV file, which begins with the file's name; the rest is returned."""
    path = tmp_path / "counts.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    message = refusal(ErrorCounts.from_csv, path)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def json_refusal(tmp_path: Path, content: str | bytes) -> str:
    path = tmp_path / "counts.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    message = refusal(ErrorCounts.from_json, path)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


@pytest.mark.parametrize("unknown", ["bayes-dp/counts/2", "bayes-dp/bound/1", "bayes-dp/", "BAYES-DP/COUNTS/1"])
def test_counts_of_another_format_are_refused(tmp_path: Path, unknown: str):
    content = json.dumps({"format": unknown} | COUNTS.to_dict())
    message = json_refusal(tmp_path, content)
    assert message == f" is of the format '{unknown}', and what is read here is 'bayes-dp/counts/1'"


@pytest.mark.parametrize("foreign", [None, "csv", ["a"], 3, {"a": 1}])
def test_what_others_call_a_format_is_nothing_to_counts(tmp_path: Path, foreign: object):
    (tmp_path / "counts.json").write_text(json.dumps({"format": foreign} | COUNTS.to_dict()))
    assert ErrorCounts.from_json(tmp_path / "counts.json") == COUNTS


# ---------------------------------------------------------------------------------------------------- construction


def test_fields_are_read_only_int64_copies():
    given_fp = np.array([3, 0, 7])
    counts = ErrorCounts(given_fp, 100, [5, 100, 2], [100, 100, 50], base=["a", "b", "a"], group=[1, 1, 2])
    given_fp[0] = 99
    for name, expected in {
        "false_positives": [3, 0, 7],
        "negatives": [100, 100, 100],
        "false_negatives": [5, 100, 2],
        "positives": [100, 100, 50],
    }.items():
        values = getattr(counts, name)
        assert values.dtype == np.int64
        assert values.tolist() == expected
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1
    assert counts.base == ("a", "b", "a")
    assert counts.group == ("1", "1", "2")
    assert counts.design == "repeated"
    assert counts.examples is None
    assert len(counts) == 3
    with pytest.raises(dataclasses.FrozenInstanceError):
        counts.design = "cross_fed"  # type: ignore[misc]


def test_an_int64_array_of_the_caller_is_neither_shared_nor_frozen():
    mine = [np.array([3]), np.array([10]), np.array([2]), np.array([10])]
    counts = ErrorCounts(*mine)
    for array in mine:
        array[0] = 5
    assert counts == ErrorCounts(3, 10, 2, 10)


@pytest.mark.parametrize(
    "three",
    [
        [3],
        (3,),
        3,
        3.0,
        [3.0],
        np.int8(3),
        np.float32(3),
        [np.uint64(3)],
        np.array([3], dtype=np.uint8),
        np.array([3.0], dtype=np.float16),
        np.array(3),
        [np.array(3)],
        np.array([3], dtype=object),
        pd.Series([3]),
        pd.Series([3.0]),
        pd.Series([3], dtype="Int64"),
        jnp.array([3]),
        [jnp.array(3)],
        [Fraction(3)],
        np.ma.masked_array([3], mask=[False]),
    ],
    ids=repr,
)
def test_whole_numbers_of_every_kind_are_accepted(three: Any):
    assert ErrorCounts(three, 100, three, 100) == ErrorCounts([3], [100], [3], [100])


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3.5, "3.5"),
        (np.float64(3.5), "3.5"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (-1, "-1"),
        (-1.0, "-1.0"),
        (True, "True"),
        (np.True_, "True"),
        (None, "None"),
        ("3", "'3'"),
        (b"3", "b'3'"),
        (3 + 0j, "(3+0j)"),
        (2**53 + 1, "9007199254740993"),
        (2.0**54, "1.8014398509481984e+16"),
        (2**64, "18446744073709551616"),
        (10**400, "1000000000"),
        (10**5000, "a number of thousands of digits"),
        ([1, 2], "[1, 2]"),
        ({}, "{}"),
        (pd.NA, "<NA>"),
        (pd.Timestamp("2025-01-01"), "2025-01-01"),
    ],
    ids=lambda value: str(value)[:20] if isinstance(value, str) else type(value).__name__,
)
def test_a_bad_count_in_a_list_is_named_with_its_row(value: Any, shown: str):
    message = refusal(ErrorCounts, [3, 4, value], 100, [5, 6, 7], 100)
    assert message.startswith("false_positives[2] must be a whole number from 0 to 2**53, not ")
    assert shown in message
    message = refusal(ErrorCounts, [3, 4, 5], 100, [5, 6, 7], [100, value, 100])
    assert message.startswith("positives[1] must be a whole number from 1 to 2**53, not ")
    assert shown in message


@pytest.mark.parametrize(
    ("array", "shown"),
    [
        (np.array([3, 4.5]), "4.5"),
        (np.array([3, np.nan]), "nan"),
        (np.array([3, np.inf], dtype=np.float16), "inf"),
        (np.array([3, -np.inf], dtype=np.longdouble), "-inf"),
        (np.array([3, -2]), "-2"),
        (np.array([3, 2**64 - 1], dtype=np.uint64), "18446744073709551615"),
        (np.array([0, 2**53 + 1]), "9007199254740993"),
        (np.ma.masked_array([3, 4], mask=[False, True]), "None"),
        (pd.Series([3, pd.NA], dtype="Int64").astype(object), "<NA>"),
        (pd.Series([3, pd.NA], dtype="Int64"), ""),  # shown as <NA> or nan, by the version of pandas
        (pd.Series([3, None]), "nan"),
    ],
    ids=repr,
)
def test_a_bad_count_in_an_array_is_named_with_its_row(array: Any, shown: str):
    message = refusal(ErrorCounts, [3, 4], 100, array, 100)
    assert message.startswith("false_negatives[1] must be a whole number from 0 to 2**53, not ")
    assert shown in message


@pytest.mark.parametrize("array", [np.array([True, False]), np.array(["1", "2"]), np.array([1, 2], "M8[s]")])
def test_arrays_of_other_kinds_are_refused(array: Any):
    assert refusal(ErrorCounts, [3, 4], 100, array, 100).startswith("false_negatives[0] must be a whole number")


def test_a_bad_single_number_is_named_without_a_row():
    assert refusal(ErrorCounts, [3, 4], 0, [3, 4], 9) == "negatives must be a whole number from 1 to 2**53, not 0"
    assert refusal(ErrorCounts, [3, 4], "9", [3, 4], 9).endswith(
        "negatives must be a whole number from 1 to 2**53, not '9'"
    )
    assert refusal(ErrorCounts, [3, 4], None, [3, 4], 9).startswith("negatives must be a whole number")


def test_more_errors_than_challenges():
    message = "false_positives[1] must be a whole number from 0 to negatives = 10, not 11"
    assert refusal(ErrorCounts, [10, 11], 10, [0, 0], 10) == message
    message = "false_negatives[2] must be a whole number from 0 to positives = 7, not 8"
    assert refusal(ErrorCounts, [0, 0, 0], 10, [9, 8, 8], [9, 8, 7]) == message


def test_bounds_are_inclusive():
    most = 2**53
    counts = ErrorCounts([0, most], [1, most], [1, most], [1, float(most)])
    assert counts.positives.tolist() == [1, most]


def test_lengths_must_agree():
    assert refusal(ErrorCounts, [1, 2], 10, [1, 2, 3], 10) == (
        "false_negatives must hold as many counts as false_positives, 2, not 3"
    )
    assert refusal(ErrorCounts, [1, 2], [10], [1, 2], 10) == (
        "negatives must hold as many counts as false_positives, 2, not 1"
    )
    assert refusal(ErrorCounts, [1, 2], 10, 1, 10) == (
        "false_negatives must hold as many counts as false_positives, 2, not 1"
    )


@pytest.mark.parametrize("empty", [[], (), np.array([]), np.array([], dtype=int), pd.Series([], dtype=float)], ids=repr)
def test_no_bases_at_all(empty: Any):
    assert refusal(ErrorCounts, empty, 10, empty, 10) == "false_positives must hold at least one count, not none"


@pytest.mark.parametrize("value", [{1, 2}, {"a": 1}, object(), (x for x in [1]), "12", b"12", lambda: 1])
def test_things_that_are_not_arrays(value: Any):
    assert refusal(ErrorCounts, value, 10, [1], 10).startswith("false_positives must be ")


def test_two_dimensions():
    message = refusal(ErrorCounts, np.ones((2, 3), dtype=int), 10, [1, 2], 10)
    assert message == "false_positives must have one dimension, one count per base, not the shape (2, 3)"
    assert "false_positives[0]" in refusal(ErrorCounts, [[1, 2], [3, 4]], 10, [1, 2], 10)


def test_labels():
    counts = ErrorCounts([1, 2], 10, [1, 2], 10, base=[" a ", np.str_("b")], group=np.array([7, 8]))
    assert counts.base == ("a", "b")
    assert counts.group == ("7", "8")
    assert type(counts.base[1]) is str
    assert ErrorCounts([1], 10, [1], 10, base=pd.Series(["ε, “x”"])).base == ("ε, “x”",)


@pytest.mark.parametrize("label", [None, 1.5, float("nan"), True, b"a", "two\nlines", "a\0", "\ud800", ["a"]], ids=repr)
def test_bad_labels(label: Any):
    message = refusal(ErrorCounts, [1, 2], 10, [1, 2], 10, group=["a", label])
    assert message.startswith("group[1] must be a label (one line of text, or a whole number), not ")


def test_labels_of_the_wrong_number_or_shape():
    message = "base must hold 2 labels, one per base, not "
    assert refusal(ErrorCounts, [1, 2], 10, [1, 2], 10, base=["a"]) == message + "1"
    assert refusal(ErrorCounts, [1, 2], 10, [1, 2], 10, base="ab") == message + "'ab'"
    assert refusal(ErrorCounts, [1, 2], 10, [1, 2], 10, base=[["a", "b"]]) == message + "[['a', 'b']]"


def test_design_and_examples():
    for design in ("repeated", "cross_fed"):
        assert ErrorCounts(1, 10, 1, 10, design=design).design == design
        message = refusal(ErrorCounts, 1, 10, 1, 10, design=design, examples=20)
        assert message == f'examples must not be given for the design "{design}", only for "one_run": 20'
    for design in ("Repeated", "", None, 3, ["repeated"], np.array(["repeated"])):
        message = refusal(ErrorCounts, 1, 10, 1, 10, design=design)
        assert message.startswith('design must be "repeated", "cross_fed", "one_run" or "observational", not ')
    counts = ErrorCounts([1, 2], 10, [1, 2], 15, design="one_run", examples=50.0)
    assert counts.examples == 50
    assert type(counts.examples) is int
    assert refusal(ErrorCounts, [1, 2], 10, [1, 2], 15, design="one_run") == (
        'examples, at least the 50 guesses, must be given for the design "one_run", not None'
    )
    assert refusal(ErrorCounts, [1, 2], 10, [1, 2], 15, design="one_run", examples=49) == (
        "examples must be at least the 50 guesses (negatives and positives), not 49"
    )
    for value, shown in [(60.5, "60.5"), (True, "True"), ("60", "'60'"), (float("nan"), "nan"), (-1, "-1")]:
        message = refusal(ErrorCounts, 1, 10, 1, 10, design="one_run", examples=value)
        assert message == f"examples must be a whole number from 1 to 2**53, not {shown}"
    assert refusal(ErrorCounts, 1, 10, 1, 10, design="one_run", examples=[60]) == (
        "examples must be one whole number, not [60]"
    )


def test_from_rates():
    rates = np.array([3, 0, 7]) / 100
    assert ErrorCounts.from_rates(rates, 100, [0.05, 1, 0.04], [100, 100, 50]) == COUNTS
    counts = ErrorCounts.from_rates(0.29, 100, 0.1, 10, design="one_run", examples=200, base=["a"])
    assert (counts.false_positives[0], counts.examples, counts.base) == (29, 200, ("a",))
    assert refusal(ErrorCounts.from_rates, [0.03, 0.125], 100, [0, 0], 100) == (
        "false_positive_rate[1] times negatives[1] must be a whole number, but 0.125 times 100 is 12.5"
    )
    assert refusal(ErrorCounts.from_rates, [0.5], 10, [0.5], 5) == (
        "false_negative_rate[0] times positives[0] must be a whole number, but 0.5 times 5 is 2.5"
    )
    for rate, shown in [(1.01, "1.01"), (-0.1, "-0.1"), (float("nan"), "nan"), (float("inf"), "inf")]:
        message = refusal(ErrorCounts.from_rates, [0.1, rate], 100, [0.1, 0.1], 100)
        assert message == f"false_positive_rate[1] must lie in [0, 1], not {shown}"
    assert refusal(ErrorCounts.from_rates, [0.1, 0.1], [10, 0], [0, 0], 10).startswith("negatives[1] must be a whole")
    assert refusal(ErrorCounts.from_rates, [0.1, 0.1], 10, [0], 10) == (
        "false_negative_rate must hold as many counts as false_positive_rate, 2, not 1"
    )


def test_from_confusion():
    assert ErrorCounts.from_confusion([95, 0, 48], [3, 0, 7], [97, 100, 93], [5, 100, 2]) == COUNTS
    one = ErrorCounts.from_confusion(9, 2, 8, 1, base=["a"], design="cross_fed")
    assert one == ErrorCounts(2, 10, 1, 10, base=["a"], design="cross_fed")
    assert refusal(ErrorCounts.from_confusion, [9, 0], [2, 2], [8, 8], [1, 0]) == (
        "(fn + tp)[1] must be a whole number from 1 to 2**53, not 0"
    )
    assert refusal(ErrorCounts.from_confusion, 9, 2**53, 1, 1) == (
        "(fp + tn)[0] must be a whole number from 1 to 2**53, not 9007199254740993"
    )
    assert refusal(ErrorCounts.from_confusion, [9, -1], [2, 2], [8, 8], [1, 0]).startswith("tp[1] must be a whole")
    assert refusal(ErrorCounts.from_confusion, [9, 9], [2, 2], 8, [1, 0]) == (
        "tn must hold as many counts as fp, 2, not 1"
    )


# -------------------------------------------------------------------------------------------------- what it can do


def test_equality_hash_and_digest():
    same = ErrorCounts([3.0, 0.0, 7.0], [100] * 3, np.array([5, 100, 2]), (100, 100, 50))
    assert same == COUNTS
    assert hash(same) == hash(COUNTS)
    assert same.digest() == COUNTS.digest()
    assert len(COUNTS.digest()) == 64
    # written out once, so that digests in saved results stay comparable
    assert ErrorCounts(3, 100, 5, 100).digest() == "314d4ed5bd16879328422b9203b340c334aeb6fa7517790099634401de9e24d9"
    labelled = dataclasses.replace(COUNTS, base=["a", "b", "c"])
    assert labelled != COUNTS
    assert labelled.digest() == COUNTS.digest()
    for other in (
        dataclasses.replace(COUNTS, design="cross_fed"),
        dataclasses.replace(COUNTS, design="one_run", examples=1000),
        dataclasses.replace(COUNTS, false_positives=[3, 0, 8]),
        COUNTS[:2],
    ):
        assert other != COUNTS
        assert other.digest() != COUNTS.digest()
    assert COUNTS != "ErrorCounts"
    assert len({COUNTS, same, labelled}) == 2


def test_copies_and_pickles_stay_read_only():
    labelled = ErrorCounts([1, 2], 10, [1, 2], 10, base=["x", "y"], design="one_run", examples=99)
    for twin in (pickle.loads(pickle.dumps(labelled)), copy.copy(labelled), copy.deepcopy(labelled)):
        assert twin == labelled
        assert not twin.positives.flags.writeable


def test_pool():
    assert COUNTS.pool() == ErrorCounts(10, 300, 107, 250)
    run = ErrorCounts([1, 2], 10, [3, 4], 20, design="one_run", examples=80)
    assert run.pool() == ErrorCounts(3, 20, 7, 40, design="one_run", examples=80)
    assert refusal(ErrorCounts([0] * 3, 2**52, [0] * 3, 10).pool) == (
        "negatives[0] must be a whole number from 1 to 2**53, not 13510798882111488"
    )


def test_concat():
    assert COUNTS[:1].concat(COUNTS[1:2], COUNTS[2:]) == COUNTS
    assert ErrorCounts.concat(COUNTS[:1], COUNTS[1:]) == COUNTS
    assert COUNTS.concat() == COUNTS
    labelled = ErrorCounts([1, 2], 10, [1, 2], 10, base=["a", "b"], group=["g", "h"])
    assert labelled[:1].concat(labelled[1:]) == labelled
    assert refusal(COUNTS.concat, COUNTS, labelled) == "part 2 and part 0 must both have base labels, or neither"
    assert refusal(COUNTS.concat, ErrorCounts(1, 10, 1, 10, design="cross_fed")) == (
        "part 1 must have the design of part 0, 'repeated', not 'cross_fed'"
    )
    run = ErrorCounts(1, 10, 3, 20, design="one_run", examples=50)
    assert refusal(run.concat, ErrorCounts(1, 10, 3, 20, design="one_run", examples=60)) == (
        "part 1 must have the examples of part 0, 50, not 60"
    )
    assert "at least the 60 guesses" in refusal(run.concat, run)
    assert refusal(COUNTS.concat, [1]) == "part 1 must be ErrorCounts, not list"


def test_choosing_bases():
    counts = ErrorCounts([1, 2, 3], 10, [4, 5, 6], 10, base=["a", "b", "c"], design="cross_fed")
    two = ErrorCounts([1, 3], 10, [4, 6], 10, base=["a", "c"], design="cross_fed")
    for index in (slice(None, None, 2), [0, 2], np.array([0, -1]), np.array([True, False, True]), [True, False, True]):
        assert counts[index] == two
    assert counts[1] == counts[1:2] == counts[np.int64(-2)]
    assert [one.base for one in counts] == [("a",), ("b",), ("c",)]
    assert counts[[1, 1]].base == ("b", "b")
    with pytest.raises(IndexError):
        counts[3]
    with pytest.raises(IndexError):
        counts[[0, 3]]
    with pytest.raises(IndexError):
        counts[0.5]
    start = "the index must choose at least one base, from 0 to 2, not "
    for index, shown in [
        ([], "[]"),
        (slice(3, 9), "slice(3, 9, None)"),
        ([False] * 3, "[False"),
        ([[0, 1]], "[[0, 1]]"),
    ]:
        assert refusal(counts.__getitem__, index).startswith(start + shown)


def test_texts():
    assert str(COUNTS) == 'ErrorCounts: 3 bases, 100 + 50 to 100 challenges each, design "repeated"'
    assert repr(ErrorCounts([1] * 20, 100, [2] * 20, 100)) == (
        'ErrorCounts: 20 bases, 100 + 100 challenges each, design "repeated"'
    )
    assert repr(ErrorCounts(1, 10, 2, 20, design="one_run", examples=99)) == (
        'ErrorCounts: 1 base, 10 + 20 challenges, design "one_run", 99 examples'
    )


def test_to_dict_and_frame():
    counts = ErrorCounts([1, 2], 10, [3, 4], 20, base=["a", "b"], design="one_run", examples=99)
    assert counts.to_dict() == {
        "design": "one_run",
        "examples": 99,
        "false_positives": [1, 2],
        "negatives": [10, 10],
        "false_negatives": [3, 4],
        "positives": [20, 20],
        "base": ["a", "b"],
    }
    json.dumps(counts.to_dict())
    frame = counts.to_frame()
    columns = ["false_positives", "negatives", "false_negatives", "positives", "base", "design", "examples"]
    assert list(frame.columns) == columns
    assert list(counts.pool().to_frame().columns) == [*columns[:4], *columns[5:]]
    assert list(ErrorCounts(1, 10, 2, 10).to_frame().columns) == columns[:4]  # a plain file is of repeated runs
    assert frame["negatives"].tolist() == [10, 10]
    assert ErrorCounts.from_frame(frame, design="one_run", examples=99) == counts


labels = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=8).map(str.strip)


@st.composite
def error_counts(draw: st.DrawFn) -> ErrorCounts:
    n = draw(st.integers(1, 5))
    total = st.lists(st.integers(1, 2**53) | st.integers(1, 20), min_size=n, max_size=n)
    n0, n1 = draw(total), draw(total)
    design = draw(st.sampled_from(["repeated", "cross_fed", "one_run", "observational"]))
    if design in ("one_run", "observational"):
        n0, n1 = [min(k, 1000) for k in n0], [min(k, 1000) for k in n1]
    return ErrorCounts(
        [draw(st.integers(0, k)) for k in n0],
        n0,
        [draw(st.integers(0, k)) for k in n1],
        n1,
        base=draw(st.none() | st.lists(labels, min_size=n, max_size=n)),
        group=draw(st.none() | st.lists(labels, min_size=n, max_size=n)),
        design=design,
        examples=draw(st.integers(sum(n0) + sum(n1), 2**53)) if design in ("one_run", "observational") else None,
    )


@given(counts=error_counts())
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_written_is_read_back(tmp_path: Path, counts: ErrorCounts):
    counts.to_csv(tmp_path / "counts.csv")
    counts.to_json(tmp_path / "counts.json")
    text = (tmp_path / "counts.json").read_text(encoding="utf-8")
    assert text == counts.json()
    assert json.loads(text) == {"format": "bayes-dp/counts/1"} | counts.to_dict()
    how = {"design": counts.design, "examples": counts.examples}
    assert ErrorCounts.read(tmp_path / "counts.csv", **how) == counts
    assert ErrorCounts.read(tmp_path / "counts.json") == counts
    assert ErrorCounts.read(tmp_path / "counts.json", **how) == counts
    assert ErrorCounts.from_frame(counts.to_frame(), **how) == counts
    assert sorted(os.listdir(tmp_path)) == ["counts.csv", "counts.json"]


# -------------------------------------------------------------------------------------------------------- CSV files


@pytest.mark.parametrize(
    "content",
    [
        '"fp","n0","fn","n1"\n"3","100","5","100"\n0,"100",100,"100"\n"7","100","2","50"\n',
        ' "fp" , "n0" ,"fn", "n1" \n"3" ,"100", "5" , "100" \n "0","100" , 100 ,"100"\n7 , "100" , 2, "50" ',
        GOOD + ",,,\n,,\n",
        "FP,N0,Fn,N1" + GOOD[11:],
        "false_positives,negatives,false_negatives,positives" + GOOD[11:],
        "False Positives, NEGATIVES ,false-negatives,positives" + GOOD[11:],
        "x,n_0,y,N-1" + GOOD[11:],
        "X,negatives,fn,n1" + GOOD[11:],
        "n1,fp,n0,fn\n100,3,100,5\n100,0,100,100\n50,7,100,2\n",
        "tp,fp,tn,fn\n95,3,97,5\n0,0,100,100\n48,7,93,2\n",
        "true positives,false positives,true negatives,false negatives\n95,3,97,5\n0,0,100,100\n48,7,93,2\n",
        "tp,fp,tn,fn,n1,n0\n95,3,97,5,100,100\n0,0,100,100,100,100\n48,7,93,2,50,100\n",
        "tp,fp,n0,fn\n95,3,100,5\n0,0,100,100\n48,7,100,2\n",
        "fp,n0,fn,n1\n+3,1e2, 5 ,100.0\n0,100.,1.00E+2,0100\n7,1000e-1,2,50\n",
        "fp,n0,fn,n1,note,\n3,100,5,100,x,\n0,100,100,100,NaN,\n7,100,2,50,,\n",
        'note,fp,n0,fn,n1\n"a, ""b""",3,100,5,100\n#commented,0,100,100,100\nc,0,100,100,100\n"#d",7,100,2,50\n',
    ],
)
def test_csv_forms_that_are_read(tmp_path: Path, content: str | bytes):
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "counts.csv").write_bytes(data)
    assert ErrorCounts.from_csv(tmp_path / "counts.csv") == COUNTS
    assert ErrorCounts.from_csv(str(tmp_path / "counts.csv")) == COUNTS
    assert ErrorCounts.from_csv(io.BytesIO(data)) == COUNTS
    if isinstance(content, str):
        assert ErrorCounts.from_csv(io.StringIO(content, newline="")) == COUNTS


def test_csv_labels_design_and_examples():
    text = 'Group;base;fp;n0;fn;n1\nmen; the first ;1;10;2;10\n;"second; ""x""";3;10;4;10\n'
    counts = ErrorCounts.from_csv(io.StringIO(text), design="one_run", examples=50)
    assert counts.base == ("the first", 'second; "x"')
    assert counts.group == ("men", "")
    assert (counts.design, counts.examples) == ("one_run", 50)


BAD_CELLS = [
    "",
    "x",
    "NaN",
    "nan",
    "inf",
    "-1",
    "-0.5",
    "3.5",
    "0.99999999999999999999999",
    "1e400",
    "-1e400",
    "1e99999999999999999999999",
    "1e-99999999999999999999999",
    "9999999999999999999999",
    "9007199254740993",
    "9" * 5000,
    "0x10",
    "1_000",
    "1 000",
    "٣",
    "³",
    "1e",
    "e1",
    ".",
    "--1",
    "True",
    "1/2",
    "1,000",
    "3,0",
    "€",
]


@pytest.mark.parametrize("cell", BAD_CELLS, ids=lambda cell: cell[:25])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_bad_cells_are_named_with_line_heading_and_value(tmp_path: Path, cell: str, delimiter: str):
    heads = delimiter.join(["fp", "Negatives", "fn", "n1"])
    rows = [delimiter.join(row) for row in (["1", "10", "2", "10"], ["1", f'"{cell}"', "2", "10"], ["1"])]
    message = csv_refusal(tmp_path, f"# comment\n{heads}\n{rows[0]}\n\n{rows[1]}\n{rows[2]}\n")
    start = ", line 5: Negatives must be a whole number from 1 to 2**53, not "
    assert message.startswith(start)
    shown = message.removeprefix(start)
    assert shown == repr(cell) if len(cell) < 50 else shown.startswith("'999") and "..." in shown


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_relations_between_cells(tmp_path: Path, ends: str):
    def refused(text: str) -> str:
        return csv_refusal(tmp_path, text.replace("\n", ends))

    assert refused("fp,n0,fn,n1\n# note\n1,10,1,10\n11,10,1,10\n") == (
        ", line 4: fp must be a whole number from 0 to n0 = 10, not 11"
    )
    assert refused("x,n0,Y,positives\n1,10,1,10\n1,10,12,11\n") == (
        ", line 3: Y must be a whole number from 0 to positives = 11, not 12"
    )
    assert refused("fp,n0,fn,n1\n0,0,1,10\n") == ", line 2: n0 must be a whole number from 1 to 2**53, not '0'"
    assert refused("tp,fp,tn,fn\n1,2,3,4\n0,2,3,0\n") == (
        ", line 3: (fn + tp) must be a whole number from 1 to 2**53, not 0"
    )
    assert refused("tp,fp,tn,fn,n0\n1,2,3,4,5\n1,2,3,4,6\n") == ", line 3: n0 must be (fp + tn) = 5, not 6"
    assert refused("TP,fp,n0,fn,n1\n1,2,3,4,5\n1,2,3,4,4\n") == ", line 3: n1 must be (fn + TP) = 5, not 4"


def test_rows_with_too_few_or_too_many_fields(tmp_path: Path):
    assert csv_refusal(tmp_path, GOOD + "1,2,3\n") == ", line 5: 3 fields under the 4 headings of line 1"
    assert csv_refusal(tmp_path, "#\n" + GOOD + "1,1,000,3,10\n") == (
        ", line 6: 5 fields under the 4 headings of line 2 (a thousands separator or decimal comma?)"
    )


@pytest.mark.parametrize("rate", ["fpr", "FPR", "fp_rate", "False Positive Rate (%)", "fpr@0.1", "fprs", "alpha"])
def test_rates_are_not_taken_for_misspelt_counts(rate):
    content = f"{rate},n0,fnr,n1\n0.05,100,0.9,100\n"
    with pytest.raises(InputError) as error:
        ErrorCounts.from_csv(io.StringIO(content))
    assert f"no column for fp, fn ({rate!r} looks like a rate" in str(error.value)
    assert "ErrorCounts.from_rates" in str(error.value)
    assert "meant as" not in str(error.value)
    with pytest.raises(InputError, match=r"no column for n1 or tp; accepted"):  # n1rate is not meant as n1
        ErrorCounts.from_csv(io.StringIO("fp,n0,fn,n1_rate,fpr\n5,100,9,1,1\n"))


def test_headings_that_are_missing_or_misspelt(tmp_path: Path):
    accepted = (
        "; accepted headings are fp, n0, fn, n1 (or false_positives, negatives, false_negatives, positives; "
        "or x, n0, y, n1; or tp, fp, tn, fn), found "
    )
    assert csv_refusal(tmp_path, "fp,fn,n1\n1,2,3\n") == f", line 1: no column for n0 or tn{accepted}['fp', 'fn', 'n1']"
    assert csv_refusal(tmp_path, "#\nfp,n0,fn\n1,2,3\n").startswith(", line 2: no column for n1 or tp; accepted")
    for head, hint in {
        "false_postives,n0,fn,n1": "fp (is 'false_postives' meant as falsepositives?)",
        "fp,no,fn,n1": "n0 or tn (is 'no' meant as n0?)",
        "fp,n0,False Negative,n1": "fn (is 'False Negative' meant as falsenegatives?)",
        "fp,n0,fn,pos": "n1 or tp",
        "id,n0,fn,n1": "fp",
    }.items():
        assert csv_refusal(tmp_path, f"{head}\n1,2,3,4\n").startswith(f", line 1: no column for {hint}")
    assert ", line 1: no column for fp, n0 or tn, fn, n1 or tp; accepted" in csv_refusal(tmp_path, "{}\n")
    assert csv_refusal(tmp_path, "fp n0 fn n1\n1 2 3 4\n").endswith("found ['fp n0 fn n1']")


def test_other_headings_may_be_repeated(tmp_path: Path):
    path = tmp_path / "counts.csv"
    path.write_text("note,fp,n0,fn,n1,note\n1,2,3,4,5,6\n")
    assert ErrorCounts.from_csv(path) == ErrorCounts([2], 3, [4], 5)


def test_json_settings_name_the_file(tmp_path: Path):
    path = tmp_path / "counts.json"
    for text, message in (
        ('{"fp": [1], "n0": 2, "fn": [1], "n1": 2, "design": 3}', 'design must be "repeated"'),
        ('{"fp": [1], "n0": 2, "fn": [1], "n1": 2, "design": "one_run", "examples": "a"}', "examples must be"),
        ('[{"fp": 1, "n0": 2, "fn": 1, "n1": 2, "design": "cross_fed"}]', "[0] states 'design'"),
    ):
        path.write_text(text)
        with pytest.raises(InputError) as caught:
            ErrorCounts.read(path)
        assert str(caught.value).startswith(f"{path}: {message}")


@pytest.mark.parametrize("first", ["3,100,5,100", "3;100;5;100", "3.5\t1e3\t-5\t+1", '"3","100","5","100"'])
def test_headings_that_are_not_there(tmp_path: Path, first: str):
    message = csv_refusal(tmp_path, f"# no headings\n{first}\n1,2,3,4\n")
    assert message.startswith(", line 2: column headings are needed, not the numbers ")
    assert message.endswith("or x, n0, y, n1; or tp, fp, tn, fn)")


# ------------------------------------------------------------------------------------------ files that are not there


@pytest.mark.parametrize("read", [ErrorCounts.from_csv, ErrorCounts.from_json, ErrorCounts.read])
def test_files_that_cannot_be_opened(tmp_path: Path, read: Any):
    (tmp_path / "folder.csv").mkdir()
    missing, folder = tmp_path / "missing.csv", tmp_path / "folder.csv"
    assert refusal(read, missing) == f"{missing} cannot be read: no such file or directory"
    assert refusal(read, str(folder)) == f"{folder} cannot be read: is a directory"
    assert "cannot be read: embedded null byte" in refusal(read, "a\0b.csv")
    assert "cannot be read" in refusal(read, "\ud800.csv")
    assert "cannot be read: file name too long" in refusal(read, "x" * 400 + ".csv")
    assert "two\\nlines.csv' cannot be read" in refusal(read, "two\nlines.csv")


@pytest.mark.parametrize("read", [ErrorCounts.from_csv, ErrorCounts.from_json])
def test_sources_that_are_not_files(read: Any):
    for source, kind in [(3, "int"), (None, "NoneType"), (b"counts.csv", "bytes"), (["a"], "list")]:
        assert refusal(read, source) == f"a path or an open file is needed, not {kind}"
    assert "the input cannot be read: I/O operation on closed file" in refusal(read, closed())
    assert refusal(read, gzip.GzipFile(fileobj=io.BytesIO(b"no gzip"))).startswith(
        "the input cannot be read: not a gzip"
    )
    broken = bytearray(gzip.compress(GOOD.encode() * 1000))
    broken[30:60] = b"\xff" * 30
    assert "the input cannot be read: " in refusal(read, gzip.GzipFile(fileobj=io.BytesIO(broken)))
    assert "the input cannot be read: " in refusal(read, Reader([3]))
    assert "the input cannot be read: " in refusal(read, Reader([b"a", "b"]))
    assert "the input cannot be read: " in refusal(read, Reader([[1]]))


def closed() -> io.StringIO:
    file = io.StringIO("")
    file.close()
    return file


class Reader:
    """An open file that gives its content in the pieces it was made with."""

    def __init__(self, pieces: list[Any]) -> None:
        self.pieces = list(pieces)

    def read(self, size: int) -> Any:
        return self.pieces.pop(0) if self.pieces else b""


def test_open_files(tmp_path: Path):
    path = tmp_path / "counts.csv"
    path.write_bytes(GOOD.encode("latin-1") + "1,2,3,é".encode("latin-1"))
    with path.open(encoding="utf-8") as file:
        assert refusal(ErrorCounts.from_csv, file).startswith(f"{path} cannot be read: 'utf-8' codec can't decode byte")
    path.write_text(GOOD + "x,1,1,1\n")
    with path.open() as file:
        assert refusal(ErrorCounts.from_csv, file).startswith(f"{path}, line 5: fp must be a whole number")
    assert refusal(ErrorCounts.from_csv, io.StringIO(GOOD + "x,1,1,1\n")).startswith("the input, line 5: fp must be")
    data = GOOD.encode()
    assert ErrorCounts.from_csv(Reader([data[:5], data[5:9], data[9:]])) == COUNTS
    assert ErrorCounts.from_csv(gzip.GzipFile(fileobj=io.BytesIO(gzip.compress(data)))) == COUNTS


def test_pipes(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(GOOD,))
    writer.start()
    assert ErrorCounts.from_csv(pipe) == COUNTS
    writer.join()


def test_huge_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.write(GOOD.encode())
        file.truncate(2_000_000_000)
    assert refusal(ErrorCounts.from_csv, path) == f"{path} is larger than 100 MB, the most that is read"
    monkeypatch.setattr(files, "MAX_BYTES", len(GOOD))
    assert ErrorCounts.from_csv(io.StringIO(GOOD)) == COUNTS
    assert "is larger than" in refusal(ErrorCounts.from_csv, io.StringIO(GOOD + "\n"))


def test_too_many_rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(parsing, "MAX_ROWS", 3)
    rows = [{"fp": 1, "n0": 2, "fn": 1, "n1": 2}] * 4
    columns = {"fp": [1] * 4, "n0": 2, "fn": [1] * 4, "n1": 2}
    message = "the input has more than 3 rows, the most that is read"
    assert len(ErrorCounts.from_csv(io.StringIO("#\n\n" + GOOD))) == 3
    assert refusal(ErrorCounts.from_csv, io.StringIO(GOOD + "1,2,1,2\n")) == message
    assert refusal(ErrorCounts.from_csv, io.StringIO(GOOD + "\n" * 9)) == message
    assert len(ErrorCounts.from_json(io.StringIO(json.dumps(rows[:3])))) == 3
    assert refusal(ErrorCounts.from_json, io.StringIO(json.dumps(rows))) == message
    assert refusal(ErrorCounts.from_json, io.StringIO(json.dumps(columns))) == message


def test_a_file_of_many_rows_is_read_in_seconds():
    text = "fp,n0,fn,n1\n" + "3,100,5,100\n" * 200_000
    counts = ErrorCounts.from_csv(io.StringIO(text))
    assert counts.pool() == ErrorCounts(600_000, 20_000_000, 1_000_000, 20_000_000)


# ------------------------------------------------------------------------------------------------------- JSON files


@pytest.mark.parametrize(
    "text",
    [
        '{"fp": [3, 0, 7], "n0": 100, "fn": [5, 100, 2], "n1": [100, 100, 50]}',
        '{"False Positives": [3.0, 0, 7], "negatives": [100, 1e2, 100], "fn": [5, 100, 2], "N1": [100, 100, 50]}',
        '{"tp": [95, 0, 48], "fp": [3, 0, 7], "tn": [97, 100, 93], "fn": [5, 100, 2], "about": {"a": [NaN]}}',
        '{"fp": [3, 0, 7], "n0": 100, "fn": [5, 100, 2], "n1": [100, 100, 50], "base": null, "design": null}',
        '[{"fp": 3, "n0": 100, "fn": 5, "n1": 100}, {"x": 0, "n0": 100, "fn": 100, "n1": 100, "note": "x"}, '
        '{"n1": 50, "fp": 7, "n0": 100, "fn": 2}]',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_json_forms_that_are_read(tmp_path: Path, text: str, encoding: str):
    (tmp_path / "counts.json").write_text(text, encoding=encoding)
    assert ErrorCounts.from_json(tmp_path / "counts.json") == COUNTS
    assert ErrorCounts.from_json(io.BytesIO(text.encode(encoding))) == COUNTS


def test_json_design_examples_and_labels():
    def read(text: str, **how: Any) -> ErrorCounts:
        return ErrorCounts.from_json(io.StringIO(text), **how)

    start = '{"fp": 1, "n0": 10, "fn": 2, "n1": 10'
    run = ErrorCounts(1, 10, 2, 10, design="one_run", examples=30, base=["a"])
    text = start + ', "design": "one_run", "examples": 30, "base": ["a"]}'
    assert read(text) == read(text, design="one_run", examples=30) == run
    assert read(start + ', "base": ["a"]}', design="one_run", examples=30) == run
    assert (
        refusal(read, text, design="repeated") == "the input: design is 'one_run' in the file, but 'repeated' was given"
    )
    assert refusal(read, text, examples=31) == "the input: examples is 30 in the file, but 31 was given"
    assert refusal(read, start + ', "design": ["repeated"]}').endswith("not ['repeated']")
    assert refusal(read, start + ', "design": "one_run", "examples": NaN}').endswith("2**53, not nan")
    assert refusal(read, start + ', "design": "one_run", "examples": "30"}').endswith("2**53, not '30'")
    assert refusal(read, start + ', "base": ["a", "b"]}') == "the input: base must hold 1 labels, one per base, not 2"
    assert refusal(read, start + ', "base": "a"}') == "the input: base must hold 1 labels, one per base, not 'a'"
    assert refusal(read, start + ', "group": [null]}').startswith("the input: group[0] must be a label")


JSON_CELLS = {
    "null": "None",
    "true": "True",
    '"3"': "'3'",
    "3.5": "3.5",
    "-1": "-1",
    "NaN": "nan",
    "Infinity": "inf",
    "-Infinity": "-inf",
    "1e400": "'1e400'",
    "9999999999999999999999": "9999999999999999999999",
    "9" * 5000: "'999",
    "[1]": "[1]",
    "{}": "{}",
}


@pytest.mark.parametrize("cell", JSON_CELLS, ids=lambda cell: cell[:25])
def test_bad_json_cells_are_named_with_their_place(tmp_path: Path, cell: str):
    shown = JSON_CELLS[cell]
    message = json_refusal(tmp_path, f'{{"fp": [1, 2, {cell}], "n0": 10, "fn": [1, 2, 3], "n1": 10}}')
    assert message.startswith(f": fp[2] must be a whole number from 0 to 2**53, not {shown}")
    message = json_refusal(tmp_path, f'{{"fp": [1], "Negatives": [{cell}], "fn": [1], "n1": 10}}')
    assert message.startswith(f": Negatives[0] must be a whole number from 1 to 2**53, not {shown}")
    good = '{"fp": 1, "n0": 10, "fn": 1, "n1": 10}'
    message = json_refusal(tmp_path, f"[{good}, {good[:-3]}{cell}}}]")
    assert message.startswith(f": [1].n1 must be a whole number from 1 to 2**53, not {shown}")


def test_json_relations(tmp_path: Path):
    assert json_refusal(tmp_path, '{"fp": [1, 11], "n0": 10, "fn": [1, 1], "n1": 10}') == (
        ": fp[1] must be a whole number from 0 to n0 = 10, not 11"
    )
    assert json_refusal(tmp_path, '[{"fp": 1, "n0": 10, "fn": 11, "n1": 10}]') == (
        ": [0].fn must be a whole number from 0 to n1 = 10, not 11"
    )
    assert json_refusal(tmp_path, '{"fp": [1, 1], "n0": 10, "fn": [1], "n1": 10}') == (
        ": fn must hold as many counts as fp, 2, not 1"
    )
    assert json_refusal(tmp_path, '{"fp": [], "n0": 10, "fn": [], "n1": 10}') == (
        ": fp must hold at least one count, not none"
    )
    assert json_refusal(tmp_path, '{"fp": [1], "n0": 0, "fn": [1], "n1": 10}') == (
        ": n0 must be a whole number from 1 to 2**53, not 0"
    )
    assert json_refusal(tmp_path, '{"fp": null, "n0": 10, "fn": [1], "n1": 10}') == (
        ": fp must be a whole number from 0 to 2**53, not None"
    )


def test_json_headings(tmp_path: Path):
    message = json_refusal(tmp_path, '{"fp": [1], "nn0": 10, "fn": [1], "n1": 10}')
    assert message.startswith(
        ": no column for n0 or tn (is 'nn0' meant as n0?); accepted headings are fp, n0, fn, n1 (or"
    )
    assert json_refusal(tmp_path, "{}").startswith(": no column for fp, n0 or tn, fn, n1 or tp; accepted headings")
    assert json_refusal(tmp_path, '{"fp": [1], "x": [1], "n0": 1, "fn": [1], "n1": 1}') == (
        ": the headings 'fp' (column 1) and 'x' (column 2) name the same column"
    )
    assert json_refusal(tmp_path, '{"fp": [1], "fp": [2], "n0": 10}') == ": the key 'fp' appears twice in one object"
    good = '{"fp": 1, "n0": 10, "fn": 1, "n1": 10}'
    assert json_refusal(tmp_path, f'[{good}, {{"fp": 1}}]').startswith(": [1]: no column for n0 or tn, fn, n1 or tp; ")
    assert json_refusal(tmp_path, f'[{good}, {good[:-1]}, "base": "a"}}]') == (
        ": [1] must have the columns of [0], ['fn', 'fp', 'n0', 'n1'], not ['base', 'fn', 'fp', 'n0', 'n1']"
    )
    assert json_refusal(tmp_path, f"[{good}, 3]") == ": [1] must be a row object, not 3"


def test_json_that_is_not_json(tmp_path: Path):
    assert json_refusal(tmp_path, '{"fp": [1],\n "n0" 3}') == ", line 2, column 7: not JSON (Expecting ':' delimiter)"
    assert json_refusal(tmp_path, '{"fp": [1],\r "n0" 3}').startswith(", line 2, column 7: not JSON")
    assert json_refusal(tmp_path, "") == ", line 1, column 1: not JSON (Expecting value)"
    assert json_refusal(tmp_path, GOOD).startswith(", line 1, column 1: not JSON")
    assert json_refusal(tmp_path, "[1e5").startswith(", line 1, column 5: not JSON")
    assert json_refusal(tmp_path, "[" * 100_000) == (": JSON nested too deeply to be read")
    assert "nested too deeply" in json_refusal(tmp_path, '{"fp":' * 100_000)
    for text, shown in {"3": "3", '"fp"': "'fp'", "null": "None", "NaN": "nan"}.items():
        assert json_refusal(tmp_path, text) == (
            f" must hold an object of columns or a list of row objects, not {shown}"
        )
    assert json_refusal(tmp_path, "[]") == " has no rows of counts"
    deep = "[" * 300 + "]" * 300
    assert ": fp[0] must be a whole number" in json_refusal(tmp_path, f'{{"fp": [{deep}], "n0": 1, "fn": 1, "n1": 1}}')
    good = '"fp": [1], "n0": 1, "fn": 1, "n1": 1'
    assert ": base must hold 1 labels" in json_refusal(tmp_path, f'{{{good}, "base": {deep}}}')
    assert json_refusal(tmp_path, b'{"fp": "\xe9"}') == (
        ", line 1: byte 0xe9 at offset 8 is not UTF-8 text; save the file as UTF-8"
    )
    assert json_refusal(tmp_path, '{"fp": [1],\n"\0"}').startswith(", line 2: a NUL byte")


# ---------------------------------------------------------------------------------------------- frames and suffixes


def test_from_frame():
    frame = pd.read_csv(io.StringIO(GOOD))
    assert ErrorCounts.from_frame(frame) == COUNTS
    assert ErrorCounts.from_frame(frame.astype(float)) == COUNTS
    assert ErrorCounts.from_frame(frame.astype("Int64"), design="cross_fed").design == "cross_fed"
    assert ErrorCounts.from_frame(frame.set_index(pd.Index([9, 8, 7]))) == COUNTS
    assert ErrorCounts.from_frame(frame.assign(base=["a", "b", "c"], other=1.5)).base == ("a", "b", "c")
    assert ErrorCounts.from_frame(frame.assign(group=pd.Categorical(["a", "b", "a"]))).group == ("a", "b", "a")
    assert refusal(ErrorCounts.from_frame, frame.assign(fp=[1, 2, None])) == (
        "fp[2] must be a whole number from 0 to 2**53, not nan"
    )
    assert refusal(ErrorCounts.from_frame, frame.assign(fp=[1, 2, 300])) == (
        "fp[2] must be a whole number from 0 to n0 = 100, not 300"
    )
    assert refusal(ErrorCounts.from_frame, frame.assign(fp=["1", "2", "3"])).startswith("fp[0] must be a whole number")
    assert refusal(ErrorCounts.from_frame, frame.iloc[:0]) == "fp must hold at least one count, not none"
    assert refusal(ErrorCounts.from_frame, frame.rename(columns={"n0": "m0"})).startswith(
        "frame: no column for n0 or tn (is 'm0' meant as n0?)"
    )
    twice = pd.concat([frame, frame["fp"]], axis=1)
    assert refusal(ErrorCounts.from_frame, twice).startswith("frame: the headings 'fp' (column 1) and 'fp' (column 5)")
    assert refusal(ErrorCounts.from_frame, GOOD) == "frame must be a pandas DataFrame, not str"


def test_read_goes_by_the_suffix(tmp_path: Path):
    for name in ("a.csv", "a.CSV", "a.tsv", "a.txt"):
        (tmp_path / name).write_text(GOOD)
        assert ErrorCounts.read(tmp_path / name) == COUNTS
    COUNTS.to_json(tmp_path / "a.Json")
    assert ErrorCounts.read(str(tmp_path / "a.Json"), design="repeated") == COUNTS
    assert refusal(ErrorCounts.read, "counts.xlsx") == (
        "'counts.xlsx' must end in .csv, .tsv, .txt or .json, not '.xlsx'"
    )
    assert "must end in" in refusal(ErrorCounts.read, "counts")
    assert refusal(ErrorCounts.read, io.StringIO(GOOD)) == "path must be a path, not StringIO"


# ---------------------------------------------------------------------------------------------------- written files


def test_csv_as_written(tmp_path: Path):
    ErrorCounts([1, 2], 10, [3, 4], 20, base=["a, b", "c"]).to_csv(tmp_path / "counts.csv")
    assert (tmp_path / "counts.csv").read_bytes() == (
        b'false_positives,negatives,false_negatives,positives,base\n1,10,3,20,"a, b"\n2,10,4,20,c\n'
    )


def test_writing_replaces_whole_files_and_keeps_their_mode(tmp_path: Path):
    path = tmp_path / "counts.csv"
    write_text_atomically(path, "ä\r\nb\n")
    assert path.read_bytes() == "ä\r\nb\n".encode()
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    write_text_atomically(str(link), "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(os.listdir(tmp_path)) == ["counts.csv", "link.csv"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "counts.csv"
    path.write_text("old")
    assert "cannot be written" in refusal(write_text_atomically, path, "half \ud800")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert refusal(write_text_atomically, path, "new") == f"{path} cannot be written: no space left on device"

    def interrupted(descriptor: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_text_atomically(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["counts.csv"]


def test_paths_that_cannot_be_written(tmp_path: Path):
    nowhere = tmp_path / "no" / "counts.csv"
    assert refusal(COUNTS.to_csv, nowhere) == f"{nowhere} cannot be written: no such file or directory"
    assert refusal(COUNTS.to_json, tmp_path) == f"{tmp_path} cannot be written: is a directory"
    assert "cannot be written" in refusal(COUNTS.to_csv, "a\0b")


def test_devices_are_written_to_and_not_replaced():
    write_text_atomically("/dev/null", "text")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_import_is_light():
    heavy = ("pandas", "scipy", "jax", "arviz")
    code = f"import sys, bayes_dp.data.counts; print([m for m in {heavy} if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


# ------------------------------------------------------------------------------------------------------------- fuzz


def only_input_errors(read: Any, source: Any) -> None:
    try:
        counts = read(source)
    except InputError as error:
        message = str(error)
        assert message.isprintable()
        assert len(message) < 600
    else:
        assert (counts.negatives >= 1).all()
        assert (counts.false_positives <= counts.negatives).all()


FUZZ = settings(max_examples=150, deadline=None)
CSV_PIECES = st.sampled_from(
    [
        *("fp", "n0", "fn", "n1", "tp", "tn", "base", "x", "fp,n0,fn,n1\n", "1,2,1,2"),
        *(",", ",", ",", ";", "\t", "\n", "\n", "\r", '"', '"', "#", " "),
        *("1", "2", "10", "-1", "1.5", "1e400", "nan"),
        "\0",
        "\ufeff",
        "é",
    ]
)
CSV_TEXT = st.lists(CSV_PIECES, max_size=40).map("".join)
JSON_KEYS = (
    st.sampled_from(["fp", "n0", "fn", "n1", "tp", "tn", "base", "group", "design", "examples", "FP"]) | st.text()
)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.integers(0, 5) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(JSON_KEYS, inner, max_size=8),
    max_leaves=20,
)
JSON_COLUMNS = st.fixed_dictionaries(
    dict.fromkeys(["fp", "n0", "fn", "n1"], st.lists(st.integers(0, 5), min_size=1, max_size=2) | JSON_VALUES),
    optional=dict.fromkeys(["base", "group", "design", "examples", "tp", "tn"], JSON_VALUES),
)


@pytest.mark.parametrize("read", [ErrorCounts.from_csv, ErrorCounts.from_json])
class TestFuzz:
    @FUZZ
    @given(data=st.binary() | st.binary().map(lambda data: GOOD.encode() + data))
    @example(b"\xff\xfe\x00")
    @example(b"\xff\xfe\x00\xd8")
    def test_bytes(self, read: Any, data: bytes):
        only_input_errors(read, io.BytesIO(data))

    @FUZZ
    @given(text=st.text(st.characters()) | CSV_TEXT | CSV_TEXT.map(lambda text: GOOD + text))
    @example("fp,n0,fn,n1\n1,\ud800,1,1")
    @example("\ud800,n0,fn,n1\n")
    def test_text(self, read: Any, text: str):
        only_input_errors(read, io.StringIO(text, newline=""))
        only_input_errors(read, io.BytesIO(text.encode("utf-8", "surrogatepass")))

    @FUZZ
    @given(content=JSON_VALUES | JSON_COLUMNS | st.lists(JSON_COLUMNS, max_size=3))
    @example({"fp": [1], "n0": 1, "fn": [1], "n1": 1, "base": [[[1], [2]], [[1, 2], [3]]]})
    def test_json(self, read: Any, content: Any):
        only_input_errors(read, io.StringIO(json.dumps(content)))

    @FUZZ
    @given(path=st.text(st.characters()))
    def test_paths(self, read: Any, path: str):
        assert "cannot be read" in refusal(read, f"/nonexistent/{path}")


@FUZZ
@given(
    columns=st.lists(JSON_VALUES, min_size=4, max_size=4), base=JSON_VALUES, design=JSON_VALUES, examples=JSON_VALUES
)
def test_the_constructor_raises_only_input_errors(columns: list[Any], base: Any, design: Any, examples: Any):
    refusal_or_counts = (ErrorCounts, columns, {"base": base, "design": design, "examples": examples})
    only_input_errors(lambda call: call[0](*call[1], **call[2]), refusal_or_counts)


def test_another_column_may_hold_the_groups(tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text("base,Rule no,fp,n0,fn,n1\na,1,1,10,5,10\na,2,2,10,4,10\nb,1,3,10,3,10\n")
    for counts in (
        ErrorCounts.read(path, group="rule_no"),
        ErrorCounts.from_csv(path, group="Rule no"),
        ErrorCounts.from_frame(pd.read_csv(path), group="Rule no"),
    ):
        assert counts.group == ("1", "2", "1")
        assert counts.base == ("a", "a", "b")
    by_base = ErrorCounts.read(path, group="base")
    assert by_base.group == ("a", "a", "b")
    assert by_base.base is None
    rows = io.StringIO('[{"fp": 1, "n0": 10, "fn": 5, "n1": 10, "z": "q"}]')
    assert ErrorCounts.from_json(rows, group="z").group == ("q",)
    with pytest.raises(InputError, match="and 'nowhere' for the groups"):
        ErrorCounts.read(path, group="nowhere")
    with pytest.raises(InputError, match="not 'fp', a column of counts"):
        ErrorCounts.read(path, group="fp")
    with pytest.raises(InputError, match="group must be the heading of a column, not ' '"):
        ErrorCounts.read(path, group=" ")


@pytest.mark.parametrize(
    "make",
    [
        lambda: ErrorCounts([1, 2], 10, [3, 4], 20),
        lambda: ErrorCounts.from_rates([0.1, 0.2], 10, [0.5, 0], 20, base=["a", "b"]),
        lambda: ErrorCounts.from_confusion(9, 2, 8, 1, base=["a"]),
        lambda: ErrorCounts.from_csv(io.StringIO("fp,n0,fn,n1\n1,10,3,20\n")),
        lambda: ErrorCounts.from_json(io.StringIO('{"fp": [1], "n0": [10], "fn": [3], "n1": [20]}')),
    ],
)
def test_a_table_is_checked_once(make, monkeypatch):
    seen = []
    monkeypatch.setattr("bayes_dp.data.counts.count_arrays", lambda table: seen.append(table) or count_arrays(table))
    made = make()
    assert len(seen) == 1
    assert made[0].concat(made[-1])[1] == made[-1]
    assert len(seen) == 1
    assert not made[0].concat(made[-1]).positives.flags.writeable


def test_a_digest_is_computed_once(monkeypatch):
    made, seen = ErrorCounts(1, 10, 3, 20), []
    sha256 = hashlib.sha256
    monkeypatch.setattr(hashlib, "sha256", lambda content: seen.append(content) or sha256(content))
    assert made.digest() == made.digest() == pickle.loads(pickle.dumps(made)).digest()
    assert len(seen) == 2  # what is unpickled is another object
    assert made[:1].digest() == made.digest() != ErrorCounts(2, 10, 3, 20).digest()


# What a file says of how its counts arose ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counts",
    [
        ErrorCounts([1, 2], 10, [3, 4], 20, base=["a", "b"]),
        ErrorCounts([1, 2], 10, [3, 4], 20, design="cross_fed"),
        ErrorCounts([1, 2], 10, [3, 4], 20, design="one_run", examples=99, group=["x", "y"]),
    ],
)
def test_every_form_says_how_the_counts_arose(counts, tmp_path):
    counts.to_csv(tmp_path / "counts.csv")
    assert ErrorCounts.read(tmp_path / "counts.csv") == counts
    assert ErrorCounts.from_frame(counts.to_frame()) == counts
    assert ErrorCounts.read(tmp_path / "counts.csv", design=counts.design, examples=counts.examples) == counts
    assert ErrorCounts.from_frame(counts.to_frame().astype(object)) == counts


STATED = "fp,n0,fn,n1,Design,EXAMPLES\n1,9,2,9,one_run,60\n3,9,4,9,one_run,60\n"


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (STATED, {"design": "repeated"}, r"c.csv: design is 'one_run' in the file, but 'repeated' was given"),
        (STATED, {"examples": 70}, r"c.csv: examples is 60 in the file, but 70 was given"),
        (STATED.replace("4,9,one_run", "4,9,repeated"), {}, r"c.csv, line 3: design must be 'one_run' as in the first"),
        (
            STATED.replace("4,9,one_run,60", "4,9,one_run,61"),
            {},
            r"c.csv, line 3: examples must be '60' as in the first",
        ),
        (
            STATED.replace("4,9,one_run", "4,9,"),
            {},
            r"c.csv, line 3: design must be 'one_run' as in the first row, not ''",
        ),
        (
            STATED.replace("one_run", "twice"),
            {},
            'c.csv: design must be "repeated", "cross_fed", "one_run" or "observational", not .twice.',
        ),
        (STATED.replace("60", "many"), {}, "c.csv: examples must be a whole number"),
        (STATED.replace("60", "30"), {}, "c.csv: examples must be at least the 36 guesses"),
        (STATED.replace("one_run", "repeated"), {}, 'c.csv: examples must not be given for the design "repeated"'),
    ],
)
def test_what_a_file_says_has_to_be_one_thing(text, options, message, tmp_path):
    path = tmp_path / "c.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        ErrorCounts.read(path, **options)


def test_empty_columns_and_a_group_of_that_name_state_nothing(tmp_path):
    path = tmp_path / "c.csv"
    path.write_text("fp,n0,fn,n1,design\n1,9,2,9,\n3,9,4,9,\n")
    assert ErrorCounts.read(path).design == "repeated"
    assert ErrorCounts.read(path, design="cross_fed").design == "cross_fed"
    path.write_text("fp,n0,fn,n1,design\n1,9,2,9,old\n3,9,4,9,new\n")
    assert ErrorCounts.read(path, group="design").group == ("old", "new")


def test_the_bundled_counts_say_that_they_are_cross_fed():
    assert ErrorCounts.from_csv(datasets.demo_csv()) == datasets.mnist_a4()
    assert datasets.mnist_a4().design == "cross_fed"


def test_a_notebook_shows_the_rows():
    shown = ErrorCounts([3, 5], [20, 30], [4, 6], [20, 30], base=["<b>", "c"])._repr_html_()
    assert "<td>&lt;b&gt;</td><td>3 of 20</td><td>0.15</td><td>4 of 20</td><td>0.2</td>" in shown
    many = ErrorCounts([1] * 25, 20, [4] * 25, 20).summary()
    assert many.splitlines()[-1] == "and 5 more bases"
    assert len(many.splitlines()) == 2 + 20 + 1
