"""Figures that are drawn over each other keep both curves, each with its colour and its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import bayes_dp as bdp
from bayes_dp import plots

FEW, MANY = bdp.ErrorCounts([40, 35], 100, [50, 55], 100), bdp.ErrorCounts([10, 6, 8], 100, [20, 25, 30], 100)


def panel() -> Any:
    return Figure(figsize=(3.4, 2.6), layout="constrained").subplots()


@cache
def posteriors() -> tuple[bdp.Posterior, bdp.Posterior]:
    return bdp.estimate(FEW, 1e-3), bdp.estimate(MANY, 1e-3)


def tables() -> list[bdp.GuessTable]:
    rng = np.random.default_rng(0)
    member = rng.random(200) < 0.5
    return [bdp.GuessTable(rng.normal(size=200) + shift * member, member) for shift in (0.0, 2.0)]


def leaking() -> list[Any]:
    rng = np.random.default_rng(1)
    return [bdp.leakage.scores(rng.normal(size=(n, 3))) for n in (60, 300)]


OVER: dict[Callable[..., Any], tuple[Callable[[], Any], dict[str, Any]]] = {
    plots.posterior: (posteriors, {}),
    plots.joint: (posteriors, {}),
    plots.tradeoff: (posteriors, {}),
    plots.epsilon_delta: (posteriors, {"deltas": [1e-4, 1e-2]}),
    plots.roc: (tables, {}),
    plots.leakage: (leaking, {}),
}


@pytest.mark.parametrize("draw", OVER, ids=lambda draw: draw.__name__)
def test_both_are_kept(draw: Callable[..., Any]):
    make, options = OVER[draw]
    limits = [(ax.get_xlim(), ax.get_ylim()) for ax in (draw(one, panel(), **options) for one in make())]
    first, second = make()
    ax = draw(first, panel(), label="first", **options)
    kept = [artist for artist in ax.get_children() if not str(artist.get_gid() or "prior").startswith("prior")]
    draw(second, ax, label="second", **options)
    assert set(kept) <= set(ax.get_children())
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    for name in ("first", "second"):
        assert any(name in word for word in words), words
    assert len(words) == len(set(words))
    for axis in (0, 1):
        low, high = (ax.get_xlim(), ax.get_ylim())[axis]
        assert low <= min(each[axis][0] for each in limits) + 1e-9
        if axis == 0 or draw is not plots.posterior:  # whose density is lower beside a wider one
            assert high >= max(each[axis][1] for each in limits) * (1 - 1e-9) or draw is plots.epsilon_delta


@pytest.mark.parametrize("draw", OVER, ids=lambda draw: draw.__name__)
def test_colours_differ_and_can_be_chosen(draw: Callable[..., Any]):
    make, options = OVER[draw]
    first, second = make()

    def colours(ax: Any) -> set[tuple[float, ...]]:
        marked = [line for line in ax.get_lines() if line.get_gid()]
        filled = [part for part in ax.collections if part.get_gid()]
        return {to_rgb(line.get_color()) for line in marked} | {
            tuple(colour[:3]) for part in filled for colour in part.get_facecolor()
        }

    ax = draw(first, panel(), **options)
    alone = colours(ax)
    draw(second, ax, **options)
    assert len(colours(ax) - alone) >= 1
    assert to_rgb("purple") in colours(draw(first, panel(), color="purple", **options))
    for wrong in ({"color": "no colour"}, {"label": 3}):
        with pytest.raises(bdp.InputError, match=next(iter(wrong))):
            draw(first, panel(), **wrong, **options)


def test_the_contours_hold_what_they_say():
    post: Any = posteriors()[1]
    ax = plots.joint(post, panel())
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
