"""The command line: what it prints where, its exit codes, and one line for every kind of bad input."""

from __future__ import annotations

import inspect
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import bayes_dp as bdp
from bayes_dp.bayes import estimate as estimate_module
from bayes_dp.bayes.families.registry import FAMILIES
from bayes_dp.bayes.likelihoods.registry import LIKELIHOODS
from bayes_dp.cli import audit, labels, panoramia, registered, sequential  # noqa: F401  all verbs of audits
from bayes_dp.cli.options import Design, FamilyName, Likelihood
from bayes_dp.cli.program import app
from bayes_dp.data import counts as data
from tests.cli.conftest import refusing, running

run = running()
refused = refusing()

GOOD = "fp,n0,fn,n1\n40,1000,650,1000\n12,1000,900,1000\n"
COMMAND = [sys.executable, "-c", "import sys; from bayes_dp.cli import main; sys.exit(main())"]


@pytest.fixture
def counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text(GOOD)
    return "counts.csv"


def give(monkeypatch: pytest.MonkeyPatch, content: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))


# -- help and version --------------------------------------------------------------------------------------------------


def test_version(capsys: pytest.CaptureFixture[str]):
    assert run(capsys, "--version") == (0, f"bayes-dp {bdp.__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_top_help(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]):
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    for word in ("estimate", "demo", "--version", "bayes-dp estimate counts.csv --delta 1e-3"):
        assert word in out


def test_help_of_estimate(capsys: pytest.CaptureFixture[str]):
    code, out, err = run(capsys, "estimate", "--help")
    assert (code, err) == (0, "")
    text = " ".join(out.split())
    for option in ("delta", "prob", "strength", "method", "prior-epsilon", "prior-strength", "design", "examples"):
        assert f"--{option}" in text
    for word in ("--seed", "--json", "--out", "--fail-above", "upper end of the", "Exit codes", "Examples"):
        assert word in text
    for heading in ("base,fp,n0,fn,n1", "tp,fp,tn,fn", "false_positives,negatives,false_negatives,positives"):
        assert heading in text
    assert "(ε, δ)-differential privacy" in text


def verbs(command, name=()):
    """The names of all verbs, those of audit too."""
    inner = getattr(command, "commands", None)
    return [name] if inner is None else [verb for part in inner for verb in verbs(inner[part], (*name, part))]


@pytest.mark.parametrize("verb", verbs(typer.main.get_command(app)), ids=" ".join)
def test_no_help_shows_types_of_python_for_an_option(capsys: pytest.CaptureFixture[str], verb: tuple[str, ...]):
    code, out, _ = run(capsys, *verb, "--help")
    assert code == 0
    options = [line.split("  ")[1].strip() for line in out.splitlines() if line.startswith("  -")]
    assert options
    for option in options:
        assert not set("<{") & set(option), option


def test_the_table_in_the_help_is_one_that_is_read(counts: str, capsys: pytest.CaptureFixture[str]):
    lines = [line.strip() for line in run(capsys, "estimate", "--help")[1].splitlines()]
    start = lines.index("base,fp,n0,fn,n1")
    Path(counts).write_text("\n".join(lines[start : start + 3]))
    assert len(bdp.ErrorCounts.read(counts)) == 2


def test_the_likelihoods_are_those_of_the_estimate():
    assert [one.value for one in Likelihood] == list(LIKELIHOODS)


def test_the_families_are_those_of_the_estimate(counts: str):
    assert [one.value for one in FamilyName] == ["approx", *FAMILIES, "average"]


def test_a_family_reaches_the_estimate(counts: str, capsys: pytest.CaptureFixture[str]):
    read = bdp.ErrorCounts.read(counts)
    for given, options in (
        (("--delta", "1e-3", "--family", "gaussian"), {"delta": 1e-3, "family": "gaussian"}),
        (("--family", "laplace", "--prior", "HalfNormal(1)"), {"family": "laplace", "prior": "HalfNormal(1)"}),
        (("--delta", "1e-3", "--family", "average"), {"delta": 1e-3, "family": "average"}),
    ):
        assert run(capsys, "estimate", counts, *given) == (0, bdp.estimate(read, **options).summary() + "\n", "")


@pytest.mark.parametrize("given", [("--family", "pure"), ("--family", "average", "--delta", "1e-3")])
def test_a_figure_of_a_family(tmp_path: Path, counts: str, capsys: pytest.CaptureFixture[str], given: tuple[str, ...]):
    assert run(capsys, "estimate", counts, *given, "--out", str(tmp_path / "out"))[0] == 0
    assert (tmp_path / "out" / "posterior.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--family", "average"), "missing option '--delta', without which"),
        (("--family", "gaussian", "--check"), "--check is for the posterior of (ε, δ), and not for --family gaussian"),
        (("--family", "gaussian", "--fail-above", "3"), "--fail-above is for the posterior of (ε, δ), and not for"),
        (("--family", "gaussian", "--delta", "0"), "--delta must be above 0 for the gaussian family"),
        (("--family", "gaussian", "--method", "nuts"), "is computed by method='exact'"),
        (("--family", "normal"), "'normal' is not one of"),
        (("--prior", "HalfNormal(1)", "--delta", "1e-3"), "--prior is for --family gaussian, laplace or pure"),
    ],
)
def test_what_a_family_refuses(counts: str, capsys: pytest.CaptureFixture[str], given: tuple[str, ...], message: str):
    assert message in refused(capsys, "estimate", counts, *given)


