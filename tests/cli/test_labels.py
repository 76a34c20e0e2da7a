"""`bayes-dp audit labels` and `audit attribute`: what they read, and that they say what the function says."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.cli import main

N = 400
RNG = np.random.default_rng(0)
Q = RNG.uniform(0.2, 0.8, N)
LABELS = (RNG.random(N) < Q).astype(int)
MODEL = np.clip(0.6 * Q + 0.4 * LABELS, 0.01, 0.99)
CONTROL = np.clip(Q + RNG.normal(0, 0.02, N), 0, 1)
COLUMNS = ["--proxy", "q_0,q_1", "--delta", "0"]


def two(p):
    return np.column_stack([1 - p, p])


@pytest.fixture
def table(tmp_path):
    rows = np.column_stack([two(Q), two(MODEL), two(CONTROL), two(np.full(N, LABELS.mean()))])
    lines = ["label,named,q_0,q_1,p_0,p_1,c_0,c_1,f_0,f_1"]
    lines += [
        f"{y},{['no', 'yes'][y]}," + ",".join(map(repr, row.tolist())) for y, row in zip(LABELS, rows, strict=True)
    ]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_it_says_what_the_function_says(table, capsys):
    code = main(
        ["audit", "labels", table, "--label", "label", *COLUMNS, "--model", "p_0,p_1", "--control", "c_0,c_1", "--json"]
    )
    found = bdp.audits.labels(LABELS, two(Q), two(MODEL), 0, control=two(CONTROL))
    assert code == 0
    assert json.loads(capsys.readouterr().out) == {"base": "all"} | json.loads(json.dumps(found.to_dict()))
    assert found.valid
    assert found.value > 0.3


def test_classes_with_names_and_an_attribute(table, capsys):
    options = ["--classes", "no,yes", "--likelihood", "p_0,p_1", "--control", "c_0,c_1", "--json"]
    code = main(["audit", "attribute", table, "--attribute", "named", *COLUMNS, *options])
    found = bdp.audits.labels(LABELS, two(Q), None, 0, likelihood=two(MODEL), control=two(CONTROL))
    assert code == 0
    assert json.loads(capsys.readouterr().out)["value"] == found.value


def test_names_may_have_spaces_between_them_and_must_differ(table, capsys):
    columns = ["--model", "p_0,p_1", "--control", "c_0,c_1", "--delta", "0", "--json"]
    found = []
    for classes, proxy in (("no,yes", "q_0,q_1"), ("no, yes", "q_0, q_1")):
        asked = ["--label", "named", "--classes", classes, "--proxy", proxy]
        assert main(["audit", "labels", table, *asked, *columns]) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]
    for option, names in (("--classes", "no,no"), ("--proxy", "q_0,"), ("--proxy", "q_0,q_0")):
        assert main(["audit", "labels", table, "--label", "named", "--proxy", "q_0,q_1", *columns, option, names]) == 2
        assert f"{option} must be different names separated by commas, not '{names}'" in capsys.readouterr().err


@pytest.mark.parametrize("written", ["{:.1f}", "{:.18e}", "+{}"])
def test_classes_as_other_tools_write_them(table, capsys, tmp_path, written):
    with open(table) as file:
        lines = file.read().splitlines()
    cells = [line.split(",", 1) for line in lines[1:]]
    other = tmp_path / "other.csv"
    other.write_text("\n".join([lines[0], *(f"{written.format(int(y))},{rest}" for y, rest in cells)]))
    found = []
    for path in (table, str(other)):
        assert main(["audit", "labels", path, "--label", "label", *COLUMNS, "--model", "p_0,p_1", "--json"]) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]


def test_a_check(table, capsys):
    options = ["audit", "labels", table, "--label", "label", *COLUMNS, "--model", "p_0,p_1"]
    assert main([*options, "--fail-above", "0.1"]) == 1
    assert main([*options, "--fail-above", "9"]) == 3  # no control
    assert main([*options, "--control", "f_0,f_1", "--fail-above", "9"]) == 3  # frequencies, which know nothing
    assert "NOT VALID: The control says the same of every example" in capsys.readouterr().out
    assert main([*options, "--control", "c_0,c_1", "--fail-above", "9"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"--label": "q_0"}, "line 2: q_0 must be one of 0, 1"),
        ({"--label": "none"}, "has no column 'none'"),
        ({"--proxy": "q_0"}, "two or more classes"),
        ({"--proxy": "q_0,named"}, "line 2: the column 'named' must hold a number, not '"),
        ({"--model": "q_0,q_1"}, "they must be two models"),
        ({"--model": "p_0,q_1"}, "line 2: the probabilities of --model must sum to 1, not"),
        ({"--classes": "a,b,c"}, "for each of the 3 classes, not 2"),
        ({"--control": "p_0,p_1"}, "never saw the labels"),
        ({"--choice": "fixed"}, "needs one number"),
    ],
)
def test_what_is_refused(table, capsys, change, message):
    options = {"--label": "label", "--proxy": "q_0,q_1", "--model": "p_0,p_1", "--delta": "0"} | change
    assert main(["audit", "labels", table, *(part for pair in options.items() for part in pair)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("verb", ["labels", "attribute"])
def test_a_claim_and_what_it_means(verb, table, capsys):
    chosen = {
        "labels": ["--label", "label", "--model", "p_0,p_1"],
        "attribute": ["--attribute", "label", "--likelihood", "p_0,p_1"],
    }[verb]
    options = ["audit", verb, table, *chosen, *COLUMNS, "--control", "c_0,c_1", "--meaning"]
    for claimed, code in (("0.05", 1), ("9", 0)):
        assert main([*options, "--claim-epsilon", claimed]) == code
        out = capsys.readouterr().out
        assert ("REFUTED" in out, "verifies nothing" in out) == (code == 1, code == 0)
        assert "The most that any attack can do" in out
    without = [each for each in options if each not in ("--control", "c_0,c_1")]
    assert main([*without, "--claim-epsilon", "0.05"]) == 3


def test_a_curve(table, capsys):
    options = ["audit", "labels", table, "--label", "label", *COLUMNS, "--model", "p_0,p_1", "--control", "c_0,c_1"]
    assert main([*options, "--taus", "0,0.01,0.1", "--json"]) == 0
    found = bdp.audits.sensitivity.Sensitivity.from_dict(json.loads(capsys.readouterr().out))
    made = bdp.audits.labels(LABELS, two(Q), two(MODEL), 0, control=two(CONTROL), tau=0.1)
    assert found.tau.tolist() == [0.0, 0.01, 0.1]
    assert found.bounds[2].value == made.value
    assert (np.diff(found.epsilon) <= 0).all()
    assert main([*options, "--taus", "0,0.01", "--guesses", "100"]) == 0
    assert "epsilon at delta = 0 by the error of the proxy" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--taus", "0,x"], "--taus must be numbers separated by commas, not '0,x'"),
        (["--taus", "0.1,0"], "tau must be rising numbers"),
        (["--taus", "0,2"], "tau[1] must lie in [0, 1], not 2"),
        (["--taus", "0,0.1", "--tau", "0.1"], "--taus gives a curve"),
        (["--taus", "0,0.1", "--fail-above", "1"], "--taus gives a curve"),
        (["--taus", "0,0.1", "--meaning"], "--taus gives a curve"),
        (["--taus", "0,0.1", "--claim-epsilon", "1"], "--taus gives a curve"),
    ],
)
def test_what_is_no_curve(table, capsys, more, message):
    assert main(["audit", "labels", table, "--label", "label", *COLUMNS, "--model", "p_0,p_1", *more]) == 2
    assert message in capsys.readouterr().err


class TestProxyError:
    def test_it_says_what_the_function_says(self, table, capsys):
        options = ["audit", "proxy-error", table, "--label", "label", "--proxy", "f_0,f_1"]
        assert main([*options, "--json"]) == 0
        expected = bdp.audits.proxy_error(LABELS, two(np.full(N, LABELS.mean())))
        found = json.loads(capsys.readouterr().out)
        assert found == {"tau_at_least": expected, "confidence": 0.95, "examples": N}
        assert main([*options, "--features", "q_0", "--confidence", "0.9", "--seed", "3"]) == 0
        x = two(Q)[:, :1]
        tau = bdp.audits.proxy_error(LABELS, two(np.full(N, LABELS.mean())), 0.9, features=x, seed=3)
        assert tau > 0
        assert f"tau >= {tau:.4g} with confidence 90%" in capsys.readouterr().out

    def test_in_brief(self, table, capsys):
        assert main(["audit", "proxy-error", table, "--label", "label", "--proxy", "q_0,q_1", "--brief"]) == 0
        assert len(capsys.readouterr().out.splitlines()) == 1

    def test_classes_and_categories(self, table, capsys):
        options = ["audit", "proxy-error", table, "--label", "named", "--classes", "no,yes", "--proxy", "q_0,q_1"]
        assert main([*options, "--features", "label,q_0", "--categories", "label"]) == 0
        assert float(capsys.readouterr().out.split()[2]) > 0.2  # the label itself is among the features
        assert main([*options, "--features", "q_0"]) == 0
        assert float(capsys.readouterr().out.split()[2]) < 0.05

    @pytest.mark.parametrize(
        ("more", "message"),
        [
            (["--label", "label", "--proxy", "q_0,c_1"], "line 2: the probabilities of --proxy must sum to 1"),
            (["--label", "nothing", "--proxy", "q_0,q_1"], "no column 'nothing'"),
            (["--label", "named", "--proxy", "q_0,q_1"], "named must be one of 0, 1, not"),
            (
                ["--label", "label", "--proxy", "q_0,q_1", "--categories", "named"],
                "--categories are among the --features",
            ),
            (["--label", "label", "--proxy", "q_0,q_1", "--features", "none"], "no column 'none'"),
            (["--label", "label", "--proxy", "q_0,q_1", "--confidence", "1"], "confidence must"),
        ],
    )
    def test_bad_input(self, table, capsys, more, message):
        assert main(["audit", "proxy-error", table, *more]) == 2
        assert message in capsys.readouterr().err
