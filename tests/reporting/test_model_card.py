"""The section for a model card, the questions of a supervisory authority, and what the page does with numbers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import bayes_dp as bdp
from bayes_dp.reporting.document import ReportTable
from bayes_dp.reporting.html import style
from tests.cli.conftest import running

run = running("report")


def table(report: bdp.Report, name: str) -> ReportTable:
    pieces = (piece for section in report.document.sections for piece in section.pieces)
    return next(piece for piece in pieces if isinstance(piece, ReportTable) and piece.name == name)


def test_the_card_says_what_the_report_says(hostile: bdp.Report):
    card = hostile.model_card
    assert card.startswith("## Privacy of the training data\n")
    assert len(re.findall("^#", card, re.MULTILINE)) == 1
    low, high = hostile.findings.interval
    assert f"{low:.3g} to {high:.3g}" in card
    bound = hostile.findings.quoted
    assert ("none is valid" in card) == (bound is None)
    assert "<script" not in card
    for sentence in hostile.posterior.assumptions[:2]:
        assert sentence.split("=")[0].strip() in card


def test_a_claim_and_a_limit_are_on_the_card(counts: bdp.ErrorCounts):
    report = bdp.report(counts, 1e-3, strength=0.5, limit=30.0, claim=bdp.Claim(0.01, 1e-3))
    card = report.model_card
    assert "| claim |" in card
    assert f"| limit 30 | {report.findings.verdict.verdict}" in card


def test_every_section_that_answers_a_regulator_is_there(hostile: bdp.Report):
    headings = {section.heading for section in hostile.document.sections}
    rows = table(hostile, "regulator").rows
    assert {name for row in rows for name in row[2].split("; ")} <= headings
    meaning = {row[0]: row for row in table(hostile, "meaning").rows}
    ends = [next(row for what, row in meaning.items() if what.startswith(end)) for end in ("lower end", "upper end")]
    for end in ends:  # the numbers are those of the table of meanings: 1% accused, and reconstruction
        assert end[2] in rows[0][1]
        assert end[-1] in rows[1][1]


def test_numbers_and_intervals_stay_on_one_line(hostile: bdp.Report):
    cells = re.findall(r"<td( class=\"number\")?>([^<]*)</td>", hostile.html)
    kept = {text for held, text in cells if held}
    low, high = hostile.findings.interval
    assert f"{low:.3g} to {high:.3g}" in kept
    assert any(text.startswith("at least ") for text in kept)
    assert not any(re.search("[a-z]{4}", text.removeprefix("at least ").removeprefix("about ")) for text in kept)
    assert ".number { white-space: nowrap; }" in style()


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path, card = tmp_path / "counts.csv", tmp_path / "card.md"
    path.write_text("fp,n0,fn,n1\n4,50,20,50\n")
    arguments = str(path), "--delta", "1e-3", "--strength", "0.5", "--model-card"
    assert run(capsys, *arguments, "-o", str(card))[0] == 0
    assert card.read_text().startswith("## Privacy of the training data\n")
    for more in (("--format", "html"), ("-o", str(tmp_path / "card.html"))):
        code, _, told = run(capsys, *arguments, *more)
        assert code == 2
        assert "--model-card is Markdown" in told
