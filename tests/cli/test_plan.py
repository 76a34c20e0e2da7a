"""The verb plan: its answers are those of the function, and its faults are one line."""

from __future__ import annotations

import json

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.planning import plan as search
from tests.cli.conftest import refused, running

run = running("plan")

QUESTION = ("--delta", "1e-2", "--width", "0.6", "--repetitions", "8")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Widths that cost nothing: 10/√(all challenges), and 0.3 in the limit."""

    def widths(self, sets):
        return [float(10 / np.sqrt(counts.negatives.sum() + counts.positives.sum())) for counts in sets]

    monkeypatch.setattr(search.Work, "_widths", widths)
    monkeypatch.setattr(search.Work, "_limits", lambda self, rates: [0.3 for _ in rates])


def test_from_counts(capsys, counts):
    expected = bdp.plan(bdp.ErrorCounts.from_csv(counts), 0.01, 0.6, repetitions=8)
    assert run(capsys, counts, *QUESTION) == (0, f"{expected}\n", "")
    code, out, err = run(capsys, counts, *QUESTION, "--json")
    assert (code, err) == (0, "")
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))


def test_every_option(capsys, counts):
    settings = {
        "prob": 0.8, "assurance": 0.5, "vary": "bases", "largest": 5.0, "prior_epsilon": "Gamma(2, 1)", "seed": 7,
        "strength": "0.4",
    }  # fmt: skip
    options = [text for name, value in settings.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    code, out, err = run(capsys, counts, *QUESTION, *options, "--design", "cross_fed", "--jobs", "1", "--json")
    given = bdp.ErrorCounts.from_csv(counts, design="cross_fed")
    expected = bdp.plan(given, 0.01, 0.6, repetitions=8, **settings | {"strength": 0.4})
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    assert err == f"bayes-dp: warning: {expected.warnings[0]}\n"


def test_a_free_strength_with_its_prior(capsys, counts):
    _, out, _ = run(capsys, counts, *QUESTION, "--prior-strength", "Beta(2, 2)", "--json")
    expected = bdp.plan(bdp.ErrorCounts.from_csv(counts), 0.01, 0.6, repetitions=8, prior_strength="Beta(2, 2)")
    assert json.loads(out)["provenance"] == json.loads(json.dumps(expected.provenance.to_dict()))


def test_to_refute_a_claim(capsys):
    question = "--delta", "1e-5", "--refute", "1"
    code, out, err = run(capsys, *question, "--true-epsilon", "2", "--by", "accuracy")
    assert (code, out, err) == (0, f"{bdp.plan_claim(1.0, 1e-5, 2.0, method='accuracy')}\n", "")
    _, out, _ = run(capsys, *question, "--rates", "0.05,0.3", "--by", "clopper-pearson", "--power", "0.8", "--json")
    expected = bdp.plan_claim(1.0, 1e-5, (0.05, 0.3), method="clopper_pearson", power=0.8)
    assert json.loads(out) == json.loads(json.dumps(expected.to_dict()))
    for wrong, said in (
        ((*question,), "either --true-epsilon or --rates"),
        ((*question, "--true-epsilon", "2", "--rates", "0.1,0.2"), "either --true-epsilon or --rates"),
        ((*question, "--rates", "0.1;0.2"), "--rates must be two numbers"),
        ((*question, "--rates", "0.1"), "two error rates"),
        ((*question, "--true-epsilon", "HalfNormal(1)"), "--true-epsilon must be a number"),
        ((*question, "--true-epsilon", "2", "--width", "1"), "without --width"),
        (("--delta", "1e-5"), "--width must be given"),
        (("--delta", "1e-5", "--width", "1", "--rates", "0.1,0.2"), "--rates is for --refute"),
    ):
        assert said in refused(run(capsys, *wrong))


def test_without_counts(capsys):
    size = ("--bases", "3", "--challenges", "20")
    code, out, _ = run(capsys, *size, "--true-epsilon", "1.5", "--true-strength", "Beta(2, 2)", *QUESTION)
    planned = bdp.Experiment(3, 20, 20, epsilon=1.5, strength="Beta(2, 2)")
    assert (code, out) == (0, f"{bdp.plan(planned, 0.01, 0.6, repetitions=8)}\n")


def test_files_are_written(capsys, counts, tmp_path):
    folder = tmp_path / "results"
    code, _, err = run(capsys, counts, *QUESTION, "--out", str(folder))
    assert code == 0
    assert err == f"Wrote {folder}/plan.json and {folder}/plan.png\n"
    expected = bdp.plan(bdp.ErrorCounts.from_csv(counts), 0.01, 0.6, repetitions=8)
    assert json.loads((folder / "plan.json").read_text()) == json.loads(json.dumps(expected.to_dict()))
    assert (folder / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_an_interrupt(capsys, counts, monkeypatch):
    calls = []

    def tired(self, sets):
        calls.extend(sets)
        if len(calls) > 10:
            raise KeyboardInterrupt
        return [5.0 for _ in sets]

    monkeypatch.setattr(search.Work, "_widths", tired)
    code, out, err = run(capsys, counts, *QUESTION)
    assert code == 130
    assert "interrupted" in out + err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a FILE of counts is needed, or --bases"),
        (("--bases", "3"), "a FILE of counts is needed, or --challenges"),
        (("COUNTS", "--bases", "3"), "--bases is for plans without a FILE"),
        (("COUNTS", "--true-epsilon", "3"), "--true-epsilon is for plans without a FILE"),
        (("--bases", "3", "--challenges", "9", "--design", "cross_fed"), "--design and --examples are for plans from"),
        (("--bases", "0", "--challenges", "9"), "bases must be a whole number, at least 1, not 0"),
        (("COUNTS", "--jobs", "0"), "n_jobs must be a whole number other than 0"),
        (("COUNTS", "--strength", "tight"), "a plan needs the strength 'free' or a number below 1"),
        (("COUNTS", "--width", "0"), "width must lie in (0, inf), not 0.0"),
        (("COUNTS", "--vary", "guesses"), "guesses"),
        (("nothing.csv",), "nothing.csv cannot be read"),
    ],
)
def test_bad_input(capsys, counts, arguments, message):
    code, out, err = run(capsys, *QUESTION, *(counts if text == "COUNTS" else text for text in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("bayes-dp: error: ")
    assert message in err
    assert err.count("\n") == 1
