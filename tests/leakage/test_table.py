"""Scores of a whole data set: each against the covariance of the other rows, and what is no covariance."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayes_dp import leakage
from bayes_dp.checks import InputError
from bayes_dp.leakage import table as tables

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4)) @ RNG.normal(size=(4, 4)) + [0, 1e3, -5, 2]
X[3] += 30


def by_hand(x, noise=0.0, diagonal=False):
    """Each row against the mean and the covariance of the others."""
    found = []
    for i, row in enumerate(x):
        others = np.delete(x, i, axis=0)
        covariance = np.atleast_2d(np.cov(others.T))
        covariance = np.diag(np.diag(covariance)) if diagonal else covariance
        away = row - others.mean(axis=0)
        found.append(away @ np.linalg.pinv(covariance + np.diag(np.full(x.shape[1], noise) ** 2), rcond=1e-12) @ away)
    return np.array(found) / len(x)


@pytest.mark.parametrize("noise", [0.0, 2.0])
@pytest.mark.parametrize("covariance", leakage.table.COVARIANCES)
def test_without_itself(monkeypatch: pytest.MonkeyPatch, noise: float, covariance):
    monkeypatch.setattr(tables, "_BLOCK", 7)
    found = leakage.scores(X, covariance=covariance, noise=noise)
    np.testing.assert_allclose(found.score, by_hand(X, noise, covariance == "diagonal"), rtol=1e-8)
    assert found.score[3] > 1 > np.delete(found.score, 3).max()  # by all rows, no score exceeds 1


def test_noise_of_each_feature():
    noise = np.array([0.0, 1.0, 0.0, 3.0])
    np.testing.assert_allclose(leakage.scores(X, noise=noise).score, by_hand(X, noise), rtol=1e-8)


def test_columns_that_others_determine_change_nothing():
    more = np.column_stack([X, np.full(40, 7.0), X[:, 0] - 2 * X[:, 2], X[:, 1]])
    for noise in (0.0, 1e-9):
        np.testing.assert_allclose(leakage.scores(more, noise=noise).score, leakage.scores(X).score, rtol=1e-5)
    constant = leakage.scores(np.ones((5, 2)), covariance="full")
    np.testing.assert_array_equal(constant.score, 0.0)
    np.testing.assert_array_equal(leakage.scores(np.ones((5, 2)), covariance="diagonal").score, 0.0)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize(("unit", "noise"), [(1e-200, 0.0), (1e200, 0.0), (1e-120, 0.3), (1e120, 0.3)])
def test_units_whose_squares_have_no_numbers(unit, noise, covariance):
    x = np.random.default_rng(0).normal(size=(30, 3))
    plain = leakage.scores(x, covariance=covariance, noise=noise)
    for units in (np.full(3, unit), np.array([1.0, unit, 1 / unit])):
        found = leakage.scores(x * units, covariance=covariance, noise=noise * units)
        assert np.allclose(found.score, plain.score, rtol=1e-9)


def test_less_than_one_row_is_no_part():
    x = np.random.default_rng(0).normal(size=(50, 2))
    assert leakage.scores(x, subsample=1 / 50).subsample == 1 / 50
    with pytest.raises(InputError, match=r"subsample must leave at least one of the 50 rows, 1/50, not 0.019"):
        leakage.scores(x, subsample=0.019)


def test_units_change_nothing():
    scaled = X * [1e-7, 1e7, 1.0, 3.0]
    np.testing.assert_allclose(leakage.scores(scaled).score, leakage.scores(X).score, rtol=1e-6)


@pytest.mark.parametrize("covariance", leakage.table.COVARIANCES)
def test_a_row_that_shows_by_itself(covariance):
    x = np.column_stack([X, np.arange(40) == 11])
    found = leakage.scores(x, covariance=covariance)
    assert np.isposinf(found.score[11])
    assert np.isfinite(np.delete(found.score, 11)).all()
    assert found.advantage[11] == 1
    assert found.largest(1) == [11]
    assert found.epsilon_at(1e-3)[11] == np.inf
    assert "1 of 40 rows differ in something that no other row has" in found.warnings[-1]
    assert found.to_dict()["score"][11] is None
    hidden = leakage.scores(x, covariance=covariance, noise=0.1)
    assert np.isfinite(hidden.score).all()


@pytest.mark.parametrize("subsample", [0.2, 1.0])
def test_the_columns_of_the_table(tmp_path: Path, subsample: float):
    names = [f"row {i}" for i in range(40)]
    found = leakage.scores(X, subsample=subsample, labels=names)
    frame = found.to_frame(delta=1e-2)
    np.testing.assert_array_equal(frame["score"], found.score)
    np.testing.assert_array_equal(frame["advantage"], leakage.advantage(found.score, subsample=subsample))
    np.testing.assert_array_equal(frame["tpr_at_1_percent"], leakage.power(found.score, 0.01, subsample=subsample))
    np.testing.assert_array_equal(frame["epsilon"], leakage.epsilon(found.score, 0.01, subsample=subsample))
    found.to_csv(tmp_path / "leakage.csv", 1e-2)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "leakage.csv"), frame, rtol=1e-12)
    assert list(pd.read_csv(io.StringIO(leakage.scores(X).csv()))) == ["row", "score", "advantage", "tpr_at_1_percent"]
    assert list(found.largest(3)) == list(np.argsort(-found.score)[:3])
    assert found.name(3) == "row 3"
    assert "row 3" in found.summary()


def test_arrays_frames_and_files_are_one(tmp_path: Path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(site=["north", "south", "west", "east"] * 10)
    frame.to_csv(tmp_path / "data.csv", index=False)
    numbers = np.column_stack([X, *(frame["site"] == site for site in ("north", "south", "west"))]).astype(float)
    wanted = leakage.scores(numbers).score
    for x in (frame, tmp_path / "data.csv", str(tmp_path / "data.csv")):
        np.testing.assert_allclose(leakage.scores(x).score, wanted, rtol=1e-6)
    listed = leakage.scores(X.tolist())
    assert listed.provenance == leakage.scores(X).provenance
    large = X.copy()
    leakage.scores(large)
    np.testing.assert_array_equal(large, X)


def test_many_features_read_too_large():
    rng = np.random.default_rng(1)
    few, many = (leakage.scores(rng.normal(size=(400, d))) for d in (4, 200))
    assert few.score.mean() == pytest.approx(4 / 400, rel=0.03)
    assert many.score.mean() == pytest.approx(2 * 200 / 400, rel=0.05)
    assert few.warnings == ()
    assert many.warnings == ("200 features of 400 rows: scores read too large by a factor of up to about 2.",)
    assert leakage.scores(rng.normal(size=(400, 200)), covariance="diagonal").score.mean() == pytest.approx(
        0.5, rel=0.05
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": X[:6], "covariance": "full"}, r"x must have more rows than features by 3, as 4 are estimated from 6"),
        ({"x": X[:3]}, "x must have at least 4 rows, not 3"),
        ({"x": np.where(X > 1e9, 0, np.where(np.arange(4) == 2, np.nan, X))}, "x cannot be used: .*row 0: column 2"),
        ({"x": X[0]}, "x cannot be used"),
        ({"x": X, "covariance": "spherical"}, "covariance must be 'full' or 'diagonal', not 'spherical'"),
        ({"x": X, "noise": [1.0, 2.0]}, "noise must be a number, or one for each of the 4 features"),
        ({"x": X, "noise": -1.0}, "noise must lie in"),
        ({"x": X, "subsample": 0}, "subsample must lie in"),
        ({"x": X, "labels": ["a"]}, "labels must hold 40 labels, one per row"),
    ],
)
def test_what_cannot_be(arguments, message):
    with pytest.raises(InputError, match=message):
        leakage.scores(**arguments)
    assert len(leakage.scores(X[:7])) == 7
    with pytest.raises(InputError, match="row must be a whole number from 0 to 39, not 40"):
        leakage.scores(X).name(40)
