"""The exact posterior for binomial counts: adaptive quadrature over (ε, s), or ε alone, or δ in ε's place.

The error rates are integrated out in closed form up to one-dimensional integrals (`marginal.py`), so that the posterior
of the two remaining parameters is an integral over the unit square: ε = ε_min + 2 tan²(πu/2) where its prior reaches to
infinity, ε = ε_min + (ε_max - ε_min) sin²(πu/2) where it does not, and s likewise in v.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.bayes.exact.axis import Axis, Coordinate, axis_of
from bayes_dp.bayes.exact.corner_tables import CornerTable
from bayes_dp.bayes.exact.locating import Ridge
from bayes_dp.bayes.exact.marginal import MarginalLikelihood
from bayes_dp.bayes.exact.panels import Piecewise
from bayes_dp.bayes.exact.quadrature import integrate
from bayes_dp.bayes.exact.rates import draw_rates
from bayes_dp.bayes.question import Question, Strength, ask
from bayes_dp.checks import InputError, numbers
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.results.interop import to_arviz
from bayes_dp.results.posterior import Marginal, Posterior, check_draws
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats

__all__ = ["MOST_CHALLENGES", "ExactPosterior", "exact", "exact_delta"]


_FAR = 5e4  # times the scale of the coordinate
_HEAVY_TAIL = (
    "the tail of the posterior is so heavy that its standard deviation, if not its mean, may be infinite and is not"
    " given; use the median and the intervals."
)
_CHECKED = 1_000_000  # challenges of a base up to which intervals were compared with their limit
_FARTHEST = 1e10  # ε up to which strengths of a level over ε are told from none
_SHORTEST = 1e-3  # no table of corners ends earlier, for its nodes to differ
_DEEPEST = 1e6  # nats: a base so improbable is wrong by 0.003, one ten times as deep by 0.6, and then by anything
_DIGITS = 3e-9  # error of the log likelihood of a base, in shares of its depth
MOST_CHALLENGES = 10**8  # of a base, for which the likelihood keeps its digits


@dataclass(frozen=True)
class GridMarginal:
    """The posterior of one parameter as a piecewise polynomial density in a coordinate u."""

    coordinate: Coordinate
    density_u: Piecewise
    mean: float
    sd: float

    @underflow_is_zero
    def cdf(self, value: ArrayLike) -> Floats:
        return self.density_u.cdf(self.coordinate.inverse(np.asarray(value, float)))

    @underflow_is_zero
    def pdf(self, value: ArrayLike) -> Floats:
        value = np.asarray(value, float)
        # At the ends the density in u is zero and du/d value infinite: stop short of them, at 5e-6 of their distance.
        last = 1.0 - (1e-3 if np.isfinite(self.coordinate.high) else 1e-12)
        u = np.clip(self.coordinate.inverse(value), 1e-3, last)
        density = np.maximum(self.density_u.density(u), 0.0) / np.exp(self.coordinate.log_rate(u))
        return np.where((value >= self.coordinate.low) & (value <= self.coordinate.high), density, 0.0)

    def quantile(self, probability: ArrayLike) -> Floats:
        return self.coordinate.value(self.density_u.quantile(np.asarray(probability, float)))

    @underflow_is_zero
    def hdi(self, probability: float) -> tuple[float, float]:
        """The shortest interval with the given probability."""
        low, high = 0.0, 1.0 - probability
        for _ in range(6):
            tail = np.linspace(low, high, 65)
            width = self.quantile(tail + probability) - self.quantile(tail)
            best, step = int(np.argmin(width)), (high - low) / 64
            low, high = max(0.0, tail[best] - step), min(1.0 - probability, tail[best] + step)
        ends = self.quantile(np.array([tail[best], tail[best] + probability]))
        return float(ends[0]), float(ends[1])


class ExactPosterior(Posterior):
    """A posterior by quadrature; its error is known and its draws are independent."""

    @underflow_is_zero
    def __init__(self, question: Question, likelihood: MarginalLikelihood) -> None:
        self.question, self._likelihood = question, likelihood
        two = question.strength == "free"
        axes = [axis_of(name, prior) for name, prior in question.priors.items()]
        self._axes: dict[str, Coordinate] = {axis.name: axis.coordinate for axis in axes}
        ridge = _constant_product(*self._axes.values()) if two and question.parameter == "epsilon" else None
        self._cells = integrate(
            _log_posterior(question, likelihood, axes), two, ridge, modes=[axis.modes for axis in axes]
        )
        self.log_evidence = self._cells.log_total
        self._u, self._v, self._weight = self._cells.nodes()
        self.marginals: Mapping[str, Marginal] = {name: self._grid_marginal(i) for i, name in enumerate(self._axes)}
        if two and question.parameter == "epsilon":
            beyond = float(self._weight[self._axes["epsilon"].value(self._u) > _FARTHEST].sum())
            if beyond > 1e-4:
                raise InputError(
                    f"{100 * beyond:.3g}% of the posterior lies at epsilon > {_FARTHEST:.0e}, where method='exact'"
                    " cannot follow the strength: give prior_epsilon an end, or fix the strength"
                )
        depths = self._depths()
        if not depths.max() <= _DEEPEST:
            i = int(np.argmax(depths))
            raise InputError(
                f"the counts of base {i} contradict the prior of {self.parameter}: their probability is at best"
                f" e^-{depths[i]:.2g} of what it could be, and method='exact' has digits for e^-{_DEEPEST:.0e}"
            )
        error = self._cells.error + sum(axis.error for axis in axes) + _DIGITS * float(depths.sum())
        self.diagnostics = {
            "log_evidence": self.log_evidence,
            "relative_error": error,
            "cells": len(self._cells.edges),
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
            self.warnings += (_HEAVY_TAIL,)
        self.assumptions, self.caution = question.assumptions(), question.caution()
        self.provenance = question.provenance("exact", {})

    @property
    def unreliable(self) -> tuple[str, ...]:
        """A tail without a standard deviation has quantiles all the same."""
        return tuple(sentence for sentence in self.warnings if sentence != _HEAVY_TAIL)

    def _depths(self) -> Floats:
        """-log of the probability that the rates of each base, given its counts alone, lie in the layer (n,).

        At the node that holds most of the posterior.
        """
        best = int(np.argmax(self._weight))
        values = [
            axis.value(at[best : best + 1]) for axis, at in zip(self._axes.values(), (self._u, self._v), strict=False)
        ]
        epsilon, delta = self.question.privacy(values[0])
        fixed = self.question.strength
        strength = values[1] if fixed == "free" else None if fixed == "tight" else np.array([fixed])
        return np.asarray(self._likelihood.depths(epsilon, delta, strength))

    def _grid_marginal(self, which: int) -> GridMarginal:
        axis = list(self._axes.values())[which]
        value = axis.value((self._u, self._v)[which])
        mean = _moment(self._weight, value, 1, _FAR * axis.scale)
        sd = math.sqrt(_moment(self._weight, value - mean, 2, _FAR * axis.scale))
        return GridMarginal(axis, self._cells.marginal(which), mean, sd)

    @property
    def grid(self) -> dict[str, Floats]:
        """The quadrature nodes and their posterior weights (they sum to one), flat arrays by name."""
        nodes = zip(self._axes.items(), (self._u, self._v), strict=False)
        return {**{name: axis.value(at) for (name, axis), at in nodes}, "weight": self._weight}

    def pdf(self, value: ArrayLike, parameter: str | None = None) -> Floats:
        """The marginal posterior density of a parameter."""
        marginal = self._marginal(parameter)
        assert isinstance(marginal, GridMarginal)
        return marginal.pdf(numbers("value", value))

    @underflow_is_zero
    def draws(self, size: int = 4000, seed: int = 0) -> dict[str, Floats]:
        size, seed = check_draws(size, seed)
        at = self._cells.sample(size, np.random.default_rng(seed))
        return {name: axis.value(u) for (name, axis), u in zip(self._axes.items(), at, strict=False)}

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

    def _answer(self, question: Question) -> Self:
        return type(self)(question, self._likelihood)  # whose tables of the counts are used again

    def delta_at(self, epsilon: float, prior: Any = None) -> Self:
        """The inverse question: the posterior of δ given ε, under a prior on δ (Uniform(0,1) by default)."""
        return self._answer(self.question.given("delta", epsilon, prior))

    def to_arviz(self, size: int = 4000, seed: int = 0) -> Any:
        """Independent draws as an ArviZ object, one chain, with the counts as observed data."""
        size, seed = check_draws(size, seed)
        posterior = {name: values[None] for name, values in self.draws(size, seed).items()}
        if self.question.strength != "tight":
            alpha, beta = self.rates(size, seed)
            posterior |= {"alpha": alpha[None], "beta": beta[None]}
        return to_arviz(posterior, {}, self.question.counts, self.provenance, {"seed": seed})


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
    return ExactPosterior(question, _likelihood(counts))


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
    return ExactPosterior(question, _likelihood(counts))


def _moment(weight: Floats, value: Floats, power: int, far: float) -> float:
    """Σ weight·value^power, or NaN where a thousandth of it and more comes from far out in the tail.

    There the moment may not exist, and the density, known to a small share of the whole, does not tell.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        parts = weight * value**power
        total = float(parts.sum())
        known = math.isfinite(total) and parts[value > far].sum() <= 1e-3 * abs(total)
    return total if known else math.nan


