"""The tables of measured numbers on the pages are those of the files, and each file says what made it."""

from __future__ import annotations

import datetime
import importlib.util
import re
from pathlib import Path

import pytest

import bayes_dp

ROOT = Path(__file__).parents[2]

_spec = importlib.util.spec_from_file_location("tables_of_the_pages", ROOT / "docs" / "tables.py")
tables = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tables)

FILES = sorted(tables.DATA.glob("*.csv"))
PAGES = {path: path.read_text(encoding="utf-8") for path in sorted(tables.DOCS.rglob("*.md"))}


def test_the_pages_have_what_the_files_hold():
    assert [path.name for path, text in PAGES.items() if tables.rendered(text) != text] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_says_what_made_it_and_is_on_one_page(path: Path):
    said, rows = tables.read(path)
    assert {"command", "date", "version"} <= set(said) <= {"command", "table", "date", "version"}
    assert datetime.date.fromisoformat(said["date"]) >= datetime.date(2026, 1, 1)
    assert re.fullmatch(r"\d+\.\d+\.\d+", said["version"])
    for module in re.findall(r"python -m ([\w.]+)", said["command"]):
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), module
    assert "python -m " in said["command"] or said["command"].startswith("bayes-dp calibrate ")
    assert len(rows) > 1
    assert len({len(row) for row in rows}) == 1
    assert sum(text.count(f"<!-- table {path.stem} -->") for text in PAGES.values()) == 1


def test_a_table_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tables, "DATA", tmp_path)
    (tmp_path / "prints.py").write_text(r"print('| x |\n|---|\n| 0 |\n\nand\n\n| a | b |\n|---|---|\n| 1 | 2, 3 |')")
    old = {"command": f"python {tmp_path}/prints.py", "table": "2", "date": "2026-01-01", "version": "0.0.1"}
    tables.write(tmp_path / "some.csv", old, [["α", "β"], ["7", "8"]])
    tables.record("some")
    said, rows = tables.read(tmp_path / "some.csv")
    assert rows == [["α", "β"], ["1", "2, 3"]]
    assert said == old | {"date": str(datetime.date.today()), "version": bayes_dp.__version__}
    page = "Before.\n\n<!-- table some -->\n<!-- end -->\nAfter.\n"
    assert "| α | β |\n|---|---|\n| 1 | 2, 3 |\n" in tables.rendered(page)
    assert tables.rendered(tables.rendered(page)) == tables.rendered(page)

    tables.write(tmp_path / "other.csv", old | {"table": "1"}, rows)
    with pytest.raises(SystemExit, match="has other columns"):
        tables.record("other")
    tables.write(tmp_path / "excerpt.csv", {key: old[key] for key in ("command", "date", "version")}, rows)
    with pytest.raises(SystemExit, match="prints no table"):
        tables.record("excerpt")
