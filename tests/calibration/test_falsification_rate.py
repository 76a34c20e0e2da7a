"""How often learned propensities are rejected: those of a classifier that can be right, and of one that cannot.

`python -m tests.calibration.test_falsification_rate [RUNS]` prints the table of docs/methods/propensity.md. The default
classifier learns from standard normal features; the log-odds are `shift` times

    one        the first feature
    all        the sum of all features, divided by the square root of their number
    product    the product of the first two features
    square     (x² − 1)/√2 of the first feature

The last two are nothing that a logistic regression on the features can be right about.
"""

import math
import sys

import numpy as np
import pytest
from scipy.special import expit

from bayes_dp.checks import InputError
from bayes_dp.propensity import fit

RUNS = 100
RIGHT = [
    (300, 50, 2.0, "one"), (300, 1, 2.0, "one"), (300, 5, 0.0, "one"), (300, 20, 2.0, "all"),
    (1000, 50, 2.0, "one"), (1000, 50, 0.0, "one"), (1000, 20, 1.0, "one"), (1000, 5, 1.0, "all"),
    (3000, 50, 2.0, "one"), (3000, 5, 2.0, "all"), (10_000, 50, 2.0, "one"), (10_000, 2, 1.0, "one"),
]  # fmt: skip
WRONG = [
    (1000, 2, 1.2, "product"), (2000, 2, 1.2, "product"), (2000, 20, 1.2, "product"), (5000, 50, 1.2, "product"),
    (500, 2, 1.0, "square"), (1000, 2, 1.0, "square"), (2000, 20, 1.0, "square"), (5000, 50, 1.0, "square"),
]  # fmt: skip


def examples(n, d, shift, kind, rng):
    """Features, (n, d), and memberships."""
    x = rng.normal(size=(n, d))
    odds = {
        "one": lambda: x[:, 0],
        "all": lambda: x.sum(axis=1) / math.sqrt(d),
        "product": lambda: x[:, 0] * x[:, 1],
        "square": lambda: (x[:, 0] ** 2 - 1) / math.sqrt(2),
    }[kind]()
    return x, rng.random(n) < expit(shift * odds)


def rejections(case, runs):
    """How many of so many learned propensities are rejected, and how many could be learned at all."""
    rejected = learned = 0
    for seed in range(runs):
        x, member = examples(*case, np.random.default_rng([7, seed]))
        try:
            pi = fit(x, member, seed=seed)
        except InputError:  # no overlap
            continue
        learned += 1
        rejected += pi.falsification.rejected
    return rejected, learned


@pytest.mark.parametrize("case", [case for case in RIGHT + WRONG if case[0] <= 1000], ids=str)
def test_one_run(case):
    rejected, learned = rejections(case, 1)
    assert 0 <= rejected <= learned == 1


@pytest.mark.slow
@pytest.mark.parametrize("case", [(300, 50, 2.0, "one"), (1000, 5, 1.0, "all"), (300, 1, 2.0, "one")], ids=str)
def test_a_right_form_is_rejected_in_one_percent_at_most(case):
    runs = 200
    rejected, learned = rejections(case, runs)
    assert learned > runs / 2
    assert rejected / learned <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / learned)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "power"), [((2000, 2, 1.2, "product"), 0.9), ((2000, 20, 1.0, "square"), 0.5)], ids=str
)
def test_a_wrong_form_is_rejected(case, power):
    rejected, learned = rejections(case, 40)
    assert rejected >= power * learned > 0


def main(runs=RUNS):
    print("| log-odds | shift | features | examples | rejected | of |\n|---|---|---|---|---|---|")
    for case in RIGHT + WRONG:
        n, d, shift, kind = case
        rejected, learned = rejections(case, runs if case in RIGHT else 2 * runs // 3)
        share = f"{rejected / learned:.1%}" if learned else ""
        print(f"| {kind} | {shift:g} | {d} | {n} | {share} | {learned} |", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
