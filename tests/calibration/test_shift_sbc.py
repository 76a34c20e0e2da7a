"""Simulation-based calibration of the posterior from guesses under shift (Talts et al. 2018).

ε and s come from their priors, levels from the layer, guesses from the model: the places of ε, of s and of the first
group's e in their posteriors are then uniform. `python -m tests.calibration.test_shift_sbc` prints the table of
docs/methods/shift.md, `python -m tests.calibration.test_shift_sbc groups 100` its row of groups from 100 data sets.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pytest
from scipy import stats

from bayes_dp.bayes.grid.axis import axis_of
from bayes_dp.bayes.grid.grid import Grid
from bayes_dp.bayes.levels.leaks import leak_marginals
from bayes_dp.bayes.levels.shift_question import ask_of_guesses
from bayes_dp.bayes.priors import prior_of
from tests.bayes.levels.guessing import draw

NAMES = ("epsilon", "strength", "e")
CASES = {
    "δ = 0": {},
    "δ = 0.01, 60 of 90 examples are not guessed": {"delta": 0.01, "others": 60},
    "three groups": {"groups": 3},
    "20 draws of the propensities": {"draws": 20},
}
GUESSES, SETS = 30, 500


@cache
def places(case, sets=SETS, seed=0):
    """Where the true ε, s and e are in their posteriors, (sets, 3)."""
    options, found = CASES[case], []
    axes = [axis_of(name, prior_of(name)) for name in ("epsilon", "strength")]
    for i in range(sets):
        rng = np.random.default_rng([seed, list(CASES).index(case), i])
        epsilon, strength, leaks, guesses, drawn = draw(rng, GUESSES, **options)
        asked = ask_of_guesses(guesses, options.get("delta", 0.0), drawn, True, None, None, "free", 0)
        law = asked.likelihood()
        grid = Grid(axes, law.total, ridge=True)
        first, *_ = leak_marginals(law, grid.nodes["epsilon"], grid.nodes["strength"], grid.weight)
        marginals = {**grid.marginals, "e": first}
        truth = epsilon, strength, leaks[int(next(iter(asked.groups)) or 0)]
        found.append([float(marginals[name].cdf(value)) for name, value in zip(NAMES, truth, strict=True)])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_the_places_are_uniform(case):
    for values in places(case).T:
        assert stats.kstest(values, "uniform").pvalue > 1e-3


def main(wanted="", sets=SETS):
    print("| Design | Data sets | p (KS) of ε | of *s* | of *e* | 90% intervals hold ε | hold *e* |")
    print("|---|---|---|---|---|---|---|")
    for case in CASES:
        if wanted in case:
            ranks = places(case, int(sets))
            p_values = (f"{stats.kstest(values, 'uniform').pvalue:.2f}" for values in ranks.T)
            held = (f"{np.mean(np.abs(ranks[:, j] - 0.5) < 0.45):.1%}" for j in (0, 2))
            print(f"| {' | '.join((case, f'{sets}', *p_values, *held))} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
