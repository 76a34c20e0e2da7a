"""The forms of a verdict that continuous integration reads."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest

import bayes_dp as bdp
from bayes_dp.comparison.schema import CODES
from bayes_dp.comparison.verdict import Reason, Verdict
from bayes_dp.comparison.verdict_forms import _RULES, FORMS, brief

HOSTILE = 'a|b <script>, 100%\n::error::x & "y" \x07'
PASSED = Verdict("passed", 4.0, 0.9, 2.5, 0.01, (Reason("interval", "It ends at 2.5."),), ("A note.",))
FAILED = Verdict("failed", 4.0, 0.9, float("inf"), 0.9, (Reason("interval", "It ends above."),))
UNSURE = Verdict(
    "inconclusive", 4.0, 0.9, 2.5, 0.01, (Reason("guessing", HOSTILE), Reason("model", "It does not fit.")), (HOSTILE,)
)
ALL = (PASSED, FAILED, UNSURE)


def test_one_line():
    assert brief(PASSED) == str(PASSED).splitlines()[0]
    assert brief(UNSURE).endswith("[guessing, model]")
    assert all(len(brief(verdict).splitlines()) == 1 for verdict in ALL)


def test_annotations_are_one_command_each():
    for verdict, level in zip(ALL, ("notice", "error", "warning"), strict=True):
        text = FORMS["github"](verdict, "my,counts:1.csv")
        assert len(text.splitlines()) == 1
        assert text.startswith(f"::{level} file=my%2Ccounts%3A1.csv,title=bayes-dp%3A privacy {verdict.verdict}::")
    assert "100%25%0A::error" in FORMS["github"](UNSURE, "x.csv")


def test_a_summary_has_one_row_and_every_reason():
    text = FORMS["markdown"](UNSURE, HOSTILE)
    assert "<script" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert [len(re.findall(r"(?<!\\)\|", row)) for row in rows] == [6, 6]
    for reason in UNSURE.reasons:
        assert f"`{reason.code}`" in text


def test_xml_of_one_test_case():
    for verdict, inside in zip(ALL, ("system-out", "failure", "error"), strict=True):
        root = ElementTree.fromstring(FORMS["junit"](verdict, HOSTILE).encode())
        (suite,) = root
        (case,) = suite
        (told,) = case
        assert (root.tag, suite.tag, case.tag, told.tag) == ("testsuites", "testsuite", "testcase", inside)
        numbers = {key: int(suite.get(key, "")) for key in ("tests", "failures", "errors", "skipped")}
        assert numbers == {"tests": 1, "failures": inside == "failure", "errors": inside == "error", "skipped": 0}
        assert case.get("name") == "epsilon at most 4"
        assert str(verdict).splitlines()[0] in (told.text or "")
        if inside != "system-out":
            assert told.get("message") == brief(verdict)
            assert told.get("type") in CODES


def test_sarif_has_a_result_for_each_reason():
    for verdict in ALL:
        content = json.loads(FORMS["sarif"](verdict, "a folder/counts.csv"))
        assert content["version"] == "2.1.0"
        (run,) = content["runs"]
        rules = run["tool"]["driver"]["rules"]
        assert len(run["results"]) == (0 if verdict.passed else len(verdict.reasons))
        for result, reason in zip(run["results"], verdict.reasons, strict=False):
            assert result["level"] == ("error" if verdict.verdict == "failed" else "warning")
            assert result["ruleId"] == rules[result["ruleIndex"]]["id"] == reason.code
            assert result["message"]["text"] == reason.sentence
            place = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
            assert place == "a%20folder/counts.csv"
    assert set(_RULES) == set(CODES)


@pytest.mark.parametrize("form", FORMS)
def test_verdicts_as_they_come(form: str):
    verdict = bdp.gate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3, 1.0)
    assert FORMS[form](verdict, "counts.csv").endswith("\n")
