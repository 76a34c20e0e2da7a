"""The compositional zero-run bound: golden values, its limit without shift, and validity under a known shift."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.audits.one_run import lower_bounds
from bayes_dp.audits.zero_run import compositional
from bayes_dp.guesses import Guesses

# m, r, v, p, δ, η, δ_DS -> bound
COMPOSITIONAL = [
    ((1000, 200, 190, 0.05, 1e-5, 0.3, 1e-4), 1.5003025983778964),
    ((1000, 200, 110, 0.05, 0.0, 0.3, 0.0), 0.0),
    ((10000, 1000, 990, 0.05, 1e-6, 0.2, 1e-6), 2.6689442584761904),
]


@pytest.mark.parametrize(("given", "expected"), COMPOSITIONAL)
def test_figures(given, expected):
    m, r, v, p, delta, eta, shift_delta = given
    found = compositional(Guesses(m, r, v), delta, overlap=eta, shift_delta=shift_delta, confidence=1 - p)
    assert found.value == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_figures_are_the_golden_ones():
    folder = os.environ.get("BAYES_DP_GOLDEN")
    if folder is None:
        pytest.skip("BAYES_DP_GOLDEN is not set")
    cases = json.loads((Path(folder) / "audits_zero_run.json").read_text())
    names = ("m", "r", "v", "p", "delta", "eta", "delta_ds")
    found = [
        (tuple(c["inputs"][n] for n in names), c["expected"])
        for c in cases
        if c["inputs"]["function"] == "zr_comp_eps_lb"
    ]
    assert found == COMPOSITIONAL


def test_without_shift_it_is_the_one_run_bound():
    guesses = Guesses(1000, 300, 250)
    for delta in (0.0, 1e-5):
        assert compositional(guesses, delta, overlap=0.5).value == lower_bounds(1000, 300, 250, delta, 1 - 0.95)
    assert compositional(guesses, 0.0, overlap=0.3).value < compositional(guesses, 0.0, overlap=0.4).value


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_it_holds_where_features_tell_members(epsilon):
    """Propensities 0.3 or 0.7, randomized response, and guesses only where both say the same."""
    rng, m, repetitions = np.random.default_rng(4), 300, 20_000
    propensity = np.where(rng.random((repetitions, m)) < 0.5, 0.3, 0.7)
    member = rng.random((repetitions, m)) < propensity
    told = np.where(rng.random((repetitions, m)) < special.expit(epsilon), member, ~member)
    agree = told == (propensity > 0.5)
    made, correct = agree.sum(axis=1), (agree & (told == member)).sum(axis=1)
    bound = lower_bounds(np.full(repetitions, m), made, correct, 0.0, 0.05)
    rejected = np.mean(bound - special.logit(0.7) > epsilon)
    assert 0 < rejected < 0.05 + 3 * np.sqrt(0.05 * 0.95 / repetitions)
    assert np.mean(bound > epsilon) > 0.5  # without the allowance for the shift it does not hold


def test_bad_input():
    for settings, message in (
        ({"overlap": 0.0}, r"overlap must lie in \(0, 0.5\]"),
        ({"overlap": 0.6}, "overlap must lie"),
        ({"overlap": 0.3, "shift_delta": 1.0}, "shift_delta must lie"),
        ({"overlap": 0.3, "confidence": 1.0}, "confidence must lie"),
    ):
        with pytest.raises(bdp.InputError, match=message):
            compositional(Guesses(10, 5, 3), 0.0, **settings)
    with pytest.raises(bdp.InputError, match="must be Guesses or ErrorCounts"):
        compositional(3, 0.0, overlap=0.3)


def test_it_can_be_asked_at_another_delta():
    found = compositional(Guesses(1000, 300, 290), 0.0, overlap=0.3)
    again = found.epsilon_at(1e-4)
    assert again.value < found.value
    assert again.provenance.known == {"delta": 1e-4}
    assert found.details["shift_epsilon"] == pytest.approx(np.log(7 / 3))
