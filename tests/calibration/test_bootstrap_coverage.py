"""How often a zero-run bound from learned propensities exceeds the truth, with and without the bootstrap.

Run by `make test-slow`; `python -m tests.calibration.test_bootstrap_coverage` prints the tables of
docs/methods/propensity.md, `… NAME` one case of them. The attack knows the true log-odds. With ε = 0 it knows
nothing else, and every bound above 0 is wrong. With ε = 1 it hears the answer of a randomized response too, and for
Gaussian DP one with noise.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, logit

from bayes_dp.attacks.adversary import call_members
from bayes_dp.attacks.scores import Bonferroni, Split
from bayes_dp.audits.zero_run import zero_run
from bayes_dp.checks import InputError
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import guesses_from_ranking
from bayes_dp.propensity import Falsification, bootstrap, fit
from bayes_dp.propensity.cross_fitting import standardised
from bayes_dp.propensity.logistic import firth
from bayes_dp.results.posterior import Provenance

AUDITS = 200
REPLICATES = 39
CONFIDENCE = 0.9


@dataclass(frozen=True)
class Case:
    """Examples with d features, of which `informative` make the log-odds, with standard deviation `shift`."""

    n: int = 1000
    d: int = 10
    informative: int = 1
    shift: float = 1.5
    law: str = "normal"
    intercept: float = 0.0
    epsilon: float = 0.0
    score: str = "log-odds"
    choice: Any = 50
    sides: str = "both"
    aware: bool = True
    settings: tuple[tuple[str, Any], ...] = (("propensity", "exact"),)
    estimator: str = ""

    def audit(self, seed: int) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Features, log-odds, memberships, scores and group labels."""
        rng = np.random.default_rng([17, seed])
        x, z = self._features(rng)
        slopes = np.zeros(self.d)
        slopes[: self.informative] = self.shift / math.sqrt(self.informative) * (-1.0) ** np.arange(self.informative)
        odds = z @ slopes + self.intercept
        member = rng.random(self.n) < expit(odds)
        noise = 1e-9 * rng.normal(size=self.n)
        if self.score == "a random direction":
            score = z @ rng.normal(size=self.d)
        elif self.score == "where the learned ones err":
            score = odds - logit(fit(x, member, seed=seed).values)
        elif self.score == "answers with noise":
            score = member * self.epsilon + rng.normal(size=self.n) + 0.5 * odds
        elif self.epsilon:
            score = 2 * (member ^ (rng.random(self.n) > expit(self.epsilon))) + 0.5 * odds
        else:
            score = odds
        return x, odds, member, score + noise, np.arange(self.n) // 3

    def _features(self, rng: np.random.Generator) -> tuple[Any, np.ndarray]:
        """As they are given to `fit`, and the columns of unit size in which the log-odds are linear."""
        x = rng.normal(size=(self.n, self.d))
        if self.law == "heavy tails":
            x = rng.standard_t(2.5, size=x.shape) / math.sqrt(5)
        elif self.law == "correlated":
            x = math.sqrt(0.9) * rng.normal(size=(self.n, 1)) + math.sqrt(0.1) * x
        elif self.law == "copies":
            x = np.repeat(x, 3, axis=0)[: self.n] + 0.1 * x
        elif self.law == "categories":
            share = 1 / np.arange(1, self.d + 1)
            level = rng.choice(self.d, size=self.n, p=share / share.sum())
            return pd.DataFrame({"site": [f"site {k}" for k in level]}), np.eye(self.d)[level] * math.sqrt(self.d)
        elif self.law == "squares":
            return x, (x**2 - 1) / math.sqrt(2)
        elif self.law == "products":
            return x, x * np.roll(x, 1, axis=1)
        return x, x


