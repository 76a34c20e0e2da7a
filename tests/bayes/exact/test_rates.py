"""Error rates from the layer of (ε, δ): every way of proposing them against sums over a fine grid."""

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from bayes_dp import region
from bayes_dp.bayes.exact import rates

WAYS = ("_from_the_law", "_over_the_layer", "_draw_from_grid")


def nothing(size, data, layer, ends, rng):
    return np.zeros((2, size, data.shape[1])), np.zeros((size, data.shape[1]), bool)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("row", "layer"),
    [
        ((30, 100, 50, 100), (0.8, 0.05, 0.3)),
        ((30, 100, 60, 100), (0.3, 0.01, 0.9)),
        ((70, 100, 45, 200), (0.4, 0.0, 0.8)),  # nearer the layer's upper part
        ((2, 100, 90, 100), (1.0, 0.02, 0.7)),  # where the layer's length changes much with α
    ],
)
def test_each_way_follows_the_law_within_the_layer(monkeypatch, way, row, layer):
    for other in WAYS[:2]:
        if other != way:
            monkeypatch.setattr(rates, other, nothing)
    if way == "_draw_from_grid":
        monkeypatch.setattr(rates, "_TRIES", 0)
    size = 200 if way == "_draw_from_grid" else 20_000
    counts = bdp.ErrorCounts(*row)
    x, n0, y, n1 = row
    drawn = rates.draw_rates(counts, *(np.full(size, value) for value in layer), np.random.default_rng(3))
    assert region.in_layer(*drawn, *layer).all()
    a, b = np.meshgrid(*[(np.arange(1500) + 0.5) / 1500] * 2, indexing="ij")
    weight = stats.binom.pmf(x, n0, a) * stats.binom.pmf(y, n1, b) * region.in_layer(a, b, *layer)
    weight /= weight.sum()
    for at, grid in zip((*drawn, drawn[0] * drawn[1]), (a, b, a * b), strict=True):
        assert at.mean() == pytest.approx((weight * grid).sum(), abs=4 * at.std() / np.sqrt(size) + 1e-4)


@pytest.mark.parametrize("rate", [0.1, 0.01])
def test_counts_of_a_private_training_need_no_grid(monkeypatch, rate):
    """The layer is then thin, and the law of the rates broad: of the law itself the layer holds next to nothing."""

    def fail(*_):
        raise AssertionError("the grid, which takes milliseconds a point, was used")

    monkeypatch.setattr(rates, "_draw_from_grid", fail)
    rng = np.random.default_rng(0)
    x, y = rng.binomial(1000, rate, 20), rng.binomial(1000, special.ndtr(-special.ndtri(rate) - 0.08), 20)
    alpha, beta = bdp.estimate(bdp.ErrorCounts(x, 1000, y, 1000), 1e-5).rates(200)
    assert ((alpha > 0) & (alpha < 4 * rate) & (beta > 0.5)).all()
