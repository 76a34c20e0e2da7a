"""LossTable: what is accepted, what is refused with which words, and what comes back from files."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import io
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from bayes_dp.checks import InputError
from bayes_dp.data import loss_table as module
from bayes_dp.data.loss_table import LossTable
from tests.data.test_counts import refusal

WITHOUT = [[1.0, 2.0, 3.5], [0.25, 0.5, 0.0]]
WITH = [[0.5, -1.0], [2.0, 4.0]]
TABLE = LossTable(WITHOUT, WITH)
FULL = LossTable(WITHOUT, WITH, base=["a", "b"])
LONG = """base,member,loss
a,0,1
b,out,0.25
a,1,0.5
a,false,2
b,0,0.5
a,in,-1
a,no,3.5
b,0,0.0
b,yes,2
b,TRUE,4
"""
SETTINGS = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def npz(**content: Any) -> io.BytesIO:
    file = io.BytesIO()
    np.savez(file, **content)
    file.seek(0)
    return file


def npz_refusal(name: str | None = None, **content: Any) -> str:
    message = refusal(LossTable.from_npz, npz(**content), name)
    assert message.startswith("the input")
    return message.removeprefix("the input")


def csv_refusal(text: str) -> str:
    message = refusal(LossTable.from_csv, io.StringIO(text))
    assert message.startswith("the input")
    return message.removeprefix("the input")


@st.composite
def tables(draw: st.DrawFn) -> LossTable:
    n = draw(st.integers(1, 4))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    losses = [draw(arrays.arrays(float, (n, draw(st.integers(1, 4))), elements=finite)) for _ in range(2)]
    texts = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=5).map(str.strip)
    return LossTable(*losses, draw(st.none() | st.lists(texts, min_size=n, max_size=n)))


# ---------------------------------------------------------------------------------------------------- construction


def test_fields_are_read_only_copies():
    without, with_ = np.array(WITHOUT), np.array(WITH, dtype=np.float32)
    table = LossTable(without, with_, base=np.array([7, 8]))
    without[0, 0] = 99
    assert table.without.tolist() == WITHOUT
    assert table.with_.tolist() == WITH
    assert table.base == ("7", "8")
    for values in (table.without, table.with_):
        assert values.dtype == np.float64
        with pytest.raises(ValueError, match="read-only"):
            values[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        table.base = None  # type: ignore[misc]


def test_one_base_may_be_given_as_plain_lists():
    assert LossTable([1, 2, 3], [4, 5]) == LossTable([[1.0, 2.0, 3.0]], [[4.0, 5.0]])
    assert len(LossTable([1, 2, 3], [[4, 5]])) == 1


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_losses_that_are_not_finite_are_refused_with_base_run_and_side(value: float):
    bad = np.array(WITHOUT)
    bad[1, 2] = value
    assert refusal(LossTable, bad, WITH) == (
        f"without[1, 2], the loss of base 1 in run 2 without the example, must be a finite number, not {value}"
    )
    bad = np.array(WITH)
    bad[1, 0] = value
    assert refusal(LossTable, WITHOUT, bad, ["a", "b"]) == (
        f"with_[1, 0], the loss of base 1 ('b') in run 0 with the example, must be a finite number, not {value}"
    )


def test_masked_losses_are_refused():
    masked = np.ma.masked_greater(np.array(WITH), 3)
    assert "the loss of base 1 in run 1 with the example" in refusal(LossTable, WITHOUT, masked)


@pytest.mark.parametrize(
    "value", [None, "text", [["a"]], [[True, False]], [[1, 2], [3]], [[1j]], [[None, 1.0]], {}, object()]
)
def test_what_is_no_array_of_numbers_is_refused(value: Any):
    assert refusal(LossTable, value, WITH).startswith("without must be an array of numbers, with as many runs for each")


@pytest.mark.parametrize("value", [1.0, [], [[], []], [[[1.0]]]])
def test_shapes_that_are_refused(value: Any):
    message = refusal(LossTable, value, WITH)
    assert message.startswith("without must have a row for each base and a column for each run, at least one of both")
    assert message.endswith(f"not the shape {np.atleast_2d(np.array(value)).shape if value == [] else np.shape(value)}")


def test_both_sides_have_the_same_bases():
    assert refusal(LossTable, WITHOUT, WITH[:1]) == "with_ must have as many bases (rows) as without, 2, not 1"
    assert refusal(LossTable, WITHOUT, WITH, ["a"]) == "base must hold 2 labels, one per base, not 1"
    assert "base[1] must be a label" in refusal(LossTable, WITHOUT, WITH, ["a", "x\ny"])


# ------------------------------------------------------------------------------------------------------- as a value


def test_equality_and_digest():
    assert LossTable(WITHOUT, WITH) == TABLE != FULL
    assert hash(LossTable(WITHOUT, WITH)) == hash(TABLE)
    assert TABLE.digest() == LossTable(np.array(WITHOUT) - 0.0, WITH).digest()
    assert LossTable([[-0.0]], [[1]]).digest() == LossTable([[0.0]], [[1]]).digest()
    others = [FULL, TABLE[0], LossTable(WITH, WITHOUT), LossTable(WITHOUT, np.array(WITH) + 1e-9)]
    assert len({table.digest() for table in [TABLE, *others]}) == 5
    assert TABLE != "text"


@pytest.mark.parametrize("table", [TABLE, FULL])
@pytest.mark.parametrize("duplicate", [lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy])
def test_copies_stay_read_only(table: LossTable, duplicate: Any):
    other = duplicate(table)
    assert other == table
    assert not other.without.flags.writeable


def test_indexing_over_bases():
    assert FULL[1] == FULL[-1] == FULL[[False, True]] == FULL[1:] == LossTable(WITHOUT[1:], WITH[1:], ["b"])
    assert FULL[[1, 0, 1]].base == ("b", "a", "b")
    assert len(FULL) == 2
    assert "at least one base" in refusal(FULL.__getitem__, [])
    with pytest.raises(IndexError):
        FULL[5]


def test_repr():
    assert repr(FULL) == "LossTable: 2 bases, 3 runs without and 2 with the example each"
    assert repr(FULL[0]) == "LossTable: 1 base, 3 runs without and 2 with the example"
    assert repr(LossTable([[1.0]], [[0.0]])) == "LossTable: 1 base, 1 run without and 1 with the example"


def test_split():
    rng = np.random.default_rng(0)
    table = LossTable(rng.normal(size=(3, 10)), rng.normal(size=(3, 10)), ["a", "b", "c"])
    pilot, kept = table.split(0.3, seed=5)
    assert (pilot.without.shape, kept.without.shape) == ((3, 3), (3, 7))
    assert pilot.base == kept.base == table.base
    for part in (pilot, kept):  # the same columns for all bases, and on both sides as the numbers of runs agree
        columns = [table.without[0].tolist().index(x) for x in part.without[0]]
        assert columns == sorted(columns)
        np.testing.assert_array_equal(part.without, table.without[:, columns])
        np.testing.assert_array_equal(part.with_, table.with_[:, columns])
    together = np.concatenate([pilot.without, kept.without], axis=1)
    np.testing.assert_array_equal(np.sort(together), np.sort(table.without))
    assert table.split(0.3, seed=5)[0] == pilot
    assert table.split(0.3, seed=6)[0] != pilot
    uneven = LossTable(table.without, table.with_[:, :4]).split(0.5)
    assert [part.with_.shape[1] for part in uneven] == [2, 2]
    assert refusal(table.split, 0.01) == "fraction must leave a run in both parts of 10, which 0.01 does not"
    assert "fraction must lie in (0, 1)" in refusal(table.split, 1.0)
    assert "seed must be" in refusal(table.split, 0.5, -1)


# -------------------------------------------------------------------------------------------------------------- NPZ


@pytest.mark.parametrize("table", [TABLE, FULL])
def test_npz_and_back(tmp_path: Path, table: LossTable):
    path = tmp_path / "losses.npz"
    table.to_npz(path)
    assert LossTable.from_npz(path) == LossTable.read(path) == LossTable.read(str(path)) == table
    with path.open("rb") as file:
        assert LossTable.from_npz(file) == table
    first = path.read_bytes()
    table.to_npz(path)
    assert path.read_bytes() == first
    assert set(np.load(path)) == {"without", "with"} | ({"base"} if table.base else set())


@given(table=tables())
@SETTINGS
def test_any_table_and_back(table: LossTable, tmp_path: Path):
    table.to_npz(tmp_path / "losses.npz")
    assert LossTable.from_npz(tmp_path / "losses.npz") == table
    if table.base is None or len(set(table.base)) == len(table):
        again = LossTable.from_frame(table.to_frame())
        assert again == (table if table.base else dataclasses.replace(table, base=again.base))


@pytest.mark.parametrize("ends", [("without", "with"), ("out", "in")])
def test_names(ends: tuple[str, str]):
    both = {f"A1_{end}": losses for end, losses in zip(ends, (WITHOUT, WITH), strict=True)}
    assert LossTable.from_npz(npz(**both)) == TABLE  # the only one
    more = both | {f"B_{end}": losses for end, losses in zip(ends, (WITH, WITHOUT), strict=True)} | {"A1_note": [1]}
    assert LossTable.from_npz(npz(**more), "A1") == TABLE
    assert LossTable.from_npz(npz(**more), "B") == LossTable(WITH, WITHOUT)
    assert LossTable.from_npz(npz(**more, base=["a", "b"]), "A1") == FULL
    assert LossTable.from_npz(npz(**more, A1_base=["a", "b"], base=["x", "y"]), "A1") == FULL
    plain = dict(zip(ends, (WITHOUT, WITH), strict=True))
    assert LossTable.from_npz(npz(**plain, **{f"A1_{end}": [[1.0]] for end in ends})) == TABLE
    assert npz_refusal(**more) == " holds several tables of losses; give the name of one of them: A1, B"
    assert npz_refusal("A9", **more) == (
        " has no losses of the name 'A9' (the arrays 'A9_without' and 'A9_with', or _out and _in); the names in it are "
        f"A1, B, the keys {list(more)}"
    )


def test_npz_refusals(tmp_path: Path):
    wanted = " must hold the arrays without and with (or out and in); it holds "
    assert npz_refusal(without=WITHOUT, within=WITH) == f"{wanted}['without', 'within']"
    assert npz_refusal() == f"{wanted}no array"
    assert npz_refusal(A1_out=[[1, math.inf]], A1_in=[[1]], A1_base=["x"]) == (
        ": A1_out[0, 1], the loss of base 0 ('x') in run 1 without the example, must be a finite number, not inf"
    )
    assert npz_refusal(out=WITHOUT, **{"in": WITH[:1]}) == (
        ": in must have as many bases (rows) as the input: out, 2, not 1"
    )
    missing = tmp_path / "missing.npz"
    assert refusal(LossTable.from_npz, missing) == f"{missing} cannot be read: no such file or directory"
    assert refusal(LossTable.read, tmp_path / "x.npy").endswith("cannot be read: no such file or directory")
    np.save(tmp_path / "x.npy", WITH)
    assert refusal(LossTable.read, tmp_path / "x.npy").endswith(
        "holds one array; an NPZ file with the arrays without and with is needed"
    )
    assert refusal(LossTable.from_npz, 3) == "a path or an open file is needed, not int"
    assert refusal(LossTable.from_npz, npz(), 3) == "name must be a text such as 'A1', not 3"


def test_pickled_objects_are_never_read(tmp_path: Path):
    class Trap:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "sprung",)

    arrays_ = {"without": np.array([[Trap()]], dtype=object), "with": WITH}
    assert npz_refusal(**arrays_) == ": without cannot be read as a plain array of numbers or texts"
    labels = np.array([Trap(), Trap()], dtype=object)
    assert npz_refusal(without=WITHOUT, base=labels, **{"with": WITH}).startswith(": base cannot be read")
    assert "is not an NPZ file" in refusal(LossTable.from_npz, io.BytesIO(pickle.dumps(Trap())))
    assert not (tmp_path / "sprung").exists()


def test_files_that_are_too_large_once_unpacked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MOST", 1_000_000)
    content = io.BytesIO()
    np.savez_compressed(content, **{"without": np.zeros((1000, 200)), "with": WITH})
    content.seek(0)
    assert "has more than 1 MB of losses" in refusal(LossTable.from_npz, content)


@given(data=st.binary(max_size=60) | st.binary(max_size=60).map(lambda x: b"PK\x03\x04" + x))
@SETTINGS
def test_any_bytes(data: bytes):
    assert "is not an NPZ file" in refusal(LossTable.from_npz, io.BytesIO(data))


@given(at=st.integers(0, 600), byte=st.integers(0, 255))
@SETTINGS
def test_damaged_files(at: int, byte: int):
    data = bytearray(npz(without=WITHOUT, **{"with": WITH}).getvalue())
    data[at % len(data)] = byte
    with contextlib.suppress(InputError):
        LossTable.from_npz(io.BytesIO(bytes(data)))


# -------------------------------------------------------------------------------------------------------- long form


def test_long_form(tmp_path: Path):
    assert LossTable.from_csv(io.StringIO(LONG)) == FULL
    path = tmp_path / "losses.csv"
    path.write_text(LONG)
    assert LossTable.read(path) == FULL
    frame = pd.read_csv(path)
    assert LossTable.from_frame(frame) == FULL
    path = tmp_path / "losses.json"
    path.write_text(json.dumps(frame.to_dict("list")))
    assert LossTable.read(path) == FULL
    assert LossTable.from_csv(io.StringIO("loss,label\n1,0\n2,1\n3,0\n")) == LossTable([1, 3], [2])
    assert refusal(LossTable.read, tmp_path / "losses.json", "A1").endswith("only for an .npz file: 'A1'")


def test_runs_are_put_in_order():
    rows = [("a", 0, "r1", 1), ("a", 0, "r2", 2), ("b", 0, "r2", 4), ("b", 0, "r1", 3)]
    rows += [("b", 1, "r2", 8), ("a", 1, "r2", 6), ("a", 1, "r1", 5), ("b", 1, "r1", 7)]
    frame = pd.DataFrame(rows, columns=["base", "member", "run", "loss"])
    assert LossTable.from_frame(frame) == LossTable([[1, 2], [3, 4]], [[5, 6], [7, 8]], ["a", "b"])
    assert LossTable.from_frame(frame.drop(columns="run")) == LossTable([[1, 2], [4, 3]], [[6, 5], [8, 7]], ["a", "b"])
    text = "base,member,run,loss\na,0,x,1\na,0,y,2\na,1,x,3\nb,0,x,1\n"
    assert csv_refusal(text + "b,0,x,2\nb,1,x,3\n") == (
        ", line 6: run must name each run without the example once, and the same runs for all bases, but 'x' of base "
        "'b' appears twice"
    )
    assert csv_refusal(text + "b,0,z,2\nb,1,x,3\n").endswith("'z' of base 'b' is not among the runs of the first base")


def test_long_form_refusals():
    assert csv_refusal("base,member,loss\na,0,1\na,0,nan\n") == ", line 3: loss must be a finite number, not 'nan'"
    assert csv_refusal("member,loss\n0,inf\n").endswith("loss must be a finite number, not 'inf'")
    assert csv_refusal("member,loss\nperhaps,1\n") == (
        ", line 2: member must be true or false (or 1 or 0, yes or no, in or out), not 'perhaps'"
    )
    assert csv_refusal("member,los\n0,1\n").startswith(", line 1: no column for loss (is 'los' meant as loss?)")
    assert csv_refusal("member,loss\n0,1\n").endswith(
        "loss must hold as many runs for each base, but base '0' has 0 with the example"
    )
    assert csv_refusal(LONG + "b,0,7\n").endswith(
        "loss must hold as many runs for each base, but base 'b' has 4 without the example and base 'a' has 3"
    )
    frame = pd.DataFrame({"member": [0, 1], "loss": [1.0, math.nan]})
    assert refusal(LossTable.from_frame, frame) == "loss[1] must be a finite number, not nan"
    frame = pd.DataFrame({"member": [0, 2], "loss": [1.0, 1.0]})
    assert refusal(LossTable.from_frame, frame).startswith("member[1] must be true or false")
    frame = pd.DataFrame({"member": [0, 1], "loss": ["a", "b"]})
    assert refusal(LossTable.from_frame, frame).startswith("loss must be an array of numbers")


def test_json_refusals(tmp_path: Path):
    path = tmp_path / "losses.json"
    for content, message in (
        ({"member": [0, 1], "loss": [1, None]}, f"{path}: loss must be an array of numbers"),
        ({"member": [0, 1], "loss": [1, "x"]}, f"{path}: loss must be an array of numbers"),
        ({"member": [0], "loss": [1, 2]}, f"{path}: member must hold as many rows as the losses, 2, not 1"),
        ({"member": [0, []], "loss": [1, 2]}, f"{path}: member[1] must be true or false"),
        ({"member": 1, "loss": 1}, f"{path}: loss must hold one loss for each row, not"),
        ({"member": [], "loss": []}, f"{path}: loss must"),
    ):
        path.write_text(json.dumps(content))
        assert refusal(LossTable.read, path).startswith(message)


def test_to_frame():
    frame = FULL.to_frame()
    assert frame.columns.tolist() == ["base", "member", "run", "loss"]
    assert len(frame) == 10
    chosen = frame[(frame["base"] == "b") & frame["member"] & (frame["run"] == 1)]
    assert chosen["loss"].tolist() == [4.0]


def test_import_is_light():
    code = "import sys, bayes_dp.data.loss_table; print([m for m in ('pandas', 'scipy', 'jax') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_notebook_shows_the_rows():
    shown = LossTable([[1.0, 3.0], [1e308, 1e308]], [[5.0, 5.0], [0.0, 2.0]], base=["a", "<b>"])._repr_html_()
    assert "<td>a</td><td>2 (sd 1)</td><td>5 (sd 0)</td>" in shown
    assert "<td>&lt;b&gt;</td>" in shown
    assert LossTable([[0.0]] * 21, [[1.0]] * 21).summary().splitlines()[-1] == "and 1 more bases"
