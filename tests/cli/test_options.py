"""How options are declared and shown: the common ones first, each in the documentation, and named where refused."""

from __future__ import annotations

import functools
import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
import typer

from bayes_dp import checks
from bayes_dp.bayes import estimate as estimates
from bayes_dp.cli import program
from bayes_dp.cli.command import WIDTH, Verb
from bayes_dp.cli.options import EXPERT, GATE, SCORES, argument, flag, number, number_or_text, one_of, text, whole
from bayes_dp.cli.program import app
from tests.cli.conftest import refusing, running

ROOT = Path(__file__).parents[2]
OPTION = re.compile(r"--[a-z][a-z-]*")
COUNTS = "base,z,fp,n0,fn,n1\na,one,12,100,55,100\nb,one,15,100,49,100\nc,two,40,100,22,100\n"

run, refused = running(), refusing()


def verbs(command, name=()):
    """All verbs by their names, those of audit too."""
    inner = getattr(command, "commands", None)
    if inner is None:
        return {" ".join(name): command}
    return {verb: found for part in inner for verb, found in verbs(inner[part], (*name, part)).items()}


VERBS = verbs(typer.main.get_command(app))


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return str(path)


def sections(shown: str) -> dict[str, list[str]]:
    """The lines under each heading of a help."""
    found: dict[str, list[str]] = {"": []}
    for line in shown.splitlines():
        if re.fullmatch(r"[A-Z].*:", line):
            found[line[:-1]] = []
        else:
            found[list(found)[-1]].append(line)
    return found


def options(lines: list[str]) -> list[str]:
    return [match[1] for line in lines if (match := re.match(r"  (?:-\w, )?(--[\w-]+)", line))]


# -- help --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_the_usage_is_plain(capsys: pytest.CaptureFixture[str], verb: str):
    shown = run(capsys, *verb.split(), "--help")[1]
    what = {"demo": "", "calibrate": " AUDIT", "plan": " [FILE]", "panoramia run": ""}.get(verb, " FILE")
    assert shown.splitlines()[0] == f"Usage: bayes-dp {verb} [OPTIONS]{what}"
    found = sections(shown)
    names = [line.split("  ")[1] for line in found.get("Arguments", ()) if re.match(r"  \S", line)]
    assert names == ([what.strip(" []")] if what else [])
    headings = [heading for heading in found if options(found[heading])]
    assert headings[0] == "Options"
    assert headings[1:] == [*(each for each in headings[1:] if each != EXPERT), *[EXPERT] * (EXPERT in headings)]
    assert "--help" in options(found["Options"])
    assert max(map(len, found["Options"])) <= WIDTH


def test_the_common_options_come_first(capsys: pytest.CaptureFixture[str]):
    shown = run(capsys, "estimate", "--help")[1]
    found = sections(shown)
    assert options(found["Options"]) == [
        "--delta", "--prob", "--design", "--examples", "--check", "--json", "--out", "--help"
    ]  # fmt: skip
    assert options(found[GATE]) == ["--fail-above", "--control", "--no-control", "--claim-epsilon", "--claim-dp-sgd"]
    assert options(found[SCORES]) == ["--guesses", "--choice", "--members", "--non-members", "--which"]
    assert options(found[EXPERT]) == [
        "--family", "--prior", "--strength", "--prior-epsilon", "--prior-strength", "--likelihood", "--groups",
        "--group-form", "--spread", "--method", "--chains", "--draws", "--warmup", "--seed", "--brief", "--meaning",
    ]  # fmt: skip
    assert shown.index("\nA gate") <= shown.index("\nExpert options:")


@pytest.mark.parametrize("verb", ["estimate", "compare"])
def test_the_common_part_fits_a_screen(capsys: pytest.CaptureFixture[str], verb: str):
    shown = run(capsys, verb, "--help")[1]
    assert shown[: shown.index(f"\n{GATE}:")].count("\n") <= 32


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_has_a_name_twice(verb: str):
    names = [name for each in VERBS[verb].params for name in (*each.opts, *each.secondary_opts)]
    assert len(names) == len(set(names))
    assert isinstance(VERBS[verb], Verb)


# -- the documentation -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_the_guide_lists_every_verb(verb: str):
    page = (ROOT / "docs" / "guide" / "cli.md").read_text(encoding="utf-8")
    assert re.search(rf"^\| [^|]*`{verb}`[^|]* \|", page, re.MULTILINE)


