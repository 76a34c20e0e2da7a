"""Rejection rates of the audits on mechanisms whose leakage is known: how often a lower bound exceeds the truth.

A bound with confidence 1 − p may exceed the truth in a share p of all audits. `study` simulates audits, counts how
often it does, and puts the mean bound beside the truth. A row passes if its rate is at most p + 3 standard errors; the
rows of methods that promise nothing (an uncorrected choice, approximate intervals) are shown, and marked so.

The audits of guesses need of the scores only how many of the highest and the lowest ones are members. Put in order, the
m scores are at levels U_(1) < … < U_(m), their places in the law of all scores, which are uniform order statistics. A
mechanism is the curve

    G(u) = P[member, level ≤ u]  with  g = G', the chance of a member at level u.

Given the levels U_(i) < U_(j) of two neighbouring cuts, the j − i − 1 scores between them are independent, each that of
a member with chance (G(U_(j)) − G(U_(i)))/(U_(j) − U_(i)), and that at U_(j) with chance g(U_(j)). So the counts of a
repetition cost as much as the number of cuts, whatever m is, and have the law of sorted scores exactly.

Nothing in (ε, δ)-DP makes guesses independent. The mechanism "spends δ at once" is the extreme case: the number of
correct guesses is W ~ Binomial(r, 1/(1 + e^{−ε})), or with some chance W given W ≥ v, so that mδ is used up, where v is
the least number for which the audit's bound exceeds ε (the law that attains the exact p-value of `one_run`).

The study "wrong-pairs" runs methods on counts that arose otherwise than they assume, which is why these are refused.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from bayes_dp.attacks.scores import Bonferroni, Choice, Fixed, Sides, Split, Uncorrected, guess
from bayes_dp.audits.choice import Lower
from bayes_dp.audits.f_dp import GAUSSIAN, LAPLACE, approx
from bayes_dp.audits.f_dp import lower_bounds as f_dp_bounds
from bayes_dp.audits.intervals import accuracy, clopper_pearson, jeffreys, katz
from bayes_dp.audits.one_run import best_lower_bounds, exact_lower_bounds, exact_p_value
from bayes_dp.audits.one_run import lower_bounds as binomial_bounds
from bayes_dp.bound import LowerBound
from bayes_dp.checks import InputError, one_number, seed_of
from bayes_dp.data import ErrorCounts
from bayes_dp.guess_table import GuessTable
from bayes_dp.guesses import Guesses
from bayes_dp.tradeoff import (
    ApproxDP,
    Gaussian,
    Laplace,
    advantage_from_epsilon,
    laplace_from_advantage,
    mu_from_advantage,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AUDITS", "Row", "Study", "study"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Progress = Callable[[int, int], None]  # tasks done, tasks in all

DELTA = 1e-5  # of the audits of guesses
RATE_DELTA = 0.01  # of the audits of rates, where less would hardly show
SIZES = (200, 2000, 20_000)


# Results --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """How often one bound, on one mechanism, exceeds the truth."""

    audit: str
    mechanism: str
    truth: float  # the parameter that is bounded, of the mechanism
    examples: int
    choice: str  # of the number of guesses, or why the pair of design and method is not offered
    rate: float
    standard_error: float
    mean_bound: float
    valid_claim: bool  # whether the method says that its bound holds here
    passed: bool  # the rate is at most p + 3 standard errors

    @property
    def verdict(self) -> str:
        if self.valid_claim:
            return "holds" if self.passed else "VIOLATED"
        return "no claim, within p" if self.passed else "no claim, exceeds p"


@dataclass(frozen=True)
class Study:
    """The rows of a study; `complete` is False if it was interrupted."""

    audit: str
    repetitions: int
    p: float
    seed: int
    rows: tuple[Row, ...]
    complete: bool = True

    @property
    def passed(self) -> bool:
        """Whether the study is complete and every row that claims to be valid is within p + 3 standard errors."""
        return self.complete and all(row.passed for row in self.rows if row.valid_claim)

    def to_frame(self) -> pd.DataFrame:
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=list(Row.__dataclass_fields__))

    def to_dict(self) -> dict[str, Any]:
        """Everything in it, fit for JSON."""
        return asdict(self) | {"rows": [asdict(row) for row in self.rows], "passed": self.passed}

    def __str__(self) -> str:
        heading = ("audit", "mechanism", "truth", "examples", "choice", "rate", "s.e.", "mean bound", "verdict")
        cells = [heading] + [
            (
                row.audit,
                row.mechanism,
                f"{row.truth:.3f}",
                str(row.examples),
                row.choice,
                f"{row.rate:.4f}",
                f"{row.standard_error:.4f}",
                f"{row.mean_bound:.3f}",
                row.verdict,
            )
            for row in self.rows
        ]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in cells]
        lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
        state = "" if self.complete else ", INTERRUPTED"
        title = f"{self.audit}: {self.repetitions} audits a row at p = {self.p:g}, seed {self.seed}{state}"
        return "\n".join([title, "", *lines])


Task = Callable[[np.random.Generator, int, float], list[Row]]  # (generator, repetitions, p)


def _row(labels: tuple[str, str, int, str], truth: float, bounds: Floats, p: float, claim: bool) -> Row:
    """From the bounds of all repetitions, shape (repetitions,)."""
    audit, mechanism, examples, choice = labels
    rate = float(np.mean(bounds > truth))
    error = math.sqrt(rate * (1 - rate) / len(bounds))
    mean = float(np.mean(bounds))
    return Row(audit, mechanism, truth, examples, choice, rate, error, mean, claim, rate <= p + 3 * error)


# Mechanisms -----------------------------------------------------------------------------------------------------------


class Mechanism(Protocol):
    """Scores of members and non-members, by the curve G of the module's docstring, and the true leakage."""

    @property
    def name(self) -> str: ...

    def curve(self, u: Floats) -> tuple[Floats, Floats]:
        """G(u) and g(u), of the shape of u."""
        ...

    def truth(self, parameter: str, delta: float) -> float:
        """The least ε at δ, or μ of Gaussian DP, or μ of the Laplace mechanism; infinite if there is none."""
        ...


