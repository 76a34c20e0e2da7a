"""How often intervals hold ε under the family of the truth and under others, and what passes the gate, by simulation.

`python -m tests.calibration.test_family_coverage [DATA_SETS]` prints the tables of docs/methods/families.md.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import special, stats

import bayes_dp as bdp
from tests.calibration.many_posteriors import FAMILIES, average, columns, compared, gaps, grid, many, passing
from tests.calibration.test_two_ends import SHARE, Mechanism, attacked

PROB = 0.9
DATA_SETS = 200
SUBSAMPLED = "subsampled Gaussian"


@dataclass(frozen=True)
class Row:
    """Attacks on a mechanism, at a δ; `rate` is their false positive rate, None for a uniform one each."""

    mechanism: Mechanism
    delta: float
    n: int
    trials: int
    rate: float | None

    def counts(self, seed):
        return attacked(
            self.mechanism, self.n, self.trials, self.rate, np.random.default_rng([16, seed, self.n, self.trials])
        )


TRUTHS = (
    (Mechanism("Gaussian", 1.0), 1e-5),
    (Mechanism("Gaussian", 1.5), 1e-2),
    (Mechanism("Laplace", 2.0), 1e-2),
    (Mechanism("randomized response", 1.5), 1e-2),
    (Mechanism(SUBSAMPLED, 3.0), 1e-2),
)
ROWS = [
    Row(mechanism, delta, n, trials, rate)
    for mechanism, delta in TRUTHS
    for rate in (0.1, 0.01, None)
    for n in (5, 20)
    for trials in (100, 1000)
]
OWN = {"Gaussian": "gaussian", "Laplace": "laplace", "randomized response": "pure"}
RIGHT = {"Gaussian": "gaussian", "Laplace": "laplace", "randomized response": "approx"}  # among those compared
TOLD = 3.0  # nats from which a family is favoured


def own_posterior(row, every, found):
    """That of the truth's own family, which may be among those found."""
    if row.mechanism.name == SUBSAMPLED:
        family, prior = bdp.subsampled_gaussian(SHARE), stats.halfnorm(scale=3.0)
        return many(columns(every), family, row.delta, prior=prior, **grid(every))
    name = OWN[row.mechanism.name]
    return found[name] if name in found else many(columns(every), name, row.delta, **grid(every))


def covered(row, data_sets=DATA_SETS):
    """The true ε, and of all data sets the mean of the true family's interval, and the shares

    in which the intervals of the true family, of (ε, δ), of Gaussian noise and of the average hold ε;
    in which the counts tell the true family, and a wrong one; and in which half of ε passes the gate.
    """
    truth, every = row.mechanism.epsilon(row.delta), [row.counts(seed) for seed in range(data_sets)]
    found = compared(every, row.delta)
    own = own_posterior(row, every, found)
    intervals = [(post.low, post.high) for post in (own, found["approx"], found["gaussian"])]
    intervals.append(average(found.values()).T)
    holds = [np.mean((low <= truth) & (truth <= high)) for low, high in intervals]
    evidence = np.stack([found[name].log_evidence for name in FAMILIES])
    told = (gaps(found) >= TOLD).sum(axis=0) == len(FAMILIES) - 1
    right = np.array(FAMILIES)[evidence.argmax(axis=0)] == RIGHT.get(row.mechanism.name)
    shares = *holds, np.mean(told & right), np.mean(told & ~right), passing(every, found, row.delta, truth / 2)
    return truth, np.array([own.low.mean(), own.high.mean(), *shares])


