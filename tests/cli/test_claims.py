"""The claims of the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.cli import main
from bayes_dp.cli.claims import worst


@pytest.fixture
def counts(tmp_path: Path) -> str:
    path = tmp_path / "counts.csv"
    path.write_text("fp,n0,fn,n1\n10,100,20,100\n")
    return str(path)


@pytest.fixture
def scores(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    member = rng.random(200) < 0.5
    path = tmp_path / "scores.csv"
    rows = (f"{score},{int(known)}" for score, known in zip(member + rng.normal(size=200), member, strict=True))
    path.write_text("\n".join(["score,member", *rows]) + "\n")
    return str(path)


def test_estimate(counts: str, capsys: pytest.CaptureFixture[str]):
    assert main(["estimate", counts, "--delta", "1e-3", "--claim-epsilon", "1", "--json"]) == 1
    out, err = capsys.readouterr()
    content = json.loads(out)
    assert content["claim"]["outcome"] == "refuted"
    assert content["prob_claim_is_wrong"] == pytest.approx(1.0, abs=1e-3)
    assert "REFUTED" in err
    assert "is wrong with probability" in err
    assert main(["estimate", counts, "--delta", "1e-3", "--claim-epsilon", "5"]) == 0
    assert "verifies nothing" in capsys.readouterr().out


def test_compare(counts: str, capsys: pytest.CaptureFixture[str]):
    assert main(["compare", counts, "--delta", "1e-3", "--claim-epsilon", "1", "--json"]) == 1
    out, err = capsys.readouterr()
    table = bdp.Comparison.from_dict(json.loads(out))
    assert table.claim is not None
    assert table.claim.refuted
    assert table.claim.answer in err


def test_report(counts: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    page = tmp_path / "report.md"
    arguments = ["report", counts, "--delta", "1e-3", "--claim-epsilon", "1", "-o", str(page)]
    assert main(arguments) == 1
    assert "REFUTED" in capsys.readouterr().err
    text = page.read_text("utf-8")
    assert text.index("The claim ((ε, δ)-DP with ε = 1 at δ = 0.001) is REFUTED") < text.index("With 90% probability")
    assert "--claim-epsilon 1.0" in text
    assert "claim = bdp.Claim(1.0, 0.001)" in text


def test_audits(counts: str, scores: str, capsys: pytest.CaptureFixture[str]):
    noisy, loud = ["--claim-dp-sgd", "20,0.2,10"], ["--claim-dp-sgd", "0.5,1,10"]
    for verb in ("one-run", "f-dp"):
        assert main(["audit", verb, scores, "--delta", "1e-5", "--guesses", "40", *noisy]) == 1
        assert "Empirical noise multiplier" in capsys.readouterr().out
        assert main(["audit", verb, scores, "--delta", "1e-5", "--guesses", "40", *loud]) == 0
    assert main(["audit", "f-dp", scores, *loud]) == 0  # which needs no δ
    assert main(["audit", "intervals", counts, "--delta", "1e-5", "--claim-epsilon", "1"]) == 1
    cross_fed = ["audit", "intervals", counts, "--delta", "1e-5", "--design", "cross_fed", "--claim-epsilon", "1"]
    assert main(cross_fed) == 3
    assert "not tested" in capsys.readouterr().out


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    rng = np.random.default_rng(0)
    path = tmp_path / "pairs.csv"
    rows = (f"{int(x)},{int(y)}" for x, y in zip(rng.random(150) < 0.1, rng.random(150) < 0.2, strict=True))
    path.write_text("\n".join(["without,with", *rows]) + "\n")
    return str(path)


@pytest.mark.parametrize("verb", ["combine", "profile", "sequential", "zero-run", "claim", "intervals"])
def test_every_verb_tests_a_claim(verb, counts, scores, pairs, tmp_path, capsys: pytest.CaptureFixture[str]):
    known = tmp_path / "known.csv"
    first, *rest = Path(scores).read_text().splitlines()
    known.write_text("\n".join([f"{first},propensity", *(f"{row},0.5" for row in rest)]))
    file = {"profile": scores, "sequential": pairs, "zero-run": str(known)}.get(verb, counts)
    base = ["audit", verb, file, "--delta", "1e-3", *(["--guesses", "40"] if verb == "zero-run" else [])]
    for claimed, code in (("0.05", 1), ("9", 0)):
        assert main([*base, "--claim-epsilon", claimed, "--meaning"]) == code
        out = capsys.readouterr().out
        assert ("REFUTED" in out, "verifies nothing" in out) == (code == 1, code == 0)
        assert "The most that any attack can do" in out
    assert main([*base, "--claim-dp-sgd", "50,0.1,1", "--json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert "REFUTED" in err or found["outcome"] == "refuted"


def test_a_claim_at_every_delta(scores: str, capsys: pytest.CaptureFixture[str]):
    assert main(["audit", "profile", scores, "--delta", "1e-3,0.1", "--claim-dp-sgd", "50,0.1,1", "--meaning"]) == 1
    assert capsys.readouterr().out.count("The most that any attack can do") == 2
    assert main(["audit", "profile", scores, "--claim-epsilon", "1"]) == 2
    assert "--claim-epsilon is for a single --delta" in capsys.readouterr().err


def test_a_stream_stops_when_the_claim_is_refuted(pairs: str, capsys, monkeypatch: pytest.MonkeyPatch):
    for claimed, code in ((["--claim-epsilon", "0.5"], 1), (["--claim-dp-sgd", "0.05,1,1"], 0)):  # of ε above all
        with open(pairs) as stream:
            monkeypatch.setattr("sys.stdin", stream)
            assert main(["audit", "sequential", "-", "--delta", "1e-5", *claimed]) == code
        pairs_read = int(capsys.readouterr().out.split("Pairs: ")[1].split()[0])
        assert (10 < pairs_read < 150) if code else pairs_read == 150


def test_a_claim_has_to_be_given(counts: str, capsys: pytest.CaptureFixture[str]):
    assert main(["audit", "claim", counts, "--delta", "1e-5"]) == 2
    assert "a claim must be given" in capsys.readouterr().err


def test_estimates_and_what_they_mean(counts: str, capsys: pytest.CaptureFixture[str]):
    assert main(["estimate", counts, "--delta", "1e-3", "--meaning", "--json"]) == 0
    out, err = capsys.readouterr()
    json.loads(out)
    assert err.count("epsilon = ") == 3


def test_a_comparison_and_what_it_means(counts: str, capsys: pytest.CaptureFixture[str]):
    assert main(["compare", counts, "--delta", "1e-3", "--meaning", "--json"]) == 0
    out, err = capsys.readouterr()
    valid = [row for row in json.loads(out)["rows"] if row["valid"] and row["parameter"] == "epsilon"]
    bounds = [row for row in valid if row["kind"] == "lower_bound"]
    assert len(bounds) == 3
    assert err.count("epsilon at least") == len(bounds)
    assert err.count("epsilon median") == len(valid) - len(bounds)
    low = next(line for line in err.splitlines() if line.startswith("posterior-gaussian, epsilon from")).split()
    gaussian = bdp.tradeoff.Gaussian(float(bdp.tradeoff.mu_from_epsilon(float(low[3]), 1e-3)))
    assert float(low[4].rstrip("%")) == pytest.approx(100 * (1 - float(gaussian(1e-3))), rel=0.01)
    assert main(["compare", counts, "--delta", "1e-3", "--design", "cross_fed", "--meaning", "--brief"]) == 0
    assert "Nothing here is valid, so that it says nothing" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--claim-epsilon", "1", "--claim-dp-sgd", "1,0.1,10"], "exclude each other"),
        (["--claim-dp-sgd", "1,0.1"], "must be a noise multiplier, a sampling rate and a number of steps"),
        (["--claim-dp-sgd", "1,0.1,2.5"], "must be a noise multiplier"),
        (["--claim-dp-sgd", "0,0.1,2"], "noise_multiplier must lie"),
        (["--claim-dp-sgd", "1,1.5,2"], "sampling_rate must lie"),
        (["--claim-epsilon", "-1"], "epsilon must lie"),
    ],
)
def test_claims_that_are_none(given: list[str], message: str, counts: str, capsys: pytest.CaptureFixture[str]):
    for verb in ("estimate", "compare", "report"):
        assert main([verb, counts, "--delta", "1e-3", *given]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert message in err


def test_one_exit_code_of_several_checks():
    assert [worst(), worst(0, 3), worst(3, 1), worst(0, 0)] == [0, 3, 1, 0]
