"""Tabulated log distribution functions of Beta(k+1, n-k+1), the posterior of a rate after k errors in n trials.

The integrals of `marginal.py` need log F millions of times, far into the tails (F = 1e-5000 is a legal value), which
neither the speed nor the range of `scipy.special.betainc` allows. One table holds log F of one (k, n) as quintic
Hermite pieces on a grid that is uniform in w = arcsinh((logit(y) - m)/σ), with m and σ the mean and the standard
deviation of logit(y) under the Beta law. Left of the grid log F is linear in logit(y), right of it zero.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from bayes_dp.beta import log_density, log_peak
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["BetaTails", "log_norm", "quintics"]


_NODES = 512
_PART = 500  # tables made at once, to bound memory
_LEFT = 35.0  # the grid starts where logit(y) is this far below min(m, -log n): there log F is linear
_RIGHT = 40.0  # the grid ends where 1-F is about exp(-40)


def log_norm(k: Floats, n: Floats, peak: Floats) -> Floats:
    """-log B(k+1, n-k+1) from `log_peak`; good to about n·1e-16, so for uses that need no more than that."""
    return np.asarray(peak - special.xlogy(k, k / n) - special.xlogy(n - k, 1.0 - k / n))


def _log_cdf_far_left(k: Floats, n: Floats, log_y: Floats, log_1y: Floats) -> Floats:
    """log F where `betainc` underflows: F = y^(k+1) (1-y)^(n-k+1) / ((k+1) B) · 1/(1 + d1/(1 + d2/…)).

    The continued fraction (DLMF 8.17.22) by the modified Lentz method; far left of the mean 60 terms are plenty.
    """
    a, b, y = k + 1.0, n - k + 1.0, np.exp(log_y)
    tiny = 1e-300
    fraction = np.ones_like(y)
    numerator, denominator = np.ones_like(y), np.zeros_like(y)
    for j in range(1, 61):
        m = j // 2
        if j % 2:
            term = -(a + m) * (a + b + m) * y / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * y / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1.0 + term * denominator
        denominator = 1.0 / np.where(np.abs(denominator) < tiny, tiny, denominator)
        numerator = 1.0 + term / numerator
        numerator = np.where(np.abs(numerator) < tiny, tiny, numerator)
        fraction = fraction * numerator * denominator
    log_p = log_density(k, n, log_peak(k, n), y, np.exp(log_1y))
    return np.asarray(log_p + log_y + log_1y - np.log(a) - np.log(fraction))


class BetaTails:
    """log F of Beta(k+1, n-k+1) for an array of (k, n), looked up by (table number, logit of y)."""

    def __init__(self, k: Ints, n: Ints) -> None:
        k_, n_ = np.asarray(k, float), np.asarray(n, float)
        self.k, self.n = k_, n_
        self.peak = log_peak(k_, n_)
        self.log_norm = log_norm(k_, n_, self.peak)
        self._centre = special.digamma(k_ + 1) - special.digamma(n_ - k_ + 1)
        self._scale = np.sqrt(special.polygamma(1, k_ + 1) + special.polygamma(1, n_ - k_ + 1))
        left = np.arcsinh((np.minimum(self._centre, -np.log(n_)) - _LEFT - self._centre) / self._scale)
        # The right tail of logit(y) falls like exp(-(n-k+1) z) at the latest and like a normal's at the earliest.
        reach = np.maximum(np.sqrt(2 * _RIGHT), _RIGHT / (n_ - k_ + 1) / self._scale)
        right = np.arcsinh(reach)
        self._first = left
        self._step = (right - left) / (_NODES - 1)

        self._first_logit = self._centre + self._scale * np.sinh(left)
        parts = [slice(i, i + _PART) for i in range(0, len(k_), _PART)]
        self._coefficients = np.concatenate([self._pieces(part) for part in parts], axis=1).reshape(6, -1)

    def _pieces(self, part: slice) -> Floats:
        """The quintics (6, tables, cells) of some of the tables."""
        left, step, centre, scale = (v[part, None] for v in (self._first, self._step, self._centre, self._scale))
        kk, nn, peak = self.k[part, None], self.n[part, None], self.peak[part, None]
        w = left + step * np.arange(_NODES)
        logit = centre + scale * np.sinh(w)
        log_y, log_1y = -np.logaddexp(0.0, -logit), -np.logaddexp(0.0, logit)
        y = np.exp(log_y)
        right = w > 0
        log_cdf = np.empty(w.shape)
        a, b = (np.broadcast_to(v, w.shape) for v in (kk + 1, nn - kk + 1))
        with np.errstate(divide="ignore"):
            log_cdf[~right] = np.log(special.betainc(a[~right], b[~right], y[~right]))
        log_cdf[right] = np.log1p(-special.betaincc(a[right], b[right], y[right]))
        far = log_cdf < -600.0
        if far.any():
            rows = np.nonzero(far)[0]
            log_cdf[far] = _log_cdf_far_left(kk[rows, 0], nn[rows, 0], log_y[far], log_1y[far])
        # d log F / dw = p/F · dlogit/dw, with p the density of logit(y).
        log_p = log_density(kk, nn, peak, y, np.exp(log_1y)) + log_y + log_1y
        slope = np.exp(log_p - log_cdf) * scale * np.cosh(w) * step
        # Second derivatives from neighbouring values and slopes, f'' = 2 Δ²f - Δf'/2 + O(h⁶), because the closed form
        # for log F cancels; at the left end log F is linear in logit(y), at the right end flat.
        bend = np.zeros_like(log_cdf)
        bend[:, 1:-1] = 2 * np.diff(log_cdf, n=2) - 0.5 * (slope[:, 2:] - slope[:, :-2])
        bend[:, 0] = slope[:, 0] * np.tanh(left[:, 0]) * step[:, 0]
        return quintics(log_cdf, slope, bend)

    def log_tail(self, table: Ints, z: Floats, z_bar: Floats) -> Floats:
        """log F(z) for broadcastable arrays of table numbers, z and 1-z."""
        with np.errstate(divide="ignore", over="ignore"):
            logit = np.log(z / z_bar)
        position = logit - self._centre[table]
        position /= self._scale[table]
        np.arcsinh(position, out=position)
        position -= self._first[table]
        position /= self._step[table]
        np.minimum(np.maximum(position, 0.0, out=position), _NODES - 1.0000001, out=position)
        cell = position.astype(np.int64)
        position -= cell
        cell += table * (_NODES - 1)
        c = self._coefficients
        value = c[5].take(cell)
        for power in (4, 3, 2, 1, 0):
            value *= position
            value += c[power].take(cell)
        below = np.minimum(logit - self._first_logit[table], 0.0)
        if below.any():
            value += (self.k[table] + 1.0) * below
        return np.asarray(value)

    def derivatives(self, table: Ints, z: Floats, z_bar: Floats, run: Floats) -> tuple[Floats, Floats, Floats]:
        """log F(z) and its first two derivatives in τ, where dz/dτ = -run, as exactly as Newton's method needs."""
        value = self.log_tail(table, z, z_bar)
        a, total = self.k[table] + 1.0, self.n[table] + 2.0
        # r = d log F / d logit(z), at most k+1 because F/z^(k+1) falls; r' = r (k+1 - (n+2) z - r) is negative, and
        # no larger than the curvature of the density, (n+2) z (1-z).
        log_r = self.log_norm[table] + a * np.log(z) + (total - a) * np.log(z_bar) - value
        r = np.minimum(np.exp(np.minimum(log_r, 600.0)), a)
        bend = np.minimum(np.maximum(r * (a - total * z - r), -total * z * z_bar), 0.0)
        near, far = run / z, run / z_bar
        first = -r * (near + far)
        return value, first, np.minimum(bend * (near + far) ** 2 + r * (far**2 - near**2), 0.0)

    def switch(self, table: Ints) -> tuple[Floats, Floats]:
        """Where F leaves one (to 1e-16), and its steepest part."""
        k, n = self.k[table], self.n[table]
        centre = (k + 1.0) / (n + 2.0)
        spread = np.sqrt(centre * (1.0 - centre) / (n + 3.0))
        return centre + 8.5 * spread + 12.0 / (n + 2.0), centre


def quintics(f: Floats, slope: Floats, bend: Floats) -> Floats:
    """Coefficients (6, …, cells), constant first, of the quintics with the given values, slopes and second derivatives
    (each (…, cells + 1), per cell) at both ends of [0,1].
    """
    a0, a1, b0, b1 = slope[..., :-1], slope[..., 1:], bend[..., :-1], bend[..., 1:]
    rise = np.diff(f)
    return np.stack(
        [
            f[..., :-1],
            a0,
            0.5 * b0,
            10 * rise - 6 * a0 - 4 * a1 - 1.5 * b0 + 0.5 * b1,
            -15 * rise + 8 * a0 + 7 * a1 + 1.5 * b0 - b1,
            6 * rise - 3 * (a0 + a1) - 0.5 * (b0 - b1),
        ]
    )
