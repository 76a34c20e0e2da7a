"""audit zero-run with features: propensities are learned and bootstrapped as by the functions, and warned of."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import bayes_dp as bdp
from bayes_dp import cli
from bayes_dp.attacks.scores import Fixed
from bayes_dp.propensity import bootstrap, fit
from tests.cli.conftest import refusing, running
from tests.cli.test_propensity import AGE, FRAME, MEMBER, PATIENT, SITE, N
from tests.propensity.test_bootstrapping import stop_after

run = running("audit", "zero-run", "scores.csv")
fault = refusing("audit", "zero-run", "scores.csv")

SCORE = MEMBER + np.random.default_rng(1).normal(size=N)
SMALL = ("--features", "features.csv", "--group", "patient", "--guesses", "80")
PLAIN = ("--bootstrap", "0")
PI = fit(FRAME, MEMBER, groups=PATIENT, seed=2)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bdp.GuessTable(SCORE, MEMBER).to_csv("scores.csv")
    FRAME.assign(member=MEMBER, patient=PATIENT).to_csv("features.csv", index=False)


def test_features_without_a_bootstrap(capsys):
    code, out, _ = run(capsys, *SMALL, *PLAIN, "--seed", "2", "--json")
    found = json.loads(out)
    expected = bdp.audits.zero_run(PI.table(SCORE), choice=Fixed(80), seed=2)
    assert (code, found["value"], found["details"]) == (0, expected.value, expected.to_dict()["details"])
    same = "The examples of features.csv are those of scores.csv in the same order."
    assert set(found["assumptions"]) == {
        *expected.assumptions, same, "Columns of features.csv that were not taken for features: 'member'."
    }  # fmt: skip
    assert found["warnings"] == list(expected.warnings)
    assert (found["valid"], found["invalid"]) == (False, expected.invalid)
    assert found["invalid"].startswith("The propensities were learned, and whoever guesses where they err")
    assert any(text.startswith("Propensities were learned by logistic") for text in found["assumptions"])


def test_bootstrap(capsys):
    code, out, _ = run(capsys, *SMALL, "--seed", "2", "--bootstrap", "39", "--json")
    expected = bootstrap(PI, SCORE, choice=Fixed(80), replicates=39, seed=2)
    found = json.loads(out)
    assert (code, found["value"]) == (0, expected.value)
    assert found["details"]["bootstrap_ratios"] == expected.details["bootstrap_ratios"]
    code, out, _ = run(
        capsys, *SMALL, "--seed", "2", "--bootstrap", "39", "--jobs", "2", "--family", "gaussian", "--delta", "1e-3"
    )
    again = bootstrap(PI, SCORE, 1e-3, family="gaussian", choice=Fixed(80), replicates=39, seed=2)
    assert out.startswith(again.statement())


def test_a_check(capsys):
    code, out, _ = run(capsys, *SMALL, "--bootstrap", "39", "--fail-above", "-1")
    assert (code, "Check FAILED" in out) == (1, True)


def test_an_interruption_says_how_to_go_on(capsys, monkeypatch):
    whole = run(capsys, *SMALL, "--bootstrap", "39")
    with monkeypatch.context() as patch:
        stop_after(patch, 4)
        code, out, err = run(capsys, *SMALL, "--bootstrap", "39", "--checkpoint", "kept.json")
    assert (code, out) == (130, "")
    assert err == "bayes-dp: kept.json keeps what is done; the same command goes on\nbayes-dp: interrupted\n"
    assert 0 < len(json.loads(Path("kept.json").read_text())["bounds"]) < 39
    assert run(capsys, *SMALL, "--bootstrap", "39", "--checkpoint", "kept.json") == whole


def test_rejected_propensities_make_the_bound_invalid(capsys):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 2))
    member = rng.random(2000) < 1 / (1 + np.exp(-2 * x[:, 0] * x[:, 1]))
    bdp.GuessTable(rng.normal(size=2000), member).to_csv("scores.csv")
    np.save("bent.npy", x)
    code, out, err = run(capsys, "--features", "bent.npy", *PLAIN)
    assert code == 1
    assert "NOT VALID: The propensities are REJECTED (p = " in out
    assert err == "bayes-dp: the memberships contradict the propensities, so the bound is not valid\n"
    code, out, _ = run(capsys, "--features", "bent.npy", "--bootstrap", "39", "--guesses", "100", "--json")
    found = json.loads(out)
    assert (code, found["valid"], found["details"]["propensities"]["source"]) == (1, False, "rejected")
    np.save("member.npy", member)
    assert cli.main(("propensity", "bent.npy", "--member", "member.npy", "-o", "pi.csv")) == 1
    capsys.readouterr()
    table = pd.read_csv("scores.csv").assign(**pd.read_csv("pi.csv")[["propensity", "propensity_source"]])
    table.to_csv("scores.csv", index=False)
    code, out, _ = run(capsys)
    assert code == 1
    assert "NOT VALID: The table says that its propensities were REJECTED" in out


def test_the_error_of_propensities_is_in_the_bound_by_default(capsys):
    code, out, _ = run(capsys, *SMALL, "--seed", "2", "--json")
    found = json.loads(out)
    assert (code, found["valid"]) == (0, True)
    assert found["value"] == bootstrap(PI, SCORE, choice=Fixed(80), seed=2).value


def test_faults(capsys):
    assert "--bootstrap is for audits with --features" in fault(capsys, "--bootstrap", "39")
    assert "--group is for audits with --features" in fault(capsys, "--group", "patient")
    for option in (("--jobs", "2"), ("--checkpoint", "c.json")):
        assert f"{option[0]} is for audits with --features and a bootstrap" in fault(capsys, *SMALL, *PLAIN, *option)
        assert f"{option[0]} is for audits with --features and a bootstrap" in fault(capsys, *option)
    assert "must have a column propensity" in fault(capsys)
    for option in ("--derandomised", "--form compositional", "--overlap 0.3", "--shift-delta 0.1"):
        assert "--features is for the untampered form" in fault(capsys, *SMALL, *option.split())
    assert "at least 39 for p' = 0.025, not 5" in fault(capsys, *SMALL, "--bootstrap", "5")
    assert "features.csv has no column 'doctor'" in fault(capsys, "--features", "features.csv", "--group", "doctor")


def assumed(capsys, *arguments):
    code, out, _ = run(capsys, *arguments, *PLAIN, "--guesses", "80", "--json")
    assert code == 0
    return json.loads(out)["value"]


def test_columns_of_scores_are_no_features(capsys):
    """The file of scores may be that of features: its own columns would tell all."""
    value = bdp.audits.zero_run(fit(FRAME, MEMBER).table(SCORE), choice=Fixed(80)).value
    left = "Columns of all.csv that were not taken for features:"
    everything = FRAME.assign(score=SCORE, member=MEMBER.astype(int), Propensity=0.5, id=np.arange(N))
    losses = everything.assign(score=-SCORE).rename(columns={"score": "loss"})
    for table, names, options in (
        (losses, "'loss', 'member', 'Propensity', 'id'", ()),
        (everything, "'score', 'member', 'Propensity', 'id'", ()),
        (everything, "'score', 'member', 'Propensity', 'id'", ("--feature-columns", "age, site")),
    ):
        table.to_csv("all.csv", index=False)
        code = cli.main(
            ("audit", "zero-run", "all.csv", "--features", "all.csv", *options, *PLAIN, "--guesses", "80", "--json")
        )
        out, err = capsys.readouterr()
        found = json.loads(out)
        assert (code, found["value"]) == (0, value)
        assert f"{left} {names}." in found["assumptions"]
        assert err == ""
    age = bdp.audits.zero_run(fit(FRAME[["age"]], MEMBER).table(SCORE), choice=Fixed(80)).value
    assert assumed(capsys, "--features", "all.csv", "--feature-columns", "age") == age != value
    assert "all.csv has no column 'weight'" in fault(capsys, "--features", "all.csv", "--feature-columns", "weight")
    assert "--feature-columns must be different names" in fault(
        capsys, "--features", "all.csv", "--feature-columns", "age,,site"
    )
    assert "--feature-columns is for audits with --features" in fault(capsys, "--feature-columns", "age")
    np.save("age.npy", AGE[:, None])
    assert "an .npy file has no column names" in fault(capsys, "--features", "age.npy", "--feature-columns", "age")
    FRAME[[]].assign(score=SCORE).to_csv("none.csv", index=False)
    assert "none.csv has no column that is a feature" in fault(capsys, "--features", "none.csv")


def test_a_label_is_a_feature_unless_it_is_the_membership(capsys):
    FRAME.assign(label=AGE > 40).to_csv("labelled.csv", index=False)
    value = assumed(capsys, "--features", "labelled.csv")
    assert value == bdp.audits.zero_run(fit(FRAME.assign(label=AGE > 40), MEMBER).table(SCORE), choice=Fixed(80)).value
    pd.DataFrame({"score": SCORE, "label": MEMBER}).to_csv("scores.csv", index=False)
    assert "labelled.csv, line" in fault(capsys, "--features", "labelled.csv")


@pytest.mark.parametrize("kind", ["csv", "json", "parquet"])
def test_rows_are_joined_by_id(capsys, kind):
    order = np.random.default_rng(0).permutation(N)
    ids = np.array([f"{i:04}" for i in range(N)])
    scores = pd.DataFrame({"id": ids, "score": SCORE, "member": MEMBER.astype(int)})
    scores.to_csv("scores.csv", index=False)
    scores.to_json("scores.json", orient="records")
    spare = pd.DataFrame({"age": [1.0], "site": ["north"], "ID": ["9999"]})
    more = pd.concat([FRAME.assign(ID=ids).iloc[order], spare])
    more.to_csv("features.csv", index=False)
    more.to_parquet("features.parquet")
    names = {"csv": ("scores.csv", "features.csv"), "json": ("scores.json", "features.csv")}
    first, second = names.get(kind, ("scores.csv", "features.parquet"))
    code = cli.main(("audit", "zero-run", first, "--features", second, *PLAIN, "--guesses", "80", "--json"))
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (code, found["value"]) == (0, bdp.audits.zero_run(fit(FRAME, MEMBER).table(SCORE), choice=Fixed(80)).value)
    joined = f"Examples of {first} and of {second} were joined by the column id; 1 of {second} have no score"
    assert f"{joined} and were left out." in found["assumptions"]
    assert err == ""


def test_ids_that_do_not_match(capsys):
    scores = pd.DataFrame({"id": np.arange(N), "score": SCORE, "member": MEMBER.astype(int)})
    scores.to_csv("scores.csv", index=False)
    for change, words in (
        (lambda ids: ids + 1, "features.csv has no row with the id '0' of scores.csv"),
        (lambda ids: ids // 2, "features.csv, line 3: the id '0' is that of features.csv, line 2 too"),
        (
            lambda ids: np.where(ids == 7, "", ids.astype(str)),
            "features.csv, line 9: id must be a text or a whole number",
        ),
    ):
        FRAME.assign(id=change(np.arange(N))).to_csv("features.csv", index=False)
        assert words in fault(capsys, "--features", "features.csv")
    FRAME.assign(id=np.arange(N)).to_csv("features.csv", index=False)
    scores.assign(id=np.maximum(np.arange(N), 1)).to_csv("scores.csv", index=False)
    assert "scores.csv has two rows with the id '1'" in fault(capsys, "--features", "features.csv")
    FRAME.assign(id=np.arange(N), member=np.roll(MEMBER, 1)).to_csv("features.csv", index=False)
    scores.to_csv("scores.csv", index=False)
    assert "member must be that of scores.csv" in fault(capsys, "--features", "features.csv")


def test_categories_are_named(capsys):
    FRAME.assign(site=np.where(SITE == "north", "1,5", "2,5")).to_csv("features.csv", index=False)
    assert "features.csv, line 2: site must be a number, with a point" in fault(capsys, "--features", "features.csv")
    value = assumed(capsys, "--features", "features.csv", "--categories", "site")
    assert value == bdp.audits.zero_run(fit(FRAME, MEMBER).table(SCORE), choice=Fixed(80)).value
    assert "is named as categories, but is no feature" in fault(
        capsys, "--features", "features.csv", "--categories", "site", "--feature-columns", "age"
    )


def test_rows_that_do_not_match(capsys):
    FRAME[:-1].to_csv("short.csv", index=False)
    assert "short.csv must hold as many examples as scores.csv, 300, not 299" in fault(
        capsys, "--features", "short.csv"
    )
    pd.concat([FRAME, pd.Series(np.roll(MEMBER, 1), name="member")], axis=1).to_csv("moved.csv", index=False)
    message = fault(capsys, "--features", "moved.csv")
    i = int(np.argmax(np.roll(MEMBER, 1) != MEMBER))
    assert f"moved.csv, line {i + 2}: member must be that of scores.csv, whose rows are other examples" in message
    bdp.GuessTable(SCORE, MEMBER, base=["a", "b"] * (N // 2)).to_csv("scores.csv")
    assert "scores.csv must have one base for --features, not 2" in fault(capsys, *SMALL)
