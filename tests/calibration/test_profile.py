"""The whole profile on Gaussian noise: mean bounds at several δ, and how often any of them exceeds the truth.

`python -m tests.calibration.test_profile` prints the table of docs/methods/audits/profile.md.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.audits.band import upper_band
from bayes_dp.audits.combine import joint_exact
from bayes_dp.tradeoff import Gaussian

DELTAS = np.array([1e-5, 1e-4, 1e-3, 0.01, 0.03, 0.1, 0.2])
SHOWN = (1e-5, 0.01, 0.1)


def many(mu: float, n: int, repetitions: int, band: str):
    """The bounds of `profile` from runs of Gaussian noise without ties, (repetitions, DELTAS), all at once."""
    rng, u, found = np.random.default_rng([int(10 * mu), n, 1]), upper_band(n, 0.025, band), []
    for begin in range(0, repetitions, 200):
        size = min(200, repetitions - begin)
        score = np.concatenate([rng.normal(size=(size, n)), rng.normal(mu, size=(size, n))], axis=1)
        found.append(bounds_of(score, n, u))
    return np.concatenate(found)


def bounds_of(score, n: int, u):
    """Bounds from scores (size, 2n), first those without the example, with the band u of either kind."""
    member = np.argsort(score, axis=1) >= n
    above, below = n - np.cumsum(~member, axis=1), np.cumsum(member, axis=1)  # of thresholds at all scores
    alpha, beta = (u[np.pad(each, ((0, 0), (1, 0)), constant_values=end)] for each, end in ((above, n), (below, 0)))
    low, high = np.minimum(alpha, beta), np.maximum(alpha, beta)  # the better one of both decisions
    rest = np.maximum(1 - DELTAS[:, None, None] - np.stack([high, low])[:, None], 1e-300)
    found = np.log(rest) - np.log(np.stack([low, high]))[:, None]
    return np.maximum(found.max(axis=(0, 3)).T, 0.0)


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


@pytest.mark.parametrize("band", ["equal", "dkw"])
def test_many_profiles_are_those_of_the_audit(band):
    rng, n = np.random.default_rng(3), 60
    score = np.concatenate([rng.normal(size=(4, n)), rng.normal(1.5, size=(4, n))], axis=1)
    one_by_one = [bdp.audits.profile(row[:n], row[n:], band=band).epsilon_at(DELTAS) for row in score]
    assert bounds_of(score, n, upper_band(n, 0.025, band)) == pytest.approx(np.array(one_by_one), rel=1e-12)


def misses(mu: float, n: int, repetitions: int, band: str) -> float:
    """How often any of the bounds exceeds the truth."""
    return float((many(mu, n, repetitions, band) > Gaussian(mu).epsilon_at(DELTAS)).any(axis=1).mean())


@pytest.mark.slow
@pytest.mark.parametrize("band", ["equal", "dkw"])
@pytest.mark.parametrize(("mu", "n"), [(0.5, 200), (1.0, 200), (3.0, 200), (1.0, 1000), (3.0, 1000)])
def test_all_bounds_hold_together(mu, n, band):
    assert misses(mu, n, 10_000, band) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 10_000)


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
                wrong = f"{misses(mu, n, 10_000, name):.4f}" if found.shape[1] == len(DELTAS) else ""
                print(f"| {mu:g} | {n} + {n} | {name} | {cells} | {wrong} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