# -- settings of a sampler ---------------------------------------------------------------------------------------------

SETTINGS = ("--chains", "2", "--draws", "30", "--warmup", "50")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict]:
    """What the posteriors are asked for; the exact one stands for them all."""
    calls, exact = [], estimates.estimate

    @functools.wraps(exact)
    def record(counts, delta, **options):
        calls.append(options)
        return exact(counts, delta)

    monkeypatch.setattr(estimates, "estimate", record)
    return calls


def settings_of(options: dict) -> dict:
    return {name: options[name] for name in ("chains", "draws", "warmup", "spread") if options.get(name) is not None}


@pytest.mark.parametrize(
    ("given", "more"),
    [
        (("--method", "mhaar"), {}),
        (("--method", "nuts"), {}),
        (("--likelihood", "beta_binomial"), {}),
        (("--groups", "z"), {}),
        (("--groups", "z", "--group-form", "aggregate", "--spread", "0.05"), {"spread": 0.05}),
        (("--groups", "z", "--spread", "HalfNormal(0.2)"), {"spread": "HalfNormal(0.2)"}),
    ],
)
def test_settings_reach_the_estimate(capsys, file, asked, given, more):
    assert run(capsys, "estimate", file, "--delta", "1e-3", *given, *SETTINGS)[0] == 0
    assert settings_of(asked[0]) == {"chains": 2, "draws": 30, "warmup": 50, **more}
    assert run(capsys, "estimate", file, "--delta", "1e-3", *given)[0] == 0
    assert settings_of(asked[1]) == more


def test_settings_reach_the_sampled_rows_of_a_comparison(capsys, file, asked):
    likelihoods = ("--likelihood", "beta_binomial", "--likelihood", "binomial")
    assert run(capsys, "compare", file, "--delta", "1e-3", *likelihoods, *SETTINGS)[0] == 0
    found = {options["likelihood"]: settings_of(options) for options in asked if "likelihood" in options}
    assert found == {"beta_binomial": {"chains": 2, "draws": 30, "warmup": 50}, "binomial": {}}


NOTHING = "is for a posterior that is sampled, and here none is"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("estimate", "--draws", "9"), f"--draws {NOTHING}"),
        (("estimate", "--method", "exact", "--chains", "2"), f"--chains {NOTHING}"),
        (("report", "--warmup", "9"), f"--warmup {NOTHING}"),
        (("compare", "--chains", "2"), f"--chains {NOTHING}"),
        (("compare", "--likelihood", "binomial", "--draws", "9"), f"--draws {NOTHING}"),
        (("estimate", "--spread", "0.1"), "--spread needs --groups COLUMN"),
        (("estimate", "--spread", "0.1", "--method", "nuts"), "--spread needs --groups COLUMN"),
        (("estimate", "--method", "mhaar", "--draws", "0"), "--draws must be a whole number, at least 1, not 0"),
        (("estimate", "--method", "nuts", "--chains", "-1"), "--chains must be a whole number, at least 1, not -1"),
        (("report", "--method", "mhaar", "--warmup", "-1"), "--warmup must be a whole number"),
        (("compare", "--likelihood", "beta_binomial", "--draws", "0"), "--draws must be a whole number"),
        (("estimate", "--groups", "z", "--spread", "2"), "--spread must lie in (0, 1], not 2.0"),
        (("estimate", "--method", "mhaar", "--draws", "few"), "'--draws': 'few' is not a whole number"),
        (("estimate", "--groups", "z", "--spread", "wide"), "wide"),
        (("estimate", "--prob", "2"), "--prob must lie in (0, 1), not 2.0"),
        (("estimate", "--fail-above", "-2"), "--fail-above must lie in [0, inf), not -2.0"),
    ],
)
def test_what_is_refused_bears_the_name_of_the_option(capsys, file, arguments, message):
    verb, *given = arguments
    assert message in refused(capsys, verb, file, "--delta", "1e-3", *given)


def test_a_refused_setting_is_refused_before_the_file_is_read(capsys, tmp_path):
    assert NOTHING in refused(capsys, "estimate", str(tmp_path / "none.csv"), "--delta", "1e-3", "--draws", "9")


