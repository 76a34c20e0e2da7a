"""Features: what is read, what it becomes, and which words refuse the rest."""

import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_dp import InputError
from bayes_dp.propensity.features import (
    MAX_COLUMNS,
    MAX_TEXTS,
    array_file,
    as_features,
    memberships,
    read_columns,
    unit_codes,
)


def refusal(function, *arguments, **settings):
    with pytest.raises(InputError) as caught:
        function(*arguments, **settings)
    message = str(caught.value)
    assert "\n" not in message
    return message


def write(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


# Arrays and DataFrames ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "u1", "?"])
def test_an_array_is_taken_as_it_is(kind):
    given = np.array([[1, 0], [0, 1], [1, 1]]).astype(kind)
    names, matrix = as_features(given).matrix()
    assert names == ("0", "1")
    np.testing.assert_array_equal(matrix, given.astype(float))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            [1.0, 2.0],
            "features must be an array of numbers of the shape (examples, features), not float64 of the shape",
        ),
        ([["a"], ["b"]], "features must be an array of numbers of the shape"),
        ([[1], [1, 2]], "features must be an array of numbers of the shape (examples, features), not objects"),
        (np.zeros((0, 3)), "at least one example and one feature, not (0, 3)"),
        (np.zeros((3, 0)), "at least one example and one feature, not (3, 0)"),
        ([[1.0, 2.0], [3.0, np.nan]], "features, row 1: column 1 must be a finite number, not nan"),
        ([[1.0, -np.inf], [3.0, np.nan]], "features, row 0: column 1 must be a finite number, not -inf"),
        (np.array([[1j]]), "features must be an array of numbers"),
    ],
)
def test_arrays_that_are_refused(given, words):
    assert words in refusal(as_features, given)


def test_columns_of_text_become_zeros_and_ones():
    frame = pd.DataFrame(
        {
            "age": [30, 40, 50],
            "site": ["b", "a", "c"],
            "yes": [True, False, True],
            "sex": pd.Categorical(["f", "m", "f"], categories=["m", "f", "never"]),
            "only": ["x", "x", "x"],
        },
        index=[7, 7, 9],
    )
    names, matrix = as_features(frame).matrix()
    assert names == ("age", "yes", "site=a", "site=b", "site=c", "sex=m")
    np.testing.assert_array_equal(matrix, [[30, 1, 0, 1, 0, 0], [40, 0, 1, 0, 0, 1], [50, 1, 0, 0, 1, 0]])


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["a", None, "b"], "features, row 1: x is missing"),
        (pd.array([1, None, 3], dtype="Int64"), "features, row 1: x must be a finite number, not nan"),
        ([1.0, 2.0, np.nan], "features, row 2: x must be a finite number, not nan"),
        (pd.to_datetime(["2020-01-01"] * 3), "the column 'x' holds dates, which must be made numbers first"),
        ([[1], [2], [3]], "features, row 0: x must be a number or a text, not [1]"),
        (pd.Categorical([0.5, 1.5, 0.5]), "features, row 0: x must be a number or a text, not 0.5"),
    ],
)
def test_columns_that_are_refused(column, words):
    assert words in refusal(as_features, pd.DataFrame({"y": [1, 2, 3], "x": column}))


def test_names_are_no_features():
    frame = pd.DataFrame({"user": [f"u{i:03}" for i in range(MAX_TEXTS + 1)]})
    message = refusal(as_features, frame)
    assert f"the column 'user' holds {MAX_TEXTS + 1} different texts, such as 'u000'" in message
    as_features(frame[:MAX_TEXTS])


def test_columns_of_one_name_are_refused():
    assert "two columns 'x'" in refusal(as_features, pd.DataFrame([[1, 2]], columns=["x", "x"]))


