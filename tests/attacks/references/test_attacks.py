"""Every attack on a matrix of scores against a plain twin: loops over models, examples and population."""

from __future__ import annotations

import math
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, pvariance
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.linear_model import QuantileRegressor

import bayes_dp as bdp
from bayes_dp.attacks.references.registry import INDEX, default
from bayes_dp.attacks.score_matrix import ScoreMatrix
from tests.data.test_counts import refusal

MODELS, EXAMPLES, POPULATION = 9, 40, 15
TARGET = 2


def matrix(seed: int = 0, missing: float = 0.1, **others: Any) -> ScoreMatrix:
    """Log-odds that are higher for members; the numbers of runs with and without differ, and some are not known."""
    rng = np.random.default_rng(seed)
    member = (rng.random((MODELS, EXAMPLES)) < rng.uniform(0.2, 0.8, EXAMPLES)).astype(float)
    member[:, 0], member[:, 1] = 0, 1  # examples on one side only
    phi = rng.normal(0, 2, EXAMPLES) + 1.2 * member + rng.normal(size=member.shape) * rng.uniform(0.5, 1.5, EXAMPLES)
    gone = rng.random(member.shape) < missing
    gone[:, 3], gone[TARGET, 3] = missing > 0, False  # no reference at all
    phi[gone], member[gone] = np.nan, -1
    given = {
        "log_odds": phi,
        "population": rng.normal(size=(MODELS, POPULATION)),
        "gradient_norm": rng.gamma(2, 1, member.shape),
        "features": rng.normal(size=(EXAMPLES, 3)),
        "population_features": rng.normal(size=(POPULATION, 3)),
    }
    return ScoreMatrix(member, **(given | others))


class Plain:
    """The same numbers as lists, and what the twins ask of them."""

    def __init__(self, given: ScoreMatrix, target: int, references: list[int]) -> None:
        self.given, self.target, self.references = given, target, references
        self.examples = [i for i in range(given.member.shape[1]) if given.member[target, i] >= 0]

    def phi(self, model: int, i: int) -> float:
        return float(self.given.statistic[model, i])

    def p(self, model: int, i: int) -> float:
        return 1 / (1 + math.exp(-self.phi(model, i)))

    def p_of_population(self, model: int, j: int) -> float:
        assert self.given.population is not None
        return 1 / (1 + math.exp(-float(self.given.population[model, j])))

    def runs(self, i: int, side: int) -> list[int]:
        return [r for r in self.references if self.given.member[r, i] == side]

    def both(self, mean: Callable[[int, int], float | None]) -> dict[int, tuple[float, float]]:
        """The means (out, in) of each example, completed where one is None."""
        found = {i: (mean(i, 0), mean(i, 1)) for i in self.examples}
        gaps = [b - a for a, b in found.values() if a is not None and b is not None]
        if gaps:
            gap = fmean(gaps)
        else:
            weighted = []
            for side in (0, 1):
                pairs = [(len(self.runs(i, side)), pair[side]) for i, pair in found.items() if pair[side] is not None]
                weighted.append(sum(n * m for n, m in pairs) / sum(n for n, m in pairs) if pairs else None)
            gap = weighted[1] - weighted[0] if None not in weighted else 0.0
        there = {
            i: (a if a is not None else b - gap, b if b is not None else a + gap)
            for i, (a, b) in found.items()
            if a is not None or b is not None
        }
        nothing = fmean(a for a, _ in there.values()), fmean(b for _, b in there.values())
        return {i: there.get(i, nothing) for i in self.examples}

    def average(self, value: Callable[[int, int], float]) -> dict[int, tuple[float, float]]:
        def mean(i: int, side: int) -> float | None:
            values = [value(r, i) for r in self.runs(i, side)]
            return fmean(values) if values else None

        return self.both(mean)

    def log_average_p(self) -> dict[int, tuple[float, float]]:
        def mean(i: int, side: int) -> float | None:
            values = [self.p(r, i) for r in self.runs(i, side)]
            return math.log(fmean(values)) if values else None

        return self.both(mean)

    def squares(self, i: int, side: int) -> tuple[float, int]:
        values = [self.phi(r, i) for r in self.runs(i, side)]
        return (len(values) * pvariance(values), len(values)) if values else (0.0, 0)

    def pooled(self, side: int) -> float:
        parts = [[self.squares(i, s) for i in self.examples] for s in (side, 1 - side)]
        for chosen in (parts[0], parts[0] + parts[1]):
            freedom = sum(max(n - 1, 0) for _, n in chosen)
            if freedom and sum(s for s, _ in chosen) > 0:
                return sum(s for s, _ in chosen) / freedom
        return 1.0


