"""What the two ends of a posterior are worth, by simulation.

The high end: mechanisms whose ε is known, attacked with levels between half of the mechanism's own and all of it. The
low end: rates from the layer itself, where the attacks may be exactly tight.

`python -m tests.calibration.test_two_ends` prints the tables that docs/methods/two_ends.md shows.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
import pytest
from scipy import optimize, special

import bayes_dp as bdp
from bayes_dp import region, tradeoff
from tests.calibration.many_posteriors import columns, compared, grid, many, passing

PROB = 0.9
HIGH_SETS = 40
LOW = {"epsilon": 1.0, "delta": 1e-5}  # the truth in the table of the low end


# Mechanisms: false negative rates at rates α and levels t, and the true ε ---------------------------------------------


@dataclass(frozen=True)
class Mechanism:
    """`level` is its own parameter; attacks have the rates of mechanisms of half of it and more."""

    name: str
    level: float

    def missed(self, alpha, level):
        """The false negative rates of attacks at false positive rates `alpha`, each of its own level."""
        if self.name == "Gaussian":
            return special.ndtr(-special.ndtri(alpha) - level)
        if self.name == "Laplace":
            return np.array([tradeoff.Laplace(t)(a) for a, t in zip(alpha, level, strict=True)])
        if self.name == "randomized response":
            return tradeoff.approx_dp(alpha, level, 0.0)
        return 1 - (1 - SHARE) * alpha - SHARE * special.ndtr(special.ndtri(alpha) + level)

    def epsilon(self, delta):
        """The least ε at δ."""
        if self.name == "Gaussian":
            return float(tradeoff.epsilon_from_mu(self.level, delta))
        if self.name == "Laplace":
            return float(tradeoff.epsilon_from_laplace(self.level, delta))
        if self.name == "randomized response":
            return float(tradeoff.ApproxDP(self.level).epsilon_at(delta))
        return float(optimize.brentq(lambda e: subsampled_delta(self.level, e) - delta, 1e-6, 100.0))


SHARE = 0.3  # of the runs with z in which the subsampled Gaussian mechanism looks at z
MECHANISMS = (
    Mechanism("Gaussian", 1.0),
    Mechanism("Laplace", 2.0),
    Mechanism("randomized response", 1.5),
    Mechanism("subsampled Gaussian", 3.0),
)


def subsampled_delta(mu, epsilon):
    """δ(ε) of N(0, 1) against (1−q) N(0, 1) + q N(μ, 1): the larger of the two directions."""
    add = SHARE * tradeoff.delta_from_mu(mu, np.log1p(np.expm1(epsilon) / SHARE))
    rest = 1 - np.exp(epsilon) * (1 - SHARE)
    if rest <= 0:
        return float(add)
    return float(max(add, rest * tradeoff.delta_from_mu(mu, epsilon + np.log(SHARE) - np.log(rest))))


def attacked(mechanism, n, trials, rate, rng):
    """Error counts of n attacks; `rate` is their false positive rate, None for a uniform one each."""
    level = mechanism.level * rng.uniform(0.5, 1.0, n)
    alpha = rng.uniform(0.0, 1.0, n) if rate is None else np.full(n, rate)
    beta = mechanism.missed(alpha, level)
    return bdp.ErrorCounts(rng.binomial(trials, alpha), trials, rng.binomial(trials, beta), trials)


# The high end ---------------------------------------------------------------------------------------------------------


def high(mechanism, delta, n, trials, rate, data_sets=HIGH_SETS):
    """The mean ends of the interval, the shares in which it holds the truth and lies below it; the mean ends under
    Gaussian noise, and the share in which they reach the truth; the shares in which a limit of .95 of the truth passes
    by the interval alone, and by the gate."""
    truth = mechanism.epsilon(delta)
    every = [
        attacked(mechanism, n, trials, rate, np.random.default_rng([12, seed, n, trials])) for seed in range(data_sets)
    ]
    found = compared(every, delta)
    (low, top), (first, last) = ((post.low, post.high) for post in (found["approx"], found["gaussian"]))
    rows = (low, top, (low <= truth) & (truth <= top), top < truth, first, last, last >= truth, top <= 0.95 * truth)
    return truth, np.array([*(row.mean() for row in rows), passing(every, found, delta, 0.95 * truth)])


HIGH = [
    (mechanism, delta, n, trials, 0.1)
    for mechanism in MECHANISMS
    for delta in (1e-2, 1e-5)
    for n in (5, 20)
    for trials in (100, 1000)
]
THRESHOLDS = [(mechanism, 1e-5, 20, 1000, rate) for mechanism in MECHANISMS for rate in (0.01, None)]


def useless_end(n, trials, data_sets=200):
    """The mean upper end under Gaussian noise at δ = 1e-5 for attacks that see nothing."""
    every = []
    for seed in range(data_sets):
        rng = np.random.default_rng([14, seed, n, trials])
        every.append(bdp.ErrorCounts(rng.binomial(trials, 0.1, n), trials, rng.binomial(trials, 0.9, n), trials))
    return many(columns(every), "gaussian", 1e-5, **grid(every)).high.mean()


# The low end ----------------------------------------------------------------------------------------------------------


def low_end(n, trials, strength, data_sets=40):
    """The share of data sets whose interval begins above the true ε, and the mean of where it begins."""
    rows = []
    for seed in range(data_sets):
        rng = np.random.default_rng([13, seed, n, trials])
        if strength == 1:
            rates = region.sample_boundary(LOW["epsilon"], LOW["delta"], n, rng)
        else:
            rates = region.sample(LOW["epsilon"], LOW["delta"], strength, n, rng)
        wrong = (rng.binomial(trials, rate) for rate in rates.T)
        counts = bdp.ErrorCounts(next(wrong), trials, next(wrong), trials)
        start = bdp.estimate(counts, LOW["delta"]).interval(PROB)[0]
        rows.append((start > LOW["epsilon"], start))
    return np.mean(rows, axis=0)


STRENGTHS = (0.0, 0.5, 0.9, 1.0)
LOW_SETS = {1: 200, 5: 100, 20: 40}  # data sets by the number of bases


# Tests ----------------------------------------------------------------------------------------------------------------


def test_epsilon_of_the_subsampled_mechanism():
    """At μ = 3, q = .3 and δ = .01 it is 8.03; without subsampling it is that of the Gaussian one."""
    assert Mechanism("subsampled Gaussian", 3.0).epsilon(0.01) == pytest.approx(8.03, abs=0.005)


def test_one_data_set_of_each_table():
    for case in (HIGH[0], THRESHOLDS[-1]):
        truth, found = high(*case, data_sets=1)
        assert found.shape == (9,)
        assert 0 < truth < np.inf
    assert useless_end(5, 100, data_sets=1) > 0
    for strength in (0.5, 1.0):
        above, start = low_end(1, 100, strength, data_sets=1)
        assert above == (start > LOW["epsilon"])


@pytest.mark.slow
def test_the_gaussian_number_is_there_where_the_interval_is_too_low():
    truth, found = high(MECHANISMS[0], 1e-5, 20, 1000, 0.1)
    assert truth == pytest.approx(4.38, abs=0.01)
    assert found[3] == 1.0  # the interval lies wholly below the truth
    assert found[6] >= 0.8  # the Gaussian number does not
    assert found[7] == 1.0  # a limit just below the truth passes by the interval alone
    assert found[8] <= 0.2  # and hardly ever by the gate


@pytest.mark.slow
def test_a_tight_attack_on_one_base_lifts_the_low_end_above_the_truth():
    few, many = (low_end(1, trials, 1.0, 60)[0] for trials in (100, 10_000))
    assert few >= 0.05
    assert many >= 0.5
    assert low_end(1, 10_000, 0.0, 60)[0] <= 0.2


def print_high():
    heads = (
        "mechanism", "δ", "ε", "*n*", "*N*", "false positive rate", "interval", "holds ε", "all below ε",
        "under Gaussian noise", "reaches ε", "passes by the interval", "passes the gate",
    )  # fmt: skip
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for mechanism, delta, n, trials, rate in [*HIGH, *THRESHOLDS]:
        truth, found = high(mechanism, delta, n, trials, rate)
        low, top, holds, below, first, last, *shares = found
        cells = [mechanism.name, f"{delta:g}", f"{truth:.2f}", f"{n}", f"{trials}", f"{rate or 'any'}"]
        cells += [f"{low:.2f} to {top:.2f}", f"{holds:.2f}", f"{below:.2f}", f"{first:.2f} to {last:.2f}"]
        print(f"| {' | '.join([*cells, *(f'{share:.2f}' for share in shares)])} |", flush=True)


def print_useless():
    for n, trials in ((20, 1000), (20, 100), (5, 1000), (5, 100)):
        print(f"{n} useless attacks of {trials} + {trials} runs: {useless_end(n, trials):.2f}", flush=True)


def print_low():
    heads = " | ".join(f"*s* = {s:g}" for s in STRENGTHS)
    print(f"| *n* | *N* | {heads} |\n|---|---|{'---|' * len(STRENGTHS)}")
    for n in (1, 5, 20):
        for trials in (100, 1000, 10_000):
            cells = (low_end(n, trials, s, LOW_SETS[n]) for s in STRENGTHS)
            print(f"| {n} | {trials} | " + " | ".join(f"{share:.2f} ({start:.2f})" for share, start in cells) + " |",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    if "low" not in sys.argv[1:]:
        print_high()
        print_useless()
    if "high" not in sys.argv[1:]:
        print_low()
