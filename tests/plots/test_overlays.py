"""Figures that are drawn over each other keep both curves, each with its colour and its name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import bayes_dp as bdp
from bayes_dp import plots
from bayes_dp.attacks import measure_fast
from tests.plots.test_generated import played
from tests.plots.test_of_slack import curve
from tests.plots.test_planned import made

FEW, MANY = bdp.ErrorCounts([40, 35], 100, [50, 55], 100), bdp.ErrorCounts([10, 6, 8], 100, [20, 25, 30], 100)


@cache
def posteriors() -> tuple[bdp.Posterior, bdp.Posterior]:
    return bdp.estimate(FEW, 1e-3), bdp.estimate(MANY, 1e-3)


@cache
def of_families() -> tuple[bdp.Posterior, bdp.Posterior]:
    return bdp.estimate(FEW, 1e-3, family="gaussian"), bdp.estimate(MANY, 1e-3, family="gaussian")


def tables() -> list[bdp.GuessTable]:
    rng = np.random.default_rng(0)
    member = rng.random(200) < 0.5
    return [bdp.GuessTable(rng.normal(size=200) + shift * member, member) for shift in (0.0, 2.0)]


def leaking() -> list[Any]:
    rng = np.random.default_rng(1)
    return [bdp.leakage.scores(rng.normal(size=(n, 3))) for n in (60, 300)]


def chains() -> list[Any]:
    return [np.random.default_rng(i).normal(i, 1, (3, n)) for i, n in ((1, 80), (2, 50))]


def both(make: Callable[[bdp.ErrorCounts], Any]) -> list[Any]:
    return [make(FEW), make(MANY)]


def comparisons() -> list[Any]:
    return both(lambda counts: bdp.compare(counts, 1e-3, names=["clopper-pearson", "katz", "accuracy"]))


def found_records() -> list[Any]:
    return [bdp.records(post, limit) for post, limit in zip(of_families(), (1.0, 3.0), strict=True)]


def curves() -> list[Any]:
    rng = np.random.default_rng(0)
    tables = [bdp.LossTable(rng.gamma(1, 1, (2, 40)), rng.gamma(0.5, 0.5, (2, 40))) for _ in range(2)]
    return [measure_fast(table, np.arange(1, 20) / 20) for table in tables]


def audits() -> list[Any]:
    return [bdp.audits.sequential(1e-3, claim=1.0).update([0] * n, [0] * n) for n in (60, 90)]


def remembering() -> list[Any]:
    def bound(value: float) -> Any:
        return replace(bdp.audits.katz(FEW, 0.1), value=value, details={"control": value / 9})

    return [{"told": {1.0: bound(0.5), np.inf: bound(2.0)}}, {"half": {1.0: bound(0.3), np.inf: bound(4.0)}}]


def examples() -> list[Any]:
    rng = np.random.default_rng(0)
    chance = [rng.beta(2, 2, n) for n in (300, 500)]
    return [(each, rng.random(len(each)) < each) for each in chance]


def bounds_of_bases() -> list[Any]:
    return both(lambda counts: (counts, bdp.audits.combine(counts, 1e-3)))


# figure -> two things that it draws, and what else is given
OVER: dict[str, tuple[Callable[[], Any], dict[str, Any]]] = {
    "posterior": (posteriors, {}),
    "prior_posterior": (posteriors, {}),
    "joint": (posteriors, {}),
    "roc_plane": (lambda: [FEW, MANY], {"epsilon": 1.0, "delta": 0.0, "strength": 0.5}),
    "tradeoff": (posteriors, {}),
    "epsilon_delta": (posteriors, {"deltas": [1e-4, 1e-2]}),
    "forest": (comparisons, {"truth": 1.5}),
    "families": (lambda: both(lambda counts: bdp.compare_families(counts, 1e-3)), {}),
    "records": (found_records, {}),
    "levels": (of_families, {}),
    "predictive": (of_families, {}),
    "error_curves": (curves, {}),
    "trace": (chains, {}),
    "rank": (chains, {}),
    "autocorrelation": (chains, {}),
    "ess": (chains, {}),
    "sbc_ranks": (lambda: [np.random.default_rng(i).random(200 + 150 * i) for i in range(2)], {}),
    "propensities": (examples, {"overlap": 0.1}),
    "leakage": (leaking, {}),
    "at_risk": (leaking, {"count": 4}),
    "running": (audits, {}),
    "bases": (bounds_of_bases, {}),
    "roc": (tables, {}),
    "scores": (tables, {}),
    "remembered": (remembering, {}),
    "sensitivity": (lambda: [curve(0.6), curve(0.2, (0.0, 0.1, 0.5))], {}),
    "precision": (lambda: [played(0.5), played(0.15)], {}),
    "closeness": (lambda: [played(0.15), played(0.5)], {}),
    "widths": (lambda: [made(1.8), made(1.2)], {}),
}
PANELS = {"error_curves": (1, 2), "running": (2, 1)}


def draw(name: str, thing: Any, ax: Any, **options: Any) -> list[Any]:
    """The panels, with the thing drawn into them."""
    given = thing if isinstance(thing, tuple) else (thing,)
    return list(np.ravel(getattr(plots, name)(*given, ax=ax, **OVER[name][1], **options)))


def panels(name: str) -> Any:
    figure = Figure(figsize=(3.4, 4.0), layout="constrained")
    return figure.subplots(*PANELS.get(name, (1, 1)))


def drawn(ax: Any) -> list[Any]:
    """Lines, patches and collections, but for those that are there once for all: a prior that several have."""
    return [each for each in (*ax.lines, *ax.patches, *ax.collections) if not str(each.get_gid()).startswith("prior ")]


def colours(ax: Any) -> set[tuple[float, ...]]:
    lines = {to_rgb(line.get_color()) for line in ax.lines}
    faces = {to_rgb(patch.get_edgecolor() if not patch.get_fill() else patch.get_facecolor()) for patch in ax.patches}
    return lines | faces | {tuple(c[:3]) for each in ax.collections for c in each.get_facecolor()}


def test_every_figure_is_here():
    assert set(OVER) == set(plots.__all__)


@pytest.mark.parametrize("name", OVER)
def test_every_figure_takes_axes_a_name_and_a_colour(name: str):
    found = inspect.signature(getattr(plots, name)).parameters
    assert [found[each].default for each in ("ax", "label", "color")] == [None] * 3


@pytest.mark.parametrize("name", OVER)
def test_both_are_kept(name: str):
    alone = [draw(name, one, panels(name)) for one in OVER[name][0]()]
    first, second = OVER[name][0]()
    axes = draw(name, first, panels(name), label="first")
    kept = [drawn(ax) for ax in axes]
    draw(name, second, axes if name in PANELS else axes[0], label="second")
    words = []
    for i, ax in enumerate(axes):
        assert set(kept[i]) <= set(drawn(ax))
        assert len(drawn(ax)) > len(kept[i])
        words += [text.get_text() for text in ax.get_legend().get_texts()]
        for each in alone:
            box = each[i].dataLim
            for name_of, start, end in (("xlim", box.x0, box.x1), ("ylim", box.y0, box.y1)):
                (low, high), (left, right) = (sorted(getattr(one, f"get_{name_of}")()) for one in (ax, each[i]))
                if name_of == "xlim" and ax.get_xscale() == "log" and each[i].get_xscale() == "linear":
                    left = start = low  # intervals of records end at the left side of such an axis
                assert low <= max(left, start) + 1e-9  # all of it that is in view by itself
                assert high >= min(right, end) - 1e-9
    for which in ("first", "second"):
        assert any(which in word for word in words), words
    for ax in axes:
        here = [text.get_text() for text in ax.get_legend().get_texts()]
        assert len(here) == len(set(here))


@pytest.mark.parametrize("name", OVER)
def test_colours_differ_and_can_be_chosen(name: str):
    first, second = OVER[name][0]()
    axes = draw(name, first, panels(name))
    alone = colours(axes[0])
    draw(name, second, axes if name in PANELS else axes[0])
    assert colours(axes[0]) - alone
    assert to_rgb("purple") in colours(draw(name, first, panels(name), color="purple")[0])
    for wrong in ({"color": "no colour"}, {"label": 3}):
        with pytest.raises(bdp.InputError, match=next(iter(wrong))):
            draw(name, first, panels(name), **wrong)


@pytest.mark.parametrize("name", ["forest", "families", "records", "levels", "at_risk", "bases", "predictive"])
def test_rows_of_two_things_do_not_lie_on_each_other(name: str):
    first, second = OVER[name][0]()
    axis = "xaxis" if name in ("bases", "predictive") else "yaxis"
    shown = []
    for thing in (first, second):
        (ax,) = draw(name, thing, panels(name))
        shown.append([text.get_text() for text in getattr(ax, axis).get_ticklabels()])
    (ax,) = draw(name, first, panels(name))
    draw(name, second, ax)
    assert [text.get_text() for text in getattr(ax, axis).get_ticklabels()] == shown[0] + shown[1]
    places = getattr(ax, axis).get_ticklocs()
    assert len(set(places)) == len(places)
    for line in ax.lines:  # no dot of the second at a place of the first
        if line.get_marker() not in ("None", None, "") and len(line.get_xdata()):
            at = {float(place) for place in (line.get_xdata() if axis == "xaxis" else line.get_ydata())}
            assert at <= set(places[: len(shown[0])]) or at <= set(places[len(shown[0]) :]) or not shown[0]


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("posterior", lambda: (posteriors()[0], {}), lambda: (posteriors()[0], {"parameter": "strength"})),
        ("prior_posterior", lambda: (posteriors()[0], {}), lambda: (posteriors()[0], {"parameter": "strength"})),
        ("levels", lambda: (of_families()[0], {}), lambda: (bdp.estimate(FEW, family="laplace"), {})),
        ("levels", lambda: (of_families()[0], {}), lambda: (bdp.estimate(FEW, family="pure"), {})),
        ("trace", lambda: (chains()[0], {}), lambda: (chains()[0], {"parameter": "epsilon"})),
        ("bases", lambda: ((FEW, bdp.audits.katz(FEW, 0.1)), {}), lambda: ((FEW, bdp.audits.katz(FEW, 0.2)), {})),
        ("widths", lambda: (made(1.8), {}), lambda: (made(1.8, design="one_run"), {})),
        ("remembered", lambda: (remembering()[0], {}), lambda: ({"a": {3.0: bdp.audits.katz(FEW, 0.1)}}, {})),
    ],
)
def test_what_has_other_axes_is_refused(name: str, first: Any, second: Any):
    (thing, options), (other, more) = first(), second()
    axes = draw(name, thing, panels(name), **options)
    before = [len(ax.get_children()) for ax in axes]
    with pytest.raises(bdp.InputError, match=r"^ax (shows|has)"):
        draw(name, other, axes[0], **more)
    assert [len(ax.get_children()) for ax in axes] == before


def test_what_is_open_stays_open():
    """The line of a lower bound goes to the end of the axis, also of one that becomes longer."""
    axes = draw("forest", comparisons()[0], panels("forest"))
    draw("forest", bdp.compare(bdp.ErrorCounts(0, 4000, 0, 4000), 1e-3, names=["clopper-pearson"]), axes[0])
    end = axes[0].get_xlim()[1]
    ends = [max(line.get_xdata()) for line in axes[0].lines if len(line.get_xdata()) == 2 and line.get_gid()]
    assert end > 6
    assert ends.count(end) == 4


def test_the_contours_hold_what_they_say():
    post: Any = posteriors()[1]
    ax = plots.joint(post, panels("joint"))
    levels = [part.levels[0] for part in ax.collections if part.get_gid() and hasattr(part, "levels")]
    draws = post.draws(400, seed=1)
    order = np.argsort(draws["epsilon"])
    epsilon, strength = draws["epsilon"][order], draws["strength"][order]
    grid = np.linspace(0, 1, 81)[1:-1]
    density = post._joint_density(epsilon, grid)
    found = np.array([np.interp(s, grid, row) for s, row in zip(strength, density, strict=True)])
    for share, level in zip((0.9, 0.5), levels, strict=True):
        assert np.mean(found > level) == pytest.approx(share, abs=4 * np.sqrt(share * (1 - share) / 400) + 0.01)


def test_the_joint_density_is_that_of_the_marginal():
    for family in ("approx", "gaussian"):
        post: Any = bdp.estimate(MANY, 1e-3, family=family)
        value = np.asarray(post.quantile([0.1, 0.5, 0.9]))
        nodes, weights = np.polynomial.legendre.leggauss(80)
        found = post._joint_density(value, (nodes + 1) / 2) @ weights / 2
        np.testing.assert_allclose(found, post.pdf(value), rtol=5e-3)