def _likelihood(counts: ErrorCounts) -> MarginalLikelihood:
    for name in ("negatives", "positives"):
        values = getattr(counts, name)
        if values.max() > MOST_CHALLENGES:
            i = int(np.argmax(values))
            raise InputError(
                f"method='exact' handles at most {MOST_CHALLENGES} challenges of a base, but {name}[{i}] is {values[i]}"
            )
    return MarginalLikelihood(counts.false_positives, counts.negatives, counts.false_negatives, counts.positives)


def _log_posterior(
    question: Question, likelihood: MarginalLikelihood, axes: list[Axis]
) -> Callable[[Floats, Floats], Floats]:
    """The unnormalised log posterior density in (u, v): u (r,), v (r, c) -> (r, c)."""
    corners = None
    if question.parameter == "epsilon" and question.strength == "free":
        # The table ends where the prior does, yet well beyond the bases' own levels, should the two disagree.
        reach = max(2.0 * float(likelihood.levels()[0].max()), axes[0].top)
        reach = max(min(reach, axes[0].coordinate.high, 600.0), _SHORTEST)
        corners = CornerTable(likelihood, question.known, reach)

    def evaluate(u: Floats, v: Floats) -> Floats:
        epsilon, delta = question.privacy(axes[0].coordinate.value(u))
        along_u = axes[0].log_density(u)
        if question.strength == "tight":
            return (along_u + likelihood.total_tight(epsilon, delta))[:, None]
        if question.strength != "free":
            fixed = np.full(v.shape, question.strength)
            return np.asarray(along_u[:, None] + likelihood.total(epsilon, delta, fixed))
        strength = axes[1].coordinate.value(v)
        along_v = axes[1].log_density(v.ravel()).reshape(v.shape)
        return np.asarray(along_u[:, None] + along_v + likelihood.total(epsilon, delta, strength, corners))

    return evaluate


def _constant_product(epsilon: Coordinate, strength: Coordinate) -> Ridge:
    """The curves of constant sε, along which the inner edge of the layer stays in place."""

    def ridge(u0: float, v0: float, u: Floats) -> Floats:
        product = epsilon.value(np.array(u0)) * strength.value(np.array(v0))
        return strength.inverse(product / np.maximum(epsilon.value(u), 1e-300))

    return ridge
