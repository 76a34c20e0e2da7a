"""Which row of guesses is judged and at which level, and how often the bounds are wrong."""

import numpy as np
import pytest

from bayes_dp.attacks.scores import MultiSplit, guess
from bayes_dp.audits.choice import choose
from bayes_dp.audits.f_dp import GAUSSIAN, f_dp
from bayes_dp.audits.f_dp import lower_bounds as f_dp_lower_bounds
from bayes_dp.audits.one_run import best_lower_bounds, exact_lower_bounds, lower_bounds, one_run
from bayes_dp.checks import InputError
from bayes_dp.data.guess_table import GuessTable
from bayes_dp.data.guesses import Guesses


def plain(examples, made, correct, p):
    """A bound that shows what it was given: the share of right guesses, less p."""
    return correct / made - p


def test_fixed():
    choice = choose(Guesses(100, 50, 40), 0.05, plain)
    assert (choice.value, choice.row, choice.level, choice.invalid) == (0.8 - 0.05, 0, 0.05, "")
    assert choice.counts == {"examples": 100, "made": 50, "correct": 40}
    assert choice.assumption == "The number of guesses was decided before looking at which were correct."


def test_bonferroni():
    choice = choose(Guesses(100, [10, 20, 40], [7, 18, 30], "bonferroni"), 0.06, plain)
    assert (choice.value, choice.row, choice.invalid) == (pytest.approx(0.9 - 0.02), 1, "")
    assert choice.level == pytest.approx(0.02)
    assert choice.counts == {"examples": 100, "made": 20, "correct": 18}
    assert "p/3" in choice.assumption


def test_split():
    """The row that is best on the pilot, though another one is best on the main part."""
    seen = []

    def bound(examples, made, correct, p):
        seen.append((examples.tolist(), made.tolist(), p))
        return plain(examples, made, correct, p)

    pilot = Guesses(60, [10, 20], [6, 19], "bonferroni")
    choice = choose(Guesses(100, [10, 25], [10, 20], "split", pilot), 0.05, bound)
    assert (choice.value, choice.row, choice.level, choice.invalid) == (pytest.approx(0.8 - 0.05), 1, 0.05, "")
    assert seen == [([60.0, 60.0], [10.0, 20.0], 0.05), ([100.0], [25.0], 0.05)]
    assert "other examples" in choice.assumption


def test_uncorrected():
    choice = choose(Guesses(100, [10, 20], [7, 18], "uncorrected"), 0.05, plain)
    assert (choice.value, choice.row, choice.level) == (pytest.approx(0.85), 1, 0.05)
    assert choice.invalid.startswith("The best of 2 numbers of guesses was taken")
    assert choose(Guesses(100, [10], [7], "uncorrected"), 0.05, plain).invalid == ""


@pytest.mark.parametrize("audit", [lambda g: one_run(g, 1e-5), f_dp])
def test_the_audits_pass_it_on(audit):
    rows = (1000, [50, 100, 200], [48, 90, 150])
    best = audit(Guesses(*rows, "uncorrected"))
    assert not best.valid
    assert "NOT VALID" in best.summary()
    assert best.value == max(audit(Guesses(1000, n, c)).value for n, c in zip(*rows[1:], strict=True))
    corrected = audit(Guesses(*rows, "bonferroni"))
    assert corrected.valid
    assert corrected.value < best.value
    assert corrected.details["level"] == pytest.approx(0.05 / 3)
    assert corrected.provenance.settings["rule"] == "bonferroni"
    split = audit(Guesses(*rows, "split", Guesses(500, [25, 50, 100], [20, 48, 60], "bonferroni")))
    assert split.valid
    assert split.value == audit(Guesses(1000, 100, 90)).value


# How often the bounds are wrong ---------------------------------------------------------------------------------------


ROWS = np.array([25, 50, 100, 150, 200, 300])


class Looked:
    """A bound for whole batches: every pair is computed once, and then looked up."""

    def __init__(self, lower):
        self.lower, self.known = lower, {}

    def __call__(self, examples, made, correct, p):
        keys = [(m, r, c, p) for m, r, c in zip(examples.tolist(), made.tolist(), correct.tolist(), strict=True)]
        if any(key not in self.known for key in keys):
            for m, r in {key[:2] for key in keys}:
                every = np.arange(r + 1)
                bounds = self.lower(np.full(len(every), m), np.full(len(every), r), every, p)
                self.known.update({(m, r, float(c), p): bound for c, bound in zip(every, bounds.tolist(), strict=True)})
        return np.array([self.known[key] for key in keys])


def share_above(truth, correct, pilot_correct, lower, rule, p=0.05):
    """How often the bound is above the truth; `correct` has shape (replicates, rows)."""
    examples, lower = int(ROWS[-1]), Looked(lower)
    wrong = 0
    for row, pilot in zip(correct, pilot_correct, strict=True):
        if rule == "fixed":
            guesses = Guesses(examples, ROWS[2], row[2])
        else:
            other = Guesses(examples, ROWS, pilot, "bonferroni") if rule == "split" else None
            guesses = Guesses(examples, ROWS, row, rule, other)
        wrong += choose(guesses, p, lower).value > truth * (1 + 1e-12)
    return wrong / len(correct)


