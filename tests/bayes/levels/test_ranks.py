"""The law of levels of orders of scores, and the orders themselves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.custom import Family
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.bayes.families.laplace import LAPLACE
from bayes_dp.bayes.families.pure import PURE
from bayes_dp.bayes.families.subsampled import subsampled_gaussian
from bayes_dp.bayes.families.tables import LevelTables
from bayes_dp.bayes.levels.orders import log_order_probability
from bayes_dp.bayes.levels.ranks import RankLevels
from bayes_dp.bayes.levels.score_orders import ScoreOrders
from bayes_dp.checks import InputError
from bayes_dp.data.loss_table import LossTable
from tests.bayes.levels.test_orders import drawn, of

FAMILIES = [GAUSSIAN, LAPLACE, PURE]
OWN = Family("own", lambda a, mu: special.ndtr(special.ndtri(1 - a) - mu))
each_family = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])


class TestScoreOrders:
    def test_scores_are_put_in_order(self) -> None:
        orders = ScoreOrders.from_scores([[0.1, 3.0, -2.0]], [[0.2, 5.0]])
        assert orders.labels[0].tolist() == [0, 0, 1, 0, 1]
        assert orders.tied.tolist() == [0.0]

    def test_a_lower_loss_is_a_higher_score(self) -> None:
        orders = ScoreOrders.from_losses(LossTable([[3.0, 2.0], [1.0, 2.0]], [[1.0], [3.0]]))
        assert [labels.tolist() for labels in orders.labels] == [[0, 0, 1], [1, 0, 0]]

    def test_monotone_maps_change_nothing(self) -> None:
        rng = np.random.default_rng(0)
        without, with_ = rng.normal(size=(2, 3, 20))
        plain = ScoreOrders.from_scores(without, with_, seed=3).labels
        for change in (np.exp, np.arctan, lambda x: 5.0 + x**3):
            mapped = ScoreOrders.from_scores(change(without), change(with_), seed=3).labels
            np.testing.assert_array_equal(mapped, plain)

    def test_infinite_scores_have_a_place(self) -> None:
        orders = ScoreOrders.from_scores([[-np.inf, 0.0]], [[np.inf, 1.0]])
        assert orders.labels[0].tolist() == [0, 0, 1, 1]
        assert ScoreOrders.from_scores([[np.inf, 0.0]], [[np.inf, 1.0]]).tied[0] == 0.5

    def test_the_order_of_ties_is_drawn(self) -> None:
        drawn_ = [ScoreOrders.from_scores([np.zeros(4)], [np.zeros(4)], seed=seed).labels[0] for seed in range(400)]
        assert np.mean(drawn_, axis=0) == pytest.approx(np.full(8, 0.5), abs=0.12)
        again = ScoreOrders.from_scores([np.zeros(4)], [np.zeros(4)], seed=7).labels[0]
        np.testing.assert_array_equal(again, drawn_[7])

    def test_only_ties_between_the_kinds_are_counted(self) -> None:
        orders = ScoreOrders.from_scores([[1.0, 1.0, 2.0], [1.0, 2.0, 3.0]], [[3.0], [3.0]])
        assert orders.tied.tolist() == [0.0, 0.5]

    def test_a_score_that_is_no_number_is_named(self) -> None:
        message = "the score of base 'cat' in run 1 with it must be a number, not nan"
        with pytest.raises(InputError, match=re.escape(message)):
            ScoreOrders.from_scores([[0.0]], [[0.0, np.nan]], base=["cat"])
        with pytest.raises(InputError, match="at least one"):
            ScoreOrders.from_scores([[]], [[0.0]])
        with pytest.raises(InputError, match="as many bases"):
            ScoreOrders.from_scores([[0.0], [1.0]], [[0.0]])


def direct(labels: np.ndarray, family: TradeOffFamily, t: np.ndarray) -> np.ndarray:
    both = [log_order_probability(order, family, t) for order in (labels, labels[::-1])]
    return np.logaddexp(*both) - np.log(2.0) + family.log_density(t)


class TestRankLevels:
    @each_family
    @pytest.mark.parametrize(("size", "shift"), [(30, 0.0), (30, 1.0), (5, 3.0), (60, -1.5)])
    def test_the_series_is_the_likelihood(self, family: TradeOffFamily, size: int, shift: float) -> None:
        labels = drawn(size, size, shift, 5)
        t = np.sort(np.append(np.random.default_rng(1).uniform(0, 6, 25), [0.0, 1e-3, 0.02, 9.0]))
        law = RankLevels([labels], family)
        found = law.log_density(np.zeros(1, int), t[None])[0]
        wanted, near = direct(labels, family, t), t < law.followed[0]
        np.testing.assert_allclose(found[near], wanted[near], rtol=1e-9, atol=1e-6)
        assert (np.maximum(found, wanted)[~near] < wanted.max() - 200.0).all()

    @pytest.mark.parametrize("family", [subsampled_gaussian(0.3), OWN], ids=["subsampled", "own"])
    def test_the_series_of_a_family_without_a_name(self, family: TradeOffFamily) -> None:
        labels, t = drawn(30, 45, 1.5, 5), np.array([0.0, 0.3, 1.2, 3.7, 6.5])
        found = RankLevels([labels], family).log_density(np.zeros(1, int), t[None])[0]
        np.testing.assert_allclose(found, direct(labels, family, t), rtol=1e-9, atol=1e-6)

    def test_an_own_family_has_the_law_of_the_same_curve(self) -> None:
        labels, t = drawn(30, 30, 1.0, 5), np.array([[0.1, 1.0, 4.0]])
        own, same = (RankLevels([labels], family).log_density(np.zeros(1, int), t) for family in (OWN, GAUSSIAN))
        np.testing.assert_allclose(own, same, atol=1e-6)

    @pytest.mark.parametrize("family", [GAUSSIAN, LAPLACE], ids=["gaussian", "laplace"])
    def test_far_below_its_top_it_is_a_line(self, family: TradeOffFamily) -> None:
        law, row = RankLevels([np.repeat([0, 1, 0, 1], 15)], family), np.zeros(1, int)
        t = np.linspace(0.0, 500.0, 1001)
        curve = law.log_density(row, t[None])[0] - family.log_density(t)
        assert np.isfinite(curve).all()
        assert (np.diff(curve[t > 10.0]) < 0).all()
        start = law.followed[0]
        assert law.peak[0] < start < 500.0
        assert curve[t >= start].max() < curve.max() - 100.0
        np.testing.assert_allclose(np.diff(curve[t > start + 0.5], 2), 0.0, atol=1e-6 * abs(curve[-1]))

    def test_a_line_may_begin_where_the_last_panel_began_high(self) -> None:
        law = RankLevels([drawn(100, 100, 1.4, 4)], GAUSSIAN)
        curve = law.log_density(np.zeros(1, int), np.array([[1.0, 8.0, 16.0]]))[0]
        assert (np.diff(curve) < -300.0).all()

    def test_a_level_that_matters_and_cannot_be_computed_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def lost(labels: np.ndarray, family: TradeOffFamily, t: np.ndarray, paths: object) -> np.ndarray:
            return np.where(t < 1.5, log_order_probability(labels, family, t), np.nan)

        monkeypatch.setattr("bayes_dp.bayes.levels.ranks.log_order_probability", lost)
        message = "the order of 60 scores cannot be computed at the level 1.5 of the gaussian family"
        with pytest.raises(InputError, match=message):
            RankLevels([drawn(30, 30, 1.0, 5)], GAUSSIAN)

    @each_family
    def test_rows_keep_their_place(self, family: TradeOffFamily) -> None:
        orders = [drawn(20, 20, shift, seed) for seed, shift in enumerate((0.0, 2.0, 1.0))]
        law, t = RankLevels(orders, family), np.array([[0.5, 1.0], [2.0, 0.1], [3.0, 0.0]])
        found = law.log_density(np.array([2, 0, 2]), t)
        for row, at, values in zip([2, 0, 2], t, found, strict=True):
            np.testing.assert_allclose(values, direct(orders[row], family, at), atol=1e-6)
        assert law.owner.tolist() == [0, 1, 2]

    @each_family
    @pytest.mark.parametrize("shift", [-2.0, 0.0, 0.3, 2.0])
    def test_the_peak_is_where_it_says(self, family: TradeOffFamily, shift: float) -> None:
        law = RankLevels([drawn(60, 60, shift, 9)], family)
        t = np.linspace(0.0, 8.0, 801)
        h = law.log_density(np.zeros(1, int), t[None])[0]
        assert law.peak[0] == pytest.approx(t[h.argmax()], abs=0.3 * law.width[0] + 0.05)
        beside = law.log_density(np.zeros(1, int), np.array([[law.peak[0] + law.width[0]]]))[0, 0]
        assert 0.1 < h.max() - beside < 2.0

    @each_family
    def test_backwards_says_the_same(self, family: TradeOffFamily) -> None:
        labels, t = drawn(30, 20, 1.0, 3), np.array([[0.2, 1.0, 4.0]])
        one, other = (RankLevels([order], family).log_density(np.zeros(1, int), t) for order in (labels, labels[::-1]))
        np.testing.assert_allclose(one, other, atol=1e-7)

    @each_family
    def test_its_integral_over_all_levels_is_that_of_the_pair(self, family: TradeOffFamily) -> None:
        """With two scores ½ [(1+G)/2 + (1−G)/2] g is g/2, whose integral up to θ is G(θ)/2."""
        tables = LevelTables(RankLevels([of("01")], family), 20.0)
        found = tables.log_masses(np.array([1.5, 4.0]), np.zeros((2, 1)))[:, 0]
        area = family.log_layer(np.zeros(2), np.array([1.5, 4.0]))
        np.testing.assert_allclose(found, area - np.log(2.0), atol=1e-6)

    @each_family
    def test_the_tables_have_the_integral(self, family: TradeOffFamily) -> None:
        labels = drawn(40, 40, 1.2, 21)
        tables = LevelTables(RankLevels([labels], family), 20.0)
        x, weight = np.polynomial.legendre.leggauss(60)
        for low, high in ((0.0, 1.0), (0.5, 2.0), (1.9, 2.0), (3.0, 6.0)):
            t = low + (high - low) * (0.5 + 0.5 * x)
            wanted = np.logaddexp.reduce(direct(labels, family, t) + np.log(0.5 * (high - low) * weight))
            found = tables.log_masses(np.array([high]), np.array([[low / high]]))[0, 0]
            assert found == pytest.approx(wanted, abs=2e-6)
