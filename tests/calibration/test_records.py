"""Are the records that are taken to be above a limit above it? The realised share of false ones, by simulation.

It is about q at most for levels of many laws. It is more where most records lie just below the limit, and, by far, of
another family.

`python -m tests.calibration.test_records [DATA SETS]` prints the table that docs/evidence/records.md shows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.bayes.families.choice import family_of

Q = 0.1
DELTA = 1e-3
BASES, RUNS = 20, 100
DATA_SETS = 200
LIMIT = float(bdp.tradeoff.mu_from_epsilon(1.0, DELTA))


@dataclass(frozen=True)
class Row:
    """Levels and rates of a data set: `draw` gives levels (n,), and α and β (n,); `family` is that of the levels."""

    name: str
    draw: Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]]
    epsilon: float  # the limit
    family: str = "gaussian"
    runs: int = RUNS


def gaussian_area(rng, mu, strength):
    """Uniform rates over R(μ) without R(sμ): D ~ N(0, 2) within the layer and, independently, Φ⁻¹(1−α) − D/2."""
    level = 2 * special.erfinv(rng.uniform(special.erf(strength * mu / 2), special.erf(mu / 2), BASES))
    d = np.where(rng.random(BASES) < 0.5, level, -level)
    along = rng.normal(0, np.sqrt(0.5), BASES)
    return level, special.ndtr(-d / 2 - along), special.ndtr(along - d / 2)


def from_prior(rng):
    """μ and s from their priors: the mean over them is what the posterior promises."""
    mu = float(family_of("gaussian").by_epsilon(np.abs(rng.normal(0, np.sqrt(10)))))
    return gaussian_area(rng, mu, rng.random())


def upper_half(family, theta, rng):
    """Levels uniform from θ/2 to θ, at any false positive rate."""
    level, alpha = rng.uniform(theta / 2, theta, BASES), rng.uniform(0.02, 0.98, BASES)
    return level, alpha, family_of(family)(alpha, level)


def two_kinds(number, high, bases=BASES, low=0.0):
    """A number of records of a high level, and others of a low one."""

    def draw(rng):
        level = np.where(np.arange(bases) < number, high, low)
        alpha = rng.uniform(0.05, 0.3, bases)
        return level, alpha, family_of("gaussian")(alpha, level)

    return draw


ROWS = (
    Row("the model, μ and s from their priors", from_prior, 8.0),
    Row("the model, μ = 1.5, s = 0.2", lambda rng: gaussian_area(rng, 1.5, 0.2), 3.0),
    Row("the same, 20 runs each", lambda rng: gaussian_area(rng, 1.5, 0.2), 1.5, runs=20),
    Row("levels from μ/2 to μ, μ = 1.5", lambda rng: upper_half("gaussian", 1.5, rng), 3.5),
    Row("two of level 2, 18 of level 0", two_kinds(2, 2.0), 1.0),
    Row("one of level 3, 99 of level 0", two_kinds(1, 3.0, 100), 1.0),
    Row("50 of level 2, 50 of level 0, 30 runs", two_kinds(50, 2.0, 100), 1.0, runs=30),
    Row("five of level 2, 45 at 95% of the limit", two_kinds(5, 2.0, 50, 0.95 * LIMIT), 1.0),
    Row("laplace, levels from θ/2 to θ, θ = 2", lambda rng: upper_half("laplace", 2.0, rng), 1.5, family="laplace"),
)


def data_set(row: Row, rng: np.random.Generator) -> tuple[bdp.ErrorCounts, np.ndarray]:
    """Counts and which of the bases are above the limit."""
    level, alpha, beta = row.draw(rng)
    counts = bdp.ErrorCounts(rng.binomial(row.runs, alpha), row.runs, rng.binomial(row.runs, beta), row.runs)
    return counts, family_of(row.family).epsilon_at(level, np.array(DELTA)) > row.epsilon


def realised(row: Row, seed: int) -> tuple[float, float, float, int]:
    """The share of false ones, its expectation, the share of those above that are chosen, and how many are."""
    counts, true = data_set(row, np.random.default_rng(seed))
    found = bdp.records(bdp.estimate(counts, DELTA, family="gaussian"), row.epsilon, q=Q)
    chosen = np.zeros(len(true), bool)
    chosen[[int(base) for base in found.chosen]] = True
    number = int(chosen.sum())
    power = (chosen & true).sum() / true.sum() if true.any() else np.nan
    return float((chosen & ~true).sum() / max(number, 1)), found.false_share, float(power), number


def simulate(row: Row, data_sets: int) -> np.ndarray:
    """(data sets, 4)."""
    return np.array([realised(row, seed) for seed in range(data_sets)])


@pytest.mark.slow
@pytest.mark.parametrize("row", ROWS[:6], ids=lambda row: row.name)
def test_the_share_of_false_ones(row: Row):
    false, expected, power, number = simulate(row, DATA_SETS if row is not ROWS[5] else 20).T
    assert false.mean() <= Q + 3 * max(false.std(ddof=1), 0.1) / np.sqrt(len(false))
    assert (expected <= Q).all()
    assert np.nanmean(power) > 0.2
    assert number.mean() >= 1


@pytest.mark.parametrize("row", [ROWS[1], ROWS[4]], ids=lambda row: row.name)
def test_a_few_data_sets(row: Row):
    false, _, power, _ = simulate(row, 4).T
    assert false.mean() < 0.3
    assert power.mean() > 0.2


def main(data_sets: int) -> None:
    print("| truth | above ε₀ | chosen | false among them | expected | power |")
    print("|---|---|---|---|---|---|")
    for row in ROWS:
        false, expected, power, number = simulate(row, data_sets).T
        above = np.mean([data_set(row, np.random.default_rng(seed))[1].sum() for seed in range(data_sets)])
        error = false.std(ddof=1) / np.sqrt(data_sets)
        print(
            f"| {row.name} | {above:.1f} > {row.epsilon:g} | {number.mean():.1f} |"
            f" {false.mean():.3f} ± {error:.3f} | {expected.mean():.3f} | {np.nanmean(power):.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS)
