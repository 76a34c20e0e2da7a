"""How long a bound and a report of one model's scores take: `make bench`."""

import time

import numpy as np
import pytest

import bayes_dp as bdp


def scores(examples, leak):
    rng = np.random.default_rng(0)
    member = rng.random(examples) < 0.5
    return bdp.GuessTable(rng.normal(size=examples) + leak * member, member)


@pytest.mark.benchmark(timer=time.process_time)
@pytest.mark.parametrize("leak", [0.0, 0.3])
def test_a_bound_of_a_million_examples(benchmark, leak):
    """At most 2 s of one processor."""
    table = scores(1_000_000 if benchmark.enabled else 2000, leak)
    benchmark.pedantic(bdp.audits.one_run, args=(table, 1e-7), rounds=1)
    if benchmark.enabled:
        assert benchmark.stats.stats.min < 2


@pytest.mark.benchmark(timer=time.process_time)
def test_a_report_of_a_million_examples(benchmark):
    """From the scores to the page, at most 20 s of one processor. Without a leak most guesses are made."""
    table = scores(1_000_000, 0.0) if benchmark.enabled else scores(500, 1.0)

    def page():
        return bdp.report(table, 1e-7, claim=bdp.Claim(1.0, 1e-7)).html

    benchmark.pedantic(page, rounds=1)
    if benchmark.enabled:
        assert benchmark.stats.stats.min < 20