@dataclass(frozen=True)
class RandomizedResponse:
    """The score is the membership, flipped with chance 1/(1 + e^ε). ε = 0 is no leak at all.

    `shift` is what the features tell beside it: another such response with the parameter `shift` (0 for nothing), so
    that an example's propensity is 1/(1 + e^{±shift}); scores are then ordered by what both say together.
    """

    epsilon: float
    shift: float = 0.0

    @property
    def name(self) -> str:
        what = f"randomized response, ε = {self.epsilon:g}" if self.epsilon else "no leak"
        return what + (f", features ε = {self.shift:.3g}" if self.shift else "")

    def curve(self, u: Floats) -> tuple[Floats, Floats]:
        signs = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)])  # of the response and of the features
        odds = signs @ np.array([self.epsilon, self.shift])
        order = np.argsort(odds, kind="stable")
        chance = special.expit(odds[order])
        agree = signs[order, 0] == signs[order, 1]
        right = special.expit(self.epsilon), special.expit(self.shift)
        same = right[0] * right[1] + (1 - right[0]) * (1 - right[1])
        edges = np.concatenate([[0.0], np.cumsum(np.where(agree, same, 1 - same) / 2)])
        edges[-1] = 1.0
        below = np.concatenate([[0.0], np.cumsum(chance * np.diff(edges))])
        atom = np.clip(np.searchsorted(edges, u, side="left") - 1, 0, len(chance) - 1)
        return np.interp(u, edges, below), chance[atom]

    def truth(self, parameter: str, delta: float) -> float:
        """Convex curves with the corner of f_ε on them are below it, hence the parameters of equal advantage."""
        if parameter == "epsilon":
            return float(ApproxDP(self.epsilon).epsilon_at(delta))
        advantage = advantage_from_epsilon(self.epsilon, 0.0)
        return float((mu_from_advantage if parameter == "mu" else laplace_from_advantage)(advantage))


@dataclass(frozen=True)
class Noise:
    """The score is noise, plus μ for members."""

    law: Gaussian | Laplace

    @property
    def name(self) -> str:
        return f"{type(self.law).__name__} mechanism, μ = {self.law.mu:g}"

    def curve(self, u: Floats) -> tuple[Floats, Floats]:
        """The score x at level u solves F(x)/2 + F(x − μ)/2 = u, and lies within [F⁻¹(u), F⁻¹(u) + μ]."""
        noise, mu = (stats.norm if isinstance(self.law, Gaussian) else stats.laplace), self.law.mu
        cdf = special.ndtr if isinstance(self.law, Gaussian) else _laplace_cdf
        low = noise.ppf(u)
        high = low + mu
        for _ in range(45):
            middle = (low + high) / 2
            under = cdf(middle) + cdf(middle - mu) < 2 * u
            low, high = np.where(under, middle, low), np.where(under, high, middle)
        x = np.clip(high, -1e300, 1e300)
        odds = mu * x - mu**2 / 2 if isinstance(self.law, Gaussian) else np.abs(x) - np.abs(x - mu)
        return cdf(x - mu) / 2, special.expit(odds)

    def truth(self, parameter: str, delta: float) -> float:
        if parameter == "epsilon":
            return float(self.law.epsilon_at(delta))
        same = isinstance(self.law, Gaussian) == (parameter == "mu")
        return self.law.mu if same else math.inf