def private(n, trials, rate, data_sets=DATA_SETS):
    """Of private trainings, μ = 0.1, the mean upper end under Gaussian noise at δ = 1e-5, and the share that passes a
    limit of 3 with a control that leaks."""
    control, every = bdp.ErrorCounts(0, 5000, 0, 5000), []
    for seed in range(data_sets):
        rng = np.random.default_rng([17, seed, n, trials])
        alpha = rng.uniform(0.0, 1.0, n) if rate is None else np.full(n, rate)
        beta = special.ndtr(-special.ndtri(alpha) - 0.1 * rng.uniform(0.5, 1.0, n))
        every.append(bdp.ErrorCounts(rng.binomial(trials, alpha), trials, rng.binomial(trials, beta), trials))
    found = compared(every, 1e-5)
    return found["gaussian"].high.mean(), passing(every, found, 1e-5, 3.0, control=control)


@pytest.mark.parametrize("row", [ROWS[0], ROWS[36], ROWS[48]], ids=lambda row: row.mechanism.name)
def test_the_posteriors_of_many_data_sets_are_those_of_each(row):
    every = [row.counts(seed) for seed in (0, 1)]
    found = compared(every, row.delta)
    single = bdp.compare_families(every[1], row.delta)
    constant = 2 * row.n * np.log(row.trials + 1)
    for name, post in single.posteriors.items():
        assert (found[name].low[1], found[name].high[1]) == pytest.approx(post.interval(PROB), rel=0.01)
        assert found[name].log_evidence[1] == pytest.approx(single.log_evidence[name] + constant, abs=0.02)
        given = post.log_evidence_given_false_positives + constant
        assert found[name].given[1] == pytest.approx(given, abs=0.1)
    assert average(found.values())[1] == pytest.approx(single.average.interval(PROB), rel=0.01)


def test_the_posteriors_of_many_data_sets_under_a_family_with_its_own_prior():
    row = ROWS[48]
    every = [row.counts(0)]
    post = bdp.estimate(every[0], row.delta, family=bdp.subsampled_gaussian(SHARE), prior="HalfNormal(3)")
    own = own_posterior(row, every, {})
    assert (own.low[0], own.high[0]) == pytest.approx(post.interval(PROB), rel=0.01)


def test_a_limit_passes_by_the_intervals_and_by_the_gate():
    _, passes = private(5, 1000, None, 2)
    assert passes in (0.5, 1.0)
    assert covered(ROWS[8], 2)[1][-1] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("row", [ROWS[0], ROWS[3], ROWS[15], ROWS[27], ROWS[39]], ids=lambda row: row.mechanism.name)
def test_the_interval_of_the_true_family_holds_epsilon(row):
    _, found = covered(row)
    assert found[2] >= 0.8  # .85 within two standard errors
    assert found[8] <= 0.05 or row.mechanism.name == SUBSAMPLED


def print_rows(data_sets):
    heads = (
        "mechanism", "δ", "ε", "false positive rate", "*n*", "*N*", "interval of its family", "holds ε",
        "(ε,δ) holds it", "Gaussian holds it", "average holds it", "told rightly", "told wrongly",
        "half of ε passes the gate",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for row in ROWS:
        truth, found = covered(row, data_sets)
        low, high, *shares = found
        cells = [
            row.mechanism.name,
            f"{row.delta:g}",
            f"{truth:.2f}",
            f"{row.rate or 'any'}",
            f"{row.n}",
            f"{row.trials}",
        ]
        print(f"| {' | '.join([*cells, f'{low:.2f} to {high:.2f}', *(f'{s:.2f}' for s in shares)])} |", flush=True)


def print_private(data_sets):
    print("| false positive rate | *n* | *N* | mean end under Gaussian noise | passes |\n|---|---|---|---|---|")
    for rate in (0.1, 0.01, None):
        for n in (5, 20):
            for trials in (100, 1000):
                end, passes = private(n, trials, rate, data_sets)
                print(f"| {rate or 'any'} | {n} | {trials} | {end:.2f} | {passes:.2f} |", flush=True)


if __name__ == "__main__":
    sets = int(sys.argv[1]) if len(sys.argv) > 1 else DATA_SETS
    print_rows(sets)
    print_private(sets)
