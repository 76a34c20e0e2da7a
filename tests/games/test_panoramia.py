"""The game of PANORAMIA: who is in which part, what is shown, and that nothing but the seed decides it."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import bayes_dp as bdp
from bayes_dp.games.copies import among, excess, marks
from bayes_dp.games.pairs import Classifiers, Sides, one_game
from bayes_dp.games.panoramia import says

N = 120
X = np.column_stack([np.arange(N), np.zeros(N)])  # the first column says who it is
Y = np.arange(N) % 3
LOGITS = np.eye(3)


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Gives the last of its columns as the probability, and notes what it has learned from and what it was asked."""

    seen: ClassVar[list] = []

    def fit(self, x, y):
        FirstColumn.seen.append(("fit", x, y))
        self.classes_ = np.array([0, 1])
        return self

    def predict_proba(self, x):
        FirstColumn.seen.append(("ask", x))
        last = np.clip(x[:, -1], 0, 1)
        return np.column_stack([1 - last, last])


class Noted:
    """Draws examples that say they are none of the members, and notes what it was fitted on."""

    fits: ClassVar[list] = []

    def fit(self, x, y):
        Noted.fits.append(x[:, 0])
        self.y = y

    def sample(self, n, seed):
        return np.column_stack([-1.0 - np.arange(n), np.ones(n)]), np.random.default_rng(seed).choice(self.y, n)


class Normal:
    def fit(self, x):
        self.law = x.mean(axis=0), np.cov(x.T)

    def sample(self, n, seed):
        return np.random.default_rng(seed).multivariate_normal(*self.law, n)


@dataclass
class FailsAt:
    """A generator that fails when it is fitted for the time `last`."""

    last: int
    fits = 0

    def fit(self, x):
        FailsAt.fits += 1
        if FailsAt.fits >= self.last:
            raise RuntimeError("the machine went down")
        self.x = x

    def sample(self, n, seed):
        return np.random.default_rng(seed).normal(size=(n, self.x.shape[1]))


def model(x):
    return 3.0 * LOGITS[x[:, 0].astype(int) % 3]


def test_one_game_shows_what_the_coins_say():
    rng = np.random.default_rng(0)
    inside, outside = np.linspace(0.5, 1, 50)[:, None], np.linspace(0, 0.4, 50)[:, None]
    members = Sides(np.ones((50, 1)), {"target": inside})
    others = Sides(np.zeros((50, 1)), {"target": outside})
    coins, found = one_game(members, others, 20, Classifiers(FirstColumn(), FirstColumn()), rng)
    assert (coins.shape, 5 < coins.sum() < 25) == ((30,), True)
    np.testing.assert_array_equal(found["target"], np.where(coins, inside[20:, 0], outside[20:, 0]))
    np.testing.assert_array_equal(found["baseline"], coins)


def test_the_parts_have_no_example_in_common():
    FirstColumn.seen, Noted.fits, trained = [], [], []

    def helper(x, y):
        trained.append(x[:, 0])
        return lambda x: np.zeros((len(x), 3))

    game = bdp.games.Panoramia(
        X, Y, Noted(), helper=helper, helpers=("generated", "members"), attack_classifier=FirstColumn(),
        baseline_classifier=FirstColumn(),
        features=lambda x: np.column_stack([x[:, 0], np.zeros(len(x))]),
    )  # fmt: skip
    played = game.play(model, control=lambda x: 0.1 * model(x))
    assert played.sizes == {"generator and helpers": 60, "attack training": 30, "audit": 30}
    generator = set(Noted.fits[0])
    learned = {who for what, x, *_ in FirstColumn.seen if what == "fit" for who in x[:, 0] if who >= 0}
    asked = {who for what, x, *_ in FirstColumn.seen if what == "ask" for who in x[:, 0] if who >= 0}
    assert (len(generator), len(learned), len(asked)) == (60, 30, played.member.sum())
    assert len(generator | learned | asked) == 60 + 30 + len(asked)
    of_generated, of_members = trained
    assert (of_generated < 0).all()
    assert set(of_members) == generator
    drawn = {who for what, x, *_ in FirstColumn.seen for who in x[:, 0] if who < 0}
    assert not drawn & set(of_generated)
    # features, three classes, two helpers with three columns each; the attack has the target's three beside these
    widths = [x.shape[1] for what, x, *_ in FirstColumn.seen if what == "ask"]
    assert widths == [11, 14, 14]