def loss(plain: Plain) -> list[float]:
    return [math.log(plain.p(plain.target, i)) for i in plain.examples]


def gradient_norm(plain: Plain) -> list[float]:
    return [-float(plain.given.gradient_norm[plain.target, i]) for i in plain.examples]


def calibration(plain: Plain) -> list[float]:
    means = plain.average(lambda r, i: math.log(plain.p(r, i)))
    return [math.log(plain.p(plain.target, i)) - means[i][0] for i in plain.examples]


def attack_r(plain: Plain) -> list[float]:
    found = []
    for i, c in zip(plain.examples, calibration(plain), strict=True):
        below = [plain.p(r, i) < plain.p(plain.target, i) for r in plain.runs(i, 0)]
        share = sum(below) / len(below) if below else 0.5
        found.append(share + c / (1 + abs(c)) / (2 * (len(plain.references) + 1) ** 2))
    return found


def lira(plain: Plain, own: bool = False) -> list[float]:
    means, found = plain.average(plain.phi), []
    for i in plain.examples:
        score = 0.0
        for side, sign in ((1, 1), (0, -1)):
            variance = plain.pooled(side)
            squares, n = plain.squares(i, side)
            if own and n > 1 and squares > 0:
                variance = squares / (n - 1)
            score += sign * stats.norm.logpdf(plain.phi(plain.target, i), means[i][side], math.sqrt(variance))
        found.append(score)
    return found


def lira_offline(plain: Plain) -> list[float]:
    means = plain.average(plain.phi)
    return [(plain.phi(plain.target, i) - means[i][0]) / math.sqrt(plain.pooled(0)) for i in plain.examples]


def shares(plain: Plain, p_of: Callable[[int], float], p_of_population: Callable[[float], float], gamma: float) -> Any:
    ratios = [plain.p(plain.target, i) / p_of(i) for i in plain.examples]
    others = ratios
    if plain.given.population is not None:
        others = [
            plain.p_of_population(plain.target, j)
            / p_of_population(fmean(plain.p_of_population(r, j) for r in plain.references))
            for j in range(plain.given.population.shape[1])
        ]
    return [sum(x / z >= gamma for z in others) / len(others) for x in ratios]


def rmia(plain: Plain, gamma: float = 2.0) -> list[float]:
    means = plain.log_average_p()
    return shares(plain, lambda i: (math.exp(means[i][0]) + math.exp(means[i][1])) / 2, lambda p: p, gamma)


def rmia_offline(plain: Plain, gamma: float = 2.0, a: float = 0.6) -> list[float]:
    means = plain.log_average_p()

    def lifted(p: float) -> float:
        return ((1 + a) * p + 1 - a) / 2

    return shares(plain, lambda i: lifted(min(math.exp(means[i][0]), 1)), lifted, gamma)


def base(plain: Plain) -> list[float]:
    means = {}
    for i in plain.examples:
        if runs := plain.runs(i, 0) + plain.runs(i, 1):
            means[i] = math.log(fmean(plain.p(r, i) for r in runs))
    nothing = fmean(means.values())
    return [math.log(plain.p(plain.target, i)) - means.get(i, nothing) for i in plain.examples]


