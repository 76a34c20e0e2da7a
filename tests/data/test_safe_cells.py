"""Labels that a spreadsheet would take for formulas: as they are by default, after an apostrophe with safe_cells."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import cli

LABELS = ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(A1)", "a=1", "'=1", ""]
SAFE = ['\'=HYPERLINK("http://x","y")', "'+1", "'-1", "'@SUM(A1)", "a=1", "'=1", ""]
SIZE = len(LABELS)
COUNTS = bdp.ErrorCounts([1] * SIZE, 5, [2] * SIZE, 5, base=LABELS, group=LABELS[::-1])
SCORES = bdp.GuessTable(-np.arange(SIZE), np.arange(SIZE) % 2, base=LABELS)


def column(text: str, name: str) -> list[str]:
    return [row[name] for row in csv.DictReader(io.StringIO(text))]


@pytest.mark.parametrize("given", [COUNTS, SCORES], ids=["counts", "scores"])
def test_labels_of_a_table(tmp_path, given):
    given.to_csv(tmp_path / "plain.csv")
    assert column((tmp_path / "plain.csv").read_text(), "base") == LABELS
    assert type(given).from_csv(tmp_path / "plain.csv") == given
    given.to_csv(tmp_path / "safe.csv", safe_cells=True)
    text = (tmp_path / "safe.csv").read_text()
    assert column(text, "base") == SAFE
    if given is COUNTS:
        assert column(text, "group") == SAFE[::-1]
        assert given.csv(safe_cells=True) == text
    else:
        assert column(text, "score") == [f"{-k}.0" if k else "0.0" for k in range(SIZE)]  # numbers stay numbers


def test_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    COUNTS[:3].to_csv("counts.csv")
    options = ("--delta", "0.1", "--bases", "--out")
    assert cli.main(("compare", "counts.csv", *options, "plain")) == 0
    assert cli.main(("compare", "counts.csv", *options, "safe", "--safe-cells")) == 0
    plain, safe = (column(Path(folder, "comparison.csv").read_text(), "base") for folder in ("plain", "safe"))
    assert set(plain) >= set(LABELS[:3])
    assert safe == [dict(zip(LABELS, SAFE, strict=True)).get(label, label) for label in plain]
    losses = np.random.default_rng(0).normal(size=(2, 3, 6))
    bdp.LossTable(losses[0], losses[1], base=LABELS[:3]).to_npz("losses.npz")
    capsys.readouterr()
    for options, labels in (((), LABELS), (("--safe-cells",), SAFE)):
        assert cli.main(("measure", "losses.npz", "--target-fpr", "0.3", *options)) == 0
        assert column(capsys.readouterr().out, "base") == labels[:3]
        assert cli.main(("measure", "losses.npz", "--target-fpr", "0.3", "-o", "c.csv", *options)) == 0
        assert column(Path("c.csv").read_text(), "base") == labels[:3]
