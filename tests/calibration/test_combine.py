"""How often combined bounds exceed the truth, and how large they are: the tables of docs/methods/audits/combine.md.

`python -m tests.calibration.test_combine` prints them. Rates are of 20 bases with 100 + 100 runs. Under a null every
base has ε = 1: at the corner, at an edge (a false positive rate of .02), spread along the edge, or half at the corner
and half at the edge. "comonotone" bases have all their errors from the same uniform numbers.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from scipy import special

import bayes_dp as bdp
from bayes_dp.audits import combine as module
from bayes_dp.audits.combine import METHODS, bonferroni, fisher, hommel, mixture, simes
from bayes_dp.audits.exact_test import p_values

DELTA, P = 1e-5, 0.05
CORNER = (1 - DELTA) / (1 + np.e)
TRUTHS = {  # rates of the bases
    "all ε = 1": lambda n: (np.full(n, CORNER), np.full(n, CORNER)),
    "all (.02, .5)": lambda n: (np.full(n, 0.02), np.full(n, 0.5)),
    "one (.01, .3)": lambda n: (np.r_[0.01, np.full(n - 1, 0.5)], np.r_[0.3, np.full(n - 1, 0.5)]),
    "a quarter ε = 2": lambda n: (_corner(np.where(np.arange(n) < n / 4, 2.0, 0.0)),) * 2,
    "ε 0 to 2": lambda n: (_corner(np.linspace(0, 2, n)),) * 2,
}


def _corner(epsilon):
    return (1 - DELTA) / (1 + np.exp(epsilon))


def null(name: str, n: int, epsilon: float = 1.0):
    """Rates of n bases on the lower boundary of R(ε, δ)."""
    corner, edge = _corner(epsilon), 0.02
    alpha = {
        "corner": np.full(n, corner),
        "edge": np.full(n, edge),
        "spread": np.linspace(0.005, corner, n),
        "halves": np.where(np.arange(n) < n / 2, corner, edge),
    }[name]
    return alpha, 1 - DELTA - np.exp(epsilon) * alpha


def errors(alpha, beta, runs: int, dependence: str, repetitions: int, rng):
    """False positives and false negatives, (repetitions, n) each."""
    if dependence == "independent":
        return rng.binomial(runs, alpha, (repetitions, len(alpha))), rng.binomial(runs, beta, (repetitions, len(beta)))
    found = []
    for rates in (alpha, beta):
        numbers = rng.random((repetitions, runs, 1))
        found.append((numbers < rates).sum(axis=1))
    return found


def misses(method: str | None, name: str, dependence: str, *, repetitions: int, bases: int = 20, runs: int = 100):
    """How often each rule (or one) rejects ε = 1, where it is true of every base."""
    rng = np.random.default_rng([NULLS.index(name), bases, runs])
    x, y = errors(*null(name, bases), runs, dependence, repetitions, rng)
    rejected = judged(x, y, runs, 1.0, [method] if method else list(METHODS))
    return {each: float(found.mean()) for each, found in rejected.items()}


def judged(x, y, runs: int, epsilon: float, methods: list[str]):
    """Whether ε is rejected, (repetitions,), by each method, from a table of the p-values of all counts that occur."""
    pairs, place = np.unique(np.stack([x.ravel(), y.ravel()]), axis=1, return_inverse=True)
    p = p_values(pairs[0], runs, pairs[1], runs, epsilon, DELTA)[place.ravel()].reshape(x.shape)
    n = x.shape[1]
    found = {}
    for method in methods:
        if method in ("bonferroni", "hommel", "simes", "fisher"):
            rule = {"bonferroni": bonferroni, "hommel": hommel, "simes": simes, "fisher": fisher}[method]
            found[method] = np.array([rule(row) <= P for row in p])
        elif method == "mean_e":
            logs = mixture(x, np.full(x.shape, runs), y, np.full(x.shape, runs), epsilon, DELTA)
            found[method] = special.logsumexp(logs, axis=1) - np.log(n) >= -np.log(P)
        else:
            sums, where = np.unique(np.stack([x.sum(axis=1), y.sum(axis=1)]), axis=1, return_inverse=True)
            share = P / 2 if method == "adaptive" else P
            bound = module._accuracy if method == "accuracy" else module._pooled
            total = np.array([n * runs], float)
            values = np.array(
                [
                    bound(module._Bases(np.array([a]), total, np.array([b]), total, DELTA), share)
                    for a, b in sums.T * 1.0
                ]
            )
            found[method] = values[where.ravel()] > epsilon
            if method == "adaptive":
                found[method] |= (p <= share / n).any(axis=1)
    return found


_KNOWN: dict[tuple[float, ...], float] = {}


def remembered(x, n0, y, n1, epsilon, delta):
    """`p_values`, each computed once."""
    rows = np.broadcast_arrays(x, n0, y, n1, epsilon, delta)
    keys = list(zip(*(row.ravel().tolist() for row in rows), strict=True))
    if new := [key for key in dict.fromkeys(keys) if key not in _KNOWN]:
        columns = np.array(new).T
        _KNOWN.update(zip(new, p_values(*columns[:5], delta).tolist(), strict=True))
    return np.array([_KNOWN[key] for key in keys]).reshape(rows[0].shape)


def mean_bounds(truth: str, *, repetitions: int, bases: int = 20, runs: int = 100):
    """The mean bound of each method."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "p_values", remembered)
        return _mean_bounds(truth, repetitions, bases, runs)


