"""The recipes of docs/guide/recipes.md: short, and those for libraries that need not be there run where they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "recipes.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"^## (\S+)$.*?^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def test_each_has_at_most_thirty_lines():
    assert list(RECIPES) == ["scikit-learn", "JAX", "PyTorch", "Opacus"]
    assert max(len(code.strip().splitlines()) for code in RECIPES.values()) <= 30


@pytest.mark.slow
@pytest.mark.parametrize(("name", "library"), [("PyTorch", "torch"), ("Opacus", "opacus")])
@pytest.mark.filterwarnings("ignore")
def test_it_runs(name, library, tmp_path, monkeypatch):
    pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    found = {}
    exec(compile(RECIPES[name], f"docs/guide/recipes.md, {name}", "exec"), found)
    if name == "PyTorch":
        assert found["report"].findings.comparison.claim.outcome == "refuted"
        assert (tmp_path / "torch.html").exists()
    else:
        assert not found["claim"].test(found["scores"]).refuted