def test_the_designs_are_those_of_the_counts():
    assert tuple(Design) == data.DESIGNS


# -- answers -----------------------------------------------------------------------------------------------------------


def test_the_answer_is_the_summary(counts: str, capsys: pytest.CaptureFixture[str]):
    post = bdp.estimate(bdp.ErrorCounts.read(counts), delta=1e-3)
    assert run(capsys, "estimate", counts, "--delta", "1e-3") == (0, post.summary() + "\n", "")
    code, out, _ = run(capsys, "estimate", counts, "--delta", "1e-3", "--prob", "0.5")
    assert (code, out) == (0, post.summary(0.5) + "\n")
    assert "Assumptions:" in out


def test_json_is_the_result_of_the_library(counts: str, capsys: pytest.CaptureFixture[str]):
    code, out, err = run(capsys, "estimate", counts, "--delta", "1e-3", "--prob", "0.8", "--json")
    assert (code, err) == (0, "")
    post = bdp.estimate(bdp.ErrorCounts.read(counts), delta=1e-3)
    assert json.loads(out) == post.to_dict(0.8)


def test_options_reach_the_library(counts: str, capsys: pytest.CaptureFixture[str]):
    priors = {"prior_epsilon": "Gamma(2, 1)", "prior_strength": "Beta(2, 2)"}
    options = [part for name, prior in priors.items() for part in (f"--{name.replace('_', '-')}", prior)]
    _, out, _ = run(capsys, "estimate", counts, "--delta", "1e-5", "--design", "cross_fed", "--json", *options)
    expected = bdp.estimate(bdp.ErrorCounts.read(counts, design="cross_fed"), delta=1e-5, **priors)
    assert json.loads(out) == expected.to_dict()
    _, out, _ = run(capsys, "estimate", counts, "--delta", "0", "--strength", "0.7", "--json")
    assert json.loads(out)["provenance"]["settings"]["strength"] == 0.7
    _, out, _ = run(capsys, "estimate", counts, "--delta", "0", "--strength", "tight", "--json")
    assert json.loads(out)["provenance"]["settings"]["strength"] == "tight"
    _, out, _ = run(capsys, "estimate", counts, "--delta", "0", "--design", "one_run", "--examples", "5000", "--json")
    assert "one model" in " ".join(json.loads(out)["assumptions"])


