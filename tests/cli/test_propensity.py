"""The verb propensity: it prints and writes what the functions return, and says in one line what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_dp.propensity import falsify, fit
from tests.cli.conftest import refusing, running

run = running("propensity")
fault = refusing("propensity")

RNG = np.random.default_rng(0)
N = 300
AGE, SITE = RNG.normal(40, 10, N), RNG.choice(["north", "south"], N)
MEMBER = RNG.random(N) < 1 / (1 + np.exp(-(AGE - 40) / 10 - (SITE == "south")))
PATIENT = np.arange(N) // 2
FRAME = pd.DataFrame({"age": AGE, "site": SITE})


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    FRAME.assign(member=MEMBER, patient=PATIENT).to_csv("features.csv", index=False)
    np.save("age.npy", AGE[:, None])
    np.save("member.npy", MEMBER)
    return "features.csv"


def test_text_and_file(capsys, file):
    code, out, err = run(capsys, file, "--member", "member", "--group", "patient", "--seed", "3", "-o", "pi.csv")
    expected = fit(FRAME, MEMBER, groups=PATIENT, seed=3)
    tested = falsify(expected, seed=3)
    assert code == int(tested.rejected)
    assert out == f"{expected.summary()}\n\n{tested.summary()}\n"
    assert err == "bayes-dp: wrote pi.csv\n"
    written = pd.read_csv("pi.csv")
    np.testing.assert_allclose(written["propensity"], expected.values, rtol=1e-14)
    np.testing.assert_array_equal(written["member"], MEMBER)


def test_json(capsys, file):
    code, out, err = run(capsys, file, "--member", "member", "--group", "patient", "--calibration", "none", "--json")
    expected = fit(FRAME, MEMBER, groups=PATIENT, calibration="none")
    content = json.loads(out)
    assert content["propensity"] == json.loads(json.dumps(expected.to_dict()))
    assert content["falsification"]["p_value"] == falsify(expected).p_value
    assert (code, err) == (0, "")


def test_training_data_and_folds(capsys, file):
    FRAME.assign(member=MEMBER, patient=PATIENT + N)[: N // 2].to_csv("other.csv", index=False)
    _, out, _ = run(capsys, file, "--member", "member", "--training", "other.csv", "--group", "patient")
    assert "fitted on 150 other examples" in out
    _, out, _ = run(capsys, file, "--member", "member", "--folds", "5")
    assert "fitted on the other 4 of 5 parts" in out


def test_npy(capsys, file):
    _, out, _ = run(capsys, "age.npy", "--member", "member.npy")
    assert fit(AGE[:, None], MEMBER).summary() in out


def test_columns_and_categories(capsys, file):
    FRAME.assign(member=MEMBER, score=MEMBER + 0.1 * AGE, site=1 + (SITE == "south")).to_csv("all.csv", index=False)
    code, out, err = run(capsys, "all.csv", "--member", "member", "--categories", "site", "--json")
    assert (code, err) == (0, "")
    expected = fit(FRAME.assign(site=1 + (SITE == "south")), MEMBER, categories=["site"])
    content = json.loads(out)["propensity"]
    assert content["assumptions"].pop() == "Columns of all.csv that were not taken for features: 'score'."
    assert content == json.loads(json.dumps(expected.to_dict()))
    _, out, _ = run(capsys, "all.csv", "--member", "member", "--feature-columns", "age")
    assert fit(FRAME[["age"]], MEMBER).summary() in out.replace(
        "  - Columns of all.csv that were not taken for features: 'site', 'score'.\n", ""
    )
    FRAME.assign(member=MEMBER, site=np.where(np.arange(N) == 5, "1o", "10")).to_csv("typo.csv", index=False)
    assert "typo.csv, line 7: site must be a number, with a point" in fault(capsys, "typo.csv", "--member", "member")


def test_a_contradiction_is_exit_code_1(capsys, file):
    x = RNG.normal(size=(2000, 2))
    member = RNG.random(2000) < 1 / (1 + np.exp(-2 * x[:, 0] * x[:, 1]))
    pd.DataFrame(x, columns=["a", "b"]).assign(member=member.astype(int)).to_csv("bent.csv", index=False)
    code, out, _ = run(capsys, "bent.csv", "--member", "member")
    assert code == 1
    assert "The propensities are REJECTED" in out


def test_faults(capsys, file):
    assert "features.csv has no column 'S'" in fault(capsys, file, "--member", "S")
    assert "features.csv, line 2: site must be true or false" in fault(capsys, file, "--member", "site")
    assert "no such file" in fault(capsys, "none.csv", "--member", "m")
    assert "--member must be an .npy file" in fault(capsys, "age.npy", "--member", "member")
    assert "has no column 'patient'" in fault(capsys, "age.npy", "--member", "member.npy", "--group", "patient")
    assert "--out must end in .csv" in fault(capsys, file, "--member", "member", "-o", "pi.json")
    assert "folds must be a whole number from 2" in fault(capsys, file, "--member", "member", "--folds", "1")
    assert "missing option '--member'" in fault(capsys, file)
    np.save("member.npy", MEMBER[:-1])
    assert "member.npy must hold one value for each of the 300" in fault(capsys, "age.npy", "--member", "member.npy")


def test_what_cannot_be_audited(capsys, file):
    FRAME.assign(member=MEMBER, year=2000 + MEMBER).to_csv("year.csv", index=False)
    message = fault(capsys, "year.csv", "--member", "member")
    assert "members and non-members do not overlap" in message
    assert "(the feature 'year' alone has an AUC of 1.000)" in message