def responses(epsilon, delta, replicates, rng):
    """Randomized response: with probability δ the membership itself, else right with probability 1/(1 + e^{−ε})."""
    chance = delta + (1 - delta) / (1 + np.exp(-epsilon))
    right = rng.random((replicates, ROWS[-1])) < chance
    return np.cumsum(right, axis=1)[:, ROWS - 1]


METHODS = {
    "binomial, δ = 0": (0.0, lambda m, r, c, p: lower_bounds(m, r, c, 0.0, p)),
    "best": (0.02, lambda m, r, c, p: best_lower_bounds(m, r, c, 0.02, p)),
    "exact": (0.02, lambda m, r, c, p: exact_lower_bounds(m, r, c, 0.02, p)),
}


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
@pytest.mark.parametrize("method", METHODS)
def test_validity_for_randomized_response(method, epsilon):
    delta, lower = METHODS[method]
    replicates, p = 10_000, 0.05
    rng = np.random.default_rng(1)
    main, pilot = (responses(epsilon, delta, replicates, rng) for _ in range(2))
    allowed = p + 3 * np.sqrt(p * (1 - p) / replicates)
    for rule in ("fixed", "bonferroni", "split"):
        assert share_above(epsilon, main, pilot, lower, rule) <= allowed, rule
    if delta == 0:
        assert share_above(epsilon, main, pilot, lower, "uncorrected") > allowed
        assert share_above(epsilon, main, pilot, lower, "fixed") > 0.02  # not idle


@pytest.mark.parametrize("mu", [0.0, 1.0])
def test_validity_for_the_gaussian_mechanism(mu):
    """Each membership ±1 with noise of standard deviation 2/μ; the largest sums are guessed."""
    replicates, p = 10_000, 0.05
    rng = np.random.default_rng(2)

    def outcomes():
        correct = np.empty((replicates, len(ROWS)), dtype=np.int64)
        for part in np.array_split(np.arange(replicates), 10):
            score = rng.standard_normal((len(part), ROWS[-1])) + mu / 2  # times the membership
            order = np.argsort(-np.abs(score), axis=1)
            correct[part] = np.cumsum(np.take_along_axis(score > 0, order, axis=1), axis=1)[:, ROWS - 1]
        return correct

    main, pilot = outcomes(), outcomes()
    for rule in ("fixed", "bonferroni", "split"):
        wrong = share_above(mu, main, pilot, lambda *row: f_dp_lower_bounds(GAUSSIAN, *row), rule)
        assert wrong <= p + 3 * np.sqrt(p * (1 - p) / replicates), rule


def test_multisplit():
    """The median over the splits, each at p/2; of an even number the lower one of the two in the middle."""
    rights = [(30, 9), (40, 20), (20, 12), (20, 18)]  # of 40 guesses, and of 20 on the pilot
    splits = tuple(Guesses(60, 40, c, "split", Guesses(40, 20, t, "uncorrected")) for c, t in rights)
    three, four = (Guesses(100, 60, 50, "multisplit", splits=splits[:k]) for k in (3, 4))
    choice = choose(three, 0.06, plain)
    assert (choice.value, choice.level, choice.invalid) == (30 / 40 - 0.03, 0.03, "")
    assert choice.counts == {"examples": 60, "made": 40, "correct": 30}
    assert choose(four, 0.06, plain).value == 20 / 40 - 0.03
    assert "3 random splits at error probability p/2" in choice.assumption
    bound = one_run(three, 1e-5)
    assert bound.value == one_run(Guesses(60, 40, 30), 1e-5, confidence=0.975).value
    for wrong in ({"rule": "multisplit"}, {"rule": "uncorrected", "splits": splits}):
        with pytest.raises(InputError, match='splits must be given for the rule "multisplit", and only for it'):
            Guesses(100, 60, 50, **wrong)
    with pytest.raises(InputError, match=r"splits\[0\] and its pilot must have the 90 examples, not 100"):
        Guesses(90, 60, 50, "multisplit", splits=splits)


@pytest.mark.parametrize("epsilon", [0.0, 1.0])
def test_how_often_the_median_of_splits_is_wrong(epsilon):
    """Of randomized response, whose bounds come nearest to their level; with examples that all splits share."""
    rng, wrong, size = np.random.default_rng(8), 0, 150
    for i in range(size):
        member = rng.random(300) < 0.5
        told = np.where(rng.random(300) < 1 / (1 + np.exp(-epsilon)), member, ~member)
        table = GuessTable(np.where(told, 1.0, -1.0) * rng.uniform(1, 2, 300), member)
        guesses = guess(table, MultiSplit([50, 150, 300], splits=5, seed=i))
        wrong += one_run(guesses, 0.0, method="binomial").value > epsilon
    assert wrong <= 0.05 * size + 3 * np.sqrt(0.05 * 0.95 * size)