def test_what_a_model_says_of_an_example():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    fitted = LogisticRegression().fit(x, y)
    p = fitted.predict_proba(x)[np.arange(60), y]
    expected = np.column_stack([-np.log(p), np.log(-np.log(p)), np.log(p / (1 - p))])
    np.testing.assert_allclose(says(fitted, x, y), expected, rtol=1e-9)
    losses = says(lambda x: x[:, 0], x, None)
    np.testing.assert_allclose(losses[:, 0], x[:, 0])
    assert (np.diff(losses[np.argsort(x[:, 0]), 1]) >= 0).all()


def normal_game(**settings):
    x = np.random.default_rng(0).normal(size=(400, 2))
    return bdp.games.Panoramia(x, generator=Normal(), **settings)


def remembers(x):
    return np.abs(x[:, 0]) + 0.1


def test_the_seed_decides_and_nothing_else(tmp_path):
    first = normal_game().play(remembers, seeds=2, seed=3)
    for other in (
        normal_game().play(remembers, seeds=2, seed=3, n_jobs=2),
        normal_game().play(remembers, seeds=2, seed=3, checkpoint=tmp_path / "new"),
        normal_game().play(remembers, seeds=2, seed=3, checkpoint=tmp_path / "new"),
        normal_game().play_all({"other": lambda x: x[:, 1], "same": remembers}, seeds=2, seed=3)["same"],
    ):
        assert other.digest() == first.digest()
    assert normal_game().play(remembers, seed=3).digest() == first[0].digest()
    assert normal_game().play(remembers, seeds=2, seed=4).digest() != first.digest()


