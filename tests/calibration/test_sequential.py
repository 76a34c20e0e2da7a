"""How often sequential bounds exceed the truth, and how large they are: tables of docs/methods/audits/sequential.md.

`python -m tests.calibration.test_sequential` prints them. Betting is looked at after every pair, the mixture
and what is naive whenever there are 2% more. "comonotone"
pairs have both errors from the same uniform number. "two rules" are pairs of a mechanism that leaks nothing, whose runs
without the example are judged by one rule and those with it by another.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.audits.betting import (
    ApproxClaims,
    bet_on_product,
    gaussian_claims,
    laplace_claims,
)
from bayes_dp.beta import clopper_pearson_upper
from bayes_dp.calibrate.looked_at import largest_capital, largest_mixture, looks
from bayes_dp.tradeoff import Gaussian, Laplace

DELTA, P = 1e-5, 0.05


def corner(epsilon):
    return (1 - DELTA) / (1 + np.exp(epsilon))


NULLS = {  # rates with exactly ε, and the ε
    "corner, ε = 1": (corner(1.0), corner(1.0), 1.0),
    "edge .05, ε = 1": (0.05, 1 - DELTA - np.e * 0.05, 1.0),
    "edge .002, ε = 1": (1 - DELTA - np.e * 0.002, 0.002, 1.0),
    "opposite decisions": (1 - 0.05, DELTA + np.e * 0.05, 1.0),
    "corner, ε = 4": (corner(4.0), corner(4.0), 4.0),
    "no leak": (0.3, 0.7 - DELTA, 0.0),
}
TRUTHS = {
    "(.269, .269)": (corner(1.0),) * 2,
    "(.01, .3)": (0.01, 0.3),
    "(.05, .6)": (0.05, 0.6),
    "(.45, .45)": (0.45,) * 2,
}


def errors(alpha, beta, sequences: int, pairs: int, rng, *, comonotone: bool = False):
    """Errors of runs without and with the example, (sequences, pairs) each."""
    u = rng.random((sequences, pairs))
    return (u < alpha).astype(float), ((u if comonotone else rng.random((sequences, pairs))) < beta).astype(float)


def misses(method: str, null: str, *, sequences: int, pairs: int, comonotone: bool = False):
    """How often the truth is refuted at any look."""
    alpha, beta, epsilon = NULLS[null]
    rng = np.random.default_rng([list(NULLS).index(null), pairs])
    x, y = errors(alpha, beta, sequences, pairs, rng, comonotone=comonotone)
    if method == "mixture":
        best = largest_mixture(epsilon, DELTA, x, y)
    else:
        claims = ApproxClaims(np.full(sequences, epsilon), DELTA)
        best = largest_capital(claims, x, y, dependent=method == "dependent")
    return float(np.mean(best >= -np.log(P)))


def naive(method: str, *, sequences: int, pairs: int, null: str = "corner, ε = 1"):
    """How often a bound for a fixed number of runs exceeds the truth at one of the `looks`."""
    alpha, beta, epsilon = NULLS[null]
    x, y = errors(alpha, beta, sequences, pairs, np.random.default_rng(0))
    n = looks(pairs)
    a, b = (np.cumsum(each, axis=1)[:, n.astype(int) - 1] for each in (x, y))
    if method == "clopper-pearson":
        high = [clopper_pearson_upper(each, n, P / 2) for each in (a, b)]
        wrong = (np.exp(epsilon) * high[0] + high[1] < 1 - DELTA) | (high[0] + np.exp(epsilon) * high[1] < 1 - DELTA)
    else:  # accuracy: the right decisions of 2n are at most binomial
        right, runs = (2 * n - a - b).astype(int), (2 * n).astype(int)
        wrong = special.bdtrc(right - 1, runs, special.expit(epsilon) * (1 - DELTA) + DELTA) <= P
    return float(np.mean(wrong.any(axis=1)))


def two_rules(*, sequences: int, pairs: int):
    """How often ε = 0 is refuted of a score that does not depend on the example, judged by two rules in a pair."""
    rng = np.random.default_rng(0)
    score = rng.random((2, sequences, pairs))
    x, y = (score[0] > 0.9).astype(float), (score[1] <= 0.1).astype(float)  # each by the rule that suits it
    best = largest_capital(ApproxClaims(np.zeros(sequences), DELTA), x, y)
    return float(np.mean(best >= -np.log(P)))


def smooth(family: str, *, sequences: int, pairs: int):
    """How often the true μ = 1 of a family is refuted, at rates on its curve."""
    f, claims = {"gaussian": (Gaussian(1.0), gaussian_claims), "laplace": (Laplace(1.0), laplace_claims)}[family]
    rng = np.random.default_rng(1)
    alpha = np.repeat([0.02, 0.2, 0.5], -(-sequences // 3))[:sequences, None]
    x, y = errors(alpha, np.asarray(f(alpha)), sequences, pairs, rng)
    return float(np.mean(largest_capital(claims(np.ones(sequences)), x, y) >= -np.log(P)))


def adaptive(*, sequences: int, pairs: int):
    """How often ε = 0 is refuted of scores that do not depend on the example, by adaptive thresholds."""
    wrong = 0
    for seed in range(sequences):
        rng = np.random.default_rng(seed)
        audit = bdp.audits.sequential(DELTA, grid=[0.0, 1.0])
        wrong += audit.update_scores(rng.normal(size=pairs), rng.normal(size=pairs)).rejects(0.0)
    return wrong / sequences


def adversary(*, sequences: int, pairs: int):
    """How often the truth is refuted where rates wander over all that ε = 1 allows, by what the bettor holds.

    After each pair the training moves to the point of the boundary at which the next bet loses least.
    """
    alpha = np.linspace(0, 1, 201)
    f = np.maximum(0, np.maximum(1 - DELTA - np.e * alpha, (1 - DELTA - alpha) / np.e))
    alpha, beta = np.r_[alpha, 1 - alpha], np.r_[f, 1 - f]
    rng, claims = np.random.default_rng(2), ApproxClaims(np.ones(sequences), DELTA)
    log, best, sums = np.zeros(sequences), np.zeros(sequences), np.zeros((2, sequences))
    for t in range(pairs):
        bet = bet_on_product(claims, *(sums + 0.5) / (t + 1))
        factors = bet.log_factors(np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 0.0, 1.0]))
        chances = np.stack([(1 - alpha) * (1 - beta), (1 - alpha) * beta, alpha * (1 - beta), alpha * beta])
        reached = (np.exp(factors).T @ chances).argmax(axis=1)
        x, y = rng.random(sequences) < alpha[reached], rng.random(sequences) < beta[reached]
        log = log + factors[2 * x + y, np.arange(sequences)]
        sums, best = sums + [x, y], np.maximum(best, log)
    return float(np.mean(best >= -np.log(P)))


def one_run(*, sequences: int, models: int, epsilon: float = 1.0, examples: int = 1000, made: int = 100):
    """How often the truth is refuted by guesses on model after model: by coins of σ(ε), and by the worst law."""
    from bayes_dp.audits.one_run import exact_p_value
    from bayes_dp.audits.one_run_e_values import one_run_log_e

    rng = np.random.default_rng(3)
    log_e = np.array([one_run_log_e(examples, made, v, np.array([epsilon]), DELTA)[0] for v in range(made + 1)])
    tails = np.r_[1.0, exact_p_value(examples, made, np.arange(1, made + 1), epsilon, DELTA), 0.0]
    laws = {
        "randomized response": special.bdtr(np.arange(-1, made + 1), made, special.expit(epsilon)),
        "worst case": 1 - tails,
    }
    found = {}
    for name, cdf in laws.items():
        right = np.searchsorted(cdf[1:], rng.random((sequences, models)), side="left").clip(0, made)
        mean = special.logsumexp(np.cumsum(log_e[right], axis=1), axis=2) - np.log(log_e.shape[1])
        found[name] = float(np.mean(mean.max(axis=1) >= -np.log(P)))
    return found


def mean_bounds(truth: str, sizes, *, sets: int):
    """Mean bounds at these numbers of pairs, (methods, sizes)."""
    found = np.zeros((4, len(sizes), sets))
    for seed in range(sets):
        rng = np.random.default_rng([list(TRUTHS).index(truth), seed])
        (x,), (y,) = errors(*TRUTHS[truth], 1, sizes[-1], rng)
        audits = [bdp.audits.sequential(DELTA, method=method) for method in ("betting", "mixture")]
        start = 0
        for i, n in enumerate(sizes):
            counts = bdp.ErrorCounts(int(x[:n].sum()), n, int(y[:n].sum()), n)
            for j, bound in enumerate((bdp.audits.clopper_pearson, bdp.audits.accuracy)):
                found[j, i, seed] = bound(counts, DELTA).value
            for j, audit in enumerate(audits, 2):
                found[j, i, seed] = audit.update(x[start:n], y[start:n]).bound().value
            start = n
    return found.mean(axis=2)


def table(headings, rows) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def main(sequences: int, pairs: int, sets: int, part: str = "") -> None:
    if part in ("", "misses"):
        rows = []
        for null in NULLS:
            own = [misses(m, null, sequences=sequences, pairs=pairs) for m in ("betting", "dependent", "mixture")]
            tied = [
                misses(m, null, sequences=sequences, pairs=pairs, comonotone=True) for m in ("betting", "dependent")
            ]
            rows.append([null, *(f"{value:.3f}" for value in (*own, *tied))])
        print(table(["truth", "betting", "dependent", "mixture", "betting, comonotone", "dependent, comonotone"], rows))
    if part in ("", "others"):
        for family in ("gaussian", "laplace"):
            print(f"{family}, μ = 1: {smooth(family, sequences=sequences, pairs=pairs):.3f}")
        print(f"adversary: {adversary(sequences=sequences, pairs=min(pairs, 1000)):.3f}")
        for name, value in one_run(sequences=sequences, models=20).items():
            print(f"one_run, 20 models, {name}: {value:.3f}")
        print(f"adaptive threshold, no leak: {adaptive(sequences=sequences // 4, pairs=300):.3f}")
    if part in ("", "naive"):
        rows = []
        for method in ("clopper-pearson", "accuracy"):
            sizes = [size for size in (100, 1000, 10_000) if size <= pairs]
            rows.append([method, *(f"{naive(method, sequences=sequences, pairs=size):.3f}" for size in sizes)])
        print(table(["looked at up to so many pairs", *map(str, sizes)], rows))
        print(f"two rules in a pair: {two_rules(sequences=sequences, pairs=100):.3f}")
    if part in ("", "bounds"):
        sizes = [size for size in (100, 1000, 10_000) if size <= pairs]
        rows = []
        for truth in TRUTHS:
            found = mean_bounds(truth, sizes, sets=sets)
            rows.append([truth, *(" / ".join(f"{value:.2f}" for value in row) for row in found)])
        print(table(["truth", "Clopper-Pearson", "accuracy", "betting", "mixture"], rows))


# What runs without being asked for ------------------------------------------------------------------------------------

LEVEL = P + 3 * np.sqrt(P * (1 - P) / 400)


@pytest.mark.parametrize("dependent", [False, True])
def test_many_sequences_are_those_of_the_audit(dependent):
    rng = np.random.default_rng(0)
    x, y = errors(0.1, 0.5, 3, 150, rng)
    best = largest_capital(ApproxClaims(np.full(3, 0.5), DELTA), x, y, dependent=dependent)
    for i in range(3):
        pairs = "dependent" if dependent else "independent"
        audit = bdp.audits.sequential(DELTA, grid=[0.0, 0.5], pairs=pairs)
        for t in range(150):
            audit.update(x[i, t : t + 1], y[i, t : t + 1])
        assert max(0.0, audit._best[1]) == pytest.approx(best[i], rel=1e-9)


@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("method", ["betting", "dependent", "mixture"])
def test_looking_after_every_pair(method, null):
    assert misses(method, null, sequences=400, pairs=300) <= LEVEL


def test_dependent_pairs_fail_the_product_and_keep_the_sum():
    assert misses("betting", "corner, ε = 1", sequences=400, pairs=400, comonotone=True) > LEVEL
    assert misses("dependent", "corner, ε = 1", sequences=400, pairs=400, comonotone=True) <= LEVEL


def test_naive_monitoring_fails():
    assert naive("accuracy", sequences=400, pairs=500) > 0.2
    assert naive("clopper-pearson", sequences=400, pairs=1000) > 0.07


def test_two_rules_in_a_pair_fail():
    assert two_rules(sequences=100, pairs=100) == 1.0


@pytest.mark.parametrize("family", ["gaussian", "laplace"])
def test_true_parameters_of_families(family):
    assert smooth(family, sequences=400, pairs=200) <= LEVEL


def test_an_adversary_gains_nothing():
    assert adversary(sequences=400, pairs=100) <= LEVEL


def test_model_after_model():
    assert max(one_run(sequences=400, models=10).values()) <= LEVEL


def test_adaptive_thresholds_without_a_leak():
    assert adaptive(sequences=50, pairs=100) <= P + 3 * np.sqrt(P * (1 - P) / 50)


def test_mean_bounds():
    assert mean_bounds("(.01, .3)", [100], sets=2)[2:] == pytest.approx(2, abs=1)


@pytest.mark.slow
@pytest.mark.parametrize("null", NULLS)
@pytest.mark.parametrize("method", ["betting", "dependent", "mixture"])
def test_looking_after_every_pair_at_the_size_of_the_docs(method, null):
    assert misses(method, null, sequences=2000, pairs=10_000) <= P + 3 * np.sqrt(P * (1 - P) / 2000)


@pytest.mark.slow
def test_mean_bounds_of_the_docs():
    """Those of the table, which are of 200 sequences, within 3 standard errors of 20 (standard deviation about .3)."""
    found = mean_bounds("(.01, .3)", [100, 1000], sets=20)
    assert found[2:] == pytest.approx(np.array([[2.41, 3.53], [1.89, 3.11]]), abs=0.2)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4] or ("2000", "10000", "200")), *sys.argv[4:5])
