"""The bundled data are what was published."""

from __future__ import annotations

import numpy as np

import bayes_dp as bdp
from bayes_dp import datasets


def test_mnist_a4():
    counts = datasets.mnist_a4()
    assert len(counts) == 20
    assert counts.design == "cross_fed"
    assert set(counts.negatives) == set(counts.positives) == {100}
    assert counts.false_positives.tolist() == [
        *(79, 70, 42, 36, 4, 19, 88, 6, 25, 75),
        *(11, 97, 4, 3, 4, 8, 16, 47, 4, 16),
    ]
    assert counts.false_negatives.tolist() == [
        *(12, 33, 29, 35, 97, 87, 11, 95, 76, 22),
        *(42, 5, 93, 100, 100, 91, 44, 27, 96, 22),
    ]


def test_strong_attacks():
    counts = datasets.strong_attacks()
    assert counts.design == "repeated"
    assert counts.false_positives.tolist() == [100, 200, 110, 120, 200, 50, 60, 40, 200, 100]
    assert counts.false_negatives.tolist() == [100, 80, 100, 100, 60, 200, 150, 250, 70, 120]
    assert np.all(counts.negatives == 1000)
    assert np.all(counts.positives == 1000)


def test_demo_csv_is_a_file_that_says_where_it_comes_from():
    path = datasets.demo_csv()
    assert bdp.ErrorCounts.read(path, design="cross_fed") == datasets.mnist_a4()
    first = path.read_text(encoding="utf-8").split("false_positives")[0]
    assert all(line.startswith("#") for line in first.splitlines())
    for part in ("Yildirim et al. (2025)", "leave-one-out", "cross_fed", "alpha 0.1", "20"):
        assert part in first


def test_package_exports():
    assert bdp.datasets is datasets
    assert bdp.ErrorCounts is type(datasets.mnist_a4())
