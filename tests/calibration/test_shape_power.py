"""How often the check of a model speaks up for the shape of the boundary, where it is right and where it is not.

Run by `make test-slow`; `python -m tests.calibration.test_shape_power` prints the table of docs/methods/model_check.md,
of as many data sets a row as are given, 200 if none.
"""

import sys
from itertools import product

import numpy as np
import pytest
from scipy import stats

import bayes_dp as bdp
from bayes_dp.bayes.families.laplace import LAPLACE
from bayes_dp.bayes.families.pure import PURE

DATA_SETS = 200
SIZE = 600  # draws of a check, with which a p-value can be below 1% over three tests
Q, SHIFT = 0.3, 3.0  # of the subsampled mechanism
TRUTHS = {  # f(α, t) at a share t of the level
    "gaussian": lambda alpha, t: stats.norm.cdf(stats.norm.isf(alpha) - t),
    "laplace": lambda alpha, t: LAPLACE(alpha, 2.0 * t),
    "pure": lambda alpha, t: PURE(alpha, 1.5 * t),
    "subsampled": lambda alpha, t: (1 - Q) * (1 - alpha) + Q * stats.norm.cdf(stats.norm.isf(alpha) - SHIFT * t),
}
MODELS = ("approx", "gaussian", "laplace", "pure")
CASES = [  # truth, false positive rate, bases, runs of each kind
    *product(TRUTHS, ["any"], [20], [1000]),
    ("gaussian", "any", 20, 100),
    *product(["gaussian", "pure"], ["any"], [5], [1000]),
    ("gaussian", 0.1, 20, 1000),
]


def counts_of(case, seed):
    """Attacks whose levels are spread evenly from one half of the truth's to all of it."""
    truth, threshold, n, trials = case
    rng = np.random.default_rng([15, seed, n, trials])
    alpha = rng.random(n) if threshold == "any" else np.full(n, threshold)
    beta = TRUTHS[truth](alpha, rng.uniform(0.5, 1.0, n))
    return bdp.ErrorCounts(rng.binomial(trials, alpha), trials, rng.binomial(trials, beta), trials)


def flags(case, model, seed):
    """Whether the shape is found wanting at 5%, and whether the check as a whole is rejected at the 1% of the gate."""
    counts = counts_of(case, seed)
    post = bdp.estimate(counts, 1e-3) if model == "approx" else bdp.estimate(counts, family=model)
    found = bdp.check(post, size=SIZE, seed=seed)
    return found.shape_p is not None and found.shape_p < 0.05, found.p_value < 0.01


def flagged(case, model, data_sets=DATA_SETS):
    """How many data sets are found wanting, by each of the two."""
    return np.sum([flags(case, model, seed) for seed in range(data_sets)], axis=0)


def test_one_data_set_of_a_row():
    assert flags(CASES[0], "gaussian", 0) == (False, False)


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["gaussian", "laplace", "pure"])
def test_the_true_family_is_left_alone(truth):
    """No more than the nominal shares, within three errors."""
    for nominal, count in zip((0.05, 0.01), flagged((truth, "any", 20, 1000), truth), strict=True):
        assert count <= DATA_SETS * nominal + 3 * np.sqrt(DATA_SETS * nominal * (1 - nominal))


@pytest.mark.slow
def test_the_shape_is_seen_where_thresholds_differ():
    for truth, model in (("gaussian", "approx"), ("gaussian", "pure"), ("laplace", "gaussian"), ("pure", "gaussian")):
        assert flagged((truth, "any", 20, 1000), model)[0] > 0.6 * DATA_SETS


def main() -> None:
    data_sets = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    print("| truth | FPR | bases | runs |", " | ".join(MODELS), "|")
    print("|---|---" + "|---:" * (2 + len(MODELS)) + "|")
    for case in CASES:
        cells = ["{}, {}".format(*flagged(case, model, data_sets)) for model in MODELS]
        print("|", " | ".join(map(str, [*case, *cells])), "|", flush=True)


if __name__ == "__main__":
    main()
