"""How far the prior of ε moves the interval, of one base and of ten.

`python -m tests.calibration.test_few_bases` prints the table that docs/guide/pitfalls.md shows.
"""

from __future__ import annotations

import re
from pathlib import Path

import bayes_dp as bdp

FILE = Path(__file__).parents[2] / "docs" / "evidence" / "data" / "few_bases.csv"
DELTA = 0.01
PRIORS = {
    "HalfNormal(1)": "HalfNormal(1)",
    "HalfNormal(3.1623), the default": None,
    "HalfNormal(10)": "HalfNormal(10)",
}


def intervals():
    """For each prior those of one base and of ten, both ends of 90%."""
    data = bdp.ErrorCounts([400], 1000, [400], 1000), bdp.datasets.strong_attacks()
    return {
        words: [bdp.estimate(counts, DELTA, prior_epsilon=prior).interval(0.9) for counts in data]
        for words, prior in PRIORS.items()
    }


def lines():
    yield "| Prior of ε | 1 base | 10 bases |"
    yield "|---|---|---|"
    for words, found in intervals().items():
        yield f"| {words} | {' | '.join(f'{low:.2f} to {high:.2f}' for low, high in found)} |"


def test_the_page_has_these_intervals():
    rows = [line.strip("|").replace(" | ", "|").strip().split("|") for line in lines()][2:]
    text = FILE.read_text(encoding="utf-8")
    for words, one, ten in rows:
        assert re.search(rf'^"?{re.escape(words)}"?,{one},{ten}$', text, re.MULTILINE)


def test_one_base_leaves_the_upper_end_to_the_prior():
    (one, ten), _, (wide_one, wide_ten) = intervals().values()
    assert wide_one[1] > 5 * one[1]
    assert wide_ten[1] < 1.5 * ten[1]
    assert abs(wide_one[0] - one[0]) < 0.05


if __name__ == "__main__":
    print("\n".join(lines()))
