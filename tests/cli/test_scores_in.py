"""Scores in the place of counts on the command line: told by their headings, they give what the functions give."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import Split
from bayes_dp.reporting import report as assembled
from tests.cli.conftest import refusing, running

RNG = np.random.default_rng(0)
MEMBER = RNG.random(300) < 0.5
TABLE = bdp.GuessTable(RNG.normal(size=300) + 1.5 * MEMBER, MEMBER)
run, refused = running(), refusing()


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    TABLE.to_csv(path)
    return str(path)


@pytest.fixture
def foreign(tmp_path):
    path = tmp_path / "attack_result_0.npz"
    np.savez(path, scores=TABLE.score, memberships=MEMBER)
    return str(path)


@pytest.mark.parametrize(
    ("options", "choice"),
    [
        ((), None),
        (("--guesses", "40"), 40),
        (("--guesses", "40,80"), Split([40, 80])),
        (("--choice", "split"), Split()),
    ],
)
def test_a_comparison_of_scores(capsys, scores, options, choice):
    code, out, _ = run(capsys, "compare", scores, "--delta", "1e-3", "--json", *options)
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(bdp.compare(TABLE, 1e-3, choice=choice).to_dict()))


def test_an_estimate_of_scores_with_a_gate_and_a_claim(capsys, scores):
    arguments = ("estimate", scores, "--delta", "1e-3", "--guesses", "60", "--json", "--claim-epsilon", "0.1")
    code, out, _ = run(capsys, *arguments, "--fail-above", "50", "--no-control")
    found = json.loads(out)
    post = bdp.estimate(TABLE, 1e-3, choice=60)
    assert found["estimates"]["epsilon"]["low"] == pytest.approx(post.interval()[0])
    assert found["claim"]["outcome"] == "refuted"
    assert found["verdict"] in ("passed", "inconclusive")
    assert code == 1  # the claim is refuted


def test_a_report_of_scores(capsys, scores, tmp_path, monkeypatch):
    calls = []

    def record(*arguments, **options):
        calls.append((arguments, options))
        raise bdp.InputError("enough")

    monkeypatch.setattr(assembled, "report", record)
    assert refused(capsys, "report", scores, "--delta", "1e-3", "--guesses", "30,60", "--seed", "4") == "enough"
    (given, delta), options = calls[0]
    assert (given, delta, options["choice"], options["source"]) == (TABLE, 1e-3, Split([30, 60], seed=4), scores)


def test_files_of_other_tools(capsys, scores, foreign, tmp_path):
    for verb in (
        ("compare",),
        ("estimate",),
        ("report",),
        ("audit", "one-run"),
        ("audit", "f-dp"),
        ("audit", "panoramia"),
    ):
        said = refused(capsys, *verb, foreign, "--delta", "1e-3")
        assert said.startswith(f"{foreign} is of ml_privacy_meter, which does not say how members were chosen.")
        assert "audit zero-run --features" in said
    coins = ("--delta", "1e-3", "--members", "coins")
    for verb in (("audit", "one-run"), ("audit", "f-dp")):
        ours = run(capsys, *verb, scores, "--delta", "1e-3")
        assert run(capsys, *verb, foreign, *coins) == ours
    assert refused(capsys, "audit", "zero-run", foreign).startswith(f"{foreign} must have a column propensity")
    features = tmp_path / "features.npy"
    np.save(features, RNG.normal(size=(300, 2)))
    arguments = ("--features", str(features), "--bootstrap", "0")
    code, out, _ = run(capsys, "audit", "zero-run", foreign, *arguments)
    assert code == 0
    assert "NOT VALID" in out
    assert "are those of" in out


def test_panoramia_takes_a_claim(capsys, scores):
    arguments = ("audit", "panoramia", scores, "--threshold", "1.5", "--delta", "1e-3")
    assert run(capsys, *arguments, "--claim-epsilon", "0.01")[0] == 1
    code, out, _ = run(capsys, *arguments, "--claim-epsilon", "9")
    assert code == 0
    assert "is not refuted" in out
    said = refused(capsys, *arguments, "--claim-epsilon", "9", "--baseline", scores)
    assert said == "a claim is tested by bounds, and with --baseline the result is an estimate"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--design", "one_run", "--examples", "300"), "--design, --examples and --groups are for error counts"),
        (("--design", "cross_fed"), "--design, --examples and --groups are for error counts"),
        (("--choice", "bonferroni"), "--choice must be Fixed, Split or a whole number"),
        (("--guesses", "x"), "--guesses must be whole numbers separated by commas, not 'x'"),
        (("--guesses", "301"), "n must be at most the 300 examples, not 301"),
        (("--which", "instance_0"), "which is for a report of SACRO-ML"),
    ],
)
def test_what_does_not_go_with_scores(capsys, scores, options, message):
    assert message in refused(capsys, "compare", scores, "--delta", "1e-3", *options)


def test_what_does_not_go_with_counts(capsys, counts):
    for options in (("--guesses", "10"), ("--choice", "split"), ("--members", "coins"), ("--which", "a")):
        assert "for scores, which" in refused(capsys, "compare", counts, "--delta", "1e-3", *options)


def test_several_bases_are_several_models(capsys, tmp_path):
    path = tmp_path / "scores.csv"
    bdp.GuessTable(TABLE.score, MEMBER, base=np.where(np.arange(300) < 150, "a", "b")).to_csv(path)
    said = refused(capsys, "compare", str(path), "--delta", "1e-3")
    assert said == f"{path} holds 2 bases, each an audit of its own model: keep one of them"


def test_scores_with_propensities(capsys, tmp_path):
    propensity = RNG.uniform(0.3, 0.7, 300)
    table = bdp.GuessTable(TABLE.score, MEMBER, propensity)
    path = tmp_path / "scores.csv"
    table.to_csv(path)
    code, out, _ = run(capsys, "estimate", str(path), "--delta", "1e-3", "--guesses", "60", "--claim-epsilon", "0.01")
    assert "Bayes factor of no leak" in out
    assert "zero-run" in out
    assert code in (0, 1)


@pytest.mark.parametrize("verb", ["gate", "compare", "estimate"])
def test_a_control_of_scores(capsys, scores, tmp_path, verb):
    rng = np.random.default_rng(9)
    loud = tmp_path / "loud.csv"
    member = rng.random(400) < 0.5
    rows = (f"{score},{int(known)}" for score, known in zip(9 * member + rng.normal(size=400), member, strict=True))
    loud.write_text("\n".join(["score,member", *rows]) + "\n")
    limit = ("--epsilon", "3") if verb == "gate" else ("--fail-above", "3")
    given = (verb, scores, "--delta", "1e-3", "--guesses", "60", *limit)
    code, out, err = run(capsys, *given, "--control", str(loud))
    said = out + err
    assert ("The positive control has the lower bound" in said) or code == 1
    assert "control's lower bound" not in said
    counts = tmp_path / "counts.csv"
    counts.write_text("fp,n0,fn,n1\n10,100,20,100\n")
    code, _, err = run(capsys, verb, str(counts), "--delta", "1e-3", *limit, "--control", str(loud))
    assert (code, "a control is made as the counts are" in err) == (2, True)