def _mean_bounds(truth: str, repetitions: int, bases: int, runs: int):
    rng = np.random.default_rng(7)
    x, y = errors(*TRUTHS[truth](bases), runs, "independent", repetitions, rng)
    sizes = [runs] * bases
    return {
        method: float(
            np.mean(
                [
                    bdp.audits.combine(
                        bdp.ErrorCounts(a, sizes, b, sizes), DELTA, dependence="independent", method=method
                    ).value
                    for a, b in zip(x, y, strict=True)
                ]
            )
        )
        for method in METHODS
    }


def bound_of_one(name: str, runs: int, repetitions: int):
    """Mean bounds of the exact test, Clopper-Pearson and accuracy for one base."""
    alpha, beta = SINGLE[name]
    rng = np.random.default_rng(11)
    x, y = rng.binomial(runs, alpha, repetitions), rng.binomial(runs, beta, repetitions)
    pairs, place = np.unique(np.stack([x, y]), axis=1, return_inverse=True)
    found = []
    for bound in (bdp.audits.joint_exact, bdp.audits.clopper_pearson, bdp.audits.accuracy):
        values = np.array([bound(bdp.ErrorCounts(a, runs, b, runs), DELTA).value for a, b in pairs.T.tolist()])
        found.append(float(values[place.ravel()].mean()))
    return found


SINGLE = {
    "corner of ε = 1": (CORNER, CORNER),
    "(.02, .5)": (0.02, 0.5),
    "(.01, .3)": (0.01, 0.3),
    "(.05, .6)": (0.05, 0.6),
}
NULLS = ("corner", "edge", "spread", "halves")


@pytest.mark.parametrize("dependence", ["independent", "comonotone"])
def test_the_simulation_runs(dependence):
    found = misses(None, "halves", dependence, repetitions=30, bases=4, runs=20)
    assert set(found) == set(METHODS)
    assert max(found.values()) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_independent_bases(name):
    found = misses(None, name, "independent", repetitions=10_000)
    assert {method: rate for method, rate in found.items() if rate > P + 3 * np.sqrt(P * (1 - P) / 10_000)} == {}


@pytest.mark.slow
@pytest.mark.parametrize("name", NULLS)
def test_comonotone_bases(name):
    """The rules that claim it hold, and those that do not are seen to fail."""
    found = misses(None, name, "comonotone", repetitions=10_000)
    level = P + 3 * np.sqrt(P * (1 - P) / 10_000)
    assert {method for method, rate in found.items() if rate > level and not METHODS[method].independent} == set()
    assert found["fisher"] > level
    assert found["pooled"] > level


@pytest.mark.slow
@pytest.mark.parametrize("truth", ["all ε = 1", "one (.01, .3)"])
def test_the_default_is_never_far_below_the_best(truth):
    found = mean_bounds(truth, repetitions=60)
    assert found["adaptive"] > max(found.values()) - 0.15


def main(repetitions: int) -> None:
    rates = {
        dependence: {name: misses(None, name, dependence, repetitions=10 * repetitions) for name in NULLS}
        for dependence in ("independent", "comonotone")
    }
    means = {truth: mean_bounds(truth, repetitions=repetitions // 5) for truth in TRUTHS}
    print(f"| rule | wrong, independent | comonotone | {' | '.join(TRUTHS)} |")
    print("|---|---|---|" + "---|" * len(TRUTHS))
    for method in METHODS:
        worst = [max(rates[kind][name][method] for name in NULLS) for kind in rates]
        cells = [f"{rate:.3f}" for rate in worst] + [f"{means[truth][method]:.2f}" for truth in TRUTHS]
        print(f"| {method} | {' | '.join(cells)} |")
    print("\n| rates | runs | exact test | Clopper-Pearson | accuracy |\n|---|---|---|---|---|")
    for runs in (100, 1000):
        for name in SINGLE:
            cells = " | ".join(f"{value:.2f}" for value in bound_of_one(name, runs, repetitions))
            print(f"| {name} | {runs} + {runs} | {cells} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
