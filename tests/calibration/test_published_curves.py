"""The published losses under every family, from the order of all of them: a table of docs/methods/curves.md again.

`python -m tests.calibration.test_published_curves` prints it. The losses are in the folder that BAYES_DP_DATA names.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import bayes_dp as bdp
from models.reproduction import PUBLISHED
from tests.calibration.test_published import FOLDER

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "methods" / "curves.md"
OWN = ROOT / "docs" / "evidence" / "data" / "mnist_medium_losses.npz"
DELTA = 1e-3  # of Table 1
FAMILIES = ("gaussian", "laplace", "pure")


def published(key):
    return bdp.LossTable.from_npz(Path(FOLDER) / "mcmc_dp_est_losses.npz", key)


def row(name, paper, losses):
    """A line of the table: 5, 50 and 95% of ε under each family, the log evidence less that of the Gaussian one, and p
    of the check."""
    post = bdp.estimate_curves(losses, DELTA, accept_misfit=True)
    first, cells = post.posteriors["gaussian"].log_evidence, []
    for family in FAMILIES:
        one = post.posteriors[family]
        low, high = one.interval()
        against = f", {one.log_evidence - first:+.0f}" if family != "gaussian" else ""
        cells.append(f"{one.median:.1f} ({low:.1f} to {high:.1f}){against}, p = {one.check:.2g}")
    return f"| {name} | {paper} | {' | '.join(cells)} |"


@pytest.mark.slow
@pytest.mark.skipif(FOLDER is None, reason="BAYES_DP_DATA names no folder")
@pytest.mark.parametrize(("key", "name", "paper"), PUBLISHED)
def test_the_page_has_its_row(key, name, paper):
    assert row(name, f"{paper[0]:.1f} to {paper[1]:.1f}", published(key)) in PAGE.read_text(encoding="utf-8")


def test_the_page_has_a_row_of_the_losses_beside_it():
    assert row("own, A4, σ = 0.1", "", bdp.LossTable.from_npz(OWN, "A4_sigma0.1")) in PAGE.read_text(encoding="utf-8")


def main(wanted="") -> None:
    print("| data | the paper's interval | gaussian | laplace | pure |\n|---|---|---|---|---|")
    for key, name, paper in PUBLISHED:
        if wanted in key:
            print(row(name, f"{paper[0]:.1f} to {paper[1]:.1f}", published(key)), flush=True)
    for key in ("A1", "A3_sigma0.1", "A4_sigma0.1"):
        if wanted in key:
            print(row(f"own, {key.replace('_sigma', ', σ = ')}", "", bdp.LossTable.from_npz(OWN, key)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