# -- a verb of its own -------------------------------------------------------------------------------------------------


class Colour(StrEnum):
    red = "red"
    green = "green"


Share = Annotated[float, number("P", "Which share.")]
Hue = Annotated[Colour, one_of(Colour, "Which colour.", panel=EXPERT)]
Times = Annotated[int | None, whole("N", "How often.", "--times", "-t", panel="Rare ones")]
Value = Annotated[object, number_or_text("V", "Which value.", panel=EXPERT)]
Note = Annotated[str | None, text("TEXT", "A note.")]
Loud = Annotated[bool, flag("--loud", "Say more.")]


@pytest.fixture
def paint(monkeypatch: pytest.MonkeyPatch) -> list:
    """A verb `paint` beside the others, and what it is called with."""
    toy = typer.Typer(add_completion=False, rich_markup_mode=None)
    calls = []

    @toy.callback()
    def _top() -> None:
        """A program."""

    @toy.command(cls=Verb)
    def paint(
        wall: Annotated[str, argument("What to paint.", "WALL")],
        share: Share,
        colour: Hue = Colour.red,
        times: Times = None,
        value: Value = None,
        note: Note = None,
        loud: Loud = False,
    ) -> int:
        """Paint a wall."""
        checks.one_number("share", share, 0.0, 1.0)
        calls.append((wall, share, colour, times, value, note, loud))
        return 0

    monkeypatch.setattr(program, "app", toy)
    return calls


def test_a_verb_of_such_options(capsys, paint):
    found = sections(run(capsys, "paint", "--help")[1])
    assert found[""][0] == "Usage: bayes-dp paint [OPTIONS] WALL"
    assert found["Arguments"][0] == "  WALL  What to paint.  [required]"
    assert options(found["Options"]) == ["--share", "--note", "--loud", "--help"]
    assert options(found[EXPERT]) == ["--colour", "--value"]
    assert found["Rare ones"][0].split() == ["-t,", "--times", "N", "How", "often."]
    assert (
        run(capsys, "paint", "north", "--share", "0.5", "--colour", "green", "-t", "2", "--value", "x", "--loud")[0]
        == 0
    )
    assert run(capsys, "paint", "north", "--share", "1", "--value", "3", "--note", "n") == (0, "", "")
    assert paint == [("north", 0.5, "green", 2, "x", None, True), ("north", 1.0, "red", None, 3.0, "n", False)]
    assert refused(capsys, "paint", "north", "--share", "2") == "--share must lie in [0, 1], not 2.0"
    assert "'x' is not a number" in refused(capsys, "paint", "north", "--share", "x")
    assert "missing argument 'WALL'" in refused(capsys, "paint", "--share", "1")


def test_what_a_verb_does_wrong_is_no_bad_input(capsys, paint, monkeypatch):
    def broken(*_, **__):
        raise ValueError("share must be something else")

    monkeypatch.setattr(checks, "one_number", broken)
    code, out, err = run(capsys, "paint", "north", "--share", "1")
    assert (code, out) == (70, "")
    assert "ValueError: share must be something else" in err


@pytest.mark.parametrize(
    "asked",
    [
        ["plan", "--delta", "1e-5", "--refute", "1", "--true-epsilon", "2"],
        [
            "plan",
            "--delta",
            "1e-3",
            "--width",
            "3",
            "--bases",
            "2",
            "--challenges",
            "20",
            "--repetitions",
            "10",
            "--largest",
            "2",
        ],
        ["propensity", "{file}", "--member", "member"],
        ["leakage", "{file}"],
    ],
    ids=" ".join,
)
def test_brief_counts_what_others_list(asked: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 2))
    rows = [f"{a:.3f},{b:.3f},{int(m)}" for (a, b), m in zip(x, rng.random(80) < 0.5, strict=True)]
    (tmp_path / "x.csv").write_text("\n".join(["a,b,member", *rows]))
    asked = [word.format(file=tmp_path / "x.csv") for word in asked]
    code, whole, _ = run(capsys, *asked)
    code_in_brief, brief, _ = run(capsys, *asked, "--brief")
    assert code == code_in_brief
    assert "not shown in brief" in brief
    assert len(brief) < len(whole)
    assert brief.splitlines()[0] == whole.splitlines()[0]