def test_what_is_done_is_kept(tmp_path):
    x = np.random.default_rng(0).normal(size=(400, 2))
    FailsAt.fits = 0
    with pytest.raises(RuntimeError, match="went down"):
        bdp.games.Panoramia(x, generator=FailsAt(3)).play(remembers, seeds=3, checkpoint=tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["game00000.npz", "game00001.npz", "settings.json"]
    FailsAt.fits = 1  # so that one more fit is left
    game = bdp.games.Panoramia(x, generator=FailsAt(3))
    resumed = game.play(remembers, seeds=3, checkpoint=tmp_path)
    FailsAt.fits = -10
    assert resumed.digest() == game.play(remembers, seeds=3).digest()
    with pytest.raises(bdp.InputError, match="is of other data, models or settings; delete it"):
        game.play(lambda x: x[:, 1], seeds=3, checkpoint=tmp_path)


def test_a_folder_of_another_model_that_knows_the_members_as_well(tmp_path):
    """Both say the same of all members, and not of generated examples."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)
    game = bdp.games.Panoramia(x, y, generator=Mixed())
    tree, nearest = DecisionTreeClassifier(random_state=0).fit(x, y), KNeighborsClassifier(1).fit(x, y)
    digests = []
    for target, folder in ((tree, "one"), (nearest, "two")):  # the second counts how often it is asked
        digests += [game.play(target, checkpoint=tmp_path / folder).digest() for _ in range(2)]
    assert digests[0] == digests[1] != digests[2] == digests[3]
    for target, folder in ((tree, "two"), (nearest, "one")):
        with pytest.raises(bdp.InputError, match="is of other data, models or settings; delete it"):
            game.play(target, checkpoint=tmp_path / folder)


class Mixed(Normal):
    """Draws examples with classes."""

    def fit(self, x, y):
        super().fit(x)

    def sample(self, n, seed):
        return super().sample(n, seed), np.random.default_rng(seed).integers(0, 2, n)


class Copies:
    """Draws what it was fitted on; a part of it with noise."""

    def __init__(self, noisy=0.0):
        self.noisy = noisy

    def fit(self, x, y):
        self.x, self.y = x, y

    def sample(self, n, seed):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, len(self.x), n)
        return self.x[rows] + (rng.random(n) < self.noisy)[:, None] * rng.normal(size=(n, 1)), self.y[rows]


@pytest.mark.parametrize(("noisy", "told"), [(0.0, True), (0.6, True), (0.97, False)])
def test_a_generator_that_copies_members_is_told(noisy, told, tmp_path):
    rng = np.random.default_rng(4)
    x, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    game = bdp.games.Panoramia(x, y, generator=Copies(noisy))
    tree, weak = DecisionTreeClassifier(random_state=0).fit(x, y), LogisticRegression().fit(x, y)
    for _ in range(2):  # also where the games are read from the folder
        played = game.play(tree, weak, checkpoint=tmp_path)
        assert abs(played.copied - (1 - noisy)) < 0.1
        found = bdp.audits.panoramia(played)
        assert any("are copies of members" in warning for warning in found.warnings) == told
    same = game.play(tree, weak, n_jobs=2)
    assert same.copied == played.copied == same[0].copied
    assert "copies of members" in str(found) or not told


@pytest.mark.parametrize("size", [0.1, 4, 8])
def test_examples_of_one_law_have_no_more_copies_than_members_have(size):
    """Of a law with few values, of which a member has so many copies on average; they are told where there are more."""
    rng = np.random.default_rng(0)
    told = 0
    for _ in range(600):
        own, others = ([b"%d" % i for i in rng.integers(0, 1000 / size, n)] for n in (1000, 10_000))
        told += excess(float(among(others, own).mean()), 10_000, own) != 0
    assert told <= 1
    assert excess(1.0, 500, list(map(b"%d".__mod__, range(1000)))) == 1.0
    assert excess(0.0, 500, []) == 0.0


def test_copies_in_arrays_and_those_that_real_data_has():
    """Rows of a table with few values occur often, which is no copying."""
    rng = np.random.default_rng(5)
    common, other = rng.integers(0, 3, (2, 400, 2)).astype(float)
    losses = tuple(rng.random((2, 400)))
    assert abs(bdp.games.coin_pairs((common, other), losses, losses).copied) < 0.01
    fine, again = rng.normal(size=(2, 400, 2))
    again[:200] = fine[:200]
    assert bdp.games.coin_pairs((fine, again), losses, losses).copied == 0.5
    mixed = pd.DataFrame({"a": ["x", "y", "x"], "b": [1.0, 2.0, 1.0]})
    assert marks(mixed)[0] == marks(mixed)[2] != marks(mixed)[1]
    assert marks(np.zeros((2, 2)), [0, 1])[0] != marks(np.zeros((2, 2)), [0, 1])[1]
    assert marks(object()) == []


def test_members_with_doubles():
    """Of a model that says nothing: who learned one of the two knows the other, by the features alone."""
    rng = np.random.default_rng(7)
    x, real = rng.normal(size=(2, 800, 3))
    x[:120] = x[120:240]  # 30% of the members
    near = {f"{kind}_classifier": KNeighborsClassifier(3, weights="distance") for kind in ("attack", "baseline")}
    silent = np.zeros(800), np.zeros(800)
    found = [bdp.audits.panoramia(bdp.games.coin_pairs((x, real), silent, real=True, seed=s, **near)) for s in range(8)]
    assert sum(bound.value > 0 for bound in found) >= 4
    assert all("have a double among the members" in bound.invalid for bound in found)
    game = bdp.games.Panoramia(x, real=real, **near)
    assert "have a double" in bdp.audits.panoramia(game.play(lambda x: x[:, 0])).invalid
    fit = bdp.games.coin_pairs((x[120:], real[120:]), tuple(rng.random((2, 680))), real=True, **near)
    assert (fit.copied, fit.told_apart()) == (0.0, "")


def test_a_control_that_says_nothing_is_none():
    """Trees by chance make other scores of the same features: what the model says decides, and not the scores."""
    rng = np.random.default_rng(6)
    x, generated = rng.normal(size=(2, 400, 2))
    losses = rng.gamma(1, 1, 400), rng.gamma(3, 1, 400)
    forests = {f"{kind}_classifier": RandomForestClassifier(10) for kind in ("attack", "baseline")}
    for how in ({}, forests):
        played = bdp.games.coin_pairs((x, generated), losses, (np.ones(400), np.ones(400)), **how)
        assert np.array_equal(played.control, played.baseline)
        found = bdp.audits.panoramia(played)
        assert found.value > 0.5
        assert "The control adds nothing" in found.invalid
        honest = bdp.games.coin_pairs((x, generated), losses, tuple(rng.random((2, 400))), **how)
        assert bdp.audits.panoramia(honest).valid


class Shifted(Normal):
    def __init__(self, by):
        self.by = by

    def sample(self, n, seed):
        return super().sample(n, seed) + self.by


def scaled(x, by):
    return x * by


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"generator": Shifted([0.0])}, {"generator": Shifted([1.0])}),
        ({"features": lambda x: x}, {"features": lambda x: x[:, :1]}),
        ({"features": partial(scaled, by=1.0)}, {"features": partial(scaled, by=-1.0)}),
        (
            {"attack_classifier": HistGradientBoostingClassifier(categorical_features=[0])},
            {"attack_classifier": HistGradientBoostingClassifier(categorical_features=[1])},
        ),
    ],
)
def test_a_folder_of_another_game_is_refused(tmp_path, one, other):
    """Also where its parts differ in what no name and no number tells."""
    x = np.random.default_rng(0).integers(0, 9, (160, 2)).astype(float)
    games = [bdp.games.Panoramia(x, **{"generator": Shifted([0.0])} | each) for each in (one, one, other)]
    first, again = (game.play(remembers, checkpoint=tmp_path).digest() for game in games[:2])
    assert first == again
    with pytest.raises(bdp.InputError, match="is of other data, models or settings; delete it"):
        games[2].play(remembers, checkpoint=tmp_path)


def test_a_killed_run_goes_on(tmp_path):
    code = (
        "from tests.games import test_panoramia as t\n"
        f"t.normal_game().play(t.remembers, seeds=200, seed=3, checkpoint={str(tmp_path)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=Path(__file__).parents[2], stderr=subprocess.DEVNULL)
    try:
        latest = time.monotonic() + 120
        while process.poll() is None and not list(tmp_path.glob("game*.npz")) and time.monotonic() < latest:
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    done = len(list(tmp_path.glob("game*.npz")))
    assert 0 < done < 200
    resumed = normal_game().play(remembers, seeds=done + 1, seed=3, checkpoint=tmp_path)
    assert resumed.digest() == normal_game().play(remembers, seeds=done + 1, seed=3).digest()
    assert not list(tmp_path.glob(".*.tmp"))


def test_the_same_bits_on_dask():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    expected = normal_game().play(remembers, seeds=3, seed=3)
    with (
        distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None),
        parallel_config(backend="dask"),
    ):
        assert normal_game().play(remembers, seeds=3, seed=3).digest() == expected.digest()


def test_real_non_members_and_coin_pairs_agree_on_what_leaks():
    rng = np.random.default_rng(1)
    x, real = rng.normal(size=(2, 2000, 2))
    known = set(x[:, 0])

    def loss(x):
        return np.array([0.2 if who in known else 1.0 for who in x[:, 0]])

    played = bdp.games.Panoramia(x, real=real, parts=(200, 800)).play(loss)
    assert not played.generated
    assert played.control is None
    of_arrays = bdp.games.coin_pairs((x, real), (loss(x), loss(real)), real=True)
    for found in (played, of_arrays):
        bound = bdp.audits.panoramia(found)
        assert bound.kind == "lower_bound"
        assert bound.value == bound.details["largest_possible"] > 4.0  # all are told
    silent = bdp.games.coin_pairs((x, real), (x[:, 0] ** 2, real[:, 0] ** 2), real=True)
    assert bdp.audits.panoramia(silent).value < 0.5


def test_ranks_take_as_many_as_the_shares_say():
    rng = np.random.default_rng(0)
    score = np.round(rng.random((1, 300)), 1)  # many ties
    played = bdp.games.Played(rng.random((1, 300)) < 0.5, score, score, shares=(0.5, 0.01, 0.001))
    assert played.shares == (0.01, 0.5)  # a share of no example is left out
    table = played.tables()[0]
    assert [(table.score >= cut).sum() for cut in played.thresholds] == [3, 150]
    taken = score[0][table.score >= played.thresholds[1]]
    assert taken.min() >= np.sort(score[0])[150] - 1e-9


def test_a_control_that_has_not_seen_the_members():
    """Without one, the helper trains it on D_G, unless it is a feature of the baseline."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(200, 2)), rng.integers(0, 2, 200)

    class Labelled(Normal):
        def fit(self, x, y):
            super().fit(x)

        def sample(self, n, seed):
            return super().sample(n, seed), np.random.default_rng(seed).integers(0, 2, n)

    helper = {"helper": lambda x, y, seed: LogisticRegression(random_state=seed).fit(x, y)}
    target = LogisticRegression().fit(x, y)
    for settings, there in (({}, True), ({"helpers": ("generated", "members")}, False)):
        played = bdp.games.Panoramia(x, y, Labelled(), **helper, **settings).play(target)
        assert (played.control is not None) == there


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "give a generator, or real non-members, and not both"),
        ({"generator": Normal(), "real": X}, "and not both"),
        ({"generator": Normal}, "generator must be an object with fit and sample"),
        ({"generator": Normal(), "helper": 3}, "helper must be a function"),
        ({"generator": Normal(), "helpers": "members"}, "helpers need a helper"),
        ({"real": X, "helper": abs, "helpers": "generated"}, "need a generator"),
        ({"generator": Normal(), "helper": abs, "helpers": "both"}, "helpers must be among generated, members"),
        ({"generator": Normal(), "parts": (0.9, 0.05)}, "at least 20 members and 20 others"),
        ({"generator": Normal(), "parts": 3}, "parts must be two numbers"),
        ({"real": X[:30]}, "at least 20 members and 20 others"),
        ({"generator": Normal(), "attack_classifier": 3}, "attack_classifier must be a scikit-learn classifier"),
        ({"y": Y, "real": X}, r"real must be a pair \(x, y\)"),
        ({"y": Y[:5], "generator": Normal()}, "y must hold a class for each of the 120 examples"),
        ({"generator": Normal(), "shares": 2.0}, r"shares must lie in \(0, 1\]"),
    ],
)
def test_bad_games(settings, message):
    with pytest.raises(bdp.InputError, match=message):
        bdp.games.Panoramia(X, **settings)


