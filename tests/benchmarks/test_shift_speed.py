"""How long the posterior from guesses under shift takes: `make bench`."""

import numpy as np
import pytest

import bayes_dp as bdp
from tests.bayes.levels.guessing import draw, plain


@pytest.mark.parametrize(("draws", "limit"), [(0, 1.0), (200, 10.0)])
@pytest.mark.parametrize("delta", [0.0, 1e-5])
def test_ten_thousand_guesses(benchmark, draws, limit, delta):
    made = 10_000 if benchmark.enabled else 500
    _, _, _, guesses, drawn = draw(np.random.default_rng(1), made, draws=draws, others=made)
    bdp.estimate_shifted(plain(1, 1))  # what is imported at first use
    benchmark.pedantic(bdp.estimate_shifted, args=(guesses, delta), kwargs={"draws": drawn}, rounds=2)
    if benchmark.enabled:
        assert benchmark.stats.stats.min < limit
