"""Audits of trainings by DP-SGD: which score finds more, canaries that are chosen, planted faults that are found."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bayes_dp as bdp
from models import data, dp_sgd_audit
from models.dirac_canaries import FAULTS
from models.dp_sgd import Settings
from models.dp_sgd_audit import DELTA, KINDS, Examples, audit, choose, dirac, images, main, rows, several, tables
from tests.models.test_fashion_mlp import idx

SETTINGS = Settings(0.5, 0.1, 60, learning_rate=0.5)
SCORES = [
    "plain", "centred", "linear", "ratio", "largest ratio", "GLiR", "Algorithm 7 as printed", "black box"
]  # fmt: skip
needs_data = pytest.mark.skipif(not os.environ.get(data.FOLDER), reason=f"{data.FOLDER} names no folder of data sets")


def examples(seed: int, n: int = 600, canaries: int = 200) -> Examples:
    """Ten classes about as many points, and canaries of wrong classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 10, n)
    x = rng.normal(size=(10, 40))[y] + rng.normal(size=(n, 40))
    y[:canaries] = (y[:canaries] + rng.integers(1, 10, canaries)) % 10
    return Examples(x.astype(np.float32) / 4, y, canaries)


@pytest.fixture(scope="module")
def games():
    return [tables(examples(s), replace(SETTINGS, seed=s), references=100, hidden=16) for s in range(3)]


def areas(games):
    return {name: float(np.mean([game[name].auc().value for game in games])) for name in games[0]}


def test_which_score_finds_more(games):
    found = areas(games)
    assert list(found) == SCORES
    assert found["plain"] < found["centred"] < found["linear"] < found["ratio"]
    assert found["ratio"] > 0.64
    assert found["ratio"] > max(found["largest ratio"], found["GLiR"], found["black box"]) + 0.02
    assert abs(found["Algorithm 7 as printed"] - 0.5) < 0.05


def test_a_bound_is_below_the_accountants_epsilon(games):
    epsilon = SETTINGS.claim(DELTA).epsilon
    for game in games:
        _, plain, gaussian = audit(game["ratio"], 40)
        assert 0 <= plain < epsilon
        assert 0 <= gaussian < epsilon
        assert not SETTINGS.claim(DELTA).test(game["ratio"], choice=40).refuted


def test_several_trainings_add_up(games):
    """Coins of their own: what is found grows, and stays below the accountant's ε."""
    alone = [audit(game["ratio"], 40)[1] for game in games]
    together = bdp.audits.sequential(DELTA, method="one_run")
    for game in games:
        together.update_guesses(bdp.attacks.guess(game["ratio"], 40))
    assert np.mean(alone) < together.bound().value < SETTINGS.claim(DELTA).epsilon


def test_several_trainings_of_the_same_canaries():
    """Other coins each; all trainings together show more than one of them, and less than the accountant's ε."""
    found = list(several(examples(4), SETTINGS, 3, guesses=40, references=100, hidden=16))
    made = [table for table, *_ in found]
    assert not np.array_equal(made[0].member, made[1].member)
    one = tables(examples(4), replace(SETTINGS, seed=1), references=100, hidden=16)["ratio"]
    np.testing.assert_array_equal(made[1].score, one.score)
    together = bdp.audits.sequential(DELTA, method="one_run")
    for table, alone, so_far in found:
        together.update_guesses(bdp.attacks.guess(table, 40))
        assert alone == audit(table, 40)[1]
        assert so_far == together.bound().value < SETTINGS.claim(DELTA).epsilon
    assert found[-1][2] > np.mean([alone for _, alone, _ in found])


def test_without_a_canary_there_is_nothing_to_find():
    """The coins of a game with the scores of another one."""
    coins = [tables(examples(0), replace(SETTINGS, seed=s), references=100, hidden=16)["ratio"] for s in (10, 11)]
    mixed = coins[0].rescored(coins[1].score)
    assert abs(mixed.auc().value - 0.5) < 0.12


def test_chosen_canaries_give_more_away(games):
    """200 of 400; the random ones are those of the games."""
    of = examples(3, n=800, canaries=400)
    best, ranked = (choose(of, 200, SETTINGS, by=by, references=100) for by in ("sum", "ranks"))
    assert best.canaries == ranked.canaries == 200
    assert len(best.x) == 600
    np.testing.assert_array_equal(best.x[200:], of.x[400:])
    found = [tables(best, replace(SETTINGS, seed=s), references=100, hidden=16)["ratio"].auc().value for s in range(2)]
    assert np.mean(found) > areas(games)["ratio"]


