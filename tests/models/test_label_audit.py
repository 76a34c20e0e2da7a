"""The audit of labels on data with a known law: what is remembered is seen, and less of it with a mechanism."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from models import label_audit
from models.data import adult
from models.label_audit import Data, audited, main
from models.label_training import MECHANISMS, by_scikit_learn


@pytest.fixture(scope="module")
def data():
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(0)
    x = rng.normal(size=(3500, 3))
    y = (rng.random(3500) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)
    logistic = by_scikit_learn(LogisticRegression)
    return Data(x, y, 700, by_scikit_learn(lambda: DecisionTreeClassifier(random_state=0)), logistic, logistic)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(label_audit, "_QUERIES", 200)
    monkeypatch.setattr(label_audit, "_POPULATION", 300)


def test_what_is_remembered(data):
    found = {(row.mechanism, row.epsilon): row for row in audited(data, [math.inf, 0.5], ["LP-1ST", "ALIBI"], games=3)}
    for name in ("LP-1ST", "ALIBI"):
        open_, private = found[name, math.inf], found[name, 0.5]
        assert open_.bound.valid
        assert open_.bound.value > 2.0 > 0.5 >= private.bound.value
        assert open_.fixed[0] > private.fixed[0]
        assert open_.best[0] >= open_.fixed[0]
    members = found["LP-1ST", math.inf].membership
    assert min(members["calibration"][0], members["rmia-offline"][0]) > 0.2  # of 7 guesses


def test_every_mechanism(data):
    for row in audited(data, [1.0], [name for name in MECHANISMS if name not in ("LP-1ST", "ALIBI")], games=3):
        assert row.bound.value <= 1.0, row.mechanism
        assert 0.3 < row.accuracy < 0.8


def test_a_slack_is_passed_on(data):
    one, other = (next(audited(data, [math.inf], ["LP-1ST"], games=1, tau=tau)) for tau in (0.0, 0.02))
    assert other.bound.value < one.bound.value


@pytest.mark.skipif("BAYES_DP_DATASETS" not in os.environ, reason="BAYES_DP_DATASETS names no folder with Adult")
def test_adult():
    x, kinds, y = adult()
    assert x.shape == (48842, 14)
    assert kinds.sum() == 8
    assert y.sum() == 11687
    assert np.isnan(x).any()


@pytest.mark.slow
@pytest.mark.skipif("BAYES_DP_DATASETS" not in os.environ, reason="BAYES_DP_DATASETS names no folder with the data")
@pytest.mark.parametrize("data_set", ["adult", "fashion"])
def test_bounds_fall_with_epsilon(data_set, capsys):
    """The log ratio of LP-1ST, and PATE as a control near 0."""
    arguments = ["--data", data_set, "--part", "8000", "--games", "5", "--epsilon", "inf", "4", "1"]
    assert main([*arguments, "--mechanisms", "LP-1ST", "PATE, Laplace"]) == 0
    rows = [row.split("|") for row in capsys.readouterr().out.splitlines()[2:]]
    here = [float(row[6]) for row in rows]
    assert here[0] > here[1] > here[2]
    assert here[0] > 2
    assert max(here[3:]) < 0.3


def test_a_missing_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BAYES_DP_DATASETS", str(tmp_path))
    assert main([]) == 2
    assert "adult.csv.gz cannot be read" in capsys.readouterr().err


@pytest.mark.skipif("BAYES_DP_DATASETS" not in os.environ, reason="BAYES_DP_DATASETS names no folder with Adult")
def test_parts_that_leave_too_little(capsys):
    assert main(["--part", "16200"]) == 2
    assert "--part must leave" in capsys.readouterr().err
