"""The study of zero-run audits: its simulated guesses are what they say, and it notices an audit that is wrong."""

import numpy as np
import pytest
from scipy import special

from bayes_dp.audits.tampering import lower_bounds
from bayes_dp.calibrate import shifted, study
from bayes_dp.calibrate.mechanisms import NoisyScore, RandomizedResponse
from bayes_dp.calibrate.shifted import ADVERSARIES, SHIFTS, largest_rejected_epsilon, simulate
from bayes_dp.tradeoff import Gaussian

SIZE = 2000


@pytest.fixture
def small(monkeypatch):
    for name, value in {"EXAMPLES": 60, "GUESSES": 40, "SAMPLE": 3}.items():
        monkeypatch.setattr(shifted, name, value)
    monkeypatch.setattr(shifted, "SHIFTS", {"strong shift": (3.0, False)})
    monkeypatch.setattr(shifted, "ADVERSARIES", ("exploiting",))


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("adversary", ADVERSARIES)
@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_guesses_are_right_as_often_as_response_and_features_say(shift, adversary, epsilon):
    """With a randomized response, guesses by the response are right with chance σ(ε + lean), whatever was chosen."""
    audits = simulate(RandomizedResponse(epsilon), shift, adversary, SIZE // 4, np.random.default_rng(0))
    assert audits.leans.shape == audits.right.shape == audits.coins.shape == (SIZE // 4, 100)
    assert np.abs(audits.leans).max() <= SHIFTS[shift][0]
    # The exploiting adversary may go against the response; then the chance is σ(lean − ε).
    chances = {sign: special.expit(sign * epsilon + audits.leans) for sign in (1, -1)}
    error = 4 * np.sqrt(0.25 / audits.right.size)
    if adversary == "exploiting":
        assert audits.right.mean() <= chances[1].mean() + error
        assert audits.right.mean() >= chances[-1].mean() - error
    else:
        assert audits.right.mean() == pytest.approx(chances[1].mean(), abs=error)


def test_adversaries_differ_as_they_should():
    leans = {
        adversary: simulate(RandomizedResponse(1.0), "strong shift", adversary, 500, np.random.default_rng(1)).leans
        for adversary in ADVERSARIES
    }
    assert leans["exploiting"].mean() > 2  # goes with the features
    assert leans["aware"].mean() < 0 < leans["unaware"].mean()  # avoids them
    noise = simulate(NoisyScore(Gaussian(1.0)), "no shift", "unaware", 2000, np.random.default_rng(2))
    assert noise.right.mean() > 0.75  # the surest quarter
    assert not noise.leans.any()


def test_the_largest_rejected_epsilon_by_a_scan():
    rng = np.random.default_rng(3)
    most = lower_bounds(60, 60, np.arange(61), 0.0, 0.05)
    steps = np.where(rng.random((30, 60)) < 0.9, rng.exponential(0.6, (30, 60)) * (rng.random((30, 60)) < 0.6), np.inf)
    found = largest_rejected_epsilon(60, 60, steps, 0.05)
    grid = np.linspace(0, 6, 6001)
    for row, value in zip(steps, found, strict=True):
        rejected = grid < most[(row[:, None] <= grid).sum(axis=0)]
        largest = grid[np.flatnonzero(rejected)[-1]] if rejected.any() else 0.0
        assert value == pytest.approx(largest, abs=1.1e-3)
    assert (found > 0).sum() > 10


@pytest.mark.usefixtures("small")
def test_it_passes():
    done = study("zero-run", repetitions=SIZE)
    assert done.passed
    assert {row.mechanism.split(",")[0] for row in done.rows if row.audit == "untampered"} == {"strong shift"}


WRONG = {
    "untampered_bounds": lambda right: lambda leans, correct, p: right(0.8 * leans, correct, p),
    "tampered_bounds": lambda right: lambda m, r, steps, delta, p: right(m, r, np.where(steps < 1, 0, steps), delta, p),
    "compositional_bounds": lambda right: (
        lambda m, r, v, p, *, delta, overlap: right(m, r, v, p, delta=delta, overlap=0.5)
    ),
    "charged_lower_bounds": lambda right: (
        lambda m, r, v, p, *, overlap, shift_delta: right(m, r, v, p, overlap=overlap, shift_delta=0.0)
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.usefixtures("small")
def test_a_wrong_audit_is_noticed(name, monkeypatch):
    monkeypatch.setattr(shifted, name, WRONG[name](getattr(shifted, name)))
    assert not study("zero-run", repetitions=SIZE).passed
