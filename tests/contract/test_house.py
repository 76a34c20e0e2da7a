"""The table of the house counts what it says."""

from __future__ import annotations

from pathlib import Path

from bayes_dp import region
from tests.contract.house import DOCSTRINGS, code, lacking, rows

SOURCE = '''"""A manual page,
of two lines."""

# a comment
x = [
    1,  # one
]


def f():
    """What it does."""
    return """not a
    docstring"""
'''


def test_lines_of_code(tmp_path: Path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    assert code(path) == ("x = [", "    1,  # one", "]", "def f():", '    return """not a', '    docstring"""')


def test_what_a_docstring_has():
    class Plain:
        """Nothing to see."""

    Plain.__module__ = "bayes_dp.support"
    assert not any(has(Plain) for _, has in DOCSTRINGS.values())
    assert all(has(region.sample) for _, has in DOCSTRINGS.values())


def test_every_public_docstring_has_what_it_should():
    assert {what: lacking(what)[1] for what in DOCSTRINGS} == {what: [] for what in DOCSTRINGS}


def test_the_table_is_printed():
    table = dict(rows())
    assert int(table["modules"]) > int(table["of these, at the top of the package"]) > 0
    assert all(table.values())
