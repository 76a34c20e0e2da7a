"""The axis of a parameter: a coordinate u in [0,1] in which its prior is nowhere narrow, and what is known of it.

With d = x - x_min and a scale S, the plain coordinate is d = S tan²(πu/2) where the prior reaches to infinity, and
d = (x_max - x_min) sin²(πu/2) where it does not. A prior with a narrow mode at c, or that lives on a scale far from S,
gets steps beside it,

    u = (K(d) + Σ_j A_j(d)) / (1 + J),   A_j(d) ∝ arcsinh((d - c_j)/h_j) - arcsinh((d - c_j)/H_j),

K being the inverse of the plain coordinate: each A_j rises from 0 to 1 and spreads the scales between h_j and H_j
around c_j evenly.

Narrow modes are found by integrating the prior on panels of u, halved until the density's Legendre coefficients have
decayed, and until the density is right at thousands of draws from the prior: a draw is where the mass is, whatever grid
would miss it. The density must then integrate to one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayes_dp.bayes import priors
from bayes_dp.bayes.grid.panels import RIM, resolve
from bayes_dp.bayes.grid.quadrature import Modes
from bayes_dp.checks import InputError
from bayes_dp.support.arrays import Floats

__all__ = ["Axis", "Coordinate", "Focus", "axis_of"]


_SCALE = 2.0  # of the plain coordinate on an infinite range
_MASS = 1e-5  # by which the mass of a prior may differ from one
_NARROW = 1 / 64, 1 / 512  # a panel shorter than this shows a narrow mode: at first, and once some are known
_FARTHEST = 1e150  # no prior is followed on a larger scale
_FINEST = 1e-10  # of its value: no narrower mode is looked for, as floats are 2e-16 of theirs apart
_ROUNDS = 4  # of looking for narrow modes in the coordinate that the last ones gave
_MOST_FOCI = 32  # narrow modes; a uniform part has two jumps


@dataclass(frozen=True)
class Focus:
    """A place, as a distance from the low end, around which scales from `near` to `far` matter."""

    centre: float
    near: float
    far: float

    def step(self, d: Floats, rest: float) -> Floats:
        """From 0 at distance 0 to 1 at distance `rest`, where the range ends (it may be infinite)."""
        low, high = self._raw(np.zeros(1))[0], self._raw(np.array([rest]))[0]
        return np.asarray((self._raw(d) - low) / (high - low))

    def slope(self, d: Floats, rest: float) -> Floats:
        low, high = self._raw(np.zeros(1))[0], self._raw(np.array([rest]))[0]
        away = d - self.centre
        return np.asarray((1 / np.hypot(away, self.near) - 1 / np.hypot(away, self.far)) / (high - low))

    def _raw(self, d: Floats) -> Floats:
        limit = min(1e9 * self.far, 1e300 * self.near)  # beyond the first the difference is constant to every digit
        away = np.clip(d - self.centre, -limit, limit)
        return np.asarray(np.arcsinh(away / self.near) - np.arcsinh(away / self.far))


@dataclass(frozen=True)
class Coordinate:
    """A smooth map of u in [0,1] onto [low, high], where high may be infinite; see the top."""

    low: float
    high: float
    scale: float = _SCALE
    foci: tuple[Focus, ...] = ()

    def value(self, u: Floats) -> Floats:
        d = self._plain(u) if not self.foci else self._invert(np.asarray(u, float))
        return np.asarray(np.minimum(self.low + d, self.high))

    def inverse(self, value: Floats) -> Floats:
        return self._u(np.clip(np.asarray(value, float) - self.low, 0.0, self.high - self.low))

    def log_rate(self, u: Floats) -> Floats:
        """log d value / du."""
        if self.foci:
            return np.asarray(-np.log(self._slope(self._invert(np.asarray(u, float)))))
        angle = 0.5 * np.pi * u
        if np.isinf(self.high):
            return np.asarray(math.log(np.pi * self.scale) + np.log(np.sin(angle)) - 3.0 * np.log(np.cos(angle)))
        return np.asarray(math.log((self.high - self.low) * 0.5 * np.pi) + np.log(np.sin(2.0 * angle)))

    def _plain(self, u: Floats) -> Floats:
        if np.isinf(self.high):
            return np.asarray(self.scale * np.tan(0.5 * np.pi * np.minimum(u, 1.0 - 1e-15)) ** 2)
        return np.asarray((self.high - self.low) * np.sin(0.5 * np.pi * u) ** 2)

    def _u(self, d: Floats) -> Floats:
        if np.isinf(self.high):
            u = np.arctan(np.sqrt(d / self.scale)) * 2 / np.pi
        else:
            u = np.arcsin(np.sqrt(np.minimum(d / (self.high - self.low), 1.0))) * 2 / np.pi
        rest = self.high - self.low
        return np.asarray((u + sum(focus.step(d, rest) for focus in self.foci)) / (1 + len(self.foci)))

    def _slope(self, d: Floats) -> Floats:
        """du/dd."""
        rest = self.high - self.low
        d = np.clip(d, 1e-308, min(rest * (1 - 1e-16), 1e307))
        if np.isinf(self.high):
            slope = 1 / (np.pi * np.sqrt(d) * math.sqrt(self.scale)) / (1 + d / self.scale)
        else:
            slope = 1 / (np.pi * np.sqrt(d) * np.sqrt(rest - d))
        return np.asarray((slope + sum(focus.slope(d, rest) for focus in self.foci)) / (1 + len(self.foci)))

    def _knots(self) -> Floats:
        """Distances between which u(d) is tame, in order: from every focus outwards, and those of the plain map."""
        rest = self.high - self.low
        found = [self._plain(np.linspace(0.0, 1.0, 65))]
        for focus in self.foci:
            decades = max(2, math.ceil(math.log10(focus.far) - math.log10(focus.near)) + 6)
            away = np.geomspace(focus.near * 1e-3, min(focus.far * 1e3, 1e307), 3 * decades)
            found += [focus.centre - away, np.array([focus.centre]), focus.centre + away]
        knots = np.unique(np.concatenate(found))
        return np.concatenate([[0.0], knots[(knots > 0.0) & (knots < rest)], [min(rest, 1e308)]])

    def _invert(self, u: Floats) -> Floats:
        """d(u): a bracket from the knots, then Newton's method kept inside it."""
        knots = self._knots()
        at_knots = self._u(knots)
        shape, u = u.shape, np.clip(u, 0.0, at_knots[-1]).ravel()
        place = np.clip(np.searchsorted(at_knots, u, side="right") - 1, 0, len(knots) - 2)
        low, high = knots[place], knots[place + 1]
        share = (u - at_knots[place]) / np.maximum(at_knots[place + 1] - at_knots[place], 1e-300)
        d = low + np.clip(share, 0.0, 1.0) * (high - low)
        open_ = np.arange(len(u))
        for _ in range(100):
            at = d[open_]
            off = self._u(at) - u[open_]
            low[open_], high[open_] = np.where(off < 0, at, low[open_]), np.where(off < 0, high[open_], at)
            with np.errstate(all="ignore"):  # where it fails, the bracket is halved
                step = at - off / self._slope(at)
            inside = (step > low[open_]) & (step < high[open_])
            d[open_] = np.where(inside, step, 0.5 * low[open_] + 0.5 * high[open_])
            open_ = open_[np.abs(d[open_] - at) > 1e-15 * np.abs(at)]
            if not len(open_):
                break
        return d.reshape(shape)


