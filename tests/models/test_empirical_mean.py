"""The games of the paper: figure, table of posteriors, and how long the rounds take."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from models import empirical_mean
from models.empirical_mean import Bernoulli, EmpiricalMean, main, paper

SMALL = 300  # features, where the paper has 5000


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(empirical_mean, "N", 60)
    monkeypatch.setattr(empirical_mean, "paper", lambda seed: paper(seed, SMALL))


def test_the_figure(small, capsys: pytest.CaptureFixture[str], tmp_path: Path):
    assert main(["--figure", str(tmp_path / "figure.png"), "--rounds", "400"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 13
    assert all(abs(float(line.split()[-1])) < 4.5 for line in lines[1:])
    assert (tmp_path / "figure.png").stat().st_size > 10_000


def test_where_the_printed_curve_is_impossible(small):
    axes = Figure().subplots(2, 3).ravel()
    empirical_mean.figure_2(axes, rounds=200)
    dotted = [line for line in axes[5].lines if line.get_linestyle() == ":"]
    assert len(dotted) == 3
    alpha, printed = dotted[-1].get_data()
    assert (printed > 0.9 * alpha + 0.1 + 1e-9).any()  # ρ = 0.1
    assert not [line for ax in axes[:5] for line in ax.lines if line.get_linestyle() == ":"]


def test_the_posteriors(small, capsys: pytest.CaptureFixture[str]):
    assert main(["--estimate", "--rounds", "400"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[0] for row in rows] == ["easy", "medium", "hard", "all"]
    for row in rows[:3]:
        assert abs(float(row[2]) - float(row[1])) < 0.6


def test_the_three_data():
    law, data = paper(0, SMALL)
    mechanism = EmpiricalMean(law, 60)
    scores = [mechanism.score(z) for z in data.values()]
    assert scores[0] > scores[1] > scores[2]
    assert scores[1] == pytest.approx(SMALL / 60, rel=0.1)
    np.testing.assert_array_equal(data["easy"], 1 - data["hard"])


def test_probabilities_are_checked():
    from bayes_dp.checks import InputError

    with pytest.raises(InputError, match=r"p\[1\] must lie in \(0, 1\)"):
        Bernoulli(np.array([0.5, 1.0]))


@pytest.mark.parametrize("arguments", [[], ["--figure", "none/a.png"], ["--estimate", "--rounds", "1"]])
def test_what_is_refused(arguments, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit):
        main(arguments)
    assert "error: " in capsys.readouterr().err


@pytest.mark.slow
def test_the_theory_is_inside_the_error_of_the_games():
    """Of the paper's sizes: 12 curves, by standard errors; two of them are the same game."""
    found = empirical_mean.figure_2(Figure().subplots(2, 3).ravel(), seed=1)
    apart = np.array([(seen - truth) / error for _, truth, seen, error in found])
    assert np.abs(apart).max() < 3.5
    assert abs(apart.mean()) < 1.5
