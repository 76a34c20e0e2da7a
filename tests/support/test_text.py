"""Tables of text, and lines as a notebook shows them."""

import math
import re

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.planning.result import Plan, PlanRow
from bayes_dp.propensity.falsification import Falsification, Trial
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.text import Line, Lines, Rows, Sentences, columns, digits


def test_columns_are_as_wide_as_their_cells():
    assert columns([("a", "b", "c"), ("long", "1.5", ""), ("x", "22.25", "words")], "lrl") == [
        "a         b  c",
        "long    1.5",
        "x     22.25  words",
    ]
    assert columns([["ab", "c"], ["d", "e"]], gap=" | ") == ["ab | c", "d  | e"]


def test_a_notebook_shows_lines_as_they_are():
    text = Lines.of([Line("a < b"), Line(), Sentences("", []), Line("c")])
    assert text == "a < b\n\nc"
    assert isinstance(text, str)
    assert text._repr_html_() == "<p>a &lt; b</p>\n<p>c</p>"
    formatters = pytest.importorskip("IPython.core.formatters")
    assert formatters.PlainTextFormatter()(text) == "a < b\n\nc"  # and no quotes around it


def test_parts_as_lines_and_as_html():
    table = Rows([("a", "1"), ("<b>", "22")], ("name", "number"), "Title", "lr", indent="  ")
    assert table.lines() == ["Title", "  name  number", "  a          1", "  <b>       22"]
    assert table.html() == (
        "<table>\n<caption>Title</caption>\n"
        '<thead><tr><th scope="col">name</th><th scope="col">number</th></tr></thead>\n'
        "<tbody>\n<tr><td>a</td><td>1</td></tr>\n<tr><td>&lt;b&gt;</td><td>22</td></tr>\n</tbody>\n</table>"
    )
    assert Rows([("a",)], words=("It is a.",)).lines() == ["It is a."]
    listed = Sentences("Assumptions", ["x & y.", "z."])
    assert listed.lines() == ["Assumptions:", "  - x & y.", "  - z."]
    assert listed.html() == "<p>Assumptions</p>\n<ul>\n<li>x &amp; y.</li>\n<li>z.</li>\n</ul>"
    assert Sentences("Note", ["x.", "z."], "each").lines() == ["Note: x.", "Note: z."]
    numbered = Sentences("Notes", ["x."], "numbered")
    assert (numbered.lines(), "<ol>" in numbered.html()) == (["Notes", "  1  x."], True)
    assert Sentences("Assumptions", []).html() == ""


def test_four_digits():
    shown = [digits(value) for value in (0.0, 1.23456, 9999.4, 12345.6, 1e-9, math.inf, math.nan)]
    assert shown == ["0", "1.235", "9999", "1.235e+04", "1e-09", "inf", "nan"]


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