#: in the place of a test that takes longer than all the rest: it does not change a bound, only whether it is valid
NOT_REJECTED = Falsification(1.0, 0.05, 0.0, (), Provenance("not tested", "", {}, {}, {}))
ISSUE = Case(n=2000, d=20, shift=1, choice=100)
LEAK = Case(epsilon=1.0, choice=200)
#: the attack sees nothing but features
BLIND = {
    "2000 examples, 20 features, shift 1, 100 guesses": ISSUE,
    "the same, numbers of guesses by default": replace(ISSUE, choice=Bonferroni()),
    "the same, chosen on a half": replace(ISSUE, choice=Split()),
    "the same, cautious": replace(ISSUE, settings=()),
    "the same, δ = 0.001": replace(ISSUE, settings=(("delta", 1e-3),)),
    "the same, Gaussian DP": replace(ISSUE, settings=(("family", "gaussian"),)),
    "1000 examples, 10 features, shift 1.5, 50 guesses": Case(),
    "the same, not aware": Case(aware=False),
    "the same, members called only": Case(sides="members"),
    "the same, by a random direction": Case(score="a random direction", choice=500),
    "the same, where learned log-odds err": Case(score="where the learned ones err", choice=500),
    "the same, one member in five": Case(intercept=-2.0),
    "the same, heavy tails": Case(law="heavy tails"),
    "the same, correlated features": Case(law="correlated"),
    "the same, three near copies each, in groups": Case(law="copies"),
    "the same, squares in a pipeline": Case(law="squares", estimator="squares", d=4, choice=100),
    "1000 examples, a text with 20 values": Case(law="categories", d=20, informative=20, shift=1, choice=100),
    "1000 examples, 1 feature, shift 2, 500 guesses": Case(d=1, shift=2, choice=500),
    "1000 examples, 50 features, shift 2 in 1, 25 guesses": Case(d=50, shift=2, choice=25),
    "1000 examples, 50 features, shift 2 in all, 500 guesses": Case(d=50, shift=2, informative=50, choice=500),
    "1000 examples, 50 features, no shift, 100 guesses": Case(d=50, shift=0, score="a random direction", choice=100),
    "400 examples, 20 features, shift 1 in all, 200 guesses": Case(n=400, d=20, shift=1, informative=20, choice=200),
    "400 examples, 40 features, shift 1, 100 guesses": Case(n=400, d=40, shift=1, choice=100),
    "400 examples, 2 features, shift 5, 100 guesses": Case(n=400, d=2, shift=5, choice=100),
}
LEAKS = {
    "2000 examples, 5 features, no shift, 100 guesses": replace(LEAK, n=2000, d=5, shift=0, choice=100),
    "the same, numbers of guesses by default": replace(LEAK, n=2000, d=5, shift=0, choice=Bonferroni()),
    "the same, members called only": replace(LEAK, n=2000, d=5, shift=0, choice=500, sides="members"),
    "the same, cautious": replace(LEAK, n=2000, d=5, shift=0, choice=500, settings=()),
    "the same, δ = 0.00001": replace(LEAK, n=2000, d=5, shift=0, choice=500, settings=(("delta", 1e-5),)),
    "1000 examples, 10 features, shift 1.5, 200 guesses": LEAK,
    "the same, cautious, default numbers": replace(LEAK, settings=(), choice=Bonferroni()),
    "the same, chosen on a half": replace(LEAK, choice=Split([50, 100, 200, 400])),
    "the same, Gaussian DP with μ = 1": replace(
        LEAK, score="answers with noise", settings=(("family", "gaussian"),), choice=100
    ),
    "1000 examples, 50 features, shift 1, 200 guesses": replace(LEAK, d=50, shift=1),
    "2000 examples, 20 features, shift 1 in all, 500 guesses": replace(
        LEAK, n=2000, d=20, shift=1, informative=20, choice=500
    ),
}
#: classifiers for which the result is marked as not valid
OTHERS = {
    f"{name}, {'products of features' if law == 'products' else 'linear log-odds'}, ε = {epsilon:g}": Case(
        law=law, d=4, informative=4, shift=1.5, choice=100, estimator=name, epsilon=epsilon
    )
    for name in ("decision tree", "random forest", "gradient boosting")
    for law in ("normal", "products")
    for epsilon in (0.0, 1.0)
}


#: aware guesses without a leak: what they are ranked by should not make the bound of the true propensities wrong
RANKED = {
    "1000 examples, 5 features, shift 1, 100 guesses": Case(d=5, shift=1, choice=100),
    "300 examples, 20 features, shift 1, 150 guesses": Case(n=300, d=20, shift=1, choice=150),
    "400 examples, 2 features, shift 1 in all, 200 guesses": Case(n=400, d=2, shift=1, informative=2, choice=200),
}


