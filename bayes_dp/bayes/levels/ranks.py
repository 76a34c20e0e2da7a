"""What the order of a base's scores says of its level in a family of trade-off functions.

An attack may have the scores upside down: both directions are equally likely, so that the likelihood of an order is
½ [ℓ(t) + ℓ′(t)] with the probabilities of `orders` of the labels and of the labels backwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial import chebyshev

from bayes_dp.bayes.families.base import TradeOffFamily
from bayes_dp.bayes.levels.orders import lead, log_order_probability
from bayes_dp.support.arrays import Floats, Ints

__all__ = ["RankLevels"]

_NODES = 16  # of a panel of levels
_X = -np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)
_TO_SERIES = np.linalg.inv(chebyshev.chebvander(_X, _NODES - 1))
_EDGES = np.append(0.0, 2.0 ** np.arange(12))  # of panels before some are halved
_FIRST = 5  # of these edges are used in any case
_HALVINGS = 5  # of a panel at most
_ACCURACY = 2e-8, 1e-9  # of a panel's series, in nats, and in shares of its depth below the top
_FAR, _TOO_FAR = 50.0, 150.0  # nats by which one direction is behind: of no weight, and hard to integrate
_PARTINGS = 12
_DEEP = 300.0, 2.0  # nats below the top, and more of them per score, from which on a curve is a line
_LOOKS = 40  # at a panel, in search of the peak
_FLATTEST = 0.1  # 1 over the largest scale of a peak


class RankLevels:
    """The law of levels of orders of scores, a row for each base; labels (N,) of a base as in `ScoreOrders`.

    log ½ [ℓ + ℓ′] is a Chebyshev series on panels of t, which are made as far as levels are asked for.
    """

    def __init__(self, labels: Sequence[Ints], family: TradeOffFamily) -> None:
        self.family = family
        self._curves = [_Curve(order, family) for order in labels]
        self.owner, self.times = np.arange(len(self._curves)), np.ones(len(self._curves), int)
        found = [self._peak(curve) for curve in self._curves]
        self.peak, self.width = (np.array(values) for values in zip(*found, strict=True))

    def log_density(self, rows: Ints, t: Floats) -> Floats:
        """log h of the rows (m,) at levels t (m, k), h = ½ [ℓ + ℓ′] g: (m, k)."""
        found = np.empty(t.shape)
        for row in np.unique(rows):
            here = rows == row
            found[here] = self._curves[row](t[here])
        return np.asarray(found + self.family.log_density(t))

    def _peak(self, curve: _Curve) -> tuple[float, float]:
        """Where log h is largest, and its scale there: from a parabola or, at 0, from the slope."""
        most, t = self.family.most, np.zeros(1)
        h = curve(t) + self.family.log_density(t)
        for i, edge in enumerate(_EDGES[1:]):
            t = np.linspace(0.0, min(edge, most), 1 + _LOOKS * (i + 1))
            h = curve(t) + self.family.log_density(t)
            if edge >= most or h.argmax() < len(t) - 1:
                break
        at = int(np.clip(h.argmax(), 1, len(t) - 2))
        left, right = np.diff(h[at - 1 : at + 2]) / t[1]
        scale = np.sqrt(max((left - right) / t[1], 0.0))
        best = float(t[h.argmax()])
        return best, float(1.0 / max(scale, -left if best == 0.0 else 0.0, _FLATTEST))


class _Curve:
    """log ½ [ℓ(t) + ℓ′(t)] of one order, from a series on panels of t for each."""

    def __init__(self, labels: Ints, family: TradeOffFamily) -> None:
        self._labels, self._family = labels, family
        self._edges = np.zeros(1)
        self._series = np.empty((2, 0, _NODES))
        self._top, self._depth = -np.inf, 0.0

    def __call__(self, t: Floats) -> Floats:
        """At levels of any shape."""
        while self._edges[-1] < min(float(t.max(initial=0.0)), self._family.most) or len(self._edges) == 1:
            known = self._edges[-1]
            more = _EDGES[1:_FIRST] if known == 0.0 else _EDGES[known < _EDGES][:1]
            self._add(np.unique(np.minimum(np.append(known, more), self._family.most)))
        panel = np.clip(np.searchsorted(self._edges, t, side="right") - 1, 0, len(self._edges) - 2)
        low, high = self._edges[panel], self._edges[panel + 1]
        x = 2.0 * (t - low) / (high - low) - 1.0
        return np.asarray(np.logaddexp(*(_series_at(series[panel], x) for series in self._series)) - np.log(2.0))

    def _add(self, edges: Floats) -> None:
        """Panels between these edges, halved until both series have decayed as far as it matters."""
        if self._depth > _DEEP[0] + _DEEP[1] * len(self._labels):
            self._edges = np.append(self._edges, edges[1:])
            self._series = np.concatenate([self._series, self._line(*edges)[:, None]], axis=1)
            return
        open_, done = self._parted(np.stack([edges[:-1], edges[1:]], axis=1)), []
        for _ in range(_HALVINGS + 1):
            values = self._values(open_)
            highest = values.max(axis=(0, 2))
            self._top = max(self._top, float(highest.max()))
            series = _series_of(values)
            off = np.abs(series[..., -2:]).sum(axis=-1).max(axis=0)
            coarse = off > _ACCURACY[0] + _ACCURACY[1] * (self._top - highest)
            done += [(*open_[i], series[:, i], highest[i]) for i in np.flatnonzero(~coarse)]
            left = open_[coarse], series[:, coarse], highest[coarse]
            if not coarse.any():
                break
            open_ = _halved(open_[coarse])
        done += [(*left[0][i], left[1][:, i], left[2][i]) for i in range(len(left[0]))]
        done.sort(key=lambda panel: panel[0])
        self._edges = np.append(self._edges, [panel[1] for panel in done])
        self._series = np.concatenate([self._series, np.stack([panel[2] for panel in done], axis=1)], axis=1)
        self._depth = self._top - done[-1][3]

    def _parted(self, panels: Floats) -> Floats:
        """Panels (p, 2) in parts in which no direction is both of some weight and far behind the other."""
        done = []
        for _ in range(_PARTINGS):
            behind = np.abs(self._lead(panels))
            wide = (behind.min(axis=1) < _FAR) & (behind.max(axis=1) > _TOO_FAR)
            done.append(panels[~wide])
            panels = _halved(panels[wide])
            if not len(panels):
                break
        done.append(panels)
        return np.concatenate(done)

    def _lead(self, panels: Floats) -> Floats:
        return lead(self._labels, self._family, panels.ravel()).reshape(panels.shape)

    def _values(self, panels: Floats) -> Floats:
        """log ℓ and log ℓ′ at the nodes of panels (p, 2), (2, p, q); −∞ where it is far behind in all of a panel."""
        t = panels.mean(axis=1)[:, None] + 0.5 * np.diff(panels) * _X
        ahead = self._lead(panels)
        found = np.full((2, *t.shape), -np.inf)
        for i, (order, behind) in enumerate(((self._labels, -ahead), (self._labels[::-1], ahead))):
            some = behind.min(axis=1) < _FAR
            if some.any():
                found[i, some] = log_order_probability(order, self._family, t[some].ravel()).reshape(-1, _NODES)
        return found

    def _line(self, start: float, end: float) -> Floats:
        """The series (2, q) of the lines on which the last panel ends."""
        last = self._series[:, -1]
        half = 0.5 * (self._edges[-1] - self._edges[-2])
        line = np.zeros((2, _NODES))
        line[:, 1] = 0.5 * (end - start) * (last[:, 1:] @ np.arange(1, _NODES) ** 2) / half
        line[:, 0] = last.sum(axis=1) + line[:, 1]
        return line


def _halved(panels: Floats) -> Floats:
    low, high = panels.T
    middle = 0.5 * (low + high)
    return np.stack([low, middle, middle, high], axis=1).reshape(-1, 2)


def _series_of(values: Floats) -> Floats:
    """Chebyshev coefficients (..., q) of values at the nodes; of −∞, where there is nothing, −∞ and zeros."""
    nothing = values[..., :1] == -np.inf
    series = np.where(nothing, 0.0, values) @ _TO_SERIES.T
    return np.concatenate([np.where(nothing, -np.inf, series[..., :1]), series[..., 1:]], axis=-1)


def _series_at(series: Floats, x: Floats) -> Floats:
    """Clenshaw's sum of Chebyshev series (..., q) at x (...)."""
    one, two = np.zeros_like(x), np.zeros_like(x)
    for k in range(series.shape[-1] - 1, 0, -1):
        one, two = 2.0 * x * one - two + series[..., k], one
    return np.asarray(x * one - two + series[..., 0])
