"""The likelihood of an order of scores: golden values, slow twins, and what must hold for every family."""

from __future__ import annotations

import itertools
import json
import math
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.custom import Family
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.bayes.families.laplace import LAPLACE
from bayes_dp.bayes.families.pure import PURE
from bayes_dp.bayes.families.registry import FAMILIES
from bayes_dp.bayes.families.subsampled import subsampled_gaussian
from bayes_dp.bayes.levels.orders import log_order_probability
from bayes_dp.support.arrays import Floats, Ints

MANY = [GAUSSIAN, LAPLACE, PURE, subsampled_gaussian(0.3)]
NAMES = [family.name for family in MANY]


# family, labels, t -> log ℓ, its tolerance
GOLDEN = [
    ("gaussian", "01", 1.3, -0.197214309, 1e-06),
    ("gaussian", "0000011111", 0.8, -3.070381076, 1e-06),
    ("gaussian", "0000010000010000110011101110111101111101", 0.0, -25.649406799, 1e-06),
    ("gaussian", "00000001000000100010000001000011000011111111111111", 1.7, -18.473975191, 1e-06),
    (
        "gaussian",
        ("0000000000000010000000000100000000001100100000001100111110111100110111111111111111101111111111111111"),
        2.4,
        -33.470457754,
        1e-06,
    ),
    (
        "gaussian",
        ("10110110001000010100101001101011000001100011001000111110100010100111001111111011"),
        3.0,
        -119.047422355,
        1e-06,
    ),
    (
        "gaussian",
        (
            "000000000100000000000000100001000100000100000000101010100000100001101000001100101111001100"
            "001011001100010100110110111111001001100110001111111101111011111110110110010111101111111011"
            "11111111011111111111"
        ),
        1.0,
        -102.776798689,
        1e-06,
    ),
    ("laplace", "1010001001101110", 1.5, -10.067228618, 0.0001),
    (
        "laplace",
        ("00000000000010101000011011010100010110000000110111101111011001110111111110110111"),
        2.0,
        -47.910356004,
        0.0001,
    ),
    ("pure", "000000010000111000000010100100111111010110011011111010111111", 1.2, -31.852530249, 1e-06),
    ("gaussian", "000000000000000000000000000000111111111111111111111111111111", 4.0, -0.741219154, 1e-06),
]


class OwnPure(TradeOffFamily):
    """Pure DP by the general way: a density ratio that jumps."""

    name, parameter = "own pure", "theta"
    curve, log_ratio, kinks = type(PURE).curve, type(PURE).log_ratio, type(PURE).kinks
    log_density, log_layer, by_epsilon = type(PURE).log_density, type(PURE).log_layer, type(PURE).by_epsilon
    _epsilon_at, _delta_at = type(PURE)._epsilon_at, type(PURE)._delta_at


def of(text: str) -> Ints:
    return np.array([int(c) for c in text])


def drawn(without: int, with_: int, shift: float, seed: int) -> Ints:
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(size=without), rng.normal(size=with_) + shift])
    return np.repeat([0, 1], [without, with_])[np.argsort(scores)]


