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
        ({"--model": "p_0,p_0"}, "line 2: the probabilities of --model must sum to 1, not"),
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
