"""Results that cannot be written: known before the work, or else printed all the same, with the exit code 2."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import cli, propensity
from bayes_dp.attacks import lira
from bayes_dp.bayes import estimate as estimate_module
from bayes_dp.comparison import compare as comparison
from bayes_dp.planning import plan as planning
from bayes_dp.reporting import report as assembled
from tests.cli.conftest import refused

RNG = np.random.default_rng(0)
MEMBER = RNG.random(200) < 0.5
COUNTS = "fp,n0,fn,n1\n4,20,12,20\n5,20,11,20\n"
PLAN = ("plan", "counts.csv", "--delta", "1e-2", "--width", "1.5", "--vary", "challenges", "--largest", "1")
ZERO_RUN = ("audit", "zero-run", "scores.csv", "--features", "features.csv", "--bootstrap", "39")

# A verb, its option, the file or folder, and what its answer begins with.
WRITING = [
    (("estimate", "counts.csv", "--delta", "1e-2", "--fail-above", "1e-3"), "--out", "results", "Posterior given"),
    (("compare", "counts.csv", "--delta", "1e-2"), "--out", "results", "Comparison at delta"),
    (("report", "counts.csv", "--delta", "1e-2"), "--out", "r.html", "<!doctype html>"),
    (("report", "counts.csv", "--delta", "1e-2"), "-o", "r.md", "# How private"),
    (("measure", "losses.npz", "--target-fpr", "0.2"), "-o", "c.csv", "false_positives,negatives"),
    (("measure", "losses.npz", "--target-fpr", "0.2"), "-o", "c.json", "{"),
    (("measure", "losses.npz", "--target-fpr", "0.2", "--json"), "-o", "c.csv", "{"),
    ((*PLAN, "--repetitions", "2"), "--out", "results", "Plan for"),
    (
        ("propensity", "features.csv", "--member", "member", "--level", "1e-9"),
        "-o",
        "pi.csv",
        "Propensities of 200 examples",
    ),
    (("demo",), "--out", "results", "Attacks on a small network"),
    ((*ZERO_RUN, "--guesses", "40"), "--checkpoint", "kept.json", "epsilon >="),
]
NAMES = [f"{arguments[0]} {where}" for arguments, _, where, _ in WRITING]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text(COUNTS)
    losses = RNG.normal(size=(2, 2, 10))
    bdp.LossTable(losses[0], losses[1] - 1).to_npz("losses.npz")
    bdp.GuessTable(MEMBER + RNG.normal(size=200), MEMBER).to_csv("scores.csv")
    rows = [f"{x:.3f},{int(m)}" for x, m in zip(RNG.normal(size=200) + MEMBER, MEMBER, strict=True)]
    Path("features.csv").write_text("\n".join(["age,member", *rows, ""]))


@pytest.mark.parametrize(("arguments", "option", "where", "begin"), WRITING, ids=NAMES)
def test_it_is_known_before_the_work(capsys, monkeypatch, arguments, option, where, begin):
    def work(*given, **settings):
        raise AssertionError("the work has begun")

    for module, name in (
        (estimate_module, "estimate"), (comparison, "compare"), (assembled, "report"), (lira, "measure_fast"),
        (planning, "plan"), (propensity, "fit"),
    ):  # fmt: skip
        monkeypatch.setattr(module, name, work)
    Path("file").touch()
    Path("results").mkdir(exist_ok=True)
    for name in ("posterior.json", "comparison.tex", "plan.png"):
        Path("results", name).mkdir()
    folder = "." not in where
    for bad in ("results", "file/results") if folder else (f"none/{where}", f"file/{where}", f"/proc/{where}"):
        message = refused((cli.main((*arguments, option, bad)), *capsys.readouterr()))
        assert "cannot be written" in message or "cannot be made" in message
    if not folder:
        Path(where).mkdir()
        message = refused((cli.main((*arguments, option, where)), *capsys.readouterr()))
        assert message == f"{where} cannot be written: is a directory"


@pytest.mark.parametrize(("arguments", "option", "where", "begin"), WRITING, ids=NAMES)
def test_a_full_disk_loses_no_answer(capsys, monkeypatch, arguments, option, where, begin):
    def full(*paths):
        raise OSError(28, "No space left on device")

    if option != "--checkpoint":
        monkeypatch.setattr(os, "replace", full)
        code, out, err = cli.main((*arguments, option, where)), *capsys.readouterr()
        assert code == 2
        assert "cannot be written: no space left on device" in err.splitlines()[-1]
    else:
        replace, calls = os.replace, []

        def full_later(*paths):
            calls.append(paths)
            return replace(*paths) if len(calls) == 1 else full()

        monkeypatch.setattr(os, "replace", full_later)
        code, out, err = cli.main((*arguments, option, where)), *capsys.readouterr()
        assert code == 0
        assert "Warning: What is done could not be kept: kept.json cannot be written: no space left" in out
    assert out.startswith(begin)
    if begin == "{":
        json.loads(out)
    if "--fail-above" in arguments:
        assert "Check FAILED" in out
    assert not list(Path().rglob(".*.tmp"))