def plain(labels: Ints, family: TradeOffFamily, t: float, step: float = 0.01) -> float:
    """The recursion on a fine grid: log C by its values and slopes at the edges of cells, and Gauss–Legendre in each.

    For Laplace the places are those of the Laplace law, which has its kinks at 0 and t.
    """
    x, weight = np.polynomial.legendre.leggauss(8)
    x, weight = 0.5 * x + 0.5, 0.5 * weight
    if family is LAPLACE:
        parts = [(-38.0, 0.0), (0.0, t), (t, t + 38.0)]
        densities = [lambda z: -abs(z) - math.log(2), lambda z: -abs(z - t) - math.log(2)]
    else:
        parts = [(-9.0, t + 9.0)]
        densities = [lambda z: -0.5 * z**2 - 0.5 * math.log(2 * math.pi)]
        densities.append(lambda z: densities[0](z) + family.log_ratio(z, np.array(t)))
    edges = np.unique(np.concatenate([np.linspace(a, b, math.ceil((b - a) / step) + 1) for a, b in parts if b > a]))
    length = np.diff(edges)
    z = edges[:-1, None] + length[:, None] * x
    basis = (1 + 2 * x) * (1 - x) ** 2, x * x * (3 - 2 * x), x * (1 - x) ** 2, x * x * (x - 1)
    inside, at = [f(z) for f in densities], [f(edges) for f in densities]
    log_c, slope = np.zeros(len(edges)), np.zeros(len(edges))
    for k, label in enumerate(labels, 1):
        nodes = (log_c[:-1], log_c[1:], slope[:-1] * length, slope[1:] * length)
        values = inside[label] + sum(b * v[:, None] for b, v in zip(basis, nodes, strict=True))
        top = values.max(axis=1)
        cells = top + np.log(np.exp(values - top[:, None]) @ weight * length)
        new = np.logaddexp.accumulate(np.append(at[label][0] + log_c[0] - math.log(9.0 * k), cells))
        slope, log_c = np.exp(np.minimum(at[label] + log_c - new, 600.0)), new
    ones = int(labels.sum())
    return float(log_c[-1] + special.gammaln(ones + 1) + special.gammaln(len(labels) - ones + 1))


def simulated(labels: Ints, family: TradeOffFamily, t: float, size: int, seed: int) -> tuple[float, float]:
    """ℓ as the mean over orders of N(0, 1) scores of the product of r at those with z, and its standard error."""
    rng = np.random.default_rng(seed)
    z = np.sort(rng.normal(size=(size, len(labels))), axis=1)[:, labels == 1]
    products = np.exp(family.log_ratio(z, np.array(t)).sum(axis=1)) / math.comb(len(labels), int(labels.sum()))
    return float(products.mean()), float(products.std() / math.sqrt(size))


@pytest.mark.parametrize(("family", "labels", "t", "wanted", "tolerance"), GOLDEN)
def test_it_has_the_golden_values(family: str, labels: str, t: float, wanted: float, tolerance: float) -> None:
    found = log_order_probability(of(labels), FAMILIES[family], np.array([t]))
    assert found[0] == pytest.approx(wanted, abs=min(tolerance, 5e-6))


def test_the_golden_values_are_those_of_the_file() -> None:
    folder = os.environ.get("BAYES_DP_GOLDEN")
    if not folder:
        pytest.skip("BAYES_DP_GOLDEN is not set")
    rows = [row for row in json.loads((Path(folder) / "curve.json").read_text()) if row["kind"] == "log_order"]
    keys = ("family", "labels", "t", "value", "atol")
    assert [tuple(row[key] for key in keys) for row in rows] == GOLDEN


@pytest.mark.parametrize("family", MANY, ids=NAMES)
@pytest.mark.parametrize(("without", "with_"), [(3, 3), (1, 4), (4, 2)])
def test_all_orders_have_the_probability_1(family: TradeOffFamily, without: int, with_: int) -> None:
    t = np.array([0.0, 0.4, 1.7, 5.0])
    places = itertools.combinations(range(without + with_), with_)
    orders = [np.isin(np.arange(without + with_), place).astype(int) for place in places]
    total = np.logaddexp.reduce([log_order_probability(order, family, t) for order in orders])
    np.testing.assert_allclose(total, 0.0, atol=3e-8)


@pytest.mark.parametrize("family", MANY, ids=NAMES)
def test_two_scores_tell_the_area(family: TradeOffFamily) -> None:
    t = np.array([0.01, 0.5, 1.3, 4.0, 9.0])
    area = np.exp(family.log_layer(np.zeros(5), t))
    np.testing.assert_allclose(np.exp(log_order_probability(of("01"), family, t)), (1 + area) / 2, atol=1e-8)
    np.testing.assert_allclose(np.exp(log_order_probability(of("10"), family, t)), (1 - area) / 2, atol=1e-8)


