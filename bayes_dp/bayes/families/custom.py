"""A family of the user's own, from its trade-off function."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.tables import LevelTables
from bayes_dp.checks import InputError, one_number, show
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.support.monotone import Monotone
from bayes_dp.tradeoff import TradeOff, least, require_symmetric

__all__ = ["Family"]

_TOLERANCE = 1e-6  # of what is checked of a family
_CHECKED = 9  # members that are checked
_LEAST = 1e-4  # share of a usual θ below which differences are no shorter
_STEP = 2e-3  # of differences in θ, relative, and in the logit of α
_LONG_STEP, _DIGITS = 0.7, 1e-14  # of the latter at most, and what it is by where few digits are left
_LAST = 7.9  # -z beyond which f_θ′(α) is taken for what it is there: there are no more floats
_POINTS, _APART = 800, 1e-6  # at which it is known, and how far apart in z they are at least
_KNOWN = 1000  # θ for which it is kept
_PANELS, _ORDER = 24, 16  # of the quadrature of f over the logit of α, on either side of f(α) = α
_EDGE = 40.0  # logit of α beyond which f is not integrated: a share of e^-40 of the square
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(_ORDER)
_SMALLEST, _FARTHEST = 1e-6, 1e9  # no smaller and no larger θ is looked at
_LATE = 512  # members at the end of the range
_STEPS = 32  # of θ, in each of which the area has to grow
_JUMP = 1e-2  # of the area, beyond what its density says
_GOLDEN = (math.sqrt(5) - 1) / 2
_FLAT, _NEARLY = 1e-11, 1e-9  # growth of the area that is none, and what may be left out where none is asked for
_TO_POWERS = np.linalg.inv(np.vander(np.arange(-2.0, 3.0), increasing=True))  # of the polynomial through five values
_TINY = 1e-13  # δ up to which 1 − δ − f(α) has too few digits
_CLOSEST, _SECTIONS = -37.0, 80  # log of the least share of the way to f(α) = 0 that is looked at; golden sections
_FULL = 1e-13  # of the square that a member leaves out, so that no larger one is told from it


class Family(TradeOffFamily):
    """A family of trade-off functions f_θ(α) with one parameter θ ≥ 0, given as a function of arrays that broadcast.

    Members must be trade-off functions (convex, non-increasing, 0 ≤ f(α) ≤ 1 − α) and symmetric (their own inverse),
    f_0(α) = 1 − α, and f_θ(α) must fall smoothly as θ grows. That is checked on a grid of α and of θ. Areas and slopes
    are found numerically. The log evidence is right to about 1e-6 where f is smooth, and to 1e-3 where it has kinks.

    Parameters
    ----------
    name : what it is called in results.
    f : f(alpha, theta).
    most : the largest θ; f is asked for no larger one. If there the best attack has an advantage below 1, the default
        prior does not fit, and `prior` has to be given.

    >>> logistic = bdp.Family("logistic", lambda a, theta: (1 - a) / (1 - a + a * np.exp(theta)))
    >>> bdp.estimate(bdp.ErrorCounts(10, 100, 20, 100), delta=1e-3, family=logistic)
    <Posterior of epsilon given delta=0.001 in the logistic family: 90% interval 3.272 to 10.96>
    """

    parameter = "theta"
    ratio_error = 1e-6

    def __init__(self, name: str, f: Callable[[Any, Any], Any], most: float = math.inf) -> None:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise InputError(f"name must be a text of one line, not {show(name)}")
        if not callable(f):
            raise InputError(f"f must be a function of alpha and theta, not {show(f)}")
        self.name, self._f = name, f
        self.most = one_number("most", most, _SMALLEST, math.inf)
        self.farthest = self._largest()
        self._check()
        if self.farthest <= _SMALLEST and self.farthest < self.most:
            raise InputError(f"f(alpha, theta) is 0 from theta = {self.farthest:g} on: count theta in a smaller unit")
        self.usual = float(least(lambda t: self._left_out(t[None])[0] <= 0.5, 0.0, self.farthest))
        if not self._fills(self.farthest):
            self.largest_epsilon = float(special.logit(1.0 - self.kinks(np.array(self.farthest))[0]))
        self._check_growth()
        self._ratio = lru_cache(_KNOWN)(self._log_ratio_of)
        self._areas = LevelTables(_Uniform(self), self.farthest)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_ratio"}  # a cache, which cannot be saved

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._ratio = lru_cache(_KNOWN)(self._log_ratio_of)

    # -- the function -----------------------------------------------------------------------------------------------

    def _beta(self, alpha: Floats, theta: Floats) -> Floats:
        shape = np.broadcast_shapes(np.shape(alpha), np.shape(theta))
        alpha, theta = np.broadcast_to(alpha, shape), np.broadcast_to(theta, shape)  # which f cannot overwrite
        try:
            with np.errstate(all="ignore"):
                given = np.asarray(self._f(alpha, theta))
            if given.dtype.kind == "c" or (given.dtype.kind == "f" and given.dtype.itemsize < 8):
                raise InputError(f"f must return real numbers of double precision, float64, not {given.dtype}")
            found = given.astype(np.float64)
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"f fails for arrays of alpha and theta with {type(error).__name__}: {error!s:.80}"
            ) from error
        if found.shape != alpha.shape:
            raise InputError(f"f must be vectorised: given shape {alpha.shape}, it returned shape {found.shape}")
        if not np.isfinite(found).all():
            i = int(np.argmin(np.isfinite(found)))
            what = "is not a number" if np.isnan(found.flat[i]) else f"is {found.flat[i]:g}"
            raise InputError(f"f({alpha.flat[i]:g}, {theta.flat[i]:g}) {what}")
        return found

    def _check(self) -> None:
        share = np.geomspace(1e-3, 1.0, _CHECKED)
        theta = np.unique(np.concatenate([[0.0], min(self.farthest, 1.0) * share, self.farthest * share]))
        alpha = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1e-9, 1e-2, 30)]))
        table = self._beta(alpha, theta[:, None])
        off = np.abs(table[0] - (1.0 - alpha))
        if off.max() > _TOLERANCE:
            i = int(np.argmax(off))
            raise InputError(f"f(alpha, 0) must be 1 - alpha, but f({alpha[i]:g}, 0) = {table[0, i]:g}")
        rise = np.diff(table, axis=0)
        if rise.max() > _TOLERANCE:
            j, i = divmod(int(np.argmax(rise)), rise.shape[1])
            raise InputError(
                f"f must not grow with theta, but f({alpha[i]:g}, {theta[j]:g}) = {table[j, i]:g} and"
                f" f({alpha[i]:g}, {theta[j + 1]:g}) = {table[j + 1, i]:g}"
            )
        for value in theta[1:]:
            try:
                require_symmetric(TradeOff(partial(self._beta, theta=np.array(value))))
            except InputError as error:
                raise InputError(f"f(alpha, {value:g}): {error}") from None

    def _check_growth(self) -> None:
        """Refuse members that are the same for a range of θ, and jumps: the level of a point has to have a density.

        The last members are looked at closely, where a difference of numbers that are nearly the same has no digits.
        """
        theta = np.concatenate([[0.0], np.geomspace(1e-2 * self.usual, self.farthest, _STEPS)])
        area = 1.0 - self._left_out(theta)
        nodes, weights = np.polynomial.legendre.leggauss(6)
        share, step = 0.5 + 0.5 * nodes, np.diff(theta)
        density = np.exp(self.log_density(theta[:-1, None] + step[:, None] * share**2))
        grown = np.diff(area)
        for wrong, what in (
            ((grown < _FLAT) & (area[:-1] < 1.0 - _NEARLY), "is the same for all theta"),
            (np.abs(grown - density @ (weights * share) * step) > _JUMP, "does not change smoothly with theta"),
        ):
            if wrong.any():
                i = int(np.argmax(wrong))
                raise InputError(f"f(alpha, theta) {what} between {theta[i]:g} and {theta[i + 1]:g}")
        late = np.linspace(0.5 * self.farthest, self.farthest, _LATE)
        if np.isneginf(self.log_density(late)).any():
            raise InputError(
                f"f(alpha, theta) has not the digits to tell members with theta around {late[-1]:.3g} apart: give a"
                " smaller `most`, or a function without differences of numbers that are nearly the same"
            )

    # -- slopes -----------------------------------------------------------------------------------------------------

    def curve(self, log_alpha: Floats, log_rest: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
        """−∂f/∂θ is the slope of the polynomial through five values at θ and beside it, all within the range of θ."""
        alpha = np.exp(log_alpha)
        beta = np.clip(self._beta(alpha, t), 0.0, 1.0)
        t = np.broadcast_to(t, beta.shape)
        step = np.minimum(_STEP * np.clip(t, _LEAST * self.usual, self.usual), 0.25 * self.most)
        centre = np.clip(t, 2.0 * step, np.maximum(self.most - 2.0 * step, 2.0 * step))
        values = [self._beta(alpha, np.minimum(centre + k * step, self.most)) for k in (-2, -1, 0, 1, 2)]
        differences = [v - values[2] for v in values]
        powers = ((t - centre) / step) ** np.arange(4).reshape(-1, *(1,) * t.ndim)
        slope = sum(
            (k + 1) * powers[k] * sum(w * d for w, d in zip(row, differences, strict=True))
            for k, row in enumerate(_TO_POWERS[1:])
        )
        with np.errstate(divide="ignore"):
            return np.log(beta), np.log1p(-beta), np.log(np.maximum(-np.asarray(slope) / step, 0.0))

    def kinks(self, t: Floats) -> Floats:
        """The place where f_t(α) = α: that of the kink, where a symmetric f has only one."""
        t = np.asarray(t, dtype=np.float64)
        return least(lambda alpha: self._beta(alpha, t) <= alpha, np.zeros_like(t), 1.0)[..., None]

    def log_ratio(self, z: Floats, t: Floats) -> Floats:
        z, t = np.broadcast_arrays(z, t)
        levels, which = np.unique(t, return_inverse=True)
        which = which.reshape(t.shape)
        tables = [self._ratio(float(level)) for level in levels]
        places, values, slopes = (np.array(parts) for parts in zip(*tables, strict=True))
        turn, below = places[which, 0], places[which, 1]
        right = (z > turn).astype(int)
        at = np.minimum(np.abs(z - turn) / places[which, 2 + right], _POINTS - 1.0)
        near = np.minimum(at.astype(int), _POINTS - 2)
        x, start, end = at - near, (which, right, near), (which, right, near + 1)
        rise, slope = values[end] - values[start], slopes[start]
        bend = 3.0 * rise - 2.0 * slope - slopes[end]
        found = values[start] + x * (slope + x * (bend + x * (rise - slope - bend)))
        return np.asarray(np.where((right == 0) & (at >= _POINTS - 1.0), below, found))

    def _log_ratio_of(self, t: float) -> tuple[Floats, Floats, Floats]:
        """log r_t on equal steps of z to both sides of its jump, where f_t(α) = α, up to ends beyond which it is flat.

        The place of the jump, the ratio beyond the lower end, and the steps to the left and to the right; the values,
        and the slopes per step, (2, _POINTS) each. They are found where f_t(α) ≤ α, for there f keeps its digits: at a
        small α, 1 − α has few. The other half is the mirror image, as f_t is its own inverse: r_t(f_t(α)) = 1/r_t(α).
        """
        level = np.array(t)
        turn = -float(special.ndtri(self.kinks(level)[0]))
        z = np.linspace(turn, -_LAST, _POINTS)[1:]
        slope, beta = (
            self._slope(special.log_ndtr(-z) - special.log_ndtr(z), level),
            self._beta(special.ndtr(-z), level),
        )
        kept = (slope > 0.0) & (beta > 0.0)
        log_ratio = np.log(slope[kept]) - special.log_ndtr(-z[kept]) - special.log_ndtr(z[kept])
        ends, values, slopes = [], [], []
        for place, known in ((turn - z[kept], log_ratio), (-special.ndtri(beta[kept]) - turn, -log_ratio)):
            apart = np.diff(place, prepend=0.0) > _APART
            curve = Monotone(place[apart], known[apart])
            even, step = np.linspace(0.0, place[apart][-1], _POINTS, retstep=True)
            ends.append(step)
            values.append(curve(even))
            slopes.append(step * curve.slope(even))
        below = -math.inf if (beta == 0.0).any() else float(values[0][-1])
        return np.array([turn, below, *ends]), np.array(values), np.array(slopes)

    def _slope(self, logit: Floats, t: Floats) -> Floats:
        """−∂f/∂(logit of α), from differences, which are longer where α, or 1 − α, has few digits."""
        rest = np.maximum(special.expit(-np.abs(logit)), _FULL)
        step = np.clip(_DIGITS / rest, _STEP, _LONG_STEP)
        near, far = (self._fall(logit - k * step, logit + k * step, t) for k in (1, 2))
        return (4.0 * near - far) / 3.0

    def _fall(self, low: Floats, high: Floats, t: Floats) -> Floats:
        """The same between two logits, as floats have them."""
        alphas = special.expit(low), special.expit(high)
        kept = [special.logit(np.maximum(alpha, 0.5)) for alpha in alphas]
        length = np.where(low > 0, kept[1] - kept[0], high - low)
        return (self._beta(alphas[0], t) - self._beta(alphas[1], t)) / length

    # -- areas ------------------------------------------------------------------------------------------------------

    def _rule(self, theta: Floats) -> tuple[Floats, Floats]:
        """Logits of α and weights of ∫ dα, for θ (m,): (m, k); panels between 0, where f(α) = α, where f is 0, and 1.

        Beyond such an end nothing is left to integrate, and at it f has a kink.
        """
        ends = least(lambda alpha: self._beta(alpha, theta) <= 0.0, np.zeros_like(theta), 1.0)[:, None]
        places = np.clip(special.logit(np.concatenate([self.kinks(theta), ends], axis=1)), -_EDGE, _EDGE)
        first, last = np.full(len(theta), -_EDGE), np.full(len(theta), _EDGE)
        edges = np.concatenate(
            [
                np.linspace(low, high, panels, axis=1)
                for low, high, panels in (
                    (first, places[:, 0], _PANELS), (places[:, 0], places[:, 1], _PANELS), (places[:, 1], last, 2),
                )
            ],
            axis=1,
        )  # fmt: skip
        half = 0.5 * np.diff(edges, axis=1)[..., None]
        logit = (edges[:, :-1, None] + half + half * _NODES).reshape(len(theta), -1)
        return logit, (half * _WEIGHTS).reshape(logit.shape) * special.expit(logit) * special.expit(-logit)

    def _left_out(self, theta: Floats) -> Floats:
        """1 − G(θ) = 2 ∫ f_θ, (m,)."""
        logit, weight = self._rule(theta)
        return np.asarray(2.0 * (self._beta(special.expit(logit), theta[:, None]) * weight).sum(axis=1))

    def _largest(self) -> float:
        """θ up to which members differ from the whole square, or where θ ends."""
        top = min(self.most, 1.0)
        while top < min(self.most, _FARTHEST) and not self._fills(top):
            top = min(2.0 * top, self.most)
        while top > _SMALLEST and self._fills(0.5 * top):
            top *= 0.5
        return top

    def _fills(self, theta: float) -> bool:
        return bool(self._left_out(np.array([theta]))[0] <= _FULL)

    def log_density(self, t: Floats) -> Floats:
        """log g = log 2 ∫ −∂f/∂θ."""
        found = []
        for part in np.array_split(np.ravel(t), np.size(t) // 256 + 1):
            logit, weight = self._rule(part)
            rate = self.curve(-np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit), part[:, None])[2]
            found.append((np.exp(rate) * weight).sum(axis=1))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(2.0 * np.concatenate(found))).reshape(np.shape(t))

    def log_layer(self, inner: Floats, gap: Floats) -> Floats:
        inner, gap = np.broadcast_arrays(inner, gap)
        return self._areas.log_between(np.ravel(inner), np.ravel(gap)).reshape(inner.shape)

    # -- privacy ----------------------------------------------------------------------------------------------------

    def by_epsilon(self, epsilon: Floats) -> Floats:
        """A symmetric f_θ has its largest advantage 1 − 2α where f_θ(α) = α, so α = 1/(1 + e^ε)."""
        alpha = special.expit(-np.asarray(epsilon, dtype=np.float64))
        return least(lambda theta: self._beta(alpha, theta) <= alpha, np.zeros_like(alpha), self.farthest)

    def _delta_at(self, t: Floats, epsilon: Floats) -> Floats:
        """The largest 1 − f(α) − e^ε α, by golden sections in e^ε α as in `tradeoff.TradeOff`."""
        t, epsilon = np.broadcast_arrays(np.asarray(t, float), np.asarray(epsilon, float))
        shrink = np.exp(-epsilon)
        low, high = np.zeros_like(shrink), np.ones_like(shrink)
        for _ in range(60):
            step = _GOLDEN * (high - low)
            left, right = high - step, low + step
            rises = left + self._beta(left * shrink, t) >= right + self._beta(right * shrink, t)
            low, high = np.where(rises, left, low), np.where(rises, high, right)
        return np.maximum(0.0, 1.0 - self._beta(high * shrink, t) - high)

    def _epsilon_at(self, t: Floats, delta: Floats) -> Floats:
        t, delta = np.broadcast_arrays(np.asarray(t, float), np.asarray(delta, float))
        found = np.empty(t.shape)
        large = delta > _TINY
        for chosen, search in ((large, self._epsilon_by_slope), (~large, self._epsilon_by_delta)):
            if chosen.any():
                found[chosen] = search(t[chosen], delta[chosen])
        return found

    def _epsilon_by_slope(self, t: Floats, delta: Floats) -> Floats:
        """e^ε is the largest (1 − δ − f(α))/α, and as f is its own inverse the largest (1 − δ − α)/f(α), where no
        small α spoils the digits of f. It has one peak, since 1 − δ − α − c f(α) is concave for every c, at an α no
        smaller than f(α): by golden sections in log(1 − δ − α)."""
        longest = np.maximum(1.0 - delta - self.kinks(t)[..., 0], 0.0)
        low, high = np.full(t.shape, _CLOSEST), np.zeros(t.shape)
        best = np.zeros(t.shape)

        def ratio(x: Floats) -> Floats:
            left = longest * np.exp(x)
            with np.errstate(divide="ignore", invalid="ignore"):
                return np.where(left > 0.0, left / self._beta(1.0 - delta - left, t), 0.0)

        for _ in range(_SECTIONS):
            step = _GOLDEN * (high - low)
            left, right = high - step, low + step
            ratios = ratio(left), ratio(right)
            best = np.maximum(best, np.maximum(*ratios))
            rises = ratios[0] >= ratios[1]
            low, high = np.where(rises, low, left), np.where(rises, right, high)
        best = np.maximum(best, ratio(np.zeros(t.shape)))  # at f(α) = α itself
        return np.log(np.maximum(best, 1.0))  # no ε below 0

    def _epsilon_by_delta(self, t: Floats, delta: Floats) -> Floats:
        """By bisection in ε, where 1 − δ − f(α) has no digits at a small α."""
        low, high = np.zeros(t.shape), np.full(t.shape, 750.0)
        for _ in range(50):
            middle = 0.5 * (low + high)
            enough = self._delta_at(t, middle) <= delta
            low, high = np.where(enough, low, middle), np.where(enough, middle, high)
        # At e^-750, which is 0, no larger ε is told apart.
        return np.where(high < 749.0, high, np.inf) * (self._delta_at(t, np.zeros(t.shape)) > delta)


class _Uniform:
    """The levels of uniform points: the law whose integrals over layers are their areas."""

    def __init__(self, family: TradeOffFamily) -> None:
        self._family = family
        self.owner, self.times = np.zeros(1, int), np.ones(1, int)
        self.peak, self.width = np.zeros(1), np.ones(1)

    def log_density(self, rows: Ints, t: Floats) -> Floats:
        return self._family.log_density(t)
