"""Audits that may be looked at after every pair of runs, and stopped when the evidence suffices.

For each ε of a grid that is fixed at the start a capital is kept (`betting.py`, or the e-values below). If a training
has this ε, the capital ever reaches 1/p with probability at most p, whenever it is looked at (Ville 1939). ε is
rejected once the capital has been 1/p at a look, and stays so. The bound is the last value before the first that is not
rejected. It holds for as many looks as one likes, and whatever made one stop.

    betting   pairs of runs, one without the example and one with it, or blocks of several of both; the rule may change
              from one to the next if it is fixed before that is seen. Of unequal numbers of runs, those that have no
              partner wait.
    mixture   as long as the rule stays the same, runs in any order and any numbers: log E of `combine.mixture` of all
              of them, with the largest likelihood that the claim allows; a new rule starts a new stretch, and the
              logarithms add up. The same runs hold against any ε, at any δ, and against any trade-off function.
    one_run   guesses on one model after another, each with fresh coins: the e-values of `one_run_e_values.py`.

A run waits only for partners that were judged by the same rule. If X is judged by one rule and Y by another, their
errors say nothing of either: a score without any leak, cut high for X and low for Y, has few errors of both kinds. So
another threshold, or `new_rule`, starts over: what waits is left out, and the mixture begins another stretch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial
from os import PathLike
from typing import Any, Literal, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from bayes_dp.audits.betting import (
    ApproxClaims,
    Claims,
    LinesClaim,
    divergence,
    gaussian_claims,
    laplace_claims,
    lines_below,
    next_refresh,
)
from bayes_dp.audits.capital import Capital
from bayes_dp.audits.exact_test import mixed_log_ratio
from bayes_dp.audits.given import as_guesses
from bayes_dp.audits.memberships import under_coins
from bayes_dp.audits.one_run_e_values import TERMS, one_run_log_e
from bayes_dp.audits.sequential_state import FAMILIES, METHODS, TRADE_OFF, check_fits, read_state, state_text
from bayes_dp.checks import InputError, is_one_of, numbers, one_number, seed_of, show, truth, whole_number
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.data.files import Source, write_text_atomically
from bayes_dp.data.guesses import Guesses
from bayes_dp.results.bound import LowerBound
from bayes_dp.results.posterior import Provenance
from bayes_dp.support.arrays import Bools, Floats
from bayes_dp.support.callable_module import call_module_as
from bayes_dp.tradeoff import ApproxDP, TradeOffFunction, least, require_symmetric

__all__ = ["LARGEST", "Sequential", "sequential"]

_GRID = np.arange(1201) / 100
LARGEST = 50.0  # of a grid
_HIGHEST = 100.0  # bound of the mixture
Method = Literal["betting", "mixture", "one_run"]
Family = Literal["approx", "gaussian", "laplace"]


def _is_truth(given: Any) -> bool:
    """Whether an array or a list holds truth values."""
    try:
        return np.asarray(given).dtype == bool
    except Exception:
        return False


def sequential(
    delta: float,
    *,
    confidence: float = 0.95,
    method: Method = "betting",
    family: Family | TradeOffFunction = "approx",
    pairs: Literal["independent", "dependent"] = "independent",
    block: tuple[int, int] = (1, 1),
    grid: ArrayLike | None = None,
    claim: float | None = None,
    seed: int = 0,
) -> Sequential:
    """An audit that may be looked at after every update, and stopped for any reason.

    Parameters
    ----------
    delta : the δ at which ε is bounded; 0 with any family but "approx", which is of no single δ.
    method : "betting" on pairs of runs, "mixture" for one rule and runs in any order, "one_run" for guesses on models.
    family : "approx", "gaussian" or "laplace", or one symmetric trade-off function, such as `Claim.below`, which is
        refuted or not, without a bound. All but "approx" are for betting and the mixture.
    pairs : "dependent" if the two runs of a pair may share seeds or data that is not fixed; for betting on ε.
    block : (n0, n1), of betting, where there are n0 runs without the example for every n1 with it; fixed now.
    grid : the values that are judged, (k,), increasing from 0 to at most 50, fixed now; 0 to 12 by .01 by default.
    claim : a value of ε (or of the family's parameter) that is to be refuted. It joins the grid, and `claim_trace` has
        the capital against it.
    seed : of the order of runs that come as counts.

    >>> rng = np.random.default_rng(0)
    >>> audit = bdp.audits.sequential(1e-5, claim=1.0)
    >>> while not audit.rejects():
    ...     _ = audit.update(rng.random(50) < 0.1, rng.random(50) < 0.2)
    >>> audit.runs, audit.bound().value
    (100, 1.19)
    """
    delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
    confidence = one_number("confidence", confidence, 0.0, 1.0, low_open=True, high_open=True)
    lines, of = _lines_of(family)
    for name, value, known in (("method", method, METHODS), ("pairs", pairs, ("independent", "dependent"))):
        if not is_one_of(value, known):
            raise InputError(f"{name} must be one of {', '.join(known)}, not {show(value)}")
    if method != "betting" and pairs == "dependent":
        raise InputError(f'method="{method}" is for pairs="independent"')
    if method == "one_run" and of != "approx":
        raise InputError('method="one_run" is for family="approx"')
    if pairs == "dependent" and of != "approx":
        raise InputError('pairs="dependent" is for family="approx"')
    if of != "approx" and delta != 0:
        raise InputError(f'delta must be 0 with family="{of}", which holds at every δ')
    runs = _block(block, method, pairs)
    if lines is not None and (grid is not None or claim is not None):
        raise InputError("grid and claim are for a family with a parameter: a trade-off function is the claim itself")
    values = _GRID if grid is None else np.atleast_1d(numbers("grid", grid, 0.0, LARGEST))
    if values.ndim != 1 or len(values) < 2 or values[0] != 0 or not np.all(np.diff(values) > 0):
        raise InputError("grid must be at least two increasing numbers, of which the first is 0")
    if claim is not None:
        claim = one_number("claim", claim, 0.0, LARGEST)
        values = np.union1d(values, [claim])
    if lines is not None:
        values, claim = np.zeros(1), 0.0  # a single claim, which has no number
    return Sequential(delta, confidence, method, of, lines, pairs, runs, values, claim, seed_of(seed))


def _lines_of(family: Any) -> tuple[tuple[Floats, Floats] | None, str]:
    """Of a trade-off function the lines that it is made of; the name of the family."""
    if is_one_of(family, FAMILIES):
        return None, str(family)
    if isinstance(family, str) or not callable(family) or not hasattr(family, "delta_at"):
        known = ", ".join(FAMILIES)
        raise InputError(f"family must be one of {known}, or a trade-off function, not {show(family)}")
    require_symmetric(family)
    return lines_below(family), TRADE_OFF


def _block(block: Any, method: str, pairs: str) -> tuple[int, int]:
    if not isinstance(block, tuple | list) or len(block) != 2:
        raise InputError(f"block must be two numbers of runs, such as (2, 1), not {show(block)}")
    n0, n1 = (whole_number(f"block[{i}]", n, 1) for i, n in enumerate(block))
    if (n0, n1) != (1, 1) and (method != "betting" or pairs == "dependent"):
        raise InputError("block is for betting on independent runs; the mixture takes any numbers of runs as they are")
    return n0, n1


class Sequential:
    """An audit under way (`sequential`): `update` it as runs arrive, look at `bound` as often as you like."""

    def __init__(
        self,
        delta: float,
        confidence: float,
        method: Method,
        family: str,
        lines: tuple[Floats, Floats] | None,
        pairs: str,
        block: tuple[int, int],
        grid: Floats,
        claim: float | None,
        seed: int,
    ) -> None:
        self.delta, self.confidence, self.method, self.family, self.pairs = delta, confidence, method, family, pairs
        self.lines, self.block = lines, block
        self.grid, self.claim, self.seed = grid, claim, seed
        self._needed = -math.log(1 - confidence)
        self._best = np.full(len(grid), -math.inf)  # the largest log capital at a look
        self._looks, self._steps = 0, [(0, 0.0)]  # how often, and runs or models with the bound since then
        self._claimed: list[tuple[int, float]] = []  # runs or models, and the log capital against the claim
        self._waiting, self._left_out = (np.empty(0), np.empty(0)), [0, 0]
        self._rule = ""  # by which runs were judged last: a threshold, or empty for errors as they are given
        self._capital = Capital(self._claims(grid, block), len(grid), pairs == "dependent")
        self._stretches: list[list[int]] = []  # of the mixture: x, N0, y, N1 by rule
        self._models = np.zeros((len(grid), TERMS))  # log e-values of one_run
        self._number, self._updates = 0, 0  # of models, and of counts
        self._highest = 0.0  # of the mixture, whose bound needs no grid
        self.invalid = ""  # what speaks against guesses, a sentence

    def _claims(self, values: Floats, block: tuple[int, int]) -> Claims:
        """The claims of ε, or of the family's parameter, (k,), on blocks of so many runs."""
        if self.lines is not None:
            return LinesClaim(*self.lines, block)
        if self.family == "approx":
            return ApproxClaims(values, self.delta, block)
        return (gaussian_claims if self.family == "gaussian" else laplace_claims)(values, block)

    # Updates ----------------------------------------------------------------------------------------------------------

    def update(self, false_positive: ArrayLike, false_negative: ArrayLike, *, new_rule: bool = False) -> Self:
        """Errors of runs in their order: 1 or True where a run without the example, or with it, was judged wrongly.

        Betting takes numbers between 0 and 1 as well, and the k-th of the one with the k-th of the other; what has no
        partner waits. `new_rule` says that these were judged by another rule than those before: the mixture begins
        another stretch, and what waits is left out.
        """
        return self._update(false_positive, false_negative, new_rule, "")

    def _update(self, false_positive: ArrayLike, false_negative: ArrayLike, new_rule: bool, rule: str) -> Self:
        new_rule = truth("new_rule", new_rule)
        x, y = (
            np.atleast_1d(numbers(name, np.asarray(given, float) if _is_truth(given) else given, 0.0, 1.0))
            for name, given in (("false_positive", false_positive), ("false_negative", false_negative))
        )
        for name, column in (("false_positive", x), ("false_negative", y)):
            if column.ndim != 1:
                raise InputError(f"{name} must be a list of errors, not of the shape {column.shape}")
            if self.method == "mixture" and (wrong := ~np.isin(column, (0, 1))).any():
                i = int(wrong.argmax())
                raise InputError(f"{name}[{i}] must be 0 or 1 with the mixture, not {show(column[i])}")
        self._refuse("one_run", "update_guesses")
        if len(self._capital.scores):
            raise InputError("false_positive: this audit chooses its threshold; go on with update_scores")
        another = new_rule or rule != self._rule
        self._rule = rule
        if self.method == "mixture":
            if another or not self._stretches:
                self._stretches.append([0, 0, 0, 0])
            for i, value in enumerate((x.sum(), len(x), y.sum(), len(y))):
                self._stretches[-1][i] += int(value)
            self._look()
            return self
        if another:
            self._left_out = [n + len(each) for n, each in zip(self._left_out, self._waiting, strict=True)]
            self._waiting = np.empty(0), np.empty(0)
        x, y = np.append(self._waiting[0], x), np.append(self._waiting[1], y)
        m = min(len(each) // n for each, n in zip((x, y), self.block, strict=True))
        n0, n1 = (m * n for n in self.block)
        for _ in self._capital.add(x[:n0], y[:n1]):
            self._look()
        self._waiting = x[n0:], y[n1:]
        return self

    def update_counts(self, counts: ErrorCounts, *, new_rule: bool = False) -> Self:
        """Runs of one base under one rule whose order is not known: it is drawn, which changes nothing in law.

        `new_rule`, as for `update`, if it is another rule than before.
        """
        if not isinstance(counts, ErrorCounts) or len(counts) != 1:
            raise InputError(f"counts must be ErrorCounts of one base, not {show(counts)}")
        if counts.design != "repeated":
            raise InputError(f'counts must be of independent runs, the design "repeated", not "{counts.design}"')
        rng = np.random.default_rng([self.seed, self._updates])
        self._updates += 1
        columns = []
        for errors, runs in ((counts.false_positives, counts.negatives), (counts.false_negatives, counts.positives)):
            columns.append(rng.permutation(np.arange(int(runs[0])) < int(errors[0])))
        return self.update(columns[0], columns[1], new_rule=new_rule)

    def update_scores(
        self, without: ArrayLike, with_: ArrayLike, *, threshold: float | Literal["adaptive"] = "adaptive"
    ) -> Self:
        """Scores of runs, high for "with": by a threshold fixed before they were seen, or one chosen from those before.

        Another threshold than before is a new rule. With "adaptive" there must be as many of both, and the pairs must
        be independent.
        """
        low, high = (
            np.atleast_1d(numbers(name, given, -math.inf, math.inf))
            for name, given in (("without", without), ("with_", with_))
        )
        for name, column in (("without", low), ("with_", high)):
            if column.ndim != 1:
                raise InputError(f"{name} must be a list of scores, not of the shape {column.shape}")
        if not isinstance(threshold, str):
            t = one_number("threshold", threshold, -math.inf, math.inf)
            return self._update(low > t, high <= t, False, f"score > {t!r}")
        if threshold != "adaptive":
            raise InputError(f'threshold must be a number or "adaptive", not {show(threshold)}')
        for name, column in (("without", low), ("with_", high)):
            numbers(name, column, low_open=True, high_open=True)  # finite, as a file of them has to be
        if self.method != "betting" or self.pairs == "dependent" or self.block != (1, 1):
            raise InputError('threshold="adaptive" is for betting on independent pairs: give a number')
        if len(low) != len(high):
            raise InputError(f"with_ must hold as many scores as without, {len(low)}, not {len(high)}")
        if self._capital.pairs and not len(self._capital.scores):
            raise InputError("threshold must be a number, as in the updates before: their scores are not known")
        for _ in self._capital.add_scores(low, high):
            self._look()
        return self

    def update_guesses(self, guesses: Guesses) -> Self:
        """Guesses on another model, whose members were drawn by fresh fair coins; their number was fixed before."""
        if self.method != "one_run":
            raise InputError(f'guesses are for method="one_run", not "{self.method}"')
        if not isinstance(guesses, Guesses) or len(guesses.made) != 1:
            raise InputError(f"guesses must be Guesses of one number of guesses, not {show(guesses)}")
        as_guesses(guesses)
        self.invalid = self.invalid or under_coins(guesses).invalid
        size = max(1, 2_000_000 // (int(guesses.made[0]) + 1))
        for begin in range(0, len(self.grid), size):
            some = slice(begin, begin + size)
            given = guesses.examples, int(guesses.made[0]), int(guesses.correct[0])
            self._models[some] += one_run_log_e(*given, self.grid[some], self.delta)
        self._number += 1
        self._look()
        return self

    # Files ------------------------------------------------------------------------------------------------------------

    def to_json(self, path: str | PathLike[str]) -> None:
        """Save all that it takes to go on with the same bits, atomically."""
        content = {
            "delta": self.delta,
            "confidence": self.confidence,
            "method": self.method,
            "family": self.family,
            "lines": [] if self.lines is None else np.stack(self.lines, axis=1).tolist(),
            "pairs": self.pairs,
            "block": list(self.block),
            "grid": self.grid.tolist(),
            "claim": self.claim,
            "seed": self.seed,
            "best": [None if value == -math.inf else value for value in self._best.tolist()],
            "looks": self._looks,
            "steps": [list(step) for step in self._steps],
            "claimed": [list(point) for point in self._claimed],
            "rule": self._rule,
            "waiting": [each.tolist() for each in self._waiting],
            "left_out": self._left_out,
            "capital": self._capital.state() if self.method == "betting" else {},
            "stretches": self._stretches,
            "models": self._models.tolist() if self.method == "one_run" else [],
            "invalid": self.invalid,
            "number": self._number,
            "updates": self._updates,
            "highest": self._highest,
        }
        write_text_atomically(path, state_text(content))

    @classmethod
    def from_json(cls, source: Source) -> Self:
        """Go on from a file that `to_json` wrote; anything else is refused."""
        try:
            name, found = read_state(source)
            made = _begun(found)
            check_fits(name, found, len(made.grid), TERMS)
        except InputError as error:
            raise InputError(f"{error}; this is not a sequential audit as to_json gives it") from None
        made._restore(found)
        return cast(Self, made)

    def _restore(self, found: dict[str, Any]) -> None:
        if self.method == "one_run":
            self._models = np.array(found["models"], float)
        if self.method == "betting":
            self._capital.restore(found["capital"])
        self._stretches = [list(row) for row in found["stretches"]]
        self._best = np.array([-math.inf if value is None else value for value in found["best"]], float)
        x, y = (np.array(each, float) for each in found["waiting"])
        self._waiting, self._left_out, self._rule = (x, y), list(found["left_out"]), found["rule"]
        self._looks = found["looks"]
        self._steps, self._claimed = (
            [(int(runs), float(value)) for runs, value in found[key]] for key in ("steps", "claimed")
        )
        self._number, self._updates, self._highest = found["number"], found["updates"], float(found["highest"])
        self.invalid = found["invalid"]

    # Looks ------------------------------------------------------------------------------------------------------------

    @property
    def runs(self) -> int:
        """Pairs or blocks that were played, runs of the mixture, or models."""
        if self.method == "mixture":
            return sum(n0 + n1 for _, n0, _, n1 in self._stretches)
        return self._number if self.method == "one_run" else self._capital.pairs

    def e_value(self, epsilon: float | None = None) -> float:
        """The capital against a value of the grid (with the mixture, any), by default the claim: if it is true, 1 or
        less on average."""
        return float(np.exp(min(self._log_capital(self._asked(epsilon)), 700.0)))

    def rejects(self, epsilon: float | None = None) -> bool:
        """Whether the claim of this ε, by default the audit's own, is refuted: all values of the grid up to it, or to
        the next one, are rejected."""
        value = self._asked(epsilon)
        if self._any_value:
            return value < self._highest
        return int(np.searchsorted(self.grid, value)) < self._rejected()

    def p_value(self, epsilon: float | None = None) -> float:
        """The least p at which the claim of this ε, by default the audit's own, is refuted. It may be read at any time.

        >>> audit = bdp.audits.sequential(1e-5, claim=1.0).update([0] * 40, [0] * 40)
        >>> audit.p_value() < 0.05, audit.rejects()
        (True, True)
        """
        value = self._asked(epsilon)
        if self._any_value:
            best = self._mixture(value)
        else:
            last = int(np.searchsorted(self.grid, value))
            best = float(self._best[: last + 1].min()) if last < len(self.grid) else 0.0
        return min(math.exp(-max(best, 0.0)), 1 - self.confidence if self.rejects(value) else 1.0)

    def _asked(self, epsilon: float | None) -> float:
        if epsilon is None and self.claim is None:
            raise InputError("epsilon must be given: the audit was begun without a claim")
        return one_number("epsilon", self.claim if epsilon is None else epsilon, 0.0, high_open=True)

    def bound(self) -> LowerBound:
        """The lower bound now, which holds together with those at all other looks."""
        if self.lines is not None:
            raise InputError("one trade-off function has no parameter to bound; rejects() says whether it is refuted")
        settings = {
            "method": self.method,
            "family": self.family,
            "pairs": self.pairs,
            "block": list(self.block),
            "grid": [float(self.grid[0]), float(self.grid[-1]), len(self.grid)],
            "seed": self.seed,
        }
        parameter = {"approx": "epsilon", "gaussian": "mu", "laplace": "laplace"}[self.family]
        known = {"delta": self.delta} if self.family == "approx" else {}
        return LowerBound(
            parameter=parameter,
            value=self._value(),
            confidence=self.confidence,
            assumptions=self.assumptions,
            provenance=Provenance("sequential", "", known, {}, settings),
            invalid=self.invalid,
            details={self.unit: self.runs, "waiting": [len(each) for each in self._waiting], "looks": self._looks}
            | ({"left_out": list(self._left_out)} if any(self._left_out) else {}),
            at=partial(self._at, [list(row) for row in self._stretches]),
        )

    def _at(self, stretches: list[list[int]], delta: float) -> LowerBound:
        """The bound at another δ from these runs: the mixture's e-values hold at every δ together, a bet is for one."""
        delta = one_number("delta", delta, 0.0, 1.0, high_open=True)
        if self.method != "mixture" or self.family != "approx":
            raise InputError(f"this audit is of delta = {self.delta:g}: begin another one, or use the mixture")
        other = sequential(delta, confidence=self.confidence, method="mixture", claim=self.claim, seed=self.seed)
        other._stretches = stretches
        other._look()
        return other.bound()

    @property
    def unit(self) -> str:
        """What is counted."""
        one = "pairs" if self.block == (1, 1) else "blocks"
        return {"betting": one, "mixture": "runs", "one_run": "models"}[self.method]

    @property
    def stretches(self) -> list[tuple[int, int, int, int]]:
        """Of the mixture: false positives of N0 runs and false negatives of N1, (x, N0, y, N1) for each rule."""
        return [(x, n0, y, n1) for x, n0, y, n1 in self._stretches]

    def trace(self) -> list[tuple[int, float]]:
        """(runs, bound) at the start and at each look at which the bound rose."""
        return list(self._steps)

    def claim_trace(self) -> list[tuple[int, float]]:
        """(runs, log capital against the claim) at looks, after at least 2% more runs each, and now; empty for none."""
        if self.claim is None or not self._looks:
            return []
        now = self.runs, self._log_capital(self.claim)
        return [*self._claimed, now] if self._claimed[-1][0] < now[0] else list(self._claimed)

    def _rejected(self) -> int:
        """How many values of the grid, from the first on, have had a capital of 1/p at a look."""
        kept = self._best < self._needed
        return int(kept.argmax()) if kept.any() else len(self.grid)

    def _value(self) -> float:
        return self._highest if self._any_value else float(self.grid[max(self._rejected() - 1, 0)])

    def _look(self) -> None:
        self._looks += 1
        if not self._any_value:
            self._best = np.maximum(self._best, self._logs())
        elif self._mixture(self._highest) >= self._needed:
            self._highest = float(least(self._is_open, np.full(1, self._highest), _HIGHEST)[0])
        runs, value = self.runs, self._value()
        if value > self._steps[-1][1]:
            self._steps.append((runs, value))
        if self.claim is not None and (not self._claimed or runs >= next_refresh(self._claimed[-1][0])):
            self._claimed.append((runs, self._log_capital(self.claim)))

    def _mean_of_models(self) -> Floats:
        return np.asarray(special.logsumexp(self._models, axis=1) - math.log(self._models.shape[1]))

    @property
    def _any_value(self) -> bool:
        """Whether any value can be asked for, and not those of a grid only: its e-values fall in it."""
        return self.method == "mixture" and self.lines is None

    def _logs(self) -> Floats:
        """log capital against each value of the grid."""
        if self.method == "mixture":
            return np.array([self._mixture(float(value)) for value in self.grid])
        return self._capital.log if self.method == "betting" else self._mean_of_models()

    def _mixture(self, value: float) -> float:
        """log E of all stretches; 0 for one with a single kind of run."""
        log_e = 0.0
        for x, n0, y, n1 in (row for row in self._stretches if row[1] and row[3]):
            mirrored = x / n0 + y / n1 > 1  # R is its own image under the opposite decisions
            wrong = (n0 - x, n1 - y) if mirrored else (x, y)
            a, b = (np.array([k / n]) for k, n in zip(wrong, (n0, n1), strict=True))
            claims = self._claims(np.array([value]), (n0, n1))
            tau, c, _, _, outside = claims.touching(a, b)
            log_e += float(mixed_log_ratio(*map(float, (x, n0, y, n1)))) + float(
                divergence(claims, (a, b), (tau, c), outside)[0]
            )
        return log_e

    def _is_open(self, epsilon: Floats) -> Bools:
        return np.array([self._mixture(float(value)) < self._needed for value in epsilon])

    def _log_capital(self, epsilon: float) -> float:
        """Of a value of the grid, or of any with the mixture."""
        value = one_number("epsilon", epsilon, 0.0, high_open=True)
        if self._any_value:
            return self._mixture(value)
        near = int(np.abs(self.grid - value).argmin())
        if abs(self.grid[near] - value) > 1e-12:
            raise InputError(f"epsilon must be a value of the grid that was fixed at the start, not {show(epsilon)}")
        return float(self._logs()[near])

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the audit rests on, in sentences."""
        return tuple(self._assumptions())

    def _assumptions(self) -> Iterator[str]:
        if self.method == "one_run":
            yield "Each model's members were drawn by fresh fair coins, whatever was seen before."
            yield "How many guesses to make on a model was decided before its coins were seen."
        elif self.method == "mixture":
            yield "The runs are independent of each other, and judged by one rule, fixed before each stretch."
        else:
            if self.block == (1, 1):
                yield "Each pair was judged by one rule, fixed before the pair was seen."
            else:
                n0, n1 = self.block
                yield f"Each block of {n0} + {n1} runs was judged by one rule, fixed before the block was seen."
            if self.pairs == "dependent":
                yield "The runs of a pair may depend on each other; a pair depends on those before by its rule only."
            else:
                yield f"The runs of a {self.unit[:-1]} are independent."
        if len(self._stretches) > 1:
            yield "The bound is for the version that leaks most, if versions of the training differ."
        yield "Confidence, δ and the grid were fixed at the start; stopping was free."

    def _refuse(self, method: str, other: str) -> None:
        if self.method == method:
            raise InputError(f'method="{method}" takes {other}')


def _begun(found: dict[str, Any]) -> Sequential:
    """The audit of a file as it was at its start."""
    settings = {key: found[key] for key in ("confidence", "method", "pairs", "block", "seed")}
    if found["family"] != TRADE_OFF:
        given = {key: found[key] for key in ("family", "grid", "claim")}
        return sequential(found["delta"], **settings, **given)
    made = sequential(found["delta"], **settings, family=ApproxDP(0.0))
    epsilon, delta = np.array(found["lines"], float).T
    made.lines = epsilon, delta
    made._capital = Capital(made._claims(made.grid, made.block), 1, False)
    return made


call_module_as(sequential)
