"""Integrals ∫ p_a(t) T(c - slope·t) dt over intervals, in log space with a relative accuracy of about 1e-11.

p_a is the density of a Beta law, T a log-concave function: a Beta distribution function (`BetaTails`) or a Beta density
times a linear weight (`WeightedDensities`). The integrand then has one mode: find it by Newton's method, find where the
integrand has fallen by e^-34 on either side, split where T switches on, and use Gauss-Legendre panels between.
Everything is vectorised over slices.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from bayes_dp.bayes.exact.beta_tables import log_norm
from bayes_dp.beta import log_density
from bayes_dp.support.arrays import Bools, Floats, Ints

__all__ = ["Slices", "WeightedDensities", "log_slices", "upper_bound"]


_DROP = 34.0  # nats below the mode at which the integrand is cut: a relative error of e^-34 = 2e-15
_EDGE = 1e-12  # the ends of an interval are looked at this far (relatively) inside
_NODES, _WEIGHTS = (0.5 * v for v in np.polynomial.legendre.leggauss(20))
_NODES += 0.5
_CHUNK = 1600  # panels evaluated at once, so that temporaries stay in the cache


class LogConcave(Protocol):
    """A family of log-concave functions T of z in (0,1), numbered by `table`; z_bar = 1-z."""

    def log_tail(self, table: Ints, z: Floats, z_bar: Floats) -> Floats: ...

    def derivatives(self, table: Ints, z: Floats, z_bar: Floats, run: Floats) -> tuple[Floats, Floats, Floats]:
        """log T and its first two derivatives in τ, where dz/dτ = -run."""
        ...

    def switch(self, table: Ints) -> tuple[Floats, Floats]: ...


@dataclass
class Slices:
    """A batch of integrals; every field has shape (m,).

    The density is that of Beta(k+1, n-k+1), with `peak` = log_peak(k, n) and `norm` its plain log normaliser.
    The interval is t = low + length·τ, 1-t = rest + length·(1-τ) with τ in (0,1). z = c - slope·t and 1-z = c_bar +
    slope·t. Complements are kept apart, so that no end loses digits.
    """

    k: Floats
    n: Floats
    peak: Floats
    norm: Floats
    table: Ints
    low: Floats
    length: Floats
    rest: Floats
    c: Floats
    c_bar: Floats
    slope: Floats

    def __len__(self) -> int:
        return len(self.k)

    def take(self, index: Ints | Bools) -> Slices:
        return Slices(*(values[index] for values in vars(self).values()))

    @staticmethod
    def concatenate(parts: list[Slices]) -> Slices:
        return Slices(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Slices)))

    def place(self, tau: Floats) -> tuple[Floats, Floats]:
        """t and 1-t."""
        return self.low + self.length * tau, self.rest + self.length * (1.0 - tau)

    def log_integrand(self, tails: LogConcave, tau: Floats) -> Floats:
        """At τ, to about n·1e-16, which is enough to find the mode and the bracket."""
        t, t_bar = self.place(tau)
        density = self.norm + self.k * np.log(t) + (self.n - self.k) * np.log(t_bar)
        return density + tails.log_tail(self.table, self.c - self.slope * t, self.c_bar + self.slope * t)

    def derivatives(self, tails: LogConcave, tau: Floats) -> tuple[Floats, Floats, Floats]:
        """The log integrand, like `log_integrand`, and its first two derivatives in τ."""
        t, t_bar = self.place(tau)
        z, z_bar = self.c - self.slope * t, self.c_bar + self.slope * t
        tail, d1, d2 = tails.derivatives(self.table, z, z_bar, self.length * self.slope)
        k, others, near, far = self.k, self.n - self.k, self.length / t, self.length / t_bar
        value = self.norm + k * np.log(t) + others * np.log(t_bar) + tail
        return value, k * near - others * far + d1, -k * near**2 - others * far**2 + d2


class WeightedDensities:
    """T(z) = p(z) (w0 + w1 z), p the density of Beta(k+1, n-k+1); one function for each entry of the arrays (m,)."""

    def __init__(self, k: Floats, n: Floats, peak: Floats, w0: Floats, w1: Floats) -> None:
        self._k, self._n, self._peak, self._w0, self._w1 = k, n, peak, w0, w1
        self._norm = log_norm(k, n, peak)

    def log_tail(self, table: Ints, z: Floats, z_bar: Floats) -> Floats:
        weight = np.log(np.maximum(self._w0[table] + self._w1[table] * z, 1e-300))
        return log_density(self._k[table], self._n[table], self._peak[table], z, z_bar) + weight

    def derivatives(self, table: Ints, z: Floats, z_bar: Floats, run: Floats) -> tuple[Floats, Floats, Floats]:
        k, rest = self._k[table], self._n[table] - self._k[table]
        weight = np.maximum(self._w0[table] + self._w1[table] * z, 1e-300)
        near, far, tilt = run / z, run / z_bar, run * self._w1[table] / weight
        value = self._norm[table] + k * np.log(z) + rest * np.log(z_bar) + np.log(weight)
        return value, rest * far - k * near - tilt, -k * near**2 - rest * far**2 - tilt**2

    def switch(self, table: Ints) -> tuple[Floats, Floats]:
        nowhere = np.full(np.shape(table), np.nan)
        return nowhere, nowhere


def upper_bound(tails: LogConcave, s: Slices) -> Floats:
    """A cheap upper bound of each log integral for increasing T: max p_a · max T · length, where ∫ p_a is at most 1."""
    tau = np.clip(_to_tau(s, s.k / s.n), 0.0, 1.0)
    t, t_bar = s.place(tau)
    at = np.where(s.slope > 0, s.low, s.low + s.length)
    tail = tails.log_tail(s.table, np.maximum(s.c - s.slope * at, 0.0), np.maximum(s.c_bar + s.slope * at, 0.0))
    with np.errstate(divide="ignore"):
        mass = log_density(s.k, s.n, s.peak, t, t_bar) + np.log(s.length)
    return np.asarray(tail + np.minimum(mass, 0.0))


def _to_tau(s: Slices, t: Floats) -> Floats:
    return (t - s.low) / np.maximum(s.length, 1e-300)


def log_slices(tails: LogConcave, s: Slices) -> Floats:
    """log of the integrals, shape (m,)."""
    mode, peak, first, second = _mode(tails, s)
    with np.errstate(divide="ignore", over="ignore"):
        reach = np.minimum(np.sqrt(2 * _DROP / np.maximum(-second, 0.0)), _DROP / np.abs(first))
    left, right = _falls(tails, s, mode, peak, reach)
    cuts = np.stack([left, mode, *_switch(tails, s, left, right), right])
    cuts.sort(axis=0)
    widths = np.diff(cuts, axis=0)
    panel, slice_ = np.nonzero(widths > 1e-6 * (right - left))
    order = np.argsort(slice_, kind="stable")
    panel, slice_ = panel[order], slice_[order]
    start = (cuts[panel, slice_] - mode[slice_]) * s.length[slice_]
    width = widths[panel, slice_] * s.length[slice_]
    # Relative to the mode t0 the density keeps full precision: k log(t/t0) + (n-k) log((1-t)/(1-t0)).
    t0, t0_bar = s.place(mode)
    scale = log_density(s.k, s.n, s.peak, t0, t0_bar) - peak
    z0, z0_bar = s.c - s.slope * t0, s.c_bar + s.slope * t0
    sums = np.empty(len(slice_))
    for i in range(0, len(slice_), _CHUNK):
        part = slice(i, i + _CHUNK)
        row = slice_[part, None]
        step = start[part, None] + width[part, None] * _NODES
        travel = s.slope[row] * step
        values = tails.log_tail(s.table[row], z0[row] - travel, z0_bar[row] + travel)
        values += s.k[row] * np.log1p(step / t0[row])
        values += (s.n - s.k)[row] * np.log1p(-step / t0_bar[row])
        values += scale[row]
        # A million nats down the tables' relative error of 1e-9 misplaces the mode; an overflow would tell nothing.
        np.minimum(values, 600.0, out=values)
        sums[part] = np.exp(values) @ _WEIGHTS * widths[panel[part], slice_[part]]
    total = np.bincount(slice_, weights=sums, minlength=len(s))
    with np.errstate(divide="ignore"):
        return np.asarray(peak + np.log(total) + np.log(s.length))


def _mode(tails: LogConcave, s: Slices) -> tuple[Floats, Floats, Floats, Floats]:
    """Where the integrand is largest, its log there, and the two derivatives there: safeguarded Newton, in τ."""
    low, high = np.full(len(s), _EDGE), np.full(len(s), 1.0 - _EDGE)
    at_low, at_high = s.derivatives(tails, low), s.derivatives(tails, high)
    falling, rising = at_low[1] <= 0, at_high[1] >= 0
    value, first, second = (np.where(falling, a, b) for a, b in zip(at_low, at_high, strict=True))
    start = np.clip(_to_tau(s, s.k / s.n), 0.01, 0.99)
    tau = np.where(falling, low, np.where(rising, high, start))
    active = np.nonzero(~falling & ~rising)[0]
    rows = s.take(active)
    for _ in range(80):
        if not len(active):
            break
        at = tau[active]
        g, g1, g2 = rows.derivatives(tails, at)
        value[active], first[active], second[active] = g, g1, g2
        low[active] = np.where(g1 > 0, at, low[active])
        high[active] = np.where(g1 > 0, high[active], at)
        step, middle = at - g1 / g2, 0.5 * (low[active] + high[active])
        go = (g1**2 > -0.05 * g2) & (high[active] - low[active] > 1e-14 * middle)
        tau[active] = np.where(go, np.where((step > low[active]) & (step < high[active]), step, middle), at)
        if not go.all():
            active, rows = active[go], rows.take(go)
    return tau, value, first, second


def _falls(tails: LogConcave, s: Slices, mode: Floats, peak: Floats, reach: Floats) -> tuple[Floats, Floats]:
    """The τ on either side of the mode where the integrand has fallen by 1 to 1.6 times _DROP, or the end 0 or 1."""
    end = np.repeat([0.0, 1.0], len(s))
    mode, peak, reach = np.tile(mode, 2), np.tile(peak, 2), np.tile(reach, 2)
    edge = np.abs(end - _EDGE)
    both = np.tile(np.arange(len(s)), 2)
    falls = peak - s.take(both).log_integrand(tails, edge) > _DROP
    outside, inside = np.where(falls, edge, end), mode.copy()
    active = np.nonzero(falls & (mode != edge))[0]
    tau = mode + (2 * end - 1) * np.minimum(reach, 0.5 * np.abs(edge - mode))
    rows = s.take(both[active])
    for _ in range(60):
        if not len(active):
            break
        at = tau[active]
        g, g1, _ = rows.derivatives(tails, at)
        fallen = peak[active] - g
        beyond = fallen >= _DROP
        outside[active] = np.where(beyond, at, outside[active])
        inside[active] = np.where(beyond, inside[active], at)
        with np.errstate(divide="ignore", invalid="ignore"):
            step = at + (fallen - 1.2 * _DROP) / g1
        low, high = np.minimum(inside[active], outside[active]), np.maximum(inside[active], outside[active])
        go = ~(beyond & (fallen <= 1.6 * _DROP)) & (high - low > 1e-13 * high)
        tau[active] = np.where(go, np.where((step > low) & (step < high), step, 0.5 * (low + high)), at)
        if not go.all():
            active, rows = active[go], rows.take(go)
    return outside[: len(s)], outside[len(s) :]


def _switch(tails: LogConcave, s: Slices, left: Floats, right: Floats) -> list[Floats]:
    """Two cuts where T goes from one to its steepest part, where the bracket is wider than that."""
    with np.errstate(divide="ignore", invalid="ignore"):
        flat, steep = (_to_tau(s, (s.c - z) / s.slope) for z in tails.switch(s.table))
        sharp = np.abs(steep - flat) < 0.8 * (right - left)
    return [np.where(sharp & (cut > left) & (cut < right), cut, left) for cut in (flat, steep)]
