"""How often corrections for many looks that data choose, or none, call a model leaky that leaks nothing.

A score per example, members by fair coins, and scores that know nothing of them. The rules are those by which other
software chooses among numbers of guesses, followed here by what its code says, and not that code: the vertices of the
convex hull of the errors, whose number divides p (jax_privacy), and every hundredth of the examples on both sides, each
judged at p (a sweep, as ml_privacy_meter reports it). An ε above 0 is reported where some number of guesses would have
so many right with a chance of less than that, at ε = 0 and δ = 0, by which δ > 0 is no more.

`python -m tests.calibration.test_other_corrections` prints the table that docs/evidence/validity.md shows.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

P = 0.05
AUDITS = {200: 10_000, 2000: 10_000, 20_000: 2000}  # by the number of examples


def hull(member):
    """How many non-members and members are below the thresholds at the vertices of the upper convex hull, (k, 2).

    `member` is in the order of the scores, from the lowest; the hull is of (members, non-members) below a threshold.
    """
    path = np.vstack([[0, 0], np.cumsum(np.stack([member, ~member], axis=1), axis=0)]).tolist()
    found = []
    for x, y in path:
        while len(found) > 1:
            (x0, y0), (x1, y1) = found[-2:]
            if (y1 - y0) * (x - x1) > (y - y1) * (x1 - x0):
                break
            found.pop()
        found.append((x, y))
    return np.array(found)


def by_hull(member):
    """Whether some vertex of the hull says that ε > 0, all that score above called members, at p over their number."""
    below = hull(member)
    right = member.sum() - below[:, 0]
    made = len(member) - below.sum(axis=1)
    return bool((stats.binom.sf(right - 1, made, 0.5) <= P / len(below)).any())


def by_sweep(member):
    """Whether some number of guesses says so, as many called members as non-members, at p each."""
    ends = np.unique(len(member) * np.arange(1, 101) // 200)
    right = np.cumsum(member[::-1])[ends - 1] + np.cumsum(~member)[ends - 1]
    return bool((stats.binom.sf(right - 1, 2 * ends, 0.5) <= P).any())


RULES = {
    "p over the number of vertices of the hull, which the data choose": by_hull,
    "every hundredth of the examples, p for each": by_sweep,
}


def rate(rule, size, audits, seed=0):
    rng = np.random.default_rng([seed, size])
    return float(np.mean([rule(rng.random(size) < 0.5) for _ in range(audits)]))


def print_table():
    heads = (f"*m* = {size}, {audits} audits" for size, audits in AUDITS.items())
    print(f"| Rule | {' | '.join(heads)} |\n|---|{'---|' * len(AUDITS)}")
    for name, rule in RULES.items():
        print(f"| {name} | {' | '.join(f'{rate(rule, *each):.3f}' for each in AUDITS.items())} |", flush=True)


def test_the_hull_is_the_least_concave_curve_above_all_thresholds():
    member = np.random.default_rng(1).random(40) < 0.5
    below, path = hull(member), np.vstack([[0, 0], np.cumsum(np.stack([member, ~member], axis=1), axis=0)])
    slopes = np.diff(below[:, 1]) / np.maximum(np.diff(below[:, 0]), 1e-9)
    assert (np.diff(slopes) < 0).all()
    assert (below[0] == 0).all()
    assert (below[-1] == [member.sum(), (~member).sum()]).all()
    assert (np.interp(path[:, 0], *below[1:].T if below[1, 0] == 0 else below.T) >= path[:, 1] - 1e-9).all()


def test_a_sweep_without_correction_finds_leaks_where_there_are_none():
    found = rate(by_sweep, 200, 400)
    assert found > P + 3 * np.sqrt(P * (1 - P) / 400)


@pytest.mark.slow
def test_a_correction_by_a_number_that_the_data_choose_is_not_valid_either():
    found = rate(by_hull, 20_000, 1000)
    assert found > P + 3 * np.sqrt(P * (1 - P) / 1000)


if __name__ == "__main__":
    print_table()
