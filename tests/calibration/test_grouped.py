"""Dependent attacks: calibration of the hierarchical posterior, and what it costs to take the attacks for independent.

Run by `make test-slow`; `python -m tests.calibration.test_grouped` prints the tables of docs/evidence/calibration.md
and docs/methods/groups.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from types import SimpleNamespace
from unittest.mock import create_autospec

import numpy as np
import pytest

import bayes_dp as bdp
from bayes_dp.bayes.mhaar.posterior import answer
from bayes_dp.bayes.nuts.sampler import ModelDraws
from tests.bayes.test_grouped import simulated
from tests.calibration.test_sbc import ranks_among, uniformity

DATA_SETS = 500
COVERED = 400
GROUPS = {"sizes": [2, 2, 2], "trials": 40}
RULES = {"sizes": [8, 8, 8], "trials": 100, "spread": 0.02}  # eight decision rules on each of three bases
DELTA = 0.01


def truth_of(seed):
    rng = np.random.default_rng([9, seed])
    return {"epsilon": abs(rng.normal(0, np.sqrt(10))), "strength": rng.random(), "spread": abs(rng.normal(0, 0.1))}


def calibrated(data_sets=DATA_SETS):
    """Ranks (data_sets,) of ε, s and κ among draws of the hierarchical posterior."""
    rows = []
    for seed in range(data_sets):
        truth = truth_of(seed)
        counts = simulated(seed, **GROUPS, **truth)
        post = bdp.estimate(counts, DELTA, groups="hierarchical", draws=300, warmup=300, seed=seed, progress=False)
        rows.append(ranks_among(post.samples, truth, seed))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def coverage(data_sets=COVERED):
    """Shares of the data sets whose 90% interval holds ε, and the mean widths, with and without regard to groups.

    ε and s are drawn from their priors, so that a right posterior holds ε in 90% of the cases.
    """
    held = {"as independent bases": [], "as groups, by their sums": []}
    for seed in range(data_sets):
        truth = truth_of(seed) | {"spread": RULES["spread"]}
        counts = simulated(seed, **RULES | truth)
        alone = bdp.ErrorCounts(counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)
        settings = {"spread": RULES["spread"], "draws": 2000, "warmup": 500, "seed": seed, "progress": False}
        found = (bdp.estimate(alone, DELTA), bdp.estimate(counts, DELTA, groups="aggregate", **settings))
        for name, post in zip(held, found, strict=True):
            low, high = post.interval(0.9)
            held[name].append((low <= truth["epsilon"] <= high, high - low))
    return {name: np.mean(values, axis=0) for name, values in held.items()}


def test_one_data_set_without_draws(monkeypatch):
    """The sampler is asked, but its draws, which take long to compile, are all 0."""

    def zeros(model, arguments, settings):
        members, *_, groups = arguments
        sizes = {"log_image": (groups, 4), "folded_low": (len(members.group),), "folded_high": (len(members.group),)}
        sizes |= {"epsilon": (), "strength": (), "spread": ()}
        shape = settings.chains, settings.draws
        return ModelDraws({name: np.zeros(shape + size) for name, size in sizes.items()}, {}, {}, ())

    monkeypatch.setattr("bayes_dp.bayes.grouped.sample", zeros)
    for ranks in calibrated(1).values():
        assert 0.99 <= ranks[0] <= 1


def test_one_data_set_by_sums_without_draws(monkeypatch):
    found = SimpleNamespace(interval=lambda prob: (0.0, np.inf))
    monkeypatch.setattr("bayes_dp.bayes.grouped.answer", create_autospec(answer, return_value=found))
    assert coverage(1)["as groups, by their sums"][0] == 1.0


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # short runs of the sampler may say that they are short
def test_ranks_are_uniform():
    for name, ranks in calibrated().items():
        chi2, ks = uniformity(ranks)
        assert chi2 > 0.01, (name, chi2)
        assert ks > 0.001, (name, ks)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_dependent_attacks_taken_for_independent_ones_give_too_narrow_intervals():
    found = coverage()
    error = np.sqrt(0.9 * 0.1 / COVERED)
    assert abs(found["as groups, by their sums"][0] - 0.9) < 3 * error
    assert found["as independent bases"][0] < 0.9 - 5 * error
    assert found["as independent bases"][1] < found["as groups, by their sums"][1]


def main() -> None:
    warnings.simplefilter("ignore", UserWarning)
    start = time.perf_counter()
    if "coverage" in sys.argv[1:] or not sys.argv[1:]:
        print("| The attacks are taken | 90% intervals that hold ε | mean width |")
        print("|---|---|---|")
        for name, (share, width) in coverage().items():
            print(f"| {name} | {share:.1%} | {width:.2f} |", flush=True)
        print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    if "ranks" in sys.argv[1:] or not sys.argv[1:]:
        start = time.perf_counter()
        ranks = calibrated()
        found = {name: uniformity(values) for name, values in ranks.items()}
        chi2, ks = (", ".join(f"{name} {p[i]:.2f}" for name, p in found.items()) for i in (0, 1))
        held = np.mean(np.abs(ranks["epsilon"] - 0.5) < 0.45)
        print(f"| hierarchical groups | nuts | three groups of two | {DATA_SETS} | {chi2} | {ks} | {held:.1%} |")
        print(f"{time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