@dataclass(frozen=True)
class PriorDensity:
    """The log density of a prior in the coordinate u.

    Where it piles up in the last RIM before an end, further than a float can follow, the mass that its distribution
    function has there is spread over the RIM: nothing of what the counts tell changes on so short a way.
    """

    coordinate: Coordinate
    log_prior: Callable[[Floats], Floats]
    rims: tuple[float, float]  # mass in the first and in the last RIM if it is more than RIM, else 0

    def __call__(self, u: Floats) -> Floats:
        with np.errstate(all="ignore"):
            found = self.log_prior(self.coordinate.value(u)) + self.coordinate.log_rate(u)
        found = np.where(np.isnan(found), -np.inf, found)
        for mass, inside in zip(self.rims, (u <= RIM, u >= 1.0 - RIM), strict=True):
            if mass > 0:
                found = np.where(inside, math.log(mass / RIM), found)
        return found


@dataclass(frozen=True)
class Axis:
    """The coordinate of a parameter, its prior there, and where the quadrature has to look at it."""

    name: str
    coordinate: Coordinate
    log_density: PriorDensity
    modes: Modes
    top: float  # the value beyond which the prior is negligible
    error: float  # |mass of the prior on the panels - 1|


def axis_of(name: str, prior: Any) -> Axis:
    """The axis of a parameter under its prior, which is refused if its mass cannot be found."""
    low, high = priors.support(name, prior)
    log_prior, tails = priors.log_density(prior), priors.tails(prior)
    d = np.sort(priors.witnesses(prior) - low)
    d = d[(d > 0) & (d < high - low)]
    coordinate = _first(name, low, high, d)
    for _ in range(_ROUNDS):
        density = PriorDensity(coordinate, log_prior, _rims(coordinate, tails))
        panels = resolve(density, np.clip(coordinate.inverse(low + d), RIM, 1.0 - RIM))
        foci = _narrow(coordinate, panels.edges, density.rims)
        if not foci:
            break
        if len(coordinate.foci) + len(foci) > _MOST_FOCI:
            raise InputError(
                f"the prior of {name}, {priors.describe(prior)}, has more than {_MOST_FOCI} narrow modes or jumps,"
                " which are more than can be followed"
            )
        coordinate = Coordinate(low, high, coordinate.scale, (*coordinate.foci, *foci))
    error = abs(panels.mass - 1.0)
    if not error <= _MASS:
        raise InputError(
            f"the density of the prior of {name}, {priors.describe(prior)}, integrates to {panels.mass:.7g} where it"
            " can be followed, and not to 1: a mode is too narrow or a singularity too strong, or it is no density"
        )
    places = [float(coordinate.inverse(np.array(low + focus.centre))) for focus in coordinate.foci]
    places += [end for end, mass in zip((0.0, 1.0), density.rims, strict=True) if mass > 0]
    cuts = [RIM, *panels.edges[1:-1], 1.0 - RIM] if places else []
    top = float(coordinate.value(np.array(panels.top)))
    return Axis(name, coordinate, density, Modes(places, cuts), top, error)