def test_a_model_is_asked_once_about_members_and_real_non_members():
    """Also if it is its own control, and there are several games; it says the same of a part as of all."""
    rng, asked = np.random.default_rng(3), []

    def target(x):
        asked.append(len(x))
        return remembers(x)

    real = rng.normal(size=(90, 2))
    games = bdp.games.Panoramia(X, real=real).play(target, target, seeds=3)
    assert sum(asked) == len(X) + len(real)
    asked.clear()
    again = bdp.games.Panoramia(X, real=real).play(target, lambda x: target(x) * 1.0, seeds=3)
    assert sum(asked) == 2 * (len(X) + len(real))
    np.testing.assert_array_equal(games.attack, again.attack)
    np.testing.assert_array_equal(games.control, again.control)


def test_models_that_say_the_same_share_a_classifier():
    """As a control does that is one of the targets; one that says something else of the others has its own."""
    blind, other = np.arange(40.0)[:, None], 100 + np.arange(40.0)[:, None]
    said, changed = np.linspace(0, 1, 40)[:, None], np.linspace(1, 0, 40)[:, None]
    members = Sides(blind, {"target": said, "twin": said.copy(), "else": said})
    others = Sides(other, {"target": said, "twin": said.copy(), "else": changed})
    FirstColumn.seen.clear()
    _, found = one_game(members, others, 20, Classifiers(FirstColumn(), FirstColumn()), np.random.default_rng(0))
    assert [what for what, *_ in FirstColumn.seen].count("fit") == 3  # the baseline's, and two
    np.testing.assert_array_equal(found["twin"], found["target"])
    assert (found["else"] != found["target"]).any()


