"""The least zero-run bound of fixed guesses, over all log-odds in a region of a logistic regression.

Guesses, memberships and the coins of tampering are fixed, so that the bound Ψ is a function of the log-odds x_i·θ of
the guessed examples. It falls as a guess leans more to its propensity, whatever the form, and to first order it falls
with the sum

    Σ_i w_i T_i x_i·θ

with weights w_i ≥ 0 and T_i = ±1, the side of the guess. So the search goes from θ towards the place of the region
where that sum is largest, as far as Ψ falls (the region is convex), and on from there with new weights, until Ψ falls
no more (Frank and Wolfe, "An algorithm for quadratic programming", 1956). In the forms that take a negative lean for
none such a guess has no weight and may yet get one, so that there a second search begins with weights for all guesses.

    untampered           w = q (1 − q), q = sigmoid(ε + lean)
    tampered, (ε, δ)     w = e^{−lean}(1 − sigmoid(ε)) of the right guesses, the slope of the chance to be kept; else 0
    tampered, Gaussian   w = e^{−lean} of the right guesses, likewise

With tampering Ψ has steps, at places that the coins decide, and the search is for the θ with the least mean number of
guesses that are kept. That is enough. The coins do not depend on that θ, nor on the true one. So given all else, the
number of guesses kept there is a sum of independent events like that at the true θ, with a smaller mean, and rejects as
rarely.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy import special

from bayes_dp.audits.propensity_bounds import Form, Parameter, bounds_for_propensities
from bayes_dp.propensity.cross_fitting import EDGE
from bayes_dp.propensity.region import Regression
from bayes_dp.support.arrays import Bools, Floats

__all__ = ["Guessed", "Terms", "best_of_least", "least_bound"]


_ROUNDS = 8
_SHARES = (1.0, 0.5, 0.25, 0.125)  # of the way, which are tried
_LESS = 1e-4  # by which share a round has to lower the bound, or it is the last


@dataclass(frozen=True, eq=False)
class Guessed:
    """r guesses: features of their examples (r, d), who is called a member, who is right, and the coins, all (r,).

    They were made on `examples` examples, and are judged at the error probability `level`.
    """

    x: Floats
    called: Bools
    right: Bools
    uniform: Floats
    examples: int
    level: float


@dataclass(frozen=True)
class Terms:
    """What is bounded, and by which form of the audit."""

    parameter: Parameter
    delta: float
    form: Form
    directional: bool
    cautious: bool

    def bound(self, guessed: Guessed, theta: Floats) -> float:
        """Ψ(θ)."""
        chance = np.clip(special.expit(guessed.x @ theta), EDGE, 1 - EDGE)
        found = bounds_for_propensities(
            chance, guessed.called, guessed.right, guessed.uniform, examples=guessed.examples, p=guessed.level,
            parameter=self.parameter, delta=self.delta, form=self.form, directional=self.directional,
            cautious=self.cautious,
        )  # fmt: skip
        return float(found[0])

    def fall(self, guessed: Guessed, theta: Floats, bound: float, *, of_all: bool) -> Floats:
        """Σ w_i T_i x_i at θ, (d,), where Ψ is `bound`; `of_all` gives negative leans the weight that 0 would have."""
        log_odds = guessed.x @ theta
        side = np.where(guessed.called if self.directional else log_odds >= 0, 1.0, -1.0)
        lean = side * log_odds
        counts = np.ones(len(lean), dtype=np.bool_)
        if self.form == "tampered" or self.cautious:
            counts, lean = of_all | (lean > 0), np.maximum(lean, 0.0)
        if self.form == "untampered":
            chance = special.expit(bound + lean)
            weights = chance * (1 - chance)
        else:
            rest = special.expit(-bound) if self.parameter == "epsilon" else 1.0
            weights = np.where(guessed.right, rest * np.exp(-lean), 0.0)
        return np.asarray(guessed.x.T @ np.where(counts, weights * side, 0.0))


def least_bound(terms: Terms, guessed: Guessed, regression: Regression, radius: float) -> float:
    """The least Ψ over the region of this radius."""
    first = least = terms.bound(guessed, regression.centre)
    for of_all in (True, False) if terms.cautious or terms.form == "tampered" else (False,):
        theta, bound = regression.centre, first
        for k in range(_ROUNDS):
            if least == 0:
                return 0.0
            direction = terms.fall(guessed, theta, bound, of_all=of_all and k == 0)
            there = regression.farthest(direction, radius)
            steps = [theta + share * (there - theta) for share in _SHARES]
            found = [terms.bound(guessed, step) for step in steps]
            before, bound, theta = bound, min(found), steps[int(np.argmin(found))]
            least = min(least, bound)
            if bound >= before * (1 - _LESS) and not (of_all and k == 0):
                break
    return least


def best_of_least(terms: Terms, tried: Iterable[Guessed], regression: Regression, radius: float) -> tuple[int, float]:
    """Which of several numbers of guesses has the largest least bound, and that bound."""
    tried = list(tried)
    first = [terms.bound(guessed, regression.centre) for guessed in tried]
    row, best = 0, -1.0
    for i in np.argsort(-np.array(first), kind="stable").tolist():
        if first[i] <= best:  # the least bound is not above the first
            break
        if (found := least_bound(terms, tried[i], regression, radius)) > best:
            row, best = i, found
    return row, best
