"""Results are logged to trackers, which are played here."""

from __future__ import annotations

import subprocess
import sys
from types import ModuleType
from typing import Any

import pytest

import bayes_dp as bdp
from bayes_dp import trackers

COUNTS = bdp.ErrorCounts(10, 100, 20, 100)
BOUND = bdp.audits.clopper_pearson(COUNTS, 1e-3)


class Played(ModuleType):
    def __init__(self) -> None:
        super().__init__("mlflow")
        self.metrics: dict[str, float] = {}
        self.files: dict[str, Any] = {}

    def log_metrics(self, metrics: dict[str, float]) -> None:
        assert all(type(value) is float for value in metrics.values())
        self.metrics |= metrics

    def log_dict(self, content: dict[str, Any], artifact_file: str) -> None:
        self.files[artifact_file] = content


class Run:
    def __init__(self) -> None:
        self.logged: dict[str, float] = {}
        self.summary: dict[str, str] = {}

    def log(self, metrics: dict[str, float]) -> None:
        self.logged |= metrics


def test_mlflow(monkeypatch: pytest.MonkeyPatch):
    played, post = Played(), bdp.estimate(COUNTS, 1e-3)
    monkeypatch.setitem(sys.modules, "mlflow", played)
    trackers.to_mlflow(post)
    trackers.to_mlflow(BOUND, "audit")
    low, high = post.interval(0.9)
    assert played.metrics["privacy.epsilon.median"] == post.median
    assert (played.metrics["privacy.epsilon.low"], played.metrics["privacy.epsilon.high"]) == (low, high)
    assert "privacy.strength.median" in played.metrics
    assert played.metrics["audit.epsilon.value"] == BOUND.value
    assert "audit.epsilon.upper" not in played.metrics  # which is infinite
    assert bdp.LowerBound.from_dict(played.files["audit.json"]).value == BOUND.value


def test_wandb():
    run = Run()
    trackers.to_wandb(BOUND, run, "audit")
    assert run.logged == {
        "audit.epsilon.value": BOUND.value,
        "audit.epsilon.confidence": 0.95,
        "audit.epsilon.valid": 1.0,
    }
    assert run.summary == {"audit.summary": str(BOUND)}


def test_what_cannot_be_logged(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "mlflow", None)
    with pytest.raises(bdp.InputError, match="mlflow must be installed"):
        trackers.to_mlflow(BOUND)
    for wrong in (COUNTS, None, 0.5, bdp.compare(COUNTS, 1e-3, names=["katz"])):
        with pytest.raises(bdp.InputError, match="result must be a posterior or what an audit returns"):
            trackers.to_wandb(wrong, Run())  # type: ignore[arg-type]
    with pytest.raises(bdp.InputError, match="run must have log and summary"):
        trackers.to_wandb(BOUND, None)


def test_no_tracker_is_imported_before_it_is_used():
    code = (
        "import sys, bayes_dp; bayes_dp.trackers.metrics; print(sorted({'mlflow', 'wandb', 'jax'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
