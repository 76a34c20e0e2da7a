"""How often one game of an audit of labels refutes an ε that is true: at every score, number of guesses, k and form.

Many games are played at once, as one game of all their examples. What is judged is the number of correct guesses, by
the bounds of the audit, which are computed once for each number. The laws of labels are as hard as they come: with a
class that is rare, or with many classes, a guess is right nearly as often as ε allows.

    python -m tests.calibration.test_label_games

prints the table of docs/methods/audits/labels.md.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

from bayes_dp.attacks.label_scores import difference, likelihood, log_ratio
from bayes_dp.audits.observational import lower_of
from bayes_dp.games import LabelGame
from bayes_dp.tradeoff import epsilon_from_mu

P = 0.05
GAMES = 10_000
SHARES = (0.005, 0.02, 0.1, 0.5, 1.0)
AT_ONCE = 250
SCORES = ("likelihood", "log ratio", "difference")


class Case(NamedTuple):
    """A law of labels, a mechanism, and what is true of it."""

    name: str
    n: int  # examples of a game
    proxy: Callable[[np.random.Generator, int], np.ndarray]  # probabilities, (n, k)
    mechanism: str
    size: float  # ε of the responses, or μ
    delta: float = 0.0
    family: str = "approx"

    @property
    def epsilon(self) -> float:
        return float(epsilon_from_mu(self.size, self.delta)) if self.mechanism == "gaussian" else self.size


def simplex(k):
    return lambda rng, n: rng.dirichlet(np.ones(k), n)


def rare(rng, n):
    """Two classes, one of which has 1%."""
    return np.tile([0.99, 0.01], (n, 1))


def many(rng, n):
    return np.full((n, 20), 0.05)


CASES = [
    *(Case(f"{k} classes, ε = {e:g}", 400, simplex(k), "responses", e) for k, e in ((2, 1.0), (5, 2.0), (10, 4.0))),
    Case("2 classes, ε = 0.1", 400, simplex(2), "responses", 0.1),
    Case("a rare class, ε = 1", 2000, rare, "responses", 1.0),
    Case("a rare class, ε = 3", 2000, rare, "responses", 3.0),
    Case("20 equal classes, ε = 1", 400, many, "responses", 1.0),
    Case("20 equal classes, ε = 3", 400, many, "responses", 3.0),
    Case("2 classes, ε = 1, δ = 0.001", 400, simplex(2), "revealed", 1.0, 0.001),
    Case("20 equal classes, ε = 1, δ = 0.001", 400, many, "revealed", 1.0, 0.001),
    Case("2 classes, μ = 1", 400, simplex(2), "gaussian", 1.0, 1e-5, "gaussian"),
    Case("a rare class, μ = 1", 2000, rare, "gaussian", 1.0, 1e-5, "gaussian"),
    Case("20 equal classes, μ = 2", 400, many, "gaussian", 2.0, 1e-5, "gaussian"),
]


def drawn(law, rng):
    return (rng.random(len(law))[:, None] >= np.cumsum(law, axis=1)[:, :-1]).sum(axis=1)


def chances(case, y, k, rng):
    """The density of what is put out, under each label, (n, k)."""
    rows = np.eye(k)[y]
    if case.mechanism == "gaussian":
        sigma = np.sqrt(2) / case.size  # two one-hot labels are √2 apart
        out = rows + sigma * rng.normal(size=rows.shape)
        return np.exp((out - out.max(axis=1, keepdims=True)) / sigma**2)
    keep = np.exp(case.size) / (np.exp(case.size) + k - 1)
    out = np.where(rng.random(len(y)) < keep, y, (y + rng.integers(1, k, len(y))) % k)
    found = np.where(out[:, None] == np.arange(k), keep, (1 - keep) / (k - 1))
    shown = (rng.random(len(y)) < case.delta) if case.mechanism == "revealed" else np.zeros(len(y), bool)
    return np.where(shown[:, None], rows, found)


def correct(case, games, seed, moved=0.0):
    """Numbers of correct guesses, {score: (games, shares)}, where the law of labels is up to `moved` off the proxy."""
    made = [round(share * case.n) for share in SHARES]
    found: dict[str, list[np.ndarray]] = {name: [] for name in SCORES}
    for start in range(0, games, AT_ONCE):
        size = min(AT_ONCE, games - start)
        rng = np.random.default_rng([7, seed, start])
        q = case.proxy(rng, size * case.n)
        law = (1 - moved) * q
        law[:, -1] += moved
        y = drawn(law, rng)
        chance = chances(case, y, q.shape[1], rng)
        model = law * chance
        model /= model.sum(axis=1, keepdims=True)
        tables = likelihood(chance, q), log_ratio(model, q), difference(model, q)
        for name, score in zip(SCORES, tables, strict=True):
            table = LabelGame(y, q, score).play(seed + start)
            scores, member = (a.reshape(size, case.n) for a in (table.score, table.member))
            # the examples of a game are in no order, so that those of equal scores are
            order = np.argsort(-np.abs(scores), axis=1, kind="stable")
            right = np.take_along_axis((scores > 0) == member, order, 1)
            found[name].append(np.cumsum(right, axis=1)[:, np.array(made) - 1])
    return {name: np.concatenate(parts) for name, parts in found.items()}


def bounds(case, seen, tau=0.0, p=P):
    """Those of the audit for numbers of correct guesses, (games, shares), each at p."""
    lower = lower_of(case.family, case.delta, tau)
    found = np.empty(seen.shape)
    for i, share in enumerate(SHARES):
        made = round(share * case.n)
        known, where = np.unique(seen[:, i], return_inverse=True)
        given = (np.full(len(known), float(x)) for x in (case.n, made))
        found[:, i] = lower(*given, known.astype(float), p)[where]
    return found


def rates(case, seen, tau=0.0):
    """How often the true ε is refuted, of each score by each share of guesses, and by the best of two scores and of all
    shares, corrected: (scores, shares) and one number."""
    each = [(bounds(case, seen[name], tau) > case.epsilon).mean(axis=0) for name in SCORES]
    both = [bounds(case, seen[name], tau, P / 2 / len(SHARES)) > case.epsilon for name in SCORES[1:]]
    return np.array(each), float(np.hstack(both).any(axis=1).mean())


def allowed(games):
    return P + 3 * np.sqrt(P * (1 - P) / games)


@pytest.mark.parametrize("moved", [0.0, 0.1])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_it_is_refuted_as_rarely_as_said(case, moved):
    judge(case, moved, 80)


def judge(case, moved, games):
    each, both = rates(case, correct(case, games, 2, moved), tau=moved)
    assert each.max() <= allowed(games)
    assert both <= allowed(games)


@pytest.mark.slow
@pytest.mark.parametrize("moved", [0.0, 0.1])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_it_is_refuted_as_rarely_as_said_in_many_games(case, moved):
    judge(case, moved, GAMES)


def test_a_shift_that_is_not_declared_makes_it_fail():
    case = next(case for case in CASES if case.name == "a rare class, ε = 1")
    seen = correct(case, 200, 3, moved=0.1)
    assert rates(case, seen)[0][1:].max(axis=1).min() > 0.2
    assert rates(case, seen)[1] > 0.2
    assert rates(case, seen, tau=0.1)[0].max() < 0.1


def test_it_is_near_its_level_where_guesses_are_as_sure_as_epsilon_allows():
    """Else nothing would be seen here."""
    case = next(case for case in CASES if case.name == "2 classes, ε = 0.1")
    assert rates(case, correct(case, 1000, 4))[0].max() > 0.02


def main() -> None:
    games = int(sys.argv[1]) if len(sys.argv) > 1 else GAMES
    print("| labels and mechanism | proxy is the law | off by 0.1, τ = 0.1 | off by 0.1, τ = 0 | mean bound, of ε |")
    print("|---|---:|---:|---:|---:|")
    for case in CASES:
        right, off = (correct(case, games, 1, moved) for moved in (0.0, 0.1))
        worst = [max(both, each.max()) for each, both in (rates(case, right), rates(case, off, 0.1), rates(case, off))]
        mean = bounds(case, right["likelihood"]).mean(axis=0).max()
        cells = " | ".join(f"{rate:.4f}" for rate in worst)
        print(f"| {case.name} | {cells} | {mean:.2f} of {case.epsilon:.3g} |", flush=True)


if __name__ == "__main__":
    main()
