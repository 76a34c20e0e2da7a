"""Checkpoints: what was written is read; anything else is refused in a sentence; a failure to write loses no work."""

from __future__ import annotations

import hashlib
import json
import os

import pytest

from bayes_dp.checks import InputError
from bayes_dp.propensity.checkpoint import Checkpoint

VALUES = {0: 1.25, 7: 0.0, 3: 1e-300}


def written(**changes):
    """A file for the inputs "abc" with a right sum, whatever the values."""
    content = {"schema": "bayes-dp checkpoint 1", "inputs": "abc", "bounds": {"0": 1.25, "3": 0.5}} | changes
    total = hashlib.sha256(f"{content['inputs']} {json.dumps(content['bounds'])}".encode()).hexdigest()
    return json.dumps({"sum": total} | content)


def test_what_was_saved_is_there_again(tmp_path):
    path = tmp_path / "kept.json"
    first = Checkpoint(path, "abc")
    assert first.done == {}
    assert Checkpoint(path, "abc").done == {}
    first.save(VALUES)
    assert Checkpoint(path, "abc").done == VALUES
    assert os.listdir(tmp_path) == ["kept.json"]
    path.write_text(written())
    assert Checkpoint(path, "abc").done == {0: 1.25, 3: 0.5}


def test_without_a_path_nothing_is_kept():
    nothing = Checkpoint(None, "abc")
    nothing.save(VALUES)
    assert nothing.done == {}
    assert nothing.problem == ""


@pytest.mark.parametrize(
    "text",
    [
        "", "{}", "[]", "1", "null", "[" * 100_000, "\0", '{"inputs": "abc", "bounds": {"0": 1.0}}',
        written(schema="bayes-dp checkpoint 2"), written(schema=1), written(inputs=["abc"]),
        written().replace("abc", "\\ud800"), written(sum=""),
        written(bounds=[1.0]), written(bounds={"0": -1.0}), written(bounds={"0": True}), written(bounds={"0": None}),
        written(bounds={"0": float("nan")}), written(bounds={"0": float("inf")}), written(bounds={"0": "1"}),
        written(bounds={"0": [1.0]}), written(bounds={"00": 1.0}), written(bounds={"-1": 1.0}),
        written(bounds={"1_0": 1.0}), written(bounds={"٣": 1.0}), written(bounds={"9" * 5000: 1.0}),
        written(bounds={"1000000000": 1.0}), written(bounds={"": 1.0}), written(more=1),
        written().replace('"3"', '"0"'), written().replace("1.25", "1.26"), written().replace("1.25", "1e400"),
        written().replace("1.25", "1" + "0" * 400), written().replace("1.25", "1" * 5000),
        written().replace("1.25", "NaN"), written().replace("}", ""), written() + written(),
    ],
)  # fmt: skip
def test_anything_else_is_refused_in_a_sentence_and_left_alone(tmp_path, text):
    path = tmp_path / "kept.json"
    path.write_text(text)
    with pytest.raises(InputError, match="no checkpoint of a bootstrap") as error:
        Checkpoint(path, "abc")
    assert "kept.json" in str(error.value)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 400
    assert path.read_text() == text


def test_other_inputs_are_refused(tmp_path):
    path = tmp_path / "kept.json"
    Checkpoint(path, "abc").save(VALUES)
    with pytest.raises(InputError, match="checkpoint of another bootstrap; delete it, or give the name of another"):
        Checkpoint(path, "abd")
    assert Checkpoint(path, "abc").done == VALUES


def test_a_folder_that_is_not_there_is_known_at_once(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        Checkpoint(tmp_path / "none" / "kept.json", "abc")
    for path in (3, b"kept.json", object()):
        with pytest.raises(InputError, match="checkpoint must be a path"):
            Checkpoint(path, "abc")


def test_a_disk_that_fills_up_loses_no_work(tmp_path, monkeypatch):
    kept = Checkpoint(tmp_path / "kept.json", "abc")
    with monkeypatch.context() as patch:

        def full(*arguments):
            raise OSError(28, "No space left on device")

        patch.setattr(os, "replace", full)
        kept.save(VALUES)
    assert kept.problem.startswith("What is done could not be kept:")
    assert "no space left" in kept.problem
    assert os.listdir(tmp_path) == ["kept.json"]
    assert Checkpoint(tmp_path / "kept.json", "abc").done == {}
    kept.save(VALUES | {9: float("inf"), 10: float("nan")})
    assert kept.problem == ""
    assert Checkpoint(tmp_path / "kept.json", "abc").done == VALUES
