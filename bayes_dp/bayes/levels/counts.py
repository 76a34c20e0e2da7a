"""What error counts say of a base's level in a family of trade-off functions.

Under flat priors the rates of a base with X errors of N0 and Y of N1 are a ~ Beta(X+1, N0−X+1), b ~ Beta(Y+1, N1−Y+1).
The likelihood of the level t, the mean of the likelihood of the counts over the boundary of R(t), is h(t)/(g(t) (N0+1)
(N1+1)) with the density h of the level of (a, b). Its two rows are the two halves of the boundary: the lower one,

    h(t) = ∫ p_a(x) p_b(f_t(x)) (−∂f_t(x)/∂t) dx,

and the same of (1−a, 1−b). For the Gaussian family the level of (a, b) is |D|, D = z(1−a) + z(1−b), and h the density
of D at t and at −t, a convolution of two log-concave densities.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import special

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.families.gaussian import GAUSSIAN
from bayes_dp.beta import log_peak
from bayes_dp.data.counts import ErrorCounts
from bayes_dp.support.arrays import Floats, Ints
from bayes_dp.tradeoff import least

__all__ = ["CountLevels"]

_DROP = 40.0  # nats below the largest value at which an integrand is cut
_STEPS = 64  # of the trapezoid rule
_GRID = 33  # points of a grid that is zoomed to where the integrand lives
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(16)
_NEAR = 0.2  # share of the way from the mode to an end of the integrand that is a panel of its own
_FAR = 60.0  # nats below the largest piece of a boundary at which another is left out
_ZOOMS = 7  # of the grid from which rates are drawn
_FINE = 128  # points of the last one
_DRAWN = 20.0  # nats below the largest value at which rates are no longer drawn
_EDGE = 800.0  # the logit of a rate beyond which no float lies
_CHUNK = 200_000  # values done at once


class CountLevels:
    """The law of levels of error counts (`families.tables.LevelLaw`); bases with the same counts are one."""

    def __init__(self, counts: ErrorCounts, family: TradeOffFamily) -> None:
        columns = np.stack([counts.false_positives, counts.negatives, counts.false_negatives, counts.positives])
        distinct, inverse, self.times = np.unique(columns, axis=1, return_inverse=True, return_counts=True)
        self.base = inverse.ravel()  # NumPy 2.0 gives it an axis more
        x, n0, y, n1 = distinct.astype(float)
        self.family = family
        self.owner = np.repeat(np.arange(len(x)), 2)
        # Row 2i is the lower half of the boundary of base i, row 2i+1 that of the reflected rates.
        self._a = _Beta(_pairs(x, n0 - x), np.repeat(n0, 2))
        self._b = _Beta(_pairs(y, n1 - y), np.repeat(n1, 2))
        self.constant = float(self.times @ (np.log1p(n0) + np.log1p(n1)))  # of the likelihood of all bases
        self.peak, self.width = self._peaks()

    def _peaks(self) -> tuple[Floats, Floats]:
        """The level of the mean rates, and its scale by a standard deviation of each."""
        (a, sd_a), (b, sd_b) = self._a.moments(), self._b.moments()
        alphas = np.stack([a, np.minimum(a + sd_a, 0.5 * (1.0 + a)), a])
        betas = np.stack([b, b, np.minimum(b + sd_b, 0.5 * (1.0 + b))])
        level = self._level(alphas, betas)
        back = self._level(1.0 - alphas, 1.0 - betas)  # by which a point is on the other side
        signed = level - back
        width = np.hypot(signed[1] - signed[0], signed[2] - signed[0]) + 1e-12
        peak = np.maximum(signed[0], 0.0)
        outside = np.maximum(-signed[0], 0.0)  # a row that falls from t = 0 on does so within width²/outside
        return peak, np.minimum(width, width**2 / np.maximum(outside, width))

    def _level(self, alpha: Floats, beta: Floats) -> Floats:
        """The least t with f_t(α) ≤ β, on the lower half of the boundary."""
        log_alpha, log_rest, log_beta = np.log(alpha), np.log1p(-alpha), np.log(beta)
        top = min(self.family.most, self.family.farthest)
        return least(lambda t: self.family.curve(log_alpha, log_rest, t)[0] <= log_beta, np.zeros_like(alpha), top)

    def log_density(self, rows: Ints, t: Floats) -> Floats:
        """log h of the rows (m,) at levels t (m, k), (m, k)."""
        row, flat = np.repeat(rows, t.shape[1]), t.ravel()
        one = self._gaussian if isinstance(self.family, type(GAUSSIAN)) else self._along
        found = np.empty(len(flat))
        size = _CHUNK // _STEPS
        for i in range(0, len(flat), size):
            found[i : i + size] = one(row[i : i + size], flat[i : i + size])
        return found.reshape(t.shape)

    def _gaussian(self, row: Ints, t: Floats) -> Floats:
        """The density of D at t: ∫ p(u) q(t − u) du over the densities of u = z(1−a) and z(1−b)."""
        a, b = self._a.take(row), self._b.take(row)
        (at_a, sharp_a), (at_b, sharp_b) = a.normal_mode(), b.normal_mode()
        u = at_a + (t - at_a - at_b) * sharp_b / (sharp_a + sharp_b)
        for _ in range(60):
            (_, slope, bend), (_, back, bow) = a.normal(u), b.normal(t - u)
            move = (slope - back) / (bend + bow)
            u += move
            if (np.abs(move) * np.sqrt(bend + bow)).max() < 0.01:
                break
        height = a.normal(u)[0] + b.normal(t - u)[0]
        ends = []
        for sign in (-1.0, 1.0):
            # Both densities are log-concave: Newton's steps from outside come down to where they have fallen enough.
            end = np.sqrt(2.0 * _DROP / (bend + bow))
            for _ in range(40):
                v = u + sign * end
                (p, slope, _), (q, back, _) = a.normal(v), b.normal(t - v)
                excess = p + q - height + _DROP
                end = end - excess / np.minimum(sign * (slope - back), -1e-300)
                if (np.abs(excess) < 5.0).all():
                    break
            ends.append(u + sign * end)
        step = (ends[1] - ends[0]) / _STEPS
        v = ends[0][:, None] + step[:, None] * np.arange(_STEPS + 1)
        values = a.at(v) + b.at(t[:, None] - v)
        top = values.max(axis=1)
        return np.asarray(top + np.log(np.exp(values - top[:, None]).sum(axis=1) * step))

    def _along(self, row: Ints, t: Floats) -> Floats:
        """∫ along the curve of any family, in the logit of α, piece by piece between its kinks."""
        kinks = np.clip(special.logit(self.family.kinks(t)), -_EDGE, _EDGE)
        edges = np.concatenate([np.full((len(t), 1), -_EDGE), kinks, np.full((len(t), 1), _EDGE)], axis=1)
        m, pieces = len(t), edges.shape[1] - 1
        low, high = edges[:, :-1].ravel(), edges[:, 1:].ravel()
        row, t = np.repeat(row, pieces), np.repeat(t, pieces)

        def values(low: Floats, high: Floats, share: Floats, which: Ints) -> Floats:
            logit = low[:, None] + (high - low)[:, None] * share
            log_alpha, log_rest = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
            with np.errstate(divide="ignore", invalid="ignore"):
                log_beta, log_other, rate = self.family.curve(log_alpha, log_rest, t[which, None])
                a, b = self._a.take(row[which]), self._b.take(row[which])
                found = a.plain(log_alpha, log_rest) + b.plain(log_beta, log_other) + rate + log_alpha + log_rest
            return np.where(np.isnan(found), -np.inf, found)

        share = np.linspace(0.0, 1.0, _GRID)
        share[[0, -1]] = 1e-9, 1.0 - 1e-9
        best, open_, kept, mode = np.full(m, -np.inf), np.arange(len(t)), np.ones(len(t), bool), 0.5 * (low + high)
        while len(open_):
            found = values(low[open_], high[open_], share, open_)
            every, place = np.arange(len(open_)), found.argmax(axis=1)
            top = found[every, place]
            np.maximum.at(best, open_ // pieces, top)
            # The logarithm is nearly concave: between grid points it rises above the largest by no more than it falls
            # from there to the next ones.
            beside = [found[every, np.clip(place + i, 0, _GRID - 1)] for i in (-1, 1)]
            with np.errstate(invalid="ignore"):
                slack = np.fmax(top - beside[0], top - beside[1])
            kept[open_] = ~(top + slack < best[open_ // pieces] - _FAR) & (top > -np.inf)
            keep = found > top[:, None] - _DROP
            first, last = keep.argmax(axis=1), _GRID - 1 - keep[:, ::-1].argmax(axis=1)
            first, last = np.maximum(first - 1, 0), np.minimum(last + 1, _GRID - 1)
            length = (high[open_] - low[open_]) / (_GRID - 1)
            mode[open_] = low[open_] + place * length
            low[open_], high[open_] = low[open_] + first * length, high[open_] - (_GRID - 1 - last) * length
            open_ = open_[(last - first < 0.5 * _GRID) & kept[open_]]
        total, every = np.full(m * pieces, -np.inf), np.flatnonzero(kept)
        mode = np.clip(mode, low, high)
        # Panels that grow away from the mode, where the integrand may be far narrower than its tails.
        panels = [
            mode + share * (end - mode)
            for share, end in ((1.0, low), (_NEAR, low), (0.0, low), (_NEAR, high), (1.0, high))
        ]
        parts = []
        for start, stop in pairwise(panels):
            found = values(start[every], stop[every], 0.5 + 0.5 * _NODES, every)
            top = np.maximum(found.max(axis=1), -1e300)
            with np.errstate(divide="ignore"):
                parts.append(top + np.log(np.exp(found - top[:, None]) @ (0.5 * _WEIGHTS) * (stop - start)[every]))
        total[every] = np.logaddexp.reduce(parts, axis=0)
        return np.asarray(np.logaddexp.reduce(total.reshape(m, pieces), axis=1))

    def draw_rates(self, rows: Ints, t: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """α and β (m,) on the boundary of R(t), in proportion to what a row integrates: from a grid that is zoomed."""
        alpha, beta = np.empty((2, len(t)))
        size = _CHUNK // _GRID
        for i in range(0, len(t), size):
            part = slice(i, i + size)
            alpha[part], beta[part] = self._draw(rows[part], t[part], rng)
        reflected = rows % 2 == 1
        return np.where(reflected, 1.0 - alpha, alpha), np.where(reflected, 1.0 - beta, beta)

    def _draw(self, row: Ints, t: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
        low, high = np.full(len(t), -_EDGE), np.full(len(t), _EDGE)
        a, b = self._a.take(row), self._b.take(row)

        def values(logit: Floats) -> Floats:
            log_alpha, log_rest = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
            with np.errstate(divide="ignore", invalid="ignore"):
                log_beta, log_other, rate = self.family.curve(log_alpha, log_rest, t[:, None])
                found = a.plain(log_alpha, log_rest) + b.plain(log_beta, log_other) + rate + log_alpha + log_rest
            return np.where(np.isnan(found), -np.inf, found)

        for _ in range(_ZOOMS):
            share = (np.arange(_GRID) + 0.5) / _GRID
            found = values(low[:, None] + (high - low)[:, None] * share)
            keep = found > found.max(axis=1)[:, None] - _DRAWN
            first, last = keep.argmax(axis=1), _GRID - 1 - keep[:, ::-1].argmax(axis=1)
            length = (high - low) / _GRID
            low, high = low + np.maximum(first - 1, 0) * length, low + np.minimum(last + 2, _GRID) * length
        length = (high - low) / _FINE
        logit = low[:, None] + length[:, None] * (np.arange(_FINE) + 0.5)
        place = np.argmax(values(logit) + rng.gumbel(size=logit.shape), axis=1)
        drawn = low + length * (place + rng.random(len(t)))
        alpha = special.expit(drawn)
        with np.errstate(divide="ignore"):
            log_alpha, log_rest = -np.logaddexp(0.0, -drawn), -np.logaddexp(0.0, drawn)
            return alpha, np.exp(self.family.curve(log_alpha, log_rest, t)[0])


class _Beta:
    """Beta(k+1, n−k+1) laws of rates, (m,)."""

    def __init__(self, k: Floats, n: Floats, constant: Floats | None = None) -> None:
        self.k, self.n = k, n
        if constant is None:
            share = np.clip(k / n, 1e-300, 1.0)
            constant = log_peak(k, n) - special.xlogy(k, share) - special.xlog1py(n - k, -k / n)
        self.constant = constant

    def take(self, rows: Ints) -> _Beta:
        return _Beta(self.k[rows], self.n[rows], self.constant[rows])

    def moments(self) -> tuple[Floats, Floats]:
        mean = (self.k + 1.0) / (self.n + 2.0)
        return mean, np.sqrt(mean * (1.0 - mean) / (self.n + 3.0))

    def plain(self, log_rate: Floats, log_rest: Floats) -> Floats:
        """log density at rates (m, k), from the logarithms of the rate and of one minus it."""
        k, rest, constant = (v[:, None] for v in (self.k, self.n - self.k, self.constant))
        errors = np.where(k > 0, k * log_rate, 0.0)
        return np.asarray(constant + errors + np.where(rest > 0, rest * log_rest, 0.0))

    def at(self, u: Floats) -> Floats:
        """log density of u = z(1 − rate), (m, k)."""
        return np.asarray(self.plain(special.log_ndtr(-u), special.log_ndtr(u)) - 0.5 * u**2 - 0.5 * np.log(2 * np.pi))

    def normal(self, u: Floats) -> tuple[Floats, Floats, Floats]:
        """The same at (m,), its slope and minus its second derivative, which is at least 1."""
        below, above = special.log_ndtr(-u), special.log_ndtr(u)
        log_density = -0.5 * u**2 - 0.5 * np.log(2 * np.pi)
        root = np.sqrt(2.0 / np.pi)
        left, right = root / special.erfcx(u / np.sqrt(2.0)), root / special.erfcx(-u / np.sqrt(2.0))  # φ/Φ(−u), φ/Φ(u)
        k, rest = self.k, self.n - self.k
        value = self.constant + k * below + rest * above + log_density
        slope = rest * right - k * left - u
        bend = 1.0 + rest * right * (right + u) + k * left * (left - u)
        return value, slope, bend

    def normal_mode(self) -> tuple[Floats, Floats]:
        """Roughly the mode of u and minus the second derivative there."""
        u = -special.ndtri((self.k + 0.5) / (self.n + 1.0))
        return u, self.normal(u)[2]


def _pairs(first: Floats, second: Floats) -> Floats:
    return np.stack([first, second], axis=1).ravel()