@pytest.mark.parametrize("fault", [None, "no clipping"])
def test_planted_faults_of_a_training(fault):
    """1000 Dirac canaries, 40 steps."""
    found = dirac(examples(1), Settings(1.0, 0.1, 40, learning_rate=0.5, fault=fault), 1000)
    assert found.refuted == (fault is not None)
    low, high = found.interval(0.999, "noise_multiplier")
    assert low < (1.0 if fault is None else 1 / 3) < high


@pytest.mark.slow
def test_faults_are_found_and_a_right_training_is_not_accused():
    """As docs/methods/white_box.md has it: 1000 Dirac canaries, 100 steps; shuffling too. 40 right trainings."""
    settings = Settings(1.0, 0.1, 100, learning_rate=0.5)
    for fault in FAULTS:
        assert all(dirac(examples(s), replace(settings, fault=fault, seed=s), 1000).refuted for s in range(5)), fault
    accused = sum(dirac(examples(s), replace(settings, seed=s), 1000).refuted for s in range(40))
    assert accused <= 5  # P(Binomial(40, 0.05) > 5) = 0.014


@needs_data
def test_images():
    of = images(50, 30, True, 1)
    same = images(50, 30, False, 1)
    assert of.x.shape == (50, 784)
    assert of.canaries == 30
    assert abs(of.x[30:].mean()) < 1e-6
    assert (of.y[:30] != same.y[:30]).all()
    np.testing.assert_array_equal(of.y[30:], same.y[30:])


@pytest.mark.slow
@needs_data
def test_the_table_of_the_documentation():
    """500 mislabelled canaries among 2000 images, ε = 8: the means of three games, chance apart."""
    settings = Settings(dp_sgd_audit.noise_for(8.0, 0.05, 100), 0.05, 100, learning_rate=0.5)
    found = {score: values.mean(axis=0) for score, values in rows("mislabelled", settings, 3)}
    assert found["plain"][0] < found["centred"][0] < found["ratio"][0]
    assert found["ratio"][0] >= 0.63
    assert abs(found["Algorithm 7 as printed"][0] - 0.5) <= 0.05


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    rng = np.random.default_rng(0)
    (tmp_path / "fashion-mnist").mkdir()
    for part in ("train", "t10k"):
        idx(tmp_path / "fashion-mnist" / f"{part}-images-idx3-ubyte.gz", rng.integers(0, 256, (200, 28, 28)))
        idx(tmp_path / "fashion-mnist" / f"{part}-labels-idx1-ubyte.gz", rng.integers(0, 10, 200))
    monkeypatch.setenv(data.FOLDER, str(tmp_path))
    for name, value in (("SIZE", 80), ("CANARIES", 20)):
        monkeypatch.setattr(dp_sgd_audit, name, value)
    small = ["--steps", "4", "--rate", "0.3", "--seeds", "1", "--guesses", "5", "--references", "10"]
    assert main([*small, "--epsilon", "inf"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "| Score | no noise |"
    assert [line.split(" | ")[0][2:] for line in lines[2:]] == SCORES
    coins = np.random.default_rng(1).random((12, 20)) < 0.5
    told = [(bdp.GuessTable(c + 0.1 * i, c), 0.5, 1.0 + i) for i, c in enumerate(coins)]
    monkeypatch.setattr(dp_sgd_audit, "several", lambda *_, **__: iter(told))
    assert main([*small, "--trainings", "12"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[2:4] == ["| 1 | 0.50 | 1.00 |", "| 2 | 0.50 | 2.00 |"]
    assert lines[-2].startswith("| bound from all canaries")
    assert " to " in lines[-1]
    monkeypatch.setattr(dp_sgd_audit, "rows", lambda *_, **__: [("plain", np.ones((2, 3))), ("ratio", np.eye(3))])
    assert main([*small, "--canaries", "kinds"]) == 0
    lines = capsys.readouterr().out.splitlines()[2:]
    assert lines == [f"| {kind} | 0.333 | 0.33 | 0.33 |" for kind in KINDS]
    monkeypatch.undo()
    monkeypatch.setenv(data.FOLDER, str(tmp_path / "no"))
    for arguments, message in (
        (small, "cannot be read"),
        (["--seeds", "0"], "seeds must be a whole number, at least 1, not 0"),
        ([*small, "--trainings", "0"], "trainings must be a whole number, at least 1, not 0"),
        (["--faults", "0"], "faults must be a whole number, at least 1, not 0"),
        (["--epsilon", "0"], r"epsilon[0] must lie in (0, inf], not 0"),
    ):
        with pytest.raises(SystemExit):
            main(arguments)
        assert message in capsys.readouterr().err
