"""Models at degrees of over-fitting: what is over-fitted is seen, and what is not is not."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.attacks import Bonferroni, guess
from bayes_dp.audits.one_run import one_run
from bayes_dp.audits.panoramia import panoramia
from models.net import snapshots, train
from models.panoramia import by_losses, encoded, images, main, played, private, tabular, text, tiny

datasets = pytest.mark.skipif(
    "BAYES_DP_DATASETS" not in os.environ, reason="BAYES_DP_DATASETS names no folder with the data sets"
)


def values(task, rows, seeds=1):
    """ε̃, or the bound, of each row and model, means over the seeds; and the largest c_lb of each row."""
    found, closest = {}, {}
    for row, games in played(task, seeds, rows=rows):
        bounds = {name: [panoramia(each[k]) for k in range(seeds)] for name, each in games.items()}
        found[row.split(",")[0]] = {name: np.mean([one.value for one in each]) for name, each in bounds.items()}
        closest[row.split(",")[0]] = max(
            one.details.get("c_lower_bound", 0.0) for each in bounds.values() for one in each
        )
    return found, closest


def test_a_network_learns_and_its_snapshots_are_those_of_shorter_trainings():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 5))
    y = (x[:, 0] > 0).astype(int) + (x[:, 1] > 0)
    early, late = snapshots(x, y, (2, 300), hidden=(32,))
    assert (early(x).argmax(axis=1) == y).mean() + 0.1 < (late(x).argmax(axis=1) == y).mean()
    again = train(x, y, epochs=2, hidden=(32,))
    np.testing.assert_array_equal(early(x), again(x))


def test_columns_of_a_table():
    x = np.array([[1.0, 3.0], [np.nan, np.nan], [0.0, 5.0]])
    found = encoded(x, np.array([True, False]), np.array([3, 0]), np.array([0.5, 4.0]), np.array([1.0, 2.0]))
    np.testing.assert_array_equal(found, [[0, 0, 1, -0.5], [1, 0, 0, 0], [0, 1, 0, 0.5]])


def test_the_tiny_task_and_its_table(capsys, tmp_path):
    found, _ = values(tiny(), ["real", "Gaussians"])
    for row in found.values():
        assert row["5 trees"] < 0.3 < row["100 trees"]
    figure = tmp_path / "figure.png"
    assert main(["tiny", "--seeds", "1", "--rows", "real", "--figure", str(figure)]) == 0
    assert figure.read_bytes().startswith(b"\x89PNG")
    losses, real, attack = capsys.readouterr().out.splitlines()[2:]
    assert real.startswith("| real non-members, helper on D_G | 0.00 | 0.00 |")
    assert losses.startswith("| O(1): losses, real non-members | – | 0.00 |")
    name, c, few, many = attack.strip("| ").split(" | ")
    assert (name, c) == ("O(1): the attack, real non-members", "–")
    assert float(few) < 0.3 < 1.0 < float(many)


def test_losses_alone():
    """The bound of the audit of one run, from losses that say all or nothing: the 200 surest of 400 guesses are right,
    and as a few of all are not, that is the best of six numbers."""
    task = tiny()
    known = {float(each) for each in task.members[0][:, 0]}

    def model(x):
        """Logits of the right class by heart."""
        return np.array([[0.0, 9.0 if float(each) in known else -9.0] for each in x[:, 0]])

    sides = {name: (getattr(task, name)[0], np.ones(len(getattr(task, name)[0]), int)) for name in ("members", "real")}
    seen = replace(task, **sides, targets={"told": model, "flat": lambda x: 0 * model(x)})
    games = by_losses(seen, 2)
    bounds = {name: one_run(guess(each.tables(1)[0], Bonferroni()), 0.0).value for name, each in games.items()}
    assert bounds["told"] == pytest.approx(one_run(bdp.Guesses(400, 200, 200), 0.0, confidence=1 - 0.05 / 6).value)
    assert bounds["flat"] < 0.3
    assert (games["told"].member[0] != games["told"].member[1]).any()
    assert len(games["told"].member[0]) == 400


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rows", "copula"], "rows must hold a word of O(1): losses, real non-members; real non-members, helper"),
        (["--rows", "losses", "--figure", "figure.png"], "figure is of a row of real non-members, helper"),
        (["--figure", "nowhere/figure.png"], "nowhere"),
        (["--seeds", "0"], "seeds must be a whole number, at least 1, not 0"),
        (["--pairs", "0"], "pairs must be a whole number, at least 1, not 0"),
        (["--members", "20"], "at least 20 members"),
    ],
)
def test_what_cannot_be_made(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        main(["tiny", *arguments])
    assert message in capsys.readouterr().err


def test_a_data_set_that_is_missing(monkeypatch, capsys, tmp_path):
    monkeypatch.setenv("BAYES_DP_DATASETS", str(tmp_path))
    with pytest.raises(SystemExit):
        main(["text"])
    assert "state_of_the_union.txt.gz cannot be read" in capsys.readouterr().err


@datasets
@pytest.mark.slow
def test_images():
    found, closest = values(images(), ["real", "10 Gaussians a class, helper"], seeds=3)
    for row in found.values():
        assert row["E5"] < row["E30"] < row["E100"]
    assert found["real non-members"]["E100"] >= 2.0
    assert found["10 Gaussians a class"]["E100"] >= 1.0
    assert closest["10 Gaussians a class"] < 2.0


@datasets
@pytest.mark.slow
def test_private_models():
    found, _ = values(private(epsilons=(1, 10)), ["real"])
    row = found["real non-members"]
    assert row["DP-SGD, ε = 1"] <= row["DP-SGD, ε = 10"] + 0.1 <= 0.4
    assert row["no noise"] >= 0.8


@datasets
@pytest.mark.slow
def test_a_table():
    found, closest = values(tabular(), ["CART", "copula"], seeds=2)
    cart = found["sequential CART"]
    assert cart["net, E5"] < 0.3 < 0.8 <= cart["500 trees"]
    assert cart["20 trees"] < cart["200 trees"] < cart["500 trees"]
    assert closest["sequential CART"] <= 0.2
    assert max(found["Gaussian copula"].values()) < 0.5  # nothing is seen
    assert closest["Gaussian copula"] > 2.0


@datasets
@pytest.mark.slow
def test_texts():
    found, _ = values(text(), ["real", "6-grams"])
    for row in found.values():
        assert max(row["5-grams"], row["6-grams"]) + 1.0 < row["8-grams"]
        assert row["network, E3"] <= row["network, E10"] + 0.2
    assert found["real non-members"]["5-grams"] + 0.5 < found["real non-members"]["6-grams"]
