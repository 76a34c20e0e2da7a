"""The observational audit of labels: against randomized response, whose ε is known, and proxies that are wrong."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.attacks.label_scores import difference, likelihood, log_ratio
from bayes_dp.attacks.scores import guess_extremes
from bayes_dp.audits.proxy_error import proxy_error
from bayes_dp.checks import InputError

ALL = bdp.audits.labels


def two(one):
    return np.column_stack([1 - one, one])


def drawn(q, rng):
    """A class for each row of probabilities."""
    return (rng.random(len(q))[:, None] >= np.cumsum(q, axis=1)[:, :-1]).sum(axis=1)


def responses(y, k, epsilon, rng):
    """Randomized response, and the chance of what it put out under each label."""
    keep = np.exp(epsilon) / (np.exp(epsilon) + k - 1)
    out = np.where(rng.random(len(y)) < keep, y, (y + rng.integers(1, k, len(y))) % k)
    return out, np.where(out[:, None] == np.arange(k), keep, (1 - keep) / (k - 1))


def learned(chance, q):
    """What a model says that knows the law and has seen the responses."""
    m = q * chance
    return m / m.sum(axis=1, keepdims=True)


def randomized(n, k, epsilon, seed):
    """Labels, the proxy that they are drawn from, and the chances of the responses to them."""
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(k), n)
    y = drawn(q, rng)
    return y, q, responses(y, k, epsilon, rng)[1]


class TestGame:
    def test_labels_are_shown_or_drawn(self):
        y, q, _ = randomized(4000, 3, 1.0, 0)
        table = bdp.games.LabelGame(y, q, np.tile([0.0, 1.0, 2.0], (4000, 1))).play(1)
        assert abs(table.member.mean() - 0.5) < 0.03
        assert np.array_equal(table.score[table.member], y[table.member])
        shown, expected = table.score[~table.member], q[~table.member].sum(axis=0)
        assert stats.chisquare(np.bincount(shown.astype(int), minlength=3), expected).pvalue > 1e-4

    def test_what_cannot_be_drawn_is_not(self):
        q = np.tile([0.0, 0.3, 0.7 - 5e-7, 0.0], (100_000, 1))
        for seed in range(20):
            table = bdp.games.LabelGame(np.ones(100_000, int), q, np.tile(np.arange(4.0), (100_000, 1))).play(seed)
            assert set(table.score) == {1.0, 2.0}

    def test_labels_of_a_column_of_objects(self):
        game = bdp.games.LabelGame(np.array([0, 1, np.int64(1)], dtype=object), [[0.5, 0.5]] * 3, [[1, -1]] * 3)
        assert game.labels.tolist() == [0, 1, 1]
        assert bdp.games.LabelGame([0.0, np.True_], [[0.5, 0.5]] * 2, [[1, -1]] * 2).labels.tolist() == [0, 1]
        for given, row, said in (
            (["0", "1"], 0, "'0'"),
            ([0, None], 1, "None"),
            ([1, "x"], 1, "'x'"),
            ([0, 1.5], 1, "1.5"),
        ):
            with pytest.raises(InputError, match=rf"labels\[{row}\] must be a whole number from 0 to 1, not {said}"):
                bdp.games.LabelGame(np.array(given, dtype=object), [[0.5, 0.5]] * 2, [[1, -1]] * 2)

    def test_same_seed_same_game(self):
        y, q, chance = randomized(50, 2, 1.0, 0)
        game = bdp.games.LabelGame(y, q, likelihood(chance, q))
        assert np.array_equal(game.play(3).score, game.play(3).score)
        assert not np.array_equal(game.play(3).member, game.play(4).member)

    def test_coins_do_not_depend_on_labels_of_the_same_seed(self):
        y = (np.random.default_rng(5).random(4000) < 0.5).astype(int)
        table = bdp.games.LabelGame(y, np.full((4000, 2), 0.5), np.tile([0.0, 1.0], (4000, 1))).play(5)
        assert abs(np.corrcoef(table.member, y)[0, 1]) < 0.1

    def test_scores(self):
        m, q = np.array([[0.9, 0.1], [0.0, 1.0]]), np.array([[0.6, 0.4], [0.5, 0.5]])
        assert np.allclose(difference(m, q), [[0.3 * 0.16, -0.3 * 0.36], [-0.125, 0.125]])
        assert np.allclose(log_ratio(m, q)[1], [np.log(2e-4), np.log(2)])
        plain = [[np.log(m[i, j] / (q[i] * m[i]).sum()) if m[i, j] else -np.inf for j in (0, 1)] for i in (0, 1)]
        assert np.allclose(likelihood(m, q), plain)

    def test_the_largest_are_guessed_by_their_sign(self):
        table = bdp.GuessTable([-3.0, 2.0, -1.0, 0.5, 0.0], [False, True, True, False, True])
        for made, right in ((1, 1), (2, 2), (3, 2), (4, 2), (5, 2)):
            assert guess_extremes(table, made, "largest", 0, ()).correct == right

    def test_ties_of_both_signs_are_drawn(self):
        table = bdp.GuessTable([1.0, -1.0], [True, True])
        right = [int(guess_extremes(table, 1, "largest", seed, ()).correct[0]) for seed in range(200)]
        assert 70 < sum(right) < 130


class TestBound:
    @pytest.mark.parametrize(
        ("k", "epsilon", "share", "least"),
        [(2, 1, 0.01, 0.6), (2, 4, 0.01, 3.2), (2, 8, 0.1, 6.4), (5, 4, 0.1, 3.0), (10, 8, 0.1, 6.0)],
    )
    def test_power(self, k, epsilon, share, least):
        """Mean bounds of the best score are .84, 3.67, 7.25, 3.24 and 6.89 when one game is played."""
        y, q, chance = randomized(200_000, k, epsilon, 0)
        found = ALL(y, q, None, 0, likelihood=chance, exact=True, games=3, choice=int(share * len(y)))
        assert found.valid
        assert least < found.value < epsilon

    @pytest.mark.slow
    def test_two_classes_that_epsilon_8_keeps(self):
        """The mean of 10 games with 10% guessed: at least 7.0 by the best score, and 1.33 by the paper's."""
        y, q, chance = randomized(200_000, 2, 8, 0)
        out = np.argmax(chance, axis=1)
        options = {"exact": True, "games": 1, "choice": 20_000}
        for score, low, high in (
            ({"model": None, "likelihood": chance}, 7.0, 8.0),
            ({"model": np.eye(2)[out], "scores": ["difference"]}, 1.2, 1.5),
        ):
            found = [ALL(y, q, delta=0, seed=seed, **score, **options).value for seed in range(10)]
            assert low <= np.mean(found) < high

    def test_scores_of_a_model(self):
        y, q, chance = randomized(50_000, 2, 3.0, 1)
        m, control = learned(chance, q), 0.99 * q + 0.01 * q[:, ::-1]
        both = ALL(y, q, m, 1e-5, control=control, games=3)
        assert both.valid
        said = "knows all that the audited model knows besides that; its own bound is 0."
        assert any(sentence.endswith(said) for sentence in both.assumptions)
        assert both.details["score"] == "log ratio"
        assert 1.5 < both.value < 3.0
        one = ALL(y, q, m, 1e-5, control=control, games=3, scores=["difference"])
        assert one.details["score"] == "difference"
        assert one.value < both.value

    def test_median_of_games_at_half_the_error(self):
        y, q, chance = randomized(3000, 2, 2.0, 2)
        found = ALL(y, q, None, 0, likelihood=chance, exact=True, games=5, choice=100, seed=9)
        score = likelihood(chance, q)
        seeds = np.random.SeedSequence(9, spawn_key=(5,)).generate_state(5)
        plain = []
        for seed in map(int, seeds):
            table = bdp.games.LabelGame(y, q, score).play(seed)
            order = np.lexsort((np.random.default_rng(0).random(3000), -np.abs(table.score)))[:100]
            correct = (table.member[order] == (table.score[order] > 0)).sum()
            plain.append((100, correct))
        assert found.details["made"] == 100
        bounds = sorted(bdp.audits.one_run.lower_bounds(3000, n, c, 0, 0.025) for n, c in plain)
        assert abs(found.value - bounds[2]) < 0.5  # equal scores are ordered by other coins
        assert np.isclose(found.value, bdp.audits.one_run.lower_bounds(3000, 100, found.details["correct"], 0, 0.025))

    def test_other_delta_and_family(self):
        y, q, chance = randomized(5000, 2, 2.0, 3)
        found = ALL(y, q, None, 1e-5, likelihood=chance, exact=True, games=3)
        assert found.epsilon_at(1e-3).value <= found.value  # of the same guesses
        gaussian = ALL(y, q, None, 1e-5, likelihood=chance, exact=True, games=3, family="gaussian")
        assert gaussian.value > 0

    def test_columns_in_another_order_than_the_classes(self):
        """There is no leak to be seen then, which must not pass for privacy."""
        y, q, chance = randomized(2000, 3, 3.0, 7)
        m, control = learned(chance, q), 0.99 * q + 0.01 / 3
        assert not ALL(y, q, m, 0, control=control, games=3).warnings
        moved = ALL(y, q, np.roll(m, 1, axis=1), 0, control=control, games=3)
        assert moved.value == 0
        assert "another order" in " ".join(moved.warnings)
        assert "another order" in str(moved)

    def test_slack_lowers_it(self):
        y, q, chance = randomized(20_000, 2, 3.0, 4)
        bounds = [ALL(y, q, None, 0, likelihood=chance, exact=True, games=1, tau=tau).value for tau in (0, 0.01, 0.05)]
        assert bounds[0] > bounds[1] > bounds[2] > 0

    def test_an_uncorrected_choice_is_not_valid(self):
        y, q, chance = randomized(500, 2, 1.0, 5)
        choice = bdp.attacks.Uncorrected([10, 100])
        assert "The best of 2 numbers" in ALL(y, q, None, 0, likelihood=chance, exact=True, choice=choice).invalid


