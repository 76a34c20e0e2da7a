"""Shadow models: fair coins, the same bits however they are trained, and nothing lost to an interruption."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

import bayes_dp as bdp
from bayes_dp.attacks import shadow
from tests.data.test_counts import refusal

ROOT = Path(__file__).parents[2]
RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(80, 30)), RNG.integers(0, 3, 80)


def fit(x: np.ndarray, y: np.ndarray) -> LogisticRegression:
    return LogisticRegression(C=100).fit(x, y)


def seeded(x: np.ndarray, y: np.ndarray, seed: int) -> MLPClassifier:
    return MLPClassifier((4,), max_iter=200, tol=1e-2, random_state=seed).fit(x, y)


class Stopped(Exception):  # noqa: N818
    """As if somebody had stopped it."""


left: list[None] = []  # fits before the next one stops


def stopped(x: np.ndarray, y: np.ndarray) -> LogisticRegression:
    if not left:
        raise Stopped
    left.pop()
    return fit(x, y)


def until(fits: int) -> Any:
    """A function that fits so many models, and then stops; always the same one."""
    left[:] = [None] * fits
    return stopped


def test_each_model_is_trained_on_its_members():
    sets = []

    def noted(x: np.ndarray, y: np.ndarray) -> LogisticRegression:
        sets.append((x, y))
        return fit(x, y)

    found = shadow(noted, X, Y, 4, population=(X[:5] + 1, Y[:5]))
    for row, (x, y) in zip(found.member == 1, sets, strict=True):
        np.testing.assert_array_equal(x, X[row])
        np.testing.assert_array_equal(y, Y[row])
    models = [fit(X[row == 1], Y[row == 1]) for row in found.member]
    again = bdp.ScoreMatrix.from_models(models, X, Y, found.member, population=(X[:5] + 1, Y[:5]))
    np.testing.assert_allclose(again.statistic, found.statistic, rtol=1e-9)
    np.testing.assert_allclose(again.population, found.population, rtol=1e-9)


def constant(x: np.ndarray, y: np.ndarray) -> Any:
    return lambda asked: np.zeros((len(asked), 3))


def test_the_coins_are_fair_and_independent():
    x, y = np.zeros((2000, 1)), np.zeros(2000, int)
    found = shadow(constant, x, y, 30)
    assert np.abs(found.member.mean(axis=1) - 0.5).max() < 4 * 0.5 / np.sqrt(2000)
    assert np.abs(np.corrcoef(found.member) - np.eye(30)).max() < 4.5 / np.sqrt(2000)
    other = shadow(constant, x, y, 2, seed=1)
    assert 0.4 < (other.member == found.member[:2]).mean() < 0.6


def test_more_models_leave_the_first_ones_as_they_are():
    few, more = (shadow(seeded, X, Y, n, seed=3) for n in (2, 4))
    np.testing.assert_array_equal(more.statistic[:2], few.statistic)
    np.testing.assert_array_equal(more.member[:2], few.member)
    assert len(np.unique(more.statistic[:, 0])) == 4


def test_the_same_bits_whatever_the_backend():
    expected = shadow(seeded, X, Y, 3, seed=5)
    for backend in ("threading", "loky"):
        with parallel_config(backend=backend, n_jobs=2):
            assert shadow(seeded, X, Y, 3, seed=5) == expected
    assert shadow(seeded, X, Y, 3, seed=5, n_jobs=2) == expected
    assert shadow(seeded, X, Y, 3, seed=6) != expected


@pytest.mark.slow
def test_the_same_bits_on_dask():
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    expected = shadow(seeded, X, Y, 3, seed=5)
    with (
        distributed.Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None),
        parallel_config(backend="dask"),
    ):
        assert shadow(seeded, X, Y, 3, seed=5) == expected


def test_an_interrupted_run_goes_on(tmp_path: Path):
    expected = shadow(fit, X, Y, 5)
    with pytest.raises(Stopped):
        shadow(until(2), X, Y, 5, checkpoint=tmp_path)
    files = sorted(each.name for each in tmp_path.iterdir())
    assert files == ["model00000.npz", "model00001.npz", "settings.json"]
    before = {name: (tmp_path / name).stat().st_mtime_ns for name in files}
    assert shadow(until(3), X, Y, 5, checkpoint=tmp_path) == expected
    assert {name: (tmp_path / name).stat().st_mtime_ns for name in files} == before
    assert shadow(until(0), X, Y, 5, checkpoint=str(tmp_path)) == expected
    assert len(shadow(until(1), X, Y, 6, checkpoint=tmp_path)) == 6  # and with one more


def test_a_killed_run_goes_on(tmp_path: Path):
    code = (
        "import time; from bayes_dp.attacks import shadow; from tests.attacks import test_shadow_models as t\n"
        f"shadow(t.slow, t.X, t.Y, 50, checkpoint={str(tmp_path)!r})"
    )
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        latest = time.monotonic() + 60
        while process.poll() is None and not list(tmp_path.glob("model*.npz")) and time.monotonic() < latest:
            time.sleep(0.01)
    finally:
        process.kill()
        process.wait()
    done = len(list(tmp_path.glob("model*.npz")))
    assert 0 < done < 50
    (tmp_path / f".{'0' * 16}.tmp").write_bytes(b"half a mod")
    assert shadow(slow, X, Y, done + 1, checkpoint=tmp_path).digest() == shadow(fit, X, Y, done + 1).digest()
    assert not list(tmp_path.glob(".*.tmp"))


def slow(x: np.ndarray, y: np.ndarray) -> LogisticRegression:
    time.sleep(0.05)
    return fit(x, y)


def penalized(x: np.ndarray, y: np.ndarray, c: float) -> LogisticRegression:
    return LogisticRegression(C=c).fit(x, y)


def test_files_that_were_changed_are_named(tmp_path: Path):
    expected = shadow(fit, X, Y, 2, checkpoint=tmp_path)
    file = tmp_path / "model00001.npz"
    content = file.read_bytes()
    file.write_bytes(content[:-30])
    assert f"{file} is damaged; delete it" in refusal(shadow, fit, X, Y, 2, checkpoint=tmp_path)
    with np.load(tmp_path / "model00000.npz") as archive:
        arrays = dict(archive)
    np.savez(file, **arrays)  # of another model
    assert f"{file} was changed; delete it" in refusal(shadow, fit, X, Y, 2, checkpoint=tmp_path)
    file.unlink()
    assert shadow(fit, X, Y, 2, checkpoint=tmp_path) == expected


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 1},
        {"x": X + 1},
        {"y": 2 - Y},
        {"population": (X[:2], Y[:2])},
        {"fit": slow},
        {"fit": partial(penalized, c=2.0)},
    ],
)
def test_a_folder_of_something_else_is_refused(tmp_path: Path, other: dict[str, Any]):
    same = partial(penalized, c=1.0) if isinstance(other.get("fit"), partial) else fit
    given = {"fit": same, "x": X, "y": Y, "models": 1, "checkpoint": tmp_path}
    shadow(**given)
    shadow(**given)
    assert "is of other examples, or of another fit, output or seed" in refusal(shadow, **given | other)


def test_refused(tmp_path: Path):
    assert refusal(shadow, 3, X, Y) == "fit must be a function of examples and their classes, not 3"
    assert refusal(shadow, fit, X, Y, 0) == "models must be a whole number, at least 1, not 0"
    assert refusal(shadow, fit, X, Y[:3]).startswith("y must hold a class for each of the 80 examples, not")
    assert refusal(shadow, fit, X, Y, checkpoint=3) == "checkpoint must be a path, not int"
    (tmp_path / "file").write_text("")
    assert "cannot be used: " in refusal(shadow, fit, X, Y, checkpoint=tmp_path / "file")
    (tmp_path / "settings.json").write_text(json.dumps({"format": "other"}))
    assert "is of other examples" in refusal(shadow, fit, X, Y, checkpoint=tmp_path)
    assert refusal(shadow, lambda x, y: 3, X, Y).startswith("the model of fit, number 0, must have predict_proba")
    assert "model 0 would be trained on none of them" in refusal(shadow, fit, X[:1], Y[:1], 5, seed=0)


def test_progress(capfd: pytest.CaptureFixture[str]):
    shadow(fit, X, Y, 2, progress=True)
    assert "2/2" in capfd.readouterr().err
    shadow(fit, X, Y, 2)
    assert capfd.readouterr() == ("", "")
