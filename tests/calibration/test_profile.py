"""The whole profile on Gaussian noise: mean bounds at several δ, and how often any of them exceeds the truth.

`python -m tests.calibration.test_profile` prints the table of docs/audits/profile.md.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.audits.combine import joint_exact
from bayes_dp.tradeoff import Gaussian

DELTAS = np.array([1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2])
SHOWN = (1e-5, 0.01, 0.1)


def best_threshold(low, high, delta):
    """Clopper-Pearson at the threshold that gives most: chosen on the same runs, uncorrected."""
    thresholds = np.quantile(np.concatenate([low, high]), np.arange(1, 100) / 100)
    x, y = (low[:, None] > thresholds).sum(axis=0), (high[:, None] <= thresholds).sum(axis=0)
    n = len(low)
    return max(bdp.audits.clopper_pearson(bdp.ErrorCounts(a, n, b, n), delta).value for a, b in zip(x, y, strict=True))


def simulated(mu: float, n: int, repetitions: int, chosen: bool = True):
    """Bounds of each way, (repetitions, DELTAS)."""
    rng, bounds = np.random.default_rng([int(10 * mu), n]), {"equal": [], "dkw": [], "half for choosing": []}
    for _ in range(repetitions):
        low, high = rng.normal(size=n), rng.normal(mu, size=n)
        for band in ("equal", "dkw"):
            bounds[band].append(bdp.audits.profile(low, high, band=band).epsilon_at(DELTAS))
        if chosen:
            half = n // 2
            row = []
            for delta in SHOWN:
                t = bdp.audits.profile(low[:half], high[:half]).threshold_at(delta)
                counts = int((low[half:] > t).sum()), n - half, int((high[half:] <= t).sum()), n - half
                row.append(joint_exact(bdp.ErrorCounts(*counts), delta).value)
            bounds["half for choosing"].append(row)
    return {name: np.array(found) for name, found in bounds.items() if found}


@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_the_simulation_runs(mu):
    found = simulated(mu, 40, 3)
    assert found["equal"].shape == (3, 7)
    assert found["half for choosing"].shape == (3, 3)


@pytest.mark.slow
@pytest.mark.parametrize("mu", [0.5, 1.0, 3.0])
def test_all_bounds_hold_together(mu):
    truth, level = Gaussian(mu).epsilon_at(DELTAS), 0.05 + 3 * np.sqrt(0.05 * 0.95 / 2000)
    for band, found in simulated(mu, 200, 2000, chosen=False).items():
        assert (found > truth).any(axis=1).mean() <= level, band


@pytest.mark.slow
def test_the_best_threshold_without_a_band_is_wrong_too_often():
    rng, wrong, truth = np.random.default_rng(5), 0, float(Gaussian(1.0).epsilon_at(0.1))
    for _ in range(600):
        wrong += best_threshold(rng.normal(size=1000), rng.normal(1, size=1000), 0.1) > truth
    assert wrong / 600 > 0.05


def main(repetitions: int) -> None:
    print("| μ | runs | way | " + " | ".join(f"δ = {delta:g}" for delta in SHOWN) + " | any above the truth |")
    print("|---|---|---|" + "---|" * len(SHOWN) + "---|")
    places = [int(np.flatnonzero(delta == DELTAS)[0]) for delta in SHOWN]
    for mu in (1.0, 3.0):
        truth = Gaussian(mu).epsilon_at(DELTAS)
        print(f"| {mu:g} | | the truth | " + " | ".join(f"{truth[i]:.2f}" for i in places) + " | |")
        for n in (200, 1000):
            for name, found in simulated(mu, n, repetitions).items():
                each = found[:, places] if found.shape[1] == len(DELTAS) else found
                cells = " | ".join(f"{value:.2f}" for value in each.mean(axis=0))
                wrong = f"{(found > truth).any(axis=1).mean():.3f}" if found.shape[1] == len(DELTAS) else ""
                print(f"| {mu:g} | {n} + {n} | {name} | {cells} | {wrong} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
