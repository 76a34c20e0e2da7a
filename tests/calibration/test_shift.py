"""How often the low ends of the posterior from guesses under shift are above the truth, beside the bounds.

`python -m tests.calibration.test_shift [AUDITS]` prints the tables of docs/methods/shift.md. All audits have m = 400
examples and r = 100 guesses, unless more are said, the worlds are those of `calibrate/shifted.py`.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest
from scipy import special

from bayes_dp.audits.one_run import lower_bounds as one_run_bounds
from bayes_dp.audits.propensity_bounds import untampered_bounds
from bayes_dp.bayes.grid.axis import axis_of
from bayes_dp.bayes.grid.grid import Grid
from bayes_dp.bayes.levels.leaks import leak_marginals
from bayes_dp.bayes.levels.leans import GroupOfGuesses
from bayes_dp.bayes.levels.shift import ShiftLikelihood
from bayes_dp.bayes.priors import prior_of
from bayes_dp.calibrate.mechanisms import NoisyScore, RandomizedResponse
from bayes_dp.calibrate.shifted import EXAMPLES, GUESSES, simulate
from bayes_dp.tradeoff import Gaussian

DELTA = 1e-3  # at which noise has a true ε
NOISE = NoisyScore(Gaussian(1.0))
WORLDS = {
    "randomized response 1, no shift": (RandomizedResponse(1.0), "no shift", "aware"),
    "randomized response 1, strong shift, exploiting": (RandomizedResponse(1.0), "strong shift", "exploiting"),
    "randomized response 3, strong shift, exploiting": (RandomizedResponse(3.0), "strong shift", "exploiting"),
    "noise μ = 1, strong shift, exploiting": (NOISE, "strong shift", "exploiting"),
    "no leak, strong shift, exploiting": (RandomizedResponse(0.0), "strong shift", "exploiting"),
}
LEARNT = ("known", "plugged in", "averaged over 40 draws", "known=False")
FEATURES, OTHERS, DRAWS = 10, 200, 40
LEARNT_AUDITS = 60  # which take ten times as long as others


@cache
def axes():
    return [axis_of(name, prior_of(name)) for name in ("epsilon", "strength")]


def ends(leans, right):
    """The 5% and 95% points of ε and of e, (4,), at δ = 0, from leans (K, r) and right (r,)."""
    law = ShiftLikelihood([GroupOfGuesses(leans, right)], 0.0, EXAMPLES)
    grid = Grid(axes(), law.total, ridge=True)
    (e,) = leak_marginals(law, grid.nodes["epsilon"], grid.nodes["strength"], grid.weight)
    return np.concatenate([each.quantile(np.array([0.05, 0.95])) for each in (grid.marginals["epsilon"], e)])


@cache
def ends_without_shift(made, correct):
    return ends(np.zeros((1, made)), np.arange(made) < correct)


def found(low, truth):
    """The share of low ends above the truth."""
    return float(np.mean(low > truth))


@cache
def world(name, size, seed=0):
    """What came out of so many audits: a dict of rates and mean ends."""
    mechanism, shift, adversary = WORLDS[name]
    truth = mechanism.truth("epsilon", DELTA) if mechanism is NOISE else mechanism.epsilon
    audits = simulate(mechanism, shift, adversary, size, np.random.default_rng([seed, list(WORLDS).index(name)]))
    if shift == "no shift":
        all_ends = np.array([ends_without_shift(GUESSES, int(v)) for v in audits.right.sum(axis=1)])
    else:
        all_ends = np.array([ends(x[None], ok) for x, ok in zip(audits.leans, audits.right, strict=True)])
    right = audits.right.sum(axis=1)
    bounds = untampered_bounds(audits.leans, right, 0.05)
    ignoring = one_run_bounds(EXAMPLES, GUESSES, right, 0.0, 0.05)
    return {
        "truth": truth,
        "cover": float(np.mean((all_ends[:, 0] <= truth) & (truth <= all_ends[:, 1]))),
        "miss": found(all_ends[:, 0], truth),
        "e miss": found(all_ends[:, 2], truth),
        "bound": found(bounds, truth),
        "ignoring": found(ignoring, truth),
        "means": (*all_ends.mean(axis=0), bounds.mean(), ignoring.mean()),
    }


def more_guesses(made, size, seed=0):
    """The miss of ε and of e for the tightest attack, randomized response with ε = 1, without shift."""
    correct = np.random.default_rng([seed, made]).binomial(made, special.expit(1.0), size)
    all_ends = np.array([ends_without_shift(made, int(v)) for v in correct])
    return found(all_ends[:, 0], 1.0), found(all_ends[:, 2], 1.0)


def learn(x, member):
    """Coefficients of a logistic regression, with the prior N(0, 1) of each, and their covariance; Newton's method."""
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        chance = special.expit(x @ beta)
        curvature = (x * (chance * (1 - chance))[:, None]).T @ x + np.eye(len(beta))
        step = np.linalg.solve(curvature, x.T @ (member - chance) - beta)
        beta = beta + step
        if np.abs(step).max() < 1e-10:
            break
    return beta, np.linalg.inv(curvature)


