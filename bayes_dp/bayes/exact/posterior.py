"""The exact posterior for binomial counts: adaptive quadrature over (ε, s), or ε alone, or δ in ε's place.

The error rates are integrated out in closed form up to one-dimensional integrals (`marginal.py`), so that the posterior
of the two remaining parameters is an integral over the unit square: ε = ε_min + 2 tan²(πu/2) where its prior reaches to
infinity, ε = ε_min + (ε_max - ε_min) sin²(πu/2) where it does not, and s likewise in v.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.bayes.exact.corner_tables import CornerTable
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.exact.rates import draw_rates
from bayes_dp.bayes.grid.axis import Axis, axis_of
from bayes_dp.bayes.grid.grid import HEAVY_TAIL, Grid, GridMarginal, LogLikelihood
from bayes_dp.bayes.levels.beside import BesideGaussian
from bayes_dp.bayes.levels.thresholds import THINNEST, log_given_false_positives
from bayes_dp.bayes.priors import log_density
from bayes_dp.bayes.question import Question, Strength, ask
from bayes_dp.checks import InputError, numbers
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.region import layer_area
from bayes_dp.results.posterior import Marginal, check_draws
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.tradeoff import approx_dp

__all__ = [
    "MOST_CHALLENGES",
    "ExactPosterior",
    "Shared",
    "check_challenges",
    "corner_table",
    "exact",
    "exact_delta",
]


_CHECKED = 1_000_000  # challenges of a base up to which intervals were compared with their limit
_FARTHEST = 1e10  # ε up to which strengths of a level over ε are told from none
_SHORTEST = 1e-3  # no table of corners ends earlier, for its nodes to differ
_DEEPEST = 1e6  # nats: a base so improbable is wrong by 0.003, one ten times as deep by 0.6, and then by anything
_DIGITS = 3e-9  # error of the log likelihood of a base, in shares of its depth
MOST_CHALLENGES = 10**8  # of a base, for which the likelihood keeps its digits


@dataclass(frozen=True)
class Shared:
    """What the posteriors of several data sets may have in common, each with its part of the likelihood."""

    axes: Sequence[Axis]
    likelihood: MarginalLikelihood
    corners: CornerTable | None


class ExactPosterior(BesideGaussian):
    """A posterior by quadrature; its error is known and its draws are independent."""

    @underflow_is_zero
    def __init__(
        self,
        question: Question,
        likelihood: MarginalLikelihood | None = None,
        shared: Shared | None = None,
    ) -> None:
        self.question = question
        if likelihood is not None:
            self._likelihood = likelihood
        two = question.strength == "free"
        if shared is None:
            axes = [axis_of(name, prior) for name, prior in question.priors.items()]
            shared = Shared(axes, self._likelihood, corner_table(question, self._likelihood, axes[0]))
        log_likelihood = _log_likelihood(question, shared.likelihood, shared.corners)
        self._grid = grid = Grid(shared.axes, log_likelihood, ridge=shared.corners is not None)
        self.log_evidence = grid.log_evidence
        self.marginals: Mapping[str, Marginal] = grid.marginals
        if two and question.parameter == "epsilon":
            beyond = float(grid.weight[grid.nodes["epsilon"] > _FARTHEST].sum())
            if beyond > 1e-4:
                raise InputError(
                    f"{100 * beyond:.3g}% of the posterior lies at epsilon > {_FARTHEST:.0e}, where method='exact'"
                    " cannot follow the strength: give prior_epsilon an end, or fix the strength"
                )
        depths = self._depths(shared)
        if not depths.max() <= _DEEPEST:
            i = int(np.argmax(depths))
            raise InputError(
                f"the counts of base {i} contradict the prior of {self.parameter}: their probability is at best"
                f" e^-{depths[i]:.2g} of what it could be, and method='exact' has digits for e^-{_DEEPEST:.0e}"
            )
        error = grid.error + _DIGITS * float(depths.sum())
        self.diagnostics = {
            "log_evidence": self.log_evidence,
            "relative_error": error,
            "cells": grid.cells,
        }
        self.warnings = ()
        if not error < 1e-3:
            self.warnings = (
                f"the quadrature reached a relative error of only {error:.1e}; a prior with a sharp edge or"
                " a strong singularity is the usual cause.",
            )
        counts = question.counts
        if len(counts) > 1 and max(counts.negatives.max(), counts.positives.max()) > _CHECKED:
            self.warnings += (
                f"a base has more than {_CHECKED} challenges, beyond which edges of the posterior can be too sharp for"
                " the error estimate to notice: compare with method='mhaar'.",
            )
        if any(math.isnan(marginal.sd) for marginal in self.marginals.values()):
            self.warnings += (HEAVY_TAIL,)
        self.assumptions, self.caution = question.assumptions(), question.caution()
        self.provenance = question.provenance("exact", {})

    @property
    def unreliable(self) -> tuple[str, ...]:
        """A tail without a standard deviation has quantiles all the same."""
        return tuple(sentence for sentence in self.warnings if sentence != HEAVY_TAIL)

    @cached_property
    def _likelihood(self) -> MarginalLikelihood:
        return _likelihood(self.question.counts)

    def _depths(self, shared: Shared) -> Floats:
        """-log of the probability that the rates of each base, given its counts alone, lie in the layer (n,).

        At the node that holds most of the posterior.
        """
        best = int(np.argmax(self._grid.weight))
        values = [value[best : best + 1] for value in self._grid.nodes.values()]
        epsilon, delta = self.question.privacy(values[0])
        fixed = self.question.strength
        strength = values[1] if fixed == "free" else None if fixed == "tight" else np.array([fixed])
        return np.asarray(shared.likelihood.depths(epsilon, delta, strength, shared.corners))

    @property
    def grid(self) -> dict[str, Floats]:
        """The quadrature nodes and their posterior weights (they sum to one), flat arrays by name."""
        return {**self._grid.nodes, "weight": self._grid.weight}

    @cached_property
    @underflow_is_zero
    def log_evidence_given_false_positives(self) -> float:
        """log p(Y | X): the log evidence without what the choice of thresholds adds to it, see `thresholds.py`."""
        nodes, fixed = self._grid.nodes, self.question.strength
        value = nodes[self.parameter]
        epsilon, delta = self.question.privacy(np.minimum(value, _FARTHEST))
        given = nodes.get("strength", np.full(len(value), 1.0 if fixed == "tight" else fixed))
        strength = np.minimum(given, 1.0 - THINNEST)
        area = layer_area(epsilon, delta, strength)

        def length(node: Ints, alpha: Floats) -> Floats:
            e, d, s = epsilon[node], delta[node], strength[node]
            sides = (approx_dp(a, s * e, s * d) - approx_dp(a, e, d) for a in (alpha, 1.0 - alpha))
            return np.asarray(sum(sides) / area[node])

        return log_given_false_positives(self.log_evidence, self.question.counts, self._grid.weight, length)

    def pdf(self, value: ArrayLike, parameter: str | None = None) -> Floats:
        """The marginal posterior density of a parameter."""
        marginal = self._marginal(parameter)
        assert isinstance(marginal, GridMarginal)
        return marginal.pdf(numbers("value", value))

    def draws(self, size: int = 4000, seed: int = 0) -> dict[str, Floats]:
        size, seed = check_draws(size, seed)
        return self._grid.draws(size, np.random.default_rng(seed))

    @underflow_is_zero
    def rates(self, size: int = 1000, seed: int = 0) -> tuple[Floats, Floats]:
        draws = self.draws(size, seed)
        epsilon, delta = self.question.privacy(draws[self.parameter])
        fixed = self.question.strength
        if fixed == "tight":
            raise InputError("the error rates are drawn for a free or a fixed strength below 1, not for 'tight'")
        strength = draws.get("strength", np.full(len(epsilon), fixed if fixed != "free" else 0.0))
        rng = np.random.default_rng([seed, 1])
        return draw_rates(self.question.counts, epsilon, delta, strength, rng)

    @property
    def _has_rates(self) -> bool:
        return self.question.strength != "tight"

    @underflow_is_zero
    def _joint_density(self, value: Floats, strength: Floats) -> Floats | None:
        question = self.question
        axis = axis_of(self.parameter, question.priors[self.parameter])
        log_likelihood = _log_likelihood(question, self._likelihood, corner_table(question, self._likelihood, axis))
        found = log_likelihood(value, np.broadcast_to(strength, (len(value), len(strength))))
        found = found + log_density(question.priors[self.parameter])(value)[:, None]
        found = found + log_density(question.priors["strength"])(strength)
        return np.exp(found - self.log_evidence)

    def _saved_question(self) -> dict[str, Any] | None:
        return self.question.saved()

    def _answer(self, question: Question) -> Self:
        return type(self)(question, self._likelihood)  # whose tables of the counts are used again

    def delta_at(self, epsilon: float, prior: Any = None) -> Self:
        """The inverse question: the posterior of δ given ε, under a prior on δ (Uniform(0,1) by default)."""
        return self._answer(self.question.given("delta", epsilon, prior))


def exact(
    counts: ErrorCounts,
    delta: float,
    *,
    prior_epsilon: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
) -> ExactPosterior:
    """The exact posterior of ε (and of the attack strength s, if free) at a given δ."""
    question = ask(counts, "epsilon", delta, prior=prior_epsilon, prior_strength=prior_strength, strength=strength)
    return ExactPosterior(question)


def exact_delta(
    counts: ErrorCounts,
    epsilon: float,
    *,
    prior_delta: Any = None,
    prior_strength: Any = None,
    strength: Strength = "free",
) -> ExactPosterior:
    """The exact posterior of δ (and s) at a given ε."""
    question = ask(counts, "delta", epsilon, prior=prior_delta, prior_strength=prior_strength, strength=strength)
    return ExactPosterior(question)


def _likelihood(counts: ErrorCounts) -> MarginalLikelihood:
    check_challenges(counts)
    return MarginalLikelihood(counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)


def check_challenges(counts: ErrorCounts) -> None:
    """Refuse more challenges than the likelihood keeps its digits for."""
    for name in ("negatives", "positives"):
        values = getattr(counts, name)
        if values.max() > MOST_CHALLENGES:
            i = int(np.argmax(values))
            raise InputError(
                f"method='exact' handles at most {MOST_CHALLENGES} challenges of a base, but {name}[{i}] is {values[i]}"
            )


def corner_table(question: Question, likelihood: MarginalLikelihood, axis: Axis) -> CornerTable | None:
    """Of the corners of the bases for an unknown ε, whose axis this is, and a free strength; None for other questions.

    It ends where the prior does, yet well beyond the bases' own levels, should the two disagree.
    """
    if question.parameter != "epsilon" or question.strength != "free":
        return None
    reach = max(2.0 * float(likelihood.levels()[0].max()), axis.top)
    return CornerTable(likelihood, question.known, max(min(reach, axis.coordinate.high, 600.0), _SHORTEST))


def _log_likelihood(question: Question, likelihood: MarginalLikelihood, corners: CornerTable | None) -> LogLikelihood:
    """Of the unknown privacy parameter (r,) and the strength (r, c), if it is free -> (r, c)."""

    def evaluate(value: Floats, strength: Floats) -> Floats:
        epsilon, delta = question.privacy(value)
        if question.strength == "tight":
            return np.asarray(likelihood.total_tight(epsilon, delta)[:, None])
        if question.strength != "free":
            return np.asarray(likelihood.total(epsilon, delta, np.full((len(value), 1), question.strength)))
        return np.asarray(likelihood.total(epsilon, delta, strength, corners))

    return evaluate
