"""How often a zero-run bound from learned propensities exceeds the truth, with and without the bootstrap.

Run by `make test-slow`; `python -m tests.calibration.test_bootstrap_coverage` prints the table that docs/propensity.md
shows. The attack is randomized response at a known ε. It ranks the examples by its answer, if ε > 0, and then by a
feature that differs between members and non-members: with ε = 0 all that it knows is the shift.
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
#: name -> examples, features, log-odds by a step of 1 in the first feature, ε
CASES = {
    "2 features, 600 examples, ε = 0": (600, 2, 0.7, 0.0),
    "2 features, 600 examples, ε = 1": (600, 2, 0.7, 1.0),
    "20 features, 2400 examples, ε = 0": (2400, 20, 0.7, 0.0),
    "20 features, 2400 examples, ε = 1": (2400, 20, 0.7, 1.0),
    "5 features, 1000 examples, strong shift, ε = 0": (1000, 5, 1.5, 0.0),
    "5 features, 1000 examples, strong shift, ε = 1": (1000, 5, 1.5, 1.0),
}
TOO_FEW = {"20 features, 600 examples, ε = 0": (600, 20, 0.7, 0.0)}


def audited(n, features, strength, epsilon, seed):
    """Features, memberships, true propensities, and the attack's scores."""
    rng = np.random.default_rng([11, seed])
    x = rng.normal(size=(n, features))
    truth = expit(strength * x[:, 0])
    member = rng.random(n) < truth
    told = member ^ (rng.random(n) > expit(epsilon))
    return x, member, truth, (told if epsilon else 0) + 0.3 * expit(x[:, 0]) + 1e-6 * rng.random(n)


def run(n, features, strength, epsilon, seed):
    """The bounds of one audit, by what was made of the error of the propensities."""
    x, member, truth, score = audited(n, features, strength, epsilon, seed)
    pi = fit(x, member, seed=seed)
    assert any("features; below" in sentence for sentence in pi.warnings) == ((n, features) == (600, 20))
    settings = {"choice": n // 4, "sides": "members", "seed": seed}
    found = bootstrap(pi, score, replicates=REPLICATES, confidence=CONFIDENCE, propensity="exact", **settings)
    first, bounds = found.details["without_bootstrap"], np.array(found.details["bootstrap_bounds"])
    place = math.floor((1 - CONFIDENCE) / 2 * (REPLICATES + 1) + 1e-9)
    plain = np.sort(bounds)[place - 1] + first - np.median(bounds)
    calls = call_members(pi.table(score), n // 4, "members", seed=seed)
    calls = dataclasses.replace(calls, table=GuessTable(calls.table.score, member, truth))
    half = 1 - (1 - CONFIDENCE) / 2
    return {
        "true propensities": zero_run(calls, propensity="exact", confidence=half, seed=seed).value,
        "learned, taken for true": first,
        "bootstrap, recentred only": max(0.0, plain),
        "bootstrap": found.value,
    }


def study(case, runs=RUNS):
    """For each way the bounds (runs,)."""
    rows = [run(*(CASES | TOO_FEW)[case], seed) for seed in range(runs)]
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_bootstrap_covers(case):
    found, error = study(case), 1 - CONFIDENCE
    beyond = np.mean(found["bootstrap"] > CASES[case][-1])
    assert beyond <= error + 3 * math.sqrt(error * (1 - error) / RUNS)


@pytest.mark.slow
def test_without_it_and_without_our_term_the_shift_is_taken_for_a_leak():
    found = study("20 features, 2400 examples, ε = 0")
    assert np.mean(found["learned, taken for true"] > 0) > 0.8
    assert np.mean(found["bootstrap, recentred only"] > 0) > 0.2


@pytest.mark.slow
def test_what_is_warned_of_is_not_made_up_for():
    (case,) = TOO_FEW
    assert np.mean(study(case)["bootstrap"] > 0) > 1 - CONFIDENCE + 3 * math.sqrt(0.09 / RUNS)


def main() -> None:
    print("| Case | Propensities | above ε | above the bound of the true ones | mean bound |")
    print("|---|---|---|---|---|")
    for case, (*_, epsilon) in (CASES | TOO_FEW).items():
        start = time.perf_counter()
        found = study(case)
        for name, bounds in found.items():
            over = "" if name == "true propensities" else f"{np.mean(bounds > found['true propensities']):.1%}"
            print(f"| {case} | {name} | {np.mean(bounds > epsilon):.1%} | {over} | {bounds.mean():.3f} |", flush=True)
        print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
