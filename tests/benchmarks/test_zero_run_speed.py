"""How long zero-run bounds take, and Poisson binomial tails: `make bench`."""

import numpy as np
import pytest
from scipy import special

from bayes_dp.audits.poisson_binomial import tail
from bayes_dp.audits.propensity_bounds import bounds_for_propensities
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.data.guess_table import GuessTable
from tests.benchmarks.test_audit_speed import check

RANDOM = np.random.default_rng(0)


@pytest.mark.parametrize("z", [0, 3, 7])
def test_one_tail_of_a_hundred_thousand(benchmark, z):
    chances = special.expit(1.5 * RANDOM.normal(size=100_000))
    v = int(chances.sum() + z * np.sqrt((chances * (1 - chances)).sum()))
    benchmark.pedantic(tail, args=(chances, v), rounds=5)
    check(benchmark, 1.0)


@pytest.mark.parametrize("guesses", ["default", "all"])
@pytest.mark.parametrize("form", ["δ = 1e-5", "δ = 0"])
def test_a_million_examples(benchmark, form, guesses):
    """With coins; for the default numbers of guesses, and where all are guessed."""
    size = 1_000_000 if benchmark.enabled else 10_000
    logit = RANDOM.normal(size=size)
    member = RANDOM.random(len(logit)) < special.expit(logit)
    score = np.where(member, 1.0, -1.0) + logit + 1.5 * RANDOM.normal(size=len(logit))
    table = GuessTable(score, member, special.expit(logit))
    question = {
        "delta": 1e-5 if form == "δ = 1e-5" else 0.0,
        "form": "tampered",
        "choice": size if guesses == "all" else None,
    }
    benchmark.pedantic(zero_run, args=(table,), kwargs=question, rounds=3)
    check(benchmark, 3.0)


QUESTIONS = {"untampered": {}, "tampered": {"delta": 1e-5}, "mu": {"parameter": "mu"}}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_bootstrap(benchmark, question):
    """600 replicates of the propensities, m = 10 000, six numbers of guesses."""
    rounds, replicates = [], 600 if benchmark.enabled else 50
    for r in (100, 200, 500, 1000, 2000, 4000):
        logit = RANDOM.normal(size=r)
        member = RANDOM.random(r) < special.expit(logit)
        called = member ^ (RANDOM.random(r) > special.expit(2.0))
        propensity = special.expit(logit + 0.1 * RANDOM.normal(size=(replicates, r)))
        rounds.append((propensity, called, called == member, RANDOM.random(r)))

    def bounds():
        for given in rounds:
            bounds_for_propensities(*given, examples=10_000, p=0.025, **QUESTIONS[question])

    benchmark.pedantic(bounds, rounds=1)
    check(benchmark, 40.0)