def _laplace_cdf(x: Floats) -> Floats:
    tail = np.exp(-np.abs(x)) / 2
    return np.where(x < 0, tail, 1 - tail)


RESPONSES = tuple(RandomizedResponse(epsilon) for epsilon in (0.0, 0.5, 1.0, 3.0))
MECHANISMS: tuple[Mechanism, ...] = (
    *RESPONSES,
    *(Noise(Gaussian(mu)) for mu in (0.5, 1.0, 2.0)),
    *(Noise(Laplace(mu)) for mu in (0.5, 1.0, 3.0)),
)
FEW = (RandomizedResponse(0.0), RandomizedResponse(1.0), Noise(Gaussian(1.0)), Noise(Laplace(1.0)))


def _mechanisms(examples: int) -> tuple[Mechanism, ...]:
    """All of them, or a few where the bounds take long."""
    return MECHANISMS if examples <= 2000 else FEW


# Guesses --------------------------------------------------------------------------------------------------------------


def _members_below(mechanism: Mechanism, examples: int, cuts: Ints, size: int, rng: np.random.Generator) -> Ints:
    """Members among the `cuts[j]` lowest of so many scores; cuts (k,) rising from 0 to `examples`, result (size, k)."""
    steps = np.diff(cuts)
    gaps = rng.standard_gamma(np.append(steps[:-1], steps[-1] + 1).astype(np.float64), (size, len(steps)))
    levels = np.cumsum(gaps, axis=1)
    levels = np.concatenate([np.zeros((size, 1)), levels / levels[:, -1:]], axis=1)
    below, chance = mechanism.curve(levels)
    with np.errstate(invalid="ignore", divide="ignore"):  # 0/0 where no score is between
        share = np.clip(np.nan_to_num(np.diff(below) / np.diff(levels)), 0.0, 1.0)
    inside = steps - 1
    inside[-1] += 1  # the last level, 1, is beyond all scores
    counts = rng.binomial(inside, share)
    counts[:, :-1] += rng.random((size, len(steps) - 1)) < chance[:, 1:-1]
    return np.concatenate([np.zeros((size, 1), np.int64), np.cumsum(counts, axis=1)], axis=1)


def _correct(
    mechanism: Mechanism, guesses: Guesses, size: int, rng: np.random.Generator, sides: Sides = "both"
) -> Ints:
    """How many of the guesses are right, for each number in `guesses.made`, shape (size, k)."""
    m, made = guesses.examples, guesses.made
    lowest = made // 2 if sides == "both" else np.zeros_like(made)
    cuts = np.unique(np.concatenate([[0, m], lowest, m - (made - lowest)]))
    members = _members_below(mechanism, m, cuts, size, rng)
    low, high = members[:, np.searchsorted(cuts, lowest)], members[:, np.searchsorted(cuts, m - (made - lowest))]
    return members[:, -1:] - high + lowest - low


def _bounds(lower: Lower, examples: int, made: Ints, correct: Ints, p: float) -> Floats:
    """Bounds of shape (size, k) from made (k,) or (size, k) and correct (size, k): one computation per pair."""
    codes = made * (examples + 1) + correct
    pairs, place = np.unique(codes, return_inverse=True)
    r, c = (values.astype(np.float64) for values in np.divmod(pairs, examples + 1))
    return lower(np.full(len(pairs), float(examples)), r, c, p)[place].reshape(correct.shape)