def test_features_are_put_below_others():
    above, below = pd.DataFrame({"x": [1.0], "t": ["a"]}), pd.DataFrame({"x": [2.0, 3.0], "t": ["b", "c"]})
    names, matrix = as_features(above).above(as_features(below)).matrix()
    assert names == ("x", "t=a", "t=b", "t=c")
    np.testing.assert_array_equal(matrix, [[1, 1, 0, 0], [2, 0, 1, 0], [3, 0, 0, 1]])
    assert "must have the same columns, not ['x', 't'] and ['0']" in refusal(
        as_features(above).above, as_features(np.ones((1, 1)))
    )


def test_the_digest_is_of_the_content():
    frame = pd.DataFrame({"x": [1.0, 2.0], "t": ["a", "b"]})
    others = [frame.rename(columns={"x": "y"}), frame.assign(x=[1.0, 2.5]), frame.assign(t=["a", "c"])]
    digests = {as_features(each).digest() for each in [frame, frame.copy(), *others]}
    assert len(digests) == 4


# Files ----------------------------------------------------------------------------------------------------------------

CSV = "# a comment\nx,site,member\n\n1.5,a,1\n2.5,b,0\n"


@pytest.mark.parametrize("change", [str, lambda t: t.replace(",", ";"), lambda t: t.replace("\n", "\r\n")])
def test_csv(tmp_path, change):
    path = write(tmp_path / "f.csv", change(CSV))
    features, apart, place = read_columns(path, ["member"])
    names, matrix = features.matrix()
    assert names == ("x", "site=b")
    np.testing.assert_array_equal(matrix, [[1.5, 0], [2.5, 1]])
    np.testing.assert_array_equal(memberships(apart["member"], 2), [True, False])
    assert place(1) == f"{path}, line 5"
    words = refusal(memberships, ["1", "maybe"], 2, "member", place)
    assert words.startswith(f"{path}, line 5: member must be true or false")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "must hold column headings and rows"),
        ("x,y\n", "must hold column headings and rows"),
        ("1,2\n3,4\n", "line 1: column headings are needed, not the numbers '1,2'"),
        ("x,x\n3,4\n", "line 1: column 2 must have a heading of its own, not 'x'"),
        ("x,\n3,4\n", "line 1: column 2 must have a heading of its own, not ''"),
        ("x,y\n3,4\n# c\n1,2,3\n", "line 4 has 3 fields under 2 headings"),
        ("x,y\n3,4,5\n", "line 2 has 3 fields under 2 headings"),
        ("x,y\n3,4\n\n5\n", "f.csv, line 4: y must be a finite number, not nan"),
        ("x,y\n3,4\n\n5,inf\n", "f.csv, line 4: y must be a finite number, not inf"),
        ("x,y\n3,a\n5,\n", "f.csv, line 3: y is missing"),
        ('x,y\n3,4\n5,"a\n', "line 3 has a quotation mark without its other half"),
    ],
)
def test_csv_that_is_refused(tmp_path, text, words):
    assert words in refusal(as_features, write(tmp_path / "f.csv", text))


def column(*cells):
    return "x,y\n" + "".join(f'{i},"{cell}"\n' for i, cell in enumerate(cells))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            ["5", "5o", "7"],
            "line 3: y must be a number, with a point for the decimals and without other marks, not '5o'",
        ),
        ([*map(str, range(200)), "O7"], "line 202: y must be a number, with a point for the decimals"),
        (
            ["1,5", "2,5"],
            "line 2: y must be a number, with a point for the decimals and without other marks, not '1,5'",
        ),
        (["1.5", "2,5", "3"], "line 3: y must be a number, with a point for the decimals"),
        (["1,5", "2", "3,5"], "line 2: y must be a number, with a point for the decimals"),
        (["1_000", "2_000"], "line 2: y must be a number, with a point for the decimals"),
        (["1", "2", "1_000"], "line 4: y must be a number, with a point for the decimals"),
        (["1 000", "2 000"], "line 2: y must be a number, with a point for the decimals"),
        (["1.000,5", "7"], "line 2: y must be a number, with a point for the decimals"),
        (["5%", "10%"], "line 2: y must be a number, with a point for the decimals"),
        (["€5", "€10"], "line 2: y must be a number, with a point for the decimals"),
        (["1", "2", "?"], "line 4: y must be a number, with a point for the decimals"),
        (["north", "south", "3"], "line 4: y must be a text, as most of the column is, not '3'"),
    ],
)
def test_numbers_do_not_become_categories_without_a_word(tmp_path, cells, words):
    path = write(tmp_path / "f.csv", column(*cells))
    message = refusal(as_features, path)
    assert words in message
    assert message.endswith("; if the column holds categories, name it among the categories")
    if len(set(cells)) <= MAX_TEXTS:
        names = as_features(path, categories=["y"]).matrix()[0]
        assert any(name.startswith("y=") for name in names)


