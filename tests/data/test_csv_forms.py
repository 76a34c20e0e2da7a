"""What a CSV file may look like, and how a broken one is refused, for every kind of table that is read from one."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bayes_dp.checks import InputError
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.loss_table import LossTable


class Kind(NamedTuple):
    """A table with three rows, as text and as it is read; a row more, as good as the others."""

    read: Callable[[Any], Any]
    text: str
    table: Any
    row: str
    content: str


KINDS = {
    "counts": Kind(
        ErrorCounts.from_csv,
        "fp,n0,fn,n1\n3,100,5,100\n0,100,100,100\n7,100,2,50\n",
        ErrorCounts([3, 0, 7], 100, [5, 100, 2], [100, 100, 50]),
        "1,10,2,10",
        "counts",
    ),
    "scores": Kind(
        GuessTable.from_csv,
        "score,member\n0.5,1\n0.25,1\n-2.25,0\n",
        GuessTable([0.5, 0.25, -2.25], [1, 1, 0]),
        "0.5,1",
        "scores",
    ),
    "losses": Kind(
        LossTable.from_csv,
        "member,loss\n0,0.5\n0,0.25\n1,2.25\n",
        LossTable([0.5, 0.25], [2.25]),
        "0,0.5",
        "losses",
    ),
}


def with_notes(line: str) -> str:
    """A line after the cells of a column of texts and of one without a heading."""
    return ('"a, ""b""",x,' if line[0] in "-0123456789" else "note,,") + line + "\n"


FORMS: dict[str, Callable[[str], str | bytes]] = {
    "as it is": lambda text: text,
    "no end of the last line": lambda text: text.rstrip("\n"),
    "byte order mark": lambda text: "\ufeff" + text,
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16, the other order": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "lines of Windows": lambda text: text.replace("\n", "\r\n"),
    "lines of old Macs": lambda text: text.replace("\n", "\r"),
    "empty lines": lambda text: text.replace("\n", "\n\n") + "\n\n  \n\t\n",
    "comments": lambda text: "\n\n# a comment, with \"quotes'\n" + text.replace("\n", "\n  # another, comment\n"),
    "semicolons": lambda text: text.replace(",", ";"),
    "tabs": lambda text: text.replace(",", "\t"),
    "spaces": lambda text: text.replace(",", " , ").replace("\n", " \n "),
    "quotes": lambda text: "".join(
        ",".join(f'"{cell}"' for cell in line.split(",")) + "\n" for line in text.splitlines()
    ),
    "quotes and spaces": lambda text: "".join(
        " " + " , ".join(f'"{cell}"' for cell in line.split(",")) + " \n" for line in text.splitlines()
    ),
    "empty cells below": lambda text: text + ",,,\n,,\n",
    "capital letters": lambda text: text.upper(),
    "other columns": lambda text: "".join(map(with_notes, text.splitlines())),
}


def given(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    return KINDS[request.param]


@pytest.mark.parametrize("form", FORMS)
def test_forms_that_are_read(kind: Kind, form: str, tmp_path: Path):
    content = FORMS[form](kind.text)
    path = tmp_path / "table.csv"
    path.write_bytes(given(content))
    assert kind.read(path) == kind.table
    assert kind.read(str(path)) == kind.table
    assert kind.read(io.BytesIO(given(content))) == kind.table
    if isinstance(content, str):
        assert kind.read(io.StringIO(content, newline="")) == kind.table


def refusal(kind: Kind, content: str | bytes) -> str:
    """The one line that refuses a file, after its name."""
    with pytest.raises(InputError) as caught:
        kind.read(io.BytesIO(given(content)))
    message = str(caught.value)
    assert message.startswith("the input")
    assert "\n" not in message
    assert len(message) < 1000
    return message.removeprefix("the input")


def test_empty_files(kind: Kind):
    heading = kind.text.splitlines()[0]
    for text in ("", "\n\n", "\ufeff", "# only a comment\n", "   "):
        assert refusal(kind, text).startswith(" is empty: column headings such as ")
    assert refusal(kind, f"#\n{heading}\n#1,2\n\n,\n") == f" has column headings (line 2) but no rows of {kind.content}"


def test_headings(kind: Kind):
    heading, first = kind.text.splitlines()[:2]
    assert refusal(kind, f"# no headings\n{first}\n").startswith(
        ", line 2: column headings are needed, not the numbers "
    )
    twice = heading + "," + heading.split(",")[0]
    last, name = len(heading.split(",")) + 1, heading.split(",")[0]
    assert refusal(kind, f"{twice}\n{first},1\n") == (
        f", line 1: the headings {name!r} (column 1) and {name!r} (column {last}) name the same column"
    )
    wide = ",".join(f"c{i}" for i in range(2000))
    assert refusal(kind, wide + "\n") == ", line 1: 2000 columns are more than the 1000 that are read"


def test_broken_quotes(kind: Kind):
    first, rest = kind.row.split(",", 1)
    for row in (f'"{first},{rest}', f'{first},"{rest}"0', f'{first},"{rest}', f'"{"9" * 200_000}",{rest}'):
        assert refusal(kind, kind.text + row + "\n" + kind.text).startswith(", line 5: not a line of CSV (")


def test_bytes_that_are_not_text(kind: Kind):
    heading = kind.text.splitlines()[0]
    latin = f"{heading},base\r\n{kind.row},a\r\n{kind.row},é\r\n".encode("latin-1")
    at = latin.index(0xE9)
    assert refusal(kind, latin) == f", line 3: byte 0xe9 at offset {at} is not UTF-8 text; save the file as UTF-8"
    assert refusal(kind, b"\xef\xbb\xbf" + latin).startswith(f", line 3: byte 0xe9 at offset {at + 3} ")
    message = refusal(kind, kind.text.encode("utf-16") + b"\n")
    assert message.startswith(", line 5: byte 0x0a at offset ")
    assert "is not UTF-16 text" in message
    assert refusal(kind, kind.text.encode() + b"1,\0,1\n").startswith(", line 5: a NUL byte")
    assert refusal(kind, kind.text.encode("utf-16-le")).startswith(", line 1: a NUL byte")
    assert refusal(kind, gzip.compress(kind.text.encode())).startswith(", line 1: byte 0x8b at offset 1 ")
    assert refusal(kind, f"{heading},base\n{kind.row},a\n{kind.row},b\x07c\n") == (
        ", line 3: base must be a label (one line of text, or a whole number), not 'b\\x07c'"
    )
