"""Dirac canaries: the law of what they see, faults and all, and bounds that stay below the accountant's ε."""

from __future__ import annotations

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.checks import InputError
from models.dirac_canaries import FAULTS, bounds, main, noise_for, transcript

MEMBER = np.arange(2000) % 2 == 0
Q, SIGMA, STEPS = 0.2, 0.5, 20


def drawn(fault=None):
    return transcript(MEMBER, SIGMA, Q, STEPS, np.random.default_rng(0), fault)


def test_the_law_of_a_step():
    inner = drawn()
    assert inner.shape == (STEPS, 2000)
    assert inner[:, ~MEMBER].std() == pytest.approx(SIGMA, rel=0.02)
    assert inner[:, MEMBER].mean() == pytest.approx(Q, abs=0.01)
    assert inner[:, MEMBER].var() == pytest.approx(SIGMA**2 + Q * (1 - Q), rel=0.03)
    assert inner[:, MEMBER].sum(axis=0).var() == pytest.approx(STEPS * (SIGMA**2 + Q * (1 - Q)), rel=0.12)


def test_the_faults():
    half, shuffled, large, frozen = (drawn(fault) for fault in FAULTS)
    assert half[:, ~MEMBER].std() == pytest.approx(SIGMA / 2, rel=0.02)
    assert shuffled[:, MEMBER].mean() == pytest.approx(Q, abs=0.01)
    assert shuffled[:, MEMBER].sum(axis=0).var() == pytest.approx(STEPS * SIGMA**2, rel=0.12)  # 4 of 20 steps for all
    assert large[:, MEMBER].mean() == pytest.approx(3 * Q, abs=0.02)
    np.testing.assert_array_equal(frozen[0, ~MEMBER], frozen[4, ~MEMBER])
    assert (frozen[4, ~MEMBER] != frozen[5, ~MEMBER]).all()
    with pytest.raises(InputError, match=r"fault must be 'half noise', .* or None, not 'other'"):
        drawn("other")


def test_the_noise_for_an_epsilon():
    sigma = noise_for(2.0, 0.5, 10)
    assert bdp.Claim.dp_sgd(sigma, 0.5, 10).epsilon_at(1e-5) == pytest.approx(2.0, rel=5e-3)


def test_bounds_stay_below():
    epsilon = bdp.Claim.dp_sgd(0.8, 0.1, 50).epsilon_at(1e-5)
    plain, gaussian = bounds(500, 60, 0.8, 0.1, 50, runs=40)
    assert plain.shape == gaussian.shape == (40,)
    assert (plain > 0).mean() > 0.5
    assert (np.concatenate([plain, gaussian]) > epsilon).sum() <= 4


@pytest.mark.slow
def test_the_bounds_of_the_documentation():
    """ε = 4: 5000 canaries, 400 guesses, at least 1.5 and 2.2 on average; 1000 canaries, above ε in 5% at most."""
    sigma = noise_for(4.0, 0.1, 200)
    large, small = (bounds(m, r, sigma, 0.1, 200, runs=200, seed=1) for m, r in ((5000, 400), (1000, 100)))
    assert large[0].mean() >= 1.5
    assert large[1].mean() >= 2.2
    assert all((bound > 4.0).mean() <= 0.05 for bound in small)


def test_the_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("models.dirac_canaries.noise_for", lambda *_: 1.0)
    assert main(["--runs", "2", "--steps", "5"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
    with pytest.raises(SystemExit):
        main(["--rate", "0"])
