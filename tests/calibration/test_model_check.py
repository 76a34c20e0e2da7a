"""How often the checks of a model speak up, where it is right and where it is wrong in a known way.

Run by `make test-slow`; `python -m tests.calibration.test_model_check` prints the table of docs/methods/model_check.md.
"""

import numpy as np
import pytest

import bayes_dp as bdp
from tests.bayes.checks.test_model_check import simulated

DATA_SETS = 40
# what is true and what is assumed: name -> settings of `simulated`, strength given to `estimate`, whether it is right
CASES = {
    "s = 0.5, binomial; s free": ({"strength": 0.5}, "free", True),
    "s = 0.5, τ = 0.05; s free": ({"strength": 0.5, "tau": 0.05}, "free", False),
    "s → 1, binomial; tight": ({"strength": 1}, "tight", True),
    "s → 1, τ = 0.02; tight": ({"strength": 1, "tau": 0.02}, "tight", False),
    "s → 1, τ = 0.05; tight": ({"strength": 1, "tau": 0.05}, "tight", False),
}


def rates(name, data_sets=DATA_SETS):
    """Shares of data sets on which the scatter and the levels were found wanting at 1%."""
    settings, assumed, _ = CASES[name]
    found = []
    for seed in range(data_sets):
        counts = simulated(seed, **settings)
        one = bdp.check(bdp.estimate(counts, 0.01, strength=assumed), size=400, seed=seed)
        found.append((one.dispersion_p < 0.01, one.rank_p < 0.01))
    return np.mean(found, axis=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (*_, right) in CASES.items() if right])
def test_a_true_model_is_left_alone(name):
    """Posterior predictive p-values are conservative: at 1% there are no more than that, within three errors."""
    assert rates(name).max() <= 0.01 + 3 * np.sqrt(0.01 * 0.99 / DATA_SETS)


@pytest.mark.parametrize("name", ["s = 0.5, τ = 0.05; s free", "s → 1, binomial; tight"])
def test_one_data_set(name):
    assert set(rates(name, 1)) <= {0.0, 1.0}


@pytest.mark.slow
def test_scatter_is_seen():
    assert rates("s → 1, τ = 0.05; tight")[0] > 0.8
    assert rates("s → 1, τ = 0.02; tight")[0] > 0.4


def main() -> None:
    print("| True; assumed | scatter |")
    print("|---|---|")
    for name in CASES:
        print(f"| {name} | {rates(name)[0]:.0%} |", flush=True)


if __name__ == "__main__":
    main()