def _rims(coordinate: Coordinate, tails: priors.Tails | None) -> tuple[float, float]:
    if tails is None:
        return 0.0, 0.0
    below, above = tails
    near, far = coordinate.value(np.array([RIM, 1.0 - RIM]))
    with np.errstate(all="ignore"):
        first = float(below(near) - below(coordinate.low))
        last = float(above(far) - above(coordinate.high)) if math.isfinite(coordinate.high) else 0.0
    return first if first > RIM else 0.0, last if last > RIM else 0.0


def _first(name: str, low: float, high: float, d: Floats) -> Coordinate:
    """The coordinate for the scales on which the prior lives, and the likelihood if the prior is wider, or farther off.

    `d` are distances of draws from the low end, in order.
    """
    if not len(d):
        return Coordinate(low, high)
    share = name in ("strength", "delta")  # which live on [0,1]
    size = 0.0 if share else 1.0  # the likelihood's scale in ε, or in the parameter of a family
    smallest, largest = float(d[len(d) // 100]), float(d[-1])
    rest = high - low
    if math.isinf(rest):
        if smallest > 1e-4 and d[int(0.99 * len(d))] < 1e4:
            return Coordinate(low, high)
        near, far = min(max(size, low), smallest), min(max(_SCALE, 10 * largest), _FARTHEST)
        return Coordinate(low, high, far, (Focus(0.0, near, far),))
    near = min(max(size, low), smallest) if rest > 1e3 else smallest
    if share or near > 1e-6 * rest:
        return Coordinate(low, high)
    return Coordinate(low, high, foci=(Focus(0.0, near, rest),))


def _narrow(coordinate: Coordinate, edges: Floats, rims: tuple[float, float]) -> list[Focus]:
    """A focus for each run of panels of one width that are shorter than their neighbours and than _NARROW says.

    Not at a rim that holds a mass of its own. At a jump of the density panels are halved as far as floats go; the focus
    is then as near as the coordinate can be followed. No place gets a second focus that is no nearer.
    """
    depth = np.rint(-np.log2(np.diff(edges)))
    first = np.flatnonzero(np.diff(depth, prepend=-1.0))  # where the runs begin
    last = np.append(first[1:], len(depth)) - 1
    run = np.concatenate([[-1.0], depth[first], [-1.0]])
    short = (run[1:-1] > run[:-2]) & (run[1:-1] > run[2:]) & (run[1:-1] > -math.log2(_NARROW[bool(coordinate.foci)]))
    found = []
    for i, j in zip(first[short], last[short] + 1, strict=True):
        low, high, before, after = (
            coordinate.value(np.clip([edges[i], edges[j], edges[i] - 0.1, edges[j] + 0.1], 0.0, 1.0)) - coordinate.low
        )
        at_rims = edges[i] < 4 * RIM and rims[0] > 0, edges[j] > 1.0 - 4 * RIM and rims[1] > 0
        centre = 0.0 if i == 0 else high if j == len(depth) else 0.5 * (low + high)
        width = max(high - low, _FINEST * (coordinate.low + centre))
        known = any(abs(centre - focus.centre) <= width and width >= focus.near for focus in coordinate.foci)
        if not any(at_rims) and not known:
            found.append(Focus(float(centre), float(0.5 * width), float(max(2 * width, after - before))))
    return found
