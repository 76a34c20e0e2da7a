"""Simulation-based calibration of the posteriors from the order of scores: parameters from the prior, scores from them.

Run by `make test-slow`; `python -m tests.calibration.test_curves_sbc` prints the table of docs/methods/curves.md, and
`python -m tests.calibration.test_curves_sbc average 100` a row of it from 100 data sets.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest

import bayes_dp as bdp
from tests.bayes.levels.ordered import CURVES, advantage, levels, member, scores
from tests.calibration.test_sbc import uniformity

BASES, RUNS, DATA_SETS = 6, 40, 500
PARAMETER = {"gaussian": "mu", "laplace": "mu", "pure": "theta"}
NAMES = (*CURVES, "average")


def simulate(family, seed):
    """The family, its parameter and the strength from their priors, and scores."""
    rng = np.random.default_rng([18, NAMES.index(family), seed])
    true = str(rng.choice(list(CURVES))) if family == "average" else family
    theta, s = member(true, abs(rng.normal(0, np.sqrt(10)))), rng.random()
    return true, theta, s, scores(true, levels(true, theta, s, BASES, rng), RUNS, RUNS, rng)


@cache
def places(family, data_sets=DATA_SETS):
    """The posterior probability below the truth, an array for each parameter; for an average that of the advantage, and
    by how much the weights of the families exceed what they should be on average."""
    rows = []
    for seed in range(data_sets):
        true, theta, s, made = simulate(family, seed)
        post = bdp.estimate_curves(made, family=family)
        if family == "average":
            weights = [post.weights[name] - (name == true) for name in CURVES]
            rows.append([float(post.marginals["delta"].cdf(advantage(true, theta))), *weights])
        else:
            known = {PARAMETER[family]: theta, "strength": s}
            rows.append([float(post.marginals[name].cdf(value)) for name, value in known.items()])
    names = ("advantage", *CURVES) if family == "average" else (PARAMETER[family], "strength")
    return dict(zip(names, np.array(rows).T, strict=True))


def off(weights):
    """How far the mean of the differences is from 0, in standard errors."""
    return float(weights.mean() / (weights.std() / np.sqrt(len(weights))))


@pytest.mark.slow
@pytest.mark.parametrize("family", NAMES)
def test_ranks_are_uniform(family):
    for name, ranks in places(family).items():
        if name in CURVES:
            assert abs(off(ranks)) < 3.5, name
        else:
            chi2, ks = uniformity(ranks)
            assert chi2 > 0.01, (name, chi2)
            assert ks > 0.001, (name, ks)


@pytest.mark.parametrize("family", NAMES)
def test_a_data_set_has_its_places(family):
    for name, ranks in places(family, 1).items():
        assert -1 <= ranks[0] <= 1 if name in CURVES else 0 < ranks[0] < 1


def main(wanted="", data_sets=DATA_SETS):
    print("| family | data sets | p (χ²) | p (KS) | 90% intervals that hold the parameter |\n|---|---|---|---|---|")
    for family in NAMES:
        if wanted not in family:
            continue
        found = places(family, int(data_sets))
        ranked = {name: uniformity(ranks) for name, ranks in found.items() if name not in CURVES}
        chi2, ks = (", ".join(f"{name} {p[i]:.2f}" for name, p in ranked.items()) for i in (0, 1))
        first = next(iter(found.values()))
        print(
            "|",
            " | ".join([family, f"{data_sets}", chi2, ks, f"{np.mean(np.abs(first - 0.5) < 0.45):.1%}"]),
            "|",
            flush=True,
        )
        for name, weights in found.items():
            if name in CURVES:
                print(
                    f"weight of {name} less its share: {weights.mean():+.3f}, {off(weights):+.1f} standard errors",
                    flush=True,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
