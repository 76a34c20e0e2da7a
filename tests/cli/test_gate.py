"""The verb gate."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bayes_dp.cli import main


@pytest.fixture
def counts(tmp_path: Path) -> str:
    path = tmp_path / "counts.csv"
    path.write_text("fp,n0,fn,n1\n10,100,20,100\n")
    return str(path)


@pytest.fixture
def guessing(tmp_path: Path) -> str:
    path = tmp_path / "guessing.csv"
    path.write_text("fp,n0,fn,n1\n50,100,50,100\n")
    return str(path)


def test_exit_codes(counts: str, guessing: str, capsys: pytest.CaptureFixture[str]):
    assert main(["gate", counts, "--delta", "1e-3", "--epsilon", "1"]) == 1
    assert capsys.readouterr().out.startswith("Check FAILED")
    assert main(["gate", guessing, "--delta", "1e-3", "--epsilon", "20", "--brief"]) == 3
    out = capsys.readouterr().out
    assert len(out.splitlines()) == 1
    assert "guessing" in out


def test_forms(counts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    common = ["gate", counts, "--delta", "1e-3", "--epsilon", "1"]
    assert main([*common, "--format", "sarif"]) == 1
    assert json.loads(capsys.readouterr().out)["runs"][0]["results"][0]["ruleId"] == "interval"
    out = tmp_path / "privacy.xml"
    assert main([*common, "--format", "junit", "-o", str(out)]) == 1
    assert ElementTree.parse(out).getroot().get("failures") == "1"
    assert main([*common, "--format", "github"]) == 1
    assert capsys.readouterr().out.startswith("::error file=")


def test_a_claim(counts: str, capsys: pytest.CaptureFixture[str]):
    arguments = ["gate", counts, "--delta", "1e-3", "--epsilon", "1000", "--no-control", "--claim-epsilon"]
    assert main([*arguments, "1"]) == 1
    assert "REFUTED" in capsys.readouterr().err


def test_what_is_refused(counts: str, capsys: pytest.CaptureFixture[str]):
    common = ["gate", counts, "--delta", "1e-3", "--epsilon"]
    assert main([*common, "1", "--brief", "--format", "junit"]) == 2
    assert "--brief and --format exclude each other" in capsys.readouterr().err
    assert main([*common, "-1"]) == 2
    assert main([*common, "1", "--control", counts]) == 2
    assert "very counts" in capsys.readouterr().err