def test_mhaar_agrees_and_repeats(counts: str, capsys: pytest.CaptureFixture[str]):
    command = ("estimate", counts, "--delta", "1e-3", "--method", "mhaar", "--json", "--seed")
    code, out, _ = run(capsys, *command, "3")
    assert code == 0
    found = json.loads(out)
    assert found["provenance"]["settings"]["seed"] == 3
    exact = bdp.estimate(bdp.ErrorCounts.read(counts), delta=1e-3)
    assert found["estimates"]["epsilon"]["median"] == pytest.approx(exact.median, rel=0.15)
    assert run(capsys, *command, "3")[1] == out
    assert run(capsys, *command, "4")[1] != out


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        "\ufeff" + GOOD,
        GOOD.replace("\n", "\r\n"),
        GOOD.replace(",", ";"),
        GOOD.replace(",", " , "),
        "# a comment\n\n" + GOOD,
        '{"fp": [40, 12], "n0": 1000, "fn": [650, 900], "n1": 1000}',
        ' [{"fp": 40, "n0": 1000, "fn": 650, "n1": 1000}, {"fp": 12, "n0": 1000, "fn": 900, "n1": 1000}]',
        "tp,fp,tn,fn\n350,40,960,650\n100,12,988,900\n",
    ],
)
def test_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, text: str):
    give(monkeypatch, text)
    code, out, err = run(capsys, "estimate", "-", "--delta", "1e-3", "--strength", "0", "--json")
    assert (code, err) == (0, "")
    same = bdp.ErrorCounts([40, 12], 1000, [650, 900], 1000)
    assert json.loads(out)["provenance"]["digest"] == same.digest()


