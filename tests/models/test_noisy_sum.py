"""The noisy sum: exact propensities, scores of the right size, and a small version of the figure."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import mpmath
import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from models import noisy_sum
from models.noisy_sum import METHODS, Settings, figure_2a, log_odds, main, overlap, plot, sample

SMALL = Settings(ratio=0.5, examples=2000, dimension=500, bias=2.0)


@pytest.mark.parametrize("dimension", [2, 3, 40, 10_000])
@pytest.mark.parametrize("bias", [0.5, 4.0])
def test_log_odds_by_another_integration(dimension, bias):
    settings = Settings(ratio=0.3, dimension=dimension, bias=bias)

    def log_integral(v):
        """∫ s^{d−1} exp(−s²/2 + vs) ds over s > 0 by the parabolic cylinder function, Γ(d) e^{v²/4} U(d − ½, −v)."""
        with mpmath.workdps(40):
            return mpmath.log(mpmath.pcfu(mpmath.mpf(dimension) - 0.5, -v)) + mpmath.mpf(v) ** 2 / 4

    for t in (-0.9, -0.02, 0.0, 0.03, 0.7) if dimension <= 40 else (-0.03, 0.0, 0.05):
        expected = -(1 - 0.09) * bias**2 / 2 + log_integral(bias * t) - log_integral(0.3 * bias * t)
        assert log_odds(np.array(t), settings) == pytest.approx(float(expected), rel=1e-9, abs=1e-10)


def test_without_shift_membership_is_a_fair_coin():
    settings = Settings(1.0, 500, 50)
    np.testing.assert_array_equal(log_odds(np.linspace(-1, 1, 9), settings), np.zeros(9))
    assert overlap(settings) == 0.5
    drawn = sample(settings)
    np.testing.assert_array_equal(drawn.scores.propensity, np.full(500, 0.5))


def test_propensities_are_what_they_say():
    drawn = sample(Settings(0.3, 40_000, 30, bias=2.0), seed=1).scores
    for low in np.arange(0.0, 1.0, 0.1):
        inside = (drawn.propensity >= low) & (drawn.propensity < low + 0.1)
        if inside.sum() > 500:
            error = 4 * np.sqrt(0.25 / inside.sum())
            assert drawn.member[inside].mean() == pytest.approx(drawn.propensity[inside].mean(), abs=error)
    assert 0.4 < drawn.member.mean() < 0.6


@pytest.mark.parametrize("failure", [0.01, 1e-4])
def test_the_overlap_fails_as_often_as_it_says(failure):
    settings = Settings(0.5, 1_000_000, 100)
    rng, eta = np.random.default_rng(0), overlap(settings, failure)
    for shift in (2.0, 1.0):
        z, rest = rng.normal(shift, 1, 1_000_000), rng.chisquare(99, 1_000_000)
        t = z / np.sqrt(z**2 + rest)
        # the log-odds grow with t, so it is enough to look where they pass the limit
        grid = np.linspace(-0.9, 0.9, 20_001)
        logit = log_odds(grid, settings)
        assert (np.diff(logit) > 0).all()
        far = np.abs(np.interp(t, grid, logit)) > special.logit(1 - eta)
        assert far.mean() <= failure * (1 + 4 / np.sqrt(1e6 * failure))


def test_a_member_has_its_own_share_in_its_score():
    gap = []
    for seed in range(20):
        drawn = sample(Settings(1.0, 1000, 1000), seed).scores
        gap.append(drawn.score[drawn.member].mean() - drawn.score[~drawn.member].mean())
    assert np.mean(gap) == pytest.approx(1.0, abs=0.1)


def test_a_shift_raises_the_scores_of_members_and_the_residuals_less():
    drawn = sample(Settings(0.3, 4000, 2000), 0)

    def gap(table):
        return table.score[table.member].mean() - table.score[~table.member].mean()

    assert gap(drawn.scores) > 1.5
    assert abs(gap(drawn.residuals)) < 1.0
    np.testing.assert_array_equal(drawn.scores.propensity, drawn.residuals.propensity)
    correlation = np.corrcoef(drawn.residuals.score, special.logit(drawn.residuals.propensity))[0, 1]
    assert abs(correlation) < 1e-9


def test_same_seed_same_sample():
    one, again, other = (sample(SMALL, seed).scores for seed in (3, 3, 4))
    assert one == again
    assert one != other


def test_a_small_figure(monkeypatch):
    frame = figure_2a((1.0, 0.3), repetitions=2, settings=Settings(1.0, 2000, 2000, bias=4.0, mu=1.2))
    assert list(frame.columns) == ["ratio", "repetition", "method", "bound", "truth", "log_odds"]
    assert len(frame) == 2 * 2 * len(METHODS)
    bound = frame.groupby(["ratio", "method"])["bound"].mean()
    assert bound[0.3]["one-run, shift ignored"] > 1.2  # which is wrong
    for method in list(METHODS)[1:]:
        assert bound[0.3][method] < 1.2
    np.testing.assert_allclose(bound[1.0].to_numpy(), bound[1.0].mean(), atol=0.05)  # without a shift all are alike
    assert bound[0.3]["compositional"] == 0
    assert bound[0.3]["directional, aware"] > 0
    ax = plot(frame)
    assert [line.get_label() for line in ax.get_lines()][:-1] == list(METHODS)
    assert plot(frame, ax) is ax
    plt.close(ax.figure)


def test_the_program(monkeypatch, capsys, tmp_path):
    small = figure_2a((1.0, 0.5), 1, settings=Settings(1.0, 1000, 50))
    monkeypatch.setattr(noisy_sum, "figure_2a", lambda repetitions, seed: small)
    with pytest.raises(SystemExit):  # before the work
        main(["--figure", str(tmp_path / "none" / "figure.png"), "--repetitions", "1000000"])
    assert "none/figure.png cannot be written" in capsys.readouterr().err
    assert main(["--figure", str(tmp_path / "figure.png"), "--repetitions", "1"]) == 0
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert "directional, aware" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ratio": 0.0}, "ratio must lie in (0, 1], not 0.0"),
        ({"ratio": 1.5}, "ratio must lie in (0, 1], not 1.5"),
        ({"mu": 0.0}, "mu must lie in (0, inf], not 0.0"),
        ({"bias": -1.0}, "bias must lie in [0, inf], not -1.0"),
        ({"examples": 0}, "examples must be a whole number, at least 1, not 0"),
        ({"dimension": 1.5}, "dimension must be a whole number, at least 2, not 1.5"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(bdp.InputError, match=re.escape(message)):
        Settings(**wrong)
