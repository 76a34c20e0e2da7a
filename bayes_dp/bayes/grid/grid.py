"""The posterior of one parameter, or of two, by quadrature: its marginals, its draws, its nodes and its error.

Each parameter has an axis, a coordinate in [0,1] with the prior's density there (`axis.py`); the density of the
coordinates is integrated adaptively (`quadrature.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from bayes_dp.bayes.grid.axis import Axis, Coordinate
from bayes_dp.bayes.grid.locating import Ridge
from bayes_dp.bayes.grid.panels import Piecewise
from bayes_dp.bayes.grid.quadrature import integrate
from bayes_dp.support.arithmetic import underflow_is_zero
from bayes_dp.support.arrays import Floats

__all__ = ["HEAVY_TAIL", "Grid", "GridMarginal", "LogLikelihood"]

# Of the first parameter (r,) and the second (r, c), which is empty if there is none -> (r, c).
LogLikelihood = Callable[[Floats, Floats], Floats]

_FAR = 5e4  # times the scale of the coordinate
HEAVY_TAIL = (
    "the tail of the posterior is so heavy that its standard deviation, if not its mean, may be infinite and is not"
    " given; use the median and the intervals."
)


class _Coordinate(Protocol):
    """What a marginal asks of a coordinate."""

    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    def value(self, u: Floats) -> Floats: ...
    def inverse(self, value: Floats) -> Floats: ...
    def log_rate(self, u: Floats) -> Floats: ...


@dataclass(frozen=True)
class GridMarginal:
    """The posterior of one parameter as a piecewise polynomial density in a coordinate u."""

    coordinate: _Coordinate
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
        with np.errstate(divide="ignore", invalid="ignore"):  # outside of the range, where the rate may be 0
            density = np.maximum(self.density_u.density(u), 0.0) / np.exp(self.coordinate.log_rate(u))
        return np.where((value >= self.coordinate.low) & (value <= self.coordinate.high), density, 0.0)

    def quantile(self, probability: ArrayLike) -> Floats:
        return self.coordinate.value(self.density_u.quantile(np.asarray(probability, float))) + 0.0  # never -0.0

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


class Grid:
    """The posterior of the parameters of `axes`, one or two, given their log likelihood.

    `ridge` says that the second parameter is a share of the first, and that the likelihood varies little where their
    product does not change: along such curves the mass is looked for.
    """

    @underflow_is_zero
    def __init__(self, axes: Sequence[Axis], log_likelihood: LogLikelihood, *, ridge: bool = False) -> None:
        self._coordinates: dict[str, Coordinate] = {axis.name: axis.coordinate for axis in axes}
        two = len(axes) == 2

        def log_density(u: Floats, v: Floats) -> Floats:
            along_u = axes[0].log_density(u)[:, None]
            first = axes[0].coordinate.value(u)
            if not two:
                return np.asarray(along_u + log_likelihood(first, np.empty((len(u), 0))))
            along_v = axes[1].log_density(v.ravel()).reshape(v.shape)
            return np.asarray(along_u + along_v + log_likelihood(first, axes[1].coordinate.value(v)))

        along = _constant_product(*self._coordinates.values()) if ridge else None
        self._cells = integrate(log_density, two, along, modes=[axis.modes for axis in axes])
        self._at = self._cells.nodes()
        self.cells = len(self._cells.edges)
        self.log_evidence = self._cells.log_total
        self.error = self._cells.error + sum(axis.error for axis in axes)  # relative, of the evidence
        self.marginals = {name: self._marginal(i) for i, name in enumerate(self._coordinates)}

    def _marginal(self, which: int) -> GridMarginal:
        axis = list(self._coordinates.values())[which]
        marginal = GridMarginal(axis, self._cells.marginal(which), math.nan, math.nan)
        mean, sd = self.moments(axis.value(self._at[which]), _FAR * axis.scale)
        return replace(marginal, mean=mean, sd=sd)

    def moments(self, value: Floats, far: float) -> tuple[float, float]:
        """Mean and standard deviation of what has these values at the nodes; NaN where the tail does not tell."""
        mean = _moment(self.weight, value, 1, far)
        return mean, math.sqrt(_moment(self.weight, value - mean, 2, far))

    @property
    def weight(self) -> Floats:
        """The posterior weight of each node; they sum to one."""
        return self._at[2]

    @property
    def nodes(self) -> dict[str, Floats]:
        """The values of the parameters at the nodes, flat."""
        return {name: axis.value(at) for (name, axis), at in zip(self._coordinates.items(), self._at, strict=False)}

    @underflow_is_zero
    def finer(self, share: float) -> tuple[dict[str, Floats], Floats]:
        """`nodes` and `weight` with more nodes, so that no cell holds more than this share of the posterior."""
        *at, weight = self._cells.finer(share).nodes()
        return {name: axis.value(u) for (name, axis), u in zip(self._coordinates.items(), at, strict=False)}, weight

    @underflow_is_zero
    def draws(self, size: int, rng: np.random.Generator) -> dict[str, Floats]:
        """Independent draws by parameter, (size,) each."""
        at = self._cells.sample(size, rng)
        return {name: axis.value(u) for (name, axis), u in zip(self._coordinates.items(), at, strict=False)}


def _moment(weight: Floats, value: Floats, power: int, far: float) -> float:
    """Σ weight·value^power, or NaN where a thousandth of it and more comes from far out in the tail.

    There the moment may not exist, and the density, known to a small share of the whole, does not tell.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        parts = weight * value**power
        total = float(parts.sum())
        known = math.isfinite(total) and parts[value > far].sum() <= 1e-3 * abs(total)
    return total if known else math.nan


def _constant_product(first: Coordinate, share: Coordinate) -> Ridge:
    """The curves along which the product of the two parameters is constant: with sε the layer's inner edge."""

    def ridge(u0: float, v0: float, u: Floats) -> Floats:
        product = first.value(np.array(u0)) * share.value(np.array(v0))
        with np.errstate(over="ignore"):  # any share above 1 is 1
            return share.inverse(product / np.maximum(first.value(u), 1e-300))

    return ridge
