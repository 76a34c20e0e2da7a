"""The verb calibrate: the table of the study, its exit code, and its faults."""

import json

import pytest

from bayes_dp import calibrate, cli


def run(capsys, *arguments):
    code = cli.main(arguments)
    return (code, *capsys.readouterr())


def test_the_table_is_that_of_the_study(capsys):
    settings = ("zero-run-compositional", "--repetitions", "40", "--error", "0.1", "--seed", "3")
    expected = calibrate.study("zero-run-compositional", repetitions=40, p=0.1, seed=3)
    code, out, err = run(capsys, "calibrate", *settings)
    assert (out, err) == (f"{expected}\n", "")
    assert code == (0 if expected.passed else 1)
    _, out, _ = run(capsys, "calibrate", *settings, "--json")
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))


def test_a_study_that_fails_or_is_interrupted(capsys, monkeypatch):
    found = calibrate.study("zero-run-compositional", repetitions=20)

    class Wrong:
        passed, complete = False, True

        def __str__(self):
            return str(found)

    monkeypatch.setattr(calibrate, "study", lambda *_, **__: Wrong())
    assert run(capsys, "calibrate", "one-run")[0] == 1
    Wrong.complete = False
    code, _, err = run(capsys, "calibrate", "one-run")
    assert (code, "interrupted" in err) == (130, True)


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
