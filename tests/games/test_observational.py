"""Games that leave the training as it was, and those that do not: laws of what is shown, and audits of both kinds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.checks import InputError


class Normal:
    """Attributes that are public ones and noise."""

    def sample(self, public, seed):
        return public + np.random.default_rng(seed).normal(size=public.shape)

    def log_prob(self, public, values):
        return stats.norm.logpdf(values, public).sum(axis=1)


def example(n, seed=0, d=2):
    rng = np.random.default_rng(seed)
    public = rng.normal(size=(n, d))
    return public, public + rng.normal(size=(n, d)), rng


class TestAttributes:
    def test_what_is_shown_is_of_the_training_or_drawn(self):
        public, values, _ = example(3000)
        shown = []
        game = bdp.games.AttributeGame(public, values, Normal(), lambda p, v: shown.append(v) or v[:, 0])
        table = game.play(1)
        true = (shown[0] == values).all(axis=1)
        assert np.array_equal(true, table.member)
        assert abs(true.mean() - 0.5) < 0.03
        assert stats.kstest((shown[0] - public)[~true].ravel(), "norm").pvalue > 1e-4

    def test_same_seed_same_game_and_other_coins_with_another(self):
        public, values, _ = example(50)
        game = bdp.games.AttributeGame(public, values, Normal(), lambda p, v: v[:, 0])
        assert np.array_equal(game.play(3).score, game.play(3).score)
        assert not np.array_equal(game.play(3).member, game.play(4).member)

    def test_what_the_imputer_thinks_is_subtracted(self):
        public, values, _ = example(20)
        plain, relative = (
            bdp.games.AttributeGame(public, values, Normal(), lambda p, v: v[:, 0], relative=more)
            for more in (False, True)
        )
        shown = relative.play(2).score - plain.play(2).score
        assert np.allclose(shown[relative.play(2).member], -Normal().log_prob(public, values)[relative.play(2).member])

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"values": np.zeros((3, 2))}, "each of the 4 examples"),
            ({"public": np.zeros(4)}, "public must be of the shape"),
            ({"imputer": object()}, "method sample"),
            ({"imputer": type("Only", (), {"sample": lambda self, p, s: p})(), "relative": True}, "method log_prob"),
            ({"score": 3}, "score must be a function"),
        ],
    )
    def test_refused(self, change, message):
        given = {
            "public": np.zeros((4, 2)),
            "values": np.zeros((4, 2)),
            "imputer": Normal(),
            "score": lambda p, v: v[:, 0],
        }
        with pytest.raises(InputError, match=message):
            bdp.games.AttributeGame(**given | change)

    def test_refused_when_it_is_played(self):
        public, values, _ = example(4)
        wrong = type("Wrong", (), {"sample": lambda self, p, s: p[:, :1]})()
        with pytest.raises(InputError, match=r"of the shape \(4, 2\), not"):
            bdp.games.AttributeGame(public, values, wrong, lambda p, v: v[:, 0]).play()
        with pytest.raises(InputError, match=r"score\(public, values\) must be of the shape \(4,\)"):
            bdp.games.AttributeGame(public, values, Normal(), lambda p, v: v).play()


class TestMembership:
    def test_one_of_each_pair_is_shown(self):
        table = bdp.games.shown_members(np.arange(1, 2001), -np.arange(1, 2001), seed=3)
        assert np.array_equal(table.score > 0, table.member)
        assert abs(table.member.mean() - 0.5) < 0.05

    def test_coins_do_not_change(self):
        game = bdp.games.MembershipCoins(500, seed=4)
        assert np.array_equal(game.member, game.member)
        assert np.array_equal(game.table(np.arange(500)).member, game.member)
        assert abs(game.member.mean() - 0.5) < 0.1

    def test_both_give_the_law_of_a_noisy_mean(self):
        """Of a sum with noise, the scores of members and others have the same laws in both games."""
        found = []
        for seed in range(300):
            rng = np.random.default_rng([1, seed])
            x = rng.normal(size=(40, 30))
            coins = bdp.games.MembershipCoins(40, seed)
            release = x[coins.member].sum(axis=0) + rng.normal(size=30)
            found.append(coins.table(x @ release).auc().value)
        twin = []
        for seed in range(300):
            rng = np.random.default_rng([2, seed])
            x, fresh = rng.normal(size=(2, 20, 30))  # as many as are in on average
            release = x.sum(axis=0) + rng.normal(size=30)
            twin.append(bdp.games.shown_members(x @ release, fresh @ release, seed).auc().value)
        assert abs(np.mean(found) - np.mean(twin)) < 4 * np.sqrt((np.var(found) + np.var(twin)) / 300) + 0.01


class TestCanaries:
    def test_labels_are_uniform_and_the_coin_tells_which(self):
        canaries = bdp.games.LabelCanaries(6000, 3, seed=5)
        assert stats.chisquare(np.bincount(canaries.labels, minlength=3)).pvalue > 1e-4
        known = canaries.table(np.where(np.eye(3)[canaries.labels] == 1, 0.0, -np.inf))
        assert ((known.score > 0) == known.member).all()

    def test_without_the_model_nobody_knows(self):
        canaries = bdp.games.LabelCanaries(20_000, 4, seed=6)
        features = np.random.default_rng(6).normal(size=(20_000, 4))
        assert abs(canaries.table(features).auc().value - 0.5) < 0.015

    def test_equal_scores_tell_nothing(self):
        assert (bdp.games.LabelCanaries(10, 2).table(np.full((10, 2), -np.inf)).score == 0).all()

    def test_randomized_response_is_bounded(self):
        """Labels of canaries by randomized response with ε = 2: below it, and not far."""
        canaries = bdp.games.LabelCanaries(20_000, 2, seed=7)
        rng = np.random.default_rng(7)
        keep = 1 / (1 + np.exp(-2.0))
        out = np.where(rng.random(20_000) < keep, canaries.labels, 1 - canaries.labels)
        table = canaries.table(np.where(np.eye(2)[out] == 1, np.log(keep), np.log(1 - keep)))
        bound = bdp.audits.one_run(bdp.attacks.guess(table, 20_000), 0)
        assert 1.9 < bound.value < 2


class TestAudit:
    def remembered(self, values, noise, rng):
        told = values + noise * rng.normal(size=values.shape)
        return lambda public, shown: -((shown - told) ** 2).sum(axis=1)

    def test_a_model_that_remembers(self):
        public, values, rng = example(3000, 8)
        game = bdp.games.AttributeGame(public, values, Normal(), self.remembered(values, 0.3, rng))
        blind = bdp.games.AttributeGame(public, values, Normal(), lambda p, v: -((v - p) ** 2).sum(axis=1))
        found = bdp.audits.observational(game, 1e-5, control=blind)
        assert found.valid
        assert found.value > 2
        assert found.details["control"] == 0
        assert "no control" in bdp.audits.observational(game, 1e-5).invalid
        assert 0 < bdp.audits.observational(game, 1e-5, exact=True, tau=0.02).value < found.value
        assert found.epsilon_at(1e-3).value <= found.value

    def test_a_control_that_says_nothing_or_all(self):
        public, values, rng = example(500, 12)
        game = bdp.games.AttributeGame(public, values, Normal(), self.remembered(values, 0.3, rng))
        dumb = bdp.games.AttributeGame(public, values, Normal(), lambda p, v: np.zeros(len(p)))
        assert "same score" in bdp.audits.observational(game, 0, control=dumb).invalid
        with pytest.raises(InputError, match="scores of the game"):
            bdp.audits.observational(game, 0, control=game)

    def test_an_imputer_that_is_wrong_is_seen_by_the_control(self):
        public, values, rng = example(3000, 9)
        values = values + 1
        game = bdp.games.AttributeGame(public, values, Normal(), self.remembered(values, 0.3, rng))
        blind = bdp.games.AttributeGame(public, values, Normal(), lambda p, v: -((v - p - 1) ** 2).sum(axis=1))
        assert "proxy's error" in bdp.audits.observational(game, 0, control=blind).invalid
        assert "proxy's error" in bdp.audits.observational(game, 0, control=blind, exact=True).invalid

    def test_gaussian_noise_is_not_refuted(self):
        """One attribute, told with noise σ = 1, that may only change by 1: μ = 1."""
        wrong, games = 0, 150
        for seed in range(games):
            rng = np.random.default_rng([10, seed])
            values = rng.integers(0, 2, (300, 1)).astype(float)
            told = values + rng.normal(size=values.shape)
            coin = type("Coin", (), {"sample": lambda self, p, s: np.random.default_rng(s).integers(0, 2, (300, 1))})()
            game = bdp.games.AttributeGame(
                np.zeros((300, 0)), values, coin, lambda p, v, told=told: ((2 * v - 1) * (told - 0.5))[:, 0]
            )
            found = bdp.audits.observational(game, 1e-5, exact=True, family="gaussian", games=1, choice=30, seed=seed)
            wrong += found.value > bdp.tradeoff.epsilon_from_mu(1.0, 1e-5)
        assert wrong <= games * 0.05 + 3 * np.sqrt(games * 0.05 * 0.95)

    def test_slack_of_both_sides(self):
        """A simulator off by τ in total variation, with a model that knows only that: the declared slack covers it."""
        wrong = {0.0: 0, 0.1: 0}
        for seed in range(100):
            rng = np.random.default_rng([11, seed])
            values = np.where(rng.random((400, 1)) < 0.1, 9.0, rng.normal(size=(400, 1)))
            normal = type("Plain", (), {"sample": lambda self, p, s: np.random.default_rng(s).normal(size=(400, 1))})()
            game = bdp.games.AttributeGame(np.zeros((400, 0)), values, normal, lambda p, v: v[:, 0])
            for tau in wrong:
                wrong[tau] += bdp.audits.observational(game, 0, exact=True, tau=tau, games=1, choice=40).value > 0
        assert wrong[0.0] > 50
        assert wrong[0.1] <= 5 + 3 * np.sqrt(100 * 0.05 * 0.95)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"game": 3}, "game must have a method play"),
            ({"control": bdp.games.LabelGame}, "control must have a method play"),
            ({"game": type("No", (), {"play": lambda self, seed: 3})()}, "must give a GuessTable"),
            ({"control": bdp.games.LabelGame([0], [[0.5, 0.5]], [[1, -1]])}, "of the 2 examples"),
            (
                {"game": type("Unfair", (), {"play": lambda self, seed: bdp.GuessTable([1, 2], [0, 1], [0.1, 0.9])})()},
                r"game.play\(seed\): propensity\[0\] must be 0.5 \(a fair coin\)",
            ),
        ],
    )
    def test_refused(self, change, message):
        given = {"game": bdp.games.LabelGame([0, 1], [[0.5, 0.5]] * 2, [[1, -1]] * 2), "delta": 0}
        with pytest.raises(InputError, match=message):
            bdp.audits.observational(**given | change)


class TestWhatRestsOnTheDraws:
    """Whatever is made of the table of a game, it is told that an error of the proxy looks like a leak."""

    SAID = "Nobody changed the training"

    @pytest.fixture(params=["labels", "attributes"])
    def table(self, request):
        public, values, rng = example(400, d=1)
        if request.param == "attributes":
            return bdp.games.AttributeGame(public, values, Normal(), lambda p, v: v[:, 0] * values[:, 0]).play(1)
        q = np.full((400, 2), 0.5)
        labels = rng.integers(0, 2, 400)
        return bdp.games.LabelGame(labels, q, np.eye(2)[labels] - 0.5 + 0.1 * rng.normal(size=(400, 2))).play(1)

    def test_the_table_says_so_also_in_a_file(self, table, tmp_path):
        assert table.design == "observational"
        assert table.source.name == "simulated"
        assert self.SAID in table.source.objection
        assert "with simulated propensities" in repr(table)
        table.to_csv(tmp_path / "table.csv")
        assert bdp.GuessTable.from_csv(tmp_path / "table.csv") == table
        assert {part.design for part in (*table.split(), table[:100], table.rescored(table.score + 1))} == {
            "observational"
        }
        assert table != bdp.GuessTable(table.score, table.member, 0.5)

    @pytest.mark.parametrize("family", ["approx", "gaussian", "average"])
    def test_every_posterior_is_told(self, table, family, tmp_path):
        guessed = bdp.attacks.guess(table, 100)
        for given in (table, guessed, guessed.counts(), table.counts(threshold=0.0)):
            post = bdp.estimate(given, 1e-3, family=family)
            assert self.SAID in post.caution
            for text in (str(post.summary()), str(post.brief()), " ".join(post.to_dict()["assumptions"])):
                assert text.count(self.SAID) == 1
            assert self.SAID in post.epsilon_at(1e-4).caution
        if family != "average":
            post.to_json(tmp_path / "post.json")
            assert self.SAID in bdp.Posterior.from_json(tmp_path / "post.json").caution

    def test_a_report_is_told(self, table):
        assert self.SAID in bdp.report(table.counts(threshold=0.0), 1e-3).markdown

    def test_nothing_that_takes_the_coins_for_memberships_is_valid(self, table):
        guessed = bdp.attacks.guess(table, 100)
        for given in (table, guessed):
            for bound in (bdp.audits.one_run(given, 1e-3), bdp.audits.f_dp(given, delta=1e-3)):
                assert self.SAID in bound.invalid
            assert bdp.Claim(0.001).test(given).outcome != "refuted"
            assert not any(row.valid for row in bdp.compare(given, 1e-3).rows)
        assert self.SAID in bdp.audits.zero_run(table, 1e-3, choice=100).invalid
        assert self.SAID in bdp.estimate_shifted(guessed, 1e-3).caution
        assert self.SAID in bdp.audits.sequential(1e-3, method="one_run").update_guesses(guessed).invalid
        for use in (lambda c: bdp.audits.one_run(c, 1e-3), bdp.Claim(0.1).test):
            with pytest.raises(InputError, match=self.SAID):
                use(guessed.counts())

    def test_a_game_whose_coins_fell_before_the_training_is_no_such(self):
        coins = bdp.games.MembershipCoins(200, seed=0)
        table = coins.table(coins.member + np.random.default_rng(0).normal(size=200))
        assert table.design == "one_run"
        assert self.SAID not in bdp.estimate(table, 1e-3).caution
        assert not bdp.audits.one_run(table, 1e-3).invalid

    def test_an_error_of_the_proxy_alone_is_what_the_caution_tells_of(self):
        """A score that no model gave: the posterior excludes 0 all the same."""
        rng = np.random.default_rng(0)
        labels = (rng.random(2000) < 0.8).astype(int)
        table = bdp.games.LabelGame(labels, np.full((2000, 2), 0.5), np.tile([-1.0, 1.0], (2000, 1))).play(0)
        post = bdp.estimate(table.counts(threshold=0.0), 1e-5)
        assert post.interval(0.9)[0] > 0.5
        assert self.SAID in str(post)
