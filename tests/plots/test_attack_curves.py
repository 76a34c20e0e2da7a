"""The curves of an attack are its rates at each target."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.attacks import measure_fast
from bayes_dp.checks import InputError

DATA = os.environ.get("BAYES_DP_DATA")
TARGETS = [0.7, 0.1, 0.3]  # in any order


@pytest.fixture
def axes():
    return Figure(figsize=(3.4, 2.1), layout="constrained").subplots(1, 2)


def check(curve, axes):
    found = plots.error_curves(curve, axes)
    assert list(found) == list(axes)
    order = np.argsort(curve.target_fpr)
    n = curve.false_positives.shape[1]
    for ax, rate in zip(
        found,
        (curve.false_positives / curve.negatives, curve.false_negatives / curve.positives),
        strict=True,
    ):
        lines = ax.get_lines()
        for i in range(n):
            np.testing.assert_allclose(lines[i].get_xdata(), curve.target_fpr[order])
            np.testing.assert_allclose(lines[i].get_ydata(), rate[order, i])
        np.testing.assert_allclose(lines[n].get_ydata(), rate[order].mean(axis=1))
        assert lines[n].get_linewidth() > lines[0].get_linewidth()
        assert (ax.get_xlim(), ax.get_ylim()) == ((0, 1), (0, 1))
        assert ax.get_xlabel() == "target α*"
    assert found[0].get_ylabel() == "false positives X/N0"
    assert found[1].get_ylabel() == "false negatives Y/N1"
    assert list(found[0].get_lines()[-1].get_xdata()) == list(found[0].get_lines()[-1].get_ydata()) == [0, 1]


def test_the_rates(axes):
    rng = np.random.default_rng(0)
    check(measure_fast(bdp.LossTable(rng.gamma(1, 1, (3, 20)), rng.gamma(0.5, 0.5, (3, 25))), TARGETS), axes)


@pytest.mark.skipif(DATA is None, reason="BAYES_DP_DATA is not set")
def test_published_losses(axes):
    losses = bdp.LossTable.from_npz(Path(str(DATA)) / "mcmc_dp_est_losses.npz", "A4_sigma0.1")
    check(measure_fast(losses, np.arange(1, 100) / 100), axes)


def test_bad_input(ax, axes):
    with pytest.raises(InputError, match=r"curve must be a Curve, as attacks.measure_fast gives it"):
        plots.error_curves(bdp.ErrorCounts(1, 2, 1, 2), axes)
    rng = np.random.default_rng(0)
    curve = measure_fast(bdp.LossTable(rng.random((2, 9)), rng.random((2, 9))), TARGETS)
    with pytest.raises(InputError, match="ax must be 2 Matplotlib Axes, not 1"):
        plots.error_curves(curve, ax)
    with pytest.raises(InputError, match=r"ax\[1\] must be Matplotlib Axes, not int"):
        plots.error_curves(curve, [ax, 3])
