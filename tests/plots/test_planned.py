"""The widths of a plan are drawn where they are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bayes_dp import plots
from bayes_dp.checks import InputError
from bayes_dp.planning.result import Plan, PlanRow
from bayes_dp.results.posterior import Provenance


def made(wanted, design="repeated"):
    rng = np.random.default_rng(0)
    rows = [PlanRow("challenges", t, 5, 10.0 * t, 10.0 * t, 4 / t**0.4 * rng.gamma(20, 1 / 20, 50)) for t in (1, 2, 4)]
    rows += [PlanRow("bases", t, 5 * t, 10, 10, 4 / t * rng.gamma(20, 1 / 20, 50)) for t in (1, 2, 4)]
    limit = PlanRow("challenges", math.inf, 5, math.inf, math.inf, np.full(50, 2.0))
    provenance = Provenance("plan", "", {"delta": 0.01}, {}, {})
    return Plan(wanted, 0.9, 0.8, None, design, tuple(rows), limit, (), (), provenance)


def test_the_widths(ax):
    plan = made(1.8)
    assert plots.widths(plan, ax) is ax
    by_name = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    for way, words in (("challenges", "more challenges"), ("bases", "more bases")):
        rows = plan.select(way)
        line = by_name[words]
        np.testing.assert_allclose(line.get_xdata(), [100, 200, 400])
        np.testing.assert_allclose(line.get_ydata(), [row.quantile(0.8) for row in rows])
        band = ax.collections[plan.ways.index(way)].get_paths()[0].vertices
        for row in rows:
            here = band[band[:, 0] == row.runs, 1]
            assert (here.min(), here.max()) == pytest.approx((row.quantile(0.1), row.quantile(0.9)))
    assert by_name["more bases"].get_marker() != by_name["more challenges"].get_marker()
    assert by_name["wanted, 1.8"].get_ydata()[0] == 1.8
    assert by_name["no limit to challenges"].get_ydata()[0] == 2.0
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    ax.figure.draw_without_rendering()
    assert {"100", "200", "500"} <= {text.get_text() for text in ax.get_xticklabels()}
    assert ax.get_xlabel() == "challenges of all bases"
    assert ax.get_ylabel() == "width of the 90% interval"


def test_stars_mark_what_is_needed(ax):
    plan = made(1.8)
    plots.widths(plan, ax)
    stars = [line for line in ax.get_lines() if line.get_marker() == "*"]
    assert plan.needed["challenges"] is None
    assert [(s.get_xdata()[0], s.get_ydata()[0]) for s in stars] == [(plan.needed["bases"].runs, 1.8)]


def test_guesses(ax):
    plots.widths(made(1.8, design="one_run"), ax)
    assert ax.get_xlabel() == "guesses of all bases"


def test_bad_input(ax):
    with pytest.raises(InputError, match=r"plan must be a Plan, as bayes_dp.plan gives it, not int"):
        plots.widths(3, ax)
