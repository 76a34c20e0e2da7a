"""The verb leakage: it prints and writes what `leakage.scores` returns, and says in one line what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_dp import leakage
from tests.cli.conftest import refusing, running

run = running("leakage")
fault = refusing("leakage")

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"age": RNG.normal(40, 10, 60), "income": RNG.gamma(2, 1000, 60), "site": ["north", "south"] * 30})
NAMES = [f"={i}" for i in range(60)]


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    FRAME.assign(name=NAMES).to_csv("data.csv", index=False)
    return "data.csv"


def test_text_and_table(capsys, file):
    asked = ("--label", "name", "--subsample", ".1", "--noise", "0.5", "--delta", "1e-3", "-o", "out.csv")
    code, out, err = run(capsys, file, *asked)
    expected = leakage.scores(FRAME, noise=0.5, subsample=0.1, labels=NAMES)
    assert (code, out, err) == (0, f"{expected.summary()}\n", "bayes-dp: wrote out.csv\n")
    written = pd.read_csv("out.csv")
    np.testing.assert_allclose(written["score"], expected.score, rtol=1e-12)
    np.testing.assert_allclose(written["epsilon"], expected.epsilon_at(1e-3), rtol=1e-12)
    assert list(written["label"]) == NAMES
    run(capsys, file, "--label", "name", "-o", "out.csv", "--safe-cells")
    assert list(pd.read_csv("out.csv")["label"]) == [f"'{name}" for name in NAMES]


def test_json(capsys, file):
    code, out, err = run(capsys, file, "--features", "age,income", "--covariance", "diagonal", "--json")
    expected = leakage.scores(FRAME[["age", "income"]], covariance="diagonal").to_dict()
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(json.dumps(expected))


def test_a_warning_goes_to_standard_error_beside_json(capsys, file):
    FRAME.assign(alone=np.arange(60) == 3).to_csv("data.csv", index=False)
    _, out, err = run(capsys, file, "--json")
    assert json.loads(out)["score"][3] is None
    assert err.startswith("bayes-dp: warning: 1 of 60 rows differ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("data.csv", "--label", "name", "--subsample", "0"), "--subsample must lie in (0, 1], not 0"),
        (("data.csv", "--label", "name", "--noise", "-1"), "--noise must lie in [0, inf)"),
        (("data.csv", "--label", "who"), "data.csv has no column 'who'"),
        (("data.csv", "--delta", "1e-3"), "--delta needs -o FILE"),
        (("data.csv", "--delta", "2", "-o", "out.csv"), "--delta must lie in [0, 1]"),
        (("data.csv", "--label", "name", "-o", "none/out.csv"), "cannot be written"),
        (("data.csv",), "name"),  # sixty names are no category
        (("none.csv",), "none.csv cannot be read"),
    ],
)
def test_what_is_refused(capsys, file, arguments, message):
    assert message in fault(capsys, *arguments)
    assert not Path("out.csv").exists()