class TestControl:
    def test_without_one_it_is_not_valid(self):
        y, q, chance = randomized(2000, 2, 3.0, 6)
        assert "no control" in ALL(y, q, learned(chance, q), 0).invalid

    def test_a_control_that_sees_more_than_the_proxy(self):
        """The proxy misses a feature: a model that never saw the labels and has the feature is as good as a leak."""
        y, truth, _ = randomized(20_000, 2, 0.0, 7)
        q, rng = np.full_like(truth, 0.5), np.random.default_rng(7)
        blurred = np.clip(truth + rng.normal(0, 0.01, len(truth))[:, None] * [1, -1], 0, 1)
        found = ALL(y, q, truth, 0, control=blurred)
        assert found.value > 0.5
        assert found.details["control"] > 0.5
        assert "control" in found.invalid
        assert abs(found.details["excess"]) < 0.2

    def test_what_is_assumed_of_the_control(self):
        """A model that never saw the labels but knows their law has a bound beside a coarse proxy and a coarse control:
        that the control knows as much is an assumption, which no numbers show, and so it is said."""
        from sklearn.linear_model import LogisticRegression

        rng = np.random.default_rng(3)
        x = rng.normal(size=(20_000, 2))
        p = 1 / (1 + np.exp(-2 * x[:, 0] - 1.5 * np.sign(x[:, 0] * x[:, 1])))
        y = (rng.random(20_000) < p).astype(int)
        fits = [LogisticRegression().fit(x[rows], y[rows]) for rows in (slice(8000), slice(2000, 10_000))]
        x, p, y = x[10_000:], p[10_000:], y[10_000:]
        coarse = [fit.predict_proba(x) for fit in fits]
        found = ALL(y, coarse[0], two(p), 0, control=coarse[1], games=3)
        assert found.value > 0.5
        assert found.details["control"] == 0
        assert any("knows all that the audited model knows" in sentence for sentence in found.assumptions)
        assert "control" in ALL(y, coarse[0], two(p), 0, control=two(np.clip(p, 0.01, 0.99)), games=3).invalid

    def test_labels_that_contradict_the_proxy(self):
        rng = np.random.default_rng(8)
        y, q = (rng.random(5000) < 0.6).astype(int), np.full((5000, 2), 0.5)
        chance = responses(y, 2, 1.0, rng)[1]
        found = ALL(y, q, None, 0, likelihood=chance, exact=True)
        assert "not as the proxy says" in found.invalid
        assert 0.05 < found.details["tau_at_least"] <= 0.1
        assert not ALL(y, q, None, 0, likelihood=chance, exact=True, tau=0.1).invalid

    def test_the_error_of_a_proxy_is_found_as_rarely_as_said(self):
        found = [proxy_error(*randomized(300, 3, 1.0, seed)[:2], confidence=0.8) for seed in range(300)]
        assert sum(error > 0 for error in found) < 0.2 * 300 + 3 * np.sqrt(300 * 0.16)

    def test_a_proxy_that_knows_the_labels(self):
        y, q, _ = randomized(2000, 2, 1.0, 9)
        sure = 0.5 * q + 0.5 * np.eye(2)[y]  # seen in training, and not sure enough of itself
        assert proxy_error(y, sure) > 0.1


