"""Simulation-based calibration of the families of trade-off functions: as `test_sbc`, with laws of levels of its own.

Run by `make test-slow`; `python -m tests.calibration.test_family_sbc` prints the table of docs/evidence/calibration.md.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp import region
from tests.calibration.test_sbc import uniformity

DATA_SETS = 500
DESIGNS = {"six bases": (6, 100), "twenty bases": (20, 50)}  # name -> bases, runs of each kind
PARAMETER = {"gaussian": "mu", "laplace": "mu", "pure": "theta"}
CASES = [(family, design) for family in PARAMETER for design in DESIGNS]


def gaussian(mu, s, n, rng):
    """D = z(1−α) + z(1−β) ~ N(0, 2) with |D| in [sμ, μ], and z(1−α) − D/2 ~ N(0, 1/2)."""
    low, high = (special.ndtr(-level / np.sqrt(2)) for level in (s * mu, mu))
    d = -np.sqrt(2) * special.ndtri(rng.uniform(high, low, n)) * rng.choice([-1, 1], n)
    z = d / 2 + np.sqrt(0.5) * rng.normal(size=n)
    return special.ndtr(-z), special.ndtr(z - d)


def laplace(mu, s, n, rng):
    """The level by its tail e^{−t}(1 + t/2), α by −∂f/∂t: triangles at both ends and 1/α between."""
    tail = lambda t: np.exp(-t) * (1 + t / 2)  # noqa: E731
    goal, low, high = rng.uniform(tail(mu), tail(s * mu), n), np.full(n, s * mu), np.full(n, mu)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = np.where(tail(middle) > goal, middle, low), np.where(tail(middle) > goal, high, middle)
    t = (low + high) / 2
    piece, u = rng.random(n) * (1 + t), rng.random(n)  # the masses are as 1/2, t, 1/2
    first, last = np.sqrt(u) * np.exp(-t) / 2, np.sqrt(u) / 2
    alpha = np.select([piece < 0.5, piece < 0.5 + t], [first, np.exp(-t * u) / 2], 1 - last)
    beta = np.select(
        [piece < 0.5, piece < 0.5 + t], [1 - np.exp(t) * first, np.exp(-t) / (4 * alpha)], np.exp(-t) * last
    )
    other = rng.random(n) < 0.5
    return np.where(other, 1 - alpha, alpha), np.where(other, 1 - beta, beta)


def pure(theta, s, n, rng):
    return region.sample(theta, 0.0, s, n, rng).T


RATES = {"gaussian": gaussian, "laplace": laplace, "pure": pure}


def member(family, epsilon):
    """The parameter whose best attack has the advantage tanh(ε/2)."""
    advantage = np.tanh(epsilon / 2)
    by_advantage = {
        "gaussian": 2 * special.ndtri((1 + advantage) / 2),
        "laplace": -2 * np.log1p(-advantage),
        "pure": epsilon,
    }
    return float(by_advantage[family])


def simulate(family, design, seed):
    """The true parameter and strength from their priors, and counts."""
    n, runs = DESIGNS[design]
    rng = np.random.default_rng([11, seed])
    theta, s = member(family, abs(rng.normal(0, np.sqrt(10)))), rng.random()
    rates = RATES[family](theta, s, n, rng)
    x, y = (rng.binomial(runs, np.clip(rate, 0, 1)) for rate in rates)
    return theta, s, bdp.ErrorCounts(x, runs, y, runs)


def calibrate(family, design, strength="free"):
    """The posterior probability below the truth, one for each data set, of the parameter and of the strength."""
    rows = []
    for seed in range(DATA_SETS):
        theta, s, counts = simulate(family, design, seed)
        post = bdp.estimate(counts, family=family, strength=strength)
        rows.append([float(post.marginals[PARAMETER[family]].cdf(theta))])
        if strength == "free":
            rows[-1].append(float(post.marginals["strength"].cdf(s)))
    return dict(zip((PARAMETER[family], "strength"), np.array(rows).T, strict=False))


@pytest.mark.parametrize("family", PARAMETER)
def test_the_rates_belong_to_the_layer(family):
    """All of it: the share of points in a thinner layer is that of the areas."""
    rng = np.random.default_rng(1)
    alpha, beta = RATES[family](2.0, 0.25, 20_000, rng)
    lower = alpha + beta < 1
    x, y = np.where(lower, alpha, 1 - alpha), np.where(lower, beta, 1 - beta)
    f = getattr(bdp.tradeoff, {"gaussian": "Gaussian", "laplace": "Laplace", "pure": "ApproxDP"}[family])
    grid = np.linspace(0, 1, 20_001)
    areas = {t: 1 - 2 * np.trapezoid(f(t)(grid), grid) for t in (0.5, 1.2, 2.0)}
    assert (y >= f(2.0)(x) - 1e-9).all()
    assert (y <= f(0.5)(x) + 1e-9).all()
    share = (areas[1.2] - areas[0.5]) / (areas[2.0] - areas[0.5])
    assert np.mean(y >= f(1.2)(x)) == pytest.approx(share, abs=0.015)
    assert np.mean(lower) == pytest.approx(0.5, abs=0.015)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "design"), CASES)
def test_ranks_are_uniform(family, design):
    for name, ranks in calibrate(family, design).items():
        chi2, ks = uniformity(ranks)
        assert chi2 > 0.01, (name, chi2)
        assert ks > 0.001, (name, ks)


def main() -> None:
    print("| family | design | data sets | p (χ²) | p (KS) | 90% intervals that hold the parameter |")
    print("|---|---|---|---|---|---|")
    for family, design in CASES:
        if not set(sys.argv[1:]) <= {family, design}:
            continue
        ranks = calibrate(family, design)
        found = {name: uniformity(values) for name, values in ranks.items()}
        chi2, ks = (", ".join(f"{name} {p[i]:.2f}" for name, p in found.items()) for i in (0, 1))
        held = np.mean(np.abs(ranks[PARAMETER[family]] - 0.5) < 0.45)
        print("|", " | ".join([family, design, str(DATA_SETS), chi2, ks, f"{held:.1%}"]), "|", flush=True)


if __name__ == "__main__":
    main()