@pytest.mark.parametrize("family", MANY, ids=NAMES)
@pytest.mark.parametrize(("without", "with_"), [(1, 1), (7, 3), (100, 100), (3, 60)])
def test_without_privacy_loss_all_orders_are_equally_likely(family: TradeOffFamily, without: int, with_: int) -> None:
    found = log_order_probability(drawn(without, with_, 2.0, 1), family, np.zeros(1))
    ways = special.gammaln(without + 1) + special.gammaln(with_ + 1) - special.gammaln(without + with_ + 1)
    assert found[0] == pytest.approx(ways, abs=1e-8)


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
@pytest.mark.parametrize(
    ("without", "with_", "shift"), [(30, 30, 0.0), (30, 30, 2.5), (12, 60, 1.0), (60, 5, -0.5), (30, 90, 1.5)]
)
def test_it_is_that_of_the_plain_recursion(family: TradeOffFamily, without: int, with_: int, shift: float) -> None:
    labels, t = drawn(without, with_, shift, 3), np.array([0.1, 0.8, 2.2, 5.0])
    slow = [plain(labels, family, level) for level in t]
    np.testing.assert_allclose(log_order_probability(labels, family, t), slow, rtol=0, atol=1e-6)


@pytest.mark.parametrize("family", [*MANY, OwnPure()], ids=[*NAMES, "own pure"])
def test_it_is_that_of_simulated_scores(family: TradeOffFamily) -> None:
    labels, t = of("001001101011"), 0.9
    mean, error = simulated(labels, family, t, 200_000, 5)
    assert math.exp(log_order_probability(labels, family, np.array([t]))[0]) == pytest.approx(mean, abs=4 * error)


@pytest.mark.parametrize("shift", [0.0, 1.5, 4.0])
def test_a_ratio_that_jumps_needs_no_closed_form(shift: float) -> None:
    labels, t = drawn(50, 50, shift, 7), np.array([0.2, 1.0, 3.0, 8.0])
    closed, general = (log_order_probability(labels, family, t) for family in (PURE, OwnPure()))
    np.testing.assert_allclose(general, closed, rtol=0, atol=1e-6)


class Certain(OwnPure):
    """(ε, δ)-DP with δ = 0.1: a share δ of the scores with z are above all others, and of those without below all."""

    name, delta = "certain", 0.1

    def log_ratio(self, z: Floats, t: Floats) -> Floats:
        alpha, steep, _ = special.ndtr(-z), *np.moveaxis(self.kinks(t), -1, 0)
        return np.where(alpha < steep, t, np.where(alpha < 1 - self.delta, -t, -np.inf))

    def kinks(self, t: Floats) -> Floats:
        return np.stack([(1 - self.delta) / (1 + np.exp(t)), np.full(np.shape(t), 1 - self.delta)], axis=-1)


def test_scores_that_prove_membership_are_above_all() -> None:
    t = np.array([0.5, 2.0])
    area = 1 - 2 * 0.9**2 / (1 + np.exp(t))
    np.testing.assert_allclose(np.exp(log_order_probability(of("01"), Certain(), t)), (1 + area) / 2, atol=1e-8)
    orders = [np.isin(np.arange(5), place).astype(int) for place in itertools.combinations(range(5), 2)]
    total = np.logaddexp.reduce([log_order_probability(order, Certain(), t) for order in orders])
    np.testing.assert_allclose(total, 0.0, atol=1e-7)


def test_an_own_family_of_the_same_curve_has_the_same_likelihood() -> None:
    own = Family("own", lambda a, mu: special.ndtr(special.ndtri(1 - a) - mu))
    labels, t = drawn(40, 40, 1.0, 9), np.array([1.0, 2.0, 4.0])
    found = log_order_probability(labels, own, t)
    np.testing.assert_allclose(found, log_order_probability(labels, GAUSSIAN, t), rtol=0, atol=1e-6)


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE, PURE], ids=["gaussian", "laplace", "pure"])
def test_swapping_the_samples_and_the_sign_changes_nothing(family: TradeOffFamily) -> None:
    labels, t = drawn(25, 40, 1.0, 11), np.array([0.3, 1.5, 4.0])
    swapped = log_order_probability(1 - labels[::-1], family, t)
    np.testing.assert_allclose(swapped, log_order_probability(labels, family, t), rtol=0, atol=1e-7)


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE, PURE], ids=["gaussian", "laplace", "pure"])
def test_complete_separation_becomes_certain(family: TradeOffFamily) -> None:
    t = np.array([0.0, 1.0, 3.0, 6.0, 12.0, 20.0, 30.0])
    found = log_order_probability(of("0" * 30 + "1" * 30), family, t)
    assert (np.diff(found) > -1e-9).all()
    assert found[-1] == pytest.approx(0.0, abs=1e-4)
    backwards = log_order_probability(of("1" * 30 + "0" * 30), family, t[t < 15.0])
    assert (np.diff(backwards) < 0).all()
    assert np.isfinite(backwards).all()


