"""The verb measure: its counts are those of the functions, its notes go to standard error, its faults are one line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp import cli
from bayes_dp.attacks.lira import choose_target, measure, measure_fast
from tests.cli.conftest import refusing, running

run = running("measure")
fault = refusing("measure")

NOTE = "the runs were cross-fed, which CSV does not tell: give --design cross_fed"


def losses(seed: int, runs0: int = 20, runs1: int = 16) -> bdp.LossTable:
    rng = np.random.default_rng(seed)
    return bdp.LossTable(rng.gamma(2, 1, (3, runs0)), rng.gamma(1, 0.6, (3, runs1)), base=["a", "b", "c"])


TABLE, OTHER = losses(0), losses(1)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    TABLE.to_npz("losses.npz")
    OTHER.to_npz("other.npz")
    named = {f"{name}_{end}": x for name, t in (("A1", TABLE), ("A2", OTHER)) for end, x in _pair(t)}
    np.savez("several.npz", **named, base=["a", "b", "c"])
    TABLE.to_frame().to_csv("losses.csv", index=False)
    return "losses.npz"


def _pair(table: bdp.LossTable) -> list[tuple[str, np.ndarray]]:
    return [("out", table.without), ("in", table.with_)]


@pytest.mark.parametrize("source", [("losses.npz",), ("losses.csv",), ("several.npz", "--name", "A1")])
def test_csv(capsys, file, source):
    code, out, err = run(capsys, *source, "--target-fpr", "0.1", "-o", "counts.csv")
    expected = measure_fast(TABLE, 0.1)
    assert (code, out) == (0, "")
    assert bdp.ErrorCounts.from_csv("counts.csv", design="cross_fed") == expected
    assert err.splitlines()[0] == "bayes-dp: wrote counts.csv"
    assert NOTE in err.splitlines()[1]
    code, out, err = run(capsys, *source, "--target-fpr", "0.1")
    assert (code, out) == (0, Path("counts.csv").read_text())
    assert NOTE in err


def test_json_keeps_the_design(capsys, file):
    expected = measure_fast(TABLE, 0.25)
    code, out, err = run(capsys, file, "--target-fpr", "0.25", "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == expected.to_dict()
    code, out, err = run(capsys, file, "--target-fpr", "0.25", "--out", "counts.json")
    assert (code, out, err) == (0, "", "bayes-dp: wrote counts.json\n")
    assert bdp.ErrorCounts.from_json("counts.json") == expected
    code, out, err = run(capsys, file, "--target-fpr", "0.25", "-o", "counts.csv", "--json")
    assert json.loads(out) == expected.to_dict()
    assert NOTE in err


def test_the_counts_can_be_estimated_from(capsys, file):
    run(capsys, file, "--target-fpr", "0.1", "-o", "counts.json")
    assert cli.main(("estimate", "counts.json", "--delta", "1e-3")) == 0
    assert "The runs were cross-fed" in capsys.readouterr().out


def test_held_out(capsys, file):
    options = ("--method", "held-out", "--fraction", "0.4", "--seed", "2")
    code, out, err = run(capsys, file, "--target-fpr", "0.1", *options, "--json")
    expected = choose_target(TABLE, 0.1, 0.4, 2)
    assert (code, json.loads(out)) == (0, expected.counts.to_dict())
    assert err == "bayes-dp: learned from 8 + 6 runs of each base, and counted on the other 12 + 10\n"
    code, out, _ = run(capsys, file, "--target-fpr", "0.1", "--method", "held-out", "--json")
    assert (code, json.loads(out)) == (0, choose_target(TABLE, 0.1, 0.5, 0).counts.to_dict())
    several = ("--target-fpr", "0.05", "--target-fpr", "0.2", "--target-fpr", "0.5")
    code, out, err = run(capsys, file, *several, *options, "-o", "counts.csv")
    expected = choose_target(TABLE, [0.05, 0.2, 0.5], 0.4, 2)
    assert bdp.ErrorCounts.from_csv("counts.csv") == expected.counts
    assert f"chose --target-fpr {expected.target_fpr:g} on these" in err
    assert NOTE not in err


def test_shadows(capsys, file):
    expected = measure(TABLE, 0.1, OTHER).to_dict()
    code, out, err = run(capsys, file, "--target-fpr", "0.1", "--method", "shadows", "--shadows", "other.npz", "--json")
    assert (code, json.loads(out), err) == (0, expected, "")


def test_help(capsys):
    code, out, err = run(capsys, "--help")
    assert (code, err) == (0, "")
    for word in ("without", "losses.npz", "--target-fpr", "--name", "cross_fed", "default 0.5", "default 0."):
        assert word in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("losses.npz",), "missing option '--target-fpr'"),
        (("losses.npz", "--target-fpr", "1.5"), "target_fpr must lie in (0, 1), not 1.5"),
        (("losses.npz", "--target-fpr", "x"), "'x' is not a number"),
        (("losses.npz", "--target-fpr", "0.1", "--target-fpr", "0.2"), "with --method held-out only"),
        (("losses.npz", "--target-fpr", "0.1", "-o", "counts.txt"), "--out must end in .json or .csv"),
        (("losses.npz", "--target-fpr", "0.1", "-o", "no/counts.csv"), "no/counts.csv cannot be written"),
        (("losses.npz", "--target-fpr", "0.1", "--shadows", "other.npz"), "need each other"),
        (("losses.npz", "--target-fpr", "0.1", "--method", "shadows"), "need each other"),
        (("losses.npz", "--target-fpr", "0.1", "--name", "A9"), "no losses of the name 'A9'"),
        (("several.npz", "--target-fpr", "0.1"), "give the name of one of them: A1, A2"),
        (("losses.csv", "--target-fpr", "0.1", "--name", "A1"), "only for an .npz file"),
        (("losses.npz", "--target-fpr", "0.1", "--fraction", "0.4"), "--fraction is for --method held-out"),
        (("losses.npz", "--target-fpr", "0.1", "--seed", "0"), "--seed is for --method held-out"),
        (
            ("losses.npz", "--target-fpr", "0.1", "--method", "shadows", "--shadows", "other.npz", "--seed", "1"),
            "--seed is for --method held-out",
        ),
        (("missing.npz", "--target-fpr", "0.1"), "missing.npz cannot be read: no such file or directory"),
        (("losses.pkl", "--target-fpr", "0.1"), "must end in .csv, .tsv, .txt or .json"),
        (("losses.npz", "--target-fpr", "0.1", "--method", "held-out", "--fraction", "0.1"), "at least 3 runs"),
        (("losses.npz", "--target-fpr", "0.1", "--method", "held-out", "--seed", "-1"), "seed must be"),
    ],
)
def test_bad_input(capsys, file, arguments, message):
    assert message in fault(capsys, *arguments)


def test_a_bad_loss_is_named(capsys, file):
    bad = TABLE.without.copy()
    bad[1, 7] = np.nan
    np.savez("bad.npz", **{"without": bad, "with": TABLE.with_, "base": ["a", "b", "c"]})
    message = fault(capsys, "bad.npz", "--target-fpr", "0.1")
    assert "bad.npz: without[1, 7], the loss of base 1 ('b') in run 7 without the example, must be a finite" in message


@pytest.mark.skipif("BAYES_DP_DATA" not in os.environ, reason="BAYES_DP_DATA names no folder with the published losses")
def test_published_counts(capsys):
    folder = Path(os.environ["BAYES_DP_DATA"])
    published = json.loads((folder / "mcmc_dp_est_counts.json").read_text())["algorithms"]["A4_sigma0.1"]
    code, out, _ = run(
        capsys, str(folder / "mcmc_dp_est_losses.npz"), "--name", "A4_sigma0.1", "--target-fpr", "0.1", "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert {key: found[key] for key in published} == published