def simulated(
    mechanism: Mechanism,
    examples: int,
    choice: Choice,
    lower: Lower,
    p: float,
    size: int,
    rng: np.random.Generator,
) -> Floats:
    """The bounds of so many audits, (size,), as `guess` and the audit's own choice of a row would give them."""
    # A table of no meaning, to be told the numbers of guesses
    plan = guess(GuessTable(np.arange(float(examples)), np.zeros(examples, bool)), choice)
    level = p / len(plan) if plan.rule == "bonferroni" else p
    bounds = _bounds(lower, plan.examples, plan.made, _correct(mechanism, plan, size, rng), level)
    if plan.pilot is None:
        return bounds.max(axis=1)
    pilot = plan.pilot
    best = np.argmax(_bounds(lower, pilot.examples, pilot.made, _correct(mechanism, pilot, size, rng), p), axis=1)
    return bounds[np.arange(size), best]


def _at(bounds: Callable[..., Floats], delta: float) -> Lower:
    return lambda m, r, c, p: bounds(m, r, c, delta, p)


def _shift(overlap: float) -> float:
    """What the features tell when the propensities lie between `overlap` and 1 − overlap."""
    return math.log((1 - overlap) / overlap)


def _discounted(shift: float, delta: float, m: Floats, r: Floats, c: Floats, p: float) -> Floats:
    return np.maximum(0.0, binomial_bounds(m, r, c, delta, p) - shift)