@cache
def learnt(size, seed=0):
    """The miss of e and its mean ends, by what is done with propensities that were learned from other examples.

    Ten features have the coefficients 1/√10. All examples are guessed, by the response (ε = 1) alone.
    """
    all_ends = {name: [] for name in LEARNT}
    for i in range(size):
        rng = np.random.default_rng([seed, 99, i])
        x = rng.standard_normal((EXAMPLES + OTHERS, FEATURES))
        logit = x @ np.full(FEATURES, FEATURES**-0.5)
        member = rng.random(len(x)) < special.expit(logit)
        beta, covariance = learn(x[EXAMPLES:], member[EXAMPLES:])
        x, logit, member = x[:EXAMPLES], logit[:EXAMPLES], member[:EXAMPLES]
        draws = rng.multivariate_normal(beta, covariance, DRAWS)
        right = rng.random(EXAMPLES) < special.expit(1.0)
        sign = np.where(right == member, 1.0, -1.0)
        plugged = (sign * (x @ beta))[None]
        leans = (sign * logit)[None], plugged, sign * (x @ draws.T).T, np.maximum(plugged, 0.0)
        for name, each in zip(LEARNT, leans, strict=True):
            all_ends[name].append(ends(each, right)[2:])
    return {name: (found(np.array(e)[:, 0], 1.0), *np.mean(e, axis=0)) for name, e in all_ends.items()}


# The table of the specification, 200 audits a row: coverage and miss of ε, miss of e, of the bound, of what ignores.
SAID = {
    "randomized response 1, no shift": (0.80, 0.21, 0.05, 0.045, 0.045),
    "randomized response 1, strong shift, exploiting": (0.86, 0.15, 0.03, 0.025, 1.0),
    "randomized response 3, strong shift, exploiting": (1.0, 0.0, 0.0, 0.0, 0.93),
    "noise μ = 1, strong shift, exploiting": (1.0, 0.0, 0.0, 0.0, 0.04),
    "no leak, strong shift, exploiting": (0.0, 1.0, 1.0, 0.035, 1.0),
}
# With 10 000 guesses the low end of ε passes 1 at 7287 right ones, which a sum over incomplete Beta functions confirms:
# so the miss is P[Binomial(10 000, σ(1)) ≥ 7287] = 0.71. The specification has 0.82.
MISS_OF_MORE = {100: (0.23, 0.03), 1000: (0.40, 0.08), 10_000: (0.71, 0.03)}


def agrees(rate, said, size):
    """Within 3 standard errors of the difference, those of rates that are at least 1% away from 0 and 1."""
    share = np.clip(0.5 * (rate + said), 0.01, 0.99)
    return abs(rate - said) <= 3 * np.sqrt(share * (1 - share) * (1 / size + 1 / 200))


@pytest.mark.slow
@pytest.mark.parametrize("name", WORLDS)
def test_the_posterior_misses_as_often_as_is_said(name):
    row = world(name, 500)
    for key, said in zip(("cover", "miss", "e miss", "bound", "ignoring"), SAID[name], strict=True):
        assert agrees(row[key], said, 500), (key, row[key], said)


@pytest.mark.slow
@pytest.mark.parametrize("made", MISS_OF_MORE)
def test_the_low_end_of_epsilon_fails_the_tightest_attack(made):
    for rate, said in zip(more_guesses(made, 500), MISS_OF_MORE[made], strict=True):
        assert agrees(rate, said, 500)


@pytest.mark.slow
def test_learned_propensities_cost_the_level():
    row = learnt(LEARNT_AUDITS)
    assert row["known"][0] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / LEARNT_AUDITS)
    assert row["known=False"][0] <= 0.02
    assert row["plugged in"][0] >= row["known"][0]
    assert row["known=False"][2] < row["known"][2]


def shown(cells):
    print("| " + " | ".join(cells) + " |")


def main(size=500):
    shown(("Truth, shift, attack", "ε: covers", "ε: misses", "e: misses", "Zero-Run", "ignoring the shift"))
    shown(("---",) * 6)
    for name in WORLDS:
        row = world(name, size)
        low, high, e_low, e_high, bound, ignoring = row["means"]
        shown(
            (
                f"{name} (ε = {row['truth']:.3g})",
                f"{row['cover']:.3f}",
                f"{row['miss']:.3f} ({low:.2f} to {high:.2f})",
                f"{row['e miss']:.3f} ({e_low:.2f} to {e_high:.2f})",
                f"{row['bound']:.3f} ({bound:.2f})",
                f"{row['ignoring']:.3f} ({ignoring:.2f})",
            )
        )
    print()
    shown(("Guesses", "ε: misses", "e: misses"))
    shown(("---",) * 3)
    for made in MISS_OF_MORE:
        epsilon, e = more_guesses(made, size)
        shown((f"{made}", f"{epsilon:.3f}", f"{e:.3f}"))
    print()
    shown(("Propensities", "e: misses", "mean interval of e"))
    shown(("---",) * 3)
    for name, (miss, low, high) in learnt(LEARNT_AUDITS).items():
        shown((name, f"{miss:.3f}", f"{low:.2f} to {high:.2f}"))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