def test_a_json_file_states_its_design(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "counts.json"
    bdp.datasets.mnist_a4().to_json(path)
    _, out, _ = run(capsys, "estimate", str(path), "--delta", "1e-3", "--strength", "0")
    assert "cross-fed" in out
    assert "design" in refused(capsys, "estimate", str(path), "--delta", "1e-3", "--design", "repeated")


def test_a_terminal_gets_a_table(counts: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    code, out, _ = run(capsys, "estimate", counts, "--delta", "1e-3")
    assert code == 0
    post = bdp.estimate(bdp.ErrorCounts.read(counts), delta=1e-3)
    for value in post.table()[0].values():
        assert (value if isinstance(value, str) else f"{value:.4g}") in out
    assert "90% interval" in out
    words = " ".join(out.split())
    for sentence in post.assumptions:
        assert sentence in words


def test_warnings_go_to_standard_error(
    counts: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    post = bdp.estimate(bdp.ErrorCounts.read(counts), delta=1e-3)
    post.warnings = ("Mind the gap.",)
    monkeypatch.setattr(estimate_module, "estimate", lambda *_, **__: post)
    code, out, err = run(capsys, "estimate", counts, "--delta", "1e-3", "--json")
    assert (code, err) == (0, "bayes-dp: warning: Mind the gap.\n")
    assert json.loads(out)["warnings"] == ["Mind the gap."]
    code, out, err = run(capsys, "estimate", counts, "--delta", "1e-3")
    assert (code, err) == (0, "")
    assert "Warning: Mind the gap." in out


# -- the gate ----------------------------------------------------------------------------------------------------------


def test_fail_above(counts: str, capsys: pytest.CaptureFixture[str]):
    post = bdp.estimate(bdp.ErrorCounts.read(counts), delta=1e-3)
    upper = post.interval(0.9)[1]
    command = ("estimate", counts, "--delta", "1e-3", "--fail-above")
    code, out, err = run(capsys, *command, repr(upper + 1e-3))
    assert (code, err) == (3, "")  # Gaussian noise would mean more
    words = r"^Check INCONCLUSIVE: the 90% interval of ε ends at .*, not above .*; P\(ε > .*\) = 0\.05$"
    assert re.search(words, out, re.MULTILINE)
    code, out, err = run(capsys, *command, repr(upper - 1e-3))
    assert (code, err) == (1, "")
    assert re.search(r"^Check FAILED: the 90% interval of ε ends at .*, above .*; P\(ε > .*\) = 0\.05", out, re.M)
    assert run(capsys, *command, repr(upper - 1e-3), "--prob", "0.5")[0] == 3
    code, out, err = run(capsys, *command, repr(post.gaussian(0.9)[1] + 1e-3))
    assert (code, err) == (0, "")
    assert re.search(r"^Check passed: ", out, re.MULTILINE)


def test_fail_above_in_json(counts: str, capsys: pytest.CaptureFixture[str]):
    code, out, err = run(capsys, "estimate", counts, "--delta", "1e-3", "--fail-above", "0.5", "--json")
    assert code == 1
    assert err.startswith("Check FAILED: ")
    content = json.loads(out)
    verdict = content["fail_above"]
    assert verdict == bdp.gate(bdp.ErrorCounts.read(counts), 1e-3, 0.5).to_dict()
    assert (verdict["passed"], verdict["verdict"]) == (False, "failed")
    assert (content["verdict"], content["reason"]) == ("failed", verdict["reason"])


USELESS = "fp,n0,fn,n1\n0,100,100,100\n0,100,100,100\n"


def test_a_useless_attack_is_inconclusive(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "never.csv"
    path.write_text(USELESS)
    code, out, err = run(capsys, "estimate", str(path), "--delta", "1e-5", "--fail-above", "8", "--json")
    assert code == 3
    content = json.loads(out)
    assert content["verdict"] == "inconclusive"
    assert "guessing" in {reason["code"] for reason in content["fail_above"]["reasons"]}
    assert err.startswith("Check INCONCLUSIVE: ")
    assert content["reason"].split(". ")[0] in err


def test_control(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    coins, leaks, nothing = (tmp_path / name for name in ("coins.csv", "leaks.csv", "nothing.json"))
    coins.write_text("fp,n0,fn,n1\n50,100,53,100\n48,100,50,100\n43,100,52,100\n53,100,42,100\n53,100,53,100\n")
    leaks.write_text("fp,n0,fn,n1\n0,5000,3,5000\n")
    bdp.ErrorCounts([2400], 5000, [2400], 5000).to_json(nothing)
    command = ("estimate", str(coins), "--delta", "1e-5", "--fail-above", "5")
    for options, code, words in (
        ((), 3, "A positive control"),
        (("--control", str(leaks)), 0, "this attack sees a leak that exceeds the limit"),
        (("--control", str(nothing)), 3, "The control's lower bound"),
        (("--no-control",), 0, "passes in the same way"),
    ):
        found, out, err = run(capsys, *command, *options)
        assert (found, err) == (code, ""), options
        assert words in out
    both = refused(capsys, *command, "--control", str(leaks), "--no-control")
    assert both == "--control and --no-control exclude each other"
    assert "the control has the very counts" in refused(capsys, *command, "--control", str(coins))
    assert "missing.csv" in refused(capsys, *command, "--control", "missing.csv")
    for verb in ("estimate", "compare", "report"):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(coins.read_bytes())))
        twice = refused(capsys, verb, "-", "--delta", "1e-5", "--fail-above", "5", "--control", "-")
        assert twice == "the counts and --control cannot both come from standard input"
    for option in (("--control", str(leaks)), ("--no-control",)):
        assert f"{option[0]} is for a gate" in refused(capsys, "estimate", str(coins), "--delta", "1e-5", *option)


def test_the_verdict_of_a_comparison_in_json(counts: str, capsys: pytest.CaptureFixture[str]):
    code, out, err = run(capsys, "compare", counts, "--delta", "1e-3", "--fail-above", "5", "--json")
    assert code == 1
    gate = json.loads(out)["gate"]
    assert (gate["verdict"], gate["epsilon"], gate["passed"]) == ("failed", 5.0, False)
    assert err.startswith("Check FAILED: ")


# -- files -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("strength", "verdict"), [("free", 3), ("0.5", 0)])
def test_out(counts: str, capsys: pytest.CaptureFixture[str], strength: str, verdict: int):
    command = ("estimate", counts, "--delta", "1e-3", "--strength", strength, "--fail-above", "9", "--json")
    code, out, err = run(capsys, *command, "--out", "a/b")
    assert code == verdict
    assert "a/b/posterior.json" in err
    assert "a/b/posterior.png" in err
    assert sorted(os.listdir("a/b")) == ["posterior.json", "posterior.png"]
    assert Path("a/b/posterior.json").read_text() == out
    image = Path("a/b/posterior.png").read_bytes()
    assert image.startswith(b"\x89PNG\r\n\x1a\n")
    run(capsys, *command, "--out", "a/b")
    assert Path("a/b/posterior.png").read_bytes() == image


def test_out_that_cannot_be_made(counts: str, capsys: pytest.CaptureFixture[str]):
    message = refused(capsys, "estimate", counts, "--delta", "1e-3", "--out", counts)
    assert message == "the folder 'counts.csv' cannot be made: File exists"


def test_demo(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(capsys, "demo")
    assert (code, err) == (0, "")
    assert sorted(os.listdir("bayes-dp-demo")) == ["counts.csv", "posterior.json", "posterior.png"]
    post = bdp.estimate(bdp.datasets.mnist_a4(), delta=1e-3)
    assert post.summary() in out
    assert json.loads(Path("bayes-dp-demo/posterior.json").read_text()) == post.to_dict()
    for name in os.listdir("bayes-dp-demo"):
        assert f"bayes-dp-demo/{name}" in out
    again = re.search(r" (estimate bayes-dp-demo/counts\.csv .*)", out)
    assert again
    before = Path("bayes-dp-demo/posterior.json").read_bytes()
    code, out, _ = run(capsys, *again[1].split())
    assert (code, out) == (0, post.summary() + "\n")
    assert Path("bayes-dp-demo/posterior.json").read_bytes() == before
    assert run(capsys, "demo", "--out", "elsewhere")[0] == 0
    assert len(os.listdir("elsewhere")) == 3


# -- bad input ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("empty", "fp,n0,fn,n1")),
        (b"\n\n", ("empty",)),
        (b"fp,n0,fn,n1\n", ("no rows",)),
        (b"1,2,3,4\n", ("line 1", "headings are needed")),
        (b"fp,n0,fn\n1,2,3\n", ("no column for n1", "accepted headings", "positives")),
        (b"fp,n0,nf,n1\n1,2,3,4\n", ("no column for fn", "'nf'")),
        (b"fp,fp,n0,fn,n1\n1,1,2,3,4\n", ("same column",)),
        (b"fp,n0,fn,n1\n1,10,x,10\n", ("line 2", "fn", "'x'")),
        (b"fp,n0,fn,n1\n1,10,nan,10\n", ("line 2", "fn", "'nan'")),
        (b"fp,n0,fn,n1\n1,10,,10\n", ("line 2", "fn", "''")),
        (b"fp,n0,fn,n1\n-1,10,1,10\n", ("line 2", "fp", "-1")),
        (b"fp,n0,fn,n1\n1.5,10,1,10\n", ("line 2", "fp", "1.5")),
        (b"fp,n0,fn,n1\n1,10,1,10\n11,10,1,10\n", ("line 3", "fp", "n0 = 10", "11")),
        (b"fp,n0,fn,n1\n0,0,1,10\n", ("line 2", "n0", "0")),
        (b"fp,n0,fn,n1\n1,10,1\n", ("line 2", "3 fields")),
        (b"fp,n0,fn,n1\n1,10,1,1e99\n", ("line 2", "n1", "1e99")),
        (b"fp,n0,fn,n1\n1,10,\xff,10\n", ("line 2", "UTF-8")),
        (b"fp,n0,fn,n1\n1,10,\x00,10\n", ("line 2", "NUL")),
        (b'fp,n0,fn,n1\n1,10,"1,10\n', ("line 2", "not a line of CSV")),
    ],
)
def test_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, words: tuple[str, ...]):
    path = tmp_path / "Bad counts.csv"
    path.write_bytes(content)
    message = refused(capsys, "estimate", str(path), "--delta", "1e-3")
    assert message.startswith(str(path))
    for word in words:
        assert word in message


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"fp": [1], "n0": 2, "fn": "a", "n1": 2}', "[1]"])
def test_bad_json(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, content: str, tmp_path: Path):
    path = tmp_path / "bad.json"
    path.write_text(content)
    assert str(path) in refused(capsys, "estimate", str(path), "--delta", "1e-3")
    give(monkeypatch, content)
    refused(capsys, "estimate", "-", "--delta", "1e-3")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("estimate",), "missing argument 'FILE'"),
        (("estimate", "counts.csv"), "missing option '--delta'"),
        (("estimate", "counts.csv", "--delta"), "--delta"),
        (("estimate", "counts.csv", "--delta", "tiny"), "'--delta': 'tiny' is not a number"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--gamma", "1"), "no such option: --gamma"),
        (("estimate", "counts.csv", "more.csv", "--delta", "1e-3"), "more.csv"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--method", "guess"), "'guess'"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--design", "guess"), "'guess'"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--seed", "1.5"), "'1.5' is not a whole number"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--seed", "-1"), "seed must be a whole number from 0"),
        (("estimate", "counts.csv", "--delta", "1"), "delta must lie in [0, 1), not 1.0"),
        (("estimate", "counts.csv", "--delta", "nan"), "delta must lie in [0, 1), not nan"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--prob", "1"), "prob must lie in (0, 1), not 1.0"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--prob", "90%"), "'--prob': '90%' is not a number"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--strength", "1"), "strength must lie in [0, 1), not 1.0"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--strength", "weak"), "not 'weak'"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--fail-above", "-1"), "fail-above must lie in"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--fail-above", "inf"), "fail-above must lie in"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--prior-epsilon", "Normal(0, 1)"), "prior of epsilon"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--prior-epsilon", "Gama(1)"), "Gama"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--prior-strength", "exit()"), "exit"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--examples", "9"), "examples"),
        (("estimate", "counts.csv", "--delta", "1e-3", "--design", "one_run"), "examples"),
        (("estimate", "no such.csv", "--delta", "1e-3"), "no such.csv cannot be read: no such file or directory"),
        (("estimate", "counts.xlsx", "--delta", "1e-3"), "must end in .csv"),
        (("estimate", ".", "--delta", "1e-3"), "must end in .csv"),
        (("guess",), "no such command 'guess'"),
        (("--gamma",), "no such option: --gamma"),
        (("demo", "now"), "now"),
    ],
)
def test_bad_arguments(counts: str, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str):
    message = refused(capsys, *arguments)
    assert words in message


