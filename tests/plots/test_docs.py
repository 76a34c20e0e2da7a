"""docs/reference/figures.md shows every figure, and docs/figures/make.py makes every picture there."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest

from bayes_dp import plots

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def make():
    spec = importlib.util.spec_from_file_location("make_figures", DOCS / "figures" / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_figure_is_shown(make):
    text = (DOCS / "reference" / "figures.md").read_text(encoding="utf-8")
    for name in plots.__all__:
        assert f"plots.{name}(" in text, name
    shown = set(re.findall(r"!\[[^\]]+\]\(\.\./figures/(\w+)\.png\)", text))
    assert shown == set(make.FIGURES) <= {path.stem for path in (DOCS / "figures").glob("*.png")}


def test_the_pictures_are_small(make):
    assert sum((DOCS / "figures" / f"{name}.png").stat().st_size for name in make.FIGURES) < 1_000_000


def test_a_picture_is_made(make, tmp_path, monkeypatch):
    monkeypatch.setattr(make, "FOLDER", tmp_path)
    monkeypatch.setattr(make.plt, "switch_backend", lambda name: None)
    monkeypatch.delenv("BAYES_DP_DATA", raising=False)
    make.main(["region", "error_curves"])
    assert [path.name for path in tmp_path.iterdir()] == ["region.png"]  # the other needs losses
    assert (tmp_path / "region.png").read_bytes().startswith(b"\x89PNG")