class Short(Normal):
    def sample(self, n, seed):
        return super().sample(n, seed)[:5]


class Listed(Normal):
    def sample(self, n, seed):
        return super().sample(n, seed).tolist()


class Fixed:
    """Draws an example, and its class, again and again."""

    def __init__(self, x, y=None):
        self.x, self.y = x, y

    def fit(self, *_):
        pass

    def sample(self, n, seed):
        x = np.repeat([self.x], n, axis=0)
        return x if self.y is None else (x, np.full(n, self.y))


@pytest.mark.parametrize(
    ("game", "call", "message"),
    [
        (normal_game(), {"target": 3}, "target must be a function from examples to their losses, not 3"),
        (normal_game(), {"target": lambda x: x}, r"target must give a loss for each of 400 examples, not the shape"),
        (normal_game(), {"target": lambda x: x[:, 0] / 0.0}, "the losses by target.* must lie in"),
        (bdp.games.Panoramia(X, generator=Short()), {"target": remembers}, "generator.sample must return 60 examples"),
        (bdp.games.Panoramia(X, Y, Short()), {"target": model}, "fit|generator"),
        (
            bdp.games.Panoramia(X, real=X[:, :1]),
            {"target": remembers},
            r"real must have examples like the members, of the shape \(2,\), not \(1,\)",
        ),
        (bdp.games.Panoramia(X, generator=Normal(), features=lambda x: ["a"] * len(x)), {"target": remembers}, "feat"),
        (
            bdp.games.Panoramia(X, generator=Normal(), features=lambda x: x[:3]),
            {"target": remembers},
            r"features\(x\) must have a row for each of 60 examples, not the shape \(3, 2\)",
        ),
        (
            bdp.games.Panoramia(X, generator=Listed()),
            {"target": remembers},
            "generator.sample must have examples like the members, in one array, not in a list",
        ),
        (
            bdp.games.Panoramia(X, Y, Fixed([0.0, 0.0], 3)),
            {"target": model},
            r"generator.sample has examples that cannot be used: y\[0\] must be the number of a column .* not 3",
        ),
        (
            bdp.games.Panoramia(X, generator=Fixed([np.inf, 0.0])),
            {"target": lambda x: np.ones(len(x))},
            r"generator.sample has examples that cannot be used: x\[0, 0\] must be finite, or missing",
        ),
        (
            bdp.games.Panoramia(np.zeros((N, 2, 2)), generator=Fixed(np.ones(4))),
            {"target": lambda x: np.ones(len(x))},
            r"generator.sample must have examples like the members, of the shape \(2, 2\), not \(4,\)",
        ),
        (
            bdp.games.Panoramia(pd.DataFrame(X, columns=["a", "b"]), real=pd.DataFrame(X, columns=["b", "a"])),
            {"target": lambda x: np.ones(len(x))},
            r"real must have examples like the members, of the columns \['a', 'b'\], not \['b', 'a'\]",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.filterwarnings("ignore:covariance")
def test_bad_models_and_generators(game, call, message):
    with pytest.raises((bdp.InputError, TypeError), match=message):
        game.play(**call)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"features": X}, "features must be a pair of arrays"),
        ({"features": (X, X[:, :1])}, "as many columns for both, not 2 and 1"),
        ({"features": (X + np.inf, X)}, r"features of the members\[.*\] must be finite, or missing"),
        ({"features": (["a"] * N, X)}, "features of the members must be an array of numbers"),
        ({"target": (Y[:5], Y)}, "target must have as many rows as features, 120 and 120"),
        ({"target": (Y + np.nan, Y)}, r"target of the members\[0\] must lie in"),
        ({"control": (Y, Y[:3])}, "control must have as many rows"),
        ({"training": 0.1}, "at least 20 members"),
        ({"real": 1}, "real must be True or False"),
        ({"seeds": 0}, "seeds must be a whole number, at least 1"),
    ],
)
def test_bad_arrays(given, message):
    with pytest.raises(bdp.InputError, match=message):
        bdp.games.coin_pairs(**({"features": (X, X), "target": (Y, Y)} | given))