def test_usage_errors_say_where_the_help_is(capsys: pytest.CaptureFixture[str]):
    assert refused(capsys, "estimate").endswith("; see bayes-dp estimate --help")
    assert refused(capsys, "--gamma").endswith("; see bayes-dp --help")


def test_closed_standard_input(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", None)
    assert refused(capsys, "estimate", "-", "--delta", "1e-3") == "standard input is closed"


# -- what cuts it short ------------------------------------------------------------------------------------------------


def test_interrupt(counts: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(estimate_module, "estimate", interrupted)
    assert run(capsys, "estimate", counts, "--delta", "1e-3") == (130, "", "bayes-dp: interrupted\n")


def test_a_fault_of_the_program_is_not_a_failed_check(
    counts: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    def broken(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(estimate_module, "estimate", broken)
    code, out, err = run(capsys, "estimate", counts, "--delta", "1e-3")
    assert (code, out) == (70, "")
    assert "ZeroDivisionError" in err


def process(*arguments: str, **settings) -> subprocess.Popen[str]:
    return subprocess.Popen([*COMMAND, *arguments], text=True, encoding="utf-8", stderr=subprocess.PIPE, **settings)


def test_as_a_module():
    command = [sys.executable, "-m", "bayes_dp", "estimate", "nothing.csv", "--delta", "1e-3"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert (found.returncode, found.stdout) == (2, "")
    assert "nothing.csv" in found.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("estimate", "counts.csv", "--delta", "1e-3", "--strength", "0")])
def test_a_broken_pipe_is_quiet(counts: str, arguments: tuple[str, ...]):
    read_end, write_end = os.pipe()
    os.close(read_end)
    running = process(*arguments, stdout=write_end)
    os.close(write_end)
    assert running.communicate() == (None, "")
    assert running.returncode == 128 + signal.SIGPIPE


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk():
    with open("/dev/full", "w") as full:
        running = process("--help", stdout=full)
        assert running.communicate()[1] == "bayes-dp: error: the output cannot be written: No space left on device\n"
    assert running.returncode == 2


def test_an_output_that_cannot_show_greek():
    running = process("--help", stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    out, err = running.communicate()
    assert (running.returncode, err) == (0, "")
    assert "a posterior over ?" in " ".join(out.split())


def test_in_brief(capsys: pytest.CaptureFixture[str], counts: str):
    for verb, folded in (("estimate", "Assumptions: "), ("compare", "Notes: ")):
        code, whole, _ = running(verb)(capsys, counts, "--delta", "1e-3")
        code_in_brief, brief, _ = running(verb)(capsys, counts, "--delta", "1e-3", "--brief")
        assert code == code_in_brief == 0
        assert brief.splitlines()[0] == whole.splitlines()[0]
        assert len(brief.splitlines()) < len(whole.splitlines())
        (line,) = (line for line in brief.splitlines() if line.endswith(", not shown in brief"))
        assert line.startswith(folded)


def test_every_audit_prints_in_brief():
    for group in (audit.audit, panoramia.panoramia):
        assert group.registered_commands
        for command in group.registered_commands:
            assert command.callback is not None
            names = inspect.signature(command.callback).parameters
            assert ("brief" in names) == ("as_json" in names), command.name


@pytest.mark.parametrize("name", ["intervals", "combine"])
def test_audits_in_brief(capsys: pytest.CaptureFixture[str], counts: str, name: str):
    code, whole, _ = run(capsys, "audit", name, counts, "--delta", "1e-3")
    code_in_brief, brief, _ = run(capsys, "audit", name, counts, "--delta", "1e-3", "--brief")
    assert code == code_in_brief == 0
    assert brief.splitlines()[0] == whole.splitlines()[0]
    assert len(brief.splitlines()) < len(whole.splitlines())
    assert any(line.endswith(", not shown in brief") for line in brief.splitlines())
    in_json = [run(capsys, "audit", name, counts, "--delta", "1e-3", "--json", *more)[1] for more in ([], ["--brief"])]
    assert in_json[0] == in_json[1]


@pytest.mark.parametrize(
    ("words", "goes_on"),
    [
        ("bayes-dp est", {"estimate"}),
        ("bayes-dp estimate --de", {"--delta", "--design"}),
        ("bayes-dp audit one", {"one-run"}),
        ("bayes-dp audit labels --br", {"--brief"}),
    ],
)
def test_a_shell_completes_lines(words: str, goes_on: set[str]):
    program = "import sys; from bayes_dp.cli import main; sys.exit(main())"
    asked = {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1), "_BAYES_DP_COMPLETE": "complete_bash"}
    found = subprocess.run(
        [sys.executable, "-c", program], env=os.environ | asked, capture_output=True, text=True, check=True
    )
    assert set(found.stdout.split()) == goes_on
    assert found.stderr == ""


def test_the_script_of_completion(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("shellingham.detect_shell", lambda: ("bash", ""))  # whatever shell the tests are run from
    code, out, _ = running("--show-completion")(capsys)
    assert code == 0
    assert "_BAYES_DP_COMPLETE=complete_bash" in out
