"""What is said of draws that are not to be trusted."""

from __future__ import annotations

import string

import numpy as np
import pytest

from bayes_dp.bayes.convergence import Failure, convergence

KNOWN = {
    Failure.INTERRUPTED: {"kept": 3, "wanted": 10},
    Failure.DIVERGED: {"diverged": 2, "draws": 400, "target": 0.9},
    Failure.TOO_FEW: {"name": "{rho}"},
    Failure.CHAINS_DISAGREE: {"name": "{rho}", "rhat": 1.2345, "limit": 1.01},
    Failure.WORTH_LITTLE: {"name": "{rho}", "ess": 12.3, "limit": 400.0},
}


@pytest.mark.parametrize("failure", Failure)
def test_each_failure_is_a_sentence_with_what_is_known(failure):
    said = failure.said(**KNOWN[failure])
    assert said.endswith(".")
    assert ": " in said
    wanted = {name for _, name, _, _ in string.Formatter().parse(failure.value) if name}
    assert wanted == set(KNOWN[failure])
    assert "{rho}" in said or "name" not in wanted


@pytest.mark.parametrize(
    ("draws", "said"),
    [
        (np.zeros((2, 2)), "There are too few draws of x to tell"),
        (np.random.default_rng(0).normal(size=(2, 500)) + [[0], [9]], "The chains disagree on x (R-hat = "),
        (np.random.default_rng(0).normal(size=(2, 50)), "The draws of x are worth only "),
    ],
)
def test_what_fails_is_told(draws, said):
    (sentence,) = convergence({"x": draws})[1]
    assert sentence.startswith(said)


def test_good_draws_are_not_spoken_of():
    assert convergence({"x": np.random.default_rng(0).normal(size=(4, 500))})[1] == []
