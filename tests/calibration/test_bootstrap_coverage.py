"""How often a zero-run bound from learned propensities exceeds the truth, with and without the bootstrap.

Run by `make test-slow`; `python -m tests.calibration.test_bootstrap_coverage` prints the table that docs/propensity.md
shows. The attack is randomized response at a known ε, so that the bound of the true propensities is tight. It ranks the
examples by its answer and then by a feature that differs between members and non-members.
"""

from __future__ import annotations

import dataclasses
import math
import sys
import time

import numpy as np
import pytest
from scipy.special import expit

from bayes_dp.attacks.shifted import call_members
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.guess_table import GuessTable
from bayes_dp.propensity import bootstrap, fit

RUNS = 400
REPLICATES = 199
CONFIDENCE = 0.9
EPSILON = 1.0
#: name -> examples, features, log-odds by a step of 1 in the first feature
CASES = {
    "2 features, 600 examples": (600, 2, 0.7),
    "20 features, 600 examples": (600, 20, 0.7),
    "20 features, 2400 examples": (2400, 20, 0.7),
    "5 features, 1000 examples, strong shift": (1000, 5, 1.5),
}


def audited(n, features, strength, seed, epsilon=EPSILON):
    """Features, memberships, true propensities, and the attack's scores."""
    rng = np.random.default_rng([11, seed])
    x = rng.normal(size=(n, features))
    truth = expit(strength * x[:, 0])
    member = rng.random(n) < truth
    told = member ^ (rng.random(n) > expit(epsilon))
    return x, member, truth, told + 0.3 * expit(x[:, 0]) + 1e-6 * rng.random(n)


def run(n, features, strength, seed):
    """The bounds of one audit, by what was made of the error of the propensities."""
    x, member, truth, score = audited(n, features, strength, seed)
    pi = fit(x, member, seed=seed)
    settings = {"choice": n // 4, "sides": "members", "seed": seed}
    found = bootstrap(pi, score, replicates=REPLICATES, confidence=CONFIDENCE, cautious=False, **settings)
    first, bounds = found.details["without_bootstrap"], np.array(found.details["bootstrap_bounds"])
    place = math.floor((1 - CONFIDENCE) / 2 * (REPLICATES + 1) + 1e-9)
    plain = np.sort(bounds)[place - 1] + first - np.median(bounds)
    calls = call_members(pi.table(score), n // 4, "members", seed=seed)
    calls = dataclasses.replace(calls, table=GuessTable(calls.table.score, member, truth))
    half = 1 - (1 - CONFIDENCE) / 2
    return {
        "true propensities": zero_run(calls, confidence=half, seed=seed).value,
        "learned, taken for true": first,
        "bootstrap, recentred only": max(0.0, plain),
        "bootstrap": found.value,
    }


def study(case, runs=RUNS):
    """For each way the bounds (runs,)."""
    rows = [run(*CASES[case], seed) for seed in range(runs)]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_bootstrap_covers(case):
    found = study(case)
    error = 1 - CONFIDENCE
    limit = error + 3 * math.sqrt(error * (1 - error) / RUNS)
    assert np.mean(found["bootstrap"] > EPSILON) <= limit
    # 0.05, if the error of the propensities were all that is between the two.
    assert np.mean(found["bootstrap"] > found["true propensities"]) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / RUNS)


def main() -> None:
    print("| Case | Propensities | above ε | above the bound of the true ones | mean bound |")
    print("|---|---|---|---|---|")
    for case in CASES if len(sys.argv) == 1 else sys.argv[1:]:
        start = time.perf_counter()
        found = study(case)
        for name, bounds in found.items():
            over = "" if name == "true propensities" else f"{np.mean(bounds > found['true propensities']):.1%}"
            print(f"| {case} | {name} | {np.mean(bounds > EPSILON):.1%} | {over} | {bounds.mean():.3f} |", flush=True)
        print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
