"""The posterior of a family's parameter θ and of the strength s, given what the data say of the levels of bases.

Given (θ, s) the rates of a base are uniform over R(θ) without R(sθ), so that its level has the density g on [sθ, θ]:

    L_i(θ, s) = ∫ ℓ_i(t) g(t) dt / [G(θ) − G(sθ)] over the layer,   L_i(θ, 1) = ℓ_i(θ).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.tables import LevelLaw, LevelTables
from bayes_dp.bayes.grid.axis import Axis, Coordinate, axis_of
from bayes_dp.bayes.grid.grid import Grid, GridMarginal
from bayes_dp.bayes.priors import describe, prior_of, support
from bayes_dp.bayes.question import Strength
from bayes_dp.checks import InputError
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.support.monotone import Monotone
from bayes_dp.tradeoff import least

__all__ = ["Fit", "Mapped", "quantile_of"]

_TIGHT = 1e-12  # the distance of a strength from 1 at which the layer has no width
_KNOTS = 400  # between which values are interpolated for mean and standard deviation
_NOTHING = 1e-12  # probability of an infinite value that is none
_LARGEST = 1e150  # value whose square is a float
_FINE = 20_000  # places of a prior between which its quantiles are interpolated
_STRENGTHS = 400  # nodes of s over which a conditional density is summed
_REACH = 2.0  # times the largest level of a base, or of the prior, up to which levels are tabulated


class Mapped:
    """A coordinate of an increasing function of a parameter, or of one after another; its law has an atom where they
    are flat."""

    def __init__(self, coordinate: Coordinate, *functions: Callable[[Floats], Floats]) -> None:
        self._coordinate, self._functions = coordinate, functions

    @cached_property
    def low(self) -> float:
        return float(self._map(np.array(self._coordinate.low)))

    @cached_property
    def high(self) -> float:
        return float(self._map(np.array(self._coordinate.high))) if np.isfinite(self._coordinate.high) else np.inf

    def _map(self, value: Floats) -> Floats:
        for function in self._functions:
            value = function(value)
        return np.asarray(value)

    def value(self, u: Floats) -> Floats:
        return self._map(self._coordinate.value(u))

    def inverse(self, value: Floats) -> Floats:
        """The largest u whose value does not exceed this one."""
        beyond = least(lambda u: self.value(u) > value, np.zeros_like(value), 1.0 - 1e-15)
        return np.where(value < self.low, 0.0, beyond)

    def log_rate(self, u: Floats) -> Floats:
        step = 1e-6 * np.minimum(u, 1.0 - u)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.maximum(self.value(u + step) - self.value(u - step), 0.0) / (2.0 * step)))


@dataclass(frozen=True)
class _Knots:
    """Where a function of θ is interpolated for its mean and standard deviation."""

    at: Floats  # nodes of the posterior, places in [0,1]
    weight: Floats  # of each
    u: Floats  # the knots, some of these
    theta: Floats  # at the low end and at the knots


class Fit:
    """The posterior of (θ, s), or of θ where the strength is fixed or "tight".

    Without a prior of θ, it is the law under which the best attack has the advantage that it has under (ε, 0)-DP with
    the prior of ε, by default that of all posteriors of ε: what data see is advantage, so that this is the same prior
    belief in every family.
    """

    @underflow_is_zero
    def __init__(
        self,
        law: LevelLaw,
        family: TradeOffFamily,
        *,
        prior: Any = None,
        prior_epsilon: Any = None,
        prior_strength: Any = None,
        strength: Strength = "free",
    ) -> None:
        self.family, self.strength = family, strength
        if prior is None:
            self._prior: tuple[str, Any] = "epsilon", prior_of("epsilon", prior_epsilon)
            first = axis_of(*self._prior)
            if first.top > family.largest_epsilon:
                raise InputError(
                    f"{family.name} has no prior by default, as its best attack cannot have an advantage above"
                    f" {math.tanh(family.largest_epsilon / 2):.4g}: give prior=, a distribution of {family.parameter}"
                    + (f" such as 'Uniform(0, {family.most:g})'" if math.isfinite(family.most) else "")
                )
            self.theta: Callable[[Floats], Floats] = family.by_epsilon
        else:
            _, last = support(family.parameter, prior)
            if last > family.most:
                raise InputError(
                    f"the prior of {family.parameter} must live within [0, {family.most:g}], the members of"
                    f" {family.name}, but {describe(prior)} goes up to {last:g}"
                )
            self._prior = family.parameter, prior
            first = axis_of(*self._prior)
            self.theta = np.asarray
        axes: list[Axis] = [first]
        if strength == "free":
            axes.append(axis_of("strength", prior_of("strength", prior_strength)))
        top = max(float(self.theta(np.array(first.top))), float(law.peak.max()), 1.0)
        self.tables = LevelTables(law, min(_REACH * top, family.most, family.farthest))
        self.grid = Grid(axes, self._log_likelihood, ridge=strength == "free")
        self.log_evidence = self.grid.log_evidence
        self._name, self._coordinate = first.name, first.coordinate
        self._axis: Axis | None = first

    def __getstate__(self) -> dict[str, Any]:
        """All but the compiled density of the prior, which is made again where it is asked for."""
        return vars(self) | {"_axis": None}

    def _log_likelihood(self, x: Floats, strength: Floats) -> Floats:
        given = self.theta(x)
        theta = np.minimum(given, self.family.farthest)
        if self.strength == "tight":
            return self._tight(theta)[:, None]
        if self.strength != "free":
            strength = np.full((len(theta), 1), float(self.strength))
        beyond = given > theta  # the farthest member fills the square, so that only the inner edge sθ moves
        if beyond.any():
            strength = np.where(beyond[:, None], np.minimum(strength * (given / theta)[:, None], 1.0), strength)
        log_area = self.family.log_layer(theta[:, None] * strength, theta[:, None] * (1.0 - strength))
        with np.errstate(invalid="ignore"):
            found = self.tables.log_masses(theta, strength) - len(self.tables) * log_area
        tight = 1.0 - strength < _TIGHT
        if tight.any():
            found = np.where(tight, self._tight(theta)[:, None], found)
        return np.where(np.isnan(found), -np.inf, found)

    def _tight(self, theta: Floats) -> Floats:
        density = self.tables.times @ self.tables.log_densities(theta)
        return np.asarray(density - len(self.tables) * self.family.log_density(theta))

    # -- asking ---------------------------------------------------------------------------------------------------

    @property
    def nodes(self) -> tuple[Floats, Floats, Floats]:
        """θ, s and the weight of every node of the grid; s is 1 where it is tight."""
        found = self.grid.nodes
        theta = self.theta(found[self._name])
        return theta, found.get("strength", np.full(len(theta), self._fixed)), self.grid.weight

    @property
    def _fixed(self) -> float:
        return 1.0 if self.strength in ("tight", "free") else float(self.strength)

    @cached_property
    @underflow_is_zero
    def marginal(self) -> GridMarginal:
        """The posterior of θ."""
        return self._marginals([Mapped(self._coordinate, self.theta)], self._knots.theta[None])[0]

    @underflow_is_zero
    def marginals(
        self, functions: Sequence[Callable[[Floats], Floats]], every: Callable[[Floats], Floats]
    ) -> list[GridMarginal]:
        """The posteriors of increasing functions of θ, all of which `every` gives at once, (m,) -> (functions, m)."""
        coordinates = [Mapped(self._coordinate, self.theta, function) for function in functions]
        with np.errstate(over="ignore"):  # far beyond the posterior, where the nodes have no weight
            return self._marginals(coordinates, every(self._knots.theta))

    def _marginals(self, coordinates: Sequence[Mapped], found: Floats) -> list[GridMarginal]:
        """Those of functions of θ with these values (k, m) at the low end and at the knots."""
        base, known = self.grid.marginals[self._name].density_u, self._knots
        low, found = found[:, 0], found[:, 1:]
        value = Monotone(known.u, np.minimum(found, _LARGEST).T)(known.at).T
        marginals = []
        for i, coordinate in enumerate(coordinates):
            if known.weight[known.at >= min(known.u[np.isinf(found[i])], default=np.inf)].sum() > _NOTHING:
                marginals.append(GridMarginal(coordinate, base, np.inf, np.nan))
                continue
            mean = max(float(known.weight @ value[i]), float(low[i]))  # which rounding leaves where all is at the end
            sd = float(np.sqrt(known.weight @ (value[i] - mean) ** 2))
            marginals.append(GridMarginal(coordinate, base, mean, sd))
        return marginals

    @cached_property
    def _knots(self) -> _Knots:
        at, weight = self.grid.marginals[self._name].density_u.nodes()
        weight = np.maximum(weight, 0.0) / np.maximum(weight, 0.0).sum()  # a polynomial may dip below 0 in the tails
        u = np.unique(at)
        u = u[np.unique(np.linspace(0, len(u) - 1, _KNOTS).astype(int))]
        with np.errstate(over="ignore"):
            theta = self.theta(np.append(self._coordinate.low, self._coordinate.value(u)))
        return _Knots(at, weight, u, np.asarray(theta))

    def given(self, marginal: Any, value: Floats, strength: Floats, log_prior: Callable[[Floats], Floats]) -> Floats:
        """The density of s (c,) given values (r,) of a function of θ that has this marginal, (r, c)."""
        x = self._coordinate.value(marginal.coordinate.inverse(value))
        everywhere = (np.arange(_STRENGTHS) + 0.5) / _STRENGTHS

        def log_joint(s: Floats) -> Floats:
            return self._log_likelihood(x, np.broadcast_to(s, (len(x), len(s)))) + log_prior(s)

        whole = log_joint(everywhere)
        top = whole.max(axis=1, keepdims=True)
        return np.asarray(np.exp(log_joint(strength) - top) / np.exp(whole - top).mean(axis=1, keepdims=True))

    def draws(self, size: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Draws of θ and s, (size,) each; s is 1 where it is tight."""
        found = self.grid.draws(size, rng)
        theta = self.theta(found[self._name])
        return theta, found.get("strength", np.full(size, self._fixed))

    def pointwise(self, theta: Floats, strength: Floats | None) -> Floats:
        """log L_i(θ, s) of every distinct base, θ and s (m,) -> (m, bases)."""
        s = np.full(len(theta), self._fixed) if strength is None else strength
        tight = 1.0 - s < _TIGHT
        inner = np.where(tight, 0.0, s)
        log_area = self.family.log_layer(theta * inner, theta * (1.0 - inner))
        thick = self.tables.log_masses_by_base(theta, inner[:, None])[..., 0] - log_area
        thin = self.tables.log_densities(theta) - self.family.log_density(theta)
        return np.where(tight, thin, thick).T

    def levels(self, theta: Floats, strength: Floats, rng: np.random.Generator) -> tuple[Floats, Ints]:
        """Draws of the level of each distinct base, and of the row that it comes from, given θ and s; (size, bases)."""
        return self.tables.draw(theta, strength, rng)

    def prior_quantile(self, probability: Floats, function: Callable[[Floats], Floats] | None = None) -> Floats:
        """The quantiles of the prior of θ, or of an increasing function of θ."""
        self._axis = self._axis or axis_of(*self._prior)
        theta = self.theta(quantile_of(self._axis, probability))
        return np.asarray(theta if function is None else function(theta))

    @cached_property
    def upper_end_over_prior(self) -> float:
        """The 95% quantile of the posterior of θ over that of its prior."""
        p = np.array(0.95)
        return float(self.marginal.quantile(p)) / float(self.prior_quantile(p))


def quantile_of(axis: Axis, probability: Floats) -> Floats:
    """The quantiles of the prior of an axis."""
    u = (np.arange(_FINE) + 0.5) / _FINE
    mass = np.cumsum(np.exp(axis.log_density(u)))
    return axis.coordinate.value(np.interp(probability * mass[-1], mass, u))
