"""What differs in colour differs in shape or dashes too, and areas are seen on dark grounds."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import bayes_dp as bdp

RNG = np.random.default_rng(0)


def games(number: int) -> dict[str, bdp.games.Played]:
    member, noise = RNG.random((2, 300)) < 0.5, RNG.random((number + 1, 2, 300))
    return {
        f"model {i}": bdp.games.Played(member, noise[0], 0.5 * noise[i + 1] + 0.1 * i * member) for i in range(number)
    }


def shapes(ax: plt.Axes) -> list[tuple[object, object]]:
    """Dashes and marks of all that the legend names."""
    handles = ax.get_legend_handles_labels()[0]
    lines = [handle[0] if isinstance(handle, tuple) else handle for handle in handles]
    return [(str(line.get_linestyle()), getattr(line, "get_marker", str)()) for line in lines]


@pytest.mark.parametrize("figure", ["precision", "closeness"])
def test_attacks_and_baseline(figure: str):
    ax = getattr(bdp.plots, figure)(games(4))
    found = shapes(ax) if figure == "closeness" else [(line._unscaled_dash_pattern,) for line in ax.lines[:5]]
    assert len(found) == 5
    assert len({str(each) for each in found}) == 5
    plt.close("all")


def test_members_and_others():
    member = RNG.random(200) < 0.5
    ax = bdp.plots.scores(bdp.GuessTable(RNG.normal(size=200) + member, member))
    dashes = {str(patch.get_linestyle()) for patch in ax.patches if "members" in patch.get_label()}
    assert len(dashes) == 2
    plt.close("all")


def test_the_average_has_a_name():
    ax = bdp.plots.at_risk(bdp.leakage.scores(RNG.normal(size=(100, 3))), count=3)
    assert ax.get_legend().get_texts()[0].get_text().startswith("average of all, ")
    plt.close("all")


def seen(ax: plt.Axes) -> float:
    """How far the area of the interval is from the ground."""
    (area,) = (part for part in ax.collections if part.get_label().startswith("90%"))
    opacity, ground = area.get_alpha(), np.array(to_rgb(ax.get_facecolor()))
    return float(np.abs(opacity * (np.array(to_rgb(area.get_facecolor()[0])) - ground)).sum())


def test_areas_on_dark_grounds():
    post = bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), 1e-3)
    light = seen(bdp.plots.posterior(post))
    with plt.style.context("dark_background"):
        dark = seen(bdp.plots.posterior(post))
    assert dark > 0.5
    assert light > 0.4
    plt.close("all")
