"""Figures on a dark ground have no ink of its colour, and no patches of white."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import bayes_dp as bdp
from bayes_dp import plots

COUNTS = bdp.ErrorCounts([10, 6, 8], 100, [20, 25, 30], 100)
DARK = {
    "axes.facecolor": "black", "figure.facecolor": "black", "axes.edgecolor": "white", "axes.labelcolor": "white",
    "text.color": "white", "xtick.color": "white", "ytick.color": "white",
}  # fmt: skip
DRAWN: dict[str, Callable[[Any], Any]] = {
    "region": lambda ax: plots.roc_plane(COUNTS, ax, epsilon=3.0, delta=0.01, strength=0.6),
    "boundary": lambda ax: plots.roc_plane(COUNTS, ax, post=bdp.estimate(COUNTS, 1e-3)),
    "forest": lambda ax: plots.forest(bdp.compare(COUNTS, 1e-3, names=["clopper-pearson", "katz"]), ax, truth=1.0),
    "thresholds": lambda ax: plots.posterior(bdp.estimate(COUNTS, 1e-3), ax, thresholds=[2.0]),
    "ess": lambda ax: plots.ess(np.random.default_rng(0).normal(size=(4, 200)), ax),
}


def shown(name: str, style: dict[str, Any]) -> Any:
    with mpl.rc_context(style):
        figure = Figure(figsize=(3.4, 3.4), dpi=50, layout="constrained")
        canvas = FigureCanvasAgg(figure)
        DRAWN[name](figure.subplots())
        canvas.draw()
        return np.asarray(canvas.buffer_rgba())[..., :3].astype(int)


@pytest.mark.parametrize("name", DRAWN)
def test_ink_is_seen_on_both_grounds(name: str):
    light, dark = shown(name, {}), shown(name, DARK)
    assert light.shape == dark.shape
    # As much is to be seen on either, and what is neither coloured nor grey is ink.
    marks = [(abs(image - ground).max(axis=-1) > 90).mean() for image, ground in ((light, 255), (dark, 0))]
    assert marks[1] == pytest.approx(marks[0], rel=0.3)
    assert (dark.min(axis=-1) > 200).mean() < 0.1  # no patch of white