@pytest.mark.parametrize("cells", [["a", "b"], ["18-25", "26-35", "65+"], ["5kg", "1st"], ["A1", "B2"], ["1/2", "3/4"]])
def test_texts_with_digits_are_categories(tmp_path, cells):
    assert as_features(write(tmp_path / "f.csv", column(*cells))).texts["y"].tolist() == cells


def test_categories_that_are_numbers():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "site": [7, 8, 7], "dose": [0.5, 0.5, 1.5], "text": ["1", "2", "1"]})
    assert "features, row 0: text must be a number and no text, not '1'" in refusal(as_features, frame)
    found = as_features(frame, categories=["site", "dose", "text"])
    assert found.names == ("x",)
    assert found.matrix()[0] == ("x", "site=8", "dose=1.5", "text=2")
    assert as_features(frame.assign(text=pd.Categorical(["1", "2", "1"]))).names == ("x", "site", "dose")
    assert "there is no column 'age', which is named as categories" in refusal(as_features, frame, ["age"])
    assert "categories must be a list of columns, not 'site'" in refusal(as_features, frame, "site")
    assert "have no column 'site': an array has no column names" in refusal(as_features, np.ones((2, 2)), ["site"])


def test_headings_of_all_sizes(tmp_path):
    path = write(tmp_path / "f.csv", f"{'x' * 200_000},y\n1,2\n")
    assert "f.csv, line 1: not a line of CSV (field larger than field limit (131072))" in refusal(as_features, path)
    path = write(tmp_path / "f.csv", f"x,y\n1,{'2' * 200_000},3\n")
    assert "f.csv, line 2: not a line of CSV (field larger than field limit (131072))" in refusal(as_features, path)
    path = write(tmp_path / "f.csv", ",".join(f"c{i}" for i in range(MAX_COLUMNS + 1)) + "\n1\n")
    assert f"at most {MAX_COLUMNS} columns, not {MAX_COLUMNS + 1}" in refusal(as_features, path)


def test_a_column_that_is_not_there(tmp_path):
    path = write(tmp_path / "f.csv", CSV)
    assert "f.csv has no column 'S', only ['x', 'site', 'member']" in refusal(read_columns, path, ["S"])
    np.save(tmp_path / "f.npy", np.ones((2, 2)))
    assert "an .npy file has no column names" in refusal(read_columns, tmp_path / "f.npy", ["S"])


