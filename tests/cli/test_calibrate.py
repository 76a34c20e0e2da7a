"""The verb calibrate: the table of the study, its exit code, and its faults."""

import json
from dataclasses import replace

import pytest

from bayes_dp import calibrate
from tests.cli.conftest import running

run = running()


@pytest.fixture(scope="module")
def found():
    return calibrate.study("wrong-pairs", repetitions=40, p=0.1, seed=3)


def test_the_table_is_that_of_the_study(capsys, monkeypatch, found):
    asked = []
    monkeypatch.setattr(calibrate, "study", lambda *audit, **settings: asked.append((audit, settings)) or found)
    settings = ("wrong-pairs", "--repetitions", "40", "--error", "0.1", "--seed", "3")
    code, out, err = run(capsys, "calibrate", *settings)
    assert (out, err) == (f"{found}\n", "")
    assert code == (0 if found.passed else 1)
    _, out, _ = run(capsys, "calibrate", *settings, "--json")
    assert json.loads(out) == json.loads(json.dumps(found.to_dict()))
    assert asked == 2 * [(("wrong-pairs",), {"repetitions": 40, "p": 0.1, "seed": 3})]


def test_a_study_that_fails_or_is_interrupted(capsys, monkeypatch, found):
    for change, expected in (
        ({"complete": False}, 130),
        ({"rows": (replace(found.rows[0], passed=False, valid_claim=True),)}, 1),
    ):
        changed = replace(found, **change)
        monkeypatch.setattr(calibrate, "study", lambda *_, changed=changed, **__: changed)
        code, out, err = run(capsys, "calibrate", "one-run")
        assert (code, out) == (expected, f"{changed}\n")
        assert ("interrupted" in err) == (expected == 130)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("magic",), "one-run"),
        (("one-run", "--repetitions", "0"), "repetitions must be"),
        (("one-run", "--error", "1"), "p must lie"),
        (("one-run", "--seed", "-1"), "seed must be"),
    ],
)
def test_bad_input(capsys, arguments, message):
    code, out, err = run(capsys, "calibrate", *arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
