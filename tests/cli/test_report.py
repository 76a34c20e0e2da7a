"""The verb report: its files are those of the function, and its faults are one line."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import pytest

import bayes_dp as bdp
from bayes_dp import cli
from bayes_dp.reporting import report as assembled
from tests.cli.conftest import running

run = running("report")
PARAMETERS = inspect.signature(bdp.report).parameters


def run_to_file(arguments: list[str], path: Path) -> str:
    """Of a whole command without its output."""
    assert cli.main([*arguments, "-o", str(path)]) == 0
    return path.read_text()


def test_each_form(capsys, counts, tmp_path, monkeypatch):
    expected = bdp.report(bdp.ErrorCounts.from_csv(counts), 1e-2, source=counts)
    path = tmp_path / "first.html"
    assert run(capsys, counts, "--delta", "1e-2", "-o", str(path)) == (0, "", f"Wrote {path}\n")
    assert path.read_text() == expected.html
    monkeypatch.setattr(assembled, "report", lambda *arguments, **options: expected)
    for name, text in (("r.html", expected.html), ("r.md", expected.markdown), ("r.json", expected.json)):
        path = tmp_path / name
        assert run(capsys, counts, "--delta", "1e-2", "-o", str(path)) == (0, "", f"Wrote {path}\n")
        assert path.read_text() == text
    assert run(capsys, counts, "--delta", "1e-2", "--format", "markdown") == (0, expected.markdown, "")
    odd = tmp_path / "report.txt"
    assert run(capsys, counts, "--delta", "1e-2", "--format", "json", "-o", str(odd))[0] == 0
    assert json.loads(odd.read_text())["source"] == counts


@pytest.fixture
def asked(monkeypatch) -> list[tuple]:
    """The calls of the function, which is not run."""
    calls = []

    def record(*arguments, **options):
        calls.append((arguments, options))
        raise bdp.InputError("enough")

    monkeypatch.setattr(assembled, "report", record)
    return calls


def test_every_option(capsys, counts, asked):
    settings = {
        "prob": 0.8, "likelihood": "kupper_haseman", "method": "mhaar", "prior_epsilon": "Gamma(2, 1)",
        "prior_strength": "Beta(2, 2)", "seed": 7, "title": "A title", "strength": "0.4",
    }  # fmt: skip
    options = [text for name, value in settings.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    code, _, err = run(capsys, counts, "--delta", "1e-2", *options, "--design", "one_run", "--examples", "200")
    assert (code, err) == (2, "bayes-dp: error: enough\n")
    [((given, delta), found)] = asked
    assert given == bdp.ErrorCounts.from_csv(counts, design="one_run", examples=200)
    assert delta == 0.01
    assert found == settings | {"strength": 0.4, "source": counts}


def test_scores_of_one_model(capsys, counts, tmp_path, asked):
    settings = (counts, "--delta", "1e-3", "--design", "one_run", "--examples", "600", "--scores")
    bdp.GuessTable([1.0, 0.0], [True, False], [0.4, 0.6]).to_csv(tmp_path / "shifted.csv")
    run(capsys, *settings, str(tmp_path / "shifted.csv"))
    assert asked[0][1]["scores"] == bdp.GuessTable([1.0, 0.0], [True, False], [0.4, 0.6])
    bdp.GuessTable([1.0, 0.0], [True, False]).to_csv(tmp_path / "plain.csv")
    code, _, err = run(capsys, *settings, str(tmp_path / "plain.csv"))
    assert code == 2
    assert "plain.csv must have a column propensity" in err


def test_the_defaults_are_those_of_the_function(capsys, counts, asked):
    run(capsys, counts, "--delta", "1e-2")
    [(_, found)] = asked
    assert found.pop("source") == counts
    assert found == {name: PARAMETERS[name].default for name in found}
    run(capsys, counts, "--delta", "1e-2", "--strength", "tight")
    assert asked[1][1]["strength"] == "tight"


def test_warnings_of_a_sampler_go_to_standard_error(capsys, counts, tmp_path, monkeypatch):
    made = bdp.report

    def short(*arguments, **options):
        return made(*arguments, **options, chains=2, draws=30, warmup=50, progress=False)

    monkeypatch.setattr(assembled, "report", short)
    path = tmp_path / "r.md"
    code, out, err = run(capsys, counts, "--delta", "1e-2", "--method", "mhaar", "-o", str(path))
    assert (code, out) == (0, "")
    assert err.startswith(f"Wrote {path}\nbayes-dp: warning: ")
    sentences = [line.removeprefix("bayes-dp: warning: ") for line in err.splitlines()[1:]]
    assert all(f"> **Warning.** {sentence}\n" in path.read_text() for sentence in sentences)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("COUNTS",), "missing option '--delta'"),
        (("COUNTS", "--delta", "2"), "delta must lie in [0, 1), not 2.0"),
        (("COUNTS", "--delta", "0.1", "-o", "report.pdf"), "the suffix of a report must be one of .html"),
        (("COUNTS", "--delta", "0.1", "--likelihood", "poisson"), "poisson"),
        (("COUNTS", "--delta", "0.1", "--method", "guess"), "'--method': 'guess' is not one of"),
        (("COUNTS", "--delta", "0.1", "--strength", "huge"), "strength must be 'free', 'tight' or a number"),
        (("COUNTS", "--delta", "0.1", "--prior-epsilon", "Normal(0, 1)"), "the prior of epsilon must live within"),
        (("COUNTS", "--delta", "0.1", "--format", "pdf"), "pdf"),
        (("COUNTS", "--delta", "0.1", "--prob", "1"), "prob must lie in (0, 1), not 1.0"),
        (("nothing.csv", "--delta", "0.1"), "nothing.csv cannot be read"),
    ],
)
def test_bad_input(capsys, counts, arguments, message):
    code, out, err = run(capsys, *(counts if text == "COUNTS" else text for text in arguments))
    assert (code, out) == (2, "")
    assert err.startswith("bayes-dp: error: ")
    assert message in err
    assert err.count("\n") == 1


def test_an_output_that_cannot_be_written(capsys, counts, tmp_path):
    code, out, err = run(capsys, counts, "--delta", "1e-2", "-o", str(tmp_path / "no" / "r.html"))
    assert (code, out) == (2, "")
    assert "cannot be written" in err


def test_a_gate(capsys, counts, asked):
    run(capsys, counts, "--delta", "1e-2", "--fail-above", "3", "--no-control")
    assert asked[0][1]["limit"] == 3.0
    assert asked[0][1]["control"] is False


def test_the_exit_code_of_a_gate(capsys, counts, tmp_path):
    out = str(tmp_path / "r.json")
    code, _, err = run(capsys, counts, "--delta", "1e-2", "--fail-above", "0.01", "-o", out)
    assert code == 1
    assert "Check FAILED" in err
    assert json.loads(Path(out).read_text())["gate"]["verdict"] == "failed"
