"""Observational games and their interventional twins on one learner that learns by heart, and on one that does not."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from models.label_training import by_scikit_learn
from models.label_twins import tables


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2400, 4))
    return x, (rng.random(2400) < 1 / (1 + np.exp(-x[:, 0]))).astype(int)


def aucs(data, by_heart):
    early = by_scikit_learn(LogisticRegression)
    return {name: table.auc().value for name, table in tables(*data, 500, by_heart, early, seed=1)}


def test_a_tree_remembers(data):
    found = aucs(data, by_scikit_learn(lambda: DecisionTreeClassifier(random_state=0)))
    assert set(found) == {"labels", "shown", "canaries", "coins"}
    assert found["canaries"] == 1.0  # every canary's label is learned by heart
    assert min(found.values()) > 0.6
    assert abs(found["shown"] - found["coins"]) < 0.1


def test_a_logistic_regression_does_not(data):
    found = aucs(data, by_scikit_learn(LogisticRegression))
    assert max(found.values()) < 0.6
