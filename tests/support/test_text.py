"""Tables of text, and lines as a notebook shows them."""

import re

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.planning.result import Plan, PlanRow
from bayes_dp.propensity.falsification import Falsification, Trial
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.text import Lines, columns


def test_columns_are_as_wide_as_their_cells():
    assert columns([("a", "b", "c"), ("long", "1.5", ""), ("x", "22.25", "words")], "lrl") == [
        "a         b  c",
        "long    1.5",
        "x     22.25  words",
    ]
    assert columns([["ab", "c"], ["d", "e"]], gap=" | ") == ["ab | c", "d  | e"]


def test_a_notebook_shows_lines_as_they_are():
    text = Lines("a < b\nc")
    assert text == "a < b\nc"
    assert isinstance(text, str)
    assert text._repr_html_() == "<pre>a &lt; b\nc</pre>"
    formatters = pytest.importorskip("IPython.core.formatters")
    assert formatters.PlainTextFormatter()(text) == "a < b\nc"  # not 'a < b\nc' in quotes


def row_of(text: str, name: str) -> list[str]:
    """The cells of a row, which at least two spaces part."""
    line = next(line for line in text.splitlines() if line.startswith(name))
    return re.split(r" {2,}", line)


def test_the_columns_of_a_summary_do_not_touch():
    """An interval like 5.347e-07 to 4.853e-05 is longer than most."""
    counts = bdp.ErrorCounts(2, 100, 3, 100)
    for prior in ("HalfNormal(3e-5)", "HalfNormal(10)", "Uniform(0, 123456)"):
        summary = bdp.estimate(counts, 1e-3, prior_epsilon=prior).summary()
        assert len(row_of(summary, "parameter")) == 6
        for name in ("epsilon", "strength"):
            cells = row_of(summary, name)
            assert len(cells) == 6
            assert all(re.fullmatch(r"[\d.e+-]+|nan", cell) for cell in cells[1:4])
            assert all(re.fullmatch(r"[\d.e+-]+ to [\d.e+-]+", cell) for cell in cells[4:])
    assert summary._repr_html_().startswith("<table>\n<caption>Posterior given")


def test_the_columns_of_a_plan_do_not_touch():
    widths = np.full(10, 1.234e-05)
    rows = tuple(PlanRow("challenges", t, 123_456, 1e9 * t, 2e9 * t, widths) for t in (1.0, 2.0))
    nothing = Provenance("plan", "", {"delta": 1e-3}, {}, {})
    plan = Plan(1e-5, 0.9, 0.999, None, "repeated", rows, None, (), (), nothing)
    lines = [line for line in plan.summary().splitlines() if line.lstrip().startswith("123456 ")]
    assert [len(re.split(r" {3,}", line.strip())) for line in lines] == [6, 6]


def test_the_columns_of_a_falsification_do_not_touch():
    trials = (Trial("a rather long guesser", 0, 123_456_789, 123_456_788, 123_456_700.5, 23_456_700.5, 1.2e-300),)
    found = Falsification(1e-300, 0.05, 1.0, trials, Provenance("falsify", "", {}, {}, {}))
    cells = row_of(found.summary(), "a rather")
    assert cells == ["a rather long guesser", "0", "123456789", "123456788", "123456700.5", "23456700.5", "1.2e-300"]
    assert found._repr_html_() == found.summary()._repr_html_()