def test_far_levels_have_a_likelihood() -> None:
    found = log_order_probability(of("10" * 50), GAUSSIAN, np.array([10.0, 15.0, 20.0, 25.0]))
    assert np.isfinite(found).all()
    # The scores crowd about the middle, t/2: log ℓ falls like −N t²/8.
    assert np.diff(found) / np.diff([100.0, 225.0, 400.0, 625.0]) == pytest.approx(-12.5, rel=0.1)


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
def test_where_the_integral_does_not_converge_there_is_no_number(family: TradeOffFamily) -> None:
    labels = of("0" * 50 + "1" * 50 + "0" * 50 + "1" * 50)
    found = log_order_probability(labels, family, np.array([0.0, 1.0, 3.0, 60.0]))
    assert np.isnan(found).tolist() == [False, False, False, True]


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
def test_five_thousand_scores(family: TradeOffFamily) -> None:
    """At 0 all orders are equally likely, and the slope there is Σ of the mean of ∂ log r/∂t over scores with z."""
    labels, step = drawn(2500, 2500, 1.0, 17), 1e-4
    found = log_order_probability(labels, family, np.array([0.0, step, 2 * step]))
    ways = 2 * special.gammaln(2501) - special.gammaln(5001)
    assert found[0] == pytest.approx(ways, abs=1e-6)
    # The z of rank k has the law Beta(k, N + 1 − k) of Φ(z).
    k = np.flatnonzero(labels) + 1.0
    u = special.betaincinv(k[:, None], 5001 - k[:, None], (np.arange(400) + 0.5) / 400)
    rate = special.ndtri(u) if family is GAUSSIAN else np.sign(u - 0.5)
    slope = (4 * found[1] - 3 * found[0] - found[2]) / (2 * step)
    assert slope == pytest.approx(rate.mean(axis=1).sum(), rel=1e-3)


def test_an_own_family_has_the_density_ratio_of_its_curve_in_the_tails() -> None:
    own = Family("own", lambda a, mu: special.ndtr(special.ndtri(1 - a) - mu))
    t = np.array([0.1, 1.0, 3.0, 6.0, 9.0])
    z = np.linspace(-6.0, 5.5 + t, 60)
    np.testing.assert_allclose(own.log_ratio(z, t), GAUSSIAN.log_ratio(z, t), rtol=0, atol=1e-6)


def test_the_unit_of_an_own_family_changes_nothing() -> None:
    one, other = (Family("own", lambda a, x, unit=unit: PURE(a, x / unit)) for unit in (1.0, 1e5))
    labels, t = drawn(20, 20, 1.0, 3), np.array([0.5, 2.0])
    found = log_order_probability(labels, other, 1e5 * t)
    np.testing.assert_allclose(found, log_order_probability(labels, one, t), rtol=0, atol=1e-6)
    np.testing.assert_allclose(found, log_order_probability(labels, PURE, t), rtol=0, atol=3e-3)


@pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
def test_many_separated_scores_are_certain_far_out(family: TradeOffFamily) -> None:
    labels, t = np.repeat([0, 1], 400), np.array([6.0, 60.0, 100.0, 250.0])
    found = log_order_probability(labels, family, t)
    assert found[0] < -1e-6
    assert found[1:].tolist() == [0.0, 0.0, 0.0]
    # A pair has the wrong order with the probability (1 − G)/2, and that of any of them is at most the sum.
    few, t = np.repeat([0, 1], 3), np.array([4.0, 8.0, 12.0])
    wrong = 9 * 0.5 * np.exp(family.log_layer(t, np.full(3, 1e3)))
    assert (-np.expm1(log_order_probability(few, family, t)) <= wrong + 1e-8).all()
    assert log_order_probability(few[::-1], family, np.array([12.0]))[0] < -10.0
