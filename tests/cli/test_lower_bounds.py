"""The verbs of the lower bounds: their answers are those of the functions, and their faults are one line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import Bonferroni, Fixed, MultiSplit, Split, Uncorrected, guess
from bayes_dp.audits.sequential import Sequential
from tests.cli.conftest import refused, refusing, running

run = running()
fault = refusing()

COUNTS = "base,fp,n0,fn,n1\na,10,100,20,100\nb,40,100,45,100\n"


@pytest.fixture
def counts(tmp_path: Path) -> str:
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return str(path)


@pytest.fixture
def scores(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    member = rng.random(600) < 0.5
    table = bdp.GuessTable(np.round(rng.normal(2.0 * member), 2), member)
    table.to_csv(tmp_path / "scores.csv")
    return str(tmp_path / "scores.csv")


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict:
    code, out, err = run(capsys, *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


# -- compare -----------------------------------------------------------------------------------------------------------


def test_compare(capsys, counts):
    found = answer(capsys, "compare", counts, "--delta", "1e-3", "--bases")
    expected = bdp.compare(bdp.ErrorCounts.from_csv(counts), 1e-3, per_base=True)
    assert bdp.Comparison.from_dict(found) == expected
    code, out, err = run(capsys, "compare", counts, "--delta", "1e-3", "--bases")
    assert (code, out, err) == (0, f"{expected}\n", "")
    whole = answer(capsys, "compare", counts, "--delta", "1e-3")
    assert {row["base"] for row in whole["rows"]} == {"all"}


def test_compare_one_run(capsys, counts, tmp_path):
    settings = ("--design", "one_run", "--examples", "1000", "--overlap", "0.4", "--confidence", "0.9")
    found = answer(capsys, "compare", counts, "--delta", "1e-5", *settings, "--baseline", counts)
    data = bdp.ErrorCounts.from_csv(counts, design="one_run", examples=1000)
    expected = bdp.compare(data, 1e-5, 0.9, overlap=0.4, baseline=data)
    assert bdp.Comparison.from_dict(found) == expected


def test_compare_with_scores(capsys, counts, scores, tmp_path):
    settings = ("compare", counts, "--delta", "1e-5", "--design", "one_run", "--examples", "600")
    table = bdp.GuessTable.read(scores)
    shifted = bdp.GuessTable(table.score, table.member, np.full(600, 0.4))
    shifted.to_csv(tmp_path / "shifted.csv")
    found = answer(capsys, *settings, "--scores", str(tmp_path / "shifted.csv"))
    data = bdp.ErrorCounts.from_csv(counts, design="one_run", examples=600)
    assert bdp.Comparison.from_dict(found) == bdp.compare(data, 1e-5, scores=shifted)
    assert "scores.csv must have a column propensity" in fault(capsys, *settings, "--scores", scores)


def test_compare_with_another_likelihood(capsys, counts, monkeypatch):
    prior = "HalfNormal(2)"
    settings = ("--delta", "1e-3", "--likelihood", "bivariate_normal", "--prior-epsilon", prior)
    settings += ("--prior-strength", "Beta(2, 1)")
    rows = {row["method"]: row for row in answer(capsys, "compare", counts, *settings)["rows"]}
    priors = {"prior_epsilon": prior, "prior_strength": "Beta(2, 1)"}
    data = bdp.ErrorCounts.from_csv(counts)
    expected = bdp.estimate(data, 1e-3, likelihood="bivariate_normal", progress=False, **priors)
    found = rows["posterior-bivariate-normal"]
    assert (found["lower"], found["upper"]) == pytest.approx(expected.interval(0.9), rel=1e-12)
    with monkeypatch.context() as patch:
        patch.setattr("bayes_dp.bayes.estimate.estimate", None)
        for option, value in (("--confidence", "0.3"), ("--overlap", "0.7")):
            assert f"{option[2:]} must lie in" in fault(capsys, "compare", counts, *settings, option, value)
    assert (rows["posterior"]["lower"], rows["posterior"]["upper"]) == bdp.estimate(data, 1e-3, **priors).interval(0.9)


def test_compare_writes_files(capsys, counts, tmp_path):
    folder = tmp_path / "new" / "folder"
    code, _, err = run(capsys, "compare", counts, "--delta", "0", "--out", str(folder))
    assert code == 0
    assert sorted(path.name for path in folder.iterdir()) == [f"comparison.{s}" for s in ("csv", "html", "json", "tex")]
    assert all(str(path) in err for path in folder.iterdir())
    expected = bdp.compare(bdp.ErrorCounts.from_csv(counts), 0.0)
    assert bdp.Comparison.from_json(folder / "comparison.json") == expected
    assert expected.to_html() in (folder / "comparison.html").read_text()
    assert (folder / "comparison.tex").read_text() == expected.to_latex() + "\n"
    assert (folder / "comparison.csv").read_text().count("\n") == len(expected) + 1


# -- audit -------------------------------------------------------------------------------------------------------------

CHOICES = [
    (("--guesses", "200"), Fixed(200)),
    (("--guesses", "50,200"), Bonferroni([50, 200])),
    ((), Bonferroni()),
    (("--choice", "split", "--seed", "3"), Split(seed=3)),
    (("--choice", "multisplit"), MultiSplit(seed=0)),
    (("--choice", "uncorrected", "--guesses", "50,200"), Uncorrected([50, 200])),
]


@pytest.mark.parametrize(("options", "choice"), CHOICES)
def test_one_run(capsys, scores, options, choice):
    found = answer(capsys, "audit", "one-run", scores, "--delta", "1e-5", *options)
    seed = 3 if "--seed" in options else 0
    expected = bdp.audits.one_run(guess(bdp.GuessTable.from_csv(scores), choice, seed=seed), 1e-5)
    assert found["value"] == expected.value
    assert found["valid"] == expected.valid == (not isinstance(choice, Uncorrected))
    code, out, _ = run(capsys, "audit", "one-run", scores, "--delta", "1e-5", *options)
    assert (code, out) == (0, expected.summary() + "\n")


@pytest.mark.parametrize("method", ["best", "binomial", "f_dp", "exact"])
def test_one_run_methods_and_sides(capsys, scores, method):
    options = ("--method", method, "--sides", "members", "--guesses", "100", "--confidence", "0.9")
    found = answer(capsys, "audit", "one-run", scores, "--delta", "1e-3", *options)
    made = guess(bdp.GuessTable.from_csv(scores), 100, sides="members")
    assert found["value"] == bdp.audits.one_run(made, 1e-3, confidence=0.9, method=method).value


def test_f_dp(capsys, scores):
    made = guess(bdp.GuessTable.from_csv(scores), 100)
    found = answer(capsys, "audit", "f-dp", scores, "--guesses", "100")
    assert (found["parameter"], found["value"]) == ("mu", bdp.audits.f_dp(made).value)
    found = answer(capsys, "audit", "f-dp", scores, "--guesses", "100", "--delta", "1e-5", "--tau", "1e-4")
    assert (found["parameter"], found["value"]) == ("epsilon", bdp.audits.f_dp(made, delta=1e-5, tau=1e-4).value)
    found = answer(capsys, "audit", "f-dp", scores, "--guesses", "100", "--family", "laplace")
    assert (found["parameter"], found["value"]) == ("laplace", bdp.audits.f_dp(made, family="laplace").value)


def test_bases_are_audited_each_and_hold_together(capsys, scores, tmp_path):
    table = bdp.GuessTable.from_csv(scores)
    parts = bdp.GuessTable(table.score, table.member, base=[f"m{i % 3}" for i in range(len(table))])
    parts.to_csv(tmp_path / "parts.csv")
    found = answer(capsys, "audit", "one-run", str(tmp_path / "parts.csv"), "--delta", "0", "--guesses", "50")
    assert [one["base"] for one in found] == ["m0", "m1", "m2"]
    for one, part in zip(found, parts.by_base().values(), strict=True):
        expected = bdp.audits.one_run(guess(part, 50), 0.0, confidence=1 - 0.05 / 3)
        assert one["value"] == pytest.approx(expected.value)
    _, out, _ = run(capsys, "audit", "one-run", str(tmp_path / "parts.csv"), "--delta", "0", "--guesses", "50")
    assert out.count("Base m") == 3
    assert out.endswith("All of these bounds hold together with confidence 95%.\n")


def test_panoramia_of_several_bases(capsys, scores, tmp_path):
    table = bdp.GuessTable.from_csv(scores)
    parts = bdp.GuessTable(table.score, table.member, base=[f"m{i % 2}" for i in range(len(table))])
    parts.to_csv(tmp_path / "parts.csv")
    found = answer(capsys, "audit", "panoramia", str(tmp_path / "parts.csv"), "--threshold", "1")
    for one, part in zip(found, parts.by_base().values(), strict=True):
        alone = bdp.GuessTable(part.score, part.member)
        assert one["value"] == pytest.approx(bdp.audits.panoramia(alone, thresholds=[1.0], confidence=0.975).value)
    both = ("--baseline", scores)
    assert "must have the bases" in fault(capsys, "audit", "panoramia", str(tmp_path / "parts.csv"), *both)


def test_panoramia(capsys, scores):
    table = bdp.GuessTable.from_csv(scores)
    found = answer(capsys, "audit", "panoramia", scores, "--threshold", "1", "--threshold", "2", "--delta", "1e-6")
    assert found["value"] == bdp.audits.panoramia(table, delta=1e-6, thresholds=[1.0, 2.0]).value
    assert found["kind"] == "lower_bound"
    found = answer(capsys, "audit", "panoramia", scores, "--baseline", scores, "--gamma", "1e-6")
    assert (found["kind"], found["value"]) == ("estimate", 0.0)
    _, out, _ = run(capsys, "audit", "panoramia", scores, "--baseline", scores)
    assert "not a lower bound" in out


@pytest.mark.parametrize("method", ["clopper-pearson", "jeffreys", "katz", "accuracy", "joint-beta"])
def test_intervals(capsys, counts, method):
    data = bdp.ErrorCounts.from_csv(counts)
    function = getattr(bdp.audits, method.replace("-", "_"))
    found = answer(capsys, "audit", "intervals", counts, "--delta", "1e-3", "--method", method)
    names = ["0 (a)", "1 (b)"] + (["all"] if method != "joint-beta" else [])
    assert [one["base"] for one in found] == names
    for one, part in zip(found, [data[0], data[1], data], strict=False):
        assert one["value"] == function(part, 1e-3).value
    if method in ("clopper-pearson", "jeffreys", "katz"):
        found = answer(capsys, "audit", "intervals", counts, "--delta", "0", "--method", method, "--two-sided")
        assert found[0]["upper"] == function(data[0], 0.0, two_sided=True).upper
    else:
        message = fault(capsys, "audit", "intervals", counts, "--delta", "0", "--method", method, "--two-sided")
        assert "--two-sided is not for" in message


def test_gate(capsys, scores, counts):
    bound = answer(capsys, "audit", "one-run", scores, "--delta", "0", "--guesses", "100")["value"]
    for limit, code in ((bound + 0.01, 0), (bound - 0.01, 1)):
        found, out, _ = run(
            capsys, "audit", "one-run", scores, "--delta", "0", "--guesses", "100", "--fail-above", str(limit)
        )
        assert found == code
        assert ("FAILED" in out) == bool(code)
    found = {one["base"]: one["value"] for one in answer(capsys, "audit", "intervals", counts, "--delta", "0")}
    assert found["0 (a)"] > found["all"]  # the one of all is what is corrected, and judged
    between = str((found["0 (a)"] + found["all"]) / 2)
    assert run(capsys, "audit", "intervals", counts, "--delta", "0", "--fail-above", between)[0] == 0
    assert run(capsys, "audit", "intervals", counts, "--delta", "0", "--fail-above", "0.1")[0] == 1
    crossed = ("--delta", "0", "--design", "cross_fed", "--fail-above", "9")
    code, out, _ = run(capsys, "audit", "intervals", counts, *crossed)
    assert (code, "INCONCLUSIVE" in out, "it is not valid: The runs were cross-fed" in out) == (3, True, True)
    assert run(capsys, "audit", "intervals", counts, *crossed[:-1], "0.01")[0] == 1


def test_help(capsys):
    for verb in ("one-run", "f-dp", "panoramia", "intervals"):
        code, out, _ = run(capsys, "audit", verb, "--help")
        assert code == 0
        assert "--json" in out
    code, out, err = run(capsys, "audit")
    assert (code, err) == (0, "")
    assert "one-run" in out


# -- faults ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("one-run", "SCORES", "--delta", "2"), "delta must lie in [0, 1]"),
        (("one-run", "SCORES"), "missing option '--delta'"),
        (("one-run", "SCORES", "--delta", "0", "--guesses", "a,b"), "--guesses must be whole numbers"),
        (("one-run", "SCORES", "--delta", "0", "--guesses", "100,200", "--choice", "fixed"), "needs one number"),
        (("one-run", "SCORES", "--delta", "0", "--guesses", "1000"), "1000"),
        (("one-run", "SCORES", "--delta", "0", "--confidence", "1"), "confidence must lie"),
        (("one-run", "SCORES", "--delta", "0", "--seed", "-1"), "seed must be"),
        (("f-dp", "SCORES", "--family", "approx"), "delta must be given"),
        (("f-dp", "SCORES", "--tau", "2"), "tau must lie"),
        (("panoramia", "SCORES", "--gamma", "0.1"), "gamma is for generated"),
        (("panoramia", "nothing.csv"), "cannot be read"),
        (("panoramia", "SCORES", "--baseline", "SCORES", "--fail-above", "1"), "the result is an estimate"),
        (("intervals", "COUNTS", "--delta", "0", "--method", "joint-beta", "--fail-above", "1"), "gives a posterior"),
        (("one-run", "COUNTS", "--delta", "0"), "no column for score or loss, member"),
        (("intervals", "SCORES", "--delta", "0"), "no column for fp"),
        (("intervals", "COUNTS", "--delta", "0", "--design", "one_run", "--examples", "500"), "one_run"),
        (("magic",), "magic"),
    ],
)
def test_bad_input(capsys, counts, scores, arguments, message):
    given = [{"COUNTS": counts, "SCORES": scores}.get(argument, argument) for argument in arguments]
    assert message in fault(capsys, "audit", *given)


def test_a_bad_score_is_named_with_its_line(capsys, tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("score,member\n1.5,1\nnan,0\n")
    assert f"{path}, line 3: score" in fault(capsys, "audit", "one-run", str(path), "--delta", "0")
    path.write_text("score,member\n1.5,1\n2,maybe\n")
    assert f"{path}, line 3: member" in fault(capsys, "audit", "one-run", str(path), "--delta", "0")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--delta", "1"), "delta must lie"),
        (("--delta", "0", "--confidence", "0.4"), "confidence must lie in (0.5, 1)"),
        (("--delta", "0", "--overlap", "0.9"), "overlap must lie"),
        (("--delta", "0", "--baseline", "nothing.csv"), "nothing.csv cannot be read"),
        (("--delta", "0", "--prior-epsilon", "Magic(1)"), "Magic"),
    ],
)
def test_bad_comparisons(capsys, counts, arguments, message):
    assert message in fault(capsys, "compare", counts, *arguments)


ASSUMED = {
    "one-run": "fair coins",
    "f-dp": "fair coins",
    "panoramia": "fair coins",
    "zero-run": "the propensities",
}


@pytest.mark.parametrize(
    "verb",
    [
        ("one-run", "--delta", "1e-5", "--guesses", "100", "--sides", "members"),
        ("f-dp", "--guesses", "100"),
        ("panoramia", "--threshold", "0"),
        ("zero-run",),
        ("zero-run", "--form", "compositional", "--choice", "split"),
    ],
)
def test_memberships_that_contradict_the_coins(capsys, tmp_path, verb):
    rng = np.random.default_rng(5)
    for members, file in ((200, "fair.csv"), (300, "most.csv"), (400, "all.csv")):
        member = np.arange(400) < members
        bdp.GuessTable(rng.normal(size=400), member, 0.5, ["a"] * 200 + ["b"] * 200).to_csv(tmp_path / file)
        bdp.GuessTable(rng.normal(size=400), member, 0.5).to_csv(tmp_path / f"one_{file}")
    audit = ("audit", verb[0])
    assert answer(capsys, *audit, str(tmp_path / "one_fair.csv"), *verb[1:])["valid"] is True
    code, out, err = run(capsys, *audit, str(tmp_path / "one_most.csv"), *verb[1:], "--json")
    found = json.loads(out)
    assert (code, found["valid"]) == (1, False)
    assert err == f"bayes-dp: the memberships contradict {ASSUMED[verb[0]]}, so the bound is not valid\n"
    assert found["details"]["memberships_p_value"] < 1e-20
    code, out, _ = run(capsys, *audit, str(tmp_path / "one_most.csv"), *verb[1:], "--fail-above", "9")
    assert code == 1
    assert "NOT VALID: The memberships contradict" in out
    assert "Check INCONCLUSIVE" in out
    assert "all 400 examples are members" in fault(capsys, *audit, str(tmp_path / "one_all.csv"), *verb[1:])
    assert "base 'a': all 200 examples are members" in fault(capsys, *audit, str(tmp_path / "fair.csv"), *verb[1:])


def test_combine_and_profile(tmp_path, capsys):
    counts, runs = tmp_path / "counts.csv", tmp_path / "runs.csv"
    counts.write_text("base,fp,n0,fn,n1\na,2,100,40,100\nb,9,100,55,100\n")
    combine, profile = (running("audit", verb, str(path)) for verb, path in (("combine", counts), ("profile", runs)))
    found = json.loads(combine(capsys, "--delta", "1e-3", "--json")[1])
    whole = bdp.ErrorCounts.from_csv(str(counts))
    assert found["value"] == bdp.audits.combine(whole, 1e-3).value
    code, out, _ = combine(capsys, "--delta", "1e-3", "--independent", "--rule", "fisher")
    assert (code, "independent of each other: no run serves two" in out) == (0, True)
    assert 'dependence="independent"' in refused(combine(capsys, "--delta", "1e-3", "--rule", "pooled"))
    assert combine(capsys, "--delta", "1e-3", "--fail-above", "1")[0] == 1
    rng = np.random.default_rng(0)
    score = np.concatenate([rng.normal(size=60), rng.normal(3, size=60)])
    table = bdp.GuessTable(score, np.repeat([False, True], 60))
    table.to_csv(runs)
    found = json.loads(profile(capsys, "--delta", "1e-5,0.1", "--json")[1])
    assert [each["value"] for each in found] == bdp.audits.profile(table).epsilon_at([1e-5, 0.1]).tolist()
    assert "mu at least" in profile(capsys)[1]
    assert profile(capsys, "--delta", "1e-5", "--fail-above", "0.1")[0] == 1
    assert "separated by commas" in refused(profile(capsys, "--delta", "1e-5;2"))


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    """Pairs of runs of a training with an ε of about 3."""
    rng = np.random.default_rng(0)
    rows = zip(rng.random(400) < 0.02, rng.random(400) < 0.3, strict=True)
    path = tmp_path / "pairs.csv"
    path.write_text("without,with\n" + "".join(f"{x:d},{str(y).lower()}\n" for x, y in rows))
    return path


def test_sequential(tmp_path, capsys, pairs):
    verb = running("audit", "sequential")
    code, out, err = verb(capsys, str(pairs), "--delta", "1e-5", "--json")
    rows = [line.replace("true", "1").replace("false", "0").split(",") for line in pairs.read_text().split()[1:]]
    x, y = np.array(rows, int).T
    assert json.loads(out) == {"base": "all"} | bdp.audits.sequential(1e-5).update(x, y).bound().to_dict()
    assert (code, err) == (0, "Pairs: 400 new, 400 in all\n")
    code, out, _ = verb(capsys, str(pairs), "--delta", "1e-5", "--fail-above", "0.5")
    assert (code, "Check FAILED: epsilon at most 0.5 is refuted" in out) == (1, True)
    code, out, _ = verb(capsys, str(pairs), "--delta", "1e-5", "--fail-above", "4.2")
    assert (code, "Check passed: epsilon at most 4.2 is not refuted" in out) == (0, True)


def test_sequential_goes_on(tmp_path, capsys, pairs):
    verb, state = running("audit", "sequential"), tmp_path / "state.json"
    lines = pairs.read_text().splitlines()
    for part in (lines[1:131], lines[131:]):
        (tmp_path / "part.csv").write_text("\n".join([lines[0], *part]))
        code, out, _ = verb(capsys, str(tmp_path / "part.csv"), "--delta", "1e-5", "--state", str(state), "--json")
    whole = json.loads(verb(capsys, str(pairs), "--delta", "1e-5", "--json")[1])
    assert (code, json.loads(out)["value"]) == (0, whole["value"])
    again = str(pairs), "--state", str(state)
    assert "with delta = 1e-05, not 0.0001" in refused(verb(capsys, *again, "--delta", "1e-4"))
    assert "with pairs = independent" in refused(verb(capsys, *again, "--delta", "1e-5", "--dependent"))
    before = state.read_bytes()
    pairs.write_text("without,with\n0,1\n0,1.5\n")
    assert "line 3: with must be 1 or 0" in refused(verb(capsys, *again, "--delta", "1e-5"))
    assert state.read_bytes() == before
    state.write_text(state.read_text().replace('"delta": 1e-05', '"delta": 0.0001'))
    assert "was changed after it was written" in refused(verb(capsys, *again, "--delta", "1e-4"))


class Endless(io.RawIOBase):
    """Lines of pairs without end, as a training would write them; how many were read."""

    def __init__(self) -> None:
        self.lines = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        line = b"without,with\n" if not self.lines else b"0,0\n"
        self.lines += 1
        buffer[: len(line)] = line
        return len(line)


def test_sequential_stops_a_stream(capsys, monkeypatch, tmp_path):
    stream, state = Endless(), tmp_path / "state.json"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BufferedReader(stream)))
    arguments = "audit", "sequential", "-", "--delta", "0", "--fail-above", "1", "--state", str(state)
    code, out, _ = run(capsys, *arguments)
    assert (code, "Check FAILED" in out) == (1, True)
    assert 8 < stream.lines < 100
    assert Sequential.from_json(state).runs == stream.lines - 1
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"without,with\n0,0\n0,\xff\n")))
    assert "UTF-8" in fault(capsys, *arguments[:5])
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"")))
    assert "standard input is empty" in fault(capsys, *arguments[:5])