def _choices(examples: int) -> tuple[Choice, ...]:
    return Fixed(examples // 10), Bonferroni(), Split(), Uncorrected()


def _choice_name(choice: Choice) -> str:
    return f"Fixed({choice.n})" if isinstance(choice, Fixed) else type(choice).__name__


def _guess_task(
    lowers: Mapping[str, tuple[Lower, str]],
    mechanism: Mechanism,
    examples: int,
    delta: float,
    rng: np.random.Generator,
    size: int,
    p: float,
) -> list[Row]:
    rows = []
    for audit, (lower, parameter) in lowers.items():
        truth = mechanism.truth(parameter, delta)
        if math.isinf(truth):
            continue
        for choice in _choices(examples):
            bounds = simulated(mechanism, examples, choice, lower, p, size, rng)
            labels = (audit, mechanism.name, examples, _choice_name(choice))
            rows.append(_row(labels, truth, bounds, p, not isinstance(choice, Uncorrected)))
    return rows


# The extreme case -----------------------------------------------------------------------------------------------------


def _least_rejecting(lower: Lower, examples: int, made: int, epsilon: float, p: float) -> int:
    """The least number of correct guesses whose bound exceeds ε, or made + 1."""
    low, high = 0, made + 1
    while high - low > 1:
        middle = (low + high) // 2
        above = lower(np.array([float(examples)]), np.array([float(made)]), np.array([float(middle)]), p)[0] > epsilon
        low, high = (low, middle) if above else (middle, high)
    return high


def _all_at_once(
    examples: int, made: int, least: int, epsilon: float, delta: float, size: int, rng: np.random.Generator
) -> Ints:
    """Numbers of correct guesses that are `least` or more as often as (ε, δ)-DP allows, shape (size,)."""
    correct = rng.binomial(made, special.expit(epsilon), size)
    if least > made:
        return correct
    usual = stats.binom.sf(least - 1, made, special.expit(epsilon))
    most = float(exact_p_value(examples, made, least, epsilon, delta))
    lifted = rng.random(size) < (most - usual) / (1 - usual)
    above = stats.binom.isf(usual * rng.random(size), made, special.expit(epsilon))
    return np.where(lifted, np.maximum(above, least), correct).astype(np.int64)


def _extreme_task(
    lowers: dict[str, Lower], epsilon: float, examples: int, delta: float, rng: np.random.Generator, size: int, p: float
) -> list[Row]:
    rows = []
    for audit, lower in lowers.items():
        least = _least_rejecting(lower, examples, examples, epsilon, p)
        correct = _all_at_once(examples, examples, least, epsilon, delta, size, rng)
        bounds = _bounds(lower, examples, np.array([examples]), correct[:, None], p)[:, 0]
        name = f"spends δ = {delta:g} at once, ε = {epsilon:g}"
        rows.append(_row((audit, name, examples, f"Fixed({examples})"), epsilon, bounds, p, True))
    return rows


# Rates ----------------------------------------------------------------------------------------------------------------

RateMethod = Callable[..., LowerBound]
RATE_METHODS: dict[str, tuple[RateMethod, bool]] = {  # and whether it claims to be valid
    "clopper-pearson": (clopper_pearson, True),
    "accuracy": (accuracy, True),
    "jeffreys": (jeffreys, False),
    "katz": (katz, False),
}


def _rate_bounds(method: RateMethod, x: Ints, n0: int, y: Ints, n1: int, delta: float, p: float) -> Floats:
    """Bounds (size,) from false positives x and false negatives y of shape (size,): one computation per pair."""
    pairs, place = np.unique(np.stack([x, y]), axis=1, return_inverse=True)
    values = [method(ErrorCounts(a, n0, b, n1), delta, confidence=1 - p).value for a, b in pairs.T.tolist()]
    return np.array(values)[place.ravel()]


def _attacks(examples: int, delta: float) -> Iterator[tuple[str, float, float, float]]:
    """Name, false positive rate, false negative rate and ε of attacks on the border of what ε allows at δ.

    With "few errors" a rate is so small that there is often no error where 2.6 are expected.
    """
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        corner = (1 - delta) / (1 + math.exp(epsilon))
        yield f"corner of ε = {epsilon:g}", corner, corner, epsilon
        yield f"edge of ε = {epsilon:g}", corner / 4, 1 - delta - math.exp(epsilon) * corner / 4, epsilon
        yield f"end of ε = {epsilon:g}", 0.0, 1 - delta, epsilon
    for mu in (0.5, 1.0, 2.0):
        epsilon = float(Gaussian(mu).epsilon_at(delta))
        tangent = epsilon / mu + mu / 2
        alpha, beta = float(special.ndtr(-tangent)), float(special.ndtr(tangent - mu))
        yield f"Gaussian mechanism, μ = {mu:g}", alpha, beta, epsilon
    for mu in (0.5, 1.0, 3.0):
        epsilon = float(Laplace(mu).epsilon_at(delta))
        yield (
            f"Laplace mechanism, μ = {mu:g}",
            math.exp((-epsilon - mu) / 2) / 2,
            math.exp((epsilon - mu) / 2) / 2,
            epsilon,
        )
    alpha, beta = 2.6 / (examples // 2), 0.5
    yield "few errors", alpha, beta, math.log((1 - delta - beta) / alpha)


def _rate_task(
    attack: tuple[str, float, float, float], examples: int, rng: np.random.Generator, size: int, p: float
) -> list[Row]:
    name, alpha, beta, truth = attack
    n = examples // 2
    x, y = rng.binomial(n, alpha, size), rng.binomial(n, beta, size)
    rows = []
    for audit, (method, claim) in RATE_METHODS.items():
        bounds = _rate_bounds(method, x, n, y, n, RATE_DELTA, p)
        rows.append(_row((f"{audit}, δ = {RATE_DELTA:g}", name, examples, "all runs"), truth, bounds, p, claim))
    return rows


# PANORAMIA ------------------------------------------------------------------------------------------------------------


def _taken(
    mechanism: Mechanism, examples: int, levels: Floats, size: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Scores above each level and the members among them, both (size, k), for rising levels (k,) known in advance."""
    edges = np.concatenate([[0.0], levels, [1.0]])
    below, _ = mechanism.curve(edges)
    inside = rng.multinomial(examples, np.diff(edges), size)
    members = rng.binomial(inside, np.clip(np.diff(below) / np.diff(edges), 0.0, 1.0))
    above = [np.cumsum(values[:, :0:-1], axis=1)[:, ::-1] for values in (inside, members)]
    return above[0], above[1]


def _panoramia_task(mechanism: Mechanism, examples: int, rng: np.random.Generator, size: int, p: float) -> list[Row]:
    delta = 0.0 if math.isfinite(mechanism.truth("epsilon", 0.0)) else DELTA
    truth, lower, rows = mechanism.truth("epsilon", delta), _at(binomial_bounds, delta), []
    audit = f"panoramia, δ = {delta:g}"
    for levels in (np.array([0.9]), np.array([0.5, 0.75, 0.9, 0.95])):
        taken, right = _taken(mechanism, examples, levels, size, rng)
        bounds = _bounds(lower, examples, taken, right, p / len(levels)).max(axis=1)
        choice = f"{len(levels)} threshold{'s' * (len(levels) > 1)}"
        rows.append(_row((audit, mechanism.name, examples, choice), truth, bounds, p, True))
    if examples == SIZES[0]:
        every = Guesses(examples, range(1, examples + 1), range(1, examples + 1), "bonferroni")
        right = _correct(mechanism, every, size, rng, "members")
        bounds = _bounds(lower, examples, every.made, right, p / examples).max(axis=1)
        rows.append(_row((audit, mechanism.name, examples, "every score"), truth, bounds, p, True))
    return rows


# Wrong pairs ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Counts:
    """Error counts of so many repetitions: x and y of shape (size,), negatives and positives the same for all."""

    x: Ints
    negatives: int
    y: Ints
    positives: int

    def bounds(self, method: str, delta: float, p: float) -> Floats:
        """By a method of rates, or by one of guesses that takes all decisions together."""
        n = self.negatives + self.positives
        if method in RATE_METHODS:
            return _rate_bounds(RATE_METHODS[method][0], self.x, self.negatives, self.y, self.positives, delta, p)
        correct = (n - self.x - self.y)[:, None]
        return _bounds(_GUESS_METHODS[method](delta), n, np.array([n]), correct, p)[:, 0]


_GUESS_METHODS: dict[str, Callable[[float], Lower]] = {
    "one-run": lambda delta: _at(best_lower_bounds, delta),
    "f-dp": lambda delta: partial(f_dp_bounds, approx(delta)),
    "exact": lambda delta: _at(exact_lower_bounds, delta),
}
_OFFERED = "offered"  # the right method for the design, on the same counts


def _pair_rows(
    counts: _Counts, mechanism: str, truth: float, delta: float, p: float, methods: dict[str, str]
) -> list[Row]:
    """One row for each of `methods`, from its name to what becomes of the pair."""
    rows = []
    for method, fate in methods.items():
        labels = (f"{method}, δ = {delta:g}", mechanism, counts.negatives + counts.positives, fate)
        rows.append(_row(labels, truth, counts.bounds(method, delta, p), p, fate == _OFFERED))
    return rows


def _one_run_independent(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Guesses of one run that happen to be independent, half of them of members."""
    n, epsilon = 1000, 1.0
    x, y = rng.binomial(n, special.expit(-epsilon), (2, size))
    methods = {"clopper-pearson": "refused", "accuracy": "refused", "one-run": _OFFERED}
    name = f"one run, independent errors, ε = {epsilon:g}"
    return _pair_rows(_Counts(x, n, y, n), name, epsilon, 0.0, p, methods)


def _one_run_revealed(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """With chance δ the training publishes its data, else nothing: (0, δ)-DP."""
    n, delta = 1000, 0.1
    x, y = rng.binomial(n, 0.5, (2, size)) * (rng.random(size) >= delta)
    methods = {"clopper-pearson": "refused", "accuracy": "refused", "one-run": _OFFERED, "f-dp": _OFFERED}
    return _pair_rows(_Counts(x, n, y, n), "one run, all revealed with chance δ", 0.0, delta, p, methods)


def _one_run_at_once(epsilon: float, rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """The extreme case above, in turn against each method; the wrong guesses fall on members and others at random."""
    n, delta, rows = 1000, 0.01, []
    for method, fate in {
        "clopper-pearson": "refused",
        "accuracy": "refused",
        "one-run": _OFFERED,
        "f-dp": _OFFERED,
        "exact": _OFFERED,
    }.items():

        def lower(m: Floats, r: Floats, c: Floats, p: float, method: str = method) -> Floats:
            wrong = (r - c).astype(np.int64)
            return _Counts(wrong // 2, n, wrong - wrong // 2, n).bounds(method, delta, p)

        least = _least_rejecting(lower, 2 * n, 2 * n, epsilon, p)
        wrong = 2 * n - _all_at_once(2 * n, 2 * n, least, epsilon, delta, size, rng)
        x = rng.hypergeometric(n, n, wrong)
        name = f"one run, δ spent at once, ε = {epsilon:g}"
        rows += _pair_rows(_Counts(x, n, wrong - x, n), name, epsilon, delta, p, {method: fate})
    return rows


def _repeated_balanced(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    n, epsilon, delta = 1000, 1.0, RATE_DELTA
    x, y = rng.binomial(n, (1 - delta) / (1 + math.exp(epsilon)), (2, size))
    methods = {"one-run": "refused", "f-dp": "refused", "clopper-pearson": _OFFERED, "accuracy": _OFFERED}
    name = f"repeated, as many positives as negatives, ε = {epsilon:g}"
    return _pair_rows(_Counts(x, n, y, n), name, epsilon, delta, p, methods)


def _repeated_unbalanced(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """An attack that sees nothing and says "member" nine times of ten is right in 70 of 100 runs."""
    n0, n1, says = 500, 1500, 0.9
    x, y = rng.binomial(n0, says, size), rng.binomial(n1, 1 - says, size)
    methods = {"one-run": "refused", "f-dp": "refused", "clopper-pearson": _OFFERED}
    name = "repeated, three positives for a negative, no leak"
    return _pair_rows(_Counts(x, n0, y, n1), name, 0.0, RATE_DELTA, p, methods)


_CROSS_FED = {"clopper-pearson": "cautioned", "accuracy": "cautioned", "one-run": "refused", "f-dp": "refused"}


def _cross_fed_fitted(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Each run is judged by the side of the midpoint of the mean scores of the other runs with and without z."""
    n = 100
    out, within = rng.standard_normal((2, size, n))
    wrong = []
    for own, other in ((out, within), (within, out)):
        own_mean = (own.sum(axis=1, keepdims=True) - own) / (n - 1)
        other_mean = other.mean(axis=1, keepdims=True)
        wrong.append(np.sum((own - (own_mean + other_mean) / 2) * (own_mean - other_mean) < 0, axis=1))
    name = "cross-fed, fitted to the other runs, no leak"
    return _pair_rows(_Counts(wrong[0], n, wrong[1], n), name, 0.0, 0.0, p, _CROSS_FED)


def _cross_fed_counting(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Where half of the runs have z, the other runs' memberships tell this run's: it is what they have less of."""
    del rng
    n, none = 100, np.zeros(size, dtype=np.int64)
    name = "cross-fed, said to be what is rarer in the other runs, no leak"
    return _pair_rows(_Counts(none, n, none, n), name, 0.0, 0.0, p, _CROSS_FED)


def _shifted(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Members and non-members differ in their features, and the model leaks nothing."""
    m, overlap = 2000, 0.4
    mechanism = RandomizedResponse(0.0, _shift(overlap))
    bounds: dict[str, tuple[Lower, str]] = {
        "one-run": (_at(best_lower_bounds, DELTA), "refused"),
        "zero-run-compositional": (partial(_discounted, mechanism.shift, DELTA), _OFFERED),
    }
    rows = []
    for audit, (lower, fate) in bounds.items():
        values = simulated(mechanism, m, Fixed(m), lower, p, size, rng)
        labels = (f"{audit}, δ = {DELTA:g}", f"propensities {overlap:g} to {1 - overlap:g}, no leak", m, fate)
        rows.append(_row(labels, 0.0, values, p, fate == _OFFERED))
    return rows


def _generated(rng: np.random.Generator, size: int, p: float) -> list[Row]:
    """Non-members from a generator with a flaw that the attack sees and the baseline does not; no leak."""
    m, lower = 2000, _at(binomial_bounds, 0.0)
    made = np.array([m // 2])
    seen, unseen = rng.binomial(made, special.expit(1.0), (size, 1)), rng.binomial(made, 0.5, (size, 1))
    values = np.maximum(0.0, _bounds(lower, m, made, seen, p / 2) - _bounds(lower, m, made, unseen, p / 2))[:, 0]
    labels = ("panoramia, δ = 0", "generated non-members, baseline misses their flaw, no leak", m, "an estimate only")
    return [_row(labels, 0.0, values, p, False)]


# Studies --------------------------------------------------------------------------------------------------------------


def _one_run_tasks() -> Iterator[Task]:
    methods = {"best": best_lower_bounds, "binomial": binomial_bounds, "exact": exact_lower_bounds}
    for examples in SIZES:
        lowers = {f"one-run {name}, δ = {DELTA:g}": (_at(f, DELTA), "epsilon") for name, f in methods.items()}
        for mechanism in _mechanisms(examples):
            yield partial(_guess_task, lowers, mechanism, examples, DELTA)
        for epsilon, delta in ((0.0, 1e-3), (1.0, 1e-3), (3.0, 1e-3)):
            at_once = {f"one-run {name}, δ = {delta:g}": _at(f, delta) for name, f in methods.items()}
            yield partial(_extreme_task, at_once, epsilon, examples, delta)


def _f_dp_tasks() -> Iterator[Task]:
    lowers: dict[str, tuple[Lower, str]] = {
        "f-dp gaussian (μ)": (partial(f_dp_bounds, GAUSSIAN), "mu"),
        f"f-dp approx, δ = {DELTA:g}": (partial(f_dp_bounds, approx(DELTA)), "epsilon"),
        "f-dp laplace (μ)": (partial(f_dp_bounds, LAPLACE), "laplace"),
    }
    for examples in SIZES:
        for mechanism in _mechanisms(examples):
            yield partial(_guess_task, lowers, mechanism, examples, DELTA)
        for epsilon, delta in ((0.0, 1e-3), (1.0, 1e-3), (3.0, 1e-3)):
            lower = partial(f_dp_bounds, approx(delta))
            yield partial(_extreme_task, {f"f-dp approx, δ = {delta:g}": lower}, epsilon, examples, delta)


def _interval_tasks() -> Iterator[Task]:
    for examples in SIZES:
        for attack in _attacks(examples, RATE_DELTA):
            yield partial(_rate_task, attack, examples)


def _panoramia_tasks() -> Iterator[Task]:
    for examples in SIZES:
        for mechanism in _mechanisms(examples):
            yield partial(_panoramia_task, mechanism, examples)


def _zero_run_tasks() -> Iterator[Task]:
    for examples in SIZES:
        for overlap in (0.4, 0.2):
            shift = _shift(overlap)
            lower = partial(_discounted, shift, DELTA)
            lowers = {f"zero-run-compositional, η = {overlap:g}, δ = {DELTA:g}": (lower, "epsilon")}
            for plain in RESPONSES:
                yield partial(_guess_task, lowers, RandomizedResponse(plain.epsilon, shift), examples, DELTA)


def _wrong_pair_tasks() -> Iterator[Task]:
    yield _one_run_independent
    yield _one_run_revealed
    yield from (partial(_one_run_at_once, epsilon) for epsilon in (0.0, 1.0))
    yield _repeated_balanced
    yield _repeated_unbalanced
    yield _cross_fed_fitted
    yield _cross_fed_counting
    yield _shifted
    yield _generated


_TASKS: dict[str, Callable[[], Iterator[Task]]] = {
    "one-run": _one_run_tasks,
    "f-dp": _f_dp_tasks,
    "intervals": _interval_tasks,
    "panoramia": _panoramia_tasks,
    "zero-run-compositional": _zero_run_tasks,
    "wrong-pairs": _wrong_pair_tasks,
}
AUDITS = tuple(_TASKS)


def study(
    audit: str,
    *,
    repetitions: int = 10_000,
    p: float = 0.05,
    seed: int = 0,
    progress: Progress | bool | None = None,
) -> Study:
    """Simulate an audit, one of `AUDITS`, so many times for each of its rows.

    `progress` is a function (tasks done, tasks in all), or True or False for a progress bar on standard error or none;
    by default there is a bar on a terminal. The same seed gives the same numbers. An interrupted study keeps the rows
    that are finished, if there are any.
    """
    if not isinstance(audit, str) or audit not in _TASKS:
        raise InputError(f"audit must be one of {', '.join(AUDITS)}, not {audit!r:.80}")
    if isinstance(repetitions, bool) or not isinstance(repetitions, int | np.integer) or repetitions < 1:
        raise InputError(f"repetitions must be a whole number, at least 1, not {repetitions!r:.80}")
    if not (callable(progress) or progress is None or isinstance(progress, bool)):
        raise InputError(f"progress must be a function, True, False or None, not {progress!r:.80}")
    p = one_number("p", p, 0.0, 1.0, low_open=True, high_open=True)
    seed = seed_of(seed)
    rows, complete = _run(audit, tuple(_TASKS[audit]()), int(repetitions), p, seed, progress)
    return Study(audit, int(repetitions), p, seed, rows, complete)


def _run(
    audit: str, tasks: Sequence[Task], size: int, p: float, seed: int, progress: Progress | bool | None
) -> tuple[tuple[Row, ...], bool]:
    rows: list[Row] = []
    try:
        with _shown(progress) as show:
            for i, task in enumerate(tasks):
                # Numbers of a task's own, so that none depends on the tasks before it
                rows += task(np.random.default_rng([seed, zlib.crc32(audit.encode()), i]), size, p)
                show(i + 1, len(tasks))
    except KeyboardInterrupt:
        if not rows:
            raise
        return tuple(rows), False
    return tuple(rows), True


@contextmanager
def _shown(progress: Progress | bool | None) -> Iterator[Progress]:
    """The caller's function, or one that moves a bar."""
    if callable(progress):
        yield progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    shown = console.is_terminal if progress is None else progress
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console, transient=console.is_terminal, disable=not shown) as bar:
        task = bar.add_task("")
        yield lambda done, total: bar.update(task, completed=done, total=total)
