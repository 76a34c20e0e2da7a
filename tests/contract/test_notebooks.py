"""The notebooks run, hold no outputs, begin with their question and end with what may be concluded.

Each is executed in an empty folder, as a reader would run it from top to bottom, by docs/notebook_pages.py, which keeps
what was run for the pages of the site.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))

_spec = importlib.util.spec_from_file_location("notebook_pages", ROOT / "docs" / "notebook_pages.py")
pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(pages)

each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def cells_of(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def with_results(cells: list[dict[str, Any]]) -> list[str]:
    """The code cells that were saved with an output or with the number of their execution."""
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    return ["".join(cell["source"]) for cell in code if cell["outputs"] or cell["execution_count"] is not None]


def test_there_are_ten():
    assert sorted(int(path.name.split("_")[0]) for path in NOTEBOOKS) == list(range(1, 11))


@each
def test_outputs_are_stripped(path: Path):
    assert not with_results(cells_of(path))


def test_outputs_and_numbers_are_seen():
    cell = {"cell_type": "code", "source": ["1 + ", "1"], "outputs": [], "execution_count": None}
    assert not with_results([cell, {"cell_type": "markdown", "source": ["# Title"]}])
    assert with_results([cell | {"outputs": [{"output_type": "stream", "text": "2"}]}]) == ["1 + 1"]
    assert with_results([cell | {"execution_count": 1}]) == ["1 + 1"]


@each
def test_it_begins_with_a_question_and_ends_with_conclusions(path: Path):
    first, *_, last = cells_of(path)
    assert first["cell_type"] == last["cell_type"] == "markdown"
    begin, end = "".join(first["source"]), "".join(last["source"])
    assert begin.startswith("# ")
    assert "**Question.**" in begin
    assert "?" in begin
    assert end.startswith("## What may be concluded, and what not")
    assert "**May.**" in end
    assert "**May not.**" in end


def test_what_was_run_is_kept_while_all_that_it_needs_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What tests and linters need is no part of that."""
    versions: dict[str, str] = {}
    pages._add_versions("bayes_dp", versions)
    assert {"bayes-dp", "numpy", "jaxlib", "threadpoolctl"} <= set(versions)  # the last one by scikit-learn
    assert not {"pytest", "hypothesis", "dask", "ruff", "mkdocs"} & set(versions)
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    files = [tmp_path / "notebook.ipynb", tmp_path / "bayes_dp" / "inner" / "one.py", tmp_path / "models" / "two.py"]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("1")
    keys = {pages._key(files[0])}
    assert keys == {pages._key(files[0])}
    for path in files:
        path.write_text("2")
        keys.add(pages._key(files[0]))
    assert len(keys) == 4


@each
@pytest.mark.filterwarnings("default")  # those of the kernel's transport are not ours
def test_it_runs(path: Path):
    for module in ("nbformat", "nbclient", "ipykernel"):
        pytest.importorskip(module)
    cells = pages.executed(path)["cells"]
    outputs = [output for cell in cells if cell["cell_type"] == "code" for output in cell["outputs"]]
    assert outputs
    assert not [output["text"] for output in outputs if output.get("name") == "stderr"]
    text, pictures = pages.page(path, run=True)
    assert len(pictures) == sum("image/png" in output.get("data", {}) for output in outputs)
    assert all(f"]({name})" in text and picture.startswith(b"\x89PNG") for name, picture in pictures.items())
