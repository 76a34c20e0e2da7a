"""The plane of error rates shows the region, the rates and the posterior's boundaries where they are."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.patches import PathPatch
from matplotlib.path import Path
from scipy import stats

import bayes_dp as bdp
from bayes_dp import plots, region, tradeoff
from bayes_dp.attacks import measure_fast
from bayes_dp.checks import InputError

COUNTS = bdp.ErrorCounts([0, 12, 30], [40, 40, 50], [60, 20, 5], [60, 50, 50])


def named(ax):
    """The artists of the legend by their words."""
    handles, words = ax.get_legend_handles_labels()
    return dict(zip(words, handles, strict=True))


def test_the_region(ax):
    assert plots.roc_plane(None, ax, epsilon=1.5, delta=0.05) is ax
    (patch,) = [p for p in ax.patches if isinstance(p, PathPatch)]
    points = np.random.default_rng(0).random((4000, 2))
    inside = region.contains(*points.T, 1.5, 0.05)
    np.testing.assert_array_equal(patch.get_path().contains_points(points), inside)
    lower = named(ax)["ε = 1.5, δ = 0.05"]
    x, y = lower.get_data()
    np.testing.assert_allclose(y, region.lower(x, 1.5, 0.05), atol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("false positive rate α", "false negative rate β")
    assert ax.get_aspect() == 1


def test_the_layer_leaves_the_inner_region_out(ax):
    plots.roc_plane(None, ax, epsilon=2.0, delta=0.1, strength=0.6)
    (layer,) = (p for p in ax.patches if isinstance(p, PathPatch))
    points = np.random.default_rng(0).random((4000, 2))
    outer, inner = (Path(polygon) for polygon in layer.get_path().to_polygons())
    turns = [
        np.sum(p.vertices[:-1, 0] * p.vertices[1:, 1] - p.vertices[1:, 0] * p.vertices[:-1, 1]) for p in (outer, inner)
    ]
    assert turns[0] * turns[1] < 0  # the other way round, and so a hole
    shown = outer.contains_points(points) & ~inner.contains_points(points)
    np.testing.assert_array_equal(shown, region.in_layer(*points.T, 2.0, 0.1, 0.6))
    assert named(ax)["s = 0.6"].get_linestyle() == "--"


def test_observed_rates_with_exact_intervals(ax):
    plots.roc_plane(COUNTS, ax, prob=0.8)
    (container,) = ax.containers
    dots, _, bars = container.lines
    np.testing.assert_allclose(dots.get_xdata(), COUNTS.false_positives / COUNTS.negatives)
    np.testing.assert_allclose(dots.get_ydata(), COUNTS.false_negatives / COUNTS.positives)
    for across, (errors, runs), collection in (
        (0, (COUNTS.false_positives, COUNTS.negatives), bars[0]),
        (1, (COUNTS.false_negatives, COUNTS.positives), bars[1]),
    ):
        for segment, k, n in zip(collection.get_segments(), errors, runs, strict=True):
            exact = stats.binomtest(int(k), int(n)).proportion_ci(0.8, "exact")
            assert segment[:, across] == pytest.approx([exact.low, exact.high])


def test_curves_of_an_attack(ax):
    rng = np.random.default_rng(0)
    losses = bdp.LossTable(rng.gamma(1, 1, (3, 20)), rng.gamma(0.5, 0.5, (3, 25)))
    curve = measure_fast(losses, [0.1, 0.3, 0.7])
    plots.roc_plane(curve, ax)
    lines = ax.get_lines()[1:]
    for i, line in enumerate(lines):
        np.testing.assert_allclose(line.get_xdata(), curve.false_positives[:, i] / 20)
        np.testing.assert_allclose(line.get_ydata(), curve.false_negatives[:, i] / 25)
    assert len(lines) == 3
    assert "one attack at many α*" in named(ax)


@pytest.mark.parametrize("kind", ["exact", "of_delta"])
def test_the_shade_of_the_boundary(kind, ax, request):
    """At a point, as many bands overlap as there are intervals that hold the parameter whose boundary it is on."""
    post = request.getfixturevalue(kind)
    plots.roc_plane(None, ax, post=post)
    bands = [p for p in ax.patches if isinstance(p, plt.Polygon)]
    for share in (0.002, 0.04, 0.3, 0.42, 0.61, 0.97, 0.999):
        value = float(post.quantile(share))
        epsilon, delta = (value, 1e-3) if kind == "exact" else (1.0, value)
        alpha = 0.4 * float(region.corner(epsilon, delta))
        point = (alpha, float(region.lower(alpha, epsilon, delta)))
        overlap = sum(band.get_path().contains_point(point) for band in bands)
        held = sum(low < value < high for low, high in map(post.interval, plots.plane.SHADES))
        assert overlap == held, share
    assert f"boundary at the median, {'ε' if kind == 'exact' else 'δ'} = {post.median:.3g}" in named(ax)


def test_the_trade_off_band(exact, ax):
    assert plots.tradeoff(exact, ax, prob=0.6, others={"1-Gaussian DP": tradeoff.Gaussian(1.0)}) is ax
    by_name = named(ax)
    x, y = by_name[f"median, ε = {exact.median:.3g}"].get_data()
    np.testing.assert_allclose(y, tradeoff.ApproxDP(exact.median, 1e-3)(x))
    x, y = by_name["1-Gaussian DP"].get_data()
    np.testing.assert_allclose(y, tradeoff.Gaussian(1.0)(x))
    band = by_name["60% band"].get_paths()[0]
    low, high = exact.interval(0.6)
    for alpha in (0.01, 0.1, 0.2, 0.5, 0.9):
        top, bottom = (float(region.lower(alpha, end, 1e-3)) for end in (low, high))
        middle, margin = (top + bottom) / 2, 0.02 * (top - bottom)
        heights = (middle, top - margin, bottom + margin, top + margin, bottom - margin)
        assert [band.contains_point((alpha, y)) for y in heights] == [True, True, True, False, False]
    styles = [line.get_linestyle() for line in ax.get_lines()]
    assert len(set(styles)) == len(styles)


def test_the_trade_off_band_of_a_posterior_of_delta(of_delta, ax):
    plots.tradeoff(of_delta, ax)
    x, y = named(ax)[f"median, δ = {of_delta.median:.3g}"].get_data()
    np.testing.assert_allclose(y, tradeoff.ApproxDP(1.0, of_delta.median)(x))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "there is nothing to draw"),
        ({"epsilon": 1.0}, "epsilon and delta need each other, but delta is missing"),
        ({"delta": 1.0}, "epsilon and delta need each other, but epsilon is missing"),
        ({"attacks": [1, 2]}, "attacks must be ErrorCounts, a Curve or a LossTable, not list"),
        ({"attacks": COUNTS, "prob": 1.0}, "prob must lie in"),
        ({"epsilon": -1.0, "delta": 0.1}, "epsilon must lie in"),
        ({"epsilon": 1.0, "delta": 0.1, "strength": 1.0}, "strength must lie in"),
        ({"attacks": COUNTS, "strength": 0.5}, "strength needs epsilon"),
    ],
)
def test_bad_input(ax, arguments, message):
    with pytest.raises(InputError, match=message):
        plots.roc_plane(ax=ax, **arguments)
    assert not ax.lines
    assert not ax.patches


# Families -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def of_family():
    return bdp.estimate(COUNTS, family="gaussian")


def test_the_curve_of_a_family_is_its_members(of_family, ax):
    plots.tradeoff(of_family, ax, prob=0.8)
    low, middle, high = of_family.quantile([0.1, 0.5, 0.9], "mu")
    line = named(ax)[f"median, μ = {middle:.3g}"]
    x, y = line.get_data()
    np.testing.assert_allclose(y, tradeoff.Gaussian(float(middle))(x), atol=1e-12)
    edges = named(ax)["80% band"].get_paths()[0].vertices
    inside = [0.1, 0.3]
    for alpha in inside:
        here = edges[np.isclose(edges[:, 0], alpha, atol=2e-3), 1]
        wanted = sorted(float(tradeoff.Gaussian(float(mu))(alpha)) for mu in (low, high))
        assert [here.min(), here.max()] == pytest.approx(wanted, abs=0.02)
    assert ax.get_title() == "Trade-off function (gaussian)"


def test_the_boundary_of_a_family_bends(of_family, ax):
    plots.roc_plane(COUNTS, ax, post=of_family)
    middle = float(of_family.quantile(0.5, "mu"))
    x, y = named(ax)[f"boundary at the median, μ = {middle:.3g}"].get_data()
    np.testing.assert_allclose(y, tradeoff.Gaussian(middle)(x), atol=1e-12)
    assert ax.get_title() == "Attacks, and the posterior (gaussian)"


def test_losses_at_all_thresholds(ax):
    losses = bdp.LossTable([[3.0, 1.0, 3.0], [5.0, 5.0, 5.0]], [[1.0, 0.0], [5.0, 5.0]])
    plots.roc_plane(losses, ax)
    first, second = (line for line in ax.get_lines() if line.get_linewidth() == 0.6)
    assert first.get_xydata().tolist() == [[0, 1], [0, 0.5], [1 / 3, 0], [1, 0]]
    assert second.get_xydata().tolist() == [[0, 1], [1, 0]]
    assert list(named(ax)).count("one base at all thresholds") == 1


def test_an_average_of_families_has_no_one_curve(ax):
    post = bdp.estimate(COUNTS[:1], 1e-3, family="average")
    for draw in (lambda: plots.tradeoff(post, ax), lambda: plots.roc_plane(COUNTS, ax, post=post)):
        with pytest.raises(InputError, match="post averages families"):
            draw()