def test_npy(tmp_path):
    np.save(tmp_path / "f.npy", np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(as_features(tmp_path / "f.npy").numbers, np.arange(6.0).reshape(3, 2))
    np.save(tmp_path / "o.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    assert "must be an .npy file of numbers" in refusal(as_features, tmp_path / "o.npy")
    write(tmp_path / "t.npy", "no array")
    assert "t.npy cannot be read" in refusal(as_features, tmp_path / "t.npy")
    assert "No such file" in refusal(as_features, str(tmp_path / "none.npy"))
    assert "must end in .npy, .csv" in refusal(as_features, "f.pickle")


def npy(shape="(2, 2)", kind="'<f8'", data=b"\0" * 32, order="False", version=b"\1\0", end="\n"):
    header = f"{{'descr': {kind}, 'fortran_order': {order}, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + end.encode()
    length = len(header).to_bytes(2 if version == b"\1\0" else 4, "little")
    return b"\x93NUMPY" + version + length + header + data


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (npy("(0, 10000000)", data=b""), "at least one example and one feature, not (0, 10000000)"),
        (npy("(10000000, 0)", data=b""), "at least one example and one feature, not (10000000, 0)"),
        (npy("(10000000, 10000000)"), "it holds 32 bytes of data, and its header says 800000000000000"),
        (npy("(2, 3)"), "it holds 32 bytes of data, and its header says 48"),
        (npy("(2, 1)"), "it holds 32 bytes of data, and its header says 16"),
        (npy("(1, 20000)", "'|u1'", b"\1" * 20000), "at most 10000 features, not 20000"),
        (npy("(-2, -2)"), "it must be an .npy file of numbers"),
        (npy("(2.0, 2)"), "it must be an .npy file of numbers"),
        (npy("(2,"), "it must be an .npy file of numbers"),
        (npy("(4,)"), "of the shape (examples, features), not float64 of the shape (4,)"),
        (npy(kind="'|O'"), "it must be an .npy file of numbers, not of object"),
        (npy(kind="'<U2'"), "it must be an .npy file of numbers, not of <U2"),
        (npy(kind="[('a', '<f8')]"), "it must be an .npy file of numbers, not of"),
        (npy(kind="('<f8', (2,))"), "it must be an .npy file of numbers, not of"),
        (npy(kind="'<c16'", shape="(2, 1)"), "it must be an .npy file of numbers, not of complex128"),
        (npy(kind="'<f7'"), "it must be an .npy file of numbers"),
        (npy(kind="__import__('os')"), "it must be an .npy file of numbers"),
        (npy(kind="(" * 3000), "it must be an .npy file of numbers"),
        (npy(version=b"\3\0"), "it must be an .npy file of numbers"),
        (npy(version=b"\7\0"), "it must be an .npy file of numbers"),
        (npy("(2, 2)", "'|b1'", b"\0\1\2\1"), "its truth values must be bytes of 0 and 1"),
        (npy()[:40], "it must be an .npy file of numbers"),
        (npy()[:9], "it must be an .npy file of numbers"),
        (b"", "it must be an .npy file of numbers"),
        (b"PK\x03\x04" + b"\0" * 60, "it must be an .npy file of numbers"),
        (b"\x80\x04N.", "it must be an .npy file of numbers"),
    ],
    ids=str,
)
def test_npy_that_is_refused(tmp_path, content, words):
    (tmp_path / "f.npy").write_bytes(content)
    assert words in refusal(as_features, tmp_path / "f.npy")


def test_npy_of_every_order_and_version(tmp_path):
    wanted = np.arange(6.0).reshape(2, 3)
    data = wanted.tobytes()
    for content in (
        npy("(2, 3)", data=data), npy("(2L, 3L)", data=data), npy("(2, 3)", data=data, version=b"\2\0"),
        npy("(2, 3)", data=wanted.tobytes("F"), order="True"), npy("(2, 3)", "'>f8'", wanted.astype(">f8").tobytes()),
        npy("(2, 3)", "'|b1'", b"\0\1\1\1\1\1"),
    ):  # fmt: skip
        (tmp_path / "f.npy").write_bytes(content)
        found = as_features(tmp_path / "f.npy").numbers
        np.testing.assert_array_equal(found, wanted if found.max() > 1 else wanted > 0)


def test_a_large_shape_takes_no_memory(tmp_path):
    (tmp_path / "f.npy").write_bytes(npy("(0, 10000000)", data=b""))
    tracemalloc.start()
    refusal(as_features, tmp_path / "f.npy")
    assert tracemalloc.get_traced_memory()[1] < 1e6
    tracemalloc.stop()


