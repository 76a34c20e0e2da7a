"""How often intervals from whole curves hold ε under the family of the truth and under others, by simulation.

`python -m tests.calibration.test_curves_coverage` prints the table of docs/methods/curves.md, and
`python -m tests.calibration.test_curves_coverage Laplace 20` a row of it from 20 data sets.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

import bayes_dp as bdp
from tests.bayes.levels.ordered import scores
from tests.calibration.test_two_ends import SHARE, Mechanism

PROB, DELTA, DATA_SETS = 0.9, 1e-2, 200
SUBSAMPLED = "subsampled Gaussian"
OWN = {"Gaussian": "gaussian", "Laplace": "laplace", "randomized response": "pure"}
MECHANISMS = (
    Mechanism("Gaussian", 1.5),
    Mechanism("Laplace", 2.0),
    Mechanism("randomized response", 1.5),
    Mechanism(SUBSAMPLED, 3.0),
)
BASES, RUNS = 10, 100


def attacked(mechanism, n, runs, rng):
    """Scores of n attacks with half of the mechanism's level and more, (without, with z) of shape (n, runs) each."""
    t = mechanism.level * rng.uniform(0.5, 1.0, n)
    if mechanism.name != SUBSAMPLED:
        return scores(OWN[mechanism.name], t, runs, runs, rng, upside_down=False)
    seen = rng.random((n, runs)) < SHARE
    return rng.normal(size=(n, runs)), rng.normal(size=(n, runs)) + np.where(seen, t[:, None], 0.0)


def of_one_threshold(made):
    """The counts at the false positive rate 0.1, of runs that do not choose the threshold: a tenth of them does."""
    without, with_ = made
    kept = without.shape[1] // 10
    threshold = np.quantile(without[:, :kept], 0.9, axis=1, keepdims=True)
    errors = (without[:, kept:] > threshold).sum(axis=1), (with_ <= threshold).sum(axis=1)
    return bdp.ErrorCounts(errors[0], without.shape[1] - kept, errors[1], with_.shape[1])


def ends_and_checks(mechanism, n, runs, seed):
    """The ends under Gaussian noise, the average, one threshold with (ε, δ), and the mechanism's own family; and p of
    the check under the Gaussian family, the heaviest of the average, and the own one."""
    rng = np.random.default_rng([19, MECHANISMS.index(mechanism), seed])
    made = attacked(mechanism, n, runs, rng)
    average = bdp.estimate_curves(made, DELTA, accept_misfit=True, seed=seed)
    gaussian = average.posteriors["gaussian"]
    heaviest = average.posteriors[max(average.weights, key=average.weights.get)]
    if mechanism.name == SUBSAMPLED:
        own = bdp.estimate_curves(made, DELTA, bdp.subsampled_gaussian(SHARE), prior="HalfNormal(3)", seed=seed)
    else:
        own = average.posteriors[OWN[mechanism.name]]
    one = bdp.estimate(of_one_threshold(made), DELTA)
    ends = [end for post in (gaussian, average, one, own) for end in post.interval(PROB)]
    return (*ends, gaussian.check, heaviest.check, own.check)


def measured(mechanism, data_sets):
    """The shares of data sets whose intervals hold ε, the mean ends, and the shares in which the check rejects."""
    found = np.array([ends_and_checks(mechanism, BASES, RUNS, seed) for seed in range(data_sets)])
    truth, low, high = mechanism.epsilon(DELTA), found[:, 0:8:2], found[:, 1:8:2]
    held = ((low <= truth) & (truth <= high)).mean(axis=0)
    return held, low.mean(axis=0), high.mean(axis=0), (found[:, 8:] <= 0.05).mean(axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
def test_the_own_family_holds_epsilon(mechanism):
    held, _, _, rejected = measured(mechanism, 40)
    assert held[3] >= 0.75  # 90% by its own words, of levels that come from no family: 30 to 40 of 40
    assert rejected[2] <= 0.15
    assert (rejected[1] >= 0.9) == (mechanism.name == SUBSAMPLED)  # where the average has no right family, it is told


@pytest.mark.parametrize("mechanism", MECHANISMS[:3], ids=lambda mechanism: mechanism.name)
def test_a_data_set_can_be_made(mechanism):
    *ends, gaussian, heaviest, own = ends_and_checks(mechanism, 2, 30, 0)
    assert (np.array(ends[0::2]) < ends[1::2]).all()
    assert 0 <= min(gaussian, heaviest, own) <= max(gaussian, heaviest, own) <= 1


def main(wanted="", data_sets=DATA_SETS):
    heads = (
        "mechanism", "ε", "curve, gaussian", "curve, average", "one threshold, (ε, δ)", "curve, own family",
        "check rejects gaussian", "rejects the heaviest", "rejects the own",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for mechanism in MECHANISMS:
        if wanted in mechanism.name:
            held, low, high, rejected = measured(mechanism, int(data_sets))
            cells = [f"{share:.2f} ({a:.1f} to {b:.1f})" for share, a, b in zip(held, low, high, strict=True)]
            cells += [f"{share:.2f}" for share in rejected]
            print("|", " | ".join([mechanism.name, f"{mechanism.epsilon(DELTA):.2f}", *cells]), "|", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
