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
from tests.comparison.schemas_of_forms import faults_of_junit, faults_of_sarif

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


@pytest.mark.parametrize("source", ["\udcff.csv", "\x1b[31m\u202e.csv", "a\rb.csv"])
def test_names_of_files_that_are_no_text(source: str):
    """Bytes that are not UTF-8, escapes of terminals and marks that turn text round are not passed on."""
    for name, form in FORMS.items():
        told = form(FAILED, source).encode().decode()
        assert not any(c in told for c in "\x1b\u202e\r"), name
    log = json.loads(FORMS["sarif"](FAILED, "\udcff.csv"))
    place = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "%FF.csv"


# By the published schemas -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verdict", ALL, ids=lambda verdict: verdict.verdict)
@pytest.mark.parametrize("source", ["counts.csv", HOSTILE, "a folder/é?#.csv"])
def test_sarif_and_junit_keep_to_their_schemas(verdict, source):
    assert faults_of_sarif(json.loads(FORMS["sarif"](verdict, source))) == []
    assert faults_of_junit(ElementTree.fromstring(FORMS["junit"](verdict, source).encode())) == []


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (lambda log: log.pop("runs"), "log has no runs"),
        (lambda log: log.update(version="2.0"), "log.version is not 2.1.0"),
        (lambda log: log.update(verdict="failed"), "log has verdict"),
        (lambda log: log["runs"][0].update(columnKind="bytes"), "log.runs[0].columnKind is 'bytes'"),
        (lambda log: log["runs"][0]["tool"]["driver"].pop("name"), "log.runs[0].tool.driver has no name"),
        (lambda log: log["runs"][0]["results"][0].update(level="fatal"), "log.runs[0].results[0].level is 'fatal'"),
        (lambda log: log["runs"][0]["results"][0].update(ruleIndex="1"), "log.runs[0].results[0].ruleIndex is '1'"),
        (lambda log: log["runs"][0]["results"][0].pop("message"), "log.runs[0].results[0] has no message"),
        (
            lambda log: log["runs"][0]["results"][0]["locations"][0]["physicalLocation"].update(
                artifactLocation={"uri": "a b"}
            ),
            "log.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri is 'a b'",
        ),
    ],
)
def test_the_check_of_sarif_sees_faults(broken, fault):
    log = json.loads(FORMS["sarif"](FAILED, "counts.csv"))
    broken(log)
    assert fault in faults_of_sarif(log)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (('name="bayes-dp"', ""), "testsuite has no name"),
        (('tests="1"', 'tests="1" verdict="x"'), "testsuites has verdict"),
        (('time="0">\n<testcase', 'time="now">\n<testcase'), "the time of testsuite is 'now'"),
        (("failure", "verdict"), "verdict in testcase"),
        (("testcase", "test"), "test in testsuite"),
    ],
)
def test_the_check_of_junit_sees_faults(change, fault):
    text = FORMS["junit"](FAILED, "counts.csv").replace(*change)
    assert fault in faults_of_junit(ElementTree.fromstring(text.encode()))
