"""Bands of a distribution function: the chance that they hold, from enumeration, an integral and simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bayes_dp.audits import band as band_module
from bayes_dp.audits.band import local_level, never_above, upper_band
from tests.golden import golden


@golden("sequential", "local_level")
def test_golden_level(entry):
    assert local_level(entry["inputs"]["n"], entry["inputs"]["p"]) == pytest.approx(entry["expected"], rel=1e-6)


@golden("sequential", "never_above")
def test_golden_chance(entry):
    assert never_above(np.array(entry["inputs"]["u"])) == pytest.approx(entry["expected"], rel=1e-8)


@pytest.mark.parametrize("u", [[0.7], [0.2, 0.9], [0.1, 0.1, 1.0], [0.3, 0.5, 0.8, 0.81], [1.0, 1.0, 1.0]])
def test_chance_from_all_numbers_in_the_intervals(u):
    """The multinomial law of how many numbers fall between the bounds, over all outcomes that are allowed."""
    n, widths = len(u), np.diff([0.0, *u, 1.0])
    chance = 0.0
    for counts in itertools.product(range(n + 1), repeat=n + 1):
        below = np.cumsum(counts)[:n]
        if sum(counts) == n and np.all(below >= np.arange(1, n + 1)):
            ways = math.factorial(n) / math.prod(map(math.factorial, counts))
            chance += ways * math.prod(width**k for width, k in zip(widths, counts, strict=True))
    assert never_above(np.array(u)) == pytest.approx(chance, rel=1e-10, abs=1e-14)


@pytest.mark.parametrize("n", [1, 2, 7, 150])
@pytest.mark.parametrize("p", [0.4, 0.05, 1e-6])
def test_all_bounds_hold_with_the_probability(n, p):
    assert never_above(upper_band(n, p, "equal")[:-1]) == pytest.approx(1 - p, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("band", ["equal", "dkw"])
def test_by_simulation(band):
    rng, n, p = np.random.default_rng(0), 30, 0.1
    draws = np.sort(rng.random((20_000, n)), axis=1)
    misses = (draws > upper_band(n, p, band)[:-1]).any(axis=1).mean()
    assert misses <= p + 3 * math.sqrt(p * (1 - p) / 20_000)
    assert misses >= (0.9 * p if band == "equal" else 0.3 * p)


def test_more_draws_than_the_walk_takes(monkeypatch):
    monkeypatch.setattr(band_module, "_MOST", 50)
    assert local_level(51, 0.04) == 0.04 / 51
    assert local_level(50, 0.04) > 0.04 / 50