def test_damaged_npy_files_are_read_or_refused(tmp_path):
    """Bytes changed, cut and repeated, mostly of the header; nothing but an InputError, of one line."""
    rng, good = np.random.default_rng(0), npy("(40, 3)", data=np.random.default_rng(1).normal(size=(40, 3)).tobytes())
    messages = []
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(rng.integers(1, 4)):
            bad[rng.integers(130) if rng.random() < 0.9 else rng.integers(len(bad))] = rng.integers(256)
        bad = bytes(bad[: rng.integers(len(bad))]) if rng.random() < 0.2 else bytes(bad) * (1 + (rng.random() < 0.1))
        (tmp_path / "f.npy").write_bytes(bad)
        for function in (as_features, lambda path: memberships(array_file(path), 40)):
            try:
                function(tmp_path / "f.npy")
            except InputError as error:
                messages.append(str(error))
    assert len(messages) > 200
    assert not any("\n" in message for message in messages)


def test_parquet(tmp_path, monkeypatch):
    frame = pd.DataFrame({"x": [1.5, 2.5], "site": ["a", "b"], "member": [True, False]})
    frame.to_parquet(tmp_path / "f.parquet")
    features, apart, place = read_columns(tmp_path / "f.parquet", ["member"])
    assert features.digest() == as_features(frame.drop(columns="member")).digest()
    assert memberships(apart["member"], 2).tolist() == [True, False]
    assert place(1).endswith("f.parquet, row 1")
    write(tmp_path / "t.parquet", "no table")
    assert "t.parquet cannot be read: it is no Parquet file" in refusal(as_features, tmp_path / "t.parquet")
    assert "No such file" in refusal(as_features, tmp_path / "none.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert 'without pyarrow: pip install "bayes-dp[parquet]"' in refusal(as_features, tmp_path / "f.parquet")


# Memberships and groups -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given", [[1, 0, 1], [True, False, True], ["yes", "no", "in"], [1.0, 0.0, 1.0], np.array([1, 0, 1], "u1")]
)
def test_memberships(given):
    assert memberships(given, 3).tolist() == [True, False, True]


@pytest.mark.parametrize(("given", "words"), [([1, 0], "not the shape (2,)"), ([1, 2, 0], "member[1] must be true or")])
def test_memberships_that_are_refused(given, words):
    assert words in refusal(memberships, given, 3)


def test_groups_become_numbers():
    assert unit_codes(None, 3).tolist() == [0, 1, 2]
    assert unit_codes(["b", "a", "b"], 3).tolist() == [1, 0, 1]
    assert unit_codes([10, 9, 10], 3).tolist() in ([0, 1, 0], [1, 0, 1])
    assert "groups must hold one label for each of the 3" in refusal(unit_codes, ["a"], 3)
    assert "groups[1] is missing" in refusal(unit_codes, ["a", None, "b"], 3)


def test_long_texts_and_headings_of_several_lines_are_refused(tmp_path):
    for text in ("x" * 201, "é" * 100_000):
        write(tmp_path / "f.csv", f"age,site\n1,north\n2,{text}\n")
        assert f"line 3: site must have at most 200 letters, not {len(text)}" in refusal(
            as_features, tmp_path / "f.csv"
        )
    assert "groups[1] must have at most 200 letters" in refusal(unit_codes, ["a", "x" * 201], 2)
    for heading in ("age\u2028", "x" * 201):
        said = refusal(as_features, pd.DataFrame({heading: [1.0, 2.0]}))
        assert "the heading of column 1 must be one line of at most 200 letters, not " in said
        assert len(said) < 200


def test_a_table_without_rows_is_refused(tmp_path):
    pd.DataFrame({"site": pd.Series([], dtype=object), "age": []}).to_parquet(tmp_path / "f.parquet")
    assert "at least one example" in refusal(as_features, tmp_path / "f.parquet")
