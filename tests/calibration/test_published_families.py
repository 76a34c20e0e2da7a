"""The published counts under every family of trade-off functions: a table of docs/methods/families.md again.

`python -m tests.calibration.test_published_families` prints it. The counts are in the folder that BAYES_DP_DATA names.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import bayes_dp as bdp
from models.reproduction import PUBLISHED
from tests.calibration.test_published import FOLDER, published

PAGE = Path(__file__).parents[2] / "docs" / "methods" / "families.md"
DELTA = 1e-3  # of Table 1
FAMILIES = ("approx", "gaussian", "laplace", "pure")


def row(name, paper, counts):
    """A line of the table: 5, 50 and 95% of ε under each family, and the log evidence less that of "approx"."""
    counts = bdp.ErrorCounts(counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
    cells, first = [], None
    for family in FAMILIES:
        post = bdp.estimate(counts, DELTA, family=family)
        evidence = bdp.compare_families(counts, DELTA, [family]).log_evidence[family]
        first = evidence if first is None else first
        low, high = post.interval()
        cells.append(f"{post.median:.1f} ({low:.1f} to {high:.1f}), {evidence - first:+.1f}")
    cells[0] = cells[0].rpartition(",")[0]
    return f"| {name} | {paper[0]:.1f} to {paper[1]:.1f} | {' | '.join(cells)} |"


def test_the_page_has_the_row_of_the_bundled_data():
    (name, paper) = next((shown, paper) for key, shown, paper in PUBLISHED if key == "A4_sigma0.1")
    assert row(name, paper, bdp.datasets.mnist_a4()) in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="BAYES_DP_DATA names no folder")
def test_the_page_has_all_rows():
    page = PAGE.read_text(encoding="utf-8")
    for key, name, paper in PUBLISHED:
        assert row(name, paper, published(key)) in page


def main() -> None:
    print("| data | the paper's interval | (ε, δ) | gaussian | laplace | pure |")
    print("|---|---|---|---|---|---|")
    for key, name, paper in PUBLISHED:
        print(row(name, paper, published(key)), flush=True)


if __name__ == "__main__":
    main()