def bavaria(plain: Plain) -> list[float]:
    found = [0.0] * len(plain.examples)
    means = plain.average(plain.phi)
    gap = fmean(inside - out for out, inside in means.values())
    values = [{i: [plain.phi(r, i) for r in plain.runs(i, side)] for i in plain.examples} for side in (0, 1)]
    pooled = [plain.pooled(side) for side in (0, 1)]
    both = [i for i in plain.examples if values[0][i] and values[1][i]]
    spread = 0.0
    if len(both) > 1:
        noise = fmean(sum(pooled[s] / len(values[s][i]) for s in (0, 1)) for i in both)
        spread = max(pvariance(means[i][1] - means[i][0] for i in both) - noise, 0.0)
    for side, sign in ((1, 1), (0, -1)):
        twice = [v for v in values[side].values() if len(v) > 1] or [v for v in values[1 - side].values() if len(v) > 1]
        a = 1000.0
        if twice:
            e = fmean((len(v) - 1) * ((np.var(v, ddof=1) / pooled[side]) ** 2 - 1) for v in twice) - 2
            e /= fmean(len(v) for v in twice) + 1
            a = min(max(2 + 1 / e, 2.5), 1000) if e > 0 else 1000
        b = pooled[side] * (a - 1)
        for place, i in enumerate(plain.examples):
            v, others = values[side][i], len(values[1 - side][i])
            m = means[i][1 - side] + sign * gap
            k = pooled[side] / (spread + pooled[1 - side] / others) if others else 1e-6
            n = len(v)
            mean, squares = (fmean(v), n * pvariance(v)) if v else (0.0, 0.0)
            kn, an = k + n, a + n / 2
            bn = b + squares / 2 + k * n * (mean - m) ** 2 / (2 * kn)
            scale = math.sqrt(bn * (kn + 1) / (an * kn))
            phi = plain.phi(plain.target, i)
            found[place] += sign * stats.t.logpdf(phi, 2 * an, (k * m + n * mean) / kn, scale)
    return found


def quantile_regression(plain: Plain, quantile: float = 0.5) -> list[float]:
    given = plain.given
    z = given.population_features.shape[0]
    y = [math.log(plain.p_of_population(plain.target, j)) for j in range(z)]
    centre = [fmean(column) for column in given.population_features.T]
    scale = [math.sqrt(pvariance(column)) for column in given.population_features.T]

    def row(features: np.ndarray) -> list[float]:
        return [1.0, *((f - c) / s for f, c, s in zip(features, centre, scale, strict=True))]

    x = [row(features) for features in given.population_features]

    def fitted(weights: list[float]) -> list[float]:
        rows = [[math.sqrt(w) * v for v in each] for w, each in zip(weights, x, strict=True)]
        ridge = (math.sqrt(1e-3) * np.eye(len(x[0]))).tolist()
        values = [math.sqrt(w) * v for w, v in zip(weights, y, strict=True)] + [0.0] * len(x[0])
        return np.linalg.lstsq(np.array(rows + ridge), np.array(values), rcond=None)[0].tolist()

    def residuals(w: list[float]) -> list[float]:
        return [v - sum(map(float.__mul__, w, each)) for v, each in zip(y, x, strict=True)]

    w = fitted([1.0] * z)
    least = 0.05 * fmean(abs(r) for r in residuals(w))
    for _ in range(15):
        w = fitted([(quantile if r >= 0 else 1 - quantile) / max(abs(r) / least, 1) for r in residuals(w)])
    found = []
    for i in plain.examples:
        at = sum(map(float.__mul__, w, map(float, row(given.features[i]))))
        found.append(math.log(plain.p(plain.target, i)) - at)
    return found


TWINS: dict[str, Callable[..., list[float]]] = {
    "loss": loss,
    "gradient-norm": gradient_norm,
    "quantile-regression": quantile_regression,
    "calibration": calibration,
    "attack-r": attack_r,
    "lira": lira,
    "lira-offline": lira_offline,
    "rmia": rmia,
    "rmia-offline": rmia_offline,
    "base": base,
    "bavaria": bavaria,
}
SETTINGS: dict[str, dict[str, Any]] = {"rmia-offline": {"a": 0.6}}


