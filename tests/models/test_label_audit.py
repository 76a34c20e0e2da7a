"""The audit of labels on data with a known law: what is remembered is seen, and less of it with a mechanism."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest

from models import label_audit
from models.data import adult
from models.label_audit import MECHANISMS, audited, main


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2100, 3))
    return x, (rng.random(2100) < 1 / (1 + np.exp(-x[:, 0]))).astype(int), np.zeros(3, dtype=bool)


def test_what_is_remembered(data, monkeypatch):
    monkeypatch.setattr(label_audit, "_GAMES", 3)
    monkeypatch.setattr(
        label_audit, "MECHANISMS", {name: MECHANISMS[name] for name in ("randomized response", "ALIBI")}
    )
    found = {(name, epsilon): bound for name, epsilon, bound in audited(*data, 700, [math.inf, 0.5], share=0.2)}
    for name in ("randomized response", "ALIBI"):
        assert found[name, math.inf].value > 1.0
        assert found[name, 0.5].value <= 0.5


@pytest.mark.slow
def test_every_mechanism(data):
    for name, epsilon, bound in audited(*data, 700, [math.inf, 1.0], share=0.2):
        assert bound.value <= epsilon, name


@pytest.mark.skipif("BAYES_DP_DATASETS" not in os.environ, reason="BAYES_DP_DATASETS names no folder with Adult")
def test_adult():
    x, kinds, y = adult()
    assert x.shape == (48842, 14)
    assert kinds.sum() == 8
    assert y.sum() == 11687
    assert np.isnan(x).any()


def test_a_missing_file(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("BAYES_DP_DATASETS", str(tmp_path))
    assert main([]) == 2
    assert "adult.csv.gz cannot be read" in capsys.readouterr().err
