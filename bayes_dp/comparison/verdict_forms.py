"""A verdict for machines of continuous integration: a line, annotations, a summary, JUnit's XML, or SARIF.

    brief      one line
    markdown   a table and the reasons, for a summary of a job
    github     an annotation, which GitHub shows at the change that was tested
    junit      XML of one test case: failed where the verdict is, an error where it is inconclusive
    sarif      SARIF 2.1.0: a result for each reason; a verdict that passed has none

Sources: GitHub, "Workflow commands for GitHub Actions"; OASIS, "Static Analysis Results Interchange Format (SARIF)
2.1.0"; the XML that Jenkins and pytest share.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from xml.sax.saxutils import escape, quoteattr

from bayes_dp import __version__
from bayes_dp.comparison.schema import CODES
from bayes_dp.comparison.verdict import Verdict

__all__ = ["FORMS", "brief"]

_LEVELS = {"passed": "notice", "failed": "error", "inconclusive": "warning"}
_RULES = {
    "interval": "The upper end of the posterior's interval lies above the limit.",
    "design": "The counts do not meet what the likelihood assumes.",
    "computation": "The computation is not to be relied on.",
    "model": "The check of the model rejects it.",
    "bound": "A valid lower bound lies above the limit.",
    "gaussian": "Under Gaussian noise the interval would end above the limit.",
    "family": "Under another family of trade-off functions the interval would end above the limit.",
    "guessing": "No attack is distinguishable from guessing.",
    "control": "The positive control does not show a leak above the limit.",
}


def brief(verdict: Verdict) -> str:
    """One line: the verdict, its interval, and the codes of what speaks against it."""
    codes = ", ".join(dict.fromkeys(reason.code for reason in verdict.reasons if reason.code != "interval"))
    return f"{str(verdict).splitlines()[0]}{f' [{codes}]' if codes else ''}"


def _markdown(verdict: Verdict, source: str) -> str:
    """The text of names is escaped, as a summary shows HTML."""
    row = (
        _cell(source), f"{verdict.epsilon:g}", f"{verdict.upper:.6g}", f"{verdict.prob_above:.3g}",
        f"**{verdict.verdict}**",
    )  # fmt: skip
    lines = ["| counts | limit of ε | upper end | P(ε > limit) | verdict |", "|---|---|---|---|---|"]
    lines.append(f"| {' | '.join(row)} |")
    reasons = [f"- `{reason.code}`: {_cell(reason.sentence)}" for reason in verdict.reasons]
    notes = [f"- {_cell(note)}" for note in verdict.notes]
    return "\n".join([*lines, "", *reasons, *notes]) + "\n"


def _cell(text: str) -> str:
    return escape(_printable(" ".join(text.split()))).replace("|", "\\|")


def _github(verdict: Verdict, source: str) -> str:
    text = " ".join([brief(verdict), *(reason.sentence for reason in verdict.reasons if reason.code != "interval")])
    title = f"bayes-dp: privacy {verdict.verdict}"
    return f"::{_LEVELS[verdict.verdict]} file={_property(source)},title={_property(title)}::{_data(text)}\n"


def _data(text: str) -> str:
    return _printable(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _junit(verdict: Verdict, source: str) -> str:
    counts = {
        "tests": 1,
        "failures": int(verdict.verdict == "failed"),
        "errors": int(verdict.verdict == "inconclusive"),
    }
    numbers = " ".join(f'{name}="{value}"' for name, value in counts.items())
    told = escape(_printable(str(verdict)))
    kind = {"failed": "failure", "inconclusive": "error"}.get(verdict.verdict)
    message = quoteattr(_printable(brief(verdict)))
    inside = f"<system-out>{told}</system-out>"
    if kind is not None:
        inside = f'<{kind} message={message} type="{verdict.reasons[0].code}">{told}</{kind}>'
    case = (
        f"<testcase classname={quoteattr(_printable(source))} name={quoteattr(f'epsilon at most {verdict.epsilon:g}')}"
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        f'<testsuites {numbers}>\n<testsuite name="bayes-dp" {numbers} skipped="0" time="0">\n'
        f'{case} time="0">{inside}</testcase>\n</testsuite>\n</testsuites>\n'
    )


def _printable(text: str) -> str:
    """Without what XML 1.0 or UTF-8 cannot hold, and what changes the text around it, as escapes of terminals do."""
    return "".join(c if c in "\t\n" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _sarif(verdict: Verdict, source: str) -> str:
    from urllib.parse import quote

    rules = [{"id": code, "shortDescription": {"text": _RULES[code]}} for code in CODES]
    level = "error" if verdict.verdict == "failed" else "warning"
    where = {"physicalLocation": {"artifactLocation": {"uri": quote(os.fsencode(source))}}}
    results = [
        {
            "ruleId": reason.code,
            "ruleIndex": CODES.index(reason.code),
            "level": level,
            "message": {"text": reason.sentence},
            "locations": [where],
        }
        for reason in ([] if verdict.passed else verdict.reasons)
    ]
    driver = {"name": "bayes-dp", "version": __version__, "rules": rules}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


FORMS: dict[str, Callable[[Verdict, str], str]] = {
    "github": _github,
    "junit": _junit,
    "sarif": _sarif,
    "markdown": _markdown,
}