@pytest.mark.parametrize("missing", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("references", [None, [5, 0, 7], [8, 4]])
@pytest.mark.parametrize("name", INDEX)
def test_against_the_plain_twin(name: str, references: list[int] | None, missing: float):
    given = matrix(1, missing)
    plain = Plain(given, TARGET, references or [r for r in range(MODELS) if r != TARGET])
    table = given.attack(name, TARGET, references, **SETTINGS.get(name, {}))
    np.testing.assert_allclose(table.score, TWINS[name](plain), rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(table.member, given.member[TARGET, plain.examples] == 1)


@pytest.mark.parametrize("name", ["rmia", "rmia-offline"])
def test_without_a_population_the_examples_are_it(name: str):
    given = matrix(2, population=None, features=None, population_features=None)
    plain = Plain(given, TARGET, [r for r in range(MODELS) if r != TARGET])
    table = given.attack(name, TARGET, gamma=1.5, **SETTINGS.get(name, {}))
    np.testing.assert_allclose(table.score, TWINS[name](plain, gamma=1.5), rtol=1e-12)


@pytest.mark.parametrize("name", ["lira", "lira-offline"])
def test_own_variances(name: str):
    given = matrix(3)
    pooled, own = (given.attack(name, TARGET, variance=variance).score for variance in ("pooled", "own"))
    assert not np.allclose(pooled, own)
    if name == "lira":
        plain = Plain(given, TARGET, [r for r in range(MODELS) if r != TARGET])
        np.testing.assert_allclose(own, lira(plain, own=True), rtol=1e-9)


@pytest.mark.parametrize("name", INDEX)
def test_the_memberships_of_the_target_and_other_models_do_not_matter(name: str):
    given = matrix(4, missing=0)
    references = [r for r in range(MODELS) if r not in (TARGET, 0)]
    member, scores = np.array(given.member), np.array(given.statistic)
    member[TARGET] = 1 - member[TARGET]
    member[0], scores[0] = 1 - member[0], 7.0
    others = {each: getattr(given, each) for each in ("population", "gradient_norm", "features", "population_features")}
    changed = ScoreMatrix(member, log_odds=scores, **others)
    one, other = (each.attack(name, TARGET, references) for each in (given, changed))
    np.testing.assert_array_equal(one.score, other.score)
    np.testing.assert_array_equal(one.member, ~other.member)


@pytest.mark.parametrize("name", INDEX)
def test_members_score_higher_and_equal_models_score_nothing(name: str):
    """On leaking models each attack finds members, and on models without a leak none does."""
    for leak in (0.0, 2.0):
        rng = np.random.default_rng(5)
        member = rng.random((17, 2000)) < 0.5
        phi = rng.normal(0, 1.5, 2000) + leak * member + rng.normal(0, 0.7, member.shape)
        x = rng.normal(size=(2500, 2))
        given = ScoreMatrix(
            member,
            log_odds=phi,
            population=rng.normal(0, 1.5, 500) + rng.normal(0, 0.7, (17, 500)),
            gradient_norm=np.exp(-phi),
            features=x[:2000],
            population_features=x[2000:],
        )
        area = given.attack(name).auc().value
        assert abs(area - 0.5) < 0.04 if leak == 0 else area > 0.75, (leak, area)


@pytest.mark.parametrize(("references", "name"), [(0, "loss"), (1, "calibration"), (2, "calibration"), (3, "rmia")])
def test_the_default(references: int, name: str):
    given = matrix(6)
    known = [r for r in range(MODELS) if r != TARGET][:references]
    assert default(references) == name
    np.testing.assert_array_equal(given.attack(None, TARGET, known).score, given.attack(name, TARGET, known).score)


def test_a_is_tuned_on_the_references():
    """The one of 0, 0.1, … with the highest AUC on the first reference, attacked by the others."""
    given = matrix(7, missing=0)
    references = [4, 0, 1, 3, 5, 6]
    first, others = references[0], references[1:]
    plain = Plain(given, first, others)
    means, areas = plain.log_average_p(), []
    for k in range(11):
        a = k / 10
        ratio = [plain.p(first, i) / ((1 + a) * min(math.exp(means[i][0]), 1) + 1 - a) for i in plain.examples]
        areas.append(bdp.GuessTable(ratio, given.member[first] == 1).auc().value)
    best = int(np.argmax(areas)) / 10
    tuned = given.attack("rmia-offline", TARGET, references).score
    np.testing.assert_array_equal(tuned, given.attack("rmia-offline", TARGET, references, a=best).score)
    untuned = given.attack("rmia-offline", TARGET, [first]).score
    np.testing.assert_array_equal(untuned, given.attack("rmia-offline", TARGET, [first], a=0.3).score)


def test_one_reference_is_enough_where_it_can_be():
    given = matrix(8, missing=0)
    for name in INDEX:
        assert len(given.attack(name, TARGET, [0])) == EXAMPLES


def test_what_an_attack_needs():
    given = ScoreMatrix(np.zeros((3, 4), dtype=bool), scores=np.arange(12.0).reshape(3, 4))
    for name in ("lira", "bavaria"):
        assert "needs a reference trained with the example" in refusal(given.attack, name)
    for name in ("calibration", "attack-r", "lira-offline", "rmia", "base"):
        assert "needs a reference" in refusal(given.attack, name, 0, [])
    assert "needs probabilities" in refusal(given.attack, "rmia-offline")
    assert "needs population, features" in refusal(given.attack, "quantile-regression")
    assert "needs gradient_norm" in refusal(given.attack, "gradient-norm")


@pytest.mark.parametrize("name", INDEX)
def test_extreme_numbers(name: str):
    """Scores that are as far apart as they may be give numbers."""
    member = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
    wild = np.array([[1e100, -1e100, 0, 1], [1, 1e100, 0, -1e100], [5, 5, 5, 5]])
    given = ScoreMatrix(
        member,
        log_odds=wild,
        gradient_norm=np.abs(wild),
        population=np.ones((3, 2)),
        features=wild.T,
        population_features=np.ones((2, 3)),
    )
    assert len(given.attack(name)) == 4


@pytest.mark.parametrize("name", INDEX)
def test_equal_numbers(name: str):
    member = np.array([[1, 0, 1, 0], [0, 1, 1, 0], [1, 0, 0, 1]])
    same = np.ones((3, 4))
    given = ScoreMatrix(
        member,
        log_odds=same,
        gradient_norm=same,
        population=np.ones((3, 2)),
        features=np.ones((4, 1)),
        population_features=np.ones((2, 1)),
    )
    assert np.ptp(given.attack(name).score) < 1e-12


@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.9])
def test_the_quantile_is_one(quantile: float):
    """The loss of the regression is within 1% of the least, and the share below it is the quantile."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 600, 3))
    log_p = -np.exp(0.3 * rng.normal(size=(1, 600)) + x[1, :, 0] / 4) * (1 + 0.3 * x[1, :, 1] ** 2)
    given = ScoreMatrix(
        np.zeros((1, 600), dtype=bool), scores=log_p, population=log_p, features=x[1], population_features=x[1]
    )
    r = given.attack("quantile-regression", quantile=quantile).score
    best = QuantileRegressor(quantile=quantile, alpha=0).fit(x[1], log_p[0])

    def loss(residual: np.ndarray) -> float:
        return float(np.where(residual >= 0, quantile * residual, (quantile - 1) * residual).mean())

    assert loss(r) < 1.01 * loss(log_p[0] - best.predict(x[1]))
    assert abs((r < 0).mean() - quantile) < 0.02


@pytest.mark.parametrize("name", INDEX)
def test_memory_is_that_of_a_few_rows(name: str):
    """Never models × examples², nor examples × population, whatever the attack."""
    rng = np.random.default_rng(0)
    m, z = 20_000, 20_000
    phi = rng.normal(size=(5, m))
    given = ScoreMatrix(
        rng.random((5, m)) < 0.5,
        log_odds=phi,
        population=rng.normal(size=(5, z)),
        gradient_norm=np.abs(phi),
        features=phi[:2].T,
        population_features=rng.normal(size=(z, 2)),
    )
    tracemalloc.start()
    given.attack(name)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50 * 8 * (m + z)


def test_every_attack_has_a_twin_and_a_row_in_the_docs():
    assert set(TWINS) == set(INDEX)
    page = (Path(__file__).parents[3] / "docs" / "methods" / "attacks.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([a-z-]+)` \| [^|]*\| [^|]*\| [^|]+ (?:19|20)\d\d \|$", page, re.MULTILINE)
    assert sorted(rows) == sorted(INDEX)