def estimator(name: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures
    from sklearn.tree import DecisionTreeClassifier

    return {
        "": None,
        "squares": make_pipeline(PolynomialFeatures(2, include_bias=False), LogisticRegression(max_iter=1000)),
        "decision tree": DecisionTreeClassifier(max_depth=5, min_samples_leaf=10),
        "random forest": RandomForestClassifier(30, min_samples_leaf=10),
        "gradient boosting": HistGradientBoostingClassifier(max_iter=50, max_depth=3),
    }[name]


def run(case: Case, seed: int) -> tuple[float, float, float] | None:
    """Bounds by true propensities, by learned ones taken for true, and by the bootstrap; None without overlap."""
    x, odds, member, score, groups = case.audit(seed)
    try:
        labels = groups if case.law == "copies" else None
        learned = fit(x, member, groups=labels, estimator=estimator(case.estimator), seed=seed)
    except InputError:
        return None
    vars(learned)["falsification"] = NOT_REJECTED
    settings: dict[str, Any] = {"choice": case.choice, "sides": case.sides, "aware": case.aware, "seed": seed}
    settings |= {"confidence": CONFIDENCE, **dict(case.settings)}
    found = bootstrap(learned, score, replicates=REPLICATES, **settings)
    true = zero_run(GuessTable(score, member, np.clip(expit(odds), 1e-9, 1 - 1e-9)), **settings)
    plain = zero_run(GuessTable(score, member, learned.values), **settings)
    assert ("How far" in found.invalid) == (case.estimator not in ("", "squares"))
    return true.value, plain.value, found.value


def study(case: Case, audits: int = AUDITS) -> np.ndarray:
    """(audits, 3) bounds."""
    rows = [run(case, seed) for seed in range(audits)]
    return np.array([row for row in rows if row is not None])


def ranked(case: Case, audits: int = 2 * AUDITS) -> np.ndarray:
    """Is the bound of the true propensities above 0, for ranks by cross-fitted ones and by Firth's; (audits, 2)."""
    found = []
    for seed in range(audits):
        x, odds, member, score, _ = case.audit(seed)
        z, truth = standardised(x), GuessTable(score, member, expit(odds))
        row = []
        for values in (fit(x, member, seed=seed).values, expit(z @ firth(z, member))):
            calls = call_members(GuessTable(score, member, values), case.choice, seed=seed)
            calls = guesses_from_ranking(truth, calls.order, calls.made, calls.lowest, calls.rule)
            row.append(zero_run(calls, propensity="exact", confidence=0.95, seed=seed).value > 0)
        found.append(row)
    return np.array(found)


def most(audits: int) -> float:
    """The largest rate of bounds above the truth that is no surprise."""
    error = 1 - CONFIDENCE
    return error + 3 * math.sqrt(error * (1 - error) / audits)


#: a decision tree and gradient boosting; a forest takes long
SOME = {name: case for name, case in OTHERS.items() if case.estimator != "random forest" and case.law == "normal"}
EACH = {**BLIND, **{f"leak: {name}": case for name, case in LEAKS.items()}, **SOME}


@pytest.mark.parametrize("name", EACH)
def test_one_audit(name):
    case = EACH[name]
    bounds = study(case, 1)
    assert bounds.shape == (1, 3)
    assert (bounds >= 0).all()


@pytest.mark.parametrize("name", RANKED)
def test_one_audit_of_ranks(name):
    assert ranked(RANKED[name], 1).shape == (1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("name", BLIND)
def test_what_features_tell_is_not_taken_for_a_leak(name):
    bounds = study(BLIND[name])
    assert np.mean(bounds[:, 2] > 0) <= most(len(bounds))


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_not_overstated_and_is_seen(name):
    case = LEAKS[name]
    bounds = study(case)
    assert np.mean(bounds[:, 2] > case.epsilon) <= most(len(bounds))
    if case.shift == 0:
        assert bounds[:, 2].mean() > 0.5 * bounds[:, 0].mean()


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKED)
def test_ranks_by_all_memberships_do_no_harm(name):
    found = ranked(RANKED[name])
    assert np.mean(found[:, 1]) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / len(found))


@pytest.mark.slow
def test_without_it_the_shift_is_taken_for_a_leak():
    bounds = study(ISSUE, 50)
    assert np.mean(bounds[:, 1] > 0) > 0.5


def main(names: list[str]) -> None:
    if not names:
        print("| ε = 0, level 5% | ranked by cross-fitted propensities | by Firth's estimate |\n|---|---|---|")
        for name, case in RANKED.items():
            print(f"| {name} | {' | '.join(f'{rate:.1%}' for rate in ranked(case).mean(axis=0))} |", flush=True)
    for title, cases in (("ε = 0", BLIND), ("ε = 1", LEAKS), ("other classifiers: marked as not valid", OTHERS)):
        if names and not set(names) & set(cases):
            continue
        print(f"\n| {title} | true propensities | learned, taken for true | bootstrap |\n|---|---|---|---|")
        for name, case in cases.items():
            if names and name not in names:
                continue
            start = time.perf_counter()
            bounds = study(case)
            cells = [f"{np.mean(b > case.epsilon):.1%} ({b.mean():.3f})" for b in bounds.T]
            print(f"| {name} | {' | '.join(cells)} |", flush=True)
            print(f"{len(bounds)} audits, {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