def misses(k, epsilon, score, games, seed, moved=0.0, n=400, made=60):
    """How often a single game refutes the true ε at 5%."""
    wrong = 0
    for i in range(games):
        rng = np.random.default_rng([seed, i])
        q = rng.dirichlet(np.ones(k), n)
        truth = (1 - moved) * q
        truth[:, 0] += moved  # within total variation `moved` of q
        y = drawn(truth, rng)
        chance = responses(y, k, epsilon, rng)[1]
        given = {"likelihood": chance} if score == "likelihood" else {"scores": [score]}
        model = None if score == "likelihood" else learned(chance, truth)
        found = ALL(y, q, model, 0, exact=True, games=1, choice=made, seed=i, **given)
        wrong += found.value > epsilon
    return wrong


@pytest.mark.parametrize("score", ["likelihood", "log ratio", "difference"])
def test_it_is_wrong_as_rarely_as_it_says(score):
    """All of it; tests/calibration/test_label_games.py judges many more games by their counts."""
    games = 300
    assert misses(2, 1.0, score, games, 1) <= games * 0.05 + 3 * np.sqrt(games * 0.05 * 0.95)


def test_a_shift_that_is_not_declared_makes_it_fail():
    assert misses(2, 0.0, "log ratio", 100, 3, moved=0.2) > 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": [0, 1, 2]}, r"labels\[2\] must be a whole number from 0 to 1, not 2"),
        ({"labels": [0, 1]}, "a class for each of the 3 examples"),
        ({"proxy": [[0.5, 0.5], [0.5, 0.4], [0.5, 0.5]]}, r"proxy\[1\] must sum to 1, not to 0.9"),
        ({"proxy": [[1.0], [1.0], [1.0]]}, "two or more classes"),
        ({"model": [[0.5, 0.5]] * 3}, "must be two models"),
        ({"model": [[0.5, 0.25, 0.25]] * 3}, "the shape"),
        ({"model": None}, "give model"),
        ({"control": [[0.2, 0.8]] * 3}, "never saw"),
        ({"model": None, "likelihood": [[np.inf, 1.0]] * 3}, "likelihood"),
        ({"model": None, "likelihood": [[0.0, 0.0]] * 3}, "must be above 0"),
        ({"scores": ["both"]}, "scores must be"),
        ({"scores": ["log ratio"] * 2}, "scores must be"),
        ({"family": "laplace"}, "family must be"),
        ({"family": "gaussian"}, "delta"),
        ({"games": 0}, "games"),
        ({"tau": 1.5}, "tau"),
        ({"delta": 1.0}, "delta"),
    ],
)
def test_what_is_refused(change, message):
    given = {"labels": [0, 1, 1], "proxy": [[0.5, 0.5]] * 3, "model": [[0.2, 0.8]] * 3, "delta": 0.0} | change
    with pytest.raises(InputError, match=message):
        ALL(**given)


def power() -> None:
    print("| classes | ε | 1% guessed | 10% guessed |\n|---:|---:|---:|---:|")
    for k, epsilon in ((2, 1), (2, 4), (2, 8), (5, 4), (10, 8)):
        y, q, chance = randomized(200_000, k, epsilon, 0)
        options = {"likelihood": chance, "exact": True, "games": 1}
        made = ([ALL(y, q, None, 0, choice=m, seed=i, **options).value for i in range(10)] for m in (2000, 20_000))
        print(f"| {k} | {epsilon} | {' | '.join(f'{np.mean(values):.2f}' for values in made)} |", flush=True)


if __name__ == "__main__":
    power()
