"""How long the posterior of a whole curve takes: `make bench`."""

import numpy as np
import pytest

import bayes_dp as bdp


@pytest.mark.parametrize(("family", "limit"), [("average", 10.0), ("gaussian", 5.0)])
def test_twenty_bases_of_two_hundred_scores(benchmark, family, limit):
    bases, runs = (20, 100) if benchmark.enabled else (2, 10)
    rng = np.random.default_rng(1)
    level = rng.uniform(0.75, 1.5, (bases, 1))
    scores = rng.normal(size=(bases, runs)), rng.normal(size=(bases, runs)) + level
    bdp.estimate_curves(([0.0], [1.0]), family=family)  # what is imported at first use
    benchmark.pedantic(bdp.estimate_curves, args=(scores,), kwargs={"family": family}, rounds=2)
    if benchmark.enabled:
        assert benchmark.stats.stats.min < limit
